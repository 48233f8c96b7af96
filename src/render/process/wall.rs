//! Who goes on when rendering ends this process: another one, which started it.
//!
//! An allocation that fails, a stack that overflows and the kernel's own killer end a process, and nothing inside of it can
//! help that. So whatever renders is a process that may die: the first one renders in threads, as fast as it can, and within
//! the limits of a run. Should it die, it is started once more to render each Application in a process of its own, which
//! finds out whose fault it was and does the work for all others.
//!
//! Nothing that the first one did is in the way of the second: a lock goes with its process, refs move at the very end, and
//! objects that no ref leads to are harmless. What was late when the first one ended itself, the second one knows
//! (`render/process/late.rs`) and does not try. The script `hooks/post-receive` does the same by itself, because a shell is
//! there already and costs a push less.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::panic::PanicHookInfo;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dry_files::diag::printable;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};

use crate::render::Isolation;

/// The variable that tells a process where it renders: `together` or `apart`. Without it the process is the last one.
pub(crate) const VARIABLE: &str = "GIT_HYDRATE_ISOLATION";

/// The variable that tells the second process how many seconds the first one took of the time of a run.
pub(crate) const USED: &str = "GIT_HYDRATE_USED";

/// How a process ended that was started here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With this exit code.
    Exit(u8),
    /// By this signal: somebody wanted it to end, or it died a second time.
    Signal(i32),
}

/// The exit code of a Rust program that panicked.
const PANICKED: u8 = 101;

impl Ended {
    /// Whether the process died of what it worked on.
    fn is_death(self) -> bool {
        match self {
            Ended::Exit(code) => code == PANICKED,
            Ended::Signal(signal) => !is_wanted(signal),
        }
    }
}

/// Has a panic say one line, whatever the environment asks for: to walk the stack takes memory, and where there is none left, it
/// waits for its own lock for ever. To be called once, at the start.
pub(crate) fn panic_plainly() {
    std::panic::set_hook(Box::new(report_panic));
}

fn report_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map_or_else(String::new, |place| format!(" at {}:{}", place.file(), place.line()));
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    drop(writeln!(io::stderr().lock(), "error: git-hydrate panicked{place}: {}", printable(text)));
}

/// The time, in seconds since 1970. Nothing below the edge asks the clock for it.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(since).unwrap_or(i64::MAX)
}

/// What [`VARIABLE`] says.
pub(crate) fn isolation(variable: Option<&OsStr>) -> Isolation {
    match variable.and_then(OsStr::to_str) {
        Some("together") => Isolation::Together,
        Some("apart") => Isolation::Apart,
        _ => Isolation::Alone,
    }
}

/// What [`USED`] says: none of the time when this process is the first.
pub(crate) fn used(variable: Option<&OsStr>) -> Duration {
    let seconds = variable.and_then(OsStr::to_str).and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or_default())
}

/// Runs this program, `program`, with these arguments, and once more when it dies, in what is left of the time of a run.
/// Each time it gets `input` on its standard input; without any it shares ours.
///
/// # Errors
///
/// It cannot be started.
pub(crate) fn supervise(program: &Path, arguments: &[impl AsRef<OsStr>], input: Option<&[u8]>) -> io::Result<Ended> {
    // Who presses Ctrl-C means the process that works; how that ends is how we end.
    for signal in [SIGINT, SIGQUIT, SIGHUP] {
        drop(signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))));
    }
    let begun = Instant::now();
    let mut command = Command::new(program);
    command.args(arguments).env(VARIABLE, "together").env_remove(USED);
    match run(command, input)? {
        ended if ended.is_death() => {
            let mut command = Command::new(program);
            // A part of a second counts as a whole one.
            let used = begun.elapsed().as_secs() + 1;
            command.args(arguments).env(VARIABLE, "apart").env(USED, used.to_string());
            run(command, input)
        }
        ended => Ok(ended),
    }
}

fn run(mut command: Command, input: Option<&[u8]>) -> io::Result<Ended> {
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn()?;
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // Who needs no input does not read it.
        drop(stdin.write_all(input));
    }
    let status = child.wait()?;
    Ok(match (status.code(), status.signal()) {
        (None, Some(signal)) => Ended::Signal(signal),
        (code, _) => Ended::Exit(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
    })
}

/// Whether somebody wanted a process to end by this signal.
pub(crate) fn is_wanted(signal: i32) -> bool {
    [SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE].contains(&signal)
}

/// What to say of a process that died twice.
pub(crate) fn died(signal: i32) -> String {
    format!(
        "git-hydrate was ended by signal {signal} twice, the second time although each Application was rendered in its own \
         process; hydrate.runMemory and hydrate.applicationMemory set the limits"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dies_is_tried_once_more() {
        let rows = [
            ("exit 0", Ended::Exit(0)),
            ("exit 3", Ended::Exit(3)),
            ("[ $GIT_HYDRATE_ISOLATION = apart ] && exit 4; kill -ABRT $$", Ended::Exit(4)),
            ("[ $GIT_HYDRATE_ISOLATION = apart ] && exit 4; exit 101", Ended::Exit(4)),
            ("[ $GIT_HYDRATE_ISOLATION = apart ] && exec cat; kill -KILL $$", Ended::Exit(0)),
            ("[ \"$GIT_HYDRATE_USED\" ] && exit \"$GIT_HYDRATE_USED\"; kill -KILL $$", Ended::Exit(1)),
            ("kill -KILL $$", Ended::Signal(9)),
            ("[ $GIT_HYDRATE_ISOLATION = apart ] && exit 4; kill -TERM $$", Ended::Signal(SIGTERM)),
        ];
        for (script, expected) in rows {
            let ended = supervise(Path::new("/bin/sh"), &["-c", script], Some(b"")).expect("starts");
            assert_eq!(ended, expected, "{script}");
        }
        assert_eq!([None, Some("else")].map(|word| isolation(word.map(OsStr::new))), [Isolation::Alone; 2]);
        let seconds = [None, Some("-1"), Some("x"), Some("7")].map(|text| used(text.map(OsStr::new)).as_secs());
        assert_eq!(seconds, [0, 0, 0, 7]);
    }
}
