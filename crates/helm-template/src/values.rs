//! Values as files and flags give them.
//!
//! Numbers of files are floats, whatever they look like, because Helm reads YAML by way of JSON; only `--set` makes
//! integers. [`go_yaml::Value::Int`] and [`go_yaml::Value::Float`] represent the two from here on.

use std::borrow::Cow;

use dry_files::view::Stop;
use go_std::json::UnmarshalTypeError;
use go_yaml::{Limits, Mapping, Value, json, sigs};

use crate::version::differences::ValuesFiles;

/// Why values can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(super) struct ValuesError {
    message: String,
    /// 1-based; 0 when unknown.
    pub line: u32,
    /// 1-based, in characters; 0 when unknown.
    pub column: u32,
}

impl ValuesError {
    /// `lines_before` are those of the file before the document.
    fn in_document(error: &go_yaml::Error, lines_before: u32, prefix: &str) -> Self {
        let line = if error.line() == 0 { 0 } else { error.line() + lines_before };
        Self { message: format!("{prefix}{error}"), line, column: error.column() }
    }
}

/// What precedes the reason why a document has no values.
const NO_DOCUMENT: &str = "cannot unmarshal yaml document: ";

/// After how many documents the time is looked at.
const DOCUMENTS_PER_LOOK: usize = 1024;

/// Reads the text of a values file: one or more documents, merged in order. It ends early once `stop` is set. Helm 3 reads
/// the first one, and the text as it is.
///
/// A line of `---`, blanks, and a comment if there is one, separates documents; nothing else may follow `---` at the start
/// of a line, also within a text in quotes.
/// The last line has an end, also when the file has none: a block scalar there keeps it.
///
/// Reference: helm 4.2.3 pkg/chart/v2/loader `LoadValues`; k8s.io/apimachinery 0.36 pkg/util/yaml `YAMLReader`.
pub(super) fn parse(text: &[u8], how: ValuesFiles, stop: &Stop) -> Result<Mapping, ValuesError> {
    match how {
        ValuesFiles::FirstDocument => {
            let mut values = Mapping::new();
            document(text, 0, "", &mut values)?;
            Ok(values)
        }
        ValuesFiles::AllDocuments => all_documents(text, stop),
    }
}

fn all_documents(text: &[u8], stop: &Stop) -> Result<Mapping, ValuesError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let text = if text.ends_with(b"\n") { Cow::Borrowed(text) } else { Cow::Owned([text, b"\n"].concat()) };
    let mut values = Mapping::new();
    let (documents, error) = documents(&text);
    for (number, (text, first_line)) in documents.into_iter().enumerate() {
        if number % DOCUMENTS_PER_LOOK == DOCUMENTS_PER_LOOK - 1 && stop.is_set() {
            return Err(ValuesError { message: "the time limit was reached".to_owned(), line: 0, column: 0 });
        }
        document(text, first_line, NO_DOCUMENT, &mut values)?;
    }
    error.map_or(Ok(values), Err)
}

/// Puts the first document of a text over `values`. `lines_before` it are others, and `prefix` precedes what is wrong.
fn document(text: &[u8], lines_before: u32, prefix: &str, values: &mut Mapping) -> Result<(), ValuesError> {
    let value = sigs::unmarshal(text, &Limits::default())
        .map_err(|error| ValuesError::in_document(&error, lines_before, prefix))?;
    match value {
        Value::Null => {}
        Value::Mapping(mut mapping) => {
            mapping.values_mut().for_each(floats);
            merge(values, mapping);
        }
        other => {
            let wrong = UnmarshalTypeError::of_value(other.json_kind(), "map[string]interface {}");
            let message = format!("{prefix}error unmarshaling JSON: while decoding JSON: {wrong}");
            return Err(ValuesError { message, line: lines_before + 1, column: 1 });
        }
    }
    Ok(())
}

/// The documents with the number of lines before each, up to a line that may not be there.
fn documents(text: &[u8]) -> (Vec<(&[u8], u32)>, Option<ValuesError>) {
    let mut documents = Vec::new();
    let (mut start, mut at, mut first_line) = (0, 0, 0);
    for (line, number) in text.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        let behind = line.strip_prefix(b"---").map(String::from_utf8_lossy);
        if let Some(error) = behind.as_ref().and_then(|behind| no_separator(behind.trim(), number)) {
            return (documents, Some(error));
        }
        // One at the start belongs to the document behind it.
        if behind.is_some() && at > start {
            documents.push((text.get(start..at).unwrap_or_default(), first_line));
            (start, first_line) = (at + line.len(), number);
        }
        at += line.len();
    }
    if start < at {
        documents.push((text.get(start..).unwrap_or_default(), first_line));
    }
    (documents, None)
}

/// The error for what follows `---`.
fn no_separator(behind: &str, line: u32) -> Option<ValuesError> {
    if behind.is_empty() || behind.starts_with('#') {
        return None;
    }
    let message = format!("error reading yaml document: invalid Yaml document separator: {behind}");
    Some(ValuesError { message, line, column: 4 })
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
        let values = parse(text.as_bytes(), ValuesFiles::AllDocuments, &Stop::default())
            .map_err(|error| format!("{}: {error}", error.line))?;
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
            ("a: 1\n--- # more\nb: 2\n", r#"{"a":1,"b":2}"#),
            ("a: 1\n---# more\nb: 2\n---\t#\nc: 3", r#"{"a":1,"b":2,"c":3}"#),
            ("--- # first\na: 1\n--- # empty\n--- # more\nb: 2\n", r#"{"a":1,"b":2}"#),
            ("# --- c\na: 1\n", r#"{"a":1}"#),
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
        for (text, behind) in [("a: 1\n---: 2\n", ": 2"), ("a: 1\n--- {b: 1}", "{b: 1}"), ("a: \"\n---x\"", "x\"")] {
            let line = text.lines().position(|line| line.starts_with("---")).map_or(0, |at| at + 1);
            let message = "error reading yaml document: invalid Yaml document separator: ";
            assert_eq!(shown(text), Err(format!("{line}: {message}{behind}")));
        }
        let text = "a: 1\n---\nb: 2\nc: [\n";
        assert_eq!(shown(text).expect_err("open list").split(':').next(), Some("5"));
        assert_eq!(
            shown("- a").expect_err("a list"),
            "1: cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal \
             array into Go value of type map[string]interface {}"
        );
    }
}
