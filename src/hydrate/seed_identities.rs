//! What Applications draw random values for, where that is not their name on their branch, as commits and records say.

use std::collections::BTreeSet;

use super::branch_records::{BranchRecord, BranchRecords, RECORDS_REF};
use super::standing;
use crate::application::{Application, BranchName, HeldIdentities, SeedIdentities, SeedIdentity};
use crate::git::{Commit, Error, ObjectBuffer, Refs};
use crate::metadata::Trailers;

/// Those of Applications on `branch`, as the nearest hydrated commit from `tip` on says.
///
/// Errors: the repository.
pub(super) fn identities_at(
    tip: &Commit,
    branch: &BranchName,
    buffer: &ObjectBuffer<'_>,
) -> Result<HeldIdentities, Error> {
    let trailers = standing::nearest(tip, buffer, |trailers| trailers.branch == *branch)?;
    Ok(trailers.as_ref().map(claimed).unwrap_or_default())
}

/// Those that a commit with these trailers was made with.
pub(super) fn claimed(trailers: &Trailers) -> HeldIdentities {
    let mut identities = HeldIdentities::default();
    for held in &trailers.identities {
        identities.note(held.clone(), &trailers.branch);
    }
    identities
}

/// Those of a branch with this record, as the commit says that it names: that one is ours, whatever others put on top.
///
/// Errors: the repository.
pub(super) fn recorded_on(
    branch: &BranchName,
    record: &BranchRecord,
    is_shared: bool,
    buffer: &ObjectBuffer<'_>,
) -> Result<HeldIdentities, Error> {
    if record.initial || !buffer.repository().has(record.tip) {
        return Ok(HeldIdentities::default());
    }
    let identities = identities_at(&buffer.commit(record.tip)?, branch, buffer)?;
    Ok(if is_shared { identities } else { identities.all_of(&record.dry_branch) })
}

/// Those of Applications, as the records say; none where there are none that can be read.
///
/// Dry branches that share a branch may have Applications of one name there: the path tells them apart.
pub(super) fn recorded(applications: &[&Application], refs: &Refs, buffer: &ObjectBuffer<'_>) -> SeedIdentities {
    let records = read(refs, buffer).unwrap_or_default();
    let mut identities = SeedIdentities::new();
    for application in applications {
        let new = SeedIdentity::of(application);
        let record = records.get(application.environment_branch());
        let Some(drawn) = record.and_then(|record| record.drawn.as_ref()) else { continue };
        let here = drawn.get(&application.sync_path).into_iter().chain(drawn.values());
        let found = here.map(|drawn| &drawn.identity).find(|found| found.on(application.environment_branch()) == new);
        identities.extend(found.map(|found| (new, found.clone())));
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
