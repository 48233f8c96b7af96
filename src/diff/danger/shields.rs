//! Objects of other controllers that keep requests away from Pods and routes.

mod denied;
mod requests;
mod targets;

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::{Mapping, Value};

use super::{Around, Danger, Severity, What, gates, items, linkerd};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

pub(super) use denied::changed as denied;
pub(super) use requests::unchecked;
pub(super) use targets::{left, untargeted};

/// How many ports are named.
const PORTS_MAX: usize = 4;

/// Such kinds: group, kind, where the selector of their Pods is, and what is so without them.
///
/// Reference: docs.cilium.io security/policy; docs.tigera.io calico reference/resources/networkpolicy; istio.io
/// docs/reference/config/security/request_authentication; gateway.envoyproxy.io docs/api/extension_types `SecurityPolicy`; linkerd.io
/// docs/reference/authorization-policy.
const SHIELDS: [(&str, &str, &[&str], &str); 9] = [
    ("cilium.io", "CiliumNetworkPolicy", &["spec", "endpointSelector"], CONNECTIONS),
    ("cilium.io", "CiliumClusterwideNetworkPolicy", &[], CONNECTIONS),
    ("projectcalico.org", "NetworkPolicy", &[], CONNECTIONS),
    ("projectcalico.org", "GlobalNetworkPolicy", &[], CONNECTIONS),
    ("crd.projectcalico.org", "NetworkPolicy", &[], CONNECTIONS),
    ("crd.projectcalico.org", "GlobalNetworkPolicy", &[], CONNECTIONS),
    (
        "security.istio.io",
        "RequestAuthentication",
        &["spec", "selector"],
        "removed: tokens of requests are not checked",
    ),
    (
        "policy.linkerd.io",
        "Server",
        &["spec", "podSelector"],
        "removed: connections that it kept from its Pods are allowed, unless the default policy denies them",
    ),
    ("gateway.envoyproxy.io", "SecurityPolicy", &[], "removed: requests that it kept from its routes are allowed"),
];

const CONNECTIONS: &str = "removed: connections that it kept from its Pods are allowed";

fn row(object: &Manifest) -> Option<(&'static [&'static str], &'static str)> {
    let is_it =
        |(group, kind, ..): &&(&str, &str, &[&str], &str)| (*group, *kind) == (object.home_group(), object.kind());
    SHIELDS.iter().find(is_it).map(|(.., selector, loss)| (*selector, *loss))
}

/// One that goes, where none of its sort comes in its namespace, and what it is for stays as far as that is known.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (selector, loss) = row(old).filter(|_| old.kind() != "Server" || linkerd::restricts(old))?;
    let (placed, pruning) = (around.before(old), around.pruning.of(old));
    // Kinds of one sort take each other's place.
    let is_like = |other: &Manifest| match loss {
        CONNECTIONS => other.kind().ends_with("NetworkPolicy"),
        _ => (other.home_group(), other.kind()) == (old.home_group(), old.kind()),
    };
    let is_same = |other: &Placed<'_>| is_like(other.manifest) && other.namespace == placed.namespace;
    let comes = |other: &Placed<'_>| is_same(other) && around.model.before.find(*other).is_none();
    let is_replaced = around.model.after.all().iter().any(comes) || gates::is_doubled(old, around);
    let pods = old.object().at(selector).filter(|_| !selector.is_empty());
    let are_gone = pods.is_some_and(|pods| around.are_pods_gone(placed.namespace, Some(pods)));
    let is_lost = pruning.removes() && !is_replaced && !are_gone && !are_targets_gone(placed, around);
    is_lost.then(|| Danger::new(Severity::Security, What::Unprotected { loss }).pruned(pruning))
}

/// Whether all objects that one names as its targets were known, and go too.
fn are_targets_gone(placed: Placed<'_>, around: &Around<'_>) -> bool {
    let object = placed.manifest.object();
    let targets: Vec<&Value> =
        items(object, &["spec", "targetRefs"]).iter().chain(object.at(&["spec", "targetRef"])).collect();
    let is_there = |all: &[Placed<'_>], target: &Value| {
        all.iter().any(|one| {
            let named = (one.manifest.kind(), one.manifest.name(), one.namespace);
            named == (word(target, &["kind"]), word(target, &["name"]), placed.namespace)
        })
    };
    let (before, after) = (around.model.before.all(), around.model.after.all());
    !targets.is_empty() && targets.into_iter().all(|target| is_there(before, target) && !is_there(after, target))
}

/// A rule of a policy of Cilium that is for many: the list that it is in, what is in it, and what is so with it.
struct Opening {
    rules: &'static str,
    peers: &'static str,
    /// An entity; a pattern of names; `{}` for an empty selector and `/0` for all addresses.
    all: &'static str,
    loss: &'static str,
}

