//! What Kustomize would take from another repository.

use crate::go::url::Url;

/// Whether Kustomize fetches this over HTTP when a file is wanted (kustomize `HasRemoteFileScheme`).
pub(crate) fn is_url(path: &str) -> bool {
    Url::parse(path.as_bytes()).is_ok_and(|url| url.scheme == b"http" || url.scheme == b"https")
}

/// Whether the path of a URL ends as a file of YAML or JSON does.
pub(crate) fn names_yaml(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    [".yaml", ".yml", ".json"].iter().any(|extension| path.ends_with(extension))
}

/// Whether Kustomize clones this when a directory is wanted (kustomize `NewRepoSpecFromURL`).
///
/// URLs with a scheme, `user@host:…`, and all that starts with `github.com`; a local directory of such a name does
/// not count.
pub(crate) fn is_repository(path: &str) -> bool {
    if path.starts_with('/') {
        return false;
    }
    let path = path.split('?').next().unwrap_or_default();
    let (_, path) = strip(path, &["git::"]);
    let (scheme, path) = strip(path, &["ssh://", "https://", "http://", "file://"]);
    let (user, rest) = user(path);
    if scheme == "file://" {
        return !path.is_empty() && !leads_out(path);
    }
    let github = ["github.com/", "github.com:"].iter().any(|host| starts_with(rest, host));
    let scp = scheme.is_empty() && (user || github);
    if scheme.is_empty() && !scp {
        return false;
    }
    let Some(end) = host_end(rest, scp) else { return false };
    let path = &rest[end + 1..];
    let (repository, below) = split(path);
    repository.is_some_and(|repository| !repository.is_empty()) && !leads_out(below)
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn strip<'p>(path: &'p str, prefixes: &[&'static str]) -> (&'static str, &'p str) {
    let found = prefixes.iter().find(|prefix| starts_with(path, prefix));
    found.map_or(("", path), |prefix| (prefix, &path[prefix.len()..]))
}

/// Whether a user stands first, and the rest.
fn user(path: &str) -> (bool, &str) {
    match path.split_once('@') {
        Some((name, rest))
            if name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') =>
        {
            (true, rest)
        }
        _ => (false, path),
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
    use super::is_repository;

    #[test]
    fn repositories() {
        for path in [
            "https://github.com/org/repo",
            "https://github.com/org/repo//path?ref=v1",
            "github.com/org/repo",
            "github.com/org/repo/path",
            "git@github.com:org/repo.git",
            "ssh://git@host/org/repo.git/path",
            "git::https://host/org/repo",
            "file:///some/path",
            "https://dev.azure.com/org/project/_git/repo/path",
            "user@host:org/repo",
        ] {
            assert!(is_repository(path), "{path}");
        }
        for path in [
            "../base",
            "base",
            "./github.com/org/repo",
            "/abs/path",
            "github.com/org",
            "https://host",
            "host.xz/org/repo",
            "https://github.com/org/repo//../x",
        ] {
            assert!(!is_repository(path), "{path}");
        }
    }
}
