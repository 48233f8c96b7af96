//! ApplicationSets: which Applications one makes, as far as git knows.
//!
//! [`read_sets`] finds the sets of a file, [`ApplicationSet::expand`] makes the Applications of one from the files of a
//! tree. Each set makes all of its Applications or none. What a set makes is a function of its document, of the files
//! that its generators look at (every listing and every file is a read of the [`View`]), and of what [`Sources`] says.
//!
//! Generators: `list`, `git`, `matrix`, `merge`, and `clusters` where the Secrets of the clusters stand in the tree. Those
//! that get their params from outside of git are refused, unless these were recorded.
//!
//! Behaviour and messages are Argo CD's, quirks included. Where they are not a function of the inputs, ours are: merged
//! params come in the order of the first child, clusters in that of their names; random and clock functions are refused,
//! and so are two keys of a map that render to one text.
//!
//! Leaves to others: whether the project exists and the destination resolves, and the finalizer that the controller adds.
//! `strategy`, `preservedFields`, `ignoreApplicationDifferences` and `syncPolicy` of the set change nothing here.
//!
//! What a set may make is bounded by [`Limits`], charged before it is made.
//!
//! Reference: argo-cd `37ee0097` applicationset/.

mod cluster;
mod clusters;
mod fasttemplate;
mod fault;
mod functions;
mod generators;
mod git;
mod import;
mod language;
mod list;
mod misspelt;
mod near_fields;
mod only;
mod origin;
mod params;
mod patch;
mod question;
mod recorded;
mod render;
mod selector;
mod shape;
mod types;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::BranchName;
use super::field::{Content, Field};
use super::located;
use super::maker::MadeFrom;
use super::rendered::RenderedObject;
use super::url::RepoUrl;
use crate::diag::more::and_more_in_brackets;
use crate::diag::{Diagnostic, Refusal, Span};
use crate::inputs::InputsDir;
use crate::manifest::Manifest;
use crate::path::RepoPath;
use crate::stack::on_deep_stack;
use crate::template;
use crate::view::{ContentId, View};
use crate::yaml::{Mapping, Value};

use cluster::Known;
use fault::{Fault, Result};
use generators::{Engine, Generated};
use language::{Language, Missing, TEMPLATE_LIMITS};
use origin::{Origin, Source};
use params::Params;
use shape::{Keys, written};
use types::{APPLICATION, APPLICATION_SET};

pub use cluster::Clusters;
pub(crate) use cluster::may_hold_clusters;
pub(crate) use cluster::{Cluster, has_userinfo};
pub use import::{Versions, import};
pub(in crate::application) use near_fields::misspelt_keys_of_application;
pub(crate) use only::Only;
pub(crate) use question::{Answer, Question};
pub(crate) use recorded::Recorded;
pub use recorded::read_recorded;

const API_VERSION: &str = "argoproj.io/v1alpha1";
const KIND: &str = "ApplicationSet";
/// How deep lists may stand in lists.
const LIST_DEPTH_MAX: u32 = 8;
/// How many sets a file may have.
pub(crate) const SETS_MAX: usize = 1000;

/// How much one set may make.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Limits {
    /// Applications.
    pub applications: usize,
    /// Params sets of all its generators together, those of the children of a matrix or merge too.
    pub params: usize,
    /// Bytes of texts and values of all params sets and Applications; reading and comparing counts, too.
    pub bytes: usize,
    /// What its Go templates may use up together.
    pub template: template::Limits,
}

impl Default for Limits {
    /// 100,000 Applications, 300,000 params sets, 256 MiB.
    fn default() -> Self {
        Self { applications: 100_000, params: 300_000, bytes: 256 << 20, template: TEMPLATE_LIMITS }
    }
}

/// The repository and the revision that are the tree.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Home {
    /// The URLs of the repository.
    pub repo_urls: Vec<String>,
    /// What the tree can be named by, besides `HEAD` and nothing: branches with and without `refs/heads/`, commit ids.
    pub revisions: Vec<String>,
    /// Whether `HEAD` is another branch than the tree is of.
    pub is_beside_head: bool,
}

impl Home {
    /// Whether something with this URL and revision is read from the tree. Any revision is where none is known.
    pub fn is_here(&self, repo_url: &str, revision: &str) -> bool {
        let revision = if self.revisions.is_empty() { "HEAD" } else { revision };
        self.check(repo_url, revision).is_ok()
    }

