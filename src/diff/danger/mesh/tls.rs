//! Istio: TLS that clients no longer use, and plain text that the other side does not take.
//!
//! Reference: istio.io docs/reference/config/networking/destination-rule, `ClientTLSSettings`, "portLevelSettings": what is set for a
//! port takes the place of all that is set for the destination; pilot/pkg/networking/util `MergeTrafficPolicy`; without a mode, requests
//! to Pods of the mesh use mutual TLS by themselves. docs/reference/config/security/peer_authentication: that of a workload goes before
//! that of its namespace, which goes before that of the mesh; `portLevelMtls` has the ports of the workload.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::{NAMED_MAX, full};
use crate::diff::danger::{Around, Danger, Severity, items};
use crate::diff::model::pods::{spec, target};
use crate::diff::model::{Placed, Side, number, selects, word};
use crate::manifest::Manifest;

/// The namespace of what is for all of the mesh, where nothing else is known.
const ROOT: &str = "istio-system";

fn is_rule(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("networking.istio.io", "DestinationRule")
}

fn is_authentication(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("security.istio.io", "PeerAuthentication")
}

/// What a DestinationRule or a PeerAuthentication does to connections.
pub(in crate::diff::danger) fn tls<'a>(
    old: Option<&'a Manifest>,
    new: Option<&'a Manifest>,
    around: &Around<'a>,
) -> Vec<Danger> {
    match (old, new) {
        (old, Some(new)) if is_rule(new) => changed(old.filter(|old| is_rule(old)), new, around),
        (Some(old), None) if is_rule(old) => removed(old, around).into_iter().collect(),
        (old, Some(new)) if is_authentication(new) => {
            strict_from_now(old, new, around).into_iter().chain(relaxed(old, new, around)).collect()
        }
        (Some(old), Some(new)) if (new.home_group(), new.kind()) == ("networking.istio.io", "Gateway") => {
            served(old, new)
        }
        _ => Vec::new(),
    }
}

/// A subset, or nothing for all of the destination; and a port, if it is for one.
type Level = (String, Option<i64>);

/// The levels of a rule at which a mode may be set.
fn levels(rule: &Manifest) -> BTreeSet<Level> {
    let ports = |policy: Option<&Value>| -> Vec<i64> {
        let all = policy.map(|policy| items(policy, &["portLevelSettings"])).unwrap_or_default();
        all.iter().filter_map(|one| number(one, &["port", "number"])).collect()
    };
    let object = rule.object();
    let subsets = items(object, &["spec", "subsets"]);
    let all = ports(object.at(&["spec", "trafficPolicy"]));
    let mut found: BTreeSet<Level> = BTreeSet::from([(String::new(), None)]);
    found.extend(all.iter().map(|port| (String::new(), Some(*port))));
    for subset in subsets {
        let name = word(subset, &["name"]).to_owned();
        let own = ports(subset.get("trafficPolicy"));
        found.extend(own.into_iter().map(|port| (name.clone(), Some(port))));
        found.insert((name, None));
    }
    found
}

/// The mode of a rule at a level; empty where none is set.
fn mode<'m>(rule: &'m Manifest, (subset, port): &Level) -> &'m str {
    let of = |policy: Option<&'m Value>| -> Option<&'m str> {
        let policy = policy?;
        let mut ports = items(policy, &["portLevelSettings"]).iter();
        let own = ports.find(|one| port.is_some() && number(one, &["port", "number"]) == *port);
        own.or_else(|| policy.get("tls").map(|_| policy)).map(|settings| word(settings, &["tls", "mode"]))
    };
    let object = rule.object();
    let mut subsets = items(object, &["spec", "subsets"]).iter();
    let subset = subsets.find(|one| !subset.is_empty() && word(one, &["name"]) == subset);
    let own = of(subset.and_then(|subset| subset.get("trafficPolicy")));
    own.or_else(|| of(object.at(&["spec", "trafficPolicy"]))).unwrap_or_default()
}

