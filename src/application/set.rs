//! ApplicationSets: which Applications one makes, as far as git knows.
//!
//! [`read_sets`] finds the sets of a file, [`ApplicationSet::expand`] makes the Applications of one from the files of a
//! tree. Each set makes all of its Applications or none. What a set makes is a function of its document, of the files
//! that its generators look at (every listing and every file is a read of the [`View`]), and of what [`Sources`] says.
//!
//! Generators: `list`, `git`, `matrix`, `merge`, and `clusters` where the Secrets of the clusters stand in the tree. Those
//! that are answered outside of git are refused, unless what they answer was recorded.
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

mod clusters;
mod fasttemplate;
mod fault;
mod functions;
mod generators;
mod git;
mod language;
mod list;
mod matrix;
mod merge;
mod params;
mod patch;
mod render;
mod secrets;
mod selector;
mod shape;
mod types;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::field::{Content, Field};
use super::located;
use super::url::RepoUrl;
use crate::diag::{Diagnostic, Refusal, Span};
use crate::path::RepoPath;
use crate::stack::on_deep_stack;
use crate::template;
use crate::view::View;
use crate::yaml::{Mapping, Value};

use fault::{Fault, Result};
use generators::{Engine, Generated};
use language::{Language, Missing, TEMPLATE_LIMITS};
use params::Params;
use secrets::{Known, Unclear};
use shape::{Keys, written};
use types::{APPLICATION, APPLICATION_SET};

const API_VERSION: &str = "argoproj.io/v1alpha1";
const KIND: &str = "ApplicationSet";
/// How deep lists may stand in lists, and how many sets in a file.
const LIST_DEPTH_MAX: u32 = 8;
const SETS_MAX: usize = 1000;

/// How much one set may make.
#[derive(Debug, Clone, Copy)]
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
    /// 10,000 Applications, 100,000 params sets, 256 MiB.
    fn default() -> Self {
        Self { applications: 10_000, params: 100_000, bytes: 256 << 20, template: TEMPLATE_LIMITS }
    }
}

/// The repository and the revision that are the tree.
#[derive(Debug, Clone, Default)]
pub struct Home {
    /// The URLs of the repository.
    pub repo_urls: Vec<String>,
    /// What the tree can be named by, besides `HEAD` and nothing: branches with and without `refs/heads/`, commit ids.
    pub revisions: Vec<String>,
}

