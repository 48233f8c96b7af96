//! Branches that were probably made by a slip of the pen: young ones that have nearly the name of an older one.

use super::{BranchState, BranchStatus};
use crate::argo::is_near_branch;
use crate::owners::error::HydrateError;
use crate::repo::{ObjectId, Repository, object_id};

/// Names to each young branch the older one of nearly its name.
///
/// Errors: the repository cannot be read.
pub(super) fn note_near(repository: &Repository, all: &mut [BranchStatus]) -> Result<(), HydrateError> {
    let is_here = |status: &&BranchStatus| status.state == BranchState::Hydrated;
    let here: Vec<(String, Option<ObjectId>)> =
        all.iter().filter(is_here).map(|status| (status.branch.clone(), object_id(&status.tip))).collect();
    for status in all.iter_mut().filter(|status| status.state == BranchState::Hydrated && status.is_named) {
        let near = here.iter().filter(|(other, _)| is_near_branch(&status.branch, other));
        for (other, tip) in near {
            let (Some(own), Some(tip)) = (object_id(&status.tip), *tip) else { continue };
            if repository.is_younger(own, tip)? {
                status.near = Some(other.clone());
            }
        }
    }
    Ok(())
}
