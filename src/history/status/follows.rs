//! What the Applications of a branch follow that is a tag, a range or a commit, and what is ahead of the branch there.

use std::fmt;

use dry_files::diag::Diagnostic;
use serde::Serialize;

use crate::argo::{BranchName, Revision, newest_above};
use crate::hydrate::survey::Named;
use crate::metadata::Source;
use crate::owners::revisions::Follows;
use crate::owners::snapshot::Snapshot;

/// What the Applications of a branch follow in place of a dry branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Followed {
    /// `targetRevision`.
    pub revision: String,
    /// What that is.
    pub kind: RevisionKind,
    /// The tag, or the id, that led to what the branch shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// What it leads to now, where the branch does not show that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Ahead>,
    /// Why it leads nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Diagnostic>,
    /// The tag with the highest version above that of the tag which led to what the branch shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer_tag: Option<String>,
    /// How many commits its dry branch has that what the branch shows has not; none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_commits_ahead: Option<usize>,
}

/// What a `targetRevision` is that names no branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RevisionKind {
    /// The name of a tag.
    Tag,
    /// A range of versions.
    Range,
    /// The id of a commit.
    Commit,
}

impl RevisionKind {
    fn of(revision: &str) -> Self {
        match Revision::read(revision) {
            Revision::Tag(_) => Self::Tag,
            Revision::Range(..) => Self::Range,
            Revision::Commit(_) => Self::Commit,
        }
    }
}

/// What a tag, a range or an id leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ahead {
    /// The tag, or the id.
    pub resolved: String,
    /// The dry commit.
    pub dry_sha: String,
}

impl Followed {
    pub(super) fn of(named: &Named, branch: &BranchName, shown: Option<&Source>, found: &Snapshot<'_>) -> Option<Self> {
        let revision = named.revision.clone()?;
        let tags = found.refs.below("refs/tags/").map(|(tag, _)| tag);
        let newer = shown.and_then(|shown| newest_above(&shown.resolved, tags));
        let mut followed = Self {
            kind: RevisionKind::of(&revision),
            revision,
            shown: shown.map(|shown| shown.resolved.clone()),
            ahead: None,
            problem: None,
            newer_tag: newer.map(str::to_owned),
            dry_commits_ahead: found.tip(&named.dry_branch).zip(shown).and_then(|(tip, shown)| {
                let repository = found.setup.repository;
                repository.has(shown.commit).then(|| repository.count_beyond(shown.commit, tip)).flatten()
            }),
        };
        match found.follows(branch, &followed.revision, None, shown) {
            Follows::Source(source) if Some(&source) != shown => {
                followed.ahead = Some(Ahead { resolved: source.resolved, dry_sha: source.commit.to_string() });
            }
            Follows::Nothing(problem) => followed.problem = Some(problem),
            Follows::Source(_) | Follows::Branch => {}
        }
        Some(followed)
    }

    /// Whether the branch shows what it leads to.
    pub(crate) fn is_shown(&self) -> bool {
        self.ahead.is_none() && self.problem.is_none()
    }
}

/// `tag v1.4.0`, `~1.4 at v1.4.2`: what is followed, and what led to what is shown where that says more.
impl fmt::Display for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.revision)?;
        match self.shown.as_ref().filter(|shown| !self.revision.ends_with(shown.as_str())) {
            Some(shown) => write!(f, " at {shown}"),
            None => Ok(()),
        }
    }
}
