//! What rules look at: an Application, or the template of an ApplicationSet.

use dry_files::path::RepoPath;

use super::super::GROUP;
use super::super::field::{Content, Field};
use super::super::search::Patterns;
use super::sources;
use crate::argo::jinja::Value;

/// The values that templates have, and what some of them consist of.
pub(super) const VARIABLES: [(&str, &[&str]); 9] = [
    ("name", &[]),
    ("namespace", &[]),
    ("project", &[]),
    ("labels", &[]),
    ("annotations", &[]),
    ("destination", &["server", "name", "namespace"]),
    ("source", &["repoURL", "path", "targetRevision", "chart"]),
    ("file", &[]),
    ("directory", &[]),
];

/// Something that may be an Application.
pub(super) struct Outline<'f> {
    object: &'f Field,
    file: &'f RepoPath,
    /// Whether texts may be templates still.
    is_template: bool,
    /// Whether anything may be changed or added to it.
    is_open: bool,
    /// Whether what a set makes counts as having every text that its template has.
    has_all: bool,
}

/// A text as far as it is known.
pub(super) enum Known<'f> {
    Text(&'f str),
    Absent,
    /// It depends on what a set makes.
    Open,
    /// So does this: all of the template that is known are its texts.
    Template {
        before: &'f str,
        after: &'f str,
        /// What is between its values, in order; empty where that is not the text of each.
        within: Vec<&'f str>,
        /// Whether it counts as not empty.
        is_there: bool,
    },
}

/// Whether an object is an Argo CD Application with a source of its own.
pub(in super::super) fn is_plain(object: &Field, is_item: bool) -> bool {
    let group = object.get("apiVersion").and_then(Field::as_str).map(|version| version.split('/').next());
    match group {
        Some(group) => group == Some(GROUP),
        None => is_item,
    }
}

impl<'f> Outline<'f> {
    /// An Application.
    pub(super) fn of(object: &'f Field, file: &'f RepoPath) -> Self {
        Self { object, file, is_template: false, is_open: false, has_all: false }
    }

    /// What an ApplicationSet makes; none when it has no template.
    pub(super) fn of_set(set: &'f Field, file: &'f RepoPath) -> Option<Self> {
        let spec = set.get("spec")?;
        let has_more = spec.get("templatePatch").is_some() || spec.get("generators").is_some_and(has_template);
        Some(Self { object: spec.get("template")?, file, is_template: true, is_open: has_more, has_all: false })
    }

    /// Takes each text of the template to become one that is not empty.
    pub(super) fn with_all(self) -> Self {
        Self { has_all: true, ..self }
    }

    pub(super) fn file(&self) -> Known<'f> {
        Known::Text(self.file.as_str())
    }

    pub(super) fn text(&self, path: &[&str]) -> Known<'f> {
        let found = path.iter().try_fold(self.object, |field, key| field.get(key)).and_then(Field::as_str);
        match found.filter(|text| !text.is_empty()) {
            _ if self.is_open => Known::Open,
            Some(text) if self.is_template && text.contains("{{") => {
                // A URL may have any `/`.
                let is_url = path.last() == Some(&"server");
                let (before, after) = if is_url { ("", "") } else { ends(text) };
                let within = if is_url { Vec::new() } else { within(text) };
                Known::Template { before, after, within, is_there: self.has_all }
            }
            Some(text) => Known::Text(text),
            None => Known::Absent,
        }
    }

    /// The name of the plugin that renders it, which may be empty where a plugin says itself what it is for.
    pub(super) fn plugin(&self) -> Known<'f> {
        let plugin = sources(self.object).into_iter().find_map(|source| source.get("plugin"));
        let name = plugin.map(|plugin| plugin.get("name").and_then(Field::as_str).unwrap_or_default());
        match name {
            _ if self.is_open => Known::Open,
            Some(name) if self.is_template && name.contains("{{") => Known::Open,
            Some(name) => Known::Text(name),
            None => Known::Absent,
        }
    }

    pub(super) fn label(&self, key: &str) -> Known<'f> {
        let is_templated =
            |entries: &[super::super::field::Entry]| entries.iter().any(|entry| entry.key.contains("{{"));
        let labels = self.object.get("metadata").and_then(|metadata| metadata.get("labels"));
        match self.text(&["metadata", "labels", key]) {
            Known::Absent if self.is_template => match labels.map(|labels| &labels.content) {
                Some(Content::Mapping(entries)) if is_templated(entries) => Known::Open,
                Some(Content::Scalar(_) | Content::List(_)) => Known::Open,
                Some(Content::Mapping(_)) | None => Known::Absent,
            },
            known => known,
        }
    }

    /// What templates are given.
    pub(super) fn values(&self) -> Value {
        let text = |path: &[&str]| self.text(path).value();
        let source = sources(self.object).into_iter().next();
        let of_source = |key: &str| {
            let text = source.and_then(|source| source.get(key)).and_then(Field::as_str);
            text.filter(|text| !text.is_empty()).map_or(Value::UNDEFINED, Value::from)
        };
        let directory = self.file.parent().unwrap_or_default();
        let inside = |top: &str, value: &dyn Fn(&str) -> Value| {
            let fields = VARIABLES.iter().find(|(name, _)| *name == top).map_or(&[][..], |(_, fields)| fields);
            Value::from_pairs(fields.iter().map(|key| (*key, value(key))))
        };
        Value::from_pairs([
            ("name", text(&["metadata", "name"])),
            ("namespace", text(&["metadata", "namespace"])),
            ("project", self.text(&["spec", "project"]).or("default").value()),
            ("labels", self.texts("labels")),
            ("annotations", self.texts("annotations")),
            ("destination", inside("destination", &|key| text(&["spec", "destination", key]))),
            ("source", inside("source", &of_source)),
            ("file", Value::from(self.file.as_str())),
            ("directory", Value::from(directory.as_str())),
        ])
    }

    /// The texts of a mapping of `metadata`.
    fn texts(&self, key: &str) -> Value {
        let found = self.object.get("metadata").and_then(|metadata| metadata.get(key)).map(|field| &field.content);
        let Some(Content::Mapping(entries)) = found else {
            return Value::from_pairs(std::iter::empty::<(String, Value)>());
        };
        let pair = |entry: &super::super::field::Entry| Some((entry.key.clone(), Value::from(entry.field.as_str()?)));
        Value::from_pairs(entries.iter().filter_map(pair))
    }
}

