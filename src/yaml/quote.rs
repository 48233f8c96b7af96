//! Strings and values as Go source.

use std::fmt::Write;

use super::number::format_float;
use super::{Dialect, Value};
use crate::go::unicode::is_print;

/// `text` between double quotes, escaped as Go's `strconv.Quote` and `%q` do.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            _ => push_escaped(&mut quoted, c),
        }
    }
    quoted.push('"');
    quoted
}

/// Appends `c` as it stands in Go source, without escaping quotes.
pub(super) fn push_escaped(text: &mut String, c: char) {
    match c {
        '\\' => text.push_str("\\\\"),
        '\x07' => text.push_str("\\a"),
        '\x08' => text.push_str("\\b"),
        '\x0C' => text.push_str("\\f"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\x0B' => text.push_str("\\v"),
        c if is_print(c) => text.push(c),
        // Writing to a string can't fail.
        c if c < '\u{80}' => drop(write!(text, "\\x{:02x}", u32::from(c))),
        c if c < '\u{10000}' => drop(write!(text, "\\u{:04x}", u32::from(c))),
        c => drop(write!(text, "\\U{:08x}", u32::from(c))),
    }
}

/// A value as Go's `%#v` prints what go-yaml has read.
pub(super) fn go_syntax(value: &Value, dialect: Dialect) -> String {
    let inner = |value: &Value| match value {
        Value::Null => "interface {}(nil)".to_owned(),
        value => go_syntax(value, dialect),
    };
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => format!("{value:#x}"),
        Value::Float(value) => format_float(*value),
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