const fn opening(rules: &'static str, peers: &'static str, all: &'static str, loss: &'static str) -> Opening {
    Opening { rules, peers, all, loss }
}

/// The widest last.
///
/// Reference: docs.cilium.io security/policy/language: an empty selector is for all endpoints that Cilium manages; entities `all`,
/// `world`, `cluster`; "IP/CIDR based", "DNS based".
const OPENINGS: [Opening; 14] = [
    opening("ingress", "fromEndpoints", "{}", "all Pods may connect to its Pods"),
    opening("ingress", "fromEntities", "cluster", "all of the cluster may connect to its Pods"),
    opening("ingress", "fromEntities", "world", "everybody outside of the cluster may connect to its Pods"),
    opening("ingress", "fromCIDR", "/0", EVERYBODY),
    opening("ingress", "fromCIDRSet", "/0", EVERYBODY),
    opening("ingress", "fromEntities", "all", "everybody may connect to its Pods"),
    opening("egress", "toEndpoints", "{}", "its Pods may connect to all Pods"),
    opening("egress", "toEntities", "cluster", "its Pods may connect to all of the cluster"),
    opening("egress", "toFQDNs", "*", "its Pods may connect to every name"),
    opening("egress", "toFQDNs", "**", "its Pods may connect to every name"),
    opening("egress", "toEntities", "world", EVERYWHERE),
    opening("egress", "toCIDR", "/0", EVERYWHERE),
    opening("egress", "toCIDRSet", "/0", EVERYWHERE),
    opening("egress", "toEntities", "all", "its Pods may connect to everything"),
];

const EVERYBODY: &str = "every address outside of the cluster may connect to its Pods";
const EVERYWHERE: &str = "its Pods may connect to everything outside of the cluster";

impl Opening {
    fn is_in(&self, policy: &Manifest) -> bool {
        rules(policy, self.rules).flat_map(|rule| items(rule, &[self.peers])).any(|peer| self.is(peer))
    }

    /// ` on 443/TCP`, where all rules that are for so many are for some ports.
    fn at_ports(&self, policy: &Manifest) -> String {
        let mut shown = BTreeSet::new();
        for rule in rules(policy, self.rules).filter(|rule| items(rule, &[self.peers]).iter().any(|peer| self.is(peer)))
        {
            let ports: Vec<&Value> = items(rule, &["toPorts"]).iter().flat_map(|one| items(one, &["ports"])).collect();
            if ports.is_empty() {
                return String::new();
            }
            shown.extend(ports.into_iter().map(|port| {
                let number = match port.get("port") {
                    Some(Value::Int(number)) => number.to_string(),
                    number => number.and_then(Value::as_str).unwrap_or("any port").to_owned(),
                };
                match word(port, &["protocol"]) {
                    "" | "ANY" => number,
                    protocol => format!("{number}/{protocol}"),
                }
            }));
        }
        format!(" on {}", listed(shown, PORTS_MAX))
    }

    fn is(&self, peer: &Value) -> bool {
        let is_empty = |part: &Value| part.as_mapping().is_some_and(Mapping::is_empty);
        match (self.all, peer) {
            ("{}", Value::Mapping(selector)) => selector.values().all(is_empty),
            ("/0", Value::Mapping(_)) => items(peer, &["except"]).is_empty() && word(peer, &["cidr"]).ends_with("/0"),
            ("/0", peer) => peer.as_str().is_some_and(|range| range.ends_with("/0")),
            (all, Value::Mapping(_)) => word(peer, &["matchPattern"]) == all,
            (all, peer) => peer.as_str() == Some(all),
        }
    }
}

/// The rules of a policy of Cilium in one direction.
fn rules<'m>(policy: &'m Manifest, direction: &'m str) -> impl Iterator<Item = &'m Value> {
    let specs = policy.object().get("spec").into_iter().chain(items(policy.object(), &["specs"]));
    specs.flat_map(move |spec| items(spec, &[direction]))
}

/// A policy of Cilium that lets more through from now on: all Pods or everyone in, or its Pods out to everything.
pub(super) fn opened(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if new.home_group() != "cilium.io" || !new.kind().ends_with("NetworkPolicy") {
        return Vec::new();
    }
    let ways = [("ingress", "name those who may connect"), ("egress", "name what they may connect to")];
    let danger = |(direction, advice): (&str, &'static str)| {
        // Without a rule of this direction, it kept nothing away in it.
        let was_closed = || direction == "ingress" || rules(old, direction).next().is_some();
        let is_gained = |one: &&Opening| one.rules == direction && one.is_in(new) && !one.is_in(old);
        let opening = OPENINGS.iter().rev().find(is_gained).filter(|_| was_closed())?;
        let was_so = OPENINGS.iter().any(|one| one.loss == opening.loss && one.is_in(old));
        let text = format!("{}{}", opening.loss, opening.at_ports(new));
        (!was_so).then(|| Danger::said(Severity::Security, "unprotected", text, advice))
    };
    ways.into_iter().filter_map(danger).collect()
}

