//! Everything that is wrong or odd in one dry tree, whichever environment branch it would stop.

mod exposed;
mod refused;

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Refusal, Span};
use dry_files::view::{Files, Kind, View};
use serde::Serialize;

use crate::argo::{self, Application, BranchName, Context, Standing, Verdict, no_such_branch, unnamed_active_paths};
use crate::discover::{Discovered, Discovery};
use crate::manifest::Key;
use crate::owners::branch_limit::too_many;
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::policy::{Policy, render_context};
use crate::owners::public_seeds::refused;
use crate::owners::seed_identities::drew;
use crate::owners::setup::Observer;
use crate::render::{self, Failure, Rendered, Renderers};
use crate::repo::{ObjectBuffer, Repository};
use crate::settings::SettingsFiles;
use crate::versions::Kubernetes;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rule {
    /// A file that seems to contain Applications cannot be read.
    UnreadableFile,
    /// An Application is not what it should be.
    Application,
    /// An Application gets in the way of others, of the repository or of its settings.
    Destination,
    /// A source does not render.
    Render,
    /// A render would differ each time.
    Nondeterministic,
    /// A chart that another one depends on is not in the repository.
    MissingDependency,
    /// A file that a render needs is not in the repository.
    Elsewhere,
    /// A render asks for what is not supported.
    Unsupported,
    /// Two Applications of one branch render the same object.
    ObjectConflict,
    /// It is not known which Applications an ApplicationSet makes.
    ApplicationSet,
    /// An environment branch does not take what would be hydrated.
    EnvironmentBranch,
    /// A rule of the settings is for nothing.
    Unused,
    /// Everybody who can read the branch would read a Secret, or what looks like a key.
    PlainSecret,
    /// Something is written and changes nothing.
    Ineffective,
    /// An API server would refuse an object.
    Refused,
    /// An API server would take an object, and people would want to hear what comes of it.
    Doubtful,
}

impl Rule {
    /// All of them.
    pub(crate) const ALL: [Rule; 16] = [
        Rule::UnreadableFile,
        Rule::Application,
        Rule::Destination,
        Rule::Render,
        Rule::Nondeterministic,
        Rule::MissingDependency,
        Rule::Elsewhere,
        Rule::Unsupported,
        Rule::ObjectConflict,
        Rule::ApplicationSet,
        Rule::EnvironmentBranch,
        Rule::Unused,
        Rule::PlainSecret,
        Rule::Ineffective,
        Rule::Refused,
        Rule::Doubtful,
    ];

