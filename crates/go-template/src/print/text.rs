//! Texts and bytes: as they are, quoted, in hexadecimal; cut and padded.
#![expect(clippy::indexing_slicing, reason = "half a byte is less than 16")]

use go_std::strconv::{Escape, can_backquote, quote_with};

use super::super::error::Limit;
use super::super::text::runes;
use super::super::value::Value;
use super::{LOWER, Printer, UPPER};

impl Printer {
    pub(super) fn pad(&mut self, text: &[u8]) {
        let width = self.flags.width.unwrap_or(0).saturating_sub(runes(text).count());
        if self.flags.minus {
            self.out.extend_from_slice(text);
            self.padding(width);
        } else {
            self.padding(width);
            self.out.extend_from_slice(text);
        }
    }

    pub(super) fn padding(&mut self, width: usize) {
        let fill = if self.flags.zero && !self.flags.minus { b'0' } else { b' ' };
        self.out.resize(self.out.len() + width, fill);
    }

    pub(super) fn pad_with_blanks(&mut self, text: &[u8]) {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.pad(text);
        self.flags.zero = zero;
    }

    /// Cut to the precision, in characters.
    pub(super) fn truncated<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let Some(precision) = self.flags.precision else { return text };
        let end = runes(text).nth(precision).map_or(text.len(), |(offset, _)| offset);
        text.get(..end).unwrap_or(text)
    }

    pub(super) fn string(&mut self, text: &[u8], verb: char, value: &Value) -> Result<(), Limit> {
        match verb {
            'v' if self.flags.sharp_v => self.quoted(text),
            'v' | 's' => {
                let text = self.truncated(text).to_vec();
                self.pad(&text);
            }
            'x' => self.hex(text, &LOWER),
            'X' => self.hex(text, &UPPER),
            'q' => self.quoted(text),
            _ => return self.bad_verb(Some(value), verb),
        }
        Ok(())
    }

    pub(super) fn bytes(&mut self, bytes: &[u8], verb: char, value: &Value, depth: u32) -> Result<(), Limit> {
        match verb {
            'v' if self.flags.sharp_v => {
                // Only an argument itself has the short name of the type.
                self.out.extend_from_slice(if depth == 0 { b"[]byte" } else { b"[]uint8" });
                self.out.push(b'{');
                for (index, byte) in bytes.iter().enumerate() {
                    self.separate(index);
                    self.hex_number(u64::from(*byte), true);
                }
                self.out.push(b'}');
            }
            's' | 'x' | 'X' | 'q' => return self.string(bytes, verb, value),
            _ => {
                self.out.push(b'[');
                for (index, byte) in bytes.iter().enumerate() {
                    self.separate(index);
                    self.integer(u64::from(*byte), false, verb, &Value::byte(*byte))?;
                    self.check()?;
                }
                self.out.push(b']');
            }
        }
        Ok(())
    }

    pub(super) fn quoted(&mut self, text: &[u8]) {
        let text = self.truncated(text).to_vec();
        if self.flags.sharp && can_backquote(&text) {
            let mut quoted = vec![b'`'];
            quoted.extend_from_slice(&text);
            quoted.push(b'`');
            self.pad(&quoted);
            return;
        }
        let escape = if self.flags.plus { Escape::NonAscii } else { Escape::NonPrintable };
        let quoted = quote_with(&text, b'"', escape);
        self.pad(&quoted);
    }

    pub(super) fn hex(&mut self, text: &[u8], digits: &[u8; 17]) {
        let text = text.get(..self.flags.precision.unwrap_or(text.len())).unwrap_or(text);
        let mut out = Vec::with_capacity(text.len() * 2);
        for (index, byte) in text.iter().enumerate() {
            if index > 0 && self.flags.space {
                out.push(b' ');
            }
            if self.flags.sharp && (index == 0 || self.flags.space) {
                out.extend([b'0', digits[16]]);
            }
            out.extend([digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
        self.pad(&out);
    }
}
