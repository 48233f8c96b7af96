//! Decisions as data, made without writing anything: which Applications there are, also those that others make, and what
//! leaves a branch.

mod barren;
mod changes;
mod discover;
mod reader;
mod removal;

pub(crate) use barren::BarrenFiles;
pub use changes::Changes;
pub use discover::Discovery;
pub(crate) use discover::{
    Again, Answered, Broken, Discovered, Expanded, FoundSet, Lists, MadeLimits, Makers, Rendered, Renders, Unanswered,
    Unrendered, Unusable, expand_again, render_again,
};
pub(crate) use removal::{Counts, Destination, Losses, Objects, Removal, removals};
