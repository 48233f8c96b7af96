//! Objects, commits, refs and notes of a git repository: the only module that names the git library.
//!
//! Reading goes through [`Repository`]. New objects are collected in an [`ObjectBuffer`], so a run that fails leaves
//! nothing behind, and are written at its end as git itself would write them: with the fsyncs that `core.fsync` asks
//! for, the modes of `core.sharedRepository`, one pack when there are many. Refs move afterwards, all in one
//! transaction of `git update-ref`, which knows every ref backend, hook and lock there is.
//!
//! Never: a ref that points at an object which is not durable, a ref that moves without its expected old value.

mod bare;
mod buffer;
mod commit;
mod config;
mod config_parameters;
mod deflate;
mod growth;
mod hidden;
mod hiding;
mod history;
pub(crate) mod kept;
pub(crate) mod limited;
mod lock;
mod notes;
mod pack;
mod process;
pub(crate) mod publish;
mod pushed;
mod quarantine;
mod read_blobs;
mod ref_edit;
mod refs;
mod repository;
pub(crate) mod shares;
mod snapshot;
mod spool;
mod stale;
mod store;
mod system_config;
mod transaction;
mod tree;
mod tree_files;

use std::fmt;

use dry_files::diag::chain;

pub use buffer::ObjectBuffer;
pub(crate) use commit::Commit;
pub use commit::{NewCommit, Signature};
pub(crate) use config::{Fsync, Shared};
pub(crate) use config_parameters::use_config_parameters;
pub(crate) use hidden::{hidden_from_pushes, is_hidden};
pub(crate) use hiding::{hidden_by, hiding, said_of_hiding};
pub(crate) use lock::Lock;
pub use notes::Notes;
pub(crate) use process::Git;
pub(crate) use pushed::{PushedRefs, said_of_taken, said_of_taken_in, taken_for};
pub(crate) use quarantine::Quarantine;
pub use ref_edit::{Expected, RefEdit};
pub(crate) use refs::Refs;
pub(crate) use repository::object_id;
pub use repository::{Location, Repository};
pub(crate) use stale::{LOCK_SECONDS, LOCKS_DIR};
pub(crate) use system_config::{system_config, use_system_config};
pub use transaction::update_refs;
pub(crate) use transaction::{Transaction, TransactionError};
pub use tree::{Mode, TreeEdit};
pub(crate) use tree::{TreeChange, TreeEntry, tree_fault};
pub(crate) use tree_files::TreeFiles;

/// The id of a git object, SHA-1 or SHA-256.
pub type ObjectId = gix::ObjectId;

/// What an object is.
pub(crate) type ObjectKind = gix::objs::Kind;

/// The repository could not be read or written: the world failed, not a dry commit.
#[derive(Debug, thiserror::Error)]
#[error("{doing}")]
pub struct Error {
    doing: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Says what was being done, and to what, when `source` came up.
    pub fn new(doing: impl fmt::Display, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { doing: doing.to_string(), source: Some(source.into()) }
    }

    /// A failure without a cause of its own.
    pub fn message(doing: impl fmt::Display) -> Self {
        Self { doing: doing.to_string(), source: None }
    }

    /// The failure and its causes on one line.
    pub fn chain(&self) -> String {
        chain(self)
    }
}

/// Says what was being done when a result went wrong.
trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<Box<dyn std::error::Error + Send + Sync>>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|error| Error::new(what(), error))
    }
}

#[cfg(test)]
mod tests;
