//! Letters: case, words, wrapping and shortening. Sprig takes these from goutils and xstrings, whose habits show.

use go_std::unicode::{
    is_digit, is_letter, is_lower, is_number, is_punct, is_space, is_title, is_upper, to_lower, to_title, to_upper,
};

use super::super::call::Call;
use super::super::error::Failure;
use super::super::function::{Functions, Int};
use super::super::text::{Rune, Text, push_char, runes};

pub(super) fn add(table: &mut Functions) {
    table
        .add("upper", |text: Text| mapped(&text, to_upper))
        .add("lower", |text: Text| mapped(&text, to_lower))
        .add("title", |text: Text| title(&text))
        .add("untitle", |text: Text| untitle(&text))
        .add("swapcase", |text: Text| swapcase(&text))
        .add("nospace", |text: Text| nospace(text))
        .add("initials", |text: Text| initials(&text))
        .add("snakecase", |text: Text| lower_words(&text, '_'))
        .add("kebabcase", |text: Text| lower_words(&text, '-'))
        .add("camelcase", |text: Text| camelcase(&text))
        .add("abbrev", |width: Int, text: Text| if width.0 < 4 { text } else { abbreviated(&text, 0, width.0) })
        .add("abbrevboth", |left: Int, right: Int, text: Text| {
            if right.0 < 4 || left.0 > 0 && right.0 < 7 { text } else { abbreviated(&text, left.0, right.0) }
        })
        .add("wrap", |call: &mut Call<'_>, width: Int, text: Text| wrap(call, &text, width, b"\n", false))
        .add("wrapWith", |call: &mut Call<'_>, width: Int, line_break: Text, text: Text| {
            let line_break = if line_break.is_empty() { Text::from("\n") } else { line_break };
            wrap(call, &text, width, &line_break, true)
        });
}

/// Each character changed; a wrong byte becomes U+FFFD.
fn mapped(text: &[u8], mut map: impl FnMut(char) -> char) -> Text {
    let mut out = Vec::with_capacity(text.len());
    for (_, rune) in runes(text) {
        push_char(&mut out, map(rune.char));
    }
    out.into()
}

/// Upper-cases each letter behind a separator.
fn title(text: &[u8]) -> Text {
    let mut before = ' ';
    mapped(text, |c| {
        let is_first = is_separator(std::mem::replace(&mut before, c));
        if is_first { to_title(c) } else { c }
    })
}

/// Go's `strings.isSeparator`: anything but ASCII letters, digits and `_`, beyond ASCII only blanks.
fn is_separator(c: char) -> bool {
    if c.is_ascii() {
        return !(c.is_ascii_alphanumeric() || c == '_');
    }
    !is_letter(c) && !is_digit(c) && is_space(c)
}

/// Lower-cases the first letter of each word between blanks.
fn untitle(text: &[u8]) -> Text {
    let mut is_first = true;
    mapped(text, |c| {
        let was_first = std::mem::replace(&mut is_first, is_space(c));
        if was_first && !is_first { to_lower(c) } else { c }
    })
}

fn swapcase(text: &[u8]) -> Text {
    let mut is_first = true;
    mapped(text, |c| {
        let was_first = std::mem::replace(&mut is_first, is_space(c));
        swapped(c, was_first)
    })
}

/// A letter in the other case, which at the start of a word is title case.
fn swapped(c: char, is_first: bool) -> char {
    if is_upper(c) || is_title(c) {
        to_lower(c)
    } else if is_lower(c) && is_first {
        to_title(c)
    } else if is_lower(c) {
        to_upper(c)
    } else {
        c
    }
}

/// Whether a byte, taken for a character of its own as goutils does, is a blank: U+0085 and U+00A0 are.
fn is_byte_space(byte: u8) -> bool {
    is_space(char::from(byte))
}

/// Without blanks. When there are any, bytes beyond ASCII come out as characters of their own.
fn nospace(text: Text) -> Text {
    if !text.iter().any(|byte| is_byte_space(*byte)) {
        return text;
    }
    text.iter().filter(|byte| !is_byte_space(**byte)).map(|byte| char::from(*byte)).collect::<String>().into()
}

/// The first byte of each word, as a character.
fn initials(text: &[u8]) -> Text {
    let mut is_first = true;
    let mut out = String::new();
    for byte in text {
        let is_gap = is_byte_space(*byte);
        if is_first && !is_gap {
            out.push(char::from(*byte));
        }
        is_first = is_gap;
    }
    out.into()
}

