//! Where reading is: characters, and errors with their line.

use go_std::strconv::{Escape, escape_char};

use super::super::super::super::text::{decode as decode_rune, to_str};
use super::{Decoder, Problem, Read, TomlVersion};

impl<'t> Decoder<'t> {
    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character, which stays; control characters and wrong bytes are errors.
    pub(super) fn peek(&self) -> Read<Option<char>> {
        let Some(rune) = decode_rune(self.rest()) else { return Ok(None) };
        let line = self.line + u32::from(rune.char == '\n');
        if rune.wrong {
            let byte = self.rest().first().copied().unwrap_or_default();
            return Err(Problem { line, message: format!("invalid UTF-8 byte: 0x{byte:02x}") });
        }
        let is_lone_return = rune.char == '\r' && self.rest().get(1) != Some(&b'\n');
        if is_lone_return || rune.char.is_ascii_control() && !matches!(rune.char, '\t' | '\n' | '\r') {
            let code = u32::from(rune.char);
            let message = format!("TOML files cannot contain control characters: '0x{code:02x}'");
            return Err(Problem { line, message });
        }
        Ok(Some(rune.char))
    }

    pub(super) fn next(&mut self) -> Read<Option<char>> {
        let c = self.peek()?;
        match c {
            Some(c) => {
                self.at += c.len_utf8();
                self.line += u32::from(c == '\n');
            }
            None => self.is_at_end = true,
        }
        Ok(c)
    }

    pub(super) fn accept(&mut self, wanted: char) -> Read<bool> {
        let is_there = self.peek()? == Some(wanted);
        if is_there {
            self.next()?;
        }
        Ok(is_there)
    }

    pub(super) fn skip(&mut self, is_skipped: impl Fn(char) -> bool) -> Read<()> {
        while self.peek()?.is_some_and(&is_skipped) {
            self.next()?;
        }
        Ok(())
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        let is_behind_break = self.at > 0 && self.text.get(self.at - 1) == Some(&b'\n');
        let is_before = self.is_at_end && (is_behind_break || self.version == TomlVersion::V1_4);
        Err(Problem { line: self.line - u32::from(is_before), message: message.into() })
    }

    /// The error that belongs to the line which was just left, when it was.
    pub(super) fn error_before<T>(&self, c: Option<char>, message: String) -> Read<T> {
        match c {
            Some('\n') if self.version > TomlVersion::V1_4 => Err(Problem { line: self.line - 1, message }),
            _ => self.error(message),
        }
    }

    pub(super) fn error_at_key<T>(&self, message: String) -> Read<T> {
        Err(Problem { line: self.key_line, message })
    }
}

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

pub(super) fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// As `%q` shows a character.
pub(super) fn shown(c: Option<char>) -> String {
    let mut out = vec![b'\''];
    let c = c.unwrap_or('\0');
    escape_char(&mut out, c, b'\'', Escape::NonPrintable);
    out.push(b'\'');
    to_str(&out).into_owned()
}

/// As `%c` in quotes shows it.
pub(super) fn plain(c: Option<char>) -> String {
    c.map_or_else(|| "end of file".to_owned(), |c| format!("'{c}'"))
}
