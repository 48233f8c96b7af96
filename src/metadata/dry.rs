//! What a hydrated commit says of its dry commit.

use crate::repo::{Commit, ObjectId, Signature, object_id};

use super::cut::{BODY_BYTES_MAX, LINE_BYTES_MAX, cut, cut_body};
use super::message::{Defined, Source};
use super::reference::{Reference, is_reference_line};
use super::time::Time;
use super::trailers::WHITE_SPACE;

/// A commit of the dry branch: all that a hydrated commit says of it.
///
/// A line is cut at 1 KiB, a body at 16 KiB: GitOps Promoter keeps them several times for each environment in one status
/// object, which may have 1.5 MiB in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryCommit {
    /// Its id.
    pub id: ObjectId,
    /// `Name <email>` of its author; empty when the commit has none.
    pub author: String,
    /// When it was committed. Not when it was written: a rebase keeps that, and promoters compare these dates.
    pub date: Time,
    /// What the metadata of a whole branch says in its place: not before what the branch said last, since promoters wait for a
    /// date that does not go back.
    pub shown_date: Time,
    /// `%s`: the first paragraph of the message in one line.
    pub subject: String,
    /// What follows the first paragraph, with one final newline, without the lines of [`references`](Self::references);
    /// or empty.
    pub body: String,
    /// The message as Argo CD divides it.
    pub argocd: Message,
    /// The commit elsewhere that caused it; at most one.
    pub references: Vec<Reference>,
    /// What led to it, where that is not a branch.
    pub defined: Option<Defined>,
}

/// A message in two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What comes before the first `\n\n`, as it is: it may have several lines and blanks at its end.
    pub subject: String,
    /// What follows, without the lines of references; blank lines at its start stay.
    pub body: String,
}

impl DryCommit {
    /// Reads what a hydrated commit says of `commit`. Never fails: what the commit lacks is empty.
    pub fn new(commit: &Commit) -> Self {
        let message = commit.message.trim();
        let (subject, body) = split_message(message);
        Self {
            id: commit.id,
            author: cut(&person(&commit.author), LINE_BYTES_MAX).to_owned(),
            date: Time::of(&commit.committer),
            shown_date: Time::of(&commit.committer),
            subject: cut(&subject, LINE_BYTES_MAX).to_owned(),
            body: cut_body(body, BODY_BYTES_MAX),
            argocd: Message::as_argocd(message),
            references: Reference::of(message).into_iter().collect(),
            defined: None,
        }
    }

    /// This commit, where a tag, a range or an id led to it, for Applications that `at` has.
    pub(crate) fn of_source(self, source: &Source, at: ObjectId) -> Self {
        Self { defined: Some(Defined { at, resolved: source.resolved.clone() }), ..self }
    }

    /// The commit of the dry branch that has the Applications: this one, unless a tag, a range or an id led here.
    pub(crate) fn definition(&self) -> ObjectId {
        self.defined.as_ref().map_or(self.id, |defined| defined.at)
    }

    /// It, where a tag, a range or an id led here.
    pub(crate) fn source(&self) -> Option<Source> {
        Source::of(self.id, self.defined.as_ref())
    }

    /// This commit, of which metadata says another date.
    pub(crate) fn shown_at(&self, date: Time) -> Self {
        Self { shown_date: date, ..self.clone() }
    }

    /// A commit in which every value is set, a reference among them.
    pub(super) fn sample() -> Self {
        let message = "Run web\n\nIn two regions.\n\n\
                       Argocd-reference-commit-author: Dev Eloper <dev@example.com>\n\
                       Argocd-reference-commit-date: 2024-03-27T10:32:04Z\n\
                       Argocd-reference-commit-subject: Run web\n\
                       Argocd-reference-commit-body: \"In two regions.\"\n\
                       Argocd-reference-commit-sha: 1111111111111111111111111111111111111111\n\
                       Argocd-reference-commit-repourl: https://git.example.com/team/web.git";
        let (subject, body) = split_message(message);
        Self {
            id: object_id(&"1".repeat(40)).expect("40 digits are an id"),
            author: "Dev Eloper <dev@example.com>".to_owned(),
            date: Time::new(0, 0),
            shown_date: Time::new(0, 0),
            subject,
            body: cut_body(body, BODY_BYTES_MAX),
            argocd: Message::as_argocd(message),
            references: Reference::of(message).into_iter().collect(),
            defined: None,
        }
    }
}

impl Message {
    /// Divides a message without white space at its ends.
    ///
    /// Reference: argo-cd `37ee0097` util/hydrator/hydrator.go `GetCommitMetadata`. Both parts are cut as those of git
    /// are.
    fn as_argocd(message: &str) -> Self {
        let (subject, rest) = message.split_once("\n\n").unwrap_or((message, ""));
        let subject = cut(subject, LINE_BYTES_MAX).to_owned();
        Self { subject, body: cut_body(without_references(rest.lines()), BODY_BYTES_MAX) }
    }
}

