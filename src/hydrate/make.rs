//! From what a plan asks for to commits in memory: renders, encodes, and makes what a branch shall have.
//!
//! Each branch is a [`Branch`](branch::Branch), which takes what was rendered ([`mod@rendered`]) as [`commits`]. What an admin or a
//! pusher is warned of on the way has a file each.

pub(crate) mod branch;
mod checked;
pub(crate) mod commits;
pub(crate) mod definitions;
pub(crate) mod documents;
pub(crate) mod excerpts;
pub(crate) mod ineffective;
pub(crate) mod losses;
mod lost_keys;
pub(crate) mod manifest_of;
mod new_secrets;
mod nothing;
pub(crate) mod objects;
pub(crate) mod output;
mod overwritten;
pub(crate) mod refused;
pub(crate) mod rendered;
pub(crate) mod seeds;
pub(crate) mod shared_objects;
pub(crate) mod takeover;
mod unnamed_releases;
mod untouched;
mod waits;
