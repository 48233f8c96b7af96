//! Writing TOML.

use super::super::super::call::Call;
use super::super::super::error::{Failure, Limit};
use super::super::super::limits::VALUE_DEPTH_MAX;
use super::super::super::text::Text;
use super::super::super::value::{IntType, Value};
use super::{LOCAL_DATE, LOCAL_DATETIME, LOCAL_TIME, TomlVersion};

/// Writes a value: simple keys first, then tables, each sorted; tables below others are indented by two blanks.
///
/// Nil entries are left out, nil in a list is an error. Fails with BurntSushi's text ([`super::super::super::Cause::Function`]).
pub(in crate::funcs) fn encode(call: &mut Call<'_>, value: &Value, version: TomlVersion) -> Result<Vec<u8>, Failure> {
    if matches!(value, Value::Nil) {
        return Err(Failure::message("reflect: call of reflect.Value.Type on zero Value"));
    }
    let mut encoder = Encoder { call, out: Vec::new(), version };
    encoder.encode(&[], value, 0)?;
    Ok(encoder.out)
}

struct Encoder<'e, 'c> {
    call: &'e mut Call<'c>,
    out: Vec<u8>,
    version: TomlVersion,
}

/// What a value is to TOML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Nil,
    Simple,
    Table,
    /// A list of tables only.
    Tables,
}

/// A map's or a struct's entries.
fn entries(value: &Value) -> Option<Vec<(Text, Value)>> {
    match value {
        Value::Map(map) => Some(map.entries().iter().map(|(key, value)| (key.clone(), value.clone())).collect()),
        Value::Struct(fields) if fields.ty().json.is_none() => Some(
            fields
                .fields()
                .filter(|(field, _)| field.is_exported())
                .map(|(field, value)| (field.name.into(), value))
                .collect(),
        ),
        _ => None,
    }
}

fn sort(value: &Value, depth: u32) -> Result<Sort, Failure> {
    if depth > VALUE_DEPTH_MAX {
        return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
    }
    Ok(match value {
        value if value.is_nil() => Sort::Nil,
        Value::Map(_) => Sort::Table,
        Value::Struct(fields) if fields.ty().json.is_none() => Sort::Table,
        Value::List(list) => {
            let mut are_tables = !list.is_empty();
            for item in list.iter() {
                match sort(item, depth + 1)? {
                    Sort::Nil => return Err(Failure::message("toml: cannot encode array with nil element")),
                    sort => are_tables &= sort == Sort::Table,
                }
            }
            if are_tables { Sort::Tables } else { Sort::Simple }
        }
        _ => Sort::Simple,
    })
}

