//! The values of Secrets: that they changed may be shown, what they are may not.

use go_yaml::Value;

use super::value::{Difference, Leaf};

/// Puts the same text in place of each value of `data` and `stringData`: not even its length is shown.
pub(super) fn hide(difference: &mut Difference) {
    match difference {
        Difference::Leaf(leaf) => each(leaf, hide_in_object),
        Difference::Mapping(entries) => {
            let data = entries.iter_mut().filter(|(key, _)| is_data(key));
            data.for_each(|(_, difference)| hide_below(difference));
        }
        Difference::Sequence(_) => {}
    }
}

fn hide_below(difference: &mut Difference) {
    match difference {
        Difference::Leaf(leaf) => each(leaf, hide_value),
        Difference::Mapping(entries) => entries.iter_mut().for_each(|(_, difference)| hide_below(difference)),
        Difference::Sequence(items) => {
            items.iter_mut().filter_map(|item| item.difference.as_mut()).for_each(hide_below);
        }
    }
}

fn each(leaf: &mut Leaf, hide: fn(&mut Value)) {
    [&mut leaf.old, &mut leaf.new].into_iter().flatten().for_each(hide);
}

fn hide_in_object(object: &mut Value) {
    if let Value::Mapping(object) = object {
        object.iter_mut().filter(|(key, _)| is_data(key)).for_each(|(_, value)| hide_value(value));
    }
}

fn hide_value(value: &mut Value) {
    match value {
        Value::Mapping(mapping) => mapping.values_mut().for_each(hide_value),
        Value::Sequence(items) => items.iter_mut().for_each(hide_value),
        Value::Null => {}
        Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => {
            *value = Value::from("<hidden>");
        }
    }
}

fn is_data(key: &str) -> bool {
    matches!(key, "data" | "stringData")
}
