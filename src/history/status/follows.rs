//! What the Applications of a branch follow that is a tag, a range or a commit, and what is ahead of the branch there.

use std::fmt;

use dry_files::diag::Diagnostic;
use serde::Serialize;

use crate::argo::BranchName;
use crate::hydrate::survey::Named;
use crate::owners::revisions::Follows;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::Standing;

/// What the Applications of a branch follow in place of a dry branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Followed {
    /// `targetRevision`.
    pub revision: String,
    /// The tag, or the id, that led to what the branch shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// What it leads to now, where the branch does not show that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Ahead>,
    /// Why it leads nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Diagnostic>,
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
    pub(super) fn of(
        named: &Named,
        branch: &BranchName,
        standing: Option<&Standing>,
        found: &Snapshot<'_>,
    ) -> Option<Self> {
        let revision = named.revision.clone()?;
        let shown = standing.and_then(|standing| standing.source.as_ref());
        let mut followed =
            Self { revision, shown: shown.map(|shown| shown.resolved.clone()), ahead: None, problem: None };
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
