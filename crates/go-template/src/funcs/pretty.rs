//! `toYamlPretty`: go-yaml v3 sees Go's values themselves, not what JSON makes of them.

use go_std::time::duration_string;
use go_yaml::{self as yaml, GoValue};

use super::super::call::Call;
use super::super::error::{Failure, Limit};
use super::super::limits::VALUE_DEPTH_MAX;
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
    let mut converter = Converter { nodes: 0, bytes: 0, bytes_max: call.bytes_left() };
    let value = converter.convert(value, 0)?;
    call.charge_bytes(converter.bytes)?;
    charge_printed(call, converter.bytes)?;
    call.reserve(converter.bytes.saturating_mul(2))?;
    Ok(yaml::emit_go(&value))
}

/// What a value takes beside its text.
const NODE_BYTES: usize = 16;

struct Converter {
    nodes: usize,
    bytes: usize,
    bytes_max: usize,
}

impl Converter {
    fn convert(&mut self, value: &Value, depth: u32) -> Result<GoValue, Failure> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
        }
        self.nodes += 1;
        let nodes_max = yaml::Limits::default().nodes;
        if self.nodes > nodes_max {
            return Err(Limit::Values(nodes_max).into());
        }
        self.take(NODE_BYTES + 2 * depth as usize)?;
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
                self.take(bytes.len().saturating_mul(NODE_BYTES + 2 * depth as usize))?;
                GoValue::Sequence(bytes.iter().map(|byte| GoValue::Plain(byte.to_string())).collect())
            }
            Value::List(list) => {
                GoValue::Sequence(list.iter().map(|item| self.convert(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Value::Map(map) => {
                let entries = map.entries();
                let entry = |(key, value): (&Text, &Value)| {
                    self.take(key.len().saturating_mul(2))?;
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
        self.take(text.len().saturating_mul(2).saturating_add(lines.saturating_mul(2 * depth as usize)))?;
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

    fn take(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.bytes_max { Err(Limit::Bytes(self.bytes_max as u64).into()) } else { Ok(()) }
    }
}
