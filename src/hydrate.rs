//! One push, told once: read, plan, render, publish.
//!
//! A wake-up says only that something may have happened. Under the repository's lock, [`hydrate`] reads the refs as they
//! are, finds for each environment branch the first-parent dry commits that it has not seen, hydrates them in order, and
//! moves all branches and notes in one transaction. When somebody else moved a ref meanwhile it starts again from what
//! is true then.
//!
//! Never: a branch moves although one of its Applications failed; a commit depends on anything but its parent, its dry
//! commit and branch, the settings and the engine; a file that somebody else put on a branch is touched.

mod adopt;
mod advance;
mod apps;
mod branch;
mod branch_records;
mod check;
mod dry_branches;
mod explain;
mod failed_render;
mod failures;
mod foreseen;
mod guard;
mod heads;
mod history;
mod memory;
mod output;
mod preview;
mod report;
mod request;
mod rules;
mod run;
mod single;
mod standing;
mod status;
mod stopped;
mod strict;
mod takeover;
mod verify;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::application::BranchName;
use crate::git::{self, Lock, ObjectId, Repository};
use crate::metadata::NOTES_REF;
use crate::render;
use crate::settings::SettingsError;

use stopped::Stopped;

pub use adopt::{Adoption, Seen, adopt};
pub use apps::{Listed, ListedApplication, MadeBy, application_sets, list};
pub use branch_records::{BranchRecord, BranchRecords, RECORDS_REF};
pub use check::{CheckFinding, Checked, Rule, Tree, check};
pub use explain::{
    Candidate, Changed, ChangedLine, DryOrigin, ExplainError, Explanation, KindName, Object, Subject, explain, objects,
};
pub use failures::{FAILURES_REF, Failure, Failures};
pub use foreseen::fulfil;
pub use guard::{Access, RefUpdate, guard, stale};
pub use heads::{REMOTE, RefNames, dry_branches, dry_remote, hydrated_branches};
pub use history::{Dry, Entry, History, ObjectCounts, PathChange, Selection, SkippedDry, is_hydrated};
pub use preview::{Against, Preview, PreviewedBranch, PreviewedPath, preview};
pub use report::{BranchReport, HydratedCommit, Outcome, Report, Skipped};
pub use request::{CommitRequest, PathDetails, commit};
pub use rules::{check_settings, settings_files, unusable_settings};
pub use run::Survey;
pub use single::{Single, render_named};
pub use standing::{Origin, Standing, hydrated_commit};
pub use status::{BranchState, BranchStatus, status};
pub use strict::{DAY, Judgement, Push, Strictness, judge};
pub use takeover::foreign;
pub use verify::{Fault, Finding, Line, Verified, lines, strayed, verify};

/// Which dry commits shall be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// Branches that were pushed. All dry branches are looked at, whichever of them these are.
    Pushed(Vec<String>),
    /// All dry branches, without a push.
    Everything,
    /// One commit, taken for the tip of a branch.
    Commit {
        /// The dry branch.
        branch: BranchName,
        /// Its tip.
        tip: ObjectId,
    },
}

/// What the edge knows and the operation needs.
pub struct Setup<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// Where environment branches are read and written.
    pub refs: RefNames,
    /// Why we are here.
    pub wake: Wake,
    /// Tools and limits of this machine.
    pub renderers: &'a render::Renderers,
    /// Whether the rest of a backlog shall wait for the next run.
    pub out_of_time: &'a dyn Fn() -> bool,
    /// Hears of progress.
    pub observer: &'a dyn Observer,
}

/// Hears what goes on, as it goes on.
pub trait Observer: Sync {
    /// Rendering `total` Applications of a dry commit begins.
    fn rendering(&self, dry_commit: &str, total: usize);
    /// `done` of them are rendered.
    fn rendered(&self, done: usize);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn rendering(&self, _dry_commit: &str, _total: usize) {}
    fn rendered(&self, _done: usize) {}
}

/// Why nothing was hydrated: the world failed, not a dry commit.
#[derive(Debug, thiserror::Error)]
pub enum HydrateError {
    /// The repository could not be read or written.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// The settings cannot be used.
    #[error("refs/hydrate/config: {0}")]
    Settings(#[from] SettingsError),
    /// A template of the settings fails.
    #[error("{0}")]
    Template(crate::diag::Diagnostic),
    /// The settings that a hydrated commit names are not here.
    #[error("the settings {id} that `{branch}` was hydrated with are not in this repository")]
    SettingsMissing {
        /// Their commit.
        id: ObjectId,
        /// The environment branch.
        branch: BranchName,
    },
    /// Others moved our refs again and again.
    #[error("gave up after {TRIES} tries: {0}")]
    Raced(String),
    /// A machine of this kind cannot render, or a limit of this machine was reached.
    #[error("{0}")]
    Machine(String),
}

/// The lock file of a repository: whoever hydrates holds it.
pub fn lock_path(repository: &Repository) -> std::path::PathBuf {
    repository.common_dir().join("hydrate.lock")
}

/// Waits for the lock of a repository, as [`Lock::acquire`] does.
pub fn lock(
    repository: &Repository,
    waiting: impl FnMut(std::time::Duration) -> bool,
) -> Result<Option<Lock>, git::Error> {
    Lock::acquire(&lock_path(repository), repository.shared(), waiting)
}

/// How often a lost race is run again.
const TRIES: u32 = 5;

/// What the Applications and settings of a repository ask for, without rendering anything.
pub fn survey(setup: &Setup<'_>) -> Result<Survey, HydrateError> {
    match run::Run::new(setup).and_then(run::Run::survey) {
        Ok(survey) => Ok(survey),
        Err(stopped) => Err(stopped.into_error()),
    }
}

/// The branches that the Applications at the tips of the dry branches name, each with its dry branch.
fn destinations(setup: &Setup<'_>) -> Result<BTreeMap<BranchName, BranchName>, HydrateError> {
    match run::Run::new(setup).and_then(run::Run::destinations) {
        Ok(destinations) => Ok(destinations),
        Err(stopped) => Err(stopped.into_error()),
    }
}

/// Writes what a repository needs before its first push: [`Report::notes`] says what. The caller holds the
/// repository's lock.
pub fn settle(setup: &Setup<'_>) -> Result<Report, HydrateError> {
    run::Run::new(setup).and_then(run::Run::settle).map_err(Stopped::into_error)
}

/// Hydrates what is not hydrated yet. The caller holds the repository's lock.
///
/// Errors: the world failed; no ref has moved then. What is wrong with a dry commit stands in the report.
pub fn hydrate(setup: &Setup<'_>) -> Result<Report, HydrateError> {
    hydrate_again(setup, false)
}

/// The same; with `retry`, what reached a limit of this machine in an earlier run is tried again, although nothing that
/// it was rendered from has changed.
pub fn hydrate_again(setup: &Setup<'_>, retry: bool) -> Result<Report, HydrateError> {
    let (mut raced, mut trust_cache) = (String::new(), true);
    let failed = Rc::default();
    for _ in 0..TRIES {
        let run = run::Run::new(setup).map(|run| run.knowing(&failed).retrying(retry));
        match run.and_then(|run| run.finish(trust_cache && !retry)) {
            Ok(report) => return Ok(report),
            Err(Stopped::Raced(why)) => raced = why,
            Err(Stopped::Unknown) => trust_cache = false,
            Err(Stopped::Failed(error)) => return Err(error),
        }
    }
    Err(HydrateError::Raced(raced))
}
