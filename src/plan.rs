//! Decisions as data, made without writing anything: which Applications there are, also those that others make, and what
//! leaves a branch.

mod changes;
mod discover;
mod make;
mod reader;
mod removal;

pub use changes::Changes;
pub use discover::{Broken, Discovered, Discovery, Unusable};
pub use make::{
    Again, Answered, Expanded, FoundSet, Lists, MadeLimits, Makers, Rendered, Renders, Unanswered, Unrendered,
    expand_again, render_again,
};
pub use removal::{Counts, Destination, Losses, Objects, Removal, removals};
