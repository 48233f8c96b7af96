//! Strings, in one line and in several, with and without escapes.

use super::super::super::super::text::{Text, push_char, to_str};
use super::cursor::{is_blank, is_break};
use super::{Decoder, Problem, Read, TomlVersion};

impl Decoder<'_> {
    pub(super) fn string(&mut self) -> Read<Text> {
        let mut out = Vec::new();
        loop {
            match self.next()? {
                None => return self.error("unexpected EOF; expected '\"'"),
                Some(c) if is_break(c) => {
                    return Err(Problem { line: self.line - 1, message: "strings cannot contain newlines".to_owned() });
                }
                Some('"') => return Ok(out.into()),
                Some('\\') => self.escape(&mut out)?,
                Some(c) => push_char(&mut out, c),
            }
        }
    }

    pub(super) fn escape(&mut self, out: &mut Vec<u8>) -> Read<()> {
        let start = self.at;
        let c = self.next()?;
        let short = match c {
            Some('b') => Some(8),
            Some('t') => Some(b'\t'),
            Some('n') => Some(b'\n'),
            Some('f') => Some(12),
            Some('r') => Some(b'\r'),
            Some('e') if self.version >= TomlVersion::V1_6 => Some(27),
            Some('"') => Some(b'"'),
            Some('\\') => Some(b'\\'),
            _ => None,
        };
        if let Some(short) = short {
            out.push(short);
            return Ok(());
        }
        let digits = match c {
            Some(blank @ (' ' | '\t')) => return self.error(format!("invalid escape: '\\{blank}'")),
            Some('x') if self.version >= TomlVersion::V1_6 => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(other) => return self.error(format!("invalid escape in string '\\{other}'")),
            None => return self.error("invalid escape in string '\\\0'"),
        };
        for _ in 0..digits {
            let digit = self.next()?;
            if !digit.is_some_and(|digit| digit.is_ascii_hexdigit()) {
                let (count, letter) = match digits {
                    2 => ("two", 'x'),
                    4 => ("four", 'u'),
                    _ => ("eight", 'U'),
                };
                let found = go_yaml::quote(&to_str(self.text.get(start - 1..self.at).unwrap_or_default()));
                return self
                    .error(format!("expected {count} hexadecimal digits after '\\{letter}', but got {found} instead"));
            }
        }
        let hex = to_str(self.text.get(start + 1..self.at).unwrap_or_default()).into_owned();
        match u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
            Some(c) => {
                push_char(out, c);
                Ok(())
            }
            None => self.error(format!("Escaped character '\\u{hex}' is not valid UTF-8.")),
        }
    }

    pub(super) fn raw_string(&mut self) -> Read<Text> {
        let start = self.at;
        loop {
            match self.next()? {
                None => return self.error("unexpected EOF; expected \"'\""),
                Some(c) if is_break(c) => {
                    return Err(Problem { line: self.line - 1, message: "strings cannot contain newlines".to_owned() });
                }
                Some('\'') => return Ok(self.text.get(start..self.at - 1).unwrap_or_default().into()),
                Some(_) => {}
            }
        }
    }

    /// A line break right behind the opening quotes doesn't count.
    pub(super) fn skip_first_break(&mut self) -> Read<()> {
        if self.rest().starts_with(b"\r\n") {
            self.next()?;
        }
        self.accept('\n').map(drop)
    }

    /// How many quotes follow each other here; up to two may be before the three that close.
    pub(super) fn quotes(&self, mark: u8) -> usize {
        self.rest().iter().take_while(|byte| **byte == mark).count()
    }

    pub(super) fn multiline_string(&mut self) -> Read<Text> {
        self.at += 2;
        self.skip_first_break()?;
        let mut out = Vec::new();
        loop {
            let quotes = self.quotes(b'"');
            if quotes >= 6 {
                self.at += 5;
                return self.error("unexpected '\"\"\"\"\"\"'");
            }
            if quotes >= 3 {
                out.resize(out.len() + quotes - 3, b'"');
                self.at += quotes;
                return Ok(out.into());
            }
            match self.next()? {
                None => return self.error("unexpected EOF; expected '\"\"\"'"),
                Some('\\') => {
                    // A line that ends in a backslash goes on at the next text.
                    let blanks = self.rest().iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
                    if self.rest().iter().take(blanks).any(|byte| *byte == b'\n') {
                        self.skip(|c| is_blank(c) || is_break(c))?;
                    } else {
                        self.escape(&mut out)?;
                    }
                }
                Some(c) => push_char(&mut out, c),
            }
        }
    }

    pub(super) fn multiline_raw(&mut self) -> Read<Text> {
        self.at += 2;
        self.skip_first_break()?;
        let start = self.at;
        loop {
            let quotes = self.quotes(b'\'');
            if quotes >= 6 {
                self.at += 5;
                return self.error("unexpected \"''''''\"");
            }
            if quotes >= 3 {
                self.at += quotes;
                return Ok(self.text.get(start..self.at - 3).unwrap_or_default().into());
            }
            if self.next()?.is_none() {
                return self.error("unexpected EOF; expected \"'''\"");
            }
        }
    }
}
