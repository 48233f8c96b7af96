//! What the last run found out about a dry branch, kept beside the repository.
//!
//! A [`State`] says of one dry commit which Applications its tree has, what each of them read and rendered to or failed
//! by, and where their environment branches stood when all of it was hydrated as far as it could be. From there the next run has to look only at what
//! changed since. All of it can be found out again, so nothing here is ever needed: a file that is missing, cut off,
//! damaged, or of another version is as good as none, and the directory may be deleted at any time.
//!
//! Two files for a dry branch: a [`table`](mod@table) that never changes once it is written, with an index of hashes,
//! and a small overlay with the records that have changed since. A push reads a few pages of the one and all of the
//! other, and writes the overlay again; a run that looked at everything, or one whose overlay has grown too large,
//! writes both.
//!
//! Every page and record carries the hash of its content and is not believed without it. Files are written aside and
//! renamed, never changed; nothing is flushed to disk, for nothing is lost with it.
//!
//! Leaves to others: what follows from a record. Whether a result is still valid is decided by [`View::confirms`], content id by
//! content id; the index only says where to look.
//!
//! [`View::confirms`]: dry_files::view::View::confirms

mod barren;
mod codec;
mod copies;
mod failed_makers;
mod record;
mod state;
mod store;
mod table;
mod unsearched;

pub(crate) use barren::{Barren, BarrenFile};
pub(crate) use codec::{Decoder, Encoder};
pub(crate) use copies::{CopiedFrom, CopyBranch};
pub(crate) use failed_makers::{FailedMaker, FailedMakers};
pub(crate) use record::{About, Encoded, Failure, FailureKind, Record, Used, UsedInputs, used_inputs};
pub(crate) use state::{Basis, Branch, Frozen, Head, LACKING_MAX, Left, LeftPath, State, Stuck, Unusable};
pub(crate) use store::Cache;
pub(crate) use unsearched::Unsearched;

#[cfg(test)]
mod tests;
