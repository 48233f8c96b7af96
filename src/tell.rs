//! From the outside to a hydration and back: what starts one, and who hears of it.
//!
//! git's hooks start one on a server ([`hook`]), a job starts one in a clone ([`worker`]). Inputs that are not here a server may
//! [`fetch`]. Afterwards the pusher has read a
//! summary, the forge is told which branches moved ([`forge`]), other repositories get what was hydrated for them
//! ([`outbox`]), and the command of `hydrate.notify` gets the report ([`notify`]).

pub(crate) mod fetch;
pub(crate) mod forge;
pub(crate) mod hook;
pub(crate) mod notify;
pub(crate) mod outbox;
pub(crate) mod worker;
