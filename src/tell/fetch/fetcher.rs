//! The other end of `git-hydrate-fetch`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, IsTerminal as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use dry_files::diag::shown;
use rustix::process::{Pid, Signal, kill_process_group};

use super::login;
use crate::repo::Repository;
use dry_files::scratch::{self, Scratch};
use inputs::wire::{self, FromFetcher, Rules, ToFetcher, What};
use inputs::{InputFile, Key};

/// The name of the program.
const PROGRAM: &str = "git-hydrate-fetch";

/// An input that was fetched.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub version: String,
    pub origin: String,
    pub warnings: Vec<String>,
    pub files: Vec<InputFile>,
}

/// Why one was not.
#[derive(Debug)]
pub(crate) struct Failed {
    pub reason: String,
    /// Whether the server answered, but not with what was asked for.
    pub refused: bool,
}

/// What keeps inputs from being fetched: the program does not run, or not as it should.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct FetchError(String);

impl FetchError {
    fn new(doing: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        Self(format!("{doing}: {error}"))
    }

    fn ended() -> Self {
        Self(format!("{PROGRAM} has ended"))
    }
}

type Result<T, E = FetchError> = std::result::Result<T, E>;

/// What one input came to.
pub(crate) type Outcome = std::result::Result<Fetched, Failed>;

/// Whose names and passwords servers get.
#[derive(Debug, Clone)]
pub(crate) enum Credentials {
    /// Those that git knows for the user, and those of registries that Helm and Docker keep.
    OfUser,
    /// Those of one file as `git credential-store` keeps it; none where no file is named.
    OfFile(Option<PathBuf>),
}

/// What a fetcher must be, and may do.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub rules: Rules,
    pub credentials: Credentials,
    /// Whether it may run where this system cannot confine it.
    pub allows_unconfined: bool,
    /// When it is ended, whatever it does; none where it may take its time.
    pub until: Option<Instant>,
}

/// The fetchers of one run, each started when it is needed: one has the user's configuration of ssh, and nothing but git
/// over ssh to do.
pub(crate) struct Fetchers<'r> {
    repository: &'r Repository,
    terms: Terms,
    /// What this system cannot restrict of them.
    pub unconfined: Vec<String>,
    web: Option<Fetcher<'r>>,
    ssh: Option<Fetcher<'r>>,
}

impl<'r> Fetchers<'r> {
    pub(crate) fn new(repository: &'r Repository, terms: Terms) -> Self {
        Self { repository, terms, unconfined: Vec::new(), web: None, ssh: None }
    }

    /// Fetches inputs; the results in their order. `done` hears how many there are.
    pub(crate) fn fetch(&mut self, wanted: &[What], done: &dyn Fn(usize)) -> Result<Vec<Outcome>> {
        let mut results: BTreeMap<usize, Outcome> = BTreeMap::new();
        for with_ssh in [false, true] {
            let mine = wanted.iter().enumerate().filter(|(_, what)| is_ssh(what) == with_ssh);
            let (places, part): (Vec<usize>, Vec<What>) = mine.map(|(place, what)| (place, what.clone())).unzip();
            if part.is_empty() {
                continue;
            }
            let before = results.len();
            let found = self.running(with_ssh)?.fetch(&part, &|count| done(before + count))?;
            results.extend(places.into_iter().zip(found));
        }
        Ok(results.into_values().collect())
    }

    /// The fetcher of one way, which is started when it is needed.
    fn running(&mut self, with_ssh: bool) -> Result<&mut Fetcher<'r>> {
        let slot = if with_ssh { &mut self.ssh } else { &mut self.web };
        match slot {
            Some(running) => Ok(running),
            None => {
                let (fetcher, unconfined) = Fetcher::start(self.repository, &self.terms, with_ssh)?;
                self.unconfined.extend(unconfined);
                Ok(slot.insert(fetcher))
            }
        }
    }
}

fn is_ssh(what: &What) -> bool {
    matches!(what, What::Git { url, want, .. } if Key::repository(url, want).is_ok_and(|key| key.host().1))
}

/// The host of a registry.
fn registry(what: &What) -> Option<String> {
    let What::Oci { url, name, want } = what else { return None };
    Key::chart(url, name, want).ok().map(|key| key.host().0.to_owned())
}

