//! A rule as it is written in the settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::search::Patterns;
use super::super::sync_path::sync_path;
use super::super::{AppName, BranchName, NameError};
use super::outline::VARIABLES;
use super::{Compiled, Matches, Rule, Templates};
use crate::argo::jinja::{Bounds, Template, TemplateError};

/// What one template of a rule may take: it runs for each Application.
pub(super) const BOUNDS: Bounds = Bounds { steps: 10_000, bytes: 4096 };

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Written {
    #[serde(rename = "match", skip_serializing_if = "is_default")]
    matches: Match,
    #[serde(skip_serializing_if = "Option::is_none")]
    hydrate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hydrate_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    #[serde(rename = "repoURL", skip_serializing_if = "Option::is_none")]
    repo_url: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    expand: Texts,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Match {
    #[serde(skip_serializing_if = "is_default")]
    name: Texts,
    #[serde(skip_serializing_if = "is_default")]
    namespace: Texts,
    #[serde(skip_serializing_if = "is_default")]
    project: Texts,
    #[serde(skip_serializing_if = "is_default")]
    plugin: Texts,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, Texts>,
    #[serde(skip_serializing_if = "is_default")]
    file: Texts,
    #[serde(skip_serializing_if = "is_default")]
    destination: Destination,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Destination {
    #[serde(skip_serializing_if = "is_default")]
    server: Texts,
    #[serde(skip_serializing_if = "is_default")]
    name: Texts,
    #[serde(skip_serializing_if = "is_default")]
    namespace: Texts,
}

/// Patterns, or one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl From<Rule> for Written {
    fn from(rule: Rule) -> Self {
        rule.written
    }
}

impl TryFrom<Written> for Rule {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let expand = Patterns::new(written.expand.texts()).map_err(|error| format!("expand: {error}"))?;
        let (matches, templates) = (written.matches.compiled()?, written.templates()?);
        let compiled = Arc::new(Compiled { matches, expand, templates });
        Ok(Self { written, compiled })
    }
}

impl Written {
    pub(super) fn of_all(branch: &str, path: &str) -> Self {
        Self { branch: Some(branch.to_owned()), path: Some(path.to_owned()), ..Self::default() }
    }

    pub(super) fn leaving_plugins(names: &[String]) -> Self {
        let plugin = match names {
            [only] => Texts::One(only.clone()),
            several => Texts::Many(several.to_vec()),
        };
        Self { matches: Match { plugin, ..Match::default() }, hydrate: Some(false), ..Self::default() }
    }

    pub(super) fn of(&self, names: Vec<String>, file: Option<&str>) -> Self {
        let file = file.map_or_else(Texts::default, |file| Texts::One(file.to_owned()));
        Self { matches: Match { name: Texts::Many(names), file, ..Match::default() }, ..self.clone() }
    }

    pub(super) fn of_instance(&self, instance: &str, directory: &str) -> Self {
        let path = self.path.as_ref().map(|path| format!("{instance}/{path}"));
        let instance = Some(instance.to_owned());
        Self { path, instance, ..self.of(Vec::new(), Some(&format!("{directory}/"))) }
    }

    pub(super) fn expanding(&self, set: &str) -> Self {
        Self { expand: Texts::One(set.to_owned()), ..self.clone() }
    }

    pub(super) fn is_for_all(&self) -> bool {
        self.matches == Match::default() && self.hydrate != Some(false)
    }

    /// Whether what its templates make is what they say with values in it, and no more.
    pub(super) fn only_inserts(&self) -> bool {
        self.branch.iter().chain(&self.path).chain(&self.instance).all(|text| only_inserts(text))
    }

    fn templates(&self) -> Result<Option<Templates>, String> {
        let Self { hydrate, branch, path, hydrate_to, instance, repo_url, .. } = self;
        if *hydrate == Some(false) {
            let given = [
                ("branch", branch),
                ("path", path),
                ("hydrateTo", hydrate_to),
                ("instance", instance),
                ("repoURL", repo_url),
            ];
            let given = given.iter().find(|(_, text)| text.is_some());
            return match given {
                Some((field, _)) => Err(format!("`hydrate: false` leaves Applications alone: take `{field}` away")),
                None => Ok(None),
            };
        }
        let missing = |field: &str, example: &str| {
            format!("`{field}` is missing: write where Applications go, such as `{field}: {example}`")
        };
        let branch = branch.as_ref().ok_or_else(|| missing("branch", "environments/dev"))?;
        let path = path.as_ref().ok_or_else(|| missing("path", "'{{ name }}'"))?;
        let hydrate_to = hydrate_to.as_ref().map(|text| branch_template("hydrateTo", text));
        let instance = instance.as_ref().map(|text| instance_template(text));
        Ok(Some(Templates {
            branch: branch_template("branch", branch)?,
            path: path_template(path)?,
            hydrate_to: hydrate_to.transpose()?,
            instance: instance.transpose()?,
            repo_url: repo_url.clone(),
        }))
    }
}

