//! Values into records, by the rules of Go's `encoding/json` ([`go_std::json`]).
//!
//! Names of fields match in any case, null leaves a field as it is, and errors are worded as Go does. Switches cover
//! the ways in which Kustomize reads: whether an unknown field is an error, and whether numbers and booleans may be
//! where a string is wanted (`sigs.k8s.io/yaml` turns them into text, except in fields that Go finds in an embedded
//! struct; a kustomization file itself is read without it). Two plugins have go-yaml read their configuration, which takes
//! names as they are.
//!
//! Apart from `helm/fields.rs` although both port `sigs.k8s.io/yaml`: a chart's numbers have not been JSON before, and its
//! errors lead to a line of `Chart.yaml`. `application/set/shape.rs` is apart because a struct is written again there.

use std::collections::BTreeMap;

use go_std::json::{UnmarshalTypeError, find_field, format_number};
use go_std::strconv::{format_shortest, format_shortest_32};
use go_yaml::Value;

use super::error::{Error, Result, Step};
use super::text;
use super::version::{Difference, Switches};

/// How strict to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A kustomization file: no unknown fields, strings must be strings.
    Kustomization,
    /// The configuration of a plugin, and what it loads: unknown fields are ignored.
    Plugin,
    /// A file that `configurations` names: like a plugin's, without unknown fields.
    Strict,
}

/// Where in a value the decoder is.
pub(crate) struct At {
    mode: Mode,
    /// Which fields there are.
    switches: Switches,
    /// Whether go-yaml reads it by itself, and not by way of JSON: names of fields match as they are.
    by_yaml: bool,
    /// Whether numbers and booleans become text where a string is wanted.
    converts: bool,
    /// The embedded struct that is read alone, if one is: its fields are not in an embedded struct then.
    alone: &'static str,
    /// Go's name of the record, and the path of fields to here.
    record: &'static str,
    path: Vec<&'static str>,
}

impl At {
    fn of(mode: Mode) -> Self {
        Self {
            mode,
            switches: Switches::default(),
            by_yaml: false,
            converts: false,
            alone: "",
            record: "",
            path: Vec::new(),
        }
    }

    /// Whether the Kustomize that is built as does so.
    pub(crate) fn has(&self, difference: Difference) -> bool {
        self.switches.has(difference)
    }

    /// The one of `names` that a key leads to.
    pub(crate) fn find(&self, names: &'static [&'static str], key: &str) -> Option<&'static str> {
        match self.by_yaml {
            true => names.iter().copied().find(|name| *name == key),
            false => names.get(find_field(names.iter().copied(), key)?).copied(),
        }
    }

    /// A number as the text that a string field gets of it.
    ///
    /// The configuration of a plugin has been JSON before, where `16777217.0` is an integer.
    ///
    /// Reference: sigs.k8s.io/yaml v1.6.0 `convertToJSONableObject`, which takes every other number for a `float32`.
    #[expect(clippy::cast_possible_truncation, reason = "it is what the reference does")]
    fn text_of(&self, number: f64) -> String {
        match format_number(number).filter(|json| json.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())) {
            Some(integer) => integer,
            None if self.by_yaml => format_shortest(number),
            None => format_shortest_32(number as f32),
        }
    }

    fn mismatch(&self, found: &str, wanted: &str) -> Error {
        let error = UnmarshalTypeError {
            value: found.to_owned(),
            field: (!self.path.is_empty()).then(|| (self.record.to_owned(), self.path.join("."))),
            go_type: wanted.to_owned(),
        };
        Error::new(error.to_string()).label(format!("expected {}", wanted_in_words(wanted)))
    }

    /// What a field is that none of the `known` ones is.
    pub(crate) fn unknown(&self, name: &str, known: &[&str]) -> Result<()> {
        match self.mode {
            Mode::Plugin => Ok(()),
            Mode::Kustomization | Mode::Strict => {
                let error = Error::new(format!("json: unknown field {name:?}")).inside(Step::Name(name.to_owned()));
                Err(match closest(name, known) {
                    Some(later) if later == name => error.label("only a later version of Kustomize has this field"),
                    Some(close) => error.label(format!("did you mean `{close}`?")),
                    None => error.label("there is no such field"),
                })
            }
        }
    }

    /// Decodes a field of a record.
    pub(crate) fn field<T: Decode>(
        &mut self,
        record: &'static str,
        path: &'static [&'static str],
        field: &mut T,
        name: &str,
        value: &Value,
    ) -> Result<()> {
        let (outer, depth) = (std::mem::replace(&mut self.record, record), self.path.len());
        let path = path.strip_prefix(&[self.alone]).unwrap_or(path);
        let converts = self.converts;
        self.converts &= self.by_yaml || path.len() == 1;
        self.path.extend(path);
        field.decode(value, self).map_err(|error| error.inside(name))?;
        self.path.truncate(depth);
        self.converts = converts;
        self.record = outer;
        Ok(())
    }
}

