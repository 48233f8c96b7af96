//! What goes while something needs it, and what is named and not there.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;

use super::{Around, Danger, Pair, Severity};
use crate::diff::model::{Autoscaler, How, Placed, Thing, Use, keys_of, lost_with, uses};
use crate::manifest::Manifest;

/// How many users are named.
const NAMED_MAX: usize = 4;

/// What happens to those who name something that is not there.
///
/// Reference: kubernetes docs/concepts/configuration/configmap, secret; docs/concepts/services-networking/ingress;
/// docs/reference/access-authn-authz/rbac, extensible-admission-controllers; docs/concepts/scheduling-eviction/pod-priority-preemption.
fn effect(how: How, is_one: bool) -> &'static str {
    match how {
        How::Controller if is_one => "nothing does any more what it asks for",
        How::Environment | How::SubPath | How::Files | How::Claim => {
            "Pods that are made from now on do not start without it"
        }
        How::Pods => "no Pod that needs it can be made any more",
        How::Storage => "new claims of it stay pending",
        How::Backend => "requests that are routed to it fail",
        How::Certificate => "no certificate of its own is served",
        How::Webhook => "the API server asks it and gets no answer, and refuses what it would have to ask for",
        How::Rights => "the rights that are bound to it are gone",
        How::Controller => "nothing does any more what they ask for",
        How::Analysis => "without it, a Rollout is not valid and updates no more",
        How::Pull => "images of new Pods are pulled without a login",
        How::Named => "what reads it fails, now or the next time that it is read",
    }
}

/// What an object takes with it that others still name.
pub(super) fn gone<'a>(pair: &Pair<'a>, around: &Around<'a>) -> Vec<Danger> {
    let Some(old) = pair.old else { return Vec::new() };
    let pruning = around.pruning.of(old);
    if pair.new.is_none() && !pruning.removes() {
        return Vec::new();
    }
    let lost = lost_with(around.before(old)).into_iter().filter(|thing| !around.model.after.provides(thing));
    let danger = |thing: Thing| {
        let is_made = pair.new.is_some() && thing.kind != old.kind();
        let what = if is_made { format!("no longer makes {thing}") } else { "removed".to_owned() };
        // What a custom resource names that is new may be what it makes.
        let is_known =
            |(user, one): &&(Placed<'_>, Use)| one.how != How::Named || around.model.before.find(*user).is_some();
        let users: Vec<_> = around.model.after.users(&thing).iter().filter(is_known).cloned().collect();
        let danger = needed(&thing, &users, &what)?;
        Some(if pair.new.is_none() { danger.pruned(pruning) } else { danger })
    };
    lost.filter_map(danger).collect()
}

/// Keys of a ConfigMap or Secret, or of one that is made of an object, that go while containers name them.
pub(super) fn keys_gone<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (thing, now) = keys_of(around.after(new))?;
    let (was, before) = keys_of(around.before(old))?;
    let keys: BTreeSet<String> = before.difference(&now).cloned().collect();
    if keys.is_empty() || was != thing {
        return None;
    }
    let is_gone = |one: &Use| one.how != How::SubPath && one.key.as_ref().is_some_and(|key| keys.contains(key));
    let users: Vec<(Placed<'_>, Use)> =
        around.model.after.users(&thing).iter().filter(|(_, one)| is_gone(one)).cloned().collect();
    let named: BTreeSet<&str> = users.iter().filter_map(|(_, one)| one.key.as_deref()).collect();
    needed(&thing, &users, &format!("key {} removed", listed(named, NAMED_MAX)))
}

