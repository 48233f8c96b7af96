//! URLs of schemas.

use go_std::url::{Part, Url, unescape};

use super::CompileError;

/// What a reference without fragment means at `base`.
///
/// Reference: santhosh-tekuri/jsonschema 6.0.2 util.go `url.join`.
pub(super) fn join(base: &str, reference: &str) -> Result<String, CompileError> {
    let (base, reference) = (parse(base)?, parse(reference)?);
    let mut url = base.resolve(&reference);
    if !reference.is_absolute() && !base.opaque.is_empty() {
        // RFC 3986 has no way to tell; Go drops it.
        url.opaque = base.opaque;
    }
    Ok(String::from_utf8_lossy(&url.text()).into_owned())
}

fn parse(text: &str) -> Result<Url, CompileError> {
    Url::parse(text.as_bytes()).map_err(|reason| CompileError::BadUrl { url: text.to_owned(), reason })
}

/// What follows the `#` of a reference, without its escapes.
pub(super) fn fragment(reference: &str) -> Result<String, CompileError> {
    let (_, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let bad = |reason: String| CompileError::BadUrl { url: reference.to_owned(), reason };
    let bytes = unescape(fragment.as_bytes(), Part::Segment).map_err(|error| bad(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
            assert_eq!(join(base, reference).as_deref(), Ok(expected), "{reference}");
        }
        let other = join("file:///values.schema.json", "foo.json");
        assert_eq!(other.as_deref(), Ok("file:///foo.json"));
        assert_eq!(join("urn:x", "y").as_deref(), Ok("urn:x"));
    }

    #[test]
    fn escapes() {
        assert_eq!(fragment("a#/a%20b").as_deref(), Ok("/a b"));
        let wrong = fragment("#%zz").map_err(|error| error.to_string());
        assert_eq!(wrong, Err("error in parsing \"#%zz\": invalid URL escape \"%zz\"".to_owned()));
    }
}