    /// Its name, in all formats.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Rule::UnreadableFile => "unreadable-file",
            Rule::Application => "application",
            Rule::Destination => "destination",
            Rule::Render => "render",
            Rule::Nondeterministic => "nondeterministic",
            Rule::MissingDependency => "missing-dependency",
            Rule::Elsewhere => "elsewhere",
            Rule::Unsupported => "unsupported",
            Rule::ObjectConflict => "object-conflict",
            Rule::ApplicationSet => "application-set",
            Rule::EnvironmentBranch => "environment-branch",
            Rule::Unused => "unused-rule",
            Rule::PlainSecret => "plain-secret",
            Rule::Ineffective => "ineffective",
            Rule::Refused => "refused",
            Rule::Doubtful => "doubtful",
        }
    }

    /// What it asks for, and why.
    pub(crate) fn help(self) -> &'static str {
        match self {
            Rule::UnreadableFile => {
                "A file that contains `sourceHydrator` must be YAML or JSON: while it cannot be read, it is not known which Applications it has, and the branches that it fed stay as they are."
            }
            Rule::Application => "An Application must have the fields that hydration needs, each as it should be.",
            Rule::Destination => {
                "Each Application writes to a directory of its own on an environment branch, and its dry sources are in \
                 this repository."
            }
            Rule::Render => "The source of an Application must render; else its environment branch stays as it is.",
            Rule::Nondeterministic => {
                "A render must give the same result each time. Random and clock functions of charts are refused when \
                 they run; set the value that replaces them, or have an admin allow them by name."
            }
            Rule::MissingDependency => {
                "Rendering opens no connection. Commit the charts that a chart depends on below its `charts/`, as `helm \
                 dependency update` puts them there, or name them by a `file://` path in the repository."
            }
            Rule::Elsewhere => {
                "What is rendered must be in the repository itself, not in a submodule, in Git LFS or behind a link that \
                 leads out."
            }
            Rule::Unsupported => {
                "Rendering opens no connection and runs no program, so remote bases and functions that run programs are \
                 refused."
            }
            Rule::ObjectConflict => "Two Applications of one environment branch must not render the same object.",
            Rule::ApplicationSet => {
                "An ApplicationSet is expanded from the dry tree alone. While it cannot be, it makes no Applications, and the \
                 branches that it fed stay as they are."
            }
            Rule::EnvironmentBranch => {
                "An environment branch is one that hydration made, and one dry commit removes no more from it than the \
                 setting `removalLimit` allows, unless its message says so."
            }
            Rule::PlainSecret => {
                "Everybody who can read a hydrated branch reads what is in it: have the cluster fetch or decrypt Secrets (External \
                 Secrets, Sealed Secrets). An object with the annotation `git-hydrate/plain-secret: allowed` is left out."
            }
            Rule::Ineffective => {
                "What is written shall change something: each value is read by a template of its chart or of a subchart, \
                 and each patch, image and replacement of a kustomization finds what it changes."
            }
            Rule::Refused => {
                "The API server of the cluster must take each object: the sync fails that brings one which it refuses. The setting \
                 `kubernetes` says its version, `crds` where CRDs are, `validate` what becomes of a push."
            }
            Rule::Doubtful => {
                "An API server takes the object, and does something else than was meant. The setting `silentWarnings` switches a \
                 warning off by its name in brackets."
            }
            Rule::Unused => "Each rule of the setting `rules` is for some Application.",
        }
    }

    /// The rule that a mistake of a render breaks.
    pub(crate) fn of_render(mistake: &Diagnostic) -> Self {
        match mistake.refusal {
            Some(Refusal::Nondeterministic) => Rule::Nondeterministic,
            Some(Refusal::MissingDependency) => Rule::MissingDependency,
            Some(Refusal::Elsewhere | Refusal::Awaited) => Rule::Elsewhere,
            Some(Refusal::Unsupported) => Rule::Unsupported,
            None => Rule::Render,
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Something wrong or odd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckFinding {
    /// What it is about.
    pub rule: Rule,
    /// What it is, and where.
    #[serde(flatten)]
    pub diagnostic: Diagnostic,
    /// The Applications, or the directories of sources without any, that it was found in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found_in: Vec<String>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Checked {
    /// The branch that the tree was taken for the tip of.
    pub dry_branch: String,
    /// How many Applications with `spec.sourceHydrator`, or under a rule, there are.
    pub applications: usize,
    /// How many of them are hydrated from this branch.
    pub hydrated: usize,
    /// How many of these render.
    pub rendered: usize,
    /// How many objects are of kinds that nothing is known to define, so that they are not judged.
    pub unknown_kinds: usize,
    /// These kinds.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub kinds_without_schema: BTreeSet<String>,
    /// What is wrong or odd, by place; each once, however many Applications share it.
    pub findings: Vec<CheckFinding>,
}

/// Whether two diagnostics say the same of the same place.
fn is_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    let place = |span: &Span| (span.path.clone(), span.line, span.column);
    one.message == other.message && one.span.as_ref().map(place) == other.span.as_ref().map(place)
}

impl Checked {
    /// Adds why an environment branch stays as it is. What was found without looking at the branch is there once, and an
    /// error, as for the branch.
    pub(crate) fn add_of_branch(&mut self, mistake: Diagnostic) {
        match self.findings.iter_mut().find(|found| is_same(&found.diagnostic, &mistake)) {
            Some(found) => found.diagnostic.severity = found.diagnostic.severity.max(mistake.severity),
            None => {
                let finding = CheckFinding { rule: Rule::EnvironmentBranch, diagnostic: mistake, found_in: Vec::new() };
                self.findings.push(finding);
            }
        }
    }

    /// Adds what was found by other settings. Answers whether that is more.
    pub(crate) fn add(&mut self, other: Self) -> bool {
        let before = (self.findings.len(), self.hydrated);
        for found in other.findings {
            if !self.findings.iter().any(|known| is_same(&known.diagnostic, &found.diagnostic)) {
                self.findings.push(found);
            }
        }
        if other.hydrated > self.hydrated {
            let Self { applications, hydrated, rendered, .. } = other;
            (self.applications, self.hydrated, self.rendered) = (applications, hydrated, rendered);
        }
        before != (self.findings.len(), self.hydrated)
    }

    /// Whether nothing was found, neither an Application nor anything wrong.
    pub(crate) fn is_nothing(&self) -> bool {
        self.applications == 0 && self.findings.is_empty()
    }

    /// Whether nothing stops any environment branch.
    pub(crate) fn is_success(&self) -> bool {
        !self.findings.iter().any(|finding| finding.diagnostic.is_error())
    }
}

/// The dry tree that is checked.
pub(crate) struct Tree<'a> {
    /// Its files.
    pub files: &'a dyn Files,
    /// The repository whose settings and branches count; none for a plain directory.
    pub repository: Option<(&'a Repository, &'a Place)>,
    /// The dry branch whose tip the tree is taken for; by default the one that most of its Applications name.
    pub dry_branch: Option<BranchName>,
    /// The id of its commit, as far as there is one.
    pub dry_commit: String,
}

