//! Where requests go: shares that shift, paths that go, addresses that change.

use std::collections::{BTreeMap, BTreeSet};

use go_yaml::Value;

use super::around::{self, service_type, services};
use super::{Around, Danger, Severity, addresses, items, mesh, network};
use crate::diff::model::{Placed, Route, Side, Through, hosts, ingress_class, is_for, number, routes, word};
use crate::manifest::Manifest;

/// From which change of a share on it is worth a word, in percent of all requests.
const SHARE_MIN: f64 = 1.0;

/// Rules whose backends get another share, and paths that nothing serves any more.
pub(super) fn shifted<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let (before, after) = (routes(around.before(old)), routes(around.after(new)));
    let mut found = Vec::new();
    // Another object may have the rule now, for the same gateways.
    let is_other = |was: &&Route| !around.model.after.routes().any(|now| now == *was);
    for was in before.iter().filter(is_other) {
        let is_rule = |now: &&Route| now.matches == was.matches;
        let mut by_gateway = around.model.after.routes().filter(|now| is_rule(now) && now.through == was.through);
        match by_gateway.next().or_else(|| after.iter().find(is_rule)) {
            Some(now) => {
                let is_same =
                    are_same_pods((was, around.before(old).namespace), (now, around.after(new).namespace), around);
                found.extend(share(was, now).filter(|_| !is_same));
                found.extend(subpaths_gone(was, &after, &around.model.after));
            }
            None => found.extend(path_gone(was, new, around)),
        }
    }
    found
}

/// Whether the Pods that get requests are those that got them, whatever their Services are called.
fn are_same_pods((was, home): (&Route, &str), (now, namespace): (&Route, &str), around: &Around<'_>) -> bool {
    let (before, after) = (&around.model.before, &around.model.after);
    let is_same = |one: Option<Shares>, other: Option<Shares>| one.is_some() && one == other;
    home == namespace
        && (is_same(by_pods(was, home, before), by_pods(now, namespace, after))
            || is_same(by_labels(was, home, before), by_labels(now, namespace, after)))
}

/// Shares in whole percent, by what gets them.
type Shares = BTreeMap<Vec<String>, i64>;

/// The shares by hosts and the labels of their subsets, whatever these are called. None where the labels are not known.
fn by_labels(route: &Route, namespace: &str, side: &Side<'_>) -> Option<Shares> {
    let mut shares = BTreeMap::new();
    for (backend, share) in &route.shares {
        let (host, subset) = backend.split_once(" subset ")?;
        let labels = mesh::subset_labels([host, subset], namespace, side)?;
        *shares.entry([vec![host.to_owned()], labels].concat()).or_insert(0) += percent(*share);
    }
    (!shares.is_empty()).then_some(shares)
}

#[expect(clippy::cast_possible_truncation, reason = "a share is at most 100")]
fn percent(share: f64) -> i64 {
    share.round() as i64
}

/// The shares, in whole percent, by the workloads that get them. None where these are not known, or a controller moves requests
/// between Services of one selector.
fn by_pods(route: &Route, namespace: &str, side: &Side<'_>) -> Option<Shares> {
    let mut shares = BTreeMap::new();
    for (backend, share) in &route.shares {
        let service = side.of_kind("Service", namespace).find(|one| one.manifest.name() == *backend)?;
        let pods = side.served_by(service);
        if pods.is_empty() || pods.iter().any(|one| one.manifest.kind() == "Rollout") {
            return None;
        }
        let mut names: Vec<String> = pods.into_iter().map(around::name).collect();
        names.sort();
        *shares.entry(names).or_insert(0) += percent(*share);
    }
    (!shares.is_empty()).then_some(shares)
}

