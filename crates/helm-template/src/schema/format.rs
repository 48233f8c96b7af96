//! The formats of strings that drafts up to 7 assert.

use go_std as go;
use go_std::regexp::Regex;
use go_std::strconv::{NumberError, quote};
use go_std::url::Url;

/// Why a text has not the format; `Ok` for formats that are not known.
///
/// Reference: santhosh-tekuri/jsonschema 6.0.2 format.go.
pub(super) fn check(format: &str, text: &str) -> Result<(), String> {
    match format {
        "regex" => Regex::check(text.as_bytes()).map_err(|error| error.to_string()),
        "json-pointer" => json_pointer(text),
        "relative-json-pointer" => relative_json_pointer(text),
        "uuid" => uuid(text),
        "duration" => duration(text),
        "period" => period(text),
        "ipv4" => ipv4(text),
        "ipv6" => ipv6(text),
        "hostname" => hostname(text),
        "email" => email(text),
        "date" => date(text),
        "time" => time(text),
        "date-time" => date_time(text),
        "uri" | "iri" => uri(text, true),
        "uri-reference" | "iri-reference" if text.contains('\\') => error("contains \\"),
        "uri-reference" | "iri-reference" => uri(text, false),
        "uri-template" => uri(text, false).and_then(|()| braces(text)),
        "semver" => semver(text),
        _ => Ok(()),
    }
}

type Checked = Result<(), String>;

fn error(message: impl Into<String>) -> Checked {
    Err(message.into())
}

fn ensure(is_met: bool, message: &str) -> Checked {
    if is_met { Ok(()) } else { error(message) }
}

fn json_pointer(text: &str) -> Checked {
    if text.is_empty() {
        return Ok(());
    }
    ensure(text.starts_with('/'), "not starting with /")?;
    let is_escape = |rest: &str| rest.starts_with('0') || rest.starts_with('1');
    ensure(text.split('~').skip(1).all(is_escape), "~ must be followed by 0 or 1")
}

fn relative_json_pointer(text: &str) -> Checked {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    ensure(digits > 0, "must start with non-negative integer")?;
    ensure(digits == 1 || !text.starts_with('0'), "starts with zero")?;
    if rest == "#" { Ok(()) } else { json_pointer(rest) }
}

fn uuid(text: &str) -> Checked {
    let lengths = [8, 4, 4, 4, 12];
    let groups: Vec<&str> = text.split('-').collect();
    ensure(groups.len() == lengths.len(), "must have 5 elements")?;
    for ((group, length), number) in groups.into_iter().zip(lengths).zip(1..) {
        if group.len() != length {
            return error(format!("element {number} must be {length} characters long"));
        }
        if let Some(c) = group.chars().find(|c| !c.is_ascii_hexdigit()) {
            return error(format!("non-hex character {c:?}"));
        }
    }
    Ok(())
}

fn duration(text: &str) -> Checked {
    let text = text.strip_prefix('P').ok_or("must start with P")?;
    ensure(!text.is_empty(), "nothing after P")?;
    if let Some(weeks) = text.strip_suffix('W') {
        ensure(!weeks.is_empty(), "no number in week")?;
        return ensure(weeks.chars().all(|c| c.is_ascii_digit()), "invalid week");
    }
    for (part, mut rest) in text.split('T').enumerate() {
        ensure(part == 0 || !rest.is_empty(), "no time elements")?;
        let all = ["YMD", "HMS"].get(part).ok_or("more than one T")?;
        let mut units = *all;
        while !rest.is_empty() {
            let unit_on = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            ensure(unit_on.len() < rest.len(), "missing number")?;
            let unit = unit_on.chars().next().ok_or("missing unit")?;
            let Some((_, later)) = units.split_once(unit) else {
                let what = if all.contains(unit) {
                    format!("unit {unit:?} out of order")
                } else {
                    format!("invalid unit {unit:?}")
                };
                return error(what);
            };
            units = later;
            rest = unit_on.get(unit.len_utf8()..).unwrap_or_default();
        }
    }
    Ok(())
}

fn period(text: &str) -> Checked {
    let (start, end) = text.split_once('/').ok_or("missing slash")?;
    if start.starts_with('P') {
        duration(start).map_err(|error| format!("invalid start duration: {error}"))?;
        return date_time(end).map_err(|error| format!("invalid end date-time: {error}"));
    }
    date_time(start).map_err(|error| format!("invalid start date-time: {error}"))?;
    if end.starts_with('P') {
        duration(end).map_err(|error| format!("invalid end duration: {error}"))
    } else {
        date_time(end).map_err(|error| format!("invalid end date-time: {error}"))
    }
}