/// Cuts in the middle of words, and of characters, with `...` where something is missing.
fn abbreviated(text: &Text, offset: i64, width: i64) -> Text {
    let length = text.len() as i64;
    if length <= width {
        return text.clone();
    }
    let part = |start: i64, end: i64| {
        let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
        Text::from(text.get(range).unwrap_or_default())
    };
    let offset = offset.min(length).min(length - (width - 3)).max(offset.min(length - (width - 3)));
    if offset <= 4 {
        return [&part(0, width - 3), &b"..."[..]].concat().into();
    }
    if offset + width - 3 < length {
        let rest = abbreviated(&part(offset, length), 0, width - 3);
        return [&b"..."[..], &rest].concat().into();
    }
    [&b"..."[..], &part(length - (width - 3), length)].concat().into()
}

/// Breaks lines at blanks so that none is longer than `width` bytes, if words allow or may be broken themselves.
fn wrap(call: &mut Call<'_>, text: &[u8], width: Int, line_break: &[u8], breaks_words: bool) -> Result<Text, Failure> {
    let width = usize::try_from(width.0).unwrap_or(0).max(1);
    call.charge_bytes(text.len().saturating_add((text.len() / width).saturating_mul(line_break.len())))?;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while rest.len() > width {
        if let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
            continue;
        }
        let blank = rest.get(..=width).and_then(|line| line.iter().rposition(|byte| *byte == b' '));
        let (line, after) = match blank {
            Some(blank) => (blank, blank + 1),
            None if breaks_words => (width, width),
            None => match rest.iter().skip(width).position(|byte| *byte == b' ') {
                Some(blank) => (width + blank, width + blank + 1),
                None => break,
            },
        };
        out.extend_from_slice(rest.get(..line).unwrap_or_default());
        out.extend_from_slice(line_break);
        rest = rest.get(after..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Ok(out.into())
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || is_space(c)
}

/// Pascal case: connectors go, and what follows one is upper-cased; a word that starts upper-case is lower-cased behind
/// its first letter as long as it stays upper-case. Connectors at the start stay.
fn camelcase(text: &[u8]) -> Text {
    let mut out = String::new();
    let mut characters = runes(text).map(|(_, rune)| rune.char).peekable();
    while let Some(c) = characters.next_if(|c| is_connector(*c)) {
        out.push(c);
    }
    let Some(first) = characters.next() else {
        // Nothing but connectors: xstrings writes the last one twice.
        out.extend(out.chars().next_back());
        return out.into();
    };
    let mut is_upper_run = is_upper(first);
    let mut before = to_upper(first);
    for c in characters {
        let mut c = c;
        if is_connector(before) && is_connector(c) {
            out.push(before);
        } else if is_connector(before) {
            is_upper_run = is_upper(c);
            c = to_upper(c);
        } else {
            if is_upper_run {
                is_upper_run = is_upper(c);
                c = if is_upper_run { to_lower(c) } else { c };
            }
            out.push(before);
        }
        before = c;
    }
    out.push(before);
    out.into()
}

/// What a piece of an identifier consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Nothing left, or no text at all.
    None,
    Number,
    /// Starts with an upper-case letter.
    Upper,
    Alphabet,
    Connector,
    Punct,
    Other,
}

/// A letter of a script that has words; Chinese characters are none.
fn is_alphabet(c: char) -> bool {
    is_letter(c) && !matches!(c, '\u{4e00}'..='\u{9fcc}' | '\u{3400}'..='\u{4d85}' | '\u{20000}'..='\u{2b81d}')
}

/// A character with the bytes that belong to it: wrong ones, and any U+FFFD, belong to the character behind them, at the
/// end to the last one.
#[derive(Clone, Copy)]
struct Unit<'t> {
    /// U+FFFD when there is no character in the text at all.
    char: char,
    bytes: &'t [u8],
}

/// Reference: xstrings 1.5.0 convert.go `nextValidRune`.
fn units(text: &[u8]) -> Vec<Unit<'_>> {
    let is_valid = |(_, rune): &(usize, Rune)| rune.char != char::REPLACEMENT_CHARACTER;
    let ends: Vec<(char, usize)> =
        runes(text).filter(is_valid).map(|(offset, rune)| (rune.char, offset + rune.width)).collect();
    let mut units = Vec::with_capacity(ends.len());
    let mut start = 0;
    for (at, (char, end)) in ends.iter().enumerate() {
        let end = if at + 1 == ends.len() { text.len() } else { *end };
        units.push(Unit { char: *char, bytes: text.get(start..end).unwrap_or_default() });
        start = end;
    }
    if units.is_empty() && !text.is_empty() {
        units.push(Unit { char: char::REPLACEMENT_CHARACTER, bytes: text });
    }
    units
}