/// The Applications of a tree, and what is wrong with them before anything is rendered.
pub(crate) struct Judged {
    pub policy: Policy,
    pub discovered: Discovered,
    pub dry_branch: BranchName,
    /// What `HEAD` names.
    pub head_branch: BranchName,
    pub verdict: Verdict,
}

impl Judged {
    /// The branch that an Application is hydrated from; none when it does not name a branch, as where an ApplicationSet left a
    /// placeholder of `{{…}}` in it.
    pub(crate) fn branch_of(&self, application: &Application) -> Option<BranchName> {
        match application.revision_name() {
            "" | "HEAD" => Some(self.head_branch.clone()),
            name if name.contains("{{") => None,
            name => BranchName::new(name).ok(),
        }
    }
}

/// Finds the Applications of a tree and judges them together.
pub(crate) fn judged(tree: &Tree<'_>, renderers: &Renderers) -> Result<Judged, HydrateError> {
    let policy = match tree.repository {
        Some((repository, _)) => Policy::read(&repository.refs()?, &ObjectBuffer::new(repository))?,
        None => Policy::of(&SettingsFiles::new())?.in_repository(true),
    };
    judged_by(policy, tree, renderers)
}

/// Finds the Applications of a tree and judges them together, by settings that need not be those of the repository.
pub(crate) fn judged_by(policy: Policy, tree: &Tree<'_>, renderers: &Renderers) -> Result<Judged, HydrateError> {
    let refs = tree.repository.map(|(repository, _)| repository.refs()).transpose()?.unwrap_or_default();
    let head = tree.repository.and_then(|(_, names)| names.head(&refs));
    let mut discovery = Discovery::default();
    let with = policy.making(renderers, &tree.dry_commit);
    let unreadable = |reason| HydrateError::tree(&tree.dry_commit)(reason);
    let named = match &tree.dry_branch {
        None if policy.settings.dry_branches.is_empty() => {
            let limit = policy.settings.limits.applications;
            let written =
                discovery.discover(tree.files, &policy.applications, &policy.plain, limit).map_err(&unreadable)?;
            Some(usual_branch(&written, head.as_ref(), &[]))
        }
        named => named.clone(),
    };
    let discovered = policy.discover(&mut discovery, tree.files, named.as_ref(), head.as_ref(), &with);
    let discovered = discovered.map_err(&unreadable)?;
    let dry_branch = named.unwrap_or_else(|| usual_branch(&discovered, head.as_ref(), &policy.settings.dry_branches));
    let view = View::new(tree.files);
    let branches = tree.repository.into_iter().flat_map(|(_, names)| names.branches(&refs)).map(|(branch, _)| branch);
    let context = Context {
        dry_branch: &dry_branch,
        head_branch: head.as_ref().or(Some(&dry_branch)),
        dry_branches: &[dry_branch.clone()].into(),
        branches: &branches.chain([dry_branch.clone()]).collect(),
        repo_urls: &policy.settings.repo_urls,
        allowed: &policy.allowed,
        copies: policy.settings.applications_to.as_ref(),
        is_directory: &|path| matches!(view.kind(path), Ok(Some(Kind::Directory))),
        follows: policy.follows,
        is_tag: &|name| refs.get(&format!("refs/tags/{}", name.trim_start_matches("refs/tags/"))).is_some(),
        is_shared: &|branch| policy.settings.is_shared(branch),
    };
    let verdict = argo::validate(&discovered.applications, &context);
    let head_branch = head.unwrap_or_else(|| dry_branch.clone());
    Ok(Judged { discovered, dry_branch, head_branch, verdict, policy })
}

