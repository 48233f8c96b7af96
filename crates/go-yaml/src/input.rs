//! Bytes to text: encodings, and the characters that YAML allows.
#![expect(clippy::indexing_slicing, reason = "a table has all bytes")]

use std::borrow::Cow;

use super::error::{Fault, Mark};

/// A text to scan, and what is wrong behind its end.
pub(super) struct Input<'a> {
    pub text: Cow<'a, str>,
    /// Found behind `text`: a reader meets it at the end of `text`.
    pub fault: Option<Box<Fault>>,
}

/// go-yaml decodes this many bytes at once, so a bad character is met this early.
const CHUNK: usize = 512;

/// Decodes UTF-8, or UTF-16 with a byte order mark, and checks the characters.
///
/// A bad character ends the text a little before it, so that documents ahead of it can be read.
///
/// Reference: go-yaml v3.0.4 readerc.go.
pub(super) fn decode(bytes: &[u8]) -> Input<'_> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        _ => utf8(bytes),
    }
}

/// The text of a file as it is quoted and compared: the same encodings, and what is no text is replaced.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => Cow::Owned(lossy_utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Cow::Owned(lossy_utf16(rest, u16::from_be_bytes)),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest),
        _ => String::from_utf8_lossy(bytes),
    }
}

fn lossy_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks().0.iter().copied().map(unit);
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn utf8(bytes: &[u8]) -> Input<'_> {
    let (text, broken) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let (good, bad) = bytes.split_at(error.valid_up_to());
            (std::str::from_utf8(good).unwrap_or_default(), Some(utf8_message(bad)))
        }
    };
    let (end, message) = match (first_forbidden(text), broken) {
        (Some(offset), _) => (offset, CONTROL),
        (None, Some(message)) => (text.len(), message),
        (None, None) => return Input { text: Cow::Borrowed(text), fault: None },
    };
    let fault = Fault::reader(message, mark_at(text, end));
    Input { text: Cow::Borrowed(cut(text, end, message)), fault: Some(fault) }
}

const CONTROL: &str = "control characters are not allowed";

/// What is wrong with the UTF-8 sequence that `bad` starts with.
fn utf8_message(bad: &[u8]) -> &'static str {
    let Some(&first) = bad.first() else { return "incomplete UTF-8 octet sequence" };
    let width = match first {
        0x00..=0x7F => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        0x80..=0xBF | 0xF8..=0xFF => return "invalid leading UTF-8 octet",
    };
    let Some(rest) = bad.get(1..width) else { return "incomplete UTF-8 octet sequence" };
    if rest.iter().any(|byte| byte & 0xC0 != 0x80) {
        return "invalid trailing UTF-8 octet";
    }
    match (first, rest.first().copied().unwrap_or_default()) {
        (0xC0 | 0xC1, _) | (0xE0, ..=0x9F) | (0xF0, ..=0x8F) => "invalid length of a UTF-8 sequence",
        _ => "invalid Unicode character",
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Input<'static> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut units = pairs.iter().map(|pair| unit(*pair));
    let mut text = String::with_capacity(bytes.len());
    let mut message = None;
    while let Some(high) = units.next() {
        let decoded = match high {
            0xDC00..=0xDFFF => Err("unexpected low surrogate area"),
            0xD800..=0xDBFF => match units.next() {
                None => Err("incomplete UTF-16 surrogate pair"),
                Some(low @ 0xDC00..=0xDFFF) => {
                    Ok(0x10000 + ((u32::from(high) & 0x3FF) << 10) + (u32::from(low) & 0x3FF))
                }
                Some(_) => Err("expected low surrogate area"),
            },
            _ => Ok(u32::from(high)),
        };
        match decoded.map(char::from_u32) {
            Ok(Some(c)) => text.push(c),
            Ok(None) => message = Some("invalid Unicode character"),
            Err(text) => message = Some(text),
        }
        if message.is_some() {
            break;
        }
    }
    if message.is_none() && !rest.is_empty() {
        message = Some("incomplete UTF-16 character");
    }
    let (end, message) = match (first_forbidden(&text), message) {
        (Some(offset), _) => (offset, CONTROL),
        (None, Some(message)) => (text.len(), message),
        (None, None) => return Input { text: Cow::Owned(text), fault: None },
    };
    let fault = Fault::reader(message, mark_at(&text, end));
    text.truncate(cut(&text, end, message).len());
    Input { text: Cow::Owned(text), fault: Some(fault) }
}

/// The part of `text` that go-yaml passes on before it meets what is wrong at `end`.
fn cut<'a>(text: &'a str, end: usize, message: &str) -> &'a str {
    if message.starts_with("incomplete") {
        // That is known only once the last chunk has been read.
        return text;
    }
    let mut end = end / CHUNK * CHUNK;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Whether YAML forbids `c`: control characters but tab, line breaks and U+0085, and the last two of the first plane.
pub(super) fn is_forbidden(c: char) -> bool {
    matches!(c,
        '\0'..='\x08' | '\x0B' | '\x0C' | '\x0E'..='\x1F' | '\x7F'..='\u{84}' | '\u{86}'..='\u{9F}'
        | '\u{FFFE}' | '\u{FFFF}')
}

/// The offset of the first forbidden character.
fn first_forbidden(text: &str) -> Option<usize> {
    // Only these bytes can start one; all else is skipped without decoding.
    const SUSPICIOUS: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = matches!(byte, 0x00..=0x08 | 0x0B | 0x0C | 0x0E..=0x1F | 0x7F | 0xC2 | 0xEF);
            byte += 1;
        }
        table
    };
    let mut from = 0;
    while let Some(found) = text.as_bytes().get(from..)?.iter().position(|byte| SUSPICIOUS[usize::from(*byte)]) {
        let offset = from + found;
        let c = text.get(offset..)?.chars().next()?;
        if is_forbidden(c) {
            return Some(offset);
        }
        from = offset + c.len_utf8();
    }
    None
}

fn mark_at(text: &str, offset: usize) -> Mark {
    let before = text.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let lines = before.bytes().filter(|byte| *byte == b'\n').count();
    let column = before.get(line_start..).unwrap_or_default().chars().count();
    Mark {
        line: u32::try_from(lines + 1).unwrap_or(u32::MAX),
        column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        offset,
    }
}
