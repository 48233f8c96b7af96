//! ApplicationSets: which Applications one makes, as far as git knows.
//!
//! [`read_sets`] finds the sets of a file, [`ApplicationSet::expand`] makes the Applications of one from the files of a
//! tree. Each set makes all of its Applications or none. What a set makes is a function of its document, of the files
//! that its generators look at (every listing and every file is a read of the [`View`](dry_files::view::View)), and of what
//! [`Sources`] says.
//!
//! Generators: `list`, `git`, `matrix`, `merge`, and `clusters` where the tree has the Secrets of the clusters. Those
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

mod fasttemplate;
mod fault;
mod functions;
mod generators;
mod import;
mod known_clusters;
mod language;
mod make;
mod misspelt;
mod near_fields;
mod only;
mod origin;
mod params;
mod patch;
mod question;
mod read;
mod recorded;
mod render;
mod selector;
mod shape;
mod sources;
mod types;

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::diag::more::and_more_in_brackets;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::stack::on_deep_stack;
use dry_files::view::ContentId;
use go_template as template;
use go_yaml::{Mapping, Value};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::BranchName;
use super::field::{Content, Field};
use super::maker::MadeFrom;
use super::rendered::RenderedObject;
use crate::manifest::Manifest;
use fault::{Fault, Result};
use generators::Engine;
use language::{Language, TEMPLATE_LIMITS};
use make::{Maker, finished};
use origin::{Origin, Source};
use read::{git_directories, git_patterns, has_clusters, mentions};
use shape::{Keys, Mismatch};
use types::APPLICATION_SET;

pub(crate) use read::SETS_MAX;
pub use read::read_sets;
pub(crate) use sources::ARGOCD_NAMESPACE;
pub use sources::Home;
pub use sources::Sources;

pub use import::{Versions, import};
pub use known_clusters::Clusters;
pub(crate) use known_clusters::may_hold_clusters;
pub(crate) use known_clusters::{Cluster, has_userinfo};
pub(in crate::argo) use near_fields::misspelt_keys_of_application;
pub(crate) use only::Only;
pub(crate) use question::{Answer, Question};
pub(crate) use recorded::Recorded;
pub use recorded::read_recorded;

const API_VERSION: &str = "argoproj.io/v1alpha1";
const KIND: &str = "ApplicationSet";

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

/// One ApplicationSet of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSet {
    field: Field,
    /// The object as its parent rendered it; none for a set in a file.
    rendered: Option<Arc<RenderedObject>>,
}

/// What a set makes.
#[derive(Debug, Default)]
pub struct Expanded {
    /// The Applications, in the order of the generators and of their params.
    pub applications: Vec<MadeApplication>,
    /// What is odd, such as an entry that names no generator.
    pub warnings: Vec<Diagnostic>,
}

/// One Application that a set makes.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeApplication {
    /// The whole object.
    pub object: Value,
    /// What it was made from.
    pub element: MadeFrom,
    /// The entry of `spec.generators` that made it, and the name of the generator in it.
    pub generator: (usize, String),
}

impl ApplicationSet {
    /// The name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.field.get("metadata")?.get("name")?.as_str()
    }

    /// What is wrong with a set without a name, which no cluster takes; none where it has one.
    pub(crate) fn nameless(&self) -> Option<Diagnostic> {
        let is_named = self.name().is_some_and(|name| !name.is_empty());
        let missing = || Diagnostic::error("`metadata.name` is missing").at(self.place_of(&["metadata"]));
        (!is_named).then(missing)
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

    /// A set that is looked into whatever it mentions.
    pub(super) fn of(field: &Field) -> Self {
        Self { field: field.clone(), rendered: None }
    }

    /// The URL that the template names for its dry sources, when it is there as it is.
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

    /// The set, rendered by a parent as `object`.
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

    /// Whether both say the same, wherever they are.
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
    pub(super) fn templates(&self, made: &MadeApplication) -> (Option<&Field>, Option<&Field>) {
        let (index, name) = &made.generator;
        let generators = self.at(&["spec", "generators"]).map(|generators| &generators.content);
        let entry = match generators {
            Some(Content::List(entries)) => entries.get(*index),
            _ => None,
        };
        let own = entry.and_then(|entry| entry.get(name)).and_then(|generator| generator.get("template"));
        (own, self.at(&["spec", "template"]))
    }

    /// Where it is.
    pub fn span(&self) -> Span {
        self.field.find(&["metadata", "name"]).span()
    }

    /// Makes the Applications: as objects, each with what its spec says and no more.
    ///
    /// Errors: the first one, in upstream's words, with its place; then the set makes none.
    pub fn expand(&self, sources: &Sources<'_>, limits: &Limits) -> std::result::Result<Expanded, Diagnostic> {
        self.expand_within(sources, &mut limits.clone())
    }

    /// Expands one of several sets that share `limits`: what the set used up is taken off them, also when it fails.
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
        let set = shape::read(&self.field.to_value(), &APPLICATION_SET, Keys::Exact).map_err(not_a_set)?;
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
        let finish = |made: MadeApplication| MadeApplication { object: finished(made.object, namespace), ..made };
        let applications = applications.into_iter().map(finish).collect();
        let generators = spec.get("generators").and_then(Value::as_sequence).unwrap_or_default();
        Ok(Expanded { applications, warnings: self.unknown_generators(generators) })
    }

    fn made(&self, engine: &mut Engine<'_>, spec: &Value, applications_max: usize) -> Result<Vec<MadeApplication>> {
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
    fn check_names(&self, applications: &[MadeApplication]) -> Result<()> {
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
        unknown.map(|(index, _)| self.unknown_generator(index)).collect()
    }

    fn unknown_generator(&self, index: usize) -> Diagnostic {
        let name = self.name().unwrap_or_default();
        Diagnostic::warning(format!("ApplicationSet {name} contains unrecognized generators"))
            .hint("an entry must name `list`, `git`, `clusters`, `matrix` or `merge`")
            .at(self.place_of(&["spec", "generators", &index.to_string()]))
    }
}

/// What is wrong with an object that cannot be read as an ApplicationSet.
fn not_a_set(mismatch: Mismatch) -> Fault {
    let hint = match mismatch.lacks_quotes {
        true => "put the value in quotes: a text belongs here",
        false => "a field that is not a string cannot have a template; set it with `templatePatch`",
    };
    Fault::new(format!("error unmarshaling JSON: while decoding JSON: {}", mismatch.text))
        .in_path(&mismatch.steps)
        .hint(hint)
}
