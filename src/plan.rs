//! Decisions as data, made without writing anything: which Applications there are, also those that others make, and what
//! leaves a branch.

mod changes;
mod discover;
mod reader;
mod removal;

pub use changes::Changes;
pub use discover::{
    Again, Answered, Broken, Discovered, Discovery, Expanded, FoundSet, Lists, MadeLimits, Makers, Rendered, Renders,
    Unanswered, Unrendered, Unusable, expand_again, render_again,
};
pub use removal::{Counts, Destination, Losses, Objects, Removal, removals};