    fn check(&self, repo_url: &str, revision: &str) -> Result<()> {
        let asked = RepoUrl::new(repo_url);
        let is_here = |url: &String| RepoUrl::new(url) == asked || RepoUrl::new(url).same_place(&asked);
        if !self.repo_urls.iter().any(is_here) {
            let known = match self.repo_urls.as_slice() {
                [] => "the URL of this repository is not known".to_owned(),
                urls => format!("this one is `{}`", urls.join("`, `")),
            };
            return Err(Fault::refused(
                format!("the generator reads `{repo_url}`, which is not this repository"),
                Refusal::Elsewhere,
                format!("name this repository; {known}"),
            )
            .below("repoURL"));
        }
        let revision = revision.trim();
        let is_head = matches!(revision, "" | "HEAD") && !self.is_beside_head;
        let is_this = is_head || self.revisions.iter().any(|known| known == revision);
        if !is_this {
            return Err(Fault::refused(
                format!("the generator reads the revision `{revision}`, which is not this dry branch"),
                Refusal::Elsewhere,
                match self.revisions.first() {
                    Some(branch) if self.is_beside_head => format!("use `{branch}`"),
                    Some(branch) => format!("use `HEAD` or `{branch}`"),
                    None => "use `HEAD`".to_owned(),
                },
            )
            .below("revision"));
        }
        Ok(())
    }
}

/// What generators ask.
#[derive(Debug)]
pub struct Sources<'a> {
    view: &'a View<'a>,
    home: Home,
    argocd_namespace: String,
    recorded: Arc<Recorded>,
    recorded_files: BTreeMap<String, RepoPath>,
    clusters: OnceLock<Arc<Clusters>>,
    clusters_are_used: AtomicBool,
    only: Option<&'a Only>,
    inputs: InputsDir,
    lists: Vec<RepoPath>,
}

/// The namespace of Argo CD, as its own manifests have it.
pub(crate) const ARGOCD_NAMESPACE: &str = "argocd";

impl<'a> Sources<'a> {
    /// The files of a tree, and where it is from. Argo CD lives in the namespace `argocd`, and nothing is recorded.
    pub fn new(view: &'a View<'a>, home: Home) -> Self {
        Self {
            view,
            home,
            argocd_namespace: ARGOCD_NAMESPACE.to_owned(),
            recorded: Arc::default(),
            recorded_files: BTreeMap::new(),
            clusters: OnceLock::new(),
            clusters_are_used: AtomicBool::new(false),
            only: None,
            inputs: InputsDir::default(),
            lists: Vec::new(),
        }
    }

    /// The same where `git` generators look at a part of the tree; all of it without one.
    pub fn of_part(self, only: Option<&'a Only>) -> Self {
        Self { only, ..self }
    }

    /// The same where inputs are in another directory, which no generator looks into.
    pub fn with_inputs_in(self, inputs: InputsDir) -> Self {
        Self { inputs, ..self }
    }

    /// Whether `git` generators look at a path.
    fn has(&self, path: &RepoPath) -> bool {
        self.only.is_none_or(|only| only.has(path)) && !self.inputs.has(path)
    }

    /// The same with Argo CD in another namespace: that of the Secrets of its clusters.
    pub fn in_namespace(self, argocd_namespace: impl Into<String>) -> Self {
        Self { argocd_namespace: argocd_namespace.into(), clusters: OnceLock::new(), ..self }
    }

    /// The same with the params that generators gave which are answered outside of git, by the name of the generator:
    /// `scmProvider`, `pullRequest`, `plugin`, `clusterDecisionResource`.
    pub fn with_recorded(self, recorded: Recorded) -> Self {
        Self { recorded: Arc::new(recorded), ..self }
    }

    /// The same with files of the tree that hold such params, by the name of the set.
    pub fn with_recorded_files(self, recorded_files: BTreeMap<String, RepoPath>) -> Self {
        Self { recorded_files, ..self }
    }

    /// The same with the files of the tree that list clusters, beside their Secrets.
    pub fn with_lists(self, lists: Vec<RepoPath>) -> Self {
        Self { lists, clusters: OnceLock::new(), ..self }
    }

