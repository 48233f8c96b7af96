//! Which commit of an active branch somebody means who wants it back.
//!
//! Others write the branch: by merges, squashed, or as the commits of hydration themselves. So nothing but its first-parent line says
//! what was deployed. A commit that took the branch back shows what it went back to, and no later change.

use super::back::Back;
use crate::metadata::{PROMOTIONS_REF, Time, restored_from, reverted};
use crate::owners::changed_objects::has_changed;
use crate::owners::files::METADATA;
use crate::owners::standing::{line, provenance};
use crate::repo::{Commit, Error, Mode, Notes, ObjectBuffer, ObjectId, Repository, object_id};
use dry_files::path::RepoPath;

/// The first-parent line of an active branch, and the directory that is looked at; none for the whole branch.
pub(crate) struct ActiveLine<'a> {
    repository: &'a Repository,
    buffer: ObjectBuffer<'a>,
    directory: Option<&'a RepoPath>,
    /// The newest first.
    commits: Vec<Commit>,
    /// Those of promotions.
    notes: Notes,
}

impl<'a> ActiveLine<'a> {
    /// The line that ends with `tip`, as far back as it is here and matters.
    ///
    /// Errors: the repository.
    pub(crate) fn open(
        repository: &'a Repository,
        tip: ObjectId,
        directory: Option<&'a RepoPath>,
    ) -> Result<Self, Error> {
        let buffer = ObjectBuffer::new(repository);
        let commits = line(&buffer.commit(tip)?, &buffer).collect::<Result<_, _>>()?;
        let notes = repository.refs()?.get(PROMOTIONS_REF).map(|tip| buffer.commit(tip)).transpose()?;
        let notes = Notes::open(notes.map(|commit| commit.tree), &buffer)?;
        Ok(Self { repository, buffer, directory, commits, notes })
    }

    /// The commit to go back to; none where the branch has no such commit.
    ///
    /// Errors: the repository.
    pub(crate) fn back(&mut self, wanted: Back) -> Result<Option<ObjectId>, Error> {
        match wanted {
            Back::Steps(steps) => self.steps(steps),
            Back::Commit(id) if self.commits.iter().any(|commit| commit.id == id) => Ok(Some(id)),
            Back::Commit(id) => self.showing(id),
            Back::Until(seconds) => {
                let is_then = |commit: &Commit| Time::of(&commit.committer).seconds() <= seconds;
                match self.commits.iter().position(is_then) {
                    Some(place) => self.content(place),
                    None => Ok(None),
                }
            }
        }
    }

    /// The commit before the last one that changed an object. None where nothing was there before. What went back counts as what it
    /// went to.
    ///
    /// Errors: the repository.
    pub(crate) fn before_change(&mut self) -> Result<Option<ObjectId>, Error> {
        let mut place = self.shown(0)?;
        while let (Some(here), Some(parent)) = (self.commits.get(place), self.commits.get(place + 1)) {
            let is_change = has_changed(&self.buffer, parent.tree, here.tree, self.directory)?;
            let below = self.shown(place + 1)?;
            if is_change {
                return self.content(below);
            }
            place = below;
        }
        Ok(None)
    }

    /// So many changes before what the branch shows.
    fn steps(&mut self, steps: usize) -> Result<Option<ObjectId>, Error> {
        let mut left = steps;
        for place in self.shown(0)?..self.commits.len() {
            if self.part(place)? == self.part(place + 1)? {
                continue;
            }
            if left == 0 {
                return self.content(place);
            }
            left -= 1;
        }
        Ok(None)
    }

    /// What the branch showed of a dry commit.
    fn showing(&mut self, dry: ObjectId) -> Result<Option<ObjectId>, Error> {
        let metadata =
            self.directory.map_or_else(|| METADATA.to_owned(), |directory| format!("{directory}/{METADATA}"));
        for place in 0..self.commits.len() {
            let Some(commit) = self.commits.get(place) else { break };
            let shown = provenance(&self.buffer, commit.tree, &metadata)?.and_then(|found| found.dry_commit);
            let is_meant =
                shown.is_some_and(|shown| self.repository.has(shown) && self.repository.is_ancestor(shown, dry));
            let change = self.change(place)?;
            // A commit that went back shows an older dry commit than those below it.
            if is_meant && self.went_back_to(change)?.is_none() {
                return self.content(change);
            }
        }
        Ok(None)
    }

    /// The commit with the content that is shown at a place; none where that is nothing.
    fn content(&mut self, place: usize) -> Result<Option<ObjectId>, Error> {
        let place = self.shown(place)?;
        let empty = self.buffer.empty_tree_id();
        let is_there = self.part(place)?.is_some_and(|part| part != empty);
        Ok(self.commits.get(place).filter(|_| is_there).map(|commit| commit.id))
    }

    /// The place of the commit that brought what is shown at a place, or what that one went back to.
    fn shown(&mut self, place: usize) -> Result<usize, Error> {
        let mut place = self.change(place)?;
        // Each is further down.
        while let Some(below) = self.went_back_to(place)? {
            place = self.change(below)?;
        }
        Ok(place)
    }

    /// The place of the commit that brought what is shown at a place: those above it changed other directories.
    fn change(&self, place: usize) -> Result<usize, Error> {
        let mut place = place;
        let part = self.part(place)?;
        while part.is_some() && self.part(place + 1)? == part {
            place += 1;
        }
        Ok(place)
    }

    /// The place of the commit below that a change went back to, as it says itself and as its files have it.
    fn went_back_to(&mut self, place: usize) -> Result<Option<usize>, Error> {
        let Some(commit) = self.commits.get(place) else { return Ok(None) };
        let note = self.notes.get(commit.id, &self.buffer)?;
        let restored = restored_from(&commit.message, note.as_deref()).and_then(|id| object_id(&id));
        let reverted = reverted(&commit.message).and_then(|id| object_id(&id));
        let part = self.part(place)?;
        let find = |id: Option<ObjectId>| {
            let id = id?;
            self.commits.iter().skip(place + 1).position(|commit| commit.id == id).map(|found| place + 1 + found)
        };
        let (restored, reverted) = (find(restored), find(reverted));
        if let Some(below) = restored {
            return Ok(Some(below).filter(|below| matches!(self.part(*below), Ok(found) if found == part)));
        }
        let Some(reverted) = reverted else { return Ok(None) };
        for below in reverted + 1..self.commits.len() {
            if self.part(below)? == part {
                return Ok(Some(below));
            }
        }
        Ok(None)
    }

    /// The tree of the branch or of the directory at a place; none without one.
    fn part(&self, place: usize) -> Result<Option<ObjectId>, Error> {
        let Some(commit) = self.commits.get(place) else { return Ok(None) };
        let Some(directory) = self.directory else { return Ok(Some(commit.tree)) };
        Ok(match self.buffer.entry(commit.tree, directory.as_str())? {
            Some((Mode::Directory, id)) => Some(id),
            _ => None,
        })
    }
}
