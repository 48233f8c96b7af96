//! Versions of custom resources.

use go_yaml::Value;

use super::{Danger, Severity, What, items};
use crate::manifest::Manifest;

/// The versions that are gone, or no longer served.
///
/// Reference: kubernetes docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning.
pub(super) fn versions_gone(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if old.kind() != "CustomResourceDefinition" {
        return Vec::new();
    }
    let now: Vec<(&str, bool)> = versions(new).collect();
    let mut gone = Vec::new();
    for (version, was_served) in versions(old) {
        let is_there = match now.iter().find(|(name, _)| *name == version) {
            None => false,
            Some((_, false)) if was_served => true,
            Some(_) => continue,
        };
        gone.push(Danger::new(Severity::Outage, What::VersionGone { version: version.to_owned(), is_there }));
    }
    gone
}

/// The versions of a definition, and whether the API server serves them.
fn versions(definition: &Manifest) -> impl Iterator<Item = (&str, bool)> {
    items(definition.object(), &["spec", "versions"]).iter().filter_map(version)
}

fn version(version: &Value) -> Option<(&str, bool)> {
    let is_served = version.get("served").and_then(Value::as_bool) != Some(false);
    Some((version.get("name")?.as_str()?, is_served))
}