/// A running fetcher.
struct Fetcher<'r> {
    repository: &'r Repository,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The hosts of registries among what is fetched.
    registries: BTreeSet<String>,
    /// The name and password of each host that it was given.
    given: BTreeMap<String, (String, String)>,
    credentials: Credentials,
    /// What ends it in time, as long as this is not dropped.
    _limit: Option<Sender<()>>,
    _scratch: Scratch,
}

impl<'r> Fetcher<'r> {
    /// Starts the program beside this one, else that of the PATH; answers also what this system cannot restrict of it.
    fn start(repository: &'r Repository, terms: &Terms, with_ssh: bool) -> Result<(Self, Vec<String>)> {
        let dirs = [std::env::temp_dir(), repository.common_dir().to_owned()];
        let scratch = scratch::scratch_dir("fetch", &[&dirs[0], &dirs[1]])
            .map_err(|error| FetchError::new("creating a directory for the fetched files", error))?;
        let beside = std::env::current_exe().ok().map(|program| program.with_file_name(PROGRAM));
        let program = beside.filter(|program| program.exists()).unwrap_or_else(|| PathBuf::from(PROGRAM));
        let mut command = Command::new(&program);
        command.arg(canonical(scratch.path())).env_clear();
        if with_ssh {
            give_ssh(&mut command, repository);
        }
        for name in ["PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        // With all that it starts it is a group, by which it is ended.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
        let mut child = command.spawn().map_err(|error| FetchError::new(missing(&program), error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(FetchError(format!("no pipe to {PROGRAM}")));
        };
        let limit = terms.until.map(|until| end_at(Pid::from_child(&child), until));
        let mut fetcher = Self {
            repository,
            child,
            input: Some(input),
            output: BufReader::new(output),
            registries: BTreeSet::new(),
            given: BTreeMap::new(),
            credentials: terms.credentials.clone(),
            _limit: limit,
            _scratch: scratch,
        };
        fetcher.tell(&ToFetcher::Start(terms.rules.clone()))?;
        match fetcher.hear()? {
            FromFetcher::Ready { unconfined } if unconfined.is_empty() || terms.allows_unconfined => {
                Ok((fetcher, unconfined))
            }
            FromFetcher::Ready { unconfined } => Err(FetchError(format!(
                "this system cannot restrict {} of {PROGRAM} (git config hydrate.allowUnconfined true allows that)",
                unconfined.join(", ")
            ))),
            _ => Err(FetchError(format!("{PROGRAM} is not ready"))),
        }
    }

    /// Fetches inputs; the results in their order. `done` hears how many there are.
    fn fetch(&mut self, wanted: &[What], done: &dyn Fn(usize)) -> Result<Vec<Outcome>> {
        for (id, what) in (0..).zip(wanted) {
            self.registries.extend(registry(what));
            self.tell(&ToFetcher::Fetch { id, what: what.clone() })?;
        }
        let mut results: BTreeMap<u32, Outcome> = BTreeMap::new();
        while results.len() < wanted.len() {
            match self.hear()? {
                FromFetcher::Fetched { id, version, origin, warnings, files } => {
                    let files =
                        wire::read_files(&mut self.output, &files).map_err(|error| FetchError::new(PROGRAM, error))?;
                    let warnings = warnings.iter().map(|warning| shown(warning)).collect();
                    results.insert(id, Ok(Fetched { version, origin, warnings, files }));
                }
                FromFetcher::Failed { id, reason, refused } => {
                    // It may quote what a server said.
                    results.insert(id, Err(Failed { reason: shown(&reason), refused }));
                }
                FromFetcher::Ask { ask, host } => {
                    let found = self.found(&host);
                    self.tell(&ToFetcher::Credential { ask, found })?;
                }
                // Whatever it says, nothing is kept or forgotten but what it was given.
                FromFetcher::Judged { host, good, credential } if self.given.get(&host) == Some(&credential) => {
                    self.credential(if good { "approve" } else { "reject" }, &host, Some(&credential));
                }
                FromFetcher::Judged { .. } => {}
                FromFetcher::Ready { .. } => {
                    return Err(FetchError(format!("{PROGRAM} says twice that it is ready")));
                }
            }
            done(results.len());
        }
        Ok(results.into_values().collect())
    }

    /// The name and password of a host, if there are any for it.
    fn found(&mut self, host: &str) -> Option<(String, String)> {
        if matches!(self.credentials, Credentials::OfFile(None)) {
            return None;
        }
        let of_git = self.credential("fill", host, None);
        // What others keep is not git's to remember.
        let is_users = matches!(self.credentials, Credentials::OfUser) && self.registries.contains(host);
        let found = of_git.clone().or_else(|| login::of_registry(host).filter(|_| is_users));
        if matches!(self.credentials, Credentials::OfUser) {
            self.given.extend(of_git.map(|found| (host.to_owned(), found)));
        }
        found
    }

    /// Asks git for the credential of a host, or reports whether it was accepted. `None` where git has no answer.
    fn credential(&self, action: &str, host: &str, known: Option<&(String, String)>) -> Option<(String, String)> {
        if host.contains(['\n', '\0']) {
            return None;
        }
        let mut request = format!("protocol=https\nhost={host}\n");
        if let Some((name, password)) = known {
            request += &format!("username={name}\npassword={password}\n");
        }
        let mut command = Command::new("git");
        command.arg("-C").arg(self.repository.git_dir());
        if let Credentials::OfFile(Some(file)) = &self.credentials {
            let helper = format!("store --file={}", dry_files::diag::shell_path(file));
            command.args(["-c", "credential.helper=", "-c", &format!("credential.helper={helper}")]);
            command.args(["-c", "core.askPass="]).env("GIT_TERMINAL_PROMPT", "0");
            command.env_remove("GIT_ASKPASS").env_remove("SSH_ASKPASS");
        }
        command.args(["credential", action]);
        if !std::io::stdin().is_terminal() {
            command.env("GIT_TERMINAL_PROMPT", "0");
        }
        // Whatever git says of a host without a credential is not the user's mistake.
        let stderr = if std::io::stdin().is_terminal() { Stdio::inherit() } else { Stdio::null() };
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().ok()?;
        child.stdin.take()?.write_all(format!("{request}\n").as_bytes()).ok()?;
        let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned);
        Some((field("username")?, field("password")?))
    }

    fn tell(&mut self, message: &ToFetcher) -> Result<()> {
        let input = self.input.as_mut().ok_or_else(FetchError::ended)?;
        wire::write(input, message).map_err(|_| FetchError::ended())
    }

    fn hear(&mut self) -> Result<FromFetcher> {
        let heard = wire::read(&mut self.output).map_err(|error| FetchError::new(PROGRAM, error))?;
        heard.ok_or_else(FetchError::ended)
    }
}

impl Drop for Fetcher<'_> {
    fn drop(&mut self) {
        // At the end of its input it ends.
        self.input = None;
        // It may have ended already.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        drop(self.child.wait());
    }
}

