//! What is lost with an object.

use super::{Around, Danger, Pruning, Severity, What, application, operators, text};
use crate::diff::model::Placed;
use crate::manifest::Manifest;

/// What goes with an object that is removed, unless Argo CD keeps it.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let (severity, loss) = match loss(old) {
        Some(loss) => loss,
        None if (old.home_group(), old.kind()) == ("", "Service") => left_alone(around.before(old), around)?,
        None => return operators::removed(old, around),
    };
    pruning.removes().then(|| Danger::new(severity, What::Removed { loss }).pruned(pruning))
}

/// Whether nothing but its users miss an object.
pub(super) fn is_only_needed(old: &Manifest) -> bool {
    matches!((old.home_group(), old.kind()), ("", "Service"))
}

/// A Service whose Pods stay, and that no other is for.
fn left_alone(service: Placed<'_>, around: &Around<'_>) -> Option<(Severity, &'static str)> {
    let after = &around.model.after;
    let mut pods = around.model.before.served_by(service).into_iter().filter_map(|workload| after.find(workload));
    let is_lone = |workload: Placed<'_>| after.services_of(workload).is_empty();
    let loss = "with its name and address: nothing leads to its Pods any more, which stay";
    pods.any(is_lone).then_some((Severity::Outage, loss))
}

/// Kinds whose objects lose nothing when they are removed and made anew.
const MADE_ANEW: [&str; 9] = [
    "Deployment",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "Rollout",
    "CronJob",
    "NodePool",
    "Application",
    "ApplicationSet",
];

/// What goes with an object that another Application has now, where Argo CD removes it from the old one by itself: which of the
/// two comes first is open. Applied by the new one first, it is the new one's, and the old one leaves it alone.
///
/// Reference: argo-cd 3.4 docs/user-guide/resource_tracking.md.
pub(super) fn handed_over(old: &Manifest, around: &Around<'_>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let is_made_anew = |kind: &str| MADE_ANEW.contains(&kind);
    let (severity, loss) = loss(old).filter(|_| !is_made_anew(old.kind()))?;
    matches!(pruning, Pruning::Automatic | Pruning::Cascade)
        .then(|| Danger::new(severity, What::HandedOver { loss }).pruned(pruning))
}

/// Reference: kubernetes docs/concepts/storage/persistent-volumes, workloads/controllers/statefulset;
/// docs/tasks/administer-cluster/namespaces.
pub(super) fn loss(old: &Manifest) -> Option<(Severity, &'static str)> {
    use Severity::{DataLoss, Other, Outage};
    Some(match (old.home_group(), old.kind()) {
        ("", "Namespace") => (DataLoss, "with everything in it"),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => (DataLoss, "with all objects of its kind"),
        ("", "PersistentVolumeClaim") => (DataLoss, "with its volume and data, unless the volume is retained"),
        ("", "PersistentVolume") if text(old, &["spec", "persistentVolumeReclaimPolicy"]) == "Retain" => return None,
        ("", "PersistentVolume") => (DataLoss, "with its data, unless its policy is Retain"),
        ("apps", "StatefulSet") if deletes_claims(old) => {
            (DataLoss, "with its Pods and the claims of their volumes (`whenDeleted: Delete`)")
        }
        ("apps", "StatefulSet") => (Outage, "with its Pods; its volume claims stay"),
        ("apps", "Deployment" | "DaemonSet" | "ReplicaSet") | ("argoproj.io", "Rollout") => (Outage, "with its Pods"),
        ("", "ReplicationController") => (Outage, "with its Pods"),
        ("batch", "CronJob") => (Other, "with its Jobs: it no longer runs"),
        // Reference: karpenter.sh docs/concepts/nodepools, disruption: its nodes are drained and deleted with it.
        ("karpenter.sh", "NodePool") => (Outage, "with its nodes, whose Pods are moved to others or wait"),
        _ => (Outage, application::loss(old)?),
    })
}

fn deletes_claims(set: &Manifest) -> bool {
    text(set, &["spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"]) == "Delete"
}
