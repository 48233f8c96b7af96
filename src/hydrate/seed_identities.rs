//! What Applications draw random values for that moved since they drew first, as commits and records say.

use std::collections::BTreeSet;

use super::branch_records::{BranchRecords, RECORDS_REF};
use super::standing;
use crate::application::{BranchName, SeedIdentities, SeedIdentity};
use crate::git::{Commit, Error, ObjectBuffer, Refs};
use crate::metadata::Trailers;

/// Those of Applications that moved to `branch`, as the nearest hydrated commit from `tip` on says.
///
/// Errors: the repository.
pub(super) fn identities_at(
    tip: &Commit,
    branch: &BranchName,
    buffer: &ObjectBuffer<'_>,
) -> Result<SeedIdentities, Error> {
    let trailers = standing::nearest(tip, buffer, |trailers| trailers.branch == *branch)?;
    Ok(trailers.as_ref().map(claimed).unwrap_or_default())
}

/// Those that a commit with these trailers was made with.
pub(super) fn claimed(trailers: &Trailers) -> SeedIdentities {
    trailers.identities.iter().map(|identity| (identity.on(&trailers.branch), identity.clone())).collect()
}

/// Those of all branches, as the records say; none where there are none that can be read.
pub(super) fn recorded(refs: &Refs, buffer: &ObjectBuffer<'_>) -> SeedIdentities {
    let mut identities = SeedIdentities::new();
    for (branch, record) in read(refs, buffer).unwrap_or_default().iter() {
        let drawn = record.drawn.iter().flat_map(|drawn| drawn.values());
        identities.extend(drawn.map(|drawn| (drawn.identity.on(branch), drawn.identity.clone())));
    }
    identities
}

/// What all Applications with random values draw for, as the records say; none where they do not know of all.
pub(super) fn drew(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Option<BTreeSet<SeedIdentity>> {
    let mut identities = BTreeSet::new();
    for (_, record) in read(refs, buffer)?.iter() {
        identities.extend(record.drawn.as_ref()?.values().map(|drawn| drawn.identity.clone()));
    }
    Some(identities)
}

fn read(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Option<BranchRecords> {
    match refs.get(RECORDS_REF) {
        Some(tip) => BranchRecords::read(tip, buffer).ok(),
        None => Some(BranchRecords::default()),
    }
}