/// Finds everything that is wrong or odd with the Applications of a tree, and renders them. Nothing is written.
///
/// Objects are judged as the clusters of their Applications would judge them, or all as by one version of Kubernetes.
pub(crate) fn check(
    tree: &Tree<'_>,
    kubernetes: Option<Kubernetes>,
    renderers: &Renderers,
    observer: &dyn Observer,
) -> Result<Checked, HydrateError> {
    let judged = judged(tree, renderers)?;
    let mut found = Findings::of(&judged);
    let Judged { policy, discovered, dry_branch, verdict, .. } = judged;
    for rule in (1..=policy.plain.len()).filter(|rule| !discovered.rules.contains(rule)) {
        let text = format!("rule {rule} of the settings matches no Application that is left by the rules before it");
        let hint = "correct its `match`, or take the rule away: git hydrate config edit";
        found.add(Rule::Unused, Diagnostic::warning(text).hint(hint), None);
    }
    let standings = verdict.standings.iter().zip(&discovered.applications);
    let hydrated = standings.filter(|(standing, _)| **standing == Standing::Hydrated);
    let hydrated: Vec<&Application> = hydrated.map(|(_, application)| &**application).collect();
    if let Some(missing) = missing_dry_branch(tree, &policy, &dry_branch, &hydrated)? {
        found.add(Rule::Destination, missing, None);
    }
    if let Some(many) = many_branches(tree, &policy, &dry_branch, &hydrated)? {
        found.add(Rule::Destination, many, None);
    }
    for unnamed in unnamed_active_paths(hydrated.iter().copied(), |active| policy.settings.is_shared(active)) {
        found.add(Rule::Destination, unnamed, None);
    }
    let context = render_context(&policy.settings, tree.files, &tree.dry_commit);
    // The sources of the others are those of a tag, a range or a commit.
    let is_of_tree = |application: &&&Application| !verdict.revisions.contains_key(application.environment_branch());
    let of_tree: Vec<&Application> = hydrated.iter().filter(is_of_tree).copied().collect();
    let rendered = render_all(&of_tree, renderers, &context, observer, &mut found)?;
    refuse_public(tree, &policy, &rendered, &mut found)?;
    found.conflicts(&rendered);
    exposed::find(&rendered, (renderers, &context), &mut found);
    let applications: Vec<&Application> = rendered.iter().map(|(application, _)| *application).collect();
    let ineffective = renderers.ineffective(&applications, &context);
    for (application, one) in
        applications.iter().zip(ineffective).flat_map(|(of, all)| all.into_iter().map(move |one| (of, one)))
    {
        // A chart from elsewhere has what nothing reads among its defaults, too.
        if !one.is_default {
            found.add(Rule::Ineffective, one.diagnostic, Some(application.name.as_str()));
        }
    }
    let asked = refused::Asked { rendered: &rendered, policy: &policy, context: &context, kubernetes };
    let unknown = asked.find(renderers, &mut found);
    for (application, _) in rendered.iter().filter(|(_, result)| result.manifests.is_empty()) {
        let profile = policy.settings.profile.into();
        let why = render::why_nothing(application, &View::new(tree.files), profile);
        found.add(Rule::Render, why.warning(application), Some(application.name.as_str()));
    }
    Ok(Checked {
        dry_branch: dry_branch.to_string(),
        applications: discovered.applications.len(),
        hydrated: hydrated.len(),
        rendered: rendered.len(),
        unknown_kinds: unknown.values().sum(),
        kinds_without_schema: unknown.into_keys().collect(),
        findings: found.sorted(),
    })
}

