//! The files of one dry commit, and what is wrong with them: what every engine is built on.
//!
//! | module | for |
//! |---|---|
//! | [`path`] | a path in a dry tree, checked when it is made |
//! | [`view`] | the only door through which an engine sees files, which notes every read |
//! | [`diag`] | a mistake of the dry commit: message, place, hint |
//! | [`inputs`] | what is elsewhere, and who is asked for it |
//! | [`regular`] | files of a disk, opened without waiting, whatever they are |
//! | [`scratch`] | directories that go with the process |
//! | [`stack`] | threads with a stack for whatever nests |
//!
//! Knows nothing of git, Kubernetes or hydration.
#![forbid(unsafe_code)]

pub mod diag;
#[cfg(any(test, feature = "growth"))]
pub mod growth;
pub mod inputs;
pub mod path;
pub mod regular;
mod removal;
pub mod scratch;
pub mod stack;
pub mod view;
