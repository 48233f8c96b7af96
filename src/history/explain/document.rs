//! The documents of a `manifest.yaml` with their lines.

use go_yaml::{self as yaml, Data, Extents, Limits, Node};

use super::object::Object;
use crate::diff::{FieldPath, Step};
use crate::manifest::{self, Source};

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
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        if line.trim_end() == "---" {
            found.push(Document { line: first, text: &text[start..at] });
            (start, first) = (at + line.len(), number + 1);
        }
        at += line.len();
    }
    found.push(Document { line: first, text: &text[start..] });
    found.retain(|document| !document.text.trim().is_empty());
    found
}

impl Document<'_> {
    /// The object; none when the text is not one.
    pub(super) fn object(&self) -> Option<Object> {
        let manifests = manifest::read(self.text.as_bytes(), Source::Output("manifest.yaml")).ok()?;
        manifests.first().map(Object::from)
    }

    /// The field that a line of the file belongs to, as `spec.containers[0].image`; none above the first one.
    pub(super) fn field(&self, number: u32) -> Option<FieldPath> {
        let root = self.parsed()?;
        let line = (number + 1).checked_sub(self.line)?;
        let (mut node, mut path) = (&root, FieldPath::root());
        // A key or an item on the line itself, or the last one above it.
        while let Some((step, _, below)) = children(node).into_iter().rev().find(|(_, at, _)| *at <= line) {
            path.push(step);
            node = below;
        }
        (!path.steps().is_empty()).then_some(path)
    }

    /// A field by its path as [`Self::field`] gives it, or with the numbers of items. Without it, the paths of all fields that
    /// have a value of their own.
    pub(super) fn find(&self, field: &str) -> Result<Found, Vec<String>> {
        let Some(root) = self.parsed() else { return Err(Vec::new()) };
        let mut leaves = Vec::new();
        let found = search(&root, (FieldPath::root(), FieldPath::root()), field, &mut leaves);
        found.map(|found| Found { line: found.line + self.line - 1, ..found }).ok_or(leaves)
    }

    /// The text of a field with all below it, when it has more than one line.
    pub(super) fn lines_of(&self, field: &str) -> Option<&str> {
        let found = self.find(field).ok()?;
        let start = found.offset;
        let above = u32::try_from(self.text.get(..start)?.matches('\n').count()).ok()?;
        let is_below = above + self.line != found.line;
        let end = Extents::of(self.text, &Limits::default()).ok()?.end(start)?;
        self.text.get(start..end).map(str::trim_end).filter(|text| is_below || text.contains('\n'))
    }

    fn parsed(&self) -> Option<Node> {
        yaml::parse_first(self.text.as_bytes(), &Limits::default()).ok().flatten()
    }
}

/// A field that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path, as [`Document::field`] gives it.
    pub path: FieldPath,
    /// The line of the file that it begins in, 1-based.
    pub line: u32,
    /// Where its value begins in the text of the document, in bytes.
    offset: usize,
}

/// What is one step below a node: the step, its line in the document, and what is there.
fn children(node: &Node) -> Vec<(Step, u32, &Node)> {
    match &node.data {
        Data::Mapping(entries) => {
            let entry = |(key, value)| {
                let key: &Node = key;
                Some((Step::Key(key.as_str()?.to_owned()), key.mark.line, value))
            };
            entries.iter().map(|(key, value)| (key, value)).filter_map(entry).collect()
        }
        Data::Sequence(items) => {
            let item = |(index, item)| (step(items, index, item), item.mark.line, item);
            items.iter().enumerate().map(item).collect()
        }
        Data::Scalar(_) | Data::Alias(_) => Vec::new(),
    }
}

/// The line of a field below a node that has two paths, one with the numbers of items.
fn search(node: &Node, paths: (FieldPath, FieldPath), field: &str, leaves: &mut Vec<String>) -> Option<Found> {
    let below = children(node);
    if below.is_empty() {
        leaves.push(paths.0.to_string());
    }
    for (index, (step, line, node)) in below.into_iter().enumerate() {
        let (mut named, mut numbered) = paths.clone();
        numbered.push(match &step {
            Step::Item(_) => Step::Index(index),
            Step::Key(_) | Step::Index(_) => step.clone(),
        });
        named.push(step);
        if named.to_string() == field || numbered.to_string() == field {
            return Some(Found { path: named, line, offset: node.mark.offset });
        }
        if let Some(found) = search(node, (named, numbered), field, leaves) {
            return Some(found);
        }
    }
    None
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
            assert_eq!(document.field(line).map(|path| path.to_string()).as_deref(), Some(field), "{line}");
        }
    }

    #[test]
    fn fields_lead_to_lines() {
        let document = documents(TEXT)[1];
        let rows = [
            ("spec.replicas", Ok(21)),
            ("spec.containers[name=web].image", Ok(16)),
            ("spec.containers[0].image", Ok(16)),
            ("spec.containers[1].args[1]", Ok(20)),
            ("spec.containers", Ok(15)),
        ];
        for (field, line) in rows {
            assert_eq!(document.find(field).map(|found| found.line), line, "{field}");
        }
        let fields = document.find("spec.replica").expect_err("no field");
        assert!(fields.contains(&"spec.replicas".to_owned()) && !fields.contains(&"spec".to_owned()), "{fields:?}");
    }

    #[test]
    fn a_field_with_more_below_has_lines() {
        let document = documents(TEXT)[1];
        let rows = [
            ("spec.replicas", None),
            ("spec.containers[1].args", Some("- x\n        - y")),
            ("spec.containers[0]", Some("image: nginx\n      name: web")),
            ("spec.containers", Some("- image: nginx\n      name: web\n    - args:\n        - x\n        - y")),
        ];
        for (field, lines) in rows {
            assert_eq!(document.lines_of(field), lines, "{field}");
        }
    }

    #[test]
    fn what_is_no_object_has_none() {
        for text in ["", "---\n", "a: b\n", "[", "text\n"] {
            assert!(documents(text).iter().all(|document| document.object().is_none()), "{text:?}");
        }
    }
}
