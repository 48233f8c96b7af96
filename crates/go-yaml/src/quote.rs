//! Values as Go source.

use go_std::strconv::{format_shortest, quote};

use super::Value;

/// A value as Go's `%#v` prints what go-yaml v3 has read; scalars are the same in v2.
pub(super) fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => format!("{value:#x}"),
        Value::Float(value) => format_shortest(*value),
        Value::String(text) => quote(text),
        Value::Sequence(items) => {
            let items: Vec<String> = items.iter().map(inner_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Mapping(mapping) => {
            let entries: Vec<String> =
                mapping.iter().map(|(key, value)| format!("{}:{}", quote(key), inner_syntax(value))).collect();
            format!("map[string]interface {{}}{{{}}}", entries.join(", "))
        }
    }
}

/// A value inside another, where a nil has its type.
pub(super) fn inner_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        value => go_syntax(value),
    }
}
