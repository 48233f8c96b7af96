//! Fields that cannot be changed: the API server refuses it.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::quantity::quantity;
use super::{Danger, Severity, What, has_sync_option, text};
use crate::diff::noise::{Echoes, Selected};
use crate::diff::{Place, value};
use crate::manifest::Manifest;

/// Which fields of a kind are fixed.
enum Fixed {
    /// These, each with the default for a missing value.
    Fields(&'static [(&'static [&'static str], Option<&'static str>)]),
    /// All of `spec` but these, each named by its keys below `spec`; then defaults of those that are fixed.
    SpecBut(&'static [&'static [&'static str]], &'static [(&'static str, &'static str)]),
}

use Fixed::{Fields, SpecBut};

/// Reference: kubernetes 1.34 pkg/apis/*/validation: the `Validate…Update` of each kind.
const FIXED: &[(&str, &str, Fixed)] = &[
    ("apps", "Deployment", Fields(&[(&["spec", "selector"], None)])),
    ("apps", "DaemonSet", Fields(&[(&["spec", "selector"], None)])),
    ("apps", "ReplicaSet", Fields(&[(&["spec", "selector"], None)])),
    (
        "apps",
        "StatefulSet",
        SpecBut(
            &[
                &["replicas"],
                &["template"],
                &["updateStrategy"],
                &["minReadySeconds"],
                &["ordinals"],
                &["persistentVolumeClaimRetentionPolicy"],
                &["revisionHistoryLimit"],
            ],
            &[("podManagementPolicy", "OrderedReady")],
        ),
    ),
    (
        "batch",
        "Job",
        SpecBut(
            &[
                &["parallelism"],
                &["activeDeadlineSeconds"],
                &["backoffLimit"],
                &["suspend"],
                &["ttlSecondsAfterFinished"],
                &["manualSelector"],
            ],
            &[("completionMode", "NonIndexed")],
        ),
    ),
    (
        "",
        "Pod",
        SpecBut(
            &[
                &["containers", "image"],
                &["initContainers", "image"],
                &["activeDeadlineSeconds"],
                &["terminationGracePeriodSeconds"],
                &["tolerations"],
            ],
            &[],
        ),
    ),
    (
        "",
        "PersistentVolumeClaim",
        SpecBut(&[&["resources", "requests"], &["volumeAttributesClassName"]], &[("volumeMode", "Filesystem")]),
    ),
    (
        "",
        "PersistentVolume",
        SpecBut(
            &[
                &["capacity"],
                &["accessModes"],
                &["claimRef"],
                &["mountOptions"],
                &["persistentVolumeReclaimPolicy"],
                &["storageClassName"],
                &["volumeAttributesClassName"],
            ],
            &[("volumeMode", "Filesystem")],
        ),
    ),
    (
        "storage.k8s.io",
        "StorageClass",
        Fields(&[
            (&["provisioner"], None),
            (&["parameters"], None),
            (&["reclaimPolicy"], Some("Delete")),
            (&["volumeBindingMode"], Some("Immediate")),
        ]),
    ),
    ("rbac.authorization.k8s.io", "RoleBinding", Fields(&[(&["roleRef"], None)])),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", Fields(&[(&["roleRef"], None)])),
    ("apiextensions.k8s.io", "CustomResourceDefinition", Fields(&[(&["spec", "scope"], None)])),
    ("networking.k8s.io", "IngressClass", Fields(&[(&["spec", "controller"], None)])),
    (
        "scheduling.k8s.io",
        "PriorityClass",
        Fields(&[(&["value"], None), (&["preemptionPolicy"], Some("PreemptLowerPriority"))]),
    ),
    ("node.k8s.io", "RuntimeClass", Fields(&[(&["handler"], None)])),
    ("", "Secret", Fields(&[(&["type"], Some("Opaque"))])),
];

/// The fixed fields that changed.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let mut fields: Vec<String> =
        match FIXED.iter().find(|(group, kind, _)| (*group, *kind) == (new.group(), new.kind())) {
            Some((_, _, Fields(fields))) => {
                let differ = |(path, default): &&(&[&str], Option<&str>)| {
                    [old, new].map(|side| or_default(side.object().at(path), *default)).windows(2).any(|w| w[0] != w[1])
                };
                fields.iter().filter(differ).map(|(path, _)| path.join(".")).collect()
            }
            Some((_, _, SpecBut(free, defaults))) => spec_but(old, new, free, defaults),
            None => Vec::new(),
        };
    fields.retain(|field| field != "spec.completions" || !is_indexed(new));
    fields.extend(cluster_ip(old, new));
    fields.extend(storage_shrinks(old, new));
    fields.extend(sealed_data(old, new));
    // `Replace=true` alone is refused as an apply is.
    let replaced = has_sync_option(new, "Force=true");
    let Some(severity) = severity(new, replaced) else { return Vec::new() };
    let danger = |field: String| {
        let advice = advice(new, &field);
        Danger::new(severity, What::Immutable { field, replaced, advice })
    };
    fields.into_iter().map(danger).collect()
}

