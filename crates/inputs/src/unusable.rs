//! Why an input cannot be used, and how to go on.

use dry_files::diag::{Diagnostic, Refusal, Span};
use dry_files::path::RepoPath;
use dry_files::view::ViewError;

use super::{Key, LOCK, LockError, lock_path};

/// Why an input cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is not in the dry tree.
    #[error("{0} is not in this repository")]
    Missing(Key),
    /// Of a repository, not this directory.
    #[error("{key} is in this repository, but not its directory `{directory}`")]
    MissingDirectory {
        /// The repository.
        key: Key,
        /// The directory.
        directory: RepoPath,
    },
    /// Its files are others than when it came.
    #[error("the files in `{path}` are not those of {key}: {LOCK} has {expected}, they are {found}")]
    Changed {
        /// The input.
        key: Key,
        /// Where its files are.
        path: RepoPath,
        /// The digest of the lock file.
        expected: String,
        /// That of the files; `missing` when there are none.
        found: String,
    },
    /// Another one is where it should be.
    #[error("`{path}` has {kept}, but {wanted} is needed")]
    Other {
        /// Where it is.
        path: RepoPath,
        /// What is there.
        kept: Key,
        /// What should be.
        wanted: Key,
    },
    /// The lock file names another directory of inputs than the settings do.
    #[error("{LOCK} has its inputs in `{0}`, but the setting `vendorDirectory` leads to `{1}`")]
    Misplaced(RepoPath, RepoPath),
    /// Something that a tool may take for it is beside it.
    #[error("`{other}` has a chart `{}` that Helm may take for {key}, which is in `{path}`", key.name)]
    Beside {
        /// The input.
        key: Key,
        /// Where it is.
        path: RepoPath,
        /// What no lock file lists.
        other: RepoPath,
    },
    /// The record has other files of it than the lock file.
    #[error("{key}: {LOCK} has {locked}, but its server recorded {recorded}")]
    Differs {
        /// The input.
        key: Key,
        /// The digest of the lock file.
        locked: String,
        /// That of the record.
        recorded: String,
    },
    /// An administrator took it out of the record.
    #[error("{key} was withdrawn from this repository: {reason}")]
    Withdrawn {
        /// The input.
        key: Key,
        /// Why.
        reason: String,
    },
    /// A file of the record is not as it was written.
    #[error("`{0}` is not as it was recorded")]
    Damaged(RepoPath),
    /// A file of a recorded input was read by another way than by the input.
    #[error("`{0}` is a file of an input that its reader does not name")]
    Unnamed(RepoPath),
    /// Its place is a link, or behind one.
    #[error("`{0}` is, or is behind, a symbolic link: inputs are files of this repository")]
    Link(RepoPath),
    /// The lock file cannot be read.
    #[error("{LOCK}: {0}")]
    Lock(LockError),
    /// The files cannot be read.
    #[error(transparent)]
    View(#[from] ViewError),
}

/// How each hint begins that says what brings an input here.
pub const BRING: &str = "run `git hydrate vendor`";

/// What brings an input here.
pub const VENDOR: &str = "run `git hydrate vendor` and commit what it writes";

impl Unusable {
    /// How to go on.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing(key) => match key.moves() {
                Some(moves) => format!("{moves}: pin it there, or {VENDOR}, which pins it in {LOCK}"),
                None => VENDOR.to_owned(),
            },
            Self::MissingDirectory { .. } | Self::Other { .. } => VENDOR.to_owned(),
            Self::Misplaced(..) => format!("{VENDOR}: it moves them"),
            Self::Beside { path, other, .. } => {
                format!("remove `{other}`; or, to use it, remove `{path}` and run `git hydrate vendor --prune`")
            }
            Self::Link(_) => format!("remove the link, then {VENDOR}"),
            Self::Differs { .. } => {
                "compare both: git hydrate vendor --verify; an admin can withdraw what is recorded: git hydrate inputs withdraw"
                    .to_owned()
            }
            Self::Withdrawn { .. } => format!("name another version, or {VENDOR}"),
            Self::Damaged(_) => "an admin finds out what is wrong with refs/hydrate/inputs: git hydrate inputs".to_owned(),
            Self::Unnamed(_) => "name the chart or repository itself, and not a path below .hydrate/inputs".to_owned(),
            Self::Changed { path, found, .. } if found == "missing" => {
                format!(
                    "run `git hydrate vendor`, which brings it, and commit all of it: git add --force {}",
                    dry_files::diag::shell_word(path.as_str())
                )
            }
            Self::Changed { path, .. } => {
                format!(
                    "remove `{path}`, then {VENDOR}; a copy of your own goes elsewhere, without an entry of the lock file"
                )
            }
            Self::Lock(error) if error.is_conflict() => {
                "run `git hydrate vendor`, which resolves it: what both sides pin stays".to_owned()
            }
            Self::Lock(_) => "remove the file and run `git hydrate vendor`, which writes it again".to_owned(),
            Self::View(_) => "commit the files themselves".to_owned(),
        }
    }

    /// The place, when it is not that of the caller.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Misplaced(..) => Some(Span::file(lock_path())),
            Self::Lock(error) => Some(Span::at(lock_path(), error.line, 1)),
            Self::Missing(_)
            | Self::MissingDirectory { .. }
            | Self::Changed { .. }
            | Self::Other { .. }
            | Self::Beside { .. }
            | Self::Differs { .. }
            | Self::Withdrawn { .. }
            | Self::Damaged(_)
            | Self::Unnamed(_)
            | Self::Link(_)
            | Self::View(_) => None,
        }
    }

    /// The repository's own failure, when it could not be read.
    pub fn world(&self) -> Option<&ViewError> {
        match self {
            Self::View(error @ ViewError::Backend { .. }) => Some(error),
            _ => None,
        }
    }

    /// As a mistake of the dry commit. `span` is where it is asked for.
    pub fn found_by(&self, span: &Span) -> Diagnostic {
        let diagnostic = self.diagnostic();
        let has_place = diagnostic.span.is_some();
        if has_place { diagnostic } else { diagnostic.at(span.clone()) }
    }

    /// As a mistake of the dry commit, without the place of the caller.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.to_string()).hint(self.hint()).refused(Some(Refusal::Elsewhere));
        diagnostic.span = self.span();
        diagnostic
    }
}
