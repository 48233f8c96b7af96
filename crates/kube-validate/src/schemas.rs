//! The types of Kubernetes' own API, for each minor that is known.
//!
//! The table is `schemas.txt`; `record/tables` makes it and says how it is written.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use crate::rules::{NOT_REQUIRED, REQUIRED, Row, rows_of};

const TABLE: &str = include_str!("schemas.txt");
/// The minors of the table; the bit of each is its index.
pub const MINORS: std::ops::RangeInclusive<u8> = 30..=37;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    Int32,
    Int64,
    Number,
    Bool,
    Bytes,
    Time,
    Quantity,
    IntOrText,
    Any,
    /// A list; the type of its items is the next of the field's types.
    List,
    Map,
    /// Index of a type.
    Object(usize),
    /// A boolean, or what comes next.
    BoolOr,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// Outermost first, as `[List, Text]`.
    pub(crate) types: Vec<Type>,
    pub(crate) is_required: bool,
    /// Empty where any text may be.
    pub(crate) one_of: Vec<&'static str>,
}

#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// By name.
    pub(crate) fields: Vec<Field>,
    /// The names of those that must be set.
    pub(crate) required: Vec<&'static str>,
    /// Those that a server takes for an object without fields where they are not set, each with the index of its type.
    pub(crate) objects: Vec<(&'static str, usize)>,
    pub(crate) rules: &'static [&'static Row],
}

impl Definition {
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        self.fields.get(at)
    }
}

/// All types of one minor.
#[derive(Debug)]
pub(crate) struct Schemas {
    entries: Vec<Entry>,
    /// Of the entries, each read when an object needs it: most objects need few.
    definitions: Vec<OnceLock<Definition>>,
    by_name: HashMap<&'static str, usize>,
    /// By `group/version/Kind`.
    kinds: HashMap<&'static str, usize>,
}