/// What to do instead: nothing that the next preview would call a danger.
///
/// Reference: kubernetes docs/tasks/run-application/delete-stateful-set (`--cascade=orphan`),
/// docs/concepts/storage/persistent-volumes, "Expanding Persistent Volumes Claims"; argo-cd docs/user-guide/sync-options.
fn advice(object: &Manifest, field: &str) -> &'static str {
    match (object.group(), object.kind()) {
        ("apps", "StatefulSet") if field == "spec.volumeClaimTemplates" => {
            "grow the claims with `kubectl patch pvc`, delete the StatefulSet with `--cascade=orphan`, which keeps its Pods, and sync"
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

/// How bad it is; none for a Job that is made again, as Jobs are meant to.
fn severity(object: &Manifest, replaced: bool) -> Option<Severity> {
    match (object.group(), object.kind()) {
        _ if !replaced => Some(Severity::Refused),
        ("batch", "Job") => None,
        _ if holds_data(object) => Some(Severity::DataLoss),
        ("apps", _) | ("", "Service" | "Pod") => Some(Severity::Outage),
        _ => Some(Severity::Other),
    }
}

fn holds_data(object: &Manifest) -> bool {
    object.group().is_empty() && matches!(object.kind(), "PersistentVolumeClaim" | "PersistentVolume")
}

/// Reference: kubernetes docs/concepts/workloads/controllers/job, "Elastic Indexed Jobs".
fn is_indexed(job: &Manifest) -> bool {
    text(job, &["spec", "completionMode"]) == "Indexed"
}

fn or_default(value: Option<&Value>, default: Option<&str>) -> Option<Value> {
    value.cloned().or_else(|| default.map(Value::from))
}

/// The fields of `spec` that differ and are not free, at most two keys deep.
fn spec_but(old: &Manifest, new: &Manifest, free: &[&[&str]], defaults: &[(&str, &str)]) -> Vec<String> {
    let empty = Value::Mapping(Default::default());
    let spec = |manifest: &Manifest| manifest.object().get("spec").unwrap_or(&empty).clone();
    let Some(difference) = value::difference(&spec(old), &spec(new), &Echoes::new(&[], None, &Selected::new(&[])))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    difference.visit(&mut |path, place| found.extend(fixed_field(&path.keys(), place, free, defaults)));
    let mut seen = BTreeSet::new();
    found.retain(|field| seen.insert(field.clone()));
    found
}

/// The field of `spec` that a place is in, unless that may change.
fn fixed_field(keys: &[&str], place: Place<'_>, free: &[&[&str]], defaults: &[(&str, &str)]) -> Option<String> {
    let is_free = free.iter().any(|free| keys.starts_with(free) || free.starts_with(keys));
    let is_default = defaults.iter().any(|(key, default)| keys == [*key] && is_only(place, default));
    (!is_free && !is_default).then(|| format!("spec.{}", keys.first().copied().unwrap_or_default()))
}

/// Whether the change is that the default is written out, or no longer.
fn is_only(place: Place<'_>, default: &str) -> bool {
    match place {
        Place::Leaf(leaf) => match (&leaf.old, &leaf.new) {
            (Some(value), None) | (None, Some(value)) => value.as_str() == Some(default),
            _ => false,
        },
        Place::Moved(..) => false,
    }
}

/// A cluster address, once given, stays while the Service has one.
fn cluster_ip(old: &Manifest, new: &Manifest) -> Option<String> {
    let address = |manifest| text(manifest, &["spec", "clusterIP"]);
    let both = !address(old).is_empty() && !address(new).is_empty();
    let external = text(old, &["spec", "type"]) == "ExternalName" || text(new, &["spec", "type"]) == "ExternalName";
    let differ = new.kind() == "Service" && both && !external && address(old) != address(new);
    differ.then(|| "spec.clusterIP".to_owned())
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
