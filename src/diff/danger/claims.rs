//! Claims that one node alone may have, and Pods on several.
//!
//! Reference: kubernetes docs/concepts/storage/persistent-volumes, "Access Modes": `ReadWriteOnce` is for the Pods of one node,
//! `ReadWriteOncePod` for one Pod; docs/concepts/workloads/controllers/deployment, "Strategy".

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::{Mapping, Value};

use super::availability::fewest;
use super::mounts::{Source, mounts};
use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::spec;
use crate::diff::model::{Placed, Side, Thing, word};
use crate::manifest::Manifest;

/// How many workloads are named.
const NAMED_MAX: usize = 4;

/// A workload whose Pods, all together or those of one version and the next, need a claim of one node.
pub(super) fn shared<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (before, after) = (old.map(|old| around.before(old)), around.after(new));
    let claims = of_one_node(after, &around.model.after);
    let danger = |text| {
        let advice = "keep it to what one node runs, or use a claim that is ReadWriteMany";
        Some(Danger::said(Severity::Other, "sharedClaim", text, advice))
    };
    let is_many = |workload: Placed<'a>, side: &Side<'a>| fewest(workload, side).is_some_and(|count| count > 1);
    let had = before.map(|before| of_one_node(before, &around.model.before)).unwrap_or_default();
    let was_many = before.is_some_and(|before| is_many(before, &around.model.before));
    let claim = claims.iter().next()?;
    if is_many(after, &around.model.after) && !(was_many && had.contains(claim)) {
        let text =
            format!("several of its Pods need claim {claim}, which is for one node: those on other nodes do not start");
        return danger(text);
    }
    let old = old?;
    let is_recreated = |object: &Manifest| word(object.object(), &["spec", "strategy", "type"]) == "Recreate";
    // Without one more than its replicas, the Pod of before goes first.
    let surge = new.object().at(&["spec", "strategy", "rollingUpdate", "maxSurge"]);
    let is_none = matches!(surge, Some(Value::Int(0))) || surge.and_then(Value::as_str) == Some("0%");
    if new.kind() == "Deployment" && is_recreated(old) && !is_recreated(new) && !is_none && had.contains(claim) {
        let text = format!(
            "in place of `Recreate`: a new Pod on another node waits for claim {claim}, which the Pod of before has, and the rollout does not end"
        );
        let advice = "keep `type: Recreate` while the claim is for one node";
        return Some(Danger::said(Severity::Other, "sharedClaim", text, advice));
    }
    None
}

/// A workload that needs a claim of one node which others have, from now on.
pub(super) fn taken<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let placed = around.after(new);
    let side = &around.model.after;
    let had = old.map(|old| of_one_node(around.before(old), &around.model.before)).unwrap_or_default();
    let claims = of_one_node(placed, side);
    let claim = claims.iter().find(|claim| !had.contains(*claim))?;
    let is_other = |one: &Placed<'a>| (one.manifest.kind(), one.manifest.name()) != (new.kind(), new.name());
    let others =
        side.workloads(placed.namespace).filter(is_other).filter(|one| of_one_node(*one, side).contains(claim));
    // One that has it since before: of two that come, either would say it.
    let stays = |one: &Placed<'a>| {
        around.model.before.find(*one).is_some_and(|was| of_one_node(was, &around.model.before).contains(claim))
    };
    let of_others = side.beside_of_claims().filter(|one| one.namespace == placed.namespace).filter(is_other);
    let of_others = of_others.filter(|one| of_one_node(*one, side).contains(claim));
    let names: BTreeSet<String> = others.filter(stays).chain(of_others).map(super::around::name).collect();
    (!names.is_empty()).then(|| {
        let has = if names.len() == 1 { "has" } else { "have" };
        let text = format!(
            "needs claim {claim}, which is for one node, and {} {has} it: its Pods on other nodes do not start",
            listed(names, NAMED_MAX)
        );
        let advice = "keep one of them, or use a claim that is ReadWriteMany";
        Danger::said(Severity::Other, "sharedClaim", text, advice)
    })
}

/// The claims of one node that a workload needs, where nothing keeps its Pods on that.
fn of_one_node<'a>(workload: Placed<'a>, side: &Side<'a>) -> BTreeSet<&'a str> {
    let manifest = workload.manifest;
    let is_it = matches!(
        (manifest.home_group(), manifest.kind()),
        ("apps", "Deployment" | "StatefulSet" | "ReplicaSet")
            | ("argoproj.io", "Rollout")
            | ("batch", "CronJob" | "Job")
    );
    if !is_it || fewest(workload, side) == Some(0) || spec(manifest).is_none_or(is_on_one_node) {
        return BTreeSet::new();
    }
    let claims = mounts(manifest).into_iter().filter_map(|mount| match mount.source {
        Source::Claim(name) => Some(name),
        _ => None,
    });
    claims.filter(|name| is_of_one_node(workload.namespace, name, side)).collect()
}

fn is_of_one_node(namespace: &str, name: &str, side: &Side<'_>) -> bool {
    let thing = Thing { kind: "PersistentVolumeClaim", namespace: namespace.to_owned(), name: name.to_owned() };
    let beside = side.beside_of_claims().filter(|one| one.namespace == namespace && one.manifest.name() == name);
    let makers = side.makers(&thing).iter().copied().chain(beside);
    let mut makers = makers.filter(|one| one.manifest.kind() == "PersistentVolumeClaim");
    makers.any(|claim| {
        let object = claim.manifest.object();
        let modes = items(object, &["spec", "accessModes"]);
        let is_one = |mode: &Value| matches!(mode.as_str(), Some("ReadWriteOnce" | "ReadWriteOncePod"));
        // Pods go to the node that has the volume.
        let class = word(object, &["spec", "storageClassName"]);
        let is_local = ["local", "hostpath", "host-path"].iter().any(|part| class.contains(part));
        !modes.is_empty() && modes.iter().all(is_one) && !is_local
    })
}

/// Whether Pods ask for one node, or to be beside others.
fn is_on_one_node(pods: &Value) -> bool {
    let selector = pods.get("nodeSelector").and_then(Value::as_mapping);
    let has_host = selector.into_iter().flat_map(Mapping::keys).any(|key| key == "kubernetes.io/hostname");
    let affinity = |kind: &str| pods.at(&["affinity", kind]).is_some_and(|value| !value.is_null());
    has_host || affinity("nodeAffinity") || affinity("podAffinity") || !word(pods, &["nodeName"]).is_empty()
}
