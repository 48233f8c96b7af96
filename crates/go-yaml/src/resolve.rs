//! What the text of a plain scalar means.
//!
//! Reference: go-yaml v2.4.3 and v3.0.4 resolve.go.

use super::tag::Tag;
use super::timestamp;

/// How scalars, duplicate keys and merges are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// go-yaml v2, by way of sigs.k8s.io/yaml: what Helm and Argo CD read.
    ///
    /// `y`, `yes`, `on`, `n`, `no`, `off` are booleans, dates are strings, of duplicate keys the last one wins.
    V2,
    /// go-yaml v3, as kyaml and so Kustomize read.
    ///
    /// Only `true` and `false` are booleans, dates are times, duplicate keys are errors.
    V3,
}

/// What a plain scalar is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plain {
    /// `null`, `~` or nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Larger than any `i64`.
    Uint(u64),
    /// May be an infinity or NaN.
    Float(f64),
    /// A date, with or without a time.
    Timestamp,
    /// Anything else.
    Str,
}

impl Plain {
    /// The tag of this kind.
    pub fn tag(self) -> Tag {
        match self {
            Plain::Null => Tag::Null,
            Plain::Bool(_) => Tag::Bool,
            Plain::Int(_) | Plain::Uint(_) => Tag::Int,
            Plain::Float(_) => Tag::Float,
            Plain::Timestamp => Tag::Timestamp,
            Plain::Str => Tag::Str,
        }
    }
}

/// What `text` is when it is without quotes and without a tag.
pub fn plain(text: &str, dialect: Dialect) -> Plain {
    resolve(text, dialect, true)
}

/// What `text` is under a tag, which says whether it may be a timestamp.
pub(super) fn resolve(text: &str, dialect: Dialect, timestamps: bool) -> Plain {
    let Some(first) = text.bytes().next() else { return Plain::Null };
    match first {
        b'0'..=b'9' | b'+' | b'-' => {
            if timestamps && timestamp::parse(text).is_some() {
                return Plain::Timestamp;
            }
            match text {
                "+.inf" | "+.Inf" | "+.INF" => Plain::Float(f64::INFINITY),
                "-.inf" | "-.Inf" | "-.INF" => Plain::Float(f64::NEG_INFINITY),
                _ if text.contains('_') => number(&text.replace('_', ""), dialect),
                _ => number(text, dialect),
            }
        }
        b'.' => match text {
            ".inf" | ".Inf" | ".INF" => Plain::Float(f64::INFINITY),
            ".nan" | ".NaN" | ".NAN" => Plain::Float(f64::NAN),
            _ => point(text),
        },
        b'~' if text.len() == 1 => Plain::Null,
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => word(text, dialect),
        _ => Plain::Str,
    }
}

fn word(text: &str, dialect: Dialect) -> Plain {
    match text {
        "null" | "Null" | "NULL" => Plain::Null,
        "true" | "True" | "TRUE" => Plain::Bool(true),
        "false" | "False" | "FALSE" => Plain::Bool(false),
        _ if dialect == Dialect::V3 => Plain::Str,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Plain::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Plain::Bool(false),
        _ => Plain::Str,
    }
}

/// A number that starts with a digit or a sign, `_` removed.
fn number(text: &str, dialect: Dialect) -> Plain {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, text.get(1..).unwrap_or_default()),
        [b'+', ..] => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    let signed = digits.len() < text.len();
    if let Some(magnitude) = integer(digits) {
        match (negative, i64::try_from(magnitude)) {
            (false, Ok(value)) => return Plain::Int(value),
            (true, Ok(value)) => return Plain::Int(-value),
            (true, Err(_)) if magnitude == i64::MIN.unsigned_abs() => return Plain::Int(i64::MIN),
            (false, Err(_)) if !signed => return Plain::Uint(magnitude),
            _ => {}
        }
    }
    if is_float(digits)
        && let Some(value) = text.parse().ok().filter(|value: &f64| value.is_finite())
    {
        return Plain::Float(value);
    }
    // A sign behind the prefix, as in `0b-11`: Go's parser of a fixed base takes it.
    let prefixes: &[(&str, u32)] = match dialect {
        Dialect::V2 => &[("0b", 2)],
        Dialect::V3 => &[("0b", 2), ("0o", 8)],
    };
    let prefixed = prefixes.iter().find_map(|(prefix, base)| Some((text.strip_prefix(prefix)?, *base)));
    match prefixed {
        Some((rest, base)) if rest.starts_with(['+', '-']) => {
            i64::from_str_radix(rest, base).map_or(Plain::Str, Plain::Int)
        }
        _ => Plain::Str,
    }
}

/// Digits with a prefix for their base: `0x1F`, `0o17`, `0b11`, `017`, `17`.
fn integer(digits: &str) -> Option<u64> {
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, base).ok()
}

/// `^(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`
fn is_float(text: &str) -> bool {
    let bytes = text.as_bytes();
    let count = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = count(bytes);
    let mut rest = bytes.get(whole..).unwrap_or_default();
    if let [b'.', behind @ ..] = rest {
        let fraction = count(behind);
        if whole == 0 && fraction == 0 {
            return false;
        }
        rest = behind.get(fraction..).unwrap_or_default();
    } else if whole == 0 {
        return false;
    }
    match rest {
        [] => true,
        [b'e' | b'E', b'-' | b'+', digits @ ..] | [b'e' | b'E', digits @ ..] => {
            !digits.is_empty() && count(digits) == digits.len()
        }
        _ => false,
    }
}

/// A number that starts with a point. Go takes `_` between digits here.
fn point(text: &str) -> Plain {
    let mut before = b'.';
    for byte in text.bytes().skip(1).chain([b'.']) {
        if (byte == b'_' && !before.is_ascii_digit()) || (before == b'_' && !byte.is_ascii_digit()) {
            return Plain::Str;
        }
        before = byte;
    }
    let digits = text.replace('_', "");
    if !is_float(&digits) {
        return Plain::Str;
    }
    digits.parse().ok().filter(|value: &f64| value.is_finite()).map_or(Plain::Str, Plain::Float)
}

/// Whether YAML 1.1 reads `text` as a number of base 60, such as `12:30`: written with quotes, read as a string.
pub(super) fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or_default();
    if !first.starts_with(|c: char| c.is_ascii_digit())
        || !first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
    {
        return false;
    }
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return false;
    }
    while let Some(part) = parts.next() {
        let (part, fraction) = match part.split_once('.') {
            Some((part, fraction)) if parts.peek().is_none() => (part, fraction),
            _ => (part, ""),
        };
        let sixty = matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
        if !sixty || !fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
            return false;
        }
    }
    true
}
