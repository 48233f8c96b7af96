//! The address between brackets.

use super::quoted;

/// An address, as far as Go distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    V4,
    V6,
}

/// What is wrong, and where.
struct Wrong<'a> {
    what: &'static str,
    at: &'a [u8],
}

fn wrong<'a, T>(what: &'static str, at: &'a [u8]) -> Result<T, Wrong<'a>> {
    Err(Wrong { what, at })
}

/// Reads an IP address; the error is Go's text.
///
/// Reference: Go 1.26 net/netip/netip.go `ParseAddr`.
pub(super) fn parse(text: &[u8]) -> Result<Address, String> {
    let found = match text.iter().find(|byte| b".:%".contains(byte)) {
        Some(b'.') => v4(text).map(|()| Address::V4),
        Some(b':') => v6(text).map(|()| Address::V6),
        Some(_) => wrong("missing IPv6 address", b""),
        None => wrong("unable to parse IP", b""),
    };
    found.map_err(|Wrong { what, at }| {
        let place = if at.is_empty() { String::new() } else { format!(" (at {})", quoted(at)) };
        format!("ParseAddr({}): {what}{place}", quoted(text))
    })
}

fn v4(text: &[u8]) -> Result<(), Wrong<'_>> {
    let (mut value, mut fields, mut digits) = (0_u32, 0, 0);
    let mut before = b'.';
    for (at, byte) in text.iter().enumerate() {
        let rest = text.get(at..).unwrap_or_default();
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return wrong("IPv4 field has octet with leading zero", b"");
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return wrong("IPv4 field has value >255", b"");
                }
            }
            b'.' => {
                if before == b'.' || at + 1 == text.len() {
                    return wrong("IPv4 field must have at least one digit", rest);
                }
                if fields == 3 {
                    return wrong("IPv4 address too long", b"");
                }
                (value, digits) = (0, 0);
                fields += 1;
            }
            _ => return wrong("unexpected character", rest),
        }
        before = *byte;
    }
    if fields < 3 { wrong("IPv4 address too short", b"") } else { Ok(()) }
}

fn v6(text: &[u8]) -> Result<(), Wrong<'_>> {
    let (mut rest, zone) = match text.iter().position(|byte| *byte == b'%') {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    };
    if zone == Some(b"") {
        return wrong("zone must be a non-empty string", b"");
    }
    let mut has_gap = false;
    if let Some(after) = rest.strip_prefix(b"::") {
        has_gap = true;
        rest = after;
        if rest.is_empty() {
            return Ok(());
        }
    }
    let mut bytes = 0;
    while bytes < 16 {
        let length = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if length > 4 {
            return wrong("each group must have 4 or less digits", rest);
        }
        if length == 0 {
            return wrong("each colon-separated field must have at least one digit", rest);
        }
        if rest.get(length) == Some(&b'.') {
            if !has_gap && bytes != 12 {
                return wrong("embedded IPv4 address must replace the final 2 fields of the address", rest);
            }
            if bytes + 4 > 16 {
                return wrong("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
            }
            v4(rest)?;
            rest = b"";
            bytes += 4;
            break;
        }
        bytes += 2;
        rest = rest.get(length..).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        let Some(after) = rest.strip_prefix(b":") else { return wrong("unexpected character, want colon", rest) };
        if after.is_empty() {
            return wrong("colon must be followed by more characters", rest);
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(b":") {
            if has_gap {
                return wrong("multiple :: in address", rest);
            }
            has_gap = true;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    match (rest.is_empty(), bytes < 16, has_gap) {
        (false, ..) => wrong("trailing garbage after address", rest),
        (true, true, false) => wrong("address string too short", b""),
        (true, false, true) => wrong("the :: must expand to at least one field of zeros", b""),
        _ => Ok(()),
    }
}