fn share(was: &Route, now: &Route) -> Option<Danger> {
    let get = |route: &Route, backend: &str| route.shares.get(backend).copied().unwrap_or_default();
    let mut backends: Vec<&String> = was.shares.keys().chain(now.shares.keys()).collect();
    backends.sort();
    backends.dedup();
    let shift = |backend: &String| {
        let (from, to) = (get(was, backend), get(now, backend));
        let subject = if backend.is_empty() { "no backend" } else { backend };
        ((from - to).abs() >= SHARE_MIN).then(|| format!("{subject} {from:.0}% → {to:.0}%"))
    };
    let shifts: Vec<String> = backends.into_iter().filter_map(shift).collect();
    if now.is_dead && !was.is_dead {
        let text = format!("requests to {} go nowhere: none of its backends gets a share", was.matches);
        return Some(Danger::said(Severity::Outage, "traffic", text, "keep a backend with a weight above 0"));
    }
    (!shifts.is_empty()).then(|| {
        let text = format!("requests to {} go elsewhere: {}", was.matches, shifts.join(", "));
        Danger::said(Severity::Other, "traffic", text, "check that those who get more can serve it")
    })
}

/// A rule that was for the paths below its own, where none is any more.
///
/// Reference: kubernetes docs/concepts/services-networking/ingress, "Path types"; gateway-api HTTPPathMatch.
fn subpaths_gone(was: &Route, own: &[Route], after: &Side<'_>) -> Option<Danger> {
    let is_same = |route: &Route| route.matches == was.matches && route.has_subpaths;
    if !was.has_subpaths || own.iter().any(is_same) {
        return None;
    }
    let covers = |route: &Route| route.has_subpaths && was.matches.starts_with(route.matches.trim_end_matches('/'));
    let is_served = after.routes().any(covers);
    (!is_served).then(|| {
        let text = format!("{} is for this path alone: no path below it is served any more", was.matches);
        Danger::said(Severity::Outage, "pathGone", text, "keep the type of path that is for what is below it too")
    })
}

/// A path of an Ingress whose host is served on.
fn path_gone<'a>(was: &Route, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (host, path) = was.matches.split_once('/').filter(|_| new.kind() == "Ingress")?;
    let is_served = |route: &Route| {
        let (pattern, prefix) = route.matches.split_once('/').unwrap_or((&route.matches, ""));
        pattern.split(", ").any(|one| is_for(one, false, host)) && path.starts_with(prefix.trim_end_matches('/'))
    };
    let after = &around.model.after;
    let mut all = after.routes();
    let through = Through::of(around.after(new));
    let is_host_gone = !host.is_empty() && host != "*" && !after.serves(host, through.as_ref());
    (!is_host_gone && !all.any(is_served)).then(|| {
        let text = match host {
            "*" => format!("/{path} of all hosts is no longer served"),
            host => format!("{host}/{path} is no longer served"),
        };
        Danger::said(Severity::Outage, "pathGone", text, "check that no one uses the path, or redirect it first")
    })
}

/// Another controller, and so another address.
///
/// Reference: kubernetes docs/concepts/services-networking/ingress, "Ingress class".
pub(super) fn class(old: &Manifest, new: &Manifest, after: &Side<'_>) -> Option<Danger> {
    let (sort, path): (_, &[&str]) = match (new.home_group(), new.kind()) {
        ("networking.k8s.io", "Ingress") => ("Ingress class", &[]),
        ("gateway.networking.k8s.io", "Gateway") => ("Gateway class", &["spec", "gatewayClassName"]),
        _ => return None,
    };
    let class = |manifest: &'_ Manifest| match new.kind() {
        "Ingress" => ingress_class(manifest.object()).to_owned(),
        _ => word(manifest.object(), path).to_owned(),
    };
    let (from, to) = (class(old), class(new));
    let is_taken_over = |was: &Route| after.routes().any(|now| now == was);
    let routes = routes(Placed::new(old, None));
    let all_stay = !routes.is_empty() && routes.iter().all(is_taken_over);
    (from != to && !from.is_empty() && !to.is_empty() && !all_stay).then(|| {
        let text = format!("{sort} {from} → {to}: another controller serves its hosts, at another address");
        Danger::said(Severity::Outage, "elsewhere", text, "have both for a while, and move the names in DNS")
    })
}

