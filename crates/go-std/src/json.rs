//! Go's `encoding/json`, as far as it knows nothing of the values themselves: how numbers are written, to which field of a
//! struct a key leads, and what it says of a value of another type.

use super::strconv::format_float;

/// A float as Go writes it: `1000000`, `1e+21`, `1e-7`. `None` for an infinity or NaN.
///
/// Reference: Go 1.26 encoding/json/encode.go `floatEncoder`.
pub fn format_number(value: f64) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    if value == 0.0 || (1e-6..1e21).contains(&value.abs()) {
        return Some(format_float(value, b'f', None));
    }
    // As ES6 has it: `e-09` is `e-9`.
    Some(format_float(value, b'e', None).replace("e-0", "e-"))
}

/// A value of another type than the field has that it is decoded into.
///
/// Who reads knows the path and the types by Go's names; how keys lead to fields is [`find_field`].
///
/// Reference: Go 1.26 encoding/json/decode.go `UnmarshalTypeError`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("json: cannot unmarshal {value} into Go {} of type {go_type}", self.place())]
pub struct UnmarshalTypeError {
    /// What was found: `bool`, `number 1.5`.
    pub value: String,
    /// The struct that is decoded, and the names of the fields from there by dots; `None` for the value as a whole.
    pub field: Option<(String, String)>,
    /// The type of the field: `[]string`.
    pub go_type: String,
}

impl UnmarshalTypeError {
    /// The error of a value that is not a part of a struct.
    pub fn of_value(value: impl Into<String>, go_type: impl Into<String>) -> Self {
        Self { value: value.into(), field: None, go_type: go_type.into() }
    }

    fn place(&self) -> String {
        match &self.field {
            Some((of, path)) => format!("struct field {of}.{path}"),
            None => "value".to_owned(),
        }
    }
}

/// The field that a key leads to, by its place: the one of that very name, else the first whose letters differ in
/// case.
///
/// Reference: Go 1.26 encoding/json/decode.go `object`, `byExactName` and `byFoldedName`.
pub fn find_field<'n>(names: impl IntoIterator<Item = &'n str, IntoIter: Clone>, key: &str) -> Option<usize> {
    let mut names = names.into_iter();
    names.clone().position(|name| name == key).or_else(|| names.position(|name| is_field(name, key)))
}

/// Whether a key may lead to the field of this name, a name in ASCII.
pub fn is_field(name: &str, key: &str) -> bool {
    name.chars().map(fold).eq(key.chars().map(fold))
}

/// A key in small letters, as far as a name in ASCII can be meant.
pub fn fold_name(key: &str) -> String {
    key.chars().map(fold).collect()
}

/// Two characters outside of ASCII are letters of it in another case: the long s and the sign of Kelvin.
///
/// Reference: Go 1.26 encoding/json/fold.go `foldRune`, which takes the smallest rune, where this is the small letter.
fn fold(c: char) -> char {
    match c {
        'ſ' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    }
}
