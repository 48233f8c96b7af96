//! What the API server refuses of the Pods that an object makes.

use std::collections::BTreeSet;

use go_yaml::Value;

use crate::diff::danger::quantity::quantity;
use crate::diff::model::pods::{containers, spec};
use crate::diff::model::{items, number, word};
use crate::manifest::Manifest;

/// Reference: kubernetes 1.34 pkg/apis/core/validation/validation.go `ValidatePodTemplateSpec`, pkg/apis/apps/validation.
pub(super) fn reasons(object: &Manifest) -> Vec<String> {
    let Some(pods) = spec(object) else { return Vec::new() };
    let mut found: Vec<String> = restart_policy(object, pods).into_iter().collect();
    let mut names = BTreeSet::new();
    let twice = containers(pods).map(|(name, _)| name).find(|name| !name.is_empty() && !names.insert(*name));
    found.extend(twice.map(|name| format!("two containers have the name `{name}`")));
    let volumes = items(pods, &["volumes"]).iter().map(|volume| word(volume, &["name"]));
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let twice = volumes.filter(|name| !known.insert(name)).last();
    found.extend(twice.map(|name| format!("two volumes have the name `{name}`")));
    // Claims of a StatefulSet are volumes of its Pods.
    let claims = items(object.object(), &["spec", "volumeClaimTemplates"]);
    known.extend(claims.iter().map(|claim| word(claim, &["metadata", "name"])));
    for (name, container) in containers(pods) {
        found.extend(mounts(name, container, &known));
        found.extend(resources(name, container));
        found.extend(variables(name, container));
        found.extend(ports(name, container));
        found.extend(probes(name, container));
    }
    found
}

fn restart_policy(object: &Manifest, pods: &Value) -> Option<String> {
    let policy = word(pods, &["restartPolicy"]);
    match (object.home_group(), object.kind()) {
        ("apps", kind) if !matches!(policy, "" | "Always") => {
            Some(format!("the `restartPolicy` of a {kind} must be `Always`, not `{policy}`"))
        }
        ("batch", kind) if policy == "Always" => {
            Some(format!("the `restartPolicy` of a {kind} must be `OnFailure` or `Never`"))
        }
        _ => None,
    }
}

fn mounts(name: &str, container: &Value, volumes: &BTreeSet<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut paths = BTreeSet::new();
    for mount in items(container, &["volumeMounts"]) {
        let (volume, path) = (word(mount, &["name"]), word(mount, &["mountPath"]));
        if !volume.is_empty() && !volumes.contains(volume) {
            found.push(format!("`{name}` mounts the volume `{volume}`, which the Pod does not have"));
        }
        if !path.is_empty() && !paths.insert(path) {
            found.push(format!("`{name}` mounts two volumes at {path}"));
        }
    }
    found
}

fn resources(name: &str, container: &Value) -> Vec<String> {
    let requests = container.at(&["resources", "requests"]).and_then(Value::as_mapping);
    let above = |(resource, request): (&String, &Value)| {
        let limit = container.at(&["resources", "limits", resource])?;
        let is_above = quantity(request)? > quantity(limit)?;
        is_above.then(|| format!("`{name}` requests more {resource} than its limit"))
    };
    requests.into_iter().flatten().filter_map(above).collect()
}

fn variables(name: &str, container: &Value) -> Vec<String> {
    let has_both = |variable: &&Value| {
        !word(variable, &["value"]).is_empty() && variable.get("valueFrom").is_some_and(|from| !from.is_null())
    };
    let both = items(container, &["env"]).iter().filter(has_both);
    both.map(|one| format!("`{}` of `{name}` has a `value` and a `valueFrom`", word(one, &["name"]))).collect()
}

/// Reference: apimachinery pkg/util/validation `IsValidPortName`: at most 15 characters, lower case, with a letter.
fn ports(name: &str, container: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    for port in items(container, &["ports"]) {
        let port_name = word(port, &["name"]);
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_valid = port_name.len() <= 15
            && port_name.chars().all(is_letter)
            && port_name.contains(|c: char| c.is_ascii_lowercase())
            && !port_name.starts_with('-')
            && !port_name.ends_with('-')
            && !port_name.contains("--");
        if !port_name.is_empty() && !is_valid {
            found.push(format!(
                "`{port_name}` is not a name for a port: at most 15 characters of `a-z`, `0-9` and `-`, with a letter"
            ));
        }
        if !port_name.is_empty() && !names.insert(port_name) {
            found.push(format!("two ports of `{name}` have the name `{port_name}`"));
        }
        if number(port, &["containerPort"]).is_some_and(|port| !(1..=65_535).contains(&port)) {
            found.push(format!("a port of `{name}` is not between 1 and 65535"));
        }
    }
    found
}

const HANDLERS: [&str; 4] = ["httpGet", "tcpSocket", "exec", "grpc"];

fn probes(name: &str, container: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(value) = container.get(probe).filter(|value| !value.is_null()) else { continue };
        let handlers = HANDLERS.iter().filter(|handler| value.get(handler).is_some_and(|handler| !handler.is_null()));
        match handlers.count() {
            0 => found.push(format!("`{probe}` of `{name}` says nothing to ask")),
            1 => {}
            _ => found.push(format!("`{probe}` of `{name}` has more than one handler")),
        }
        let successes = number(value, &["successThreshold"]).unwrap_or(1);
        if probe != "readinessProbe" && successes != 1 {
            found.push(format!("`successThreshold` of `{probe}` of `{name}` must be 1"));
        }
    }
    found
}
