//! Renders in processes of their own: whatever an Application does to time or memory, it takes nothing else along.
//!
//! Each thread that renders has a process, which renders one Application after the other as a thread would, by the same
//! code. It is this very program, started as `git-hydrate __render PARENT`, and it sees nothing but its two pipes: files of
//! the dry tree are asked for and answered, so it needs no repository, no quarantine and no lock. The kernel limits it to
//! `hydrate.applicationMemory`, and we end it when an Application takes longer than it may.
//!
//! A process that died says little of the Application it was at: what was rendered before may have taken the memory. So that
//! Application is rendered once more in a new process, and only if that dies too it is the one. Of an Application that dies we
//! know what it read until then, for each read is reported before it is done.
//!
//! ApplicationSets are expanded so as well, each in a process of its own.
//!
//! Leaves to others: when to render so, which is decided where it is noticed that rendering in one process ended it.

mod asked;
mod child;
mod documents;
mod frame;
mod rendered;

use std::collections::HashMap;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::super::exec::Tools;
use super::super::expand::asked::{Set, Unexpanded};
use super::super::failure::{APPLICATION_MEMORY, Error, Failure, Unrendered};
use super::super::machine::Limits;
use super::super::watch::GRACE;
use super::super::{Application, Commit, Rendered, bug};
use crate::argo::set::{self, ApplicationSet};
use crate::argo::{Profile, RuleSet, SeedIdentity};
use crate::manifest::Manifest;
use crate::settings::{self, BuildOptions, RendererName, Seeds};
use confine as plugin;
use dry_files::path::RepoPath;
use dry_files::scratch::Scratch;
use dry_files::view::{Files, Reads};

use asked::{Asked, AskedApplication, AskedSet};
use frame::{Connection, Said};
use rendered::Answer;

pub(crate) use child::{ARGUMENT, main};
pub(crate) use rendered::{read_reads, reads as write_reads};

/// How often the time is looked at while a process says nothing.
const TICK: Duration = Duration::from_millis(20);

/// How much of what a process says of its own end is read.
const LAST_WORDS_BYTES_MAX: u64 = 4096;

/// What a process is sent before it renders anything.
#[derive(Debug, Serialize, Deserialize)]
struct Instructions {
    settings: plugin::Settings,
    tools: Tools,
    limits: Limits,
    profile: Profile,
    dry_commit: String,
    renderer: RendererName,
    build_options: BuildOptions,
    nondeterministic: Vec<String>,
    /// On their way through a pipe; no file has them.
    seeds: Seeds,
    identities: Vec<(SeedIdentity, SeedIdentity)>,
    limits_of_settings: settings::Limits,
    rules: RuleSet,
    #[cfg(debug_assertions)]
    rehearsed: super::super::Rehearsed,
}

/// The processes that render one dry commit, each for the thread that started it: the kernel ends it with that thread.
#[derive(Debug, Default)]
pub(crate) struct Processes(Mutex<HashMap<ThreadId, Process>>);

/// Why a process gave no answer.
enum Silence {
    /// It ended by itself.
    Died { status: ExitStatus, last_words: String },
    /// It took longer than one Application may.
    Late,
    /// It is not waited for any more, or all together are late.
    Dropped,
    /// What it renders is too long to be taken.
    Large,
    /// It could not be started, or says what makes no sense.
    Broken(std::io::Error),
}

/// What a process is working on, as it is sent to it.
struct Subject {
    name: String,
    does: &'static str,
    did: &'static str,
}

impl Subject {
    fn application(application: &Application) -> Self {
        Self { name: format!("`{}`", application.name), does: "render", did: "rendered" }
    }

    fn set(set: &ApplicationSet) -> Self {
        Self { name: set.by().to_string(), does: "expand", did: "expanded" }
    }
}

/// Expands a set in a process of its own.
pub(crate) fn expand(commit: &Commit<'_>, set: &Set<'_>) -> Result<set::Answer, Unexpanded> {
    let mut reads = Reads::new();
    let (time, setting) = commit.renderers.time_of_set();
    let begun = Process::start(commit).map_err(Silence::Broken);
    let answer =
        begun.and_then(|mut process| process.answer(commit, &Asked::Expand(AskedSet::new(set)), time, &mut reads));
    let subject = Subject::set(set.set);
    let failed = |error| Err(Unexpanded::new(error, reads));
    match answer {
        Ok(Answer::Expanded(answer)) => Ok(answer),
        Ok(Answer::Unrendered(Unrendered { failure: Failure::World(error), reads, .. })) => {
            Err(Unexpanded::new(error, reads))
        }
        Ok(Answer::Panic(text)) => failed(Error::Panic(text)),
        Ok(Answer::Rendered(_) | Answer::Traced(_) | Answer::Unrendered(_) | Answer::NotFound) => {
            failed(Error::Apart(format!("{} is not where it was", subject.name)))
        }
        Err(Silence::Late) => failed(commit.renderers.set_too_slow(set.set, setting)),
        Err(silence) => failed(silence.error(commit, &subject)),
    }
}

