//! What other holds would make of environment branches.

use super::{Preview, compare, rehearsal};
use crate::argo::BranchName;
use crate::owners::error::HydrateError;
use crate::owners::setup::Setup;
use crate::repo::ObjectBuffer;

/// Hydrates in memory, by holds that the repository of `setup` is read with, and says what becomes of one branch. It is as it would
/// be deployed now: nothing of what is frozen is shown.
///
/// None for a branch that a promoter reads or writes: nothing of it is held.
pub(crate) fn preview_held(setup: &Setup<'_>, branch: &BranchName) -> Result<Option<Preview>, HydrateError> {
    let made = rehearsal::rehearse(setup, ObjectBuffer::new(setup.repository))?;
    let mut promoted = made.branches.values().filter(|one| one.sync != one.name);
    if promoted.any(|one| one.name == *branch || one.sync == *branch) || made.found.policy.settings.is_shared(branch) {
        return Ok(None);
    }
    compare(made, None, &|one| (one.name == *branch).then(|| one.base()), None).map(Some)
}
