//! Hosts that are served.

use super::{Around, Danger, Severity, What};
use crate::diff::model::{Through, hosts};
use crate::manifest::Manifest;

/// The hosts of an object that nothing serves any more.
pub(super) fn gone<'a>(old: Option<&'a Manifest>, new: Option<&'a Manifest>, around: &Around<'a>) -> Vec<Danger> {
    let Some(old) = old else { return Vec::new() };
    let pruning = match new {
        Some(_) => None,
        None => Some(around.pruning.of(old)),
    };
    if pruning.is_some_and(|pruning| !pruning.removes()) {
        return Vec::new();
    }
    let through = Through::of(around.before(old));
    let is_served = |host: &str| around.model.after.serves(host, through.as_ref());
    let mut gone: Vec<&str> = hosts(old).into_iter().filter(|host| !host.is_empty() && !is_served(host)).collect();
    gone.sort_unstable();
    gone.dedup();
    let danger =
        |host: &str| Danger { pruning, ..Danger::new(Severity::Outage, What::HostGone { host: host.to_owned() }) };
    gone.into_iter().map(danger).collect()
}
