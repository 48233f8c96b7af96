//! Names as Kubernetes has them: labels, subdomains, keys, ports.
//!
//! Reference: apimachinery 0.36 pkg/util/validation. Each function gives what is wrong with a text, `None` if nothing is.

use std::net::IpAddr;

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

const NO_IP: &str = "must be an IP address, such as 10.9.8.7 or 2001:db8::ffff";

/// An address of IPv4 or IPv6, in the form of Go's `net/netip`. Servers ask for it since 1.36.
pub(crate) fn ip(text: &str) -> Wrong {
    match text.parse::<IpAddr>() {
        Ok(address) if is_mapped(address) => Some("must not be an IPv4 address in the form of IPv6"),
        Ok(_) => None,
        Err(_) if sloppy_ip(text).is_none() => Some("must not have leading zeros"),
        Err(_) => Some(NO_IP),
    }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// An address whose numbers of IPv4 may have leading zeros.
pub(crate) fn sloppy_ip(text: &str) -> Wrong {
    address(text).is_none().then_some(NO_IP)
}

/// An address as old servers read it.
pub(crate) fn address(text: &str) -> Option<IpAddr> {
    if !text.contains('.') {
        return text.parse().ok();
    }
    let (start, numbers) = text.rfind(':').map_or(("", text), |colon| text.split_at(colon + 1));
    let plain = |number: &str| match number.trim_start_matches('0') {
        "" if !number.is_empty() => "0".to_owned(),
        number => number.to_owned(),
    };
    let numbers: Vec<String> = numbers.split('.').map(plain).collect();
    format!("{start}{}", numbers.join(".")).parse().ok()
}

/// An address that is none of those with a meaning of their own; what is not an address is not looked at.
pub(crate) fn ordinary_ip(text: &str) -> Wrong {
    let (is_link, is_group) = match address(text)? {
        IpAddr::V4(address) => (address.is_link_local(), address.octets().starts_with(&[224, 0, 0])),
        IpAddr::V6(address) => (address.is_unicast_link_local(), address.segments()[0] & 0xff0f == 0xff02),
    };
    match address(text)? {
        address if address.is_unspecified() => Some("must not be the address of no host"),
        address if address.is_loopback() => Some("must not be a loopback address"),
        _ if is_link => Some("must not be a link-local address"),
        _ if is_group => Some("must not be a link-local multicast address"),
        _ => None,
    }
}

/// A domain in which short names are looked up: with a dot at its end or without, and `_` in it.
pub(crate) fn search(text: &str) -> Wrong {
    let is_part = |part: &str| {
        let part = part.strip_prefix('_').unwrap_or(part);
        ends(part, is_lower) && all(part, |byte| is_lower(byte) || matches!(byte, b'-' | b'_'))
    };
    let plain = text.strip_suffix('.').unwrap_or(text);
    let is_right = text == "." || plain.len() <= 253 && plain.split('.').all(is_part);
    (!is_right).then_some("must be lower case letters, digits, `-`, `_` or `.`, and no more than 253 characters")
}

/// A domain in which short names are looked up, before 1.33.
pub(crate) fn strict_search(text: &str) -> Wrong {
    subdomain(text.strip_suffix('.').unwrap_or(text))
}

/// A network: an address, `/`, how many bits of it count. Its numbers may have leading zeros.
pub(crate) fn cidr(text: &str) -> Wrong {
    const WRONG: &str = "must be a CIDR, such as 10.9.8.0/24 or 2001:db8::/64";
    let Some((start, length)) = text.split_once('/') else { return Some(WRONG) };
    let Some(address) = address(start) else { return Some(WRONG) };
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
    let (start, length) = text.split_once('/')?;
    if let Some(wrong) = ip(start) {
        return Some(wrong);
    }
    let length: u32 = length.parse().ok()?;
    let is_exact = match start.parse().ok()? {
        IpAddr::V4(address) => u32::from(address).checked_shl(length).unwrap_or(0) == 0,
        IpAddr::V6(address) => u128::from(address).checked_shl(length).unwrap_or(0) == 0,
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

/// The path of a file in a volume, whose names with `..` at their beginning are not free.
pub(crate) fn file_path(text: &str) -> Wrong {
    local_path(text).or(text.starts_with("..").then_some("must not begin with `..`"))
}
