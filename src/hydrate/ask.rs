//! What answers questions. Nothing here moves a ref.
//!
//! About the branches as they are: [`status()`], [`history`](History), [`explain()`], [`verify()`], [`recompute()`].
//! About what hydrating would do:
//! [`plan()`] renders nothing, [`preview()`] hydrates in memory. About one dry tree, whatever the branches show: [`list()`],
//! [`check()`], [`adopt()`]; beside what runs in a cluster: [`compare_running()`].

mod adopt;
mod apps;
mod came;
mod check;
mod explain;
mod foreign;
mod history;
mod planned;
mod preview;
mod random_values;
mod recomputed;
mod repoint;
mod running;
mod single;
mod status;
mod vendor;
mod verify;

pub(crate) use adopt::{AdoptedApplication, Adoption, Asked, Cause, HydratorFile, Hydrators, adopt, source_hydrators};
pub(crate) use apps::{Listed, ListedApplication, application_sets, list, settings_of_makers, show};
pub(crate) use came::Pusher;
pub(crate) use check::{CheckFinding, Checked, Rule, Tree, check};
pub(crate) use explain::{
    Candidate, DryOrigin, ExplainError, Explanation, KindName, Object, SourceLine, Subject, explain, line_of_field,
    objects,
};
pub(crate) use foreign::{ForeignBranch, foreign};
pub(crate) use history::{Entry, History, PathChange, Selection, is_hydrated};
pub use planned::{Planned, plan};
pub(crate) use planned::{PlannedBranch, PlannedFrozen, PlannedRender, PlannedWhy};
pub(crate) use preview::{
    Against, End, FormerApplication, InputChange, LikeBranch, MergeBase, Preview, PreviewedBranch, PreviewedPath,
    is_production, preview, preview_commits,
};
pub(crate) use random_values::{RandomValues, public_values, random_values};
pub(crate) use recomputed::recompute;
pub(crate) use repoint::{CopiesToLeave, Repointed, copies_to_leave, repointed};
pub(crate) use running::{ComparedApplication, Running, RunningComparison, RunningResult, compare_running};
pub(crate) use single::{Single, render_named};
pub(crate) use status::{BranchState, BranchStatus, Promotion, Restorable, Surveyed, problems, status, surveyed};
pub(crate) use vendor::{Inputs, Outputs, Rendering, inputs, outputs};
pub(crate) use verify::{Line, Verified, audited, lines, strayed, verify};
