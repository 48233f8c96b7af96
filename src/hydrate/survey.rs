//! What the Applications at the tips of the dry branches ask for, without rendering anything.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::Span;
use dry_files::path::RepoPath;

use super::dry_tree::DryTrees;
use crate::argo::{AppName, Application, BranchName, Patterns};
use crate::owners::active::Active;
use crate::owners::error::HydrateError;
use crate::owners::settings_named;
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::repo::{self, ObjectBuffer, ObjectId};
use crate::settings::{SETTINGS_REF, Settings};

/// What a repository asks for.
#[derive(Debug)]
pub(crate) struct Survey {
    /// The branches that its Applications name, those that are deployed and those for staging.
    pub branches: BTreeSet<BranchName>,
    /// Those of them that are promoted to, or from.
    pub promoted: BTreeSet<BranchName>,
    /// Those that are promoted to.
    pub deployed: BTreeSet<BranchName>,
    /// Its Applications that are hydrated, each with its dry branch.
    pub applications: Vec<(BranchName, Application)>,
    /// The branches that are no dry branches, but that Applications name to be hydrated from; each with a dry branch that
    /// has such Applications, and how many.
    pub other_branches: BTreeMap<BranchName, (BranchName, usize)>,
    /// Its settings.
    pub settings: Settings,
}

/// Whether the settings that branches were hydrated with are still there.
///
/// Errors: [`HydrateError::SettingsLost`], or what keeps that from being found out.
pub(crate) fn check_settings_ref(setup: &Setup<'_>) -> Result<(), HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    found.check_settings_ref()
}

/// What the Applications and settings of a repository ask for.
pub(crate) fn survey(setup: &Setup<'_>) -> Result<Survey, HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let mut trees = DryTrees::default();
    let heads = found.heads();
    let (mut branches, mut applications, mut other_branches) = (BTreeSet::new(), Vec::new(), BTreeMap::new());
    for head in &heads {
        let tree = trees.read(head.tip, head, &heads, &found)?;
        for application in tree.hydrated() {
            branches.extend([application.environment_branch().clone(), application.sync_branch.clone()]);
            applications.push((head.branch.clone(), (**application).clone()));
        }
        for named in tree.not_hydrated().filter_map(|application| BranchName::new(application.revision_name()).ok()) {
            if !heads.iter().any(|head| head.branch == named) {
                other_branches.entry(named).or_insert((head.branch.clone(), 0)).1 += 1;
            }
        }
    }
    branches.extend(found.policy.settings.applications_to.clone());
    let staged =
        applications.iter().map(|(_, application)| (application.environment_branch(), &application.sync_branch));
    let staged: Vec<_> = staged.filter(|(staging, sync)| staging != sync).collect();
    let promoted = staged.iter().flat_map(|(staging, sync)| [*staging, *sync]).cloned().collect();
    let deployed = staged.iter().map(|(_, sync)| (*sync).clone()).collect();
    Ok(Survey { promoted, deployed, branches, applications, other_branches, settings: found.policy.settings })
}

/// Whether the settings of a commit have the same Applications hydrated onto the same branches, to the same bytes, as those of now.
/// What cannot be found out counts as different.
pub(crate) fn hydrates_alike(settings: Option<ObjectId>, setup: &Setup<'_>) -> bool {
    let surveyed_by = |settings| {
        let repository = settings_named::by_settings(settings, setup.repository).ok()?;
        let place = setup.place.clone().writing_nowhere();
        survey(&Setup { repository: &repository, place, wake: setup.wake.clone(), ..*setup }).ok()
    };
    let now = setup.repository.refs().ok().and_then(|refs| surveyed_by(refs.get(SETTINGS_REF)));
    let (Some(before), Some(now)) = (surveyed_by(settings), now) else { return false };
    let may_be_written = |survey: &Survey| {
        let allowed = Patterns::new(&survey.settings.branches).ok()?;
        Some(now.branches.iter().map(|branch| allowed.matches(branch.as_str())).collect::<Vec<_>>())
    };
    before.settings.makes_all_the_same_as(&now.settings)
        && before.applications == now.applications
        && before.branches == now.branches
        && may_be_written(&before) == may_be_written(&now)
}

/// A branch that Applications name.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    /// Their dry branch.
    pub dry_branch: BranchName,
    /// All dry branches that name it to be written.
    pub dry_branches: BTreeSet<BranchName>,
    /// Whether hydration writes it; else it is the sync branch of a staging branch.
    pub is_environment: bool,
    /// The staging branches whose sync branch it is.
    pub staging: BTreeSet<BranchName>,
    /// Which Application writes a path of it, and where it is paused.
    pub applications: BTreeMap<RepoPath, (AppName, Option<Span>)>,
    /// The tag, range or commit that they name, if they name no branch.
    pub revision: Option<String>,
}

impl Named {
    /// A branch that hydration writes from `dry_branch`.
    pub(crate) fn environment(dry_branch: &BranchName) -> Self {
        Self {
            dry_branch: dry_branch.clone(),
            dry_branches: BTreeSet::new(),
            is_environment: true,
            staging: BTreeSet::new(),
            applications: BTreeMap::new(),
            revision: None,
        }
    }

    /// Whether somebody else made `branch`, the sync branch of staging branches.
    pub(crate) fn is_foreign_active(&self, branch: &BranchName, found: &Snapshot<'_>) -> Result<bool, repo::Error> {
        let made = self.staging.iter().map(|staging| Active::of(branch, staging, found));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        Ok(!made.is_empty() && made.iter().all(|made| *made == Active::Foreign))
    }
}

/// The branches that the Applications at the tips of the dry branches name.
pub(crate) fn named(found: &Snapshot<'_>) -> Result<BTreeMap<BranchName, Named>, HydrateError> {
    let mut trees = DryTrees::default();
    let heads = found.heads();
    let mut names = BTreeMap::new();
    for head in &heads {
        let tree = trees.read(head.tip, head, &heads, found)?;
        for application in tree.hydrated() {
            let environment = application.environment_branch();
            let named: &mut Named =
                names.entry(environment.clone()).or_insert_with(|| Named::environment(&head.branch));
            named.dry_branch.clone_from(&head.branch);
            named.dry_branches.insert(head.branch.clone());
            named.is_environment = true;
            named.revision = tree.revision(environment).map(str::to_owned);
            let paused = (application.name.clone(), application.places.paused.clone());
            named.applications.insert(application.sync_path.clone(), paused);
            if application.sync_branch != *environment {
                let unnamed = || Named { is_environment: false, ..Named::environment(&head.branch) };
                let active = names.entry(application.sync_branch.clone()).or_insert_with(unnamed);
                active.staging.insert(environment.clone());
            }
        }
    }
    Ok(names)
}
