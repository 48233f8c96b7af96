//! Rendering that may end its process: what it may take along, and who goes on.
//!
//! [`wall`] starts this program once more, [`apart`] renders each Application in a process of its own, [`late`] remembers
//! what took too long, [`fence`] counts what renders at a time.

pub(super) mod apart;
pub(super) mod fence;
pub(super) mod late;
pub(crate) mod wall;

pub(crate) use apart::{ARGUMENT, main};
