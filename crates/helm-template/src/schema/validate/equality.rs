//! When values are equal to a schema: numbers by value, objects whatever their order.

use go_yaml::Value;

use super::super::decimal;
use super::{Run, width};

/// Never once the limits are reached.
pub(super) fn equals(one: &Value, two: &Value, run: &Run<'_>) -> bool {
    run.look_at(one);
    if run.is_exhausted() {
        return false;
    }
    match (one, two) {
        (Value::Mapping(one), Value::Mapping(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|((a, x), (b, y))| a == b && equals(x, y, run))
        }
        (Value::Sequence(one), Value::Sequence(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(x, y)| equals(x, y, run))
        }
        (Value::String(_), Value::String(_)) if width(one) != width(two) => false,
        (one, two) => match (decimal(one), decimal(two)) {
            (Some(one), Some(two)) => one == two,
            _ => one == two,
        },
    }
}

/// The first item that equals an earlier one, with that one before it.
pub(super) fn duplicates(items: &[Value], run: &Run<'_>) -> Option<(usize, usize)> {
    let mut by_hash: std::collections::BTreeMap<u64, Vec<usize>> = std::collections::BTreeMap::new();
    for (item, index) in items.iter().zip(0usize..) {
        let same = by_hash.entry(hash(item, run)).or_default();
        if run.is_exhausted() {
            return None;
        }
        let is_same = |first: &&usize| items.get(**first).is_some_and(|other| equals(other, item, run));
        if let Some(first) = same.iter().find(is_same) {
            return Some((*first, index));
        }
        same.push(index);
    }
    None
}

/// Equal for equal values.
fn hash(value: &Value, run: &Run<'_>) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    fn write(value: &Value, hasher: &mut DefaultHasher, run: &Run<'_>) {
        run.look_at(value);
        kind(value).hash(hasher);
        match value {
            Value::Null => {}
            Value::Bool(value) => value.hash(hasher),
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => decimal(value).hash(hasher),
            Value::String(text) => text.hash(hasher),
            Value::Sequence(items) => items.iter().for_each(|item| write(item, hasher, run)),
            Value::Mapping(entries) => entries.iter().for_each(|(key, value)| {
                key.hash(hasher);
                write(value, hasher, run);
            }),
        }
    }
    let mut hasher = DefaultHasher::new();
    write(value, &mut hasher, run);
    hasher.finish()
}

/// The type of a value, as messages name it.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Sequence(_) => "array",
        Value::Mapping(_) => "object",
    }
}
