//! The Pods that an object makes.

use go_yaml::{Mapping, Value};

use super::{items, number, word};
use crate::manifest::Manifest;

/// Where the specification of Pods is, by group and kind.
const SPECS: [(&str, &str, &[&str]); 10] = [
    ("", "Pod", &["spec"]),
    ("", "ReplicationController", &["spec", "template", "spec"]),
    ("apps", "Deployment", &["spec", "template", "spec"]),
    ("apps", "StatefulSet", &["spec", "template", "spec"]),
    ("apps", "DaemonSet", &["spec", "template", "spec"]),
    ("apps", "ReplicaSet", &["spec", "template", "spec"]),
    ("argoproj.io", "Rollout", &["spec", "template", "spec"]),
    ("batch", "Job", &["spec", "template", "spec"]),
    ("batch", "CronJob", &["spec", "jobTemplate", "spec", "template", "spec"]),
    ("", "PodTemplate", &["template", "spec"]),
];

/// Workloads that run one replica when they do not say how many.
const REPLICATED: [&str; 5] = ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout"];

/// Whether an object keeps Pods running.
pub(in crate::diff) fn is_workload(manifest: &Manifest) -> bool {
    let key = (manifest.home_group(), manifest.kind());
    matches!(key, ("apps", _) | ("argoproj.io", "Rollout") | ("", "ReplicationController"))
}

/// The specification of the Pods that an object makes; none for one that makes none.
pub(in crate::diff) fn spec(manifest: &Manifest) -> Option<&Value> {
    let (.., path) =
        SPECS.iter().find(|(group, kind, _)| (*group, *kind) == (manifest.home_group(), manifest.kind()))?;
    manifest.object().at(path)
}

/// The labels of the Pods that a workload keeps running.
pub(super) fn template_labels(workload: &Manifest) -> Option<&Mapping> {
    workload.object().at(&["spec", "template", "metadata", "labels"]).and_then(Value::as_mapping)
}

/// The labels of the Pods that an object makes.
pub(in crate::diff) fn labels(manifest: &Manifest) -> Option<&Mapping> {
    let (.., path) =
        SPECS.iter().find(|(group, kind, _)| (*group, *kind) == (manifest.home_group(), manifest.kind()))?;
    let (_, template) = path.split_last()?;
    manifest.object().at(&[template, &["metadata", "labels"]].concat()).and_then(Value::as_mapping)
}

/// The containers of Pods with their names, those that start them included.
pub(in crate::diff) fn containers(spec: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let all = lists.into_iter().flat_map(|list| items(spec, &[list]));
    all.map(|container| (word(container, &["name"]), container))
}

/// The containers that run as long as their Pod: not those that end before the others start.
pub(in crate::diff) fn running(spec: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let sidecars = items(spec, &["initContainers"]).iter();
    let sidecars = sidecars.filter(|one| word(one, &["restartPolicy"]) == "Always");
    let all = items(spec, &["containers"]).iter().chain(sidecars);
    all.map(|container| (word(container, &["name"]), container))
}

/// How many Pods an object asks for; none where it does not ask for a number.
pub(in crate::diff) fn replicas(workload: &Manifest) -> Option<i64> {
    match workload.object().at(&["spec", "replicas"]) {
        Some(Value::Int(replicas)) => Some(*replicas),
        None | Some(Value::Null) => REPLICATED.contains(&workload.kind()).then_some(1),
        Some(_) => None,
    }
}

/// Whether some container of Pods has a port of this name or number.
pub(in crate::diff) fn has_port(spec: &Value, port: &Value) -> bool {
    let is_it = |declared: &Value| match port {
        Value::String(name) => word(declared, &["name"]) == name,
        Value::Int(wanted) => number(declared, &["containerPort"]) == Some(*wanted),
        _ => false,
    };
    running(spec).flat_map(|(_, container)| items(container, &["ports"])).any(is_it)
}

/// The protocol of a port: TCP when it has none.
pub(in crate::diff) fn protocol(port: &Value) -> &str {
    match word(port, &["protocol"]) {
        "" => "TCP",
        protocol => protocol,
    }
}

/// The port of Pods to which one of a Service leads.
pub(in crate::diff) fn target(port: &Value, spec: &Value) -> Option<i64> {
    match port.get("targetPort") {
        None => number(port, &["port"]),
        Some(Value::Int(number)) => Some(*number),
        Some(name) => {
            let mut ports = containers(spec).flat_map(|(_, container)| items(container, &["ports"]));
            ports.find(|one| one.get("name") == Some(name)).and_then(|one| number(one, &["containerPort"]))
        }
    }
}
