//! What a repository says to a worker, which anyone who can push may have written: records, notes, and what commits say of
//! themselves on branches that are not protected.
//!
//! What counts is what protection covers: the dry branches and the environment branches. The rest is taken as far as these
//! bear it out. Where it is wrong, the same is found out again by hydrating, which costs time and changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::branch_records::{BranchRecord, BranchRecords, hydrated_below};
use super::files::METADATA;
use super::place::Place;
use super::policy::files_of;
use super::standing::{Standing, defined_by, provenance};
use crate::argo::{BranchName, OUT};
use crate::metadata::{ENGINE_REVISION, Trailers};
use crate::repo::{Error, ObjectBuffer, ObjectId, Refs, Repository};
use crate::settings::Settings;

/// The records of the branches that end with a commit of hydration from a dry branch, as the commit says; of `kept`, which is
/// what the repository keeps, those that say the same.
///
/// A dry branch is one that the settings name, or `HEAD` does; or one that is gone, since nothing is hydrated from that.
pub(crate) fn records(
    kept: BranchRecords,
    place: &Place,
    refs: &Refs,
    (settings, settings_commit): (&Settings, Option<ObjectId>),
    buffer: &ObjectBuffer<'_>,
) -> BranchRecords {
    let set = &settings.dry_branches;
    let head = place.head(refs).filter(|_| set.is_empty());
    let dry_branches: BTreeSet<&BranchName> = set.iter().chain(&head).collect();
    let is_dry = |branch: &BranchName| dry_branches.contains(branch) || place.tip(refs, branch).is_none();
    let mut found = BTreeMap::new();
    for (branch, tip) in place.branches(refs) {
        if dry_branches.contains(&branch) {
            continue;
        }
        let old = kept.get(&branch);
        let claimed = hydrated_below(tip, buffer).filter(|(_, trailers)| trailers.branch == branch);
        let record = match claimed.filter(|(_, trailers)| is_dry(&trailers.dry_branch)) {
            Some((commit, trailers)) => {
                Some(merged(old, BranchRecord::of(&commit, trailers), settings_commit, &is_dry, buffer))
            }
            None => old.filter(|record| is_start_of(record, &branch, tip, buffer)).cloned(),
        };
        found.extend(record.map(|record| (branch, record)));
    }
    kept.corrected(found)
}

/// The records as a clone fetched them, which may be anyone's: what a commit of hydration says of itself goes before what is
/// recorded of the branch that ends with it. So no record hides that a branch is hydrated from a dry branch, nor by which
/// settings its Applications are found.
pub(crate) fn in_clone(
    kept: BranchRecords,
    place: &Place,
    refs: &Refs,
    settings: &Settings,
    buffer: &ObjectBuffer<'_>,
) -> BranchRecords {
    let head = place.head(refs);
    let is_named = |branch: &BranchName| settings.dry_branches.contains(branch) || head.as_ref() == Some(branch);
    let is_dry = |branch: &BranchName| place.doubts_settings() || is_named(branch);
    let mut found: BTreeMap<BranchName, BranchRecord> =
        kept.iter().map(|(branch, record)| (branch.clone(), record.clone())).collect();
    for (branch, tip) in place.branches(refs) {
        let claimed = hydrated_below(tip, buffer).filter(|(_, trailers)| trailers.branch == branch);
        let Some((commit, trailers)) = claimed else { continue };
        let claimed = BranchRecord::of(&commit, trailers);
        let record = match kept.get(&branch).filter(|record| record.is_of(tip, buffer.repository())) {
            None => claimed,
            Some(kept) => {
                // A dry branch that was renamed is recorded under its new name before any commit has it.
                let is_renamed = place.tip(refs, &claimed.dry_branch).is_none() || !is_dry(&claimed.dry_branch);
                let dry_branch = if is_renamed { kept.dry_branch.clone() } else { claimed.dry_branch };
                let (settings, initial) = (claimed.settings, claimed.initial);
                BranchRecord { dry_branch, settings, initial, other_settings: BTreeMap::new(), ..kept.clone() }
            }
        };
        found.insert(branch, record);
    }
    kept.corrected(found)
}

/// The record that is kept of a branch, if it is of the same commit as what the commit claims.
fn merged(
    kept: Option<&BranchRecord>,
    claimed: BranchRecord,
    settings_commit: Option<ObjectId>,
    is_dry: &dyn Fn(&BranchName) -> bool,
    buffer: &ObjectBuffer<'_>,
) -> BranchRecord {
    let same = |kept: &&BranchRecord| {
        kept.tip == claimed.tip && kept.dry_branch == claimed.dry_branch && kept.initial == claimed.initial
    };
    let Some(kept) = kept.filter(same) else { return claimed };
    // Settings that led to those of now.
    let led_here = |id: &ObjectId| settings_commit.is_some_and(|now| buffer.repository().is_ancestor(*id, now));
    let others = kept.others.iter().filter(|(branch, _)| is_dry(branch));
    let other_settings = kept.other_settings.iter().filter(|(branch, id)| is_dry(branch) && led_here(id));
    BranchRecord {
        settings: kept.settings.filter(led_here).or(claimed.settings),
        others: others.map(|(branch, id)| (branch.clone(), *id)).collect(),
        other_settings: other_settings.map(|(branch, id)| (branch.clone(), *id)).collect(),
        ..kept.clone()
    }
}

