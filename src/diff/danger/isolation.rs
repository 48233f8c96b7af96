//! Pods that NetworkPolicies leave without any connection, all of those together that select them.

mod ports;

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::{Mapping, Value};

use super::around::name;
use super::direction::{DIRECTIONS, Direction};
use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::{has_port, running, spec};
use crate::diff::model::{Isolation, Placed, Side, number, selects};
use crate::manifest::Manifest;

pub(super) use ports::elsewhere;

/// How many workloads are named.
const NAMED_MAX: usize = 4;

/// Workloads that had connections by a policy, or without any, and that the change of this one leaves without.
///
/// Reference: kubernetes docs/concepts/services-networking/network-policies: policies add up, and Pods that one selects get what some
/// policy allows, and nothing else.
pub(super) fn starved<'a>(old: Option<&'a Manifest>, new: Option<&'a Manifest>, around: &Around<'a>) -> Vec<Danger> {
    let Some(placed) = new.map(|new| around.after(new)).or(old.map(|old| around.before(old))) else {
        return Vec::new();
    };
    let is_moved = old.is_some_and(|old| around.before(old).namespace != placed.namespace);
    let pruning = around.pruning.of(placed.manifest);
    let stays = new.is_none() && !pruning.removes();
    // Others of the namespace may be in Applications that do not change.
    if is_moved || stays || around.model.after.has_beside("NetworkPolicy", placed.namespace) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for direction in &DIRECTIONS {
        let (mut starved, mut nameless) = (BTreeSet::new(), BTreeSet::new());
        for workload in around.model.after.workloads(placed.namespace) {
            let Some(was) = around.model.before.find(workload) else { continue };
            let gave = old.is_some_and(|old| is_for(old, was) && !direction.blocks(old) && direction.isolates(old));
            let blocked = old.is_some_and(|old| is_for(old, was) && direction.blocks(old));
            let takes = !blocked && new.is_some_and(|new| is_for(new, workload) && direction.isolates(new));
            if !gave && !takes {
                continue;
            }
            let (before, after) =
                (direction.isolation(was, &around.model.before), direction.isolation(workload, &around.model.after));
            if is_nothing(after) && !is_nothing(before) {
                let is_missed = direction.is_missed(workload, placed, around);
                starved.extend((gave || is_missed).then(|| name(workload)));
            } else if direction.name == "Egress" && !resolves(after) && resolves(before) {
                nameless.insert(name(workload));
            }
        }
        found.extend(said(direction, starved, new.is_none()));
        found.extend((!nameless.is_empty()).then(|| {
            let text =
                format!("the Pods of {} reach port 53 no more: they resolve no names", listed(nameless, NAMED_MAX));
            Danger::said(Severity::Outage, "blocking", text, "keep a rule for DNS: port 53, UDP and TCP")
        }));
    }
    match new {
        Some(_) => found,
        None => found.into_iter().map(|danger| danger.pruned(pruning)).collect(),
    }
}

/// Ports that a policy lets in by their names, and that none of its Pods has any more.
///
/// Reference: kubernetes API NetworkPolicyPort `port`: a name is looked up in the Pods that are connected to.
pub(super) fn unnamed<'a>(old: Option<&'a Manifest>, new: Option<&'a Manifest>, around: &Around<'a>) -> Option<Danger> {
    let (old, new) = (old?, new?);
    let has = |policy: Placed<'a>, side: &Side<'a>, port: &Value| {
        let everything = Value::Mapping(Mapping::new());
        let selector = policy.manifest.object().at(&["spec", "podSelector"]).unwrap_or(&everything);
        let mut pods = side.selected(policy.namespace, Some(selector)).filter_map(|one| spec(one.manifest)).peekable();
        pods.peek().is_some().then(|| pods.any(|pods| has_port(pods, port)))
    };
    let rules = items(new.object(), &["spec", "ingress"]).iter();
    let ports = rules.flat_map(|rule| items(rule, &["ports"])).filter_map(|port| port.get("port"));
    let was = |port: &Value| has(around.before(old), &around.model.before, port) == Some(true);
    let is_gone = |port: &&Value| was(port) && has(around.after(new), &around.model.after, port) == Some(false);
    let gone: BTreeSet<&str> = ports.filter(is_gone).filter_map(Value::as_str).collect();
    (!gone.is_empty()).then(|| {
        let text = format!(
            "lets in to port {}, which no container of its Pods has any more: no connection gets through by it",
            listed(gone.iter().map(|port| format!("`{port}`")), NAMED_MAX)
        );
        Danger::said(Severity::Outage, "noPort", text, "keep the name of the port, or change it in both")
    })
}

