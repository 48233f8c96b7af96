//! Endpoints that are written by hand, of Services without a selector.

use go_yaml::{Mapping, Value};

use super::around::service_type;
use super::{Around, Danger, Severity, items};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

/// The Service that some endpoints are of.
pub(super) fn service_of(object: &Manifest) -> Option<&str> {
    match (object.home_group(), object.kind()) {
        ("", "Endpoints") => Some(object.name()),
        ("discovery.k8s.io", "EndpointSlice") => {
            let name = word(object.object(), &["metadata", "labels", "kubernetes.io/service-name"]);
            Some(name).filter(|name| !name.is_empty())
        }
        _ => None,
    }
}

/// Whether endpoints have an address that requests are sent to.
///
/// Reference: kubernetes API EndpointConditions `ready`: no value is `true`.
fn has_address(object: &Manifest) -> bool {
    let value = object.object();
    match object.kind() {
        "Endpoints" => items(value, &["subsets"]).iter().any(|one| !items(one, &["addresses"]).is_empty()),
        _ => items(value, &["endpoints"]).iter().any(|one| {
            let is_ready = one.at(&["conditions", "ready"]).and_then(Value::as_bool) != Some(false);
            is_ready && !items(one, &["addresses"]).is_empty()
        }),
    }
}

pub(super) fn has_selector(service: &Manifest) -> bool {
    let labels = service.object().at(&["spec", "selector"]).and_then(Value::as_mapping);
    labels.is_some_and(|labels: &Mapping| !labels.is_empty())
}

fn answers(side: &Side<'_>, namespace: &str, service: &str) -> bool {
    let is_of = |one: &&Placed<'_>| one.namespace == namespace && service_of(one.manifest) == Some(service);
    side.all().iter().filter(is_of).any(|one| has_address(one.manifest))
}

/// Endpoints that go, or have no address any more, while nothing else has one for their Service.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "Services without selectors": no EndpointSlices are made for them.
pub(super) fn gone<'a>(old: &'a Manifest, new: Option<&'a Manifest>, around: &Around<'a>) -> Option<Danger> {
    let service = service_of(old).filter(|_| has_address(old))?;
    let pruning = around.pruning.of(old);
    let namespace = around.before(old).namespace;
    if new.is_none() && !pruning.removes() || answers(&around.model.after, namespace, service) {
        return None;
    }
    let mut services = around.model.after.of_kind("Service", namespace).map(|one| one.manifest);
    let known = services.find(|one| one.name() == service && one.home_group().is_empty())?;
    (!has_selector(known) && service_type(known) != "ExternalName").then(|| {
        let start = if new.is_none() { "removed: " } else { "" };
        let text = format!("{start}Service {service} has no selector and no other endpoints: nothing answers it");
        let danger =
            Danger::said(Severity::Outage, "unselected", text, "keep endpoints, or give the Service a selector");
        if new.is_none() { danger.pruned(pruning) } else { danger }
    })
}
