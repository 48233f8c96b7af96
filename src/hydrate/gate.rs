//! What judges a push before it goes in: whether the pusher may move these refs ([`guard()`]), whether hydration could work
//! with pushed settings, and in strict mode whether what is pushed hydrates ([`judge`]).

mod access;
mod foreseen;
mod guard;
mod settings;
mod strict;

pub(crate) use access::{Access, SHOWING, naming_branches, naming_promoter};
pub(crate) use foreseen::fulfil;
pub(crate) use guard::{RefUpdate, Search, guard, stale};
pub(crate) use settings::{released, unusable_settings};
pub(crate) use strict::{DAY, Judgement, Push, Strictness, judge};
