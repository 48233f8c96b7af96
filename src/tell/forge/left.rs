//! What processes left: moves whose own process died or could not start them, and those whose pusher is not known.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use dry_files::diag::printable;

use super::attendance::Attendance;
use super::books::{Books, Deadline, tell_some};
use super::caller::{Caller, call_in_no_name};
use super::known::directory;
use super::queue::{Left, Part, Queue, State};
use super::script::Forge;
use super::{Error, Failed, VARIABLE, not_notified};
use crate::owners::branch_records::{BranchRecords, RECORDS_REF};
use crate::render::process::wall;
use crate::repo::{self, Lock, ObjectBuffer, Repository};
use crate::tell::hook::Options;

/// How long is waited for others between two looks at the queue.
const PAUSE: Duration = Duration::from_millis(50);

/// Leaves to others what a process has not started. Answers whether there are moves without a process.
pub(super) fn left_to_others(repository: &Repository, hook: &str) -> Result<bool, Error> {
    let mut books = Books::open(repository)?;
    books.queue.leave_of(hook);
    let is_left = books.queue.has_left();
    books.close(repository)?;
    Ok(is_left)
}

/// Notifies of what was left, each move in the name of its pusher; `waits` for another process that does so, or leaves it to
/// that one.
///
/// # Errors
///
/// The platform was not notified of all of it, in words for a warning; the next push tries again.
pub(crate) fn tell_left(repository: &Repository, waits: bool) -> Result<(), String> {
    let Some(forge) = Forge::of(repository) else { return Ok(()) };
    one_by_one(repository, &forge, waits).map_err(|why| not_notified(&why))
}

fn one_by_one(repository: &Repository, forge: &Forge, waits: bool) -> Result<(), Error> {
    let path = directory(repository, None)?.join("tell.lock");
    let fallback = forge.fallback(repository);
    let (mut failed, mut failure) = (Vec::new(), Ok(()));
    loop {
        // The process that has it looks once more after it gave it back.
        let Some(lock) = Lock::acquire(&path, repository.shared(), |_| waits)? else { return failure };
        while let Err(Failed { parts, why }) = all(repository, forge, fallback.as_ref(), &failed) {
            let is_news = !parts.is_empty();
            (failure, failed) = (Err(why), [failed, parts].concat());
            if !is_news {
                return failure;
            }
        }
        drop(lock);
        let mut queue = Queue::read(repository)?;
        if queue.start_left("", usize::MAX, (fallback.as_ref(), wall::now()), &failed) == Left::Nothing {
            return failure;
        }
    }
}

/// Notifies until nothing is left but what `failed` in this process, and waits for what others will start.
fn all(repository: &Repository, forge: &Forge, fallback: Option<&Caller>, failed: &[u64]) -> Result<(), Failed> {
    let attendance = {
        let _books = Books::open(repository)?;
        Attendance::new(repository, &[], None)?
    };
    let attendance = attendance.that_leaves_nothing();
    loop {
        let deadline = Deadline::in_time(Options::read(repository).tell_time_limit);
        let mut waits = false;
        let choose = |queue: &mut Queue| match queue.start_left(
            attendance.name(),
            forge.lines_max(),
            (fallback, wall::now()),
            failed,
        ) {
            Left::Tell(parts, caller) => Some((parts, caller)),
            Left::Wait => {
                waits = true;
                None
            }
            Left::Nothing => None,
        };
        if !tell_some(repository, forge, &deadline, choose)? {
            if !waits {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Has the platform be notified anew of branches, all that are recorded unless some are named, as if it knew nothing of them.
/// Answers their names. The caller has the lock of the repository.
///
/// # Errors
///
/// A branch is not hydration's, or the repository.
pub(crate) fn tell_again(repository: &Repository, branches: &[String]) -> Result<Vec<String>, String> {
    again(repository, Forge::of(repository).as_ref(), branches).map_err(|error| error.to_string())
}

fn again(repository: &Repository, forge: Option<&Forge>, branches: &[String]) -> Result<Vec<String>, Error> {
    let refs = repository.refs()?;
    let buffer = ObjectBuffer::new(repository);
    let records = refs.get(RECORDS_REF).map(|records| BranchRecords::read(records, &buffer)).transpose()?;
    let records = records.unwrap_or_default();
    let recorded = records.iter().map(|(branch, _)| branch).filter(|branch| branch.destination().is_none());
    let recorded: BTreeSet<String> = recorded.map(ToString::to_string).collect();
    let named = |name: &String| {
        let mut short = recorded.iter().filter(|branch| branch.rsplit('/').next() == Some(name.as_str()));
        let alone = short.next().filter(|_| short.next().is_none());
        let unknown = || repo::Error::message(format!("`{}` is not a hydrated branch", printable(name)));
        recorded.get(name).or(alone).cloned().ok_or_else(unknown)
    };
    let branches: BTreeSet<String> = branches.iter().map(named).collect::<Result<_, _>>()?;
    let Some(forge) = forge else { return Ok(Vec::new()) };
    let mut books = Books::open(repository)?;
    let mut queued = Vec::new();
    for branch in recorded.into_iter().filter(|branch| branches.is_empty() || branches.contains(branch)) {
        let Some(tip) = refs.branch(&branch) else { continue };
        let name = format!("refs/heads/{branch}");
        books.known.retain(|known| known != name);
        books.queue.retain(|part| part.state != State::Waiting || part.name != name);
        let (new, caller) = (tip.to_string(), forge.caller(repository));
        let part = Part { name, old: None, new, dry: None, caller, hook: None, until: 0, tries: 0, ..Part::default() };
        books.queue.push(part);
        queued.push(branch);
    }
    books.close(repository)?;
    Ok(queued)
}

/// Starts this program on its own: nothing of ours is open in it, so the push can end.
pub(crate) fn start_alone(repository: &Repository, program: &Path, arguments: &[&str]) -> std::io::Result<()> {
    alone(repository, program, arguments).spawn().map(drop)
}

/// Starts this program as [`start_alone`] does, for what many pushed: it is not the pusher's of this process.
pub(crate) fn start_for_all(repository: &Repository, program: &Path, arguments: &[&str]) -> std::io::Result<()> {
    let mut command = alone(repository, program, arguments);
    call_in_no_name(&mut command, repository);
    command.spawn().map(drop)
}

/// This program on its own.
pub(crate) fn alone(repository: &Repository, program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(repository.common_dir());
    command.env_remove(wall::VARIABLE).env_remove(wall::USED).env_remove(VARIABLE).env_remove("GIT_DIR");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command
}
