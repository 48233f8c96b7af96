//! Values as JSON has them.

use std::collections::BTreeMap;

/// A mapping of JSON: string keys, in the order of their bytes, as Go's `encoding/json` writes them.
pub type Mapping = BTreeMap<String, Value>;

/// What a YAML document means to a Kubernetes tool: JSON, with Go's kinds of numbers.
///
/// Positions, styles, comments and the order of keys are gone; who needs them works on nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer that fits `int64`.
    Int(i64),
    /// A larger integer that fits `uint64`; never one that fits [`Value::Int`].
    Uint(u64),
    /// Any other number. Never an infinity or NaN: JSON has none.
    Float(f64),
    /// A string.
    String(String),
    /// A list.
    Sequence(Vec<Value>),
    /// A mapping.
    Mapping(Mapping),
}

impl Value {
    /// The entry `key`, when this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_mapping()?.get(key)
    }

    /// The entry that is reached through `keys`, each in the mapping before it.
    pub fn at(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The string, when this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The mapping, when this is one.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match self {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// The list, when this is one.
    pub fn as_sequence(&self) -> Option<&[Value]> {
        match self {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The truth value, when this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// What Go's `encoding/json` calls a value of this kind.
    pub fn json_kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => "number",
            Value::String(_) => "string",
            Value::Sequence(_) => "array",
            Value::Mapping(_) => "object",
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<Mapping> for Value {
    fn from(mapping: Mapping) -> Self {
        Value::Mapping(mapping)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Value::Sequence(items)
    }
}
