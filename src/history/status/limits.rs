//! What keeps a branch back that is recorded nowhere but in the cache of the machine that found it: a limit of this machine.

use std::collections::BTreeMap;

use super::BranchStatus;
use crate::hydrate::memory::{Attempt, Memory};
use crate::known::Stuck;
use crate::owners::snapshot::Snapshot;
use dry_files::diag::Diagnostic;

/// What branches were kept back by when the last run came to them, by dry branch and branch.
pub(super) type Reached = BTreeMap<(String, String), Stuck>;

/// What the last run here found of each dry branch; nothing where another machine ran, or where its limits are others now.
pub(super) fn reached(found: &Snapshot<'_>) -> Reached {
    let memory = Memory::new(found.setup.repository, &Attempt::default());
    let mut reached = Reached::new();
    for head in found.heads() {
        let stuck = memory.recall_in_place(&head, found).map(|state| state.head.stuck).unwrap_or_default();
        let stuck = stuck.into_iter().filter(|stuck| !stuck.limits.is_empty());
        reached.extend(stuck.map(|stuck| ((head.branch.to_string(), stuck.name.clone()), stuck)));
    }
    reached
}

/// Those of a branch, if it is where that run left it.
pub(super) fn of(status: &BranchStatus, reached: &Reached) -> Vec<Diagnostic> {
    let stuck = reached.get(&(status.dry_branch.clone(), status.branch.clone()));
    let is_there =
        |stuck: &&Stuck| stuck.tip.as_deref().unwrap_or_default() == status.tip && stuck.dry == status.dry_sha;
    stuck.filter(is_there).map(|stuck| stuck.limits.clone()).unwrap_or_default()
}
