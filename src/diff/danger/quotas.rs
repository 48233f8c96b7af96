//! Quotas and limits of a namespace that what runs there does not keep.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::availability::fewest;
use super::quantity::quantity;
use super::{Around, Danger, Severity, around, items};
use crate::diff::model::pods::{is_workload, running, spec};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

/// A quota that is below what the workloads ask for that are known, where it was not before.
///
/// Reference: kubernetes docs/concepts/policy/resource-quotas: what runs stays, what would go over is not made.
pub(super) fn quota<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if (new.home_group(), new.kind()) != ("", "ResourceQuota") || new.object().at(&["spec", "scopes"]).is_some() {
        return Vec::new();
    }
    let was = old.map(|old| exceeded(around.before(old), &around.model.before)).unwrap_or_default();
    let now = exceeded(around.after(new), &around.model.after).into_iter();
    let danger = |over: Exceeded| {
        let text =
            format!("{} {} is less than its workloads ask for: Pods beyond it are not made", over.resource, over.hard);
        Danger::said(Severity::Outage, "quota", text, "raise the quota, or have the workloads ask for less")
    };
    let over = now.filter(|over| !was.iter().any(|was| was.resource == over.resource)).map(danger);
    over.chain(unnamed(old, new, around)).collect()
}

/// A resource that a quota limits from now on, and that containers do not name: their Pods are refused, unless a LimitRange of the
/// namespace names it for them.
///
/// Reference: kubernetes docs/concepts/policy/resource-quotas, "Requests vs Limits".
fn unnamed<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let namespace = around.after(new).namespace;
    if has_defaults(namespace, around) {
        return None;
    }
    for limited in NAMED_BY_CONTAINERS {
        let resource = limited.0;
        if !limits(new, resource) || old.is_some_and(|old| limits(old, resource)) {
            continue;
        }
        let lacking = around.model.after.workloads(namespace).filter(|workload| lacks(workload.manifest, limited));
        let lacking: BTreeSet<String> = lacking.map(around::name).collect();
        if !lacking.is_empty() {
            let (name, its) = if lacking.len() == 1 { ("names", "its") } else { ("name", "their") };
            let names = listed(lacking, NAMED_MAX);
            let text =
                format!("limits {resource} from now on, and {names} {name} none: {its} Pods are not made any more");
            let advice = "check that a LimitRange gives containers a default, or name it in each";
            return Some(Danger::said(Severity::Outage, "quota", text, advice));
        }
    }
    None
}

fn limits(quota: &Manifest, resource: &str) -> bool {
    quota.object().at(&["spec", "hard", resource]).is_some()
}

/// Whether a LimitRange of a namespace names resources for containers, or may.
fn has_defaults(namespace: &str, around: &Around<'_>) -> bool {
    let side = &around.model.after;
    side.of_kind("LimitRange", namespace).next().is_some() || side.has_beside("LimitRange", namespace)
}

/// Whether some container does not name a resource. A request that is not written is the limit.
fn lacks(workload: &Manifest, (_, list, name): (&str, &str, &str)) -> bool {
    let names = |container: &Value| {
        let limit = container.at(&["resources", "limits", name]).is_some();
        limit || container.at(&["resources", list, name]).is_some()
    };
    spec(workload).into_iter().flat_map(running).any(|(_, container)| !names(container))
}

/// A workload of which a container does not name what a quota of its namespace limits, and did.
pub(super) fn unrequested<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let namespace = around.after(new).namespace;
    if !is_workload(new) || has_defaults(namespace, around) {
        return None;
    }
    let is_limited = |resource: &str| {
        let quotas = around.model.before.of_kind("ResourceQuota", namespace);
        let quotas = quotas.filter(|one| one.manifest.object().at(&["spec", "scopes"]).is_none());
        // Of a quota that limits it from now on it is said of the quota.
        let stays = |one: Placed<'a>| around.model.after.find(one).is_some_and(|now| limits(now.manifest, resource));
        quotas.into_iter().any(|one| limits(one.manifest, resource) && stays(one))
    };
    let is_new = |limited: &&(&str, &str, &str)| {
        lacks(new, **limited) && !old.is_some_and(|old| lacks(old, **limited)) && is_limited(limited.0)
    };
    let (resource, ..) = NAMED_BY_CONTAINERS.iter().find(is_new)?;
    let text = format!("a quota of its namespace limits {resource}, and a container names none: its Pods are not made");
    Some(Danger::said(Severity::Outage, "quota", text, "keep what each container asks for"))
}

/// How many workloads are named.
const NAMED_MAX: usize = 4;

/// Resources that each container has to name once a quota limits them: the quota's word, and where containers have it.
const NAMED_BY_CONTAINERS: [(&str, &str, &str); 6] = [
    ("cpu", "requests", "cpu"),
    ("memory", "requests", "memory"),
    ("requests.cpu", "requests", "cpu"),
    ("requests.memory", "requests", "memory"),
    ("limits.cpu", "limits", "cpu"),
    ("limits.memory", "limits", "memory"),
];

