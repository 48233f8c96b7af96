//! Jobs and CronJobs.
//!
//! Reference: kubernetes 1.36 pkg/apis/batch/validation/validation.go.

use go_yaml::{Mapping, Value};

use super::Context;
use crate::cron;
use crate::fields::{at, get, has, int, items, list, map, set, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;

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
            out.invalid(".completions", "name", "gives a Pod a name that is not a label of DNS");
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
}

fn manual_selector(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let is_manual = crate::fields::is_true(spec, "manualSelector");
    if is_manual {
        if !has(spec, "selector") {
            out.required(".selector", "must be set where `manualSelector` is true");
        }
        return super::workload::selects(spec, "Job", out);
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

/// Which failures of Pods count, and what comes of them.
pub(super) fn failure_policy(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let Some(policy) = map(spec, "podFailurePolicy") else { return };
    let empty = Mapping::new();
    let pod = at(spec, &["template", "spec"]).unwrap_or(&empty);
    if text(pod, "restartPolicy") != "Never" {
        out.invalid(".template.spec.restartPolicy", "failure-policy", "must be Never where `podFailurePolicy` is set");
    }
    let containers = ["containers", "initContainers"].into_iter().flat_map(|field| items(pod, field));
    let names: Vec<&str> = containers.map(|(_, container)| text(container, "name")).collect();
    for (index, rule) in items(policy, "rules") {
        out.within(format_args!(".podFailurePolicy.rules[{index}]"), |out| {
            if text(rule, "action") == "FailIndex" && !has(spec, "backoffLimitPerIndex") {
                out.invalid(".action", "failure-policy", "must not be FailIndex without `backoffLimitPerIndex`");
            }
            if usize::from(has(rule, "onExitCodes")) + usize::from(!list(rule, "onPodConditions").is_empty()) != 1 {
                out.invalid("", "one-of", "must have one of `onExitCodes`, `onPodConditions`");
            }
            if let Some(codes) = map(rule, "onExitCodes") {
                out.within(".onExitCodes", |out| exit_codes(codes, &names, out));
            }
        });
    }
}

fn exit_codes(codes: &Mapping, containers: &[&str], out: &mut Findings) {
    let name = text(codes, "containerName");
    if has(codes, "containerName") && !containers.contains(&name) {
        out.invalid(".containerName", "failure-policy", format!("is {}, and no container has this name", shown(name)));
    }
    let values: Vec<i64> = list(codes, "values").iter().filter_map(crate::fields::whole).collect();
    if values.is_empty() {
        out.required(".values", "must be set");
    }
    if text(codes, "operator") == "In"
        && let Some(zero) = values.iter().position(|value| *value == 0)
    {
        out.invalid(&format!(".values[{zero}]"), "failure-policy", "must not be 0 where `operator` is In");
    }
    if !values.is_sorted_by(|one, next| one < next) {
        out.invalid(".values", "failure-policy", "must be in order, each once");
    }
}

/// When a Job is done though not all of its Pods are.
pub(super) fn success_policy(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let Some(policy) = map(spec, "successPolicy") else { return };
    if text(spec, "completionMode") != "Indexed" {
        return out.invalid(".successPolicy", "success-policy", "must be set where `completionMode` is Indexed only");
    }
    if list(policy, "rules").is_empty() {
        out.required(".successPolicy.rules", "must have one at least");
    }
    for (index, rule) in items(policy, "rules") {
        out.within(format_args!(".successPolicy.rules[{index}]"), |out| {
            if set(rule, &["succeededCount", "succeededIndexes"]).is_empty() {
                out.required("", "must have `succeededCount` or `succeededIndexes`");
            }
            let most = int(spec, "completions").unwrap_or(super::MAX);
            if let Some(count) = int(rule, "succeededCount").filter(|count| !(0..=most).contains(count)) {
                out.invalid(".succeededCount", "range", format!("is {count}, and must be no more than `completions`"));
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
