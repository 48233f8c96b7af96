//! How a destination is reached: its URL and credentials, as the git configuration of this machine has them.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use crate::argo::{DestinationName, unsafe_url};
use crate::repo::limited::Ended;
use crate::repo::{self, PushedRefs, Repository};

/// How a destination is reached.
pub(super) struct Access {
    /// The URL that git is given: that of the settings, unless this machine has one of its own.
    pub url: String,
    ssh_command: Option<String>,
    credential_helper: Option<String>,
    wrong: Option<String>,
}

/// Why a destination could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// It does not answer.
    Away(String),
    /// It answers no.
    Refused(String),
}

/// How git fetches from a destination: as one file, whose size can be limited.
const FETCH: [&str; 10] = [
    "-c",
    "fetch.fsckObjects=true",
    "-c",
    "fetch.unpackLimit=1",
    "fetch",
    "--quiet",
    "--no-tags",
    "--refmap=",
    "--no-write-fetch-head",
    "--recurse-submodules=no",
];

/// How git pushes to a destination.
const PUSH: [&str; 5] = ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"];

/// How large a file may be that git writes while it fetches from a destination: a pack of commits and notes.
const FETCHED_BYTES_MAX: u64 = 256 << 20;

/// The protocols that git may use: a URL of a remote or a rewritten one (`insteadOf`) may ask for others.
const PROTOCOLS: &str = "https:http:ssh:git:file";

/// What the host of this repository tells its own hooks: a destination on the same machine would take it for its own.
const OF_HOST: [&str; 8] = ["GITEA_", "FORGEJO_", "GOGS_", "GL_", "BB_", "SOFT_SERVE_", "GIT_PUSH_", "GIT_HYDRATE_"];
const OF_SSH: [&str; 2] = ["SSH_ORIGINAL_COMMAND", "GIT_PROTOCOL"];

impl Access {
    /// Reads `hydrate.destination.NAME.*`.
    pub(super) fn of(repository: &Repository, name: &DestinationName, url: &str) -> Self {
        let key = |key: &str| format!("hydrate.destination.{name}.{key}");
        let own = repository.config(&key("pushURL")).filter(|url| !url.is_empty());
        let wrong = own.as_deref().and_then(unsafe_url).map(|why| format!("{}: {why}", key("pushURL")));
        let reached = own.as_deref().unwrap_or(url);
        let wrong = wrong.or_else(|| is_itself(repository, reached).then(|| format!("{reached} is this repository")));
        Self {
            url: own.unwrap_or_else(|| url.to_owned()),
            ssh_command: repository.config(&key("sshCommand")),
            credential_helper: repository.config(&key("credentialHelper")),
            wrong,
        }
    }

    /// Runs git, with what `args` adds, until then.
    pub(super) fn run(
        &self,
        repository: &Repository,
        until: Instant,
        args: impl FnOnce(&mut Command),
    ) -> Result<Output, Failure> {
        self.run_limited(repository, until, None, args)
    }

    /// Pushes refs to where they are named, with further options: all or none of them, and none by force.
    pub(super) fn push(
        &self,
        repository: &Repository,
        until: Instant,
        refs: &PushedRefs,
        options: &[&str],
    ) -> Result<Output, Failure> {
        self.run(repository, until, |command| {
            refs.choose(command);
            command.args(PUSH).args(options).args(["--", &self.url, PushedRefs::REFSPEC]);
        })
    }

    /// Runs a fetch, which may bring a limited number of bytes.
    pub(super) fn fetch(
        &self,
        repository: &Repository,
        until: Instant,
        args: impl FnOnce(&mut Command),
    ) -> Result<Output, Failure> {
        let fetched = self.run_limited(repository, until, Some(FETCHED_BYTES_MAX), |command| {
            command.args(FETCH);
            args(command);
        })?;
        let is_cut = |text: &str| text.contains("died of signal 25") || text.contains("File too large");
        match !fetched.status.success() && is_cut(&String::from_utf8_lossy(&fetched.stderr)) {
            true => Err(Failure::Refused(format!("it sends more than {} MiB", FETCHED_BYTES_MAX >> 20))),
            false => Ok(fetched),
        }
    }

    fn run_limited(
        &self,
        repository: &Repository,
        until: Instant,
        file_bytes_max: Option<u64>,
        args: impl FnOnce(&mut Command),
    ) -> Result<Output, Failure> {
        if let Some(wrong) = &self.wrong {
            return Err(Failure::Refused(wrong.clone()));
        }
        let mut command = self.command(repository);
        args(&mut command);
        match repo::limited::output(command, until.saturating_duration_since(Instant::now()), file_bytes_max) {
            Ok(Ended::ByItself(output)) => Ok(output),
            Ok(Ended::Late) => Err(Failure::Away("it does not answer in time (hydrate.deliverTimeLimit)".to_owned())),
            Ok(Ended::Talking) => Err(Failure::Refused("it answers without end".to_owned())),
            Err(error) => Err(Failure::Away(format!("starting git: {error}"))),
        }
    }

    fn command(&self, repository: &Repository) -> Command {
        let mut command = repository.git().command();
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if OF_HOST.iter().any(|prefix| text.starts_with(prefix)) || OF_SSH.contains(&&*text) {
                command.env_remove(&name);
            }
        }
        // Credentials never go where a redirect leads.
        command.args(["-c", "http.followRedirects=false"]);
        command.env("GIT_ALLOW_PROTOCOL", PROTOCOLS).env("GIT_TERMINAL_PROMPT", "0");
        if let Some(ssh) = &self.ssh_command {
            command.env("GIT_SSH_COMMAND", ssh);
        }
        if let Some(helper) = &self.credential_helper {
            // An empty one takes those away that are set elsewhere.
            command.args(["-c", "credential.helper=", "-c", &format!("credential.helper={helper}")]);
        }
        command
    }
}

/// Whether a path or a `file:` URL leads to the repository that pushes.
fn is_itself(repository: &Repository, url: &str) -> bool {
    let path = url.strip_prefix("file://").unwrap_or(url);
    let canonical = |path: &Path| path.canonicalize().ok();
    let own = canonical(repository.common_dir());
    path.starts_with('/')
        && own.is_some()
        && [path.to_owned(), format!("{path}/.git")].iter().any(|path| canonical(Path::new(path)) == own)
}

/// What git says, on one line.
pub(super) fn short(complaint: &str) -> String {
    const BYTES_MAX: usize = 400;
    let lines: Vec<&str> = complaint.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut text = lines.join("; ");
    if text.len() > BYTES_MAX {
        let end = (0..=BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push('…');
    }
    if text.is_empty() { "git failed and said nothing".to_owned() } else { text }
}
