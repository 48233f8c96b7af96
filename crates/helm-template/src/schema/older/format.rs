//! The formats that the library asserts.

use std::net::IpAddr;
use std::sync::LazyLock;

use go_std::mail::Address;
use go_std::regexp::Regex;
use go_std::time::parse;
use go_std::url::Url;

/// Whether a text has a format; `None` for those that are not known.
///
/// Reference: gojsonschema 1.2.0 format_checkers.go.
pub(super) fn check(format: &str, text: &str) -> Option<bool> {
    let is_time = |layouts: &[&str]| layouts.iter().any(|layout| parse(layout, text.as_bytes()).is_ok());
    let url = || Url::parse(text.as_bytes()).ok().filter(|_| !text.contains('\\'));
    Some(match format {
        "date" => is_time(&["2006-01-02"]),
        "time" => is_time(&["15:04:05Z07:00", "15:04:05"]),
        "date-time" => is_time(&[
            "15:04:05",
            "15:04:05Z07:00",
            "2006-01-02",
            "2006-01-02T15:04:05Z07:00",
            "2006-01-02T15:04:05.999999999Z07:00",
        ]),
        "hostname" => text.len() < 256 && matches(&HOSTNAME, text),
        "email" | "idn-email" => Address::parse(text).is_some(),
        "ipv4" => text.contains('.') && text.parse::<IpAddr>().is_ok(),
        "ipv6" => text.contains(':') && text.parse::<IpAddr>().is_ok(),
        "uri" | "iri" => url().is_some_and(|url| url.is_absolute()),
        "uri-reference" | "iri-reference" => url().is_some(),
        "uri-template" => url().is_some_and(|url| has_pairs(&url.path)),
        "uuid" => matches(&UUID, text),
        "regex" => Regex::check(text.as_bytes()).is_ok(),
        "json-pointer" => matches(&POINTER, text),
        "relative-json-pointer" => matches(&RELATIVE_POINTER, text),
        _ => return None,
    })
}

static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    let label = "([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\\-]{0,61}[a-zA-Z0-9])";
    compiled(&format!("^{label}(\\.{label})*$"))
});
static UUID: LazyLock<Regex> =
    LazyLock::new(|| compiled("^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$"));
static POINTER: LazyLock<Regex> = LazyLock::new(|| compiled("^(?:/(?:[^~/]|~0|~1)*)*$"));
static RELATIVE_POINTER: LazyLock<Regex> =
    LazyLock::new(|| compiled("^(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~0|~1)*)*)$"));

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern.as_bytes()).expect("it is part of the program")
}

fn matches(regex: &Regex, text: &str) -> bool {
    regex.is_match(text.as_bytes(), |_| Ok::<(), ()>(())) == Ok(true)
}

/// Whether each `{` has its `}`, and none is inside another.
fn has_pairs(path: &[u8]) -> bool {
    let mut rest = path;
    while let Some(at) = memchr::memchr(b'{', rest) {
        let behind = rest.get(at + 1..).unwrap_or_default();
        match memchr::memchr(b'}', behind) {
            Some(end) => rest = behind.get(end + 1..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}
