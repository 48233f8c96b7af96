//! The little language of `--set` and its sisters: `a.b=1,c[0]={x,y}`.

use go_std::strconv::{atoi, quote};
use go_yaml::{Limits, Mapping, Value, json};

use crate::version::differences::OpenIndex;

/// How deep names may nest by dots.
const NESTING_MAX: u32 = 30;
/// How many indexes may follow each other; Helm has no limit for them.
const INDEXES_MAX: u32 = 200;
/// The largest index of a list.
const INDEX_MAX: usize = 65536;

/// What becomes of the text behind a `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Typing {
    /// `--set`: `true`, `false`, `null` in any case, whole numbers without leading zeros, else strings.
    Typed,
    /// `--set-string`: strings.
    Strings,
    /// `--set-file`: the content of the file of that name.
    Files,
    /// `--set-json`: JSON, nothing being null.
    Json,
    /// `--set-literal`: all that follows, commas and braces too, as one string.
    Literal,
}

/// Why a text can't be set. Reads as Helm's own message, without the name of the flag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SetError {
    /// A name and nothing behind it.
    #[error("key {} has no value", quote(.0))]
    NoValue(String),
    /// A name that a comma ends.
    #[error("key {} has no value (cannot end with ,)", quote(.0))]
    EndsWithComma(String),
    /// `a.` and nothing set below.
    #[error("key map {} has no value", quote(.0))]
    EmptyMap(String),
    /// More dots than [`NESTING_MAX`].
    #[error("value name nested level is greater than maximum supported nested level of {NESTING_MAX}")]
    TooDeep,
    /// More indexes than [`INDEXES_MAX`].
    #[error("a value name has more than {INDEXES_MAX} indexes")]
    TooManyIndexes,
    /// An index that is not a number, in Go's words.
    #[error("error parsing index: {0}")]
    BadIndex(String),
    /// An index below zero.
    #[error("negative {0} index not allowed")]
    NegativeIndex(i64),
    /// An index above [`INDEX_MAX`].
    #[error("index of {0} is greater than maximum supported index of {INDEX_MAX}")]
    IndexTooLarge(i64),
    /// Something between `]` and what may follow it.
    #[error("unexpected data at end of array index: [{}]", quote_each(.0))]
    AfterIndex(String),
    /// A `{` without its `}`.
    #[error("list must terminate with '}}'")]
    OpenList,
    /// The name leads through a value of another kind. Both are Go types.
    #[error("unable to parse key: interface conversion: interface {{}} is {found}, not {wanted}")]
    WrongKind {
        /// What is there.
        found: &'static str,
        /// What the name needs.
        wanted: &'static str,
    },
    /// No JSON behind a `=`.
    #[error("invalid JSON")]
    Json,
    /// A file of `--set-file` can't be read.
    #[error("{0}")]
    File(String),
}

/// Where `--set-file` gets the content of a file; the error is reported as it is.
pub(super) type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Sets what `text` says in `values`; what is there already is kept or replaced name by name.
///
/// Reference: helm 4.2.3 pkg/strvals. Cases `set-*`.
pub(super) fn set(
    text: &str,
    typing: Typing,
    open_index: OpenIndex,
    read_file: ReadFile<'_>,
    values: &mut Mapping,
) -> Result<(), SetError> {
    let mut parser = Parser { rest: text, typing, open_index, read_file, indexes: 0 };
    loop {
        parser.indexes = 0;
        match parser.key(values, 0) {
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            Err(Stop::Error(error)) => return Err(error),
        }
    }
}

/// Why a part of the text is done.
enum Stop {
    /// The text ended here. Not an error: what was set so far stays.
    End,
    Error(SetError),
}

impl From<SetError> for Stop {
    fn from(error: SetError) -> Self {
        Stop::Error(error)
    }
}

