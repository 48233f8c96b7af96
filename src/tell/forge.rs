//! `hydrate.tell`: notifies the platform that hosts a repository of the branches that hydration moved.
//!
//! Gitea, Forgejo and others learn of branches from hooks of their own, which run for what was pushed. What our hook moves after
//! them they do not see. So their post-receive runs once more, with the lines of the branches that moved ([`script`]), after
//! the lock of the repository was given back: it may push into the repository while it runs.
//!
//! Each push is notified of by its own hook, in the name of its pusher ([`caller`]), whichever process hydrated it. The run that
//! moves branches cuts their ways into [pieces](moves) by dry commit and puts them into a [`queue`], under the lock of the
//! repository; each hook takes from there what comes of its own push, and waits for that alone. What a process leaves that died,
//! or that may not start yet, a process of its own takes ([`tell_left`]). What the platform [knows](known) shows what a kill between
//! the refs and the queue lost.

mod attendance;
mod books;
mod caller;
mod known;
mod left;
mod moves;
mod queue;
mod run;
mod script;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::hook::Options;
use crate::hydrate::{RefUpdate, Report};
use crate::repo::{self, Location, ObjectId, Refs, Repository};

use attendance::{Attendance, Attendant};
use books::{Books, Deadline, tell_some};
use caller::Caller;
use known::Known;
use left::left_to_others;
use moves::pieces;
use queue::{Part, Queue};
use run::Run;
use script::Forge;

pub(crate) use left::{alone, start_alone, start_for_all, tell_again, tell_left};

/// Set while a platform is notified: what runs then comes back to our hooks.
pub(crate) const VARIABLE: &str = "GIT_HYDRATE_TELLING";

/// Whether this process was started, directly or not, by what notifies a platform: that waits for us.
pub(crate) fn is_telling() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Why the platform was not notified.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Git(#[from] repo::Error),
    #[error("hydrate/told: {0}")]
    Known(#[from] std::io::Error),
    #[error("{0}: {1}")]
    Failed(String, String),
}

/// Which moves it was not notified of, by number, and why; none where it did not come to that.
struct Failed {
    parts: Vec<u64>,
    why: Error,
}

impl<E: Into<Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self { parts: Vec::new(), why: error.into() }
    }
}

fn not_notified(why: &Error) -> String {
    format!("the platform was not notified of the hydrated branches; the next push does it: {why}")
}

/// Whether there is a platform to notify.
pub(crate) fn is_known(repository: &Repository) -> bool {
    Forge::of(repository).is_some()
}

/// The branches, by full name, that the platform does not know as they are and of which no process notifies it now; empty where there is
/// no platform.
pub(crate) fn branches_unknown(repository: &Repository) -> BTreeSet<String> {
    if Forge::of(repository).is_none() {
        return BTreeSet::new();
    }
    unknown(repository).unwrap_or_default()
}

fn unknown(repository: &Repository) -> Result<BTreeSet<String>, Error> {
    let (known, mut queue) = (Known::read(repository)?, Queue::read(repository)?);
    queue.leave_of_dead(|hook| attendance::is_alive(repository, hook));
    let position = |name: &str| queue.position(name).or_else(|| known.get(name));
    let lost = pieces(repository, &repository.refs()?, &Report::default(), position)?;
    Ok(queue.left().map(str::to_owned).chain(lost.into_iter().map(|piece| piece.name)).collect())
}

