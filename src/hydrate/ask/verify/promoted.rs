//! Promotions that leave no trace in the parents of a commit: squashed ones.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::Line;
use crate::application::BranchName;
use crate::git::{Commit, Error, ObjectBuffer, ObjectId};
use crate::hydrate::standing;
use crate::metadata::Trailers;
use crate::settings::Settings;

/// The hydrated commits of all branches, which a promoter may have put on another one.
pub struct Promotions {
    lines: Vec<Line>,
    recorded: Vec<ObjectId>,
    /// Each with its tree, newest first; read when the first commit of somebody else is met.
    made: OnceCell<Vec<Commit>>,
}

impl Promotions {
    /// `lines` are those of all hydrated branches; `recorded` are commits that hydration made, whichever branch has them.
    pub fn new(lines: Vec<Line>, recorded: Vec<ObjectId>) -> Self {
        Self { lines, recorded, made: OnceCell::new() }
    }

    /// The hydrated commit, as a line of its own, whose files `commit` holds: all of them, or on a branch that is promoted by
    /// directory all below those of `paths`. None when there is none; then somebody else wrote them.
    pub fn find(
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
        let branch = BranchName::new(&line.name).ok();
        let active = branch.as_ref().map_or(&[][..], |branch| settings.active_paths(branch));
        let is_below = |path: &String, dir: &str| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        let dir = active.iter().map(|dir| dir.as_str()).find(|dir| paths.iter().all(|path| is_below(path, dir)));
        let part = |tree: ObjectId| match dir {
            None => Ok(Some(tree)),
            Some(dir) => buffer.entry(tree, dir).map(|entry| entry.map(|(_, id)| id)),
        };
        let wanted = part(commit.tree)?;
        for made in self.made(buffer)? {
            if wanted.is_some() && part(made.tree)? == wanted {
                return Ok(Some(Line { name: String::new(), tip: made.id, after: made.parents.first().copied() }));
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
