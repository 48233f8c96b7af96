//! Hosts that are served.

use super::{Around, Danger, Pruning, Severity, What};
use crate::diff::model::{Through, encrypts, hosts, served_by};
use crate::manifest::Manifest;

/// The hosts of an object that nothing serves any more.
pub(super) fn gone<'a>(old: Option<&'a Manifest>, new: Option<&'a Manifest>, around: &Around<'a>) -> Vec<Danger> {
    let Some(old) = old else { return Vec::new() };
    let Some(pruning) = fate(old, new, around) else { return Vec::new() };
    let through = Through::of(around.before(old));
    let is_served = |host: &str| around.model.after.serves(host, through.as_ref());
    let mut gone: Vec<&str> = hosts(old).into_iter().filter(|host| !host.is_empty() && !is_served(host)).collect();
    gone.sort_unstable();
    gone.dedup();
    let danger = |host: &str| {
        let danger = Danger::new(Severity::Outage, What::HostGone { host: host.to_owned() });
        pruning.map_or(danger.clone(), |pruning| danger.pruned(pruning))
    };
    gone.into_iter().map(danger).collect()
}

/// How an object goes, if it goes; none for one that is removed from git and stays in the cluster.
fn fate(old: &Manifest, new: Option<&Manifest>, around: &Around<'_>) -> Option<Option<Pruning>> {
    match (new, around.pruning.of(old)) {
        (Some(_), _) => Some(None),
        (None, pruning) => pruning.removes().then_some(Some(pruning)),
    }
}

/// The hosts of an object that it served over HTTPS, and that are served without it from now on.
pub(super) fn unencrypted<'a>(
    old: Option<&'a Manifest>,
    new: Option<&'a Manifest>,
    around: &Around<'a>,
) -> Vec<Danger> {
    let Some(old) = old.filter(|old| new != Some(*old)) else { return Vec::new() };
    let Some(pruning) = fate(old, new, around) else { return Vec::new() };
    let placed = around.before(old);
    let (before, after) = (&around.model.before, &around.model.after);
    let through = Through::of(placed);
    // Of an Ingress and a Route that stay it is said that their TLS goes.
    let is_said =
        |host: &str| new.is_some_and(|new| matches!(new.kind(), "Ingress" | "Route") && hosts(new).contains(&host));
    let is_lost = |host: &&str| {
        encrypts(placed, host, Some(before)) == Some(true)
            && !is_said(host)
            && after.serves(host, through.as_ref())
            && !after.serves_encrypted(host, through.as_ref())
    };
    let mut lost: Vec<&str> = hosts(old).into_iter().filter(|host| !host.is_empty()).filter(is_lost).collect();
    lost.sort_unstable();
    lost.dedup();
    let danger = |host: &str| {
        let text = format!("{host} is no longer served over HTTPS{}", served_by(placed));
        let danger = Danger::said(Severity::Outage, "httpsGone", text, "keep what serves it with TLS");
        pruning.map_or(danger.clone(), |pruning| danger.pruned(pruning))
    };
    lost.into_iter().map(danger).collect()
}
