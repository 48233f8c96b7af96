//! The one name of an input, however it was written.

use std::fmt;

use data_encoding::HEXLOWER;
use dry_files::path::RepoPath;
use go_std::semver::Version;
use sha2::{Digest, Sha256};

/// Where an input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A chart of an HTTP repository.
    Helm,
    /// A chart of an OCI registry.
    Oci,
    /// Directories of a git repository.
    Git,
    /// One file.
    File,
}

impl Kind {
    /// All of them, in their order.
    pub const ALL: [Kind; 4] = [Kind::Helm, Kind::Oci, Kind::Git, Kind::File];

    /// The word for it in the lock file.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Helm => "helm",
            Kind::Oci => "oci",
            Kind::Git => "git",
            Kind::File => "file",
        }
    }
}

/// What an input is asked for by. Ordered as the lock file is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Where it comes from.
    pub kind: Kind,
    /// The repository, registry or file: lower-case scheme and host, no default port, no user, no fragment.
    pub url: String,
    /// The name of the chart; empty for other kinds.
    pub name: String,
    /// The version or ref as it is written in the dry tree; empty for the newest, and for files.
    pub want: String,
}

/// Why something cannot be an input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Only these can be fetched.
    #[error("`{0}` is not an `https://` URL")]
    Scheme(String),
    /// Everybody who reads the repository could read it.
    #[error("the URL contains a user name or password: remove it and set up a git credential helper")]
    User,
    /// A part that no server sees.
    #[error("the URL has a fragment: remove `#` and what follows it")]
    Fragment,
    /// There is no host, or one that no host can be named.
    #[error("`{0}` has no valid host")]
    Host(String),
    /// White space, a control character or a quote.
    #[error("{0:?} contains a character that is not allowed in a URL or version")]
    Character(String),
    /// A tool would read it as an option, or git as something else.
    #[error("`{0}` is not a valid name of a branch, tag or commit")]
    Reference(String),
    /// It names a directory, or nothing.
    #[error("`{0}` is not a valid chart name")]
    Name(String),
}

impl Key {
    /// A chart of a repository, or of a registry when its URL begins with `oci://`.
    pub fn chart(repository: &str, name: &str, want: &str) -> Result<Self, KeyError> {
        let is_oci = starts_with(repository, "oci://");
        let (kind, schemes) = if is_oci { (Kind::Oci, &["oci"][..]) } else { (Kind::Helm, WEB) };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name.starts_with(['.', '-']) || !name.chars().all(is_name) {
            return Err(KeyError::Name(name.to_owned()));
        }
        let url = address(repository, schemes)?.trim_end_matches('/').to_owned();
        Ok(Self { kind, url, name: name.to_owned(), want: plain(want.trim())? })
    }

    /// A repository by the URL that git clones, at a branch, tag or commit; `HEAD` when `want` is empty.
    ///
    /// `user@host:path` stays as it is: its path begins in the directory of the user, that of `ssh://` at the root.
    pub fn repository(url: &str, want: &str) -> Result<Self, KeyError> {
        let url = match scp(url) {
            Some((user, host, path)) => {
                let address = address(&format!("ssh://{user}@{host}/{path}"), GIT)?;
                let path =
                    address.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
                if path.starts_with('-') {
                    return Err(KeyError::Host(url.to_owned()));
                }
                format!("{user}@{}:{path}", host.to_ascii_lowercase())
            }
            None => address(url, GIT)?,
        };
        if !want.is_empty() && !is_reference(want) {
            return Err(KeyError::Reference(want.to_owned()));
        }
        let url = url.trim_end_matches('/').to_owned();
        Ok(Self { kind: Kind::Git, url, name: String::new(), want: want.to_owned() })
    }

    /// The host, with its port when that is not the usual one, and whether it is asked over ssh.
    pub fn host(&self) -> (&str, bool) {
        if let Some((_, host, _)) = scp(&self.url) {
            return (host, true);
        }
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        (host.rsplit_once('@').map_or(host, |(_, host)| host), scheme == "ssh")
    }

    /// A remote file.
    pub fn file(url: &str) -> Result<Self, KeyError> {
        Ok(Self { kind: Kind::File, url: address(url, WEB)?, name: String::new(), want: String::new() })
    }