/// Whether a name in DNS is that of a Service for the Pods and ports that another one was for.
fn answers<'a>(old: &'a Manifest, name: &str, around: &Around<'a>) -> bool {
    let service = around.before(old);
    let pods = around.model.before.served_by(service);
    let ports = |of: &'_ Manifest| -> BTreeSet<i64> {
        items(of.object(), &["spec", "ports"]).iter().filter_map(|port| number(port, &["port"])).collect()
    };
    let is_named = |one: &Placed<'a>| {
        let full = format!("{}.{}.svc", one.manifest.name(), one.namespace);
        name == full
            || name.strip_prefix(&full).is_some_and(|rest| rest == ".cluster.local" || rest == ".cluster.local.")
    };
    let mut named = around.model.after.listed("Service").filter(is_named);
    let serves = |one: &Placed<'a>| {
        let now = around.model.after.served_by(*one);
        let is_served = |pod: &Placed<'a>| now.iter().any(|one| one.manifest.name() == pod.manifest.name());
        pods.iter().all(is_served) && ports(old).is_subset(&ports(one.manifest))
    };
    !pods.is_empty() && named.any(|one| serves(&one))
}

/// Services that lead elsewhere, or lose their address.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "ExternalName", "type: LoadBalancer".
pub(super) fn elsewhere<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (old, new) = services(Some(old), Some(new))?;
    let field = |service: &'_ Manifest, key| word(service.object(), &["spec", key]).to_owned();
    let (from, to) = (service_type(old), service_type(new));
    let external = |service: &'_ Manifest| field(service, "externalName");
    let goes_inside = network::is_internal(new) && !network::is_internal(old);
    let text = match (from, to) {
        ("ExternalName", "ExternalName") if external(old) != external(new) => {
            format!("its name leads to {} in place of {}", external(new), external(old))
        }
        ("ExternalName", "ExternalName") => return None,
        ("ClusterIP", "ExternalName") if answers(old, &external(new), around) => return None,
        (_, "ExternalName") => format!("its name leads to {}, and its address and endpoints go", external(new)),
        ("LoadBalancer", "LoadBalancer") if goes_inside => {
            "its load balancer gets an address inside of the network: from outside nothing reaches it".to_owned()
        }
        ("NodePort" | "LoadBalancer", "NodePort" | "LoadBalancer") if node_port(old, new).is_some() => {
            let (from, to) = node_port(old, new)?;
            return Some(node_port_moved(new, from, to));
        }
        ("LoadBalancer", "LoadBalancer") => addresses::balanced(old, new)?,
        ("LoadBalancer", _) => format!("{from} → {to}: its load balancer goes, with its address"),
        ("NodePort", "ClusterIP") => format!("{from} → {to}: the port of the nodes goes that leads to it"),
        _ => return None,
    };
    Some(Danger::said(
        Severity::Outage,
        "elsewhere",
        text,
        "make a second Service for what is new, and remove this one when nothing uses it",
    ))
}

/// Who connects to a node is refused; a load balancer of the cloud follows, and inside of the cluster nothing uses the port.
fn node_port_moved(new: &Manifest, from: i64, to: i64) -> Danger {
    let (severity, who) = match service_type(new) {
        "LoadBalancer" => (Severity::Other, "who connects to a node in place of its load balancer is refused"),
        _ => (Severity::Outage, "who connects to a node at the old one is refused"),
    };
    let text = format!("port {from} of the nodes → {to}: {who}; inside of the cluster nothing changes");
    Danger::said(severity, "elsewhere", text, "keep the port, or a second Service with it until nothing uses it")
}

