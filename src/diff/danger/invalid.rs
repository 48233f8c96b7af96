//! What the API server refuses of an object by itself, whatever there was before.
//!
//! Schemas are another matter: here are rules between fields, which no schema says.

mod pods;

use std::collections::BTreeSet;

use go_yaml::Value;

use super::operators::span;
use super::{CORRECT, Danger, Severity, custom, gateways, items, knative};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// The reasons for which the API server refuses an object that it did not refuse before.
pub(super) fn refused(old: Option<&Manifest>, new: &Manifest) -> Vec<Danger> {
    let now = reasons(new);
    if now.is_empty() {
        return Vec::new();
    }
    let was = old.map(reasons).unwrap_or_default();
    let danger = |reason: &String| {
        let text = format!("the API server refuses it, so the sync fails: {reason}");
        Danger::said(Severity::Refused, "invalid", text, CORRECT)
    };
    now.difference(&was).map(danger).collect()
}

/// Reference: kubernetes 1.34 pkg/apis/*/validation/validation.go.
fn reasons(object: &Manifest) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let value = object.object();
    match (object.home_group(), object.kind()) {
        ("apps", "Deployment") => found.extend(deployment(value)),
        ("apps", "DaemonSet") => found.extend(rolling((value, "updateStrategy"), (0, 1))),
        ("autoscaling", "HorizontalPodAutoscaler") => found.extend(autoscaler(value)),
        ("policy", "PodDisruptionBudget") => {
            let has = |key: &str| value.at(&["spec", key]).is_some_and(|value| !value.is_null());
            let both = has("minAvailable") && has("maxUnavailable");
            found.extend(both.then(|| "`minAvailable` and `maxUnavailable` exclude each other".to_owned()));
        }
        ("batch", "CronJob") => found.extend(schedule(word(value, &["spec", "schedule"]))),
        ("", "Service") => found.extend(service(value)),
        ("", "Secret") => found.extend(secret(value)),
        ("networking.k8s.io", "Ingress") if object.api_version().ends_with("/v1") => found.extend(ingress(value)),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => found.extend(definition(value)),
        ("argoproj.io", "Application") => found.extend(application(value)),
        ("cert-manager.io", "Certificate") => found.extend(certificate(value)),
        // Reference: kedacore/keda apis/keda/v1alpha1/scaletriggers_types.go `ValidateTriggers`: asked by a webhook.
        ("keda.sh", "ScaledObject" | "ScaledJob") => {
            let is_empty =
                value.at(&["spec", "triggers"]).and_then(Value::as_sequence).is_some_and(<[Value]>::is_empty);
            found.extend(is_empty.then(|| "`triggers` has none".to_owned()));
        }
        ("gateway.networking.k8s.io", "HTTPRoute") => found.extend(gateways::invalid(value)),
        ("serving.knative.dev", _) => found.extend(knative::reasons(object)),
        _ => {}
    }
    found.extend(pods::reasons(object));
    found.extend(custom::reasons(object));
    found
}

/// Reference: cert-manager/cert-manager internal/apis/certmanager/validation/certificate.go `ValidateDuration`: asked by a webhook.
fn certificate(object: &Value) -> Vec<String> {
    let seconds = |key| object.at(&["spec", key]).and_then(span);
    let shown = |key| word(object, &["spec", key]);
    let duration = seconds("duration").unwrap_or(2_160.0 * 3_600.0);
    let mut found = Vec::new();
    if duration < 3_600.0 {
        found.push(format!("`duration: {}` is less than an hour", shown("duration")));
    }
    if let Some(before) = seconds("renewBefore") {
        if before < 300.0 {
            found.push(format!("`renewBefore: {}` is less than 5 minutes", shown("renewBefore")));
        }
        if before >= duration {
            let of = if shown("duration").is_empty() { "2160h, the default" } else { shown("duration") };
            found.push(format!("`renewBefore: {}` is not less than `duration`: {of}", shown("renewBefore")));
        }
    }
    let percentage = number(object, &["spec", "renewBeforePercentage"]);
    if percentage.is_some() && seconds("renewBefore").is_some() {
        found.push("`renewBefore` and `renewBeforePercentage` exclude each other".to_owned());
    }
    if let Some(percentage) = percentage.filter(|one| !(1..100).contains(one)) {
        found.push(format!("`renewBeforePercentage: {percentage}` is not between 1 and 99"));
    }
    found
}

fn deployment(object: &Value) -> Vec<String> {
    let strategy = |key| object.at(&["spec", "strategy", key]);
    let is_recreated = strategy("type").and_then(Value::as_str) == Some("Recreate");
    if is_recreated && strategy("rollingUpdate").is_some_and(|value| !value.is_null()) {
        return vec!["`rollingUpdate` is for the strategy `RollingUpdate`, not for `Recreate`".to_owned()];
    }
    let mut found: Vec<String> = rolling((object, "strategy"), (1, 1)).into_iter().collect();
    let seconds = |key, default| number(object, &["spec", key]).unwrap_or(default);
    if seconds("minReadySeconds", 0) >= seconds("progressDeadlineSeconds", 600) {
        found.push("`progressDeadlineSeconds` must be greater than `minReadySeconds`".to_owned());
    }
    found
}

