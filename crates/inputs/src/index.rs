//! Which chart a version means: `index.yaml` of a repository, tags of a registry.
//!
//! Reference: helm 4.2.3 pkg/repo/v1/index.go, pkg/registry/client.go, with Masterminds/semver 3.5.0. Where Helm takes another
//! version than the one that is written, we say which instead. Unknown fields of an index are passed over here, though Helm
//! refuses some of them.

use std::cmp::Ordering;

use go_std::semver::{Range, Version};
use go_std::url::Url;
use go_yaml::{self as yaml, Value};

use super::key::is_exact_version;

/// How large an index may be, in bytes.
pub const BYTES_MAX: usize = 64 << 20;

/// How many parts it may have, which take more memory than their text.
const NODES_MAX: usize = 8_000_000;

/// One version of a chart in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// As it is written.
    pub version: String,
    /// Where the archive is; the only one that Helm tries.
    pub url: String,
    /// What the index claims of the archive: 64 hexadecimal digits, or empty.
    pub digest: String,
}

impl Release {
    /// An entry of an index.
    fn of(entry: &Value) -> Self {
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let urls = entry.get("urls").and_then(Value::as_sequence).unwrap_or_default();
        let url = urls.first().and_then(Value::as_str).unwrap_or_default();
        Self { version: text("version"), url: url.to_owned(), digest: text("digest") }
    }
}

/// Why no version can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The file is not an index.
    #[error("its index cannot be read: {0}")]
    Index(String),
    /// Not there at all.
    #[error("it has no chart `{0}`")]
    NoChart(String),
    /// Not in that version.
    #[error("it has no version `{want}` of this chart; the newest is {newest}")]
    NoVersion {
        /// What is asked for.
        want: String,
        /// The newest one.
        newest: String,
    },
    /// Helm would take another one.
    #[error("it has no version `{want}` of this chart; Helm would use {instead}: write that version")]
    Instead {
        /// What is asked for.
        want: String,
        /// What Helm takes.
        instead: String,
    },
    /// Not a range either.
    #[error("`{0}` is neither a version nor a range of versions")]
    NoRange(String),
    /// It is unknown which.
    #[error("it lists {0} twice, with different archives")]
    Twice(String),
    /// Nothing to fetch.
    #[error("it names no URL for {0}")]
    NoUrl(String),
    /// A claim that cannot be checked.
    #[error("the digest `{0}` in its index is not valid")]
    Digest(String),
}

/// An index that was read.
#[derive(Debug)]
pub struct Index(Value);

/// Reads the index of a repository.
pub fn parse(index: &[u8]) -> Result<Index, ChoiceError> {
    let limits = yaml::Limits { bytes: BYTES_MAX, nodes: NODES_MAX, ..yaml::Limits::default() };
    let value = yaml::sigs::unmarshal(index, &limits).map_err(|error| ChoiceError::Index(error.to_string()))?;
    if value.get("apiVersion").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err(ChoiceError::Index("no API version specified".to_owned()));
    }
    Ok(Index(value))
}

/// The versions of one chart in an index, newest first; entries that Helm drops are left out.
pub fn releases(Index(value): &Index, name: &str) -> Result<Vec<Release>, ChoiceError> {
    let entries = value.get("entries").and_then(|entries| entries.get(name)).and_then(Value::as_sequence);
    let entries = entries.ok_or_else(|| ChoiceError::NoChart(name.to_owned()))?;
    let mut releases: Vec<(Version, Release)> = entries
        .iter()
        .map(Release::of)
        .filter_map(|release| Some((Version::new(&release.version).ok()?, release)))
        .collect();
    releases.sort_by(|(a, _), (b, _)| order(b, a));
    Ok(releases.into_iter().map(|(_, release)| release).collect())
}

/// The release that a version or range means.
pub fn choose<'r>(releases: &'r [Release], want: &str) -> Result<&'r Release, ChoiceError> {
    let versions: Vec<&str> = releases.iter().map(|release| release.version.as_str()).collect();
    let version = choose_version(&versions, want)?.to_owned();
    let mut same = releases.iter().filter(|release| release.version == version);
    let Some(first) = same.next() else { return Err(ChoiceError::NoUrl(version)) };
    if same.any(|other| other.url != first.url || other.digest != first.digest) {
        return Err(ChoiceError::Twice(version));
    }
    if first.url.is_empty() { Err(ChoiceError::NoUrl(version)) } else { Ok(first) }
}

