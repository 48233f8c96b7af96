//! Goes on for a hook that waited for the lock of the repository as long as it may: a process of its own, which no pusher waits for.
//!
//! It is that hook once more, with its input and in its environment, so that what came of the push is reported in the name of its
//! pusher. Only one of them waits at a time. That one looks at the refs after it got the lock, so it finds there what was brought by
//! all that gave up before; whose that was, their files say (`tell/forge/attendance.rs`). A lock goes with its process, so it does
//! not matter how the run ends that has it.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::hydrate;
use crate::repo::{Error, Lock, Repository};
use crate::tell::forge;

/// The argument of the hook by which it is a successor.
pub(crate) const ARGUMENT: &str = "waits";

/// How long a hook waits for the lock of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As long as `hydrate.lockWait` says.
    Limited,
    /// Until it has it: a successor.
    Endless,
}

/// Starts the successor of a hook with the input `lines`.
pub(super) fn start(repository: &Repository, program: &Path, lines: &str) -> Result<(), Error> {
    let started = forge::alone(repository, program, &["hook", "post-receive", ARGUMENT]).stdin(Stdio::piped()).spawn();
    let mut successor = started.map_err(|error| Error::new("starting the process that waits", error))?;
    if let Some(mut stdin) = successor.stdin.take() {
        // One that finds another one waiting need not read it.
        drop(stdin.write_all(lines.as_bytes()));
    }
    Ok(())
}

/// The right to wait; none while another successor waits, which has not looked at the refs yet.
pub(super) fn turn(repository: &Repository) -> Result<Option<Lock>, Error> {
    Lock::acquire(&hydrate::lock_path(repository).with_extension("waiting"), repository.shared(), |_| false)
}
