//! The setting `rules`: which Applications without `spec.sourceHydrator` are hydrated, and where to.
//!
//! The first rule that matches decides; `spec.sourceHydrator` in the document wins over any. What a rule makes of an
//! Application is a [`Placement`]: the branch and the path that its templates give. The document is read with it as one
//! with `spec.sourceHydrator` is, so that everything after that is the same.
//!
//! Leaves to others: whether a branch or path is one (`document`), and what two rules do to each other (`validate`).

mod outline;
mod written;

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use serde::{Deserialize, Serialize};

use super::destinations::Destinations;
use super::field::{Content, Field, Place};
use super::search::Patterns;
use super::tools::ToolSettings;
use super::url::RepoUrl;
use super::{AppName, BranchName, By, DrySource};
use crate::argo::jinja::{Template, Value};
use inputs::InputsDir;
use outline::Outline;
use written::Written;

pub(super) use outline::{has_template, is_plain};

/// One entry of the setting `rules`.
///
/// `match` says which Applications it is for: by `name`, `namespace`, `project`, `plugin`, `labels`, `file` and
/// `destination` (`server`, `name`, `namespace`), each a pattern or a list of them as in the setting `applications`; all that is given must match.
/// `branch`, `path`, `hydrateTo` and `instance` are minijinja templates. `hydrate: false` leaves what matches alone. `expand` names
/// ApplicationSets by such patterns whose Applications are copied in place of the set (`applicationsTo`).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Rule {
    written: Written,
    compiled: Arc<Compiled>,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Rule {
    /// A rule for every plain Application, with the templates of its branch and its path.
    ///
    /// Errors: why a template cannot be used.
    pub fn of_all(branch: &str, path: &str) -> Result<Self, String> {
        Written::of_all(branch, path).try_into()
    }

    /// A rule that leaves alone what these plugins render.
    ///
    /// Errors: why it cannot be.
    pub(crate) fn leaving_plugins(names: &[String]) -> Result<Self, String> {
        Written::leaving_plugins(names).try_into()
    }

    /// This rule, for the Applications of these names, or of a file: any names where none are given.
    pub(crate) fn of(&self, names: impl IntoIterator<Item = String>, file: Option<&RepoPath>) -> Self {
        let written = self.written.of(names.into_iter().collect(), file.map(RepoPath::as_str));
        Self::try_from(written).unwrap_or_else(|_| self.clone())
    }

    /// This rule, for what is in a directory that is of one Argo CD: below a directory named after it.
    ///
    /// Errors: why it cannot be.
    pub(crate) fn of_instance(&self, instance: &AppName, directory: &RepoPath) -> Result<Self, String> {
        self.written.of_instance(instance.as_str(), directory.as_str()).try_into()
    }

    /// This rule, by which what an ApplicationSet makes is copied in place of the set.
    pub(crate) fn expanding(&self, set: &str) -> Self {
        Self::try_from(self.written.expanding(set)).unwrap_or_else(|_| self.clone())
    }

    /// Whether it is for every plain Application.
    pub fn is_for_all(&self) -> bool {
        self.written.is_for_all()
    }

    /// Whether what its templates make is what they say with values in it: only then has an ApplicationSet a copy.
    pub(crate) fn only_inserts(&self) -> bool {
        self.written.only_inserts()
    }

    /// The repository that it leads to, where that is another one.
    pub(crate) fn repo_url(&self) -> Option<&str> {
        self.compiled.templates.as_ref()?.repo_url.as_deref()
    }

    /// The branch that an Application goes to; none when its template makes none of it.
    pub fn branch_of(&self, object: &go_yaml::Value, file: &RepoPath) -> Option<BranchName> {
        let object = Field::everywhere(object, &Place::at_start_of(file));
        let values = Outline::of(&object, file).values();
        let text = self.compiled.templates.as_ref()?.branch.render(values).ok()?;
        BranchName::new(text.trim()).ok()
    }
}

/// What is made of a rule once.
#[derive(Debug)]
struct Compiled {
    matches: Matches,
    /// The ApplicationSets that are not copied, but the Applications that they make.
    expand: Patterns,
    /// None for what is left alone.
    templates: Option<Templates>,
}

/// What an Application is matched by. Without a pattern, everything matches.
#[derive(Debug, Default)]
struct Matches {
    name: Patterns,
    namespace: Patterns,
    project: Patterns,
    plugin: Patterns,
    labels: Vec<(String, Patterns)>,
    file: Patterns,
    server: Patterns,
    cluster: Patterns,
    destination_namespace: Patterns,
}

