//! What a hydration would change, found by making it in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::input_changes::{InputChange, input_changes};
use crate::application::{AppName, Application, BranchName, Keeps, Removal};
use crate::diag::Diagnostic;
use crate::diff::Pruning;
use crate::git::{Mode, ObjectBuffer, ObjectId, Repository};
use crate::hydrate::dry_tree::{DryTree, DryTrees};
use crate::hydrate::error::HydrateError;
use crate::hydrate::files::MANIFEST;
use crate::hydrate::report::{BehindPath, Frozen, Outcome};
use crate::hydrate::run::{Attempt, Branch, Run, Stopped};
use crate::hydrate::setup::{RefNames, Setup, Wake};
use crate::hydrate::standing::nearest;
use crate::path::RepoPath;

/// What the would-be branches are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Against {
    /// The environment branches as they are.
    Branches,
    /// Nothing, so that every manifest counts as new.
    Nothing,
    /// A commit: if hydration made it, the environment branch that it was made for is compared with it and no other;
    /// else it is a dry commit, and what would be hydrated from it alone is compared.
    Commit(ObjectId),
    /// What the last common commit with the dry branch gives, so that only what the commit itself changes is shown.
    MergeBase(MergeBase),
}

/// Where a dry commit and its dry branch parted: the branch has commits that the dry commit lacks.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct MergeBase {
    /// The last common commit.
    #[serde(serialize_with = "as_text")]
    pub commit: ObjectId,
    /// The dry branch.
    pub branch: BranchName,
    /// How many commits of the dry branch the dry commit lacks, if that can be counted.
    pub behind: Option<usize>,
}

fn as_text<S: serde::Serializer>(id: &ObjectId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

impl MergeBase {
    /// That of a dry commit and the tip of its dry branch; none when the commit has all of the branch, or nothing of it.
    pub fn of(repository: &Repository, commit: ObjectId, (branch, tip): (&BranchName, ObjectId)) -> Option<Self> {
        let base = repository.merge_base(commit, tip).filter(|base| *base != tip)?;
        Some(Self { commit: base, branch: branch.clone(), behind: repository.count_beyond(commit, tip) })
    }
}

/// `compared at the merge base 1a2b3c4: main has 3 commits that this one lacks`
impl std::fmt::Display for MergeBase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.commit.to_string();
        write!(f, "compared at the merge base {}: {} has ", id.get(..7).unwrap_or(&id), self.branch)?;
        match self.behind {
            Some(1) => f.write_str("1 commit that this one lacks"),
            Some(count) => write!(f, "{count} commits that this one lacks"),
            None => f.write_str("commits that this one lacks"),
        }
    }
}

/// What a hydration would change.
#[derive(Debug)]
pub struct Preview {
    /// The environment branches of the dry branch, by name.
    pub environments: Vec<PreviewedBranch>,
    /// What is wrong with the dry commit and concerns no environment branch that is known.
    pub problems: Vec<Diagnostic>,
    /// What is odd in it.
    pub warnings: Vec<Diagnostic>,
    /// What becomes of the inputs that the dry tree keeps.
    pub inputs: Vec<InputChange>,
    /// The commit that was compared with, when the dry commit is behind its dry branch.
    pub merge_base: Option<MergeBase>,
}

/// What would become of one environment branch.
#[derive(Debug)]
pub struct PreviewedBranch {
    /// The branch.
    pub branch: BranchName,
    /// The branch that is deployed; another one when `branch` is its staging branch.
    pub sync_branch: BranchName,
    /// The dry branch.
    pub dry_branch: String,
    /// The dry commit.
    pub dry_sha: String,
    /// The dry commit that the branch is hydrated from now, if that is known.
    pub dry_sha_before: Option<String>,
    /// The hydrated commit that it is compared with; none for a new branch, and when two dry commits are compared.
    pub against: Option<ObjectId>,
    /// How many Applications write to it.
    pub applications: usize,
    /// The destination paths whose manifests would change, by path. Empty when it does not hydrate.
    pub paths: Vec<PreviewedPath>,
    /// Why it stays as it is for a time; none when it does not.
    pub frozen: Option<Frozen>,
    /// Why it does not hydrate; empty when it does.
    pub mistakes: Vec<Diagnostic>,
    /// The paths that stay at an earlier dry commit than the others, by path.
    pub behind: Vec<BehindPath>,
    /// What is wrong with the Applications of those that are not paused.
    pub failures: Vec<Diagnostic>,
}

/// The manifests of one destination path before and after.
#[derive(Debug)]
pub struct PreviewedPath {
    /// The path.
    pub path: RepoPath,
    /// The Application that writes to it, or wrote to it, if that is known.
    pub application: Option<AppName>,
    /// What makes, or made, the Application, and from what; none for one that is in a file.
    pub made_by: Option<String>,
    /// The rule that hydrates it, from 1; none with `spec.sourceHydrator`.
    pub rule: Option<usize>,
    /// What becomes of objects in the cluster that are no longer there.
    pub pruning: Pruning,
    /// The namespace of objects that name none, if the Application says it.
    pub namespace: Option<String>,
    /// `manifest.yaml` as it is; none when the path is new.
    pub old: Option<Vec<u8>>,
    /// `manifest.yaml` as it would be; none when the path would go.
    pub new: Option<Vec<u8>>,
}

