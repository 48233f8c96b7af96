//! Times that are too short: for Pods to end, to answer a probe, for Jobs to run.

use go_yaml::Value;

use super::rollout::allowed;
use super::{Danger, Severity, before};
use crate::diff::model::pods::{running, spec};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// What ends, or does not start, since its time is too short from now on.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let mut found: Vec<Danger> = cut_short(old, new).into_iter().collect();
    found.extend(probed(old, new));
    found.extend(scheduled(old, new));
    found
}

/// A hook that has not ended when its container is killed.
///
/// Reference: kubernetes docs/concepts/workloads/pods/pod-lifecycle, "Pod Termination": the time of `preStop` counts; 30 s are the default.
fn cut_short(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let grace = |object: &Manifest| {
        spec(object).and_then(|pods| number(pods, &["terminationGracePeriodSeconds"])).unwrap_or(30)
    };
    let late = |object: &Manifest| {
        let containers = spec(object).into_iter().flat_map(running);
        let all = containers.filter_map(|(name, container)| Some((name.to_owned(), sleep(container)?)));
        all.into_iter().find(|(_, seconds)| *seconds >= grace(object))
    };
    let (name, seconds) = late(new)?;
    (grace(new) > 0 && late(old).is_none()).then(|| {
        let text = format!(
            "`preStop` of `{name}` waits for {seconds} s, and its Pods are killed after {} s: with the requests that they serve",
            grace(new)
        );
        let advice = "keep `terminationGracePeriodSeconds` above what the hook and the last requests take";
        Danger::said(Severity::Other, "killed", text, advice)
    })
}

/// How long a hook waits before its container is ended.
fn sleep(container: &Value) -> Option<i64> {
    let hook = container.at(&["lifecycle", "preStop"])?;
    if let Some(seconds) = number(hook, &["sleep", "seconds"]) {
        return Some(seconds);
    }
    let command = hook.at(&["exec", "command"])?.as_sequence()?.iter().filter_map(Value::as_str);
    let words: Vec<String> = command.flat_map(str::split_whitespace).map(str::to_owned).collect();
    let at = words.iter().position(|word| word == "sleep" || word.ends_with("/sleep"))?;
    words.get(at + 1)?.trim_end_matches(['s', ';']).parse().ok()
}

/// How short the time is for which a probe may fail that ends a container soon.
const SHORT: i64 = 5;

/// A liveness probe that ends containers sooner than they were.
///
/// Reference: kubernetes docs/concepts/configuration/liveness-readiness-startup-probes: "incorrect implementation of liveness probes can
/// lead to cascading failures".
fn probed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let mut found = Vec::new();
    for (name, container) in spec(new).into_iter().flat_map(running) {
        let Some(was) = before(Some(old), name) else { continue };
        let probe = |container: &'_ Value, which: &str| container.get(which).filter(|probe| !probe.is_null()).cloned();
        let Some(live) = probe(container, "livenessProbe") else { continue };
        let without_delay = |probe: &Value| allowed(probe) - number(probe, &["initialDelaySeconds"]).unwrap_or(0);
        let advice = "keep time for a slow answer, and for the start by a startup probe";
        match probe(was, "livenessProbe") {
            Some(was) if without_delay(&live) < SHORT && without_delay(&was) >= SHORT => {
                let text = format!(
                    "liveness probe of `{name}` ends it once it does not answer for {} s, and did after {} s",
                    without_delay(&live),
                    without_delay(&was)
                );
                found.push(Danger::said(Severity::Other, "probe", text, advice));
            }
            None => {
                let ready =
                    probe(container, "readinessProbe").and_then(|probe| number(&probe, &["initialDelaySeconds"]));
                let is_started = probe(container, "startupProbe").is_some();
                if let Some(ready) = ready.filter(|ready| !is_started && *ready > allowed(&live)) {
                    let text = format!(
                        "liveness probe of `{name}` ends it {} s after it starts, and it is asked whether it is ready after {ready} s",
                        allowed(&live)
                    );
                    found.push(Danger::said(Severity::Other, "probe", text, advice));
                }
            }
            _ => {}
        }
    }
    found
}

/// Jobs that run at the same time, that are ended soon, or that may not start at all.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/cron-jobs, "Concurrency policy", "Deadline for delayed Job start" (below 10,
/// it may not be scheduled); jobs, "Job termination and cleanup".
fn scheduled(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let is_cron = (new.home_group(), new.kind()) == ("batch", "CronJob");
    let is_job = (new.home_group(), new.kind()) == ("batch", "Job");
    if !is_cron && !is_job {
        return Vec::new();
    }
    let mut found = Vec::new();
    let excludes =
        |object: &Manifest| matches!(word(object.object(), &["spec", "concurrencyPolicy"]), "Forbid" | "Replace");
    if is_cron && excludes(old) && !excludes(new) {
        let text = "`concurrencyPolicy: Allow`: one run may start while the one before it still runs".to_owned();
        let advice = "keep `Forbid`, unless two runs may go on at a time";
        found.push(Danger::said(Severity::Other, "concurrent", text, advice));
    }
    let kept = |object: &Manifest| number(object.object(), &["spec", "failedJobsHistoryLimit"]).unwrap_or(1);
    if is_cron && kept(new) == 0 && kept(old) > 0 {
        let text = "`failedJobsHistoryLimit: 0`: a run that fails leaves nothing to look at".to_owned();
        found.push(Danger::said(Severity::Other, "unseen", text, "keep one that failed"));
    }
    let starting = |object: &Manifest| number(object.object(), &["spec", "startingDeadlineSeconds"]);
    if let Some(seconds) = starting(new).filter(|seconds| *seconds < 10)
        && starting(old).is_none_or(|was| was >= 10)
    {
        let text =
            format!("`startingDeadlineSeconds: {seconds}`: the controller looks every 10 s, and may miss its runs");
        found.push(Danger::said(Severity::Other, "deadline", text, "keep 10 or more"));
    }
    let path: &[&str] = match is_cron {
        true => &["spec", "jobTemplate", "spec", "activeDeadlineSeconds"],
        false => &["spec", "activeDeadlineSeconds"],
    };
    let active = |object: &Manifest| number(object.object(), path);
    if let Some(seconds) = active(new).filter(|seconds| *seconds < 60)
        && active(old).is_none_or(|was| was >= 60)
    {
        let text =
            format!("`activeDeadlineSeconds: {seconds}`: each run is ended after that, whether it is done or not");
        found.push(Danger::said(Severity::Other, "deadline", text, "keep more than the longest run takes"));
    }
    found
}
