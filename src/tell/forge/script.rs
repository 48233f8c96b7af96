//! What is run to tell a forge.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::VARIABLE;
use super::branches::Line;
use crate::install::{FORGE_PUSHER, GITEA, forge_pusher, is_executable};
use crate::render::process::wall;
use crate::repo::Repository;
use crate::tell::hook::outside;

/// How many lines Gitea takes at once.
///
/// Reference: Gitea 1.25 cmd/hook.go `hookBatchSize`.
const GITEA_LINES_MAX: usize = 30;

/// How many commits of a branch are sent at once: as many as Gitea's webhooks list. Argo CD takes what such a list does not show
/// for unchanged.
///
/// Reference: Gitea 1.25 modules/setting/ui.go `FeedMaxCommitNum`.
const GITEA_COMMITS_MAX: usize = 5;

/// Who pushed, as Gitea's program reads it, and what makes it believe that it runs in a hook.
///
/// Reference: Gitea 1.25 cmd/hook.go `runHookPostReceive`, modules/repository/env.go.
const GITEA_REPOSITORY: [&str; 2] = ["GITEA_REPO_USER_NAME", "GITEA_REPO_NAME"];
const GITEA_USER: [&str; 2] = ["GITEA_PUSHER_ID", "GITEA_PUSHER_NAME"];
const GITEA_CALLER: &str = "SSH_ORIGINAL_COMMAND";

/// What would have Gitea take our lines for a merge of a pull request, or for a push of its own.
const GITEA_LEFT_OUT: [&str; 4] = ["GITEA_PUSH_TRIGGER", "GITEA_PR_ID", "GITEA_PR_INDEX", "GITEA_INTERNAL_PUSH"];

/// What is run to tell the forge that hosts a repository.
#[derive(Debug)]
pub(super) enum Forge {
    /// Gitea or Forgejo, by its script, in the name of a user.
    Gitea {
        /// The script.
        script: PathBuf,
        /// Variables that a hook of a push has from Gitea.
        environment: Vec<(&'static str, String)>,
    },
    /// A command of the admin, for the shell.
    Command(String),
}

impl Forge {
    /// The forge to tell of what hydration moves; none where none is known, or no user in whose name it could be done.
    pub(super) fn of(repository: &Repository) -> Option<Self> {
        match Self::named(repository)? {
            Forge::Gitea { script, .. } => Some(Forge::Gitea { script, environment: gitea_environment(repository)? }),
            forge => Some(forge),
        }
    }

    /// The forge to tell of what hydration moves, without the user in whose name it is told.
    pub(super) fn named(repository: &Repository) -> Option<Self> {
        let command = repository.config("hydrate.tell").filter(|command| !command.is_empty());
        match (repository.config_bool("hydrate.tell"), command) {
            (Some(false), _) => None,
            (None, Some(command)) => Some(Forge::Command(command)),
            (Some(true), _) | (None, None) => {
                let script = repository.common_dir().join(GITEA);
                is_executable(&script).then_some(Forge::Gitea { script, environment: Vec::new() })
            }
        }
    }

    /// How many branches it takes at once.
    pub(super) fn lines_max(&self) -> usize {
        match self {
            Forge::Gitea { .. } => GITEA_LINES_MAX,
            Forge::Command(_) => usize::MAX,
        }
    }

    /// How many commits of a branch it takes at once.
    pub(super) fn commits_max(&self) -> usize {
        match self {
            Forge::Gitea { .. } => GITEA_COMMITS_MAX,
            Forge::Command(_) => usize::MAX,
        }
    }

    /// Tells it of branches.
    ///
    /// Errors: in words for a warning.
    pub(super) fn tell(&self, repository: &Repository, lines: &[Line], limit: (Duration, &str)) -> Result<(), String> {
        let mut command = match self {
            Forge::Gitea { script, environment } => {
                let mut command = Command::new(script);
                command.envs(environment.iter().map(|(name, value)| (name, value)));
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
        // Options were for the push.
        let options = std::env::vars_os().map(|(name, _)| name);
        for name in options.filter(|name| name.to_string_lossy().starts_with("GIT_PUSH_OPTION_")) {
            command.env_remove(name);
        }
        command.env(VARIABLE, "1").env("GIT_DIR", ".").env_remove(wall::VARIABLE).env_remove(wall::USED);
        let input: String = lines.iter().map(Line::text).collect();
        outside::run(command, input.as_bytes(), repository, limit)
    }
}

impl fmt::Display for Forge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Forge::Gitea { .. } => f.write_str(GITEA),
            Forge::Command(_) => f.write_str("hydrate.tell"),
        }
    }
}

/// What Gitea's program needs beside what the environment has already; none where no user pushed, and none is named.
fn gitea_environment(repository: &Repository) -> Option<Vec<(&'static str, String)>> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let caller = (!is_set(&GITEA_CALLER)).then(|| (GITEA_CALLER, "git-hydrate".to_owned()));
    if GITEA_REPOSITORY.iter().chain(&GITEA_USER).all(is_set) {
        return Some(caller.into_iter().collect());
    }
    let pusher = repository.config(FORGE_PUSHER)?;
    let (id, name) = forge_pusher(&pusher)?;
    let [owner, repo] = owner_and_name(repository)?;
    let values = GITEA_REPOSITORY.into_iter().zip([owner, repo]);
    let user = GITEA_USER.into_iter().zip([id.to_owned(), name.to_owned()]);
    Some(values.chain(user).chain(caller).collect())
}

/// What Gitea calls the repository: its directory is `OWNER/NAME.git`.
fn owner_and_name(repository: &Repository) -> Option<[String; 2]> {
    let path = repository.common_dir().canonicalize().ok()?;
    let owner = path.parent()?.file_name()?.to_str()?.to_owned();
    Some([owner, path.file_stem()?.to_str()?.to_owned()])
}
