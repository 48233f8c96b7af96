//! Starting one program, reading what it prints, and ending it.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use dry_files::view::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::policy::{Limits, Policy, Restriction};
use super::restrict;
use super::written::Written;
use dry_files::scratch;

/// How programs are run on this machine. All of it is known to the edge only.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Our own binary, which `main` leads to `confine::main`.
    pub confiner: PathBuf,
    /// Where programs are looked for: the value of `PATH`, handed on to them.
    pub search_path: OsString,
    /// Where scratch directories are made.
    pub temp_dir: PathBuf,
    /// Where they are made when that cannot be written.
    pub spare_dir: Option<PathBuf>,
    /// Run also where the kernel cannot confine (`hydrate.allowUnconfined`).
    pub allow_unconfined: bool,
    /// More files and directories that every program may read: what a wrapper script starts, a tool's own library.
    pub readable: Vec<PathBuf>,
    /// What one program may use.
    pub limits: Limits,
}

/// One program to run.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The program, as [`Runner::find`] found it.
    pub program: &'a Path,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory it runs in.
    pub dir: &'a Path,
    /// Files and directories that it may read and execute, beside those of the system and the program itself.
    pub readable: Vec<PathBuf>,
    /// Directories below which it may change everything. A scratch directory is always there: `HOME` and `TMPDIR`.
    pub writable: Vec<PathBuf>,
    /// Whether it is code of ours, which needs limits but no confinement: it runs also where the kernel has none.
    pub ours: bool,
    /// More variables than `PATH`, `HOME`, `TMPDIR`, `XDG_*`, `HELM_*`, `LC_ALL` and `TZ`.
    pub environment: Vec<(OsString, OsString)>,
}

/// What a program did. It ran to its end, which need not be a good one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// The first 64 KiB of its standard error.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Why it failed, in its own words when it has any; none when it did not.
    pub fn failure(&self) -> Option<String> {
        if self.status.success() {
            return None;
        }
        let words = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        let end = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        };
        Some(if words.is_empty() { end } else { words })
    }
}

