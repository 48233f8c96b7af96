//! Values and nodes to text, byte for byte as go-yaml writes them.
//!
//! [`machine`] decides the layout from a stream of events, as libyaml's emitter does. This file and [`nodes`] turn values
//! and nodes into events.
//!
//! Reference: go-yaml v2.4.3 and v3.0.4 encode.go and emitterc.go.

mod go;
mod machine;
mod nodes;

use go_std::strconv::format_shortest;

use super::Dialect;
use super::node::Style;
use super::resolve::{self, Plain, is_base_60};
use super::sort::sort;
use super::value::{Mapping, Value};
pub use go::{GoValue, emit_go};
use machine::{Emitter, Event, Kind};
pub use nodes::{emit_node, emit_nodes};

/// How v3 writes a sequence that is the value of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequences {
    /// Two columns deeper than its key: Argo CD's `manifest.yaml`, Helm's `toYamlPretty`, kyaml's "wide".
    Indented,
    /// At the column of its key: kyaml's default, "compact".
    Compact,
}

/// Writes `value` as go-yaml v2 does, with a line break at the end.
///
/// Sequences are at the column of their key, lines are folded once they pass column 80, keys are in natural order.
/// Recurses as deep as `value`. What sigs.k8s.io/yaml writes is [`super::sigs::marshal`].
///
/// Reference: go-yaml v2.4.3 `Marshal`.
pub fn emit_v2(value: &Value) -> String {
    let mut emitter = Emitter::new(Dialect::V2, Sequences::Compact);
    document(&mut emitter, value);
    emitter.finish()
}

/// Writes `value` as go-yaml v3 does with an indentation of 2, with a line break at the end.
///
/// Nothing is folded, keys are in natural order. Recurses as deep as `value`.
///
/// Reference: go-yaml v3.0.4 `Encoder` with `SetIndent(2)`; compact with `CompactSeqIndent`.
pub fn emit_v3(value: &Value, sequences: Sequences) -> String {
    emit_v3_documents([value], sequences)
}

/// Writes each value as a document of its own; `---` is between them only.
pub fn emit_v3_documents<'a>(values: impl IntoIterator<Item = &'a Value>, sequences: Sequences) -> String {
    let mut emitter = Emitter::new(Dialect::V3, sequences);
    for value in values {
        document(&mut emitter, value);
    }
    emitter.finish()
}

fn document<'a>(emitter: &mut Emitter<'a>, value: &'a Value) {
    emitter.emit(&Event::new(Kind::DocumentStart));
    emit(emitter, value);
    emitter.emit(&Event::new(Kind::DocumentEnd));
}

fn emit<'a>(emitter: &mut Emitter<'a>, value: &'a Value) {
    match value {
        Value::Null => plain(emitter, "null"),
        Value::Bool(value) => plain(emitter, if *value { "true" } else { "false" }),
        Value::Int(value) => plain(emitter, &value.to_string()),
        Value::Uint(value) => plain(emitter, &value.to_string()),
        Value::Float(value) => plain(emitter, &format_shortest(*value)),
        Value::String(text) => string(emitter, text),
        Value::Sequence(items) => {
            emitter.emit(&Event::new(Kind::SequenceStart { flow: false, empty: items.is_empty() }));
            for item in items {
                emit(emitter, item);
            }
            emitter.emit(&Event::new(Kind::SequenceEnd));
        }
        Value::Mapping(mapping) => {
            emitter.emit(&Event::new(Kind::MappingStart { flow: false, empty: mapping.is_empty() }));
            for (key, value) in sorted(mapping, emitter.dialect()) {
                string(emitter, key);
                emit(emitter, value);
            }
            emitter.emit(&Event::new(Kind::MappingEnd));
        }
    }
}

fn sorted(mapping: &Mapping, dialect: Dialect) -> Vec<(&str, &Value)> {
    let mut entries: Vec<(&str, &Value)> = mapping.iter().map(|(key, value)| (key.as_str(), value)).collect();
    sort(&mut entries, dialect);
    entries
}

fn plain(emitter: &mut Emitter<'_>, text: &str) {
    emitter.emit(&Event::new(Kind::Scalar { value: text, style: Style::Plain }));
}

fn string(emitter: &mut Emitter<'_>, text: &str) {
    let style = if text.contains('\n') {
        Style::Literal
    } else if is_plain(text, emitter.dialect()) {
        Style::Plain
    } else {
        Style::DoubleQuoted
    };
    emitter.emit(&Event::new(Kind::Scalar { value: text, style }));
}

/// Whether a string without quotes is read as that string, by YAML 1.1 too.
fn is_plain(text: &str, dialect: Dialect) -> bool {
    resolve::plain(text, dialect) == Plain::Str
        && !is_base_60(text)
        // v3 reads them as strings and still quotes them.
        && (dialect == Dialect::V2 || resolve::plain(text, Dialect::V2) == Plain::Str)
}
