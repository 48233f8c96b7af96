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
    let now: Vec<(&str, bool, bool)> = versions(new).collect();
    let mut gone = Vec::new();
    for (version, was_served, was_stored) in versions(old) {
        let is_there = match now.iter().find(|(name, ..)| *name == version) {
            None => false,
            Some((_, false, _)) if was_served => true,
            Some(_) => continue,
        };
        // What was stored in it is so until it is written anew, and the API server keeps count.
        let severity = if was_stored && !is_there { Severity::Refused } else { Severity::Outage };
        gone.push(Danger::new(severity, What::VersionGone { version: version.to_owned(), is_there }));
    }
    gone
}

/// The versions of a definition, whether the API server serves them, and whether it stores objects in them.
fn versions(definition: &Manifest) -> impl Iterator<Item = (&str, bool, bool)> {
    items(definition.object(), &["spec", "versions"]).iter().filter_map(version)
}

fn version(version: &Value) -> Option<(&str, bool, bool)> {
    let is_served = version.get("served").and_then(Value::as_bool) != Some(false);
    let is_stored = version.get("storage").and_then(Value::as_bool) == Some(true);
    Some((version.get("name")?.as_str()?, is_served, is_stored))
}