    /// Where its files are, below the directory of inputs, when no tool looks for them at a place of its own: a directory, for a
    /// file the file itself.
    ///
    /// No two keys have one place, and none is inside of another's: the last directory begins with a hash where the words
    /// before it say less than the key.
    pub fn place(&self) -> RepoPath {
        let (_, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut words: Vec<String> = path.split('/').filter(|word| !word.is_empty()).map(clean).collect();
        let hash = || HEXLOWER.encode(&Sha256::digest(self.to_string()))[..12].to_owned();
        if self.kind == Kind::File {
            let name = words.pop().filter(|_| !words.is_empty()).unwrap_or_else(|| "file".to_owned());
            words.truncate(1);
            words.extend([hash(), name]);
        } else {
            let name = if self.kind == Kind::Git { words.pop().unwrap_or_default() } else { clean(&self.name) };
            let is_exact = query.is_empty()
                && self.url.starts_with(self.usual_scheme())
                && is_clean(path)
                && clean(&self.want) == self.want;
            let want = if self.want.is_empty() { "newest".to_owned() } else { clean(&self.want) };
            let hash = if is_exact { String::new() } else { format!("@{}", hash()) };
            words.push(format!("{name}@{want}{hash}"));
        }
        RepoPath::clean(&format!("{}/{}", self.kind.word(), words.join("/"))).unwrap_or_default()
    }

    fn usual_scheme(&self) -> &'static str {
        if self.kind == Kind::Oci { "oci://" } else { "https://" }
    }

    /// Why what it names can be another thing tomorrow; none for a version or a commit, and for what only content can pin.
    pub fn moves(&self) -> Option<String> {
        let Self { kind, want, .. } = self;
        match kind {
            Kind::Helm | Kind::Oci if want.is_empty() => Some("no version is given, so it is the newest".to_owned()),
            Kind::Oci if is_digest(want) => None,
            Kind::Helm | Kind::Oci if !is_exact_version(want) => Some(format!("`{want}` is a range of versions")),
            Kind::Git if want.is_empty() => Some("no ref is given, so it is the newest commit".to_owned()),
            Kind::Helm | Kind::Oci | Kind::Git | Kind::File => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, url, name, want } = self;
        match kind {
            Kind::Helm | Kind::Oci if want.is_empty() => write!(f, "chart {name} of {url}"),
            Kind::Helm | Kind::Oci => write!(f, "chart {name} {want} of {url}"),
            Kind::Git if want.is_empty() => write!(f, "{url}"),
            Kind::Git => write!(f, "{url} at {want}"),
            Kind::File => write!(f, "{url}"),
        }
    }
}

/// What is asked of a server over HTTP.
const WEB: &[&str] = &["https", "http"];

/// What git is asked for.
const GIT: &[&str] = &["https", "http", "ssh"];

/// User, host and path of what git reads in the manner of `scp`; none for a URL.
fn scp(text: &str) -> Option<(&str, &str, &str)> {
    let (user, rest) = text.split_once('@').filter(|(user, _)| is_user(user))?;
    let (host, path) = rest.split_once(':').filter(|(host, _)| !host.contains(['/', '@']))?;
    Some((user, host, path))
}

fn is_user(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Whether a version names one release: all three numbers, as Semantic Versioning has them; a `v` may be before them.
pub fn is_exact_version(text: &str) -> bool {
    let numbers = text.strip_prefix('v').unwrap_or(text);
    let core = numbers.split(['-', '+']).next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    core.split('.').count() == 3 && core.split('.').all(is_number) && Version::new(text).is_ok()
}

/// Whether this is a digest, by which a registry has one thing for ever.
pub fn is_digest(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether git and the tools that start it take this for a branch, a tag or a commit and for nothing else.
pub(super) fn is_reference(text: &str) -> bool {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | '+');
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_inside)
        && !text.contains("..")
        && !text.ends_with('/')
        && !text.ends_with(".lock")
}

/// Text without what would break a line of the lock file or of a message.
fn plain(text: &str) -> Result<String, KeyError> {
    match text.chars().any(|c| c.is_control() || matches!(c, '"' | '\\')) {
        true => Err(KeyError::Character(text.to_owned())),
        false => Ok(text.to_owned()),
    }
}

