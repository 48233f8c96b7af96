//! How a workload goes from one version to the next, and whether it does.

use go_yaml::Value;

use super::availability::fewest;
use super::mounts::{Source, mounts};
use super::{Around, Danger, Severity, before, items};
use crate::diff::model::pods::{running, spec};
use crate::diff::model::{Placed, Side, number, word};
use crate::manifest::Manifest;

/// A strategy by which all Pods are gone at once in each rollout.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/deployment, "Strategy"; DaemonSet `updateStrategy`.
pub(super) fn strategy<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let why = all_at_once(around.after(new), &around.model.after)?;
    let was = all_at_once(around.before(old), &around.model.before);
    was.is_none().then(|| {
        let text = format!("{why}: nothing runs for a while in each rollout");
        // A volume of one node is not for two Pods at a time.
        let is_meant = why.starts_with("`Recreate`")
            && fewest(around.after(new), &around.model.after) == Some(1)
            && mounts(new).iter().any(|mount| matches!(mount.source, Source::Claim(_)));
        let severity = if is_meant { Severity::Other } else { Severity::Outage };
        let advice = match new.kind() {
            _ if why.starts_with("`Recreate`") => {
                "use `type: RollingUpdate`, unless its claim is ReadWriteOnce or two versions must not run at once: then `Recreate` is right"
            }
            "DaemonSet" => "keep some Pods available: `maxUnavailable: 1` is the default",
            _ => "keep some Pods available: `maxUnavailable: 25%` is the default",
        };
        Danger::said(severity, "rollout", text, advice)
    })
}

fn all_at_once(workload: Placed<'_>, side: &Side<'_>) -> Option<String> {
    let object = workload.manifest.object();
    let (strategy, is_recreated) = match (workload.manifest.home_group(), workload.manifest.kind()) {
        ("apps", "Deployment") => ("strategy", word(object, &["spec", "strategy", "type"]) == "Recreate"),
        ("apps", "DaemonSet") => ("updateStrategy", false),
        _ => return None,
    };
    if is_recreated {
        return Some("`Recreate` ends all Pods before it makes new ones".to_owned());
    }
    let written = match object.at(&["spec", strategy, "rollingUpdate", "maxUnavailable"])? {
        Value::Int(count) => (fewest(workload, side)? <= *count && *count > 0).then(|| count.to_string()),
        Value::String(share) => {
            let percent: i64 = share.strip_suffix('%')?.parse().ok()?;
            (percent >= 100).then(|| share.clone())
        }
        _ => None,
    }?;
    Some(format!("`maxUnavailable: {written}` lets all Pods go at once"))
}

/// A workload that is no longer rolled out, or no longer runs by its schedule.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/deployment, "Pausing"; cron-jobs, "Schedule suspension"; velero.io
/// docs/main/api-types/schedule; cloudnative-pg docs, backup.
pub(super) fn paused(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (field, text) = match (new.home_group(), new.kind()) {
        ("apps", "Deployment") => ("paused", "paused: changes of its Pods are not rolled out"),
        ("batch", "CronJob") | ("argoproj.io", "CronWorkflow") => ("suspend", "suspended: it no longer runs"),
        ("velero.io", "Schedule") => ("paused", "paused: no backups are made"),
        ("postgresql.cnpg.io", "ScheduledBackup") => ("suspend", "suspended: no backups are made"),
        _ => return None,
    };
    let is_set = |manifest: &Manifest| manifest.object().at(&["spec", field]).and_then(Value::as_bool) == Some(true);
    let advice = "take the field away when it shall run again";
    (is_set(new) && !is_set(old)).then(|| Danger::said(Severity::Other, "paused", text.to_owned(), advice))
}

/// A canary that no longer waits, or is no longer measured, before the new version gets everything.
///
/// Reference: argoproj/argo-rollouts docs/features/canary, "Mimicking Rolling Update": so it is without `steps`; docs/features/analysis.
pub(super) fn unstepped(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let canary = |rollout: &'_ Manifest| rollout.object().at(&["spec", "strategy", "canary"]).cloned();
    let is_rollout = (new.home_group(), new.kind()) == ("argoproj.io", "Rollout");
    let (was, now) = (canary(old).filter(|_| is_rollout)?, canary(new)?);
    let text = match () {
        () if waits(&was) && !waits(&now) => {
            "no step waits any more before the new version has all of it: what is wrong with it is everywhere at once"
        }
        () if measures(&was) && !measures(&now) => {
            "nothing measures the new version any more: the rollout goes on whatever it does"
        }
        () => return None,
    };
    let advice = "keep a step that waits, or an analysis, before the last share";
    Some(Danger::said(Severity::Other, "rollout", text.to_owned(), advice))
}

/// Whether a canary waits while the new version has a part alone.
fn waits(canary: &Value) -> bool {
    let mut share = 0;
    for step in items(canary, &["steps"]) {
        share = number(step, &["setWeight"]).unwrap_or(share);
        let is_wait = ["pause", "analysis", "experiment"].iter().any(|key| step.get(key).is_some());
        if is_wait && share < 100 {
            return true;
        }
    }
    false
}

fn measures(canary: &Value) -> bool {
    let mut steps = items(canary, &["steps"]).iter();
    let is_there = |value: &Value, key: &str| value.get(key).is_some_and(|part| !part.is_null());
    is_there(canary, "analysis") || steps.any(|step| is_there(step, "analysis") || is_there(step, "experiment"))
}