/// A resource of which more is asked for than a quota allows.
struct Exceeded {
    resource: String,
    hard: String,
}

fn exceeded(quota: Placed<'_>, side: &Side<'_>) -> Vec<Exceeded> {
    let hard = quota.manifest.object().at(&["spec", "hard"]).and_then(Value::as_mapping);
    let mut found = Vec::new();
    for (resource, hard) in hard.into_iter().flatten() {
        let Some(limit) = quantity(hard) else { continue };
        let asked: f64 = side.workloads(quota.namespace).filter_map(|workload| asks(workload, resource, side)).sum();
        // Sums of parts of a unit are not exact.
        if asked > limit * (1.0 + 1e-9) {
            let hard = hard.as_str().map_or_else(|| format!("{limit}"), str::to_owned);
            found.push(Exceeded { resource: resource.clone(), hard });
        }
    }
    found
}

/// How much of a resource a workload asks for at least.
fn asks(workload: Placed<'_>, resource: &str, side: &Side<'_>) -> Option<f64> {
    let pods = spec(workload.manifest)?;
    let count = fewest(workload, side)? as f64;
    let path: [&str; 3] = match resource {
        "pods" | "count/pods" => return Some(count),
        "cpu" | "requests.cpu" => ["resources", "requests", "cpu"],
        "memory" | "requests.memory" => ["resources", "requests", "memory"],
        "limits.cpu" => ["resources", "limits", "cpu"],
        "limits.memory" => ["resources", "limits", "memory"],
        _ => return None,
    };
    let of_container = |container: &Value| {
        // A request that is not given is the limit.
        let limit = || container.at(&["resources", "limits", path[2]]);
        container.at(&path).or_else(limit).and_then(quantity)
    };
    Some(running(pods).filter_map(|(_, container)| of_container(container)).sum::<f64>() * count)
}

/// A limit for each container that is below what containers ask for which are known.
///
/// Reference: kubernetes docs/concepts/policy/limit-range.
pub(super) fn limit_range<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if (new.home_group(), new.kind()) != ("", "LimitRange") {
        return Vec::new();
    }
    let was = old.map(|old| beyond(around.before(old), &around.model.before)).unwrap_or_default();
    let now = beyond(around.after(new), &around.model.after).into_iter();
    let danger = |beyond: Beyond| {
        let Beyond { workload, resource, is_above } = beyond;
        let (what, advice) = match is_above {
            true => ("maximum", "raise the maximum, or have the workloads ask for less"),
            false => ("minimum", "lower the minimum, or have the workloads ask for more"),
        };
        let side = if is_above { "below" } else { "above" };
        let text =
            format!("the {what} of {resource} is {side} what {workload} asks for: its Pods are not made any more");
        Danger::said(Severity::Outage, "quota", text, advice)
    };
    let beyond = now.filter(|beyond| !was.contains(beyond)).map(danger);
    beyond.chain(defaults(old, new, around)).chain(ratio(old, new, around)).collect()
}

/// Limits that are more times what is asked for than they may be.
///
/// Reference: kubernetes docs/concepts/policy/limit-range; API LimitRangeItem `maxLimitRequestRatio`.
fn ratio<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let over = |range: &Manifest, side: &Side<'_>, namespace: &str, resource: &str| -> BTreeSet<String> {
        let limits = items(range.object(), &["spec", "limits"]).iter();
        let mut limits = limits.filter(|limit| word(limit, &["type"]) == "Container");
        let most = limits.find_map(|limit| limit.at(&["maxLimitRequestRatio", resource]).and_then(quantity));
        let is_over = |container: &Value| {
            let part = |what: &str| container.at(&["resources", what, resource]).and_then(quantity);
            match (part("limits"), part("requests"), most) {
                (Some(limit), Some(asked), Some(most)) => limit > asked * most * (1.0 + 1e-9),
                _ => false,
            }
        };
        let has = |one: &Placed<'_>| {
            spec(one.manifest).into_iter().flat_map(running).any(|(_, container)| is_over(container))
        };
        side.workloads(namespace).filter(has).map(around::name).collect()
    };
    for resource in ["memory", "cpu"] {
        let namespace = around.after(new).namespace;
        let had =
            old.map(|old| over(old, &around.model.before, around.before(old).namespace, resource)).unwrap_or_default();
        let has = over(new, &around.model.after, namespace, resource);
        let names: BTreeSet<&String> = has.difference(&had).collect();
        if !names.is_empty() {
            let its = if names.len() == 1 { "its" } else { "their" };
            let text = format!(
                "the limit of {resource} of {} is more times what it asks for than `maxLimitRequestRatio`: {its} Pods are not made any more",
                listed(names, NAMED_MAX)
            );
            let advice = "keep the ratio of what runs";
            return Some(Danger::said(Severity::Outage, "quota", text, advice));
        }
    }
    None
}