    /// The same with clusters that are known already; without them the Secrets of clusters are looked for in the tree.
    pub fn with_clusters(self, clusters: Arc<Clusters>) -> Self {
        Self { clusters: clusters.into(), ..self }
    }

    /// Whether a generator asked for clusters: what a set makes then rests on which files hold any.
    pub fn used_clusters(&self) -> bool {
        self.clusters_are_used.load(Ordering::Relaxed)
    }

    fn clusters(&self) -> Result<&Known> {
        let search = || Arc::new(Clusters::search(self.view, &self.argocd_namespace, &self.inputs, &self.lists));
        let clusters = self.clusters.get_or_init(search);
        self.clusters_are_used.store(true, Ordering::Relaxed);
        self.view.note_all(&clusters.reads);
        clusters.known.as_ref().map_err(|unclear| unclear.fault())
    }

    /// What was recorded for a set.
    fn recorded_of(&self, set: &str) -> Result<Arc<Recorded>> {
        let Some(path) = self.recorded_files.get(set) else { return Ok(self.recorded.clone()) };
        let wrong = |reason: String| {
            let hint = format!(
                "correct the file, or the setting: git hydrate config set applicationSets.{set}.parameters FILE"
            );
            Fault::new(format!("the recorded parameters of the ApplicationSet cannot be read: {reason}"))
                .hint(hint)
                .at(Span::file(path.clone()))
        };
        let blob = self.view.read(path).map_err(|error| wrong(error.to_string()))?;
        read_recorded(&blob.data).map(Arc::new).map_err(wrong)
    }
}

/// One ApplicationSet of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSet {
    field: Field,
    /// What rendered it; none for one that stands in its file.
    rendered: Option<Arc<RenderedObject>>,
}

/// What a set makes.
#[derive(Debug, Default)]
pub struct Expanded {
    /// The Applications, in the order of the generators and of their params.
    pub applications: Vec<Made>,
    /// What is odd, such as an entry that names no generator.
    pub warnings: Vec<Diagnostic>,
}

/// One Application that a set makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// The whole object.
    pub object: Value,
    /// What it was made from.
    pub element: MadeFrom,
    /// The entry of `spec.generators` that made it, and the name of the generator in it.
    pub generator: (usize, String),
}

/// Finds the ApplicationSets of a file: in its documents, and in lists among them.
///
/// Errors: the file cannot be parsed, or holds too many sets.
pub fn read_sets(path: &RepoPath, bytes: &[u8]) -> std::result::Result<Vec<ApplicationSet>, Diagnostic> {
    let mut sets = Vec::new();
    for document in located::parse(path, bytes)? {
        gather(document, 0, &mut sets);
    }
    match sets.len() > SETS_MAX {
        true => Err(Diagnostic::error(format!("the file has more than {SETS_MAX} ApplicationSets"))
            .at(Span::file(path.clone()))),
        false => Ok(sets),
    }
}

fn gather(object: Field, depth: u32, sets: &mut Vec<ApplicationSet>) {
    let text = |key: &str| object.get(key).and_then(Field::as_str).unwrap_or_default();
    let group = text("apiVersion").split('/').next().unwrap_or_default();
    if text("kind") == KIND && group == "argoproj.io" {
        sets.push(ApplicationSet { field: object, rendered: None });
        return;
    }
    if !text("kind").ends_with("List") || depth >= LIST_DEPTH_MAX {
        return;
    }
    let Content::Mapping(entries) = object.content else { return };
    for entry in entries.into_iter().filter(|entry| entry.key == "items") {
        if let Content::List(items) = entry.field.content {
            items.into_iter().for_each(|item| gather(item, depth + 1, sets));
        }
    }
}

/// The patterns of the git generators in a list of generators, without those that take away.
fn git_patterns(generators: &Field, found: &mut Vec<(String, Span)>) {
    let Content::List(items) = &generators.content else { return };
    for item in items {
        for combined in ["matrix", "merge"] {
            if let Some(inner) = item.get(combined).and_then(|of| of.get("generators")) {
                git_patterns(inner, found);
            }
        }
        let Some(git) = item.get("git") else { continue };
        for list in ["directories", "files"].into_iter().filter_map(|key| git.get(key)) {
            let Content::List(patterns) = &list.content else { continue };
            let is_taken_away = |pattern: &&Field| pattern.get("exclude").is_some();
            let paths = patterns.iter().filter(|pattern| !is_taken_away(pattern)).filter_map(|one| one.get("path"));
            found.extend(paths.filter_map(|path| Some((path.as_str()?.to_owned(), path.place.span()))));
        }
    }
}