fn said(direction: &Direction, names: BTreeSet<String>, is_removed: bool) -> Option<Danger> {
    if names.is_empty() {
        return None;
    }
    let names = listed(names, NAMED_MAX);
    let start = if is_removed { "removed: " } else { "" };
    let text = match direction.name {
        "Ingress" => format!("{start}no connection to the Pods of {names} gets through any more"),
        _ => format!("{start}no connection from the Pods of {names} gets through any more, DNS included"),
    };
    Some(Danger::said(Severity::Outage, "blocking", text, "keep the rules for what shall get through"))
}

/// Whether a policy selects the Pods of a workload.
fn is_for(policy: &Manifest, workload: Placed<'_>) -> bool {
    let everything = Value::Mapping(Mapping::new());
    selects(policy.object().at(&["spec", "podSelector"]).unwrap_or(&everything), workload.manifest)
}

/// What the policies of a direction give to some Pods.
enum Given<'s> {
    /// None selects them.
    All,
    /// The rules of those that do.
    Rules(Vec<&'s Value>),
}

/// Whether Pods get nothing.
fn is_nothing(of: Isolation) -> bool {
    of.is_isolated && !of.has_rules
}

/// Whether requests to DNS get through, as far as ports tell.
fn resolves(of: Isolation) -> bool {
    !of.is_isolated || of.resolves
}

fn is_dns(port: &Value) -> bool {
    let last = number(port, &["endPort"]);
    match port.get("port") {
        None => true,
        // Which port has a name is not known here.
        Some(Value::String(_)) => true,
        Some(Value::Int(first)) => (*first..=last.unwrap_or(*first)).contains(&53),
        Some(_) => false,
    }
}

impl Direction {
    /// Whether connections of Pods are missed that none had forbidden: to those that have ports; from all, where the policy is the
    /// only one and so no part of a set by which some are let out.
    fn is_missed(&self, workload: Placed<'_>, policy: Placed<'_>, around: &Around<'_>) -> bool {
        let side = &around.model.after;
        if self.name == "Egress" {
            let mut all = side.of_kind("NetworkPolicy", policy.namespace).map(|one| one.manifest);
            return !all.any(|one| !items(one.object(), &["spec", self.rules]).is_empty());
        }
        let mut containers = spec(workload.manifest).into_iter().flat_map(running);
        side.is_served(workload) || containers.any(|(_, one)| !items(one, &["ports"]).is_empty())
    }

    /// What the policies of the workload are for it in this direction.
    fn isolation(&self, workload: Placed<'_>, side: &Side<'_>) -> Isolation {
        let of_policy = |policy: &Manifest| {
            DIRECTIONS.each_ref().map(|direction| {
                let rules = items(policy.object(), &["spec", direction.rules]);
                let is_isolated = is_policy(policy) && direction.isolates(policy);
                let lets_out = |rule: &Value| {
                    let ports = items(rule, &["ports"]);
                    ports.is_empty() || ports.iter().any(is_dns)
                };
                let resolves = is_isolated && rules.iter().any(lets_out);
                Isolation { is_isolated, has_rules: is_isolated && !rules.is_empty(), resolves }
            })
        };
        let [ingress, egress] = side.isolation(workload, of_policy);
        if self.name == "Egress" { egress } else { ingress }
    }

    fn given<'s>(&self, workload: Placed<'_>, side: &Side<'s>) -> Given<'s> {
        let policies = side.choosers_of("NetworkPolicy", workload).into_owned();
        let policies = policies.into_iter().map(|one| one.manifest).filter(|one| is_policy(one));
        let mut isolating = policies.filter(|policy| self.isolates(policy)).peekable();
        match isolating.peek() {
            None => Given::All,
            Some(_) => {
                Given::Rules(isolating.flat_map(|policy| items(policy.object(), &["spec", self.rules])).collect())
            }
        }
    }
}

fn is_policy(object: &Manifest) -> bool {
    object.home_group() == "networking.k8s.io"
}
