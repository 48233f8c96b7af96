//! Repetition.

use regex_syntax::hir::{Hir, Repetition};

use super::super::super::utf8::to_str;
use super::{Parser, Piece, Result, Sort, error, up_to};

impl<'p> Parser<'p> {
    pub(super) fn repeat(&mut self, before: &'p [u8], count: Count, last_repeat: Option<&'p [u8]>) -> Result<()> {
        let mut is_greedy = !self.flags.is_lazy;
        if self.rest.first() == Some(&b'?') {
            self.advance(1);
            is_greedy = !is_greedy;
        }
        if let Some(last) = last_repeat {
            return error("invalid nested repetition operator", up_to(last, self.rest));
        }
        let operator = up_to(before, self.rest);
        let Some(piece) = self.top().pieces.pop() else {
            return error("missing argument to repetition operator", operator);
        };
        let times = count.max.unwrap_or(count.min).max(count.min);
        let is_counted = operator.starts_with(b"{");
        let total = match times {
            _ if !is_counted => piece.count,
            0 if count.max == Some(0) => 1,
            times => times.max(1).saturating_mul(piece.count),
        };
        if is_counted && times >= 2 && total > COUNT_MAX {
            return error(BAD_COUNT, operator);
        }
        let repetition = Repetition { min: count.min, max: count.max, greedy: is_greedy, sub: Box::new(piece.hir) };
        let (height, sort) = (piece.height.saturating_add(1), Sort::Other);
        self.push_over(Piece { hir: Hir::repetition(repetition), count: total, height, sort })
    }
}

pub(super) const BAD_COUNT: &str = "invalid repeat count";

/// How often something may be repeated, all counts inside each other multiplied.
pub(super) const COUNT_MAX: u32 = 1000;

/// A range of characters to be repeated.
#[derive(Clone, Copy)]
pub(super) struct Count {
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

/// `{n}`, `{n,}` or `{n,m}`, and what follows; numbers too large to count stay too large.
pub(super) fn counts(text: &[u8]) -> Option<(Count, &[u8])> {
    let (min, rest) = number(text.strip_prefix(b"{")?)?;
    let (max, rest) = match rest.strip_prefix(b",") {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with(b"}") => (None, rest),
        Some(rest) => {
            let (max, rest) = number(rest)?;
            (Some(max), rest)
        }
    };
    Some((Count { min, max }, rest.strip_prefix(b"}")?))
}

/// A decimal number without leading zeros.
pub(super) fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() || digits.len() > 1 && digits.starts_with(b"0") {
        return None;
    }
    Some((to_str(digits).parse().unwrap_or(u32::MAX), rest))
}
