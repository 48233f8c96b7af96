//! Commands of the admin and of the forge, which may fail or hang: nothing of ours waits for them longer than it is to.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dry_files::diag::printable;

use crate::render::process::wall;
use crate::repo::{Repository, limited};

/// How much of what it says is shown.
const COMPLAINT_BYTES_MAX: u64 = 1 << 10;

/// A command that runs.
pub(in crate::tell) struct Running {
    child: Child,
    complaint: File,
}

/// Runs a command in the git directory, in a process group of its own, with `input` on standard input. After `limit` it is ended,
/// with the error `late`.
///
/// # Errors
///
/// It could not be run, failed, or took too long, in words for a warning.
pub(in crate::tell) fn run(
    command: Command,
    input: &[u8],
    repository: &Repository,
    limit: (Duration, &str),
) -> Result<(), String> {
    start(command, input, repository)?.wait(limit)
}

/// Starts a command as [`run`] does, and does not wait for its end.
///
/// # Errors
///
/// It could not be started, in words for a warning.
pub(in crate::tell) fn start(mut command: Command, input: &[u8], repository: &Repository) -> Result<Running, String> {
    let text = |error: io::Error| error.to_string();
    // Files, so that a command that reads nothing, or leaves a process behind, is not waited for.
    let mut stdin = scratch(repository).map_err(text)?;
    stdin.write_all(input).and_then(|()| stdin.rewind()).map_err(text)?;
    let complaint = scratch(repository).map_err(text)?;
    let stderr = complaint.try_clone().map_err(text)?;
    // Where we render is nothing to a git-hydrate that it starts.
    command.env_remove(wall::VARIABLE).env_remove(wall::USED);
    command.current_dir(repository.common_dir()).process_group(0);
    let child = command.stdin(stdin).stdout(Stdio::null()).stderr(stderr).spawn().map_err(text)?;
    Ok(Running { child, complaint })
}

impl Running {
    /// Waits for the end of the command, no longer than `limit`: then it is ended, with the error `late`.
    ///
    /// # Errors
    ///
    /// It failed, or took too long, in words for a warning.
    pub(in crate::tell) fn wait(mut self, (limit, late): (Duration, &str)) -> Result<(), String> {
        let status = limited::wait(self.child, limit).map_err(|error| error.to_string())?;
        let Some(status) = status else {
            return Err(late.to_owned());
        };
        if status.success() {
            return Ok(());
        }
        let mut words = Vec::new();
        let rewound = self.complaint.rewind();
        drop(rewound.and_then(|()| self.complaint.take(COMPLAINT_BYTES_MAX).read_to_end(&mut words)));
        let words = String::from_utf8_lossy(&words).lines().next().map(printable).unwrap_or_default();
        let words = if words.is_empty() { words } else { format!(": {words}") };
        Err(match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit status {code}{words}"),
            (None, signal) => format!("ended by signal {}{words}", signal.unwrap_or_default()),
        })
    }
}

fn scratch(repository: &Repository) -> io::Result<File> {
    tempfile::tempfile().or_else(|_| tempfile::tempfile_in(repository.common_dir()))
}
