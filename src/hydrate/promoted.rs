//! What somebody put on a branch that is promoted to.

use super::ours::our_changes;
use super::snapshot::Snapshot;
use super::standing::line;
use crate::application::BranchName;
use crate::git::{self, ObjectId};
use crate::metadata::Trailers;

/// The files in which the tip of a sync branch differs from what was last made for it, when that is no hydrated commit of
/// its staging branch. Of one that several staging branches are promoted to, `git hydrate verify` tells.
pub(super) fn not_promoted(
    found: &Snapshot<'_>,
    staging: &BranchName,
    active: &BranchName,
    tip: ObjectId,
) -> Result<Vec<String>, git::Error> {
    let buffer = &found.buffer;
    let is_whole = found.rules.settings.active_paths(active).is_empty();
    let Some(record) = found.records.get(staging).filter(|record| !record.initial && is_whole) else {
        return Ok(Vec::new());
    };
    let is_as_found = found.records.get(active).is_some_and(|record| record.tip == tip);
    let shown = buffer.commit(tip)?.tree;
    if is_as_found || shown == buffer.empty_tree_id() {
        return Ok(Vec::new());
    }
    let (mut newest, mut ends) = (None, false);
    for commit in line(&buffer.commit(record.tip)?, buffer) {
        let commit = commit?;
        ends = commit.parents.is_empty();
        if commit.tree == buffer.empty_tree_id() || Trailers::read(&commit.message).is_none() {
            continue;
        }
        let changes = our_changes(commit.tree, shown, &[commit.tree], buffer)?;
        if changes.is_empty() {
            return Ok(changes);
        }
        newest.get_or_insert(changes);
    }
    // What was promoted may be older than the commits that were looked at.
    Ok(newest.filter(|_| ends).unwrap_or_default())
}
