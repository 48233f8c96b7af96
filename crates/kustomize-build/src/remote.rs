//! How Kustomize names a directory of another repository.
//!
//! Reference: kustomize 5.8.1 api/internal/git/repospec.go `NewRepoSpecFromURL`.

use go_std::url::{Part, Url, unescape};

/// Whether Kustomize fetches this over HTTP when a file is wanted (kustomize `HasRemoteFileScheme`).
pub fn is_url(text: &str) -> bool {
    Url::parse(text.as_bytes()).is_ok_and(|url| url.scheme == b"http" || url.scheme == b"https")
}

/// A directory of a repository that Kustomize would clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// `https://`, `ssh://`, …; empty in the manner of `scp`.
    scheme: String,
    /// `name@`, or empty.
    user: String,
    /// With what divides it from the path.
    host: String,
    /// The repository on its host.
    repository: String,
    /// The directory in it, as it is written; empty for its root.
    pub directory: String,
    /// The branch, tag or commit; empty for the newest commit.
    pub reference: String,
}

impl Remote {
    /// Reads what a kustomization names; none for what is a path. A local directory of such a name does not count.
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with('/') {
            return None;
        }
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let (_, path) = strip(path, &["git::"]);
        let (scheme, path) = strip(path, &["ssh://", "https://", "http://", "file://"]);
        let (user, rest) = user(path);
        let reference = reference(query);
        if scheme == "file://" {
            if path.is_empty() || leads_out(path) {
                return None;
            }
            return Some(Self {
                scheme: scheme.to_owned(),
                user: String::new(),
                host: String::new(),
                repository: path.to_owned(),
                directory: String::new(),
                reference,
            });
        }
        let is_github = ["github.com/", "github.com:"].iter().any(|host| starts_with(rest, host));
        let scp = scheme.is_empty() && (!user.is_empty() || is_github);
        if scheme.is_empty() && !scp {
            return None;
        }
        let end = host_end(rest, scp)?;
        let (repository, below) = split(&rest[end + 1..]);
        let repository = repository.filter(|repository| !repository.is_empty())?;
        if leads_out(below) {
            return None;
        }
        let mut remote = Self {
            scheme: scheme.to_owned(),
            user: user.to_owned(),
            host: rest[..=end].to_owned(),
            repository: repository.to_owned(),
            directory: below.trim_start_matches('/').to_owned(),
            reference,
        };
        if is_github && remote.user.is_empty() && scheme != "ssh://" {
            remote.scheme = "https://".to_owned();
            remote.host = "github.com/".to_owned();
        }
        Some(remote)
    }

    /// What git clones.
    pub fn clone_url(&self) -> String {
        let Self { scheme, user, host, repository, .. } = self;
        format!("{scheme}{user}{host}{repository}")
    }
}

/// `ref`, else `version`; the first of several counts. A query that cannot be read gives neither.
fn reference(query: &str) -> String {
    if query.contains(';') {
        return String::new();
    }
    let decode = |text: &str| unescape(text.as_bytes(), Part::Query).ok().and_then(|text| String::from_utf8(text).ok());
    let (mut reference, mut version) = (None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(key), Some(value)) = (decode(key), decode(value)) else { return String::new() };
        match key.as_str() {
            "ref" => _ = reference.get_or_insert(value),
            "version" => _ = version.get_or_insert(value),
            _ => {}
        }
    }
    reference.filter(|text| !text.is_empty()).or(version).unwrap_or_default()
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn strip<'p>(path: &'p str, prefixes: &[&'static str]) -> (&'static str, &'p str) {
    let found = prefixes.iter().find(|prefix| starts_with(path, prefix));
    found.map_or(("", path), |prefix| (prefix, &path[prefix.len()..]))
}

/// The user with its `@`, if there is one, and the rest.
fn user(path: &str) -> (&str, &str) {
    match path.split_once('@') {
        Some((name, rest))
            if name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') =>
        {
            (&path[..=name.len()], rest)
        }
        _ => ("", path),
    }
}

/// Where the host ends: at `/`, or in the manner of `scp` at a `:` before it.
fn host_end(rest: &str, scp: bool) -> Option<usize> {
    let slash = rest.find('/');
    let colon = rest.find(':').filter(|_| scp);
    match (slash, colon) {
        (Some(slash), Some(colon)) if colon > 0 && colon < slash => Some(colon),
        (None, colon) => colon,
        (slash, _) => slash,
    }
}

/// The repository of a path on its host, and the directory in it.
fn split(path: &str) -> (Option<&str>, &str) {
    if let Some(at) = path.find("_git/") {
        let end = path[at + 5..].find('/').map_or(path.len(), |slash| at + 5 + slash);
        return (Some(&path[..end]), path.get(end + 1..).unwrap_or_default());
    }
    if let Some(at) = path.find("//") {
        return (Some(&path[..at]), &path[at + 2..]);
    }
    if let Some(at) = path.find(".git") {
        return (Some(&path[..at + 4]), &path[at + 4..]);
    }
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    if slashes.next().is_none() {
        return (None, "");
    }
    let end = slashes.next().unwrap_or(path.len());
    (Some(&path[..end]), path.get(end + 1..).unwrap_or_default())
}

fn leads_out(below: &str) -> bool {
    let mut depth = 0_i64;
    for part in below.split('/') {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        if depth < 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories() {
        let rows = [
            ("https://github.com/org/repo", "https://github.com/org/repo", "", ""),
            ("https://github.com/org/repo//path?ref=v1", "https://github.com/org/repo", "path", "v1"),
            ("github.com/org/repo", "https://github.com/org/repo", "", ""),
            ("GitHub.com/org/repo/a/b?version=x", "https://github.com/org/repo", "a/b", "x"),
            ("git@github.com:org/repo.git", "git@github.com:org/repo.git", "", ""),
            ("ssh://git@host/org/repo.git/path", "ssh://git@host/org/repo.git", "path", ""),
            ("git::https://host/org/repo", "https://host/org/repo", "", ""),
            ("file:///some/path", "file:///some/path", "", ""),
            ("https://dev.azure.com/o/p/_git/repo/path", "https://dev.azure.com/o/p/_git/repo", "path", ""),
            ("user@host:org/repo", "user@host:org/repo", "", ""),
            ("https://h/org/foo.gitops/x", "https://h/org/foo.git", "ops/x", ""),
            ("https://h/o/r//x?ref=v1#frag", "https://h/o/r", "x", "v1#frag"),
            ("https://h/o/r?ref=a&ref=b", "https://h/o/r", "", "a"),
            ("https://h/o/r?ref=a%2Fb", "https://h/o/r", "", "a/b"),
            ("https://h/o/r?ref=a;b", "https://h/o/r", "", ""),
        ];
        for (text, url, directory, reference) in rows {
            let remote = Remote::parse(text).unwrap_or_else(|| panic!("{text}"));
            let found = (remote.clone_url(), remote.directory, remote.reference);
            assert_eq!(found, (url.to_owned(), directory.to_owned(), reference.to_owned()), "{text}");
        }
    }

    #[test]
    fn paths() {
        for path in [
            "../base",
            "base",
            "./github.com/org/repo",
            "/abs/path",
            "github.com/org",
            "https://host",
            "host.xz/org/repo",
            "https://github.com/org/repo//../x",
            "git://host/org/repo",
            "ext::sh -c x",
        ] {
            assert_eq!(Remote::parse(path), None, "{path}");
        }
    }
}