/// Databases that their operator stops: group, kind, and the field that says so.
///
/// Reference: access.crunchydata.com PostgresCluster `spec.shutdown` ("workloads are scaled to zero"); k8ssandra cass-operator
/// CassandraDatacenter `spec.stopped` ("no running server pods"); docs.percona.com operators, `pause` ("gracefully stop the cluster");
/// cloudnative-pg docs, declarative_hibernation.
const HALTED: [(&str, &str, &[&str]); 6] = [
    ("postgres-operator.crunchydata.com", "PostgresCluster", &["spec", "shutdown"]),
    ("cassandra.datastax.com", "CassandraDatacenter", &["spec", "stopped"]),
    ("pxc.percona.com", "PerconaXtraDBCluster", &["spec", "pause"]),
    ("psmdb.percona.com", "PerconaServerMongoDB", &["spec", "pause"]),
    ("pgv2.percona.com", "PerconaPGCluster", &["spec", "pause"]),
    ("postgresql.cnpg.io", "Cluster", &["metadata", "annotations", "cnpg.io/hibernation"]),
];

/// A database whose Pods its operator takes away, with their volumes kept.
pub(super) fn halted(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (.., path) = HALTED.iter().find(|(group, kind, _)| (*group, *kind) == (new.home_group(), new.kind()))?;
    let is_set = |manifest: &Manifest| match manifest.object().at(path) {
        Some(Value::Bool(flag)) => *flag,
        value => value.and_then(Value::as_str) == Some("on"),
    };
    (is_set(new) && !is_set(old)).then(|| {
        let field = path.last().unwrap_or(&"");
        let text = format!("`{field}`: its operator stops all of it");
        Danger::said(Severity::Outage, "scaledToZero", text, "take the field away when it shall run again")
    })
}

/// Pods that are ended without the time to end their requests.
///
/// Reference: kubernetes docs/concepts/workloads/pods/pod-lifecycle, "Termination of Pods"; docs/concepts/containers/container-lifecycle-hooks.
pub(super) fn killed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let (Some(before_pods), Some(pods)) = (spec(old), spec(new)) else { return Vec::new() };
    let grace = |pods: &Value| number(pods, &["terminationGracePeriodSeconds"]);
    let mut found = Vec::new();
    if grace(pods) == Some(0) && grace(before_pods) != Some(0) {
        let text = "`terminationGracePeriodSeconds: 0`: its Pods are killed at once, with the requests that they serve";
        found.push(Danger::said(
            Severity::Outage,
            "killed",
            text.to_owned(),
            "give them time to end: 30 is the default",
        ));
    }
    for (name, container) in running(pods) {
        let hook = |container: &Value| container.at(&["lifecycle", "preStop"]).is_some_and(|hook| !hook.is_null());
        if before(Some(old), name).is_some_and(hook) && !hook(container) {
            let text = format!(
                "`preStop` of `{name}` removed: it is told to stop at once, while requests still come that were on their way"
            );
            found.push(Danger::said(
                Severity::Other,
                "killed",
                text,
                "check that it ends requests by itself when it is stopped",
            ));
        }
    }
    found
}

/// A workload whose changes reach its Pods only once somebody deletes them.
///
/// Reference: kubernetes docs/tasks/manage-daemon/update-daemon-set; docs/concepts/workloads/controllers/statefulset, "Update strategies".
pub(super) fn on_delete(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = new.home_group() == "apps" && matches!(new.kind(), "DaemonSet" | "StatefulSet");
    let waits = |object: &Manifest| word(object.object(), &["spec", "updateStrategy", "type"]) == "OnDelete";
    (is_it && waits(new) && !waits(old)).then(|| {
        let text = "`OnDelete`: changes reach its Pods only once somebody deletes these".to_owned();
        let advice = "keep `type: RollingUpdate`, unless its Pods are deleted by hand";
        Danger::said(Severity::Other, "rollout", text, advice)
    })
}

/// How long a container may take to start before a probe fails, in seconds.
///
/// Reference: kubernetes API Probe: 10 for `periodSeconds`, 3 for `failureThreshold`.
pub(super) fn allowed(probe: &Value) -> i64 {
    let of = |key, default| number(probe, &[key]).unwrap_or(default);
    of("initialDelaySeconds", 0).saturating_add(of("periodSeconds", 10).saturating_mul(of("failureThreshold", 3)))
}

/// Probes that go.
///
/// Reference: kubernetes docs/concepts/configuration/liveness-readiness-startup-probes.
pub(super) fn probes<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let mut found = Vec::new();
    for (name, container) in spec(new).into_iter().flat_map(running) {
        let Some(was) = before(Some(old), name) else { continue };
        let is_gone = |probe: &str| {
            let is_there = |container: &Value| container.get(probe).is_some_and(|probe| !probe.is_null());
            is_there(was) && !is_there(container)
        };
        if is_gone("readinessProbe") {
            let is_served = around.model.after.is_served(around.after(new));
            let severity = if is_served { Severity::Outage } else { Severity::Other };
            let text = format!(
                "readiness probe of `{name}` removed: it counts as ready, and gets requests, as soon as it starts"
            );
            found.push(Danger::said(severity, "probeRemoved", text, "keep a readiness probe"));
        }
        if let (true, Some(start), Some(live)) =
            (is_gone("startupProbe"), was.get("startupProbe"), container.get("livenessProbe"))
            && allowed(live) < allowed(start)
        {
            let text = format!(
                "startup probe of `{name}` removed: its liveness probe ends it {} s after it starts, where it had {} s",
                allowed(live),
                allowed(start)
            );
            let advice = "keep the startup probe, or give the liveness probe as long";
            found.push(Danger::said(Severity::Other, "probeRemoved", text, advice));
        }
        if is_gone("livenessProbe") {
            let text = format!("liveness probe of `{name}` removed: nothing restarts it when it hangs");
            found.push(Danger::said(
                Severity::Other,
                "probeRemoved",
                text,
                "check that it ends by itself when it fails",
            ));
        }
    }
    found
}
