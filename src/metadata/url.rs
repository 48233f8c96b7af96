//! Which texts Argo CD and GitOps Promoter take for URLs.

use go_std::url::Url;

/// Whether Go's `url.Parse` takes the text. It is lax: plain words and relative paths pass, `git@host:path` doesn't.
pub(super) fn is_url(text: &str) -> bool {
    Url::parse(text.as_bytes()).is_ok()
}

/// Whether this is a URL that GitOps Promoter takes for a repository: `http` or `https` in lower case, with a host.
pub(super) fn is_web_url(text: &str) -> bool {
    let is_web = text.starts_with("http:") || text.starts_with("https:");
    is_web && Url::parse(text.as_bytes()).is_ok_and(|url| !url.hostname().is_empty())
}

/// The last component of a repository's URL without `.git`: the directory that `git clone` makes.
pub(super) fn repository_name(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    let url = url.strip_suffix("/.git").unwrap_or(url);
    let url = url.strip_suffix(".git").unwrap_or(url);
    url.rsplit(['/', ':']).next().unwrap_or_default()
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
