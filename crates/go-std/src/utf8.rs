//! Go's `unicode/utf8`: text is bytes that are usually, but not necessarily, UTF-8.

use std::borrow::Cow;

/// One character of Go's reading of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rune {
    /// The character; U+FFFD for a byte that starts none.
    pub char: char,
    /// How many bytes it takes; 1 for a wrong byte.
    pub width: usize,
    /// Whether the byte was wrong, so that `char` replaces it.
    pub wrong: bool,
}

/// Reads the first character; `None` at the end.
///
/// Each byte that doesn't belong to a whole, shortest-form character counts as one U+FFFD of its own.
pub fn decode(bytes: &[u8]) -> Option<Rune> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some(Rune { char: first as char, width: 1, wrong: false });
    }
    let width = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let char =
        bytes.get(..width).and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(|text| text.chars().next());
    Some(match char {
        Some(char) => Rune { char, width, wrong: false },
        None => Rune { char: char::REPLACEMENT_CHARACTER, width: 1, wrong: true },
    })
}

/// Reads the last character; `None` when there are no bytes.
pub fn decode_last(bytes: &[u8]) -> Option<Rune> {
    let wrong = Rune { char: char::REPLACEMENT_CHARACTER, width: 1, wrong: true };
    let end = bytes.len().checked_sub(1)?;
    for start in (end.saturating_sub(3)..=end).rev() {
        if let Some(rune) = bytes.get(start..).and_then(decode)
            && !rune.wrong
            && start + rune.width == bytes.len()
        {
            return Some(rune);
        }
    }
    Some(wrong)
}

/// The characters from front to back, each with the offset of its first byte.
pub fn runes(bytes: &[u8]) -> impl Iterator<Item = (usize, Rune)> + '_ {
    let first = decode(bytes).map(|rune| (0, rune));
    std::iter::successors(first, move |(offset, rune)| {
        let next = offset + rune.width;
        Some((next, decode(bytes.get(next..)?)?))
    })
}

/// As UTF-8, each wrong byte replaced by U+FFFD.
pub fn to_str(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(runes(bytes).map(|(_, rune)| rune.char).collect()),
    }
}

/// Appends one character as UTF-8.
pub fn push_char(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_bytes_count_one_by_one() {
        // name, bytes, characters with widths (as `for i, r := range s` gives them)
        type Row = (&'static str, &'static [u8], &'static [(char, usize)]);
        let table: &[Row] = &[
            ("ascii", b"ab", &[('a', 1), ('b', 1)]),
            ("two bytes", "é".as_bytes(), &[('é', 2)]),
            ("half of three", &[0xe2, 0x82], &[('\u{fffd}', 1), ('\u{fffd}', 1)]),
            ("a real U+FFFD", "\u{fffd}".as_bytes(), &[('\u{fffd}', 3)]),
            ("overlong", &[0xc0, 0x80], &[('\u{fffd}', 1), ('\u{fffd}', 1)]),
            ("surrogate", &[0xed, 0xa0, 0x80], &[('\u{fffd}', 1), ('\u{fffd}', 1), ('\u{fffd}', 1)]),
            ("four bytes", "😀x".as_bytes(), &[('😀', 4), ('x', 1)]),
        ];
        for (name, bytes, expected) in table {
            let found: Vec<(char, usize)> = runes(bytes).map(|(_, rune)| (rune.char, rune.width)).collect();
            assert_eq!(&found, expected, "{name}");
            let mut back = Vec::new();
            let mut rest = *bytes;
            while let Some(rune) = decode_last(rest) {
                back.insert(0, (rune.char, rune.width));
                rest = &rest[..rest.len() - rune.width];
            }
            assert_eq!(&back, expected, "{name}, from the end");
        }
    }
}
