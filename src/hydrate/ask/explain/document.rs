//! The documents of a `manifest.yaml` with their lines.

use super::object::Object;
use crate::diff::{FieldPath, Step};
use crate::manifest::{self, Source};
use crate::yaml::{self, Data, Limits, Node};

/// One document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Document<'t> {
    /// The line of the file that it starts in, 1-based.
    pub line: u32,
    /// Its text, without the line between it and the next one.
    pub text: &'t str,
}

/// The documents of a text between lines of `---`; those without any content are left out.
pub(super) fn documents(text: &str) -> Vec<Document<'_>> {
    let mut found = Vec::new();
    let (mut start, mut first, mut at) = (0, 1, 0);
    let mut add = |start: usize, end: usize, line: u32| {
        let text = &text[start..end];
        if !text.trim().is_empty() {
            found.push(Document { line, text });
        }
    };
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        if line.trim_end() == "---" {
            add(start, at, first);
            (start, first) = (at + line.len(), number + 1);
        }
        at += line.len();
    }
    add(start, at, first);
    found
}

impl Document<'_> {
    /// The object; none when it is none.
    pub(super) fn object(&self) -> Option<Object> {
        let manifests = manifest::read(self.text.as_bytes(), Source::Output("manifest.yaml")).ok()?;
        manifests.first().map(Object::from)
    }

    /// The field that a line of the file belongs to, as `spec.containers[0].image`; none above the first one.
    pub(super) fn field(&self, number: u32) -> Option<String> {
        let root = yaml::parse_first(self.text.as_bytes(), &Limits::default()).ok().flatten()?;
        let line = (number + 1).checked_sub(self.line)?;
        let (mut node, mut path) = (&root, FieldPath::root());
        loop {
            // A key or an item on the line itself, or the last one above it.
            let next = match &node.data {
                Data::Mapping(entries) => {
                    let entry = entries.iter().rev().find(|(key, _)| key.mark.line <= line);
                    entry.and_then(|(key, value)| Some((Step::Key(key.as_str()?.to_owned()), key.mark.line, value)))
                }
                Data::Sequence(items) => {
                    let item = items.iter().enumerate().rev().find(|(_, item)| item.mark.line <= line);
                    item.map(|(index, item)| (step(items, index, item), item.mark.line, item))
                }
                Data::Scalar(_) | Data::Alias(_) => None,
            };
            let Some((step, _, below)) = next else { break };
            path.push(step);
            node = below;
        }
        (!path.steps().is_empty()).then(|| path.to_string())
    }
}

/// An item is called by its name, when it is the only one that has it.
fn step(items: &[Node], index: usize, item: &Node) -> Step {
    let name = |item: &Node| item.get("name").and_then(Node::as_str).map(str::to_owned);
    match name(item) {
        Some(own) if items.iter().filter(|other| name(other).as_ref() == Some(&own)).count() == 1 => {
            Step::Item(vec![("name".to_owned(), own)])
        }
        _ => Step::Index(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  text: |
    ---
    one
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: b
spec:
  containers:
    - image: nginx
      name: web
    - args:
        - x
        - y
  replicas: 2
";

    #[test]
    fn lines_lead_to_objects_and_fields() {
        let found = documents(TEXT);
        assert_eq!(found.iter().map(|document| document.line).collect::<Vec<_>>(), [1, 10]);
        // (line, object, field)
        let rows = [
            (1, "a", "apiVersion"),
            (4, "a", "metadata.name"),
            (6, "a", "data.text"),
            (8, "a", "data.text"),
            (14, "b", "spec"),
            (15, "b", "spec.containers"),
            (16, "b", "spec.containers[name=web].image"),
            (17, "b", "spec.containers[name=web].name"),
            (18, "b", "spec.containers[1].args"),
            (20, "b", "spec.containers[1].args[1]"),
            (21, "b", "spec.replicas"),
        ];
        for (line, name, field) in rows {
            let document = found.iter().rfind(|document| document.line <= line).expect("one");
            assert_eq!(document.object().map(|object| object.name).as_deref(), Some(name), "{line}");
            assert_eq!(document.field(line).as_deref(), Some(field), "{line}");
        }
    }

    #[test]
    fn what_is_no_object_has_none() {
        for text in ["", "---\n", "a: b\n", "[", "text\n"] {
            assert!(documents(text).iter().all(|document| document.object().is_none()), "{text:?}");
        }
    }
}
