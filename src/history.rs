//! Answers about the branches as they are, and how they came to be so.
//!
//! [`status()`] says what each environment branch shows and what holds it back, [`History`] lists its commits,
//! [`explain()`] leads from an object to the lines of the dry tree, [`verify()`] and [`recompute()`] make commits again and
//! compare. [`Pusher`] says what came of one push.
//!
//! Never: a ref moves.

mod active_line;
mod back;
mod came;
mod explain;
mod foreign;
mod log;
mod moved;
mod recomputed;
mod status;
mod verify;

pub(crate) use active_line::ActiveLine;
pub(crate) use back::{Back, back, before_change};
pub(crate) use came::{Heard, Pusher};
pub(crate) use explain::{
    Candidate, DryOrigin, ExplainError, Explanation, Extent, KindName, Object, SourceLine, Subject, explain,
    line_of_field, objects,
};
pub(crate) use foreign::{ForeignBranch, foreign};
pub(crate) use log::{Count, Dry, Entry, History, PathChange, Selection, applications_at, is_hydrated};
pub(crate) use recomputed::recompute;
pub(crate) use status::{
    BranchState, BranchStatus, Followed, Promotion, Restorable, RevisionKind, Surveyed, problems, status, surveyed,
};
pub(crate) use verify::{Line, Verified, audited, lines, strayed, verify};
