//! Tags: the kinds of values.

use std::fmt;

/// The kind of a node's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    /// `!!null`
    Null,
    /// `!!bool`
    Bool,
    /// `!!str`
    Str,
    /// `!!int`
    Int,
    /// `!!float`
    Float,
    /// `!!timestamp`
    Timestamp,
    /// `!!binary`
    Binary,
    /// `!!merge`: the key `<<`.
    Merge,
    /// `!!seq`
    Seq,
    /// `!!map`
    Map,
    /// Any other, in its short form: `!name`, `!!name`, or a URI.
    Other(Box<str>),
}

const LONG: &str = "tag:yaml.org,2002:";

impl Tag {
    /// The tag that is written `text`, in its long or short form.
    pub fn new(text: &str) -> Self {
        let name = text.strip_prefix(LONG).or_else(|| text.strip_prefix("!!"));
        match name {
            Some("null") => Tag::Null,
            Some("bool") => Tag::Bool,
            Some("str") => Tag::Str,
            Some("int") => Tag::Int,
            Some("float") => Tag::Float,
            Some("timestamp") => Tag::Timestamp,
            Some("binary") => Tag::Binary,
            Some("merge") => Tag::Merge,
            Some("seq") => Tag::Seq,
            Some("map") => Tag::Map,
            Some(name) => Tag::Other(format!("!!{name}").into()),
            None => Tag::Other(text.into()),
        }
    }

    /// The short form: `!!str`, `!name`.
    pub fn as_str(&self) -> &str {
        match self {
            Tag::Null => "!!null",
            Tag::Bool => "!!bool",
            Tag::Str => "!!str",
            Tag::Int => "!!int",
            Tag::Float => "!!float",
            Tag::Timestamp => "!!timestamp",
            Tag::Binary => "!!binary",
            Tag::Merge => "!!merge",
            Tag::Seq => "!!seq",
            Tag::Map => "!!map",
            Tag::Other(text) => text,
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
