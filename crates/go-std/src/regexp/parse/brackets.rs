//! Classes in brackets.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::super::super::utf8::to_str;
use super::super::class;
use super::{BAD_RANGE, Parser, Result, error, next_char, up_to};

impl<'p> Parser<'p> {
    /// `[…]`
    pub(super) fn bracket(&mut self) -> Result<()> {
        let start = self.rest;
        self.advance(1);
        let is_negated = self.rest.starts_with(b"^");
        self.advance(usize::from(is_negated));
        let mut all = Vec::new();
        let mut is_first = true;
        while is_first || self.rest.first() != Some(&b']') {
            is_first = false;
            let part = if let Some(class) = self.posix_class()? {
                class
            } else if let Some(class) = self.class_escape()? {
                class
            } else {
                self.class_range(start)?
            };
            all.extend_from_slice(part.ranges());
        }
        self.advance(1);
        let mut all = ClassUnicode::new(all);
        if is_negated {
            all.negate();
        }
        self.push_class(all);
        Ok(())
    }

    /// `[:name:]` inside of brackets.
    pub(super) fn posix_class(&mut self) -> Result<Option<ClassUnicode>> {
        let Some(inner) = self.rest.strip_prefix(b"[:").filter(|inner| !inner.is_empty()) else { return Ok(None) };
        let Some(end) = inner.windows(2).position(|pair| pair == b":]") else { return Ok(None) };
        let whole = self.rest.get(..end + 4).unwrap_or(self.rest);
        let name = to_str(inner.get(..end).unwrap_or_default());
        let Some(mut found) = class::posix(name.strip_prefix('^').unwrap_or(&name)) else {
            return error(BAD_RANGE, whole);
        };
        found = self.folded(found)?;
        if name.starts_with('^') {
            found.negate();
        }
        self.advance(whole.len());
        Ok(Some(found))
    }

    /// One character, or two with `-` between.
    pub(super) fn class_range(&mut self, bracket: &'p [u8]) -> Result<ClassUnicode> {
        let start = self.rest;
        let low = self.class_char(bracket)?;
        let mut high = low;
        if matches!(self.rest, [b'-', next, ..] if *next != b']') {
            self.advance(1);
            high = self.class_char(bracket)?;
            if high < low {
                return error(BAD_RANGE, up_to(start, self.rest));
            }
        }
        // Surrogates, which no text has, lie between these two.
        let low = char::from_u32(low).unwrap_or('\u{e000}');
        let high = char::from_u32(high).unwrap_or('\u{d7ff}');
        if high < low {
            return Ok(ClassUnicode::empty());
        }
        self.folded(ClassUnicode::new([ClassUnicodeRange::new(low, high)]))
    }

    pub(super) fn class_char(&mut self, bracket: &'p [u8]) -> Result<u32> {
        match self.rest.first() {
            None => error("missing closing ]", bracket),
            Some(b'\\') => self.escape(),
            Some(_) => {
                let (c, after) = next_char(self.rest)?;
                self.rest = after;
                Ok(c as u32)
            }
        }
    }
}
