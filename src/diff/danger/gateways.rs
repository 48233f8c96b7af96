//! Routes of the Gateway API: the listeners that they are for, and backends of other namespaces.

mod admission;

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::name;
use super::{Around, Danger, Severity, items};
use crate::diff::model::gateways::{is_gateway, listeners as listeners_of, takes};
use crate::diff::model::{Side, Through, hosts, number, word};
use crate::manifest::Manifest;

pub(super) use admission::{invalid, refused, revoked};

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
            let still = if users.len() == 1 { "still names it: it serves" } else { "still name it: they serve" };
            let names = listed(users, NAMED_MAX);
            found.push(danger(format!("listener `{gone}` removed, and {names} {still} nothing by it")));
        }
    }
    found
}

/// Listeners of a Gateway that get another port, and hosts that none of them takes any more while routes serve them.
///
/// Reference: gateway-api Listener `port`, `hostname`: a route is attached where a hostname of it and that of the listener intersect.
pub(super) fn unserved<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if !is_gateway(old) || !is_gateway(new) {
        return Vec::new();
    }
    let ports: BTreeSet<Option<i64>> = listeners_of(new, "").map(|one| number(one, &["port"])).collect();
    let mut found = Vec::new();
    for was in listeners_of(old, "") {
        let (name, port) = (word(was, &["name"]), number(was, &["port"]));
        let is_other = listeners_of(new, name).next().is_some() && !ports.contains(&port);
        if let Some(port) = port.filter(|_| is_other && !name.is_empty()) {
            let text = format!("port {port} of listener `{name}` removed: who connects to it is refused");
            let advice = "keep the old port beside the new one until nothing uses it";
            found.push(Danger::said(Severity::Outage, "portGone", text, advice));
        }
    }
    let home = around.after(new).namespace;
    let is_own = |[namespace, name, section]: &&[String; 3]| {
        // A listener that is not there is said of those who name it.
        namespace == home && name == new.name() && listeners_of(new, section).next().is_some()
    };
    let mut lost: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for route in around.model.after.all().iter().filter(|one| is_route(one.manifest)) {
        let Some(Through::Gateways(parents)) = Through::of(*route) else { continue };
        let takes =
            |side: &Side<'_>, host: &str| parents.iter().filter(is_own).any(|one| takes(side, one, host) == Some(true));
        let is_lost = |host: &&str| takes(&around.model.before, host) && !takes(&around.model.after, host);
        for host in hosts(route.manifest).into_iter().filter(is_lost) {
            lost.entry(host).or_default().insert(name(*route));
        }
    }
    let danger = |(host, routes): (&str, BTreeSet<String>)| {
        let serves = if routes.len() == 1 { "serves" } else { "serve" };
        let names = listed(routes, NAMED_MAX);
        let text = format!("no listener takes requests to {host} any more, which {names} {serves}");
        Danger::said(Severity::Outage, "hostGone", text, "keep a listener for the host")
    };
    found.extend(lost.into_iter().map(danger));
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
    // Those of Applications that do not change are known to be there, and not what they allow.
    let may_be_granted = |namespace: &str| around.model.after.has_beside("ReferenceGrant", namespace);
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
    let is_let_in = |namespace: &str| namespace == home || is_granted(namespace) || may_be_granted(namespace);
    let coming = named.iter().filter(|one| !was.contains(one) && !is_let_in(one.0));
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
