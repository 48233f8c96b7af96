//! Reads the fields of one mapping: types as Kubernetes checks them, every mistake noted, unknown fields warned of.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::field::{Content, Entry, Field, Place};
use super::mistake::{Mistake, Mistakes};
use crate::yaml::Value;

/// A mapping that is being read. What was never asked for is unknown, and [`Object::finish`] says so.
pub(super) struct Object<'a> {
    /// What its fields are called in messages, with a dot at its end; empty at the top.
    name: String,
    /// Where to point at what is missing.
    place: &'a Place,
    entries: &'a [Entry],
    known: RefCell<Vec<&'static str>>,
    mistakes: &'a RefCell<Mistakes>,
}

impl<'a> Object<'a> {
    /// Reads `field`, called `name`; `place` is its key's, or its own when it has none. Not a mapping: a mistake, and
    /// nothing.
    pub fn new(field: &'a Field, name: &str, place: &'a Place, mistakes: &'a RefCell<Mistakes>) -> Option<Self> {
        let Content::Mapping(entries) = &field.content else {
            let mistake = Mistake::Type { field: name.to_owned(), expected: "a mapping", found: field.kind() };
            mistakes.borrow_mut().add(mistake, &field.place);
            return None;
        };
        let name = if name.is_empty() { String::new() } else { format!("{name}.") };
        for entry in entries.iter().filter(|entry| entry.twice) {
            let mistake = Mistake::Twice { field: format!("{name}{}", entry.key) };
            mistakes.borrow_mut().add(mistake, &entry.key_place);
        }
        Some(Self { name, place, entries, known: RefCell::default(), mistakes })
    }

    /// Where the mapping stands.
    pub fn place(&self) -> &'a Place {
        self.place
    }

    /// The entry of a field, noted as known; `null` is no entry.
    pub fn entry(&self, key: &'static str) -> Option<&'a Entry> {
        self.known.borrow_mut().push(key);
        self.entries.iter().find(|entry| entry.key == key && !entry.field.is_null())
    }

    pub fn add(&self, mistake: Mistake, place: &Place) {
        self.mistakes.borrow_mut().add(mistake, place);
    }

    /// The entry of a field that must be there.
    pub fn required(&self, key: &'static str) -> Option<&'a Entry> {
        let entry = self.entry(key);
        if entry.is_none() {
            self.add(Mistake::Missing { field: format!("{}{key}", self.name) }, self.place);
        }
        entry
    }

    /// A mapping inside of this one.
    pub fn object(&self, key: &'static str) -> Option<Object<'a>> {
        let entry = self.entry(key)?;
        Object::new(&entry.field, &self.called(key), &entry.key_place, self.mistakes)
    }

    /// A mapping inside of this one whose fields are called after it alone.
    pub fn object_called(&self, entry: &'a Entry, name: &str) -> Option<Object<'a>> {
        Object::new(&entry.field, name, &entry.key_place, self.mistakes)
    }

    /// A mapping that must be there.
    pub fn required_object(&self, key: &'static str) -> Option<Object<'a>> {
        self.required(key)?;
        self.object(key)
    }

    /// A text; nothing when it is not there, of another type, or empty.
    pub fn text(&self, key: &'static str) -> Option<String> {
        let entry = self.entry(key)?;
        self.as_text(&entry.field, self.called(key)).filter(|text| !text.is_empty())
    }

    /// A text that must be there and may be empty, with its place.
    pub fn required_text(&self, key: &'static str) -> Option<(String, &'a Place)> {
        let entry = self.required(key)?;
        Some((self.as_text(&entry.field, self.called(key))?, &entry.field.place))
    }

    /// A text that must be there and can't be empty, with its place.
    pub fn required_name(&self, key: &'static str) -> Option<(String, &'a Place)> {
        let (text, place) = self.required_text(key)?;
        if text.is_empty() {
            self.add(Mistake::Empty { field: self.called(key) }, place);
            return None;
        }
        Some((text, place))
    }

    pub fn flag(&self, key: &'static str) -> bool {
        let Some(entry) = self.entry(key) else { return false };
        match &entry.field.content {
            Content::Scalar(Value::Bool(value)) => *value,
            _ => {
                self.wrong_type(&entry.field, self.called(key), "true or false");
                false
            }
        }
    }

    pub fn texts(&self, key: &'static str) -> Vec<String> {
        self.list(key).filter_map(|(name, field)| self.as_text(field, name)).collect()
    }

    /// The mappings of a list, each read by `read`.
    pub fn objects<T>(&self, key: &'static str, mut read: impl FnMut(&Object<'a>) -> T) -> Vec<T> {
        let objects = self.list(key).filter_map(|(name, field)| {
            let object = Object::new(field, &name, &field.place, self.mistakes)?;
            let value = read(&object);
            object.finish();
            Some(value)
        });
        objects.collect()
    }

    /// A mapping of texts to what `read` makes of each value.
    pub fn map<T>(&self, key: &'static str, read: impl Fn(&Self, &Field, String) -> Option<T>) -> BTreeMap<String, T> {
        let mut map = BTreeMap::new();
        let Some(object) = self.object(key) else { return map };
        for entry in object.entries {
            if let Some(value) = read(self, &entry.field, object.called(&entry.key)) {
                map.insert(entry.key.clone(), value);
            }
        }
        map
    }

    pub fn as_text(&self, field: &Field, name: String) -> Option<String> {
        let text = field.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong_type(field, name, "a text");
        }
        text
    }

    pub fn as_flag(&self, field: &Field, name: String) -> Option<bool> {
        let Content::Scalar(Value::Bool(value)) = &field.content else {
            self.wrong_type(field, name, "true or false");
            return None;
        };
        Some(*value)
    }

    pub fn wrong_type(&self, field: &Field, name: String, expected: &'static str) {
        let mistake = Mistake::Type { field: name, expected, found: field.kind() };
        self.add(mistake, &field.place);
    }

    /// What a field of this mapping is called in messages.
    pub fn called(&self, key: &str) -> String {
        format!("{}{key}", self.name)
    }

    /// Warns of the fields that were never asked for.
    pub fn finish(&self) {
        let known = self.known.borrow();
        let unknown = self.entries.iter().filter(|entry| !known.contains(&entry.key.as_str()));
        for entry in unknown.take(UNKNOWN_MAX) {
            let mistake = Mistake::Unknown { field: self.called(&entry.key), close: closest(&entry.key, &known) };
            self.add(mistake, &entry.key_place);
        }
    }

    fn list(&self, key: &'static str) -> impl Iterator<Item = (String, &'a Field)> + use<'a> {
        let name = self.called(key);
        let items = match self.entry(key) {
            None => &[],
            Some(entry) => match &entry.field.content {
                Content::List(items) => items.as_slice(),
                Content::Scalar(_) | Content::Mapping(_) => {
                    self.wrong_type(&entry.field, name.clone(), "a list");
                    &[]
                }
            },
        };
        items.iter().enumerate().map(move |(index, field)| (format!("{name}[{index}]"), field))
    }
}

/// How many unknown fields of one mapping are told.
const UNKNOWN_MAX: usize = 20;

/// The known field that was meant: the same but for case, or at most a third of its letters away.
fn closest(key: &str, known: &[&'static str]) -> Option<&'static str> {
    if key.len() > 100 {
        return None;
    }
    let lower = key.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let near = known.iter().map(|&name| (distance(name), name)).min()?;
    (near.0 <= near.1.len().div_ceil(3).min(3)).then_some(near.1)
}
