//! Directives, anchors, aliases and tags.

use std::borrow::Cow;

use super::{Fault, Position, Result, Scanner, Token, TokenKind};

impl<'a> Scanner<'a> {
    pub(super) fn scan_directive(&mut self) -> Result<Token<'a>> {
        let start = self.at;
        self.skip();
        let name = self.scan_name();
        if name.is_empty() {
            return Err(self.after(start, "could not find expected directive name"));
        }
        if !self.is_blank_or_end(0) {
            return Err(self.after(start, "found unexpected non-alphabetical character"));
        }
        let kind = match name {
            "YAML" => self.scan_version(start)?,
            "TAG" => self.scan_tag_directive(start)?,
            _ => return Err(self.after(start, "found unknown directive name")),
        };
        let end = self.at;
        self.skip_blanks();
        if self.byte(0) == b'#' {
            while !self.is_break_or_end(0) {
                self.skip();
            }
        }
        if !self.is_break_or_end(0) {
            return Err(self.after(start, "did not find expected comment or line break"));
        }
        self.skip_break();
        Ok(Token { kind, start, end })
    }

    fn after(&self, start: Position, message: &'static str) -> Box<Fault> {
        Fault::scanner(start.mark(), message, self.at.mark())
    }

    fn scan_name(&mut self) -> &'a str {
        let from = self.at.offset;
        while matches!(self.byte(0), b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-') {
            self.skip();
        }
        self.slice(from, self.at.offset)
    }

    fn scan_version(&mut self, start: Position) -> Result<TokenKind<'a>> {
        self.skip_blanks();
        let major = self.scan_version_number(start)?;
        if self.byte(0) != b'.' {
            return Err(self.after(start, "did not find expected digit or '.' character"));
        }
        self.skip();
        let minor = self.scan_version_number(start)?;
        Ok(TokenKind::VersionDirective { major, minor })
    }

    fn scan_version_number(&mut self, start: Position) -> Result<u8> {
        let mut value = 0;
        let mut length = 0;
        while self.byte(0).is_ascii_digit() {
            length += 1;
            if length > 2 {
                return Err(self.after(start, "found extremely long version number"));
            }
            value = value * 10 + (self.byte(0) - b'0');
            self.skip();
        }
        if length == 0 {
            return Err(self.after(start, "did not find expected version number"));
        }
        Ok(value)
    }

    fn scan_tag_directive(&mut self, start: Position) -> Result<TokenKind<'a>> {
        self.skip_blanks();
        let handle = self.scan_tag_handle(start)?;
        if handle != "!" && !handle.ends_with('!') {
            return Err(self.after(start, "did not find expected '!'"));
        }
        if !self.is_blank(0) {
            return Err(self.after(start, "did not find expected whitespace"));
        }
        self.skip_blanks();
        let prefix = self.scan_tag_uri(start, "")?;
        if !self.is_blank_or_end(0) {
            return Err(self.after(start, "did not find expected whitespace or line break"));
        }
        Ok(TokenKind::TagDirective { handle, prefix })
    }

    pub(super) fn scan_anchor(&mut self) -> Result<Token<'a>> {
        let start = self.at;
        let alias = self.byte(0) == b'*';
        self.skip();
        let name = self.scan_name();
        let end = self.at;
        let ends =
            self.is_blank_or_end(0) || matches!(self.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            return Err(self.after(start, "did not find expected alphabetic or numeric character"));
        }
        let kind = if alias { TokenKind::Alias(name) } else { TokenKind::Anchor(name) };
        Ok(Token { kind, start, end })
    }

    pub(super) fn scan_tag(&mut self) -> Result<Token<'a>> {
        let start = self.at;
        let (handle, suffix) = if self.byte(1) == b'<' {
            self.skip();
            self.skip();
            let suffix = self.scan_tag_uri(start, "")?;
            if self.byte(0) != b'>' {
                return Err(self.after(start, "did not find the expected '>'"));
            }
            self.skip();
            ("", suffix)
        } else {
            let handle = self.scan_tag_handle(start)?;
            if handle.len() > 1 && handle.ends_with('!') {
                (handle, self.scan_tag_uri(start, "")?)
            } else {
                // What looked like a handle is the start of the suffix; `!` alone is a tag.
                match self.scan_tag_uri(start, handle)? {
                    suffix if suffix.is_empty() => ("", Cow::Borrowed("!")),
                    suffix => ("!", suffix),
                }
            }
        };
        if !self.is_blank_or_end(0) {
            return Err(self.after(start, "did not find expected whitespace or line break"));
        }
        Ok(Token { kind: TokenKind::Tag { handle, suffix }, start, end: self.at })
    }

    /// Scans `!`, `!name!` or, when it is not a handle after all, `!name`.
    fn scan_tag_handle(&mut self, start: Position) -> Result<&'a str> {
        if self.byte(0) != b'!' {
            return Err(self.after(start, "did not find expected '!'"));
        }
        let from = self.at.offset;
        self.skip();
        self.scan_name();
        if self.byte(0) == b'!' {
            self.skip();
        }
        Ok(self.slice(from, self.at.offset))
    }

    /// Scans the rest of a tag. `head` has been scanned already; its `!` is not part of the tag.
    fn scan_tag_uri(&mut self, start: Position, head: &'a str) -> Result<Cow<'a, str>> {
        let from = self.at.offset;
        let mut escaped = false;
        let mut octets = head.get(1..).unwrap_or_default().as_bytes().to_vec();
        loop {
            match self.byte(0) {
                b'%' => {
                    escaped = true;
                    self.scan_uri_escape(start, &mut octets)?;
                }
                byte @ (b'0'..=b'9'
                | b'A'..=b'Z'
                | b'a'..=b'z'
                | b'_'
                | b'-'
                | b';'
                | b'/'
                | b'?'
                | b':'
                | b'@'
                | b'&'
                | b'='
                | b'+'
                | b'$'
                | b','
                | b'.'
                | b'!'
                | b'~'
                | b'*'
                | b'\''
                | b'('
                | b')'
                | b'['
                | b']') => {
                    octets.push(byte);
                    self.skip();
                }
                _ => break,
            }
        }
        if head.is_empty() && self.at.offset == from {
            return Err(self.after(start, "did not find expected tag URI"));
        }
        if escaped {
            return Ok(Cow::Owned(String::from_utf8_lossy(&octets).into_owned()));
        }
        let from = from - head.len().saturating_sub(1);
        Ok(Cow::Borrowed(self.slice(from, self.at.offset)))
    }

    /// Scans the escaped octets of one character.
    fn scan_uri_escape(&mut self, start: Position, octets: &mut Vec<u8>) -> Result<()> {
        let mut left = 1;
        let mut first = true;
        while left > 0 {
            let digit = |ahead| char::from(self.byte(ahead)).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let (b'%', Some(high), Some(low)) = (self.byte(0), digit(1), digit(2)) else {
                return Err(self.after(start, "did not find URI escaped octet"));
            };
            let octet = high << 4 | low;
            if first {
                left = match octet {
                    0x00..=0x7F => 1,
                    0xC0..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF7 => 4,
                    0x80..=0xBF | 0xF8..=0xFF => {
                        return Err(self.after(start, "found an incorrect leading UTF-8 octet"));
                    }
                };
                first = false;
            } else if octet & 0xC0 != 0x80 {
                return Err(self.after(start, "found an incorrect trailing UTF-8 octet"));
            }
            octets.push(octet);
            self.skip();
            self.skip();
            self.skip();
            left -= 1;
        }
        Ok(())
    }
}
