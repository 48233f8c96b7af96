//! Scalars: plain, quoted, and block.
//!
//! The text of a scalar is borrowed where it is in the source as it is: one line, nothing escaped.

use std::borrow::Cow;

use super::super::error::UNCLOSED;
use super::{Dialect, Fault, Position, Result, Scanner, Style, Token, TokenKind};

/// The text of a scalar while it is put together from parts of the source.
struct Text<'a> {
    source: &'a str,
    /// Where the part starts that has not been taken yet.
    from: usize,
    /// All before that part, once it differs from the source.
    taken: Option<String>,
}

impl<'a> Text<'a> {
    fn new(source: &'a str, from: usize) -> Self {
        Self { source, from, taken: None }
    }

    /// Takes the source up to `to`, then `insert`; goes on at `from`.
    fn splice(&mut self, to: usize, insert: &str, from: usize) {
        let part = self.source.get(self.from..to).unwrap_or_default();
        let taken = self.taken.get_or_insert_default();
        taken.push_str(part);
        taken.push_str(insert);
        self.from = from;
    }

    fn finish(mut self, to: usize) -> Cow<'a, str> {
        match self.taken {
            None => Cow::Borrowed(self.source.get(self.from..to).unwrap_or_default()),
            Some(_) => {
                self.splice(to, "", to);
                Cow::Owned(self.taken.unwrap_or_default())
            }
        }
    }
}

/// Line breaks between two parts of a scalar that is folded.
#[derive(Default)]
struct Breaks {
    first: &'static str,
    more: String,
}

impl Breaks {
    /// A single line break becomes a blank, of several the first is dropped; U+2028 and U+2029 always stay.
    fn fold(&self) -> Cow<'_, str> {
        match self.first {
            "\n" if self.more.is_empty() => Cow::Borrowed(" "),
            "\n" | "" => Cow::Borrowed(&self.more),
            first => Cow::Owned(format!("{first}{}", self.more)),
        }
    }
}