/// Cuts off the first piece.
fn next_word<'u, 't>(text: &'u [Unit<'t>]) -> (Word, &'u [Unit<'t>], &'u [Unit<'t>]) {
    let Some(first) = text.first() else { return (Word::None, &[], &[]) };
    let run = |is_part: &dyn Fn(char) -> bool| 1 + text.iter().skip(1).take_while(|unit| is_part(unit.char)).count();
    let is_small = |c: char| is_alphabet(c) && !is_upper(c);
    let (word, length) = match first.char {
        char::REPLACEMENT_CHARACTER => (Word::None, 1),
        c if is_connector(c) => (Word::Connector, run(&is_connector)),
        c if is_punct(c) => (Word::Punct, run(&is_punct)),
        c if is_upper(c) => {
            let capitals = run(&is_upper);
            // Of `HTTPServer` the `S` belongs to the next word.
            let is_next_word = text.get(capitals).is_some_and(|unit| is_alphabet(unit.char));
            match capitals {
                1 => (Word::Upper, run(&is_small)),
                _ if is_next_word => (Word::Upper, capitals - 1),
                _ => (Word::Upper, capitals),
            }
        }
        c if is_alphabet(c) => (Word::Alphabet, run(&is_small)),
        c if is_number(c) => (Word::Number, run(&is_number)),
        _ => {
            let is_other = |c| !(is_connector(c) || is_alphabet(c) || is_number(c) || is_punct(c));
            (Word::Other, run(&is_other))
        }
    };
    let (word_text, rest) = text.split_at(length);
    (word, word_text, rest)
}

/// Words in lower case with connectors between them; numbers stick to the word before, or to the one behind when that
/// is in lower case.
fn lower_words(text: &[u8], connector: char) -> Text {
    let units = units(text);
    let mut out = Vec::with_capacity(text.len());
    let push = |out: &mut Vec<u8>, kind: Word, word: &[Unit<'_>]| push_lower(out, kind, word, connector);
    let joins = |kind: Word| !matches!(kind, Word::None | Word::Punct | Word::Connector);
    let (mut kind, mut word, mut rest) = next_word(&units);
    while !rest.is_empty() {
        if kind != Word::Connector {
            push(&mut out, kind, word);
        }
        let (before, before_word) = (kind, word);
        (kind, word, rest) = next_word(rest);
        match before {
            Word::Number => {
                while matches!(kind, Word::Alphabet | Word::Number) {
                    push(&mut out, kind, word);
                    (kind, word, rest) = next_word(rest);
                }
                if joins(kind) {
                    push_char(&mut out, connector);
                }
            }
            Word::Connector => push(&mut out, before, before_word),
            Word::Punct => {}
            Word::None | Word::Upper | Word::Alphabet | Word::Other => {
                if kind != Word::Number {
                    if !matches!(kind, Word::Connector | Word::Punct) {
                        push_char(&mut out, connector);
                    }
                    continue;
                }
                if rest.is_empty() {
                    continue;
                }
                let number = word;
                (kind, word, rest) = next_word(rest);
                if kind != Word::Alphabet {
                    push(&mut out, Word::Number, number);
                    if !matches!(kind, Word::Connector | Word::Punct) {
                        push_char(&mut out, connector);
                    }
                    continue;
                }
                push_char(&mut out, connector);
                push(&mut out, Word::Number, number);
                while matches!(kind, Word::Alphabet | Word::Number) {
                    push(&mut out, kind, word);
                    (kind, word, rest) = next_word(rest);
                }
                if joins(kind) {
                    push_char(&mut out, connector);
                }
            }
        }
    }
    push(&mut out, kind, word);
    out.into()
}

/// Appends a piece in lower case, connectors replaced. Only there a wrong byte becomes U+FFFD.
///
/// Reference: xstrings 1.5.0 convert.go `toLower`.
fn push_lower(out: &mut Vec<u8>, kind: Word, word: &[Unit<'_>], connector: char) {
    for unit in word {
        if matches!(kind, Word::Upper | Word::Connector) {
            let lower = |c: char| if is_connector(c) { connector } else { to_lower(c) };
            runes(unit.bytes).for_each(|(_, rune)| push_char(out, lower(rune.char)));
        } else {
            out.extend_from_slice(unit.bytes);
        }
    }
}
