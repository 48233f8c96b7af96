//! Memory and CPU of containers that fall far.

use go_yaml::Value;

use super::quantity::quantity;
use super::{Danger, Severity, What, before};
use crate::diff::model::pods::{containers, spec};
use crate::manifest::Manifest;

/// What is compared: the list, the resource, its name for people, how bad it is. Of one resource the first that fell counts.
const RESOURCES: [[(&str, &str, &str, Severity); 2]; 2] = [
    [("limits", "memory", "memory limit", Severity::Outage), ("requests", "memory", "memory request", Severity::Other)],
    [("limits", "cpu", "CPU limit", Severity::Other), ("requests", "cpu", "CPU request", Severity::Other)],
];

/// How much of what it had a container must lose to be worth a word.
const SHARE: f64 = 0.5;

/// Containers that get half or less of what they had.
pub(super) fn down(old: Option<&Manifest>, new: &Manifest) -> Vec<Danger> {
    let mut found = Vec::new();
    for (name, container) in spec(new).into_iter().flat_map(containers) {
        let Some(before) = before(old, name) else { continue };
        for resources in RESOURCES {
            for (list, key, resource, severity) in resources {
                if let Some((from, to)) = fall(before, container, &["resources", list, key]) {
                    let what = What::ResourcesDown { container: name.to_owned(), resource, from, to };
                    found.push(Danger::new(severity, what));
                    break;
                }
            }
        }
    }
    found
}

/// What a container had of a resource, and what it gets, where that is half or less.
fn fall(old: &Value, new: &Value, path: &[&str]) -> Option<(String, String)> {
    let (from, to) = (old.at(path)?, new.at(path)?);
    (quantity(to)? <= quantity(from)? * SHARE).then(|| (written(from), written(to)))
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        value => format!("{value:?}"),
    }
}

/// What happens to a container that gets less of a resource than it uses.
///
/// Reference: kubernetes docs/concepts/configuration/manage-resources-containers.
pub(super) fn effect(resource: &str, to: &str) -> &'static str {
    match resource {
        "memory limit" if to.ends_with('m') => {
            "`m` is for thousandths of a byte, so no Pod of it starts; `Mi` is for mebibytes"
        }
        "memory request" if to.ends_with('m') => "`m` is for thousandths of a byte; `Mi` is for mebibytes",
        "memory limit" => "it is killed when it uses more",
        "memory request" => "its Pod is evicted earlier when a node runs out of memory",
        "CPU limit" => "it is slowed down when it uses more",
        _ => "it gets less of a busy node",
    }
}
