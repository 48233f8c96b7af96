//! Texts that `manifest.yaml` has in a form which cannot be read again.

use go_yaml::{Sequences, Value, emit_v3};

use super::Manifest;

/// Where an object has lines of which the first begins with a tab, such as `data.text`; none where it has none.
///
/// go-yaml v3, by which Argo CD writes `manifest.yaml`, writes them as a block after `|`; go-yaml v2, by which Argo CD and
/// kubectl read it, takes the tab for an indentation, which has to be of blanks.
pub(crate) fn unreadable(manifest: &Manifest) -> Option<String> {
    let steps = in_value(manifest.object())?;
    Some(steps.iter().rev().fold(String::new(), |path, step| match step {
        Step::Key(key) if path.is_empty() => (*key).to_owned(),
        Step::Key(key) => format!("{path}.{key}"),
        Step::Index(index) => format!("{path}[{index}]"),
    }))
}

/// One step from a value to what is in it.
enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

/// The way to the first such text, the last step first: only who finds one pays for it.
fn in_value<'v>(value: &'v Value) -> Option<Vec<Step<'v>>> {
    let below = |value: &'v Value, step: Step<'v>| {
        let mut steps = in_value(value)?;
        steps.push(step);
        Some(steps)
    };
    match value {
        Value::String(text) => is_unreadable(text).then(Vec::new),
        Value::Mapping(fields) => fields.iter().find_map(|(key, value)| below(value, Step::Key(key))),
        Value::Sequence(items) => items.iter().enumerate().find_map(|(index, item)| below(item, Step::Index(index))),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => None,
    }
}

fn is_unreadable(text: &str) -> bool {
    text.starts_with('\t')
        && text.contains('\n')
        && emit_v3(&Value::String(text.to_owned()), Sequences::Indented).starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Helm 4.2.3 has it, whose `toYamlPretty` is go-yaml v3 and whose `fromYaml` is go-yaml v2.
    #[test]
    fn texts_that_are_written_and_cannot_be_read() {
        let rows = [
            ("\t x\n", true),
            ("\tx\ny\n", true),
            ("\t\n", true),
            ("\tx", false),
            ("\t", false),
            ("a\n\tb\n", false),
            ("\n\tx\n", false),
            (" \tx\n", false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_unreadable(text), expected, "{text:?}");
            let object = Value::Mapping([("a".to_owned(), Value::String(text.to_owned()))].into());
            let written = emit_v3(&object, Sequences::Indented);
            let read = go_yaml::sigs::unmarshal(written.as_bytes(), &go_yaml::Limits::default());
            assert_eq!(read.is_err(), expected, "{written}");
        }
    }
}
