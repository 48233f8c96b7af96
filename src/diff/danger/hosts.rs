//! Hosts that are served.

use super::{Around, Danger, Severity, What, items, text};
use crate::manifest::Manifest;
use crate::yaml::Value;

/// The hosts that an object serves: those of an Ingress, a route of the Gateway API, a Route of OpenShift.
pub(super) fn of(manifest: &Manifest) -> Vec<&str> {
    let object = manifest.object();
    match (manifest.group(), manifest.kind()) {
        ("networking.k8s.io" | "extensions", "Ingress") => {
            let rules = items(object, &["spec", "rules"]).iter();
            rules.filter_map(|rule| rule.get("host").and_then(Value::as_str)).collect()
        }
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute" | "TLSRoute") => {
            items(object, &["spec", "hostnames"]).iter().filter_map(Value::as_str).collect()
        }
        ("route.openshift.io", "Route") => Some(text(manifest, &["spec", "host"])).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The hosts of an object that nothing serves any more.
pub(super) fn gone(old: Option<&Manifest>, new: Option<&Manifest>, around: &Around<'_>) -> Vec<Danger> {
    let Some(old) = old else { return Vec::new() };
    let pruning = match new {
        Some(_) => None,
        None => Some(around.pruning.of(old)),
    };
    if pruning.is_some_and(|pruning| !pruning.removes()) {
        return Vec::new();
    }
    let mut gone: Vec<&str> = of(old).into_iter().filter(|host| !host.is_empty() && !around.serves(host)).collect();
    gone.sort_unstable();
    gone.dedup();
    let danger =
        |host: &str| Danger { severity: Severity::Outage, what: What::HostGone { host: host.to_owned() }, pruning };
    gone.into_iter().map(danger).collect()
}
