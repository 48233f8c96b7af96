//! What a repository says before anything is hydrated: its settings, its dry branches, and who owns each environment branch
//! and each path of it.
//!
//! An operation begins with a [`Setup`](setup::Setup): where it works, and why. [`Snapshot`](snapshot::Snapshot) reads refs,
//! settings ([`policy`]) and records ([`branch_records`]) once, so that all that follows rests on one moment; notes and
//! failures are in the [`ledger`]. [`Standing`](standing::Standing) says who made a branch and from which dry commit,
//! [`claims`] and [`promoted`] what others may write there.
//!
//! Leaves to others: which Applications a dry commit has ([`discover`](crate::discover)), and what is made of them
//! ([`hydrate`](mod@crate::hydrate)).
//!
//! Never: a record, a note or a setting believed because a ref says so that anyone may write.

pub(crate) mod acknowledged;
pub(crate) mod active;
pub(crate) mod branch_limit;
pub(crate) mod branch_records;
pub(crate) mod changed_objects;
pub(crate) mod claims;
pub(crate) mod copier;
mod crds;
pub(crate) mod deployed;
pub(crate) mod dry_branches;
pub(crate) mod error;
pub(crate) mod failed_makers;
pub(crate) mod failures;
pub(crate) mod files;
pub(crate) mod freezes;
pub(crate) mod heads;
pub(crate) mod ledger;
pub(crate) mod making;
pub(crate) mod ours;
pub(crate) mod place;
pub(crate) mod plain_secret;
pub(crate) mod platform;
pub(crate) mod policy;
pub(crate) mod promoted;
pub(crate) mod public_seeds;
pub(crate) mod recorded;
pub(crate) mod revisions;
pub(crate) mod seed_identities;
pub(crate) mod settings_named;
pub(crate) mod setup;
pub(crate) mod snapshot;
pub(crate) mod standing;
pub(crate) mod unsearched;
pub(crate) mod went_back;