/// The one form of a URL: path and query stay as they are written.
fn address(text: &str, schemes: &[&str]) -> Result<String, KeyError> {
    if text.chars().any(|c| c.is_whitespace() || !c.is_ascii_graphic() || matches!(c, '"' | '\\' | '<' | '>')) {
        return Err(KeyError::Character(text.to_owned()));
    }
    let (scheme, rest) = text.split_once("://").ok_or_else(|| KeyError::Scheme(text.to_owned()))?;
    let scheme = scheme.to_ascii_lowercase();
    if !schemes.contains(&scheme.as_str()) {
        return Err(KeyError::Scheme(text.to_owned()));
    }
    if rest.contains('#') {
        return Err(KeyError::Fragment);
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    // Over ssh the user is part of the address, and has no password there.
    let (user, host) = match host.split_once('@') {
        Some((user, host)) if scheme == "ssh" && is_user(user) => (format!("{user}@"), host),
        _ => (String::new(), host),
    };
    if host.contains('@') {
        return Err(KeyError::User);
    }
    let host = host.to_ascii_lowercase();
    let (name, port) = match host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
        Some((name, port)) => (name, Some(port)),
        None => (host.as_str(), None),
    };

    let is_port =
        port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number.to_string() == port && number > 0));
    if !is_host(name) || name.starts_with(['.', '-']) || !is_port {
        return Err(KeyError::Host(text.to_owned()));
    }
    let usual = match scheme.as_str() {
        "http" => "80",
        "ssh" => "22",
        _ => "443",
    };
    let port = port.filter(|port| *port != usual).map(|port| format!(":{port}")).unwrap_or_default();
    Ok(format!("{scheme}://{user}{name}{port}{path}"))
}

/// Whether the words of a path say all of it.
fn is_clean(path: &str) -> bool {
    let is_same = |word: &str| clean(word) == word.replace(':', "+");
    path.split('/').all(is_same) && path.matches(':').count() < 2 && !path.contains('+')
}

/// Whether it is the name of a host, or an IPv6 address in brackets.
fn is_host(name: &str) -> bool {
    match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')),
    }
}

/// A word that every file system takes. A port follows `+`, which no host has.
fn clean(word: &str) -> String {
    let word: String = word.chars().map(clean_character).collect();
    // Neither a hidden directory nor one of git's own.
    if word.starts_with('.') || word.is_empty() { format!("_{word}") } else { word }
}

