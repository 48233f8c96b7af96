//! Deployments, StatefulSets, DaemonSets, ReplicaSets, PodDisruptionBudgets.
//!
//! Reference: kubernetes 1.36 pkg/apis/apps/validation, pkg/apis/policy/validation.

use go_yaml::{Mapping, Value};

use super::{Context, name_of};
use crate::fields::{at, get, has, int, items, list, map, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;

/// The selector must select the labels of the template; and what kind of Pods controllers run.
pub(super) fn controller(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if context.kind != "ReplicationController" {
        selects(spec, context.kind, out);
    } else if let Some(selector) = map(spec, "selector").filter(|selector| !selector.is_empty()) {
        matches(selector.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default())), spec, out);
    }
    let Some(pod) = at(spec, &["template", "spec"]) else {
        return;
    };
    out.within(".template.spec", |out| {
        let policy = text(pod, "restartPolicy");
        if !policy.is_empty() && policy != "Always" {
            out.refuse(
                ".restartPolicy",
                "enum",
                Reason::NotSupported,
                format!("is {}, and must be `Always`", shown(policy)),
            );
        }
        if has(pod, "activeDeadlineSeconds") {
            let text = format!("must not be set in a {}", context.kind);
            out.refuse(".activeDeadlineSeconds", "forbidden", Reason::Forbidden, text);
        }
    });
}

pub(super) fn selects(spec: &Mapping, kind: &str, out: &mut Findings) {
    let Some(selector) = map(spec, "selector") else { return };
    let empty = Mapping::new();
    let labels = map(selector, "matchLabels").unwrap_or(&empty);
    if labels.is_empty() && list(selector, "matchExpressions").is_empty() {
        return out.invalid(".selector", "selector", format!("must not be empty in a {kind}"));
    }
    matches(labels.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default())), spec, out);
    let template = at(spec, &["template", "metadata", "labels"]).unwrap_or(&empty);
    for (_, each) in items(selector, "matchExpressions") {
        let value = template.get(text(each, "key")).map(|value| value.as_str().unwrap_or_default());
        let is_in = value
            .is_some_and(|value| list(each, "values").iter().any(|each| each.as_str().unwrap_or_default() == value));
        let is_met = match text(each, "operator") {
            "In" => is_in,
            "NotIn" => !is_in,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => true,
        };
        if !is_met {
            mismatch(out);
        }
    }
}

fn matches<'l>(mut labels: impl Iterator<Item = (&'l str, &'l str)>, spec: &Mapping, out: &mut Findings) {
    let empty = Mapping::new();
    let template = at(spec, &["template", "metadata", "labels"]).unwrap_or(&empty);
    let has_label = |(key, value)| template.get(key).is_some_and(|own| own.as_str().unwrap_or_default() == value);
    if !labels.all(has_label) {
        mismatch(out);
    }
}

fn mismatch(out: &mut Findings) {
    out.invalid(".template.metadata.labels", "selector-mismatch", "must match `selector`");
}

/// A number or a percentage, as `is 0%` matters to rolling updates.
fn amount(object: &Mapping, field: &str, is_limited: bool, out: &mut Findings) -> Option<i64> {
    let at = format!(".{field}");
    match get(object, field)? {
        Value::Int(number) => {
            if *number < 0 {
                out.invalid(&at, "range", "must not be negative");
            }
            Some(*number)
        }
        Value::String(text) => match names::percent(text) {
            Some(percent) => {
                if is_limited && percent > 100 {
                    out.invalid(&at, "percent", "must be no more than 100%");
                }
                Some(percent)
            }
            None => {
                out.invalid(
                    &at,
                    "percent",
                    format!("is {}, and must be an integer or a percentage such as 25%", shown(text)),
                );
                None
            }
        },
        _ => None,
    }
}

