//! An Application as an object of the cluster, without what its manifests are made of. It changes no manifest: previews show
//! it.

use std::sync::Arc;

use go_yaml::{Limits, Value, json};

use super::field::{Content, Field};

/// What of its metadata Argo CD acts on.
const METADATA: [&str; 3] = ["name", "namespace", "finalizers"];

/// What tells where manifests come from. The cluster has it as our branches do, so a preview of them says it already.
const SOURCES: [&str; 3] = ["source", "sources", "sourceHydrator"];

/// The object that the cluster has of an Application: as JSON, since a dry commit may have 100,000 of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployed(Arc<str>);

impl Default for Deployed {
    fn default() -> Self {
        Self("{}".into())
    }
}

impl Deployed {
    /// That of a document. Never fails: what is no Application has less.
    pub(super) fn read(application: &Field) -> Self {
        Self(json::encode(&object(application), json::Options::default()).into())
    }

    /// The object.
    pub(crate) fn object(&self) -> Value {
        let limits = Limits { bytes: self.0.len(), ..Limits::default() };
        json::decode(self.0.as_bytes(), &limits).unwrap_or_default()
    }

    /// The object under the name of another one.
    pub(crate) fn named_as(&self, other: &Self) -> Value {
        named(self.object(), &other.object())
    }
}

fn object(application: &Field) -> Value {
    let whole = |key: &'static str| application.get(key).map(|field| (key.to_owned(), field.to_value()));
    let metadata = part(application, "metadata", |key| METADATA.contains(&key));
    let spec = part(application, "spec", |key| !SOURCES.contains(&key));
    Value::Mapping([whole("apiVersion"), whole("kind"), metadata, spec].into_iter().flatten().collect())
}

/// The entries of a mapping that are kept, as an entry of that key.
fn part(application: &Field, key: &str, is_kept: impl Fn(&str) -> bool) -> Option<(String, Value)> {
    let Content::Mapping(entries) = &application.get(key)?.content else { return None };
    let kept = entries.iter().filter(|entry| is_kept(&entry.key) && !entry.field.is_null());
    Some((key.to_owned(), Value::Mapping(kept.map(|entry| (entry.key.clone(), entry.field.to_value())).collect())))
}

fn named(mut renamed: Value, other: &Value) -> Value {
    let Value::Mapping(fields) = &mut renamed else { return renamed };
    let Some(Value::Mapping(metadata)) = fields.get_mut("metadata") else { return renamed };
    for key in ["name", "namespace"] {
        match other.at(&["metadata", key]) {
            Some(value) => metadata.insert(key.to_owned(), value.clone()),
            None => metadata.remove(key),
        };
    }
    renamed
}