impl Home {
    fn check(&self, repo_url: &str, revision: &str) -> Result<()> {
        let asked = RepoUrl::new(repo_url);
        let is_here = |url: &String| RepoUrl::new(url) == asked || RepoUrl::new(url).same_place(&asked);
        if !self.repo_urls.iter().any(is_here) {
            let known = match self.repo_urls.as_slice() {
                [] => "no URL of this repository is known".to_owned(),
                urls => format!("this one is `{}`", urls.join("`, `")),
            };
            return Err(Fault::refused(
                format!("the generator reads `{repo_url}`, another repository than the tree is from"),
                Refusal::Elsewhere,
                format!("name this repository; {known}"),
            )
            .below("repoURL"));
        }
        let revision = revision.trim();
        let is_this = matches!(revision, "" | "HEAD") || self.revisions.iter().any(|known| known == revision);
        if !is_this {
            return Err(Fault::refused(
                format!("the generator reads the revision `{revision}`, another one than the tree"),
                Refusal::Elsewhere,
                match self.revisions.first() {
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
    recorded: BTreeMap<String, Vec<Mapping>>,
    clusters: OnceLock<std::result::Result<Known, Unclear>>,
}

impl<'a> Sources<'a> {
    /// The files of a tree, and where it is from. Argo CD lives in the namespace `argocd`, and nothing is recorded.
    pub fn new(view: &'a View<'a>, home: Home) -> Self {
        let argocd_namespace = "argocd".to_owned();
        Self { view, home, argocd_namespace, recorded: BTreeMap::new(), clusters: OnceLock::new() }
    }

    /// The same with Argo CD in another namespace: that of the Secrets of its clusters.
    pub fn in_namespace(self, argocd_namespace: impl Into<String>) -> Self {
        Self { argocd_namespace: argocd_namespace.into(), clusters: OnceLock::new(), ..self }
    }

    /// The same with the params that generators gave which are answered outside of git, by the name of the generator:
    /// `scmProvider`, `pullRequest`, `plugin`, `clusterDecisionResource`.
    pub fn with_recorded(self, recorded: BTreeMap<String, Vec<Mapping>>) -> Self {
        Self { recorded, ..self }
    }

    fn clusters(&self) -> Result<&Known> {
        let known = self.clusters.get_or_init(|| secrets::find(self.view, &self.argocd_namespace));
        known.as_ref().map_err(Unclear::fault)
    }
}

/// One ApplicationSet of a file.
#[derive(Debug)]
pub struct ApplicationSet {
    field: Field,
}

/// What a set makes.
#[derive(Debug, Default)]
pub struct Expanded {
    /// The Applications, in the order of the generators and of their params.
    pub applications: Vec<Value>,
    /// What is odd, such as an entry that names no generator.
    pub warnings: Vec<Diagnostic>,
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
        true => Err(Diagnostic::error(format!("the file holds more than {SETS_MAX} ApplicationSets"))
            .at(Span::file(path.clone()))),
        false => Ok(sets),
    }
}

fn gather(object: Field, depth: u32, sets: &mut Vec<ApplicationSet>) {
    let text = |key: &str| object.get(key).and_then(Field::as_str).unwrap_or_default();
    let group = text("apiVersion").split('/').next().unwrap_or_default();
    if text("kind") == KIND && group == "argoproj.io" {
        sets.push(ApplicationSet { field: object });
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

impl ApplicationSet {
    /// The name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.field.get("metadata")?.get("name")?.as_str()
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        self.field.find(&["metadata", "name"]).span()
    }

    /// Makes the Applications: as objects, each with what its spec says and no more.
    ///
    /// Errors: the first one, in upstream's words, with its place; then the set makes none.
    pub fn expand(&self, sources: &Sources<'_>, limits: &Limits) -> std::result::Result<Expanded, Diagnostic> {
        let work = || self.expanded(sources, limits).map_err(|fault| fault.diagnostic(|steps| self.place_of(steps)));
        on_deep_stack("applicationset", work).unwrap_or_else(|error| {
            Err(Diagnostic::error(format!("starting a thread for the set: {error}")).at(self.span()))
        })
    }

    fn place_of(&self, steps: &[&str]) -> Span {
        self.field.find(steps).span()
    }

    fn expanded(&self, sources: &Sources<'_>, limits: &Limits) -> Result<Expanded> {
        let set = shape::read(&self.field.to_value(), &APPLICATION_SET, Keys::Exact).map_err(|mismatch| {
            let text = format!("error unmarshaling JSON: while decoding JSON: {}", mismatch.text);
            Fault::new(text)
                .in_path(&mismatch.steps)
                .hint("a field that is no text cannot hold a template; set it by `templatePatch`")
        })?;
        let spec = set.get("spec").cloned().unwrap_or_default();
        let is_go = spec.get("goTemplate").and_then(Value::as_bool) == Some(true);
        let options = spec.get("goTemplateOptions").and_then(Value::as_sequence).unwrap_or_default();
        let options = options.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let language = Language::new(is_go, options, limits, sources.view.stop().clone());
        let mut engine = Engine { sources, language };
        let maker = Maker { set: &self.field, spec: &spec, limits };
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
        self.check_names(&applications)?;
        let namespace = set.at(&["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
        let applications = applications.into_iter().map(|made| finished(made, namespace)).collect();
        Ok(Expanded { applications, warnings: self.unknown_generators(generators) })
    }

    /// Every Application has a name, and none has that of another.
    ///
    /// Reference: argo-cd `37ee0097` applicationset/controllers/applicationset_controller.go
    /// `validateGeneratedApplications`.
    fn check_names(&self, applications: &[Value]) -> Result<()> {
        let set = self.name().unwrap_or_default();
        let mut seen = BTreeMap::new();
        let mut wrong = BTreeMap::new();
        for application in applications {
            let name = application.at(&["metadata", "name"]).and_then(Value::as_str).unwrap_or_default();
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
        let more = match wrong.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let path = ["name", "metadata", "template", "spec"];
        Err(path.into_iter().fold(Fault::new(format!("{text}{more}")), |fault, step| fault.below(step)))
    }

    /// Entries of which nothing is known.
    fn unknown_generators(&self, generators: &[Value]) -> Vec<Diagnostic> {
        let is_unknown = |entry: &Value| entry.as_mapping().is_none_or(Mapping::is_empty);
        let unknown = generators.iter().enumerate().filter(|(_, entry)| is_unknown(entry));
        let name = self.name().unwrap_or_default();
        let warning = |(index, _): (usize, &Value)| {
            Diagnostic::warning(format!("ApplicationSet {name} contains unrecognized generators"))
                .hint("an entry names `list`, `git`, `clusters`, `matrix` or `merge`")
                .at(self.place_of(&["spec", "generators", &index.to_string()]))
        };
        unknown.map(warning).collect()
    }
}

/// Makes Applications of params.
struct Maker<'a> {
    set: &'a Field,
    spec: &'a Value,
    limits: &'a Limits,
}

impl Maker<'_> {
    fn make(
        &self,
        language: &mut Language,
        index: usize,
        generated: &Generated,
        applications: &mut Vec<Value>,
    ) -> Result<()> {
        let size = params::size(&generated.template);
        for params in &generated.params {
            if applications.len() >= self.limits.applications {
                return Err(Fault::new(format!("the set makes more than {} Applications", self.limits.applications))
                    .hint("divide it into several sets, or narrow its generators")
                    .below(index)
                    .below("generators")
                    .below("spec"));
            }
            language.charge(size)?;
            let application = self.rendered(language, index, generated, params)?;
            let application = self
                .patched(language, application, params)
                .map_err(|fault| fault.below("templatePatch").below("spec"))?;
            applications.push(application);
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
        match holds(self.set, &steps) {
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
