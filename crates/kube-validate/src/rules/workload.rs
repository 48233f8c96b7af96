//! Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs, CronJobs, PodDisruptionBudgets.
//!
//! Reference: kubernetes 1.36 pkg/apis/apps/validation, pkg/apis/batch/validation, pkg/apis/policy/validation.

use go_yaml::{Mapping, Value};

use super::{Context, name_of};
use crate::cron;
use crate::fields::{at, get, has, int, items, list, map, set, text};
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

fn selects(spec: &Mapping, kind: &str, out: &mut Findings) {
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
    out.invalid(".template.metadata.labels", "selector-mismatch", "`selector` does not select these labels");
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

const GENERATED: &[&str] =
    &["controller-uid", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "job-name"];

pub(super) fn job(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let pod = at(spec, &["template", "spec"]);
    let policy = pod.map(|pod| text(pod, "restartPolicy")).unwrap_or_default();
    if matches!(policy, "" | "Always") {
        let (reason, text) = if policy.is_empty() {
            (Reason::Required, "must be set: OnFailure or Never")
        } else {
            (Reason::NotSupported, "must be OnFailure or Never")
        };
        out.refuse(".template.spec.restartPolicy", "required", reason, text);
    }
    let is_indexed = text(spec, "completionMode") == "Indexed";
    let (completions, parallelism) = (int(spec, "completions"), int(spec, "parallelism"));
    if is_indexed {
        if completions.is_none() {
            out.required(".completions", "must be set where `completionMode` is Indexed");
        }
        if parallelism.is_some_and(|count| count > 100_000) {
            out.invalid(".parallelism", "range", "must be no more than 100000 where `completionMode` is Indexed");
        }
        let name = map(context.root, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
        let last = completions.unwrap_or(1).max(1) - 1;
        if context.kind == "Job" && !name.is_empty() && names::label(&format!("{name}-{last}")).is_some() {
            out.invalid(".completions", "name", "the name of a Pod of it would be no label of DNS");
        }
    }
    for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
        if has(spec, field) && !is_indexed {
            out.invalid(&format!(".{field}"), "one-of", "must be set where `completionMode` is Indexed only");
        }
    }
    if has(spec, "maxFailedIndexes") && !has(spec, "backoffLimitPerIndex") {
        out.required(".backoffLimitPerIndex", "must be set where `maxFailedIndexes` is");
    }
    manual_selector(context, spec, out);
    failure_policy(spec, policy, out);
}

fn manual_selector(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let is_manual = crate::fields::is_true(spec, "manualSelector");
    if is_manual {
        if !has(spec, "selector") {
            out.required(".selector", "must be set where `manualSelector` is true");
        }
        return selects(spec, "Job", out);
    }
    if context.kind == "CronJob" {
        if has(spec, "selector") {
            out.invalid(".selector", "selector", "is made by the server");
        }
        return;
    }
    let Some(selector) = map(spec, "selector") else { return };
    let labels = map(selector, "matchLabels");
    let is_own = labels.is_some_and(|labels| labels.keys().all(|key| GENERATED.contains(&key.as_str())));
    if !is_own || !list(selector, "matchExpressions").is_empty() {
        out.invalid(".selector", "selector", "is made by the server, unless `manualSelector` is true");
    }
}

fn failure_policy(spec: &Mapping, restart: &str, out: &mut Findings) {
    let Some(policy) = map(spec, "podFailurePolicy") else { return };
    if restart != "Never" {
        out.invalid(".template.spec.restartPolicy", "failure-policy", "must be Never where `podFailurePolicy` is set");
    }
    for (index, rule) in items(policy, "rules") {
        out.within(format_args!(".podFailurePolicy.rules[{index}]"), |out| {
            if set(rule, &["onExitCodes", "onPodConditions"]).len() != 1 {
                out.invalid("", "one-of", "must have one of `onExitCodes`, `onPodConditions`");
            }
            if let Some(codes) = map(rule, "onExitCodes")
                && list(codes, "values").is_empty()
            {
                out.required(".onExitCodes.values", "must be set");
            }
        });
    }
}

pub(super) fn cron_job(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let schedule = text(spec, "schedule");
    if let Some(wrong) = cron::wrong(schedule).filter(|_| !schedule.is_empty()) {
        out.invalid(".schedule", "cron", format!("is {}: {wrong}", shown(schedule)));
    }
    let Some(zone) = get(spec, "timeZone").and_then(Value::as_str) else { return };
    let is_known =
        !zone.is_empty() && !zone.eq_ignore_ascii_case("local") && (go_std::time::Zone::named(zone).is_some());
    if !is_known {
        out.invalid(
            ".timeZone",
            "time-zone",
            format!("is {}, and must be a name of IANA such as Europe/Berlin", shown(zone)),
        );
    }
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
