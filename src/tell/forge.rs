//! `hydrate.tell`: tells the forge that hosts a repository of the branches that hydration moved.
//!
//! Gitea, Forgejo and others learn of branches from hooks of their own, which run for what was pushed. What our hook moves after
//! them they do not see. So their post-receive runs once more, with the lines of the branches that moved ([`script`]), after
//! the lock of the repository was given back: it may push into the repository while it runs. A lock of its own, tried once, has
//! one process at a time do it, which goes on until the forge knows the branches as they are. What it knows is in a
//! file ([`branches`]): after a kill the next push catches up.

mod branches;
mod script;

use std::time::{Duration, Instant};

use super::hook::Options;
use crate::repo::{self, Location, Lock, Repository};

use branches::{Known, Line, moved};
use script::Forge;

/// Set while a forge is told: what runs then comes back to our hooks.
pub(crate) const VARIABLE: &str = "GIT_HYDRATE_TELLING";

/// Whether this process was started, directly or not, by what tells a forge: that waits for us.
pub(crate) fn is_telling() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Why the forge was not told.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Git(#[from] repo::Error),
    #[error("hydrate/told: {0}")]
    Known(#[from] std::io::Error),
    #[error("{0}: {1}")]
    Failed(String, String),
}

/// Tells the forge of the repository, if it needs that, of the hydrated branches that it does not know as they are. To be
/// called after the lock of the repository was given back.
///
/// # Errors
///
/// The forge could not be told, in words for a warning; the next run does it. Hydration does not depend on it.
pub(crate) fn tell(repository: &Repository) -> Result<(), String> {
    if is_telling() {
        return Ok(());
    }
    let Some(forge) = Forge::of(repository) else { return Ok(()) };
    let answer = tell_all(repository, &forge, &Deadline::in_time(Options::read(repository).tell_time_limit));
    answer
        .map_err(|why| format!("the platform was not notified of the hydrated branches; the next push does it: {why}"))
}

/// The branches, by full name, that the forge of the repository does not know as they are; empty where there is no forge to
/// tell.
pub(crate) fn branches_unknown(repository: &Repository) -> Vec<String> {
    let Some(forge) = Forge::named(repository) else { return Vec::new() };
    lines(repository, &forge)
        .map_or_else(|_| Vec::new(), |(_, lines)| lines.into_iter().map(|line| line.name).collect())
}

/// Removes the file that says which branches the forge knows. Answers whether there was one.
pub(crate) fn forget_known_branches(repository: &Repository) -> std::io::Result<bool> {
    match std::fs::remove_file(branches::file(repository)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Until when it may take.
struct Deadline {
    at: Instant,
    late: String,
}

impl Deadline {
    fn in_time(limit: Duration) -> Self {
        let late = format!("took more than {} seconds (hydrate.tellTimeLimit)", limit.as_secs());
        Self { at: Instant::now() + limit, late }
    }
}

fn tell_all(repository: &Repository, forge: &Forge, deadline: &Deadline) -> Result<(), Error> {
    let path = branches::directory(repository)?.join("tell.lock");
    loop {
        // The process that has it looks once more after it gave it back.
        let Some(lock) = Lock::acquire(&path, repository.shared(), |_| false)? else { return Ok(()) };
        while tell_some(repository, forge, deadline)? {}
        drop(lock);
        if lines(repository, forge)?.1.is_empty() {
            return Ok(());
        }
    }
}

/// What the forge knows, and what it is to be told of, as of now.
fn lines(repository: &Repository, forge: &Forge) -> Result<(Known, Vec<Line>), Error> {
    // Others have written objects since it was opened.
    let repository = Repository::open(repository.git_dir(), Location::Hook)?;
    let known = Known::read(&repository)?;
    let lines = moved(&repository, &known, forge.commits_max())?;
    Ok((known, lines))
}

/// Tells it of some branches, at most as many as it takes at once. Answers whether there were any.
fn tell_some(repository: &Repository, forge: &Forge, deadline: &Deadline) -> Result<bool, Error> {
    let (mut known, mut lines) = lines(repository, forge)?;
    lines.truncate(forge.lines_max());
    if lines.is_empty() {
        return Ok(false);
    }
    let left = deadline.at.saturating_duration_since(Instant::now());
    let answer = if left.is_zero() {
        Err(deadline.late.clone())
    } else {
        forge.tell(repository, &lines, (left, &deadline.late))
    };
    answer.map_err(|why| Error::Failed(forge.to_string(), why))?;
    known.now_knows(lines);
    known.write(repository)?;
    Ok(true)
}