/// A type of Go as people call what is written for it.
fn wanted_in_words(go_type: &str) -> &'static str {
    match go_type {
        "string" => "a string",
        "bool" => "`true` or `false`",
        "int64" => "a whole number",
        list if list.starts_with("[]") => "a list",
        _ => "a mapping",
    }
}

/// The known field that was meant: a few letters away at most.
fn closest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.len() > 100 {
        return None;
    }
    let lower = name.to_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(&lower, &known.to_lowercase());
    let (distance, close) = known.iter().map(|known| (distance(known), *known)).min()?;
    (distance <= close.len().div_ceil(3).min(3)).then_some(close)
}

/// What a value can be decoded into.
pub(crate) trait Decode: Default {
    /// Go's name of the type.
    fn go_type() -> String;

    fn decode(&mut self, value: &Value, at: &mut At) -> Result<()>;
}

/// Decodes a whole document that has the same fields in all versions of Kustomize.
pub(crate) fn decode<T: Decode>(value: &Value, mode: Mode) -> Result<T> {
    decode_for(value, mode, Switches::default())
}

/// Decodes a whole document, with the fields that there are in one version.
pub(crate) fn decode_for<T: Decode>(value: &Value, mode: Mode, switches: Switches) -> Result<T> {
    start(value, At { converts: mode != Mode::Kustomization, switches, ..At::of(mode) })
}

/// Decodes the configuration of a plugin into what Go embeds in the plugin.
pub(crate) fn decode_embedded<T: Decode>(value: &Value) -> Result<T> {
    start(value, At::of(Mode::Plugin))
}

/// Decodes what a plugin loads, where Go reads only the struct `alone` that it embeds elsewhere.
pub(crate) fn decode_alone<T: Decode>(value: &Value, alone: &'static str, switches: Switches) -> Result<T> {
    start(value, At { converts: true, alone, switches, ..At::of(Mode::Plugin) })
}

/// Decodes the configuration of a plugin that has go-yaml read it: those of prefixes and suffixes.
///
/// Where it is of the wrong type, the error reads as for the other plugins.
pub(crate) fn decode_yaml<T: Decode>(value: &Value) -> Result<T> {
    start(value, At { converts: true, by_yaml: true, ..At::of(Mode::Plugin) })
}

fn start<T: Decode>(value: &Value, mut at: At) -> Result<T> {
    let mut target = T::default();
    target.decode(value, &mut at)?;
    Ok(target)
}

impl Decode for String {
    fn go_type() -> String {
        "string".to_owned()
    }

    fn decode(&mut self, value: &Value, at: &mut At) -> Result<()> {
        *self = match value {
            Value::Null => return Ok(()),
            Value::String(text) => text.clone(),
            Value::Bool(truth) if at.converts => truth.to_string(),
            Value::Float(number) if at.converts => at.text_of(*number),
            Value::Int(_) | Value::Uint(_) if at.converts => text::to_json(value),
            other => return Err(at.mismatch(other.json_kind(), &Self::go_type())),
        };
        Ok(())
    }
}

impl Decode for bool {
    fn go_type() -> String {
        "bool".to_owned()
    }

    fn decode(&mut self, value: &Value, at: &mut At) -> Result<()> {
        match value {
            Value::Null => {}
            Value::Bool(truth) => *self = *truth,
            other => return Err(at.mismatch(other.json_kind(), "bool")),
        }
        Ok(())
    }
}

