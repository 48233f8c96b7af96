//! `toYamlPretty`: go-yaml v3 sees Go's values themselves, not what JSON makes of them.

use go_std::time::duration_string;
use go_yaml::{self as yaml, GoValue};

use super::super::call::Call;
use super::super::convert::Made;
use super::super::error::Failure;
use super::super::structure::{Field, Struct};
use super::super::text::Text;
use super::super::value::{IntType, Value};
use super::common::charge_printed;

/// Writes a value with a line break at the end. Takes what it makes from the budget.
///
/// Floats stay floats, times are times, text that is not UTF-8 is binary, a nil list is an empty one, and fields of structs
/// have their names in lower case.
///
/// Reference: helm 4.2.3 pkg/engine/funcs.go `toYAMLPretty`; go-yaml v3.0.4 encode.go `marshal`.
pub(super) fn to_yaml_pretty(call: &mut Call<'_>, value: &Value) -> Result<String, Failure> {
    let mut converter = Converter { made: Made::new(call.bytes_left()) };
    let value = converter.convert(value, 0)?;
    call.charge_bytes(converter.made.bytes)?;
    charge_printed(call, converter.made.bytes)?;
    call.reserve(converter.made.bytes.saturating_mul(2))?;
    Ok(yaml::emit_go(&value))
}

struct Converter {
    made: Made,
}

impl Converter {
    fn convert(&mut self, value: &Value, depth: u32) -> Result<GoValue, Failure> {
        self.made.node(depth)?;
        Ok(match value {
            Value::Nil => GoValue::Plain("null".to_owned()),
            Value::Bool(value) => GoValue::Plain(value.to_string()),
            Value::Int(IntType::Duration, nanoseconds) => GoValue::Text(duration_string(*nanoseconds).into_bytes()),
            Value::Int(_, value) => GoValue::Plain(value.to_string()),
            Value::Uint(_, value) => GoValue::Plain(value.to_string()),
            Value::Float(value) => GoValue::float(*value),
            Value::String(text) => self.text(text, depth)?,
            Value::Bytes(bytes) => {
                // A list of numbers.
                self.made.take(bytes.len().saturating_mul(Made::node_bytes(depth)))?;
                GoValue::Sequence(bytes.iter().map(|byte| GoValue::Plain(byte.to_string())).collect())
            }
            Value::List(list) => {
                GoValue::Sequence(list.iter().map(|item| self.convert(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Value::Map(map) => {
                let entries = map.entries();
                let entry = |(key, value): (&Text, &Value)| {
                    self.made.take(key.len().saturating_mul(2))?;
                    Ok((key.to_vec(), self.convert(value, depth + 1)?))
                };
                GoValue::Mapping(entries.iter().map(entry).collect::<Result<_, Failure>>()?)
            }
            Value::Time(time) => GoValue::Plain(time.format("2006-01-02T15:04:05.999999999Z07:00")),
            Value::Struct(fields) => self.fields(fields, depth)?,
        })
    }

    /// Base64 is longer than text, and each line is indented.
    fn text(&mut self, text: &[u8], depth: u32) -> Result<GoValue, Failure> {
        let lines = memchr::memchr_iter(b'\n', text).count();
        self.made.take(text.len().saturating_mul(2).saturating_add(lines.saturating_mul(2 * depth as usize)))?;
        Ok(GoValue::Text(text.to_vec()))
    }

    /// What has a form of its own in JSON is a text here, too: versions.
    fn fields(&mut self, fields: &Struct, depth: u32) -> Result<GoValue, Failure> {
        if let Some(json) = fields.ty().json {
            return self.convert(&json(fields), depth + 1);
        }
        let exported = fields.fields().filter(|(field, _)| field.is_exported());
        let field =
            |(field, value): (&Field, Value)| Ok((field.name.to_ascii_lowercase(), self.convert(&value, depth + 1)?));
        Ok(GoValue::Fields(exported.map(field).collect::<Result<_, Failure>>()?))
    }
}
