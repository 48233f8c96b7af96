//! What a change of values says of the objects of a chart.
//!
//! A value that says something else switches objects on and off. A key that only got a name or a place where nothing reads it, and
//! still has its value, does not.

use std::collections::BTreeSet;

use crate::argo::near;
use go_yaml::{self as yaml, Value};

/// How deep mappings are compared.
const DEPTH_MAX: usize = 32;

/// The mapping that a file of values has; none where it is none.
pub(super) fn read(text: &str) -> Option<Value> {
    let documents = yaml::decode(text.as_bytes(), yaml::Dialect::V2, &yaml::Limits::default()).ok()?;
    documents.into_iter().next().filter(|values| values.as_mapping().is_some())
}

/// Whether a text of a chart asks for a value now for which it did not ask before, and that came with it: `values` are files as they
/// were and as they are.
pub(super) fn are_asked_anew(old: &str, new: &str, values: &[(Option<Value>, Value)]) -> bool {
    let asked = paths(old);
    let defines = |value: &Value, path: &[&str]| value.at(path).is_some();
    paths(new).iter().filter(|path| !asked.contains(*path)).any(|path| {
        values.iter().any(|(_, now)| defines(now, path))
            && !values.iter().any(|(before, _)| before.as_ref().is_some_and(|before| defines(before, path)))
    })
}

/// The values that a text names: `.Values.a.b`
fn paths(text: &str) -> BTreeSet<Vec<&str>> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for (at, start) in text.match_indices(".Values.") {
        let rest = &text[at + start.len()..];
        let end = rest.find(|c: char| !is_of_name(c) && c != '.').unwrap_or(rest.len());
        let keys: Vec<&str> = rest[..end].split('.').filter(|key| !key.is_empty()).collect();
        if !keys.is_empty() {
            found.insert(keys);
        }
    }
    found
}

/// A key that is not where it was, although the text still has it.
#[derive(Debug, PartialEq)]
pub(super) struct Astray {
    /// The key as it was.
    pub key: String,
    /// The key as it is, if that is nearly the former one.
    pub now: Option<String>,
}

/// The first key whose value went elsewhere, or that has nearly the former name.
pub(super) fn astray((old_text, old): (&str, &Value), (new_text, new): (&str, Option<&Value>)) -> Option<Astray> {
    find((old_text, old), (new_text, new), 0)
}

fn find((old_text, old): (&str, &Value), (new_text, new): (&str, Option<&Value>), depth: usize) -> Option<Astray> {
    let before = old.as_mapping().filter(|_| depth < DEPTH_MAX)?;
    for (key, value) in before.iter() {
        match new.and_then(|new| new.get(key)) {
            Some(there) => {
                if let Some(found) = find((old_text, value), (new_text, Some(there)), depth + 1) {
                    return Some(found);
                }
            }
            None => {
                let others = new.and_then(Value::as_mapping).into_iter().flat_map(|new| new.iter());
                let mut others = others.filter(|(other, _)| !before.contains_key(*other));
                let renamed = others.find(|(other, there)| *there == value && near(other, &[key]).is_some());
                if let Some((other, _)) = renamed {
                    return Some(Astray { key: key.to_owned(), now: Some(other.to_owned()) });
                }
                if is_still_written(key, value, old_text, new_text) {
                    return Some(Astray { key: key.to_owned(), now: None });
                }
                if let Some(found) = find((old_text, value), (new_text, None), depth + 1) {
                    return Some(found);
                }
            }
        }
    }
    None
}

/// Whether a text says as often as before what one line of it says: a key with a value that is a scalar.
fn is_still_written(key: &str, value: &Value, old: &str, new: &str) -> bool {
    if matches!(value, Value::Mapping(_) | Value::Sequence(_) | Value::Null) {
        return false;
    }
    let said = |line: &str| {
        let line = line.trim().trim_start_matches("- ");
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| said(line)).map(|line| line.trim().trim_start_matches("- ").to_owned()).collect()
    };
    let (before, now) = (lines(old), lines(new));
    !before.is_empty()
        && before.iter().all(|line| {
            let count = |lines: &[String]| lines.iter().filter(|other| *other == line).count();
            count(&now) >= count(&before)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_keys_are_elsewhere() {
        let old = "enabled: true\nlist: [1]\ndb:\n  host: a\n  on: yes please\n";
        let rows = [
            ("nothing differs", old, None),
            ("another value", "enabled: false\nlist: [1]\ndb:\n  host: a\n  on: yes please\n", None),
            ("a key is gone", "list: [1]\ndb:\n  host: a\n  on: yes please\n", None),
            ("nearly the name", "enabledd: true\nlist: [1]\n", Some(("enabled", Some("enabledd")))),
            ("nearly the name, and another value", "enabledd: false\nlist: [1]\n", None),
            ("deeper", "global:\n  enabled: true\nlist: [1]\n", Some(("enabled", None))),
            ("in a list", "list:\n- 1\n- enabled: true\n", Some(("enabled", None))),
            ("in another document", "list: [1]\n---\nenabled: true\n", Some(("enabled", None))),
            ("in a text", "list: [1]\nx: |\n  y\n  enabled: true\n", Some(("enabled", None))),
            ("a comment", "list: [1]\n# enabled: true\n", None),
            ("nested", "enabled: true\ndb:\n  hots: a\n", Some(("host", Some("hots")))),
        ];
        let before = read(old).expect("a mapping");
        for (name, new, expected) in rows {
            let found = astray((old, &before), (new, read(new).as_ref()));
            let expected = expected.map(|(key, now)| Astray { key: key.to_owned(), now: now.map(str::to_owned) });
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn which_values_came_with_what_asks_for_them() {
        let values = |old: &str, new: &str| [(read(old), read(new).expect("a mapping"))];
        let rows = [
            ("one that came", "", "{{ if .Values.db.up }}", values("a: b\n", "a: b\ndb: {up: false}\n"), true),
            ("one that was there", "", "{{ if .Values.a }}", values("a: b\n", "a: b\n"), false),
            ("one that is not there", "", "{{ if .Values.db.no }}", values("a: b\n", "db: {up: false}\n"), false),
            (
                "asked before",
                "{{ .Values.db.up }}",
                "{{ if .Values.db.up }}",
                values("a: b\n", "db: {up: false}\n"),
                false,
            ),
        ];
        for (name, old, new, values, expected) in rows {
            assert_eq!(are_asked_anew(old, new, &values), expected, "{name}");
        }
    }
}
