//! Promotions that leave no trace in the parents of a commit: squashed ones.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::Line;
use crate::argo::BranchName;
use crate::metadata::Trailers;
use crate::owners::ours::has_same_files;
use crate::owners::standing;
use crate::repo::{Commit, Error, ObjectBuffer, ObjectId};
use crate::settings::Settings;

/// By branch, the staging branches that are promoted to it.
pub(super) type Several = BTreeMap<String, BTreeSet<BranchName>>;

/// The hydrated commits of all branches, which a promoter may have put on another one.
pub(super) struct Promotions {
    lines: Vec<Line>,
    recorded: Vec<ObjectId>,
    /// The staging branches of those that several are promoted to whole.
    several: Several,
    /// Each with its tree, newest first; read when the first commit of somebody else is met.
    made: OnceCell<Vec<Commit>>,
}

/// What a tree has at a directory: the tree itself without one.
fn part(tree: ObjectId, dir: Option<&str>, buffer: &ObjectBuffer<'_>) -> Result<Option<ObjectId>, Error> {
    match dir {
        None => Ok(Some(tree)),
        Some(dir) => buffer.entry(tree, dir).map(|entry| entry.map(|(_, id)| id)),
    }
}

impl Promotions {
    /// `lines` are those of all hydrated branches; `recorded` are commits that hydration made, whichever branch has them.
    pub(super) fn new(lines: Vec<Line>, recorded: Vec<ObjectId>, several: Several) -> Self {
        Self { lines, recorded, several, made: OnceCell::new() }
    }

    /// The hydrated commit, as a line of its own, whose files `commit` has: all of them, or on a branch that is promoted by
    /// directory all below those of `paths`, or on one that several staging branches are promoted to all in the directories of
    /// `paths`. None when there is none; then somebody else wrote them.
    pub(super) fn find(
        &self,
        settings: &Settings,
        line: &Line,
        commit: &Commit,
        paths: &[String],
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Option<Line>, Error> {
        if paths.is_empty() {
            return Ok(None);
        }
        let branch = BranchName::read(&line.name).ok();
        let active = branch.as_ref().map_or(&[][..], |branch| settings.active_paths(branch));
        let is_below = |path: &String, dir: &str| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        let dir = active.iter().map(|dir| dir.as_str()).find(|dir| paths.iter().all(|path| is_below(path, dir)));
        let wanted = part(commit.tree, dir, buffer)?;
        let promotes = |made: &Commit| Line { name: String::new(), tip: made.id, after: made.parents.first().copied() };
        for made in self.made(buffer)? {
            if wanted.is_some() && part(made.tree, dir, buffer)? == wanted {
                return Ok(Some(promotes(made)));
            }
        }
        let Some(staging) = self.several.get(&line.name) else { return Ok(None) };
        let dirs: BTreeSet<&str> = paths.iter().map(|path| path.rsplit_once('/').map_or("", |(dir, _)| dir)).collect();
        for made in self.made(buffer)? {
            let is_staged = Trailers::read(&made.message).is_some_and(|trailers| staging.contains(&trailers.branch));
            if !is_staged {
                continue;
            }
            let mut is_same = true;
            for dir in &dirs {
                is_same = is_same && has_same_files(dir, made.tree, commit.tree, buffer)?;
            }
            if is_same {
                return Ok(Some(promotes(made)));
            }
        }
        Ok(None)
    }

    fn made(&self, buffer: &ObjectBuffer<'_>) -> Result<&[Commit], Error> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let mut made = Vec::new();
        for line in &self.lines {
            for commit in standing::line(&buffer.commit(line.tip)?, buffer) {
                let commit = commit?;
                if Trailers::read(&commit.message).is_some() {
                    made.push(commit);
                }
            }
        }
        let known: HashSet<ObjectId> = made.iter().map(|commit| commit.id).collect();
        let repository = buffer.repository();
        for id in self.recorded.iter().filter(|id| !known.contains(*id) && repository.has(**id)) {
            made.push(buffer.commit(*id)?);
        }
        Ok(self.made.get_or_init(|| made))
    }
}
