//! Branches that were probably made by a slip of the pen: young ones that have nearly the name of an older one.

use super::{BranchState, BranchStatus};
use crate::argo::is_near_branch;
use crate::owners::error::HydrateError;
use crate::repo::{ObjectId, Repository, object_id};

/// A branch with so many commits has a name of its own.
const YOUNG_MAX: usize = 10;

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
            let own = age(repository, own)?;
            if own < YOUNG_MAX && own < age(repository, tip)? {
                status.near = Some(other.clone());
            }
        }
    }
    Ok(())
}

/// How many commits a branch has, up to [`YOUNG_MAX`].
fn age(repository: &Repository, tip: ObjectId) -> Result<usize, HydrateError> {
    let (mut age, mut next) = (0, repository.has(tip).then_some(tip));
    while let Some(commit) = next.filter(|_| age < YOUNG_MAX) {
        (age, next) = (age + 1, repository.first_parent(commit)?);
    }
    Ok(age)
}
