//! Why an Application was not rendered.

use std::time::Duration;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Reads, ViewError};

use crate::argo::{Application, SourceError};
use crate::render::directory;
use crate::render::jsonnet;
use crate::repo;
use confine as plugin;
use inputs::Unusable;

/// Why one Application has no manifests.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Mistakes of the dry commit; at least one is an error.
    #[error("{} mistakes in the dry commit", .0.len())]
    Mistakes(Vec<Diagnostic>),
    /// Nothing is known about the dry commit: the run must stop, and may be repeated.
    #[error(transparent)]
    World(#[from] Error),
}

/// One Application that was not rendered, and what it looked at until then.
#[derive(Debug)]
pub struct Unrendered {
    /// Why it was not.
    pub failure: Failure,
    /// Everything of the dry tree that was looked at; nothing after a panic.
    pub reads: Reads,
    /// Whether it fails again in the same way wherever `reads` are confirmed, for the same Application, engine, settings
    /// and limits.
    ///
    /// A render is deterministic: what it reads next, and all that it does until then, follows from what it has read.
    /// Where all of `reads` are the same it takes the same way to the same end, also when that end was a limit, and
    /// whatever it would have read behind it. Not so where something else decided: the id of the dry commit, a program
    /// that is not ours, the other Applications of the commit, a panic, or a caller who cancelled.
    pub repeats: bool,
    /// Whether it follows from the dry commit and the settings alone: no limit of this machine, no program and no panic
    /// decided about it.
    pub follows: bool,
}

/// The key of the limit for all Applications of one dry commit together.
pub(super) const COMMIT_TIME_LIMIT: &str = "hydrate.commitTimeLimit";

/// That of the limit for one Application or set.
pub(super) const RENDER_TIME_LIMIT: &str = "hydrate.renderTimeLimit";

/// That of the limit for all Applications of one run.
pub(super) const RUN_TIME_LIMIT: &str = "hydrate.runTimeLimit";

/// That of the bytes that one Application renders to.
const OUTPUT_LIMIT: &str = "hydrate.outputLimit";

/// That of the bytes that all Applications of one dry branch add to the repository in one run.
pub(super) const RUN_OUTPUT_LIMIT: &str = "hydrate.runOutputLimit";

/// That of the memory of a run that renders in one process.
pub(super) const RUN_MEMORY: &str = "hydrate.runMemory";

/// That of the memory of a process that renders one Application at a time.
pub(super) const APPLICATION_MEMORY: &str = "hydrate.applicationMemory";

/// How many seconds a limit has: a part of another one need not be whole.
pub(crate) fn in_seconds(limit: Duration) -> String {
    match limit.subsec_millis() {
        0 => limit.as_secs().to_string(),
        _ => format!("{:.3}", limit.as_secs_f64()).trim_end_matches('0').to_owned(),
    }
}

