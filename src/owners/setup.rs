//! The parameters of an operation: repository, place, wake-up, renderers, clock, observer of progress.

use std::cell::RefCell;

use super::place::Place;
use crate::argo::{BranchName, Patterns};
use crate::discover::Discovery;
use crate::render::Renderers;
use crate::repo::{ObjectId, Repository};
use inputs::Wanted;

/// Which dry commits shall be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// Branches that were pushed. All dry branches are looked at, whichever of them these are.
    Pushed(Vec<String>),
    /// All dry branches, without a push.
    Everything,
    /// One commit, taken for the tip of a branch.
    Commit {
        /// The dry branch.
        branch: BranchName,
        /// Its tip.
        tip: ObjectId,
    },
}

/// What the edge knows and the operation needs.
pub struct Setup<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// Where it works.
    pub place: Place,
    /// Why we are here.
    pub wake: Wake,
    /// Tools and limits of this machine.
    pub renderers: &'a Renderers,
    /// The time, in seconds since 1970, by which branches are frozen; none where no branch counts as frozen.
    pub now: Option<i64>,
    /// For a preview of what freezes hold back, which hydrates as if there were none: the time by which it reports branches as frozen.
    pub thawed_at: Option<i64>,
    /// Whether the rest of a backlog shall wait for the next run.
    pub out_of_time: &'a dyn Fn() -> bool,
    /// Hears of progress.
    pub observer: &'a dyn Observer,
    /// What brings inputs that are not here; none where nothing does, so that each is a mistake of the dry commit.
    pub fetching: Option<&'a dyn Fetching>,
    /// Whose push it is, for the reflogs; none where that is unknown, or nobody pushed.
    pub pusher: Option<&'a str>,
    /// The branches that are hydrated, by globs; none where all are. The others are left to other runs.
    pub only: Option<&'a Patterns>,
    /// The branch that may go back to a lower tag of its range.
    pub resumed: Option<&'a BranchName>,
    /// What was found in dry trees, for the runs of one command after one another; none where there is one run.
    pub discovery: Option<&'a RefCell<Discovery>>,
}

impl<'a> Setup<'a> {
    /// A run without a time limit or an observer. `now` is the time, in seconds since 1970.
    pub fn new(repository: &'a Repository, place: Place, wake: Wake, renderers: &'a Renderers, now: i64) -> Self {
        Self {
            repository,
            place,
            wake,
            renderers,
            now: Some(now),
            thawed_at: None,
            out_of_time: &|| false,
            observer: &Silent,
            fetching: None,
            pusher: None,
            only: None,
            resumed: None,
            discovery: None,
        }
    }

    /// Whether an environment branch is left to other runs: its name and that of the sync branch match no glob of `only`.
    pub(crate) fn leaves(&self, branch: &BranchName, sync: &BranchName) -> bool {
        let is_named = |only: &Patterns| [branch, sync].iter().any(|name| only.matches(name.as_str()));
        self.only.is_some_and(|only| !is_named(only))
    }
}

/// Brings inputs that are recorded, for an operation.
pub trait Fetching {
    /// Whether an input may be fetched for what is on a dry branch.
    fn allows(&self, wanted: &Wanted, dry_branch: &BranchName) -> bool;
    /// Why an input was not to be had; none when it was not tried.
    fn missed(&self, wanted: &Wanted) -> Option<String>;
}

/// Hears what goes on, as it goes on.
pub trait Observer: Sync {
    /// Rendering `total` Applications of a dry commit begins.
    fn rendering(&self, dry_commit: &str, total: usize);
    /// `done` of them are rendered.
    fn rendered(&self, done: usize);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silent;

impl Observer for Silent {
    fn rendering(&self, _dry_commit: &str, _total: usize) {}
    fn rendered(&self, _done: usize) {}
}