/// Where a rule leads to.
#[derive(Debug)]
struct Templates {
    branch: Template,
    path: Template,
    hydrate_to: Option<Template>,
    instance: Option<Template>,
    repo_url: Option<String>,
}

/// The rules of a repository, in their order, with the URLs that it has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RuleSet {
    rules: Vec<Rule>,
    /// The setting `repoURL`. While it is empty, every git repository is taken for this one.
    repo_urls: Vec<String>,
    /// Where inputs are, among which no Applications are looked for.
    inputs: InputsDir,
    /// The other repositories that may be written.
    #[serde(default)]
    destinations: Destinations,
    /// As which versions Applications are rendered.
    #[serde(default)]
    tools: ToolSettings,
    /// The fields that other programs read: the setting `knownFields`.
    #[serde(default)]
    known_fields: Vec<String>,
    /// The plugins that are `kustomize build`: the setting `kustomize.plugins`.
    #[serde(default)]
    kustomize_plugins: Vec<String>,
    /// The Argo CDs that have what roots make, by the name of the root: the setting `roots`.
    #[serde(default)]
    instances: BTreeMap<AppName, AppName>,
    /// Whether no setting has them yet.
    #[serde(skip)]
    is_proposed: bool,
}

/// Where a rule leads an Application to. Nothing of it is checked yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Placement {
    /// Which rule, from 1.
    pub rule: usize,
    /// `syncSource.targetBranch`
    pub branch: String,
    /// `syncSource.path`
    pub path: String,
    /// `hydrateTo.targetBranch`
    pub hydrate_to: Option<String>,
    /// The Argo CD that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// `syncSource.repoURL`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_url: Option<String>,
    /// Which of its sources are not of this repository, in their order.
    pub outside: Vec<bool>,
    /// Where those are.
    pub inputs: InputsDir,
    /// The templates that made nothing, and why.
    #[serde(skip)]
    pub wrong: Vec<(&'static str, String)>,
    /// Whether no setting has the rule yet.
    #[serde(skip)]
    pub is_proposed: bool,
}

/// What the first rule that matches says of an Application.
#[derive(Debug, PartialEq)]
pub(super) enum Ruling {
    /// It is hydrated.
    Hydrated(Placement),
    /// It is left alone, by the rule of this number.
    LeftAlone(usize),
}

impl RuleSet {
    /// Marks the rules as proposed: no setting has them yet.
    pub fn proposed(self) -> Self {
        Self { is_proposed: true, ..self }
    }

    /// These rules, in a repository with these URLs.
    pub fn new(rules: &[Rule], repo_urls: &[String]) -> Self {
        // Without rules, nothing depends on the URLs.
        let repo_urls = if rules.is_empty() { Vec::new() } else { repo_urls.to_vec() };
        Self { rules: rules.to_vec(), repo_urls, ..Self::default() }
    }

    /// Sets another directory for inputs.
    pub fn with_inputs_in(self, inputs: InputsDir) -> Self {
        Self { inputs, ..self }
    }

    /// Sets the other repositories that may be written.
    pub(crate) fn with_destinations(self, destinations: Destinations) -> Self {
        Self { destinations, ..self }
    }

    /// Sets as which versions Applications are rendered.
    pub(crate) fn with_tools(self, tools: ToolSettings) -> Self {
        Self { tools, ..self }
    }

    /// Sets the fields that other programs read.
    pub(crate) fn with_known_fields(self, known_fields: Vec<String>) -> Self {
        Self { known_fields, ..self }
    }

    /// Sets the plugins that are `kustomize build`.
    pub(crate) fn with_kustomize_plugins(self, kustomize_plugins: Vec<String>) -> Self {
        Self { kustomize_plugins, ..self }
    }

    /// Sets the Argo CDs that have what roots make, by the name of the root.
    pub(crate) fn with_instances(self, instances: BTreeMap<AppName, AppName>) -> Self {
        Self { instances, ..self }
    }

