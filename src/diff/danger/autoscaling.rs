//! Replicas that two set, and workloads that nothing scales any more.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::fields::size;
use super::text::verb;
use super::{Around, Danger, Severity, before, items};
use crate::diff::model::pods::{containers, spec};
use crate::diff::model::{Autoscaler, Placed, Side, number, word};
use crate::manifest::Manifest;

/// How two may set the same replicas, as Argo CD says it.
const LEAVE: &str = "leave the replicas to one: `ignoreDifferences` on `/spec/replicas` in the Application, with the sync option `RespectIgnoreDifferences=true`";

/// Replicas in git beside an autoscaler, or two autoscalers.
///
/// Reference: argo-cd docs/user-guide/best_practices, "Leaving room for imperativeness"; kubernetes
/// docs/tasks/run-application/horizontal-pod-autoscale; keda.sh docs/latest/concepts/scaling-deployments.
pub(super) fn workload<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if !matches!((new.home_group(), new.kind()), ("apps", "Deployment" | "StatefulSet") | ("argoproj.io", "Rollout")) {
        return Vec::new();
    }
    let written =
        |workload: &'_ Manifest| workload.object().at(&["spec", "replicas"]).filter(|one| !one.is_null()).cloned();
    let after = around.model.after.autoscalers(around.after(new));
    let before = old.map(|old| around.model.before.autoscalers(around.before(old))).unwrap_or_default();
    let mut found = Vec::new();
    let now = written(new);
    let sets_both =
        |autoscalers: &[Autoscaler<'_>], replicas: &Option<Value>| !autoscalers.is_empty() && replicas.is_some();
    let did_before = old.is_some_and(|old| sets_both(&before, &written(old)) && written(old) == now);
    let is_left_to_it = around.ignores(new, &["spec", "replicas"]);
    if sets_both(&after, &now) && !did_before && !is_left_to_it && now != Some(Value::Int(0)) {
        let text = format!(
            "`replicas` is set, and {} set{} it too: each sync takes back what the autoscaler did",
            listed(after.iter().map(name), 2),
            verb(after.len())
        );
        found.push(Danger::said(Severity::Other, "fights", text, LEAVE));
    }
    if let Some(from) = old.and_then(written).filter(|_| now.is_none())
        && !is_left_to_it
        && from != Value::Int(1)
        && from != Value::Int(0)
    {
        found.push(dropped(&from, &after));
    }
    if after.len() > 1 && before.len() < 2 {
        let text = format!("{} both scale it: each takes back what the other did", listed(after.iter().map(name), 3));
        found.push(Danger::said(Severity::Other, "fights", text, "keep one autoscaler for a workload"));
    }
    found
}

/// An autoscaler that gives Pods at most half of the memory that it gave.
///
/// Reference: kubernetes/autoscaler vertical-pod-autoscaler/docs/features.md and api.md: `maxAllowed`; with `updateMode: Off`, it changes
/// no Pod.
pub(super) fn bounded(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("autoscaling.k8s.io", "VerticalPodAutoscaler");
    let is_applied = word(new.object(), &["spec", "updatePolicy", "updateMode"]) != "Off";
    let most = |policy: &Value| size(word(policy, &["maxAllowed", "memory"]));
    let policies = |one: &Manifest| items(one.object(), &["spec", "resourcePolicy", "containerPolicies"]).to_vec();
    let before = policies(old);
    let falls = |policy: &Value| {
        let of = |other: &&Value| word(other, &["containerName"]) == word(policy, &["containerName"]);
        let was = before.iter().find(of).and_then(most);
        was.zip(most(policy)).is_some_and(|(was, now)| now > 0.0 && now * 2.0 <= was)
    };
    let policy = policies(new).into_iter().find(|policy| is_it && is_applied && falls(policy))?;
    let memory = word(&policy, &["maxAllowed", "memory"]);
    let text =
        format!("`maxAllowed` is {memory} of memory, half or less of before: its Pods that need more are killed");
    Some(Danger::said(Severity::Other, "resourcesDown", text, "compare with what they use"))
}

/// An autoscaler that runs no more Pods than there are, whatever its metrics say.
///
/// Reference: kubernetes docs/tasks/run-application/horizontal-pod-autoscale, "Disable scale-down": `selectPolicy: Disabled`.
pub(super) fn stuck(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let path: &[&str] = match (new.home_group(), new.kind()) {
        ("autoscaling", "HorizontalPodAutoscaler") => &["spec", "behavior", "scaleUp", "selectPolicy"],
        ("keda.sh", "ScaledObject") => {
            &["spec", "advanced", "horizontalPodAutoscalerConfig", "behavior", "scaleUp", "selectPolicy"]
        }
        _ => return None,
    };
    let is_off = |object: &Manifest| word(object.object(), path) == "Disabled";
    (is_off(new) && !is_off(old)).then(|| {
        let text = "`scaleUp.selectPolicy: Disabled`: it never runs more Pods, whatever they have to do".to_owned();
        Danger::said(Severity::Other, "unscaled", text, "keep a policy by which it scales up")
    })
}

