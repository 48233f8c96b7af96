//! What is in hydrated branches already.

use dry_files::path::RepoPath;

use super::behind::{self, Behind};
use super::dry::DryCommit;
use super::json::{Fields, full_id};
use super::message::{Defined, Source};
use super::time::Time;
use crate::argo::BranchName;
use crate::repo::ObjectId;

/// The ref of the notes that name the dry commit of a hydrated commit.
pub(crate) const NOTES_REF: &str = "refs/notes/hydrator.metadata";

/// What a `hydrator.metadata` says, as far as a hydrator needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// `drySha`, when it is a full id in lower case; anything else names no commit for sure.
    pub dry_commit: Option<ObjectId>,
    /// `dryBranch`, in a destination path of the profile `proposal`.
    pub dry_branch: Option<BranchName>,
    /// `date`, where it is one.
    pub date: Option<Time>,
    /// `repoURL`, or empty.
    pub repo_url: String,
    /// The names of the Applications, in a destination path of the profile `proposal`.
    pub applications: Vec<String>,
    /// The paths that are behind, at the root of a branch of ours: in their order, each once.
    pub behind: Vec<Behind>,
}

/// Why a `hydrator.metadata` can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} of the hydrated branch cannot be read: {reason}")]
pub struct UnreadableMetadata {
    /// The file.
    pub path: RepoPath,
    /// Why.
    pub reason: String,
}

impl Provenance {
    /// Reads a `hydrator.metadata` of ours or of Argo CD, as tolerantly as Go reads it.
    pub fn read(path: &RepoPath, text: &[u8]) -> Result<Self, UnreadableMetadata> {
        let unreadable = |reason| UnreadableMetadata { path: path.clone(), reason };
        let fields = Fields::parse(text).map_err(|error| unreadable(error.to_string()))?;
        let text = |key| fields.text(key).map_err(|error| unreadable(error.to_string()));
        Ok(Self {
            dry_commit: full_id(text("drySha")?),
            dry_branch: BranchName::new(text("dryBranch")?).ok(),
            date: fields.text("date").ok().and_then(Time::from_rfc3339),
            repo_url: text("repoURL")?.to_owned(),
            applications: applications(&fields),
            behind: behind::read(&fields),
        })
    }
}

fn applications(fields: &Fields) -> Vec<String> {
    let list = fields.get("applications").and_then(|list| list.as_array());
    let name = |application| Some(Fields::of(Fields::of(application)?.get("metadata")?)?.text("name").ok()?.to_owned());
    list.into_iter().flatten().filter_map(name).collect()
}

/// What the note of a hydrated commit says: what that is made of, or equal to what would be made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// `drySha`: the dry commit.
    pub dry_commit: ObjectId,
    /// `definedAt` and `resolved`, where a tag, a range or an id led to it.
    pub defined: Option<Defined>,
}

impl Note {
    /// The note of a dry commit.
    pub(crate) fn of(dry: &DryCommit) -> Self {
        Self { dry_commit: dry.id, defined: dry.defined.clone() }
    }

    /// The commit of the dry branch that has the Applications.
    pub fn definition(&self) -> ObjectId {
        self.defined.as_ref().map_or(self.dry_commit, |defined| defined.at)
    }

    /// The dry commit, where a tag, a range or an id led to it.
    pub(crate) fn source(&self) -> Option<Source> {
        Source::of(self.dry_commit, self.defined.as_ref())
    }

    /// The text of the note.
    ///
    /// Reference: Argo CD writes the same bytes where a branch leads to the dry commit, by `git notes add -m`, which adds the newline.
    pub fn text(&self) -> Vec<u8> {
        match &self.defined {
            None => note(self.dry_commit),
            Some(Defined { at, resolved }) => {
                let resolved = serde_json::Value::from(resolved.as_str());
                let dry = self.dry_commit;
                format!("{{\"drySha\":\"{dry}\",\"definedAt\":\"{at}\",\"resolved\":{resolved}}}\n").into_bytes()
            }
        }
    }
}

