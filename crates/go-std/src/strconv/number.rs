//! Texts as numbers.

use super::super::utf8::to_str;
use super::quote::quote;

/// Why a text is not a number.
///
/// Reference: Go 1.26 strconv `NumError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// Something else.
    #[error("invalid syntax")]
    Syntax,
    /// A number, but too large.
    #[error("value out of range")]
    Range,
}

impl NumberError {
    /// What Go says: `strconv.Atoi: parsing "x": invalid syntax`.
    pub fn of(self, function: &str, text: &str) -> String {
        format!("strconv.{function}: parsing {}: {self}", quote(text))
    }
}

/// `strconv.ParseUint(text, 0, 64)`: base by prefix, underscores between digits.
pub fn parse_uint(text: &[u8]) -> Result<u64, NumberError> {
    let (base, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', b'b' | b'B', digits @ ..] => (2, digits),
        [b'0', b'o' | b'O', digits @ ..] => (8, digits),
        [b'0', digits @ ..] if !digits.is_empty() => (8, digits),
        digits => (10, digits),
    };
    if digits.is_empty() || !underscores_are_good(text) {
        return Err(NumberError::Syntax);
    }
    // A wrong digit counts more than a number that is out of range before it.
    let mut value = Some(0u64);
    for digit in digits.iter().filter(|digit| **digit != b'_') {
        let digit = char::from(*digit).to_digit(base).ok_or(NumberError::Syntax)?;
        value = value.and_then(|value| value.checked_mul(u64::from(base))?.checked_add(u64::from(digit)));
    }
    value.ok_or(NumberError::Range)
}

/// `strconv.ParseInt(text, 0, 64)`
pub fn parse_int(text: &[u8]) -> Result<i64, NumberError> {
    let (is_negative, digits) = sign(text);
    signed(is_negative, parse_uint(digits)?)
}

/// `strconv.Atoi`: decimal digits only.
pub fn atoi(text: &[u8]) -> Result<i64, NumberError> {
    let (is_negative, digits) = sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::Syntax);
    }
    let value = to_str(digits).parse().map_err(|_| NumberError::Range)?;
    signed(is_negative, value)
}

/// Reads a number as `strconv` does without its error: the nearest number for one that is too large, and 0 for what is
/// not a number.
pub fn atoi_clamped(text: &[u8]) -> i64 {
    match atoi(text) {
        Ok(value) => value,
        Err(NumberError::Syntax) => 0,
        Err(NumberError::Range) if text.starts_with(b"-") => i64::MIN,
        Err(NumberError::Range) => i64::MAX,
    }
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    }
}

fn signed(is_negative: bool, value: u64) -> Result<i64, NumberError> {
    if is_negative {
        0i64.checked_sub_unsigned(value).ok_or(NumberError::Range)
    } else {
        i64::try_from(value).map_err(|_| NumberError::Range)
    }
}

/// Underscores are between digits, or between a base prefix and a digit.
fn underscores_are_good(text: &[u8]) -> bool {
    let (_, text) = sign(text);
    let (mut before, digits, is_hex) = match text {
        [b'0', prefix @ (b'x' | b'X' | b'b' | b'B' | b'o' | b'O'), digits @ ..] => {
            (b'0', digits, prefix.eq_ignore_ascii_case(&b'x'))
        }
        digits => (b'.', digits, false),
    };
    for byte in digits {
        let class = match byte {
            b'0'..=b'9' => b'0',
            b'a'..=b'f' | b'A'..=b'F' if is_hex => b'0',
            b'_' if before == b'0' => b'_',
            b'_' => return false,
            _ if before == b'_' => return false,
            _ => b'.',
        };
        before = class;
    }
    before != b'_'
}

/// `strconv.ParseFloat(text, 64)`
pub fn parse_float(text: &[u8]) -> Result<f64, NumberError> {
    let (is_negative, digits) = sign(text);
    let lower = digits.to_ascii_lowercase();
    match lower.as_slice() {
        b"inf" | b"infinity" => return Ok(if is_negative { f64::NEG_INFINITY } else { f64::INFINITY }),
        b"nan" if digits.len() == text.len() => return Ok(f64::NAN),
        _ => {}
    }
    if lower.contains(&b'_') && !underscores_are_good(text) {
        return Err(NumberError::Syntax);
    }
    let plain: Vec<u8> = lower.iter().copied().filter(|byte| *byte != b'_').collect();
    let value = match plain.strip_prefix(b"0x") {
        Some(hex) => hex_float(hex)?,
        None => decimal_float(&plain)?,
    };
    if value.is_infinite() {
        return Err(NumberError::Range);
    }
    Ok(if is_negative { -value } else { value })
}

fn decimal_float(text: &[u8]) -> Result<f64, NumberError> {
    let starts_well = matches!(text, [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..]);
    if !starts_well || !text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'+' | b'-')) {
        return Err(NumberError::Syntax);
    }
    to_str(text).parse().map_err(|_| NumberError::Syntax)
}

/// The part behind `0x`; the exponent must be there.
fn hex_float(text: &[u8]) -> Result<f64, NumberError> {
    let at = text.iter().position(|byte| *byte == b'p').ok_or(NumberError::Syntax)?;
    let (digits, exponent) = text.split_at(at);
    let exponent = exponent.strip_prefix(b"p").unwrap_or_default();
    let mut scale = match atoi(exponent) {
        Ok(value) => value.clamp(-100_000, 100_000),
        Err(NumberError::Range) if exponent.starts_with(b"-") => -100_000,
        Err(NumberError::Range) => 100_000,
        Err(NumberError::Syntax) => return Err(NumberError::Syntax),
    };
    let (mut mantissa, mut has_lost, mut has_digits, mut is_fraction) = (0u64, false, false, false);
    for byte in digits {
        if *byte == b'.' && !is_fraction {
            is_fraction = true;
            continue;
        }
        let digit = char::from(*byte).to_digit(16).ok_or(NumberError::Syntax)?;
        has_digits = true;
        if mantissa >> 59 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
            scale -= if is_fraction { 4 } else { 0 };
        } else {
            has_lost |= digit != 0;
            scale += if is_fraction { 0 } else { 4 };
        }
    }
    if !has_digits {
        return Err(NumberError::Syntax);
    }
    Ok(scaled(mantissa | u64::from(has_lost), scale))
}

