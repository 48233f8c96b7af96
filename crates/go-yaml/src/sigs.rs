//! YAML as sigs.k8s.io/yaml reads and writes it: by way of JSON.
//!
//! Helm's `fromYaml` and `toYaml`, values files, Argo CD's sources and the output of `kustomize build` go this way.

use std::borrow::Cow;

use super::error::Error;
use super::input::is_forbidden;
use super::value::Value;
use super::{Dialect, Limits, compose, emit_v2, json};

/// Reads the first document of `text`, and nothing of those behind it. A text without any is `null`.
///
/// # Errors
///
/// As [`super::decode`], with the words that sigs.k8s.io/yaml puts before: `error converting YAML to JSON: yaml: …`.
///
/// Reference: sigs.k8s.io/yaml v1.6.0 `Unmarshal` into an interface. Numbers stay integers here where they are.
pub fn unmarshal(text: &[u8], limits: &Limits) -> Result<Value, Error> {
    yaml_to_json(text, limits).map_err(|error| error.within("error converting YAML to JSON"))
}

/// As [`unmarshal`], the errors without words before them.
///
/// Reference: sigs.k8s.io/yaml v1.6.0 `YAMLToJSON`.
pub fn yaml_to_json(text: &[u8], limits: &Limits) -> Result<Value, Error> {
    match compose::compose(text, Dialect::V2, limits, 1)?.pop() {
        Some(node) => node.to_value(Dialect::V2, limits),
        None => Ok(Value::Null),
    }
}

/// Writes `value` as JSON, reads that as YAML, and writes what was read, with a line break at the end.
///
/// So `1e6` is written `1000000`, and U+0085 in a string becomes a blank or a line break.
///
/// # Errors
///
/// A string has a character that YAML does not allow and JSON does not escape, such as U+007F; a float is not a number.
///
/// Reference: sigs.k8s.io/yaml v1.6.0 `Marshal`.
pub fn marshal(value: &Value) -> Result<String, Error> {
    Ok(match through_json(value)? {
        Cow::Borrowed(value) => emit_v2(value),
        Cow::Owned(value) => emit_v2(&value),
    })
}

/// What [`unmarshal`] reads of what [`marshal`] writes of `value`, borrowed where that is the value itself.
///
/// # Errors
///
/// Those of [`marshal`].
pub fn reread(value: &Value) -> Result<Cow<'_, Value>, Error> {
    if !has(value, &has_unusual_text) {
        return Ok(Cow::Borrowed(value));
    }
    let text = marshal(value)?;
    unmarshal(text.as_bytes(), &Limits { bytes: text.len(), ..Limits::default() }).map(Cow::Owned)
}

/// Whether a value, apart from those inside it, has text that may not come back as it was written.
///
/// Lines of printable ASCII do: a test of `tests/meaning.rs`.
fn has_unusual_text(value: &Value) -> bool {
    let is_unusual = |text: &str| text.bytes().any(|byte| !matches!(byte, b' '..=b'~' | b'\n'));
    match value {
        Value::String(text) => is_unusual(text),
        Value::Mapping(mapping) => mapping.keys().any(|key| is_unusual(key)),
        _ => false,
    }
}

/// What is read of `value` once it has been written as JSON.
fn through_json(value: &Value) -> Result<Cow<'_, Value>, Error> {
    if has(value, &|value| matches!(value, Value::Float(number) if !number.is_finite())) {
        return Err(Error::bare("json: unsupported value: a float that is no number", None));
    }
    if has(value, &changes_in_json) {
        let text = json::encode(value, json::Options { escape_html: true, indent: None });
        return yaml_to_json(text.as_bytes(), &Limits { bytes: text.len(), ..Limits::default() }).map(Cow::Owned);
    }
    Ok(if has(value, &|value| matches!(value, Value::Float(_))) {
        Cow::Owned(with_integers(value))
    } else {
        Cow::Borrowed(value)
    })
}

/// Whether a part of `value`, or `value` itself, is so.
fn has(value: &Value, is_so: &impl Fn(&Value) -> bool) -> bool {
    is_so(value)
        || match value {
            Value::Sequence(items) => items.iter().any(|item| has(item, is_so)),
            Value::Mapping(mapping) => mapping.values().any(|value| has(value, is_so)),
            _ => false,
        }
}

/// Whether a value, apart from those inside it, may be something else, or nothing, as YAML once it is JSON.
fn changes_in_json(value: &Value) -> bool {
    match value {
        Value::String(text) => reads_differently(text),
        Value::Mapping(mapping) => mapping.keys().any(|key| is_long(key) || reads_differently(key)),
        _ => false,
    }
}

/// Whether a string in JSON may be something else, or nothing, as YAML.
fn reads_differently(text: &str) -> bool {
    text.chars().any(|c| c == '\u{85}' || (c >= '\u{7F}' && is_forbidden(c)))
}

/// Whether a key may be too long to be one, once it is escaped.
fn is_long(key: &str) -> bool {
    const ESCAPE: usize = r"\u0000".len();
    key.len() * ESCAPE > 1000
}

/// The floats that JSON writes without a point are integers when they are read.
fn with_integers(value: &Value) -> Value {
    match value {
        Value::Float(number) => integer(*number).unwrap_or(Value::Float(*number)),
        Value::Sequence(items) => Value::Sequence(items.iter().map(with_integers).collect()),
        Value::Mapping(mapping) => {
            Value::Mapping(mapping.iter().map(|(key, value)| (key.clone(), with_integers(value))).collect())
        }
        value => value.clone(),
    }
}

fn integer(number: f64) -> Option<Value> {
    if number.fract() != 0.0 {
        return None;
    }
    let text = go_std::json::format_number(number)?;
    // `-0` is 0.
    text.parse().map(Value::Int).ok().or_else(|| text.parse().map(Value::Uint).ok())
}
