//! What is wanted of an input, and which addresses a rule is for.

use dry_files::path::RepoPath;
use serde::{Deserialize, Serialize};

use super::{Key, Kind, is_digest, is_exact_version};

/// An input that is recorded by itself: a chart, or a directory of a git repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "Text", try_from = "Text")]
pub struct Wanted {
    /// What it is asked for by.
    pub key: Key,
    /// Of a git repository, the directory; else the root.
    pub directory: RepoPath,
}

impl Wanted {
    /// All of an input that is not a git repository.
    pub fn whole(key: Key) -> Self {
        Self { key, directory: RepoPath::root() }
    }
}

#[derive(Serialize, Deserialize)]
struct Text {
    kind: String,
    url: String,
    name: String,
    want: String,
    directory: RepoPath,
}

impl From<Wanted> for Text {
    fn from(wanted: Wanted) -> Self {
        let Wanted { key: Key { kind, url, name, want }, directory } = wanted;
        Self { kind: kind.word().to_owned(), url, name, want, directory }
    }
}

impl TryFrom<Text> for Wanted {
    type Error = String;

    fn try_from(Text { kind, url, name, want, directory }: Text) -> Result<Self, String> {
        let key = match Kind::ALL.into_iter().find(|known| known.word() == kind) {
            Some(Kind::Helm | Kind::Oci) => Key::chart(&url, &name, &want),
            Some(Kind::Git) => Key::repository(&url, &want),
            Some(Kind::File) => Key::file(&url),
            None => return Err(format!("`{kind}` is not a kind of input")),
        };
        Ok(Self { key: key.map_err(|error| error.to_string())?, directory })
    }
}

impl Key {
    /// Whether it names one thing for ever: an exact version of a chart, a digest of a registry, or a full commit. What a tag or a file
    /// is may change.
    pub fn is_pinned(&self) -> bool {
        match self.kind {
            Kind::Oci if is_digest(&self.want) => true,
            Kind::Helm | Kind::Oci => is_exact_version(&self.want),
            Kind::Git => {
                let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
                matches!(self.want.len(), 40 | 64) && self.want.bytes().all(is_digit)
            }
            Kind::File => false,
        }
    }

    /// The address that rules are for: of a chart of a registry, with its name.
    pub fn address(&self) -> String {
        if self.kind == Kind::Oci { format!("{}/{}", self.url, self.name) } else { self.url.clone() }
    }
}

/// Whether a URL is at or below another one: scheme, host and port are the same, and its path begins with all names of the
/// other path. One with a name that a server may take for another place is below none.
pub fn is_below(url: &str, top: &str) -> bool {
    let (Some((site, path)), Some((top_site, top_path))) = (parts(url), parts(top)) else { return false };
    let is_odd = |name: &&str| {
        let name = name.to_ascii_lowercase();
        // Servers take parameters off a name, and may decode it twice.
        let bare = name.split(';').next().unwrap_or_default().replace("%3b", ";");
        matches!(bare.split(';').next().unwrap_or_default().replace("%2e", ".").as_str(), "." | "..")
            || ["%2f", "%5c", "\\", "%25"].iter().any(|odd| name.contains(odd))
    };
    let names = |path: &'_ str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    site == top_site && !path.split('/').any(|name| is_odd(&name)) && names(path).starts_with(&names(top_path))
}

/// Whether a URL is the only way to write what it leads to, as far as that shows: no query, no fragment, no empty name in its path,
/// and nothing encoded there that can be written as it is.
pub fn is_only_spelling(url: &str) -> bool {
    let Some((_, path)) = parts(url).filter(|_| !url.contains(['?', '#'])) else { return false };
    let is_needed = |code: &str| {
        let byte = code.get(..2).filter(|code| *code == code.to_ascii_uppercase());
        let byte = byte.and_then(|code| u8::from_str_radix(code, 16).ok());
        byte.is_some_and(|byte| !byte.is_ascii_graphic() || b"\"%<>?#".contains(&byte))
    };
    let path = path.strip_suffix('/').unwrap_or(path);
    !path.contains("//") && path.split('%').skip(1).all(is_needed)
}

/// Scheme and host, with the port where it is not the usual one; and the path.
fn parts(url: &str) -> Option<(String, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(end)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let usual = if scheme == "http" { ":80" } else { ":443" };
    Some((format!("{scheme}://{}", host.strip_suffix(usual).unwrap_or(&host)), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_of_the_web_has_one_spelling() {
        let rows = [
            ("https://h", true),
            ("https://h/team/charts", true),
            ("https://h/team/charts/", true),
            ("oci://h:5000/team", true),
            ("https://h/a%20b/%C3%A9/%25", true),
            ("https://h/team//charts", false),
            ("https://h//team", false),
            ("https://h/te%61m", false),
            ("https://h/team%2b", false),
            ("https://h/team%2B", false),
            ("https://h/%c3%a9", false),
            ("https://h/team%", false),
            ("https://h/team%2", false),
            ("https://h/team?x=1", false),
            ("https://h/team?", false),
            ("https://h/team#x", false),
            ("https://h?x", false),
        ];
        for (url, expected) in rows {
            assert_eq!(is_only_spelling(url), expected, "{url}");
        }
    }

    #[test]
    fn a_rule_is_for_what_is_below_its_address() {
        let top = "https://charts.example.com/team";
        let rows = [
            ("https://charts.example.com/team", true),
            ("https://charts.example.com/team/index.yaml?x=/../", true),
            ("HTTPS://Charts.example.com:443//team/web.tgz", true),
            ("https://charts.example.com/teams", false),
            ("https://charts.example.com/", false),
            ("https://charts.example.com/team/../other", false),
            ("https://charts.example.com/team/%2E%2e/other", false),
            ("https://charts.example.com/team/..;/other", false),
            ("https://charts.example.com/team/..%3Bx/other", false),
            ("https://charts.example.com/team/%252e%252e/other", false),
            ("https://charts.example.com/team/a;b/other", true),
            ("https://charts.example.com/team/..%2fother", false),
            ("https://charts.example.com/team/x\\..\\..\\other", false),
            ("http://charts.example.com/team", false),
            ("https://charts.example.com:8443/team", false),
            ("https://charts.example.com.evil.com/team", false),
            ("team", false),
        ];
        for (url, expected) in rows {
            assert_eq!(is_below(url, top), expected, "{url}");
        }
        assert!(is_below("http://h:80/x", "http://h"));
    }

    #[test]
    fn only_what_cannot_become_another_thing_is_pinned() {
        let chart = |want| Key::chart("https://h", "web", want).expect("a key").is_pinned();
        assert_eq!(
            ["1.2.3", "v1.2.3-rc.1", "1.2", "~1.2.0", "", ">=1.0.0"].map(chart),
            [true, true, false, false, false, false]
        );
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let git = |want: &str| Key::repository("https://h/r", want).expect("a key").is_pinned();
        assert_eq!([commit, &commit[..12], "main", "", "v1"].map(git), [true, false, false, false, false]);
        assert!(!Key::file("https://h/x.yaml").expect("a key").is_pinned());
    }

    #[test]
    fn what_is_wanted_is_read_as_it_was_written() {
        let key = Key::chart("oci://h/charts", "web", "1.2.3").expect("a key");
        assert_eq!(key.address(), "oci://h/charts/web");
        let wanted = Wanted { key, directory: RepoPath::root() };
        let text = serde_json::to_string(&wanted).expect("texts");
        assert_eq!(serde_json::from_str::<Wanted>(&text).expect("the same"), wanted);
        assert!(serde_json::from_str::<Wanted>(&text.replace("oci", "x")).is_err());
    }
}
