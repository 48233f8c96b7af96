//! What is lost with an object.

use go_yaml::Value;

use super::{Around, Danger, Pruning, Severity, What, application, is_for_the_same, operators, text};
use crate::diff::model::pods::{is_workload, replicas};
use crate::diff::model::{Model, Placed, chooses};
use crate::manifest::Manifest;

/// What goes with an object that is removed, unless Argo CD keeps it.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    if has_nothing(old, around) {
        return None;
    }
    let (severity, loss) = match retained(old, around).or_else(|| loss(old)) {
        Some(loss) => loss,
        None if (old.home_group(), old.kind()) == ("", "Service") => left_alone(around.before(old), around)?,
        None => return operators::removed(old, around),
    };
    let is_renamed = is_workload(old) && around.counterpart.is_some_and(|new| is_for_the_same(old, new));
    pruning.removes().then(|| Danger::new(severity, What::Removed { loss, is_renamed }).pruned(pruning))
}

/// Whether a workload has neither Pods nor data that go with it.
fn has_nothing<'a>(old: &'a Manifest, around: &Around<'a>) -> bool {
    let is_idle = || around.model.before.autoscalers(around.before(old)).is_empty();
    is_workload(old) && replicas(old) == Some(0) && !deletes_claims(old) && is_idle()
}

/// Whether nothing but its users miss an object.
pub(super) fn is_only_needed(old: &Manifest) -> bool {
    matches!((old.home_group(), old.kind()), ("", "Service"))
}

/// A Service whose Pods stay, and that no other is for, or none but those that come with its removal.
fn left_alone(service: Placed<'_>, around: &Around<'_>) -> Option<(Severity, &'static str)> {
    let Model { before, after, .. } = around.model;
    let pods: Vec<_> = before.served_by(service).into_iter().filter_map(|workload| after.find(workload)).collect();
    let services = |workload: &Placed<'_>| after.services_of(*workload);
    let is_new = |service: &Placed<'_>| before.find(*service).is_none();
    let loss = match () {
        () if pods.iter().any(|one| services(one).is_empty()) => {
            "with its name and address: nothing leads to its Pods any more, which stay"
        }
        () if pods.iter().any(|one| services(one).iter().all(is_new)) => {
            "with its name in DNS and its address: what leads to its Pods now has others"
        }
        () => return None,
    };
    Some((Severity::Outage, loss))
}

/// Kinds whose objects lose nothing when they are removed and made anew.
const MADE_ANEW: [&str; 15] = [
    "Deployment",
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "Rollout",
    "CronJob",
    "NodePool",
    "Application",
    "ApplicationSet",
    "APIService",
    "DeploymentConfig",
    "Pod",
    "PrometheusAgent",
    "Pooler",
    "HelmRelease",
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
        ("", "PersistentVolume") if is_retained(old) => return None,
        ("", "PersistentVolume") => (DataLoss, "with its data"),
        ("apiregistration.k8s.io", "APIService")
            if old.object().at(&["spec", "service"]).and_then(Value::as_mapping).is_some() =>
        {
            (Outage, "with its group of the API: requests for objects of it fail")
        }
        ("apps", "StatefulSet") if deletes_claims(old) => {
            (DataLoss, "with its Pods and the claims of their volumes (`whenDeleted: Delete`)")
        }
        ("apps", "StatefulSet") => (Outage, "with its Pods; its volume claims stay"),
        ("apps", "Deployment" | "DaemonSet" | "ReplicaSet") | ("argoproj.io", "Rollout") => (Outage, "with its Pods"),
        ("", "ReplicationController") | ("apps.openshift.io", "DeploymentConfig") => (Outage, "with its Pods"),
        ("", "Pod") if !matches!(text(old, &["spec", "restartPolicy"]), "Never" | "OnFailure") => {
            (Outage, "and nothing makes it again")
        }
        // Reference: prometheus-operator docs/api-reference/api; cloudnative-pg docs, connection_pooling; knative.dev docs/serving.
        ("monitoring.coreos.com", "Prometheus" | "PrometheusAgent" | "Alertmanager" | "ThanosRuler") => {
            (Outage, "with its Pods; its volume claims stay")
        }
        ("postgresql.cnpg.io", "Pooler") => (Outage, "with its Pods and the Service that clients connect to"),
        ("serving.knative.dev", "Service") => (Outage, "with its Pods and its host"),
        // Reference: fluxcd.io docs/components/helm/helmreleases, "Finalizer": its release is uninstalled.
        ("helm.toolkit.fluxcd.io", "HelmRelease") => (Outage, "with all that its chart installed"),
        ("gateway.networking.k8s.io", "Gateway") => (Outage, "with its address and its listeners"),
        ("batch", "CronJob") => (Other, "with its Jobs: it no longer runs"),
        // Reference: karpenter.sh docs/concepts/nodepools, disruption: its nodes are drained and deleted with it.
        ("karpenter.sh", "NodePool") => (Outage, "with its nodes, whose Pods are moved to others or wait"),
        _ => (Outage, application::loss(old)?),
    })
}

