//! Numbers as Go writes them.

/// A number in digits: `0.d1d2d3… × 10^point`.
struct Decimal {
    negative: bool,
    digits: String,
    point: i32,
}

/// The shortest digits that read back as `value`. Zero has the digit 0 and the point behind it.
///
/// `ryu` breaks ties as Go does; the standard library does not.
fn decimal(shortest: &str) -> Decimal {
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let negative = mantissa.starts_with('-');
    let mantissa = mantissa.trim_start_matches('-');
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return Decimal { negative, digits: "0".to_owned(), point: 1 };
    }
    let leading = all.len() - significant.len();
    let point = length(whole) - i32::try_from(leading).unwrap_or(0) + exponent.parse::<i32>().unwrap_or(0);
    Decimal { negative, digits: significant.trim_end_matches('0').to_owned(), point }
}

/// The length of a text that holds the digits of a float.
fn length(digits: &str) -> i32 {
    i32::try_from(digits.len()).unwrap_or(0)
}

impl Decimal {
    /// `1.5e+06`: the exponent has at least `exponent_width` digits.
    fn exponential(&self, exponent_width: usize) -> String {
        let sign = if self.negative { "-" } else { "" };
        let (first, rest) = self.digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let exponent = self.point - 1;
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        format!("{sign}{first}{point}{rest}e{exponent_sign}{:0exponent_width$}", exponent.abs())
    }

    /// `1500000`
    fn plain(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let count = length(&self.digits);
        if self.point <= 0 {
            let zeros = "0".repeat(self.point.unsigned_abs() as usize);
            return format!("{sign}0.{zeros}{}", self.digits);
        }
        if self.point >= count {
            let zeros = "0".repeat((self.point - count).unsigned_abs() as usize);
            return format!("{sign}{}{zeros}", self.digits);
        }
        let (whole, fraction) = self.digits.split_at(self.point.unsigned_abs() as usize);
        format!("{sign}{whole}.{fraction}")
    }
}

/// A float as `%v`, `%g` and go-yaml write it: `0.5`, `100000`, `1e+06`, `1.2345675e+06`, `1e-05`, `+Inf`.
///
/// Shortest digits that read back as `value`; with an exponent below 1e-4 and from 1e+06 on.
///
/// Reference: Go 1.26 strconv `FormatFloat(value, 'g', -1, 64)`.
pub fn format_float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    general(&decimal(ryu::Buffer::new().format_finite(value)))
}

/// The same, with the digits of the nearest 32-bit float: the key of a mapping.
pub(super) fn format_float_32(value: f64) -> String {
    let value = value as f32;
    if value.is_finite() {
        general(&decimal(ryu::Buffer::new().format_finite(value)))
    } else {
        format_float(f64::from(value))
    }
}

fn general(decimal: &Decimal) -> String {
    match decimal.point - 1 {
        -4..6 => decimal.plain(),
        _ => decimal.exponential(2),
    }
}

/// A float as Go's `encoding/json` writes it: `1000000`, `1e+21`, `1e-7`. None for an infinity or NaN.
///
/// Reference: Go 1.26 encoding/json `floatEncoder`.
pub(super) fn format_json_float(value: f64) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    let decimal = decimal(ryu::Buffer::new().format_finite(value));
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        return Some(decimal.exponential(1));
    }
    Some(decimal.plain())
}
