//! Go's `net/url`: takes URLs apart, puts them together, resolves references.
//!
//! Lax: plain words and relative paths are URLs, `git@host:path` isn't. Text is bytes, as it need not be UTF-8.

mod address;
mod escape;
mod join;

pub use escape::EscapeError;
pub use escape::{Part, escape, unescape};

use super::strconv::quote_bytes;
use super::utf8::to_str;

/// A URL in its parts.
///
/// Reference: Go 1.26 net/url/url.go `URL`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Url {
    /// In lower case, without `:`; empty for a relative one.
    pub scheme: Vec<u8>,
    /// What follows the scheme, where that isn't `/`: escaped.
    pub opaque: Vec<u8>,
    /// Who.
    pub user: Option<User>,
    /// With the port.
    pub host: Vec<u8>,
    /// Unescaped.
    pub path: Vec<u8>,
    /// Without `?`, escaped.
    pub query: Vec<u8>,
    /// Without `#`, unescaped.
    pub fragment: Vec<u8>,
    /// How the path was escaped, where that is not what [`escape()`] makes; else empty.
    pub raw_path: Vec<u8>,
    /// How the fragment was escaped, where that is not what [`escape()`] makes; else empty.
    pub raw_fragment: Vec<u8>,
    /// There is a `?` with nothing behind it.
    pub has_empty_query: bool,
    /// One `/` follows the scheme, so that there is no host.
    pub omits_host: bool,
}

/// What precedes the `@`, unescaped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct User {
    /// The name.
    pub name: Vec<u8>,
    /// None without a `:`.
    pub password: Option<Vec<u8>>,
}

fn quoted(text: &[u8]) -> String {
    to_str(&quote_bytes(text)).into_owned()
}

/// What is before and after the first `mark`; nothing after it, where there is none.
fn cut(text: &[u8], mark: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == mark) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    }
}

impl Url {
    /// Takes a URL apart.
    ///
    /// # Errors
    ///
    /// Go's text: `parse "http://a b/": invalid character " " in host name`.
    ///
    /// Reference: Go 1.26 net/url/url.go `Parse`.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let (before, fragment) = cut(text, b'#');
        let mut url = Self::without_fragment(before).map_err(|error| format!("parse {}: {error}", quoted(before)))?;
        let fragment = fragment.unwrap_or_default();
        url.fragment =
            unescape(fragment, Part::Fragment).map_err(|error| format!("parse {}: {error}", quoted(text)))?;
        if escape(&url.fragment, Part::Fragment) != fragment {
            url.raw_fragment = fragment.to_vec();
        }
        Ok(url)
    }

    fn without_fragment(text: &[u8]) -> Result<Self, String> {
        if text.iter().any(u8::is_ascii_control) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text == b"*" {
            return Ok(Self { path: text.to_vec(), ..Self::default() });
        }
        let (scheme, rest) = scheme(text)?;
        let (rest, query) = cut(rest, b'?');
        let has_empty_query = query == Some(b"");
        let query = query.unwrap_or_default().to_vec();
        let mut url = Self { scheme: scheme.to_ascii_lowercase(), query, has_empty_query, ..Self::default() };
        if !rest.starts_with(b"/") {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            // It would be mistaken for a scheme.
            if cut(rest, b'/').0.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let mut path = rest;
        if rest.starts_with(b"//") && (!url.scheme.is_empty() || !rest.starts_with(b"///")) {
            let authority = rest.get(2..).unwrap_or_default();
            let end = authority.iter().position(|byte| *byte == b'/').unwrap_or(authority.len());
            let (authority, after) = authority.split_at(end);
            path = after;
            url.set_authority(authority)?;
        } else if !url.scheme.is_empty() && rest.starts_with(b"/") {
            url.omits_host = true;
        }
        url.set_path(path).map_err(|error| error.to_string())?;
        Ok(url)
    }

    fn set_authority(&mut self, authority: &[u8]) -> Result<(), String> {
        let at = authority.iter().rposition(|byte| *byte == b'@');
        let host = authority.get(at.map_or(0, |at| at + 1)..).unwrap_or_default();
        self.host = parse_host(&self.scheme, host)?;
        let Some(user) = at.and_then(|at| authority.get(..at)) else { return Ok(()) };
        if !user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte)) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        let (name, password) = cut(user, b':');
        let meaning = |text| unescape(text, Part::Userinfo).map_err(|error| error.to_string());
        let name = meaning(name)?;
        let password = password.map(meaning).transpose()?;
        self.user = Some(User { name, password });
        Ok(())
    }

    fn set_path(&mut self, path: &[u8]) -> Result<(), EscapeError> {
        self.path = unescape(path, Part::Path)?;
        self.raw_path = if escape(&self.path, Part::Path) == path { Vec::new() } else { path.to_vec() };
        Ok(())
    }

    /// Whether it has a scheme.
    pub fn is_absolute(&self) -> bool {
        !self.scheme.is_empty()
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> &[u8] {
        let colon = self.host.iter().rposition(|byte| *byte == b':');
        let end = colon.filter(|colon| self.host.get(*colon..).is_some_and(is_port)).unwrap_or(self.host.len());
        let host = self.host.get(..end).unwrap_or_default();
        host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host)
    }
}

/// The scheme, empty when there is none, and what follows it.
fn scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let end = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
    match (text.get(end), text.first()) {
        (Some(b':'), Some(b':')) => Err("missing protocol scheme".to_owned()),
        (Some(b':'), Some(first)) if first.is_ascii_alphabetic() => {
            let (scheme, rest) = text.split_at(end);
            Ok((scheme, rest.get(1..).unwrap_or_default()))
        }
        _ => Ok((b"", text)),
    }
}

/// Whether this is empty, or `:` and digits.
fn is_port(text: &[u8]) -> bool {
    text.strip_prefix(b":").map_or(text.is_empty(), |digits| digits.iter().all(u8::is_ascii_digit))
}

fn parse_host(scheme: &[u8], host: &[u8]) -> Result<Vec<u8>, String> {
    let bad_port = |port: &[u8]| format!("invalid port {} after host", quoted(port));
    let unescape = |text, part| unescape(text, part).map_err(|error| error.to_string());
    match host.iter().rposition(|byte| *byte == b'[') {
        None => {}
        Some(0) => {
            let end = host.iter().rposition(|byte| *byte == b']').ok_or("missing ']' in host")?;
            let (inner, port) = (host.get(1..end).unwrap_or_default(), host.get(end + 1..).unwrap_or_default());
            if !is_port(port) {
                return Err(bad_port(port));
            }
            let zone = inner.windows(3).position(|part| part == b"%25").unwrap_or(inner.len());
            let (address, zone) = inner.split_at(zone);
            let inner = [unescape(address, Part::Host)?, unescape(zone, Part::Zone)?].concat();
            return match address::parse(&inner) {
                Ok(address::Address::V6) => Ok([b"[", inner.as_slice(), b"]", port].concat()),
                Ok(address::Address::V4) => Err("invalid IP-literal".to_owned()),
                Err(error) => Err(format!("invalid host: {error}")),
            };
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
    }
    // Of several colons the first counts where the scheme is strict, else the last.
    let colon = match scheme {
        b"http" | b"https" => host.iter().position(|byte| *byte == b':'),
        _ => host.iter().rposition(|byte| *byte == b':'),
    };
    let port = colon.and_then(|colon| host.get(colon..)).unwrap_or_default();
    if !is_port(port) {
        return Err(bad_port(port));
    }
    unescape(host, Part::Host)
}
