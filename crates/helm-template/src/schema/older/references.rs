//! References made absolute, and the places of what they can mean.

use std::collections::BTreeMap;

use go_yaml::Value;

use super::super::report::push_pointer;

/// Replaces each `$ref` by what it is under the `$id` around it. Gives the JSON pointers of all schemas that have an `$id`, by
/// their URLs; that of the document itself is empty.
///
/// Reference: gojsonschema 1.2.0 schemaPool.go `parseReferencesRecursive`.
pub(super) fn resolve(document: &mut Value) -> BTreeMap<String, String> {
    let mut places = BTreeMap::from([(String::new(), String::new())]);
    below(document, "", "", &mut places);
    places
}

fn below(value: &mut Value, base: &str, pointer: &str, places: &mut BTreeMap<String, String>) {
    let entries = match value {
        Value::Sequence(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                below(item, base, &longer(pointer, &index.to_string()), places);
            }
            return;
        }
        Value::Mapping(entries) => entries,
        _ => return,
    };
    let id = if entries.contains_key("id") { "id" } else { "$id" };
    let mut base = base.to_owned();
    if let Some(Value::String(id)) = entries.get(id) {
        base = under(&base, id);
        places.entry(base.clone()).or_insert_with(|| pointer.to_owned());
    }
    if let Some(Value::String(reference)) = entries.get_mut("$ref") {
        *reference = under(&base, reference);
    }
    for (key, value) in entries.iter_mut() {
        let pointer = longer(pointer, key);
        match (key.as_str(), value) {
            ("const" | "enum", _) => {}
            // The keys of these are names of properties.
            ("properties" | "dependencies" | "patternProperties", Value::Mapping(schemas)) => {
                for (name, schema) in schemas.iter_mut() {
                    below(schema, &base, &longer(&pointer, name), places);
                }
            }
            (_, value) => below(value, &base, &pointer, places),
        }
    }
}

/// A reference under a base, whose fragment counts for nothing. An empty fragment is none.
fn under(base: &str, reference: &str) -> String {
    let base = base.split('#').next().unwrap_or(base);
    let absolute = match reference {
        fragment if fragment.starts_with('#') => format!("{base}{fragment}"),
        reference if base.is_empty() => reference.to_owned(),
        reference => super::super::url::join(base, reference).unwrap_or_else(|_| reference.to_owned()),
    };
    absolute.strip_suffix('#').map_or(absolute.clone(), str::to_owned)
}

fn longer(pointer: &str, token: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_pointer(&mut pointer, token);
    pointer
}
