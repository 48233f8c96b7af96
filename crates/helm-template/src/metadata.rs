//! `Chart.yaml`: what a chart says of itself.

use std::collections::BTreeMap;

use go_std::json::fold_name;
use go_yaml::{Mapping, Value};

use super::fields::{self, Place, WrongType};
use crate::version::differences::DotNames;

/// The fields of `Chart.yaml` that Helm knows, cleaned: white space is blanks, other unprintables are gone.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Metadata {
    pub api_version: String,
    pub name: String,
    /// As it is written, only checked.
    pub version: String,
    /// A range for the cluster's version; empty for any.
    pub kube_version: String,
    pub description: String,
    /// `application` or `library`; empty for the former.
    pub kind: String,
    pub keywords: Vec<String>,
    pub home: String,
    pub sources: Vec<String>,
    /// `None` when there is no list at all, which Helm treats otherwise than an empty one.
    pub dependencies: Option<Vec<Dependency>>,
    pub maintainers: Vec<Maintainer>,
    pub icon: String,
    pub app_version: String,
    pub deprecated: bool,
    /// `None` when there is no map at all.
    pub annotations: Option<BTreeMap<String, String>>,
    pub condition: String,
    pub tags: String,
}

/// One of the chart's maintainers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Maintainer {
    pub name: String,
    pub email: String,
    pub url: String,
}

/// A chart that this one needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Dependency {
    /// The name in the other chart's `Chart.yaml`.
    pub name: String,
    /// A range of versions.
    pub version: String,
    /// Where `helm dependency update` gets it.
    pub repository: String,
    /// Paths of values, by commas; the first one with a boolean decides whether the chart is used.
    pub condition: String,
    /// Names below the top-level `tags` value that decide when no condition does.
    pub tags: Vec<String>,
    /// What `Chart.yaml` says; Helm decides itself.
    pub enabled: bool,
    /// What the parent takes over from the child's values.
    pub import_values: Option<Vec<Value>>,
    /// Another name for this use of the chart; empty for none.
    pub alias: String,
}

