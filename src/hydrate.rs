//! What writes: from the refs as they are to the refs as they shall be.
//!
//! A wake-up says only that something may have happened. Under the repository's lock, [`hydrate()`] reads the refs as they
//! are, finds for each environment branch the first-parent dry commits that it has not seen, hydrates them in order, and
//! moves all branches and notes in one transaction. When somebody else moved a ref meanwhile it starts again from the
//! state then.
//!
//! [`pipeline`] leads through it. Each dry commit becomes a [`Plan`](plan::Plan) ([`plan`]), by what changed since the cache
//! was written or by a look at everything; what it asks for is rendered and committed in memory ([`make`]); what all dry
//! commits leave is a list of [`moves`]. The branch of copies comes last ([`copies`]). [`gate`] judges a push before it goes
//! in, by the same means.
//!
//! Never: a branch moves although one of its Applications failed, unless a setting leaves that one behind
//! ([`skipped`](plan::skipped)); a commit depends on anything but its parent, its dry commit and branch, the settings and the
//! engine; a file that somebody else put on a branch is touched.

mod barren;
pub(crate) mod copies;
mod deleted;
pub(crate) mod dry_tree;
mod failed_render;
pub(crate) mod gate;
mod held;
mod held_failures;
mod learn;
pub(crate) mod make;
pub(crate) mod memory;
mod moves;
mod other_branches;
mod pipeline;
pub(crate) mod plan;
mod recorded;
pub(crate) mod report;
mod reported;
mod request;
pub(crate) mod rollback;
pub(crate) mod run;
pub(crate) mod state;
pub(crate) mod stopped;
pub(crate) mod survey;
pub(crate) mod whose;

pub(crate) use gate::*;
pub(crate) use held::{HeldAlone, name_holds};
pub(crate) use moves::pusher_of;
pub use plan::lost_objects::{Comparison, Side, missing_in};
pub(crate) use recorded::record_branches;
pub(crate) use report::{Aside, BehindPath, BranchReport, Frozen, Skipped};
pub use report::{Outcome, Report};
pub use request::CommitRequest;
pub(crate) use request::commit;
pub use run::hydrate;
pub(crate) use run::{
    Again, first_settings, hydrate_again, hydrate_seen, lock, lock_holder, lock_path, resumes_to, settle,
};
pub(crate) use survey::{Survey, check_settings_ref, hydrates_alike, survey};
pub(crate) use whose::DryPoint;

#[cfg(test)]
mod tests;