/// The note of a hydrated commit that is made of, or equal to what is made of, `dry_commit`, to which a branch led.
pub fn note(dry_commit: ObjectId) -> Vec<u8> {
    format!("{{\"drySha\":\"{dry_commit}\"}}\n").into_bytes()
}

/// What a note says; none for a note that isn't such a note, as for GitOps Promoter.
pub fn read_note(text: &[u8]) -> Option<Note> {
    let fields = Fields::parse(text).ok()?;
    let dry_commit = full_id(fields.text("drySha").ok()?)?;
    let defined = match (fields.text("definedAt").ok().and_then(full_id), fields.text("resolved").ok()) {
        (Some(at), Some(resolved)) if !resolved.is_empty() => Some(Defined { at, resolved: resolved.to_owned() }),
        _ => None,
    };
    Some(Note { dry_commit, defined })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::object_id;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn notes() {
        let id = object_id(ID).expect("an id");
        assert_eq!(note(id), format!("{{\"drySha\":\"{ID}\"}}\n").as_bytes());
        let rows = [
            (format!("{{\"drySha\":\"{ID}\"}}\n"), Some(id)),
            (format!("{{\"DRYSHA\":\"{ID}\",\"more\":1}}"), Some(id)),
            (format!("{{\"drySha\":\"abc\",\"drysha\":\"{ID}\"}}"), Some(id)),
            (format!("{{\"drySha\":\"{ID}\"}}\n\n{{\"drySha\":\"{ID}\"}}\n"), None),
            ("{\"drySha\":\"abc\"}".to_owned(), None),
            ("hydrated by hand".to_owned(), None),
            (String::new(), None),
        ];
        for (text, expected) in rows {
            assert_eq!(read_note(text.as_bytes()).map(|note| note.dry_commit), expected, "{text}");
        }
    }

    #[test]
    fn notes_of_tags() {
        let (id, at) = (object_id(ID).expect("an id"), object_id(&"1".repeat(40)).expect("an id"));
        let note = Note { dry_commit: id, defined: Some(Defined { at, resolved: "v1\"4".to_owned() }) };
        let text = format!("{{\"drySha\":\"{ID}\",\"definedAt\":\"{at}\",\"resolved\":\"v1\\\"4\"}}\n");
        assert_eq!(note.text(), text.as_bytes());
        assert_eq!(read_note(text.as_bytes()), Some(note));
        let half = format!("{{\"drySha\":\"{ID}\",\"definedAt\":\"1\",\"resolved\":\"v1\"}}");
        assert_eq!(read_note(half.as_bytes()), Some(Note { dry_commit: id, defined: None }));
    }

    #[test]
    fn metadata_of_any_hydrator() {
        let path = RepoPath::new("web/hydrator.metadata").expect("plain");
        let read = |text: &str| Provenance::read(&path, text.as_bytes());
        let argocd = format!("{{\n  \"repoURL\": \"https://example.com\",\n  \"drySha\": \"{ID}\"\n}}\n");
        let found = read(&argocd).expect("readable");
        assert_eq!(
            (found.dry_commit, found.dry_branch, found.repo_url.as_str()),
            (object_id(ID), None, "https://example.com")
        );
        let found = read(r#"{"drySha":"abc","dryBranch":"main"}"#).expect("readable");
        assert_eq!((found.dry_commit, found.dry_branch), (None, BranchName::new("main").ok()));
        assert!(found.applications.is_empty());
        let found = read(r#"{"applications":[{"metadata":{"name":"web","namespace":"argocd"}},{},1]}"#);
        assert_eq!(found.expect("readable").applications, ["web"]);
        let errors =
            [("{", "EOF while parsing an object at line 1 column 1"), (r#"{"drySha":1}"#, "`drySha` is not a string")];
        for (text, reason) in errors {
            let error = read(text).expect_err(text).to_string();
            assert_eq!(error, format!("web/hydrator.metadata of the hydrated branch cannot be read: {reason}"));
        }
    }
}
