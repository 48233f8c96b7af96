//! Decisions as data, made without writing anything: which Applications there are, and what leaves a branch.

mod changes;
mod discover;
mod reader;
mod removal;

pub use changes::Changes;
pub use discover::{Broken, Discovered, Discovery};
pub use removal::{Counts, Destination, Losses, Objects, Removal, RemovalMistake, removals};
