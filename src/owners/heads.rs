//! The dry branches, and the commits that a branch has not seen.

use std::collections::{BTreeMap, BTreeSet};

use super::branch_records::{BranchRecords, RECORDS_REF, hydrated_below};
use super::claims;
use super::dry_branches::DryBranches;
use super::error::HydrateError;
use super::place::Place;
use super::policy::Policy;
use super::setup::Wake;
use crate::argo::BranchName;
use crate::metadata::NOTES_REF;
use crate::repo::{Error, Notes, ObjectBuffer, ObjectId, Refs, Repository};
use crate::settings::Settings;

/// How many commits a dry branch may be ahead of an environment branch; beyond them only its tip is hydrated.
pub(crate) const BACKLOG_MAX: usize = 100_000;

/// A dry branch and the commit that is its tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DryHead {
    pub branch: BranchName,
    pub tip: ObjectId,
}

/// The branches that hydration writes and that exist, each with the dry branch that it was written from last; but for
/// `copies`, the branch of copies of Applications.
pub(crate) fn environments(
    place: &Place,
    refs: &Refs,
    records: &BranchRecords,
    copies: Option<&BranchName>,
) -> BTreeMap<BranchName, BranchName> {
    let hydrated = records.iter().filter(|(branch, record)| !record.initial && place.tip(refs, branch).is_some());
    let hydrated = hydrated.filter(|(branch, _)| Some(*branch) != copies);
    hydrated.map(|(branch, record)| (branch.clone(), record.dry_branch.clone())).collect()
}

/// The records of a repository as they are read, and what keeps them from being read.
pub(crate) fn records(
    place: &Place,
    refs: &Refs,
    (settings, settings_commit): (&Settings, Option<ObjectId>),
    notes: &mut Notes,
    buffer: &ObjectBuffer<'_>,
) -> Result<(BranchRecords, Option<Error>), Error> {
    let kept = match refs.get(RECORDS_REF) {
        _ if refs.is_broken(RECORDS_REF) => Err(Error::message("git cannot read it")),
        Some(tip) => BranchRecords::read(tip, buffer).map(Some),
        None => Ok(None),
    };
    if !place.believes_records() {
        let (kept, fault) = match kept {
            Ok(kept) => (kept.unwrap_or_default(), None),
            Err(fault) => (BranchRecords::default(), Some(fault)),
        };
        return Ok((claims::records(kept, place, refs, (settings, settings_commit), buffer), fault));
    }
    let (mut records, fault) = match kept {
        Ok(Some(records)) => (records, None),
        Ok(None) => (BranchRecords::from_notes(place, refs, notes, buffer)?, None),
        Err(fault) => (BranchRecords::from_notes(place, refs, notes, buffer)?, Some(fault)),
    };
    // A server that found its dry branches has recorded what it made: a clone of one without records knows that there is
    // nothing.
    let has_made_none = place.is_of_clone() && refs.get(RECORDS_REF).is_none() && !settings.dry_branches.is_empty();
    if place.believes_commits() && !has_made_none {
        records = claims::in_clone(records, place, refs, settings, buffer);
    }
    Ok((records, fault))
}

/// The dry branches of a repository: those of the setting, else those that it should have.
pub(crate) fn dry_branches(repository: &Repository, place: &Place) -> Result<BTreeSet<BranchName>, HydrateError> {
    let policy = Policy::read(&repository.refs()?, &ObjectBuffer::new(repository))?;
    dry_branches_by(&policy, repository, place)
}

/// The dry branches of a repository by a policy that may not be its own yet.
pub(crate) fn dry_branches_by(
    policy: &Policy,
    repository: &Repository,
    place: &Place,
) -> Result<BTreeSet<BranchName>, HydrateError> {
    let (refs, buffer) = (repository.refs()?, ObjectBuffer::new(repository));
    let mut notes = recorded_notes(&refs, &buffer)?;
    let (records, _) = records(place, &refs, (&policy.settings, policy.id), &mut notes, &buffer)?;
    let (dry, _) = DryBranches::find(&Wake::Everything, place, &refs, &policy.settings, &records);
    let mut dry: BTreeSet<BranchName> = dry.into_iter().collect();
    if place.is_of_clone() && place.believes_records() {
        // Whatever the settings say that were fetched, hydration goes on from where branches say they come from.
        let claimed = records.iter().map(|(_, record)| &record.dry_branch);
        dry.extend(claimed.filter(|branch| place.tip(&refs, branch).is_some()).cloned());
    }
    Ok(dry)
}

/// The notes of a repository; none where they cannot be read.
pub(crate) fn recorded_notes(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Result<Notes, Error> {
    let tree = refs.get(NOTES_REF).and_then(|tip| buffer.commit(tip).ok()).map(|commit| commit.tree);
    Notes::open(tree, buffer).or_else(|_| Notes::open(None, buffer))
}

/// The key in git's configuration that names the remote of the dry repository, where it is not the one to be expected.
pub(crate) const REMOTE: &str = "hydrate.remote";

/// The remote of the dry repository: the one that [`REMOTE`] names, else the only one, else `origin`.
pub(crate) fn dry_remote(repository: &Repository) -> Option<String> {
    if let Some(named) = repository.config(REMOTE) {
        return Some(named);
    }
    match &repository.remotes()[..] {
        [only] => Some(only.clone()),
        remotes => remotes.iter().find(|name| *name == "origin").cloned(),
    }
}

/// Of `branches` by name, those that have what hydration wrote: environment branches, and the sync branches of staging branches. Their
/// commits say so, or the records in the tree of the commit `records`: a promoter puts any number of commits on top of ours.
pub(crate) fn hydrated_branches(
    branches: &BTreeMap<String, ObjectId>,
    records: Option<ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> BTreeMap<String, ObjectId> {
    let records = records.and_then(|tip| BranchRecords::read(tip, buffer).ok()).unwrap_or_default();
    let recorded: BTreeSet<&str> = records.iter().map(|(branch, _)| branch.as_str()).collect();
    let is_hydrated = |(branch, tip): &(&String, &ObjectId)| {
        recorded.contains(branch.as_str()) || hydrated_below(**tip, buffer).is_some()
    };
    branches.iter().filter(is_hydrated).map(|(branch, tip)| (branch.clone(), *tip)).collect()
}

/// The dry branches that a wake-up asks for, with their tips, by name. One that does not exist is left out, and so is
/// a branch that hydration writes.
pub(crate) fn heads(
    wake: &Wake,
    place: &Place,
    refs: &Refs,
    dry_branches: &[BranchName],
    environments: &BTreeMap<BranchName, BranchName>,
) -> Vec<DryHead> {
    if let Wake::Commit { branch, tip } = wake {
        return vec![DryHead { branch: branch.clone(), tip: *tip }];
    }
    let branches: BTreeSet<&BranchName> =
        dry_branches.iter().filter(|branch| !environments.contains_key(*branch)).collect();
    let head = |branch: &BranchName| Some(DryHead { branch: branch.clone(), tip: place.tip(refs, branch)? });
    branches.into_iter().filter_map(head).collect()
}