pub(super) fn deployment(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if let (Some(progress), ready) = (int(spec, "progressDeadlineSeconds"), int(spec, "minReadySeconds").unwrap_or(0))
        && progress <= ready
    {
        out.invalid(".progressDeadlineSeconds", "deadline", "must be more than `minReadySeconds`");
    } else if !has(spec, "progressDeadlineSeconds") && int(spec, "minReadySeconds").is_some_and(|ready| ready >= 600) {
        out.invalid(
            ".progressDeadlineSeconds",
            "deadline",
            "is 600 where it is not set, and must be more than `minReadySeconds`",
        );
    }
    if let Some(strategy) = map(spec, "strategy") {
        out.within(".strategy", |out| rolling(strategy, &["Recreate", "RollingUpdate"], out));
    }
}

fn rolling(strategy: &Mapping, kinds: &[&str], out: &mut Findings) {
    let kind = text(strategy, "type");
    if !kind.is_empty() && !kinds.contains(&kind) {
        out.within(".type", |out| crate::walk::not_one_of(kinds, kind, out));
    }
    let Some(update) = map(strategy, "rollingUpdate") else { return };
    if matches!(kind, "Recreate" | "OnDelete") {
        if kind == "Recreate" {
            out.refuse(".rollingUpdate", "forbidden", Reason::Forbidden, "must not be set where `type` is Recreate");
        }
        return;
    }
    out.within(".rollingUpdate", |out| {
        let surge = amount(update, "maxSurge", kinds.contains(&"OnDelete"), out);
        let unavailable = amount(update, "maxUnavailable", true, out);
        // What is not set is a quarter in a Deployment, and one unavailable in a DaemonSet.
        let (surge_default, unavailable_default) = if kinds.contains(&"OnDelete") { (0, 1) } else { (25, 25) };
        let surge = if has(update, "maxSurge") { surge } else { Some(surge_default) };
        let unavailable = if has(update, "maxUnavailable") { unavailable } else { Some(unavailable_default) };
        if surge == Some(0) && unavailable == Some(0) {
            out.invalid(".maxUnavailable", "rolling-update", "must not be 0 where `maxSurge` is 0");
        }
        if kinds.contains(&"OnDelete")
            && surge.is_some_and(|surge| surge > 0)
            && unavailable.is_some_and(|unavailable| unavailable > 0)
        {
            out.invalid(".maxSurge", "rolling-update", "must not be set beside `maxUnavailable`");
        }
    });
}

pub(super) fn daemon_set(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if let Some(strategy) = map(spec, "updateStrategy") {
        out.within(".updateStrategy", |out| rolling(strategy, &["RollingUpdate", "OnDelete"], out));
    }
}

pub(super) fn stateful_set(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let Some(strategy) = map(spec, "updateStrategy") else { return };
    out.within(".updateStrategy", |out| {
        let kind = text(strategy, "type");
        if !matches!(kind, "" | "RollingUpdate" | "OnDelete") {
            out.within(".type", |out| crate::walk::not_one_of(&["RollingUpdate", "OnDelete"], kind, out));
        }
        let Some(update) = map(strategy, "rollingUpdate") else { return };
        if kind == "OnDelete" {
            return out.invalid(".rollingUpdate", "one-of", "must not be set where `type` is OnDelete");
        }
        out.within(".rollingUpdate", |out| {
            if int(update, "partition").is_some_and(|partition| partition < 0) {
                out.invalid(".partition", "range", "must not be negative");
            }
            if amount(update, "maxUnavailable", true, out) == Some(0) {
                out.invalid(".maxUnavailable", "range", "must not be 0");
            }
        });
    });
}

pub(super) fn disruption_budget(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if has(spec, "minAvailable") && has(spec, "maxUnavailable") {
        out.invalid("", "one-of", "must not have both `minAvailable` and `maxUnavailable`");
    }
    amount(spec, "minAvailable", true, out);
    amount(spec, "maxUnavailable", true, out);
}

pub(super) fn governing_service(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let name = text(spec, "serviceName");
    if !name.is_empty() {
        name_of("name", names::label, name, ".serviceName", out);
    }
}
