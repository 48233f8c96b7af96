//! Between template values and what YAML and JSON mean.

use super::error::Limit;
use super::limits::VALUE_DEPTH_MAX;
use super::list::List;
use super::map::Map;
use super::text::Text;
use super::value::Value;
use crate::yaml;

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
    /// Fails when it nests too deep or holds itself, and with Go's text for numbers that JSON lacks.
    pub fn to_yaml(&self) -> Result<yaml::Value, String> {
        to_yaml(self, 0)
    }
}

fn to_yaml(value: &Value, depth: u32) -> Result<yaml::Value, String> {
    if depth > VALUE_DEPTH_MAX {
        return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).to_string());
    }
    Ok(match value {
        Value::Nil => yaml::Value::Null,
        Value::Bool(value) => yaml::Value::Bool(*value),
        Value::Int(_, value) => yaml::Value::Int(*value),
        Value::Uint(_, value) => i64::try_from(*value).map_or(yaml::Value::Uint(*value), yaml::Value::Int),
        Value::Float(value) if value.is_finite() => yaml::Value::Float(*value),
        Value::Float(value) => {
            return Err(format!("json: unsupported value: {}", yaml::format_float(*value)));
        }
        Value::String(text) => yaml::Value::String(text.to_str().into_owned()),
        Value::Bytes(bytes) => yaml::Value::String(data_encoding::BASE64.encode(bytes)),
        Value::List(list) if list.is_nil() => yaml::Value::Null,
        Value::List(list) => {
            yaml::Value::Sequence(list.iter().map(|item| to_yaml(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        Value::Map(map) if map.is_nil() => yaml::Value::Null,
        Value::Map(map) => {
            let mut entries = yaml::Mapping::new();
            for (key, value) in map.entries().iter() {
                entries.insert(key.to_str().into_owned(), to_yaml(value, depth + 1)?);
            }
            yaml::Value::Mapping(entries)
        }
        Value::Time(time) => yaml::Value::String(time.to_json().ok_or_else(|| {
            "json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: year outside of range [0,9999]"
                .to_owned()
        })?),
        Value::Struct(fields) => {
            if let Some(json) = fields.ty().json {
                return to_yaml(&json(fields), depth + 1);
            }
            let mut entries = yaml::Mapping::new();
            for (field, value) in fields.fields() {
                if !field.json.is_empty() && field.is_exported() && (value.is_true() || !field.omit_empty) {
                    entries.insert(field.json.to_owned(), to_yaml(value, depth + 1)?);
                }
            }
            yaml::Value::Mapping(entries)
        }
    })
}

impl From<List> for Vec<Value> {
    fn from(list: List) -> Self {
        list.to_vec()
    }
}
