//! URLs as Go's `net/url` takes them apart and puts them together.

use std::net::Ipv6Addr;

use super::super::error::Failure;
use super::super::function::Functions;
use super::super::map::Map;
use super::super::text::{Text, to_str};
use super::super::value::Value;

pub(super) fn add(table: &mut Functions) {
    table.add("urlParse", url_parse).add("urlJoin", url_join);
}

/// The part of a URL that text stands in, which decides what must be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Userinfo,
    Host,
    /// The zone of an IPv6 address.
    Zone,
    Path,
    /// A key or value of a query; a blank becomes `+`.
    Query,
    Fragment,
}

fn must_escape(byte: u8, part: Part) -> bool {
    let plain: &[u8] = match part {
        _ if byte.is_ascii_alphanumeric() => return false,
        Part::Userinfo => b"-_.~$&+,;=",
        Part::Host | Part::Zone => b"-_.~!$&'()*+,;=:[]<>\"",
        Part::Path => b"-_.~$&+,/:;=@",
        Part::Query => b"-_.~",
        Part::Fragment => b"-_.~$&+,/:;=?@!()*",
    };
    !plain.contains(&byte)
}

/// Escapes text for a part of a URL.
pub(super) fn escape(text: &[u8], part: Part) -> Text {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if !must_escape(*byte, part) {
            out.push(*byte);
        } else if *byte == b' ' && part == Part::Query {
            out.push(b'+');
        } else {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    out.into()
}

fn quoted(text: &[u8]) -> String {
    to_str(&super::super::quote::quote(text)).into_owned()
}

fn hex(byte: Option<&u8>) -> Option<u8> {
    byte.and_then(|byte| char::from(*byte).to_digit(16)).map(|digit| digit as u8)
}

fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            if matches!(part, Part::Host | Part::Zone) && first.is_ascii() && must_escape(*first, part) {
                return Err(format!("invalid character {} in host name", quoted(&[*first])));
            }
            out.push(*first);
            rest = after;
            continue;
        }
        let shown = rest.get(..3.min(rest.len())).unwrap_or_default();
        let invalid = || format!("invalid URL escape {}", quoted(shown));
        let byte = hex(after.first()).zip(hex(after.get(1))).map(|(high, low)| high << 4 | low).ok_or_else(invalid)?;
        let is_percent = shown == b"%25";
        let is_refused = match part {
            // A host may only escape what is not ASCII.
            Part::Host => byte.is_ascii() && !is_percent,
            Part::Zone => !is_percent && byte != b' ' && must_escape(byte, Part::Host),
            Part::Userinfo | Part::Path | Part::Query | Part::Fragment => false,
        };
        if is_refused {
            return Err(invalid());
        }
        out.push(byte);
        rest = after.get(2..).unwrap_or_default();
    }
    Ok(out)
}

#[derive(Debug, Default)]
struct Url {
    scheme: Vec<u8>,
    opaque: Vec<u8>,
    /// Name and, when there is one, password.
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    path: Vec<u8>,
    query: Vec<u8>,
    fragment: Vec<u8>,
}

fn cut(text: &[u8], mark: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == mark) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    }
}

fn parse(text: &[u8]) -> Result<Url, String> {
    let (before, fragment) = cut(text, b'#');
    let mut url = parse_url(before).map_err(|error| format!("parse {}: {error}", quoted(before)))?;
    url.fragment = unescape(fragment.unwrap_or_default(), Part::Fragment)
        .map_err(|error| format!("parse {}: {error}", quoted(text)))?;
    Ok(url)
}

