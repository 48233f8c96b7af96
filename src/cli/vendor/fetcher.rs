//! The other end of `git-hydrate-fetch`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, IsTerminal as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail};
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
pub(super) struct Fetched {
    pub version: String,
    pub origin: String,
    pub warnings: Vec<String>,
    pub files: Vec<InputFile>,
}

/// Why one was not.
#[derive(Debug)]
pub(super) struct Failed {
    pub reason: String,
    /// Whether the server answered, but not with what was asked for.
    pub refused: bool,
}

/// The fetchers of one run, each started when it is needed: one has the user's configuration of ssh, and nothing but git
/// over ssh to do.
pub(super) struct Fetchers<'r> {
    repository: &'r Repository,
    rules: Rules,
    web: Option<Fetcher<'r>>,
    ssh: Option<Fetcher<'r>>,
}

impl<'r> Fetchers<'r> {
    pub(super) fn new(repository: &'r Repository, rules: Rules) -> Self {
        Self { repository, rules, web: None, ssh: None }
    }

    /// Fetches inputs; the results in their order. `done` hears how many there are.
    pub(super) fn fetch(
        &mut self,
        wanted: &[What],
        done: &dyn Fn(usize),
    ) -> anyhow::Result<Vec<Result<Fetched, Failed>>> {
        let mut results: Vec<Option<Result<Fetched, Failed>>> = Vec::new();
        results.resize_with(wanted.len(), || None);
        let mut before = 0;
        for with_ssh in [false, true] {
            let mine: Vec<usize> = (0..wanted.len()).filter(|index| is_ssh(&wanted[*index]) == with_ssh).collect();
            if mine.is_empty() {
                continue;
            }
            let slot = if with_ssh { &mut self.ssh } else { &mut self.web };
            let fetcher = match slot {
                Some(running) => running,
                None => slot.insert(Fetcher::start(self.repository, self.rules.clone(), with_ssh)?),
            };
            let part: Vec<What> = mine.iter().map(|index| wanted[*index].clone()).collect();
            let found = fetcher.fetch(&part, &|count| done(before + count))?;
            before += mine.len();
            for (index, result) in mine.into_iter().zip(found) {
                results[index] = Some(result);
            }
        }
        Ok(results.into_iter().flatten().collect())
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
    _scratch: Scratch,
}

impl<'r> Fetcher<'r> {
    /// Starts the program beside this one, else that of the PATH.
    fn start(repository: &'r Repository, rules: Rules, with_ssh: bool) -> anyhow::Result<Self> {
        let dirs = [std::env::temp_dir(), repository.common_dir().to_owned()];
        let scratch = scratch::scratch_dir("fetch", &[&dirs[0], &dirs[1]])
            .context("creating a directory for the fetched files")?;
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
        let mut child = command.spawn().with_context(|| missing(&program))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("no pipe to {PROGRAM}")
        };
        let mut fetcher = Self {
            repository,
            child,
            input: Some(input),
            output: BufReader::new(output),
            registries: BTreeSet::new(),
            given: BTreeMap::new(),
            _scratch: scratch,
        };
        fetcher.tell(&ToFetcher::Start(rules))?;
        match fetcher.hear()? {
            FromFetcher::Ready { unconfined } => {
                for part in unconfined {
                    super::super::output::warn(&format!("warning: this system cannot restrict {part} of {PROGRAM}"));
                }
            }
            _ => bail!("{PROGRAM} is not ready"),
        }
        Ok(fetcher)
    }

    /// Fetches inputs; the results in their order. `done` hears how many there are.
    fn fetch(&mut self, wanted: &[What], done: &dyn Fn(usize)) -> anyhow::Result<Vec<Result<Fetched, Failed>>> {
        for (id, what) in (0..).zip(wanted) {
            self.registries.extend(registry(what));
            self.tell(&ToFetcher::Fetch { id, what: what.clone() })?;
        }
        let mut results: BTreeMap<u32, Result<Fetched, Failed>> = BTreeMap::new();
        while results.len() < wanted.len() {
            match self.hear()? {
                FromFetcher::Fetched { id, version, origin, warnings, files } => {
                    let files = wire::read_files(&mut self.output, &files).context(PROGRAM)?;
                    let warnings = warnings.iter().map(|warning| shown(warning)).collect();
                    results.insert(id, Ok(Fetched { version, origin, warnings, files }));
                }
                FromFetcher::Failed { id, reason, refused } => {
                    // It may quote what a server said.
                    results.insert(id, Err(Failed { reason: shown(&reason), refused }));
                }
                FromFetcher::Ask { ask, host } => {
                    let of_git = self.credential("fill", &host, None);
                    // What others keep is not git's to remember.
                    let of_others = || login::of_registry(&host).filter(|_| self.registries.contains(&host));
                    let found = of_git.clone().or_else(of_others);
                    self.given.extend(of_git.map(|found| (host, found)));
                    self.tell(&ToFetcher::Credential { ask, found })?;
                }
                // Whatever it says, nothing is kept or forgotten but what it was given.
                FromFetcher::Judged { host, good, credential } if self.given.get(&host) == Some(&credential) => {
                    self.credential(if good { "approve" } else { "reject" }, &host, Some(&credential));
                }
                FromFetcher::Judged { .. } => {}
                FromFetcher::Ready { .. } => bail!("{PROGRAM} says twice that it is ready"),
            }
            done(results.len());
        }
        Ok(results.into_values().collect())
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
        command.arg("-C").arg(self.repository.git_dir()).args(["credential", action]);
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

    fn tell(&mut self, message: &ToFetcher) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the fetcher has ended")?;
        wire::write(input, message).with_context(|| format!("{PROGRAM} has ended"))
    }

    fn hear(&mut self) -> anyhow::Result<FromFetcher> {
        wire::read(&mut self.output).context(PROGRAM)?.with_context(|| format!("{PROGRAM} has ended"))
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
