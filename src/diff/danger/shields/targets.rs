//! Policies of Gateways that name what they are for, and that are for nothing once it has another name.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::super::around::name;
use super::super::{Around, Danger, Severity, items};
use crate::diff::model::{Placed, Side, Thing, hosts, word};
use crate::manifest::Manifest;

/// How many are named.
const NAMED_MAX: usize = 4;

/// Groups of such policies.
///
/// Reference: gateway-api geps, gep-713 "Policy attachment": a policy is for what `targetRef`, or each of `targetRefs`, names in its namespace.
const GROUPS: [&str; 5] =
    ["gateway.envoyproxy.io", "gateway.networking.k8s.io", "gateway.nginx.org", "kuadrant.io", "networking.gke.io"];

/// Kinds that they name, of which it is known which there are.
const NAMED: [&str; 6] = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "Gateway", "Service"];

fn targets(of: Placed<'_>) -> Vec<Thing> {
    let object = of.manifest.object();
    let is_policy = GROUPS.contains(&of.manifest.home_group()) && of.manifest.kind().ends_with("Policy");
    let all = items(object, &["spec", "targetRefs"]).iter().chain(object.at(&["spec", "targetRef"]));
    let thing = |one: &Value| {
        let kind = NAMED.iter().find(|kind| **kind == word(one, &["kind"]))?;
        let namespace = match word(one, &["namespace"]) {
            "" => of.namespace,
            namespace => namespace,
        };
        Some(Thing { kind, namespace: namespace.to_owned(), name: word(one, &["name"]).to_owned() })
    };
    all.filter(|_| is_policy).filter_map(thing).collect()
}

/// What requests are asked for by a policy.
const GUARDS: [&str; 9] =
    ["jwt", "oidc", "basicAuth", "apiKeyAuth", "extAuth", "authorization", "rules", "ipFilter", "authentication"];

/// What is so without a policy, and how bad that is.
fn loss(policy: &Manifest) -> (Severity, &'static str) {
    let guards = GUARDS.iter().any(|key| policy.object().at(&["spec", key]).is_some_and(|value| !value.is_null()));
    match (policy.kind(), guards) {
        ("SecurityPolicy" | "AuthPolicy", true) => (Severity::Security, "requests are let in that it kept away"),
        ("BackendTLSPolicy", _) => (Severity::Outage, "its backend is asked in plain text"),
        _ => (Severity::Other, "what it asks for is not done"),
    }
}

/// A policy that names something else than before, which is not there.
pub(in crate::diff::danger) fn untargeted<'a>(
    old: &'a Manifest,
    new: &'a Manifest,
    around: &Around<'a>,
) -> Option<Danger> {
    let (was, now) = (targets(around.before(old)), targets(around.after(new)));
    let (before, after) = (&around.model.before, &around.model.after);
    let is_known = was.iter().any(|one| has(before, one) && !now.contains(one));
    let lost = now.iter().find(|one| !was.contains(one) && !has(after, one) && is_known && around.model.is_whole)?;
    let (severity, loss) = loss(new);
    let text = format!("is for {lost}, which is not here: {loss}");
    Some(Danger::said(severity, "untargeted", text, "name one that there is, or add it before this change"))
}

fn has(side: &Side<'_>, thing: &Thing) -> bool {
    let is_it = |one: &Placed<'_>| {
        (one.manifest.kind(), one.manifest.name(), one.namespace) == (thing.kind, &thing.name, &thing.namespace)
    };
    side.provides(thing) || side.all().iter().any(is_it)
}

/// A route that goes while a policy names it, and another one comes for its hosts, without that policy.
pub(in crate::diff::danger) fn left<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (before, after) = (&around.model.before, &around.model.after);
    let placed = around.before(old);
    if old.home_group() != "gateway.networking.k8s.io"
        || !old.kind().ends_with("Route")
        || !around.pruning.of(old).removes()
    {
        return None;
    }
    let is_it = |thing: &Thing| {
        (thing.kind, thing.name.as_str(), &*thing.namespace) == (old.kind(), old.name(), placed.namespace)
    };
    let comes = |one: &&Placed<'a>| {
        one.manifest.kind() == old.kind()
            && before.find(**one).is_none()
            && hosts(one.manifest).iter().any(|host| hosts(old).contains(host))
    };
    let other = after.all().iter().find(comes)?;
    let is_for_other = |thing: &Thing| {
        (thing.kind, thing.name.as_str(), &*thing.namespace)
            == (other.manifest.kind(), other.manifest.name(), other.namespace)
    };
    let all: Vec<Placed<'a>> = after.all().iter().copied().filter(|one| targets(*one).iter().any(is_it)).collect();
    let is_left = |one: &Placed<'a>| {
        let mut same = after.all().iter().filter(|other| other.manifest.kind() == one.manifest.kind());
        loss(one.manifest).0 == Severity::Security && !same.any(|policy| targets(*policy).iter().any(is_for_other))
    };
    let names: BTreeSet<String> = all.into_iter().filter(is_left).map(name).collect();
    (!names.is_empty()).then(|| {
        let text = format!(
            "{} comes in its place, and {} is still for this one: requests are let in that it kept away",
            name(*other),
            listed(names, NAMED_MAX)
        );
        Danger::said(Severity::Security, "untargeted", text, "check that the policy names the route that comes")
    })
}
