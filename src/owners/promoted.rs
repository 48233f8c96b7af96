//! Finds files on a deployed (sync) branch that came from no promotion.

use std::collections::{BTreeMap, BTreeSet};

use super::files::METADATA;
use super::ours::{has_same_files, our_changes};
use super::snapshot::Snapshot;
use super::standing::line;
use crate::argo::BranchName;
use crate::metadata::Trailers;
use crate::repo::{Commit, Error, ObjectBuffer, ObjectId};
use dry_files::diag::shell_word;

/// The files in which the tip of a sync branch differs from what was last made for it, when that is not a hydrated commit of
/// its staging branch. Where several are promoted to it, each directory may be of any hydrated commit of theirs.
pub(crate) fn not_promoted(
    found: &Snapshot<'_>,
    staging: &BTreeSet<BranchName>,
    active: &BranchName,
    tip: ObjectId,
) -> Result<Vec<String>, Error> {
    let buffer = &found.buffer;
    let is_whole = !found.policy.settings.is_shared(active);
    let record = |name| found.records.get(name).filter(|record| !record.initial).map(|record| record.tip);
    let Some(staged) = staging.iter().map(record).collect::<Option<Vec<_>>>().filter(|_| is_whole) else {
        return Ok(Vec::new());
    };
    let is_as_found = found.records.get(active).is_some_and(|record| record.tip == tip);
    let shown = buffer.commit(tip)?.tree;
    if is_as_found || shown == buffer.empty_tree_id() {
        return Ok(Vec::new());
    }
    match staged[..] {
        [] => Ok(Vec::new()),
        [staged] => changed_as_a_whole(staged, shown, buffer),
        _ => changed_by_directory(&staged, shown, buffer),
    }
}

/// The newest commit of a sync branch that changed a file of it.
pub(crate) fn last_changed(tip: ObjectId, file: &str, buffer: &ObjectBuffer<'_>) -> Result<Commit, Error> {
    let mut here = buffer.commit(tip)?;
    let shown = buffer.entry(here.tree, file)?;
    for commit in line(&here.clone(), buffer).skip(1) {
        let commit = commit?;
        if buffer.entry(commit.tree, file)? != shown {
            break;
        }
        here = commit;
    }
    Ok(here)
}

/// What undoes a commit that changed files of a sync branch, by hand on that branch: a merge brought a promotion with it.
pub(crate) fn undoing(commit: &Commit, files: &[String]) -> String {
    let id = commit.id.to_hex_with_len(7);
    match commit.parents.len() {
        0 | 1 => format!("git revert --no-edit {id}"),
        _ => {
            let files: Vec<_> = files.iter().map(|file| shell_word(file)).collect();
            format!("git checkout {id}^2 -- {} && git commit -m 'As hydrated'", files.join(" "))
        }
    }
}

/// What differs from the commit of `staged` that is most like what is shown, the newest of these, unless one has just that.
fn changed_as_a_whole(staged: ObjectId, shown: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<Vec<String>, Error> {
    let (mut nearest, mut ends) = (None::<Vec<String>>, false);
    for commit in line(&buffer.commit(staged)?, buffer) {
        let commit = commit?;
        ends = commit.parents.is_empty();
        if !is_hydrated(&commit, buffer) {
            continue;
        }
        let changes = our_changes(commit.tree, shown, &[commit.tree], buffer)?;
        if changes.is_empty() {
            return Ok(changes);
        }
        if nearest.as_ref().is_none_or(|nearest| changes.len() < nearest.len()) {
            nearest = Some(changes);
        }
    }
    // What was promoted may be older than the commits that were looked at.
    Ok(nearest.filter(|_| ends).unwrap_or_default())
}

/// What differs in the directories that no commit of any staging branch has as they are shown.
fn changed_by_directory(staged: &[ObjectId], shown: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<Vec<String>, Error> {
    let mut changed = BTreeMap::new();
    for tip in staged {
        let newest = line(&buffer.commit(*tip)?, buffer).next().transpose()?.map_or(shown, |commit| commit.tree);
        for (dir, paths) in by_directory(our_changes(newest, shown, &[newest, shown], buffer)?) {
            let metadata = if dir.is_empty() { METADATA.to_owned() } else { format!("{dir}/{METADATA}") };
            if buffer.entry(newest, &metadata)?.is_some() || !changed.contains_key(&dir) {
                changed.insert(dir, paths);
            }
        }
    }
    for tip in staged {
        let mut ends = false;
        for commit in line(&buffer.commit(*tip)?, buffer) {
            let commit = commit?;
            ends = commit.parents.is_empty();
            if is_hydrated(&commit, buffer) {
                for dir in changed.keys().cloned().collect::<Vec<_>>() {
                    if has_same_files(&dir, commit.tree, shown, buffer)? {
                        changed.remove(&dir);
                    }
                }
            }
            if changed.is_empty() {
                return Ok(Vec::new());
            }
        }
        // What was promoted may be older than the commits that were looked at.
        if !ends {
            return Ok(Vec::new());
        }
    }
    Ok(changed.into_values().flatten().collect())
}

fn by_directory(paths: Vec<String>) -> BTreeMap<String, Vec<String>> {
    let mut by: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in paths {
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        by.entry(dir.to_owned()).or_default().push(path);
    }
    by
}

fn is_hydrated(commit: &Commit, buffer: &ObjectBuffer<'_>) -> bool {
    commit.tree != buffer.empty_tree_id() && Trailers::read(&commit.message).is_some()
}
