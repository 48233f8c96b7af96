//! What active branches had when hydration saw them last.
//!
//! A promoter writes them, and a button of a platform deletes them, where no hook runs. Of each there is a ref
//! `refs/hydrate/promoted/BRANCH`, in which `/` is `%2F`: it says what was there, and keeps git from pruning it.

use super::branch_records::BranchRecords;
use crate::argo::BranchName;
use crate::repo::{Expected, ObjectId, RefEdit, Refs};

/// What begins the names of the refs.
const PREFIX: &str = "refs/hydrate/promoted/";

/// The name of the ref of an active branch: one level, so that no branch is in the way of another.
fn name_of(branch: &BranchName) -> String {
    format!("{PREFIX}{}", branch.as_str().replace('%', "%25").replace('/', "%2F"))
}

/// Where an active branch was when hydration saw it last; none where nothing was promoted to it.
pub(crate) fn last_seen(branch: &BranchName, refs: &Refs) -> Option<ObjectId> {
    refs.get(&name_of(branch))
}

/// Has a ref follow an active branch.
pub(crate) fn follow(branch: &BranchName, tip: ObjectId, refs: &Refs) -> RefEdit {
    let name = name_of(branch);
    let expected = Expected::from(refs.get(&name));
    RefEdit { name, new: Some(tip), expected }
}

/// The refs that are to move, by the records as they shall be. One of a branch that is gone, or that is empty again, stays.
pub(crate) fn moves(
    records: &BranchRecords,
    refs: &Refs,
    tip: impl Fn(&BranchName) -> Option<ObjectId>,
) -> Vec<RefEdit> {
    let active = records.iter().filter(|(branch, record)| record.initial && branch.destination().is_none());
    let active: Vec<_> = active.collect();
    let promoted = active.iter().filter_map(|(branch, record)| {
        let tip = tip(branch).filter(|tip| *tip != record.tip && last_seen(branch, refs) != Some(*tip))?;
        Some(follow(branch, tip, refs))
    });
    let names: Vec<String> = active.iter().map(|(branch, _)| name_of(branch)).collect();
    let kept = refs.below(PREFIX).map(|(rest, tip)| (format!("{PREFIX}{rest}"), tip));
    let forgotten = kept.filter(|(name, _)| !names.contains(name));
    let forget = |(name, tip)| RefEdit { name, new: None, expected: Expected::from(Some(tip)) };
    promoted.chain(forgotten.map(forget)).collect()
}
