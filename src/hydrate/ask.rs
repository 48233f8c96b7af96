//! What answers questions. Nothing here moves a ref.
//!
//! About the branches as they are: [`status()`], [`history`](History), [`explain()`], [`verify()`], [`recompute()`].
//! About what hydrating would do:
//! [`plan()`] renders nothing, [`preview()`] hydrates in memory. About one dry tree, whatever the branches show: [`list()`],
//! [`check()`], [`adopt()`].

mod adopt;
mod apps;
mod check;
mod explain;
mod foreign;
mod history;
mod planned;
mod preview;
mod recomputed;
mod repoint;
mod single;
mod status;
mod vendor;
mod verify;

pub use adopt::{AdoptedApplication, Adoption, Asked, Cause, Unnamed, adopt};
pub use apps::{Listed, ListedApplication, application_sets, list, settings_of_makers, show};
pub use check::{CheckFinding, Checked, Rule, Tree, check};
pub use explain::{Candidate, DryOrigin, ExplainError, Explanation, KindName, Object, Subject, explain, objects};
pub use foreign::{ForeignBranch, foreign};
pub use history::{Entry, History, ObjectCounts, PathChange, Selection, is_hydrated};
pub use planned::{Planned, PlannedBranch, PlannedFrozen, PlannedRender, PlannedWhy, plan};
pub use preview::{
    Against, End, FormerApplication, InputChange, LikeBranch, MergeBase, Preview, PreviewedBranch, PreviewedPath,
    is_production, preview,
};
pub use recomputed::recompute;
pub use repoint::{Repointed, repointed};
pub use single::{Single, render_named};
pub use status::{BranchState, BranchStatus, Promotion, Restorable, problems, status};
pub use vendor::{Inputs, Outputs, Rendering, inputs, outputs};
pub use verify::{Line, Verified, audited, lines, strayed, verify};
