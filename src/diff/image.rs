//! Container images, which are most of what changes from day to day.

use std::collections::{BTreeMap, BTreeSet};

use go_yaml::Value;

use super::path::{FieldPath, Step};
use crate::manifest::Manifest;

/// An image that changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ImageChange {
    /// The name of the container; where there is none, the field.
    pub container: String,
    /// The image before; none for a new container.
    pub old: Option<String>,
    /// The image after; none for a container that is gone.
    pub new: Option<String>,
}

/// An image as it is written: `registry:5000/team/web:1.4@sha256:…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Image<'a> {
    /// The registry and the repository.
    pub name: &'a str,
    /// Tag and digest, empty when there are none.
    pub version: &'a str,
}

impl<'a> Image<'a> {
    /// Takes an image apart. Never fails: what has no version has only a name.
    pub(crate) fn parse(text: &'a str) -> Self {
        let at = text.find('@').unwrap_or(text.len());
        let path = text[..at].rfind('/').map_or(0, |slash| slash + 1);
        let end = text[path..at].find(':').map_or(at, |colon| path + colon);
        Self { name: &text[..end], version: text[end..].trim_start_matches([':', '@']) }
    }
}

/// The images of an object that stays, by container.
pub(super) fn changes(old: Option<&Manifest>, new: Option<&Manifest>) -> Vec<ImageChange> {
    let (Some(old), Some(new)) = (old, new) else { return Vec::new() };
    let [old, new] = [old, new].map(images);
    let places: BTreeSet<&FieldPath> = old.keys().chain(new.keys()).collect();
    let mut changes = Vec::new();
    for place in places {
        let (old, new) = (old.get(place).cloned(), new.get(place).cloned());
        if old != new {
            changes.push(ImageChange { container: container(place), old, new });
        }
    }
    changes
}

/// The name of the container that a field is in; where there is none, the field.
fn container(place: &FieldPath) -> String {
    for step in place.steps().iter().rev() {
        if let Step::Item(fields) = step
            && let Some((_, name)) = fields.first()
        {
            return name.clone();
        }
    }
    place.to_string()
}

/// Each field `image` that is a text, by its place. Data that is no description of containers is left out.
fn images(manifest: &Manifest) -> BTreeMap<FieldPath, String> {
    let mut found = BTreeMap::new();
    if !matches!(manifest.kind(), "ConfigMap" | "Secret" | "CustomResourceDefinition") {
        collect(manifest.object(), &mut FieldPath::root(), &mut found);
    }
    found
}

fn collect(value: &Value, path: &mut FieldPath, found: &mut BTreeMap<FieldPath, String>) {
    match value {
        Value::Mapping(mapping) => {
            for (key, value) in mapping {
                path.push(Step::Key(key.clone()));
                match value {
                    Value::String(image) if key == "image" => drop(found.insert(path.clone(), image.clone())),
                    value => collect(value, path, found),
                }
                path.pop();
            }
        }
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(match item.get("name").and_then(Value::as_str) {
                    Some(name) => Step::Item(vec![("name".to_owned(), name.to_owned())]),
                    None => Step::Index(index),
                });
                collect(item, path, found);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_a_name_and_a_version() {
        let rows = [
            ("nginx", "nginx", ""),
            ("nginx:1.27", "nginx", "1.27"),
            ("registry:5000/team/web", "registry:5000/team/web", ""),
            ("registry:5000/team/web:1.4", "registry:5000/team/web", "1.4"),
            ("team/web@sha256:0a1b", "team/web", "sha256:0a1b"),
            ("team/web:1.4@sha256:0a1b", "team/web", "1.4@sha256:0a1b"),
            ("", "", ""),
            (":", "", ""),
        ];
        for (text, name, version) in rows {
            assert_eq!(Image::parse(text), Image { name, version }, "{text}");
        }
    }
}
