//! Which branches are verified, and which are not where hydration left them.

use std::collections::{BTreeMap, BTreeSet};

use super::fault::{Fault, Line, Verified};
use super::promoted::Several;
use crate::argo::BranchName;
use crate::hydrate::survey::{Named, named};
use crate::owners::branch_records::RECORDS_REF;
use crate::owners::error::HydrateError;
use crate::owners::heads::hydrated_branches;
use crate::owners::place::Place;
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing;
use crate::repo::{ObjectBuffer, Repository};

/// The whole history of every hydrated branch, by name.
pub(crate) fn lines(repository: &Repository, place: &Place) -> Result<Vec<Line>, HydrateError> {
    let refs = repository.refs()?;
    let branches = place.branches(&refs).map(|(branch, tip)| (branch.to_string(), tip)).collect();
    let hydrated = hydrated_branches(&branches, refs.get(RECORDS_REF), &ObjectBuffer::new(repository));
    Ok(hydrated.into_iter().map(|(name, tip)| Line { name, tip, after: None }).collect())
}

/// The history of every branch that hydration recorded or that Applications name, by name: what commits of others say of
/// themselves calls for no audit.
pub(crate) fn audited(setup: &Setup<'_>) -> Result<Vec<Line>, HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let named = environments(&found)?;
    let names: BTreeSet<&BranchName> = named.keys().chain(found.records.iter().map(|(branch, _)| branch)).collect();
    let line = |branch: &BranchName| Some(Line { name: branch.to_string(), tip: found.tip(branch)?, after: None });
    Ok(names.into_iter().filter_map(line).collect())
}

/// The branches that are not where hydration left them, at the recorded commit or above it where a promoter moved them;
/// and those that Applications name and that somebody else made.
pub(crate) fn strayed(setup: &Setup<'_>) -> Result<Vec<Verified>, HydrateError> {
    let repository = setup.repository;
    let (found, mut ledger) = Snapshot::read(setup, ObjectBuffer::new(repository))?;
    let mut strayed = Vec::new();
    let (is_recorded, named) = (found.has_records(), environments(&found)?);
    for (branch, record) in found.records.iter().filter(|_| is_recorded) {
        let tip = found.tip(branch);
        // One that was deleted and that no Application names is not missed.
        if tip.is_none() && !named.contains_key(branch) {
            continue;
        }
        if !tip.is_some_and(|tip| tip == record.tip || repository.is_ancestor(record.tip, tip)) {
            let fault = Fault::Strayed { recorded: record.tip.to_string() };
            let mut verified = Verified::of(branch, tip);
            verified.find(tip.unwrap_or(record.tip), Some(record.dry_commit), [fault]);
            strayed.push(verified);
        }
    }
    for (branch, named) in &named {
        let Some(tip) = found.tip(branch).filter(|_| found.records.get(branch).is_none()) else { continue };
        let is_foreign = match named.is_environment {
            true => {
                let standing = found.standing(branch, tip, &named.dry_branch, &mut ledger.notes)?;
                standing.origin == standing::Origin::Foreign
            }
            false => named.is_foreign_active(branch, &found)?,
        };
        if is_foreign {
            let mut verified = Verified::of(branch, Some(tip));
            verified.find(tip, None, [Fault::NotHydrated]);
            strayed.push(verified);
        }
    }
    Ok(strayed)
}

/// The branches that Applications name, without those that nothing is hydrated to: dry branches.
fn environments(found: &Snapshot<'_>) -> Result<BTreeMap<BranchName, Named>, HydrateError> {
    let dry = found.every_dry_branch();
    let mut named = named(found)?;
    named.retain(|branch, _| !dry.contains(branch));
    Ok(named)
}

/// The branches that hydration alone writes, as Applications and records name them.
pub(super) fn unpromoted(found: &Snapshot<'_>) -> Result<BTreeSet<String>, HydrateError> {
    let named = named(found)?;
    let recorded = found.records.iter().filter(|(_, record)| !record.initial).map(|(branch, _)| branch);
    let alone = |branch: &&BranchName| {
        let is_promoted = named.get(*branch).is_some_and(|named| !named.is_environment || !named.staging.is_empty());
        !is_promoted && !found.policy.settings.is_shared(branch)
    };
    Ok(named.keys().chain(recorded).filter(alone).map(ToString::to_string).collect())
}

/// The staging branches of those that several are promoted to, not by directory.
pub(super) fn several(found: &Snapshot<'_>) -> Result<Several, HydrateError> {
    let is_whole = |branch: &BranchName| !found.policy.settings.is_shared(branch);
    let several = named(found)?.into_iter().filter(|(branch, named)| named.staging.len() > 1 && is_whole(branch));
    Ok(several.map(|(branch, named)| (branch.to_string(), named.staging)).collect())
}
