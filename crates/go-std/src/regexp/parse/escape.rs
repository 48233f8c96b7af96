//! What follows a backslash.

use regex_syntax::hir::{ClassUnicode, Look};

use super::super::class;
use super::{BAD_ESCAPE, BAD_RANGE, Parser, Result, error, next_char, up_to};

impl Parser<'_> {
    pub(super) fn backslash(&mut self) -> Result<()> {
        match self.rest.get(1) {
            Some(b'A') => self.look(Look::Start, 2),
            Some(b'z') => self.look(Look::End, 2),
            Some(b'b') => self.look(Look::WordAscii, 2),
            Some(b'B') => self.look(Look::WordAsciiNegate, 2),
            Some(b'C') => return error(BAD_ESCAPE, self.rest.get(..2).unwrap_or_default()),
            Some(b'Q') => {
                self.advance(2);
                let end = self.rest.windows(2).position(|pair| pair == b"\\E");
                let quoted = self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default();
                let mut left = quoted;
                while !left.is_empty() {
                    let (c, after) = next_char(left)?;
                    self.literal(c)?;
                    left = after;
                }
                self.advance(quoted.len() + 2);
            }
            _ => match self.class_escape()? {
                Some(class) => self.push_class(class),
                None => match char::from_u32(self.escape()?) {
                    Some(c) => self.literal(c)?,
                    // A surrogate, which no text has.
                    None => self.push_class(ClassUnicode::empty()),
                },
            },
        }
        Ok(())
    }

    /// `\d`, `\pL` and their like, with other cases when those don't count.
    pub(super) fn class_escape(&mut self) -> Result<Option<ClassUnicode>> {
        let Some(letter) = self.rest.get(1).filter(|_| self.rest.starts_with(b"\\")) else { return Ok(None) };
        let mut is_negated = letter.is_ascii_uppercase();
        let mut found = if let Some(class) = class::perl(letter.to_ascii_lowercase()) {
            self.advance(2);
            class
        } else if matches!(letter, b'p' | b'P') {
            let start = self.rest;
            let (first, after) = next_char(self.rest.get(2..).unwrap_or_default())?;
            let (name, after) = match (first, start.iter().position(|byte| *byte == b'}')) {
                ('{', None) => return error(BAD_RANGE, start),
                ('{', Some(end)) => (start.get(3..end), start.get(end + 1..).unwrap_or_default()),
                _ => (start.get(2..start.len() - after.len()), after),
            };
            self.rest = after;
            let name = name.unwrap_or_default();
            let name = std::str::from_utf8(name).or_else(|_| error("invalid UTF-8", name))?;
            is_negated ^= name.starts_with('^');
            match class::unicode(name.strip_prefix('^').unwrap_or(name)) {
                Some(class) => class,
                None => return error(BAD_RANGE, up_to(start, after)),
            }
        } else {
            return Ok(None);
        };
        found = self.folded(found)?;
        if is_negated {
            found.negate();
        }
        Ok(Some(found))
    }

    /// An escape for one character, which may be a surrogate.
    pub(super) fn escape(&mut self) -> Result<u32> {
        let start = self.rest;
        self.advance(1);
        if self.rest.is_empty() {
            return error("trailing backslash at end of expression", b"");
        }
        let (c, after) = next_char(self.rest)?;
        self.rest = after;
        let octal = |digit: Option<&u8>| {
            digit.filter(|digit| matches!(digit, b'0'..=b'7')).map(|digit| u32::from(digit - b'0'))
        };
        match c {
            'a' => return Ok(0x07),
            'f' => return Ok(0x0c),
            'n' => return Ok(0x0a),
            'r' => return Ok(0x0d),
            't' => return Ok(0x09),
            'v' => return Ok(0x0b),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(c as u32),
            '0'..='7' if c == '0' || octal(self.rest.first()).is_some() => {
                let mut code = c as u32 - '0' as u32;
                for _ in 0..2 {
                    let Some(digit) = octal(self.rest.first()) else { break };
                    code = code * 8 + digit;
                    self.advance(1);
                }
                return Ok(code);
            }
            'x' if !self.rest.is_empty() => {
                if let Some(c) = self.hex_escape()? {
                    return Ok(c);
                }
            }
            _ => {}
        }
        error(BAD_ESCAPE, up_to(start, self.rest))
    }

    /// What follows `\x`: two digits, or any number of them in braces.
    pub(super) fn hex_escape(&mut self) -> Result<Option<u32>> {
        let (first, after) = next_char(self.rest)?;
        self.rest = after;
        if first != '{' {
            let (second, after) = next_char(self.rest)?;
            self.rest = after;
            let code = first.to_digit(16).zip(second.to_digit(16)).map(|(first, second)| first * 16 + second);
            return Ok(code);
        }
        let (mut code, mut count) = (0u32, 0);
        while !self.rest.is_empty() {
            let (c, after) = next_char(self.rest)?;
            self.rest = after;
            if c == '}' {
                return Ok((count > 0).then_some(code));
            }
            let Some(digit) = c.to_digit(16) else { return Ok(None) };
            code = code * 16 + digit;
            count += 1;
            if code > char::MAX as u32 {
                return Ok(None);
            }
        }
        Ok(None)
    }
}
