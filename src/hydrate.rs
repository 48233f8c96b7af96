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
mod apps;
mod branch_records;
mod check;
mod dry_branches;
mod dry_tree;
mod error;
mod explain;
mod failures;
mod files;
mod foreseen;
mod guard;
mod heads;
mod history;
mod ledger;
mod making;
mod planned;
mod preview;
mod recomputed;
mod report;
mod request;
mod rules;
mod run;
mod setup;
mod single;
mod snapshot;
mod standing;
mod status;
mod strict;
mod survey;
mod takeover;
mod verify;

pub use adopt::{Adoption, Seen, adopt};
pub use apps::{AboveMaker, Listed, ListedApplication, MadeBy, application_sets, list};
pub use branch_records::{BranchRecord, BranchRecords, RECORDS_REF};
pub use check::{CheckFinding, Checked, Rule, Tree, check};
pub use error::HydrateError;
pub use explain::{
    Candidate, Changed, DryOrigin, ExplainError, Explanation, KindName, Object, Subject, explain, objects,
};
pub use failures::{FAILURES_REF, Failure, Failures};
pub use foreseen::fulfil;
pub use guard::{Access, RefUpdate, guard, stale};
pub use heads::{REMOTE, dry_branches, dry_remote, hydrated_branches};
pub use history::{Dry, Entry, History, ObjectCounts, PathChange, Selection, SkippedDry, is_hydrated};
pub use planned::{Planned, PlannedBranch, PlannedCommit, PlannedRender, PlannedWhy, plan};
pub use preview::{Against, Preview, PreviewedBranch, PreviewedPath, preview};
pub use recomputed::{recompute, record_branches};
pub use report::{BranchReport, HydratedCommit, Outcome, Report, Skipped};
pub use request::{CommitRequest, PathDetails, commit};
pub use rules::{check_settings, settings_files, unusable_settings};
pub use run::{hydrate, hydrate_again, lock, lock_path, settle};
pub use setup::{Observer, RefNames, Setup, Silent, Wake};
pub use single::{Single, render_named};
pub use standing::{Origin, Standing};
pub use status::{BranchState, BranchStatus, status};
pub use strict::{DAY, Judgement, Push, Strictness, judge};
pub use survey::{Survey, survey};
pub use takeover::{ForeignBranch, foreign};
pub use verify::{Fault, Finding, Line, Verified, lines, strayed, verify};
