//! Numbers as a schema compares them: by their decimal text, so that 0.3 is a multiple of 0.1.

use std::cmp::Ordering;

use go_std::strconv;

/// `sign * digits * 10^exponent`, exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// An integer.
    pub(super) fn integer(negative: bool, digits: u64) -> Self {
        Self { negative, digits: digits.into(), exponent: 0 }.plain()
    }

    /// The shortest decimal that reads back as this number, which must be finite.
    pub(super) fn float(number: f64) -> Self {
        let shortest = strconv::Decimal::shortest(number);
        let digits = shortest.digits.iter().fold(0, |all, digit| all * 10 + u128::from(digit - b'0'));
        let exponent = shortest.point - i32::try_from(shortest.digits.len()).unwrap_or_default();
        Self { negative: number.is_sign_negative(), digits, exponent }.plain()
    }

    /// Without trailing zeros; zero has neither sign nor exponent.
    fn plain(mut self) -> Self {
        while self.digits != 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.exponent += 1;
        }
        if self.digits == 0 { Self { negative: false, digits: 0, exponent: 0 } } else { self }
    }

    /// Whether there is nothing behind the point.
    pub(super) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// As a whole number, when it is one that is not below zero and not out of reach.
    pub(super) fn to_usize(self) -> Option<usize> {
        let power = 10u128.checked_pow(self.exponent.try_into().ok()?)?;
        if self.negative { None } else { self.digits.checked_mul(power)?.try_into().ok() }
    }

    /// Whether dividing by `other` leaves nothing.
    pub(super) fn is_multiple_of(&self, other: &Decimal) -> bool {
        if other.digits == 0 {
            return false;
        }
        if self.digits == 0 {
            return true;
        }
        let shift = self.exponent - other.exponent;
        if shift < 0 {
            let power = 10u128.checked_pow(shift.unsigned_abs());
            let divisor = power.and_then(|power| other.digits.checked_mul(power));
            return divisor.is_some_and(|divisor| self.digits.is_multiple_of(divisor));
        }
        // Both are below 10^20, so that products of a remainder and ten never overflow.
        let times_ten = |rest: u128, _| rest * 10 % other.digits;
        (0..shift).fold(self.digits % other.digits, times_ten) == 0
    }

    fn compare_magnitude(&self, other: &Decimal) -> Ordering {
        let scale =
            |number: &Decimal| number.digits.checked_ilog10().map_or(i64::MIN, i64::from) + i64::from(number.exponent);
        if self.digits == 0 || other.digits == 0 {
            return self.digits.cmp(&other.digits);
        }
        let scales = scale(self).cmp(&scale(other));
        if scales != Ordering::Equal {
            return scales;
        }
        // Of one scale, the one with fewer digits gets as many as the other has: at most 20.
        let shift = self.exponent - other.exponent;
        let power = 10u128.pow(shift.unsigned_abs());
        if shift > 0 { (self.digits * power).cmp(&other.digits) } else { self.digits.cmp(&(other.digits * power)) }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order() {
        let rows = [0.0, 1e-300, 0.1, 0.25, 1.0, 1.5, 9.0, 10.0, 1e6, 123_456_789.5, 1e22, 1.7e308];
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in rows.iter().enumerate() {
                assert_eq!(Decimal::float(*a).cmp(&Decimal::float(*b)), i.cmp(&j), "{a} {b}");
                assert_eq!(Decimal::float(-a).cmp(&Decimal::float(-b)), j.cmp(&i), "-{a} -{b}");
            }
        }
        assert_eq!(Decimal::float(1e19), Decimal::integer(false, 10_000_000_000_000_000_000));
        assert!(Decimal::integer(true, 1) < Decimal::float(0.0));
    }

    #[test]
    fn multiples() {
        let rows = [
            (0.3, 0.1, true),
            (0.35, 0.1, false),
            (7.0, 2.0, false),
            (1e300, 7.0, false),
            (1e300, 8.0, true),
            (5.0, 1e-300, true),
            (0.0, 3.0, true),
            (3.0, 0.0, false),
            (-4.0, 2.0, true),
        ];
        for (a, b, expected) in rows {
            assert_eq!(Decimal::float(a).is_multiple_of(&Decimal::float(b)), expected, "{a} {b}");
        }
    }
}
