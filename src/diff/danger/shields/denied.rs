//! Connections that policies of Cilium no longer deny, or that they deny altogether.
//!
//! Reference: docs.cilium.io security/policy/intro, "Rule Basics": a policy denies what it does not allow in a direction for which it has
//! rules, unless `enableDefaultDeny` says otherwise; an empty rule allows nothing, an empty list is not a rule; security/policy/deny: what
//! denies goes before what allows; security/policy/language, "IP/CIDR based": `except` is left out of a range.

use go_yaml::{Mapping, Value};

use super::rules;
use crate::diff::danger::{Around, Danger, Severity, items, ranges};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

/// A direction: its rules, those that deny, and whom it is about.
const WAYS: [(&str, &str, [&str; 2]); 2] = [
    ("ingress", "ingressDeny", ["to its Pods", "its Pods take connections from everywhere"]),
    ("egress", "egressDeny", ["from its Pods", "its Pods may connect to everything"]),
];

fn is_policy(object: &Manifest) -> bool {
    object.home_group() == "cilium.io" && object.kind().ends_with("NetworkPolicy")
}

/// Whether a policy denies what it does not allow.
fn isolates(policy: &Manifest, direction: &str, deny: &str) -> bool {
    let specs = policy.object().get("spec").into_iter().chain(items(policy.object(), &["specs"]));
    let by_rules = |spec: &Value| !items(spec, &[direction]).is_empty() || !items(spec, &[deny]).is_empty();
    let mut specs = specs.map(|spec| {
        spec.at(&["enableDefaultDeny", direction]).and_then(Value::as_bool).unwrap_or_else(|| by_rules(spec))
    });
    specs.any(|isolates| isolates)
}

/// Whether some rule lets something through.
fn allows(policy: &Manifest, direction: &str) -> bool {
    rules(policy, direction).any(|rule| rule.as_mapping().is_some_and(|fields| !fields.is_empty()))
}

/// The other policies of Cilium for the same Pods.
fn beside<'a>(policy: Placed<'a>, side: &Side<'a>) -> Vec<&'a Manifest> {
    let selector = |of: &'a Manifest| of.object().at(&["spec", "endpointSelector"]);
    let is_it = |one: &&Placed<'a>| {
        is_policy(one.manifest)
            && one.manifest.name() != policy.manifest.name()
            && one.namespace == policy.namespace
            && selector(one.manifest) == selector(policy.manifest)
    };
    side.all().iter().filter(is_it).map(|one| one.manifest).collect()
}

/// What becomes of what a policy denies.
pub(in crate::diff::danger) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if !is_policy(old) || !is_policy(new) {
        return Vec::new();
    }
    let others = beside(around.after(new), &around.model.after);
    let mut found = Vec::new();
    for (direction, deny, [pods, open]) in WAYS {
        let isolated = |policy: &Manifest| isolates(policy, direction, deny);
        let security = |text, advice| Danger::said(Severity::Security, "unprotected", text, advice);
        if isolated(old) && !isolated(new) && !others.iter().any(|other| isolated(other)) {
            let text = format!("denies nothing that it does not allow any more: {open}");
            found.push(security(text, "keep a rule for what shall get through, and no more"));
        } else if allows(old, direction)
            && isolated(new)
            && !allows(new, direction)
            && !others.iter().any(|other| allows(other, direction))
        {
            let text = format!("allows no connection {pods} any more");
            let advice = "keep the rules for what shall get through";
            found.push(Danger::said(Severity::Outage, "blocking", text, advice));
        } else {
            let denied: Vec<Denied<'_>> = others.iter().chain([&new]).flat_map(|one| units(one, deny)).collect();
            let is_lost = units(old, deny).iter().any(|one| !denied.iter().any(|other| other.covers(one)));
            if is_lost && (allows(new, direction) || !isolated(new)) {
                let text = format!("`{deny}`: connections that a rule denied are allowed where others allow them");
                found.push(security(text, "keep the rule that denies them"));
            }
            if let Some(range) = included(old, new, direction) {
                let text = format!("{range} is no longer left out of a range that `{direction}` allows");
                found.push(security(text, "keep the range in `except`"));
            }
        }
    }
    found
}

/// One of those whom a rule denies.
struct Denied<'m> {
    /// The list that it is in; nothing where a rule names none.
    list: &'m str,
    peer: Option<&'m Value>,
    /// The ports of the rule, and what else it says.
    rest: Mapping,
}

fn is_peers(key: &str) -> bool {
    key.starts_with("from") || key.starts_with("to") && !matches!(key, "toPorts")
}

fn units<'m>(policy: &'m Manifest, deny: &'m str) -> Vec<Denied<'m>> {
    let mut found = Vec::new();
    for fields in rules(policy, deny).filter_map(Value::as_mapping) {
        let mut rest = fields.clone();
        rest.retain(|key, _| !is_peers(key));
        let lists = fields.iter().filter(|(key, _)| is_peers(key));
        let peers =
            lists.flat_map(|(key, list)| list.as_sequence().into_iter().flatten().map(|one| (key.as_str(), one)));
        let before = found.len();
        found.extend(peers.map(|(list, peer)| Denied { list, peer: Some(peer), rest: rest.clone() }));
        if found.len() == before && !fields.is_empty() {
            found.push(Denied { list: "", peer: None, rest });
        }
    }
    found
}

/// The range of a peer, and what is left out of it.
fn range(peer: &Value) -> Option<(&str, Vec<&str>)> {
    let cidr = peer.as_str().filter(|text| text.contains('/')).unwrap_or_else(|| word(peer, &["cidr"]));
    let except = items(peer, &["except"]).iter().filter_map(Value::as_str).collect();
    (!cidr.is_empty()).then_some((cidr, except))
}

impl Denied<'_> {
    fn covers(&self, other: &Self) -> bool {
        if !self.rest.is_empty() && self.rest != other.rest {
            return false;
        }
        let ranges_cover = || {
            let (Some((wide, but)), Some((narrow, left))) = (self.peer.and_then(range), other.peer.and_then(range))
            else {
                return false;
            };
            ranges::cover([wide], narrow) && but.iter().all(|but| ranges::cover(left.iter().copied(), but))
        };
        self.peer.is_none() || self.list == other.list && self.peer == other.peer || ranges_cover()
    }
}

/// A range that was left out of one that is allowed, and is not any more.
fn included<'m>(old: &'m Manifest, new: &'m Manifest, direction: &'m str) -> Option<&'m str> {
    let now = units(new, direction);
    let same = |one: &&Denied<'m>, other: &&Denied<'m>| {
        let cidr = |of: &Denied<'m>| of.peer.and_then(range).map(|(cidr, _)| cidr);
        one.list == other.list && one.rest == other.rest && cidr(one) == cidr(other)
    };
    for was in units(old, direction) {
        let Some((_, before)) = was.peer.and_then(range) else { continue };
        let Some(one) = now.iter().find(|one| same(&&was, one)) else { continue };
        let after = one.peer.and_then(range).map(|(_, except)| except).unwrap_or_default();
        if let Some(range) = before.into_iter().find(|one| !ranges::cover(after.iter().copied(), one)) {
            return Some(range);
        }
    }
    None
}