fn encrypts(mode: &str) -> bool {
    matches!(mode, "SIMPLE" | "MUTUAL" | "ISTIO_MUTUAL")
}

/// Whether a mode is none that a workload takes which asks for mutual TLS of the mesh.
fn is_refused(mode: &str) -> bool {
    matches!(mode, "DISABLE" | "SIMPLE")
}

fn host(rule: Placed<'_>) -> String {
    full(word(rule.manifest.object(), &["spec", "host"]), rule.namespace)
}

/// Whether a host is not one of the cluster, so that nothing encrypts what is sent to it by itself.
fn is_outside(host: &str) -> bool {
    !host.ends_with(".local") && host != "*"
}

/// ` of port 8443`, ` of subset v2`; nothing for all of the destination.
fn at((subset, port): &Level) -> String {
    let subset = if subset.is_empty() { String::new() } else { format!(" of subset `{subset}`") };
    port.map_or(subset.clone(), |port| format!("{subset} at port {port}"))
}

fn changed<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if old == Some(new) {
        // What is around it changed: that is said of what did.
        return Vec::new();
    }
    let to = host(around.after(new));
    let is_same_host = old.is_some_and(|old| host(around.before(old)) == to);
    let old = old.filter(|_| is_same_host);
    let was = |level: &Level| old.map_or("", |old| mode(old, level));
    let [before, after] = [&around.model.before, &around.model.after];
    let mut all = levels(new);
    all.extend(old.map(levels).unwrap_or_default());
    // A subset that is not there any more is said elsewhere.
    let names: BTreeSet<&str> =
        items(new.object(), &["spec", "subsets"]).iter().map(|one| word(one, &["name"])).collect();
    all.retain(|(subset, _)| subset.is_empty() || names.contains(subset.as_str()));
    let mut found = Vec::new();
    let mut said: BTreeSet<(String, String)> = BTreeSet::new();
    for level in &all {
        let (from, now) = (was(level), mode(new, level));
        let shown = if from.is_empty() { "no mode" } else { from };
        let is_strict = |side: &Side<'_>| strict(side, &to, level.1);
        let stops = is_refused(now) && is_strict(after) && !(is_refused(from) && old.is_some() && is_strict(before));
        let goes = encrypts(from) && (now == "DISABLE" || now.is_empty() && is_outside(&to));
        // What is set for all of the destination is said once.
        if !(stops || goes) || !said.insert((from.to_owned(), now.to_owned())) {
            continue;
        }
        let now = if now.is_empty() { "no mode" } else { now };
        let start = format!("TLS {shown} → {now}{} towards {to}", at(level));
        found.push(if stops {
            let text = format!("{start}, which asks for mutual TLS (STRICT): all requests to it are refused");
            let advice = "keep ISTIO_MUTUAL towards what asks for mutual TLS";
            Danger::said(Severity::Outage, "plainText", text, advice)
        } else {
            let text = format!("{start}: what is sent to it is in plain text");
            Danger::said(Severity::Security, "plainText", text, "keep what encrypts it")
        });
    }
    found
}

/// A rule that goes, and with it the TLS towards a host that is not of the cluster.
fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let to = host(around.before(old));
    let level = levels(old).into_iter().find(|level| encrypts(mode(old, level)))?;
    let is_like = |other: Placed<'_>| host(other) == to && encrypts(mode(other.manifest, &level));
    let mut others = around.model.after.listed("DestinationRule").filter(|other| is_rule(other.manifest));
    (is_outside(&to) && pruning.removes() && !others.any(is_like)).then(|| {
        let text = format!("removed: what is sent to {to} is no longer encrypted{}", at(&level));
        Danger::said(Severity::Security, "plainText", text, "keep what encrypts it").pruned(pruning)
    })
}

