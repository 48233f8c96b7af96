//! How much of what a chart sets by default is another thing in another version.

use std::collections::BTreeSet;

use go_yaml::{Limits, Value, sigs};

/// How many values come, go or are others, between two texts of `values.yaml`; none when one of them cannot be read.
pub(super) fn differing(texts: [Option<&[u8]>; 2]) -> usize {
    let [old, new] = texts.map(|text| sigs::unmarshal(text.unwrap_or(b"{}"), &Limits::default()));
    match (old, new) {
        (Ok(old), Ok(new)) => between(&old, &new),
        _ => 0,
    }
}

fn between(old: &Value, new: &Value) -> usize {
    let (Value::Mapping(old), Value::Mapping(new)) = (old, new) else { return usize::from(old != new) };
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut count = 0;
    for key in keys {
        count += match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => between(old, new),
            (one, other) => one.or(other).map_or(0, leaves),
        };
    }
    count
}

/// How many values are below one.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Mapping(fields) if !fields.is_empty() => fields.values().map(leaves).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_counts_once() {
        let rows = [
            ("a: 1\n", "a: 1 # the same\n", 0),
            ("a: 1\n", "a: 2\n", 1),
            ("a: 1\n", "b: 1\n", 2),
            ("a: {b: 1, c: 2}\n", "a: {b: 1, c: 3}\n", 1),
            ("a: {b: 1, c: 2}\n", "{}\n", 2),
            ("a: [1, 2]\n", "a: [1, 3, 4]\n", 1),
            ("a: {}\n", "a: {b: {c: 1, d: 2}}\n", 2),
            ("a: 1\n", "a: {b: 1}\n", 1),
            ("a: 1\n", "a: [\n", 0),
            ("", "a: 1\n", 1),
        ];
        for (old, new, expected) in rows {
            assert_eq!(differing([Some(old.as_bytes()), Some(new.as_bytes())]), expected, "{old}{new}");
        }
        assert_eq!(differing([None, Some(b"a: 1\nb: 2\n")]), 2);
    }
}