/// What the git generators in a list of generators name.
fn git_directories(generators: &Field, found: &mut Vec<(String, RepoPath)>) {
    let Content::List(items) = &generators.content else { return };
    for item in items {
        for combined in ["matrix", "merge"] {
            if let Some(inner) = item.get(combined).and_then(|of| of.get("generators")) {
                git_directories(inner, found);
            }
        }
        let Some(git) = item.get("git") else { continue };
        let Some(url) = git.get("repoURL").and_then(Field::as_str).filter(|url| !url.contains("{{")) else { continue };
        let lists = ["directories", "files"].into_iter().filter_map(|key| git.get(key)).map(|list| &list.content);
        for content in lists {
            let Content::List(patterns) = content else { continue };
            let texts = patterns.iter().filter_map(|pattern| pattern.get("path")?.as_str());
            found.extend(texts.filter_map(|text| Some((url.to_owned(), before_wildcards(text)?))));
        }
    }
}

/// The directory that a pattern begins with.
fn before_wildcards(pattern: &str) -> Option<RepoPath> {
    let plain = pattern.split('/').take_while(|part| !part.contains(['*', '?', '[', '{']));
    RepoPath::clean(&plain.collect::<Vec<_>>().join("/")).ok()
}

impl ApplicationSet {
    /// The name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.field.get("metadata")?.get("name")?.as_str()
    }

    /// The namespace, if it names one.
    pub fn namespace(&self) -> Option<&str> {
        self.field.get("metadata")?.get("namespace")?.as_str().filter(|namespace| !namespace.is_empty())
    }

    /// One that was found in a file; none for what does not mention `word` where it makes Applications: in its template, in
    /// that of a generator or in its patch.
    pub(super) fn mentioning(word: &str, field: &Field) -> Option<Self> {
        let spec = field.get("spec")?;
        let places = ["template", "templatePatch", "generators"];
        let is_mentioned = places.iter().filter_map(|place| spec.get(place)).any(|place| mentions(place, word));
        is_mentioned.then(|| Self { field: field.clone(), rendered: None })
    }

    /// One that is looked into whatever it mentions.
    pub(super) fn of(field: &Field) -> Self {
        Self { field: field.clone(), rendered: None }
    }

    /// The URL that the template names for its dry sources, when it stands there as it is.
    pub fn repo_url(&self) -> Option<&str> {
        let url = self.at(&["spec", "template", "spec", "sourceHydrator", "drySource", "repoURL"])?.as_str()?;
        Some(url).filter(|url| !url.contains("{{"))
    }

    /// The repositories that its git generators name, each with the directory that a pattern begins with.
    pub fn git_directories(&self) -> Vec<(String, RepoPath)> {
        let mut found = Vec::new();
        if let Some(generators) = self.at(&["spec", "generators"]) {
            git_directories(generators, &mut found);
        }
        found
    }

    /// The warning that it makes nothing any more, where it made `count` Applications of a branch before.
    pub fn emptied(&self, branch: &BranchName, count: usize) -> Diagnostic {
        let made = if count == 1 { "1 Application".to_owned() } else { format!("{count} Applications") };
        let name = self.name().unwrap_or_default();
        let text = format!("ApplicationSet `{name}` makes no Applications any more; it made {made} of `{branch}`");
        let mut patterns = Vec::new();
        if let Some(generators) = self.at(&["spec", "generators"]) {
            git_patterns(generators, &mut patterns);
        }
        match &patterns[..] {
            [] => Diagnostic::warning(text).at(self.span()),
            [(pattern, place)] => Diagnostic::warning(text)
                .at(place.clone())
                .hint(format!("if it should make some: `{pattern}` matches nothing")),
            [(_, place), ..] => {
                let listed: Vec<String> = patterns.iter().map(|(pattern, _)| format!("`{pattern}`")).collect();
                let hint = format!("one of its patterns matches nothing: {}", listed.join(", "));
                Diagnostic::warning(text).at(place.clone()).hint(hint)
            }
        }
    }

    /// The whole object; none when it is not one.
    pub fn object(&self) -> Option<Manifest> {
        Manifest::new(self.field.to_value()).ok()
    }

    /// Whether one of its generators asks for the clusters of Argo CD.
    pub fn asks_for_clusters(&self) -> bool {
        let object = self.object();
        let generators = object.as_ref().and_then(|object| object.object().at(&["spec", "generators"]));
        generators.is_some_and(|generators| has_clusters(generators, 0))
    }

    /// The same as something that was rendered.
    pub(super) fn rendered(self, object: RenderedObject) -> Self {
        Self { rendered: Some(Arc::new(object)), ..self }
    }

    pub(super) fn of_parent(&self) -> Option<&RenderedObject> {
        self.rendered.as_deref()
    }

    /// An id of what the set says.
    pub fn id(&self) -> ContentId {
        let mut hash = Sha256::new();
        self.field.hash_into(&mut hash);
        ContentId::new(&hash.finalize())
    }

    /// Whether both say the same, wherever they stand.
    pub fn is_same(&self, other: &Self) -> bool {
        let settled = |set: &Self| Manifest::new(set.field.to_value()).ok();
        settled(self) == settled(other)
    }

    pub(super) fn root(&self) -> &Field {
        &self.field
    }

    pub(super) fn at(&self, path: &[&str]) -> Option<&Field> {
        path.iter().try_fold(&self.field, |field, step| field.get(step))
    }

    /// The templates that an Application was rendered from: that of its generator, if it has one of its own, and that of
    /// the set.
    pub(super) fn templates(&self, made: &Made) -> (Option<&Field>, Option<&Field>) {
        let (index, name) = &made.generator;
        let generators = self.at(&["spec", "generators"]).map(|generators| &generators.content);
        let entry = match generators {
            Some(Content::List(entries)) => entries.get(*index),
            _ => None,
        };
        let own = entry.and_then(|entry| entry.get(name)).and_then(|generator| generator.get("template"));
        (own, self.at(&["spec", "template"]))
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        self.field.find(&["metadata", "name"]).span()
    }

    /// Makes the Applications: as objects, each with what its spec says and no more.
    ///
    /// Errors: the first one, in upstream's words, with its place; then the set makes none.
    pub fn expand(&self, sources: &Sources<'_>, limits: &Limits) -> std::result::Result<Expanded, Diagnostic> {
        self.expand_within(sources, &mut limits.clone())
    }

    /// The same for one of several sets that share `limits`: what it used up is taken off them, also when it fails.
    pub fn expand_within(
        &self,
        sources: &Sources<'_>,
        limits: &mut Limits,
    ) -> std::result::Result<Expanded, Diagnostic> {
        let work = || self.expanded(sources, limits).map_err(|fault| fault.diagnostic(|steps| self.place_of(steps)));
        on_deep_stack("applicationset", work).unwrap_or_else(|error| {
            Err(Diagnostic::error(format!("starting a thread for the set: {error}")).at(self.span()))
        })
    }

    /// What an origin says to a reader. `index` is that of the entry in `spec.generators`.
    fn made_from(&self, index: usize, name: &str, origin: &Origin) -> MadeFrom {
        let mut place = None;
        let mut texts = Vec::with_capacity(origin.0.len());
        for source in &origin.0 {
            let (text, span) = match source {
                Source::Entry(steps) => {
                    let entry = index.to_string();
                    let around = ["spec", "generators", &entry];
                    let steps: Vec<&str> = around.into_iter().chain(steps.iter().rev().map(String::as_str)).collect();
                    let span = self.place_of(&steps);
                    (span.to_string(), Some(span))
                }
                Source::Directory(path) => (path.to_string(), Some(Span::file(path.clone()))),
                Source::File(path, None) => (path.to_string(), Some(Span::file(path.clone()))),
                Source::File(path, Some(item)) => {
                    (format!("{path}, item {}", item + 1), Some(Span::file(path.clone())))
                }
                Source::Cluster(name) => (format!("cluster `{name}`"), None),
                Source::Recorded(name, item) => (format!("`{name}`, item {}", item + 1), None),
            };
            texts.push(text);
            place = place.or(span);
        }
        let place = place.unwrap_or_else(|| self.place_of(&["spec", "generators", &index.to_string(), name]));
        MadeFrom { text: texts.join(" and "), place }
    }

    fn place_of(&self, steps: &[&str]) -> Span {
        self.field.find(steps).span()
    }

    fn expanded(&self, sources: &Sources<'_>, limits: &mut Limits) -> Result<Expanded> {
        let set = shape::read(&self.field.to_value(), &APPLICATION_SET, Keys::Exact).map_err(|mismatch| {
            let text = format!("error unmarshaling JSON: while decoding JSON: {}", mismatch.text);
            Fault::new(text)
                .in_path(&mismatch.steps)
                .hint("a field that is not a string cannot have a template; set it with `templatePatch`")
        })?;
        let spec = set.get("spec").cloned().unwrap_or_default();
        let is_go = spec.get("goTemplate").and_then(Value::as_bool) == Some(true);
        let options = spec.get("goTemplateOptions").and_then(Value::as_sequence).unwrap_or_default();
        let options = options.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let language = Language::new(is_go, options, limits, sources.view.stop().clone());
        let recorded = sources.recorded_of(self.name().unwrap_or_default())?;
        let mut engine = Engine { sources, recorded, language };
        let made = self.made(&mut engine, &spec, limits.applications);
        engine.language.take_off(limits);
        let applications = made?;
        limits.applications = limits.applications.saturating_sub(applications.len());
        self.check_names(&applications)?;
        let namespace = set.at(&["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
        let finish = |made: Made| Made { object: finished(made.object, namespace), ..made };
        let applications = applications.into_iter().map(finish).collect();
        let generators = spec.get("generators").and_then(Value::as_sequence).unwrap_or_default();
        Ok(Expanded { applications, warnings: self.unknown_generators(generators) })
    }

    fn made(&self, engine: &mut Engine<'_>, spec: &Value, applications_max: usize) -> Result<Vec<Made>> {
        let maker = Maker { set: self, spec, applications_max };
        let mut applications = Vec::new();
        let generators = spec.get("generators").and_then(Value::as_sequence).unwrap_or_default();
        let empty = Value::Mapping(Mapping::new());
        let template = spec.get("template").unwrap_or(&empty);
        for (index, entry) in generators.iter().enumerate() {
            let generated = engine
                .generate(entry, template, None)
                .map_err(|fault| fault.below(index).below("generators").below("spec"))?;
            for generated in generated {
                maker.make(&mut engine.language, index, &generated, &mut applications)?;
            }
        }
        Ok(applications)
    }

    /// Every Application has a name, and none has that of another.
    ///
    /// Reference: argo-cd `37ee0097` applicationset/controllers/applicationset_controller.go
    /// `validateGeneratedApplications`.
    fn check_names(&self, applications: &[Made]) -> Result<()> {
        let set = self.name().unwrap_or_default();
        let mut seen = BTreeMap::new();
        let mut wrong = BTreeMap::new();
        for application in applications {
            let name = application.object.at(&["metadata", "name"]).and_then(Value::as_str).unwrap_or_default();
            if name.is_empty() {
                wrong.insert(
                    name,
                    format!(
                        "ApplicationSet {set} contains an application with no name; a name must be set in the template's metadata.name or via a templatePatch (generateName is not supported)"
                    ),
                );
            } else if seen.insert(name, ()).is_some() {
                wrong.insert(name, format!("ApplicationSet {set} contains applications with duplicate name: {name}"));
            }
        }
        let Some((_, text)) = wrong.last_key_value() else { return Ok(()) };
        let more = and_more_in_brackets(wrong.len() - 1);
        let path = ["name", "metadata", "template", "spec"];
        Err(path.into_iter().fold(Fault::new(format!("{text}{more}")), |fault, step| fault.below(step)))
    }

    /// Entries of which nothing is known. The controller goes on without them; a push does not.
    fn unknown_generators(&self, generators: &[Value]) -> Vec<Diagnostic> {
        let is_unknown = |entry: &Value| entry.as_mapping().is_none_or(Mapping::is_empty);
        let unknown = generators.iter().enumerate().filter(|(_, entry)| is_unknown(entry));
        let name = self.name().unwrap_or_default();
        let warning = |(index, _): (usize, &Value)| {
            Diagnostic::warning(format!("ApplicationSet {name} contains unrecognized generators"))
                .hint("an entry must name `list`, `git`, `clusters`, `matrix` or `merge`")
                .at(self.place_of(&["spec", "generators", &index.to_string()]))
        };
        unknown.map(warning).collect()
    }
}

/// Whether a word is a key, or stands in a text, of a value.
fn mentions(field: &Field, word: &str) -> bool {
    match &field.content {
        Content::Mapping(entries) => entries.iter().any(|entry| entry.key == word || mentions(&entry.field, word)),
        Content::List(items) => items.iter().any(|item| mentions(item, word)),
        Content::Scalar(value) => value.as_str().is_some_and(|text| text.contains(word)),
    }
}

/// Makes Applications of params.
struct Maker<'a> {
    set: &'a ApplicationSet,
    spec: &'a Value,
    applications_max: usize,
}

