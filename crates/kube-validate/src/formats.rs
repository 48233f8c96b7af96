//! Formats of texts that a server checks in custom resources; others it does not look at.
//!
//! Reference: kube-openapi pkg/validation/strfmt; the list is that of apiextensions-apiserver 0.36.

use crate::names;

/// Whether a text has a format.
pub(crate) fn has(format: &str, text: &str) -> bool {
    match format {
        "byte" => crate::walk::bytes(text).is_some() && !text.contains(['\r', '\n']),
        "cidr" => names::cidr(text).is_none(),
        "date" => go_std::time::parse("2006-01-02", text.as_bytes()).is_ok(),
        "date-time" | "datetime" => is_date_time(text),
        "duration" => is_duration(text),
        "email" => go_std::mail::Address::parse(text).is_some(),
        "hostname" => is_hostname(text),
        "ipv4" => text.contains('.') && names::address(text).is_some(),
        "ipv6" => text.contains(':') && names::address(text).is_some(),
        "mac" => is_mac(text),
        "uri" => is_uri(text),
        "uuid" => is_uuid(text, |_| true),
        "uuid3" => is_uuid(text, |version| version == b'3'),
        "uuid4" => is_uuid(text, |version| version == b'4'),
        "uuid5" => is_uuid(text, |version| version == b'5'),
        "hexcolor" => text.strip_prefix('#').is_some_and(|hex| matches!(hex.len(), 3 | 6) && is_hex(hex)),
        "bsonobjectid" => text.len() == 24 && is_hex(text),
        "k8s-short-name" => names::label(text).is_none(),
        "k8s-long-name" => names::subdomain(text).is_none(),
        _ => true,
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const DATE_TIMES: &[&str] =
    &["2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000000Z", "2006-01-02T15:04:05"];

fn is_date_time(text: &str) -> bool {
    let text = text.replacen('t', "T", 1).replacen('z', "Z", 1);
    let seconds = text.get(17..19).and_then(|seconds| seconds.parse::<u32>().ok());
    seconds.is_some() && DATE_TIMES.iter().any(|layout| go_std::time::parse(layout, text.as_bytes()).is_ok())
}

/// Units, of which the last of each row may go on: `day` is in `days`.
const UNITS: &[&[&str]] = &[
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

/// A duration of Go, or a number with a unit in words somewhere.
fn is_duration(text: &str) -> bool {
    if go_std::time::parse_duration(text).is_ok() {
        return true;
    }
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = rest.get(start..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(rest.len());
        let (unit, more) = rest.split_at(end);
        let unit = unit.to_lowercase();
        let is_unit =
            |row: &[&str]| row.contains(&unit.as_str()) || row.last().is_some_and(|last| unit.starts_with(last));
        if UNITS.iter().any(|row| is_unit(row)) {
            return true;
        }
        rest = more;
    }
    false
}

/// Labels with dots between them, of which the last has letters alone; or one label with one hyphen at most.
fn is_hostname(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphabetic());
    let is_label = |label: &str| {
        label.chars().count() <= 63
            && label.starts_with(is_inner)
            && label.ends_with(is_inner)
            && label.chars().all(|c| is_inner(c) || c == '-')
    };
    if text.len() > 255 {
        return false;
    }
    match text.rsplit_once('.') {
        Some((labels, last)) => {
            labels.split('.').all(is_label)
                && (2..=63).contains(&last.chars().count())
                && last.chars().all(char::is_alphabetic)
        }
        None => {
            text.starts_with(is_inner)
                && text.chars().all(|c| is_inner(c) || c == '-')
                && text.matches('-').count() <= 1
        }
    }
}

fn is_mac(text: &str) -> bool {
    let separator = if text.contains('-') { '-' } else { ':' };
    let parts: Vec<&str> = text.split(separator).collect();
    matches!(parts.len(), 6 | 8 | 20) && parts.iter().all(|part| part.len() == 2 && is_hex(part))
}

/// As Go's `url.ParseRequestURI`: absolute, or a path.
fn is_uri(text: &str) -> bool {
    let Ok(url) = go_std::url::Url::parse(text.as_bytes()) else { return false };
    url.is_absolute() || text.starts_with('/')
}

fn is_uuid(text: &str, is_version: impl Fn(u8) -> bool) -> bool {
    let plain: String = text.chars().filter(|c| *c != '-').collect();
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    let is_grouped = parts == [8, 4, 4, 4, 12] || parts == [32];
    plain.len() == 32 && is_hex(&plain) && is_grouped && plain.as_bytes().get(12).copied().is_some_and(is_version)
}
