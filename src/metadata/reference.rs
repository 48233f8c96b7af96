//! `Argocd-reference-commit-*`: how a dry commit names the commit of another repository that caused it.

use go_std::mail::Address;
use go_yaml::{Limits, json};

use super::cut::{BODY_BYTES_MAX, LINE_BYTES_MAX, cut, cut_body};
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

    /// The part that GitOps Promoter takes into a status: a full commit id, a web URL, and all other fields as they
    /// are; none when nothing is left.
    pub(super) fn strict(&self) -> Option<Self> {
        let mut strict = self.clone();
        if !matches!(strict.commit.len(), 40 | 64) {
            strict.commit.clear();
        }
        if !url::is_web_url(&strict.repo_url) {
            strict.repo_url.clear();
        }
        (strict != Self::default()).then_some(strict)
    }
}

/// Whether a line of a body is one that Argo CD takes for a field of a reference and leaves out of the body.
pub(super) fn is_reference_line(line: &str) -> bool {
    Field::parse(line).is_some()
}

impl Field {
    /// Reads `Argocd-reference-commit-<key>: <value>`; none when the key is unknown or the value is not valid.
    ///
    /// Reference: argo-cd 3.6 util/git/client.go `updateCommitMetadata`. An id of SHA-256 is valid here too, and a line
    /// of more than a KiB is no address or URL.
    fn parse(line: &str) -> Option<Self> {
        let (key, value) = line.strip_prefix("Argocd-reference-commit-")?.split_once(": ")?;
        match key {
            "author" => {
                Address::parse(value).filter(|author| author.rfc5322().len() <= LINE_BYTES_MAX).map(Self::Author)
            }
            "date" => Time::from_rfc3339(value).map(Self::Date),
            "subject" => Some(Self::Subject(cut(value, LINE_BYTES_MAX).to_owned())),
            "body" => {
                let body = json::decode(value.as_bytes(), &Limits::default()).ok()?;
                let body = if body.is_null() { "" } else { body.as_str()? };
                Some(Self::Body(cut_body(body.to_owned(), BODY_BYTES_MAX)))
            }
            "repourl" => (value.len() <= LINE_BYTES_MAX && url::is_url(value)).then(|| Self::RepoUrl(value.to_owned())),
            "sha" => {
                let hex = value.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
                (hex && matches!(value.len(), 5..=40 | 64)).then(|| Self::Commit(value.to_owned()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(lines: &[&str]) -> Option<Reference> {
        let lines = lines.iter().map(|line| format!("Argocd-reference-commit-{line}\n")).collect::<String>();
        Reference::of(&format!("subject\n\nbody\n\n{lines}"))
    }

    #[test]
    fn fields() {
        // (line, whether Argo CD takes it)
        let rows = [
            ("author: John Doe <j@x>", true),
            ("author: John Doe", false),
            ("date: 2025-10-01T08:23:45.5-04:00", true),
            ("date: 2025-10-01", false),
            ("date: ", false),
            ("subject: ", true),
            ("subject: anything: at all", true),
            ("body: \"one\\ntwo\"", true),
            ("body: null", true),
            ("body: one", false),
            ("body: \"one\" two", false),
            ("body: 1", false),
            ("repourl: https://example.com/a", true),
            ("repourl: plain words", true),
            ("repourl: git@example.com:a", false),
            ("sha: abcd", false),
            ("sha: abcde", true),
            ("sha: ABCDE", false),
            ("sha: abcdg", false),
            ("sha: 0123456789012345678901234567890123456789", true),
            ("sha: 01234567890123456789012345678901234567890", false),
            ("sha: 0123456789012345678901234567890123456789012345678901234567890123", true),
            ("other: a", false),
            ("Sha: abcde", false),
            ("sha:abcde", false),
        ];
        for (line, expected) in rows {
            assert_eq!(is_reference_line(&format!("Argocd-reference-commit-{line}")), expected, "{line}");
        }
    }

    #[test]
    fn all_fields_make_one_reference() {
        let found = reference(&[
            "author: Jörg <j@x>",
            "date: 2025-10-01T08:23:45.5+00:00",
            "subject: chore: a",
            "body: \"one\\ntwo\"",
            "repourl: https://example.com/first",
            "repourl: https://example.com/second",
            "repourl: % invalid",
            "sha: abcdef",
        ]);
        let found = found.expect("a reference");
        assert_eq!(found.author.map(|author| author.rfc5322()).as_deref(), Some("=?utf-8?q?J=C3=B6rg?= <j@x>"));
        assert_eq!(found.date.map(Time::rfc3339).as_deref(), Some("2025-10-01T08:23:45Z"));
        assert_eq!((found.subject.as_str(), found.body.as_str()), ("chore: a", "one\ntwo"));
        assert_eq!((found.commit.as_str(), found.repo_url.as_str()), ("abcdef", "https://example.com/second"));
    }

    #[test]
    fn only_the_trailer_block_counts() {
        assert_eq!(reference(&[]), None);
        assert_eq!(reference(&["subject: "]), None);
        assert_eq!(Reference::of("s\n\nArgocd-reference-commit-sha: abcdef\n\nbody\n"), None);
        assert_eq!(Reference::of("Argocd-reference-commit-sha: abcdef\n"), None);
        let folded = Reference::of("s\n\nArgocd-reference-commit-subject:one\n  two\n").expect("a reference");
        assert_eq!(folded.subject, "one two");
    }

    #[test]
    fn what_promoters_take() {
        let full = "sha: 0123456789012345678901234567890123456789";
        let rows: &[(&[&str], Option<&[&str]>)] = &[
            (&[full, "repourl: https://example.com/a"], Some(&[full, "repourl: https://example.com/a"])),
            (&[full], Some(&[full])),
            (&["author: a <b@c>"], Some(&["author: a <b@c>"])),
            (&["sha: abcdef"], None),
            (&["sha: abcdef", "subject: a"], Some(&["subject: a"])),
            (&[full, "repourl: ssh://git@example.com/a"], Some(&[full])),
            (&[full, "repourl: words"], Some(&[full])),
            (&["repourl: words", "sha: abcdef"], None),
        ];
        for (lines, expected) in rows {
            let found = reference(lines).expect("a reference").strict();
            assert_eq!(found, expected.and_then(reference), "{lines:?}");
        }
    }
}