/// An autoscaler that evicts Pods from now on to give them other resources.
///
/// Reference: kubernetes/autoscaler vertical-pod-autoscaler docs/quickstart, "Update modes".
pub(super) fn evicts(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("autoscaling.k8s.io", "VerticalPodAutoscaler");
    let mode = |object: &'_ Manifest| match word(object.object(), &["spec", "updatePolicy", "updateMode"]) {
        "" => "Auto".to_owned(),
        mode => mode.to_owned(),
    };
    let evicts = |object: &Manifest| !matches!(mode(object).as_str(), "Off" | "Initial");
    (is_it && evicts(new) && !evicts(old)).then(|| {
        let text = format!("`updateMode: {}`: it evicts Pods that run, to give them other resources", mode(new));
        Danger::said(
            Severity::Other,
            "evicts",
            text,
            "look at what it recommends first, and keep a PodDisruptionBudget",
        )
    })
}

/// The default of replicas is 1, also where an autoscaler has set another number.
fn dropped(from: &Value, autoscalers: &[Autoscaler<'_>]) -> Danger {
    let from = match from {
        Value::Int(from) => from.to_string(),
        _ => "…".to_owned(),
    };
    let until = if autoscalers.is_empty() { "" } else { " until the autoscaler raises it" };
    let text = format!("`replicas: {from}` removed: an apply sets the default, 1{until}");
    Danger::said(Severity::Other, "replicasDropped", text, LEAVE_FIRST)
}

const LEAVE_FIRST: &str = "keep `replicas`, and have Argo CD ignore it: `ignoreDifferences` on `/spec/replicas`, with the sync option `RespectIgnoreDifferences=true`";

fn name(autoscaler: &Autoscaler<'_>) -> String {
    let manifest = autoscaler.placed.manifest;
    format!("{} {}", manifest.kind(), manifest.name())
}

/// An autoscaler that keeps what it scales at no replicas.
///
/// Reference: keda.sh docs/latest/concepts/scaling-deployments, "Pause autoscaling".
pub(super) fn stopped(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let path = ["metadata", "annotations", "autoscaling.keda.sh/paused-replicas"];
    let is_stopped = |object: &Manifest| new.home_group() == "keda.sh" && word(object.object(), &path) == "0";
    (is_stopped(new) && !is_stopped(old)).then(|| {
        let text = "paused at 0 replicas: nothing of what it scales runs".to_owned();
        Danger::said(Severity::Outage, "scaledToZero", text, "keep at least one replica of what shall serve")
    })
}

/// The least, or the most, that runs, and the field that says it.
///
/// Reference: kubernetes docs/tasks/run-application/horizontal-pod-autoscale; keda.sh docs/latest/reference/scaledobject-spec: 0 and 100
/// are the defaults, and idleReplicaCount is for when no trigger is active; keda.sh docs/latest/scalers/cpu: it cannot scale to zero;
/// knative.dev docs/serving/autoscaling/scale-bounds.
fn bound(object: &Manifest, is_most: bool) -> Option<(&'static str, i64)> {
    let value = object.object();
    let of = |field: &'static str, default: Option<i64>| Some((field, number(value, &["spec", field]).or(default)?));
    match (object.home_group(), object.kind()) {
        ("autoscaling", "HorizontalPodAutoscaler") if is_most => of("maxReplicas", None),
        ("autoscaling", "HorizontalPodAutoscaler") => of("minReplicas", Some(1)),
        ("keda.sh", "ScaledObject") if is_most => of("maxReplicaCount", Some(100)),
        ("keda.sh", "ScaledObject") => {
            let mut triggers = items(value, &["spec", "triggers"]).iter().map(|one| word(one, &["type"]));
            let is_load = triggers.all(|sort| matches!(sort, "cpu" | "memory"));
            let idle = of("idleReplicaCount", None);
            idle.or_else(|| of("minReplicaCount", Some(0))).filter(|_| !is_load)
        }
        ("serving.knative.dev", "Service" | "Configuration") => {
            let annotation = |key: &str| -> Option<i64> {
                let path = ["spec", "template", "metadata", "annotations", key];
                word(value, &path).parse().ok()
            };
            let [field, older] = match is_most {
                true => ["autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale"],
                false => ["autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale"],
            };
            let field_name = if is_most { "max-scale" } else { "min-scale" };
            let count = annotation(field).or_else(|| annotation(older));
            Some((field_name, count.or((!is_most).then_some(0))?)).filter(|(_, count)| !is_most || *count > 0)
        }
        _ => None,
    }
}

/// An autoscaler that may run half as many replicas as before, or fewer.
pub(super) fn lowered<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let ((_, from), (field, to)) = (bound(old, true)?, bound(new, true)?);
    let is_lowered = to < from && to.saturating_mul(2) <= from && !around.ignores(new, &["spec", field]);
    is_lowered.then(|| {
        let text = format!("`{field}` {from} → {to}: at its busiest it runs no more than that");
        Danger::said(Severity::Other, "scaledLess", text, "check how many replicas it needs at its busiest")
    })
}

