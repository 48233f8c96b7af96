//! YAML into Go structs, as `sigs.k8s.io/yaml` and `encoding/json` do it.
//!
//! A string field takes any scalar; keys match without regard to case, the last in byte order wins; what the struct
//! doesn't know is passed over; null changes nothing.

use go_std::json::UnmarshalTypeError;
use go_std::strconv::format_shortest_32;
use go_yaml::{Mapping, Value};

/// A value of another type than the field has. Reads as Go's own message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("error unmarshaling JSON: while decoding JSON: {0}")]
pub(super) struct WrongType(UnmarshalTypeError);

impl WrongType {
    /// The keys that lead to the value, as the file has them; empty for the document itself.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.field.iter().flat_map(|(_, path)| path.split('.'))
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
    /// The error for a value that is not a `wanted` here.
    pub(super) fn wrong(&self, value: &Value, wanted: &str) -> WrongType {
        WrongType(UnmarshalTypeError {
            value: value.json_kind().to_owned(),
            field: (!self.path.is_empty()).then(|| (self.of.to_owned(), self.path.to_owned())),
            go_type: wanted.to_owned(),
        })
    }
}

/// The entries of a value that must be a map. `None` for null.
pub(super) fn object<'a>(value: &'a Value, place: Place<'_>, go_type: &str) -> Result<Option<&'a Mapping>, WrongType> {
    match value {
        Value::Null => Ok(None),
        Value::Mapping(entries) => Ok(Some(entries)),
        other => Err(place.wrong(other, go_type)),
    }
}

/// The items of a value that must be a list. `None` for null.
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

/// A scalar as a string field takes it; `None` for null.
pub(super) fn text(value: &Value, place: Place<'_>) -> Result<Option<String>, WrongType> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(value.to_string())),
        Value::Int(value) => Ok(Some(value.to_string())),
        Value::Uint(value) => Ok(Some(value.to_string())),
        #[expect(clippy::cast_possible_truncation, reason = "it is what the reference does")]
        Value::Float(value) => Ok(Some(format_shortest_32(*value as f32))),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Sequence(_) | Value::Mapping(_) => Err(place.wrong(value, "string")),
    }
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
            let found = text(&Value::Float(number), Place { of: "Metadata", path: "name" });
            assert_eq!(found, Ok(Some(expected.to_owned())));
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