/// The version that a version or range means, of `versions`, newest first.
fn choose_version<'v>(versions: &[&'v str], want: &str) -> Result<&'v str, ChoiceError> {
    if let Some(exact) = versions.iter().find(|version| **version == want) {
        return Ok(exact);
    }
    let range =
        Range::new(if want.is_empty() { "*" } else { want }).map_err(|_| ChoiceError::NoRange(want.to_owned()))?;
    let fits = |version: &&&str| Version::new(version).is_ok_and(|version| range.has(&version));
    let found = versions.iter().find(fits).copied();
    let bare = |version: &str| version.strip_prefix('v').unwrap_or(version).to_owned();
    match found {
        Some(found) if is_exact_version(want) && bare(found) != bare(want) => {
            Err(ChoiceError::Instead { want: want.to_owned(), instead: found.to_owned() })
        }
        Some(found) => Ok(found),
        None => {
            let newest = versions.first().map_or("none", |version| *version).to_owned();
            Err(ChoiceError::NoVersion { want: want.to_owned(), newest })
        }
    }
}

/// The tag of a registry that a range of versions means, with its version: `_` in a tag is `+` in a version.
pub fn choose_tag(tags: &[String], want: &str) -> Result<(String, String), ChoiceError> {
    let strict = |version: &String| is_exact_version(version) && !version.starts_with('v');
    let versions = tags.iter().map(|tag| tag.replace('_', "+")).filter(strict);
    let mut versions: Vec<(Version, String)> =
        versions.filter_map(|text| Some((Version::new(&text).ok()?, text))).collect();
    versions.sort_by(|(a, _), (b, _)| order(b, a));
    let texts: Vec<&str> = versions.iter().map(|(_, text)| text.as_str()).collect();
    let version = choose_version(&texts, want)?;
    Ok((tag(version), version.to_owned()))
}

/// The tag of a version.
pub fn tag(version: &str) -> String {
    version.replace('+', "_")
}

fn order(a: &Version, b: &Version) -> Ordering {
    a.cmp(b)
}

/// Where the archive of a release is: relative to the repository as it was asked for, whatever redirects said, with the query
/// of the repository. None for what is no URL.
///
/// Reference: helm 4.2.3 pkg/repo/v1/chartrepo.go `ResolveReferenceURL`.
pub fn archive_url(repository: &str, url: &str) -> Option<String> {
    let reference = Url::parse(url.as_bytes()).ok()?;
    if reference.is_absolute() {
        return Some(url.to_owned());
    }
    let (address, query) =
        repository.split_once('?').map_or((repository, None), |(address, query)| (address, Some(query)));
    let base = Url::parse(format!("{}/", address.trim_end_matches('/')).as_bytes()).ok()?;
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let resolved = String::from_utf8(base.resolve(&Url::parse(path.as_bytes()).ok()?).text()).ok()?;
    Some(query.map_or(resolved.clone(), |query| format!("{resolved}?{query}")))
}

/// Where the index of a repository is.
pub fn index_url(repository: &str) -> String {
    let (address, query) =
        repository.split_once('?').map_or((repository, None), |(address, query)| (address, Some(query)));
    let address = format!("{}/index.yaml", address.trim_end_matches('/'));
    query.map_or(address.clone(), |query| format!("{address}?{query}"))
}

