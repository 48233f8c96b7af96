//! Rules of Calico, of which the first that matches decides, in one policy or in several one behind the other.

use std::cmp::Ordering;

use go_yaml::{Mapping, Value};

use super::{Around, Danger, Severity, items, ranges};
use crate::diff::model::{Placed, word};
use crate::manifest::Manifest;

/// The two directions, with what is so where a rule lets everything through.
const WAYS: [(&str, &str, &str); 2] = [
    ("ingress", "Ingress", "everybody may connect to its Pods"),
    ("egress", "Egress", "its Pods may connect to everything"),
];

const ADVICE: &str = "keep what denies before what allows";

fn is_policy(object: &Manifest) -> bool {
    matches!(object.home_group(), "projectcalico.org" | "crd.projectcalico.org")
        && matches!(object.kind(), "NetworkPolicy" | "GlobalNetworkPolicy")
}

/// Whether a policy is for a direction.
///
/// Reference: docs.tigera.io calico reference/resources/networkpolicy, `types`: Ingress without rules, or with those for ingress alone.
fn is_for(policy: &Manifest, (rules, name, _): (&str, &str, &str)) -> bool {
    let has = |rules: &str| !items(policy.object(), &["spec", rules]).is_empty();
    match items(policy.object(), &["spec", "types"]) {
        [] => has(rules) || name == "Ingress" && !has("egress"),
        types => types.iter().any(|one| one.as_str() == Some(name)),
    }
}

/// A rule: what it does, and what it is for; nothing for everything.
#[derive(Clone, PartialEq)]
struct Rule<'m> {
    action: &'m str,
    matches: Mapping,
}

/// The rules that decide: those behind one that is for everything never do.
fn deciding<'m>(policies: &[&'m Manifest], direction: &str) -> Vec<Rule<'m>> {
    let all = policies.iter().flat_map(|policy| items(policy.object(), &["spec", direction]));
    let rules = all.filter_map(rule).filter(|rule| rule.action != "Log");
    let mut found = Vec::new();
    for rule in rules {
        let is_last = rule.matches.is_empty();
        found.push(rule);
        if is_last {
            break;
        }
    }
    found
}

fn rule(value: &Value) -> Option<Rule<'_>> {
    let is_something = |value: &Value| !value.is_null() && !value.as_mapping().is_some_and(is_nothing);
    let fields = value.as_mapping()?.iter().filter(|(key, _)| !matches!(key.as_str(), "action" | "metadata"));
    let matches = fields.filter(|(_, value)| is_something(value)).map(|(key, value)| (key.clone(), value.clone()));
    Some(Rule { action: word(value, &["action"]), matches: matches.collect() })
}

/// Whether one side of a rule is for every address.
fn is_nothing(side: &Mapping) -> bool {
    let is_all = |range: &Value| range.as_str() == Some("0.0.0.0/0");
    side.iter().all(|(key, value)| key == "nets" && value.as_sequence().is_some_and(|all| all.iter().any(is_all)))
}

/// What is allowed that was denied.
fn opened(was: &[Rule<'_>], now: &[Rule<'_>], direction: &str) -> Option<&'static str> {
    let allows = |matches: &Mapping| now.iter().any(|rule| rule.action == "Allow" && rule.matches == *matches);
    let lost = was.iter().filter(|rule| rule.action == "Deny" && !now.contains(rule));
    let lost: Vec<&Rule<'_>> = lost.collect();
    match () {
        () if lost.iter().any(|rule| !rule.matches.is_empty() && allows(&rule.matches)) => {
            Some("a rule allows what it denied")
        }
        () if lost.iter().any(|rule| !rule.matches.is_empty()) && allows(&Mapping::new()) => {
            Some("what a rule denied is allowed by one that is for all")
        }
        () if is_overtaken(was, now, direction) => Some("what a rule denied is allowed by one that is before it"),
        () => None,
    }
}

/// Whether a rule that allows comes before one that denies, where it did not, and is for some of those that this one is for; also where
/// nothing denies them any more.
fn is_overtaken(was: &[Rule<'_>], now: &[Rule<'_>], direction: &str) -> bool {
    was.iter().enumerate().filter(|(_, rule)| rule.action == "Deny").any(|(index, denied)| {
        let before = was.get(..index).unwrap_or_default();
        let until = now.iter().position(|rule| rule.action == "Deny" && rule.covers(denied, direction));
        let ahead = now.get(..until.unwrap_or(now.len())).unwrap_or_default();
        let allows = |rule: &&Rule<'_>| rule.action == "Allow" && !before.contains(rule);
        ahead.iter().filter(allows).any(|rule| rule.meets(denied, direction))
    })
}

impl Rule<'_> {
    /// Whom a rule is about, and the rest of what it is for.
    fn parts(&self, direction: &str) -> (Mapping, Mapping) {
        let side = if direction == "ingress" { "source" } else { "destination" };
        let mut rest = self.matches.clone();
        let mut peer = rest.remove(side).and_then(|side| side.as_mapping().cloned()).unwrap_or_default();
        for key in ["ports", "notPorts"] {
            if let Some(ports) = peer.remove(key) {
                rest.insert(format!("{side}.{key}"), ports);
            }
        }
        (peer, rest)
    }

    /// Whether it is for all those that another one is about.
    fn is_about(&self, other: &Self, direction: &str) -> bool {
        let (peer, of_other) = (self.parts(direction).0, other.parts(direction).0);
        is_nothing(&peer) || peer == of_other || is_within(&of_other, &peer)
    }

    /// Whether it is for all that another one is for.
    fn covers(&self, other: &Self, direction: &str) -> bool {
        let (rest, of_other) = (self.parts(direction).1, other.parts(direction).1);
        self.is_about(other, direction) && rest.iter().all(|(key, value)| of_other.get(key) == Some(value))
    }

    /// Whether it is for all that another one is about, and for some of the rest. One that is about everybody is the last of a list, before
    /// which come those that name some.
    fn meets(&self, other: &Self, direction: &str) -> bool {
        let (rest, of_other) = (self.parts(direction).1, other.parts(direction).1);
        let is_same = |(key, value): (&String, &Value)| of_other.get(key).is_none_or(|other| other == value);
        !is_nothing(&other.parts(direction).0) && self.is_about(other, direction) && rest.iter().all(is_same)
    }
}

