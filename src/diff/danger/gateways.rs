//! Routes of the Gateway API: the listeners that they are for, and backends of other namespaces.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::name;
use super::{Around, Danger, Severity, items};
use crate::diff::model::{Side, word};
use crate::manifest::Manifest;

/// How many routes are named.
const NAMED_MAX: usize = 4;

fn is_route(object: &Manifest) -> bool {
    object.home_group() == "gateway.networking.k8s.io" && object.kind().ends_with("Route")
}

/// A listener that a route names.
#[derive(PartialEq)]
struct Listener<'m> {
    namespace: &'m str,
    gateway: &'m str,
    name: &'m str,
}

/// The listeners that a route of a namespace names.
fn listeners<'m>(route: &'m Manifest, namespace: &'m str) -> Vec<Listener<'m>> {
    let parents = items(route.object(), &["spec", "parentRefs"]).iter();
    let parents = parents.filter(|parent| matches!(word(parent, &["kind"]), "" | "Gateway"));
    let listener = |parent: &'m Value| Listener {
        namespace: if word(parent, &["namespace"]).is_empty() { namespace } else { word(parent, &["namespace"]) },
        gateway: word(parent, &["name"]),
        name: word(parent, &["sectionName"]),
    };
    parents.map(listener).filter(|listener| !listener.name.is_empty()).collect()
}

/// Whether a Gateway that is known lacks a listener.
fn lacks(side: &Side<'_>, listener: &Listener<'_>) -> bool {
    let gateways = side.of_kind("Gateway", listener.namespace).map(|one| one.manifest);
    let mut gateways = gateways.filter(|one| is_gateway(one) && one.name() == listener.gateway).peekable();
    gateways.peek().is_some() && !gateways.any(|gateway| names(gateway).contains(listener.name))
}

fn is_gateway(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("gateway.networking.k8s.io", "Gateway")
}

fn names(gateway: &Manifest) -> BTreeSet<&str> {
    items(gateway.object(), &["spec", "listeners"]).iter().map(|listener| word(listener, &["name"])).collect()
}

/// A route that names a listener which its Gateway does not have, and a Gateway that loses a listener which routes name.
///
/// Reference: gateway-api ParentReference `sectionName`: a route attaches to the listener of that name, and to none without it.
pub(super) fn unattached<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let advice = "keep one name for the listener in both";
    let danger = |text| Danger::said(Severity::Outage, "noListener", text, advice);
    if is_route(new) {
        let was = old.map(|old| listeners(old, around.before(old).namespace)).unwrap_or_default();
        let now = listeners(new, around.after(new).namespace).into_iter();
        let text = |one: Listener<'a>| {
            format!(
                "names listener `{}` of Gateway {}, which has none of that name: it serves nothing",
                one.name, one.gateway
            )
        };
        return now
            .filter(|listener| !was.contains(listener) && lacks(&around.model.after, listener))
            .map(|listener| danger(text(listener)))
            .collect();
    }
    let Some(old) = old.filter(|old| is_gateway(old) && is_gateway(new)) else { return Vec::new() };
    let (before, after) = (names(old), names(new));
    let namespace = around.after(new).namespace;
    let mut found = Vec::new();
    for gone in before.difference(&after) {
        let wanted = Listener { namespace, gateway: new.name(), name: gone };
        let routes = around.model.after.all().iter().filter(|one| is_route(one.manifest));
        let users = routes.filter(|one| listeners(one.manifest, one.namespace).contains(&wanted));
        let users: BTreeSet<String> = users.map(|one| name(*one)).collect();
        if !users.is_empty() {
            let names = listed(users, NAMED_MAX);
            found.push(danger(format!(
                "listener `{gone}` removed, and {names} still name it: they serve nothing by it"
            )));
        }
    }
    found
}

/// A backend of another namespace that a route did not name before, and no ReferenceGrant that allows it.
///
/// Reference: gateway-api docs, ReferenceGrant: without one in the namespace of the backend, a route answers 500.
pub(super) fn ungranted<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if !is_route(new) {
        return Vec::new();
    }
    let home = around.after(new).namespace;
    let was = old.map(elsewhere).unwrap_or_default();
    let is_granted = |namespace: &str| {
        let mut grants = around.model.after.of_kind("ReferenceGrant", namespace);
        grants.any(|grant| {
            let from = items(grant.manifest.object(), &["spec", "from"]).iter();
            let mut from = from.filter(|from| word(from, &["kind"]) == new.kind());
            from.any(|from| word(from, &["namespace"]) == home)
        })
    };
    let danger = |(namespace, service): &(&str, &str)| {
        let text = format!(
            "names Service {service} of namespace {namespace}, which needs a ReferenceGrant there, and none is here: without it, requests fail"
        );
        let advice = "check that this namespace has a ReferenceGrant for it";
        Danger::said(Severity::Other, "ungranted", text, advice)
    };
    let named = elsewhere(new);
    let coming = named.iter().filter(|one| !was.contains(one) && one.0 != home && !is_granted(one.0));
    coming.map(danger).collect()
}

/// The Services of other namespaces that a route names, with these.
fn elsewhere(route: &Manifest) -> BTreeSet<(&str, &str)> {
    let rules = items(route.object(), &["spec", "rules"]).iter();
    let backends = rules.flat_map(|rule| items(rule, &["backendRefs"]));
    let backends = backends.filter(|one| matches!(word(one, &["kind"]), "" | "Service"));
    let named = backends.map(|one| (word(one, &["namespace"]), word(one, &["name"])));
    named.filter(|(namespace, _)| !namespace.is_empty()).collect()
}