impl<'f> Known<'f> {
    /// What is known, with `default` where there is no text.
    pub(super) fn or(self, default: &'f str) -> Self {
        match self {
            Self::Absent => Self::Text(default),
            known => known,
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(*text),
            Self::Absent | Self::Open | Self::Template { .. } => Value::UNDEFINED,
        }
    }

    /// Whether it matches; none when that is not known.
    pub(super) fn hold(&self, patterns: &Patterns) -> Option<bool> {
        match self {
            _ if patterns.is_empty() => Some(true),
            Self::Text(text) => Some(patterns.matches(text)),
            // Patterns that only take away leave what is not there.
            Self::Absent => Some(patterns.only_take_away()),
            Self::Template { is_there: true, .. } if patterns.take_anything() => Some(true),
            Self::Template { before, after, within, .. } => patterns.take_between((before, after), within),
            Self::Open => None,
        }
    }
}

/// What each text begins and ends with that a template gives. Nothing is known of one that trims the text around a value.
fn ends(template: &str) -> (&str, &str) {
    let Some((before, _)) = template.split_once("{{") else { return ("", "") };
    let after = template.rsplit_once("}}").map_or("", |(_, after)| after);
    let is_plain = |text: &str| !text.contains(['/', '{']);
    match template.contains("{{-") || template.contains("-}}") || !is_plain(before) || !is_plain(after) {
        true => ("", ""),
        false => (before, after),
    }
}

/// The texts between the values of a template, where it has values alone, `{{name}}` or `{{.name}}`, and each text is there whatever they
/// are.
fn within(template: &str) -> Vec<&str> {
    let Some((_, rest)) = template.split_once("{{") else { return Vec::new() };
    let mut texts = Vec::new();
    for part in rest.split("{{") {
        let Some((value, text)) = part.split_once("}}") else { return Vec::new() };
        let is_value = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '[' | ']');
        let value = value.trim();
        if value.is_empty() || value.starts_with('-') || !value.chars().all(is_value) || text.contains(['/', '{']) {
            return Vec::new();
        }
        // `{{end}}` and its like end what is there sometimes.
        if ["end", "else"].contains(&value) {
            return Vec::new();
        }
        texts.push(text);
    }
    texts.pop();
    texts.retain(|text| !text.is_empty());
    texts
}

/// Whether some generator has a template of its own.
pub(in super::super) fn has_template(generators: &Field) -> bool {
    match &generators.content {
        Content::Mapping(entries) => entries.iter().any(|entry| entry.key == "template" || has_template(&entry.field)),
        Content::List(items) => items.iter().any(has_template),
        Content::Scalar(_) => false,
    }
}
