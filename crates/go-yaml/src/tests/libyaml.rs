//! Events against those of libyaml, which the Go libraries come from.

use libyaml_safer as libyaml;

use super::*;
use crate::input;
use crate::parse::{EventKind, Parser};

/// An event in words: what it is, its place, anchor, tag, style and text.
fn ours(text: &str) -> Option<Vec<String>> {
    let mut input = input::decode(text.as_bytes());
    let mut parser = Parser::new(&mut input, Dialect::V2);
    let mut events = Vec::new();
    loop {
        let event = parser.next().ok()?;
        let what = match &event.kind {
            EventKind::StreamEnd => return Some(events),
            EventKind::DocumentStart => "+document".to_owned(),
            EventKind::DocumentEnd => "-document".to_owned(),
            EventKind::Alias(name) => format!("*{name}"),
            EventKind::Scalar { value, style } => format!("{style:?} {value:?}"),
            EventKind::SequenceStart { flow } => format!("+sequence {flow}"),
            EventKind::SequenceEnd => "-sequence".to_owned(),
            EventKind::MappingStart { flow } => format!("+mapping {flow}"),
            EventKind::MappingEnd => "-mapping".to_owned(),
        };
        let place = format!("{}:{}", event.mark.line, event.mark.column);
        events.push(format!("{place} {what} &{} {}", event.anchor.unwrap_or_default(), event.tag));
    }
}

fn theirs(text: &str) -> Option<Vec<String>> {
    let mut bytes = text.as_bytes();
    let mut parser = libyaml::Parser::new();
    parser.set_input_string(&mut bytes);
    let mut events = Vec::new();
    loop {
        let event = parser.parse().ok()?;
        let (what, anchor, tag) = match event.data {
            libyaml::EventData::StreamStart { .. } => continue,
            libyaml::EventData::StreamEnd => return Some(events),
            libyaml::EventData::DocumentStart { .. } => ("+document".to_owned(), None, None),
            libyaml::EventData::DocumentEnd { .. } => ("-document".to_owned(), None, None),
            libyaml::EventData::Alias { anchor } => (format!("*{anchor}"), None, None),
            libyaml::EventData::Scalar { anchor, tag, value, style, .. } => {
                let style = match style {
                    libyaml::ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    libyaml::ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    libyaml::ScalarStyle::Literal => Style::Literal,
                    libyaml::ScalarStyle::Folded => Style::Folded,
                    _ => Style::Plain,
                };
                (format!("{style:?} {value:?}"), anchor, tag)
            }
            libyaml::EventData::SequenceStart { anchor, tag, style, .. } => {
                (format!("+sequence {}", style == libyaml::SequenceStyle::Flow), anchor, tag)
            }
            libyaml::EventData::SequenceEnd => ("-sequence".to_owned(), None, None),
            libyaml::EventData::MappingStart { anchor, tag, style, .. } => {
                (format!("+mapping {}", style == libyaml::MappingStyle::Flow), anchor, tag)
            }
            libyaml::EventData::MappingEnd => ("-mapping".to_owned(), None, None),
        };
        let place = format!("{}:{}", event.start_mark.line + 1, event.start_mark.column + 1);
        events.push(format!("{place} {what} &{} {}", anchor.unwrap_or_default(), tag.unwrap_or_default()));
    }
}

/// What go-yaml changed: `?` ends a plain scalar inside flow, `a:,` is one, `,[]` belong to tags, `\'` is an escape;
/// and it forgets that `[]` may be a key.
fn is_read_differently(text: &str) -> bool {
    let changed = ["?", ":,", ":]", ":}", "\\'", "[]", "{}"];
    let is_tag = |word: &str| word.contains('!') && word.contains([',', '[', ']']) && !word.contains("!<");
    changed.iter().any(|piece| text.contains(piece)) || text.split_whitespace().any(is_tag)
}

#[test]
fn events_are_those_of_libyaml() {
    let mut rng = Rng(4);
    let mut compared = 0;
    for _ in 0..3_000 {
        let text = mutation(&mut rng);
        if is_read_differently(&text) {
            continue;
        }
        // This port of libyaml panics on a few texts.
        let Ok(theirs) = std::panic::catch_unwind(|| theirs(&text)) else { continue };
        assert_eq!(ours(&text), theirs, "{text:?}");
        compared += 1;
    }
    assert!(compared > 2_000, "only {compared}");
}