impl Maker<'_> {
    fn make(
        &self,
        language: &mut Language,
        index: usize,
        generated: &Generated,
        applications: &mut Vec<Made>,
    ) -> Result<()> {
        let size = params::size(&generated.template);
        for element in &generated.elements {
            let params = &element.params;
            if applications.len() >= self.applications_max {
                return Err(Fault::new(format!("the set makes more than {} Applications", self.applications_max))
                    .hint("split it into several sets, or narrow its generators")
                    .below(index)
                    .below("generators")
                    .below("spec"));
            }
            language.charge(size)?;
            let application = self.rendered(language, index, generated, params)?;
            let application = self
                .patched(language, application, params)
                .map_err(|fault| fault.below("templatePatch").below("spec"))?;
            let element = self.set.made_from(index, generated.name, &element.origin);
            applications.push(Made { object: application, element, generator: (index, generated.name.to_owned()) });
        }
        Ok(())
    }

    /// The template with its texts rendered; without any params as it is written.
    fn rendered(&self, language: &mut Language, index: usize, of: &Generated, params: &Params) -> Result<Value> {
        if params.is_empty() {
            return Ok(of.template.clone());
        }
        render::render(language, &of.template, &APPLICATION, params).map_err(|fault| {
            let place = self.template_place(index, of.name, &fault);
            fault.in_path(&place)
        })
    }

    /// The template that a fault is in: the generator's own, when that has the field, else that of the set.
    fn template_place(&self, index: usize, name: &str, fault: &Fault) -> Vec<String> {
        let own = ["spec", "generators", &index.to_string(), name, "template"].map(str::to_owned);
        let steps: Vec<&str> = own.iter().map(String::as_str).chain(fault.steps()).collect();
        match holds(&self.set.field, &steps) {
            true => own.to_vec(),
            false => ["spec", "template"].map(str::to_owned).to_vec(),
        }
    }

    fn patched(&self, language: &mut Language, application: Value, params: &Params) -> Result<Value> {
        let Some(patch) = self.spec.get("templatePatch").and_then(Value::as_str) else { return Ok(application) };
        let patch = language
            .render(patch, params, Missing::AsSet)
            .map_err(|fault| fault.within("error replacing values in templatePatch"))?;
        patch::patched(&application, &patch)
    }
}

