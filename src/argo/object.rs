//! Reads the fields of one mapping: types as Kubernetes checks them, every mistake noted, unknown fields warned of.

use std::cell::RefCell;
use std::collections::BTreeMap;

use go_yaml::Value;

use super::field::{Content, Entry, Field, Place};
use super::mistake::{Mistake, Mistakes};
use super::near::near;

/// A mapping that is being read. What was never asked for is unknown, and [`Object::finish`] says so.
pub(super) struct Object<'a> {
    /// What its fields are called in messages, with a dot at its end; empty at the top.
    name: String,
    /// Which mapping of its file it is: the keys that lead to it, with a dot between them; empty at the top.
    path: String,
    /// Where to point at what is missing.
    place: &'a Place,
    entries: &'a [Entry],
    known: RefCell<Vec<&'static str>>,
    /// The keys that are reported in place of what they were meant to be.
    reported: RefCell<Vec<String>>,
    mistakes: &'a RefCell<Mistakes>,
}

impl<'a> Object<'a> {
    /// Reads `field`, called `name`; `place` is its key's, or its own when it has none. Not a mapping: a mistake, and
    /// nothing.
    pub(super) fn new(field: &'a Field, name: &str, place: &'a Place, mistakes: &'a RefCell<Mistakes>) -> Option<Self> {
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
        let path = name.strip_suffix('.').unwrap_or_default().to_owned();
        Some(Self { name, path, place, entries, known: RefCell::default(), reported: RefCell::default(), mistakes })
    }

