//! What git config says of the hooks of one machine.

use std::path::PathBuf;
use std::time::Duration;

use crate::argo::{PatternError, Patterns, near};
use crate::hydrate::{Access, Strictness};
use crate::install::{GITEA, GITEA_PUSHER, is_executable};
use crate::render::refusing_check;
use crate::repo::Repository;

/// What an admin may set for this machine in git config. Nothing of it changes a byte of what is hydrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// `hydrate.budget`, in seconds: how long a hook hydrates a backlog before it leaves the rest to a process of its
    /// own. 60 unless it is set.
    pub budget: Duration,
    /// `hydrate.lockWait`, in seconds: how long a hook waits for another hydration of the same repository. 600 unless
    /// it is set.
    pub lock_wait: Duration,
    /// `hydrate.log`: a file that gets one line of JSON for each run; relative to the git directory.
    pub log: Option<PathBuf>,
    /// `hydrate.notify`: a command of the shell that gets the report of each run.
    pub notify: Option<String>,
    /// `hydrate.notifyTimeLimit`, in seconds: how long that command may take. 10 unless it is set.
    pub notify_time_limit: Duration,
    /// `hydrate.tellTimeLimit`, in seconds: how long telling the forge of hydrated branches may take. 60 unless it is set.
    pub tell_time_limit: Duration,
    /// `hydrate.guard`: whether branches that hydration owns are closed to pushes. `install --server` sets it.
    pub guard: bool,
}

/// The switch of the guard.
const GUARD: &str = "hydrate.guard";

/// What is wrong with a [`GUARD`] that is neither true nor false; `None` when it is one of them.
pub(super) fn bad_guard(repository: &Repository) -> Option<String> {
    let value = repository.config(GUARD).filter(|_| repository.config_bool(GUARD).is_none())?;
    let value = dry_files::diag::printable(&value);
    Some(format!("{GUARD} is `{value}`, which is neither true nor false: hydrated branches stay guarded"))
}

impl Options {
    /// Reads git config. What is no number of seconds counts as not set.
    pub(crate) fn read(repository: &Repository) -> Self {
        let seconds = |key: &str, default: u64| {
            let set = repository.config_number(key).and_then(|value| u64::try_from(value).ok());
            Duration::from_secs(set.unwrap_or(default))
        };
        Self {
            budget: seconds("hydrate.budget", 60),
            lock_wait: seconds("hydrate.lockWait", 600),
            log: repository.config("hydrate.log").map(|path| repository.common_dir().join(path)),
            notify: repository.config("hydrate.notify").filter(|command| !command.is_empty()),
            notify_time_limit: seconds("hydrate.notifyTimeLimit", 10),
            tell_time_limit: seconds("hydrate.tellTimeLimit", 60),
            guard: repository.config_protects(GUARD),
        }
    }
}

/// What becomes of a push of which something does not render: `hydrate.prePush`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrePush {
    /// It is stopped; so it is unless anything is set.
    Block,
    /// It goes on, with a warning.
    Warn,
    /// Nothing is looked at.
    Off,
}

impl PrePush {
    /// Reads git config. Errors: neither `block`, `warn` nor `off`.
    pub(super) fn read(repository: &Repository) -> Result<Self, String> {
        match repository.config("hydrate.prePush").as_deref() {
            None | Some("block") => Ok(Self::Block),
            Some("warn") => Ok(Self::Warn),
            Some("off") => Ok(Self::Off),
            Some(other) => Err(format!("hydrate.prePush = {other}: must be block, warn or off")),
        }
    }
}

/// Whether a push has to hydrate before it is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strict {
    /// `hydrate.strict`: `touched` or `all`.
    pub strictness: Strictness,
    /// `hydrate.strictTimeLimit`, in seconds: how long that may take to find out. 60 unless it is set. What is found
    /// to be wrong until then counts.
    pub time_limit: Duration,
    /// `hydrate.strictUndecided`: whether a push in which nothing wrong was found, but not everything could be judged, is
    /// refused (`refuse`) or goes in (`accept`, as when it is not set); hydration after it does what can be done. It is
    /// for trouble of the server only: no time left, a repository that cannot be read.
    pub refuse_undecided: bool,
    /// A check that refuses pushes (`hydrate-check.NAME.refuse`), by name: what it could not judge does not go in, whatever
    /// `hydrate.strictUndecided` says.
    pub refusing_check: Option<String>,
}