/// What a `Chart.yaml` says that no chart may say. Reads as Helm's own message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Invalid {
    #[error("validation: chart.metadata.{0} is required")]
    Required(&'static str),
    #[error("validation: chart.metadata.name {} is not allowed", go_yaml::quote(.0))]
    NameNotAllowed(String),
    #[error("validation: chart.metadata.{field} {} is invalid", go_yaml::quote(.value))]
    Field { field: &'static str, value: String },
    #[error("validation: chart.metadata.type must be application or library")]
    Kind,
    #[error("validation: {0} must not contain empty or null nodes")]
    NullNode(&'static str),
    #[error("validation: dependency {} has disallowed characters in the alias", go_yaml::quote(.0))]
    Alias(String),
    #[error("validation: more than one dependency with name or alias {}", go_yaml::quote(.0))]
    Duplicate(String),
}

/// Why a file can't be used as metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum MetadataError {
    /// A field has another type.
    #[error(transparent)]
    WrongType(#[from] WrongType),
    /// A list has a null item; found when the chart is checked.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Metadata {
    /// Whether the chart lends its templates only.
    pub(super) fn is_library(&self) -> bool {
        self.kind == "library"
    }

    /// Takes over what a file says: `Chart.yaml`, then `requirements.yaml` for its dependencies.
    pub(super) fn merge(&mut self, value: &Value) -> Result<(), MetadataError> {
        let at = |path| Place { of: "Metadata", path };
        let Some(entries) = fields::object(value, Place { of: "", path: "" }, "v2.Metadata")? else { return Ok(()) };
        for (key, value) in entries {
            match fold_name(key).as_str() {
                "apiversion" => fields::string(&mut self.api_version, value, at("apiVersion"))?,
                "name" => fields::string(&mut self.name, value, at("name"))?,
                "version" => fields::string(&mut self.version, value, at("version"))?,
                "kubeversion" => fields::string(&mut self.kube_version, value, at("kubeVersion"))?,
                "description" => fields::string(&mut self.description, value, at("description"))?,
                "type" => fields::string(&mut self.kind, value, at("type"))?,
                "keywords" => fields::strings(&mut self.keywords, value, at("keywords"))?,
                "home" => fields::string(&mut self.home, value, at("home"))?,
                "sources" => fields::strings(&mut self.sources, value, at("sources"))?,
                "icon" => fields::string(&mut self.icon, value, at("icon"))?,
                "appversion" => fields::string(&mut self.app_version, value, at("appVersion"))?,
                "deprecated" => fields::boolean(&mut self.deprecated, value, at("deprecated"))?,
                "condition" => fields::string(&mut self.condition, value, at("condition"))?,
                "tags" => fields::string(&mut self.tags, value, at("tags"))?,
                "annotations" => self.annotations = annotations(value, at("annotations"))?,
                "maintainers" => {
                    if let Some(items) = fields::list(value, at("maintainers"), "[]*v2.Maintainer")? {
                        self.maintainers = items.iter().map(maintainer).collect::<Result<_, _>>()?;
                    }
                }
                "dependencies" => {
                    let items = fields::list(value, at("dependencies"), "[]*v2.Dependency")?;
                    let read = |items: &[Value]| items.iter().map(dependency).collect::<Result<_, _>>();
                    self.dependencies = items.map(read).transpose()?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Cleans the texts, then checks what Helm checks, in its order.
    pub(super) fn validate(&mut self, dots: DotNames, is_version: impl Fn(&str) -> bool) -> Result<(), Invalid> {
        for text in [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ] {
            clean(text);
        }
        self.sources.iter_mut().chain(&mut self.keywords).for_each(clean);
        if self.api_version.is_empty() {
            return Err(Invalid::Required("apiVersion"));
        }
        if self.name.is_empty() {
            return Err(Invalid::Required("name"));
        }
        if dots == DotNames::Refused && matches!(self.name.as_str(), "." | "..") {
            return Err(Invalid::NameNotAllowed(self.name.clone()));
        }
        if self.name.contains('/') {
            return Err(Invalid::Field { field: "name", value: self.name.clone() });
        }
        if self.version.is_empty() {
            return Err(Invalid::Required("version"));
        }
        if !is_version(&self.version) {
            return Err(Invalid::Field { field: "version", value: self.version.clone() });
        }
        if !["", "application", "library"].contains(&self.kind.as_str()) {
            return Err(Invalid::Kind);
        }
        for Maintainer { name, email, url } in &mut self.maintainers {
            [name, email, url].into_iter().for_each(clean);
        }
        let mut names = std::collections::BTreeSet::new();
        for dependency in self.dependencies.iter_mut().flatten() {
            dependency.validate()?;
            if !names.insert(dependency.used_name()) {
                return Err(Invalid::Duplicate(dependency.used_name().to_owned()));
            }
        }
        Ok(())
    }
}

impl Dependency {
    /// The name under which the chart is used: the alias, when there is one.
    pub(super) fn used_name(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }

    fn validate(&mut self) -> Result<(), Invalid> {
        [&mut self.name, &mut self.version, &mut self.repository, &mut self.condition].into_iter().for_each(clean);
        self.tags.iter_mut().for_each(clean);
        if !self.alias.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Err(Invalid::Alias(self.name.clone()));
        }
        Ok(())
    }
}

/// The dependencies of a `Chart.lock` or `requirements.lock`; nothing else in it counts.
pub(super) fn lock(value: &Value) -> Result<Vec<Dependency>, MetadataError> {
    let at = |path| Place { of: "Lock", path };
    let mut dependencies = Vec::new();
    let Some(entries) = fields::object(value, Place { of: "", path: "" }, "v2.Lock")? else {
        return Ok(dependencies);
    };
    for (key, value) in entries {
        match fold_name(key).as_str() {
            "digest" => {
                fields::text(value, at("digest"))?;
            }
            "dependencies" => {
                let items = fields::list(value, at("dependencies"), "[]*v2.Dependency")?.unwrap_or_default();
                dependencies = items.iter().map(dependency).collect::<Result<_, _>>()?;
            }
            _ => {}
        }
    }
    Ok(dependencies)
}

fn annotations(value: &Value, place: Place<'_>) -> Result<Option<BTreeMap<String, String>>, WrongType> {
    let Some(entries) = fields::object(value, place, "map[string]string")? else { return Ok(None) };
    let entry = |(key, value): (&String, &Value)| Ok((key.clone(), fields::text(value, place)?.unwrap_or_default()));
    entries.iter().map(entry).collect::<Result<_, _>>().map(Some)
}

fn maintainer(value: &Value) -> Result<Maintainer, MetadataError> {
    let mut maintainer = Maintainer::default();
    let at = |path| Place { of: "Maintainer", path };
    for (key, value) in item(value, Place { of: "Metadata", path: "maintainers" }, "v2.Maintainer", "maintainers")? {
        match fold_name(key).as_str() {
            "name" => fields::string(&mut maintainer.name, value, at("maintainers.name"))?,
            "email" => fields::string(&mut maintainer.email, value, at("maintainers.email"))?,
            "url" => fields::string(&mut maintainer.url, value, at("maintainers.url"))?,
            _ => {}
        }
    }
    Ok(maintainer)
}

fn dependency(value: &Value) -> Result<Dependency, MetadataError> {
    let mut found = Dependency::default();
    let at = |path| Place { of: "Dependency", path };
    for (key, value) in item(value, Place { of: "Metadata", path: "dependencies" }, "v2.Dependency", "dependencies")? {
        match fold_name(key).as_str() {
            "name" => fields::string(&mut found.name, value, at("dependencies.name"))?,
            "version" => fields::string(&mut found.version, value, at("dependencies.version"))?,
            "repository" => fields::string(&mut found.repository, value, at("dependencies.repository"))?,
            "condition" => fields::string(&mut found.condition, value, at("dependencies.condition"))?,
            "tags" => fields::strings(&mut found.tags, value, at("dependencies.tags"))?,
            "enabled" => fields::boolean(&mut found.enabled, value, at("dependencies.enabled"))?,
            "alias" => fields::string(&mut found.alias, value, at("dependencies.alias"))?,
            "import-values" => {
                let items = fields::list(value, at("dependencies.import-values"), "[]interface {}")?;
                found.import_values = items.map(<[Value]>::to_vec);
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The entries of one item of a list of structs.
fn item<'a>(
    value: &'a Value,
    place: Place<'_>,
    go_type: &str,
    list: &'static str,
) -> Result<&'a Mapping, MetadataError> {
    Ok(fields::object(value, place, go_type)?.ok_or(Invalid::NullNode(list))?)
}

/// White space becomes blanks, what can't be printed goes.
fn clean(text: &mut String) {
    let is_clean = |c: char| matches!(c, ' '..='~');
    if !text.chars().all(is_clean) {
        let kept = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
        *text = kept.filter(|c| *c == ' ' || go_std::unicode::is_print(*c)).collect();
    }
}
