//! Answers about one dry tree, whatever the branches show.
//!
//! [`list()`] names its Applications, [`check()`] renders them and judges the objects, [`inputs()`] names what they need
//! from elsewhere, [`render_named()`] renders one of them. [`adopt()`] proposes settings for a repository as it is;
//! [`compare_running()`] compares with what a cluster runs.
//!
//! Never: a ref moves, or anything of hydration is used: neither its plans nor its notes.

mod adopt;
mod apps;
mod check;
mod running;
mod single;
mod vendor;

pub(crate) use adopt::{AdoptedApplication, Adoption, Asked, Cause, HydratorFile, Hydrators, adopt, source_hydrators};
pub(crate) use apps::{Listed, ListedApplication, application_sets, list, settings_of_makers, show};
pub(crate) use check::{CheckFinding, Checked, Rule, Tree, check};
pub(crate) use running::{ComparedApplication, Running, RunningComparison, RunningResult, compare_running};
pub(crate) use single::{Single, render_named};
pub(crate) use vendor::{Inputs, Outputs, Rendering, inputs, named_by, needs_of, outputs, wanted};
