//! Quantities such as `10Gi` and `200m`.

use go_yaml::Value;

/// Reads a quantity; `None` for anything else.
///
/// Reference: apimachinery 0.36 pkg/api/resource/quantity.go, to the precision of a float.
pub(super) fn quantity(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::String(text) => parse(text),
        Value::Null | Value::Bool(_) | Value::Uint(_) | Value::Sequence(_) | Value::Mapping(_) => None,
    }
}

fn parse(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-' && c != '+').unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let steps = ["", "k", "M", "G", "T", "P", "E"];
    let factor = match suffix.strip_suffix('i') {
        Some(letter) => {
            let letter = if letter == "K" { "k" } else { letter };
            1024_f64.powi(i32::try_from(steps.iter().position(|step| *step == letter)?).ok()?)
        }
        None => match suffix {
            "n" => 1e-9,
            "u" => 1e-6,
            "m" => 1e-3,
            suffix => 1000_f64.powi(i32::try_from(steps.iter().position(|step| *step == suffix)?).ok()?),
        },
    };
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        let rows = [
            ("1", Some(1.0)),
            ("200m", Some(0.2)),
            ("1e3", Some(1000.0)),
            ("512Mi", Some(536_870_912.0)),
            ("1.5G", Some(1.5e9)),
            ("2Ki", Some(2048.0)),
            ("1E", Some(1e18)),
            ("a", None),
            ("", None),
            ("1Xi", None),
        ];
        for (text, expected) in rows {
            assert_eq!(quantity(&Value::from(text)), expected, "{text}");
        }
    }
}
