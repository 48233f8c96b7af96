//! Each Application of a tree, and whether it hydrates.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Refusal};
use serde::Serialize;

use super::super::apps::MadeBy;
use super::super::check::{Findings, Judged, Rule, Tree};
use super::{Draft, NeededInput, hydrated};
use crate::argo::parent::Parent;
use crate::argo::{AppName, Application, BranchName, Standing};
use crate::discover::Unusable;
use crate::manifest::{Key, Manifest};
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::owners::setup::Observer;
use crate::render::{self, Context, Failure, Rendered, Renderers};

/// Why an Application does not hydrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cause {
    /// It needs a chart, a base or a file that is not in the repository.
    Input,
    /// It uses random functions or the clock.
    Nondeterministic,
    /// No rule is for it.
    NoRule,
    /// It is of another branch.
    OtherBranch,
    /// It is pinned to a tag, a commit or a version.
    Pinned,
    /// It is of another repository.
    OtherRepository,
    /// Its document is wrong.
    Document,
    /// Its destination is wrong, or that of another one too.
    Destination,
    /// It renders an object that another one of its branch renders.
    ObjectConflict,
    /// It needs a file of a submodule, of Git LFS, or outside of the repository.
    Elsewhere,
    /// It asks for what is not supported.
    Unsupported,
    /// Its source does not render.
    Render,
    /// It renders, and another one of its branch keeps the branch from moving.
    KeptBack,
}

impl Cause {
    /// Whether the server takes it for a failure of an Application that it has to hydrate.
    pub(super) fn is_failure(self) -> bool {
        match self {
            Self::Input
            | Self::Nondeterministic
            | Self::Destination
            | Self::ObjectConflict
            | Self::Elsewhere
            | Self::Unsupported
            | Self::Render => true,
            Self::NoRule
            | Self::OtherBranch
            | Self::Pinned
            | Self::OtherRepository
            | Self::Document
            | Self::KeptBack => false,
        }
    }
}

/// One Application.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdoptedApplication {
    /// Its name; empty when its document has none that can be read.
    pub name: String,
    /// The namespace that the Application itself lives in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The file that contains it, or the template that it is made from.
    pub file: String,
    /// Where in it.
    pub line: u32,
    /// What makes it; none for one that is itself in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<MadeBy>,
    /// The branch that hydration writes for it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The directory of its manifests there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it hydrates.
    pub hydrates: bool,
    /// Whether it keeps its branch from moving while it does not, whatever the setting `onFailure` is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub holds_branch: bool,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<Diagnostic>,
    /// The inputs that are needed from elsewhere and are not here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
}

/// What one Application rendered to.
pub(super) struct Attempt<'a> {
    /// Its number among all that were found.
    pub index: usize,
    pub application: &'a Application,
    pub result: Result<Rendered, Vec<Diagnostic>>,
}

impl Attempt<'_> {
    /// The manifests, or the first mistake.
    pub(super) fn manifests(self) -> Result<Vec<Manifest>, Diagnostic> {
        self.result.map(|rendered| rendered.manifests).map_err(|mistakes| {
            let unknown = || Diagnostic::error("it does not render").at(self.application.places.name.clone());
            mistakes.into_iter().next().unwrap_or_else(unknown)
        })
    }
}

/// Renders the Applications that are hydrated from the tree.
///
/// Errors: the world failed.
pub(super) fn render<'a>(
    judged: &'a Judged,
    tree: &Tree<'_>,
    renderers: &Renderers,
    observer: &dyn Observer,
) -> Result<Vec<Attempt<'a>>, HydrateError> {
    let context = render_context(&judged.policy.settings, tree.files, &tree.dry_commit);
    let hydrated = hydrated(judged);
    let applications: Vec<&Application> = hydrated.iter().map(|(_, application)| *application).collect();
    observer.rendering("", applications.len());
    let results = attempt(&applications, &context, renderers, &|done| observer.rendered(done))?;
    let attempts = hydrated.into_iter().zip(results);
    Ok(attempts.map(|((index, application), result)| Attempt { index, application, result }).collect())
}

