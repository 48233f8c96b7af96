//! All Applications of a dry tree: where each comes from, and where it goes.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::view::View;
use serde::Serialize;

use super::check::{Judged, Tree, judged};
use crate::argo::set::ApplicationSet;
use crate::argo::{AppName, Application, By, Maker, PAUSED, Rule, RuleSet, Standing};
use crate::discover::{Discovery, Makers};
use crate::manifest::{self, Manifest};
use crate::owners::error::HydrateError;
use crate::owners::policy::{self, Policy};
use crate::render::Renderers;
use crate::repo::TreeFiles;
use crate::repo::{ObjectBuffer, ObjectId, Repository};
use crate::settings::{Hold, Holds};

/// One Application of a dry tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedApplication {
    /// Its name.
    pub name: String,
    /// The namespace that the Application itself lives in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The file that contains it, or the template that it is made from; of one that is rendered from no template that is known,
    /// the file of its parent.
    pub file: String,
    /// Where in it.
    pub line: u32,
    /// What makes it; none for one that is itself in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<MadeBy>,
    /// The rule of the settings that hydrates it, from 1; none with `spec.sourceHydrator`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    /// The directory of its sources.
    pub source: String,
    /// The tag, range or commit that has them, where that is not the dry branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The branch that hydration writes for it.
    pub branch: String,
    /// The branch that is deployed, when that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_branch: Option<String>,
    /// The directory of its manifests there.
    pub path: String,
    /// Whether it is hydrated from this tree; one that is paused or held keeps what was hydrated before.
    pub hydrated: bool,
    /// Why it is not, or what is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What makes it and the rule that hydrates it, as people read it.
    #[serde(skip)]
    pub origin: Option<String>,
}

/// What makes an Application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeBy {
    /// The kind of maker: `ApplicationSet`, `Application`, or `root` for one of the setting `roots`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// What it made the Application from: the element of a set; of an Application, the line of the template.
    pub element: String,
    /// What makes the maker, from the inside out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<AboveMaker>,
}

/// What makes a maker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AboveMaker {
    /// Its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

impl MadeBy {
    pub(crate) fn new(maker: &Maker) -> Self {
        let above = |by: &By| AboveMaker { kind: by.kind(), name: by.name().to_owned() };
        Self {
            kind: maker.by.kind(),
            name: maker.by.name().to_owned(),
            element: maker.element.text.clone(),
            above: maker.above.iter().map(above).collect(),
        }
    }

    /// Whether the Application is made by this one, or by something that it makes.
    pub(crate) fn is_below(&self, name: &str) -> bool {
        self.name == name || self.above.iter().any(|above| above.name == name)
    }
}

/// The Applications of a dry tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    /// The branch that the tree was taken for the tip of.
    pub dry_branch: String,
    /// By branch, then by path.
    pub applications: Vec<ListedApplication>,
    /// What keeps from knowing others: files that cannot be read, documents with mistakes, makers without an answer.
    pub problems: Vec<Diagnostic>,
    /// The names of all that may make Applications, whether or not it makes any.
    #[serde(skip)]
    pub makers: BTreeSet<String>,
}

impl Listed {
    /// Adds what was found by other settings. Answers whether that is more.
    pub(crate) fn add(&mut self, other: Self) -> bool {
        let before = (self.applications.len(), self.problems.len());
        let hydrated = other.applications.into_iter().filter(|one| one.hydrated);
        for one in hydrated {
            let is_it = |known: &ListedApplication| {
                (&known.branch, &known.path, &known.name) == (&one.branch, &one.path, &one.name) && known.hydrated
            };
            if !self.applications.iter().any(is_it) {
                self.applications.push(one);
            }
        }
        self.applications.sort_by(|a, b| (&a.branch, &a.path, &a.name).cmp(&(&b.branch, &b.path, &b.name)));
        let problems = other.problems.into_iter().filter(|problem| !self.problems.contains(problem));
        let problems: Vec<Diagnostic> = problems.collect();
        self.problems.extend(problems);
        self.makers.extend(other.makers);
        before != (self.applications.len(), self.problems.len())
    }
}