/// A limit by default that containers without one get: those that ask for more are refused, and others get no more.
///
/// Reference: kubernetes docs/concepts/policy/limit-range: "LimitRange does not check the consistency of the default values".
fn defaults<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let default = |range: &Manifest, resource: &str| {
        let limits = items(range.object(), &["spec", "limits"]).iter();
        let mut limits = limits.filter(|limit| word(limit, &["type"]) == "Container");
        limits.find_map(|limit| limit.at(&["default", resource]).cloned())
    };
    for resource in ["memory", "cpu"] {
        let Some(value) = default(new, resource) else { continue };
        let Some(limit) = quantity(&value) else { continue };
        let was = old.and_then(|old| default(old, resource)).and_then(|value| quantity(&value));
        let shown = value.as_str().map_or_else(|| format!("{limit}"), str::to_owned);
        let (before, after) = (&around.model.before, &around.model.after);
        let namespace = around.after(new).namespace;
        let had = was.map(|was| unlimited(before, namespace, resource, &|asked| asked.is_some_and(|asks| asks > was)));
        let refused = unlimited(after, namespace, resource, &|asked| asked.is_some_and(|asks| asks > limit));
        let refused: BTreeSet<String> = refused.difference(&had.unwrap_or_default()).cloned().collect();
        if !refused.is_empty() {
            let ask = if refused.len() == 1 { "asks" } else { "ask" };
            let names = listed(refused, NAMED_MAX);
            let text = format!(
                "containers without a limit of {resource} get {shown}, and {names} {ask} for more: their Pods are not made any more"
            );
            let advice = "keep the default at what containers ask for, or name a limit in each";
            return Some(Danger::said(Severity::Outage, "quota", text, advice));
        }
        let is_lower = was.is_none_or(|was| limit < was);
        let small = unlimited(after, namespace, resource, &|asked| asked.is_none());
        if resource == "memory" && is_lower && limit < SMALL && !small.is_empty() {
            let names = listed(small, NAMED_MAX);
            let text = format!(
                "containers of {names} that name no memory get a limit of {shown}: one that needs more is ended"
            );
            return Some(Danger::said(Severity::Other, "quota", text, "compare with what the containers use"));
        }
    }
    None
}

/// The workloads of a namespace with a container that names no limit of a resource, and what it asks for is so.
fn unlimited(side: &Side<'_>, namespace: &str, resource: &str, is: &dyn Fn(Option<f64>) -> bool) -> BTreeSet<String> {
    let is_it = |container: &Value| {
        let named = |what: &str| container.at(&["resources", what, resource]);
        named("limits").is_none() && is(named("requests").and_then(quantity))
    };
    let has =
        |one: &Placed<'_>| spec(one.manifest).into_iter().flat_map(running).any(|(_, container)| is_it(container));
    side.workloads(namespace).filter(has).map(around::name).collect()
}

/// A limit of memory by default that is little for what is not known to need little: 256Mi.
const SMALL: f64 = 268_435_456.0;

/// A workload of which a container asks for more of a resource than it may, or for less than it must.
#[derive(Debug, PartialEq, Eq)]
struct Beyond {
    workload: String,
    resource: String,
    is_above: bool,
}

/// What a LimitRange does not let in of the workloads of its namespace.
///
/// Reference: kubernetes docs/concepts/policy/limit-range: a limit is compared with `max`, a request with `min`; a request that is not
/// written is the limit.
fn beyond(range: Placed<'_>, side: &Side<'_>) -> Vec<Beyond> {
    let mut found = Vec::new();
    let limits = items(range.manifest.object(), &["spec", "limits"]).iter();
    for limit in limits.filter(|limit| word(limit, &["type"]) == "Container") {
        for (bound, is_above) in [("max", true), ("min", false)] {
            for (resource, bound) in limit.get(bound).and_then(Value::as_mapping).into_iter().flatten() {
                let Some(bound) = quantity(bound) else { continue };
                let is_beyond = |container: &Value| {
                    let asked = |what| container.at(&["resources", what, resource]);
                    let asked = if is_above { asked("limits") } else { asked("requests").or(asked("limits")) };
                    let asked = asked.and_then(quantity);
                    asked.is_some_and(|asked| if is_above { asked > bound } else { asked < bound })
                };
                for workload in side.workloads(range.namespace) {
                    let mut containers = spec(workload.manifest).into_iter().flat_map(running);
                    if containers.any(|(_, container)| is_beyond(container)) {
                        let workload = format!("{} {}", workload.manifest.kind(), workload.manifest.name());
                        found.push(Beyond { workload, resource: resource.clone(), is_above });
                    }
                }
            }
        }
    }
    found
}