impl Processes {
    /// Renders an Application in the process of this thread.
    pub(crate) fn render(&self, commit: &Commit<'_>, application: &Application) -> Result<Rendered, Unrendered> {
        match self.ask(commit, application, Asked::Render)? {
            Answer::Rendered(rendered) => Ok(rendered),
            Answer::Traced(_) | Answer::Expanded(_) | Answer::Unrendered(_) | Answer::Panic(_) | Answer::NotFound => {
                Err(lost(application))
            }
        }
    }

    /// Finds out in the process of this thread which file each object of an Application is made of.
    pub(crate) fn trace(
        &self,
        commit: &Commit<'_>,
        application: &Application,
    ) -> Result<Vec<(Manifest, Option<RepoPath>)>, Failure> {
        match self.ask(commit, application, Asked::Trace).map_err(|unrendered| unrendered.failure)? {
            Answer::Traced(origins) => Ok(origins),
            Answer::Rendered(_) | Answer::Expanded(_) | Answer::Unrendered(_) | Answer::Panic(_) | Answer::NotFound => {
                Err(lost(application).failure)
            }
        }
    }

    /// What a process has to show of an Application, which it may know by its text only.
    fn ask(
        &self,
        commit: &Commit<'_>,
        application: &Application,
        asked: fn(AskedApplication) -> Asked,
    ) -> Result<Answer, Unrendered> {
        let ask =
            |brings_text| self.answer(commit, application, &asked(AskedApplication::new(application, brings_text)));
        let answer = match ask(false)? {
            // It is in no file of the dry tree: a root of the settings.
            Answer::NotFound => ask(true)?,
            answer => answer,
        };
        match answer {
            Answer::Unrendered(unrendered) => Err(unrendered),
            Answer::Panic(text) => Err(bug(application, &text).into()),
            answer => Ok(answer),
        }
    }

    /// What a process says of an Application.
    fn answer(&self, commit: &Commit<'_>, application: &Application, asked: &Asked) -> Result<Answer, Unrendered> {
        let mut reads = Reads::new();
        let time = commit.limits().time;
        let mut silence = match self.idle() {
            Some(mut process) => match process.answer(commit, asked, time, &mut reads) {
                Ok(answer) => return Ok(self.answered(process, answer)),
                Err(silence) => Some(silence),
            },
            None => None,
        };
        // One that rendered others before may have died of them.
        if matches!(silence, None | Some(Silence::Died { .. })) {
            reads.clear();
            let begun = Process::start(commit).map_err(Silence::Broken);
            let rendered = begun.and_then(|mut process| {
                let answer = process.answer(commit, asked, time, &mut reads)?;
                Ok((process, answer))
            });
            match rendered {
                Ok((process, answer)) => return Ok(self.answered(process, answer)),
                Err(again) => silence = Some(again),
            }
        }
        let failure = match silence {
            None => Error::Cancelled,
            Some(Silence::Late) => commit.too_slow(application),
            Some(silence) => silence.error(commit, &Subject::application(application)),
        };
        let repeats = failure.is_limit() && !failure.is_limit_of_commit();
        Err(Unrendered { failure: Failure::World(failure), reads, repeats, follows: false })
    }

    /// Keeps the process for the next Application of this thread.
    fn answered(&self, process: Process, answer: Answer) -> Answer {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(thread::current().id(), process);
        answer
    }

    fn idle(&self) -> Option<Process> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread::current().id())
    }
}

/// A process knows less of an Application than its parent.
fn lost(application: &Application) -> Unrendered {
    Failure::from(Error::Apart(format!("`{}` is not where it was", application.name))).into()
}

impl Silence {
    fn error(self, commit: &Commit<'_>, subject: &Subject) -> Error {
        let Subject { name, does, did } = subject;
        match self {
            Silence::Broken(source) => Error::Io { doing: format!("starting a process to {does} {name}"), source },
            Silence::Large => {
                let what = format!("what {name} makes has more than {} bytes", commit.limits().output_bytes_max);
                Error::TooMuch { what, setting: "hydrate.outputLimit" }
            }
            Silence::Late | Silence::Dropped => commit.dropped(),
            Silence::Died { status, last_words } => {
                let bytes = commit.limits().application_memory;
                // The words are those of Rust's own runtime, which says nothing else on these two ways to die.
                if last_words.contains("memory allocation of ") {
                    let what = format!("{name} takes more than {bytes} bytes of memory to {does}");
                    return Error::TooMuch { what, setting: APPLICATION_MEMORY };
                }
                if last_words.contains("has overflowed its stack") {
                    return Error::Limit(format!("{name} nests deeper than can be {did}: the stack overflowed"));
                }
                match status.signal() {
                    // Only the system, or an admin, ends it so.
                    Some(9) => {
                        let what = format!("the system ended the process that {did} {name} (signal 9)");
                        Error::TooMuch { what, setting: APPLICATION_MEMORY }
                    }
                    Some(signal) => Error::Limit(format!("the process that {did} {name} ended by signal {signal}")),
                    None => Error::Apart(format!("the process that {did} {name} ended: {status}")),
                }
            }
        }
    }
}

