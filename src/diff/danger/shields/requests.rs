//! Requests that policies of Cilium let in to a port, and those that they look at no more.

use dry_files::diag::more::listed;
use go_yaml::{Mapping, Value};

use super::super::{Danger, Severity, items};
use super::{PORTS_MAX, rules};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// What a policy lets through to a port for some peers.
struct Port<'m> {
    /// The rule but for its ports: whom it is for.
    peers: Mapping,
    port: &'m Value,
    /// The requests by HTTP; none where it does not look at them.
    requests: Option<&'m [Value]>,
}

fn ports<'m>(policy: &'m Manifest, direction: &'m str) -> Vec<Port<'m>> {
    let mut found = Vec::new();
    for rule in rules(policy, direction) {
        let mut peers = rule.as_mapping().cloned().unwrap_or_default();
        peers.remove("toPorts");
        for entry in items(rule, &["toPorts"]) {
            let other = ["dns", "kafka", "l7"].iter().any(|key| entry.at(&["rules", key]).is_some());
            let requests = Some(items(entry, &["rules", "http"])).filter(|all| !all.is_empty() || other);
            let of_entry = items(entry, &["ports"]).iter();
            found.extend(of_entry.map(|port| Port { peers: peers.clone(), port, requests }));
        }
    }
    found
}

/// A policy that lets in any request to a port, or more than before.
///
/// Reference: docs.cilium.io security/policy/layer7: "If no rules are specified, then all traffic is permitted"; one without rules
/// makes those of another for its port void; a field that is missing matches all.
pub(in crate::diff::danger) fn unchecked(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if new.home_group() != "cilium.io" || !new.kind().ends_with("NetworkPolicy") {
        return Vec::new();
    }
    let (mut any, mut more) = (Vec::new(), Vec::new());
    for direction in ["ingress", "egress"] {
        let (was, now) = (ports(old, direction), ports(new, direction));
        let same = |one: &Port<'_>, other: &Port<'_>| one.peers == other.peers && one.port == other.port;
        for one in &was {
            let (before, after): (Vec<_>, Vec<_>) = (
                was.iter().filter(|other| same(one, other)).collect(),
                now.iter().filter(|other| same(one, other)).collect(),
            );
            let is_void = |all: &[&Port<'_>]| all.iter().any(|port| port.requests.is_none());
            let shown = word(one.port, &["port"]).to_owned();
            if is_void(&before) || after.is_empty() {
                continue;
            }
            let had: Vec<&Value> = before.iter().filter_map(|port| port.requests).flatten().collect();
            let mut has = after.iter().filter_map(|port| port.requests).flatten();
            if is_void(&after) {
                any.push(shown);
            } else if has.any(|request| is_wider(request, &had)) {
                more.push(shown);
            }
        }
    }
    let danger = |(mut ports, what): (Vec<String>, &str)| {
        ports.sort();
        ports.dedup();
        let text = format!("port {}: {what}", listed(&ports, PORTS_MAX));
        let advice = "keep the rules for the requests that shall get through";
        (!ports.is_empty()).then(|| Danger::said(Severity::Security, "unprotected", text, advice))
    };
    let said = [
        (any, "any request is let in, since nothing looks at them any more"),
        (more, "more requests are let in by a rule than by the one that it takes the place of"),
    ];
    said.into_iter().filter_map(danger).collect()
}

/// Whether a request is one of those that there were, made wider.
fn is_wider(request: &Value, had: &[&Value]) -> bool {
    let covered = had.iter().any(|was| covers(was, request));
    !covered && had.iter().any(|was| covers(request, was))
}

/// Whether one is for all that another is for.
fn covers(one: &Value, other: &Value) -> bool {
    let is_met = |key: &&str| match (word(one, &[key]), word(other, &[key])) {
        ("", _) => true,
        (pattern, text) => pattern == text || !text.is_empty() && is_prefix(pattern, text),
    };
    let headers = |list| items(one, &[list]).iter().all(|header| items(other, &[list]).contains(header));
    ["method", "path", "host"].iter().all(is_met) && headers("headers") && headers("headerMatches")
}

/// Whether an expression is a plain beginning with `.*` behind it, and a text begins so.
fn is_prefix(expression: &str, text: &str) -> bool {
    let is_plain = |start: &str| !start.contains(['.', '*', '+', '?', '(', '[', '{', '|', '\\', '^', '$']);
    expression.strip_suffix(".*").is_some_and(|start| is_plain(start) && text.starts_with(start))
}