fn clean_character(c: char) -> char {
    match c {
        ':' => '+',
        c if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+') => c,
        _ => '_',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_input_has_one_key() {
        let rows = [
            ("https://charts.example.com/stable", "https://charts.example.com/stable"),
            ("HTTPS://Charts.Example.com:443/stable/", "https://charts.example.com/stable"),
            ("http://h:8080/Q?tok=1", "http://h:8080/Q?tok=1"),
            ("http://h:80", "http://h"),
            ("https://[::1]:99/x", "https://[::1]:99/x"),
        ];
        for (text, expected) in rows {
            assert_eq!(Key::chart(text, "web", "1.2.3").map(|key| key.url), Ok(expected.to_owned()), "{text}");
        }
        let oci = Key::chart("oci://Registry.example.com/charts/", "web", " 1.2.3 ").expect("a key");
        assert_eq!(
            (oci.kind, oci.url.as_str(), oci.want.as_str()),
            (Kind::Oci, "oci://registry.example.com/charts", "1.2.3")
        );
    }

    #[test]
    fn what_cannot_be_fetched_has_none() {
        let rows = [
            ("stable", "`stable` is not an `https://` URL"),
            ("@stable", "`@stable` is not an `https://` URL"),
            ("ftp://h/x", "`ftp://h/x` is not an `https://` URL"),
            (
                "https://user:word@h/x",
                "the URL contains a user name or password: remove it and set up a git credential helper",
            ),
            ("https://h/x#y", "the URL has a fragment: remove `#` and what follows it"),
            ("https:///x", "`https:///x` has no valid host"),
            ("https://h:0/x", "`https://h:0/x` has no valid host"),
            ("https://-oProxyCommand=x/y", "`https://-oProxyCommand=x/y` has no valid host"),
            ("https://h/a b", "\"https://h/a b\" contains a character that is not allowed in a URL or version"),
        ];
        for (text, expected) in rows {
            let error = Key::chart(text, "web", "1.2.3").expect_err(text);
            assert_eq!(error.to_string(), expected);
        }
        for name in ["", "..", "a/b", "-x", "a b"] {
            assert_eq!(Key::chart("https://h", name, "1.2.3"), Err(KeyError::Name(name.to_owned())));
        }
    }

    #[test]
    fn repositories_behind_ssh() {
        let rows = [
            ("git@Github.com:org/repo.git", Ok("git@github.com:org/repo.git"), "github.com"),
            ("ssh://git@Host:22/org/repo/", Ok("ssh://git@host/org/repo"), "host"),
            ("ssh://host:2222/~user/repo", Ok("ssh://host:2222/~user/repo"), "host:2222"),
            ("ssh://-oProxyCommand=x/org/repo", Err("has no valid host"), ""),
            ("ssh://git@-oProxyCommand=x/org/repo", Err("has no valid host"), ""),
            ("ssh://git:word@host/org/repo", Err("contains a user name or password"), ""),
            ("git@-oProxyCommand=x:org/repo", Err("has no valid host"), ""),
            ("git@host:-oProxyCommand=x", Err("has no valid host"), ""),
            ("git@host:a b", Err("contains a character"), ""),
            ("-o@host:a/b", Err("is not an `https://` URL"), ""),
            ("git@host/org/repo", Err("is not an `https://` URL"), ""),
            ("ext::sh -c x", Err("contains a character"), ""),
        ];
        for (text, expected, host) in rows {
            match (Key::repository(text, "v1"), expected) {
                (Ok(key), Ok(url)) => assert_eq!((key.url.as_str(), key.host()), (url, (host, true))),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{text}: {error}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
        let key = Key::repository("git@host:org/repo", "v1").expect("a key");
        assert!(key.place().to_string().starts_with("git/git_host+org/repo@v1@"), "{}", key.place());
    }

    #[test]
    fn versions_that_name_one_release() {
        for exact in ["1.2.3", "v1.2.3", "1.2.3-rc.1", "1.3.0+b1", "0.0.1-a+b"] {
            assert!(is_exact_version(exact), "{exact}");
        }
        for range in ["", "1", "1.2", "1.2.x", "~1.2.0", "^1.2.3", "=1.2.3", ">1.2.3", "1.2.3 || 2.0.0", "*", "latest"]
        {
            assert!(!is_exact_version(range), "{range}");
        }
    }

    #[test]
    fn refs_that_are_no_options() {
        for good in ["main", "v1.2", "release/1.x", "0a1b", "v1.0+b1"] {
            assert!(is_reference(good), "{good}");
        }
        for bad in ["", "-x", "--upload-pack=x", "a..b", "a@{1}", "a b", "refs/", "a~1", "a^", "a:b", "/a", "a.lock"] {
            assert!(!is_reference(bad), "{bad}");
        }
    }

    #[test]
    fn places_are_apart() {
        let chart = |url: &str, want: &str| Key::chart(url, "web", want).expect("a key").place().to_string();
        assert_eq!(chart("https://h/stable", "1.2.3"), "helm/h/stable/web@1.2.3");
        assert_eq!(chart("https://h:8443/s", "1.2.3"), "helm/h+8443/s/web@1.2.3");
        assert!(chart("http://h/stable", "1.2.3").starts_with("helm/h/stable/web@1.2.3@"));
        assert!(chart("https://h/a%2Fb", "1.2.3").starts_with("helm/h/a_2Fb/web@1.2.3@"));
        let git = |want: &str| Key::repository("https://h/org/repo", want).expect("a key").place().to_string();
        assert_eq!(git("v1"), "git/h/org/repo@v1");
        assert!(git("a/b").starts_with("git/h/org/repo@a_b@"));
        let file = |url: &str| Key::file(url).expect("a key").place().to_string();
        assert!(file("https://h/a/crds.yaml?x=1").ends_with("/crds.yaml"));
        assert_ne!(file("https://h/a/crds.yaml?x=1"), file("https://h/a/crds.yaml?x=2"));
        assert!(file("https://h/.git").ends_with("/_.git"));
    }
}
