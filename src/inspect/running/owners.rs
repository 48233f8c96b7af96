//! Live Applications that would go with their ApplicationSet.
//!
//! Who deletes a set deletes the Applications that it owns, and by their finalizer what they run.

use go_yaml::Value;

use super::super::check::Judged;
use super::Running;
use crate::argo::{Application, By};

/// A live Application, and the set that owns it and is to go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub(crate) struct SetOwner {
    /// The Application.
    pub application: String,
    /// The set.
    pub set: String,
    /// Why the set is to go.
    pub why: String,
}

/// Those among what runs, by name.
pub(super) fn of_sets(running: &[Running], judged: &Judged) -> Vec<SetOwner> {
    let mut found: Vec<SetOwner> = running.iter().filter_map(|object| of_set(object, judged)).collect();
    found.sort();
    found.dedup();
    found
}

fn of_set(object: &Running, judged: &Judged) -> Option<SetOwner> {
    let manifest = &object.manifest;
    if (manifest.group(), manifest.kind()) != ("argoproj.io", "Application") {
        return None;
    }
    let owners = manifest.object().at(&["metadata", "ownerReferences"])?.as_sequence()?;
    let is_set = |owner: &&Value| owner.get("kind").and_then(Value::as_str) == Some("ApplicationSet");
    let set = owners.iter().find(is_set)?.get("name")?.as_str()?;
    // Only what is hydrated here is led elsewhere.
    let here = judged.discovered.applications.iter().find(|one| is_it(one, manifest.namespace(), manifest.name()))?;
    let why = if judged.policy.plain.expands(set) {
        format!("rule `expand` copies what the set makes in place of the set `{set}`")
    } else if !is_made_by(here, set) {
        format!("the set `{set}` does not make it in this repository")
    } else {
        return None;
    };
    Some(SetOwner { application: manifest.name().to_owned(), set: set.to_owned(), why })
}

fn is_it(application: &Application, namespace: &str, name: &str) -> bool {
    let is_there = application.namespace.as_ref().is_none_or(|own| namespace.is_empty() || own.as_str() == namespace);
    application.name.as_str() == name && is_there
}

fn is_made_by(application: &Application, set: &str) -> bool {
    let is_it = |by: &By| matches!(by, By::ApplicationSet { name, .. } if name == set);
    application.maker.as_ref().is_some_and(|maker| is_it(&maker.by) || maker.above.iter().any(is_it))
}
