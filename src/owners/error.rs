//! Why nothing was hydrated, or nothing was found out.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;
use dry_files::view::ViewError;
use inputs::Wanted;

use crate::argo::BranchName;
use crate::known;
use crate::repo::{self, ObjectId};

use crate::render;
use crate::settings::SettingsError;

/// How often a lost race is run again.
pub(crate) const TRIES: u32 = 5;

/// Why nothing was hydrated: the world failed, not a dry commit.
#[derive(Debug, thiserror::Error)]
pub enum HydrateError {
    /// The repository could not be read or written.
    #[error(transparent)]
    Git(#[from] repo::Error),
    /// The settings cannot be used.
    #[error("refs/hydrate/config: {0}")]
    Settings(SettingsError),
    /// A template of the settings fails.
    #[error("{}", .0.to_string().trim_start_matches("error: "))]
    Template(Diagnostic),
    /// The settings that a hydrated commit names are not here.
    #[error("the settings {id} that `{branch}` was hydrated with are not in this repository")]
    SettingsMissing {
        /// Their commit.
        id: ObjectId,
        /// The environment branch.
        branch: BranchName,
    },
    /// The ref of the settings is gone, and branches were hydrated with settings.
    #[error(
        "refs/hydrate/config is missing, and `{branch}` was hydrated with the settings {id}; to restore them: git update-ref \
         refs/hydrate/config {id}{}",
        held_again(.holds, "git")
    )]
    SettingsLost {
        /// The commit of the newest settings that a branch was hydrated with.
        id: ObjectId,
        /// The environment branch.
        branch: BranchName,
        /// The commands without `git` that hold again what was rolled back.
        holds: Vec<String>,
    },
    /// The ref that names the settings that count is not here.
    #[error(
        "there is no `{name}` here to take settings from\nhint: git fetch; hydrate.settingsRef of git config names it"
    )]
    NoSettings {
        /// The full name of the ref.
        name: String,
    },
    /// Others moved our refs again and again.
    #[error("gave up after {TRIES} tries: {0}")]
    Raced(String),
    /// The tree of a dry commit could not be read.
    #[error("finding the Applications{}: {reason}", of(dry_commit))]
    Tree {
        /// The dry commit; empty for a directory.
        dry_commit: String,
        /// What [`Files`](dry_files::view::Files) says of it.
        reason: String,
    },
    /// A dry tree has more than is searched for Applications.
    #[error("{}", .0.message)]
    Unsearched(Diagnostic),
    /// A dry branch had to be searched for Applications where that was not wanted.
    #[error("the Applications of `{0}` are not known without a search")]
    NotSearched(BranchName),
    /// A file of a dry tree could not be read.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The inputs from elsewhere that a dry tree keeps cannot be used.
    #[error(transparent)]
    Inputs(#[from] inputs::Unusable),
    /// Inputs are needed that can be fetched, each for a dry branch. Nothing was done.
    #[error("{} inputs have to be fetched", .0.len())]
    Lacks(BTreeSet<(Wanted, BranchName)>),
    /// This machine could not render: a tool is missing, or the repository or the disk fails.
    #[error(transparent)]
    Render(#[from] render::Error),
    /// The cache is damaged, in a run that reads nothing but the cache.
    #[error("{0}: delete hydrate/cache")]
    Cache(#[source] known::Unusable),
    /// Another hydration had the lock of the repository for as long as this one waited.
    #[error("another hydration has locked the repository; `git hydrate doctor` shows which")]
    Locked,
    /// A push could not be judged in the time for it.
    #[error("it takes more than {seconds} seconds (hydrate.strictTimeLimit)")]
    StrictTime {
        /// That time.
        seconds: u64,
    },
}

// Its text says all of the cause, so that is not a source.
impl From<SettingsError> for HydrateError {
    fn from(error: SettingsError) -> Self {
        Self::Settings(error)
    }
}

fn of(dry_commit: &str) -> String {
    if dry_commit.is_empty() { String::new() } else { format!(" of {dry_commit}") }
}

impl HydrateError {
    /// For a tree that could not be read, such as by `map_err`; without a dry commit it is a directory.
    pub(crate) fn tree(dry_commit: impl ToString) -> impl FnOnce(String) -> Self {
        move |reason| Self::Tree { dry_commit: dry_commit.to_string(), reason }
    }

    /// Whether the same may go well on another machine, or at another time: neither the repository nor how it was called
    /// is at fault.
    pub fn is_of_machine(&self) -> bool {
        match self {
            Self::Tree { .. }
            | Self::Unsearched(_)
            | Self::NotSearched(_)
            | Self::View(_)
            | Self::Inputs(_)
            | Self::Lacks(_)
            | Self::Render(_)
            | Self::Cache(_)
            | Self::Locked
            | Self::StrictTime { .. } => true,
            Self::Git(_)
            | Self::Settings(_)
            | Self::Template(_)
            | Self::SettingsMissing { .. }
            | Self::SettingsLost { .. }
            | Self::NoSettings { .. }
            | Self::Raced(_) => false,
        }
    }
}

/// What is to be done once lost settings are back: `holds` are commands behind `git`, which is how git is called there.
pub(crate) fn held_again(holds: &[String], git: &str) -> String {
    holds.iter().map(|hold| format!("; then, since what was rolled back would go on: {git} {hold}")).collect()
}