/// `mantissa · 2^scale`, rounded once, to even.
fn scaled(mantissa: u64, scale: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let top = 63 - i64::from(mantissa.leading_zeros()) + scale;
    if top > 1023 {
        return f64::INFINITY;
    }
    // How many bits the result has: 53, fewer below the normal numbers.
    let bits = (top + 1075).clamp(0, 53);
    let drop = (64 - i64::from(mantissa.leading_zeros())) - bits;
    if drop <= 0 {
        return mantissa as f64 * power_of_two(scale);
    }
    let kept = if drop >= 64 { 0 } else { mantissa >> drop };
    let half = 1u64.checked_shl((drop - 1) as u32).unwrap_or(0);
    let rest = if drop >= 64 { mantissa } else { mantissa & ((1u64 << drop) - 1) };
    let is_up = half != 0 && (rest > half || rest == half && kept & 1 == 1);
    (kept + u64::from(is_up)) as f64 * power_of_two(scale + drop)
}

/// Exact, in two factors where one alone would leave the range.
fn power_of_two(exponent: i64) -> f64 {
    let half = (exponent / 2).clamp(-1000, 1000) as i32;
    let rest = (exponent - i64::from(half)).clamp(-1000, 1000) as i32;
    2f64.powi(half) * 2f64.powi(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_go_reads_them() {
        use NumberError::{Range, Syntax};
        // text, ParseInt(text, 0, 64), ParseUint(text, 0, 64), Atoi (Go 1.26)
        type Row = (&'static str, Result<i64, NumberError>, Result<u64, NumberError>, Result<i64, NumberError>);
        let table: &[Row] = &[
            ("0x_1f", Ok(31), Ok(31), Err(Syntax)),
            ("1_000", Ok(1000), Ok(1000), Err(Syntax)),
            ("0_17", Ok(15), Ok(15), Err(Syntax)),
            ("017", Ok(15), Ok(15), Ok(17)),
            ("0o17", Ok(15), Ok(15), Err(Syntax)),
            ("08", Err(Syntax), Err(Syntax), Ok(8)),
            ("-0x10", Ok(-16), Err(Syntax), Err(Syntax)),
            ("+5", Ok(5), Err(Syntax), Ok(5)),
            ("0_", Err(Syntax), Err(Syntax), Err(Syntax)),
            ("1__0", Err(Syntax), Err(Syntax), Err(Syntax)),
            ("", Err(Syntax), Err(Syntax), Err(Syntax)),
            ("-", Err(Syntax), Err(Syntax), Err(Syntax)),
            ("0x", Err(Syntax), Err(Syntax), Err(Syntax)),
            ("9223372036854775808", Err(Range), Ok(1 << 63), Err(Range)),
            ("-9223372036854775808", Ok(i64::MIN), Err(Syntax), Ok(i64::MIN)),
            ("18446744073709551616", Err(Range), Err(Range), Err(Range)),
            ("0B1_0", Ok(2), Ok(2), Err(Syntax)),
        ];
        for (text, int, uint, decimal) in table {
            assert_eq!(parse_int(text.as_bytes()), *int, "ParseInt {text}");
            assert_eq!(parse_uint(text.as_bytes()), *uint, "ParseUint {text}");
            assert_eq!(atoi(text.as_bytes()), *decimal, "Atoi {text}");
        }
    }

    #[test]
    fn floats_are_read_as_go_reads_them() {
        use NumberError::{Range, Syntax};
        // Go 1.26: strconv.ParseFloat(text, 64)
        let table: &[(&str, Result<f64, NumberError>)] = &[
            ("1_0.5", Ok(10.5)),
            ("1__0", Err(Syntax)),
            ("0x_1p4", Ok(16.0)),
            ("0x1p-2", Ok(0.25)),
            ("0x1.8p1", Ok(3.0)),
            ("0x1", Err(Syntax)),
            ("0x.8p0", Ok(0.5)),
            ("0x1.fffffffffffff8p1023", Err(Range)),
            ("0x1p-1074", Ok(5e-324)),
            ("0x1p-1075", Ok(0.0)),
            ("0x1.8p-1075", Ok(5e-324)),
            ("0x1.00000000000008p0", Ok(1.0)),
            ("0x1.000000000000081p0", Ok(1.0000000000000002)),
            ("1e400", Err(Range)),
            ("1e-400", Ok(0.0)),
            ("inf", Ok(f64::INFINITY)),
            ("-Infinity", Ok(f64::NEG_INFINITY)),
            ("-nan", Err(Syntax)),
            (".5", Ok(0.5)),
            ("5.", Ok(5.0)),
            (".", Err(Syntax)),
            ("1e", Err(Syntax)),
            ("e5", Err(Syntax)),
            ("1_000e1_0", Ok(1e13)),
            ("_1", Err(Syntax)),
            ("infi", Err(Syntax)),
            (" 1", Err(Syntax)),
            ("", Err(Syntax)),
            ("4.9e-324", Ok(5e-324)),
        ];
        for (text, expected) in table {
            assert_eq!(parse_float(text.as_bytes()), *expected, "{text}");
        }
        assert!(parse_float(b"nAn").is_ok_and(f64::is_nan));
    }
}