fn ipv4(text: &str) -> Checked {
    ensure(text.split('.').count() == 4, "expected four decimals")?;
    for group in text.split('.') {
        ensure(group.len() <= 1 || !group.starts_with('0'), "leading zeros")?;
        let Ok(number) = group.parse::<i64>() else {
            return error(NumberError::Syntax.of("Atoi", group));
        };
        ensure((0..=255).contains(&number), "decimal must be between 0 and 255")?;
    }
    Ok(())
}

fn ipv6(text: &str) -> Checked {
    ensure(text.contains(':'), "missing colon")?;
    let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    if address.parse::<std::net::Ipv6Addr>().is_err() {
        return error(format!("ParseAddr({}): unable to parse IP", quote(text)));
    }
    ensure(zone.is_none(), "zone id is not a part of ipv6 address")
}

fn hostname(text: &str) -> Checked {
    let text = text.strip_suffix('.').unwrap_or(text);
    ensure(text.len() <= 253, "more than 253 characters long")?;
    for label in text.split('.') {
        ensure((1..=63).contains(&label.len()), "label must be 1 to 63 characters long")?;
        ensure(!label.starts_with('-'), "label starts with hyphen")?;
        ensure(!label.ends_with('-'), "label ends with hyphen")?;
        if let Some(c) = label.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
            return error(format!("invalid character {c:?}"));
        }
    }
    Ok(())
}

fn email(text: &str) -> Checked {
    ensure(text.len() <= 254, "more than 255 characters long")?;
    let (local, domain) = text.rsplit_once('@').ok_or("missing @")?;
    ensure(local.len() <= 64, "local part more than 64 characters long")?;
    if local.len() > 1 && local.starts_with('"') {
        let inner = local.get(1..local.len() - 1).unwrap_or_default();
        ensure(!inner.contains(['\\', '"']), "backslash and quote are not allowed within quoted local part")?;
    } else {
        ensure(!local.starts_with('.'), "starts with dot")?;
        ensure(!local.ends_with('.'), "ends with dot")?;
        ensure(!local.contains(".."), "consecutive dots")?;
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(c);
        if let Some(c) = local.chars().find(|c| !is_allowed(*c)) {
            return error(format!("invalid character {c:?}"));
        }
    }
    if let Some(address) = domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']')) {
        return match address.strip_prefix("IPv6:") {
            Some(address) => ipv6(address).map_err(|error| format!("invalid ipv6 address: {error}")),
            None => ipv4(address).map_err(|error| format!("invalid ipv4 address: {error}")),
        };
    }
    hostname(domain).map_err(|error| format!("invalid domain: {error}"))
}

fn date(text: &str) -> Checked {
    go::time::parse("2006-01-02", text.as_bytes()).map(drop)
}

fn small(text: Option<&str>, what: &str) -> Result<i32, String> {
    let number = text.and_then(|text| text.parse::<i32>().ok()).ok_or_else(|| format!("invalid {what}"))?;
    if number < 0 { Err(format!("non-positive {what}")) } else { Ok(number) }
}

fn time(text: &str) -> Checked {
    ensure(text.len() >= 9, "less than 9 characters long")?;
    let colon = |text: &str, at: usize| text.as_bytes().get(at) == Some(&b':');
    ensure(colon(text, 2) && colon(text, 5), "missing colon in correct place")?;
    let part = |range| small(text.get(range), "hour/min/sec");
    let (hour, minute, second) = (part(0..2)?, part(3..5)?, part(6..8)?);
    ensure(hour <= 23 && minute <= 59 && second <= 60, "hour/min/sec out of range")?;
    let mut rest = text.get(8..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        ensure(rest.len() < fraction.len(), "no digits in second fraction")?;
    }
    let mut of_day = hour * 60 + minute;
    if !rest.eq_ignore_ascii_case("z") {
        ensure(rest.len() == 6, "offset must be 6 characters long")?;
        let sign = match rest.as_bytes().first() {
            Some(b'+') => -1,
            Some(b'-') => 1,
            _ => return error("offset must begin with plus/minus"),
        };
        ensure(colon(rest, 3), "missing colon in offset in correct place")?;
        let part = |range| small(rest.get(range), "hour/min in offset");
        let (hour, minute) = (part(1..3)?, part(4..6)?);
        ensure(hour <= 23 && minute <= 59, "hour/min in offset out of range")?;
        of_day += sign * (hour * 60 + minute);
        if of_day < 0 {
            of_day += 24 * 60;
        }
    }
    ensure(second < 60 || of_day == 23 * 60 + 59, "invalid leap second")
}

