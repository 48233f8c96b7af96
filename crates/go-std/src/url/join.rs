//! Puts URLs together.

use super::escape::is_escaped;
use super::{Part, Url, User, cut, escape, unescape};

impl User {
    /// `name:password`, escaped.
    pub fn text(&self) -> Vec<u8> {
        let mut out = escape(&self.name, Part::Userinfo);
        if let Some(password) = &self.password {
            out.push(b':');
            out.extend(escape(password, Part::Userinfo));
        }
        out
    }
}

impl Url {
    /// The path as it was escaped, where that still means it, else as [`escape()`] makes it.
    ///
    /// Reference: `EscapedPath`.
    pub fn escaped_path(&self) -> Vec<u8> {
        match raw(&self.raw_path, &self.path, Part::Path) {
            Some(raw) => raw.to_vec(),
            None if self.path == b"*" => self.path.clone(),
            None => escape(&self.path, Part::Path),
        }
    }

    /// As text; a path that could be taken for something else gets `/` or `./` before it.
    ///
    /// Reference: `String`.
    pub fn text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend_from_slice(&self.scheme);
            out.push(b':');
        }
        if !self.opaque.is_empty() {
            out.extend_from_slice(&self.opaque);
        } else {
            let has_authority = !self.host.is_empty() || self.user.is_some();
            if has_authority || !self.scheme.is_empty() && !self.path.is_empty() && !self.omits_host {
                out.extend_from_slice(b"//");
            }
            if let Some(user) = &self.user {
                out.extend(user.text());
                out.push(b'@');
            }
            out.extend(escape(&self.host, Part::Host));
            let path = self.escaped_path();
            if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
                out.push(b'/');
            }
            if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
                out.extend_from_slice(b"./");
            }
            out.extend(path);
        }
        if self.has_empty_query || !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            match raw(&self.raw_fragment, &self.fragment, Part::Fragment) {
                Some(raw) => out.extend_from_slice(raw),
                None => out.extend(escape(&self.fragment, Part::Fragment)),
            }
        }
        out
    }

    /// What a reference means at this URL.
    ///
    /// Reference: RFC 3986 section 5.2, as `ResolveReference` has it.
    pub fn resolve(&self, reference: &Url) -> Url {
        let mut url = reference.clone();
        if reference.scheme.is_empty() {
            url.scheme.clone_from(&self.scheme);
        }
        if !reference.scheme.is_empty() || !reference.host.is_empty() || reference.user.is_some() {
            url.set_escaped_path(&resolve_path(&reference.escaped_path(), b""));
            return url;
        }
        let without_authority = |url: Url| Url { user: None, host: Vec::new(), path: Vec::new(), ..url };
        if !reference.opaque.is_empty() {
            return without_authority(url);
        }
        if reference.path.is_empty() && !reference.has_empty_query && reference.query.is_empty() {
            url.query.clone_from(&self.query);
            if reference.fragment.is_empty() {
                url.fragment.clone_from(&self.fragment);
                url.raw_fragment.clone_from(&self.raw_fragment);
            }
        }
        if reference.path.is_empty() && !self.opaque.is_empty() {
            url.opaque.clone_from(&self.opaque);
            return without_authority(url);
        }
        url.host.clone_from(&self.host);
        url.user.clone_from(&self.user);
        url.set_escaped_path(&resolve_path(&self.escaped_path(), &reference.escaped_path()));
        url
    }

    /// Takes a path of which the escapes are whole; of another one Go takes nothing, too.
    fn set_escaped_path(&mut self, path: &[u8]) {
        let _ = self.set_path(path);
    }
}

/// The text as it came, where it still means `meaning`.
fn raw<'a>(raw: &'a [u8], meaning: &[u8], part: Part) -> Option<&'a [u8]> {
    let is_kept = !raw.is_empty() && is_escaped(raw, part) && unescape(raw, part).is_ok_and(|text| text == meaning);
    is_kept.then_some(raw)
}

/// The path that `reference` means where `base` is, without `.` and `..`.
fn resolve_path(base: &[u8], reference: &[u8]) -> Vec<u8> {
    let full = match reference.first() {
        None => base.to_vec(),
        Some(b'/') => reference.to_vec(),
        Some(_) => {
            let dir = base.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
            [base.get(..dir).unwrap_or_default(), reference].concat()
        }
    };
    if full.is_empty() {
        return full;
    }
    // A `/` that may prove to be one too many.
    let mut out = vec![b'/'];
    let mut is_first = true;
    let mut last: &[u8] = b"";
    for element in full.split(|byte| *byte == b'/') {
        last = element;
        match element {
            b"." => is_first = false,
            b".." => {
                let end = out.iter().skip(1).rposition(|byte| *byte == b'/');
                is_first = end.is_none();
                out.truncate(end.map_or(1, |end| end + 1));
            }
            element => {
                if !is_first {
                    out.push(b'/');
                }
                out.extend_from_slice(element);
                is_first = false;
            }
        }
    }
    if matches!(last, b"." | b"..") {
        out.push(b'/');
    }
    if out.starts_with(b"//") {
        out.remove(0);
    }
    out
}
