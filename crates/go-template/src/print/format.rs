//! Format strings: verbs with their flags, widths and argument numbers.

use super::super::error::Limit;
use super::super::text::{decode, push_char};
use super::super::value::Value;
use super::{Flags, NUMBER_MAX, Printer};

impl<'a> Format<'a> {
    pub(super) fn rest(&self) -> &'a [u8] {
        self.format.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// A decimal number; one that is too long swallows the rest of the format.
    pub(super) fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            if number.is_some_and(|number| number > NUMBER_MAX) {
                self.at = self.format.len();
                return None;
            }
            number = Some(number.unwrap_or(0) * 10 + usize::from(digit - b'0'));
            self.at += 1;
        }
        number
    }

    /// `[3]`, counted from 1; whether one stood here and could be read.
    pub(super) fn index(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.is_reordered = true;
        let rest = self.rest();
        let end = rest.iter().position(|byte| *byte == b']').filter(|_| rest.len() >= 3);
        let Some(end) = end else {
            self.at += 1;
            self.is_good = false;
            return false;
        };
        let inner = rest.get(1..end).unwrap_or_default();
        self.at += end + 1;
        let mut digits = Format { format: inner, at: 0, args: &[], next: 0, is_reordered: false, is_good: true };
        let number = digits.number().filter(|_| digits.at == inner.len() && !inner.is_empty());
        match number {
            Some(number) if (1..=self.args.len()).contains(&number) => {
                self.next = number - 1;
                true
            }
            number => {
                self.is_good = false;
                number.is_some()
            }
        }
    }

    /// The argument of `*`.
    pub(super) fn int_arg(&mut self) -> Option<i64> {
        let arg = self.args.get(self.next)?;
        self.next += 1;
        let number = match arg {
            Value::Int(_, number) => *number,
            Value::Uint(_, number) => i64::try_from(*number).ok()?,
            _ => return None,
        };
        (number.unsigned_abs() <= NUMBER_MAX as u64).then_some(number)
    }
}

impl Printer {
    pub(super) fn format(&mut self, format: &[u8], args: &[Value]) -> Result<(), Limit> {
        let mut state = Format { format, at: 0, args, next: 0, is_reordered: false, is_good: true };
        while let Some(found) = state.rest().iter().position(|byte| *byte == b'%') {
            self.out.extend_from_slice(state.rest().get(..found).unwrap_or_default());
            state.at += found + 1;
            self.directive(&mut state)?;
            self.check()?;
        }
        self.out.extend_from_slice(state.rest());
        if !state.is_reordered && state.next < args.len() {
            self.flags = Flags::default();
            self.out.extend_from_slice(b"%!(EXTRA ");
            for (index, arg) in args.iter().skip(state.next).enumerate() {
                if index > 0 {
                    self.out.extend_from_slice(b", ");
                }
                self.out.extend_from_slice(arg.type_name().as_bytes());
                if !matches!(arg, Value::Nil) {
                    self.out.push(b'=');
                    self.arg(arg, 'v')?;
                }
            }
            self.out.push(b')');
        }
        self.check()
    }

    /// What follows a `%`.
    pub(super) fn directive(&mut self, state: &mut Format<'_>) -> Result<(), Limit> {
        self.flags = Flags::default();
        state.is_good = true;
        while let Some(byte) = state.peek() {
            match byte {
                b'#' => self.flags.sharp = true,
                b'0' => self.flags.zero = true,
                b'+' => self.flags.plus = true,
                b'-' => self.flags.minus = true,
                b' ' => self.flags.space = true,
                _ => break,
            }
            state.at += 1;
        }
        let mut is_indexed = state.index();
        if state.peek() == Some(b'*') {
            state.at += 1;
            match state.int_arg() {
                Some(width) => {
                    self.flags.width = Some(width.unsigned_abs() as usize);
                    if width < 0 {
                        self.flags.minus = true;
                        self.flags.zero = false;
                    }
                }
                None => self.out.extend_from_slice(b"%!(BADWIDTH)"),
            }
            is_indexed = false;
        } else {
            self.flags.width = state.number();
            state.is_good &= !(is_indexed && self.flags.width.is_some());
        }
        if state.peek() == Some(b'.') && state.at + 1 < state.format.len() {
            state.at += 1;
            state.is_good &= !is_indexed;
            is_indexed = state.index();
            if state.peek() == Some(b'*') {
                state.at += 1;
                self.flags.precision = state.int_arg().and_then(|precision| usize::try_from(precision).ok());
                if self.flags.precision.is_none() {
                    self.out.extend_from_slice(b"%!(BADPREC)");
                }
                is_indexed = false;
            } else {
                self.flags.precision = Some(state.number().unwrap_or(0));
            }
        }
        if !is_indexed {
            state.index();
        }
        let Some(rune) = decode(state.rest()) else {
            self.out.extend_from_slice(b"%!(NOVERB)");
            return Ok(());
        };
        state.at += rune.width;
        let verb = rune.char;
        let problem = match (verb, state.args.get(state.next)) {
            ('%', _) => {
                self.out.push(b'%');
                return Ok(());
            }
            _ if !state.is_good => "(BADINDEX)",
            (_, None) => "(MISSING)",
            (_, Some(arg)) => {
                state.next += 1;
                if matches!(verb, 'v' | 'w') {
                    self.flags.sharp_v = std::mem::replace(&mut self.flags.sharp, false);
                    self.flags.plus_v = std::mem::replace(&mut self.flags.plus, false);
                }
                return self.arg(arg, verb);
            }
        };
        self.out.extend_from_slice(b"%!");
        push_char(&mut self.out, verb);
        self.out.extend_from_slice(problem.as_bytes());
        Ok(())
    }
}

/// The position of `printf` in a format string and among its arguments.
pub(super) struct Format<'a> {
    format: &'a [u8],
    at: usize,
    args: &'a [Value],
    next: usize,
    is_reordered: bool,
    is_good: bool,
}
