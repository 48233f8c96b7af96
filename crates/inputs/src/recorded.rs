//! Inputs that a server fetched once, and keeps under a ref of its own.
//!
//! The tree of that ref has a file for each ([`Recorded::path`]), and what was fetched where `git hydrate vendor` would put it
//! ([`Recorded::place`]), so that both join a dry tree by the ids of directories: the whole at [`RECORDED`], and its files
//! among those of vendored inputs. Then a render finds what is recorded as it finds what is vendored, and notes both. Of a
//! git repository, each directory is recorded by itself: nothing that is recorded ever changes.

use data_encoding::HEXLOWER;
use dry_files::path::RepoPath;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Entry, Key, Kind};

/// Where a dry tree shows what is recorded. What a push has there is not shown.
pub const RECORDED: &str = ".hydrate/recorded";

/// The directory of what was fetched.
pub const FILES: &str = "files";

/// The layout of the tree, and the directory of its entries.
const FORMAT: u32 = 1;

/// What is recorded of one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// What it is asked for by.
    pub key: Key,
    /// Of a git repository, the directory that was fetched; else the root.
    pub directory: RepoPath,
    /// What that meant: the version of a chart, the commit of a git repository; empty for a file.
    pub version: String,
    /// The digest of the archive that was received, or of the manifest of a registry; empty for other kinds.
    pub origin: String,
    /// The digest of its files: see [`digest`](super::digest).
    pub content: String,
    /// How many bytes they have.
    pub bytes: u64,
    /// Why nothing may use it any more; its files are gone then.
    pub withdrawn: Option<String>,
}

/// [`Recorded`] as its file has it.
#[derive(Serialize, Deserialize)]
struct Text {
    format: u32,
    kind: String,
    url: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    want: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    directory: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    origin: String,
    content: String,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    withdrawn: Option<String>,
}

impl Recorded {
    /// The file of an input: no two inputs have one.
    pub fn path(key: &Key, directory: &RepoPath) -> RepoPath {
        let Key { kind, url, name, want } = key;
        let text = [kind.word(), url, name, want, directory.as_str()].join("\n");
        let hash = HEXLOWER.encode(&Sha256::digest(text));
        let start = hash.get(..2).unwrap_or_default();
        RepoPath::clean(&format!("{FORMAT}/{start}/{hash}/entry.json")).unwrap_or_default()
    }

    /// Its own.
    pub fn own_path(&self) -> RepoPath {
        Self::path(&self.key, &self.directory)
    }

    /// Where its files are, below the directory of inputs: a directory, for a file the file itself.
    pub fn place(&self) -> RepoPath {
        self.key.place().join(&self.directory)
    }

    /// Whether a file of the tree is that of an input.
    pub fn is_path(path: &str) -> bool {
        path.starts_with(&format!("{FORMAT}/")) && path.ends_with("/entry.json")
    }

    /// The text of its file.
    pub fn text(&self) -> String {
        let Self { key, directory, version, origin, content, bytes, withdrawn } = self;
        let Key { kind, url, name, want } = key;
        let text = Text {
            format: FORMAT,
            kind: kind.word().to_owned(),
            url: url.clone(),
            name: name.clone(),
            want: want.clone(),
            directory: directory.as_str().to_owned(),
            version: version.clone(),
            origin: origin.clone(),
            content: content.clone(),
            bytes: *bytes,
            withdrawn: withdrawn.clone(),
        };
        serde_json::to_string_pretty(&text).unwrap_or_default() + "\n"
    }

    /// Reads a file; none when it is not as [`Recorded::text`] writes it.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let Text { format, kind, url, name, want, directory, version, origin, content, bytes, withdrawn } =
            serde_json::from_slice(text).ok()?;
        let key = match Kind::ALL.into_iter().find(|known| known.word() == kind)? {
            Kind::Helm | Kind::Oci => Key::chart(&url, &name, &want),
            Kind::Git => Key::repository(&url, &want),
            Kind::File => Key::file(&url),
        };
        let directory = RepoPath::clean(&directory).ok()?;
        let recorded = Self { key: key.ok()?, directory, version, origin, content, bytes, withdrawn };
        (format == FORMAT && recorded.text().as_bytes() == text).then_some(recorded)
    }

    /// Whether this is withdrawn, and `other` is it by another name: the same files, or the same version of the chart.
    pub fn is_withdrawn_as(&self, other: &Recorded) -> bool {
        let is_chart = matches!(self.key.kind, Kind::Helm | Kind::Oci);
        let source = |one: &Recorded| (one.key.kind, one.key.url.clone(), one.key.name.clone(), one.version.clone());
        self.withdrawn.is_some() && (self.content == other.content || is_chart && source(self) == source(other))
    }

    /// As a lock file would list it.
    pub(super) fn entry(&self) -> Entry {
        let directories = if self.key.kind == Kind::Git { vec![self.directory.clone()] } else { Vec::new() };
        Entry {
            key: self.key.clone(),
            version: self.version.clone(),
            origin: self.origin.clone(),
            content: self.content.clone(),
            at: Vec::new(),
            directories,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let key = Key::repository("https://h/o/r", "0123456789012345678901234567890123456789").expect("a key");
        let directory = RepoPath::new("deploy/base").expect("plain");
        let one = Recorded {
            version: key.want.clone(),
            key,
            directory,
            origin: String::new(),
            content: format!("sha256:{}", "0".repeat(64)),
            bytes: 12,
            withdrawn: None,
        };
        assert_eq!(Recorded::parse(one.text().as_bytes()), Some(one.clone()));
        assert_eq!(Recorded::parse(one.text().replace("\"bytes\": 12", "\"bytes\":  12").as_bytes()), None);
        let withdrawn = Recorded { withdrawn: Some("bad".to_owned()), ..one.clone() };
        let elsewhere = Key::repository("https://h/o/fork", "v1").expect("a key");
        assert!(withdrawn.is_withdrawn_as(&Recorded { key: elsewhere, ..one.clone() }) && !one.is_withdrawn_as(&one));
        assert!(!withdrawn.is_withdrawn_as(&Recorded { content: String::new(), ..one.clone() }), "the commit has more");
        let chart = |want: &str, content: &str| Recorded {
            key: Key::chart("https://h/charts", "web", want).expect("a key"),
            version: "1.2.3".to_owned(),
            content: content.to_owned(),
            ..withdrawn.clone()
        };
        assert!(chart("1.2.3", "one").is_withdrawn_as(&chart("v1.2.3", "two")));
        let other = Recorded { directory: RepoPath::root(), ..one.clone() };
        assert_ne!(one.own_path(), other.own_path());
        assert!(Recorded::is_path(one.own_path().as_str()) && one.place().starts_with(&other.place()));
    }
}