impl Encoder<'_, '_> {
    /// Writes a value under its key, which at the top has no parts.
    fn encode(&mut self, key: &[Text], value: &Value, depth: u32) -> Result<(), Failure> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
        }
        self.call.charge_bytes(key.len() * 16)?;
        match sort(value, depth)? {
            // Only at the top: what is nil elsewhere is not even asked for.
            Sort::Nil if key.is_empty() && matches!(value, Value::List(_)) => self.out.extend_from_slice(b"[]"),
            Sort::Nil => {}
            Sort::Simple => self.key_value(key, value, false, depth)?,
            Sort::Table => {
                if key.len() == 1 {
                    self.line_break();
                }
                if !key.is_empty() {
                    self.header(key, "[", "]");
                }
                self.table(key, value, depth)?;
            }
            Sort::Tables => {
                if key.is_empty() {
                    return Err(Failure::message("toml: top-level values must be Go maps or structs"));
                }
                let Value::List(list) = value else { return Ok(()) };
                for item in list.iter() {
                    self.line_break();
                    self.header(key, "[[", "]]");
                    self.table(key, item, depth)?;
                }
            }
        }
        Ok(())
    }

    fn line_break(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
    }

    fn indent(&mut self, key: &[Text]) {
        self.out.resize(self.out.len() + 2 * key.len().saturating_sub(1), b' ');
    }

    fn header(&mut self, key: &[Text], open: &str, close: &str) {
        self.indent(key);
        self.out.extend_from_slice(open.as_bytes());
        for (index, part) in key.iter().enumerate() {
            if index > 0 {
                self.out.push(b'.');
            }
            self.key(part);
        }
        self.out.extend_from_slice(close.as_bytes());
        self.line_break();
    }

    fn key(&mut self, part: &[u8]) {
        let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if !part.is_empty() && part.iter().all(is_bare) {
            self.out.extend_from_slice(part);
        } else {
            self.quoted(part);
        }
    }

    fn quoted(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for byte in text {
            match byte {
                b'"' => self.out.extend_from_slice(b"\\\""),
                b'\\' => self.out.extend_from_slice(b"\\\\"),
                8 => self.out.extend_from_slice(b"\\b"),
                b'\t' => self.out.extend_from_slice(b"\\t"),
                b'\n' => self.out.extend_from_slice(b"\\n"),
                12 => self.out.extend_from_slice(b"\\f"),
                b'\r' => self.out.extend_from_slice(b"\\r"),
                0..=0x1f | 0x7f => self.out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                byte => self.out.push(*byte),
            }
        }
        self.out.push(b'"');
    }

    fn key_value(&mut self, key: &[Text], value: &Value, is_inline: bool, depth: u32) -> Result<(), Failure> {
        let Some(last) = key.last() else { return self.element(value, depth) };
        self.indent(key);
        self.key(last);
        self.out.extend_from_slice(b" = ");
        self.element(value, depth)?;
        if !is_inline {
            self.line_break();
        }
        Ok(())
    }

    /// The entries of a table: what has a header of its own comes last.
    fn table(&mut self, key: &[Text], value: &Value, depth: u32) -> Result<(), Failure> {
        let mut path = key.to_vec();
        for (name, value) in Self::in_order(value, depth)?.concat() {
            path.push(name);
            self.encode(&path, &value, depth + 1)?;
            path.pop();
        }
        Ok(())
    }

    /// The entries without and with a header of their own.
    fn in_order(value: &Value, depth: u32) -> Result<[Vec<(Text, Value)>; 2], Failure> {
        let (mut direct, mut tables) = (Vec::new(), Vec::new());
        for (name, value) in entries(value).unwrap_or_default() {
            match sort(&value, depth + 1)? {
                Sort::Nil | Sort::Simple => direct.push((name, value)),
                Sort::Table | Sort::Tables => tables.push((name, value)),
            }
        }
        Ok([direct, tables])
    }

    fn inline_table(&mut self, value: &Value, depth: u32) -> Result<(), Failure> {
        let [direct, tables] = Self::in_order(value, depth)?;
        self.out.push(b'{');
        let (first, all) = (direct.len(), direct.len() + tables.len());
        for (index, (name, value)) in direct.into_iter().chain(tables).enumerate() {
            if value.is_nil() {
                continue;
            }
            self.key_value(&[name], &value, true, depth + 1)?;
            // A comma also when only nils follow among the simple ones.
            let is_last = index + 1 == all || index + 1 == first && first == all;
            if !is_last {
                self.out.extend_from_slice(b", ");
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn element(&mut self, value: &Value, depth: u32) -> Result<(), Failure> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
        }
        self.call.charge_bytes(16)?;
        match value {
            Value::Nil => return Err(Failure::message("toml: cannot encode array with nil element")),
            Value::Bool(value) => self.out.extend_from_slice(value.to_string().as_bytes()),
            Value::Int(IntType::Duration, value) => {
                let text = super::super::super::time::duration_string(*value);
                self.quoted(text.as_bytes());
            }
            Value::Int(_, value) => self.out.extend_from_slice(value.to_string().as_bytes()),
            Value::Uint(_, value) => self.out.extend_from_slice(value.to_string().as_bytes()),
            Value::Float(value) => self.out.extend_from_slice(float(*value, self.version).as_bytes()),
            Value::String(text) => self.quoted(text),
            Value::Bytes(bytes) => {
                let items: Vec<String> = bytes.iter().map(u8::to_string).collect();
                self.out.extend_from_slice(format!("[{}]", items.join(", ")).as_bytes());
            }
            Value::List(list) => {
                self.out.push(b'[');
                for (index, item) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.extend_from_slice(b", ");
                    }
                    self.element(item, depth + 1)?;
                }
                self.out.push(b']');
            }
            Value::Map(_) => self.inline_table(value, depth)?,
            Value::Struct(fields) => match fields.ty().json {
                Some(json) => self.element(&json(fields), depth + 1)?,
                None => self.inline_table(value, depth)?,
            },
            Value::Time(time) => {
                let layout = match time.civil().zone.as_str() {
                    LOCAL_DATETIME => "2006-01-02T15:04:05.999999999",
                    LOCAL_DATE => "2006-01-02",
                    LOCAL_TIME => "15:04:05.999999999",
                    _ => "2006-01-02T15:04:05.999999999Z07:00",
                };
                self.out.extend_from_slice(time.format(layout).as_bytes());
            }
        }
        Ok(())
    }
}

/// As `%v`, but never looking like an integer.
fn float(value: f64, version: TomlVersion) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        return format!("{sign}nan");
    }
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    let text = match version {
        TomlVersion::V1_4 | TomlVersion::V1_5 => go_std::strconv::format_float(value, b'f', None),
        TomlVersion::V1_6 => go_yaml::format_float(value),
    };
    if text.contains(['e', '.']) { text } else { format!("{text}.0") }
}
