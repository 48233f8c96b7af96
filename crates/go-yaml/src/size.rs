//! How large documents are once their aliases are written out, found without writing them out.

use std::collections::HashMap;

use super::node::{Data, Node};
use super::value::Value;

/// How large a document is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Its scalars, lists and mappings; keys count with their values.
    pub values: u64,
    /// Its scalars and keys, in bytes.
    pub text: u64,
}

impl Size {
    /// Counts another part of it.
    pub fn add(&mut self, other: Self) {
        self.values = self.values.saturating_add(other.values);
        self.text = self.text.saturating_add(other.text);
    }
}

/// The size of the document `root` with each alias replaced by what it refers to, and that of the document as it is written.
///
/// Takes time by what is written. An alias that contains itself, or refers to nothing, counts as one value.
pub fn sizes(root: &Node) -> (Size, Size) {
    let mut sizes = Sizes { anchors: HashMap::new(), written: Size::default() };
    let whole = sizes.value(root);
    (whole, sizes.written)
}

struct Sizes<'a> {
    /// What the anchors so far stand for.
    anchors: HashMap<&'a str, Size>,
    written: Size,
}

impl<'a> Sizes<'a> {
    fn value(&mut self, node: &'a Node) -> Size {
        let mut size = self.content(node);
        // A collection is known by its anchor once it is complete: until then an alias to it would contain itself.
        size.values = size.values.saturating_add(1);
        self.written.values += 1;
        if let Some(name) = &node.anchor {
            self.anchors.insert(name, size);
        }
        size
    }

    fn key(&mut self, node: &'a Node) -> Size {
        let size = self.content(node);
        if let Some(name) = &node.anchor {
            self.anchors.insert(name, size);
        }
        size
    }

    /// The size of a node without itself.
    fn content(&mut self, node: &'a Node) -> Size {
        let mut size = Size::default();
        match &node.data {
            Data::Scalar(text) => {
                size.text = text.len() as u64;
                self.written.text += size.text;
            }
            Data::Alias(name) => {
                size = self.anchors.get(name.as_str()).copied().unwrap_or_default();
                size.values = size.values.saturating_sub(1);
            }
            Data::Sequence(items) => {
                for item in items {
                    size.add(self.value(item));
                }
            }
            Data::Mapping(entries) => {
                for (key, value) in entries {
                    size.add(self.key(key));
                    size.add(self.value(value));
                }
            }
        }
        size
    }
}

impl Value {
    /// How large it is.
    pub fn size(&self) -> Size {
        let mut size = Size { values: 1, text: 0 };
        match self {
            Value::String(text) => size.text = text.len() as u64,
            Value::Sequence(items) => items.iter().for_each(|item| size.add(item.size())),
            Value::Mapping(entries) => {
                for (key, value) in entries {
                    size.text += key.len() as u64;
                    size.add(value.size());
                }
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => size.text = 1,
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, Limits, parse};

    fn laughs(levels: usize) -> String {
        let mut text = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..levels {
            let below = format!("*l{}", level - 1);
            text += &format!("l{level}: &l{level} [{}]\n", [below.as_str(); 10].join(", "));
        }
        text
    }

    #[test]
    fn aliases_count_as_what_they_stand_for() {
        let texts = [
            "a: b".to_owned(),
            "[1, [2, 3], {a: 4}]".to_owned(),
            "a: &a {b: c, d: [e, f]}\ng: [*a, *a]\nh: {<<: *a, i: j}".to_owned(),
            "&key k: v\nother: *key".to_owned(),
            laughs(2),
        ];
        for text in texts {
            let nodes = parse(text.as_bytes(), &Limits::default()).expect("YAML");
            let (size, written) = sizes(&nodes[0]);
            let value = nodes[0].to_value(Dialect::V2, &Limits::default()).expect("a value").size();
            // A merge counts as the mapping that it brings in.
            let merge = u64::from(text.contains("<<"));
            assert_eq!(size.values, value.values + merge, "{text}");
            assert!(size.text >= value.text, "{text}");
            assert!(written.values <= size.values && written.text <= size.text, "{text}");
        }
    }

    #[test]
    fn what_grows_without_end_is_counted_at_once() {
        let nodes = parse(laughs(40).as_bytes(), &Limits::default()).expect("YAML");
        let (size, written) = sizes(&nodes[0]);
        assert_eq!(size.values, u64::MAX);
        assert!(written.values < 1000);
        let own = parse(b"&a [*a, *a]", &Limits::default()).expect("YAML");
        assert_eq!(sizes(&own[0]).0.values, 3);
    }
}