/// The danger that those who need a thing do not have it.
fn needed(thing: &Thing, users: &[(Placed<'_>, Use)], what: &str) -> Option<Danger> {
    let needing: Vec<&(Placed<'_>, Use)> = users.iter().filter(|(_, one)| !one.is_optional).collect();
    let how = needing.iter().map(|(_, one)| one.how).min()?;
    let names: BTreeSet<String> = needing.iter().map(|(user, _)| name(user)).collect();
    let is_one = names.len() == 1;
    let names = listed(names, NAMED_MAX);
    let text = match (thing.kind, is_one) {
        ("CustomResourceDefinition", true) => {
            format!("{what}, and {names} needs it: that goes with it, and cannot be created again")
        }
        ("CustomResourceDefinition", false) => {
            format!("{what}, and {names} need it: they go with it, and cannot be created again")
        }
        (_, true) => format!("{what}, and {names} still names it: {}", effect(how, is_one)),
        (_, false) => format!("{what}, and {names} still name it: {}", effect(how, is_one)),
    };
    Some(Danger::said(Severity::Outage, "needed", text, "keep it until nothing names it any more"))
}

fn name(of: &Placed<'_>) -> String {
    format!("{} {}", of.manifest.kind(), of.manifest.name())
}

/// Kinds that come from git as a rule, so that one that is named and not there is a mistake.
const OF_GIT: [&str; 28] = [
    "ConfigMap",
    "Secret",
    "Service",
    "ServiceAccount",
    "PersistentVolumeClaim",
    "SecretProviderClass",
    "CustomResourceDefinition",
    "Gateway",
    "AnalysisTemplate",
    "Issuer",
    "ClusterIssuer",
    "WorkflowTemplate",
    "EventBus",
    "Task",
    "Pipeline",
    "TriggerTemplate",
    "TriggerBinding",
    "GitRepository",
    "OCIRepository",
    "Bucket",
    "HelmRepository",
    "Kustomization",
    "HelmRelease",
    "Cluster",
    "IPAddressPool",
    "Kafka",
    "KafkaConnect",
    "EC2NodeClass",
];

/// A name that changed to one that nothing has, or that is nearly one that there is.
pub(super) fn missing<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let before: Vec<Use> = old.map(|old| uses(around.before(old))).unwrap_or_default();
    let now = uses(around.after(new));
    let mut found = Vec::new();
    for one in &now {
        let is_asked = OF_GIT.contains(&one.thing.kind)
            && !one.is_optional
            && !matches!(one.how, How::Pull | How::Named)
            && !found.iter().any(|(of, _)| of == &one.thing);
        let was_named = before.iter().any(|was| was.thing == one.thing);
        if !is_asked || was_named || around.model.after.provides(&one.thing) {
            continue;
        }
        let replaced = before.iter().find(|was| {
            (was.thing.kind, &was.thing.namespace) == (one.thing.kind, &one.thing.namespace)
                && was.how == one.how
                && !now.iter().any(|now| now.thing == was.thing)
        });
        // Those of the cluster are often installed with their controller.
        let is_known = |was: &&Use| was.thing.kind != "ClusterIssuer" && around.model.before.provides(&was.thing);
        let near = near(&one.thing, around).or_else(|| Some(replaced.filter(is_known)?.thing.name.clone()));
        if let Some(near) = near.filter(|_| around.model.is_whole) {
            found.push((one.thing.clone(), absent(one, &near)));
        } else if let Some(danger) = elsewhere(one, &before, around) {
            found.push((one.thing.clone(), danger));
        }
    }
    found.into_iter().map(|(_, danger)| danger).collect()
}

/// A Gateway of another namespace, which may be made by somebody else, in place of one that was here.
fn elsewhere(one: &Use, before: &[Use], around: &Around<'_>) -> Option<Danger> {
    let was_here = |was: &Use| was.thing.kind == "Gateway" && around.model.before.provides(&was.thing);
    let is_moved = around.model.is_whole && one.thing.kind == "Gateway" && before.iter().any(was_here);
    is_moved.then(|| {
        let Thing { namespace, name, .. } = &one.thing;
        let text =
            format!("names Gateway {namespace}/{name}, which is not on this branch: without it, nothing is served");
        Danger::said(
            Severity::Other,
            "missing",
            text,
            "check that the Gateway is there, and takes the hosts of the route",
        )
    })
}

fn absent(one: &Use, near: &str) -> Danger {
    let text = format!("names {}, which is not here: {}; did you mean `{near}`?", one.thing, effect(one.how, true));
    // What is issued serves until it is over.
    let is_later = one.thing.kind.ends_with("Issuer");
    let severity = if is_later { Severity::Other } else { Severity::Outage };
    Danger::said(severity, "missing", text, "name one that there is, or add it before this change")
}

/// The nearest name of a kind in a namespace, where that is near.
fn near(thing: &Thing, around: &Around<'_>) -> Option<String> {
    let all = around.model.after.provided(thing.kind, &thing.namespace);
    let distance = |other: &Thing| strsim::damerau_levenshtein(&other.name, &thing.name);
    let near = all.map(|other| (distance(other), other)).min()?;
    (near.0 <= 2 && near.0 * 3 < thing.name.len()).then(|| near.1.name.clone())
}

/// An autoscaler whose target is no longer there, or that names another one which is not there.
pub(super) fn target<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let thing = scaled(around.after(new))?;
    let was = old.and_then(|old| scaled(around.before(old))).filter(|was| *was != thing);
    let [before, after] = [&around.model.before, &around.model.after];
    let is_gone = before.provides(&thing);
    let is_replaced = was.as_ref().is_some_and(|was| before.provides(was));
    let near = near(&thing, around).filter(|_| old.is_none() && around.model.is_whole);
    (!after.provides(&thing) && (is_gone || is_replaced || near.is_some())).then(|| {
        let why = if is_gone { "is no longer there" } else { "is not here: nothing is scaled" };
        let meant = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let text = format!("scales {thing}, which {why}{meant}");
        Danger::said(Severity::Other, "missing", text, "name the workload that it shall scale")
    })
}

/// What an autoscaler scales, where that is of a kind that is known.
fn scaled(of: Placed<'_>) -> Option<Thing> {
    let (kind, name) = Autoscaler::of(of)?.target;
    let kind =
        ["Deployment", "StatefulSet", "Rollout", "ReplicationController"].into_iter().find(|one| *one == kind)?;
    Some(Thing { kind, namespace: of.namespace.to_owned(), name: name.to_owned() })
}
