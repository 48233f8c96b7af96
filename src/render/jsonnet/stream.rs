//! `std.parseYaml`: YAML as go-jsonnet reads it, by way of sigs.k8s.io/yaml.

use go_yaml::{Limits, Value, json, sigs};

/// The JSON of a text: of its one document, or a list where a line begins a document with `---`.
///
/// Reference: go-jsonnet 0.22 `std.parseYaml`; what it answers is recorded in `tests/cases/jsonnet/parse.tsv`.
pub fn parse_yaml(text: &str) -> Result<String, String> {
    let (documents, is_stream) = documents(text);
    let mut values = Vec::new();
    for document in documents {
        values.push(sigs::unmarshal(document.as_bytes(), &Limits::default()).map_err(|error| error.to_string())?);
    }
    let value = if is_stream { Value::Sequence(values) } else { values.pop().unwrap_or_default() };
    Ok(json::encode(&value, json::Options::default()))
}

/// The documents, and whether there is a separator. What comes before the first separator is a document, if only a comment.
fn documents(text: &str) -> (Vec<String>, bool) {
    let mut documents = Vec::new();
    let mut document = String::new();
    let mut is_stream = false;
    for line in text.lines() {
        if line.strip_prefix("---").is_some_and(|after| matches!(after.chars().next(), None | Some(' ' | '\t'))) {
            is_stream = true;
            if !document.is_empty() {
                documents.push(std::mem::take(&mut document));
            }
        }
        document.push_str(line);
        document.push('\n');
    }
    if !document.is_empty() {
        documents.push(document);
    }
    (documents, is_stream)
}
