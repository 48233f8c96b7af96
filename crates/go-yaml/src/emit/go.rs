//! What go-yaml v3 writes of Go's own values, which may be more than JSON has.

use super::super::Dialect;
use super::super::node::Style;
use super::super::sort::sort;
use super::machine::{Emitter, Event, Kind};
use super::{Sequences, plain, string};

/// A value of Go, as far as go-yaml tells it from others.
#[derive(Debug, Clone, PartialEq)]
pub enum GoValue {
    /// What is written without quotes whatever it says: nulls, booleans, numbers, times.
    Plain(String),
    /// A string: bytes that are usually, but not necessarily, UTF-8.
    Text(Vec<u8>),
    /// A list.
    Sequence(Vec<GoValue>),
    /// A map, whose keys are strings.
    Mapping(Vec<(Vec<u8>, GoValue)>),
    /// The fields of a struct, which keep their order.
    Fields(Vec<(String, GoValue)>),
}

impl GoValue {
    /// A number, also one that JSON lacks: `.inf`, `.nan`.
    pub fn float(value: f64) -> Self {
        GoValue::Plain(match value {
            value if value.is_nan() => ".nan".to_owned(),
            f64::INFINITY => ".inf".to_owned(),
            f64::NEG_INFINITY => "-.inf".to_owned(),
            value => go_std::strconv::format_shortest(value),
        })
    }
}

/// Writes a value of Go as go-yaml v3 does with an indentation of 2, with a line break at the end.
///
/// Text that is not UTF-8 becomes `!!binary`. Recurses as deep as `value`.
///
/// Reference: go-yaml v3.0.4 encode.go `marshal`.
pub fn emit_go(value: &GoValue) -> String {
    let mut emitter = Emitter::new(Dialect::V3, Sequences::Indented);
    emitter.emit(&Event::new(Kind::DocumentStart));
    emit(&mut emitter, value);
    emitter.emit(&Event::new(Kind::DocumentEnd));
    emitter.finish()
}

fn emit(emitter: &mut Emitter<'_>, value: &GoValue) {
    match value {
        GoValue::Plain(value) => plain(emitter, value),
        GoValue::Text(bytes) => text(emitter, bytes),
        GoValue::Sequence(items) => {
            emitter.emit(&Event::new(Kind::SequenceStart { flow: false, empty: items.is_empty() }));
            items.iter().for_each(|item| emit(emitter, item));
            emitter.emit(&Event::new(Kind::SequenceEnd));
        }
        GoValue::Mapping(entries) => {
            let names: Vec<_> = entries.iter().map(|(key, _)| go_std::utf8::to_str(key)).collect();
            let mut sorted: Vec<_> = names.iter().zip(entries).map(|(name, entry)| (&**name, entry)).collect();
            sort(&mut sorted, Dialect::V3);
            mapping(emitter, sorted.into_iter().map(|(_, (key, value))| (key.as_slice(), value)));
        }
        GoValue::Fields(fields) => mapping(emitter, fields.iter().map(|(name, value)| (name.as_bytes(), value))),
    }
}

fn mapping<'v>(emitter: &mut Emitter<'_>, entries: impl ExactSizeIterator<Item = (&'v [u8], &'v GoValue)>) {
    emitter.emit(&Event::new(Kind::MappingStart { flow: false, empty: entries.len() == 0 }));
    for (key, value) in entries {
        text(emitter, key);
        emit(emitter, value);
    }
    emitter.emit(&Event::new(Kind::MappingEnd));
}

fn text(emitter: &mut Emitter<'_>, bytes: &[u8]) {
    let Err(bytes) = std::str::from_utf8(bytes).map(|text| string(emitter, text)).map_err(|_| bytes) else { return };
    let value = base64(bytes);
    let style = if value.contains('\n') { Style::Literal } else { Style::Plain };
    let tag = "tag:yaml.org,2002:binary";
    emitter.emit(&Event { tag, ..Event::new(Kind::Scalar { value: &value, style }) });
}

/// In lines of 70, each with its end, if it takes as many as that.
///
/// Reference: go-yaml v3.0.4 resolve.go `encodeBase64`.
fn base64(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let encoded = data_encoding::BASE64.encode(bytes);
    if encoded.len() < LINE {
        return encoded;
    }
    let mut lines = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
    for line in encoded.as_bytes().chunks(LINE) {
        lines.extend(line.iter().map(|byte| char::from(*byte)));
        lines.push('\n');
    }
    lines
}
