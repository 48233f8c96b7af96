//! One object that an Application rendered, which is an Application or a set of them itself.

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use go_yaml::Value;
use serde::{Deserialize, Serialize};

use super::excerpt::{self, Excerpt};
use super::field::{Field, Place};
use super::maker::By;
use super::rules::Placement;

/// Something that renders Applications.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Parent {
    /// What it is.
    pub by: By,
    /// The file that it is in; of one that is made itself, the file of the first of those that make it; of a root that
    /// is in no file, the directory of its sources.
    pub file: RepoPath,
    /// Where its sources are named.
    pub place: Span,
    /// What makes it, from the inside out.
    pub above: Vec<By>,
}

/// One object that a parent rendered, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RenderedObject {
    pub parent: Parent,
    pub(super) object: serde_json::Value,
    /// Which of the objects it is, from 1; 0 where the excerpt tells it.
    pub(super) number: usize,
    pub(super) excerpt: Option<Excerpt>,
    /// What a rule says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) placement: Option<Placement>,
}

impl Parent {
    /// The start of its file, of which nothing is quoted.
    pub(super) fn start(&self) -> Place {
        Place::at_start_of(&self.file)
    }

    fn place(&self) -> Place {
        excerpt::place_of(&self.place)
    }
}

impl RenderedObject {
    /// The object with the places that it seems to come from.
    pub(super) fn field(&self) -> Field {
        let value = self.value();
        match &self.excerpt {
            Some(excerpt) => excerpt.field(&value),
            None => Field::everywhere(&value, &self.parent.place()),
        }
    }

    /// The object itself.
    pub(super) fn value(&self) -> Value {
        of_json(self.object.clone())
    }
}

pub(super) fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(number) => (*number).into(),
        Value::Uint(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::String(text) => text.as_str().into(),
        Value::Sequence(items) => items.iter().map(to_json).collect(),
        Value::Mapping(entries) => entries.iter().map(|(key, value)| (key.clone(), to_json(value))).collect(),
    }
}

pub(super) fn of_json(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::Uint(number),
            (None, None) => Value::Float(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::String(text) => Value::String(text),
        serde_json::Value::Array(items) => Value::Sequence(items.into_iter().map(of_json).collect()),
        serde_json::Value::Object(entries) => {
            Value::Mapping(entries.into_iter().map(|(key, value)| (key, of_json(value))).collect())
        }
    }
}