/// A port of the nodes that is another one now, each as it is written.
fn node_port(old: &Manifest, new: &Manifest) -> Option<(i64, i64)> {
    let ports = |service: &'_ Manifest| -> Vec<(i64, i64)> {
        let all = items(service.object(), &["spec", "ports"]).iter();
        all.filter_map(|port| Some((number(port, &["port"])?, number(port, &["nodePort"])?))).collect()
    };
    let (before, after) = (ports(old), ports(new));
    let (port, from) = before.iter().find(|(_, node)| !after.iter().any(|(_, now)| now == node))?;
    let to = after.iter().find(|(now, _)| now == port)?.1;
    Some((*from, to))
}

/// Hosts that were served with TLS and are so no longer; proofs of identity that are no longer asked for.
///
/// Reference: kubernetes docs/concepts/services-networking/ingress, "TLS"; gateway-api Listener `tls`; istio.io
/// docs/reference/config/security/peer_authentication.
pub(super) fn plain_text<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let text = match (new.home_group(), new.kind()) {
        ("networking.k8s.io", "Ingress") => {
            let hosts = hosts_without(old, new);
            (!hosts.is_empty()).then(|| format!("TLS removed: {} is served in plain HTTP", hosts.join(", ")))?
        }
        ("route.openshift.io", "Route") => {
            let has = |route: &Manifest| route.object().at(&["spec", "tls"]).is_some();
            (has(old) && !has(new)).then(|| "TLS removed: it is served in plain HTTP".to_owned())?
        }
        ("gateway.networking.k8s.io", "Gateway") => {
            let listeners = items(new.object(), &["spec", "listeners"]).iter();
            let encrypts = |listener: &Value| matches!(word(listener, &["protocol"]), "HTTPS" | "TLS");
            let was = |name: &str| {
                let mut all = items(old.object(), &["spec", "listeners"]).iter();
                all.any(|listener| word(listener, &["name"]) == name && encrypts(listener))
            };
            let plain = listeners.filter(|one| !encrypts(one) && was(word(one, &["name"])));
            let names: Vec<&str> = plain.map(|one| word(one, &["name"])).collect();
            (!names.is_empty()).then(|| format!("listener {} no longer has TLS", names.join(", ")))?
        }
        ("security.istio.io", "PeerAuthentication") => {
            let mode = |one: &'_ Manifest| word(one.object(), &["spec", "mtls", "mode"]).to_owned();
            let (from, to) = (mode(old), mode(new));
            (from == "STRICT" && to != from && !mesh::is_strict_still(new, around)).then(|| {
                let to = if to.is_empty() { "no mode" } else { &to };
                format!("mutual TLS STRICT → {to}: connections in plain text are taken, from anyone")
            })?
        }
        _ => return None,
    };
    Some(Danger::said(Severity::Security, "plainText", text, "keep what encrypts it"))
}

/// Hosts of an Ingress that had TLS and are served without it.
fn hosts_without(old: &Manifest, new: &Manifest) -> Vec<String> {
    let encrypted = |ingress: &'_ Manifest| -> (Vec<String>, bool) {
        let tls = items(ingress.object(), &["spec", "tls"]);
        let hosts = tls.iter().flat_map(|one| items(one, &["hosts"])).filter_map(Value::as_str);
        // Without hosts it is for all.
        let is_for_all = tls.iter().any(|one| items(one, &["hosts"]).is_empty());
        (hosts.map(str::to_owned).collect(), is_for_all)
    };
    let (before, after) = (encrypted(old), encrypted(new));
    let has = |(hosts, is_for_all): &(Vec<String>, bool), host: &str| {
        let wildcard = host.split_once('.').map(|(_, domain)| format!("*.{domain}"));
        *is_for_all || hosts.iter().any(|one| one == host || wildcard.as_ref() == Some(one))
    };
    let served = hosts(new).into_iter();
    served.filter(|host| has(&before, host) && !has(&after, host)).map(str::to_owned).collect()
}
