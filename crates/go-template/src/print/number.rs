//! Numbers: integers in every base, characters by number, floats.
#![expect(clippy::indexing_slicing, reason = "a digit is less than the base")]

use go_std::strconv::{Escape, escape_char, format_float};
use go_std::unicode::is_print;

use super::super::error::Limit;
use super::super::text::push_char;
use super::super::value::Value;
use super::{LOWER, Printer, UPPER};

impl Printer {
    pub(super) fn hex_number(&mut self, number: u64, with_prefix: bool) {
        let sharp = std::mem::replace(&mut self.flags.sharp, with_prefix);
        self.base(number, 16, false, 'v', &LOWER);
        self.flags.sharp = sharp;
    }

    pub(super) fn integer(&mut self, number: u64, is_signed: bool, verb: char, value: &Value) -> Result<(), Limit> {
        match verb {
            'v' if self.flags.sharp_v && !is_signed => self.hex_number(number, true),
            'v' | 'd' => self.base(number, 10, is_signed, verb, &LOWER),
            'b' => self.base(number, 2, is_signed, verb, &LOWER),
            'o' | 'O' => self.base(number, 8, is_signed, verb, &LOWER),
            'x' => self.base(number, 16, is_signed, verb, &LOWER),
            'X' => self.base(number, 16, is_signed, verb, &UPPER),
            'c' => {
                let mut out = Vec::new();
                push_char(&mut out, char_of(number));
                self.pad(&out);
            }
            'q' => {
                let escape = if self.flags.plus { Escape::NonAscii } else { Escape::NonPrintable };
                let mut out = vec![b'\''];
                escape_char(&mut out, char_of(number), b'\'', escape);
                out.push(b'\'');
                self.pad(&out);
            }
            'U' => self.unicode(number),
            _ => return self.bad_verb(Some(value), verb),
        }
        Ok(())
    }

    pub(super) fn base(&mut self, number: u64, base: u64, is_signed: bool, verb: char, digits: &[u8; 17]) {
        let is_negative = is_signed && (number as i64) < 0;
        let mut rest = if is_negative { (number as i64).unsigned_abs() } else { number };
        let flags = self.flags;
        let sign = match (is_negative, flags.plus, flags.space) {
            (true, ..) => Some(b'-'),
            (_, true, _) => Some(b'+'),
            (.., true) => Some(b' '),
            _ => None,
        };
        let count = match (flags.precision, flags.width) {
            (Some(0), _) if rest == 0 => {
                let zero = std::mem::replace(&mut self.flags.zero, false);
                self.padding(flags.width.unwrap_or(0));
                self.flags.zero = zero;
                return;
            }
            (Some(precision), _) => precision,
            (None, Some(width)) if flags.zero && !flags.minus => width.saturating_sub(usize::from(sign.is_some())),
            _ => 0,
        };
        // Written from the end.
        let mut out = Vec::new();
        loop {
            out.push(digits[(rest % base) as usize]);
            rest /= base;
            if rest == 0 {
                break;
            }
        }
        while out.len() < count {
            out.push(b'0');
        }
        if flags.sharp {
            match base {
                2 => out.extend(*b"b0"),
                8 if out.last() != Some(&b'0') => out.push(b'0'),
                16 => out.extend([digits[16], b'0']),
                _ => {}
            }
        }
        if verb == 'O' {
            out.extend(*b"o0");
        }
        out.extend(sign);
        out.reverse();
        self.pad_with_blanks(&out);
    }

    pub(super) fn unicode(&mut self, number: u64) {
        let digits = format!("{number:X}");
        let zeros = self.flags.precision.unwrap_or(0).max(4).saturating_sub(digits.len());
        let mut out = format!("U+{}{digits}", "0".repeat(zeros)).into_bytes();
        if self.flags.sharp
            && let Some(c) = u32::try_from(number).ok().and_then(char::from_u32)
            && is_print(c)
        {
            out.extend_from_slice(format!(" '{c}'").as_bytes());
        }
        self.pad_with_blanks(&out);
    }

    pub(super) fn float_verb(&mut self, number: f64, verb: char, value: &Value) -> Result<(), Limit> {
        match verb {
            'v' => self.float(number, b'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => self.float(number, verb as u8, None),
            'f' | 'e' | 'E' => self.float(number, verb as u8, Some(6)),
            'F' => self.float(number, b'f', Some(6)),
            _ => return self.bad_verb(Some(value), verb),
        }
        Ok(())
    }

    pub(super) fn float(&mut self, number: f64, verb: u8, precision: Option<usize>) {
        let flags = self.flags;
        let precision = flags.precision.or(precision);
        let text = format_float(number, verb, precision);
        let (mut sign, digits) = match text.as_bytes() {
            [sign @ (b'-' | b'+'), digits @ ..] => (*sign, digits.to_vec()),
            digits => (b'+', digits.to_vec()),
        };
        if flags.space && sign == b'+' && !flags.plus {
            sign = b' ';
        }
        let with_sign = |digits: &[u8]| [&[sign], digits].concat();
        if !number.is_finite() {
            let hides_sign = number.is_nan() && !flags.space && !flags.plus;
            let text = if hides_sign { digits } else { with_sign(&digits) };
            self.pad_with_blanks(&text);
            return;
        }
        let digits = if flags.sharp && verb != b'b' { with_point(&digits, verb, precision) } else { digits };
        if !flags.plus && sign == b'+' {
            self.pad(&digits);
        } else if flags.zero && !flags.minus && flags.width.is_some_and(|width| width > digits.len() + 1) {
            self.out.push(sign);
            self.padding(flags.width.unwrap_or(0) - digits.len() - 1);
            self.out.extend_from_slice(&digits);
        } else {
            self.pad(&with_sign(&digits));
        }
    }
}

pub(super) fn char_of(number: u64) -> char {
    u32::try_from(number).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// `%#g` and the like: a decimal point always, and the zeros that make up the precision.
pub(super) fn with_point(digits: &[u8], verb: u8, precision: Option<usize>) -> Vec<u8> {
    let mut missing = match verb {
        b'g' | b'G' | b'x' => precision.map_or(6, |precision| precision as i64),
        _ => 0,
    };
    let at = digits.iter().position(|byte| is_exponent(*byte, verb)).unwrap_or(digits.len());
    let (number, tail) = digits.split_at(at);
    let mut out = number.to_vec();
    missing -= number.iter().filter(|byte| **byte != b'.').skip_while(|byte| **byte == b'0').count() as i64;
    if !number.contains(&b'.') {
        if number == b"0" {
            missing -= 1;
        }
        out.push(b'.');
    }
    out.extend((0..missing.max(0)).map(|_| b'0'));
    out.extend_from_slice(tail);
    out
}

/// Whether an exponent starts with this byte. In hexadecimal `e` is a digit.
fn is_exponent(byte: u8, verb: u8) -> bool {
    match byte {
        b'p' | b'P' => true,
        b'e' | b'E' => !matches!(verb, b'x' | b'X'),
        _ => false,
    }
}