/// No ref is below it, so every environment branch that is read there is new.
const NOTHING: &str = "refs/hydrate/nothing/";

/// Hydrates in memory and tells what would change; neither a ref nor an object is written.
///
/// Only the tips of dry branches count, whatever `history` says: what is between is on the way, not at the end. To
/// compare with a dry commit, [`Setup::wake`] has to be a [`Wake::Commit`].
pub fn preview(setup: &Setup<'_>, against: &Against) -> Result<Preview, HydrateError> {
    let mut preview = previewed(setup, against)?;
    let base = match against {
        Against::Branches | Against::Nothing => None,
        Against::Commit(id) => Some(*id),
        Against::MergeBase(base) => Some(base.commit),
    };
    preview.inputs = input_changes((setup.repository, &setup.refs), setup.renderers, &preview.environments, base)?;
    Ok(preview)
}

fn previewed(setup: &Setup<'_>, against: &Against) -> Result<Preview, HydrateError> {
    let repository = setup.repository;
    let buffer = ObjectBuffer::new(repository);
    let id = match against {
        Against::Branches => return compare(rehearse(setup, buffer)?, &|branch| Some(branch.base())),
        Against::Nothing => return compare(rehearse(setup, buffer)?, &|_| Some(None)),
        Against::Commit(id) => *id,
        Against::MergeBase(base) => base.commit,
    };
    let commit = repository.commit(id)?;
    if let Some(trailers) = nearest(&commit, &buffer, |_| true)? {
        return compare(rehearse(setup, buffer)?, &|branch| (branch.name == trailers.branch).then_some(Some(id)));
    }
    let refs = RefNames { read: NOTHING.to_owned(), ..setup.refs.clone() };
    let wake = match &setup.wake {
        Wake::Commit { branch, .. } => Wake::Commit { branch: branch.clone(), tip: id },
        wake @ (Wake::Pushed(_) | Wake::Everything) => wake.clone(),
    };
    // What two dry commits differ in does not depend on when it is deployed.
    let setup_before = Setup { refs: refs.clone(), wake, now: None, ..*setup };
    let before = rehearse(&setup_before, buffer)?;
    let fetched = repository.refs()?;
    let tip = |(name, branch): (&BranchName, &Branch)| {
        // Where the commit does not render, what is on the branch is the best that there is.
        let made = branch.tip.as_ref().map(|tip| tip.id);
        (name.clone(), made.or_else(|| setup.refs.tip(&fetched, name)))
    };
    let tips: BTreeMap<BranchName, Option<ObjectId>> = before.branches.iter().map(tip).collect();
    let setup_after = Setup { refs, wake: setup.wake.clone(), now: None, ..*setup };
    let mut after = rehearse(&setup_after, before.found.buffer)?;
    for (name, mut branch) in before.branches {
        branch.tip = None;
        after.branches.entry(name).or_insert(branch);
    }
    after.trees.extend(before.trees);
    let mut preview = compare(after, &|branch| Some(tips.get(&branch.name).copied().flatten()))?;
    for environment in &mut preview.environments {
        // A commit that nobody will ever see.
        environment.against = None;
    }
    if let Against::MergeBase(base) = against {
        for environment in &mut preview.environments {
            environment.dry_sha_before = Some(base.commit.to_string());
        }
        preview.merge_base = Some(base.clone());
    }
    // No branch was looked at, so what is said of their names is not true.
    preview.warnings.retain(|warning| warning.unknown_field.is_some());
    Ok(preview)
}

fn rehearse<'a>(setup: &'a Setup<'a>, buffer: ObjectBuffer<'a>) -> Result<Run<'a>, HydrateError> {
    let mut run = Run::over(setup, buffer)?.recalling(&Attempt::default());
    // Nothing is moved, so no one can be in the way.
    run.hydrate_tips().map_err(Stopped::into_error)?;
    Ok(run)
}