    /// The Argo CD that has what these make: the one of the first root among them that names one.
    pub(super) fn instance_of<'m>(&self, makers: impl IntoIterator<Item = &'m By>) -> Option<AppName> {
        let instance = |by: &By| match by {
            By::Root { name } => self.instances.iter().find(|(root, _)| root.as_str() == name),
            By::ApplicationSet { .. } | By::Application { .. } => None,
        };
        makers.into_iter().find_map(instance).map(|(_, instance)| instance.clone())
    }

    /// Marks the plugin of a source that is `kustomize build`.
    pub(super) fn know_kustomize(&self, source: &mut DrySource) {
        if let Some(plugin) = &mut source.options.plugin {
            plugin.is_kustomize = plugin.name.as_ref().is_some_and(|name| self.kustomize_plugins.contains(name));
        }
    }

    /// The fields that other programs read.
    pub(super) fn known_fields(&self) -> &[String] {
        &self.known_fields
    }

    /// As which versions Applications are rendered.
    pub(super) fn tools(&self) -> &ToolSettings {
        &self.tools
    }

    /// The other repositories that may be written.
    pub(crate) fn destinations(&self) -> &Destinations {
        &self.destinations
    }

    /// Where inputs are.
    pub fn inputs(&self) -> &InputsDir {
        &self.inputs
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether a rule looks at the file of an Application, or leads to a place that is named after it.
    pub(crate) fn ask_for_files(&self) -> bool {
        let asks = |rule: &Rule| {
            let Compiled { matches, templates, .. } = &*rule.compiled;
            !matches.file.is_empty() || templates.as_ref().is_some_and(Templates::ask_for_files)
        };
        self.rules.iter().any(asks)
    }

    /// Whether copies are made of what an ApplicationSet of this name makes, in place of a copy of the set.
    pub fn expands(&self, set: &str) -> bool {
        let named = |patterns: &Patterns| !patterns.is_empty() && patterns.matches(set);
        self.rules.iter().any(|rule| named(&rule.compiled.expand))
    }

    /// Where what an ApplicationSet makes is hydrated to, with the templates of the set where its elements decide.
    ///
    /// Errors: why that is not known before it makes anything.
    pub(super) fn placement_of_set(&self, set: &Field, file: &RepoPath) -> Result<Placement, String> {
        let outline = Outline::of_set(set, file).ok_or("it has no template")?.with_all();
        for (number, rule) in (1..).zip(&self.rules) {
            match rule.compiled.matches.hold(&outline) {
                Some(false) => continue,
                None => return Err(format!("its elements decide whether rule {number} of the settings matches")),
                Some(true) => {}
            }
            let templates = rule.compiled.templates.as_ref();
            let templates = templates.ok_or_else(|| format!("rule {number} of the settings leaves it alone"))?;
            if !rule.written.only_inserts() {
                return Err(format!("rule {number} of the settings does more with values than to insert them"));
            }
            let template = as_application(set);
            let outside = sources(&template).into_iter().map(|source| self.is_outside(source)).collect();
            let placement = templates.placement(number, &Outline::of(&template, file).values());
            let placement = Placement { outside, inputs: self.inputs.clone(), ..placement };
            return match placement.wrong.first() {
                Some((field, why)) => Err(format!("`{field}` of rule {number} of the settings: {why}")),
                None => Ok(placement),
            };
        }
        Err("no rule of the settings matches".to_owned())
    }

    /// What the first rule that matches says of an Application without `spec.sourceHydrator`; none when no rule matches.
    /// `file` is the one that contains it, or its maker.
    pub(super) fn ruling(&self, object: &Field, file: &RepoPath) -> Option<Ruling> {
        let outline = Outline::of(object, file);
        let matches = |(_, rule): &(usize, &Rule)| rule.compiled.matches.hold(&outline) == Some(true);
        let (number, rule) = (1..).zip(&self.rules).find(matches)?;
        let Some(templates) = &rule.compiled.templates else { return Some(Ruling::LeftAlone(number)) };
        let outside = sources(object).into_iter().map(|source| self.is_outside(source)).collect();
        let placement = templates.placement(number, &outline.values());
        let placement = Placement { is_proposed: self.is_proposed, ..placement };
        Some(Ruling::Hydrated(Placement { outside, inputs: self.inputs.clone(), ..placement }))
    }

    /// Whether a rule may hydrate what an ApplicationSet makes, as far as its template tells.
    pub(super) fn may_hydrate_of(&self, set: &Field, file: &RepoPath) -> bool {
        let Some(outline) = Outline::of_set(set, file) else { return false };
        for rule in &self.rules {
            let hydrates = rule.compiled.templates.is_some();
            match rule.compiled.matches.hold(&outline) {
                // What is certainly left alone is not looked at by later rules.
                Some(true) => return hydrates,
                None if hydrates => return true,
                None | Some(false) => {}
            }
        }
        false
    }

    /// Whether a source is a chart, or of another repository.
    fn is_outside(&self, source: &Field) -> bool {
        let text = |key: &str| source.get(key).and_then(Field::as_str).unwrap_or_default();
        let url = text("repoURL");
        if !text("chart").is_empty() || is_registry(url) {
            return true;
        }
        let asked = RepoUrl::new(url);
        let is_this = |known: &String| RepoUrl::new(known).is_same(&asked) || RepoUrl::new(known).same_place(&asked);
        !self.repo_urls.is_empty() && !self.repo_urls.iter().any(is_this)
    }
}