/// Finds the Applications that would be refused since anybody could compute their random values. Where the records do not say
/// who had some before, none is.
fn refuse_public(
    tree: &Tree<'_>,
    policy: &Policy,
    rendered: &[(&Application, Rendered)],
    found: &mut Findings,
) -> Result<(), HydrateError> {
    let (Some((repository, names)), false) = (tree.repository, policy.settings.seeds.is_set()) else { return Ok(()) };
    let Some(known) = drew(&repository.refs()?, &ObjectBuffer::new(repository)) else { return Ok(()) };
    for (application, rendered) in rendered {
        if rendered.drawn.as_ref().is_some_and(|drawn| !known.contains(&drawn.identity)) {
            found.add(Rule::Nondeterministic, refused(application, names), Some(application.name.as_str()));
        }
    }
    Ok(())
}

/// The warning that Applications name a branch which a repository that has others does not have; none where it is not guessed by
/// what they name.
fn missing_dry_branch(
    tree: &Tree<'_>,
    policy: &Policy,
    dry_branch: &BranchName,
    hydrated: &[&Application],
) -> Result<Option<Diagnostic>, HydrateError> {
    let is_guessed = tree.dry_branch.is_none() && policy.settings.dry_branches.is_empty();
    let (Some((repository, names)), true) = (tree.repository, is_guessed) else { return Ok(None) };
    let refs = repository.refs()?;
    let Some(head) = names.head(&refs).filter(|head| head != dry_branch) else { return Ok(None) };
    let naming: Vec<&&Application> =
        hydrated.iter().filter(|application| application.revision_name() == dry_branch.as_str()).collect();
    let exists = |name: &BranchName| names.branches(&refs).any(|(branch, _)| branch == *name);
    if exists(dry_branch) || !exists(&head) {
        return Ok(None);
    }
    let first = naming.first().map(|first| &first.places.target_revision);
    Ok(first.map(|at| no_such_branch(dry_branch, naming.len(), &head, at)))
}

/// That there are more environment branches than a dry branch may feed, some of which do not exist yet.
fn many_branches(
    tree: &Tree<'_>,
    policy: &Policy,
    dry_branch: &BranchName,
    hydrated: &[&Application],
) -> Result<Option<Diagnostic>, HydrateError> {
    let Some((repository, names)) = tree.repository else { return Ok(None) };
    let refs = repository.refs()?;
    let is_there = |branch: &BranchName| names.tip(&refs, branch).is_some();
    Ok(too_many(dry_branch, hydrated.iter().copied(), std::iter::empty(), is_there, policy.settings.limits.branches))
}

/// The branch that most Applications name, of the dry branches where settings name any.
fn usual_branch(discovered: &Discovered, head: Option<&BranchName>, dry_branches: &[BranchName]) -> BranchName {
    let main = || BranchName::new("main").expect("a branch name");
    let is_dry = |branch: &BranchName| dry_branches.is_empty() || dry_branches.contains(branch);
    let default = head.filter(|head| is_dry(head)).or(dry_branches.first()).cloned().unwrap_or_else(main);
    let mut counts: BTreeMap<BranchName, usize> = BTreeMap::new();
    // The revision of a chart from elsewhere is a version.
    for application in discovered.applications.iter().filter(|application| application.has_own_source()) {
        let named = match application.dry.target_revision.as_str() {
            "" | "HEAD" => Some(default.clone()),
            revision => BranchName::new(revision).ok(),
        };
        *counts.entry(named.unwrap_or_else(|| default.clone())).or_default() += 1;
    }
    let usual = counts.into_iter().filter(|(branch, _)| is_dry(branch)).rev().max_by_key(|(_, count)| *count);
    usual.map_or(default, |(branch, _)| branch)
}

