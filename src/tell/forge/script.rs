//! What is run to notify a platform.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use super::VARIABLE;
use super::caller::Caller;
use super::queue::Part;
use crate::install::{GITEA, is_executable};
use crate::render::process::wall;
use crate::repo::Repository;
use crate::tell::hook::outside::{self, Running};

/// How many lines Gitea takes at once.
///
/// Reference: Gitea 1.25 cmd/hook.go `hookBatchSize`.
const GITEA_LINES_MAX: usize = 30;

/// How many commits of a branch are sent at once: as many as Gitea's webhooks list. Argo CD takes what such a list does not show
/// for unchanged.
///
/// Reference: Gitea 1.25 modules/setting/ui.go `FeedMaxCommitNum`.
const GITEA_COMMITS_MAX: usize = 5;

/// What would have Gitea take our lines for a merge of a pull request, or for a push of its own.
const GITEA_LEFT_OUT: [&str; 4] = ["GITEA_PUSH_TRIGGER", "GITEA_PR_ID", "GITEA_PR_INDEX", "GITEA_INTERNAL_PUSH"];

/// What is run to notify the platform that hosts a repository.
#[derive(Debug)]
pub(super) enum Forge {
    /// Gitea or Forgejo, by its script.
    Gitea(PathBuf),
    /// A command of the admin, for the shell.
    Command(String),
}

impl Forge {
    /// The platform to notify of what hydration moves; none where none is known.
    pub(super) fn of(repository: &Repository) -> Option<Self> {
        let command = repository.config("hydrate.tell").filter(|command| !command.is_empty());
        match (repository.config_bool("hydrate.tell"), command) {
            (Some(false), _) => None,
            (None, Some(command)) => Some(Forge::Command(command)),
            (Some(true), _) | (None, None) => {
                let script = repository.common_dir().join(GITEA);
                is_executable(&script).then_some(Forge::Gitea(script))
            }
        }
    }

    /// In whose name this process notifies; none where no user pushed, and none is named.
    pub(super) fn caller(&self, repository: &Repository) -> Option<Caller> {
        match self {
            Forge::Gitea(_) => Caller::of_gitea(repository),
            Forge::Command(_) => Some(Caller::of_variables(repository)),
        }
    }

    /// In whose name the platform is notified of what has no known pusher: the user whom the admin named, else that of this process.
    pub(super) fn fallback(&self, repository: &Repository) -> Option<Caller> {
        match self {
            Forge::Gitea(_) => Caller::named(repository).or_else(|| self.caller(repository)),
            Forge::Command(_) => self.caller(repository),
        }
    }

    /// How many branches it takes at once.
    pub(super) fn lines_max(&self) -> usize {
        match self {
            Forge::Gitea(_) => GITEA_LINES_MAX,
            Forge::Command(_) => usize::MAX,
        }
    }

    /// How many commits of a branch it takes at once.
    pub(super) fn commits_max(&self) -> usize {
        match self {
            Forge::Gitea(_) => GITEA_COMMITS_MAX,
            Forge::Command(_) => usize::MAX,
        }
    }

    /// Begins to notify it of moves, in the name of `caller`.
    ///
    /// Errors: in words for a warning.
    pub(super) fn start(&self, repository: &Repository, parts: &[Part], caller: &Caller) -> Result<Running, String> {
        let mut command = match self {
            Forge::Gitea(script) => {
                let mut command = Command::new(script);
                for name in GITEA_LEFT_OUT {
                    command.env_remove(name);
                }
                command
            }
            Forge::Command(text) => {
                let mut command = Command::new("sh");
                command.args(["-c", text]);
                command
            }
        };
        caller.call(&mut command);
        // Options were for the push.
        let options = std::env::vars_os().map(|(name, _)| name);
        for name in options.filter(|name| name.to_string_lossy().starts_with("GIT_PUSH_OPTION_")) {
            command.env_remove(name);
        }
        command.env(VARIABLE, "1").env("GIT_DIR", ".").env_remove(wall::VARIABLE).env_remove(wall::USED);
        let input: String = parts.iter().map(Part::text).collect();
        outside::start(command, input.as_bytes(), repository)
    }
}

impl fmt::Display for Forge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Forge::Gitea(_) => f.write_str(GITEA),
            Forge::Command(_) => f.write_str("hydrate.tell"),
        }
    }
}
