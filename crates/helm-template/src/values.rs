//! Values as files and flags give them.
//!
//! Numbers of files are floats, whatever they look like, because Helm reads YAML by way of JSON; only `--set` makes
//! integers. [`go_yaml::Value::Int`] and [`go_yaml::Value::Float`] represent the two from here on.

use std::borrow::Cow;

use dry_files::view::Stop;
use go_std::json::UnmarshalTypeError;
use go_yaml::{Limits, Mapping, Value, json, sigs};

/// Why values can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot unmarshal yaml document: {message}")]
pub(super) struct ValuesError {
    message: String,
    /// 1-based; 0 when unknown.
    pub line: u32,
    /// 1-based, in characters; 0 when unknown.
    pub column: u32,
}

impl ValuesError {
    /// `lines_before` are those of the file before the document.
    fn in_document(error: &go_yaml::Error, lines_before: u32) -> Self {
        let line = if error.line() == 0 { 0 } else { error.line() + lines_before };
        Self { message: error.to_string(), line, column: error.column() }
    }
}

/// After how many documents the time is looked at.
const DOCUMENTS_PER_LOOK: usize = 1024;

/// Reads the text of a values file: one or more documents, merged in order. It ends early once `stop` is set.
///
/// A line of `---` and blanks separates documents. What follows another mark, such as `--- # more`, is not read.
/// The last line has an end, also when the file has none: a block scalar there keeps it.
///
/// Reference: helm 4.2.3 pkg/chart/v2/loader `LoadValues`.
pub(super) fn parse(text: &[u8], stop: &Stop) -> Result<Mapping, ValuesError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let text = if text.ends_with(b"\n") { Cow::Borrowed(text) } else { Cow::Owned([text, b"\n"].concat()) };
    let mut values = Mapping::new();
    for (number, (document, first_line)) in documents(&text).into_iter().enumerate() {
        if number % DOCUMENTS_PER_LOOK == DOCUMENTS_PER_LOOK - 1 && stop.is_set() {
            return Err(ValuesError { message: "the time limit was reached".to_owned(), line: 0, column: 0 });
        }
        let value = sigs::unmarshal(document, &Limits::default())
            .map_err(|error| ValuesError::in_document(&error, first_line))?;
        match value {
            Value::Null => {}
            Value::Mapping(mut mapping) => {
                mapping.values_mut().for_each(floats);
                merge(&mut values, mapping);
            }
            other => {
                let wrong = UnmarshalTypeError::of_value(other.json_kind(), "map[string]interface {}");
                let message = format!("error unmarshaling JSON: while decoding JSON: {wrong}");
                return Err(ValuesError { message, line: first_line + 1, column: 1 });
            }
        }
    }
    Ok(values)
}

/// The documents with the number of lines before each.
fn documents(text: &[u8]) -> Vec<(&[u8], u32)> {
    let mut documents = Vec::new();
    let (mut start, mut at, mut first_line) = (0, 0, 0);
    for (line, number) in text.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        let is_separator =
            line.strip_prefix(b"---").is_some_and(|rest| rest.iter().all(u8::is_ascii_whitespace)) && at > start;
        if is_separator {
            documents.push((text.get(start..at).unwrap_or_default(), first_line));
            (start, first_line) = (at + line.len(), number);
        }
        at += line.len();
    }
    if start < at {
        documents.push((text.get(start..).unwrap_or_default(), first_line));
    }
    documents
}

/// Puts `over` over `values`: maps merge key by key, all else is replaced, null too.
pub(super) fn merge(values: &mut Mapping, over: Mapping) {
    for (key, value) in over {
        match (values.get_mut(&key), value) {
            (Some(Value::Mapping(here)), Value::Mapping(over)) => merge(here, over),
            (_, value) => {
                values.insert(key, value);
            }
        }
    }
}

/// Reads JSON, its errors in Go's words.
pub(super) fn parse_json(text: &str) -> Result<Value, String> {
    json::decode(text.as_bytes(), &Limits::default()).map_err(|error| error.to_string())
}

/// Makes all numbers floats.
#[expect(clippy::cast_precision_loss, reason = "as JSON does in Go")]
pub(super) fn floats(value: &mut Value) {
    match value {
        Value::Int(number) => *value = Value::Float(*number as f64),
        Value::Uint(number) => *value = Value::Float(*number as f64),
        Value::Sequence(items) => items.iter_mut().for_each(floats),
        Value::Mapping(entries) => entries.values_mut().for_each(floats),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, String> {
        let values = parse(text.as_bytes(), &Stop::default()).map_err(|error| format!("{}: {error}", error.line))?;
        Ok(json::encode(&Value::Mapping(values), json::Options::default()))
    }

    #[test]
    fn documents_of_a_values_file() {
        let rows = [
            ("", "{}"),
            ("a: 1\n", r#"{"a":1}"#),
            ("---\na: 1\n", r#"{"a":1}"#),
            ("a: 1\nb: {c: 1}\n---  \nb: {d: 2}\n", r#"{"a":1,"b":{"c":1,"d":2}}"#),
            ("a: 1\n---\r\na: null\n---\n", r#"{"a":null}"#),
            ("a: 1\n--- # more\na: 2\n", r#"{"a":1}"#),
            ("a: |\n  x\n  ---\n  y\n", r#"{"a":"x\n---\ny\n"}"#),
            ("\u{feff}a: 1", r#"{"a":1}"#),
            ("a: |\n  x", r#"{"a":"x\n"}"#),
            ("a: |\n  x\n---\nb: |+\n  y ", r#"{"a":"x\n","b":"y \n"}"#),
            ("a: |-\n  x", r#"{"a":"x"}"#),
        ];
        for (text, expected) in rows {
            assert_eq!(shown(text).as_deref(), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn errors_have_their_line() {
        let text = "a: 1\n---\nb: 2\nc: [\n";
        assert_eq!(shown(text).expect_err("open list").split(':').next(), Some("5"));
        assert_eq!(
            shown("- a").expect_err("a list"),
            "1: cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal \
             array into Go value of type map[string]interface {}"
        );
    }
}