/// A PeerAuthentication that takes mutual TLS alone from now on, while rules send something else.
fn strict_from_now<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if old == Some(new) {
        return None;
    }
    let [before, after] = [&around.model.before, &around.model.after];
    let is_hit = |rule: &Placed<'a>| {
        let Some(was) = before.find(*rule).filter(|was| host(*was) == host(*rule)) else { return false };
        let is_newly = |level: &Level| strict(after, &host(*rule), level.1) && !strict(before, &host(was), level.1);
        let sends = |level: &Level| is_refused(mode(rule.manifest, level)) && is_refused(mode(was.manifest, level));
        levels(rule.manifest).iter().any(|level| sends(level) && is_newly(level))
    };
    let rules = after.listed("DestinationRule").filter(|rule| is_rule(rule.manifest)).filter(is_hit);
    let names: BTreeSet<String> = rules.map(|rule| format!("DestinationRule {}", rule.manifest.name())).collect();
    (!names.is_empty()).then(|| {
        let text = format!(
            "mutual TLS alone is taken, while {} has none: all requests by it are refused",
            listed(names, NAMED_MAX)
        );
        let advice = "keep PERMISSIVE until no rule has the mode DISABLE";
        Danger::said(Severity::Outage, "plainText", text, advice)
    })
}

/// Ports, and Pods, that took mutual TLS alone and take plain text from now on. Of the mode of a PeerAuthentication that changes, that
/// is said elsewhere.
fn relaxed<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_open = |mode: &str| matches!(mode, "DISABLE" | "PERMISSIVE");
    let mode = |one: &'a Manifest| word(one.object(), &["spec", "mtls", "mode"]);
    let before = &around.model.before;
    let namespace = around.after(new).namespace;
    let place = match old {
        Some(old) => {
            let port_mode =
                |one: &'a Manifest, port: &str| word(one.object(), &["spec", "portLevelMtls", port, "mode"]);
            let of_port = |one: &'a Manifest, port: &str| match port_mode(one, port) {
                "" | "UNSET" => mode(one),
                own => own,
            };
            let ports = new.object().at(&["spec", "portLevelMtls"]).and_then(Value::as_mapping);
            let opens = |port: &&String| of_port(old, port) == "STRICT" && is_open(port_mode(new, port));
            format!("port {}", ports?.keys().find(opens).filter(|_| mode(old) == mode(new))?)
        }
        None if !is_open(mode(new)) => return None,
        None => match labels(new) {
            Some(labels) => {
                let mut pods = before.workloads(namespace).filter(|one| selects(labels, one.manifest));
                let pods = pods.find(|one| mode_of(before, *one, None) == "STRICT")?;
                format!("{} {}", pods.manifest.kind(), pods.manifest.name())
            }
            None if mode_of_all(before, namespace) == "STRICT" => format!("namespace {namespace}"),
            None => return None,
        },
    };
    let text = format!("mutual TLS of {place} STRICT → none: connections in plain text are taken, from anyone");
    Some(Danger::said(Severity::Security, "plainText", text, "keep what encrypts it"))
}

/// Servers of a Gateway of Istio that no longer have TLS, or ask clients for no certificate.
///
/// Reference: istio.io docs/reference/config/networking/gateway, `ServerTLSSettings`.
fn served(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let servers = |gateway: &'_ Manifest| items(gateway.object(), &["spec", "servers"]).to_vec();
    let now = servers(new);
    let mutual =
        |server: &Value| matches!(word(server, &["tls", "mode"]), "MUTUAL" | "OPTIONAL_MUTUAL" | "ISTIO_MUTUAL");
    let encrypts = |server: &Value| matches!(word(server, &["port", "protocol"]), "HTTPS" | "TLS");
    let mut found = Vec::new();
    for was in servers(old) {
        let is_it = |one: &&Value| {
            number(one, &["port", "number"]) == number(&was, &["port", "number"])
                && one.get("hosts") == was.get("hosts")
        };
        let Some(server) = now.iter().find(is_it) else { continue };
        let port = number(&was, &["port", "number"]).unwrap_or_default();
        let text = match () {
            () if encrypts(&was) && !encrypts(server) => format!("port {port} no longer has TLS"),
            () if mutual(&was) && !mutual(server) => format!("port {port} asks clients for no certificate any more"),
            () => continue,
        };
        found.push(Danger::said(Severity::Security, "plainText", text, "keep what encrypts it"));
    }
    found
}