/// Headers by which browsers keep users safe, in a middleware of Traefik, that are no longer sent.
///
/// Reference: doc.traefik.io reference/routing-configuration/http/middlewares/headers.
const HEADERS: [&str; 6] = [
    "stsSeconds",
    "frameDeny",
    "contentTypeNosniff",
    "contentSecurityPolicy",
    "customFrameOptionsValue",
    "sslRedirect",
];

pub(super) fn unheaded(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = matches!(new.home_group(), "traefik.io" | "traefik.containo.us") && new.kind() == "Middleware";
    let is_set = |object: &Manifest, key: &str| match object.object().at(&["spec", "headers", key]) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::Int(number)) => *number > 0,
        value => value.is_some_and(|value| !value.is_null()),
    };
    let gone: Vec<&str> = HEADERS.iter().copied().filter(|key| is_set(old, key) && !is_set(new, key)).collect();
    (is_it && !gone.is_empty()).then(|| {
        let text = format!("no longer sends the headers of {}: browsers keep users less safe", listed(gone, PORTS_MAX));
        Danger::said(Severity::Security, "unguarded", text, "keep them, unless Pods send them")
    })
}

/// Routes that lose all of their middlewares, or one that keeps requests away.
///
/// Reference: doc.traefik.io reference/routing-configuration/kubernetes/crd/http/ingressroute.
pub(super) fn uncovered<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let home = around.after(new).namespace;
    let all = |object: &'_ Manifest| -> Vec<(String, BTreeSet<[String; 2]>)> {
        let place = |one: &Value| {
            let namespace = match word(one, &["namespace"]) {
                "" => home,
                namespace => namespace,
            };
            [namespace, word(one, &["name"])].map(str::to_owned)
        };
        match (object.home_group(), object.kind()) {
            ("traefik.io" | "traefik.containo.us", "IngressRoute") => {
                let routes = items(object.object(), &["spec", "routes"]).iter();
                let route = |one: &Value| {
                    let named = items(one, &["middlewares"]).iter().map(place).collect();
                    (word(one, &["match"]).to_owned(), named)
                };
                routes.map(route).collect()
            }
            ("networking.k8s.io", "Ingress") => {
                let key = "traefik.ingress.kubernetes.io/router.middlewares";
                let names = word(object.object(), &["metadata", "annotations", key]).split(',');
                let names = names.filter_map(|name| name.trim().strip_suffix("@kubernetescrd"));
                let own = names.filter_map(|name| name.strip_prefix(home)?.strip_prefix('-'));
                vec![("its rules".to_owned(), own.map(|name| [home, name].map(str::to_owned)).collect())]
            }
            _ => Vec::new(),
        }
    };
    let now = all(new);
    let guards = |side: &Side<'a>, [namespace, name]: &[String; 2]| {
        let mut known = side
            .all()
            .iter()
            .filter(|one| (one.manifest.kind(), one.manifest.name(), one.namespace) == ("Middleware", name, namespace));
        known.any(|one| GUARDING.iter().any(|key| one.manifest.object().at(&["spec", key]).is_some()))
    };
    for (rule, was) in all(old) {
        let Some((_, is)) = now.iter().find(|(other, _)| *other == rule) else { continue };
        let is_route = new.kind() == "IngressRoute";
        // That an Ingress has none any more is said of its annotation.
        if !is_route && is.is_empty() {
            continue;
        }
        let gone = was.difference(is).find(|one| guards(&around.model.before, one));
        let comes = is.difference(&was).any(|one| guards(&around.model.after, one));
        let text = match gone.filter(|_| !comes) {
            _ if is_route && !was.is_empty() && is.is_empty() => {
                format!("`middlewares` of {rule} removed: they no longer see requests")
            }
            Some([_, name]) => format!("middleware {name} of {rule} removed: it no longer keeps requests away"),
            None => continue,
        };
        let advice = "keep them, or what does their work elsewhere";
        return Some(Danger::said(Severity::Security, "unprotected", text, advice));
    }
    None
}

/// What a middleware of Traefik has that keeps requests away.
///
/// Reference: doc.traefik.io reference/routing-configuration/http/middlewares/overview.
const GUARDING: [&str; 8] = [
    "basicAuth",
    "digestAuth",
    "forwardAuth",
    "ipAllowList",
    "ipWhiteList",
    "rateLimit",
    "inFlightReq",
    "passTLSClientCert",
];
