//! What follows a `%`.

use std::fmt;

use super::quoted;

/// The part of a URL that text is in, which decides what must be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A name or a password.
    Userinfo,
    /// A host and its port.
    Host,
    /// The zone of an IPv6 address.
    Zone,
    /// A path.
    Path,
    /// A segment of a path.
    Segment,
    /// A key or value of a query; a blank becomes `+`.
    Query,
    /// What follows `#`.
    Fragment,
}

/// Why text of a URL cannot be unescaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EscapeError {
    /// A `%` without two hexadecimal digits, or one that must not be there.
    Escape(Vec<u8>),
    /// A character that no host has.
    Host(u8),
}

impl fmt::Display for EscapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EscapeError::Escape(text) => write!(f, "invalid URL escape {}", quoted(text)),
            EscapeError::Host(byte) => write!(f, "invalid character {} in host name", quoted(&[*byte])),
        }
    }
}

pub(super) fn must_escape(byte: u8, part: Part) -> bool {
    let plain: &[u8] = match part {
        _ if byte.is_ascii_alphanumeric() => return false,
        Part::Userinfo => b"-_.~$&+,;=",
        Part::Host | Part::Zone => b"-_.~!$&'()*+,;=:[]<>\"",
        Part::Path => b"-_.~$&+,/:;=@",
        Part::Segment => b"-_.~$&+:=@",
        Part::Query => b"-_.~",
        Part::Fragment => b"-_.~$&+,/:;=?@!()*",
    };
    !plain.contains(&byte)
}

/// Escapes text for a part of a URL.
///
/// Reference: `QueryEscape` and `PathEscape` are it for [`Part::Query`] and [`Part::Segment`].
pub fn escape(text: &[u8], part: Part) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if !must_escape(*byte, part) {
            out.push(*byte);
        } else if *byte == b' ' && part == Part::Query {
            out.push(b'+');
        } else {
            let digit = |value: u8| b"0123456789ABCDEF".get(usize::from(value)).copied().unwrap_or_default();
            out.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

fn hex(byte: Option<&u8>) -> Option<u8> {
    byte.and_then(|byte| char::from(*byte).to_digit(16)).map(|digit| digit as u8)
}

/// What the text of a part means.
///
/// Reference: `QueryUnescape` and `PathUnescape` are it for [`Part::Query`] and [`Part::Segment`].
pub fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, EscapeError> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            if matches!(part, Part::Host | Part::Zone) && first.is_ascii() && must_escape(*first, part) {
                return Err(EscapeError::Host(*first));
            }
            out.push(if *first == b'+' && part == Part::Query { b' ' } else { *first });
            rest = after;
            continue;
        }
        let shown = rest.get(..3.min(rest.len())).unwrap_or_default();
        let invalid = || EscapeError::Escape(shown.to_vec());
        let byte = hex(after.first()).zip(hex(after.get(1))).map(|(high, low)| high << 4 | low).ok_or_else(invalid)?;
        let is_percent = shown == b"%25";
        let is_refused = match part {
            // A host may only escape what is not ASCII.
            Part::Host => byte.is_ascii() && !is_percent,
            Part::Zone => !is_percent && byte != b' ' && must_escape(byte, Part::Host),
            Part::Userinfo | Part::Path | Part::Segment | Part::Query | Part::Fragment => false,
        };
        if is_refused {
            return Err(invalid());
        }
        out.push(byte);
        rest = after.get(2..).unwrap_or_default();
    }
    Ok(out)
}

/// Whether text that came escaped has nothing in it that must be.
pub(super) fn is_escaped(text: &[u8], part: Part) -> bool {
    text.iter().all(|byte| b"!$&'()*+,;=:@[]%".contains(byte) || !must_escape(*byte, part))
}
