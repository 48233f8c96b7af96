//! Amounts of resources: `100m`, `1.5Gi`, `1e3`.
//!
//! Reference: apimachinery 0.36 pkg/api/resource/quantity.go `ParseQuantity`.

use go_yaml::Value;

/// An amount, in billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity(i128);

impl Quantity {
    /// What a text or a number says; `None` if it is not an amount. More than fits is the largest that does.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text.trim()),
            Value::Int(number) => Some(Self(i128::from(*number) * 1_000_000_000)),
            Value::Uint(number) => Some(Self(i128::from(*number) * 1_000_000_000)),
            Value::Float(number) => Self::parse(&go_std::json::format_number(*number)?),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        // A suffix alone is nothing of it.
        if number.is_empty() && suffix.is_empty() || number == "." || fraction.contains('.') {
            return None;
        }
        let (two, ten) = exponents(suffix)?;
        let mut amount: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            amount = amount.saturating_mul(10).saturating_add(i128::from(digit - b'0'));
        }
        amount = amount.saturating_mul(1 << two);
        let ten = ten.saturating_add(9).saturating_sub(i32::try_from(fraction.len()).ok()?);
        for _ in 0..ten.clamp(0, 60) {
            amount = amount.saturating_mul(10);
        }
        for _ in 0..(-ten).clamp(0, 60) {
            // What is smaller than a billionth counts as one.
            amount = amount / 10 + i128::from(amount % 10 > 0);
        }
        Some(Self(if text.starts_with('-') { -amount } else { amount }))
    }

    pub(crate) fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether it has no fraction.
    pub(crate) fn is_whole(self) -> bool {
        self.0 % 1_000_000_000 == 0
    }

    /// The amount, where a part of a thousandth counts as one.
    pub(crate) fn in_thousandths(self) -> Self {
        const THOUSANDTH: i128 = 1_000_000;
        let rest = self.0 % THOUSANDTH;
        Self(if rest == 0 { self.0 } else { (self.0 - rest).saturating_add(THOUSANDTH * rest.signum()) })
    }

    /// Whether `self / other` is less than one.
    pub(crate) fn is_below_one(self) -> bool {
        self.0 < 1_000_000_000
    }
}

/// The powers of two and of ten of a suffix.
fn exponents(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        suffix => {
            let digits = suffix.strip_prefix(['e', 'E'])?;
            (0, digits.parse().ok()?)
        }
    })
}