/// A rollout that may neither add nor take a Pod. `defaults` are those of `maxSurge` and `maxUnavailable`, or 1 for a share.
fn rolling((object, strategy): (&Value, &str), (surge, unavailable): (i64, i64)) -> Option<String> {
    let count = |key, default| match object.at(&["spec", strategy, "rollingUpdate", key]) {
        Some(Value::Int(count)) => *count,
        Some(Value::String(share)) => share.trim_end_matches('%').parse().unwrap_or(1),
        _ => default,
    };
    (count("maxSurge", surge) == 0 && count("maxUnavailable", unavailable) == 0)
        .then(|| "`maxSurge` and `maxUnavailable` are both 0".to_owned())
}

fn autoscaler(object: &Value) -> Vec<String> {
    let replicas = |key| number(object, &["spec", key]);
    let (minimum, maximum) = (replicas("minReplicas").unwrap_or(1), replicas("maxReplicas"));
    let mut found = Vec::new();
    if let Some(maximum) = maximum.filter(|maximum| *maximum < minimum) {
        found.push(format!("`maxReplicas: {maximum}` is less than `minReplicas: {minimum}`"));
    }
    let counts_outside = |metric: &Value| matches!(word(metric, &["type"]), "Object" | "External");
    if minimum == 0 && !items(object, &["spec", "metrics"]).iter().any(counts_outside) {
        found.push("`minReplicas: 0` needs a metric of type `Object` or `External`".to_owned());
    }
    found
}

/// Reference: kubernetes docs/concepts/workloads/controllers/cron-jobs, "Schedule syntax".
fn schedule(schedule: &str) -> Option<String> {
    if schedule.contains("TZ=") {
        return Some("`TZ` in `schedule` is not supported: `timeZone` is".to_owned());
    }
    let is_named = schedule.starts_with('@');
    let fields = schedule.split_whitespace().count();
    (!is_named && !schedule.is_empty() && fields != 5)
        .then(|| format!("`schedule: {schedule}` has {fields} fields in place of 5"))
}

fn service(object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let sort = word(object, &["spec", "type"]);
    if word(object, &["spec", "clusterIP"]) == "None" && matches!(sort, "NodePort" | "LoadBalancer") {
        found.push(format!("a headless Service (`clusterIP: None`) cannot be of type {sort}"));
    }
    let ports = items(object, &["spec", "ports"]);
    if ports.len() > 1 && ports.iter().any(|port| word(port, &["name"]).is_empty()) {
        found.push("each of several ports needs a name".to_owned());
    }
    let mut names = BTreeSet::new();
    let twice = ports.iter().map(|port| word(port, &["name"])).find(|name| !name.is_empty() && !names.insert(*name));
    found.extend(twice.map(|name| format!("two ports have the name `{name}`")));
    let mut places = BTreeSet::new();
    let place = |port: &Value| {
        let protocol = word(port, &["protocol"]);
        (number(port, &["port"]), if protocol.is_empty() { "TCP".to_owned() } else { protocol.to_owned() })
    };
    if ports.iter().any(|port| !places.insert(place(port))) {
        found.push("two ports have one number and protocol".to_owned());
    }
    found
}

/// Reference: kubernetes docs/concepts/configuration/secret, "Types of Secret".
fn secret(object: &Value) -> Vec<String> {
    let needed: &[&str] = match word(object, &["type"]) {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        _ => return Vec::new(),
    };
    let has = |key: &str| ["data", "stringData"].iter().any(|field| object.at(&[field, key]).is_some());
    let lacking = needed.iter().filter(|key| !has(key));
    lacking.map(|key| format!("a Secret of type {} needs the key `{key}`", word(object, &["type"]))).collect()
}

fn ingress(object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let rules = items(object, &["spec", "rules"]).iter();
    for path in rules.flat_map(|rule| items(rule, &["http", "paths"])) {
        let text = word(path, &["path"]);
        match word(path, &["pathType"]) {
            "" => found.push(format!("path `{text}` has no `pathType`")),
            "ImplementationSpecific" => {}
            _ if !text.starts_with('/') => found.push(format!("path `{text}` does not start with `/`")),
            _ => {}
        }
    }
    found
}

/// Reference: argo-cd 3.4 manifests/crds/application-crd.yaml, `required`.
fn application(object: &Value) -> Vec<String> {
    let lacks = |path: &&[&str]| object.at(path).is_none_or(Value::is_null);
    let wanted: [&[&str]; 3] = [&["spec"], &["spec", "destination"], &["spec", "project"]];
    // Without `spec`, what is in it is not asked for.
    wanted.iter().filter(|path| lacks(path)).take(1).map(|path| format!("`{}` must be set", path.join("."))).collect()
}

fn definition(object: &Value) -> Option<String> {
    let versions = items(object, &["spec", "versions"]);
    let stored = |version: &&Value| version.get("storage").and_then(Value::as_bool) == Some(true);
    // One that says it of none is cut short, as in a test.
    let count = versions.iter().filter(stored).count();
    (count > 1).then(|| format!("{count} versions are stored in place of 1"))
}