/// An autoscaler that may take away all that runs.
pub(super) fn emptied<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let ((_, from), (field, to)) = (bound(old, false)?, bound(new, false)?);
    (from > 0 && to == 0 && !around.ignores(new, &["spec", field])).then(|| {
        let when = if new.home_group() == "keda.sh" { "no trigger is active" } else { "there is nothing to do" };
        let text = format!("`{field}` {from} → 0: nothing runs while {when}, and what comes then waits for a start");
        Danger::said(Severity::Other, "scaledLess", text, "keep one where the first request must not wait")
    })
}

/// An autoscaler that may run a third as many replicas as before, or one alone, while there is little to do.
pub(super) fn fewest<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let ((_, from), (field, to)) = (bound(old, false)?, bound(new, false)?);
    let is_much = to == 1 && from > 1 || to > 0 && to.saturating_mul(3) <= from;
    let is_lowered = is_much && !around.ignores(new, &["spec", field]);
    is_lowered.then(|| {
        let alone = if to == 1 { ", and no other one answers while it is replaced" } else { "" };
        let text = format!(
            "`{field}` {from} → {to}: where load comes at once, that many have to bear it until others start{alone}"
        );
        Danger::said(Severity::Other, "scaledLess", text, "check how many replicas it needs before others have started")
    })
}

/// Triggers of an autoscaler that go, and that none comes in place of.
pub(super) fn triggers_gone(old: &Manifest, new: &Manifest) -> Option<Danger> {
    if (new.home_group(), new.kind()) != ("keda.sh", "ScaledObject") {
        return None;
    }
    let types = |object: &'_ Manifest| -> Vec<String> {
        items(object.object(), &["spec", "triggers"]).iter().map(|one| word(one, &["type"]).to_owned()).collect()
    };
    let (was, now) = (types(old), types(new));
    let count = |all: &[String], sort: &String| all.iter().filter(|one| *one == sort).count();
    let comes = now.iter().any(|sort| count(&now, sort) > count(&was, sort));
    let gone: BTreeSet<&String> = was.iter().filter(|sort| count(&now, sort) < count(&was, sort)).collect();
    (!comes && !gone.is_empty()).then(|| {
        let text = format!("no longer scales by {}", listed(gone, 3));
        Danger::said(Severity::Other, "unscaled", text, "check how many replicas it needs at its busiest")
    })
}

/// An autoscaler that goes while what it scales stays.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let autoscaler = Autoscaler::of(around.before(old))?;
    let pruning = around.pruning.of(old);
    let workloads = around.model.after.workloads(autoscaler.placed.namespace);
    let mut stays = workloads.filter(|workload| autoscaler.scales(workload.manifest));
    let is_lost = stays.next().is_some_and(|workload| around.model.after.autoscalers(workload).is_empty());
    (is_lost && pruning.removes()).then(|| {
        let text = format!("removed: nothing scales {} {} any more", autoscaler.target.0, autoscaler.target.1);
        Danger::said(Severity::Other, "unscaled", text, "check how many replicas it needs at its busiest")
            .pruned(pruning)
    })
}

/// Containers that lose the request which their autoscaler reckons with.
///
/// Reference: kubernetes docs/tasks/run-application/horizontal-pod-autoscale, "How does a HorizontalPodAutoscaler work".
pub(super) fn blind<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let resources = shares_of_requests(around.after(new), &around.model.after);
    let mut found = Vec::new();
    for (name, container) in spec(new).into_iter().flat_map(containers) {
        let Some(was) = before(Some(old), name) else { continue };
        for resource in &resources {
            let asks = |container: &Value| {
                ["requests", "limits"].iter().any(|list| container.at(&["resources", list, resource]).is_some())
            };
            if asks(was) && !asks(container) {
                let text = format!(
                    "{resource} request of `{name}` removed: its autoscaler reckons with it, and no longer scales"
                );
                found.push(Danger::said(Severity::Other, "unscaled", text, "keep the request"));
            }
        }
    }
    found
}

/// The resources of which an autoscaler of a workload looks at the share that is used.
fn shares_of_requests(workload: Placed<'_>, side: &Side<'_>) -> Vec<String> {
    let autoscalers = side.autoscalers(workload);
    let metrics = autoscalers.iter().flat_map(|one| items(one.placed.manifest.object(), &["spec", "metrics"]));
    let is_share = |metric: &&Value| word(metric, &["resource", "target", "type"]) == "Utilization";
    metrics.filter(is_share).map(|metric| word(metric, &["resource", "name"]).to_owned()).collect()
}
