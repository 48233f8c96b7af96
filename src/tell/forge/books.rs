//! What the platform knows and what it is still to be notified of, for the one process that has the lock of both.

use std::time::{Duration, Instant};

use super::attendance;
use super::caller::Caller;
use super::known::{Known, directory};
use super::queue::{Part, Queue};
use super::script::Forge;
use super::{Error, Failed};
use crate::repo::{self, Lock, Repository};

/// The two files, as long as no other process may change them. The lock is held for no longer than it takes to start a program.
pub(super) struct Books {
    pub known: Known,
    pub queue: Queue,
    _lock: Lock,
}

impl Books {
    /// Waits for the lock, and reads the files.
    pub(super) fn open(repository: &Repository) -> Result<Self, Error> {
        let path = directory(repository, None)?.join("told.lock");
        let lock = Lock::acquire(&path, repository.shared(), |_| true)?;
        let lock = lock.ok_or_else(|| repo::Error::message("waiting for hydrate/told.lock"))?;
        let (known, mut queue) = (Known::read(repository)?, Queue::read(repository)?);
        queue.leave_of_dead(|hook| attendance::is_alive(repository, hook));
        Ok(Self { known, queue, _lock: lock })
    }

    /// Writes the files. By a kill in between, a notification is repeated, and none is lost.
    pub(super) fn close(mut self, repository: &Repository) -> Result<(), Error> {
        self.queue.settle(&mut self.known);
        if self.known != Known::read(repository)? {
            self.known.write(repository)?;
        }
        Ok(self.queue.write(repository)?)
    }
}

/// Until when it may take.
pub(super) struct Deadline {
    at: Instant,
    late: String,
}

impl Deadline {
    pub(super) fn in_time(limit: Duration) -> Self {
        let late = format!("took more than {} seconds (hydrate.tellTimeLimit)", limit.as_secs());
        Self { at: Instant::now() + limit, late }
    }
}

/// Notifies of what `choose` starts, and waits for that. Answers whether there was anything.
pub(super) fn tell_some(
    repository: &Repository,
    forge: &Forge,
    deadline: &Deadline,
    choose: impl FnOnce(&mut Queue) -> Option<(Vec<Part>, Caller)>,
) -> Result<bool, Failed> {
    let mut books = Books::open(repository)?;
    let Some((parts, caller)) = choose(&mut books.queue).filter(|(parts, _)| !parts.is_empty()) else {
        books.close(repository)?;
        return Ok(false);
    };
    let left = || deadline.at.saturating_duration_since(Instant::now());
    // Under the lock, so that what comes behind it starts behind it.
    let running = match left().is_zero() {
        true => Err(deadline.late.clone()),
        false => forge.start(repository, &parts, &caller),
    };
    books.close(repository)?;
    let told = running.and_then(|running| running.wait((left(), &deadline.late)));
    let mut books = Books::open(repository)?;
    books.queue.finish(&parts, told.is_ok());
    books.close(repository)?;
    match told {
        Ok(()) => Ok(true),
        Err(why) => {
            let parts = parts.iter().map(|part| part.number).collect();
            Err(Failed { parts, why: Error::Failed(forge.to_string(), why) })
        }
    }
}
