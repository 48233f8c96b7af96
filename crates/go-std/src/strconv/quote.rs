//! Strings as Go source, and back.

use super::super::unicode::is_print;
use super::super::utf8::{decode, push_char, runes};

/// How far quoting leaves characters as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// What can't be printed is escaped.
    NonPrintable,
    /// Everything that is not ASCII is escaped too: `%+q`.
    NonAscii,
}

/// In double quotes, as Go source code has it: `strconv.Quote` and `%q`.
pub fn quote(text: &str) -> String {
    String::from_utf8(quote_bytes(text.as_bytes())).expect("text with ASCII put in is still text")
}

/// Bytes that need not be UTF-8 in double quotes, as [`quote`] puts them. The result is UTF-8, but for the type.
pub fn quote_bytes(text: &[u8]) -> Vec<u8> {
    quote_with(text, b'"', Escape::NonPrintable)
}

/// Whether a text may be in back quotes: `strconv.CanBackquote`.
pub fn can_backquote(text: &[u8]) -> bool {
    runes(text).all(|(_, rune)| !rune.wrong && can_be_in_backquotes(rune.char))
}

fn can_be_in_backquotes(c: char) -> bool {
    match c {
        '\u{feff}' | '`' | '\u{7f}' => false,
        '\t' => true,
        c => c >= ' ',
    }
}

/// Between `mark`s, which are escaped inside.
pub fn quote_with(text: &[u8], mark: u8, escape: Escape) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(mark);
    for (offset, rune) in runes(text) {
        if rune.wrong {
            let byte = text.get(offset).copied().unwrap_or_default();
            out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
        } else {
            escape_char(&mut out, rune.char, mark, escape);
        }
    }
    out.push(mark);
    out
}

/// One character as it is between `mark`s.
pub fn escape_char(out: &mut Vec<u8>, c: char, mark: u8, escape: Escape) {
    let short = match c {
        '\u{7}' => Some(b'a'),
        '\u{8}' => Some(b'b'),
        '\u{c}' => Some(b'f'),
        '\n' => Some(b'n'),
        '\r' => Some(b'r'),
        '\t' => Some(b't'),
        '\u{b}' => Some(b'v'),
        '\\' => Some(b'\\'),
        c if c == char::from(mark) => Some(mark),
        _ => None,
    };
    if let Some(short) = short {
        out.extend_from_slice(&[b'\\', short]);
    } else if is_print(c) && (escape == Escape::NonPrintable || c.is_ascii()) {
        push_char(out, c);
    } else {
        let code = c as u32;
        let escaped = match code {
            0..=0x1f | 0x7f => format!("\\x{code:02x}"),
            0x80..=0xffff => format!("\\u{code:04x}"),
            _ => format!("\\U{code:08x}"),
        };
        out.extend_from_slice(escaped.as_bytes());
    }
}

/// What a string constant of Go means: in double quotes with escapes, or raw in back quotes.
pub fn unquote(quoted: &[u8]) -> Option<Vec<u8>> {
    let (mark, inner) = match quoted {
        [b'`', inner @ .., b'`'] => (b'`', inner),
        [b'"', inner @ .., b'"'] => (b'"', inner),
        _ => return None,
    };
    if mark == b'`' {
        if inner.contains(&b'`') {
            return None;
        }
        return Some(inner.iter().copied().filter(|byte| *byte != b'\r').collect());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while !rest.is_empty() {
        if rest.first() == Some(&b'\n') {
            return None;
        }
        let (unit, after) = unquote_char(rest, mark)?;
        match unit {
            Unit::Byte(byte) => out.push(byte),
            Unit::Char(c) => push_char(&mut out, c),
        }
        rest = after;
    }
    Some(out)
}

/// What one escape or character of a constant represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `\x..` and octal escapes are bytes.
    Byte(u8),
    /// All else.
    Char(char),
}

/// The first character or escape, and what follows it; `mark` may only be there escaped.
pub fn unquote_char(text: &[u8], mark: u8) -> Option<(Unit, &[u8])> {
    let first = *text.first()?;
    if first == mark {
        return None;
    }
    if first != b'\\' {
        let rune = decode(text)?;
        let unit = if rune.wrong { Unit::Char(char::REPLACEMENT_CHARACTER) } else { Unit::Char(rune.char) };
        return Some((unit, text.get(rune.width..)?));
    }
    let kind = *text.get(1)?;
    let rest = text.get(2..)?;
    let byte = |byte: u8| Some((Unit::Byte(byte), rest));
    match kind {
        b'a' => byte(7),
        b'b' => byte(8),
        b'f' => byte(12),
        b'n' => byte(b'\n'),
        b'r' => byte(b'\r'),
        b't' => byte(b'\t'),
        b'v' => byte(11),
        b'\\' => byte(b'\\'),
        b'\'' | b'"' if kind == mark => byte(kind),
        b'x' => hex(rest, 2).map(|(code, rest)| (Unit::Byte(code as u8), rest)),
        b'u' => hex(rest, 4).and_then(|(code, rest)| Some((Unit::Char(char::from_u32(code)?), rest))),
        b'U' => hex(rest, 8).and_then(|(code, rest)| Some((Unit::Char(char::from_u32(code)?), rest))),
        b'0'..=b'7' => {
            let digits = text.get(1..4)?;
            let mut code = 0u32;
            for digit in digits {
                code = code * 8 + char::from(*digit).to_digit(8)?;
            }
            Some((Unit::Byte(u8::try_from(code).ok()?), text.get(4..)?))
        }
        _ => None,
    }
}

/// The number of so many hexadecimal digits, and what follows them.
fn hex(text: &[u8], width: usize) -> Option<(u32, &[u8])> {
    let digits = std::str::from_utf8(text.get(..width)?).ok()?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    Some((u32::from_str_radix(digits, 16).ok()?, text.get(width..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_is_gos() {
        // Go 1.26: strconv.Quote
        let table: &[(&[u8], &str)] = &[
            (b"", r#""""#),
            (b"a\"b\\c", r#""a\"b\\c""#),
            (b"\x00\x07\x08\x0c\n\r\t\x0b\x7f", r#""\x00\a\b\f\n\r\t\v\x7f""#),
            ("é😀\u{2028}\u{a0}\u{feff}\u{e000}".as_bytes(), "\"é😀\\u2028\\u00a0\\ufeff\\ue000\""),
            (b"\xff\xe2\x82", r#""\xff\xe2\x82""#),
            ("\u{fffd}\u{10ffff}".as_bytes(), "\"\u{fffd}\\U0010ffff\""),
        ];
        for (text, expected) in table {
            let quoted = quote_bytes(text);
            assert_eq!(super::super::super::utf8::to_str(&quoted), *expected);
            assert_eq!(unquote(&quoted).as_deref(), Some(*text), "{expected}");
        }
    }

    #[test]
    fn unquoting_refuses_what_go_refuses() {
        for wrong in [r#""\'""#, r#""\q""#, r#""\x1""#, r#""\ud800""#, r#""\400""#, "\"a\nb\"", "`a", "'a'", "\"", ""] {
            assert_eq!(unquote(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(unquote(br#""\x41\101\u00e9\U0001F600""#).as_deref(), Some("AAé😀".as_bytes()));
        assert_eq!(unquote(b"`a\r\nb\\n`").as_deref(), Some(&b"a\nb\\n"[..]));
    }
}
