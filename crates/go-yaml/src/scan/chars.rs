//! The characters of the text, and moving over them.

use super::{Dialect, Scanner};

impl<'a> Scanner<'a> {
    /// The byte `ahead` of the current place, 0 behind the end: no text has a NUL.
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at.offset + ahead).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at.offset..).unwrap_or_default()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn is_end(&self) -> bool {
        self.at.offset >= self.text.len()
    }

    pub(super) fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t')
    }

    /// The length of the line break `ahead`, CR LF counted as two; 0 if there is none.
    pub(super) fn break_width(&self, ahead: usize) -> usize {
        break_width(self.text.as_bytes().get(self.at.offset + ahead..).unwrap_or_default())
    }

    pub(super) fn is_break(&self, ahead: usize) -> bool {
        self.break_width(ahead) > 0
    }

    pub(super) fn is_break_or_end(&self, ahead: usize) -> bool {
        self.byte(ahead) == 0 || self.is_break(ahead)
    }

    pub(super) fn is_blank_or_end(&self, ahead: usize) -> bool {
        self.is_blank(ahead) || self.is_break_or_end(ahead)
    }

    /// `---` or `...` at the start of a line.
    pub(super) fn at_document_indicator(&self) -> bool {
        self.at.column == 0
            && (self.rest().starts_with(b"---") || self.rest().starts_with(b"..."))
            && self.is_blank_or_end(3)
    }

    /// Skips one character.
    pub(super) fn skip(&mut self) {
        if !self.is_blank(0) {
            self.newlines = 0;
        }
        self.at.offset += char_width(self.byte(0));
        self.at.index += 1;
        self.at.column += 1;
    }

    /// Skips `bytes` of `chars` characters without a line break, the last of them not a blank.
    pub(super) fn skip_run(&mut self, bytes: usize, chars: u32) {
        if bytes > 0 {
            self.newlines = 0;
            self.at.offset += bytes;
            self.at.index += i64::from(chars);
            self.at.column += chars;
        }
    }

    /// Skips a line break and gives what it means: LF, or U+2028 and U+2029 themselves.
    pub(super) fn skip_break(&mut self) -> &'static str {
        let (bytes, chars, meaning) = match self.rest() {
            [b'\r', b'\n', ..] => (2, 2, "\n"),
            [b'\r' | b'\n', ..] => (1, 1, "\n"),
            [0xC2, 0x85, ..] => (2, 1, "\n"),
            [0xE2, 0x80, 0xA8, ..] => (3, 1, "\u{2028}"),
            [0xE2, 0x80, 0xA9, ..] => (3, 1, "\u{2029}"),
            _ => return "",
        };
        self.at.offset += bytes;
        self.at.index += chars;
        self.at.column = 0;
        self.at.line += 1;
        self.newlines += 1;
        meaning
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank(0) {
            self.skip();
        }
    }

    /// Skips blanks, comments and line breaks.
    pub(super) fn skip_to_token(&mut self) {
        let scanned_from = self.at;
        if self.at.offset == 0 && self.rest().starts_with(b"\xEF\xBB\xBF") {
            self.skip();
        }
        loop {
            // A tab may not be where it would look like indentation.
            while self.byte(0) == b' ' || (self.byte(0) == b'\t' && (self.flow_level > 0 || !self.simple_key_allowed)) {
                self.skip();
            }
            if self.dialect == Dialect::V3 {
                self.turn_line_comment_to_head();
            }
            if self.byte(0) == b'#' {
                match self.dialect {
                    Dialect::V2 => {
                        while !self.is_break_or_end(0) {
                            self.skip();
                        }
                    }
                    Dialect::V3 => self.scan_comments(scanned_from),
                }
            }
            if !self.is_break(0) {
                return;
            }
            self.skip_break();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }
}

/// The length of the line break at the start of `bytes`, CR LF counted as two; 0 if there is none.
pub(super) fn break_width(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [0xC2, 0x85, ..] => 2,
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
        _ => 0,
    }
}

/// The length of the character that starts with `first`.
pub(super) fn char_width(first: u8) -> usize {
    match first {
        0x00..=0xBF => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
    }
}
