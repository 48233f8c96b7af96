//! Strings as Go source.

use std::fmt::Write;

use unicode_general_category::{GeneralCategory, get_general_category};

/// `text` between double quotes, escaped as Go's `strconv.Quote` and `%q` do.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            _ => push_escaped(&mut quoted, c),
        }
    }
    quoted.push('"');
    quoted
}

/// Appends `c` as it stands in Go source, without escaping quotes.
pub(super) fn push_escaped(text: &mut String, c: char) {
    match c {
        '\\' => text.push_str("\\\\"),
        '\x07' => text.push_str("\\a"),
        '\x08' => text.push_str("\\b"),
        '\x0C' => text.push_str("\\f"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\x0B' => text.push_str("\\v"),
        c if is_print(c) => text.push(c),
        // Writing to a string can't fail.
        c if c < '\u{80}' => drop(write!(text, "\\x{:02x}", u32::from(c))),
        c if c < '\u{10000}' => drop(write!(text, "\\u{:04x}", u32::from(c))),
        c => drop(write!(text, "\\U{:08x}", u32::from(c))),
    }
}

/// Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and the ASCII blank.
pub fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    use GeneralCategory::*;
    !matches!(
        get_general_category(c),
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | SpaceSeparator | Surrogate | Unassigned
    )
}
