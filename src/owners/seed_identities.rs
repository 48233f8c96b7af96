//! What Applications draw random values for, where that is not their name on their branch, as commits and records say.

use std::collections::BTreeSet;

use super::branch_records::{BranchRecord, BranchRecords, RECORDS_REF};
use super::standing;
use crate::argo::{Application, BranchName, DrawnPaths, HeldIdentities, SeedIdentities, SeedIdentity};
use crate::metadata::Trailers;
use crate::repo::{Commit, Error, ObjectBuffer, Refs};
use crate::settings::Settings;

/// Those of Applications on `branch`, as the nearest hydrated commit from `tip` on says.
///
/// Errors: the repository.
pub(crate) fn identities_at(
    tip: &Commit,
    branch: &BranchName,
    buffer: &ObjectBuffer<'_>,
) -> Result<HeldIdentities, Error> {
    let trailers = standing::nearest(tip, buffer, |trailers| trailers.branch == *branch)?;
    Ok(trailers.as_ref().map(claimed).unwrap_or_default())
}

/// Those that a commit with these trailers was made with.
pub(crate) fn claimed(trailers: &Trailers) -> HeldIdentities {
    let mut identities = HeldIdentities::default();
    for held in &trailers.identities {
        identities.note(held.clone(), &trailers.branch);
    }
    identities
}

/// Those of a branch with this record, as the commit says that it names: that one is ours, whatever others put on top. Its dry
/// branch may have another name by now.
///
/// Errors: the repository.
pub(crate) fn recorded_on(
    branch: &BranchName,
    record: &BranchRecord,
    buffer: &ObjectBuffer<'_>,
) -> Result<HeldIdentities, Error> {
    if record.initial || !buffer.repository().has(record.tip) {
        return Ok(HeldIdentities::default());
    }
    let trailers = standing::nearest(&buffer.commit(record.tip)?, buffer, |trailers| trailers.branch == *branch)?;
    let renamed = |trailers: &Trailers| claimed(trailers).renamed(&trailers.dry_branch, &record.dry_branch);
    Ok(trailers.as_ref().map(renamed).unwrap_or_default())
}

/// Those of Applications, as the records say; none where there are none that can be read.
pub(crate) fn recorded(
    applications: &[&Application],
    settings: &Settings,
    refs: &Refs,
    buffer: &ObjectBuffer<'_>,
) -> SeedIdentities {
    let records = read(refs, buffer).unwrap_or_default();
    let mut identities = SeedIdentities::new();
    for application in applications {
        let record = records.get(application.environment_branch());
        let Some(drawn) = record.and_then(|record| record.drawn.as_ref()) else { continue };
        let found = match settings.is_shared(application.environment_branch()) {
            true => of_sharing(application, drawn, settings),
            false => named_alike(application, drawn).next().cloned(),
        };
        identities.extend(found.map(|found| (SeedIdentity::of(application), found)));
    }
    identities
}

/// The identity that an Application draws for on a branch that dry branches share, where two may have one name: the
/// recorded one of its path, else of its dry branch, else the one of a new Application. None for its name.
fn of_sharing(application: &Application, drawn: &DrawnPaths, settings: &Settings) -> Option<SeedIdentity> {
    let (plain, branch) = (SeedIdentity::of(application), application.environment_branch());
    let at_path = drawn.get(&application.sync_path).map(|drawn| &drawn.identity);
    if let Some(found) = at_path.filter(|found| found.on(branch) == plain) {
        return Some(found.clone());
    }
    let first = settings.dry_branches.first();
    let dry_branch = match application.revision_name() {
        "HEAD" => first.cloned(),
        name => BranchName::new(name).ok(),
    }?;
    let is_first = first.is_none_or(|first| *first == dry_branch);
    let is_its = |identity: &&SeedIdentity| match identity.dry_branch() {
        Some(name) => name == dry_branch.as_str(),
        None => is_first,
    };
    let found = named_alike(application, drawn).find(is_its).cloned();
    found.or_else(|| (!is_first).then(|| plain.own_of(&dry_branch, 1)))
}

/// What Applications of this name on this branch draw for, the one at its path first.
fn named_alike<'d>(application: &Application, drawn: &'d DrawnPaths) -> impl Iterator<Item = &'d SeedIdentity> {
    let (plain, branch) = (SeedIdentity::of(application), application.environment_branch().clone());
    let here = drawn.get(&application.sync_path).into_iter().chain(drawn.values());
    here.map(|drawn| &drawn.identity).filter(move |found| found.on(&branch) == plain)
}

/// What all Applications with random values draw for, as the records say; none where they do not know of all.
pub(crate) fn drew(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Option<BTreeSet<SeedIdentity>> {
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