/// Why a program did not run to its end. Never a mistake of the dry commit, except that it may be what took too long.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not on `PATH`, or not at its path, or no executable file.
    #[error("program `{}` {}", .0, if .0.contains('/') { "is not there, or not executable" } else { "not found on PATH" })]
    NotFound(String),
    /// The kernel cannot confine it, and no admin allowed it to run unconfined.
    #[error("this system cannot restrict {}", list(.0))]
    Unconfined(Vec<Restriction>),
    /// The confining process did not do its work.
    #[error("confining {program}: {reason}")]
    Confine {
        /// The program.
        program: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// The time was up.
    #[error("{} was ended after {} seconds", .program.display(), .limit.as_secs())]
    Time {
        /// The program.
        program: PathBuf,
        /// The limit.
        limit: Duration,
    },
    /// It printed too much.
    #[error("{} printed more than {limit} bytes", .program.display())]
    Output {
        /// The program.
        program: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// It had too much in its scratch directory.
    #[error("{} wrote more than {limit} bytes of temporary files", .program.display())]
    Scratch {
        /// The program.
        program: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// Its output is no longer wanted.
    #[error("cancelled")]
    Cancelled,
    /// Something else of the system failed.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
}

fn list(restrictions: &[Restriction]) -> String {
    restrictions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn io_error(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let doing = doing.into();
    move |source| Error::Io { doing, source }
}

/// Standard error only feeds messages.
const STDERR_BYTES_MAX: usize = 64 << 10;

/// Between the friendly and the final signal.
const GRACE: Duration = Duration::from_millis(500);

/// How long output may still come when the program and its process group are gone: a pipe drains at once.
const DRAIN: Duration = Duration::from_secs(1);

/// How often the end of the program, the time and a cancellation are looked for while nothing is printed.
const TICK: Duration = Duration::from_millis(10);

/// How often the end of the program is looked for once it has closed its output, when it is about to end.
const TICK_AT_END: Duration = Duration::from_millis(1);

/// Runs programs, any number at a time.
#[derive(Debug)]
pub struct Runner {
    settings: Settings,
    missing: OnceLock<Vec<Restriction>>,
    /// What dead processes left is taken away once, by a process that makes such directories itself.
    swept: Once,
}

impl Runner {
    /// Starts nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings, missing: OnceLock::new(), swept: Once::new() }
    }

    /// How programs are run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The file that `name` means: itself when it has a `/`, else the first executable of that name on `PATH`.
    pub fn find(&self, name: &str) -> Result<PathBuf, Error> {
        let is_program = |path: &Path| {
            path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        };
        let mut places: Vec<PathBuf> = if name.contains('/') {
            vec![name.into()]
        } else {
            std::env::split_paths(&self.settings.search_path).map(|dir| dir.join(name)).collect()
        };
        places.retain(|path| path.is_absolute() && is_program(path));
        places.into_iter().next().ok_or_else(|| Error::NotFound(name.to_owned()))
    }

    /// What the kernel cannot restrict: empty where confinement is whole. The kernel is asked once.
    pub fn missing(&self) -> Result<&[Restriction], Error> {
        if self.missing.get().is_none() {
            let missing = self.ask_kernel()?;
            return Ok(self.missing.get_or_init(|| missing));
        }
        Ok(self.missing.get().map_or(&[], Vec::as_slice))
    }

    fn ask_kernel(&self) -> Result<Vec<Restriction>, Error> {
        let confiner = &self.settings.confiner;
        let policy = self.policy(Vec::new(), Vec::new(), Vec::new());
        let mut command = Command::new(confiner);
        command.arg(restrict::ARGUMENT).args(policy.to_args()).env_clear().current_dir("/");
        let output = self.capture(&mut command, confiner, None, &Stop::default())?;
        if let Some(reason) = output.failure() {
            return Err(Error::Confine { program: confiner.clone(), reason });
        }
        let enforced = String::from_utf8_lossy(&output.stdout);
        let enforced: Vec<Restriction> = enforced.split_whitespace().filter_map(Restriction::from_word).collect();
        Ok(Restriction::ALL.into_iter().filter(|restriction| !enforced.contains(restriction)).collect())
    }

    /// Runs a program to its end.
    ///
    /// Whatever it started has ended too when this returns, also on an error.
    pub fn run(&self, call: &Call<'_>, stop: &Stop) -> Result<Output, Error> {
        let missing = self.missing()?;
        if !missing.is_empty() && !self.settings.allow_unconfined && !call.ours {
            return Err(Error::Unconfined(missing.to_vec()));
        }
        let required = Restriction::ALL.into_iter().filter(|restriction| !missing.contains(restriction)).collect();
        let scratch = self.scratch("run")?;
        let readable = [&call.readable[..], &self.settings.readable, &[call.program.to_owned()]].concat();
        let writable = [&call.writable[..], &[scratch.path().to_owned()]].concat();
        let policy = self.policy(readable, writable, required);
        let mut command = Command::new(&self.settings.confiner);
        command.arg(restrict::ARGUMENT).args(policy.to_args()).arg("--").arg(call.program).args(&call.args);
        command.env_clear().envs(self.environment(scratch.path())).envs(call.environment.iter().cloned());
        let output = self.capture(command.current_dir(call.dir), call.program, Some(scratch.path()), stop)?;
        let complaint = (output.status.code() == Some(restrict::COMPLAINT_STATUS))
            .then(|| {
                String::from_utf8_lossy(&output.stderr).trim().strip_prefix(restrict::COMPLAINT).map(str::to_owned)
            })
            .flatten();
        match complaint {
            Some(reason) => Err(Error::Confine { program: call.program.to_owned(), reason }),
            None => Ok(output),
        }
    }

    /// A new directory that is removed with what is in it when it is dropped. `purpose` is part of its name.
    pub fn scratch(&self, purpose: &str) -> Result<scratch::Scratch, Error> {
        let dir = &self.settings.temp_dir;
        let dirs: Vec<&Path> =
            [Some(dir), self.settings.spare_dir.as_ref()].into_iter().flatten().map(|dir| &**dir).collect();
        self.swept.call_once(|| scratch::sweep(&dirs));
        let made = scratch::scratch_dir(purpose, &dirs);
        made.map_err(io_error(format!("creating a directory in {}", dir.display())))
    }

    fn policy(&self, readable: Vec<PathBuf>, writable: Vec<PathBuf>, required: Vec<Restriction>) -> Policy {
        Policy { parent: std::process::id(), readable, writable, required, limits: self.settings.limits }
    }

    fn environment(&self, scratch: &Path) -> Vec<(&'static str, OsString)> {
        let own = ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HELM_CACHE_HOME"];
        let own = own.into_iter().chain(["HELM_CONFIG_HOME", "HELM_DATA_HOME"]);
        let mut environment: Vec<_> = own.map(|name| (name, scratch.as_os_str().to_owned())).collect();
        environment.extend([("PATH", self.settings.search_path.clone()), ("LC_ALL", "C".into()), ("TZ", "UTC".into())]);
        environment
    }

    /// Starts `command` and reads its output until it and all of its process group have ended. It writes to `scratch`.
    fn capture(
        &self,
        command: &mut Command,
        program: &Path,
        scratch: Option<&Path>,
        stop: &Stop,
    ) -> Result<Output, Error> {
        let limits = &self.settings.limits;
        let mut written = scratch.map(|dir| Written::new(dir, limits.scratch_bytes_max));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child =
            command.spawn().map_err(io_error(format!("starting {}", command.get_program().to_string_lossy())))?;
        let mut group = Group::new(child);
        let mut stdout = Pipe::new(group.child.stdout.take());
        let mut stderr = Pipe::new(group.child.stderr.take());
        let started = Instant::now();
        let mut ended: Option<Instant> = None;
        loop {
            let reading = || io_error(format!("reading the output of {}", program.display()));
            let closed = stdout.from.is_none() && stderr.from.is_none();
            wait_for_output(&stdout, &stderr, if closed { TICK_AT_END } else { TICK }).map_err(reading())?;
            stdout.read_ready(usize::MAX).map_err(reading())?;
            stderr.read_ready(STDERR_BYTES_MAX).map_err(reading())?;
            if limits.output_bytes_max > 0 && stdout.data.len() as u64 > limits.output_bytes_max {
                return Err(Error::Output { program: program.to_owned(), limit: limits.output_bytes_max });
            }
            match ended {
                Some(at) if closed || at.elapsed() > DRAIN => {
                    let status = group.reap().map_err(io_error(format!("waiting for {}", program.display())))?;
                    return Ok(Output { status, stdout: stdout.data, stderr: stderr.data });
                }
                Some(_) => {}
                None if group.leader_has_ended() => {
                    group.signal(Signal::KILL);
                    ended = Some(Instant::now());
                }
                None if stop.is_set() => return Err(Error::Cancelled),
                None if started.elapsed() > limits.time => {
                    return Err(Error::Time { program: program.to_owned(), limit: limits.time });
                }
                None if written.as_mut().is_some_and(Written::is_too_much) => {
                    return Err(Error::Scratch { program: program.to_owned(), limit: limits.scratch_bytes_max });
                }
                None => {}
            }
        }
    }
}

/// A program and all that it started. Dropped before its end, it is ended.
struct Group {
    child: Child,
    pid: Pid,
    reaped: bool,
}

impl Group {
    fn new(child: Child) -> Self {
        let pid = Pid::from_child(&child);
        Self { child, pid, reaped: false }
    }

    /// Leaves the leader unreaped, so that no other process can get its number while we still signal the group.
    fn leader_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        // It fails only when no one is left to get it.
        let _ = kill_process_group(self.pid, signal);
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        self.reaped = true;
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        self.signal(Signal::TERM);
        let deadline = Instant::now() + GRACE;
        while !self.leader_has_ended() && Instant::now() < deadline {
            std::thread::sleep(TICK);
        }
        self.signal(Signal::KILL);
        // The error of a child that is gone changes nothing.
        let _ = self.reap();
    }
}

/// One output of a program, and what came of it so far.
struct Pipe<R> {
    from: Option<R>,
    data: Vec<u8>,
}

impl<R: Read + AsFd> Pipe<R> {
    fn new(from: Option<R>) -> Self {
        Self { from, data: Vec::new() }
    }

    fn poll_fd(&self) -> Option<PollFd<'_>> {
        self.from.as_ref().map(|from| PollFd::from_borrowed_fd(from.as_fd(), PollFlags::IN))
    }

    /// Reads once when there is something; keeps `keep` bytes in all and drops the rest.
    fn read_ready(&mut self, keep: usize) -> io::Result<()> {
        let Some(from) = &mut self.from else { return Ok(()) };
        let mut fds = [PollFd::from_borrowed_fd(from.as_fd(), PollFlags::IN)];
        if poll(&mut fds, Some(&Timespec::default()))? == 0 {
            return Ok(());
        }
        let mut buffer = [0; 64 << 10];
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        };
        let room = keep.saturating_sub(self.data.len());
        self.data.extend(buffer.iter().take(count.min(room)));
        if count == 0 {
            self.from = None;
        }
        Ok(())
    }
}

/// Returns when one of them has something to read, or `time` has passed.
fn wait_for_output(stdout: &Pipe<impl Read + AsFd>, stderr: &Pipe<impl Read + AsFd>, time: Duration) -> io::Result<()> {
    let mut fds: Vec<PollFd<'_>> = stdout.poll_fd().into_iter().chain(stderr.poll_fd()).collect();
    let time = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
    match poll(&mut fds, Some(&time)) {
        Err(rustix::io::Errno::INTR) => Ok(()),
        other => other.map(|_| ()).map_err(io::Error::from),
    }
}
