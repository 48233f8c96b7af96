//! YAML as sigs.k8s.io/yaml reads and writes it: by way of JSON.
//!
//! Helm's `fromYaml` and `toYaml`, values files, Argo CD's sources and the output of `kustomize build` go this way.

use std::borrow::Cow;

use super::error::Error;
use super::input::is_forbidden;
use super::number::format_json_float;
use super::value::{Mapping, Value};
use super::{Dialect, Limits, compose, emit_v2};

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
/// A string has a character that YAML does not allow and JSON does not escape, such as U+007F; a float is no number.
///
/// Reference: sigs.k8s.io/yaml v1.6.0 `Marshal`.
pub fn marshal(value: &Value) -> Result<String, Error> {
    Ok(match through_json(value)? {
        Cow::Borrowed(value) => emit_v2(value),
        Cow::Owned(value) => emit_v2(&value),
    })
}

/// What is read of `value` once it has been written as JSON.
fn through_json(value: &Value) -> Result<Cow<'_, Value>, Error> {
    if !changes(value) {
        return Ok(Cow::Borrowed(value));
    }
    Ok(Cow::Owned(match value {
        Value::Float(number) => float(*number)?,
        Value::String(text) => Value::String(string(text)?.into_owned()),
        Value::Sequence(items) => {
            let items = items.iter().map(|item| through_json(item).map(Cow::into_owned));
            Value::Sequence(items.collect::<Result<_, _>>()?)
        }
        Value::Mapping(mapping) => {
            let mut changed = Mapping::new();
            for (key, value) in mapping {
                changed.insert(string(key)?.into_owned(), through_json(value)?.into_owned());
            }
            Value::Mapping(changed)
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => value.clone(),
    }))
}

fn changes(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => false,
        Value::Float(_) => true,
        Value::String(text) => suspicious(text),
        Value::Sequence(items) => items.iter().any(changes),
        Value::Mapping(mapping) => mapping.iter().any(|(key, value)| suspicious(key) || changes(value)),
    }
}

/// Whether a string may read differently, or not at all, once it stands in JSON.
fn suspicious(text: &str) -> bool {
    text.chars().any(|c| c == '\u{85}' || (c >= '\u{7F}' && is_forbidden(c)))
}

fn float(number: f64) -> Result<Value, Error> {
    let Some(text) = format_json_float(number) else {
        let message = format!("json: unsupported value: {}", super::format_float(number));
        return Err(Error::bare(message, None));
    };
    // `-0` is the integer 0.
    Ok(match text.parse::<i64>() {
        Ok(integer) => Value::Int(integer),
        Err(_) => text.parse().map_or(Value::Float(number), Value::Uint),
    })
}

/// What a double-quoted scalar that holds `text` means.
fn string(text: &str) -> Result<Cow<'_, str>, Error> {
    if !suspicious(text) {
        return Ok(Cow::Borrowed(text));
    }
    let json = super::json::encode_string(text, true);
    let limits = Limits { bytes: json.len(), ..Limits::default() };
    let node = compose::compose(json.as_bytes(), Dialect::V2, &limits, 1)?.pop();
    Ok(Cow::Owned(node.as_ref().and_then(|node| node.as_str()).unwrap_or_default().to_owned()))
}
