//! Repository URLs: when two of them are the same.

use std::fmt;

use dry_files::diag::is_unprintable;

/// A repository URL in the form that is compared.
///
/// White space around it, one `/` and one `.git` at its end are taken away; scheme and host are in lower case; the scp
/// form `user@host:path` is written as `ssh://user@host/path`. Different ways to one repository (https and ssh) stay
/// different.
///
/// Reference: Argo CD 3 util/git/git.go `NormalizeGitURL`. That puts the path in lower case too, so that two
/// repositories can be taken for one; ours does not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RepoUrl {
    /// With `://`; empty for a path of the file system.
    scheme: String,
    /// `user@`, or nothing.
    user: String,
    /// With the port.
    host: String,
    path: String,
}

impl RepoUrl {
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (format!("{}://", scheme.to_ascii_lowercase()), rest.to_owned()),
            None => match scp(text) {
                Some((host, path)) => ("ssh://".to_owned(), format!("{host}/{path}")),
                None => (String::new(), format!("/{text}")),
            },
        };
        let (authority, path) = rest.split_once('/').unwrap_or((&rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (format!("{user}@"), host),
            None => (String::new(), authority),
        };
        let path = path.strip_suffix('/').unwrap_or(path);
        let path = path.strip_suffix(".git").unwrap_or(path);
        Self { scheme, user, host: host.to_ascii_lowercase(), path: path.to_owned() }
    }

    /// Whether the two are one repository: the same path of the same host, by whichever of https and ssh, as whichever
    /// user.
    pub(super) fn is_same(&self, other: &RepoUrl) -> bool {
        // The ports of two protocols differ.
        let host = |url: &RepoUrl| {
            let name = url.host.split(':').next().unwrap_or_default();
            if self.scheme == other.scheme { url.host.clone() } else { name.to_owned() }
        };
        let is_remote = |url: &RepoUrl| matches!(url.scheme.as_str(), "http://" | "https://" | "ssh://" | "git://");
        self == other || is_remote(self) && is_remote(other) && host(self) == host(other) && self.path == other.path
    }

    /// Whether the two lead to the same path of the same host, whatever the way and the case of letters.
    pub(super) fn same_place(&self, other: &RepoUrl) -> bool {
        let host = |url: &RepoUrl| url.host.split(':').next().unwrap_or_default().to_owned();
        !self.host.is_empty() && host(self) == host(other) && self.path.eq_ignore_ascii_case(&other.path)
    }
}

impl fmt::Display for RepoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, user, host, path } = self;
        let slash = if host.is_empty() { "" } else { "/" };
        write!(f, "{scheme}{user}{host}{slash}{path}")
    }
}

/// Whether two URLs are of one repository: the same path of the same host, by whichever of https and ssh, as whichever user.
pub(crate) fn is_same_repository(one: &str, other: &str) -> bool {
    RepoUrl::new(one).is_same(&RepoUrl::new(other))
}

/// A URL as anyone may see it: one of http or https without user and password, since a user alone may be a token; one of
/// another scheme without the password.
pub(crate) fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let Some((user, host)) = authority.rsplit_once('@') else { return url.to_owned() };
    let is_http = ["http", "https"].iter().any(|http| scheme.eq_ignore_ascii_case(http));
    match user.split_once(':').map_or(user, |(name, _)| name) {
        name if is_http || name.is_empty() => format!("{scheme}://{host}{path}"),
        name => format!("{scheme}://{name}@{host}{path}"),
    }
}

/// Whether a URL has a password in it.
pub(crate) fn has_password(url: &str) -> bool {
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
}

/// Whether a text may be the URL of a repository, or a path to one: no word alone, and nothing that an Application may not have
/// for its `repoURL`.
pub(crate) fn may_be_url(text: &str) -> bool {
    let is_odd = |c: char| is_unprintable(c) || c.is_whitespace();
    !text.starts_with('-') && !text.contains(is_odd) && text.contains(['/', ':'])
}

