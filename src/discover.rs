//! What a plan of hydration is made from, found without writing anything: the Applications of a dry tree, also those that
//! others make ([`Discovery`]), what differs between two dry trees ([`Changes`]), and what leaves a branch ([`removals`]).
//!
//! The plan of one dry commit, which says what is rendered and why, is the type `Plan` of `hydrate/plan.rs`.

mod barren;
mod changes;
mod discovery;
mod found;
mod reader;
mod removal;
mod searched;

pub(crate) use barren::BarrenFiles;
pub use changes::Changes;
pub use discovery::Discovery;
pub(crate) use discovery::{
    Again, Answered, Broken, Discovered, Expanded, FoundSet, Lists, MadeLimits, Makers, ParentFailure, RenderedParent,
    Renders, Unanswered, Unusable, expand_again, render_again,
};
pub(crate) use removal::{Counts, Destination, Losses, Objects, Removal, RemovalMistake, Why, removals};
pub(crate) use searched::{Searched, Unsearched};
