//! Fields of an object, where a null is a field that is not set.

use go_yaml::{Mapping, Value};

pub(crate) fn get<'v>(object: &'v Mapping, key: &str) -> Option<&'v Value> {
    object.get(key).filter(|value| !value.is_null())
}

pub(crate) fn has(object: &Mapping, key: &str) -> bool {
    get(object, key).is_some()
}

pub(crate) fn text<'v>(object: &'v Mapping, key: &str) -> &'v str {
    get(object, key).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn int(object: &Mapping, key: &str) -> Option<i64> {
    get(object, key).and_then(whole)
}

/// An integer, or a float that is one.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        #[expect(clippy::cast_possible_truncation, reason = "it is a whole number of fewer bits")]
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(*number as i64),
        _ => None,
    }
}

pub(crate) fn is_true(object: &Mapping, key: &str) -> bool {
    get(object, key).and_then(Value::as_bool) == Some(true)
}

pub(crate) fn map<'v>(object: &'v Mapping, key: &str) -> Option<&'v Mapping> {
    get(object, key).and_then(Value::as_mapping)
}

pub(crate) fn list<'v>(object: &'v Mapping, key: &str) -> &'v [Value] {
    get(object, key).and_then(Value::as_sequence).unwrap_or_default()
}

/// The mappings of a list, each with its index.
pub(crate) fn items<'v>(object: &'v Mapping, key: &str) -> impl Iterator<Item = (usize, &'v Mapping)> {
    list(object, key).iter().enumerate().filter_map(|(index, item)| Some((index, item.as_mapping()?)))
}

/// The mapping that is reached through `keys`.
pub(crate) fn at<'v>(object: &'v Mapping, keys: &[&str]) -> Option<&'v Mapping> {
    keys.iter().try_fold(object, |object, key| map(object, key))
}

/// Which of `keys` are set.
pub(crate) fn set<'k>(object: &Mapping, keys: &[&'k str]) -> Vec<&'k str> {
    keys.iter().copied().filter(|key| has(object, key)).collect()
}