    /// Reads `field` as [`Object::new`] does; it is reached from this mapping by `step`.
    fn inner(&self, field: &'a Field, name: &str, place: &'a Place, step: &str) -> Option<Object<'a>> {
        let dot = if self.path.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{step}", self.path);
        Some(Object { path, ..Object::new(field, name, place, self.mistakes)? })
    }

    /// Where the mapping is.
    pub(super) fn place(&self) -> &'a Place {
        self.place
    }

    /// The entry of a field, noted as known; `null` is no entry.
    pub(super) fn entry(&self, key: &'static str) -> Option<&'a Entry> {
        self.known.borrow_mut().push(key);
        self.entries.iter().find(|entry| entry.key == key && !entry.field.is_null())
    }

    pub(super) fn add(&self, mistake: Mistake, place: &Place) {
        self.mistakes.borrow_mut().add(mistake, place);
    }

    /// The entry of a field that must be there.
    pub(super) fn required(&self, key: &'static str) -> Option<&'a Entry> {
        let entry = self.entry(key);
        if entry.is_none() {
            self.missing(key);
        }
        entry
    }

    /// A mapping inside of this one.
    pub(super) fn object(&self, key: &'static str) -> Option<Object<'a>> {
        let entry = self.entry(key)?;
        self.inner(&entry.field, &self.called(key), &entry.key_place, key)
    }

    /// A mapping inside of this one whose fields are called after it alone.
    pub(super) fn object_called(&self, entry: &'a Entry, name: &str) -> Option<Object<'a>> {
        self.inner(&entry.field, name, &entry.key_place, &entry.key)
    }

    /// An item of a list, which is a mapping. Not one: a mistake, and nothing.
    pub(super) fn item(&self, key: &str, index: usize, field: &'a Field) -> Option<Object<'a>> {
        let step = format!("{key}[{index}]");
        self.inner(field, &self.called(&step), &field.place, &step)
    }

    /// A mapping that must be there.
    pub(super) fn required_object(&self, key: &'static str) -> Option<Object<'a>> {
        self.required(key)?;
        self.object(key)
    }

    /// A text; nothing when it is not there, of another type, or empty.
    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        let entry = self.entry(key)?;
        self.as_text(&entry.field, self.called(key)).filter(|text| !text.is_empty())
    }

    /// A text that must be there and may be empty, with its place.
    pub(super) fn required_text(&self, key: &'static str) -> Option<(String, &'a Place)> {
        let entry = self.required(key)?;
        Some((self.as_text(&entry.field, self.called(key))?, &entry.field.place))
    }

    /// A text that must be there and can't be empty, with its place.
    pub(super) fn required_name(&self, key: &'static str) -> Option<(String, &'a Place)> {
        let (text, place) = self.required_text(key)?;
        if text.is_empty() {
            self.add(Mistake::Empty { field: self.called(key) }, place);
            return None;
        }
        Some((text, place))
    }

    pub(super) fn flag(&self, key: &'static str) -> bool {
        let Some(entry) = self.entry(key) else { return false };
        match &entry.field.content {
            Content::Scalar(Value::Bool(value)) => *value,
            _ => {
                self.wrong_type(&entry.field, self.called(key), "true or false");
                false
            }
        }
    }

    pub(super) fn texts(&self, key: &'static str) -> Vec<String> {
        self.list(key).filter_map(|(name, field)| self.as_text(field, name)).collect()
    }

    /// A mapping inside of this one, read by `read`.
    pub(super) fn read<T>(&self, key: &'static str, read: impl FnOnce(&Object<'a>) -> T) -> Option<T> {
        let object = self.object(key)?;
        let value = read(&object);
        object.finish();
        Some(value)
    }

    /// The mappings of a list, each read by `read`.
    pub(super) fn objects<T>(&self, key: &'static str, mut read: impl FnMut(&Object<'a>) -> T) -> Vec<T> {
        let mut values = Vec::new();
        for (index, (name, field)) in self.list(key).enumerate() {
            let step = format!("{key}[{index}]");
            let Some(object) = self.inner(field, &name, &field.place, &step) else { continue };
            values.push(read(&object));
            object.finish();
        }
        values
    }

    /// A mapping of texts to what `read` makes of each value.
    pub(super) fn map<T>(
        &self,
        key: &'static str,
        read: impl Fn(&Self, &Field, String) -> Option<T>,
    ) -> BTreeMap<String, T> {
        let mut map = BTreeMap::new();
        let Some(object) = self.object(key) else { return map };
        for entry in object.entries {
            if let Some(value) = read(self, &entry.field, object.called(&entry.key)) {
                map.insert(entry.key.clone(), value);
            }
        }
        map
    }

    pub(super) fn as_text(&self, field: &Field, name: String) -> Option<String> {
        let text = field.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong_type(field, name, "a text");
        }
        text
    }

    pub(super) fn as_flag(&self, field: &Field, name: String) -> Option<bool> {
        let Content::Scalar(Value::Bool(value)) = &field.content else {
            self.wrong_type(field, name, "true or false");
            return None;
        };
        Some(*value)
    }

    /// Whether a key is not there, and one that was meant to be it is.
    pub(super) fn is_misspelt(&self, key: &str) -> bool {
        let is_there = |entry: &Entry| entry.key == key && !entry.field.is_null();
        let is_near =
            |entry: &Entry| near(&entry.key, &[key]).is_some() && !self.mistakes.borrow().is_known(&entry.key);
        !self.entries.iter().any(is_there) && self.entries.iter().any(is_near)
    }

    /// Notes that a key is missing, or else the one that was probably meant to be it: that is one mistake.
    pub(super) fn missing(&self, key: &'static str) {
        let Some(entry) = self.entries.iter().find(|entry| near(&entry.key, &[key]).is_some()) else {
            return self.add(Mistake::Missing { field: self.called(key), meant: None }, self.place);
        };
        if self.mistakes.borrow().is_known(&entry.key) {
            let meant = Some((entry.key.clone(), key));
            return self.add(Mistake::Missing { field: self.called(key), meant }, self.place);
        }
        if !self.reported.borrow().contains(&entry.key) {
            self.reported.borrow_mut().push(entry.key.clone());
            let parent = self.path.clone();
            let mistake = Mistake::Unknown { key: entry.key.clone(), parent, near: Some(key), is_required: true };
            self.add(mistake, &entry.key_place);
        }
    }

    pub(super) fn wrong_type(&self, field: &Field, name: String, expected: &'static str) {
        let mistake = Mistake::Type { field: name, expected, found: field.kind() };
        self.add(mistake, &field.place);
    }

    /// What a field of this mapping is called in messages.
    pub(super) fn called(&self, key: &str) -> String {
        format!("{}{key}", self.name)
    }

    /// Warns of the fields that were never asked for; when there are very many, of near misses first.
    pub(super) fn finish(&self) {
        let (known, reported) = (self.known.borrow(), self.reported.borrow());
        let is_unknown = |key: &String| !known.contains(&key.as_str()) && !reported.contains(key);
        let unknown = self.entries.iter().filter(|entry| is_unknown(&entry.key));
        let (near, far): (Vec<_>, Vec<_>) =
            unknown.map(|entry| (entry, near(&entry.key, &known))).partition(|(_, near)| near.is_some());
        for (entry, near) in near.into_iter().chain(far).take(UNKNOWN_MAX) {
            self.unknown(entry, near);
        }
    }

    /// Warns of the fields that are near misses of one of `names`, and of no others.
    pub(super) fn near_misses(&self, names: &[&'static str]) {
        let near = |entry: &'a Entry| Some((entry, near(&entry.key, names)?));
        let reported = self.reported.borrow();
        let others = self.entries.iter().filter(|entry| !reported.contains(&entry.key));
        for (entry, name) in others.filter_map(near).take(UNKNOWN_MAX) {
            self.unknown(entry, Some(name));
        }
    }

    fn unknown(&self, entry: &Entry, near: Option<&'static str>) {
        let parent = self.path.clone();
        self.add(Mistake::Unknown { key: entry.key.clone(), parent, near, is_required: false }, &entry.key_place);
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

/// How many unknown fields of one mapping are reported.
pub(super) const UNKNOWN_MAX: usize = 20;
