//! Values of the settings into what serde knows.
//!
//! A mistake has the path and the place of the value that it is about.

use std::fmt;

use go_yaml::Mark;
use serde::de::value::StrDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::SettingsError;
use super::scalar::{self, Number};
use super::value::{Data, Key, Mapping, Value};

impl Value {
    /// What it is as a `T`.
    ///
    /// Errors: [`SettingsError::At`] where it was read from a text.
    pub(crate) fn decode<'de, T: Deserialize<'de>>(&'de self) -> Result<T, SettingsError> {
        T::deserialize(Decoder(self)).map_err(Mistake::into_error)
    }
}

/// What is wrong with a value.
#[derive(Debug)]
struct Mistake {
    what: String,
    mark: Option<Mark>,
    /// What leads to it, the innermost first.
    path: Vec<String>,
}

impl Mistake {
    /// Sets the place in the text, unless the place is known better.
    fn at(mut self, mark: Mark) -> Self {
        self.mark = self.mark.or((mark.line > 0).then_some(mark));
        self
    }

    fn inside(mut self, step: String, mark: Mark) -> Self {
        self.path.push(step);
        self.at(mark)
    }

    fn into_error(self) -> SettingsError {
        let mut path = String::new();
        for step in self.path.iter().rev() {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path += step;
        }
        let what = if path.is_empty() { self.what } else { format!("{path}: {}", self.what) };
        match self.mark {
            Some(mark) => SettingsError::at(mark, what),
            None => SettingsError::Wrong(what),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self { what: what.to_string(), mark: None, path: Vec::new() }
    }
}

#[derive(Clone, Copy)]
struct Decoder<'de>(&'de Value);

impl<'de> Deserializer<'de> for Decoder<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let read = match &self.0.data {
            Data::Null => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(*value),
            Data::Number(text) => match scalar::number(text) {
                Some(Number::Whole(value)) => visitor.visit_u64(value),
                Some(Number::Negative(value)) => visitor.visit_i64(value),
                Some(Number::Float(value)) => visitor.visit_f64(value),
                None => visitor.visit_borrowed_str(text),
            },
            Data::Text(text) => visitor.visit_borrowed_str(text),
            Data::List(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            Data::Mapping(Mapping(entries)) => visitor.visit_map(Entries { rest: entries.iter(), entry: None }),
        };
        read.map_err(|mistake: Mistake| mistake.at(self.0.mark))
    }

    /// A number where a string is wanted is its text.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.0.data {
            Data::Number(text) => visitor.visit_borrowed_str(text).map_err(|mistake: Mistake| mistake.at(self.0.mark)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.0.data {
            Data::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &str, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self).map_err(|mistake: Mistake| mistake.at(self.0.mark))
    }

    /// A word; no setting has a variant with more.
    fn deserialize_enum<V: Visitor<'de>>(self, _: &str, _: &[&str], visitor: V) -> Result<V::Value, Mistake> {
        match &self.0.data {
            Data::Text(word) => visitor
                .visit_enum(StrDeserializer::<Mistake>::new(word))
                .map_err(|mistake: Mistake| mistake.at(self.0.mark)),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple tuple_struct
        map struct identifier ignored_any
    }
}

struct Items<'de>(std::iter::Enumerate<std::slice::Iter<'de, Value>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mistake> {
        let Some((index, item)) = self.0.next() else { return Ok(None) };
        seed.deserialize(Decoder(item))
            .map(Some)
            .map_err(|mistake: Mistake| mistake.inside(format!("[{index}]"), item.mark))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, (Key, Value)>,
    /// The entry of which the key was given last.
    entry: Option<&'de (Key, Value)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        self.entry = self.rest.next();
        let Some((key, _)) = self.entry else { return Ok(None) };
        let read = seed.deserialize(StrDeserializer::<Mistake>::new(&key.name));
        read.map(Some).map_err(|mistake: Mistake| mistake.at(key.mark))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Mistake> {
        let (key, value) = self.entry.take().ok_or_else(|| de::Error::custom("a value without a key"))?;
        seed.deserialize(Decoder(value)).map_err(|mistake: Mistake| mistake.inside(key.name.clone(), value.mark))
    }
}
