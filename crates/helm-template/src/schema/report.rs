//! What a schema says against a value, in the words of the reference.

use std::fmt::{self, Write as _};

use go_yaml::Value;

/// One thing that is wrong, with what led to it.
///
/// Reference: santhosh-tekuri/jsonschema 6.0.2, kind/kind.go and output.go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Problem {
    /// The JSON pointer to the value.
    pub at: String,
    /// What is wrong with it.
    pub message: String,
    /// Why.
    pub causes: Vec<Problem>,
    /// How it is shown.
    pub role: Role,
}

/// The kind of a [`Problem`], as far as it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Role {
    /// A keyword that is not met.
    #[default]
    Keyword,
    /// Several problems of one schema.
    Group,
    /// A reference that was followed; not shown when it has one cause.
    Reference,
}

impl Problem {
    /// The problems inside a group; any other by itself.
    pub(super) fn ungrouped(self) -> Vec<Problem> {
        if self.role == Role::Group { self.causes } else { vec![self] }
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        let hidden = self.role == Role::Reference && self.causes.len() == 1;
        if !hidden {
            write!(f, "\n{}- at {}: {}", "  ".repeat(indent), quote(&self.at), self.message)?;
        }
        self.causes.iter().try_for_each(|cause| cause.show(f, indent + usize::from(!hidden)))
    }
}

/// A line for each problem, each after a line break.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, 0)
    }
}

/// In single quotes, with Go's escapes.
pub(super) fn quote(text: &str) -> String {
    let quoted = go_yaml::quote(text);
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    format!("'{}'", inner.replace("\\\"", "\"").replace('\'', "\\'"))
}

/// Each in single quotes.
pub(super) fn quote_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// A scalar of a schema.
pub(super) fn display(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::String(text) => quote(text),
        Value::Sequence(_) | Value::Mapping(_) => "value".to_owned(),
    }
}

/// A number as the English number format of Go's text library writes it: `1,000`, `1.5×10⁰⁶`.
pub(super) fn number(number: f64) -> String {
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        let text = number.to_string();
        let (whole, fraction) = text.split_once('.').map_or((&*text, None), |(whole, rest)| (whole, Some(rest)));
        let fraction = fraction.map_or_else(String::new, |fraction| format!(".{fraction}"));
        return grouped(whole) + &fraction;
    }
    let digits: String = format!("{:02}", exponent.abs()).chars().map(superscript).collect();
    format!("{mantissa}×10{}{digits}", if exponent < 0 { "⁻" } else { "" })
}

/// A count with commas between thousands.
pub(super) fn count(count: usize) -> String {
    grouped(&count.to_string())
}

fn grouped(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut out = sign.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn superscript(digit: char) -> char {
    match digit {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    }
}

/// One more step of a JSON pointer.
pub(super) fn push_pointer(pointer: &mut String, token: &str) {
    pointer.push('/');
    for c in token.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// A JSON pointer as the fragment of a URL.
pub(super) fn fragment(pointer: &str) -> String {
    let mut out = String::new();
    for byte in pointer.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => out.push(byte.into()),
            b'/' | b'-' | b'_' | b'.' | b'~' | b'$' | b'&' | b'+' | b'=' | b':' | b'@' => out.push(byte.into()),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let rows = [
            (1.0, "1"),
            (1000.0, "1,000"),
            (999_999.0, "999,999"),
            (1e6, "1×10⁰⁶"),
            (-1_234_567.891, "-1.234567891×10⁰⁶"),
            (1e21, "1×10²¹"),
            (0.25, "0.25"),
            (1e-9, "1×10⁻⁰⁹"),
            (123_456_789_012_345_678.0, "1.2345678901234568×10¹⁷"),
            (1.000_000_1, "1.0000001"),
        ];
        for (value, expected) in rows {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn quotes() {
        assert_eq!(quote("a'\"\\d\t"), "'a\\'\"\\\\d\\t'");
    }
}