fn holds(field: &Field, steps: &[&str]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    let next = match &field.content {
        Content::Mapping(_) => field.get(step),
        Content::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
        Content::Scalar(_) => None,
    };
    next.is_some_and(|next| holds(next, rest))
}

/// Whether one of the generators is `clusters`, those of `matrix` and `merge` included.
fn has_clusters(generators: &Value, depth: u32) -> bool {
    let below = |generator: &Value| {
        let inner = ["matrix", "merge"].iter().filter_map(|kind| generator.at(&[kind, "generators"]));
        generator.get("clusters").is_some()
            || (depth < 4 && inner.into_iter().any(|inner| has_clusters(inner, depth + 1)))
    };
    generators.as_sequence().unwrap_or_default().iter().any(below)
}

/// The Application as a whole object, in the namespace of the set.
fn finished(mut application: Value, namespace: &str) -> Value {
    if let Value::Mapping(entries) = &mut application {
        let metadata = entries.entry("metadata".to_owned()).or_insert_with(|| Value::Mapping(Mapping::new()));
        if let Value::Mapping(metadata) = metadata {
            metadata.insert("namespace".to_owned(), Value::from(namespace));
        }
        entries.insert("apiVersion".to_owned(), Value::from(API_VERSION));
        entries.insert("kind".to_owned(), Value::from("Application"));
    }
    written(&application, &APPLICATION)
}
