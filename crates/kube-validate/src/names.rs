//! Names as Kubernetes has them: labels, subdomains, keys, ports.
//!
//! Reference: apimachinery 0.36 pkg/util/validation. Each function gives what is wrong with a text, `None` if nothing is.

/// What is wrong with a text, in words that follow its quoted value.
pub(crate) type Wrong = Option<&'static str>;

fn all(text: &str, is: impl Fn(u8) -> bool) -> bool {
    text.bytes().all(is)
}

fn ends(text: &str, is: impl Fn(u8) -> bool) -> bool {
    text.bytes().next().is_some_and(&is) && text.bytes().last().is_some_and(is)
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    ends(text, is_lower) && all(text, |byte| is_lower(byte) || byte == b'-')
}

/// A label of DNS: RFC 1123, 63 bytes.
pub(crate) fn label(text: &str) -> Wrong {
    if text.len() > 63 {
        return Some("must be no more than 63 characters");
    }
    (!is_label(text)).then_some("must be lower case letters, digits or `-`, and begin and end with a letter or digit")
}

/// A label of DNS that begins with a letter: RFC 1035.
pub(crate) fn label_1035(text: &str) -> Wrong {
    if text.len() > 63 {
        return Some("must be no more than 63 characters");
    }
    (!is_label(text) || text.starts_with(|c: char| c.is_ascii_digit()))
        .then_some("must be lower case letters, digits or `-`, begin with a letter, and end with a letter or digit")
}

/// Labels of DNS with dots between them, 253 bytes in all.
pub(crate) fn subdomain(text: &str) -> Wrong {
    if text.len() > 253 {
        return Some("must be no more than 253 characters");
    }
    (!text.split('.').all(is_label))
        .then_some("must be lower case letters, digits, `-` or `.`, and begin and end with a letter or digit")
}

/// A subdomain whose first label may be `*`.
pub(crate) fn wildcard(text: &str) -> Wrong {
    match text.strip_prefix("*.") {
        Some(rest) => subdomain(rest),
        None => subdomain(text),
    }
}

/// A part of the path of a URL, as names of RBAC are.
pub(crate) fn path_segment(text: &str) -> Wrong {
    match text {
        "." => Some("must not be `.`"),
        ".." => Some("must not be `..`"),
        text => text.contains(['/', '%']).then_some("must not contain `/` or `%`"),
    }
}

