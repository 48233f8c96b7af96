//! The order in which go-yaml writes the keys of a mapping: as people sort, `a2` before `a10`.
//!
//! Reference: go-yaml v2.4.3 and v3.0.4 sorter.go.

use go_std::unicode::{is_digit, is_letter};

use super::Dialect;

/// Sorts `entries` by their keys.
///
/// The order of v2 has cycles (`08` < `0b11` < `4x` < `08`), for which Go writes now this, now that: here the result
/// depends on the order of `entries` alone.
pub(super) fn sort<T: Copy>(entries: &mut Vec<(&str, T)>, dialect: Dialect) {
    // `slice::sort_by` may panic when the order has cycles; merging can't.
    let mut merged = Vec::with_capacity(entries.len());
    let mut width = 1;
    while width < entries.len() {
        for pair in entries.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some((first, _)), Some((second, _))) = (left.first(), right.first()) {
                let side = if less(second, first, dialect) { &mut right } else { &mut left };
                merged.extend(side.split_off_first().copied());
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(entries, &mut merged);
        merged.clear();
        width *= 2;
    }
}

/// Whether `a` goes before `b`.
fn less(a: &str, b: &str, dialect: Dialect) -> bool {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    // Back to the start of a character.
    let same = (0..=same).rev().find(|at| a.is_char_boundary(*at) && b.is_char_boundary(*at)).unwrap_or(0);
    let (prefix, a) = a.split_at(same);
    let b = b.get(same..).unwrap_or_default();
    let (Some(first), Some(second)) = (a.chars().next(), b.chars().next()) else { return a.len() < b.len() };
    match (is_letter(first), is_letter(second)) {
        (true, true) => return first < second,
        (false, false) => {}
        (letter, other) => {
            let after_digit = dialect == Dialect::V3 && prefix.chars().next_back().is_some_and(is_digit);
            return if after_digit { letter } else { other };
        }
    }
    // A zero in the middle of a number counts: `1` in front makes `100` more than `11`.
    let mut start = 0;
    if first == '0' || second == '0' {
        let before = prefix.chars().rev().take_while(|c| is_digit(*c)).any(|c| c != '0');
        start = i64::from(before);
    }
    let (a_number, a_digits) = number(a, start);
    let (b_number, b_digits) = number(b, start);
    (a_number, a_digits, first) < (b_number, b_digits, second)
}

/// The number that `text` starts with, and how many digits it has.
fn number(text: &str, start: i64) -> (i64, usize) {
    text.chars().take_while(|c| is_digit(*c)).fold((start, 0), |(number, digits), c| {
        let digit = i64::from(u32::from(c)) - i64::from(u32::from('0'));
        (number.wrapping_mul(10).wrapping_add(digit), digits + 1)
    })
}
