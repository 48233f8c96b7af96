//! When values are equal to a schema: numbers by value, objects whatever their order.

use super::super::decimal;
use super::scalar::kind;
use crate::yaml::Value;

pub(super) fn equals(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Mapping(one), Value::Mapping(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|((a, x), (b, y))| a == b && equals(x, y))
        }
        (Value::Sequence(one), Value::Sequence(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(x, y)| equals(x, y))
        }
        (one, two) => match (decimal(one), decimal(two)) {
            (Some(one), Some(two)) => one == two,
            _ => one == two,
        },
    }
}

/// The first item that equals an earlier one, with that one before it.
pub(super) fn duplicates(items: &[Value]) -> Option<(usize, usize)> {
    let mut by_hash: std::collections::BTreeMap<u64, Vec<usize>> = std::collections::BTreeMap::new();
    for (item, index) in items.iter().zip(0usize..) {
        let same = by_hash.entry(hash(item)).or_default();
        if let Some(first) = same.iter().find(|first| items.get(**first).is_some_and(|other| equals(other, item))) {
            return Some((*first, index));
        }
        same.push(index);
    }
    None
}

/// Equal for equal values.
pub(super) fn hash(value: &Value) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    fn write(value: &Value, hasher: &mut DefaultHasher) {
        kind(value).hash(hasher);
        match value {
            Value::Null => {}
            Value::Bool(value) => value.hash(hasher),
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => decimal(value).hash(hasher),
            Value::String(text) => text.hash(hasher),
            Value::Sequence(items) => items.iter().for_each(|item| write(item, hasher)),
            Value::Mapping(entries) => entries.iter().for_each(|(key, value)| {
                key.hash(hasher);
                write(value, hasher);
            }),
        }
    }
    let mut hasher = DefaultHasher::new();
    write(value, &mut hasher);
    hasher.finish()
}
