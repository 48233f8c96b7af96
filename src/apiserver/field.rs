//! Fields as a server names them: `spec.containers[0].name`, with keys of mappings in brackets too.

use go_yaml::Value;
use kube_validate::Finding;

use crate::diff::{FieldPath, Step};

/// The steps to a field of an object; those below the last one that the object has are as they are written.
pub(crate) fn field_path(field: &str, object: &Value) -> FieldPath {
    let mut at = Some(object);
    let mut path = FieldPath::root();
    for segment in segments(field) {
        let item = at.and_then(Value::as_sequence).and_then(|items| Some((segment.parse::<usize>().ok()?, items)));
        at = match item {
            Some((index, items)) => {
                path.push(Step::Index(index));
                items.get(index)
            }
            None => {
                path.push(Step::Key(segment.to_owned()));
                at.and_then(|value| value.get(segment))
            }
        };
    }
    path
}

/// What is said and of which field, though items of a list may have come before it: two findings that have it in common are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SaidWhere {
    rule: &'static str,
    message: String,
    field: String,
}

impl SaidWhere {
    pub(super) fn of(finding: &Finding) -> Self {
        Self { rule: finding.rule, message: finding.message.clone(), field: plain_field(&finding.field) }
    }
}

/// A field without the numbers of items: `spec.containers[].name`.
fn plain_field(field: &str) -> String {
    let mut plain = String::new();
    for (index, part) in field.split('[').enumerate() {
        let (inner, rest) = part.split_once(']').unwrap_or(("", part));
        if index == 0 {
            plain.push_str(part);
            continue;
        }
        let is_number = !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit());
        plain.extend(["[", if is_number { "" } else { inner }, "]", rest]);
    }
    plain
}

fn segments(field: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = field;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (segment, after) = inner.split_once(']').unwrap_or((inner, ""));
            found.push(segment);
            rest = after;
        } else {
            let text = rest.strip_prefix('.').unwrap_or(rest);
            let end = text.find(['.', '[']).unwrap_or(text.len());
            let (segment, after) = text.split_at(end);
            found.extend(Some(segment).filter(|segment| !segment.is_empty()));
            // A dot at the very end, or two in a row, lead nowhere.
            rest = if end == 0 && !after.starts_with('[') { "" } else { after };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use go_yaml::{Limits, sigs};

    use super::*;

    #[test]
    fn fields_lead_to_values() {
        let text = "spec: {containers: [{name: web}], 1: x}\nmetadata: {labels: {a.b/c: d}}\n";
        let object = sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML");
        let rows = [
            ("spec.containers[0].name", "spec.containers[0].name"),
            ("spec[1]", "spec.1"),
            ("metadata.labels[a.b/c]", "metadata.labels[\"a.b/c\"]"),
            ("spec.absent.x", "spec.absent.x"),
            ("", ""),
            (".", ""),
        ];
        for (field, expected) in rows {
            assert_eq!(field_path(field, &object).to_string(), expected, "{field}");
        }
    }

    #[test]
    fn numbers_of_items_do_not_count() {
        let rows = [
            ("spec.containers[12].ports[0].name", "spec.containers[].ports[].name"),
            ("metadata.labels[a.b/c]", "metadata.labels[a.b/c]"),
            ("spec", "spec"),
        ];
        for (field, expected) in rows {
            assert_eq!(plain_field(field), expected);
        }
    }
}