/// Lists the Applications of a tree. Only those are rendered that may make others.
///
/// Errors: the world failed.
pub(crate) fn list(tree: &Tree<'_>, renderers: &Renderers) -> Result<Listed, HydrateError> {
    let judged = judged(tree, renderers)?;
    let (discovered, verdict) = (&judged.discovered, &judged.verdict);
    let mut problems: Vec<Diagnostic> = discovered.broken.iter().map(|broken| broken.diagnostic.clone()).collect();
    problems.extend(discovered.unlisted.clone());
    problems.extend(discovered.unanswered.iter().map(|maker| maker.diagnostic.clone()));
    let mistakes = discovered.mistakes.iter().map(|(_, mistake)| mistake);
    problems.extend(mistakes.filter(|mistake| mistake.is_error()).cloned());
    let holds = match tree.repository {
        Some((repository, _)) => policy::holds(&repository.refs()?, &ObjectBuffer::new(repository))?.0,
        None => Holds::default(),
    };
    let mut applications = Vec::with_capacity(discovered.applications.len());
    for (index, (application, standing)) in discovered.applications.iter().zip(&verdict.standings).enumerate() {
        let about = |finding: &&crate::argo::Finding| finding.applications.contains(&index);
        let finding = verdict.findings.iter().find(about).map(|finding| finding.diagnostic.message.clone());
        let hold = hold_of(application, &holds, &judged.policy).filter(|_| *standing == Standing::Hydrated);
        let stays = application.paused || hold.is_some();
        let held = hold.map(|hold| format!("held at {}: {}", hold.at.to_hex_with_len(7), hold.reason));
        let reason = match standing {
            Standing::Hydrated if held.is_some() => held,
            Standing::Hydrated if application.paused => {
                let place = application.places.paused.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
                Some(format!("paused by the annotation `{PAUSED}`{place}"))
            }
            Standing::Hydrated => finding,
            Standing::OtherBranch => Some(format!("its `targetRevision` is `{}`", application.dry.target_revision)),
            Standing::Pinned | Standing::OtherRepository => finding,
        };
        let hydrated = *standing == Standing::Hydrated;
        let revision = verdict.revisions.get(application.environment_branch()).filter(|_| hydrated).cloned();
        let listed = listed(application, hydrated && !stays, reason);
        applications.push(ListedApplication { revision, ..listed });
    }
    applications.sort_by(|a, b| (&a.branch, &a.path, &a.name).cmp(&(&b.branch, &b.path, &b.name)));
    let makers = makers(&judged);
    Ok(Listed { dry_branch: judged.dry_branch.to_string(), applications, problems, makers })
}

/// What keeps an Application as its branch has it. Nothing does on a branch that is promoted.
fn hold_of<'h>(application: &Application, holds: &'h Holds, policy: &Policy) -> Option<&'h Hold> {
    let branch = application.environment_branch();
    let is_promoted = application.sync_branch != *branch || policy.settings.is_shared(branch);
    holds.of_branch(branch).iter().find(|hold| !is_promoted && hold.has(application))
}

fn makers(Judged { policy, discovered, .. }: &Judged) -> BTreeSet<String> {
    let roots = policy.settings.roots.iter().map(|root| root.name.to_string());
    let sets = discovered.sets.iter().filter_map(|found| found.set.name().map(str::to_owned));
    let unanswered = discovered.unanswered.iter().map(|maker| maker.by.name().to_owned());
    let applications = discovered.applications.iter().map(|application| application.name.to_string());
    let made = discovered.applications.iter().filter_map(|application| application.maker.as_ref());
    let above = made.flat_map(|maker| [&maker.by].into_iter().chain(&maker.above)).map(|by| by.name().to_owned());
    roots.chain(sets).chain(unanswered).chain(applications).chain(above).collect()
}

fn listed(application: &Arc<Application>, hydrated: bool, reason: Option<String>) -> ListedApplication {
    let branch = application.environment_branch();
    ListedApplication {
        name: application.name.to_string(),
        namespace: application.namespace.as_ref().map(AppName::to_string),
        file: application.places.name.path.to_string(),
        line: application.places.name.line,
        made_by: application.maker.as_deref().map(MadeBy::new),
        rule: application.rule,
        source: application.dry.path.to_string(),
        revision: None,
        branch: branch.to_string(),
        sync_branch: (application.sync_branch != *branch).then(|| application.sync_branch.to_string()),
        path: application.sync_path.to_string(),
        hydrated,
        reason,
        origin: application.origin(),
    }
}

/// The Applications of a tree with a name, as they are written or made.
///
/// Errors: the world failed.
pub(crate) fn show(tree: &Tree<'_>, renderers: &Renderers, name: &str) -> Result<Vec<Manifest>, HydrateError> {
    let judged = judged(tree, renderers)?;
    let named = judged.discovered.applications.iter().filter(|application| application.name.as_str() == name);
    let view = View::new(tree.files);
    Ok(named.filter_map(|application| object(application, &view)).collect())
}

/// The whole object; none when its file cannot be read.
pub(crate) fn object(application: &Application, view: &View<'_>) -> Option<Manifest> {
    if let Some(made) = application.made_object() {
        return Manifest::new(made).ok();
    }
    let content = view.read(&application.file).ok()?;
    let objects = manifest::read(&content.data, manifest::Source::File(&application.file)).ok()?;
    let is_it = |object: &Manifest| object.kind() == "Application" && object.name() == application.name.as_str();
    objects.into_iter().find(is_it)
}

/// The ApplicationSets of a dry commit, whether they are hydrated or not: what they ask for is needed before rules are written.
///
/// Errors: the world failed.
pub(crate) fn application_sets(
    repository: &Repository,
    commit: ObjectId,
) -> Result<Vec<Arc<ApplicationSet>>, HydrateError> {
    let policy = Policy::read(&repository.refs()?, &ObjectBuffer::new(repository))?;
    let files = TreeFiles::new(repository, repository.commit(commit)?.tree);
    let limit = policy.settings.limits.applications;
    let all = RuleSet::new(&[Rule::of_all("any", "any").expect("it compiles")], &[]);
    let discovered = Discovery::default().discover(&files, &policy.applications, &all, limit);
    let discovered = discovered.map_err(HydrateError::tree(commit))?;
    Ok(discovered.sets.into_iter().map(|found| found.set).collect())
}

/// What the settings of a repository give to the makers of its Applications.
///
/// Errors: the world failed, or settings that cannot be read.
pub(crate) fn settings_of_makers(repository: &Repository) -> Result<Makers, HydrateError> {
    Ok(Policy::read(&repository.refs()?, &ObjectBuffer::new(repository))?.makers(None, None))
}