/// Renders Applications; a limit of this machine is a mistake like others.
pub(super) fn attempt(
    applications: &[&Application],
    context: &Context<'_>,
    renderers: &Renderers,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Result<Rendered, Vec<Diagnostic>>>, HydrateError> {
    let results = renderers.render(applications, context, progress);
    applications.iter().zip(results).map(|(application, result)| or_mistakes(application, result)).collect()
}

fn or_mistakes(
    application: &Application,
    result: Result<Rendered, Failure>,
) -> Result<Result<Rendered, Vec<Diagnostic>>, HydrateError> {
    match result {
        Ok(rendered) => Ok(Ok(rendered)),
        Err(Failure::Mistakes(mistakes)) => {
            Ok(Err(mistakes.into_iter().map(|mistake| application.tells(mistake)).collect()))
        }
        Err(Failure::World(error)) if error.is_limit() => Ok(Err(vec![error.of_limit(application)])),
        Err(Failure::World(error)) => Err(error.into()),
    }
}

/// Notes what is wrong or odd with what was rendered.
pub(super) fn note(attempts: &[Attempt<'_>], found: &mut Findings) {
    for Attempt { application, result, .. } in attempts {
        let name = Some(application.name.as_str());
        match result {
            Ok(rendered) => {
                rendered.warnings.iter().for_each(|warning| found.add(Rule::Render, warning.clone(), name));
            }
            Err(mistakes) => {
                mistakes.iter().for_each(|mistake| found.add(Rule::of_render(mistake), mistake.clone(), name));
            }
        }
    }
}

/// The number of an Application, and what it renders.
type Objects<'a> = (usize, &'a Application, Vec<Key>);

/// Objects that two Applications of a branch render, by the numbers of the later ones. An Application that cannot go where it
/// would has no part in them.
pub(super) fn conflicts(
    judged: &Judged,
    attempts: &[Attempt<'_>],
    found: &mut Findings,
) -> BTreeMap<usize, Diagnostic> {
    let findings = findings(judged);
    let mut branches: BTreeMap<&BranchName, Vec<Objects<'_>>> = BTreeMap::new();
    for Attempt { index, application, result } in attempts {
        let Ok(rendered) = result else { continue };
        if findings.get(index).is_some_and(|finding| finding.is_error()) {
            continue;
        }
        let objects = render::objects(application, &rendered.manifests);
        branches.entry(application.environment_branch()).or_default().push((*index, application, objects));
    }
    let mut later = BTreeMap::new();
    for applications in branches.values() {
        let objects: Vec<_> = applications.iter().map(|(_, application, keys)| (*application, &keys[..])).collect();
        for (number, conflict) in render::conflicts_by_number(&objects) {
            if let Some((index, ..)) = applications.get(number) {
                later.entry(*index).or_insert_with(|| conflict.clone());
            }
            found.add(Rule::ObjectConflict, conflict, None);
        }
    }
    later
}

/// What is wrong with Applications beside others, by their numbers; else what is odd.
pub(super) fn findings(judged: &Judged) -> BTreeMap<usize, &Diagnostic> {
    let mut findings: BTreeMap<usize, &Diagnostic> = BTreeMap::new();
    for finding in &judged.verdict.findings {
        for index in &finding.applications {
            let known = findings.entry(*index).or_insert(&finding.diagnostic);
            if !known.is_error() {
                *known = &finding.diagnostic;
            }
        }
    }
    findings
}

/// What is known of the Applications.
pub(super) struct Known<'k> {
    pub judged: &'k Judged,
    pub attempts: &'k [Attempt<'k>],
    pub conflicts: BTreeMap<usize, Diagnostic>,
    pub needs: &'k [NeededInput],
    pub draft: &'k Draft,
}

/// All Applications, by file, then by line and name.
pub(super) fn all(known: &Known<'_>) -> Vec<AdoptedApplication> {
    let Known { judged, attempts, needs, draft, .. } = known;
    let mut results: BTreeMap<usize, &Result<Rendered, Vec<Diagnostic>>> = BTreeMap::new();
    results.extend(attempts.iter().map(|attempt| (attempt.index, &attempt.result)));
    let findings = findings(judged);
    let mut inputs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for need in *needs {
        need.applications.iter().for_each(|name| inputs.entry(name).or_default().push(need.input.clone()));
    }
    let nowhere = draft.rules_count() + 1;
    let discovered = &judged.discovered;
    let is_unnamed = draft.settings().is_ok_and(|settings| settings.repo_urls.is_empty());
    let standings = judged.verdict.standings.iter().zip(&discovered.applications).enumerate();
    let mut all: Vec<AdoptedApplication> = Vec::new();
    for (index, (standing, application)) in standings {
        let is_nowhere = application.rule == Some(nowhere);
        let mut adopted = adopted(application, is_nowhere);
        adopted.inputs = inputs.get(application.name.as_str()).cloned().unwrap_or_default();
        let finding = findings.get(&index).copied();
        let reason = match standing {
            _ if is_nowhere && draft.has_rules() => Some((Cause::NoRule, vec![no_rule(application, judged)])),
            Standing::OtherBranch => Some((Cause::OtherBranch, Vec::from([other_branch(application)]))),
            Standing::Pinned => Some((Cause::Pinned, finding.cloned().into_iter().collect())),
            Standing::OtherRepository if is_unnamed => {
                Some((Cause::OtherRepository, finding.map(unnamed).into_iter().collect()))
            }
            Standing::OtherRepository => Some((Cause::OtherRepository, finding.cloned().into_iter().collect())),
            Standing::Hydrated => match (finding.filter(|finding| finding.is_error()), results.get(&index)) {
                (Some(mistake), _) => Some((Cause::Destination, vec![mistake.clone()])),
                (None, Some(Err(mistakes))) => Some((cause(mistakes, &adopted.inputs), mistakes.clone())),
                (None, _) => {
                    known.conflicts.get(&index).map(|conflict| (Cause::ObjectConflict, vec![conflict.clone()]))
                }
            },
        };
        let mut adopted = adopted.with(reason);
        adopted.holds_branch = holds_branch(application, adopted.cause);
        all.push(adopted);
    }
    all.extend(discovered.unusable.iter().map(unusable));
    all.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    all
}