/// A setting with a word that no one knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: must be {expected}{}", did_you_mean(*meant))]
pub(crate) struct UnknownWord {
    key: &'static str,
    value: String,
    expected: &'static str,
    /// The word that was probably meant.
    meant: Option<&'static str>,
}

impl UnknownWord {
    fn new(key: &'static str, value: String, expected: &'static str) -> Self {
        let words: Vec<&str> = expected.split([',', ' ']).filter(|word| !matches!(*word, "" | "or")).collect();
        let meant = near(&value, &words);
        Self { key, value, expected, meant }
    }
}

fn did_you_mean(meant: Option<&str>) -> String {
    meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}

impl Strict {
    /// Reads git config; none when pushes need not hydrate.
    pub(crate) fn read(repository: &Repository) -> Result<Option<Self>, UnknownWord> {
        let value = repository.config("hydrate.strict").unwrap_or_default();
        let strictness = match value.as_str() {
            "" | "off" | "false" | "no" | "0" => return Ok(None),
            "touched" | "true" | "yes" | "on" | "1" => Strictness::Touched,
            "all" => Strictness::All,
            _ => return Err(UnknownWord::new("hydrate.strict", value, "off, touched or all")),
        };
        let undecided = repository.config("hydrate.strictUndecided").unwrap_or_default();
        let refuse_undecided = match undecided.as_str() {
            "" | "accept" => false,
            "refuse" => true,
            _ => return Err(UnknownWord::new("hydrate.strictUndecided", undecided, "accept or refuse")),
        };
        let seconds = repository.config_number("hydrate.strictTimeLimit").and_then(|value| u64::try_from(value).ok());
        let time_limit = Duration::from_secs(seconds.unwrap_or(60));
        Ok(Some(Self { strictness, time_limit, refuse_undecided, refusing_check: refusing_check(repository) }))
    }
}

/// The variable of Gitea and Forgejo for the deploy key that pushes, which is 0 for none.
///
/// Reference: Gitea 1.26 cmd/serv.go `runServ`.
const GITEA_DEPLOY_KEY: &str = "GITEA_DEPLOY_KEY_ID";

/// Who pushes, and who may push what hydration owns: `hydrate.promoter` and `hydrate.settingsPusher` are names,
/// `hydrate.promoted` patterns of branches, all of them while it is not set.
///
/// The pusher's name is in the variable that `hydrate.pusherVariable` names: the hosting software sets it, and
/// pushers must not be able to. Of several, such as one for ssh and one for http, the first that says something counts. On Gitea
/// and Forgejo a deploy key pushes under the name of the owner of the repository, whose rights it does not have: it is
/// `deploy-key:ID`.
///
/// Errors: a pattern that cannot be read.
pub(crate) fn access(repository: &Repository) -> Result<Access, PatternError> {
    let variables = repository.config_list("hydrate.pusherVariable");
    let is_gitea = || is_executable(&repository.common_dir().join(GITEA)).then(|| GITEA_PUSHER.to_owned());
    let set = |variable: &str| std::env::var(variable).ok().filter(|name| !name.is_empty());
    let name_in = |variable: String| match (variable.as_str(), set(GITEA_DEPLOY_KEY)) {
        (GITEA_PUSHER, Some(key)) if key != "0" => set(&variable).map(|_| format!("deploy-key:{key}")),
        _ => set(&variable),
    };
    Ok(Access {
        is_variable_set: !variables.is_empty(),
        variable: variables.first().cloned().or_else(is_gitea),
        pusher: variables.into_iter().find_map(name_in),
        promoters: repository.config_list("hydrate.promoter"),
        promoted: Patterns::new(repository.config_list("hydrate.promoted"))?,
        settings_pushers: repository.config_list("hydrate.settingsPusher"),
    })
}
