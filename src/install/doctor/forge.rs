//! Whether the forge that hosts a repository sees the branches that hydration moves.

use std::collections::BTreeSet;

use dry_files::diag::{printable, shell_path, shell_word};

use super::Doctor;
use crate::install::Error;
use crate::install::forge::{FORGE_PUSHER, GITEA, Mirror, elsewhere, forge_pusher, mirror};
use crate::owners::platform::is_executable;
use crate::repo;

/// How many branches are named.
const SHOWN_MAX: usize = 3;

impl Doctor<'_> {
    /// A remote whose fetch writes over every ref, as `git clone --mirror` sets it.
    pub(super) fn mirrors(&mut self) {
        let Some(Mirror { remote, url }) = mirror(self.repository) else { return };
        if !self.is_installed {
            self.advise(format!("this is a mirror of {}: nothing is hydrated here", printable(&url)), elsewhere(&url));
            return;
        }
        let what = format!("a fetch from {} writes over what is pushed and hydrated here", printable(&remote));
        let dir = shell_path(self.repository.common_dir());
        let remedy = format!(
            "if the mirror is to stay: git hydrate uninstall {dir}; if it is not: {} remote remove {}",
            self.git_command(),
            shell_word(&remote)
        );
        self.bad(what, remedy);
    }

    /// Whether Gitea and Forgejo are told of branches, and of which the forge does not know yet.
    pub(super) fn forge(&mut self) -> Result<(), Error> {
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
            self.keys_of_machine()?;
        }
        let unknown = &self.around.unknown_to_forge;
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().take(SHOWN_MAX).map(|name| branch(name)).collect();
            let more = if unknown.len() > SHOWN_MAX { ", …" } else { "" };
            self.advise(
                format!("the platform was not notified of {}{more}", names.join(", ")),
                format!("the next push does it, or now: {} hydrate tell", self.git_command()),
            );
        }
        Ok(())
    }

    /// Keys of ours in the configuration of the machine, which the git of Gitea and Forgejo does not read.
    fn keys_of_machine(&mut self) -> Result<(), Error> {
        let mut command = self.repository.git().command();
        command.args(["config", "--system", "--list", "--name-only"]).env_remove("GIT_CONFIG_NOSYSTEM");
        // There may be no such file.
        let listing = command.output().map_err(|error| repo::Error::new("starting git", error))?;
        let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
        let keys: BTreeSet<&str> = listing.lines().filter(|key| key.starts_with("hydrate.")).collect();
        if let Some(first) = keys.first() {
            let what = format!(
                "{} set for the whole machine, which the platform's git does not read (GIT_CONFIG_NOSYSTEM)",
                match keys.len() {
                    1 => format!("{first} is"),
                    count => format!("{first} and {} more keys are", count - 1),
                }
            );
            self.bad(
                what,
                "set them in [git.config] of app.ini, and restart the platform; or in each repository".to_owned(),
            );
        }
        Ok(())
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