struct Parser<'a> {
    rest: &'a str,
    typing: Typing,
    open_index: OpenIndex,
    read_file: ReadFile<'a>,
    /// How many indexes the name at work has so far.
    indexes: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = self.rest.get(next.len_utf8()..).unwrap_or_default();
        Some(next)
    }

    fn next_if(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    /// One name and its value, below the map `here`.
    fn key(&mut self, here: &mut Mapping, mut nesting: u32) -> Result<(), Stop> {
        let literal = self.typing == Typing::Literal;
        let (key, end) = self.until(if literal { "=[." } else { "=[,." });
        match end {
            None if key.is_empty() => Err(Stop::End),
            None => Err(SetError::NoValue(key).into()),
            Some(',') => Err(SetError::EndsWithComma(key).into()),
            Some('=') => {
                let (value, done) = self.value()?;
                put(here, key, value);
                done
            }
            Some('[') => {
                let index = self.index()?;
                let mut list = match here.remove(&key) {
                    None => Vec::new(),
                    Some(Value::Sequence(list)) => list,
                    Some(other) => return Err(wrong_kind(&other, "[]interface {}")),
                };
                let done = self.item(&mut list, index, nesting);
                put(here, key, Value::Sequence(list));
                done
            }
            Some(_) => {
                nesting += 1;
                if nesting > NESTING_MAX {
                    return Err(SetError::TooDeep.into());
                }
                let mut inner = match here.remove(&key) {
                    None => Mapping::new(),
                    Some(Value::Mapping(inner)) => inner,
                    Some(other) => return Err(wrong_kind(&other, "map[string]interface {}")),
                };
                let done = self.key(&mut inner, nesting);
                if inner.is_empty() {
                    done?;
                    return Err(SetError::EmptyMap(key).into());
                }
                put(here, key, Value::Mapping(inner));
                done
            }
        }
    }

    /// What follows `]`, for the item `index` of `list`.
    ///
    /// When the text ends below an item that was not there before, the item is not made: `a[0].b=` leaves `a` empty.
    fn item(&mut self, list: &mut Vec<Value>, index: i64, nesting: u32) -> Result<(), Stop> {
        if index < 0 {
            return Err(SetError::NegativeIndex(index).into());
        }
        self.indexes += 1;
        if self.indexes > INDEXES_MAX {
            return Err(SetError::TooManyIndexes.into());
        }
        let (between, end) = self.until("[.=");
        if !between.is_empty() {
            return Err(SetError::AfterIndex(between).into());
        }
        let slot = usize::try_from(index).ok().filter(|index| *index <= INDEX_MAX);
        let there = slot.and_then(|index| list.get_mut(index));
        let value = match end {
            None => return Err(Stop::End),
            Some('=') => self.value()?.0,
            Some('[') => {
                let index = self.index()?;
                match there {
                    None | Some(Value::Null) => {
                        let mut inner = Vec::new();
                        self.item(&mut inner, index, nesting)?;
                        Value::Sequence(inner)
                    }
                    Some(Value::Sequence(inner)) => return self.item(inner, index, nesting),
                    Some(other) => return Err(wrong_kind(other, "[]interface {}")),
                }
            }
            Some(_) => match there {
                None => {
                    let mut inner = Mapping::new();
                    self.key(&mut inner, nesting)?;
                    Value::Mapping(inner)
                }
                Some(Value::Mapping(inner)) => return self.key(inner, nesting),
                Some(there) => {
                    *there = Value::Mapping(Mapping::new());
                    let Value::Mapping(inner) = there else { return Ok(()) };
                    return self.key(inner, nesting);
                }
            },
        };
        let slot = slot.ok_or(SetError::IndexTooLarge(index))?;
        if list.len() <= slot {
            list.resize(slot + 1, Value::Null);
        }
        if let Some(there) = list.get_mut(slot) {
            *there = value;
        }
        Ok(())
    }

    /// What follows `=`, and whether the text ended right there.
    fn value(&mut self) -> Result<(Value, Result<(), Stop>), Stop> {
        match self.typing {
            Typing::Json => Ok((self.json()?, Ok(()))),
            Typing::Literal => Ok((Value::String(self.until("").0), Ok(()))),
            Typing::Typed | Typing::Strings | Typing::Files => match self.peek() {
                None => Ok((Value::from(""), Err(Stop::End))),
                Some('{') => Ok((self.list()?, Ok(()))),
                Some(_) => {
                    let (text, _) = self.until(",");
                    Ok((self.scalar(text)?, Ok(())))
                }
            },
        }
    }

    /// `{a,b}` with the comma behind it.
    fn list(&mut self) -> Result<Value, Stop> {
        self.next();
        let mut items = Vec::new();
        loop {
            let (text, end) = self.until(",}");
            let Some(end) = end else { return Err(SetError::OpenList.into()) };
            if end == '}' {
                self.next_if(',');
            }
            items.push(self.scalar(text)?);
            if end == '}' {
                return Ok(Value::Sequence(items));
            }
        }
    }

    fn scalar(&self, text: String) -> Result<Value, SetError> {
        match self.typing {
            Typing::Typed => Ok(typed(text)),
            Typing::Files => (self.read_file)(&text).map(Value::String).map_err(SetError::File),
            Typing::Strings | Typing::Json | Typing::Literal => Ok(Value::String(text)),
        }
    }

    /// One JSON value with the blanks and the comma behind it; null when there is none.
    fn json(&mut self) -> Result<Value, SetError> {
        if self.blank() {
            return Ok(Value::Null);
        }
        let first = json::decode_first(self.rest.as_bytes(), &Limits::default());
        let (mut value, end) = first.map_err(|_| SetError::Json)?;
        self.rest = self.rest.get(end..).unwrap_or_default();
        super::values::floats(&mut value);
        self.blank();
        Ok(value)
    }

    /// Skips blanks and then one comma. Whether nothing but that was there.
    fn blank(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.next_if(',') || self.rest.is_empty()
    }

    /// The index before `]`.
    fn index(&mut self) -> Result<i64, Stop> {
        let (text, end) = self.until("]");
        if end.is_none() {
            return Err(match self.open_index {
                OpenIndex::Fails => SetError::BadIndex("EOF".to_owned()).into(),
                OpenIndex::Ends => Stop::End,
            });
        }
        atoi(text.as_bytes()).map_err(|error| SetError::BadIndex(error.of("Atoi", &text)).into())
    }

    /// The text up to one of the characters `stops`, which is taken too, or up to the end.
    ///
    /// `\` takes the next character as it is, except in literals; one at the very end is dropped.
    fn until(&mut self, stops: &str) -> (String, Option<char>) {
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                c if stops.contains(c) => return (text, Some(c)),
                '\\' if self.typing != Typing::Literal => match self.next() {
                    Some(c) => text.push(c),
                    None => break,
                },
                c => text.push(c),
            }
        }
        (text, None)
    }
}

/// Sets one entry. One without a name is dropped.
fn put(here: &mut Mapping, key: String, value: Value) {
    if !key.is_empty() {
        here.insert(key, value);
    }
}

fn typed(text: String) -> Value {
    // Go folds the long s, too.
    match text.replace('\u{17f}', "s").to_ascii_lowercase().as_str() {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        "null" => return Value::Null,
        "0" => return Value::Int(0),
        _ => {}
    }
    match text.parse() {
        Ok(number) if !text.starts_with('0') => Value::Int(number),
        _ => Value::String(text),
    }
}

/// As Go prints a list of characters with `%q`.
fn quote_each(text: &str) -> String {
    text.chars().map(quote_char).collect::<Vec<_>>().join(" ")
}

fn quote_char(c: char) -> String {
    let quoted = quote(&c.to_string());
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    format!("'{}'", inner.replace("\\\"", "\"").replace('\'', "\\'"))
}

fn wrong_kind(found: &Value, wanted: &'static str) -> Stop {
    let found = match found {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Uint(_) => "uint64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::Sequence(_) => "[]interface {}",
        Value::Mapping(_) => "map[string]interface {}",
    };
    SetError::WrongKind { found, wanted }.into()
}

#[cfg(test)]
mod tests;