/// Whether a record is of the empty commit of hydration that a branch starts with, which a promoter writes.
fn is_start_of(record: &BranchRecord, branch: &BranchName, tip: ObjectId, buffer: &ObjectBuffer<'_>) -> bool {
    let Ok(commit) = buffer.commit(record.tip) else { return false };
    let is_its = Trailers::read(&commit.message).is_some_and(|trailers| trailers.branch == *branch);
    record.initial && commit.parents.is_empty() && is_its && buffer.repository().is_ancestor(commit.id, tip)
}

/// The standing of a branch as its own files bear it out: the dry commit of a note or a record counts where it comes
/// after the one that the branch was made from, and the branch is rendered once more to see whether it is right.
///
/// Errors: the branch cannot be read.
pub(crate) fn borne_out(standing: Standing, buffer: &ObjectBuffer<'_>) -> Result<Standing, Error> {
    let shown = provenance(buffer, standing.tip.tree, METADATA)?.and_then(|found| found.dry_commit);
    let (recorded, source) = match shown {
        Some(shown) => defined_by(&standing.tip, shown, buffer)?,
        None => (None, None),
    };
    let recorded = recorded.filter(|dry| buffer.commit(*dry).is_ok());
    let is_after = |dry: &ObjectId| recorded.is_none_or(|recorded| buffer.repository().is_ancestor(recorded, *dry));
    let dry = standing.dry.filter(is_after).or(recorded);
    // What a note says of a tag is found out again.
    let source = if recorded.is_some() { source } else { standing.source };
    Ok(Standing { dry, source, noted: false, is_as_made: false, ..standing })
}

/// Like [`borne_out`], but in a clone. What another revision of the engine made stays as it is where no dry commit
/// touches it, on the server and so here; what this revision made is compared with what it makes.
///
/// That another revision made it, anyone says who may write the branch. So it counts only where the dry commit is one of the dry
/// branch, whose tip is `dry_tip`: then all that comes after it is shown. A commit that claims to be made from what is still
/// under review is not believed.
///
/// Errors: the branch cannot be read.
pub(crate) fn borne_out_in_clone(
    standing: Standing,
    dry_tip: Option<ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> Result<Standing, Error> {
    let trailers = Trailers::read(&standing.tip.message);
    let is_of_other_engine = trailers.is_some_and(|trailers| trailers.engine != ENGINE_REVISION);
    let noted = standing.noted;
    let standing = borne_out(standing, buffer)?;
    let is_reviewed = || {
        let on_branch = |(dry, tip)| buffer.repository().is_ancestor(dry, tip);
        standing.dry.zip(dry_tip).is_some_and(on_branch)
    };
    let is_as_made = noted && is_of_other_engine && is_reviewed();
    Ok(Standing { is_as_made, ..standing })
}

/// The dry commits that branches of a repository say they were made from, as far as they are here.
///
/// Errors: refs cannot be read.
pub(crate) fn dry_commits_of_branches(repository: &Repository) -> Result<BTreeSet<ObjectId>, Error> {
    of_branches(repository, |trailers| Some(trailers.dry_commit))
}

/// The commits of settings that branches of a repository say they were hydrated with last, as far as they are here and can
/// be read as settings.
///
/// Errors: refs cannot be read.
pub(crate) fn settings_of_branches(repository: &Repository) -> Result<BTreeSet<ObjectId>, Error> {
    let buffer = ObjectBuffer::new(repository);
    let mut found = of_branches(repository, |trailers| trailers.settings_commit)?;
    found.retain(|id| files_of(Some(*id), &buffer).is_ok());
    Ok(found)
}

/// Whether a commit of hydration for the other repository that `branch` is of is at the end of `tip`, as it says itself.
pub(crate) fn is_claimed(branch: &BranchName, tip: ObjectId, buffer: &ObjectBuffer<'_>) -> bool {
    let claimed = hydrated_below(tip, buffer).map(|(_, trailers)| trailers.branch);
    claimed.is_some_and(|claimed| claimed.destination() == branch.destination())
}

fn of_branches(
    repository: &Repository,
    what: impl Fn(&Trailers) -> Option<ObjectId>,
) -> Result<BTreeSet<ObjectId>, Error> {
    let buffer = ObjectBuffer::new(repository);
    let refs = repository.refs()?;
    let tips = refs.below("refs/heads/").chain(refs.below(OUT));
    let claimed = tips.filter_map(|(_, tip)| hydrated_below(tip, &buffer));
    Ok(claimed.filter_map(|(_, trailers)| what(&trailers)).filter(|id| repository.has(*id)).collect())
}
