//! Secrets and ConfigMaps that custom resources name, by the words in which their kinds do.
//!
//! There are too many kinds for a table, and they are alike: `passwordSecretRef: {name: …}`, `secretName: …`, `valuesFrom: [{kind:
//! ConfigMap, name: …}]`. What is named so is a use only: that it is not there is not said.

use go_yaml::Value;

use super::super::thing::Thing;
use super::super::word;

/// How deep fields are looked at.
const DEPTH_MAX: usize = 16;

/// The things that a value names, in a namespace where it names no other.
pub(super) fn named(value: &Value, namespace: &str) -> Vec<Thing> {
    let mut found = Vec::new();
    collect("", value, (namespace, DEPTH_MAX), &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect(key: &str, value: &Value, (namespace, depth): (&str, usize), found: &mut Vec<Thing>) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Mapping(fields) => {
            let place = match word(value, &["namespace"]) {
                "" => namespace,
                place => place,
            };
            let kinds = kinds(key, value);
            let name = word(value, &["name"]);
            if !name.is_empty() && value.get("optional").and_then(Value::as_bool) != Some(true) {
                found.extend(kinds.iter().map(|kind| thing(kind, place, name)));
            }
            for (key, value) in fields {
                collect(key, value, (namespace, depth - 1), found);
            }
        }
        // Each item is what the list is called.
        Value::Sequence(items) => items.iter().for_each(|item| collect(key, item, (namespace, depth - 1), found)),
        Value::String(name) if !name.is_empty() => {
            found.extend(kind_of_name(key).map(|kind| thing(kind, namespace, name)));
        }
        _ => {}
    }
}

fn thing(kind: &'static str, namespace: &str, name: &str) -> Thing {
    Thing { kind, namespace: namespace.to_owned(), name: name.to_owned() }
}

/// What a mapping with a name may be: by its own `kind`, by the field that it is in, else by having a `key`.
fn kinds(key: &str, value: &Value) -> &'static [&'static str] {
    match word(value, &["kind"]) {
        "Secret" => return &["Secret"],
        "ConfigMap" => return &["ConfigMap"],
        "" => {}
        _ => return &[],
    }
    let lower = key.to_lowercase();
    let is_plain = value.as_mapping().is_some_and(|fields| fields.keys().all(|key| key == "name" || key == "key"));
    match () {
        () if lower.contains("store") => &[],
        () if lower.contains("configmap") => &["ConfigMap"],
        () if lower.contains("secret") => &["Secret"],
        () if is_plain && value.get("key").is_some() => &["Secret", "ConfigMap"],
        () => &[],
    }
}

/// What a text is the name of.
fn kind_of_name(key: &str) -> Option<&'static str> {
    let lower = key.to_lowercase();
    match () {
        () if lower.ends_with("secretname") || lower.ends_with("secret") => Some("Secret"),
        () if lower.ends_with("configmapname") || lower == "existingconfigmap" => Some("ConfigMap"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use go_yaml::{Limits, sigs};

    use super::*;

    #[test]
    fn secrets_are_named_in_the_words_that_kinds_share() {
        let rows = [
            ("{acme: {solvers: [{dns01: {cloudflare: {apiTokenSecretRef: {name: a, key: b}}}}]}}", "Secret a"),
            ("{backup: {s3Credentials: {accessKeyId: {name: a, key: b}}}}", "ConfigMap a, Secret a"),
            ("{bootstrap: {initdb: {secret: {name: a}}}}", "Secret a"),
            ("{secretTargetRef: [{parameter: x, name: a, key: b}]}", "Secret a"),
            ("{valuesFrom: [{kind: ConfigMap, name: a}, {kind: Secret, name: b, optional: true}]}", "ConfigMap a"),
            ("{basicAuth: {secret: a}, tls: {secretName: b}}", "Secret a, Secret b"),
            ("{secretStoreRef: {name: a, kind: SecretStore}, storeSecret: {name: a}}", ""),
            ("{data: [{secretKey: a, remoteRef: {key: b}}], target: {name: c}}", ""),
        ];
        for (text, expected) in rows {
            let value = sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML");
            let found: Vec<String> = named(&value, "").iter().map(ToString::to_string).collect();
            assert_eq!(found.join(", "), expected, "{text}");
        }
    }
}
