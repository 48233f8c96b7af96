//! URLs of schemas, as far as references need them.

/// What a reference without fragment means at `base`.
///
/// Reference: RFC 3986 section 5.2.
pub fn join(base: &str, reference: &str) -> String {
    if reference.is_empty() || scheme(reference).is_some() {
        return if reference.is_empty() { base.to_owned() } else { reference.to_owned() };
    }
    let Some(scheme) = scheme(base) else { return reference.to_owned() };
    let rest = base.get(scheme.len() + 1..).unwrap_or_default();
    let Some(rest) = rest.strip_prefix("//") else { return base.to_owned() };
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}");
    }
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let path = path.split('?').next().unwrap_or_default();
    let (reference, query) = reference.find('?').map_or((reference, ""), |at| reference.split_at(at));
    let joined = if reference.is_empty() {
        path.to_owned()
    } else if reference.starts_with('/') {
        reference.to_owned()
    } else {
        format!("{}/{reference}", path.rsplit_once('/').map_or("", |(dir, _)| dir))
    };
    format!("{scheme}://{host}{}{query}", plain(&joined))
}

fn scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

/// A path without `.` and `..`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let ends_open = path.ends_with("/..") || path.ends_with("/.");
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let slash = if ends_open { "/" } else { "" };
    format!("/{}{slash}", parts.join("/"))
}

/// The characters behind the `%` escapes; none when they are broken.
pub fn unescape(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining() {
        let base = "https://a.example/b/c.json";
        let rows = [
            ("", base),
            ("d.json", "https://a.example/b/d.json"),
            ("../d.json", "https://a.example/d.json"),
            ("/d.json", "https://a.example/d.json"),
            ("//x.example/d", "https://x.example/d"),
            ("http://x.example/d", "http://x.example/d"),
            ("urn:x", "urn:x"),
        ];
        for (reference, expected) in rows {
            assert_eq!(join(base, reference), expected, "{reference}");
        }
        assert_eq!(join("file:///values.schema.json", "foo.json"), "file:///foo.json");
        assert_eq!(join("urn:x", "y"), "urn:x");
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape("/a%20b"), Some("/a b".to_owned()));
        assert_eq!(unescape("%2"), None);
        assert_eq!(unescape("%zz"), None);
    }
}