impl Match {
    fn compiled(&self) -> Result<Matches, String> {
        let labels = self.labels.iter().map(|(key, texts)| {
            let patterns = texts.patterns(&format!("labels.{key}"))?;
            Ok((key.clone(), if texts.is_empty() { anything()? } else { patterns }))
        });
        Ok(Matches {
            name: self.name.patterns("name")?,
            namespace: self.namespace.patterns("namespace")?,
            project: self.project.patterns("project")?,
            plugin: self.plugin.patterns("plugin")?,
            labels: labels.collect::<Result<_, String>>()?,
            file: self.file.patterns("file")?,
            server: self.destination.server.patterns("destination.server")?,
            cluster: self.destination.name.patterns("destination.name")?,
            destination_namespace: self.destination.namespace.patterns("destination.namespace")?,
        })
    }
}

/// What a label matches of which only the key is given.
fn anything() -> Result<Patterns, String> {
    Patterns::new(["*"]).map_err(|error| error.to_string())
}

impl Texts {
    fn texts(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }

    fn is_empty(&self) -> bool {
        self.texts().iter().all(String::is_empty)
    }

    fn patterns(&self, field: &str) -> Result<Patterns, String> {
        Patterns::new(self.texts()).map_err(|error| format!("match.{field}: {error}"))
    }
}

/// Compiles a template, and checks what it says whatever the Application is.
fn template(field: &str, text: &str) -> Result<Template, String> {
    let template = Template::new(field, text, BOUNDS, &[]).map_err(|error| not_compiled(field, &error))?;
    for variable in template.variables() {
        let (top, below) = variable.split_once('.').unwrap_or((&variable, ""));
        let below = below.split('.').next().unwrap_or_default();
        let Some((_, fields)) = VARIABLES.iter().find(|(name, _)| *name == top) else {
            let known: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
            return Err(format!("`{field}`: there is no value `{top}`; there are {}", known.join(", ")));
        };
        if !below.is_empty() && !fields.is_empty() && !fields.contains(&below) {
            return Err(format!("`{field}`: there is no value `{top}.{below}`; there are {}", fields.join(", ")));
        }
    }
    Ok(template)
}

fn not_compiled(field: &str, error: &TemplateError) -> String {
    match error.line {
        Some(line) if line > 1 => format!("`{field}`, line {line}: {error}"),
        _ => format!("`{field}`: {error}"),
    }
}

fn is_literal(text: &str) -> bool {
    !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}

/// Whether a template has nothing but text and names of values.
fn only_inserts(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((expression, behind)) = after.split_once("}}") else { return false };
        if !is_literal(before) || !is_value(expression.trim()) {
            return false;
        }
        rest = behind;
    }
    is_literal(rest)
}

/// Whether an expression is the name of a value: `name`, `labels.env`, `labels['example.com/env']`.
fn is_value(expression: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let key = |text: &str, quote: char| {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(!inner.contains([quote, '\\', '[', ']']))
    };
    match expression.find('[') {
        Some(at) => {
            let (name, rest) = expression.split_at(at);
            name.split('.').all(is_name) && (key(rest, '\'').or_else(|| key(rest, '"'))).unwrap_or(false)
        }
        None => expression.split('.').all(is_name),
    }
}

fn branch_template(field: &str, text: &str) -> Result<Template, String> {
    if is_literal(text) {
        let wrong = |reason: NameError| format!("`{field}`: `{text}` is not a valid branch name: {reason}");
        BranchName::new(text.trim()).map_err(wrong)?;
    }
    template(field, text)
}

fn instance_template(text: &str) -> Result<Template, String> {
    if is_literal(text) && !text.trim().is_empty() {
        let wrong = |reason: NameError| format!("`instance`: `{text}` is not a valid name: {reason}");
        AppName::of_instance(text.trim()).map_err(wrong)?;
    }
    template("instance", text)
}

fn path_template(text: &str) -> Result<Template, String> {
    if is_literal(text) {
        sync_path(text.trim(), None).map_err(|mistake| format!("`path`: {mistake}"))?;
    }
    template("path", text)
}
