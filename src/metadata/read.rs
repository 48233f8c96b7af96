//! What stands in hydrated branches already, whoever wrote it.

use crate::application::BranchName;
use crate::git::{ObjectId, object_id};
use crate::path::RepoPath;

use super::json::Fields;

/// The ref of the notes that name the dry commit of a hydrated commit.
pub const NOTES_REF: &str = "refs/notes/hydrator.metadata";

/// What a `hydrator.metadata` says, as far as a hydrator needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// `drySha`, when it is a full id in lower case; anything else names no commit for sure.
    pub dry_commit: Option<ObjectId>,
    /// `dryBranch`, in a destination path of the profile `proposal`.
    pub dry_branch: Option<BranchName>,
    /// `repoURL`, or empty.
    pub repo_url: String,
}

/// Why a `hydrator.metadata` can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} of the hydrated branch can't be read: {reason}")]
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
            repo_url: text("repoURL")?.to_owned(),
        })
    }
}

/// The note of a hydrated commit that is made of, or equal to what is made of, `dry_commit`.
///
/// Reference: Argo CD writes the same bytes, by `git notes add -m`, which adds the newline.
pub fn note(dry_commit: ObjectId) -> Vec<u8> {
    format!("{{\"drySha\":\"{dry_commit}\"}}\n").into_bytes()
}

/// The dry commit that a note names; none for a note that isn't such a note, as for GitOps Promoter.
pub fn read_note(text: &[u8]) -> Option<ObjectId> {
    full_id(Fields::parse(text).ok()?.text("drySha").ok()?)
}

/// Reads 40 or 64 hexadecimal digits in lower case.
pub(super) fn full_id(text: &str) -> Option<ObjectId> {
    let is_lower_hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if is_lower_hex { object_id(text) } else { None }
}
