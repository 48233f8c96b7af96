//! Programs that may hang: they are waited for no longer than they are to take.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often the end of a program is looked for.
const TICK: Duration = Duration::from_millis(10);

/// How much of what it says on each of its streams is read.
const SAID_BYTES_MAX: u64 = 64 << 20;

/// How a child that leads a process group of its own ended; none when it did not in time. Then it has ended now, with all that
/// it started in its process group.
pub(crate) fn wait(mut child: Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
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

/// Runs a command that reads nothing, in a process group of its own. None when it did not end in time.
pub(crate) fn output(mut command: Command, limit: Duration) -> io::Result<Option<Output>> {
    // Files, so that a process that it leaves behind holds up no one.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?).process_group(0);
    let Some(status) = wait(command.spawn()?, limit)? else { return Ok(None) };
    Ok(Some(Output { status, stdout: said(&mut stdout)?, stderr: said(&mut stderr)? }))
}

fn said(file: &mut File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.rewind()?;
    file.take(SAID_BYTES_MAX).read_to_end(&mut text)?;
    Ok(text)
}
