//! Versions and fields of custom resources.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::{Around, Danger, Severity, What, items};
use crate::diff::model::word;
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

/// Objects of several versions that nothing converts any more.
///
/// Reference: kubernetes docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning, `conversion`: without it, or
/// with `None`, only `apiVersion` changes.
pub(super) fn unconverted(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = old.kind() == "CustomResourceDefinition";
    let is_by_webhook = |one: &Manifest| word(one.object(), &["spec", "conversion", "strategy"]) == "Webhook";
    let served = versions(new).filter(|(_, is_served, _)| *is_served).count();
    (is_it && is_by_webhook(old) && !is_by_webhook(new) && served > 1).then(|| {
        let text =
            "nothing converts objects between versions any more: they are read with the fields of another version";
        let advice = "keep the webhook while more than one version is served";
        Danger::said(Severity::Outage, "unconverted", text.to_owned(), advice)
    })
}

/// How deep fields of a schema are looked at.
pub(super) const DEPTH_MAX: usize = 12;

/// The schema that a definition has for a version.
pub(super) fn schema<'d>(definition: &'d Manifest, version: &str) -> Option<&'d Value> {
    let mut versions = items(definition.object(), &["spec", "versions"]).iter();
    versions.find(|one| word(one, &["name"]) == version)?.at(&["schema", "openAPIV3Schema"])
}

/// Fields that a schema no longer has, and that objects beside it have.
///
/// Reference: kubernetes docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions, "Field pruning".
pub(super) fn fields_gone<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if old.kind() != "CustomResourceDefinition" || old == new {
        return Vec::new();
    }
    let name = |key| word(new.object(), &["spec", key]);
    let kind = word(new.object(), &["spec", "names", "kind"]);
    let is_it = |object: &&Manifest| object.home_group() == name("group") && object.kind() == kind;
    let mut found = Vec::new();
    for (version, ..) in versions(new) {
        let (Some(before), Some(after)) = (schema(old, version), schema(new, version)) else { continue };
        let objects = around.model.after.all().iter().map(|one| one.manifest).filter(is_it);
        let objects: Vec<&Manifest> =
            objects.filter(|one| one.api_version().split('/').nth(1) == Some(version)).collect();
        let mut gone = Vec::new();
        collect_gone((before, after), &mut Vec::new(), &mut gone);
        for path in gone.iter().filter(|_| !objects.is_empty()) {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            let having = objects.iter().filter(|object| object.object().at(&keys).is_some());
            let names: BTreeSet<String> = having.map(|object| format!("{kind} {}", object.name())).collect();
            if !names.is_empty() {
                let have = if names.len() == 1 { "has" } else { "have" };
                let (field, names) = (keys.join("."), listed(names, NAMED_MAX));
                let text =
                    format!("`{field}` is no longer in its schema: the API server drops it, and {names} {have} it");
                let advice = "check that nothing needs the field, and take it from the objects first";
                found.push(Danger::said(Severity::Other, "fieldGone", text, advice));
            }
        }
    }
    found
}

/// How many objects are named.
const NAMED_MAX: usize = 4;

/// The fields of mappings that only the first of two schemas has. What keeps fields that it does not know loses none.
fn collect_gone((old, new): (&Value, &Value), path: &mut Vec<String>, gone: &mut Vec<Vec<String>>) {
    let keeps = |schema: &Value| {
        schema.get("x-kubernetes-preserve-unknown-fields").and_then(Value::as_bool) == Some(true)
            || schema.get("additionalProperties").is_some()
    };
    if path.len() > DEPTH_MAX || old == new || keeps(new) {
        return;
    }
    let [before, after] = [old, new].map(|schema| schema.get("properties").and_then(Value::as_mapping));
    for (key, was) in before.into_iter().flatten() {
        path.push(key.clone());
        match after.and_then(|after| after.get(key)) {
            Some(now) => collect_gone((was, now), path, gone),
            None => gone.push(path.clone()),
        }
        path.pop();
    }
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
