//! Why a path cannot be read.

use super::Unreadable;
use crate::diag::Refusal;
use crate::path::RepoPath;

/// Why a path cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// There is nothing of that name.
    #[error("{0}: no such file or directory")]
    Missing(RepoPath),
    /// A directory, where a file is wanted.
    #[error("{0}: is a directory")]
    IsDirectory(RepoPath),
    /// A file, where a directory is wanted.
    #[error("{0}: not a directory")]
    NotDirectory(RepoPath),
    /// A link that leads out of the repository.
    #[error("{path}: the symbolic link to `{target}` leads out of the repository")]
    LinkOutside {
        /// The link.
        path: RepoPath,
        /// What it contains.
        target: String,
    },
    /// A link to something that is not there.
    #[error("{path}: the symbolic link to `{target}` leads nowhere: there is no `{missing}`")]
    LinkNowhere {
        /// The link.
        path: RepoPath,
        /// What it contains.
        target: String,
        /// The first path on its way that is not there.
        missing: RepoPath,
    },
    /// More links in a row than any file system follows.
    #[error("{0}: too many levels of symbolic links")]
    LinkLoop(RepoPath),
    /// A submodule, or something below one.
    #[error("{0}: is a git submodule, whose files are not in this repository")]
    Submodule(RepoPath),
    /// A Git LFS pointer where content is wanted.
    #[error("{0}: is a Git LFS pointer, whose content is not in this repository")]
    LfsPointer(RepoPath),
    /// More than the limit for one file.
    #[error("{path}: {size} bytes, more than the limit of {limit} for one file")]
    TooLarge {
        /// The file.
        path: RepoPath,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// What git has there is not a file, whatever its directory says.
    #[error("{path}: {reason}")]
    NoFile {
        /// The path.
        path: RepoPath,
        /// What is there.
        reason: String,
    },
    /// The repository could not be read: not a mistake of the dry commit.
    #[error("reading {path}: {reason}")]
    Backend {
        /// What was being read.
        path: RepoPath,
        /// What went wrong.
        reason: String,
    },
}

impl ViewError {
    /// Of a path that is there and cannot be read.
    pub fn of(path: &RepoPath, unreadable: Unreadable) -> Self {
        let (path, reason) = (path.clone(), unreadable.to_string());
        match unreadable {
            Unreadable::Backend(_) => Self::Backend { path, reason },
            Unreadable::NoFile(_) => Self::NoFile { path, reason },
        }
    }

    /// Whether there is simply nothing at the path.
    pub fn is_missing(&self) -> bool {
        matches!(self, ViewError::Missing(_) | ViewError::LinkNowhere { .. })
    }

    /// How to bring content that is elsewhere into the repository.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ViewError::Submodule(_) => Some("copy the files into this repository"),
            ViewError::LfsPointer(_) => Some("commit the file itself instead of storing it with Git LFS"),
            ViewError::NoFile { .. } => Some("commit the file anew: git fsck names the tree that is wrong"),
            _ => None,
        }
    }

    /// Why a render that needs the file is refused: its content is not in the repository.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            ViewError::Submodule(_) | ViewError::LfsPointer(_) | ViewError::LinkOutside { .. } => {
                Some(Refusal::Elsewhere)
            }
            ViewError::Missing(_)
            | ViewError::LinkNowhere { .. }
            | ViewError::IsDirectory(_)
            | ViewError::NotDirectory(_)
            | ViewError::LinkLoop(_)
            | ViewError::TooLarge { .. }
            | ViewError::NoFile { .. }
            | ViewError::Backend { .. } => None,
        }
    }
}
