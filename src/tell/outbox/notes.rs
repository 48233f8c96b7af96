//! The notes of a destination: its own, with ours of the pushed commits.

use super::wanted::Wanted;
use crate::metadata::NOTES_REF;
use crate::repo::{self, NewCommit, Notes, ObjectBuffer, ObjectId};
use crate::tell::worker::moves::RefMove;

/// How many commits of a branch get their notes in one delivery; of more, the newest do.
const COMMITS_MAX: usize = 10_000;

/// The move of the notes of a destination, after which the commits of `moves` and the tips of the branches `noted` have ours. None
/// when they have them.
///
/// Errors: an object cannot be read or written.
pub(super) fn moved(
    wanted: &Wanted,
    moves: &[(String, RefMove)],
    noted: &[&str],
    old: Option<ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> Result<Option<RefMove>, repo::Error> {
    let old_tree = old.map(|old| buffer.commit(old)).transpose()?.map(|commit| commit.tree);
    let (mut ours, mut theirs) = (Notes::open(wanted.notes, buffer)?, Notes::open(old_tree, buffer)?);
    let tips = noted.iter().filter_map(|name| wanted.branches.get(*name)).filter(|want| !want.is_promoted);
    let mut commits: Vec<ObjectId> = tips.map(|want| want.tip).collect();
    for (_, it) in moves {
        commits.extend(line(it, buffer)?);
    }
    let mut is_changed = false;
    for commit in commits {
        let Some(text) = ours.get(commit, buffer)? else { continue };
        if theirs.get(commit, buffer)?.as_ref() != Some(&text) {
            theirs.set(commit, &text, buffer)?;
            is_changed = true;
        }
    }
    let newest = wanted.branches.values().filter_map(|want| buffer.commit(want.tip).ok());
    let Some(newest) = newest.max_by_key(|commit| commit.committer.seconds).filter(|_| is_changed) else {
        return Ok(None);
    };
    let new = buffer.write_commit(&NewCommit {
        tree: theirs.write(buffer)?,
        parents: old.into_iter().collect(),
        author: newest.committer.clone(),
        committer: newest.committer,
        message: "Notes added by git-hydrate\n".to_owned(),
    })?;
    // Loose objects that no ref here leads to: they are read by the push that follows.
    buffer.flush_loose()?;
    Ok(Some(RefMove { name: NOTES_REF.to_owned(), old, new }))
}

/// The commits that a move brings, along the first parents.
fn line(it: &RefMove, buffer: &ObjectBuffer<'_>) -> Result<Vec<ObjectId>, repo::Error> {
    let mut commits = Vec::new();
    let mut here = Some(it.new);
    while let Some(id) = here.filter(|id| Some(*id) != it.old && commits.len() < COMMITS_MAX) {
        commits.push(id);
        here = buffer.repository().first_parent(id)?;
    }
    Ok(commits)
}