impl Decode for i64 {
    fn go_type() -> String {
        "int64".to_owned()
    }

    fn decode(&mut self, value: &Value, at: &mut At) -> Result<()> {
        match value {
            Value::Null => {}
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => {
                let text = text::to_json(value);
                *self = text.parse().map_err(|_| at.mismatch(&format!("number {text}"), "int64"))?;
            }
            other => return Err(at.mismatch(other.json_kind(), "int64")),
        }
        Ok(())
    }
}

impl Decode for Value {
    fn go_type() -> String {
        "interface {}".to_owned()
    }

    fn decode(&mut self, value: &Value, _at: &mut At) -> Result<()> {
        self.clone_from(value);
        Ok(())
    }
}

/// A list; `None` is Go's nil, as opposed to an empty one.
impl<T: Decode> Decode for Option<Vec<T>> {
    fn go_type() -> String {
        format!("[]{}", T::go_type())
    }

    fn decode(&mut self, value: &Value, at: &mut At) -> Result<()> {
        match value {
            Value::Null => *self = None,
            Value::Sequence(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let mut element = T::default();
                    element.decode(item, at).map_err(|error| error.inside(index))?;
                    list.push(element);
                }
                *self = Some(list);
            }
            other => return Err(at.mismatch(other.json_kind(), &Self::go_type())),
        }
        Ok(())
    }
}

/// A map; `None` is Go's nil.
impl<T: Decode> Decode for Option<BTreeMap<String, T>> {
    fn go_type() -> String {
        format!("map[string]{}", T::go_type())
    }

    fn decode(&mut self, value: &Value, at: &mut At) -> Result<()> {
        match value {
            Value::Null => *self = None,
            Value::Mapping(entries) => {
                let map = self.get_or_insert_default();
                for (key, item) in entries {
                    let mut element = T::default();
                    element.decode(item, at).map_err(|error| error.inside(key.as_str()))?;
                    map.insert(key.clone(), element);
                }
            }
            other => return Err(at.mismatch(other.json_kind(), &Self::go_type())),
        }
        Ok(())
    }
}

/// A record behind a pointer, or a string behind one.
impl<T: Decode> Decode for Option<Box<T>> {
    fn go_type() -> String {
        T::go_type()
    }

    fn decode(&mut self, value: &Value, at: &mut At) -> Result<()> {
        if value.is_null() {
            *self = None;
            return Ok(());
        }
        self.get_or_insert_default().decode(value, at)
    }
}

/// Defines a record and how it is decoded.
///
/// Each field has its name in JSON and, where Go finds it in an embedded struct, the names of those, which only errors
/// show; one that is not in all versions of Kustomize has the difference since which it is.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident: $go:literal {
            $($(#[$field_meta:meta])* $field:ident: $type:ty = $json:literal $([$($embedded:literal),*])? $(since $difference:ident)?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub(crate) struct $name {
            $($(#[$field_meta])* pub(crate) $field: $type,)*
        }

        impl $crate::decode::Decode for $name {
            fn go_type() -> String {
                concat!("types.", $go).to_owned()
            }

            fn decode(
                &mut self,
                value: &::go_yaml::Value,
                at: &mut $crate::decode::At,
            ) -> $crate::error::Result<()> {
                let Some(entries) = $crate::decode::entries::<Self>(value, at)? else { return Ok(()) };
                const NAMES: &[&str] = &[$($json),*];
                for (key, value) in entries {
                    match at.find(NAMES, key) {
                        $(Some($json) $(if at.has($crate::version::Difference::$difference))? => {
                            at.field($go, &[$($($embedded,)*)? $json], &mut self.$field, key, value)?;
                        })*
                        _ => at.unknown(key, NAMES)?,
                    }
                }
                Ok(())
            }
        }
    };
}

pub(crate) use record;

/// The entries of a record's value; none for null.
pub(crate) fn entries<'v, T: Decode>(value: &'v Value, at: &At) -> Result<Option<&'v go_yaml::Mapping>> {
    match value {
        Value::Null => Ok(None),
        Value::Mapping(entries) => Ok(Some(entries)),
        other => Err(at.mismatch(other.json_kind(), &T::go_type())),
    }
}