fn date_time(text: &str) -> Checked {
    ensure(text.len() >= 20, "less than 20 characters long")?;
    ensure(matches!(text.as_bytes().get(10), Some(b't' | b'T')), "11th character must be t or T")?;
    date(text.get(..10).unwrap_or_default()).map_err(|error| format!("invalid date element: {error}"))?;
    time(text.get(11..).unwrap_or_default()).map_err(|error| format!("invalid time element: {error}"))
}

fn uri(text: &str, absolute: bool) -> Checked {
    let url = Url::parse(text.as_bytes())?;
    let host = url.hostname();
    if host.contains(&b':') {
        ensure(url.host.contains(&b'[') && url.host.contains(&b']'), "ipv6 address not enclosed in brackets")?;
        ipv6(&String::from_utf8_lossy(host)).map_err(|error| format!("invalid ipv6 address: {error}"))?;
    }
    ensure(!absolute || url.is_absolute(), "relative url")
}

fn braces(text: &str) -> Checked {
    for part in text.split('/') {
        let mut open = false;
        for c in part.chars().filter(|c| "{}".contains(*c)) {
            ensure(open == (c == '}'), "nested curly braces")?;
            open = !open;
        }
        ensure(!open, "no matching closing brace")?;
    }
    Ok(())
}

fn semver(text: &str) -> Checked {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    for part in build.into_iter().flat_map(|build| build.split('.')) {
        ensure(!part.is_empty(), "build identifier is empty")?;
        if let Some(c) = part.chars().find(|c| !is_word(*c)) {
            return error(format!("invalid character {c:?} in build identifier"));
        }
    }
    let (core, pre_release) = text.split_once('-').map_or((text, None), |(core, rest)| (core, Some(rest)));
    for part in pre_release.into_iter().flat_map(|rest| rest.split('.')) {
        ensure(!part.is_empty(), "pre-release identifier is empty")?;
        if let Some(c) = part.chars().find(|c| !is_word(*c)) {
            return error(format!("invalid character {c:?} in pre-release identifier"));
        }
        let zero_first = part.len() > 1 && part.starts_with('0') && part.chars().all(|c| c.is_ascii_digit());
        ensure(!zero_first, "pre-release numeric identifier starts with zero")?;
    }
    ensure(core.split('.').count() == 3, "versionCore must have 3 numbers separated by dot")?;
    for (number, name) in core.split('.').zip(["major", "minor", "patch"]) {
        ensure(!number.is_empty(), &format!("{name} is empty"))?;
        ensure(number.len() == 1 || !number.starts_with('0'), &format!("{name} starts with zero"))?;
        ensure(number.chars().all(|c| c.is_ascii_digit()), &format!("{name} contains non-digit"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn formats() {
        let rows = [
            ("ipv4", "1.2.3.4", ""),
            ("ipv4", "xx", "expected four decimals"),
            ("ipv4", "01.2.3.4", "leading zeros"),
            ("ipv4", "1.2.3.256", "decimal must be between 0 and 255"),
            ("ipv6", "::1", ""),
            ("ipv6", "fe80::1%eth0", "zone id is not a part of ipv6 address"),
            ("ipv6", "1", "missing colon"),
            ("hostname", "a.b-c.example.", ""),
            ("hostname", "-a", "label starts with hyphen"),
            ("hostname", "a_b", "invalid character '_'"),
            ("email", "a@b.example", ""),
            ("email", "a", "missing @"),
            ("email", "a@[1.2.3.4]", ""),
            ("uri", "https://a.example:80/x?y#z", ""),
            ("uri", "/x", "relative url"),
            ("uri", "a", "relative url"),
            ("uri-reference", "#/a", ""),
            ("date", "2024-02-29", ""),
            ("time", "23:59:60Z", ""),
            ("time", "12:00:60Z", "invalid leap second"),
            ("date-time", "2024-02-29T12:00:00+02:00", ""),
            ("duration", "P1DT2H", ""),
            ("duration", "P1M1Y", "unit 'Y' out of order"),
            ("uuid", "00000000-0000-0000-0000-00000000000g", "non-hex character 'g'"),
            ("json-pointer", "/a~2", "~ must be followed by 0 or 1"),
            ("semver", "1.2.3-rc.1+b", ""),
            ("semver", "1.2", "versionCore must have 3 numbers separated by dot"),
            ("colour", "any", ""),
        ];
        for (format, text, expected) in rows {
            assert_eq!(check(format, text).err().unwrap_or_default(), expected, "{format} {text}");
        }
    }
}
