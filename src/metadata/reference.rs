//! `Argocd-reference-commit-*`: how a dry commit names the commit of another repository that caused it.

use super::address::Address;
use super::time::Time;
use super::trailers::{self, Divider};
use super::url;

/// A commit of another repository, mostly the one with the code that a dry commit deploys.
///
/// At least one field is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    /// Who wrote it.
    pub author: Option<Address>,
    /// When.
    pub date: Option<Time>,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
    /// Its id or the start of it: 5 to 40 or 64 hexadecimal digits in lower case.
    pub commit: String,
    /// The repository; any text that Go takes for a URL.
    pub repo_url: String,
}

/// One valid `Argocd-reference-commit-*` line.
enum Field {
    Author(Address),
    Date(Time),
    Subject(String),
    Body(String),
    Commit(String),
    RepoUrl(String),
}

impl Reference {
    /// What the trailer block of a message says; a key that is repeated counts as its last valid line says.
    pub(super) fn of(message: &str) -> Option<Self> {
        let mut reference = Self::default();
        for trailer in trailers::parse(message, Divider::Ends) {
            match Field::parse(&format!("{}: {}", trailer.key, trailer.value)) {
                Some(Field::Author(author)) => reference.author = Some(author),
                Some(Field::Date(date)) => reference.date = Some(date),
                Some(Field::Subject(subject)) => reference.subject = subject,
                Some(Field::Body(body)) => reference.body = body,
                Some(Field::Commit(commit)) => reference.commit = commit,
                Some(Field::RepoUrl(repo_url)) => reference.repo_url = repo_url,
                None => {}
            }
        }
        (reference != Self::default()).then_some(reference)
    }

    /// Whether GitOps Promoter takes it into a status: a full id, or none, and a web URL, or none.
    pub(super) fn is_strict(&self) -> bool {
        let commit = self.commit.is_empty() || matches!(self.commit.len(), 40 | 64);
        commit && (self.repo_url.is_empty() || url::is_web_url(&self.repo_url))
    }
}

/// Whether a line of a body is one that Argo CD takes for a field of a reference and leaves out of the body.
pub(super) fn is_reference_line(line: &str) -> bool {
    Field::parse(line).is_some()
}

impl Field {
    /// Reads `Argocd-reference-commit-<key>: <value>`; none when the key is unknown or the value is not valid.
    fn parse(line: &str) -> Option<Self> {
        let (key, value) = line.strip_prefix("Argocd-reference-commit-")?.split_once(": ")?;
        match key {
            "author" => Address::parse(value).map(Self::Author),
            "date" => Time::from_rfc3339(value).map(Self::Date),
            "subject" => Some(Self::Subject(value.to_owned())),
            "body" => {
                serde_json::from_str::<Option<String>>(value).ok().map(|body| Self::Body(body.unwrap_or_default()))
            }
            "repourl" => url::is_url(value).then(|| Self::RepoUrl(value.to_owned())),
            "sha" => {
                let hex = value.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
                (hex && matches!(value.len(), 5..=40 | 64)).then(|| Self::Commit(value.to_owned()))
            }
            _ => None,
        }
    }
}