/// Whether an Application keeps its branch from moving, whatever the settings say: whether a plugin fails does not follow
/// from the dry commit, and an object that two render has no owner.
fn holds_branch(application: &Application, cause: Option<Cause>) -> bool {
    (cause == Some(Cause::Render) && plugin(application).is_some()) || cause == Some(Cause::ObjectConflict)
}

/// The plugin that renders an Application, where that has a name.
pub(super) fn plugin(application: &Application) -> Option<&str> {
    let plugin = application
        .dry
        .options
        .plugin
        .as_ref()
        .filter(|plugin| !plugin.is_kustomize)
        .and_then(|plugin| plugin.name.as_deref());
    plugin.filter(|name| !name.is_empty())
}

fn adopted(application: &Application, is_nowhere: bool) -> AdoptedApplication {
    let known = |text: String| Some(text).filter(|_| !is_nowhere);
    AdoptedApplication {
        name: application.name.to_string(),
        namespace: application.namespace.as_ref().map(AppName::to_string),
        file: application.places.name.path.to_string(),
        line: application.places.name.line,
        made_by: application.maker.as_deref().map(MadeBy::new),
        branch: known(application.environment_branch().to_string()),
        path: known(application.sync_path.to_string()),
        hydrates: true,
        holds_branch: false,
        cause: None,
        mistakes: Vec::new(),
        inputs: Vec::new(),
    }
}

impl AdoptedApplication {
    fn with(self, reason: Option<(Cause, Vec<Diagnostic>)>) -> Self {
        let Some((cause, mistakes)) = reason else { return self };
        Self { hydrates: false, cause: Some(cause), mistakes, ..self }
    }
}

fn unusable(document: &Unusable) -> AdoptedApplication {
    let span = document.mistakes.first().and_then(|mistake| mistake.span.as_ref());
    AdoptedApplication {
        name: document.name.as_ref().map(AppName::to_string).unwrap_or_default(),
        namespace: None,
        file: span.map(|span| span.path.to_string()).unwrap_or_default(),
        line: span.map_or(0, |span| span.line),
        made_by: None,
        branch: None,
        path: None,
        hydrates: false,
        holds_branch: false,
        cause: Some(Cause::Document),
        mistakes: document.mistakes.clone(),
        inputs: Vec::new(),
    }
}

/// That nothing says which repository this one is: neither a remote nor a directory that is here.
fn unnamed(finding: &Diagnostic) -> Diagnostic {
    let text = "it is not known by which URL Argo CD knows this repository, so what is of another one is not known";
    let hint = "say it: git hydrate adopt --repo-url URL";
    Diagnostic { span: finding.span.clone(), ..Diagnostic::warning(text).hint(hint) }
}

/// What to do about an Application that no rule is for.
fn no_rule(application: &Application, judged: &Judged) -> Diagnostic {
    let parent = Parent::of(application);
    let mut expanded = judged.discovered.expanded.iter();
    let makes = expanded.any(|one| one.file == parent.file && one.ordinal == parent.ordinal());
    let (text, hint) = if makes {
        let name = &application.name;
        let rule = format!("{{match: {{name: {name}}}, branch: environments/{name}, path: '{{{{ name }}}}'}}");
        let hint = format!(
            "an app of apps is led to a branch of its own, by a rule before the others: {rule}: git hydrate config edit"
        );
        ("it renders other Applications", hint)
    } else {
        let hint = "add a rule for it: git hydrate config edit; without one it is deployed as before";
        ("", hint.to_owned())
    };
    Diagnostic::warning(text).hint(hint)
}

fn other_branch(application: &Application) -> Diagnostic {
    let text = format!("its `targetRevision` is `{}`", application.dry.target_revision);
    Diagnostic::warning(text).at(application.places.target_revision.clone())
}

/// Why an Application does not render: what it lacks goes before what follows from that, but not before a mistake that
/// stays with all inputs at hand.
fn cause(mistakes: &[Diagnostic], inputs: &[String]) -> Cause {
    let refusals: BTreeSet<Option<Refusal>> = mistakes.iter().map(|mistake| mistake.refusal).collect();
    if !inputs.is_empty() && refusals.iter().any(Option::is_some) {
        return Cause::Input;
    }
    match refusals.into_iter().next_back().flatten() {
        Some(Refusal::MissingDependency) => Cause::Input,
        Some(Refusal::Nondeterministic) => Cause::Nondeterministic,
        Some(Refusal::Elsewhere | Refusal::Awaited) => Cause::Elsewhere,
        Some(Refusal::Unsupported) => Cause::Unsupported,
        None => Cause::Render,
    }
}