/// What failed that is no mistake of the dry commit.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The repository could not be read.
    #[error(transparent)]
    View(ViewError),
    /// What was rendered could not be kept.
    #[error(transparent)]
    Store(repo::Error),
    /// An official tool or a plugin could not be run.
    #[error(transparent)]
    Program(#[from] plugin::Error),
    /// An official tool of another version.
    #[error("`{command}` is {found}, but {tool} {required} is required")]
    Version {
        /// The command that was asked.
        command: String,
        /// The tool.
        tool: &'static str,
        /// The version that it must have.
        required: &'static str,
        /// What it said of itself.
        found: String,
    },
    /// A limit of this machine, which says nothing about the dry commit.
    #[error("{0}")]
    Limit(String),
    /// More than an admin lets one Application have, which says nothing about the dry commit either.
    #[error("{what}; git config {setting} sets the limit")]
    TooMuch {
        /// What is too much.
        what: String,
        /// The key of the limit.
        setting: &'static str,
    },
    /// More than an admin lets the Applications of one dry branch add to the repository in one run.
    #[error(
        "the Applications of one dry branch add more than {limit} bytes to the repository in one run; git config \
         hydrate.runOutputLimit sets the limit"
    )]
    NoRoom {
        /// The limit.
        limit: u64,
    },
    /// A file of more bytes than an admin lets a render read.
    #[error("{bytes} bytes, more than the limit of {limit} for one file; git config hydrate.fileLimit sets the limit")]
    FileTooLarge {
        /// The file.
        file: RepoPath,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A bug of ours in one render, which must not take the others down.
    #[error("internal error: {0}")]
    Panic(String),
    /// A file or directory of the temporary checkout.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The process that renders failed in a way that says nothing about the dry commit: its own words.
    #[error("{0}")]
    Apart(String),
    /// The caller does not want the result any more.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// No thread could be started.
    pub(super) fn of_thread(error: &std::io::Error) -> Self {
        Self::Io { doing: "starting a thread".to_owned(), source: error.kind().into() }
    }

    /// One Application would add more to the repository than all of a dry branch may in one run.
    pub fn of_run_output(application: &Application, limit: u64) -> Self {
        let what = format!("`{}` alone adds more than {limit} bytes to the repository", application.name);
        Self::TooMuch { what, setting: RUN_OUTPUT_LIMIT }
    }

    /// One Application renders to more than `limit` bytes.
    pub fn of_output(application: &Application, limit: u64) -> Self {
        let what = format!("`{}` renders more than {limit} bytes", application.name);
        Self::TooMuch { what, setting: OUTPUT_LIMIT }
    }

    /// Whether it is a limit of several Applications together, whichever of them took the most.
    pub fn is_limit_of_commit(&self) -> bool {
        matches!(self, Self::NoRoom { .. } | Self::TooMuch { setting: COMMIT_TIME_LIMIT | RUN_TIME_LIMIT, .. })
    }

    /// What to say of a limit that `application` has reached: at the file that is too large, so that all Applications that
    /// read it say so once; else at its name.
    pub fn of_limit(&self, application: &Application) -> Diagnostic {
        let place = match self {
            Self::FileTooLarge { file, .. } => Span::file(file.clone()),
            _ => application.places.name.clone(),
        };
        Diagnostic::error(self.to_string()).at(place)
    }

    /// Whether the result is not needed any more.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }

    /// Whether one Application wanted too much, so that others can be rendered all the same.
    pub fn is_limit(&self) -> bool {
        match self {
            Self::Limit(_) | Self::TooMuch { .. } | Self::NoRoom { .. } | Self::FileTooLarge { .. } => true,
            Self::Program(error) => {
                matches!(
                    error,
                    plugin::Error::Time { .. } | plugin::Error::Output { .. } | plugin::Error::Scratch { .. }
                )
            }
            Self::View(_)
            | Self::Store(_)
            | Self::Version { .. }
            | Self::Panic(_)
            | Self::Io { .. }
            | Self::Apart(_)
            | Self::Cancelled => false,
        }
    }
}

impl Failure {
    /// An input that cannot be used at this place.
    pub(super) fn unusable(unusable: &Unusable, place: &Span) -> Self {
        match unusable.world() {
            Some(world) => Self::World(Error::View(world.clone())),
            None => Self::mistake(unusable.found_by(place)),
        }
    }

    /// One mistake.
    pub fn mistake(diagnostic: Diagnostic) -> Self {
        Self::Mistakes(vec![diagnostic])
    }

    /// A path that cannot be read, named at `span`: a mistake, unless it is the repository that failed.
    pub fn unreadable(error: ViewError, span: Span) -> Self {
        if let ViewError::Backend { .. } = error {
            return Self::World(Error::View(error));
        }
        let mistake = Diagnostic::error(error.to_string()).at(span).refused(error.refusal());
        Self::mistake(match error.hint() {
            Some(hint) => mistake.hint(hint),
            None => mistake,
        })
    }
}

impl From<Failure> for Unrendered {
    /// A failure that nothing is known of.
    fn from(failure: Failure) -> Self {
        Self { failure, reads: Reads::new(), repeats: false, follows: false }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Mistakes(mistakes) => Self::Mistakes(mistakes),
            SourceError::View(error) => Self::World(Error::View(error)),
        }
    }
}

impl From<directory::Error> for Failure {
    fn from(error: directory::Error) -> Self {
        match error {
            directory::Error::Mistakes(mistakes) => Self::Mistakes(mistakes),
            directory::Error::View(error) => Self::World(Error::View(error)),
        }
    }
}

impl From<jsonnet::Error> for Failure {
    fn from(error: jsonnet::Error) -> Self {
        match error {
            jsonnet::Error::Mistake(mistake) => Self::mistake(mistake),
            jsonnet::Error::View(error) => Self::World(Error::View(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_second_is_none_of_no_second() {
        let rows = [(0, "0"), (750, "0.75"), (1000, "1"), (1500, "1.5"), (120_000, "120"), (25, "0.025")];
        for (milliseconds, expected) in rows {
            assert_eq!(in_seconds(Duration::from_millis(milliseconds)), expected);
        }
    }
}
