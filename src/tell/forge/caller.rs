//! In whose name a platform is notified: the variables that its hooks read.

use std::collections::BTreeMap;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::install::{FORGE_PUSHER, forge_pusher};
use crate::repo::Repository;

/// The repository and the user, as Gitea's program reads them, and what makes it believe that it runs in a hook.
///
/// Reference: Gitea 1.25 cmd/hook.go `runHookPostReceive`, modules/repository/env.go.
const GITEA_REPOSITORY: [&str; 2] = ["GITEA_REPO_USER_NAME", "GITEA_REPO_NAME"];
const GITEA_USER: [&str; 2] = ["GITEA_PUSHER_ID", "GITEA_PUSHER_NAME"];
const GITEA_CALLER: &str = "SSH_ORIGINAL_COMMAND";

/// What else Gitea says of a push.
const GITEA_BESIDE: [&str; 4] = ["GITEA_REPO_IS_WIKI", "GITEA_PUSHER_EMAIL", "GITEA_KEY_ID", "GITEA_DEPLOY_KEY_ID"];

/// Who pushed, by the variables that say so, and the repository where they name it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Caller(BTreeMap<String, String>);

impl Caller {
    /// Whom Gitea says this process runs for, else the user whom the admin named; none where neither is known.
    pub(super) fn of_gitea(repository: &Repository) -> Option<Self> {
        Self::pusher_of_gitea().or_else(|| Self::named(repository))
    }

    /// Whom Gitea says this process runs for.
    fn pusher_of_gitea() -> Option<Self> {
        let needed = GITEA_REPOSITORY.into_iter().chain(GITEA_USER);
        let mut found: BTreeMap<String, String> = needed.map(set).collect::<Option<_>>()?;
        found.extend(GITEA_BESIDE.into_iter().filter_map(set));
        found.extend([set(GITEA_CALLER).unwrap_or_else(ours)]);
        Some(Self(found))
    }

    /// The user whom [`FORGE_PUSHER`] names.
    pub(super) fn named(repository: &Repository) -> Option<Self> {
        let pusher = repository.config(FORGE_PUSHER)?;
        let (id, name) = forge_pusher(&pusher)?;
        let values = owner_and_name(repository)?.into_iter().chain([id.to_owned(), name.to_owned()]);
        let names = GITEA_REPOSITORY.into_iter().chain(GITEA_USER).map(str::to_owned);
        Some(Self(names.zip(values).chain([ours()]).collect()))
    }

    /// Whom the variables of `hydrate.pusherVariable` name.
    pub(super) fn of_variables(repository: &Repository) -> Self {
        let variables = repository.config_list("hydrate.pusherVariable");
        Self(variables.iter().filter_map(|name| set(name)).collect())
    }

    /// Has a command run in this name, and in no other.
    pub(super) fn call(&self, command: &mut Command) {
        for name in GITEA_REPOSITORY.iter().chain(&GITEA_USER).chain(&GITEA_BESIDE) {
            command.env_remove(name);
        }
        command.envs(&self.0);
    }
}

/// Has a command run in no pusher's name.
pub(super) fn call_in_no_name(command: &mut Command, repository: &Repository) {
    Caller::default().call(command);
    for variable in repository.config_list("hydrate.pusherVariable") {
        command.env_remove(variable);
    }
}

fn set(name: &str) -> Option<(String, String)> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    Some((name.to_owned(), value))
}

fn ours() -> (String, String) {
    (GITEA_CALLER.to_owned(), "git-hydrate".to_owned())
}

/// What Gitea calls the repository: its directory is `OWNER/NAME.git`.
fn owner_and_name(repository: &Repository) -> Option<[String; 2]> {
    let path = repository.common_dir().canonicalize().ok()?;
    let owner = path.parent()?.file_name()?.to_str()?.to_owned();
    Some([owner, path.file_stem()?.to_str()?.to_owned()])
}
