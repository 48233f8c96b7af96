//! The active branch of a staging branch: what is deployed, and what a promoter merges the staging branch into.
//!
//! Hydration starts a missing one with an empty commit and records that. One that exists without a record was made by
//! somebody, and a staging branch that is cut from it would carry whatever is on it.

use super::branch_records::BranchRecord;
use super::snapshot::Snapshot;
use super::standing::line;
use crate::argo::BranchName;
use crate::repo::{Commit, Error};

/// Who made an active branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Active {
    /// It does not exist.
    #[default]
    Missing,
    /// Hydration, as it recorded.
    Recorded,
    /// It is not recorded; it is empty, promoted from what hydration made, or handed over by an admin.
    Unrecorded {
        /// Whether an admin handed it over.
        is_adopted: bool,
    },
    /// Somebody else.
    Foreign,
}

impl Active {
    /// Who made `active`, the branch that `staging` is promoted to.
    ///
    /// Errors: its tip cannot be read.
    pub(crate) fn of(active: &BranchName, staging: &BranchName, found: &Snapshot<'_>) -> Result<Self, Error> {
        let Some(tip) = found.tip(active) else { return Ok(Self::Missing) };
        let is_of = |record: &BranchRecord| record.is_of(tip, found.buffer.repository());
        if found.records.get(active).is_some_and(is_of) {
            return Ok(Self::Recorded);
        }
        let commit = found.buffer.commit(tip)?;
        if found.policy.settings.adopt.contains(active) {
            return Ok(Self::Unrecorded { is_adopted: true });
        }
        let place = &found.setup.place;
        let believed = place.believes_commits() && !(place.believes_records() && found.has_records());
        let is_empty = commit.tree == found.buffer.empty_tree_id();
        Ok(match believed || is_empty || is_promoted(&commit, staging, found)? {
            true => Self::Unrecorded { is_adopted: false },
            false => Self::Foreign,
        })
    }
}

/// Whether a commit is one that the recorded tip of `staging` rests on, or has the very files of one.
fn is_promoted(commit: &Commit, staging: &BranchName, found: &Snapshot<'_>) -> Result<bool, Error> {
    let record = found.records.get(staging).filter(|record| !record.initial);
    let Some(Ok(tip)) = record.map(|record| found.buffer.commit(record.tip)) else { return Ok(false) };
    if found.buffer.repository().is_ancestor(commit.id, tip.id) {
        return Ok(true);
    }
    for hydrated in line(&tip, &found.buffer) {
        if hydrated?.tree == commit.tree {
            return Ok(true);
        }
    }
    Ok(false)
}
