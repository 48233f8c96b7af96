//! Installs hydration in a repository, uninstalls it, and checks whether it is in good order.
//!
//! On a server that means hooks; in a clone, what `git fetch` brings along. Both can be done twice without harm, and
//! undone: a hook that was there before runs on, first and with the same input, and comes back in the end. What a
//! forge or a hook manager writes itself is never changed: our hook goes beside it, or the admin reads
//! what to do by hand.
//!
//! | state of the hook | installing | uninstalling |
//! |---|---|---|
//! | absent | written | – |
//! | ours, any version | replaced | removed, the one before it comes back |
//! | ours, edited since | kept, refused | kept, refused |
//! | another's | renamed to `<hook>.hydrate-orig`, runs first | – |
//! | a manager's, or outside of the repository | kept, refused | – |

mod calling;
mod client;
mod config;
mod doctor;
mod every;
mod forge;
mod guard;
mod hook;
mod place;
mod server;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::repo::{self, Repository};
use config::Config;

pub(crate) use crate::owners::platform::is_executable;
pub(crate) use doctor::{Doctor, Finding, Former, Health, KeysOf, Rehearsal, Surroundings};
pub(crate) use every::repositories;
pub(crate) use forge::{FORGE_PUSHER, GITEA, GITEA_PUSHER, elsewhere, forge_pusher, has_platform, mirror};
pub(crate) use guard::Owned;
pub(crate) use hook::{CLIENT_HOOKS, SERVER_HOOKS};

/// Installs or uninstalls, one thing after the other; the result is a list of [`Step`]s.
#[derive(Debug)]
pub(crate) struct Installer<'a> {
    repository: &'a Repository,
    config: Config,
    git: Version,
    steps: Vec<Step>,
    /// The hooks that are left to the admin.
    refused: Vec<&'static str>,
}

/// What came of one part of an installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Step {
    /// Whether anything changed.
    pub state: State,
    /// What was done or found, in a sentence without its full stop.
    pub what: String,
    /// What the admin may or must do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// Whether anything changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It was done.
    Done,
    /// It was so already.
    Already,
    /// It is left to the admin.
    Refused,
    /// Nothing was asked for, but something is worth knowing.
    Note,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            State::Done => "done",
            State::Already => "already",
            State::Refused => "refused",
            State::Note => "note",
        })
    }
}

/// The version of git, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u32, u32);

impl Version {
    /// The oldest that we work with: `git config --fixed-value`.
    pub(crate) const OLDEST: Self = Self(2, 30);
    /// Reads hooks from its configuration, from this version on.
    pub(crate) const WITH_CONFIG_HOOKS: Self = Self(2, 54);

    /// Asks the git that is found on PATH.
    pub(crate) fn of(repository: &Repository) -> Result<Self, Error> {
        let answer = repository.git().output(&["version"])?;
        let answer = String::from_utf8_lossy(&answer);
        Self::parse(&answer).ok_or_else(|| repo::Error::message(format!("git version: {}", answer.trim())).into())
    }

    fn parse(answer: &str) -> Option<Self> {
        let mut numbers = answer.strip_prefix("git version ")?.split(['.', ' ', '\n']);
        Some(Self(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The world failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// git failed, or the repository cannot be read.
    #[error(transparent)]
    Git(#[from] repo::Error),
    /// What is hydrated would not stay.
    #[error(transparent)]
    Mirror(#[from] forge::Mirror),
    /// A file cannot be read or written.
    #[error("{doing}")]
    File {
        /// What was being done, and to what.
        doing: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

/// Says what was being done to which file.
trait Io<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T> Io<T> for std::io::Result<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::File { doing: what(), source })
    }
}

impl<'a> Installer<'a> {
    /// Looks at a repository.
    pub(crate) fn new(repository: &'a Repository) -> Result<Self, Error> {
        let (config, git) = (Config::read(repository)?, Version::of(repository)?);
        Ok(Self { repository, config, git, steps: Vec::new(), refused: Vec::new() })
    }

    /// Whether hooks of a server call us, wherever they are.
    pub(crate) fn is_server(&self) -> Result<bool, Error> {
        for hook in SERVER_HOOKS {
            if calling::calling(hook, self.repository)?.is_some() || !self.config.get(&hook.key("command")).is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What was done and found, in that order.
    pub(crate) fn steps(self) -> Vec<Step> {
        self.steps
    }

    /// Tells one more thing.
    pub(crate) fn step(&mut self, state: State, what: impl Into<String>) {
        self.steps.push(Step { state, what: what.into(), advice: None });
    }

    /// Tells one more thing, and what to do about it.
    pub(crate) fn advise(&mut self, state: State, what: impl Into<String>, advice: impl Into<String>) {
        self.steps.push(Step { state, what: what.into(), advice: Some(advice.into()) });
    }

    /// How a path is shown: from the repository on, when it is inside.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.repository.common_dir()).unwrap_or(path).display().to_string()
    }
}

/// What the hook `file` is called once ours is in its place.
fn kept(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(hook::KEPT_SUFFIX);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_git() {
        let rows = [
            ("git version 2.47.3\n", Some(Version(2, 47))),
            ("git version 2.39.5 (Apple Git-154)\n", Some(Version(2, 39))),
            ("git version 2.54.0-rc1\n", Some(Version(2, 54))),
            ("git version 2.55.GIT\n", Some(Version(2, 55))),
            ("hub version 2\n", None),
        ];
        for (answer, expected) in rows {
            assert_eq!(Version::parse(answer), expected, "{answer}");
        }
        assert!(Version(2, 9) < Version(2, 54) && Version(2, 54) < Version(3, 0));
    }
}
