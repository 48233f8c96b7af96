//! Nodes that Karpenter makes for Pods: the labels and taints of its NodePools.
//!
//! Reference: karpenter.sh docs/concepts/nodepools, scheduling; kubernetes docs/concepts/scheduling-eviction/taint-and-toleration.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::name;
use super::quantity::quantity;
use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::spec;
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

/// How many workloads are named.
const NAMED_MAX: usize = 4;

fn is_pool(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("karpenter.sh", "NodePool")
}

/// Workloads that nodes of a NodePool took, and that those of none take any more.
pub(super) fn untaken<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (before, after) = (&around.model.before, &around.model.after);
    let is_lost = |was: Placed<'a>, now: Placed<'a>| {
        let pools = pools(after);
        let was_taken = self::pools(before).any(|pool| wants(was.manifest, pool) && takes(pool, was.manifest));
        was_taken && !pools.into_iter().any(|pool| takes(pool, now.manifest))
    };
    let advice = "keep the labels, the taints and the tolerations of both";
    if is_pool(new) {
        let own = workloads(after).filter(|one| is_same(before, *one));
        let beside = after.beside_of("apps").filter(|one| is_workload(one.manifest));
        let is_of_it = |one: &Placed<'a>| {
            let workload = one.manifest;
            wants(workload, old) && takes(old, workload) && !takes(new, workload) && is_lost(*one, *one)
        };
        let names: BTreeSet<String> = own.chain(beside).filter(is_of_it).map(name).collect();
        return (!names.is_empty()).then(|| {
            let text = format!(
                "its nodes no longer take the Pods of {}, and those of no other NodePool do: they stay pending",
                listed(names, NAMED_MAX)
            );
            Danger::said(Severity::Outage, "unschedulable", text, advice)
        });
    }
    let (was, now) = (around.before(old), around.after(new));
    let is_changed = asked(old) != asked(new);
    // Without a label that it asks for, other nodes may take it.
    (is_workload(new) && is_changed && !wanted(new).is_empty() && is_lost(was, now)).then(|| {
        let text =
            "nodes of no NodePool take its Pods any more, by their labels and taints: they stay pending".to_owned();
        Danger::said(Severity::Outage, "unschedulable", text, advice)
    })
}

/// A NodePool that makes no nodes from now on.
///
/// Reference: karpenter.sh docs/concepts/nodepools, `spec.limits`.
pub(super) fn unmade(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let limit = |pool: &Manifest, key: &str| pool.object().at(&["spec", "limits", key]).and_then(quantity);
    let is_none = |key: &&&str| limit(new, key) == Some(0.0) && limit(old, key) != Some(0.0);
    let key = ["cpu", "memory", "nodes"].iter().find(is_none).filter(|_| is_pool(new))?;
    let text = format!("`limits.{key}: 0`: no node is made any more, not even for one that goes");
    Some(Danger::said(Severity::Outage, "unschedulable", text, "keep room for the Pods that need its nodes"))
}

fn pools<'s, 'a>(side: &'s Side<'a>) -> impl Iterator<Item = &'a Manifest> + use<'s, 'a> {
    let own = side.all().iter().map(|one| one.manifest);
    own.chain(side.beside_of("karpenter.sh").map(|one| one.manifest)).filter(|one| is_pool(one))
}

fn is_workload(object: &Manifest) -> bool {
    object.home_group() == "apps" && matches!(object.kind(), "Deployment" | "StatefulSet" | "DaemonSet")
}

fn workloads<'s, 'a>(side: &'s Side<'a>) -> impl Iterator<Item = Placed<'a>> + use<'s, 'a> {
    side.all().iter().copied().filter(|one| is_workload(one.manifest))
}

/// Whether what a workload asks of nodes is what it was: else it is said of the workload.
fn is_same<'a>(before: &Side<'a>, now: Placed<'a>) -> bool {
    before.find(now).is_some_and(|was| asked(was.manifest) == asked(now.manifest))
}

