//! Quantities: `1000m` of a processor is `1`, and the API server writes it so.

use go_yaml::Value;

/// Fields whose scalars are quantities.
const HOLDERS: [&str; 8] =
    ["resources", "requests", "limits", "capacity", "hard", "sizeLimit", "averageValue", "maxAllowed"];

/// Whether a field below `path` is a quantity.
pub(super) fn is_quantity(path: &[&str]) -> bool {
    path.iter().any(|key| HOLDERS.contains(key))
}

/// Whether two scalars are the same quantity.
pub(super) fn are_equal(a: &Value, b: &Value) -> bool {
    matches!((nano(a), nano(b)), (Some(a), Some(b)) if a == b)
}

/// How many parts of a unit are distinguished.
const NANO: i128 = 1_000_000_000;

/// In billionths; none where it is not a quantity, or out of range.
///
/// Reference: apimachinery 0.36 pkg/api/resource/quantity.go `parseQuantityString`, suffix.go.
fn nano(value: &Value) -> Option<i128> {
    let text = match value {
        Value::Int(number) => return i128::from(*number).checked_mul(NANO),
        Value::Float(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c))).unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let has_digits = number.contains(|c: char| c.is_ascii_digit());
    if fraction.len() > 9 || !has_digits {
        return None;
    }
    let is_negative = whole.starts_with('-');
    let whole: i128 = match whole.trim_start_matches(['+', '-']) {
        "" => 0,
        digits => digits.parse().ok()?,
    };
    let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
    let number = whole.checked_mul(NANO)?.checked_add(fraction)?;
    let number = if is_negative { -number } else { number };
    scaled(number, suffix)
}

fn scaled(number: i128, suffix: &str) -> Option<i128> {
    let binary = |power: u32| number.checked_mul(1i128.checked_shl(10 * power)?);
    let decimal = |power: u32| number.checked_mul(10i128.checked_pow(power)?);
    match suffix {
        "" => Some(number),
        "n" => Some(number / NANO),
        "u" => Some(number / 1_000_000),
        "m" => Some(number / 1_000),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        exponent => match exponent.strip_prefix(['e', 'E'])?.parse::<i32>().ok()? {
            power @ 0..=18 => decimal(power.unsigned_abs()),
            power @ -9..0 => Some(number / 10i128.checked_pow(power.unsigned_abs())?),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_compared_by_what_they_mean() {
        let text = |text: &str| Value::from(text);
        let rows = [
            (text("1000m"), text("1"), true),
            (text("0.5"), text("500m"), true),
            (Value::Float(0.5), text("500m"), true),
            (Value::Int(1), text("1"), true),
            (text("1Gi"), text("1024Mi"), true),
            (text("1G"), text("1e9"), true),
            (text("1Gi"), text("1G"), false),
            (text("1"), text("2"), false),
            (text("x"), text("x"), false),
            (text("9999999999999999999999999999999999999999"), text("1"), false),
            (text("1e999"), text("1"), false),
            (text("-"), text("0"), false),
        ];
        for (a, b, expected) in rows {
            assert_eq!(are_equal(&a, &b), expected, "{a:?} {b:?}");
        }
    }
}
