//! The other end of `git-hydrate-fetch`.

use std::collections::BTreeMap;
use std::io::{BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail};

use crate::git::Repository;
use crate::git::regular::{self, Scratch};
use crate::inputs::InputFile;
use crate::inputs::wire::{self, FromFetcher, Rules, ToFetcher, What};

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

/// A running fetcher.
pub(super) struct Fetcher<'r> {
    repository: &'r Repository,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _scratch: Scratch,
}

impl<'r> Fetcher<'r> {
    /// Starts the program beside this one, else that of the PATH.
    pub fn start(repository: &'r Repository, rules: Rules) -> anyhow::Result<Self> {
        let dirs = [std::env::temp_dir(), repository.common_dir().to_owned()];
        let scratch = regular::scratch_dir("fetch", &[&dirs[0], &dirs[1]])
            .context("creating a directory for the fetched files")?;
        let beside = std::env::current_exe().ok().map(|program| program.with_file_name(PROGRAM));
        let program = beside.filter(|program| program.exists()).unwrap_or_else(|| PathBuf::from(PROGRAM));
        let mut command = Command::new(&program);
        command.arg(canonical(scratch.path())).env_clear();
        for name in ["PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let missing =
            || format!("starting {}, which fetches inputs: install it next to git-hydrate", program.display());
        let mut child = command.spawn().with_context(missing)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("no pipe to {PROGRAM}")
        };
        let mut fetcher =
            Self { repository, child, input: Some(input), output: BufReader::new(output), _scratch: scratch };
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
    pub fn fetch(&mut self, wanted: &[What], done: &dyn Fn(usize)) -> anyhow::Result<Vec<Result<Fetched, Failed>>> {
        for (id, what) in (0..).zip(wanted) {
            self.tell(&ToFetcher::Fetch { id, what: what.clone() })?;
        }
        let mut results: BTreeMap<u32, Result<Fetched, Failed>> = BTreeMap::new();
        while results.len() < wanted.len() {
            match self.hear()? {
                FromFetcher::Fetched { id, version, origin, warnings, files } => {
                    let files = wire::read_files(&mut self.output, &files).context(PROGRAM)?;
                    results.insert(id, Ok(Fetched { version, origin, warnings, files }));
                }
                FromFetcher::Failed { id, reason, refused } => {
                    results.insert(id, Err(Failed { reason, refused }));
                }
                FromFetcher::Ask { ask, host } => {
                    let found = self.credential("fill", &host, None);
                    self.tell(&ToFetcher::Credential { ask, found })?;
                }
                FromFetcher::Judged { host, good, credential } => {
                    self.credential(if good { "approve" } else { "reject" }, &host, Some(&credential));
                }
                FromFetcher::Ready { .. } => bail!("{PROGRAM} says twice that it is ready"),
            }
            done(results.len());
        }
        Ok(results.into_values().collect())
    }

    /// Asks git for the credential of a host, or tells it what became of it. Without an answer there is none.
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
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The directory as Landlock names it.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
