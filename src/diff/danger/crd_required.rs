//! Objects that a schema no longer takes as they are.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::crd::{DEPTH_MAX, schema};
use super::{Around, Danger, Severity, items};
use crate::diff::model::{Placed, word};
use crate::manifest::Manifest;

/// Objects beside a definition that lack what it asks for from now on, or have it of another type.
///
/// Reference: kubernetes docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions, "Validation ratcheting": what is not
/// valid in a part that a write does not change is let through from 1.30 on.
pub(super) fn refused<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if new.kind() != "CustomResourceDefinition" || old == new {
        return Vec::new();
    }
    let name = |key| word(new.object(), &["spec", key]);
    let kind = word(new.object(), &["spec", "names", "kind"]);
    let mut found = Vec::new();
    let is_it = |object: &&Manifest| object.home_group() == name("group") && object.kind() == kind;
    let mut reasons: BTreeSet<(String, String)> = BTreeSet::new();
    // Of one that changes as well, it is said itself what is refused.
    // A change that is refused is not in the model, and is among the siblings.
    let changes = |one: &Placed<'a>| {
        let mut siblings = around
            .siblings
            .iter()
            .filter(|other| (other.kind(), other.name()) == (one.manifest.kind(), one.manifest.name()));
        siblings.any(|other| other.object() != one.manifest.object())
    };
    let is_same = |one: &&Placed<'a>| {
        let was = around.model.before.find(**one);
        was.is_some_and(|was| was.manifest.object() == one.manifest.object()) && !changes(one)
    };
    for object in around.model.after.all().iter().filter(is_same).map(|one| one.manifest).filter(is_it) {
        let version = object.api_version().split('/').nth(1).unwrap_or_default();
        let (Some(before), Some(after)) = (schema(old, version), schema(new, version)) else { continue };
        let mut own = BTreeSet::new();
        judge((before, after), object.object(), ("", DEPTH_MAX), &mut own);
        reasons.extend(own.into_iter().map(|reason| (reason, format!("{kind} {}", object.name()))));
    }
    let all: BTreeSet<String> = reasons.iter().map(|(reason, _)| reason.clone()).collect();
    for reason in all {
        let names: BTreeSet<String> =
            reasons.iter().filter(|(of, _)| *of == reason).map(|(_, name)| name.clone()).collect();
        let text = format!("{reason} from now on: a change of {} that leaves it so is refused", listed(names, 4));
        let advice = "keep the field optional until each object has it";
        found.push(Danger::said(Severity::Other, "unwritable", text, advice));
    }
    found
}

/// What a new schema refuses of a value that the one of before took.
fn judge((old, new): (&Value, &Value), value: &Value, (path, depth): (&str, usize), found: &mut BTreeSet<String>) {
    if depth == 0 {
        return;
    }
    let place = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let required = |schema: &Value| -> BTreeSet<String> {
        items(schema, &["required"]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (was, now) = (word(old, &["type"]), word(new, &["type"]));
    let is_wider = was == "integer" && now == "number";
    if !was.is_empty() && !now.is_empty() && was != now && !is_wider {
        found.insert(format!("`{path}` has to be of the type {now}"));
        return;
    }
    match value {
        Value::Mapping(fields) => {
            for key in required(new).difference(&required(old)) {
                let has_default = new.at(&["properties", key, "default"]).is_some();
                if !fields.iter().any(|(name, _)| name == key) && !has_default {
                    found.insert(format!("`{}` is required", place(key)));
                }
            }
            for (key, field) in fields {
                if let (Some(old), Some(new)) = (old.at(&["properties", key]), new.at(&["properties", key])) {
                    judge((old, new), field, (&place(key), depth - 1), found);
                }
            }
        }
        Value::Sequence(all) => {
            if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
                all.iter().for_each(|item| judge((old, new), item, (&format!("{path}[]"), depth - 1), found));
            }
        }
        _ => {}
    }
}
