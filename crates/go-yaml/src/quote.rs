//! Values as Go source.

use go_std::strconv::{format_shortest, quote};

use super::{Dialect, Value};

/// A value as Go's `%#v` prints what go-yaml has read.
pub(super) fn go_syntax(value: &Value, dialect: Dialect) -> String {
    let inner = |value: &Value| inner_syntax(value, dialect);
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => format!("{value:#x}"),
        Value::Float(value) => format_shortest(*value),
        Value::String(text) => quote(text),
        Value::Sequence(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Mapping(mapping) => {
            let entries: Vec<String> =
                mapping.iter().map(|(key, value)| format!("{}:{}", quote(key), inner(value))).collect();
            let key = match dialect {
                Dialect::V2 => "interface {}",
                Dialect::V3 => "string",
            };
            format!("map[{key}]interface {{}}{{{}}}", entries.join(", "))
        }
    }
}

/// A value inside another, where a nil has its type.
fn inner_syntax(value: &Value, dialect: Dialect) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        value => go_syntax(value, dialect),
    }
}