fn parse_url(text: &[u8]) -> Result<Url, String> {
    if text.iter().any(|byte| *byte < b' ' || *byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let (scheme, rest) = scheme(text)?;
    let (rest, query) = cut(rest, b'?');
    let mut url =
        Url { scheme: scheme.to_ascii_lowercase(), query: query.unwrap_or_default().to_vec(), ..Url::default() };
    if !rest.starts_with(b"/") {
        if !url.scheme.is_empty() {
            url.opaque = rest.to_vec();
            return Ok(url);
        }
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
        parse_authority(&mut url, authority)?;
    }
    url.path = unescape(path, Part::Path)?;
    Ok(url)
}

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

fn parse_authority(url: &mut Url, authority: &[u8]) -> Result<(), String> {
    let at = authority.iter().rposition(|byte| *byte == b'@');
    let host = authority.get(at.map_or(0, |at| at + 1)..).unwrap_or_default();
    url.host = parse_host(&url.scheme, host)?;
    let Some(user) = at.and_then(|at| authority.get(..at)) else { return Ok(()) };
    if !user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = cut(user, b':');
    let name = unescape(name, Part::Userinfo)?;
    let password = password.map(|password| unescape(password, Part::Userinfo)).transpose()?;
    url.user = Some((name, password));
    Ok(())
}

fn is_port(text: &[u8]) -> bool {
    text.strip_prefix(b":").map_or(text.is_empty(), |digits| digits.iter().all(u8::is_ascii_digit))
}

fn parse_host(scheme: &[u8], host: &[u8]) -> Result<Vec<u8>, String> {
    let bad_port = |port: &[u8]| format!("invalid port {} after host", quoted(port));
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
            let address = unescape(address, Part::Host)?;
            if to_str(&address).parse::<Ipv6Addr>().is_err() {
                let is_v4 = to_str(&address).parse::<std::net::Ipv4Addr>().is_ok();
                let parse_error = || format!("invalid host: ParseAddr({}): unable to parse IP", quoted(&address));
                return Err(if is_v4 { "invalid IP-literal".to_owned() } else { parse_error() });
            }
            return Ok([b"[".as_slice(), &address, &unescape(zone, Part::Zone)?, b"]", port].concat());
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

impl Url {
    fn hostname(&self) -> &[u8] {
        let colon = self.host.iter().rposition(|byte| *byte == b':');
        let end = colon.filter(|colon| self.host.get(*colon..).is_some_and(is_port)).unwrap_or(self.host.len());
        let host = self.host.get(..end).unwrap_or_default();
        host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host)
    }

    fn userinfo(&self) -> Vec<u8> {
        let Some((name, password)) = &self.user else { return Vec::new() };
        let mut out = escape(name, Part::Userinfo).to_vec();
        if let Some(password) = password {
            out.push(b':');
            out.extend_from_slice(&escape(password, Part::Userinfo));
        }
        out
    }

    /// As text; a path that could be taken for something else gets `/` or `./` before it.
    fn join(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend_from_slice(&self.scheme);
            out.push(b':');
        }
        if !self.opaque.is_empty() {
            out.extend_from_slice(&self.opaque);
        } else {
            let has_authority = !self.host.is_empty() || self.user.is_some();
            if has_authority || !self.scheme.is_empty() && !self.path.is_empty() {
                out.extend_from_slice(b"//");
            }
            if self.user.is_some() {
                out.extend_from_slice(&self.userinfo());
                out.push(b'@');
            }
            out.extend_from_slice(&escape(&self.host, Part::Host));
            let path = if self.path == b"*" { Text::from("*") } else { escape(&self.path, Part::Path) };
            if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
                out.push(b'/');
            }
            if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
                out.extend_from_slice(b"./");
            }
            out.extend_from_slice(&path);
        }
        if !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            out.extend_from_slice(&escape(&self.fragment, Part::Fragment));
        }
        out
    }
}

fn url_parse(text: Text) -> Result<Map, Failure> {
    let url = parse(&text).map_err(|error| Failure::message(format!("unable to parse url: {error}")))?;
    let map = Map::new();
    map.set("hostname", Text::from(url.hostname()));
    map.set("userinfo", Text::from(url.userinfo()));
    map.set("scheme", Text::from(url.scheme));
    map.set("host", Text::from(url.host));
    map.set("path", Text::from(url.path));
    map.set("query", Text::from(url.query));
    map.set("opaque", Text::from(url.opaque));
    map.set("fragment", Text::from(url.fragment));
    Ok(map)
}

fn url_join(parts: Map) -> Result<Text, Failure> {
    let part = |key: &str| match parts.get(key.as_bytes()) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(text.to_vec()),
        Some(Value::Nil) => Err(Failure::message(super::common::NIL_DEREFERENCE)),
        Some(other) => {
            let kind = other.kind().name();
            let message = format!("unable to parse {key} key, must be of type string, but {kind} found");
            Err(Failure::message(message))
        }
    };
    let mut url = Url {
        scheme: part("scheme")?,
        host: part("host")?,
        path: part("path")?,
        query: part("query")?,
        opaque: part("opaque")?,
        fragment: part("fragment")?,
        user: None,
    };
    let userinfo = part("userinfo")?;
    if !userinfo.is_empty() {
        let whole = [b"proto://", userinfo.as_slice(), b"@host"].concat();
        let message = |error| Failure::message(format!("unable to parse userinfo in dict: {error}"));
        url.user = parse(&whole).map_err(message)?.user;
    }
    Ok(url.join().into())
}