/// Ends a group of processes at a time, unless the answer is dropped before.
fn end_at(group: Pid, until: Instant) -> Sender<()> {
    let (keep, wait) = mpsc::channel::<()>();
    let end = move || {
        let left = until.checked_duration_since(Instant::now()).unwrap_or(Duration::ZERO);
        if wait.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
            // It may have ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    };
    // Without it, only the limits of single requests count.
    drop(std::thread::Builder::new().spawn(end));
    keep
}

fn missing(program: &Path) -> String {
    format!(
        "starting {}: what is kept already needs no such program, but to fetch more, install it beside git-hydrate",
        program.display()
    )
}

/// Lets the program use the user's ssh: its configuration and keys, its agent, and the command that git would start.
fn give_ssh(command: &mut Command, repository: &Repository) {
    for name in ["HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    if let Some(home) = std::env::var_os("HOME") {
        command.arg(Path::new(&home).join(".ssh"));
    }
    // As git chooses between them.
    let own = std::env::var("GIT_SSH_COMMAND").ok().or_else(|| repository.config_list("core.sshCommand").pop());
    if let Some(own) = &own {
        command.env("GIT_SSH_COMMAND", own);
    }
    let program = own.or_else(|| std::env::var("GIT_SSH").ok());
    let program = program.as_deref().and_then(|words| words.split(' ').next()).filter(|word| word.starts_with('/'));
    command.args(program);
}

/// The directory as Landlock names it.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
