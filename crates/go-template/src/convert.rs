//! Between template values and what YAML and JSON mean.

use go_yaml as yaml;

use super::error::{Failure, Limit};
use super::json::json_fields;
use super::limits::VALUE_DEPTH_MAX;
use super::map::Map;
use super::structure::Struct;
use super::text::Text;
use super::value::Value;

impl Value {
    /// What a file says, as Helm hands it to templates: every number is a `float64`.
    pub fn from_yaml(value: &yaml::Value) -> Self {
        match value {
            yaml::Value::Null => Value::Nil,
            yaml::Value::Bool(value) => Value::Bool(*value),
            yaml::Value::Int(value) => Value::Float(*value as f64),
            yaml::Value::Uint(value) => Value::Float(*value as f64),
            yaml::Value::Float(value) => Value::Float(*value),
            yaml::Value::String(text) => Value::from(text.as_str()),
            yaml::Value::Sequence(items) => Value::List(items.iter().map(Value::from_yaml).collect()),
            yaml::Value::Mapping(entries) => Value::Map(
                entries.iter().map(|(key, value)| (Text::from(key), Value::from_yaml(value))).collect::<Map>(),
            ),
        }
    }

    /// What `json.Marshal` makes of it and YAML or JSON can say: bytes become base64, times text, structs mappings.
    ///
    /// Fails when it contains itself, is too deep or too large, and with Go's text ([`super::Cause::Function`]) for what
    /// JSON lacks.
    pub fn to_yaml(&self) -> Result<yaml::Value, Failure> {
        self.to_yaml_within(BYTES_MAX).map(|(value, _)| value)
    }

    /// Converts the value as [`Self::to_yaml`] does, to at most `bytes_max` bytes. The number is about how many bytes
    /// the result takes, as YAML and as a value.
    pub(super) fn to_yaml_within(&self, bytes_max: usize) -> Result<(yaml::Value, usize), Failure> {
        let mut converter = Converter { made: Made::new(bytes_max) };
        let value = converter.convert(self, 0)?;
        Ok((value, converter.made.bytes))
    }
}

/// How much a value may take that a host converts.
const BYTES_MAX: usize = 1 << 30;

/// How much a conversion may make, and how much it has made.
pub(super) struct Made {
    nodes: usize,
    /// About how many bytes the result takes, as YAML and as a value.
    pub bytes: usize,
    bytes_max: usize,
}

impl Made {
    /// Nothing yet, of at most `bytes_max` bytes.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { nodes: 0, bytes: 0, bytes_max }
    }

    /// What a value takes beside its text, so deep in another one.
    pub(super) fn node_bytes(depth: u32) -> usize {
        16 + 2 * depth as usize
    }

    /// Takes a value, so deep in another one, without its text.
    pub(super) fn node(&mut self, depth: u32) -> Result<(), Failure> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
        }
        self.nodes += 1;
        let nodes_max = yaml::Limits::default().nodes;
        if self.nodes > nodes_max {
            return Err(Limit::Values(nodes_max).into());
        }
        self.take(Self::node_bytes(depth))
    }

    /// Takes so many bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.bytes_max { Err(Limit::Bytes(self.bytes_max as u64).into()) } else { Ok(()) }
    }
}

struct Converter {
    made: Made,
}

impl Converter {
    fn convert(&mut self, value: &Value, depth: u32) -> Result<yaml::Value, Failure> {
        self.made.node(depth)?;
        Ok(match value {
            Value::Nil => yaml::Value::Null,
            Value::Bool(value) => yaml::Value::Bool(*value),
            Value::Int(_, value) => yaml::Value::Int(*value),
            Value::Uint(_, value) => i64::try_from(*value).map_or(yaml::Value::Uint(*value), yaml::Value::Int),
            Value::Float(value) if value.is_finite() => yaml::Value::Float(*value),
            Value::Float(value) => {
                return Err(Failure::message(format!("json: unsupported value: {}", yaml::format_float(*value))));
            }
            Value::String(text) => {
                // Each line is indented.
                let lines = memchr::memchr_iter(b'\n', text).count();
                self.made.take(text.len().saturating_add(lines.saturating_mul(2 * depth as usize)))?;
                yaml::Value::String(text.to_str().into_owned())
            }
            Value::Bytes(bytes) => {
                self.made.take(bytes.len().saturating_mul(2))?;
                yaml::Value::String(data_encoding::BASE64.encode(bytes))
            }
            Value::List(list) if list.is_nil() => yaml::Value::Null,
            Value::List(list) => {
                let items = list.iter().map(|item| self.convert(item, depth + 1)).collect::<Result<_, _>>()?;
                yaml::Value::Sequence(items)
            }
            Value::Map(map) if map.is_nil() => yaml::Value::Null,
            Value::Map(map) => {
                let mut entries = yaml::Mapping::new();
                for (key, value) in map.entries().iter() {
                    self.made.take(key.len())?;
                    entries.insert(key.to_str().into_owned(), self.convert(value, depth + 1)?);
                }
                yaml::Value::Mapping(entries)
            }
            Value::Time(time) => yaml::Value::String(time.to_json().ok_or_else(|| {
                let what = "Time.MarshalJSON: year outside of range [0,9999]";
                Failure::message(format!("json: error calling MarshalJSON for type time.Time: {what}"))
            })?),
            Value::Struct(fields) => self.convert_struct(fields, depth)?,
        })
    }

    fn convert_struct(&mut self, fields: &Struct, depth: u32) -> Result<yaml::Value, Failure> {
        if let Some(json) = fields.ty().json {
            return self.convert(&json(fields), depth + 1);
        }
        let mut entries = yaml::Mapping::new();
        for (key, value) in json_fields(fields) {
            entries.insert(super::text::to_str(key).into_owned(), self.convert(&value, depth + 1)?);
        }
        Ok(yaml::Value::Mapping(entries))
    }
}

/// How many values a value consists of, itself included.
pub(super) fn count(value: &yaml::Value) -> usize {
    match value {
        yaml::Value::Sequence(items) => 1 + items.iter().map(count).sum::<usize>(),
        yaml::Value::Mapping(entries) => 1 + entries.values().map(count).sum::<usize>(),
        yaml::Value::Null
        | yaml::Value::Bool(_)
        | yaml::Value::Int(_)
        | yaml::Value::Uint(_)
        | yaml::Value::Float(_)
        | yaml::Value::String(_) => 1,
    }
}