/// Host and path of `user@host:path`.
fn scp(text: &str) -> Option<(&str, &str)> {
    let (host, path) = text.split_once(':')?;
    let is_host = host.contains('@') && !host.contains('/');
    is_host.then(|| (host, path.strip_prefix('/').unwrap_or(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_one_repository() {
        let rows = [
            ("https://git.example.com/team/dry.git", "git@git.example.com:team/dry", true),
            ("https://git.example.com/team/dry", "ssh://git@git.example.com:2222/team/dry.git", true),
            ("https://me@git.example.com/team/dry", "https://git.example.com/team/dry", true),
            ("https://git.example.com:8443/team/dry", "https://git.example.com/team/dry", false),
            ("https://git.example.com/team/dry", "git@git.example.com:Team/dry", false),
            ("file:///team/dry", "/team/dry", false),
        ];
        for (one, other, expected) in rows {
            assert_eq!(RepoUrl::new(one).is_same(&RepoUrl::new(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn urls_of_one_repository() {
        let rows = [
            ("https://git.example.com/team/dry.git", "https://git.example.com/team/dry", true),
            (" HTTPS://Git.Example.com/team/dry/ ", "https://git.example.com/team/dry", true),
            ("git@git.example.com:team/dry.git", "ssh://git@git.example.com/team/dry", true),
            ("git@git.example.com:/team/dry", "ssh://git@git.example.com/team/dry", true),
            ("https://git.example.com/Team/dry", "https://git.example.com/team/dry", false),
            ("git@git.example.com:team/dry", "https://git.example.com/team/dry", false),
            ("http://git.example.com/team/dry", "https://git.example.com/team/dry", false),
            ("https://me@git.example.com/team/dry", "https://git.example.com/team/dry", false),
            ("https://git.example.com:8443/team/dry", "https://git.example.com/team/dry", false),
            ("https://git.example.com/team/dry.git.git", "https://git.example.com/team/dry", false),
            ("/srv/git/dry.git", "/srv/git/dry", true),
            ("/srv/git/dry.git", "srv/git/dry", false),
            ("file:///srv/git/dry.git", "/srv/git/dry", false),
            ("C:/git/dry", "/git/dry", false),
            ("", "https://", false),
        ];
        for (one, other, expected) in rows {
            assert_eq!(RepoUrl::new(one) == RepoUrl::new(other), expected, "{one} {other}");
        }
    }

    #[test]
    fn passwords_are_found_and_taken_out() {
        let rows = [
            ("https://me:word@git.example.com/team/dry", true, "https://git.example.com/team/dry"),
            ("https://:word@git.example.com:8443/team/dry", true, "https://git.example.com:8443/team/dry"),
            ("https://me@git.example.com/team/dry", false, "https://git.example.com/team/dry"),
            ("https://token@git.example.com", false, "https://git.example.com"),
            ("HTTPS://me:word@git.example.com/a.git", true, "HTTPS://git.example.com/a.git"),
            ("https://git.example.com", false, "https://git.example.com"),
            ("ssh://:word@git.example.com/dry", true, "ssh://git.example.com/dry"),
            ("ssh://git:word@git.example.com/team/dry", true, "ssh://git@git.example.com/team/dry"),
            ("ssh://git@git.example.com:2222/dry", false, "ssh://git@git.example.com:2222/dry"),
            ("git@git.example.com:team/dry", false, "git@git.example.com:team/dry"),
            ("https://git.example.com/a:b@c", false, "https://git.example.com/a:b@c"),
            ("/srv/git/dry", false, "/srv/git/dry"),
        ];
        for (url, expected, without) in rows {
            assert_eq!((has_password(url), without_credentials(url).as_str()), (expected, without), "{url}");
        }
    }

    #[test]
    fn ways_to_one_place() {
        let https = RepoUrl::new("https://git.example.com/team/dry.git");
        for text in [
            "git@git.example.com:team/dry",
            "ssh://git@git.example.com:2222/Team/Dry",
            "http://git.example.com/team/dry",
        ] {
            assert!(https.same_place(&RepoUrl::new(text)), "{text}");
        }
        for text in ["https://git.example.com/team/wet", "https://example.com/team/dry", "/team/dry"] {
            assert!(!https.same_place(&RepoUrl::new(text)), "{text}");
        }
    }
}
