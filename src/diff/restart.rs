//! Whether a change replaces Pods.

use go_yaml::Value;

use super::live::as_read;
use super::model::pods::replicas;
use super::model::{number, word};
use crate::manifest::Manifest;

/// Whether the Pods of a workload that stays are made anew: the template that they are made of is another one to the API
/// server, which knows `1000m` as `1` and fills in defaults, and something rolls it out.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/deployment (a rollout, pausing), statefulset (partitions).
pub(super) fn restarts(old: Option<&Manifest>, new: Option<&Manifest>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return false };
    rolls(new) && is_running(old, new) && templates_differ(old, new)
}

/// Whether two versions of a workload make other Pods.
pub(super) fn templates_differ(old: &Manifest, new: &Manifest) -> bool {
    let template = |manifest: &'_ Manifest| manifest.object().at(&["spec", "template"]).cloned();
    if template(old) == template(new) {
        return false;
    }
    let [old, new] = as_read(old, new);
    template(&old) != template(&new)
}

/// Whether something replaces the Pods when the template changes.
fn rolls(workload: &Manifest) -> bool {
    let object = workload.object();
    match (workload.home_group(), workload.kind()) {
        ("apps", "Deployment") | ("argoproj.io", "Rollout") => {
            object.at(&["spec", "paused"]).and_then(Value::as_bool) != Some(true)
        }
        ("apps", "StatefulSet" | "DaemonSet") => {
            let partition = number(object, &["spec", "updateStrategy", "rollingUpdate", "partition"]).unwrap_or(0);
            word(object, &["spec", "updateStrategy", "type"]) != "OnDelete"
                && (partition == 0 || replicas(workload).is_none_or(|replicas| partition < replicas))
        }
        _ => false,
    }
}

/// Whether there are Pods before and after.
fn is_running(old: &Manifest, new: &Manifest) -> bool {
    [old, new].iter().all(|workload| replicas(workload) != Some(0))
}
