use crate::git::{Commit, ObjectId, Signature};

use super::reference::{Reference, is_reference_line};
use super::time::Time;
use super::trailers::WHITE_SPACE;

/// A commit of the dry branch: all that a hydrated commit says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryCommit {
    /// Its id.
    pub id: ObjectId,
    /// `Name <email>` of its author; empty when the commit names nobody.
    pub author: String,
    /// When it was committed. Not when it was written: a rebase keeps that, and promoters compare these dates.
    pub date: Time,
    /// `%s`: the first paragraph of the message in one line.
    pub subject: String,
    /// What follows the first paragraph, with one final newline, without the lines of [`references`](Self::references);
    /// or empty.
    pub body: String,
    /// The commit elsewhere that caused it; at most one.
    pub references: Vec<Reference>,
}

impl DryCommit {
    /// Reads what a hydrated commit says of `commit`. Never fails: what the commit lacks is empty.
    pub fn new(commit: &Commit) -> Self {
        let message = commit.message.trim();
        let (subject, body) = split_message(message);
        Self {
            id: commit.id,
            author: person(&commit.author),
            date: Time::of(&commit.committer),
            subject,
            body,
            references: Reference::of(message).into_iter().collect(),
        }
    }
}

fn person(signature: &Signature) -> String {
    let (name, email) = (signature.name.trim(), signature.email.trim());
    if name.is_empty() && email.is_empty() { String::new() } else { format!("{name} <{email}>") }
}

/// The first paragraph folded into one line (`%s`), and the rest without the fields of a reference.
///
/// Reference: Argo CD util/git/client.go `GetReferences` for the lines that are left out, wherever they stand. It cuts the subject at
/// the first `\n\n` instead, so that it may have several lines, and loses what follows a line of 64 KiB.
fn split_message(message: &str) -> (String, String) {
    let mut lines = message.lines();
    let paragraph = lines.by_ref().map(|line| line.trim_end_matches(WHITE_SPACE)).take_while(|line| !line.is_empty());
    let subject = paragraph.collect::<Vec<_>>().join(" ");
    let mut body = String::new();
    for line in lines.skip_while(|line| line.trim_matches(WHITE_SPACE).is_empty()) {
        if !is_reference_line(line) {
            body.push_str(line);
            body.push('\n');
        }
    }
    (subject, body)
}
