//! `hydrate.notify`: a command of the admin that gets the report of a run.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;

use super::{Options, access};
use crate::diag::printable;
use crate::git::Repository;
use crate::hydrate::Report;

/// How often the end of the command is looked for.
const TICK: Duration = Duration::from_millis(10);

/// How much of its standard error is shown.
const COMPLAINT_BYTES_MAX: u64 = 1 << 10;

/// What the command reads on standard input: one JSON object, on one line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Notice<'n> {
    format: u32,
    /// The git directory.
    repository: String,
    /// Who pushed, where `hydrate.pusherVariable` names a variable that tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pusher: Option<String>,
    /// Why nothing was hydrated; then there is no report.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'n str>,
    #[serde(flatten)]
    report: Option<&'n Report>,
}

/// Tells the admin's command, if there is one, what a run did, or why it did nothing. To be called after the lock of the
/// repository was given back: the command may take its time, and may push.
///
/// # Errors
///
/// The command could not be run, failed, or took too long, in words for a warning. Hydration does not depend on it.
pub fn notify(repository: &Repository, outcome: Result<&Report, &str>) -> Result<(), String> {
    let options = Options::read(repository);
    let Some(command) = options.notify else { return Ok(()) };
    if outcome.is_ok_and(Report::is_empty) {
        return Ok(());
    }
    let notice = Notice {
        format: 1,
        repository: repository.common_dir().display().to_string(),
        pusher: access(repository).ok().and_then(|access| access.pusher),
        error: outcome.err(),
        report: outcome.ok(),
    };
    run_command(repository, &command, &notice, options.notify_time_limit)
        .map_err(|why| format!("hydrate.notify: {why}"))
}

fn run_command(repository: &Repository, command: &str, notice: &Notice<'_>, limit: Duration) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    // Files, so that a command that reads nothing, or leaves a process behind, keeps nobody waiting.
    let mut input = scratch(repository).map_err(text)?;
    serde_json::to_writer(&mut input, notice).map_err(|error| error.to_string())?;
    input.write_all(b"\n").and_then(|()| input.rewind()).map_err(text)?;
    let mut complaint = scratch(repository).map_err(text)?;
    let stderr = complaint.try_clone().map_err(text)?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(repository.common_dir()).process_group(0);
    let child = shell.stdin(input).stdout(Stdio::null()).stderr(stderr).spawn().map_err(text)?;
    let status = wait(child, limit).map_err(text)?;
    let Some(status) = status else {
        return Err(format!("ended after {} seconds (hydrate.notifyTimeLimit)", limit.as_secs()));
    };
    if status.success() {
        return Ok(());
    }
    let mut words = Vec::new();
    drop(complaint.rewind().and_then(|()| complaint.take(COMPLAINT_BYTES_MAX).read_to_end(&mut words)));
    let words = String::from_utf8_lossy(&words).lines().next().map(printable).unwrap_or_default();
    let words = if words.is_empty() { words } else { format!(": {words}") };
    Err(match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}{words}"),
        (None, signal) => format!("ended by signal {}{words}", signal.unwrap_or_default()),
    })
}

fn scratch(repository: &Repository) -> io::Result<File> {
    tempfile::tempfile().or_else(|_| tempfile::tempfile_in(repository.common_dir()))
}

/// How it ended; none when it did not in time. Then it has ended now, with all that it started in its process group.
fn wait(mut child: Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= limit {
            // It fails only when no one is left to get it.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(TICK);
    }
}
