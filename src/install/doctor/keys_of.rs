//! Whose keys the doctor judges: those that the git of the hooks reads, from the files that it reads them from.

use std::collections::BTreeSet;
use std::path::Path;

use dry_files::diag::{printable, shell_path, shell_word};

use super::{Doctor, Error};

/// Whose keys git reads beside those of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeysOf {
    /// Of the user who asks, and of the machine: so does the git of his pushes.
    User,
    /// Of the platform that hosts the repository.
    Platform,
    /// Of none: where the platform has its own was not found.
    UnknownPlatform,
    /// Of no user: those of the one as whom pushes arrive are his.
    NoUser,
}

impl Doctor<'_> {
    /// Says which files the keys are read from, where it is not the repository's own alone.
    pub(super) fn whose_keys(&mut self) -> Result<(), Error> {
        let files: Vec<String> = self.other_files()?.iter().map(|file| printable(file).to_string()).collect();
        let files = if files.is_empty() { "no other file".to_owned() } else { files.join(", ") };
        let dir = shell_path(self.repository.common_dir()).to_string();
        match self.around.keys_of {
            KeysOf::User => {}
            KeysOf::Platform => {
                self.good(format!("keys are read as by the platform's git: from the repository, and from {files}"));
            }
            KeysOf::UnknownPlatform => self.advise(
                "only keys of the repository are read: the file of the platform's git, with those of [git.config] in app.ini, was \
                 not found, or belongs to another user",
                self.as_owner(format!("GIT_CONFIG_GLOBAL=…/home/.gitconfig git hydrate doctor {dir}")),
            ),
            KeysOf::NoUser => self.advise(
                "only keys of the repository and of the machine are read: pushes arrive as another user, who may have others",
                format!("as that user, with his HOME: sudo -H -u '#{}' git hydrate doctor {dir}", self.owner()),
            ),
        }
        Ok(())
    }

    /// The command that takes away a key, from the files that have it.
    pub(super) fn unset(&self, name: &str) -> String {
        let listing = self.repository.git().output(&["config", "--show-origin", "-z", "--get-all", name]);
        let is_here = !self.config.get(name).is_empty();
        let here = is_here.then(|| format!("{} config --unset-all {name}", self.git_command()));
        let files = self.other_origins(&listing.unwrap_or_default());
        let elsewhere = files.iter().map(|file| format!("git config --file {} --unset-all {name}", shell_word(file)));
        here.into_iter().chain(elsewhere).collect::<Vec<_>>().join(" && ")
    }

    /// The files that git reads keys from, without those of the repository.
    fn other_files(&self) -> Result<BTreeSet<String>, Error> {
        let listing = self.repository.git().output(&["config", "--show-origin", "-z", "--list"])?;
        Ok(self.other_origins(&listing))
    }

    /// The files that a listing names: before each key is its origin. Relative ones are the repository's own.
    fn other_origins(&self, listing: &[u8]) -> BTreeSet<String> {
        let words = listing.split(|byte| *byte == 0).step_by(2);
        let files = words.filter_map(|word| std::str::from_utf8(word).ok()?.strip_prefix("file:"));
        let own = self.repository.common_dir();
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let is_own = |file: &&str| real(&own.join(file)).parent() == Some(&real(own));
        files.filter(|file| !is_own(file)).map(str::to_owned).collect()
    }
}
