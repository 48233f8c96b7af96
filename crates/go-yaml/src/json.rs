//! JSON as Go's `encoding/json` reads and writes it.

mod decode;

use std::borrow::Cow;

pub use decode::{Decoded, decode, decode_all, decode_first};

use super::value::Value;

/// How [`encode`] writes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Writes `<`, `>` and `&` as `\u003c`, `\u003e` and `\u0026`: Go's default, off by `SetEscapeHTML(false)`.
    pub escape_html: bool,
    /// Puts each entry on a line of its own, indented by this for each level; none: all on one line without blanks.
    pub indent: Option<&'a str>,
}

/// Writes `value`, keys in the order of their bytes, no line break at the end.
///
/// Floats are plain from 1e-6 up to 1e21, else with an exponent (`1e+21`, `1e-7`). U+2028 and U+2029 are always
/// escaped. A float that is not a number, which a [`Value`] must not contain, becomes `null`. Recurses as deep as `value`.
///
/// Reference: Go 1.26 encoding/json encode.go and indent.go.
pub fn encode(value: &Value, options: Options<'_>) -> String {
    let mut text = String::new();
    Encoder { text: &mut text, options, level: 0 }.value(value);
    text
}

/// Writes `text` as a JSON string. Escapes as [`encode`] does.
pub fn encode_string(text: &str, escape_html: bool) -> String {
    let mut encoded = String::with_capacity(text.len() + 2);
    push_string(&mut encoded, text, escape_html);
    encoded
}

struct Encoder<'a> {
    text: &'a mut String,
    options: Options<'a>,
    level: usize,
}

impl Encoder<'_> {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Value::Int(value) => self.text.push_str(&value.to_string()),
            Value::Uint(value) => self.text.push_str(&value.to_string()),
            Value::Float(value) => self.text.push_str(go_std::json::format_number(*value).as_deref().unwrap_or("null")),
            Value::String(text) => push_string(self.text, text, self.options.escape_html),
            Value::Sequence(items) if items.is_empty() => self.text.push_str("[]"),
            Value::Mapping(mapping) if mapping.is_empty() => self.text.push_str("{}"),
            Value::Sequence(items) => {
                self.open('[');
                for (at, item) in items.iter().enumerate() {
                    self.separate(at);
                    self.value(item);
                }
                self.close(']');
            }
            Value::Mapping(mapping) => {
                self.open('{');
                for (at, (key, value)) in mapping.iter().enumerate() {
                    self.separate(at);
                    push_string(self.text, key, self.options.escape_html);
                    self.text.push_str(if self.options.indent.is_some() { ": " } else { ":" });
                    self.value(value);
                }
                self.close('}');
            }
        }
    }

    fn open(&mut self, bracket: char) {
        self.text.push(bracket);
        self.level += 1;
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.text.push(',');
        }
        self.new_line();
    }

    fn close(&mut self, bracket: char) {
        self.level -= 1;
        self.new_line();
        self.text.push(bracket);
    }

    fn new_line(&mut self) {
        if let Some(indent) = self.options.indent {
            self.text.push('\n');
            for _ in 0..self.level {
                self.text.push_str(indent);
            }
        }
    }
}

fn push_string(text: &mut String, value: &str, escape_html: bool) {
    text.push('"');
    let mut from = 0;
    for (at, byte) in value.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0C => "\\f",
            0x00..=0x1F => "",
            b'<' if escape_html => "\\u003c",
            b'>' if escape_html => "\\u003e",
            b'&' if escape_html => "\\u0026",
            0xE2 if value.as_bytes().get(at + 1..at + 3) == Some(b"\x80\xA8") => "\\u2028",
            0xE2 if value.as_bytes().get(at + 1..at + 3) == Some(b"\x80\xA9") => "\\u2029",
            _ => continue,
        };
        text.push_str(value.get(from..at).unwrap_or_default());
        if escape.is_empty() {
            text.push_str(&format!("\\u{byte:04x}"));
        } else {
            text.push_str(escape);
        }
        from = at + if byte == 0xE2 { 3 } else { 1 };
    }
    text.push_str(value.get(from..).unwrap_or_default());
    text.push('"');
}

/// Bytes as a string in JSON: Go replaces each byte that is not UTF-8.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}
