//! JSON as `encoding/json` writes it, straight from values.

use std::borrow::Borrow;

use go_yaml as yaml;
use go_yaml::json::{Options, encode_string};

use super::error::{Failure, Limit};
use super::limits::VALUE_DEPTH_MAX;
use super::structure::Struct;
use super::value::Value;

/// What `encoding/json` makes of bytes in texts that are no UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongBytes {
    /// `\ufffd`, each of them: Go to 1.26.
    Escaped,
    /// The character U+FFFD, each of them: Go from 1.27 on.
    Replaced,
}

/// Writes a value; at most `max` bytes. Fails with Go's text ([`super::Cause::Function`]) for what JSON lacks.
pub(super) fn encode(
    value: &Value,
    options: Options<'_>,
    wrong_bytes: WrongBytes,
    max: usize,
) -> Result<String, Failure> {
    let mut encoder = Encoder { out: String::new(), options, wrong_bytes, max };
    encoder.value(value, 0)?;
    Ok(encoder.out)
}

struct Encoder<'o> {
    out: String,
    options: Options<'o>,
    wrong_bytes: WrongBytes,
    max: usize,
}

impl Encoder<'_> {
    fn value(&mut self, value: &Value, depth: u32) -> Result<(), Failure> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
        }
        if self.out.len() > self.max {
            return Err(Limit::Bytes(self.max as u64).into());
        }
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Int(_, value) => self.out.push_str(&value.to_string()),
            Value::Uint(_, value) => self.out.push_str(&value.to_string()),
            Value::Float(value) if value.is_finite() => {
                self.out.push_str(&yaml::json::encode(&yaml::Value::Float(*value), Options::default()));
            }
            Value::Float(value) => {
                return Err(Failure::message(format!("json: unsupported value: {}", yaml::format_float(*value))));
            }
            Value::String(text) if self.out.len() + text.len() > self.max => {
                return Err(Limit::Bytes(self.max as u64).into());
            }
            Value::String(text) => self.string(text),
            Value::Bytes(bytes) if self.out.len() + bytes.len() > self.max => {
                return Err(Limit::Bytes(self.max as u64).into());
            }
            Value::Bytes(bytes) => self.string(data_encoding::BASE64.encode(bytes).as_bytes()),
            Value::List(list) if list.is_nil() => self.out.push_str("null"),
            Value::List(list) => {
                self.out.push('[');
                for (index, item) in list.iter().enumerate() {
                    self.entry(index, depth);
                    self.value(item, depth + 1)?;
                }
                self.close(']', list.is_empty(), depth);
            }
            Value::Map(map) if map.is_nil() => self.out.push_str("null"),
            Value::Map(map) => {
                let entries = map.entries();
                self.object(entries.iter().map(|(key, value)| (key.as_bytes(), value)), depth)?;
            }
            Value::Time(time) => {
                let text = time.to_json().ok_or_else(|| {
                    let what = "Time.MarshalJSON: year outside of range [0,9999]";
                    Failure::message(format!("json: error calling MarshalJSON for type time.Time: {what}"))
                })?;
                self.string(text.as_bytes());
            }
            Value::Struct(fields) => match fields.ty().json {
                Some(json) => self.value(&json(fields), depth + 1)?,
                None => self.object(json_fields(fields), depth)?,
            },
        }
        Ok(())
    }

    fn object<'k>(
        &mut self,
        entries: impl Iterator<Item = (&'k [u8], impl Borrow<Value>)>,
        depth: u32,
    ) -> Result<(), Failure> {
        self.out.push('{');
        let mut count = 0;
        for (key, value) in entries {
            self.entry(count, depth);
            self.string(key);
            self.out.push_str(if self.options.indent.is_some() { ": " } else { ":" });
            self.value(value.borrow(), depth + 1)?;
            count += 1;
        }
        self.close('}', count == 0, depth);
        Ok(())
    }

    fn entry(&mut self, index: usize, depth: u32) {
        if index > 0 {
            self.out.push(',');
        }
        self.line(depth + 1);
    }

    fn close(&mut self, bracket: char, is_empty: bool, depth: u32) {
        if !is_empty {
            self.line(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: u32) {
        if let Some(indent) = self.options.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(indent, depth as usize));
        }
    }

    fn string(&mut self, text: &[u8]) {
        if let Ok(text) = std::str::from_utf8(text) {
            self.out.push_str(&encode_string(text, self.options.escape_html));
            return;
        }
        self.out.push('"');
        for chunk in text.utf8_chunks() {
            let quoted = encode_string(chunk.valid(), self.options.escape_html);
            self.out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
            let replacement = match self.wrong_bytes {
                WrongBytes::Escaped => "\\ufffd",
                WrongBytes::Replaced => "\u{fffd}",
            };
            self.out.extend(chunk.invalid().iter().map(|_| replacement));
        }
        self.out.push('"');
    }
}

/// The fields that JSON shows, with their keys.
pub(super) fn json_fields(fields: &Struct) -> impl Iterator<Item = (&'static [u8], Value)> {
    fields
        .fields()
        .filter(|(field, value)| {
            field.is_exported() && !field.json.is_empty() && (value.is_true() || !field.omit_empty)
        })
        .map(|(field, value)| (field.json.as_bytes(), value))
}
