//! Values between their two forms: data, and what templates work on.

use go_template::{List, Map, Value as GoValue};
use go_yaml::{Mapping, Value};

/// Values as templates have them, in maps of their own.
pub(super) fn map_to_template(values: &Mapping) -> Map {
    values.iter().map(|(key, value)| (key.into(), to_template(value))).collect()
}

/// One value as templates have it.
pub(super) fn to_template(value: &Value) -> GoValue {
    match value {
        Value::Null => GoValue::Nil,
        Value::Bool(value) => (*value).into(),
        Value::Int(number) => GoValue::int64(*number),
        Value::Uint(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::String(text) => text.as_str().into(),
        Value::Sequence(items) => items.iter().map(to_template).collect::<List>().into(),
        Value::Mapping(entries) => map_to_template(entries).into(),
    }
}

/// Values of templates as data: what a schema looks at. What JSON lacks is null.
pub(super) fn from_template(value: &GoValue) -> Value {
    match value {
        GoValue::Bool(value) => Value::Bool(*value),
        GoValue::Int(_, number) => Value::Int(*number),
        GoValue::Uint(_, number) => Value::Uint(*number),
        GoValue::Float(number) => Value::Float(*number),
        GoValue::String(text) => Value::String(text.to_str().into_owned()),
        GoValue::List(list) => Value::Sequence(list.iter().map(from_template).collect()),
        GoValue::Map(map) => {
            let entries = map.entries();
            Value::Mapping(
                entries.iter().map(|(key, value)| (key.to_str().into_owned(), from_template(value))).collect(),
            )
        }
        GoValue::Nil | GoValue::Bytes(_) | GoValue::Time(_) | GoValue::Struct(_) => Value::Null,
    }
}

/// A copy that shares nothing.
pub(super) fn copy(map: &Map) -> Map {
    map.entries().iter().map(|(key, value)| (key.clone(), copy_value(value))).collect()
}

fn copy_value(value: &GoValue) -> GoValue {
    match value {
        GoValue::Map(map) => GoValue::Map(copy(map)),
        GoValue::List(list) => {
            GoValue::List(List::with_capacity(list.ty(), list.iter().map(copy_value).collect(), list.capacity()))
        }
        scalar => scalar.clone(),
    }
}
