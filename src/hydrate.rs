//! One push in four steps: read, plan, render, publish.
//!
//! A wake-up says only that something may have happened. Under the repository's lock, [`hydrate()`] reads the refs as they
//! are, finds for each environment branch the first-parent dry commits that it has not seen, hydrates them in order, and
//! moves all branches and notes in one transaction. When somebody else moved a ref meanwhile it starts again from the
//! state then.
//!
//! Three parts: [`run`] writes, [`gate`] judges a push, [`ask`] answers questions. All of them start from what a repository
//! says: its refs and settings ([`snapshot`], [`policy`]), who made a branch ([`branch_records`], [`standing`]), its notes
//! and failures ([`ledger`]), and the Applications of a dry commit ([`dry_tree`]).
//!
//! Never: a branch moves although one of its Applications failed, unless a setting leaves that one behind; a commit depends on anything but its parent, its dry
//! commit and branch, the settings and the engine; a file that somebody else put on a branch is touched.

mod active;
mod ask;
mod barren;
mod branch_limit;
mod branch_records;
mod changed_objects;
mod claims;
mod copier;
mod dry_branches;
mod dry_tree;
mod error;
mod failures;
mod files;
mod freezes;
mod gate;
mod heads;
mod ledger;
mod maker_limits;
mod making;
mod ours;
mod plain_secret;
mod policy;
mod promoted;
mod report;
mod run;
mod seed_identities;
mod settings_named;
mod setup;
mod snapshot;
mod standing;
mod survey;
mod unsearched;
mod whose;

pub use ask::*;
pub(crate) use branch_records::{BranchRecords, RECORDS_REF};
pub(crate) use claims::{dry_commits_of_branches, is_claimed, settings_of_branches};
pub(crate) use dry_branches::keep_settings;
pub(crate) use error::HydrateError;
pub use failures::{FAILURES_REF, Failures};
pub(crate) use gate::*;
pub(crate) use heads::{REMOTE, dry_branches, dry_remote, hydrated_branches};
pub use policy::check_settings;
pub(crate) use policy::{destinations, files_of as settings_files_at, settings_files};
pub(crate) use report::{Aside, BehindPath, BranchReport, Frozen, Skipped};
pub use report::{Outcome, Report};
pub(crate) use run::{
    Again, commit, first_settings, hydrate_again, hydrate_seen, lock, lock_path, record_branches, settle,
};
pub use run::{CommitRequest, Comparison, Side, hydrate, missing_in};
pub(crate) use settings_named::{SETTINGS_REF_KEY, by_settings_of_branches, doubt, warning_of_more, with_settings_of};
pub use setup::{Observer, RefNames, Setup, Wake};
pub(crate) use standing::hydrated_commit;
pub(crate) use survey::{Survey, check_settings_ref, survey};
pub(crate) use unsearched::{forgotten, forgotten_branches};

#[cfg(test)]
mod tests;