/// Whether one side has nothing but ranges, and another one has each address of them.
fn is_within(one: &Mapping, other: &Mapping) -> bool {
    let nets = |side: &Mapping| -> Option<Vec<String>> {
        let all = side.get("nets").filter(|_| side.len() == 1)?.as_sequence()?;
        Some(all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    let (Some(one), Some(other)) = (nets(one), nets(other)) else { return false };
    one.iter().all(|range| ranges::cover(other.iter().map(String::as_str), range))
}

/// A policy whose rules allow what they denied, or everything.
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if !is_policy(new) {
        return Vec::new();
    }
    let security = |text: String| Danger::said(Severity::Security, "unprotected", text, ADVICE);
    let mut found = Vec::new();
    for way in WAYS.into_iter().filter(|way| is_for(old, *way) && is_for(new, *way)) {
        let (was, now) = (deciding(&[old], way.0), deciding(&[new], way.0));
        let is_open = |rules: &[Rule<'_>]| rules.iter().any(|rule| rule.action == "Allow" && rule.matches.is_empty());
        match opened(&was, &now, way.0) {
            Some(text) => found.push(security(text.to_owned())),
            None if is_open(&now) && !is_open(&was) => {
                let is_plain = !now.iter().any(|rule| rule.action == "Deny");
                let but = if is_plain { "" } else { ", but for what a rule before it denies" };
                found.push(security(format!("{}{but}", way.2)));
            }
            None => found.extend(reordered(old, new, way.0, around).map(security)),
        }
    }
    found.dedup();
    found
}

/// A policy that another one is applied before from now on, or behind, so that one allows what the other denied.
///
/// Reference: docs.tigera.io calico reference/resources/globalnetworkpolicy, `order`: the lower is applied first, none is the last;
/// equal ones are by name.
fn reordered<'a>(old: &'a Manifest, new: &'a Manifest, direction: &str, around: &Around<'a>) -> Option<String> {
    let (was, now) = (order(old), order(new));
    if was == now {
        return None;
    }
    let others =
        around.model.after.all().iter().filter(|one| is_policy(one.manifest) && one.manifest.name() != new.name());
    let beside = others.filter(|one| {
        let other = one.manifest;
        let is_same = around
            .model
            .before
            .find(**one)
            .is_some_and(|before| before.manifest.object().get("spec") == other.object().get("spec"));
        is_same && tier(other) == tier(new) && are_for_the_same(**one, around.after(new))
    });
    let mut beside = beside.map(|one| one.manifest);
    beside.find_map(|other| {
        let of_other = order(other);
        let sides = |order: Option<f64>, policy: &'a Manifest| match before(order, of_other) {
            true => [policy, other],
            false => [other, policy],
        };
        let is_flipped = before(was, of_other) != before(now, of_other);
        let what = opened(&deciding(&sides(was, old), direction), &deciding(&sides(now, new), direction), direction);
        what.filter(|_| is_flipped).map(|what| {
            let shown = |order: Option<f64>| order.map_or("none".to_owned(), |order| order.to_string());
            let place = if before(now, of_other) { "behind" } else { "before" };
            let name = format!("{} {}", other.kind(), other.name());
            format!("`order` {} → {}: {name} is applied {place} it, and {what}", shown(was), shown(now))
        })
    })
}

/// Whether a policy of this order is applied before one of another; none is the last.
fn before(order: Option<f64>, other: Option<f64>) -> bool {
    order.unwrap_or(f64::INFINITY).total_cmp(&other.unwrap_or(f64::INFINITY)) == Ordering::Less
}

fn order(policy: &Manifest) -> Option<f64> {
    match policy.object().at(&["spec", "order"])? {
        Value::Int(order) => Some(*order as f64),
        Value::Float(order) => Some(*order),
        _ => None,
    }
}

fn tier(policy: &Manifest) -> &str {
    match word(policy.object(), &["spec", "tier"]) {
        "" => "default",
        tier => tier,
    }
}

/// Whether what one of them is for is sure to have what the other is for.
fn are_for_the_same(one: Placed<'_>, other: Placed<'_>) -> bool {
    let selector = |of: Placed<'_>| match word(of.manifest.object(), &["spec", "selector"]).trim() {
        "all()" => String::new(),
        selector => selector.to_owned(),
    };
    let (own, of_other) = (selector(one), selector(other));
    let is_scoped = [one, other].iter().any(|of| of.manifest.object().at(&["spec", "namespaceSelector"]).is_some());
    let is_place = one.namespace == other.namespace || one.namespace.is_empty() || other.namespace.is_empty();
    !is_scoped && is_place && (own == of_other || own.is_empty() || of_other.is_empty())
}
