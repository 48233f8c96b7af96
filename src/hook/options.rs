use std::path::PathBuf;
use std::time::Duration;

use crate::git::Repository;

/// What an admin may set for this machine in git config. Nothing of it changes a byte of what is hydrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `hydrate.budget`, in seconds: how long a hook hydrates a backlog before it leaves the rest to a process of its
    /// own. 60 unless it is set.
    pub budget: Duration,
    /// `hydrate.lockWait`, in seconds: how long a hook waits for another hydration of the same repository. 600 unless
    /// it is set.
    pub lock_wait: Duration,
    /// `hydrate.log`: a file that gets one line of JSON for each run; relative to the git directory.
    pub log: Option<PathBuf>,
}

impl Options {
    /// Reads git config. What is no number of seconds counts as not set.
    pub fn read(repository: &Repository) -> Self {
        let seconds = |key: &str, default: u64| {
            let set = repository.config_number(key).and_then(|value| u64::try_from(value).ok());
            Duration::from_secs(set.unwrap_or(default))
        };
        Self {
            budget: seconds("hydrate.budget", 60),
            lock_wait: seconds("hydrate.lockWait", 600),
            log: repository.config("hydrate.log").map(|path| repository.common_dir().join(path)),
        }
    }
}
