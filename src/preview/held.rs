//! What other holds would make of environment branches.

use super::{Preview, compare, rehearsal};
use crate::argo::BranchName;
use crate::hydrate::make::branch::Branch;
use crate::owners::error::HydrateError;
use crate::owners::setup::Setup;
use crate::repo::ObjectBuffer;

/// Hydrates in memory, by holds that the repository of `setup` is read with, and says what becomes of one branch. It is as it would
/// be deployed now. Of a frozen branch of which nothing is held it is what is deployed when the freeze ends.
///
/// None for a branch that a promoter reads or writes: nothing of it is held.
pub(crate) fn preview_held(setup: &Setup<'_>, branch: &BranchName) -> Result<Option<Preview>, HydrateError> {
    let made = rehearsal::rehearse(setup, ObjectBuffer::new(setup.repository))?;
    let mut promoted = made.branches.values().filter(|one| one.sync != one.name);
    if promoted.any(|one| one.name == *branch || one.sync == *branch) || made.found.policy.settings.is_shared(branch) {
        return Ok(None);
    }
    let is_own = |one: &Branch| (one.name == *branch).then(|| one.base());
    let own = made.branches.get(branch).filter(|one| made.found.hold(&one.name, &one.sync).is_empty());
    if own.is_some_and(|one| made.found.frozen(&one.name, &one.sync).is_some()) {
        let thawed = rehearsal::thawed(setup);
        let made = rehearsal::rehearse(&thawed, ObjectBuffer::new(setup.repository))?;
        return compare(made, setup.now, &is_own, None).map(Some);
    }
    compare(made, None, &is_own, None).map(Some)
}
