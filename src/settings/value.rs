//! What `settings.yaml` says: values in the order in which they are written, each with its place.
//!
//! `reader` makes them of text, `scalar` knows what one without quotes means; `deserialize` makes settings of them.

use go_yaml::{self as yaml, Mark, Node, Sequences, Style};
use serde::{Serialize, Serializer};

use super::SettingsError;
use super::scalar::{self, Number};

/// A value of the settings.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// What it is.
    pub data: Data,
    /// Where it is; line 0 when it was not read.
    pub(super) mark: Mark,
}

/// What a [`Value`] is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written.
    Number(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A mapping.
    Mapping(Mapping),
}

/// A mapping whose keys stay in their order; none is there twice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mapping(pub(super) Vec<(Key, Value)>);

/// A key of a mapping.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub name: String,
    /// Whether it is a string; what else it may be is kept as it is written.
    pub is_text: bool,
    pub mark: Mark,
}

impl Value {
    /// The value of a key, when this is a mapping that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match &self.data {
            Data::Mapping(mapping) => mapping.get(key),
            _ => None,
        }
    }

    /// The string, when this is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, when this is a list.
    pub(crate) fn as_list(&self) -> Option<&[Value]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// Makes this a list of itself, unless it is a list.
    pub(super) fn wrap(&mut self) {
        if !matches!(self.data, Data::List(_)) {
            let item = self.clone();
            self.data = Data::List(vec![item]);
        }
    }

    /// Why these are no settings.
    pub(super) fn no_mapping(&self) -> SettingsError {
        SettingsError::at(self.mark, "the settings must be a mapping of keys".to_owned())
    }

    /// It as YAML, with a line break at the end.
    pub(crate) fn to_yaml(&self) -> String {
        let mut writer = Writer::default();
        let node = writer.node(self);
        let yaml = yaml::emit_node(&node, Sequences::Compact);
        yaml.chars().map(|c| writer.written(c)).collect()
    }
}

/// Makes nodes of values.
///
/// go-yaml escapes characters above U+FFFF, which settings have always had as they are: each is written as one for private
/// use, and put back afterwards.
#[derive(Default)]
struct Writer {
    replaced: Vec<char>,
}

const PRIVATE: std::ops::RangeInclusive<char> = '\u{E000}'..='\u{F8FF}';

impl Writer {
    fn node(&mut self, value: &Value) -> Node {
        match &value.data {
            Data::Null => Node::scalar("null"),
            Data::Bool(value) => Node::scalar(value.to_string()),
            Data::Number(text) => Node::scalar(text.as_str()),
            Data::Text(text) => self.text(text),
            Data::List(items) => Node::sequence(items.iter().map(|item| self.node(item)).collect()),
            Data::Mapping(Mapping(entries)) => {
                Node::mapping(entries.iter().map(|(key, value)| (self.key(key), self.node(value))).collect())
            }
        }
    }

    fn key(&mut self, key: &Key) -> Node {
        if key.is_text { self.text(&key.name) } else { Node::scalar(key.name.as_str()) }
    }

    /// A string, with quotes where it would be read as something else.
    fn text(&mut self, text: &str) -> Node {
        let style = if scalar::is_clear(text) { Style::Plain } else { Style::SingleQuoted };
        Node { style, ..Node::scalar(text.chars().map(|c| self.private(c)).collect::<String>()) }
    }

    fn private(&mut self, c: char) -> char {
        if c <= '\u{FFFF}' && !PRIVATE.contains(&c) {
            return c;
        }
        let known = self.replaced.iter().position(|known| *known == c);
        let index = known.unwrap_or_else(|| {
            self.replaced.push(c);
            self.replaced.len() - 1
        });
        PRIVATE.clone().nth(index).unwrap_or(c)
    }

    fn written(&self, c: char) -> char {
        if !PRIVATE.contains(&c) {
            return c;
        }
        let index = u32::from(c) - u32::from(*PRIVATE.start());
        self.replaced.get(index as usize).copied().unwrap_or(c)
    }
}

impl Mapping {
    /// The value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key.is_text && key.name == name).map(|(_, value)| value)
    }

    /// The keys that are strings.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(key, _)| key.is_text).map(|(key, _)| key.name.as_str())
    }

    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the value of a key: in its place, or at the end.
    pub(crate) fn insert(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(key, _)| key.is_text && key.name == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((Key { name: name.to_owned(), is_text: true, mark: Mark::default() }, value)),
        }
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| !(key.is_text && key.name == name));
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

/// Whatever the order of the keys.
impl PartialEq for Mapping {
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

impl Mapping {
    fn sorted(&self) -> Vec<(&str, bool, &Value)> {
        let mut entries: Vec<_> = self.0.iter().map(|(key, value)| (key.name.as_str(), key.is_text, value)).collect();
        entries.sort_unstable_by_key(|(name, is_text, _)| (*name, *is_text));
        entries
    }
}

impl From<Data> for Value {
    fn from(data: Data) -> Self {
        Self { data, mark: Mark::default() }
    }
}

impl From<Mapping> for Value {
    fn from(mapping: Mapping) -> Self {
        Data::Mapping(mapping).into()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Data::Text(text.to_owned()).into()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Data::Text(text).into()
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Data::Bool(value).into()
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Data::List(items.into_iter().map(T::into).collect()).into()
    }
}

impl<'n> FromIterator<(&'n str, Value)> for Mapping {
    fn from_iter<T: IntoIterator<Item = (&'n str, Value)>>(entries: T) -> Self {
        let mut mapping = Self::default();
        entries.into_iter().for_each(|(name, value)| mapping.insert(name, value));
        mapping
    }
}

/// As JSON.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.data {
            Data::Null => serializer.serialize_unit(),
            Data::Bool(value) => serializer.serialize_bool(*value),
            Data::Number(text) => match scalar::number(text) {
                Some(Number::Whole(value)) => serializer.serialize_u64(value),
                Some(Number::Negative(value)) => serializer.serialize_i64(value),
                Some(Number::Float(value)) => serializer.serialize_f64(value),
                None => serializer.serialize_str(text),
            },
            Data::Text(text) => serializer.serialize_str(text),
            Data::List(items) => serializer.collect_seq(items),
            Data::Mapping(Mapping(entries)) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (key.name.as_str(), value)))
            }
        }
    }
}