impl Matches {
    /// Whether all of it matches; none when that cannot be known of what is a template still.
    fn hold(&self, outline: &Outline<'_>) -> Option<bool> {
        let of_labels = self.labels.iter().map(|(key, patterns)| outline.label(key).hold(patterns));
        let destination = |key| outline.text(&["spec", "destination", key]);
        let others = [
            outline.file().hold(&self.file),
            outline.text(&["metadata", "name"]).hold(&self.name),
            outline.text(&["metadata", "namespace"]).hold(&self.namespace),
            outline.text(&["spec", "project"]).or("default").hold(&self.project),
            outline.plugin().hold(&self.plugin),
            destination("server").hold(&self.server),
            destination("name").hold(&self.cluster),
            destination("namespace").hold(&self.destination_namespace),
        ];
        let all: Vec<Option<bool>> = others.into_iter().chain(of_labels).collect();
        if all.contains(&Some(false)) {
            return Some(false);
        }
        (!all.contains(&None)).then_some(true)
    }
}

impl Templates {
    /// Whether they have the file of an Application, or its directory.
    fn ask_for_files(&self) -> bool {
        let all = [&self.branch, &self.path].into_iter().chain(&self.hydrate_to).chain(&self.instance);
        let names = all.flat_map(Template::variables);
        names.into_iter().any(|name| matches!(name.split('.').next(), Some("file" | "directory")))
    }

    /// Where it leads to, of sources that are all of this repository.
    fn placement(&self, rule: usize, values: &Value) -> Placement {
        let mut wrong = Vec::new();
        let mut text = |field, template| rendered(field, template, values, &mut wrong);
        let (branch, path) = (text("branch", &self.branch), text("path", &self.path));
        let hydrate_to = self.hydrate_to.as_ref().map(|template| text("hydrateTo", template));
        let instance = self.instance.as_ref().map(|template| text("instance", template));
        let repo_url = self.repo_url.clone();
        Placement { rule, branch, path, hydrate_to, instance, repo_url, wrong, ..Placement::default() }
    }
}

/// What a template gives; empty when it fails, and the reason in `wrong`.
fn rendered(
    field: &'static str,
    template: &Template,
    values: &Value,
    wrong: &mut Vec<(&'static str, String)>,
) -> String {
    match template.render(values.clone()) {
        Ok(text) => text.trim().to_owned(),
        Err(error) => {
            wrong.push((field, error.reason));
            String::new()
        }
    }
}

/// The mistake of an Application, with the rule that hydrates it.
pub(super) fn by_rule(mistake: Diagnostic, rule: usize) -> Diagnostic {
    let text = format!("rule {rule} of the settings hydrates it");
    let hint = mistake.hint.as_ref().map_or(text.clone(), |hint| format!("{hint}; {text}"));
    mistake.hint(hint)
}

/// The template of an ApplicationSet as an Application: in the namespace of the set.
fn as_application(set: &Field) -> Field {
    let template = set.get("spec").and_then(|spec| spec.get("template")).map(Field::to_value);
    let mut template = template.unwrap_or_default();
    let namespace = set.get("metadata").and_then(|metadata| metadata.get("namespace")).map(Field::to_value);
    if let (go_yaml::Value::Mapping(entries), Some(namespace)) = (&mut template, namespace) {
        let empty = || go_yaml::Value::Mapping(go_yaml::Mapping::new());
        if let go_yaml::Value::Mapping(metadata) = entries.entry("metadata".to_owned()).or_insert_with(empty) {
            metadata.insert("namespace".to_owned(), namespace);
        }
    }
    Field::everywhere(&template, &set.place)
}

/// The sources of an Application: `spec.sources`, unless it is empty, else `spec.source`.
pub(super) fn sources(object: &Field) -> Vec<&Field> {
    let Some(spec) = object.get("spec") else { return Vec::new() };
    match spec.get("sources").map(|sources| &sources.content) {
        Some(Content::List(items)) if !items.is_empty() => items.iter().collect(),
        _ => spec.get("source").into_iter().collect(),
    }
}

/// Whether a URL is of a registry of charts.
pub(super) fn is_registry(url: &str) -> bool {
    url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("oci://"))
}

#[cfg(test)]
mod tests;
