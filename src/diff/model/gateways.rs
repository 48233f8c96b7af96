//! The listeners of Gateways, and the hosts that they take.

use go_yaml::Value;

use super::domain::is_for;
use super::{Side, items, word};
use crate::manifest::Manifest;

/// Whether an object is a Gateway of the Gateway API.
pub(in crate::diff) fn is_gateway(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("gateway.networking.k8s.io", "Gateway")
}

/// The listeners of a Gateway, or the one of a name.
pub(in crate::diff) fn listeners<'m>(gateway: &'m Manifest, name: &str) -> impl Iterator<Item = &'m Value> {
    let all = items(gateway.object(), &["spec", "listeners"]).iter();
    all.filter(move |listener| name.is_empty() || word(listener, &["name"]) == name)
}

/// Whether a host and that of a listener have requests in common: one of them may be a pattern.
///
/// Reference: gateway-api Listener `hostname`: routes are attached where hostnames intersect.
pub(in crate::diff) fn meets(listener: &Value, host: &str) -> bool {
    let own = word(listener, &["hostname"]);
    is_for(own, true, host) || is_for(host, true, own)
}

/// Whether a listener takes requests to a host; none where its Gateway is not known.
pub(in crate::diff) fn takes(side: &Side<'_>, [namespace, name, section]: &[String; 3], host: &str) -> Option<bool> {
    let gateways = side.of_kind("Gateway", namespace).map(|one| one.manifest);
    let gateway = gateways.filter(|one| is_gateway(one)).find(|one| one.name() == name)?;
    Some(listeners(gateway, section).any(|listener| meets(listener, host)))
}