/// The lines of a type: its name, bits and kind, and its fields.
type Entry = (&'static str, &'static str, Vec<&'static str>);

impl Schemas {
    /// The types of a minor of [`MINORS`], read once in a process.
    pub(crate) fn of(minor: u8) -> Option<&'static Self> {
        static ALL: [LazyLock<Schemas>; 8] = [
            LazyLock::new(|| Schemas::read(0)),
            LazyLock::new(|| Schemas::read(1)),
            LazyLock::new(|| Schemas::read(2)),
            LazyLock::new(|| Schemas::read(3)),
            LazyLock::new(|| Schemas::read(4)),
            LazyLock::new(|| Schemas::read(5)),
            LazyLock::new(|| Schemas::read(6)),
            LazyLock::new(|| Schemas::read(7)),
        ];
        ALL.get(usize::from(minor.checked_sub(*MINORS.start())?)).map(|minor| &**minor)
    }

    fn read(bit: u32) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let mut is_in = false;
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            if let Some(field) = line.strip_prefix(' ') {
                if let Some((.., fields)) = entries.last_mut().filter(|_| is_in) {
                    fields.push(field);
                }
                continue;
            }
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let bits = words.next().and_then(|bits| u32::from_str_radix(bits, 16).ok()).unwrap_or(0);
            is_in = bits >> bit & 1 == 1;
            if is_in {
                entries.push((name, words.next().unwrap_or_default(), Vec::new()));
            }
        }
        let by_name: HashMap<&str, usize> = entries.iter().enumerate().map(|(at, (name, ..))| (*name, at)).collect();
        let kinds = entries.iter().enumerate().filter(|(_, (_, kind, _))| !kind.is_empty());
        let kinds = kinds.map(|(at, (_, kind, _))| (*kind, at)).collect();
        let definitions = entries.iter().map(|_| OnceLock::new()).collect();
        Self { entries, definitions, by_name, kinds }
    }

    pub(crate) fn definition(&self, index: usize) -> Option<&Definition> {
        let entry = self.entries.get(index)?;
        Some(self.definitions.get(index)?.get_or_init(|| self.read_definition(entry)))
    }

    fn read_definition(&self, (name, _, lines): &Entry) -> Definition {
        let fields: Vec<Field> = lines.iter().filter_map(|line| field(line, &self.by_name)).collect();
        // What is not set has the zero value of its type to a server: zero, false, an object without fields, an empty text. Rows of
        // the table require more.
        let is_zero = |field: &Field| {
            matches!(field.types.first(), Some(Type::Int32 | Type::Int64 | Type::Bool | Type::Quantity))
                || NOT_REQUIRED.contains(&(*name, field.name))
        };
        let (mut required, mut objects) = (Vec::new(), Vec::new());
        for field in fields.iter().filter(|field| field.is_required && !is_zero(field)) {
            match field.types.first() {
                Some(Type::Object(index)) if !REQUIRED.contains(&(*name, field.name)) => {
                    objects.push((field.name, *index));
                }
                _ => required.push(field.name),
            }
        }
        Definition { name, fields, required, objects, rules: rows_of(name) }
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Definition> {
        self.definition(*self.by_name.get(name)?)
    }

    pub(crate) fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&Definition> {
        self.definition(*self.kinds.get(format!("{group}/{version}/{kind}").as_str())?)
    }

    /// The versions of a group that have a kind, or any kind where none is named; group and version.
    pub(crate) fn served<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = (&'static str, &'static str)> + 's {
        self.kinds.keys().filter_map(move |served| {
            let (group, rest) = served.split_once('/')?;
            let (version, name) = rest.split_once('/')?;
            (name == kind && is_on(group, version)).then_some((group, version))
        })
    }

    /// The kinds of a version of a group.
    pub(crate) fn kinds_in<'s>(&'s self, group: &'s str, version: &'s str) -> impl Iterator<Item = &'static str> + 's {
        self.kinds.keys().filter_map(move |served| {
            let name = served.strip_prefix(group)?.strip_prefix('/')?.strip_prefix(version)?.strip_prefix('/')?;
            is_on(group, version).then_some(name)
        })
    }

    /// Whether the group is one of Kubernetes itself.
    pub(crate) fn has_group(&self, group: &str) -> bool {
        self.kinds.keys().any(|kind| kind.split('/').next() == Some(group))
    }
}

/// Whether a version is served without being switched on: no alpha, and no beta but of flow control.
pub(crate) fn is_on(group: &str, version: &str) -> bool {
    !version.contains("alpha") && (!version.contains("beta") || group == "flowcontrol.apiserver.k8s.io")
}

fn field(line: &'static str, by_name: &HashMap<&str, usize>) -> Option<Field> {
    let mut words = line.split(' ');
    let (name, text) = (words.next()?, words.next()?);
    let (mut is_required, mut one_of) = (false, Vec::new());
    for word in words {
        match word.split_at_checked(1) {
            Some(("!", _)) => is_required = true,
            Some(("=", values)) => one_of = values.split('|').collect(),
            _ => {}
        }
    }
    Some(Field { name, types: types(text, by_name), is_required, one_of })
}

fn types(text: &str, by_name: &HashMap<&str, usize>) -> Vec<Type> {
    let mut all = Vec::new();
    for (at, letter) in text.char_indices() {
        all.push(match letter {
            's' => Type::Text,
            'i' => Type::Int32,
            'l' => Type::Int64,
            'n' => Type::Number,
            'b' => Type::Bool,
            'y' => Type::Bytes,
            't' => Type::Time,
            'q' => Type::Quantity,
            'I' => Type::IntOrText,
            '[' => Type::List,
            '{' => Type::Map,
            '?' => Type::BoolOr,
            '@' => {
                let index = text.get(at + 1..).and_then(|name| by_name.get(name));
                all.push(index.map_or(Type::Any, |index| Type::Object(*index)));
                break;
            }
            _ => Type::Any,
        });
    }
    all
}
