//! What keeps a branch back that is recorded nowhere but in the cache of the machine that found it: a limit of this machine, an
//! input that is awaited, an object that another dry branch has.

use std::collections::BTreeMap;

use super::BranchStatus;
use crate::hydrate::memory::{Attempt, Memory};
use crate::known::{Head, Stuck};
use crate::owners::snapshot::Snapshot;
use dry_files::diag::Diagnostic;

/// What branches were kept back by when the last run came to them, by dry branch and branch; and whether it is what others have.
pub(super) type Reached = BTreeMap<(String, String), (Stuck, bool)>;

/// What the last run here found of each dry branch; nothing where another machine ran, or where its limits are others now.
pub(super) fn reached(found: &Snapshot<'_>) -> Reached {
    let memory = Memory::new(found.setup.repository, &Attempt::default());
    let mut reached = Reached::new();
    for head in found.heads() {
        let Some(state) = memory.recall_in_place(&head, found) else { continue };
        let Head { stuck, taken, .. } = state.head;
        let taken = taken.into_iter().map(|taken| (taken, true));
        let all = taken.chain(stuck.into_iter().map(|stuck| (stuck, false)));
        let told = all.filter(|(stuck, _)| !stuck.limits.is_empty());
        reached.extend(told.map(|one| ((head.branch.to_string(), one.0.name.clone()), one)));
    }
    reached
}

/// Those of a branch, if it is where that run left it; and whether they are what others have.
pub(super) fn of(status: &BranchStatus, reached: &Reached) -> (Vec<Diagnostic>, bool) {
    let Some((stuck, is_taken)) = reached.get(&(status.dry_branch.clone(), status.branch.clone())) else {
        return Default::default();
    };
    // Where dry branches share a branch, others move it.
    let is_tip = *is_taken || stuck.tip.as_deref().unwrap_or_default() == status.tip;
    let is_there = is_tip && stuck.dry == status.dry_sha;
    // A failure that is recorded says more.
    let is_said = is_there && (!is_taken || status.failures.is_empty());
    if is_said { (stuck.limits.clone(), *is_taken) } else { Default::default() }
}
