//! Ports that NetworkPolicies let in and that their Pods do not have.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use go_yaml::{Mapping, Value};

use super::{DIRECTIONS, Given, NAMED_MAX};
use crate::diff::danger::around::name;
use crate::diff::danger::{Around, Danger, Severity, items};
use crate::diff::model::pods::{self, protocol, running, spec};
use crate::diff::model::{Placed, Side, number, word};
use crate::manifest::Manifest;

/// A policy that lets in a port which none of its Pods has, while a port by which they were reached is let in no more.
///
/// Reference: kubernetes API NetworkPolicyPort `port`: one of the Pods, not of the Service that leads to them.
pub(in crate::diff::danger) fn elsewhere<'a>(new: Option<&'a Manifest>, around: &Around<'a>) -> Option<Danger> {
    let policy = around.after(new?);
    let [ingress, _] = &DIRECTIONS;
    let (before, after) = (&around.model.before, &around.model.after);
    // Others of the namespace may be in Applications that do not change.
    if !ingress.isolates(policy.manifest) || after.has_beside("NetworkPolicy", policy.namespace) {
        return None;
    }
    let everything = Value::Mapping(Mapping::new());
    let selector = policy.manifest.object().at(&["spec", "podSelector"]).unwrap_or(&everything);
    let workloads: Vec<Placed<'a>> = after.selected(policy.namespace, Some(selector)).collect();
    let all: Vec<BTreeSet<(i64, &str)>> = workloads.iter().map(|one| declared(*one)).collect();
    // What listens without being declared is not known.
    if all.iter().any(BTreeSet::is_empty) {
        return None;
    }
    let rules = items(policy.manifest.object(), &["spec", "ingress"]).iter();
    let ports = rules.flat_map(|rule| items(rule, &["ports"])).filter(|port| port.get("endPort").is_none());
    let ports: BTreeSet<(i64, &str)> = ports.filter_map(|one| Some((number(one, &["port"])?, protocol(one)))).collect();
    let lacking = ports.into_iter().filter(|port| !all.iter().any(|of| of.contains(port)));
    let lacking: BTreeSet<String> = lacking.map(shown).collect();
    if lacking.is_empty() {
        return None;
    }
    let mut cut = BTreeSet::new();
    for workload in workloads {
        let Some(was) = before.find(workload) else { continue };
        let (given, now) = (ingress.given(was, before), ingress.given(workload, after));
        let known = reached(was, before);
        let reached = reached(workload, after);
        let was_let_in = |key: &Key| known.get(key).is_some_and(|port| lets_in(&given, was, *port));
        let lost = reached.iter().filter(|(key, port)| was_let_in(key) && !lets_in(&now, workload, **port));
        cut.extend(lost.map(|(_, port)| format!("port {} of {}", shown(*port), name(workload))));
    }
    (!cut.is_empty()).then(|| {
        let text = format!(
            "lets in to port {}, which no container of its Pods has: connections to {} no longer get through",
            listed(lacking, NAMED_MAX),
            listed(cut, NAMED_MAX)
        );
        let advice = "keep one port in both: a policy names that of the Pods, not that of their Service";
        Danger::said(Severity::Outage, "noPort", text, advice)
    })
}

/// `8080`, `53/UDP`
fn shown((number, protocol): (i64, &str)) -> String {
    if protocol == "TCP" { number.to_string() } else { format!("{number}/{protocol}") }
}

/// The ports that the containers of a workload list.
fn declared(workload: Placed<'_>) -> BTreeSet<(i64, &str)> {
    let containers = spec(workload.manifest).into_iter().flat_map(running);
    let ports = containers.flat_map(|(_, container)| items(container, &["ports"]));
    ports.filter_map(|one| Some((number(one, &["containerPort"])?, protocol(one)))).collect()
}

/// A Service and a port of it; nothing for a port of the Pods, by its place.
type Key<'m> = (&'m str, i64);

/// The ports of Pods by which they are reached: those to which Services lead, else those that they list.
fn reached<'a>(workload: Placed<'a>, side: &Side<'a>) -> BTreeMap<Key<'a>, (i64, &'a str)> {
    let services = side.services_of(workload);
    if services.is_empty() {
        return declared(workload).into_iter().enumerate().map(|(at, port)| (("", at as i64), port)).collect();
    }
    let pods = spec(workload.manifest);
    let ports = services.into_iter().flat_map(|service| {
        let all = items(service.manifest.object(), &["spec", "ports"]).iter();
        all.map(move |port| (service.manifest.name(), port))
    });
    let target = |(service, port): (&'a str, &'a Value)| {
        Some(((service, number(port, &["port"])?), (pods::target(port, pods?)?, protocol(port))))
    };
    ports.filter_map(target).collect()
}

/// Whether some rule lets a port in, whomever it is for.
fn lets_in(given: &Given<'_>, workload: Placed<'_>, (wanted, of): (i64, &str)) -> bool {
    let is_it = |port: &Value| {
        let is_number = match port.get("port") {
            None => true,
            Some(Value::Int(first)) => (*first..=number(port, &["endPort"]).unwrap_or(*first)).contains(&wanted),
            Some(name) => spec(workload.manifest).is_some_and(|pods| {
                let mut ports = running(pods).flat_map(|(_, container)| items(container, &["ports"]));
                ports.any(|one| {
                    number(one, &["containerPort"]) == Some(wanted) && Some(word(one, &["name"])) == name.as_str()
                })
            }),
        };
        is_number && protocol(port) == of
    };
    match given {
        Given::All => true,
        Given::Rules(rules) => rules.iter().any(|rule| {
            let ports = items(rule, &["ports"]);
            ports.is_empty() || ports.iter().any(is_it)
        }),
    }
}
