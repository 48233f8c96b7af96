//! What is lost with an object.

use super::{Around, Danger, Pruning, Severity, What, text};
use crate::manifest::Manifest;

/// What goes with an object that is removed, unless Argo CD keeps it.
pub(super) fn removed(old: &Manifest, around: &Around<'_>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let (severity, loss) = loss(old)?;
    pruning.removes().then(|| Danger::new(severity, What::Removed { loss }).pruned(pruning))
}

/// What goes with an object that another Application has now, where Argo CD removes it from the old one by itself: which of the
/// two comes first is open. Applied by the new one first, it is the new one's, and the old one leaves it alone.
///
/// Reference: argo-cd 3.4 docs/user-guide/resource_tracking.md.
pub(super) fn handed_over(old: &Manifest, around: &Around<'_>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let (severity, loss) = loss(old).filter(|_| matches!(pruning, Pruning::Automatic | Pruning::Cascade))?;
    Some(Danger::new(severity, What::HandedOver { loss }).pruned(pruning))
}

/// Reference: kubernetes docs/concepts/storage/persistent-volumes, workloads/controllers/statefulset;
/// docs/tasks/administer-cluster/namespaces.
fn loss(old: &Manifest) -> Option<(Severity, &'static str)> {
    use Severity::{DataLoss, Outage};
    Some(match (old.group(), old.kind()) {
        ("", "Namespace") => (DataLoss, "with everything in it"),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => (DataLoss, "with all objects of its kind"),
        ("", "PersistentVolumeClaim") => (DataLoss, "with its volume and data, unless the volume is retained"),
        ("", "PersistentVolume") if text(old, &["spec", "persistentVolumeReclaimPolicy"]) == "Retain" => return None,
        ("", "PersistentVolume") => (DataLoss, "with its data, unless its policy is Retain"),
        ("apps", "StatefulSet") if deletes_claims(old) => {
            (DataLoss, "with its Pods and the claims of their volumes (`whenDeleted: Delete`)")
        }
        ("apps", "StatefulSet") => (Outage, "with its Pods; its volume claims stay"),
        _ => return None,
    })
}

fn deletes_claims(set: &Manifest) -> bool {
    text(set, &["spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"]) == "Delete"
}
