//! What go-yaml v2 can read and JSON cannot hold, and how an error shows it: as Go's `%#v` prints maps of any keys.
//!
//! Reference: sigs.k8s.io/yaml v1.6.0 yaml.go, `convertToJSONableObject`; Go's internal/fmtsort.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Converter, Data, Error, Mark, Node, Result, Value, go_syntax, is_merge};
use crate::quote::inner_syntax;

/// What JSON cannot hold of the nodes that were read.
///
/// Keys become texts before anything is written, so one that does not is an error wherever it is; a number only if no later
/// entry has its name in JSON.
#[derive(Default)]
pub(super) struct Unsupported<'a> {
    pub keys: Option<Keys<'a>>,
    pub numbers: Option<Numbers>,
}

/// Keys of Go types that become no text. The error is made where it is reported: it shows all that is below.
pub(super) enum Keys<'a> {
    Here {
        kind: &'static str,
        key: &'a Node,
        value: &'a Node,
    },
    /// Those at or below entries of a mapping, never none.
    Inside(BTreeMap<GoKey<'a>, Keys<'a>>),
}

/// Numbers, or other values, that JSON lacks.
pub(super) enum Numbers {
    Here(Error),
    /// Those below entries of a mapping, by name, never none.
    Inside(BTreeMap<String, Numbers>),
}

impl<'a> Unsupported<'a> {
    /// Notes a number, where none is noted.
    pub(super) fn number(&mut self, message: impl Into<String>, mark: Mark) {
        self.numbers.get_or_insert_with(|| Numbers::Here(Error::bare(message.into(), Some(mark))));
    }

    /// What was noted before a mapping, else what is in it.
    pub(super) fn or(self, keys: BTreeMap<GoKey<'a>, Keys<'a>>, numbers: BTreeMap<String, Numbers>) -> Self {
        Self {
            keys: self.keys.or_else(|| (!keys.is_empty()).then_some(Keys::Inside(keys))),
            numbers: self.numbers.or_else(|| (!numbers.is_empty()).then_some(Numbers::Inside(numbers))),
        }
    }

    /// Puts what is in a mapping among what is in another, where the entries go.
    pub(super) fn extend(self, keys: &mut BTreeMap<GoKey<'a>, Keys<'a>>, numbers: &mut BTreeMap<String, Numbers>) {
        if let Some(Keys::Inside(inside)) = self.keys {
            keys.extend(inside);
        }
        if let Some(Numbers::Inside(inside)) = self.numbers {
            numbers.extend(inside);
        }
    }
}

/// What tells keys apart in a Go map: `1` and `"1"` are two keys, and `.nan` is not even equal to itself. The order is that in
/// which Go prints them; that of types is the same in all programs of Helm from 3.17.3 to 4.3.1.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GoKey<'a> {
    Null,
    Text(Cow<'a, str>),
    Uint(u64),
    Int(i64),
    /// The place among the entries.
    NotANumber(usize),
    /// What grows with the number; -0 is 0.
    Float(u64),
    Bool(bool),
}

impl<'a> GoKey<'a> {
    pub(super) fn new(key: &Value, node: &'a Node, place: usize) -> Self {
        match key {
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(number) => Self::Int(*number),
            Value::Uint(number) => Self::Uint(*number),
            Value::Float(number) if number.is_nan() => Self::NotANumber(place),
            Value::Float(number) => Self::Float(ascending(number + 0.0)),
            // A `!!binary` one is not written as it reads.
            Value::String(text) => Self::Text(match node.as_str() {
                Some(written) if written == text => Cow::Borrowed(written),
                _ => Cow::Owned(text.clone()),
            }),
            Value::Null | Value::Sequence(_) | Value::Mapping(_) => Self::Null,
        }
    }
}

/// Bits in the order of the numbers.
fn ascending(number: f64) -> u64 {
    let bits = number.to_bits();
    if number.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

/// What is shown of an entry: its key, its value.
type Shown = (String, String);

impl<'a> Converter<'a> {
    /// The error that reports what is unsupported. What it shows was read before, so that the limits on aliases and depth hold.
    pub(super) fn described(&mut self) -> Result<Option<Error>> {
        let Unsupported { mut keys, mut numbers } = std::mem::take(&mut self.unsupported);
        loop {
            match keys {
                Some(Keys::Inside(inside)) => keys = inside.into_values().next(),
                Some(Keys::Here { kind, key, value }) => {
                    let (mark, key, value) = (key.mark, self.shown(key)?, self.shown(value)?);
                    let message = format!("unsupported map key of type: {kind}, key: {key}, value: {value}");
                    return Ok(Some(Error::bare(message, Some(mark))));
                }
                None => break,
            }
        }
        while let Some(Numbers::Inside(inside)) = numbers {
            numbers = inside.into_values().next();
        }
        Ok(match numbers {
            Some(Numbers::Here(error)) => Some(error),
            Some(Numbers::Inside(_)) | None => None,
        })
    }

    /// A node as Go's `%#v` prints what was read of it.
    pub(super) fn shown(&mut self, node: &'a Node) -> Result<String> {
        let node = self.target(node);
        match &node.data {
            Data::Scalar(text) => Ok(go_syntax(&self.scalar(node, text)?)),
            Data::Alias(_) | Data::Sequence(_) | Data::Mapping(_) => self.shown_inside(node),
        }
    }

    /// As [`Self::shown`], where a nil has its type.
    fn shown_inside(&mut self, node: &'a Node) -> Result<String> {
        let node = self.target(node);
        match &node.data {
            Data::Scalar(text) => Ok(inner_syntax(&self.scalar(node, text)?)),
            // One without a target was refused.
            Data::Alias(_) => Ok(String::new()),
            Data::Sequence(items) => {
                let items = items.iter().map(|item| self.shown_inside(item)).collect::<Result<Vec<_>>>()?;
                Ok(format!("[]interface {{}}{{{}}}", items.join(", ")))
            }
            Data::Mapping(entries) => {
                let entries = self.shown_entries(entries)?;
                let entries: Vec<String> = entries.values().map(|(key, value)| format!("{key}:{value}")).collect();
                Ok(format!("map[interface {{}}]interface {{}}{{{}}}", entries.join(", ")))
            }
        }
    }

    fn shown_entries(&mut self, entries: &'a [(Node, Node)]) -> Result<BTreeMap<GoKey<'a>, Shown>> {
        let mut shown = BTreeMap::new();
        for (place, (key, value)) in entries.iter().enumerate() {
            if is_merge(key) {
                let sources = match &value.data {
                    Data::Sequence(items) => items.as_slice(),
                    _ => std::slice::from_ref(value),
                };
                for source in sources.iter().rev() {
                    if let Data::Mapping(entries) = &self.target(source).data {
                        shown.extend(self.shown_entries(entries)?);
                    }
                }
                continue;
            }
            let name = self.key(key)?;
            let go_key = GoKey::new(&name, self.target(key), place);
            shown.insert(go_key, (inner_syntax(&name), self.shown_inside(value)?));
        }
        Ok(shown)
    }
}
