//! What scalars of the settings mean: the core schema of YAML 1.2, and neither of the dialects of go-yaml.
//!
//! Settings have been read so from the first day, and one that changed its meaning would change hydrated commits: `yes`,
//! `017`, `1_000`, `1e400` and dates are strings, `0o17` and `0b11` are numbers.

/// A number of the settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// 0 or more.
    Whole(u64),
    /// Less than 0, or `-0`.
    Negative(i64),
    /// Any other; may be an infinity or NaN.
    Float(f64),
}

/// What a scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number,
    Text,
}

/// What a scalar without quotes and tag is.
pub(super) fn plain(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        _ if number(text).is_some() => Kind::Number,
        _ => Kind::Text,
    }
}

/// Whether a string needs no quotes to be one, here and for readers that take `017` for a number.
pub(super) fn is_clear(text: &str) -> bool {
    plain(text) == Kind::Text && !has_leading_zeros(text)
}

/// Whether a text is a whole number.
pub(super) fn is_whole(text: &str) -> bool {
    matches!(number(text), Some(Number::Whole(_) | Number::Negative(_)))
}

/// The number that a text is as a float, which is never written as a whole one.
pub(super) fn float(text: &str) -> Option<String> {
    match number(text)? {
        Number::Float(_) => Some(text.to_owned()),
        Number::Whole(_) | Number::Negative(_) => {
            let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+'));
            is_decimal.then(|| format!("{text}.0"))
        }
    }
}

/// The number that a text is.
pub(super) fn number(text: &str) -> Option<Number> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(Number::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return Some(Number::Float(f64::NEG_INFINITY)),
        ".nan" | ".NaN" | ".NAN" => return Some(Number::Float(f64::NAN)),
        _ if has_leading_zeros(text) => return None,
        _ => {}
    }
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    whole(is_negative, digits).or_else(|| {
        let float = text.parse::<f64>().ok().filter(|float| float.is_finite())?;
        Some(Number::Float(float))
    })
}

/// The whole number of these digits, where it has a place.
fn whole(is_negative: bool, digits: &str) -> Option<Number> {
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)];
    let found = prefixed.into_iter().find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix)));
    let (digits, radix) = found.unwrap_or((digits, 10));
    if digits.starts_with(['+', '-']) {
        return None;
    }
    match is_negative {
        true => i64::from_str_radix(&format!("-{digits}"), radix).ok().map(Number::Negative),
        false => u64::from_str_radix(digits, radix).ok().map(Number::Whole),
    }
}

/// Whether these are digits with a 0 before them that says nothing: a string here, a number to other readers.
fn has_leading_zeros(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}
