//! Programs that may hang: they are waited for no longer than they are to take.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often the end of a program is looked for.
const TICK: Duration = Duration::from_millis(10);

/// How much a program may say on each of its streams.
const SAID_BYTES_MAX: u64 = 64 << 20;

/// How a program ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself.
    ByItself(Output),
    /// It took too long, and was ended.
    Late,
    /// It said more than is read, and was ended.
    Talking,
}

/// How a child that leads a process group of its own ended; none when it did not in time. Then it has ended now, with all that
/// it started in its process group.
pub(crate) fn wait(mut child: Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    wait_while(&mut child, limit, || Ok(true))
}

/// How a child ended; none when it did not in time, or when `may_go_on` said no. Then it has ended now, with all that
/// it started in its process group.
fn wait_while(
    child: &mut Child,
    limit: Duration,
    mut may_go_on: impl FnMut() -> io::Result<bool>,
) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= limit || !may_go_on()? {
            // It fails only when no one is left to get it.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(TICK);
    }
}

/// Runs a command that reads nothing, in a process group of its own. No file that it writes may have more bytes than
/// `file_bytes_max`, where the kernel keeps such a limit for others.
pub(crate) fn output(mut command: Command, limit: Duration, file_bytes_max: Option<u64>) -> io::Result<Ended> {
    // Files, so that a process that it leaves behind is not waited for.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?).process_group(0);
    let mut child = command.spawn()?;
    if let Some(bytes) = file_bytes_max {
        limit_files(Pid::from_child(&child), bytes);
    }
    let is_short = || Ok(stdout.metadata()?.len() <= SAID_BYTES_MAX && stderr.metadata()?.len() <= SAID_BYTES_MAX);
    let ended = wait_while(&mut child, limit, is_short)?;
    if !is_short()? {
        return Ok(Ended::Talking);
    }
    let Some(status) = ended else { return Ok(Ended::Late) };
    Ok(Ended::ByItself(Output { status, stdout: said(&mut stdout)?, stderr: said(&mut stderr)? }))
}

/// The process was started just now, and starts others only after it has read its arguments.
#[cfg(target_os = "linux")]
fn limit_files(child: Pid, bytes: u64) {
    use rustix::process::{Resource, Rlimit, prlimit};
    // It fails only for a process that has ended.
    let _ = prlimit(Some(child), Resource::Fsize, Rlimit { current: Some(bytes), maximum: Some(bytes) });
}

#[cfg(not(target_os = "linux"))]
fn limit_files(_: Pid, _: u64) {}
fn said(file: &mut File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.rewind()?;
    file.take(SAID_BYTES_MAX).read_to_end(&mut text)?;
    Ok(text)
}
