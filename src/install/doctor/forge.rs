//! Whether the forge that hosts a repository sees the branches that hydration moves.

use dry_files::diag::{printable, shell_path, shell_word};

use super::Doctor;
use crate::install::forge::{FORGE_PUSHER, GITEA, forge_pusher};
use crate::install::is_executable;

/// How many branches are named.
const SHOWN_MAX: usize = 3;

impl Doctor<'_> {
    /// Remotes whose fetch writes over every ref, as `git clone --mirror` sets it.
    pub(super) fn mirrors(&mut self) {
        for remote in self.repository.remotes() {
            let key = format!("remote.{remote}.fetch");
            if self.repository.config_list(&key).iter().any(|refspec| refspec == "+refs/*:refs/*") {
                let what = format!("a fetch from {} writes over what is pushed and hydrated here", printable(&remote));
                self.bad(what, format!("{} config --unset-all {}", self.git_command(), shell_word(&key)));
            }
        }
    }

    /// Whether Gitea and Forgejo are told of branches, and of which the forge does not know yet.
    pub(super) fn forge(&mut self) {
        let script = self.repository.common_dir().join(GITEA);
        if script.exists() {
            let git = self.git_command();
            match (is_executable(&script), self.repository.config_bool("hydrate.tell")) {
                (false, _) => {
                    let what = format!("{} is not executable: the platform sees no push", script.display());
                    self.bad(what, format!("chmod +x {}", shell_path(&script)));
                }
                (true, Some(false)) => {
                    let what = "the platform does not see hydrated branches: hydrate.tell is false";
                    self.advise(what, format!("{git} config --unset-all hydrate.tell"));
                }
                (true, _) => self.good(format!("{GITEA} is notified of hydrated branches")),
            }
            self.forge_pusher();
        }
        let unknown = &self.around.unknown_to_forge;
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().take(SHOWN_MAX).map(|name| branch(name)).collect();
            let more = if unknown.len() > SHOWN_MAX { ", …" } else { "" };
            self.advise(
                format!("the platform was not notified of {}{more}", names.join(", ")),
                "the next push does it".to_owned(),
            );
        }
    }

    fn forge_pusher(&mut self) {
        let git = self.git_command();
        match self.repository.config(FORGE_PUSHER) {
            Some(value) if forge_pusher(&value).is_none() => {
                let what = format!("{FORGE_PUSHER} is `{}`: it must be ID:NAME of a user", printable(&value));
                self.bad(what, format!("{git} config {FORGE_PUSHER} ID:NAME"));
            }
            Some(_) => {}
            None => self.advise(
                "what catch-up and changes of settings hydrate, the platform sees with the next push only",
                format!("{git} config {FORGE_PUSHER} ID:NAME, with a user of the platform"),
            ),
        }
    }
}

fn branch(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}