/// What a workload asks of nodes.
fn asked(workload: &Manifest) -> [Option<&Value>; 3] {
    let pods = spec(workload);
    let part = |path: &[&str]| pods.and_then(|pods| pods.at(path));
    [part(&["nodeSelector"]), part(&["tolerations"]), part(&["affinity", "nodeAffinity"])]
}

/// The labels that nodes of a pool have for sure.
fn labels(pool: &Manifest) -> BTreeMap<String, String> {
    let value = pool.object();
    let own = value.at(&["spec", "template", "metadata", "labels"]).and_then(Value::as_mapping);
    let own = own.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    let single = |one: &Value| match items(one, &["values"]) {
        [value] if word(one, &["operator"]) == "In" => {
            Some((word(one, &["key"]).to_owned(), value.as_str()?.to_owned()))
        }
        _ => None,
    };
    let required = items(value, &["spec", "template", "spec", "requirements"]).iter().filter_map(single);
    let mut all: BTreeMap<String, String> = own.chain(required).collect();
    all.insert("karpenter.sh/nodepool".to_owned(), pool.name().to_owned());
    all
}

/// The labels that a workload asks for, each with the values of which one has to be.
fn wanted(workload: &Manifest) -> Vec<(String, BTreeSet<String>)> {
    let Some(pods) = spec(workload) else { return Vec::new() };
    let selector = pods.get("nodeSelector").and_then(Value::as_mapping);
    let plain = selector.into_iter().flatten();
    let plain = plain.filter_map(|(key, value)| Some((key.clone(), BTreeSet::from([value.as_str()?.to_owned()]))));
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let terms = items(pods, &["affinity", "nodeAffinity", required, "nodeSelectorTerms"]);
    let expressions = match terms {
        [term] => items(term, &["matchExpressions"]),
        _ => &[],
    };
    let listed = expressions.iter().filter(|one| word(one, &["operator"]) == "In").map(|one| {
        let values = items(one, &["values"]).iter().filter_map(Value::as_str).map(str::to_owned);
        (word(one, &["key"]).to_owned(), values.collect())
    });
    plain.chain(listed).collect()
}

/// Whether a workload asks for nodes of a pool by a label that they have.
fn wants(workload: &Manifest, pool: &Manifest) -> bool {
    let labels = labels(pool);
    let is_general = |key: &str| key.starts_with("kubernetes.io/") || key.starts_with("topology.kubernetes.io/");
    wanted(workload)
        .iter()
        .any(|(key, values)| !is_general(key) && labels.get(key).is_some_and(|is| values.contains(is)))
}

/// Whether nodes of a pool take the Pods of a workload, or may.
fn takes(pool: &Manifest, workload: &Manifest) -> bool {
    let labels = labels(pool);
    let requirements = items(pool.object(), &["spec", "template", "spec", "requirements"]);
    let is_known = |key: &str| key.contains("kubernetes.io/") || key.contains("karpenter");
    let is_met = |(key, values): &(String, BTreeSet<String>)| {
        if let Some(is) = labels.get(key) {
            return values.contains(is);
        }
        match requirements.iter().find(|one| word(one, &["key"]) == key) {
            Some(one) if word(one, &["operator"]) == "In" => {
                items(one, &["values"]).iter().filter_map(Value::as_str).any(|value| values.contains(value))
            }
            Some(_) => true,
            None => is_known(key),
        }
    };
    let tolerations = spec(workload).map(|pods| items(pods, &["tolerations"])).unwrap_or_default();
    let taints = items(pool.object(), &["spec", "template", "spec", "taints"]).iter();
    let mut taints = taints.filter(|taint| word(taint, &["effect"]) != "PreferNoSchedule");
    wanted(workload).iter().all(is_met) && taints.all(|taint| tolerations.iter().any(|one| tolerates(one, taint)))
}

fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let same = |key: &str| word(toleration, &[key]) == word(taint, &[key]);
    let is_effect = word(toleration, &["effect"]).is_empty() || same("effect");
    match word(toleration, &["operator"]) {
        "Exists" => is_effect && (word(toleration, &["key"]).is_empty() || same("key")),
        _ => is_effect && same("key") && same("value"),
    }
}
