//! An active branch that GitOps Promoter writes goes back by a commit and a note of the kind that Promoter makes itself: it reads
//! them, holds the promotion, and is who ends that.

use crate::argo::BranchName;
use crate::metadata::{PROMOTIONS_REF, restored_from, restoring_message, restoring_note};
use crate::owners::error::HydrateError;
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::repo::{Commit, Error, Mode, NewCommit, Notes, ObjectBuffer, ObjectId, Refs, Signature, TreeEdit};
use dry_files::path::RepoPath;

/// What goes back, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Restoring<'a> {
    /// The active branch.
    pub branch: &'a BranchName,
    /// Its tip.
    pub tip: ObjectId,
    /// The commit that is restored.
    pub target: ObjectId,
    /// The directory that is promoted on its own; none for the whole branch.
    pub directory: Option<&'a RepoPath>,
    /// Why.
    pub reason: &'a str,
    /// Who wants it.
    pub who: &'a Signature,
}

/// The commit and the commit of its note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Restored {
    /// On the active branch.
    pub commit: ObjectId,
    /// On [`PROMOTIONS_REF`].
    pub notes: ObjectId,
}

/// Why nothing is restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unrestored {
    /// No notes of promotions.
    #[error(
        "no Promoter has written {PROMOTIONS_REF} here: one before 0.38 does not read that a branch was restored, and would promote \
         the same change again"
    )]
    Unknown,
    /// Not in its history.
    #[error("{0} is not in the history of the branch")]
    Elsewhere(String),
    /// It is one itself.
    #[error("{0} restores another commit itself: name that one")]
    Itself(String),
    /// It is the same.
    #[error("the branch has just what {0} has")]
    Same(String),
}

/// Whether a commit took a branch, or the directory, back to `target` by itself, so that a promoter does not know of it.
fn is_taken_back_by_hand(
    commit: &Commit,
    target: &Commit,
    directory: Option<&RepoPath>,
    (notes, buffer): (&mut Notes, &ObjectBuffer<'_>),
) -> Result<bool, Error> {
    let [parent] = commit.parents[..] else { return Ok(false) };
    let is_declared = restored_from(&commit.message, notes.get(commit.id, buffer)?.as_deref()).is_some();
    let part = |tree| directory.map_or(Ok(Some((Mode::Directory, tree))), |dir| buffer.entry(tree, dir.as_str()));
    let is_change = part(buffer.commit(parent)?.tree)? != part(commit.tree)?;
    Ok(!is_declared && is_change && target.id != commit.id)
}

/// Whether a branch is the active branch of a promoter: what is promoted to it, hydration writes elsewhere.
pub(crate) fn is_active(setup: &Setup<'_>, branch: &BranchName) -> Result<bool, HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    Ok(found.records.get(branch).is_some_and(|record| record.initial))
}

/// Makes the commit and the note, in `buffer`.
///
/// Errors: the repository; within, why nothing is restored.
pub(crate) fn restore(
    wanted: Restoring<'_>,
    refs: &Refs,
    buffer: &ObjectBuffer<'_>,
) -> Result<Result<Restored, Unrestored>, Error> {
    let Restoring { branch, tip, target, directory, reason, who } = wanted;
    let short = target.to_hex_with_len(7).to_string();
    let Some(promotions) = refs.get(PROMOTIONS_REF) else { return Ok(Err(Unrestored::Unknown)) };
    if !buffer.repository().is_ancestor(target, tip) {
        return Ok(Err(Unrestored::Elsewhere(short)));
    }
    let before = buffer.commit(promotions)?;
    let mut notes = Notes::open(Some(before.tree), buffer)?;
    let (from, here) = (buffer.commit(target)?, buffer.commit(tip)?);
    let note = notes.get(target, buffer)?;
    if restored_from(&from.message, note.as_deref()).is_some() {
        return Ok(Err(Unrestored::Itself(short)));
    }
    let tree = match directory {
        None => from.tree,
        Some(directory) => {
            let edit = match buffer.entry(from.tree, directory.as_str())? {
                Some((Mode::Directory, id)) => TreeEdit::Put(Mode::Directory, id),
                _ => return Ok(Err(Unrestored::Elsewhere(format!("{directory} of {short}")))),
            };
            buffer.edit_tree(here.tree, &[(directory.to_string(), edit)].into())?
        }
    };
    if tree == here.tree && !is_taken_back_by_hand(&here, &from, directory, (&mut notes, buffer))? {
        return Ok(Err(Unrestored::Same(short)));
    }
    let commit = buffer.write_commit(&NewCommit {
        tree,
        parents: vec![tip],
        author: who.clone(),
        committer: who.clone(),
        message: restoring_message(branch, target, &from.message, reason),
    })?;
    notes.set(commit, &restoring_note(target, &from.message, note.as_deref()), buffer)?;
    let notes = buffer.write_commit(&NewCommit {
        tree: notes.write(buffer)?,
        parents: vec![promotions],
        author: who.clone(),
        committer: who.clone(),
        message: "Notes added by git-hydrate\n".to_owned(),
    })?;
    Ok(Ok(Restored { commit, notes }))
}