/// A process that renders.
#[derive(Debug)]
struct Process {
    connection: Connection,
    stderr: ChildStderr,
    // Ended before its directory goes.
    child: Ended,
    _scratch: Scratch,
}

/// Ends a process when it is dropped.
#[derive(Debug)]
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It is gone already when these fail.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Process {
    fn start(commit: &Commit<'_>) -> std::io::Result<Self> {
        let renderers = commit.renderers;
        let runner = renderers.exec.runner();
        let scratch = runner.scratch("render").map_err(std::io::Error::other)?;
        let mut command = Command::new(&runner.settings().confiner);
        command.arg(ARGUMENT).arg(std::process::id().to_string()).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Ended(command.spawn()?);
        let pipes = (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(std::io::Error::other("a process without pipes"));
        };
        let limits = *commit.limits();
        // An answer is about as long as the text that it encodes.
        let answer_bytes_max = match limits.output_bytes_max {
            0 => limits.application_memory,
            bytes => bytes.saturating_mul(2),
        };
        let mut connection = Connection::new(stdin, stdout, answer_bytes_max);
        let instructions = Instructions {
            settings: plugin::Settings { temp_dir: scratch.path().to_owned(), ..runner.settings().clone() },
            tools: renderers.exec.tools().clone(),
            limits: Limits { commit_time: Duration::MAX, run_time: Duration::MAX, ..limits },
            profile: commit.context.profile,
            dry_commit: commit.context.dry_commit.to_owned(),
            renderer: commit.context.renderer,
            build_options: commit.context.build_options.clone(),
            nondeterministic: commit.context.nondeterministic.to_vec(),
            seeds: commit.context.seeds.clone(),
            identities: commit.context.identities.clone().into_iter().collect(),
            limits_of_settings: commit.context.limits,
            rules: commit.context.rules.clone(),
            #[cfg(debug_assertions)]
            rehearsed: renderers.rehearsed.clone(),
        };
        connection.instruct(&serde_json::to_vec(&instructions)?, commit.context.files.root())?;
        Ok(Self { connection, stderr, child, _scratch: scratch })
    }

    /// Has the process do what is asked in so much time; `reads` gets what it reads.
    fn answer(
        &mut self,
        commit: &Commit<'_>,
        asked: &Asked,
        time: Duration,
        reads: &mut Reads,
    ) -> Result<Answer, Silence> {
        let deadline = Instant::now() + time + GRACE;
        match self.listen(commit, asked, reads, deadline) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) if Instant::now() >= deadline => Err(Silence::Late),
            Ok(None) => Err(Silence::Dropped),
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Err(Silence::Large),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Err(Silence::Broken(error)),
            Err(_) => Err(self.end()),
        }
    }

    /// Answers what the process asks until it is done; none when it is not waited for any longer.
    fn listen(
        &mut self,
        commit: &Commit<'_>,
        asked: &Asked,
        reads: &mut Reads,
        deadline: Instant,
    ) -> std::io::Result<Option<Answer>> {
        let files: &dyn Files = commit.context.files;
        self.connection.ask(asked)?;
        loop {
            while !self.connection.has_more()? && !self.wait()? {
                if commit.is_dropped() || Instant::now() >= deadline {
                    return Ok(None);
                }
            }
            match self.connection.hear()? {
                Said::List(path, id) => self.connection.listed(&files.list(&path, id))?,
                Said::Read(path, id) => self.connection.read(&files.read(&path, id))?,
                Said::Size(path, id) => self.connection.sized(&files.size(&path, id))?,
                Said::Noted(key, seen) => drop(reads.insert(key, seen)),
                Said::Done(answer) => return Ok(Some(*answer)),
            }
            // One that reads without end is late as well.
            if Instant::now() >= deadline {
                return Ok(None);
            }
        }
    }

    /// Whether the process says something within a moment.
    fn wait(&self) -> std::io::Result<bool> {
        let time = Timespec { tv_sec: 0, tv_nsec: i64::from(TICK.subsec_nanos()) };
        let mut fds = [PollFd::from_borrowed_fd(self.connection.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&time)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// How a process ended that closed its pipes.
    fn end(&mut self) -> Silence {
        let status = match self.child.0.wait() {
            Ok(status) => status,
            Err(error) => return Silence::Broken(error),
        };
        let mut last_words = Vec::new();
        let mut fds = [PollFd::from_borrowed_fd(self.stderr.as_fd(), PollFlags::IN)];
        if poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0) {
            let mut buffer = [0; LAST_WORDS_BYTES_MAX as usize];
            let count = self.stderr.read(&mut buffer).unwrap_or_default();
            last_words.extend_from_slice(&buffer[..count]);
        }
        Silence::Died { status, last_words: String::from_utf8_lossy(&last_words).into_owned() }
    }
}
