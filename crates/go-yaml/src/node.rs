//! A YAML document as it is written: order, styles, comments, anchors.

use go_std::strconv::format_shortest;

use super::Mark;
use super::comments::Comments;
use super::resolve::{self, Dialect};
use super::sort::sort;
use super::tag::Tag;
use super::value::Value;

/// A part of a document as it is written.
///
/// Equality compares all but [`Node::mark`].
#[derive(Debug, Clone)]
pub struct Node {
    /// What kind of value this is. A parsed node always has one: written out, or that of its text; a node that was
    /// made may have none, and then gets that of its text.
    pub tag: Option<Tag>,
    /// Whether the tag is written out.
    pub tagged: bool,
    /// How it is written.
    pub style: Style,
    /// The name by which aliases refer to it.
    pub anchor: Option<Box<str>>,
    /// Where it starts; line 0 when it was not parsed.
    pub mark: Mark,
    /// The comments around it.
    pub comments: Comments,
    /// Its content.
    pub data: Data,
}

/// The content of a [`Node`].
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// A text: without quotes, escapes and indentation.
    Scalar(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values in the order of the source; nothing is said of duplicates.
    Mapping(Vec<(Node, Node)>),
    /// The name of an anchor further up in the stream.
    Alias(String),
}

/// How a node is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// A scalar without quotes, a collection in block style. Written so where it can be.
    #[default]
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// A collection as `[…]` or `{…}`.
    Flow,
}

impl Node {
    fn new(tag: Option<Tag>, data: Data) -> Self {
        Self {
            tag,
            tagged: false,
            style: Style::Plain,
            anchor: None,
            mark: Mark::default(),
            comments: Comments::default(),
            data,
        }
    }

    /// A scalar that means what its text says: `"5"` is a number.
    pub fn scalar(text: impl Into<String>) -> Self {
        Self::new(None, Data::Scalar(text.into()))
    }

    /// A string: written with quotes where it would be read as something else.
    pub fn string(text: impl Into<String>) -> Self {
        Self::new(Some(Tag::Str), Data::Scalar(text.into()))
    }

    /// `null`
    pub fn null() -> Self {
        Self::new(Some(Tag::Null), Data::Scalar("null".to_owned()))
    }

    /// A list in block style.
    pub fn sequence(items: Vec<Node>) -> Self {
        Self::new(Some(Tag::Seq), Data::Sequence(items))
    }

    /// A mapping in block style.
    pub fn mapping(entries: Vec<(Node, Node)>) -> Self {
        Self::new(Some(Tag::Map), Data::Mapping(entries))
    }

    /// The value of the first entry with the key `key`, when this is a mapping that has one.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_mapping()?.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// As [`Node::get`], to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let Data::Mapping(entries) = &mut self.data else { return None };
        entries.iter_mut().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// The node that is reached through `keys`, each in the mapping before it.
    pub fn at(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The text, when this is a scalar of any kind.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The items, when this is a list.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.data {
            Data::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, when this is a mapping.
    pub fn as_mapping(&self) -> Option<&[(Node, Node)]> {
        match &self.data {
            Data::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// Whether this is `null`, `~` or nothing, read as `dialect` does.
    pub fn is_null(&self, dialect: Dialect) -> bool {
        self.resolved_tag(dialect) == Tag::Null
    }

    /// What it is, for messages: "a string", "a mapping".
    pub fn kind_name(&self) -> &'static str {
        match &self.data {
            Data::Sequence(_) => "a list",
            Data::Mapping(_) => "a mapping",
            Data::Alias(_) => "an alias",
            Data::Scalar(_) => match self.resolved_tag(Dialect::V3) {
                Tag::Null => "null",
                Tag::Bool => "a boolean",
                Tag::Int | Tag::Float => "a number",
                _ => "a string",
            },
        }
    }

    /// The kind of the value as `dialect` reads it: the tag, or without one that of the text.
    ///
    /// An alias has none of its own and gives `!!merge` never: its target must be asked.
    pub fn resolved_tag(&self, dialect: Dialect) -> Tag {
        match &self.data {
            Data::Sequence(_) => self.tag.clone().unwrap_or(Tag::Seq),
            Data::Mapping(_) => self.tag.clone().unwrap_or(Tag::Map),
            Data::Alias(_) => Tag::Other("".into()),
            Data::Scalar(text) => match &self.tag {
                Some(tag) if self.tagged => tag.clone(),
                _ if self.is_text() => Tag::Str,
                _ => resolve::plain(text, dialect).tag(),
            },
        }
    }

    /// Whether this is a scalar that is a string whatever its text: by its quotes, or because it was made as one.
    pub(super) fn is_text(&self) -> bool {
        let Data::Scalar(text) = &self.data else { return false };
        if self.tagged {
            return false;
        }
        match self.style {
            Style::SingleQuoted | Style::DoubleQuoted | Style::Literal | Style::Folded => true,
            // A plain text with a line break can only be written as a literal.
            Style::Plain | Style::Flow => {
                text.contains('\n')
                    || (self.tag == Some(Tag::Str) && resolve::plain(text, Dialect::V3).tag() != Tag::Str)
            }
        }
    }
}

/// The node that means `value`: block style, keys in the natural order of go-yaml v3, no comments.
///
/// Recurses as deep as `value`.
pub fn from_value(value: &Value) -> Node {
    match value {
        Value::Null => Node::null(),
        Value::Bool(value) => Node::new(Some(Tag::Bool), Data::Scalar(value.to_string())),
        Value::Int(value) => Node::new(Some(Tag::Int), Data::Scalar(value.to_string())),
        Value::Uint(value) => Node::new(Some(Tag::Int), Data::Scalar(value.to_string())),
        Value::Float(value) => Node::scalar(format_shortest(*value)),
        Value::String(text) => Node::string(text.as_str()),
        Value::Sequence(items) => Node::sequence(items.iter().map(from_value).collect()),
        Value::Mapping(mapping) => {
            let mut entries: Vec<(&str, &Value)> = mapping.iter().map(|(key, value)| (key.as_str(), value)).collect();
            sort(&mut entries, Dialect::V3);
            Node::mapping(entries.into_iter().map(|(key, value)| (Node::string(key), from_value(value))).collect())
        }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.tag == other.tag
            && self.tagged == other.tagged
            && self.style == other.style
            && self.anchor == other.anchor
            && self.comments == other.comments
            && self.data == other.data
    }
}