/// The digits of a claimed digest; none for no claim.
pub fn claimed(release: &Release) -> Result<Option<String>, ChoiceError> {
    let digits =
        release.digest.split_once(':').map_or(release.digest.as_str(), |(_, digits)| digits).to_ascii_lowercase();
    match digits.as_str() {
        "" => Ok(None),
        _ if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => Ok(Some(digits)),
        _ => Err(ChoiceError::Digest(release.digest.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index of the table that was measured with helm 4.2.3.
    const INDEX: &str = "
apiVersion: v1
entries:
  web:
  - {version: 1.2.3, urls: [web-1.2.3.tgz]}
  - {version: 1.3.0+b1, urls: [a.tgz]}
  - {version: 1.3.0+b2, urls: [b.tgz]}
  - {version: v1.2.4, urls: [c.tgz]}
  - {version: 2.0.0-rc.1, urls: [d.tgz]}
  - {version: none, urls: [e.tgz]}
  - null
  twice:
  - {version: 1.0.0, urls: [a.tgz]}
  - {version: 1.0.0, urls: [b.tgz]}
  empty:
  - {version: 1.0.0}
";

    #[test]
    fn versions_of_a_repository() {
        let rows = [
            ("", "1.3.0+b1"),
            (">0-0", "2.0.0-rc.1"),
            ("1.2.3", "1.2.3"),
            ("v1.2.3", "1.2.3"),
            ("1.2.4", "v1.2.4"),
            ("v1.2.4", "v1.2.4"),
            ("1.3.0", "it has no version `1.3.0` of this chart; Helm would use 1.3.0+b1: write that version"),
            ("1.3.0+b1", "1.3.0+b1"),
            ("1.3.0+b2", "1.3.0+b2"),
            ("1.3.0+b9", "it has no version `1.3.0+b9` of this chart; Helm would use 1.3.0+b1: write that version"),
            ("1.3.0_b1", "`1.3.0_b1` is neither a version nor a range of versions"),
            ("1.2", "v1.2.4"),
            ("1.2.x", "v1.2.4"),
            ("~1.2.0", "v1.2.4"),
            ("latest", "`latest` is neither a version nor a range of versions"),
            ("9.9.9", "it has no version `9.9.9` of this chart; the newest is 2.0.0-rc.1"),
        ];
        let index = parse(INDEX.as_bytes()).expect("an index");
        let releases = releases(&index, "web").expect("a chart");
        for (want, expected) in rows {
            let found =
                choose(&releases, want).map_or_else(|error| error.to_string(), |release| release.version.clone());
            assert_eq!(found, expected, "{want}");
        }
    }

    #[test]
    fn versions_of_a_registry() {
        let tags = ["1.2.3", "v1.2.4", "1.3.0_b1", "1.3.0_b2", "2.0.0-rc.1", "latest", "1.2"].map(str::to_owned);
        let rows = [
            ("", "1.3.0_b1"),
            ("1.2.x", "1.2.3"),
            ("~1.2.0", "1.2.3"),
            ("^2", "it has no version `^2` of this chart; the newest is 2.0.0-rc.1"),
        ];
        for (want, expected) in rows {
            let found = choose_tag(&tags, want).map_or_else(|error| error.to_string(), |(tag, _)| tag);
            assert_eq!(found, expected, "{want}");
        }
    }

    #[test]
    fn odd_indexes() {
        let rows = [
            ("twice", "it lists 1.0.0 twice, with different archives"),
            ("empty", "it names no URL for 1.0.0"),
            ("none", "it has no chart `none`"),
        ];
        for (name, expected) in rows {
            let index = parse(INDEX.as_bytes()).expect("an index");
            let chosen = releases(&index, name).and_then(|releases| choose(&releases, "").cloned());
            assert_eq!(chosen.expect_err(name).to_string(), expected);
        }
        for (text, expected) in [
            ("entries: {}", "its index cannot be read: no API version specified"),
            ("", "its index cannot be read: no API version specified"),
        ] {
            assert_eq!(parse(text.as_bytes()).expect_err(text).to_string(), expected);
        }
        assert!(parse(b"apiVersion: [\n").is_err());
    }

    #[test]
    fn urls() {
        let rows = [
            ("http://h:1/idx", "web.tgz", "http://h:1/idx/web.tgz"),
            ("http://h:1/idx/", "/web.tgz", "http://h:1/web.tgz"),
            ("http://h:1/idx", "../sub/web.tgz?x=1", "http://h:1/sub/web.tgz"),
            ("http://h:1/idx", "//h:2/web.tgz", "http://h:2/web.tgz"),
            ("http://h:1/idx", "http://h:2/web.tgz?x=1", "http://h:2/web.tgz?x=1"),
            ("http://h:1/q?tok=1", "web.tgz", "http://h:1/q/web.tgz?tok=1"),
        ];
        for (repository, url, expected) in rows {
            assert_eq!(archive_url(repository, url).as_deref(), Some(expected), "{url}");
        }
        assert_eq!(index_url("http://h/q/?tok=1"), "http://h/q/index.yaml?tok=1");
        assert_eq!(index_url("https://h"), "https://h/index.yaml");
    }

    #[test]
    fn claims() {
        let claim =
            |digest: &str| claimed(&Release { version: String::new(), url: String::new(), digest: digest.to_owned() });
        let digits = "Ab".repeat(32);
        assert_eq!(claim(""), Ok(None));
        assert_eq!(claim(&digits), Ok(Some(digits.to_lowercase())));
        assert_eq!(claim(&format!("sha256:{digits}")), Ok(Some(digits.to_lowercase())));
        assert!(claim("sha256:ab").is_err());
    }
}
