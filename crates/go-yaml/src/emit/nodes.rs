//! Nodes to events, styles and comments kept.

use std::borrow::Cow;

use super::super::Dialect;
use super::super::node::{Data, Node, Style};
use super::super::resolve;
use super::super::tag::Tag;
use super::Sequences;
use super::machine::{Emitter, Event, Kind};

/// Writes a document as kyaml does: an indentation of 2, styles, comments and the order of entries kept.
///
/// A line break is at the end. Recurses as deep as `node`.
///
/// Reference: go-yaml v3.0.4 `Encoder` over a `yaml.Node`, as kyaml 0.21.1 sets it up.
pub fn emit_node(node: &Node, sequences: Sequences) -> String {
    emit_nodes([node], sequences)
}

/// Writes each node as a document of its own; `---` is between them only.
pub fn emit_nodes<'a>(nodes: impl IntoIterator<Item = &'a Node>, sequences: Sequences) -> String {
    let mut emitter = Emitter::new(Dialect::V3, sequences);
    for node in nodes {
        emitter.emit(&Event { head: node.comments.document_head(), ..Event::new(Kind::DocumentStart) });
        emit(&mut emitter, node, node.comments.foot(), "");
        emitter.emit(&Event { foot: node.comments.document_foot(), ..Event::new(Kind::DocumentEnd) });
    }
    emitter.finish()
}

/// Emits `node` with the comment `foot` below it. `tail` is the foot of the entry before it.
fn emit<'a>(emitter: &mut Emitter<'a>, node: &'a Node, foot: &'a str, tail: &'a str) {
    let (tag, quoted) = written_tag(node);
    let anchor = node.anchor.as_deref().unwrap_or_default();
    let event = |kind| Event { anchor, tag: &tag, head: node.comments.head(), ..Event::new(kind) };
    let end = |kind| Event { line: node.comments.line(), foot, ..Event::new(kind) };
    let flow = node.style == Style::Flow;
    match &node.data {
        Data::Alias(name) => {
            emitter.emit(&Event { head: node.comments.head(), anchor: name, ..end(Kind::Alias) });
        }
        Data::Scalar(value) => {
            let style = match node.style {
                Style::Plain | Style::Flow if value.contains('\n') => Style::Literal,
                Style::Plain | Style::Flow if quoted => Style::DoubleQuoted,
                style => style,
            };
            let event = event(Kind::Scalar { value, style });
            emitter.emit(&Event { line: node.comments.line(), foot, tail, ..event });
        }
        Data::Sequence(items) => {
            emitter.emit(&event(Kind::SequenceStart { flow, empty: items.is_empty() }));
            for item in items {
                emit(emitter, item, item.comments.foot(), "");
            }
            emitter.emit(&end(Kind::SequenceEnd));
        }
        Data::Mapping(entries) => {
            let start = event(Kind::MappingStart { flow, empty: entries.is_empty() });
            emitter.emit(&Event { tail, ..start });
            // The foot of an entry is below its value, however deep that ends.
            let mut tail = "";
            for (key, value) in entries {
                emit(emitter, key, "", tail);
                tail = key.comments.foot();
                emit(emitter, value, value.comments.foot(), "");
            }
            emitter.emit(&Event { tail, ..end(Kind::MappingEnd) });
        }
    }
}

/// The tag to write, in its long form (empty: none), and whether the text has to be quoted to stay a string.
fn written_tag(node: &Node) -> (Cow<'_, str>, bool) {
    let Some(tag) = &node.tag else { return (Cow::Borrowed(""), false) };
    let mut quoted = false;
    let implied = !node.tagged
        && match &node.data {
            Data::Scalar(text) => {
                let is_quoted = !matches!(node.style, Style::Plain | Style::Flow);
                let found = resolve::plain(text, Dialect::V3).tag();
                quoted = *tag == Tag::Str && !is_quoted && found != Tag::Str;
                (*tag == Tag::Str && is_quoted) || found == *tag || quoted
            }
            Data::Sequence(_) => *tag == Tag::Seq,
            Data::Mapping(_) => *tag == Tag::Map,
            Data::Alias(_) => true,
        };
    if implied {
        return (Cow::Borrowed(""), quoted);
    }
    let short = tag.as_str();
    match short.strip_prefix("!!") {
        Some(name) => (Cow::Owned(format!("tag:yaml.org,2002:{name}")), quoted),
        None => (Cow::Borrowed(short), quoted),
    }
}