/// Removes what is kept of a platform. Answers whether there was a file that says which branches it knows.
pub(crate) fn forget_known_branches(repository: &Repository) -> std::io::Result<bool> {
    let directory = repository.common_dir().join("hydrate");
    for name in [queue::FILE, "told.lock"] {
        known::remove(&directory.join(name))?;
    }
    match std::fs::remove_dir_all(directory.join(attendance::DIRECTORY)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    known::remove(&directory.join(known::FILE))
}

fn change_queue(repository: &Repository, change: impl FnOnce(&mut Queue)) -> Result<(), Error> {
    let mut books = Books::open(repository)?;
    change(&mut books.queue);
    books.close(repository)
}

/// What one process has to do with the platform, from before it has the lock of the repository until it ends.
pub(crate) struct Teller {
    forge: Option<(Forge, Attendance)>,
    caller: Option<Caller>,
    updates: Vec<RefUpdate>,
    /// Whether it runs after a push, and so beside the hooks of others.
    is_hook: bool,
    limit: Duration,
}

impl Teller {
    /// Has others know that this process runs for a push that moved `updates`, where there is a platform.
    pub(crate) fn of_push(repository: &Repository, updates: &[RefUpdate]) -> Self {
        Self::new(repository, updates, true)
    }

    /// For a process that runs for no push.
    pub(crate) fn of_admin(repository: &Repository) -> Self {
        Self::new(repository, &[], false)
    }

    fn new(repository: &Repository, updates: &[RefUpdate], is_hook: bool) -> Self {
        let forge = Forge::of(repository);
        let caller = forge.as_ref().and_then(|forge| forge.caller(repository));
        // Without the file its part has no known pusher: then the platform is notified of it as of what is lost.
        let attend = |forge| {
            let _books = Books::open(repository).ok()?;
            Some((forge, Attendance::new(repository, updates, caller.as_ref()).ok()?))
        };
        let forge = forge.and_then(attend);
        let limit = Options::read(repository).tell_time_limit;
        Self { forge, caller, updates: updates.to_vec(), is_hook, limit }
    }

    /// Writes down what this run, of which `report` is, moved since the refs were `before`. The caller has the lock of the
    /// repository.
    ///
    /// # Errors
    ///
    /// In words for a warning; the next run does it.
    pub(crate) fn queue(&mut self, repository: &Repository, before: &Refs, report: &Report) -> Result<(), String> {
        let Some((forge, attendance)) = &mut self.forge else { return Ok(()) };
        let patience = i64::try_from(self.limit.as_secs()).unwrap_or(i64::MAX);
        let run = Run {
            commits_max: forge.commits_max(),
            hook: attendance.name(),
            caller: self.caller.as_ref(),
            updates: &self.updates,
            patience: self.is_hook.then_some(patience),
            report,
        };
        let others = attendance::others(repository, attendance);
        // Others have written objects since it was opened.
        let queued = Repository::open(repository.git_dir(), Location::Hook).map_err(Error::from);
        let queued = queued.and_then(|repository| run.queue(&repository, before, &others));
        queued.map_err(|why| not_notified(&why))?;
        // As long as something is to be hydrated, it must be known whose it is.
        attendance.is_done = !report.unfinished;
        let is_over = |other: &&Attendant| !other.is_alive && !report.unfinished;
        others.iter().filter(is_over).for_each(Attendant::forget);
        Ok(())
    }

    /// Writes down a move of a branch that others make of what is hydrated, such as that of an active branch by a roll-back: nothing
    /// but this shows it. To be called before the branch moves, so that no kill loses it; [`Teller::withdraw`] if it does not.
    ///
    /// # Errors
    ///
    /// In words for a warning; the platform is not notified of the move.
    pub(crate) fn queue_move(
        &mut self,
        repository: &Repository,
        name: &str,
        (old, new): (ObjectId, ObjectId),
    ) -> Result<(), String> {
        let Some((_, attendance)) = &mut self.forge else { return Ok(()) };
        attendance.is_done = true;
        let part = Part {
            name: name.to_owned(),
            old: Some(old.to_string()),
            new: new.to_string(),
            caller: self.caller.clone(),
            hook: Some(attendance.name().to_owned()),
            ..Part::default()
        };
        change_queue(repository, |queue| queue.push(part)).map_err(|why| not_notified(&why))
    }

    /// Takes back what it wrote down of moves that did not come about.
    pub(crate) fn withdraw(&self, repository: &Repository) {
        let Some((_, attendance)) = &self.forge else { return };
        let hook = Some(attendance.name());
        // What stays is at most a notification too many.
        drop(change_queue(repository, |queue| queue.retain(|part| part.hook.as_deref() != hook)));
    }

    /// Notifies the platform of what came of this push. To be called after the lock of the repository was given back. What others
    /// left is done by a process of its own, `program`, which no push waits for.
    ///
    /// # Errors
    ///
    /// The platform could not be notified, in words for a warning; the next run does it. Hydration does not depend on it.
    pub(crate) fn tell(self, repository: &Repository, program: &Path) -> Result<(), String> {
        if self.tell_own(repository)? && !is_telling() {
            let started = start_alone(repository, program, &["tell", "--quiet"]);
            started.map_err(|error| format!("starting {}: {error}", program.display()))?;
        }
        Ok(())
    }

    /// Notifies as [`Teller::tell`] does, and then of what others left.
    ///
    /// # Errors
    ///
    /// As those of [`Teller::tell`].
    pub(crate) fn tell_all(self, repository: &Repository) -> Result<(), String> {
        match self.tell_own(repository)? && !is_telling() {
            true => tell_left(repository, false),
            false => Ok(()),
        }
    }

    /// Notifies of its own part. Answers whether there is something for others to do.
    fn tell_own(&self, repository: &Repository) -> Result<bool, String> {
        let Some((_, attendance)) = &self.forge else { return Ok(false) };
        let told = match self.caller.as_ref().filter(|_| !is_telling()) {
            Some(caller) => self.tell_as(repository, caller),
            None => Ok(()),
        };
        // What may not start yet, since others start something before it, and what has no name.
        let is_left = left_to_others(repository, attendance.name()).map_err(|why| not_notified(&why))?;
        told.map_err(|why| not_notified(&why)).map(|()| is_left)
    }

    fn tell_as(&self, repository: &Repository, caller: &Caller) -> Result<(), Error> {
        let Some((forge, attendance)) = &self.forge else { return Ok(()) };
        let deadline = Deadline::in_time(self.limit);
        let own = |queue: &mut Queue| Some((queue.start(attendance.name(), forge.lines_max()), caller.clone()));
        while tell_some(repository, forge, &deadline, own).map_err(|failed| failed.why)? {}
        Ok(())
    }
}