impl<'a> Scanner<'a> {
    pub(super) fn scan_plain_scalar(&mut self) -> Result<Token<'a>> {
        let indent = self.indent + 1;
        let start = self.at;
        let mut end = self.at;
        let mut text = Text::new(self.text, start.offset);
        let mut breaks: Option<Breaks> = None;
        loop {
            if self.at_document_indicator() || self.byte(0) == b'#' {
                break;
            }
            let (bytes, chars) = self.plain_run();
            if bytes > 0 {
                if let Some(breaks) = breaks.take() {
                    text.splice(end.offset, &breaks.fold(), self.at.offset);
                }
                self.skip_run(bytes, chars);
                end = self.at;
            }
            if !self.is_blank(0) && !self.is_break(0) {
                break;
            }
            loop {
                if self.is_blank(0) {
                    if breaks.is_some() && i64::from(self.at.column) < indent && self.byte(0) == b'\t' {
                        return Err(self.in_scalar(start, "found a tab character that violates indentation"));
                    }
                    self.skip();
                } else if self.is_break(0) {
                    let meaning = self.skip_break();
                    match &mut breaks {
                        None => breaks = Some(Breaks { first: meaning, more: String::new() }),
                        Some(breaks) => breaks.more.push_str(meaning),
                    }
                } else {
                    break;
                }
            }
            if self.flow_level == 0 && i64::from(self.at.column) < indent {
                break;
            }
        }
        if breaks.is_some() {
            self.simple_key_allowed = true;
        }
        let value = text.finish(end.offset);
        Ok(Token { kind: TokenKind::Scalar { value, style: Style::Plain }, start, end })
    }

    /// The bytes and characters up to the next blank, line break, or indicator that ends a plain scalar.
    fn plain_run(&self) -> (usize, u32) {
        let rest = self.rest();
        let flow = self.flow_level > 0;
        let mut chars = 0;
        for (at, byte) in rest.iter().enumerate() {
            let ends = match byte {
                b' ' | b'\t' | b'\r' | b'\n' => true,
                b':' => self.is_blank_or_end(at + 1),
                b',' | b'?' | b'[' | b']' | b'{' | b'}' => flow,
                0xC2 | 0xE2 => self.is_break(at),
                _ => false,
            };
            if ends {
                return (at, chars);
            }
            chars += u32::from(byte & 0xC0 != 0x80);
        }
        (rest.len(), chars)
    }

    fn in_scalar(&self, start: Position, message: &'static str) -> Box<Fault> {
        Fault::scanner(start.mark(), message, self.at.mark())
    }

    pub(super) fn scan_quoted_scalar(&mut self, single: bool) -> Result<Token<'a>> {
        let quote = if single { b'\'' } else { b'"' };
        let start = self.at;
        self.skip();
        let mut text = Text::new(self.text, self.at.offset);
        loop {
            if self.at_document_indicator() {
                return Err(self.in_scalar(start, "found unexpected document indicator"));
            }
            if self.is_end() {
                return Err(self.in_scalar(start, UNCLOSED));
            }
            // An escaped line break joins its line to the next without a blank.
            let mut breaks: Option<Breaks> = None;
            let mut end;
            loop {
                let (bytes, chars) = self.quoted_run(quote);
                self.skip_run(bytes, chars);
                end = self.at.offset;
                match self.byte(0) {
                    b'\'' if single && self.byte(1) == b'\'' => {
                        self.skip();
                        self.skip();
                        text.splice(end, "'", self.at.offset);
                    }
                    b'\\' if !single && self.is_break(1) => {
                        self.skip();
                        self.skip_break();
                        breaks = Some(Breaks::default());
                        break;
                    }
                    b'\\' if !single => self.scan_escape(start, &mut text)?,
                    _ => break,
                }
            }
            if self.byte(0) == quote {
                let value = text.finish(end);
                self.skip();
                let style = if single { Style::SingleQuoted } else { Style::DoubleQuoted };
                return Ok(Token { kind: TokenKind::Scalar { value, style }, start, end: self.at });
            }
            loop {
                if self.is_blank(0) {
                    self.skip();
                } else if self.is_break(0) {
                    let meaning = self.skip_break();
                    match &mut breaks {
                        None => breaks = Some(Breaks { first: meaning, more: String::new() }),
                        Some(breaks) => breaks.more.push_str(meaning),
                    }
                } else {
                    break;
                }
            }
            if let Some(breaks) = breaks {
                text.splice(end, &breaks.fold(), self.at.offset);
            }
        }
    }

    /// The bytes and characters up to the next blank, line break, quote or escape.
    fn quoted_run(&self, quote: u8) -> (usize, u32) {
        let rest = self.rest();
        let mut chars = 0;
        for (at, byte) in rest.iter().enumerate() {
            let ends = match byte {
                b' ' | b'\t' | b'\r' | b'\n' => true,
                b'\\' => quote == b'"',
                0xC2 | 0xE2 => self.is_break(at),
                byte => *byte == quote,
            };
            if ends {
                return (at, chars);
            }
            chars += u32::from(byte & 0xC0 != 0x80);
        }
        (rest.len(), chars)
    }

    /// Scans an escape of a double-quoted scalar.
    fn scan_escape(&mut self, start: Position, text: &mut Text<'a>) -> Result<()> {
        let end = self.at.offset;
        let (meaning, digits) = match self.byte(1) {
            b'0' => ('\0', 0),
            b'a' => ('\x07', 0),
            b'b' => ('\x08', 0),
            b't' | b'\t' => ('\t', 0),
            b'n' => ('\n', 0),
            b'v' => ('\x0B', 0),
            b'f' => ('\x0C', 0),
            b'r' => ('\r', 0),
            b'e' => ('\x1B', 0),
            b' ' => (' ', 0),
            b'"' => ('"', 0),
            b'\'' => ('\'', 0),
            b'\\' => ('\\', 0),
            b'N' => ('\u{85}', 0),
            b'_' => ('\u{A0}', 0),
            b'L' => ('\u{2028}', 0),
            b'P' => ('\u{2029}', 0),
            b'x' => ('x', 2),
            b'u' => ('u', 4),
            b'U' => ('U', 8),
            _ => return Err(self.in_scalar(start, "found unknown escape character")),
        };
        self.skip();
        self.skip();
        let meaning = if digits == 0 { meaning } else { self.scan_hexadecimal(start, digits)? };
        text.splice(end, meaning.encode_utf8(&mut [0; 4]), self.at.offset);
        Ok(())
    }

    fn scan_hexadecimal(&mut self, start: Position, digits: usize) -> Result<char> {
        let mut value: u32 = 0;
        for ahead in 0..digits {
            let Some(digit) = char::from(self.byte(ahead)).to_digit(16) else {
                return Err(self.in_scalar(start, "did not find expected hexdecimal number"));
            };
            value = value.wrapping_shl(4) | digit;
        }
        let Some(c) = char::from_u32(value) else {
            return Err(self.in_scalar(start, "found invalid Unicode character escape code"));
        };
        for _ in 0..digits {
            self.skip();
        }
        Ok(c)
    }

    pub(super) fn scan_block_scalar(&mut self, literal: bool) -> Result<Token<'a>> {
        let start = self.at;
        self.skip();
        let (chomping, increment) = self.scan_block_header(start)?;
        if self.is_break(0) {
            self.skip_break();
        }
        let mut indent = match increment {
            0 => 0,
            increment => self.indent.max(0) + i64::from(increment),
        };
        let mut end = self.at;
        let mut text = String::new();
        let mut leading_break = "";
        let mut trailing_breaks = String::new();
        let mut leading_blank = false;
        self.scan_block_breaks(start, &mut indent, &mut trailing_breaks, &mut end)?;
        while i64::from(self.at.column) == indent && !self.is_end() {
            let blank = self.is_blank(0);
            if !literal && !leading_blank && !blank && leading_break == "\n" {
                if trailing_breaks.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(leading_break);
            }
            text.push_str(&trailing_breaks);
            trailing_breaks.clear();
            leading_blank = blank;
            let (bytes, chars) = self.line_run();
            text.push_str(self.slice(self.at.offset, self.at.offset + bytes));
            self.skip_line_run(bytes, chars);
            leading_break = self.skip_break();
            self.scan_block_breaks(start, &mut indent, &mut trailing_breaks, &mut end)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(leading_break);
        }
        if chomping == Chomping::Keep {
            text.push_str(&trailing_breaks);
        }
        let style = if literal { Style::Literal } else { Style::Folded };
        Ok(Token { kind: TokenKind::Scalar { value: Cow::Owned(text), style }, start, end })
    }

    /// Scans what follows `|` or `>` in its line: how to chomp, and the indentation (0: by the first line).
    fn scan_block_header(&mut self, start: Position) -> Result<(Chomping, u8)> {
        let mut chomping = self.scan_chomping();
        let mut increment = 0;
        if self.byte(0).is_ascii_digit() {
            increment = self.byte(0) - b'0';
            if increment == 0 {
                return Err(self.in_scalar(start, "found an indentation indicator equal to 0"));
            }
            self.skip();
            chomping = chomping.or_else(|| self.scan_chomping());
        }
        self.skip_blanks();
        if self.byte(0) == b'#' {
            if self.dialect == Dialect::V3 {
                self.scan_line_comment(start);
            }
            while !self.is_break_or_end(0) {
                self.skip();
            }
        }
        if !self.is_break_or_end(0) {
            return Err(self.in_scalar(start, "did not find expected comment or line break"));
        }
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    fn scan_chomping(&mut self) -> Option<Chomping> {
        let chomping = match self.byte(0) {
            b'+' => Chomping::Keep,
            b'-' => Chomping::Strip,
            _ => return None,
        };
        self.skip();
        Some(chomping)
    }

    /// The bytes and characters up to the end of the line.
    fn line_run(&self) -> (usize, u32) {
        let rest = self.rest();
        let mut chars = 0;
        for (at, byte) in rest.iter().enumerate() {
            let ends = match byte {
                b'\r' | b'\n' => true,
                0xC2 | 0xE2 => self.is_break(at),
                _ => false,
            };
            if ends {
                return (at, chars);
            }
            chars += u32::from(byte & 0xC0 != 0x80);
        }
        (rest.len(), chars)
    }

    /// Skips a run that may be of blanks alone.
    fn skip_line_run(&mut self, bytes: usize, chars: u32) {
        let newlines = self.newlines;
        let blank = self.rest().iter().take(bytes).all(|byte| matches!(byte, b' ' | b'\t'));
        self.skip_run(bytes, chars);
        if blank {
            self.newlines = newlines;
        }
    }

    /// Skips indentation and empty lines, and learns the indentation from the first line that is not empty.
    fn scan_block_breaks(
        &mut self,
        start: Position,
        indent: &mut i64,
        breaks: &mut String,
        end: &mut Position,
    ) -> Result<()> {
        *end = self.at;
        let mut indent_max = 0;
        loop {
            while (*indent == 0 || i64::from(self.at.column) < *indent) && self.byte(0) == b' ' {
                self.skip();
            }
            indent_max = indent_max.max(i64::from(self.at.column));
            if (*indent == 0 || i64::from(self.at.column) < *indent) && self.byte(0) == b'\t' {
                let message = "found a tab character where an indentation space is expected";
                return Err(self.in_scalar(start, message));
            }
            if !self.is_break(0) {
                break;
            }
            breaks.push_str(self.skip_break());
            *end = self.at;
        }
        if *indent == 0 {
            *indent = indent_max.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}

/// What happens to the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    /// One stays.
    Clip,
    Strip,
    Keep,
}
