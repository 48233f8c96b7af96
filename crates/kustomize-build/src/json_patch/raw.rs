//! JSON whose scalars keep their spelling.

use std::collections::BTreeMap;

use go_yaml::Value;

use crate::error::{Error, Result};
use crate::text;
use crate::tree::check_depth;

/// JSON with its scalars as they are written: a `test` compares those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raw {
    Scalar(String),
    Array(Vec<Raw>),
    Object(BTreeMap<String, Raw>),
}

impl Raw {
    /// Reads one JSON text.
    pub(super) fn parse(json: &str) -> Result<Self> {
        // Checks the syntax, so that cutting the text into its parts cannot go wrong.
        text::json(json)?;
        let mut reader = Reader { rest: json };
        reader.value(0)
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Raw::Scalar(text) if text == "null")
    }

    /// What it is, in Go's words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Raw::Array(_) => "array",
            Raw::Object(_) => "object",
            Raw::Scalar(text) => match text.as_bytes().first() {
                Some(b'"') => "string",
                Some(b't' | b'f') => "bool",
                Some(b'n') => "null",
                _ => "number",
            },
        }
    }

    pub(super) fn value(&self) -> Result<Value> {
        Ok(match self {
            Raw::Scalar(json) => text::json(json)?,
            Raw::Array(items) => Value::Sequence(items.iter().map(Raw::value).collect::<Result<_>>()?),
            Raw::Object(entries) => {
                Value::Mapping(entries.iter().map(|(key, raw)| Ok((key.clone(), raw.value()?))).collect::<Result<_>>()?)
            }
        })
    }

    /// Whether a value is written like this in Go's JSON.
    pub(super) fn equals(&self, value: &Value) -> bool {
        match (self, value) {
            (Raw::Array(raw), Value::Sequence(items)) => {
                raw.len() == items.len() && raw.iter().zip(items).all(|(raw, item)| raw.equals(item))
            }
            (Raw::Object(raw), Value::Mapping(entries)) => {
                raw.len() == entries.len()
                    && raw.iter().all(|(key, raw)| entries.get(key).is_some_and(|value| raw.equals(value)))
            }
            (Raw::Array(_) | Raw::Object(_), _) | (_, Value::Sequence(_) | Value::Mapping(_)) => false,
            (Raw::Scalar(raw), value) => *raw == text::to_json(value),
        }
    }
}

/// Cuts a text that is known to be JSON.
struct Reader<'j> {
    rest: &'j str,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        self.rest.as_bytes().first().copied()
    }

    fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn value(&mut self, depth: usize) -> Result<Raw> {
        check_depth(depth)?;
        match self.peek() {
            Some(b'[') => {
                let mut items = Vec::new();
                self.skip();
                while !matches!(self.peek(), Some(b']') | None) {
                    items.push(self.value(depth + 1)?);
                    if self.peek() == Some(b',') {
                        self.skip();
                    }
                }
                self.skip();
                Ok(Raw::Array(items))
            }
            Some(b'{') => {
                let mut entries = BTreeMap::new();
                self.skip();
                while !matches!(self.peek(), Some(b'}') | None) {
                    let Value::String(key) = text::json(self.scalar())? else {
                        return Err(Error::new("invalid character looking for beginning of object key string"));
                    };
                    self.peek();
                    self.skip();
                    entries.insert(key, self.value(depth + 1)?);
                    if self.peek() == Some(b',') {
                        self.skip();
                    }
                }
                self.skip();
                Ok(Raw::Object(entries))
            }
            _ => Ok(Raw::Scalar(self.scalar().to_owned())),
        }
    }

    fn scalar(&mut self) -> &str {
        self.peek();
        let bytes = self.rest.as_bytes();
        let end = if bytes.first() == Some(&b'"') {
            string_len(bytes)
        } else {
            bytes.iter().position(|byte| b",]} \t\r\n:".contains(byte)).unwrap_or(bytes.len())
        };
        let (scalar, rest) = self.rest.split_at(end);
        self.rest = rest;
        scalar
    }
}

/// How long the string is that the text begins with, its quotes included.
fn string_len(text: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
