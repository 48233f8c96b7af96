//! Finds commits that take a deployed (sync) branch back to something older, without being a promotion or a restore.

use std::collections::BTreeSet;

use super::deployed;
use super::files::METADATA;
use super::snapshot::Snapshot;
use super::standing::line;
use crate::argo::{BranchName, directory_promoted_from};
use crate::metadata::{PROMOTIONS_REF, restored_from};
use crate::repo::{Commit, Error, Mode, Notes, ObjectBuffer, ObjectId};

/// A commit of an active branch that shows what was promoted before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WentBack {
    /// The commit.
    pub by: ObjectId,
    /// The staging branch whose promotion it takes back.
    pub staging: BranchName,
    /// The directory that is promoted from there on its own.
    pub directory: Option<String>,
    /// The hydrated commit that the branch shows now.
    pub shows: ObjectId,
    /// The commit of the active branch that showed it before.
    pub before: Option<ObjectId>,
    /// Whether a GitOps Promoter has noted promotions here.
    pub has_promoter: bool,
}

/// What took `active` back since hydration saw it last: it shows an older commit of one of its staging branches than then, by a commit that
/// does not say that it restores one.
///
/// A promotion is the newer of the two, so that as a rule one commit of the staging branch is looked at.
pub(crate) fn went_back(
    found: &Snapshot<'_>,
    staging: &BTreeSet<BranchName>,
    active: &BranchName,
    tip: ObjectId,
) -> Result<Option<WentBack>, Error> {
    let buffer = &found.buffer;
    let Some(old) = deployed::last_seen(active, &found.refs).filter(|old| *old != tip) else { return Ok(None) };
    let (tip, old) = (buffer.commit(tip)?, buffer.commit(old)?);
    for staged in staging {
        let directory = directory_promoted_from(staged, active);
        let record = found.records.get(staged).filter(|record| !record.initial);
        let Some(record) = record.filter(|_| directory.is_some() || staging.len() == 1) else { continue };
        let metadata = directory.map_or_else(|| METADATA.to_owned(), |directory| format!("{directory}/{METADATA}"));
        let of = |commit: &Commit| file(commit, &metadata, buffer);
        let (now, then) = (of(&tip)?, of(&old)?);
        let (Some(now), Some(then)) = (now, then) else { continue };
        let Some(shows) = older(record.tip, (now, then), &of, buffer)? else { continue };
        let (by, before) = brought(&tip, now, &of, buffer)?;
        if says_so(&by, found)? {
            continue;
        }
        return Ok(Some(WentBack {
            by: by.id,
            staging: staged.clone(),
            directory: directory.map(str::to_owned),
            shows,
            before,
            has_promoter: found.refs.get(PROMOTIONS_REF).is_some(),
        }));
    }
    Ok(None)
}

fn file(commit: &Commit, path: &str, buffer: &ObjectBuffer<'_>) -> Result<Option<ObjectId>, Error> {
    Ok(match buffer.entry(commit.tree, path)? {
        Some((Mode::File | Mode::Executable, blob)) => Some(blob),
        _ => None,
    })
}

/// The newest commit of a staging branch with the metadata `now`, where a newer one has `then`.
fn older(
    staged: ObjectId,
    (now, then): (ObjectId, ObjectId),
    of: &dyn Fn(&Commit) -> Result<Option<ObjectId>, Error>,
    buffer: &ObjectBuffer<'_>,
) -> Result<Option<ObjectId>, Error> {
    let mut is_below = false;
    for commit in line(&buffer.commit(staged)?, buffer) {
        let commit = commit?;
        let shown = of(&commit)?;
        if shown == Some(now) {
            return Ok(is_below.then_some(commit.id));
        }
        is_below = is_below || shown == Some(then);
    }
    Ok(None)
}

/// The commit from which on an active branch shows what its tip does, and the one that showed it before.
fn brought(
    tip: &Commit,
    now: ObjectId,
    of: &dyn Fn(&Commit) -> Result<Option<ObjectId>, Error>,
    buffer: &ObjectBuffer<'_>,
) -> Result<(Commit, Option<ObjectId>), Error> {
    let (mut by, mut is_above) = (tip.clone(), true);
    for commit in line(tip, buffer) {
        let commit = commit?;
        match of(&commit)? == Some(now) {
            true if is_above => by = commit,
            true => return Ok((by, Some(commit.id))),
            false => is_above = false,
        }
    }
    Ok((by, None))
}

/// Whether a commit, or Promoter's note of it, names a commit that it restores.
fn says_so(commit: &Commit, found: &Snapshot<'_>) -> Result<bool, Error> {
    let buffer = &found.buffer;
    let notes = found.refs.get(PROMOTIONS_REF).map(|tip| buffer.commit(tip)).transpose()?;
    let note = Notes::open(notes.map(|commit| commit.tree), buffer)?.get(commit.id, buffer)?;
    Ok(restored_from(&commit.message, note.as_deref()).is_some())
}