fn person(signature: &Signature) -> String {
    let (name, email) = (signature.name.trim(), signature.email.trim());
    if name.is_empty() && email.is_empty() { String::new() } else { format!("{name} <{email}>") }
}

/// The first paragraph folded into one line (`%s`), and the rest without the fields of a reference.
///
/// Reference: argo-cd 3.6 util/git/client.go `GetReferences` for the lines that are left out, wherever they are. It
/// cuts the subject at the first `\n\n` instead, so that it may have several lines, and loses what follows a line of
/// 64 KiB.
fn split_message(message: &str) -> (String, String) {
    let mut lines = message.lines();
    let paragraph = lines.by_ref().map(|line| line.trim_end_matches(WHITE_SPACE)).take_while(|line| !line.is_empty());
    let subject = paragraph.collect::<Vec<_>>().join(" ");
    let body = without_references(lines.skip_while(|line| line.trim_matches(WHITE_SPACE).is_empty()));
    (subject, body)
}

/// The lines that no field of a reference is, each with a newline.
fn without_references<'m>(lines: impl Iterator<Item = &'m str>) -> String {
    lines.filter(|line| !is_reference_line(line)).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3ff41cc5247197a6caf50216c4c76cc29d78a97c";

    fn commit(message: &str) -> Commit {
        let signature = |name: &str, seconds, offset| Signature {
            name: name.to_owned(),
            email: "a@example.com".to_owned(),
            seconds,
            offset,
        };
        let id = crate::repo::object_id(ID).expect("an id");
        Commit {
            id,
            tree: id,
            parents: Vec::new(),
            author: signature("Author", 1711535524, 0),
            committer: signature("Committer", 1711539124, 3600),
            message: message.to_owned(),
        }
    }

    #[test]
    fn people_and_dates() {
        let mut commit = commit("");
        let dry = DryCommit::new(&commit);
        assert_eq!(
            (dry.author.as_str(), dry.date.rfc3339().as_str()),
            ("Author <a@example.com>", "2024-03-27T12:32:04+01:00")
        );
        (commit.author.name, commit.author.email) = (String::new(), String::new());
        assert_eq!(DryCommit::new(&commit).author, "");
    }

    #[test]
    fn messages() {
        // (rule, message, subject, body). The second and third are from Argo CD's util/git/client_test.go.
        let rows = [
            (
                "no trailers",
                "This is a commit message without trailers.",
                "This is a commit message without trailers.",
                "",
            ),
            (
                "a body",
                "s\n\nThis is a commit message without trailers.",
                "s",
                "This is a commit message without trailers.\n",
            ),
            (
                "invalid fields stay",
                "s\n\nArgocd-reference-commit-sha: abc123\nArgocd-reference-commit-repourl: % invalid %\n\
                 Argocd-reference-commit-date: invalid\n",
                "s",
                "Argocd-reference-commit-repourl: % invalid %\nArgocd-reference-commit-date: invalid\n",
            ),
            ("a folded subject", "one\ntwo  \n\nbody\n", "one two", "body\n"),
            ("carriage returns", "one\r\n\r\ntwo\r\nthree\r\n", "one", "two\nthree\n"),
            ("blank lines around", "\n\n s\n \n\n\nb\n\nc\n\n\n", "s", "b\n\nc\n"),
            ("fields go wherever they stand", "s\n\na\nArgocd-reference-commit-sha: abcdef\n\nb\n", "s", "a\n\nb\n"),
            (
                "the case of keys counts",
                "s\n\nargocd-reference-commit-sha: abcdef\n",
                "s",
                "argocd-reference-commit-sha: abcdef\n",
            ),
            (
                "a colon without a blank is no field",
                "s\n\nArgocd-reference-commit-sha:abcdef\n",
                "s",
                "Argocd-reference-commit-sha:abcdef\n",
            ),
            ("nothing", "", "", ""),
        ];
        for (rule, message, subject, body) in rows {
            let dry = DryCommit::new(&commit(message));
            assert_eq!((dry.subject.as_str(), dry.body.as_str()), (subject, body), "{rule}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let dry = DryCommit::new(&commit(&format!("{}\n\n{}", "é".repeat(5000), "0123456789abcde\n".repeat(2000))));
        assert_eq!((dry.subject.len(), dry.subject.chars().last()), (LINE_BYTES_MAX, Some('é')));
        assert_eq!(dry.body.len(), BODY_BYTES_MAX - 16 + 16 + "[...]\n".len());
        assert!(dry.body.ends_with("0123456789abcde\n[...]\n"));
        let dry = DryCommit::new(&commit(&format!("s\n\na{}", "é".repeat(70 << 10))));
        assert!(dry.body.len() <= BODY_BYTES_MAX + 8 && dry.body.ends_with("é\n[...]\n"));
    }
}
