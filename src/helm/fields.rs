//! YAML into Go structs, as `sigs.k8s.io/yaml` and `encoding/json` do it.
//!
//! A string field takes any scalar; keys match without regard to case, the last in byte order wins; what the struct
//! doesn't know is passed over; null changes nothing.

use crate::yaml::{Mapping, Value};

/// A value of another type than the field has. Reads as Go's own message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go {place} of type {wanted}"
)]
pub(super) struct WrongType {
    found: &'static str,
    /// `value`, or `struct field Metadata.name`.
    place: String,
    wanted: String,
}

impl WrongType {
    /// The keys that lead to the value, as the file has them; empty for the document itself.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.place.split('.').skip(1)
    }
}

/// Where a value is in the struct that is being filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The name of the innermost struct; empty for one without a name.
    pub of: &'a str,
    /// The names of the fields from the document down, by dots.
    pub path: &'a str,
}

impl Place<'_> {
    /// The error for a value that is no `wanted` here.
    pub(super) fn wrong(&self, value: &Value, wanted: &str) -> WrongType {
        let place =
            if self.path.is_empty() { "value".to_owned() } else { format!("struct field {}.{}", self.of, self.path) };
        WrongType { found: json_kind(value), place, wanted: wanted.to_owned() }
    }
}

/// The entries of a value that must be a map. None for null.
pub(super) fn object<'a>(value: &'a Value, place: Place<'_>, go_type: &str) -> Result<Option<&'a Mapping>, WrongType> {
    match value {
        Value::Null => Ok(None),
        Value::Mapping(entries) => Ok(Some(entries)),
        other => Err(place.wrong(other, go_type)),
    }
}

/// The items of a value that must be a list. None for null.
pub(super) fn list<'a>(value: &'a Value, place: Place<'_>, go_type: &str) -> Result<Option<&'a [Value]>, WrongType> {
    match value {
        Value::Null => Ok(None),
        Value::Sequence(items) => Ok(Some(items)),
        other => Err(place.wrong(other, go_type)),
    }
}

/// Sets a string field.
pub(super) fn string(field: &mut String, value: &Value, place: Place<'_>) -> Result<(), WrongType> {
    if let Some(text) = text(value, place)? {
        *field = text;
    }
    Ok(())
}

/// Sets a field that is a list of strings; null among them is the empty string.
pub(super) fn strings(field: &mut Vec<String>, value: &Value, place: Place<'_>) -> Result<(), WrongType> {
    if let Some(items) = list(value, place, "[]string")? {
        *field = items.iter().map(|item| Ok(text(item, place)?.unwrap_or_default())).collect::<Result<_, _>>()?;
    }
    Ok(())
}

/// Sets a boolean field.
pub(super) fn boolean(field: &mut bool, value: &Value, place: Place<'_>) -> Result<(), WrongType> {
    match value {
        Value::Null => {}
        Value::Bool(value) => *field = *value,
        other => return Err(place.wrong(other, "bool")),
    }
    Ok(())
}

/// A scalar as a string field takes it; none for null.
pub(super) fn text(value: &Value, place: Place<'_>) -> Result<Option<String>, WrongType> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(value.to_string())),
        Value::Int(value) => Ok(Some(value.to_string())),
        Value::Uint(value) => Ok(Some(value.to_string())),
        // As a `float32`, whatever the number is.
        Value::Float(value) => Ok(Some(float32(*value))),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Sequence(_) | Value::Mapping(_) => Err(place.wrong(value, "string")),
    }
}

fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Sequence(_) => "array",
        Value::Mapping(_) => "object",
    }
}

/// The shortest text of the nearest `float32`, in Go's `%g` form.
#[expect(clippy::cast_possible_truncation, reason = "it is what the reference does")]
fn float32(value: f64) -> String {
    let value = value as f32;
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_text_as_float32() {
        let rows = [
            (1.10, "1.1"),
            (1e3, "1000"),
            (123_456.0, "123456"),
            (1e6, "1e+06"),
            (12_345_678.5, "1.2345678e+07"),
            (16_777_217.0, "1.6777216e+07"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (-0.0, "-0"),
            (1e39, "+Inf"),
            (1e-50, "0"),
        ];
        for (number, expected) in rows {
            assert_eq!(float32(number), expected);
        }
    }

    #[test]
    fn wrong_types_read_as_in_go() {
        let place = Place { of: "Metadata", path: "name" };
        let error = text(&Value::Sequence(Vec::new()), place).expect_err("a list is no text");
        assert_eq!(
            error.to_string(),
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go struct field \
             Metadata.name of type string"
        );
    }
}
