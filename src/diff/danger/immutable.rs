//! Fields that cannot be changed: the API server refuses it.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::quantity::quantity;
use super::{Danger, Severity, What, has_sync_option, items, text};
use crate::diff::live::{as_read, selects_by_default};
use crate::diff::model::word;
use crate::diff::noise::{Echoes, Selected};
use crate::diff::value;
use crate::manifest::Manifest;

/// Which fields of a kind are fixed.
enum Fixed {
    /// These.
    Fields(&'static [&'static [&'static str]]),
    /// All of `spec` but these, each named by its keys below `spec`.
    SpecBut(&'static [&'static [&'static str]]),
}

use Fixed::{Fields, SpecBut};

/// Reference: kubernetes 1.34 pkg/apis/*/validation: the `Validate…Update` of each kind.
const FIXED: &[(&str, &str, Fixed)] = &[
    ("apps", "Deployment", Fields(&[&["spec", "selector"]])),
    ("apps", "DaemonSet", Fields(&[&["spec", "selector"]])),
    ("apps", "ReplicaSet", Fields(&[&["spec", "selector"]])),
    (
        "apps",
        "StatefulSet",
        SpecBut(&[
            &["replicas"],
            &["template"],
            &["updateStrategy"],
            &["minReadySeconds"],
            &["ordinals"],
            &["persistentVolumeClaimRetentionPolicy"],
            &["revisionHistoryLimit"],
        ]),
    ),
    (
        "batch",
        "Job",
        SpecBut(&[
            &["parallelism"],
            &["activeDeadlineSeconds"],
            &["backoffLimit"],
            &["suspend"],
            &["ttlSecondsAfterFinished"],
            &["manualSelector"],
        ]),
    ),
    (
        "",
        "Pod",
        SpecBut(&[
            &["containers", "image"],
            &["initContainers", "image"],
            &["activeDeadlineSeconds"],
            &["terminationGracePeriodSeconds"],
            &["tolerations"],
        ]),
    ),
    ("", "PersistentVolumeClaim", SpecBut(&[&["resources", "requests"], &["volumeAttributesClassName"]])),
    (
        "",
        "PersistentVolume",
        SpecBut(&[
            &["capacity"],
            &["accessModes"],
            &["claimRef"],
            &["mountOptions"],
            &["persistentVolumeReclaimPolicy"],
            &["storageClassName"],
            &["volumeAttributesClassName"],
        ]),
    ),
    (
        "storage.k8s.io",
        "StorageClass",
        Fields(&[&["provisioner"], &["parameters"], &["reclaimPolicy"], &["volumeBindingMode"]]),
    ),
    ("rbac.authorization.k8s.io", "RoleBinding", Fields(&[&["roleRef"]])),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", Fields(&[&["roleRef"]])),
    ("apiextensions.k8s.io", "CustomResourceDefinition", Fields(&[&["spec", "scope"], &["spec", "names", "kind"]])),
    ("storage.k8s.io", "VolumeAttributesClass", Fields(&[&["driverName"], &["parameters"]])),
    ("storage.k8s.io", "CSIDriver", Fields(&[&["spec", "attachRequired"], &["spec", "volumeLifecycleModes"]])),
    ("discovery.k8s.io", "EndpointSlice", Fields(&[&["addressType"]])),
    ("resource.k8s.io", "ResourceClaim", SpecBut(&[])),
    ("resource.k8s.io", "ResourceClaimTemplate", SpecBut(&[])),
    ("gateway.networking.k8s.io", "GatewayClass", Fields(&[&["spec", "controllerName"]])),
    ("networking.k8s.io", "IngressClass", Fields(&[&["spec", "controller"]])),
    ("scheduling.k8s.io", "PriorityClass", Fields(&[&["value"], &["preemptionPolicy"]])),
    ("node.k8s.io", "RuntimeClass", Fields(&[&["handler"]])),
    ("", "Secret", Fields(&[&["type"]])),
];

/// The fixed fields that changed.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let replaced = has_sync_option(new, "Force=true");
    // `Replace=true` alone is refused as an apply is.
    let Some(severity) = severity(new, replaced) else { return Vec::new() };
    let danger = |field: String| {
        let advice = advice((old, new), &field);
        Danger::new(severity, What::Immutable { field, replaced, advice })
    };
    fields(old, new).into_iter().map(danger).collect()
}

/// Which these are, as the API server reads both versions.
pub(super) fn fields(old: &Manifest, new: &Manifest) -> Vec<String> {
    if old == new { Vec::new() } else { fields_of(&as_read(old, new)) }
}

fn fields_of(sides: &[Manifest; 2]) -> Vec<String> {
    let [old, new] = sides;
    let mut fields: Vec<String> =
        match FIXED.iter().find(|(group, kind, _)| (*group, *kind) == (new.home_group(), new.kind())) {
            Some((_, _, Fields(_))) if selects_by_default(new) => Vec::new(),
            Some((_, _, Fields(fields))) => {
                let differ = |path: &&&[&str]| old.object().at(path) != new.object().at(path);
                fields.iter().filter(differ).map(|path| path.join(".")).collect()
            }
            Some((_, _, SpecBut(free))) => spec_but(old, new, free),
            None => Vec::new(),
        };
    fields.retain(|field| field != "spec.completions" || !is_indexed(new));
    fields.retain(|field| !may_come(old, new, field));
    fields.extend(cluster_ip(old, new));
    fields.extend(families(old, new));
    fields.extend(storage_shrinks(old, new));
    fields.extend(sealed_data(old, new));
    fields
}

/// What to do instead: nothing that the next preview would call a danger.
///
/// Reference: kubernetes docs/tasks/run-application/delete-stateful-set (`--cascade=orphan`),
/// docs/concepts/storage/persistent-volumes, "Expanding Persistent Volumes Claims"; argo-cd docs/user-guide/sync-options.
fn advice((old, object): (&Manifest, &Manifest), field: &str) -> &'static str {
    match (object.home_group(), object.kind()) {
        ("apps", "StatefulSet") if field == TEMPLATES && is_grown(old, object) => {
            "grow the claims with `kubectl patch pvc`, delete the StatefulSet with `--cascade=orphan`, which keeps its Pods, and sync"
        }
        ("apps", "StatefulSet") if field == TEMPLATES => {
            "delete it with `--cascade=orphan`, which keeps its Pods, and sync: claims that are there stay as they are"
        }
        ("apps", "StatefulSet") => "delete it with `--cascade=orphan`, which keeps its Pods, and sync",
        ("apps", _) => "keep the selector, and add new labels to the Pods only",
        ("batch", "Job") => {
            "set the sync options `Force=true,Replace=true` on it, so that it runs anew, or make it a hook"
        }
        _ if holds_data(object) => "make another one of a new name beside it, and copy the data",
        _ => "make another one of a new name beside it",
    }
}

const TEMPLATES: &str = "spec.volumeClaimTemplates";

/// Whether the claims of some template shall be larger.
fn is_grown(old: &Manifest, new: &Manifest) -> bool {
    let templates = |set: &'_ Manifest| -> Vec<(String, Option<f64>)> {
        let size = |claim: &Value| claim.at(&["spec", "resources", "requests", "storage"]).and_then(quantity);
        let all = items(set.object(), &["spec", "volumeClaimTemplates"]).iter();
        all.map(|claim| (word(claim, &["metadata", "name"]).to_owned(), size(claim))).collect()
    };
    let before = templates(old);
    let is_larger = |(name, size): &(String, Option<f64>)| before.iter().any(|(of, was)| of == name && was < size);
    templates(new).iter().any(is_larger)
}

/// How bad it is; none for a Job that is made again, as Jobs are meant to.
pub(super) fn severity(object: &Manifest, replaced: bool) -> Option<Severity> {
    match (object.home_group(), object.kind()) {
        _ if !replaced => Some(Severity::Refused),
        ("batch", "Job") => None,
        _ if holds_data(object) => Some(Severity::DataLoss),
        ("apps", _) | ("", "Service" | "Pod") => Some(Severity::Outage),
        _ => Some(Severity::Other),
    }
}

fn holds_data(object: &Manifest) -> bool {
    object.home_group().is_empty() && matches!(object.kind(), "PersistentVolumeClaim" | "PersistentVolume")
}

/// Fields that may be set once, where they were not: group, kind, field, and its key below `spec`.
///
/// Reference: kubernetes 1.36 pkg/apis/core/validation `ValidatePersistentVolumeUpdate`, `ValidatePersistentVolumeClaimUpdate`.
const SET_ONCE: [(&str, &str, &str, &str); 2] = [
    ("", "PersistentVolume", "spec.nodeAffinity", "nodeAffinity"),
    ("", "PersistentVolumeClaim", "spec.volumeName", "volumeName"),
];

fn may_come(old: &Manifest, new: &Manifest, field: &str) -> bool {
    let is_it = |(group, kind, name, _): &&(&str, &str, &str, &str)| {
        (*group, *kind, *name) == (new.home_group(), new.kind(), field)
    };
    let key = SET_ONCE.iter().find(is_it).map(|(.., key)| *key);
    let is_set = |value: &Value| !value.is_null() && value.as_str() != Some("");
    key.is_some_and(|key| !old.object().at(&["spec", key]).is_some_and(is_set))
}

/// Reference: kubernetes docs/concepts/workloads/controllers/job, "Elastic Indexed Jobs".
fn is_indexed(job: &Manifest) -> bool {
    text(job, &["spec", "completionMode"]) == "Indexed"
}

/// What else may change of a Job that waits, which runs no Pod yet.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/job, "Mutable Scheduling Directives"; 1.36
/// pkg/apis/batch/validation `validatePodTemplateUpdate`.
const FREE_WHILE_SUSPENDED: [&[&str]; 8] = [
    &["template", "metadata", "labels"],
    &["template", "metadata", "annotations"],
    &["template", "spec", "nodeSelector"],
    &["template", "spec", "tolerations"],
    &["template", "spec", "schedulingGates"],
    &["template", "spec", "affinity", "nodeAffinity"],
    &["template", "spec", "containers", "resources"],
    &["template", "spec", "initContainers", "resources"],
];

fn is_suspended(job: &Manifest) -> bool {
    job.kind() == "Job" && job.object().at(&["spec", "suspend"]).and_then(Value::as_bool) == Some(true)
}

/// The fields of `spec` that differ and are not free.
fn spec_but(old: &Manifest, new: &Manifest, free: &[&[&str]]) -> Vec<String> {
    let empty = Value::Mapping(Default::default());
    let spec = |manifest: &Manifest| manifest.object().get("spec").unwrap_or(&empty).clone();
    let Some(difference) = value::difference(&spec(old), &spec(new), &Echoes::new(&[], None, &Selected::new(&[])))
    else {
        return Vec::new();
    };
    let while_suspended = if is_suspended(old) { &FREE_WHILE_SUSPENDED[..] } else { &[] };
    let free: Vec<&[&str]> = free.iter().chain(while_suspended).copied().collect();
    let mut found = Vec::new();
    difference.visit(&mut |path, _| found.extend(fixed_field(&path.keys(), &free)));
    let mut seen = BTreeSet::new();
    found.retain(|field| seen.insert(field.clone()));
    found
}

/// The field of `spec` that a place is in, unless that may change.
fn fixed_field(keys: &[&str], free: &[&[&str]]) -> Option<String> {
    let is_free = free.iter().any(|free| keys.starts_with(free) || free.starts_with(keys));
    (!is_free).then(|| format!("spec.{}", keys.first().copied().unwrap_or_default()))
}

/// A cluster address, once given, stays while the Service has one: also that of a Service which has none written, and of a
/// headless one. What no longer names its address keeps it.
///
/// Reference: kubernetes 1.34 pkg/registry/core/service/storage `patchAllocatedValues`, pkg/apis/core/validation
/// `ValidateServiceUpdate`.
fn cluster_ip(old: &Manifest, new: &Manifest) -> Option<String> {
    let address = |manifest| text(manifest, &["spec", "clusterIP"]);
    let external = [old, new].iter().any(|one| text(one, &["spec", "type"]) == "ExternalName");
    let is_other = match (address(old), address(new)) {
        (_, "") => false,
        ("", new) => new == "None",
        (old, new) => old != new,
    };
    let is_service = (new.home_group(), new.kind()) == ("", "Service");
    (is_service && !external && is_other).then(|| "spec.clusterIP".to_owned())
}

/// What else of a Service stays while it has an address: the first family of its addresses, and the class of its load balancer. Where
/// none is written, the cluster's own is not known.
///
/// Reference: kubernetes 1.36 API ServiceSpec `ipFamilies`, `loadBalancerClass`; pkg/apis/core/validation `ValidateServiceUpdate`.
fn families(old: &Manifest, new: &Manifest) -> Vec<String> {
    let sort = |service: &'_ Manifest| text(service, &["spec", "type"]).to_owned();
    if (new.home_group(), new.kind()) != ("", "Service") || [old, new].iter().any(|one| sort(one) == "ExternalName") {
        return Vec::new();
    }
    let family = |service: &'_ Manifest| items(service.object(), &["spec", "ipFamilies"]).first().cloned();
    let is_other = family(old).is_some_and(|was| family(new).is_some_and(|now| now != was));
    let class = |service: &'_ Manifest| text(service, &["spec", "loadBalancerClass"]).to_owned();
    let stays = sort(old) == "LoadBalancer" && sort(new) == "LoadBalancer" && !class(old).is_empty();
    let fields = [(is_other, "spec.ipFamilies"), (stays && class(old) != class(new), "spec.loadBalancerClass")];
    fields.iter().filter(|(is_other, _)| *is_other).map(|(_, field)| (*field).to_owned()).collect()
}

/// How much a claim asks for.
pub(super) const STORAGE: &str = "spec.resources.requests.storage";

/// A claim may grow only.
fn storage_shrinks(old: &Manifest, new: &Manifest) -> Option<String> {
    let storage =
        |manifest: &Manifest| manifest.object().at(&["spec", "resources", "requests", "storage"]).and_then(quantity);
    let shrinks = new.kind() == "PersistentVolumeClaim" && storage(new)? < storage(old)?;
    shrinks.then(|| STORAGE.to_owned())
}

/// ConfigMaps and Secrets may be sealed by `immutable: true`.
fn sealed_data(old: &Manifest, new: &Manifest) -> Vec<String> {
    let is_sealed = matches!(old.kind(), "ConfigMap" | "Secret")
        && old.object().get("immutable").and_then(Value::as_bool) == Some(true);
    let fields = ["immutable", "data", "binaryData"].into_iter().filter(|_| is_sealed);
    fields.filter(|field| old.object().get(field) != new.object().get(field)).map(str::to_owned).collect()
}
