//! Secrets that a controller of secrets makes no more, or lets more namespaces have.

use go_yaml::{Mapping, Value};

use super::{Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// An ExternalSecret that no longer makes its Secret, or no longer fetches it anew.
///
/// Reference: external-secrets.io guides/ownership-deletion-policy, `creationPolicy: None`; api/externalsecret, `refreshPolicy`,
/// `refreshInterval: 0`.
pub(super) fn unmade(old: &Manifest, new: &Manifest) -> Option<Danger> {
    if (new.home_group(), new.kind()) != ("external-secrets.io", "ExternalSecret") {
        return None;
    }
    let is_made = |object: &Manifest| word(object.object(), &["spec", "target", "creationPolicy"]) != "None";
    let is_refreshed = |object: &Manifest| {
        let interval = match object.object().at(&["spec", "refreshInterval"]) {
            Some(Value::Int(number)) => number.to_string(),
            value => value.and_then(Value::as_str).unwrap_or("1h").to_owned(),
        };
        let is_none = interval.chars().all(|c| c == '0' || c.is_ascii_alphabetic()) && interval.contains('0');
        match word(object.object(), &["spec", "refreshPolicy"]) {
            "CreatedOnce" | "OnChange" => false,
            _ => !is_none,
        }
    };
    let is_deleted = |object: &Manifest| word(object.object(), &["spec", "target", "deletionPolicy"]) == "Delete";
    if is_deleted(new) && !is_deleted(old) {
        let text =
            "`deletionPolicy: Delete`: its Secret goes once the provider has none of its values, also for a while";
        let advice = "keep `Retain`, which leaves the Secret as it was";
        return Some(Danger::said(Severity::Other, "unmade", text.to_owned(), advice));
    }
    let text = match () {
        () if is_made(old) && !is_made(new) => {
            "`creationPolicy: None`: nothing makes its Secret, or keeps it up to date, any more"
        }
        () if is_refreshed(old) && !is_refreshed(new) => {
            "its values are not fetched anew any more: one that changes does not come"
        }
        () => return None,
    };
    let advice = "check that something else keeps the Secret up to date";
    Some(Danger::said(Severity::Other, "unmade", text.to_owned(), advice))
}

/// A store that every namespace may read by from now on.
///
/// Reference: external-secrets.io api/clustersecretstore, `conditions`: without any, all namespaces may use it.
pub(super) fn opened(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_store = new.home_group() == "external-secrets.io" && new.kind() == "ClusterSecretStore";
    let is_empty = |value: &Value| value.as_mapping().is_some_and(|fields| fields.values().all(is_nothing));
    let is_open = |store: &Manifest| {
        let conditions = items(store.object(), &["spec", "conditions"]);
        let is_all = |one: &Value| {
            let patterns = items(one, &["namespaceRegexes"]).iter().filter_map(Value::as_str);
            let are_all = patterns.into_iter().any(|text| matches!(text, ".*" | "^.*$" | ".+" | "^.+$"));
            are_all || one.get("namespaceSelector").is_some_and(is_empty)
        };
        conditions.is_empty() || conditions.iter().any(is_all)
    };
    (is_store && is_open(new) && !is_open(old)).then(|| {
        let text =
            "`conditions` let every namespace read by it: those who may make an ExternalSecret there have what it may read"
                .to_owned();
        Danger::said(Severity::Security, "unguarded", text, "keep the namespaces that may use it")
    })
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Mapping(fields) => Mapping::is_empty(fields),
        Value::Sequence(items) => items.is_empty(),
        value => value.is_null(),
    }
}