fn is_name_part(text: &str) -> bool {
    ends(text, |byte| byte.is_ascii_alphanumeric())
        && all(text, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// A key of a label: a name, with a domain before it or without one.
pub(crate) fn qualified(text: &str) -> Wrong {
    let mut parts = text.split('/');
    let (first, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let name = match (second, third) {
        (None, _) => first,
        (Some(_), None) if first.is_empty() => return Some("must have a domain before its `/`"),
        (Some(name), None) if subdomain(first).is_none() => name,
        (Some(_), None) => return Some("must have a lower case domain before its `/`"),
        (Some(_), Some(_)) => return Some("must have one `/` at most"),
    };
    if name.is_empty() {
        return Some("must have a name");
    }
    if name.len() > 63 {
        return Some("must have a name of no more than 63 bytes");
    }
    (!is_name_part(name))
        .then_some("must be letters, digits, `-`, `_` or `.`, and begin and end with a letter or digit")
}

/// A key of an annotation: as of a label, but for its case.
pub(crate) fn annotation(text: &str) -> Wrong {
    qualified(&text.to_lowercase())
}

/// The value of a label.
pub(crate) fn label_value(text: &str) -> Wrong {
    if text.len() > 63 {
        return Some("must be no more than 63 bytes");
    }
    (!text.is_empty() && !is_name_part(text))
        .then_some("must be letters, digits, `-`, `_` or `.`, and begin and end with a letter or digit")
}

/// A key of a ConfigMap or a Secret.
pub(crate) fn config_key(text: &str) -> Wrong {
    if text.len() > 253 {
        return Some("must be no more than 253 characters");
    }
    if text.is_empty() || !all(text, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) {
        return Some("must be letters, digits, `-`, `_` or `.`");
    }
    match text {
        "." => Some("must not be `.`"),
        text if text.starts_with("..") => Some("must not begin with `..`"),
        _ => None,
    }
}

/// The name of an environment variable: printable ASCII without `=`.
pub(crate) fn env(text: &str) -> Wrong {
    (text.is_empty() || !all(text, |byte| (0x20..0x7f).contains(&byte) && byte != b'='))
        .then_some("must be printable ASCII without `=`")
}

/// The name of an environment variable before 1.32: letters, digits, `_`, `-`, `.`.
pub(crate) fn strict_env(text: &str) -> Wrong {
    let is = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (text.is_empty() || !all(text, is) || text.starts_with(|c: char| c.is_ascii_digit()))
        .then_some("must be letters, digits, `_`, `-` or `.`, and not begin with a digit")
}

/// The name of a port.
pub(crate) fn port(text: &str) -> Wrong {
    if text.len() > 15 {
        return Some("must be no more than 15 characters");
    }
    if !all(text, |byte| is_lower(byte) || byte == b'-') {
        return Some("must be lower case letters, digits and `-`");
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return Some("must have a letter");
    }
    (text.contains("--") || text.starts_with('-') || text.ends_with('-'))
        .then_some("must not begin or end with `-`, or have two of them in a row")
}

/// The name of a header of HTTP.
pub(crate) fn header(text: &str) -> Wrong {
    (text.is_empty() || !all(text, |byte| byte.is_ascii_alphanumeric() || byte == b'-'))
        .then_some("must be letters, digits and `-`")
}

/// A percentage: digits and `%`.
pub(crate) fn percent(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    (!digits.is_empty() && all(digits, |byte| byte.is_ascii_digit())).then_some(())?;
    digits.parse().ok()
}

/// An address of IPv4 or IPv6, in the form of Go's `net/netip`.
pub(crate) fn ip(text: &str) -> Wrong {
    text.parse::<std::net::IpAddr>().is_err().then_some("must be an IP address, such as 10.9.8.7 or 2001:db8::ffff")
}

/// A network: an address, `/`, how many bits of it count.
pub(crate) fn cidr(text: &str) -> Wrong {
    const WRONG: &str = "must be a CIDR, such as 10.9.8.0/24 or 2001:db8::/64";
    let Some((address, length)) = text.split_once('/') else { return Some(WRONG) };
    let Ok(address) = address.parse::<std::net::IpAddr>() else { return Some(WRONG) };
    let bits_max = if address.is_ipv4() { 32 } else { 128 };
    let is_number =
        !length.is_empty() && all(length, |byte| byte.is_ascii_digit()) && (length == "0" || !length.starts_with('0'));
    (!is_number || length.parse::<u32>().map_or(true, |length| length > bits_max)).then_some(WRONG)
}

/// As [`cidr`], with no bit set beyond its prefix.
pub(crate) fn strict_cidr(text: &str) -> Wrong {
    if let Some(wrong) = cidr(text) {
        return Some(wrong);
    }
    let (address, length) = text.split_once('/')?;
    let length: u32 = length.parse().ok()?;
    let is_exact = match address.parse().ok()? {
        std::net::IpAddr::V4(address) => u32::from(address).checked_shl(length).unwrap_or(0) == 0,
        std::net::IpAddr::V6(address) => u128::from(address).checked_shl(length).unwrap_or(0) == 0,
    };
    (!is_exact).then_some("must not have bits set beyond the prefix length")
}

/// A relative path that stays inside.
pub(crate) fn local_path(text: &str) -> Wrong {
    if text.starts_with('/') {
        return Some("must be a relative path");
    }
    text.split('/').any(|part| part == "..").then_some("must not contain `..`")
}