/// Renders Applications and takes down what is wrong with them; answers those that render.
pub(crate) fn render_all<'a>(
    applications: &[&'a Application],
    renderers: &Renderers,
    context: &render::Context<'_>,
    observer: &dyn Observer,
    found: &mut Findings,
) -> Result<Vec<(&'a Application, Rendered)>, HydrateError> {
    observer.rendering("", applications.len());
    let results = renderers.render(applications, context, &|done| observer.rendered(done));
    let mut rendered = Vec::new();
    for (application, result) in applications.iter().zip(results) {
        let name = Some(application.name.as_str());
        match result {
            Ok(result) => {
                for warning in result.warnings.iter().chain(&result.lost_keys) {
                    found.add(Rule::Render, warning.clone(), name);
                }
                rendered.push((*application, result));
            }
            Err(Failure::Mistakes(mistakes)) => {
                for mistake in mistakes {
                    found.add(Rule::of_render(&mistake), application.tells(mistake), name);
                }
            }
            Err(Failure::World(error)) if error.is_limit() => {
                found.add(Rule::Render, error.of_limit(application), name);
            }
            Err(Failure::World(error)) => return Err(error.into()),
        }
    }
    Ok(rendered)
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<CheckFinding>);

impl Findings {
    /// What is wrong before anything is rendered.
    pub(crate) fn of(judged: &Judged) -> Self {
        let Judged { discovered, verdict, .. } = judged;
        let mut found = Self::default();
        for broken in &discovered.broken {
            found.add(Rule::UnreadableFile, broken.reported(), None);
        }
        if let Some(unlisted) = &discovered.unlisted {
            found.add(Rule::UnreadableFile, unlisted.clone(), None);
        }
        // What it fed before, if it fed any branch, is not known here.
        for maker in discovered.unanswered.iter().filter(|maker| !maker.is_reported) {
            found.add(Rule::ApplicationSet, maker.diagnostic.as_warning(), None);
        }
        for (_, mistake) in &discovered.mistakes {
            found.add(Rule::Application, mistake.clone(), None);
        }
        for finding in &verdict.findings {
            found.add(Rule::Destination, finding.diagnostic.clone(), None);
        }
        found
    }

    /// Notes a diagnostic, once for all that share it.
    pub(crate) fn add(&mut self, rule: Rule, diagnostic: Diagnostic, found_in: Option<&str>) {
        // Of several elements of a set that fail alike, the first one is an example.
        let is_same =
            |known: &Diagnostic| Diagnostic { made_by: diagnostic.made_by.clone(), ..known.clone() } == diagnostic;
        let same = self.0.iter_mut().find(|finding| finding.rule == rule && is_same(&finding.diagnostic));
        let found_in = found_in.map(str::to_owned);
        match same {
            Some(finding) => finding.found_in.extend(found_in),
            None => self.0.push(CheckFinding { rule, diagnostic, found_in: found_in.into_iter().collect() }),
        }
    }

    fn conflicts(&mut self, rendered: &[(&Application, Rendered)]) {
        let mut branches: BTreeMap<&BranchName, Vec<(&Application, Vec<Key>)>> = BTreeMap::new();
        for (application, result) in rendered {
            let objects = render::objects(application, &result.manifests);
            if let Some(repeated) = render::repeated(application, &objects) {
                self.add(Rule::ObjectConflict, repeated, Some(application.name.as_str()));
            }
            branches.entry(application.environment_branch()).or_default().push((application, objects));
        }
        for applications in branches.values() {
            let objects: Vec<_> = applications.iter().map(|(application, keys)| (*application, &keys[..])).collect();
            for conflict in render::conflicts(&objects) {
                self.add(Rule::ObjectConflict, conflict, None);
            }
        }
    }

    /// By place, errors of a place first; what has no place comes last.
    pub(crate) fn sorted(self) -> Vec<CheckFinding> {
        let mut found = self.0;
        let place = |span: &Span| (span.path.clone(), span.line, span.column);
        found.sort_by_cached_key(|finding| {
            let place = finding.diagnostic.span.as_ref().map(place);
            (place.is_none(), place, std::cmp::Reverse(finding.diagnostic.severity), finding.rule)
        });
        found
    }
}
