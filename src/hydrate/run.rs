//! The entries: hydrates again until no ref was moved meanwhile, and holds what that needs.

use super::memory::Attempt;
use super::report::Report;
use super::state::Run;
use super::stopped::Stopped;
use super::{learn, moves};
use crate::argo::BranchName;
use crate::owners::error::{HydrateError, TRIES};
use crate::owners::revisions::Follows;
use crate::owners::setup::Setup;
use crate::repo::{self, Lock, Refs, Repository};
use crate::settings::Settings;

/// The lock file of a repository: a run that hydrates has it locked.
pub(crate) fn lock_path(repository: &Repository) -> std::path::PathBuf {
    repository.common_dir().join("hydrate.lock")
}

/// Waits for the lock of a repository, as [`Lock::acquire`] does.
pub(crate) fn lock(
    repository: &Repository,
    waiting: impl FnMut(std::time::Duration) -> bool,
) -> Result<Option<Lock>, repo::Error> {
    Lock::acquire(&lock_path(repository), repository.shared(), waiting)
}

/// The process that has the lock of a repository, as [`Lock::holder`] finds it.
pub(crate) fn lock_holder(repository: &Repository) -> Option<u32> {
    Lock::holder(&lock_path(repository))
}

/// Writes what a repository needs before its first push: its dry branches where they can be found, and records of what
/// earlier versions made. [`Report::notes`] says what. The caller holds the repository's lock.
pub(crate) fn settle(setup: &Setup<'_>) -> Result<Report, HydrateError> {
    let run = Run::new(setup)?;
    settled(run).map_err(Stopped::into_error)
}

fn settled(mut run: Run<'_>) -> Result<Report, Stopped> {
    run.found.check_settings_ref()?;
    if !run.found.dry_branches.is_empty() {
        let heads = run.found.heads();
        learn::learn_whatever_is_hydrated(&mut run, &heads)?;
    }
    run.finish()
}

/// The settings with what the first hydration of a repository would add to them.
pub(crate) fn first_settings(setup: &Setup<'_>) -> Result<Settings, HydrateError> {
    let mut run = Run::new(setup)?;
    let heads = run.found.heads();
    learn::learn(&mut run, &heads).map_err(Stopped::into_error)?;
    Ok(run.found.policy.settings)
}

/// The lower tag of its range that a branch goes back to where [`Setup::resumed`] lets it; none where no range keeps it from that.
pub(crate) fn resumes_to(setup: &Setup<'_>, branch: &BranchName) -> Result<Option<String>, HydrateError> {
    let follows = |resumed| -> Result<Follows, HydrateError> {
        let place = setup.place.clone();
        let setup = Setup { resumed, place, wake: setup.wake.clone(), ..*setup };
        let mut run = Run::new(&setup)?;
        run.survey().map_err(Stopped::into_error)?;
        Ok(run.branches.remove(branch).map(|branch| branch.follows).unwrap_or_default())
    };
    match (follows(None)?, follows(setup.resumed)?) {
        (Follows::Nothing(_), Follows::Source(source)) => Ok(Some(source.name())),
        _ => Ok(None),
    }
}

/// Hydrates what is not hydrated yet. The caller holds the repository's lock.
///
/// Errors: the world failed; no ref has moved then. What is wrong with a dry commit is in the report.
pub fn hydrate(setup: &Setup<'_>) -> Result<Report, HydrateError> {
    hydrate_again(setup, Again::default())
}

/// Hydrates as [`hydrate`] does, by refs that the caller has read since it holds the lock.
pub(crate) fn hydrate_seen(setup: &Setup<'_>, refs: Refs) -> Result<Report, HydrateError> {
    tries(setup, Again::default(), Some(refs))
}

/// What is done again that is left alone otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Again {
    /// What reached a limit of this machine in an earlier run is tried again, although nothing that it was rendered from has
    /// changed.
    pub retry: bool,
    /// A branch that was frozen gets a commit for each dry commit, and not for the tip alone.
    pub every: bool,
}

/// Hydrates, and does `again` what a push leaves alone.
pub(crate) fn hydrate_again(setup: &Setup<'_>, again: Again) -> Result<Report, HydrateError> {
    tries(setup, again, None)
}

/// Tries until no ref was moved meanwhile. `seen` are the refs of the first try, where they were read already.
fn tries(setup: &Setup<'_>, again: Again, mut seen: Option<Refs>) -> Result<Report, HydrateError> {
    let Again { retry, every } = again;
    if setup.place.is_in_place() {
        setup.repository.let_go_of_packs(setup.now);
    }
    let (mut left, mut raced) = (TRIES, String::new());
    let mut attempt = Attempt { retry, every, trusts_cache: !retry && !every, ..Attempt::default() };
    while left > 0 {
        let refs = seen.take().map_or_else(|| setup.repository.refs(), Ok)?;
        match once(setup, &attempt, refs) {
            Ok(report) => return Ok(report),
            Err(Stopped::Raced(why)) => (left, raced) = (left - 1, why),
            Err(stopped) => attempt.widen(stopped)?,
        }
    }
    Err(HydrateError::Raced(raced))
}

/// One try: everything is decided and made in memory, then written, then the refs move.
fn once(setup: &Setup<'_>, attempt: &Attempt, refs: Refs) -> Result<Report, Stopped> {
    let mut run = Run::of(setup, refs)?.recalling(attempt);
    run.found.wants_every = attempt.every;
    run.start = moves::Start::Wanted;
    if run.found.was_pushed_to() {
        run.expect_moves()?;
    }
    run.hydrate()?;
    run.check_wanted()?;
    run.tell_of_public()?;
    run.finish()
}

/// Does `make` by what the cache says of the branches, and again by more, as often as that is not enough.
pub(crate) fn planned<T>(
    mut attempt: Attempt,
    make: impl Fn(&Attempt) -> Result<T, Stopped>,
) -> Result<T, HydrateError> {
    attempt.trusts_cache = true;
    loop {
        match make(&attempt) {
            Ok(made) => return Ok(made),
            Err(stopped) => attempt.widen(stopped)?,
        }
    }
}
