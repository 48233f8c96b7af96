//! Which texts Go takes for a URL.

/// Whether Go's `url.Parse` takes the text. It is lax: plain words and relative paths pass, `git@host:path` doesn't.
///
/// Reference: Go 1.26 net/url/url.go `parse`, `parseAuthority`, `unescape`.
pub(super) fn is_url(text: &str) -> bool {
    if text.contains(|c: char| c < ' ' || c == '\x7f') {
        return false;
    }
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let Some((scheme, rest)) = split_scheme(text) else { return false };
    let (rest, _query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = if !rest.starts_with('/') {
        // `mailto:x` is opaque; without a scheme, a colon in the first segment would be mistaken for one.
        if scheme.is_empty() && rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return false;
        }
        if scheme.is_empty() { rest } else { "" }
    } else if rest.starts_with("//") && !(scheme.is_empty() && rest.starts_with("///")) {
        let (authority, path) = split_authority(rest);
        if !is_authority(authority) {
            return false;
        }
        path
    } else {
        rest
    };
    escapes_are_whole(path) && escapes_are_whole(fragment)
}

/// Whether this is a URL that GitOps Promoter takes for a repository: `http` or `https`, with a host.
pub(super) fn is_web_url(text: &str) -> bool {
    let rest = text.strip_prefix("http:").or_else(|| text.strip_prefix("https:"));
    let host = rest.filter(|rest| rest.starts_with("//")).map(|rest| {
        let (authority, _) = split_authority(rest.split(['?', '#']).next().unwrap_or_default());
        authority.rsplit('@').next().unwrap_or_default()
    });
    host.is_some_and(|host| !host.is_empty() && !host.starts_with(':')) && is_url(text)
}

/// The last component of a repository's URL without `.git`: the directory that `git clone` makes.
pub(super) fn repository_name(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    let url = url.strip_suffix("/.git").unwrap_or(url);
    let url = url.strip_suffix(".git").unwrap_or(url);
    url.rsplit(['/', ':']).next().unwrap_or_default()
}

/// The scheme, empty when there is none, and the rest; none for `:` without a scheme.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    match text.find(|c| !is_scheme(c)) {
        Some(0) if text.starts_with(':') => None,
        Some(end) if text[end..].starts_with(':') && text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Some((&text[..end], &text[end + 1..]))
        }
        _ => Some(("", text)),
    }
}

/// `//authority/path` in its two parts.
fn split_authority(text: &str) -> (&str, &str) {
    let text = text.strip_prefix("//").unwrap_or(text);
    text.split_at(text.find('/').unwrap_or(text.len()))
}

fn is_authority(authority: &str) -> bool {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    user.chars().all(is_user) && escapes_are_whole(user) && is_host(host)
}

fn is_host(host: &str) -> bool {
    if let Some(bracketed) = host.strip_prefix('[') {
        let Some((address, port)) = bracketed.rsplit_once(']') else { return false };
        let (address, zone) = address.split_once("%25").unwrap_or((address, ""));
        return is_port(port) && escapes_are_whole(zone) && address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let (name, port) = host.split_at(host.rfind(':').unwrap_or(host.len()));
    let allowed = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c);
    // Only bytes outside of ASCII may be escaped in a host.
    let escapes = name.split('%').skip(1).all(|escape| escape.starts_with(|c: char| c.to_digit(16) >= Some(8)));
    is_port(port) && name.chars().all(allowed) && escapes && escapes_are_whole(name)
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether two hexadecimal digits follow each `%`.
fn escapes_are_whole(text: &str) -> bool {
    let is_hex = |escape: &str| escape.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    text.split('%').skip(1).all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_as_go_takes_them() {
        // (text, url.Parse takes it, GitOps Promoter takes it)
        let rows = [
            ("https://github.com/argoproj/argo-cd", true, true),
            ("http://localhost:8080/a.git?x=%zz", true, true),
            ("https://user:pass@example.com/a", true, true),
            ("https://[::1]:80/a", true, true),
            ("https://example.com/%20", true, true),
            ("ssh://git@example.com/a.git", true, false),
            ("HTTPS://example.com", true, false),
            ("https:///a", true, false),
            ("https://:80/a", true, false),
            ("https://user@/a", true, false),
            ("https:example.com", true, false),
            ("word", true, false),
            ("some words", true, false),
            ("/a/b", true, false),
            ("", true, false),
            ("a.b/c:d", true, false),
            ("git@example.com:a/b.git", false, false),
            (":a", false, false),
            ("% x", false, false),
            ("https://example.com/%zz", false, false),
            ("https://exa mple.com/", false, false),
            ("https://example.com:http/", false, false),
            ("https://[::1/", false, false),
            ("https://us er@example.com/", false, false),
            ("https://example.com/\u{7f}", false, false),
            ("https://example.com/#%", false, false),
            ("https://ex%41mple.com/", false, false),
        ];
        for (text, url, web_url) in rows {
            assert_eq!((is_url(text), is_web_url(text)), (url, web_url), "{text:?}");
        }
    }

    #[test]
    fn names_of_repositories() {
        let rows = [
            ("https://github.com/argoproj/argocd-example-apps", "argocd-example-apps"),
            ("https://github.com/argoproj/argocd-example-apps.git/", "argocd-example-apps"),
            ("git@example.com:apps.git", "apps"),
            ("/srv/git/apps/.git", "apps"),
            ("", ""),
        ];
        for (url, name) in rows {
            assert_eq!(repository_name(url), name, "{url:?}");
        }
    }
}