/// Whether some Pods of a host take mutual TLS alone, at a port of its Service or at any.
fn strict(side: &Side<'_>, host: &str, port: Option<i64>) -> bool {
    let mut parts = host.split('.');
    let (name, namespace) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if is_outside(host) {
        return false;
    }
    let service = side.of_kind("Service", namespace).find(|one| one.manifest.name() == name);
    let Some(service) = service.filter(|_| name != "*") else {
        return mode_of_all(side, namespace) == "STRICT";
    };
    let ports = items(service.manifest.object(), &["spec", "ports"]).iter();
    let ports: Vec<&Value> = ports.filter(|one| port.is_none() || number(one, &["port"]) == port).collect();
    let pods = side.served_by(service);
    match pods.is_empty() {
        true => mode_of_all(side, namespace) == "STRICT",
        false => pods
            .iter()
            .any(|pods| ports.iter().any(|port| mode_of(side, *pods, target_of(port, pods.manifest)) == "STRICT")),
    }
}

fn target_of(port: &Value, workload: &Manifest) -> Option<i64> {
    target(port, spec(workload)?)
}

fn authentications<'s>(side: &'s Side<'_>, namespace: &'s str) -> impl Iterator<Item = &'s Manifest> {
    let all = side.all().iter().filter(move |one| one.namespace == namespace).map(|one| one.manifest);
    all.filter(|one| is_authentication(one))
}

fn labels(authentication: &Manifest) -> Option<&Value> {
    authentication.object().at(&["spec", "selector"]).filter(|selector| selector.get("matchLabels").is_some())
}

/// The mode for all of a namespace, or of the mesh.
fn mode_of_all<'s>(side: &'s Side<'_>, namespace: &'s str) -> &'s str {
    let of = |namespace: &'s str| {
        let modes = authentications(side, namespace).filter(|one| labels(one).is_none());
        let mut modes = modes.map(|one| word(one.object(), &["spec", "mtls", "mode"]));
        modes.find(|mode| !matches!(*mode, "" | "UNSET"))
    };
    of(namespace).or_else(|| of(ROOT)).unwrap_or("PERMISSIVE")
}

/// Whether what a PeerAuthentication is, or was, for takes mutual TLS alone after the change, by that one or by those around it.
///
/// Reference: istio.io docs/reference/config/security/peer_authentication: `UNSET` inherits from the namespace, and that from the mesh.
pub(in crate::diff::danger) fn is_strict_still<'a>(object: &'a Manifest, around: &Around<'a>) -> bool {
    if !is_authentication(object) {
        return false;
    }
    let (after, namespace) = (&around.model.after, around.after(object).namespace);
    let mut pods =
        after.workloads(namespace).filter(|one| labels(object).is_some_and(|own| selects(own, one.manifest)));
    match pods.next() {
        Some(first) => [first].into_iter().chain(pods).all(|one| mode_of(after, one, None) == "STRICT"),
        None => mode_of_all(after, namespace) == "STRICT",
    }
}

/// The mode for the Pods of a workload at one of their ports.
fn mode_of<'s>(side: &'s Side<'_>, workload: Placed<'s>, port: Option<i64>) -> &'s str {
    let own: Vec<&Manifest> = authentications(side, workload.namespace)
        .filter(|one| labels(one).is_some_and(|labels| selects(labels, workload.manifest)))
        .collect();
    let key = port.map(|port| port.to_string()).unwrap_or_default();
    let of_port = own.iter().map(|one| word(one.object(), &["spec", "portLevelMtls", &key, "mode"]));
    let of_own = own.iter().map(|one| word(one.object(), &["spec", "mtls", "mode"]));
    let mut modes = of_port.chain(of_own).filter(|mode| !matches!(*mode, "" | "UNSET"));
    modes.next().unwrap_or_else(|| mode_of_all(side, workload.namespace))
}