/// Compares what was made with the commit that `base` answers for each branch; a branch for which it answers none at
/// all is left out.
fn compare(made: Run<'_>, base: &dyn Fn(&Branch) -> Option<Option<ObjectId>>) -> Result<Preview, HydrateError> {
    let Run { found, branches, report, trees, .. } = made;
    let buffer = found.buffer;
    let mut environments = Vec::new();
    for (name, branch) in branches {
        let Some(against) = base(&branch) else { continue };
        let sync_branch = branch.sync.clone();
        let dry = branch.dry_tip;
        let before = branch.dry_before();
        let dry_sha_before = before.map(|id| id.to_string());
        let tree_of = |id: ObjectId| buffer.commit(id).map(|commit| commit.tree);
        let old = against.map_or(Ok(buffer.empty_tree_id()), tree_of)?;
        let new = branch.tip.as_ref().map_or(buffer.empty_tree_id(), |tip| tip.tree);
        let report = branch.into_report();
        let (mistakes, frozen) = match report.outcome {
            Outcome::Failed { diagnostics, .. } => (diagnostics, None),
            Outcome::Frozen(frozen) => (Vec::new(), Some(frozen)),
            Outcome::Moved | Outcome::Unchanged => (Vec::new(), None),
        };
        let owners = Owners::new(&name, (before, dry), &trees);
        let paths = if mistakes.is_empty() { paths(&buffer, (old, new), &owners)? } else { Vec::new() };
        environments.push(PreviewedBranch {
            branch: name,
            sync_branch,
            dry_branch: report.dry_branch,
            dry_sha: report.dry_sha,
            dry_sha_before,
            against,
            applications: report.applications,
            paths,
            frozen,
            mistakes,
            behind: report.behind,
            failures: report.mistakes,
        });
    }
    Ok(Preview {
        environments,
        problems: report.problems,
        warnings: report.warnings,
        inputs: Vec::new(),
        merge_base: None,
    })
}

/// The Applications behind the paths of a branch, before and after.
struct Owners<'t> {
    before: BTreeMap<&'t RepoPath, &'t Application>,
    after: BTreeMap<&'t RepoPath, &'t Application>,
    /// Those that are there after, on whichever branch.
    names: BTreeSet<(Option<&'t AppName>, &'t AppName)>,
}

impl<'t> Owners<'t> {
    /// Those of the dry commits; where the one before is not known, of all that were read.
    fn new(name: &'t BranchName, (before, after): (Option<ObjectId>, ObjectId), trees: &'t DryTrees<'_>) -> Self {
        let of = |tree: &'t DryTree| tree.applications(name).map(|app| (&app.sync_path, &**app));
        let before: BTreeMap<_, _> = match before.and_then(|before| trees.known(before)) {
            Some(tree) => of(tree).collect(),
            None => {
                let earlier: BTreeMap<_, _> = trees.all().filter(|(id, _)| *id != after).collect();
                earlier.into_values().flat_map(|tree| of(tree)).collect()
            }
        };
        let tree = trees.known(after).map(|tree| &**tree);
        let hydrated = tree.into_iter().flat_map(DryTree::hydrated);
        Self {
            before,
            after: tree.into_iter().flat_map(of).collect(),
            names: hydrated.map(|application| (application.namespace.as_ref(), &application.name)).collect(),
        }
    }

    fn of(&self, path: &RepoPath) -> Option<&'t Application> {
        self.after.get(path).or_else(|| self.before.get(path)).copied()
    }

    /// What becomes of the objects of a path that are no longer there.
    fn pruning(&self, path: &RepoPath) -> Pruning {
        let Some(application) = self.of(path) else { return Pruning::Unknown };
        let policy = application.sync_policy;
        let stays = self.names.contains(&(application.namespace.as_ref(), &application.name));
        let maker = application.maker.as_ref();
        match if stays { policy.prune } else { policy.delete } {
            Removal::Forbidden => Pruning::Off,
            Removal::Confirmed => Pruning::Confirmed,
            Removal::Allowed if stays && policy.prunes => Pruning::Automatic,
            Removal::Allowed if stays => Pruning::Manual,
            Removal::Allowed if maker.is_some_and(|maker| maker.keeps != Keeps::Nothing) => Pruning::Unknown,
            Removal::Allowed if policy.cascades => Pruning::Cascade,
            // The controller of sets adds the finalizer, unless the set says otherwise.
            Removal::Allowed if maker.is_some() => Pruning::Unknown,
            Removal::Allowed => Pruning::Orphaned,
        }
    }
}

/// The destination paths whose manifests differ between two trees of a branch.
fn paths(
    buffer: &ObjectBuffer<'_>,
    (old, new): (ObjectId, ObjectId),
    owners: &Owners<'_>,
) -> Result<Vec<PreviewedPath>, HydrateError> {
    let mut paths = Vec::new();
    for change in buffer.diff_trees(old, new)? {
        let Some(path) = change.path.strip_suffix(MANIFEST).and_then(|path| path.strip_suffix('/')) else { continue };
        let Ok(path) = RepoPath::new(path) else { continue };
        let content = |entry: Option<(Mode, ObjectId)>| match entry {
            Some((Mode::File | Mode::Executable, blob)) => buffer.blob(blob).map(Some),
            _ => Ok(None),
        };
        let found = owners.of(&path);
        paths.push(PreviewedPath {
            application: found.map(|application| application.name.clone()),
            made_by: found.and_then(|application| application.maker.as_ref()).map(ToString::to_string),
            rule: found.and_then(|application| application.rule),
            pruning: owners.pruning(&path),
            namespace: found.and_then(|application| application.destination_namespace.clone()),
            old: content(change.old)?,
            new: content(change.new)?,
            path,
        });
    }
    Ok(paths)
}
