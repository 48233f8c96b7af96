//! JSON patches (RFC 6902) as Kustomize applies them.
//!
//! Looser than the RFC: indices count from the end when negative, `replace` adds a missing key, `add` without a value adds
//! null. All numbers of a patched document pass through a 64-bit float.
//!
//! Reference: evanphx/json-patch 4.13.0 patch.go; kustomize api/filters/patchjson6902.

mod raw;

use go_std::json::UnmarshalTypeError;
use go_std::strconv;
use go_yaml::{Mapping, Value};

use super::error::{Error, Result};
use super::path::atoi;
use super::text;
use raw::Raw;

/// A decoded patch.
#[derive(Debug, Clone, Default)]
pub(crate) struct JsonPatch(Vec<Mapped>);

type Mapped = std::collections::BTreeMap<String, Raw>;

/// An array, or an object: what an operation can change.
enum Container<'d> {
    Object(&'d mut Mapping),
    Array(&'d mut Vec<Value>),
}

/// How much the copies of one patch may add: a value that is copied into itself doubles each time.
const COPIED_BYTES_MAX: usize = 16 << 20;

/// How many items of a list are moved in the time of a unit of work.
const ITEMS_PER_WORK: usize = 16;

/// How many bytes of values are looked at in that time.
const BYTES_PER_WORK: usize = 64;

/// About how much memory a value takes, in bytes.
fn size(value: &Value) -> usize {
    std::mem::size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Sequence(items) => items.iter().map(size).sum(),
            Value::Mapping(mapping) => mapping.iter().map(|(key, value)| key.len() + size(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => 0,
        }
}

fn missing(text: String) -> Error {
    Error::new(format!("{text}: missing value"))
}

impl JsonPatch {
    /// Reads a patch that is JSON when it starts with `[`, else YAML.
    pub(crate) fn parse(source: &str) -> Result<Self> {
        if source.starts_with('[') {
            return Self::parse_json(source);
        }
        Self::parse_json(&text::to_json(&text::value(source.as_bytes())?))
    }

    /// Reads a patch that is JSON.
    pub(crate) fn parse_json(json: &str) -> Result<Self> {
        match Raw::parse(json)? {
            Raw::Array(operations) => Ok(Self(operations.into_iter().map(operation).collect::<Result<_>>()?)),
            Raw::Scalar(text) if text == "null" => Ok(Self::default()),
            other => Err(wrong_type(other.kind(), "jsonpatch.Patch")),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Applies the operations in order; the first that fails is the error.
    ///
    /// `work` gets, before each, the number of items it looks at.
    pub(crate) fn apply(&self, document: &mut Value, work: &dyn Fn(usize) -> Result<()>) -> Result<()> {
        let mut copied = 0;
        self.0.iter().try_for_each(|operation| {
            work(4)?;
            Operation(operation).apply(document, &mut copied, work)
        })
    }
}

fn operation(raw: Raw) -> Result<Mapped> {
    match raw {
        Raw::Object(operation) => Ok(operation),
        other => Err(wrong_type(other.kind(), "jsonpatch.Operation")),
    }
}

fn wrong_type(found: &str, go_type: &str) -> Error {
    Error::new(UnmarshalTypeError::of_value(found, go_type).to_string())
}

struct Operation<'p>(&'p Mapped);

impl Operation<'_> {
    fn text(&self, field: &str) -> Option<Result<String>> {
        match self.0.get(field)? {
            raw if raw.is_null() => None,
            raw => Some(match raw.value() {
                Ok(Value::String(text)) => Ok(text),
                _ => Err(wrong_type(raw.kind(), "string")),
            }),
        }
    }

    fn path(&self) -> Result<String> {
        self.text("path").unwrap_or_else(|| Err(missing("operation missing path field".to_owned())))
    }

    fn from(&self) -> Result<String> {
        self.text("from").unwrap_or_else(|| Err(missing("operation, missing from field".to_owned())))
    }

    fn value(&self) -> Result<Value> {
        self.0.get("value").map_or(Ok(Value::Null), Raw::value)
    }

    fn apply(&self, document: &mut Value, copied: &mut usize, work: &dyn Fn(usize) -> Result<()>) -> Result<()> {
        let kind = self.text("op").and_then(Result::ok).unwrap_or_else(|| "unknown".to_owned());
        match kind.as_str() {
            "add" => self.add(document, work),
            "remove" => self.remove(document, work),
            "replace" => self.replace(document),
            "move" => {
                work(size(document) / BYTES_PER_WORK)?;
                self.move_value(document)
            }
            "copy" => self.copy(document, copied),
            "test" => self.test(document, work),
            other => Err(Error::new(format!("Unexpected kind: {other}"))),
        }
    }

    fn add(&self, document: &mut Value, work: &dyn Fn(usize) -> Result<()>) -> Result<()> {
        let path = self.path().map_err(|_| missing("add operation failed to decode path".to_owned()))?;
        let (mut container, key) = find(document, &path)
            .ok_or_else(|| missing(format!("add operation does not apply: doc is missing path: \"{path}\"")))?;
        work(container.moved(&key) / ITEMS_PER_WORK)?;
        let value = self.value()?;
        container.add(&key, value).map_err(|error| error.prefix(format!("error in add for path: '{path}'")))
    }

    fn remove(&self, document: &mut Value, work: &dyn Fn(usize) -> Result<()>) -> Result<()> {
        let path = self.path().map_err(|_| missing("remove operation failed to decode path".to_owned()))?;
        let (mut container, key) = find(document, &path)
            .ok_or_else(|| missing(format!("remove operation does not apply: doc is missing path: \"{path}\"")))?;
        work(container.moved(&key) / ITEMS_PER_WORK)?;
        container.remove(&key).map_err(|error| error.prefix(format!("error in remove for path: '{path}'")))
    }

    fn replace(&self, document: &mut Value) -> Result<()> {
        let path = self.path().map_err(|error| error.prefix("replace operation failed to decode path"))?;
        if path.is_empty() {
            *document = match self.value()? {
                value @ (Value::Mapping(_) | Value::Sequence(_)) => value,
                _ => return Err(Error::new("replace operation value must be object or array")),
            };
            return Ok(());
        }
        let (mut container, key) = find(document, &path)
            .ok_or_else(|| missing(format!("replace operation does not apply: doc is missing path: {path}")))?;
        if container.get(&key).is_err() {
            return Err(missing(format!("replace operation does not apply: doc is missing key: {path}")));
        }
        let value = self.value()?;
        container.set(&key, value).map_err(|error| error.prefix(format!("error in remove for path: '{path}'")))
    }

    fn move_value(&self, document: &mut Value) -> Result<()> {
        let from = self.from().map_err(|error| error.prefix("move operation failed to decode from"))?;
        let (mut container, key) = find(document, &from)
            .ok_or_else(|| missing(format!("move operation does not apply: doc is missing from path: {from}")))?;
        let in_move = |error: Error| error.prefix(format!("error in move for path: '{key}'"));
        let value = container.get(&key).map_err(in_move)?.clone();
        container.remove(&key).map_err(in_move)?;
        let path = self.path().map_err(|error| error.prefix("move operation failed to decode path"))?;
        let (mut container, key) = find(document, &path).ok_or_else(|| {
            missing(format!("move operation does not apply: doc is missing destination path: {path}"))
        })?;
        container.add(&key, value).map_err(|error| error.prefix(format!("error in move for path: '{path}'")))
    }

    fn copy(&self, document: &mut Value, copied: &mut usize) -> Result<()> {
        let from = self.from().map_err(|error| error.prefix("copy operation failed to decode from"))?;
        let (container, key) = find(document, &from)
            .ok_or_else(|| missing(format!("copy operation does not apply: doc is missing from path: {from}")))?;
        let value = container.get(&key).map_err(|error| error.prefix(format!("error in copy for from: '{from}'")))?;
        *copied = copied.saturating_add(size(value));
        if *copied > COPIED_BYTES_MAX {
            return Err(Error::new(format!("the patch copies more than {COPIED_BYTES_MAX} bytes")));
        }
        let value = value.clone();
        let path = self.path().map_err(|_| missing("copy operation failed to decode path".to_owned()))?;
        let (mut container, key) = find(document, &path).ok_or_else(|| {
            missing(format!("copy operation does not apply: doc is missing destination path: {path}"))
        })?;
        container.add(&key, value).map_err(|error| error.prefix("error while adding value during copy"))
    }

    fn test(&self, document: &mut Value, work: &dyn Fn(usize) -> Result<()>) -> Result<()> {
        let path = self.path().map_err(|error| error.prefix("test operation failed to decode path"))?;
        let failed = || Error::new(format!("testing value {path} failed: test failed"));
        let wanted = self.0.get("value");
        if path.is_empty() {
            return if wanted.ok_or_else(failed)?.equals(document) { Ok(()) } else { Err(failed()) };
        }
        let (container, key) = find(document, &path)
            .ok_or_else(|| missing(format!("test operation does not apply: is missing path: {path}")))?;
        let value = container.get(&key).map_err(|error| error.prefix(format!("error in test for path: '{path}'")))?;
        work(size(value) / BYTES_PER_WORK)?;
        match wanted {
            // A missing value is what a missing field, or null, has.
            None if value.is_null() => Ok(()),
            Some(wanted) if wanted.equals(value) => Ok(()),
            _ => Err(failed()),
        }
    }
}

/// The container that a pointer leads into, and the last part of the pointer.
fn find<'d>(document: &'d mut Value, pointer: &str) -> Option<(Container<'d>, String)> {
    let mut parts: Vec<String> = pointer.split('/').map(decode_part).collect();
    if parts.len() < 2 {
        return None;
    }
    let key = parts.pop()?;
    let mut here = document;
    for part in parts.iter().skip(1) {
        here = match here {
            Value::Mapping(mapping) => mapping.get_mut(part)?,
            Value::Sequence(items) => {
                let index = index(part, items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    match here {
        Value::Mapping(mapping) => Some((Container::Object(mapping), key)),
        Value::Sequence(items) => Some((Container::Array(items), key)),
        _ => None,
    }
}

fn decode_part(part: &str) -> String {
    let mut decoded = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('~') {
        let (before, after) = rest.split_at(at);
        decoded.push_str(before);
        let (character, length) = match after.as_bytes() {
            [_, b'1', ..] => ('/', 2),
            [_, b'0', ..] => ('~', 2),
            _ => ('~', 1),
        };
        decoded.push(character);
        rest = &after[length..];
    }
    decoded.push_str(rest);
    decoded
}

fn not_an_index(error: Error, key: &str) -> Error {
    match atoi(key) {
        Some(_) => error,
        None => error.prefix(format!("value was not a proper array index: '{key}'")),
    }
}

fn invalid_index(index: i64) -> Error {
    Error::new(format!("Unable to access invalid index: {index}: invalid index referenced"))
}

/// The index that a key means in an array of this length.
fn index(key: &str, length: usize) -> Result<usize> {
    let number = strconv::atoi(key.as_bytes()).map_err(|error| Error::new(error.of("Atoi", key)))?;
    let signed = i64::try_from(length).unwrap_or(i64::MAX);
    let index = if number < 0 { number.saturating_add(signed) } else { number };
    match usize::try_from(index) {
        Ok(index) if index < length => Ok(index),
        _ => Err(invalid_index(number)),
    }
}

impl Container<'_> {
    /// How many items have to make room for one at a key.
    fn moved(&self, key: &str) -> usize {
        match self {
            Container::Object(_) => 0,
            Container::Array(items) => index(key, items.len()).map_or(0, |index| items.len() - index),
        }
    }

    fn get(&self, key: &str) -> Result<&Value> {
        match self {
            Container::Object(mapping) => Ok(mapping.get(key).unwrap_or(&Value::Null)),
            Container::Array(items) => {
                let index = index(key, items.len())?;
                items.get(index).ok_or_else(|| invalid_index(0))
            }
        }
    }

    fn set(&mut self, key: &str, value: Value) -> Result<()> {
        match self {
            Container::Object(mapping) => {
                mapping.insert(key.to_owned(), value);
            }
            Container::Array(items) => {
                let index = index(key, items.len())?;
                if let Some(item) = items.get_mut(index) {
                    *item = value;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, key: &str, value: Value) -> Result<()> {
        match self {
            Container::Object(mapping) => {
                mapping.insert(key.to_owned(), value);
            }
            Container::Array(items) if key == "-" => items.push(value),
            Container::Array(items) => {
                let index = index(key, items.len() + 1).map_err(|error| not_an_index(error, key))?;
                items.insert(index, value);
            }
        }
        Ok(())
    }

    fn remove(&mut self, key: &str) -> Result<()> {
        match self {
            Container::Object(mapping) => match mapping.remove(key) {
                Some(_) => Ok(()),
                None => Err(missing(format!("Unable to remove nonexistent key: {key}"))),
            },
            Container::Array(items) => {
                let index = index(key, items.len())?;
                items.remove(index);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