/// Whether the data of a volume outlive its claim: one that was written by hand says otherwise, or does.
///
/// Reference: kubernetes API PersistentVolumeSpec `persistentVolumeReclaimPolicy`: "Retain (default for manually created
/// PersistentVolumes)".
fn is_retained(volume: &Manifest) -> bool {
    matches!(text(volume, &["spec", "persistentVolumeReclaimPolicy"]), "" | "Retain")
}

/// What becomes of a claim whose volume is known to stay, and of a volume that a claim is bound to which stays.
///
/// Reference: kubernetes docs/concepts/storage/persistent-volumes, "Reclaiming", "Storage Object in Use Protection", "Reserving a
/// PersistentVolume".
fn retained<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<(Severity, &'static str)> {
    let (before, after) = (&around.model.before, &around.model.after);
    match (old.home_group(), old.kind()) {
        ("", "PersistentVolumeClaim") => {
            let claim = around.before(old);
            let class = text(old, &["spec", "storageClassName"]);
            let mut volumes = before.listed("PersistentVolume").filter(|volume| is_bound(volume.manifest, claim));
            let mut classes = before.listed("StorageClass").filter(|one| one.manifest.name() == class);
            // A volume that is released is reclaimed by the policy that it has then.
            let stays_retained = |volume: &Manifest| {
                let mut now = after.listed("PersistentVolume").filter(|one| one.manifest.name() == volume.name());
                is_retained(volume) && now.next().is_none_or(|now| is_retained(now.manifest))
            };
            let stays = match volumes.next() {
                Some(volume) => stays_retained(volume.manifest),
                None => classes.any(|class| text(class.manifest, &["reclaimPolicy"]) == "Retain"),
            };
            let loss = "and its volume stays, released: no other claim gets that until its `claimRef` is taken away";
            stays.then_some((Severity::Other, loss))
        }
        ("", "PersistentVolume") if is_retained(old) => {
            let is_claim =
                |one: &&Placed<'_>| (one.manifest.home_group(), one.manifest.kind()) == ("", "PersistentVolumeClaim");
            let mut claims = after.all().iter().filter(is_claim);
            let is_used = claims.any(|claim| is_bound(old, *claim));
            is_used.then_some((
                Severity::Outage,
                "while a claim that stays is bound to it: that is lost once no Pod uses it",
            ))
        }
        _ => None,
    }
}

/// Whether a volume is for a claim, by what either of them names.
fn is_bound(volume: &Manifest, claim: Placed<'_>) -> bool {
    let reference = |key| text(volume, &["spec", "claimRef", key]);
    let is_named = text(claim.manifest, &["spec", "volumeName"]) == volume.name();
    let is_claimed = reference("name") == claim.manifest.name()
        && (reference("namespace").is_empty() || reference("namespace") == claim.namespace);
    let class = |object: &'_ Manifest| text(object, &["spec", "storageClassName"]).to_owned();
    let labels = volume.object().at(&["metadata", "labels"]).and_then(Value::as_mapping);
    let selector = claim.manifest.object().at(&["spec", "selector"]).filter(|selector| selector.as_mapping().is_some());
    let is_selected =
        selector.is_some_and(|selector| chooses(selector, labels)) && class(volume) == class(claim.manifest);
    is_named || is_claimed || is_selected
}

fn deletes_claims(set: &Manifest) -> bool {
    text(set, &["spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"]) == "Delete"
}
