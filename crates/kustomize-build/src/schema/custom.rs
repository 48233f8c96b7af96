//! A schema from an OpenAPI document.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use go_yaml::Value;

use super::Gvk;
use crate::error::{Error, Result};
use crate::text;

/// One schema of an OpenAPI document, or of a comment.
#[derive(Debug, Default)]
pub(crate) struct CustomNode {
    pub(super) reference: Option<String>,
    properties: BTreeMap<String, Rc<CustomNode>>,
    additional: Option<Rc<CustomNode>>,
    /// Only of what is an array.
    pub(super) items: Option<Rc<CustomNode>>,
    pub(super) strategy: Option<String>,
    pub(super) keys: Vec<String>,
}

fn strings(value: Option<&Value>) -> Option<Vec<String>> {
    let items = value?.as_sequence()?;
    Some(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

impl CustomNode {
    /// None when the value is no mapping, or has no key at all.
    pub(crate) fn new(value: &Value) -> Option<Rc<Self>> {
        let mapping = value.as_mapping().filter(|mapping| !mapping.is_empty())?;
        let text = |key: &str| mapping.get(key).and_then(Value::as_str).map(str::to_owned);
        let child = |key: &str| mapping.get(key).and_then(Self::or_empty);
        let is_array = match mapping.get("type") {
            Some(Value::String(name)) => name == "array",
            Some(Value::Sequence(names)) => matches!(names.as_slice(), [Value::String(name)] if name == "array"),
            _ => false,
        };
        let properties = mapping.get("properties").and_then(Value::as_mapping);
        let keys = strings(mapping.get("x-kubernetes-list-map-keys"))
            .unwrap_or_else(|| text("x-kubernetes-patch-merge-key").into_iter().collect());
        Some(Rc::new(Self {
            reference: text("$ref"),
            properties: properties
                .into_iter()
                .flatten()
                .filter_map(|(name, value)| Some((name.clone(), Self::or_empty(value)?)))
                .collect(),
            additional: child("additionalProperties"),
            items: child("items").filter(|_| is_array),
            strategy: text("x-kubernetes-patch-strategy"),
            keys,
        }))
    }

    fn or_empty(value: &Value) -> Option<Rc<Self>> {
        match value {
            Value::Mapping(mapping) if mapping.is_empty() => Some(Rc::default()),
            other => Self::new(other),
        }
    }

    pub(super) fn field(&self, name: &str) -> Option<Rc<CustomNode>> {
        self.properties.get(name).or(self.additional.as_ref()).cloned()
    }
}

/// The definitions of a file that `openapi.path` names.
#[derive(Debug, Default)]
pub(super) struct CustomSchema {
    definitions: BTreeMap<String, Rc<CustomNode>>,
    resources: HashMap<String, Rc<CustomNode>>,
    /// Whether a type has a namespace.
    namespaced: HashMap<String, bool>,
}

fn key(gvk: Gvk<'_>) -> String {
    [gvk.group, gvk.version, gvk.kind].join("\n")
}

/// The type that an `x-kubernetes-group-version-kind` names.
fn gvk_key(value: &Value) -> Option<String> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    Some(key(Gvk { group: text("group").unwrap_or(""), version: text("version")?, kind: text("kind")? }))
}

impl CustomSchema {
    pub(super) fn parse(file: &[u8]) -> Result<Self> {
        let value = text::value(file).map_err(|error| error.prefix("invalid schema file"))?;
        if !matches!(value, Value::Mapping(_) | Value::Null) {
            return Err(Error::new("invalid schema file: not a mapping"));
        }
        let mut schema = Self::default();
        for (name, definition) in value.get("definitions").and_then(Value::as_mapping).into_iter().flatten() {
            let Some(node) = CustomNode::or_empty(definition) else { continue };
            let types = definition.get("x-kubernetes-group-version-kind").and_then(Value::as_sequence);
            for key in types.into_iter().flatten().filter_map(gvk_key) {
                schema.resources.insert(key, node.clone());
            }
            schema.definitions.insert(name.clone(), node);
        }
        for (path, item) in value.get("paths").and_then(Value::as_mapping).into_iter().flatten() {
            let Some(key) = item.at(&["get", "x-kubernetes-group-version-kind"]).and_then(gvk_key) else { continue };
            if path.contains("namespaces/{namespace}") {
                schema.namespaced.insert(key, true);
            } else {
                schema.namespaced.entry(key).or_insert(false);
            }
        }
        Ok(schema)
    }

    pub(super) fn definition(&self, name: &str) -> Option<Rc<CustomNode>> {
        self.definitions.get(name).cloned()
    }

    pub(super) fn of_resource(&self, gvk: Gvk<'_>) -> Option<Rc<CustomNode>> {
        self.resources.get(&key(gvk)).cloned()
    }

    pub(super) fn is_cluster_scoped(&self, gvk: Gvk<'_>) -> bool {
        self.namespaced.get(&key(gvk)) == Some(&false)
    }
}
