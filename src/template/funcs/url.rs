//! Go's `net/url` escaping.

use super::super::text::Text;

/// The part of a URL that text goes into, which decides what must be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A key or value of a query; a blank becomes `+`.
    Query,
}

/// Escapes text for a part of a URL.
pub(super) fn escape(text: &[u8], part: Part) -> Text {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(*byte),
            b' ' if part == Part::Query => out.push(b'+'),
            byte => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    out.into()
}
