//! What operators refuse of their objects by themselves, whatever there was before, and what one change of a version leaves out.

use go_yaml::Value;

use super::fields::{size, texts};
use super::{Danger, Severity, items};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// Reference: kedacore/keda apis/keda/v1alpha1/scaledobject_webhook.go, "minReplica is 0 with cpu or memory alone";
/// cloudnative-pg internal/webhook/v1/scheduledbackup_webhook.go: robfig/cron takes five or six fields; elastic/cloud-on-k8s
/// elasticsearch/validation `validateHasMaster`;
/// cluster-api kubeadm_control_plane_webhook.go: an even number with stacked etcd; knative.dev docs, autoscaling/scale-bounds.
pub(super) fn reasons(object: &Manifest) -> Vec<String> {
    let value = object.object();
    let reason = match (object.home_group(), object.kind()) {
        ("keda.sh", "ScaledObject") => keda(value),
        ("postgresql.cnpg.io", "ScheduledBackup") => {
            let schedule = word(value, &["spec", "schedule"]);
            let count = schedule.split_whitespace().count();
            (count > 1 && !matches!(count, 5 | 6) && !schedule.starts_with('@'))
                .then(|| format!("`schedule: {schedule}` has {count} fields, and needs 6: seconds come first"))
        }
        ("elasticsearch.k8s.elastic.co", "Elasticsearch") => masters(value),
        ("controlplane.cluster.x-k8s.io", "KubeadmControlPlane") => {
            let is_external =
                value.at(&["spec", "kubeadmConfigSpec", "clusterConfiguration", "etcd", "external"]).is_some();
            let count =
                number(value, &["spec", "replicas"]).filter(|count| count % 2 == 0 && *count > 0 && !is_external);
            count.map(|count| format!("`replicas: {count}` is even: etcd beside its control plane needs an odd number"))
        }
        ("serving.knative.dev", "Service" | "Configuration") => scale(value),
        _ => None,
    };
    reason.into_iter().collect()
}

fn keda(value: &Value) -> Option<String> {
    let triggers = items(value, &["spec", "triggers"]);
    let is_local = |one: &Value| matches!(word(one, &["type"]), "cpu" | "memory");
    let is_none = number(value, &["spec", "minReplicaCount"]) == Some(0);
    (is_none && !triggers.is_empty() && triggers.iter().all(is_local)).then(|| {
        "`minReplicaCount: 0` with triggers of `cpu` and `memory` alone, which say nothing where no Pod runs".to_owned()
    })
}

fn masters(value: &Value) -> Option<String> {
    let sets = items(value, &["spec", "nodeSets"]);
    let lacks = |set: &Value| {
        let roles = set.at(&["config", "node.roles"]).and_then(Value::as_sequence);
        roles.is_some_and(|roles| !roles.iter().any(|role| role.as_str() == Some("master")))
    };
    (!sets.is_empty() && sets.iter().all(lacks)).then(|| "none of its `nodeSets` has the role `master`".to_owned())
}

fn scale(value: &Value) -> Option<String> {
    let bound = |names: [&str; 2]| {
        let get = |key: &&str| size(word(value, &["spec", "template", "metadata", "annotations", key]));
        names.iter().find_map(get)
    };
    let least = bound(["autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale"])?;
    let most = bound(["autoscaling.knative.dev/max-scale", "autoscaling.knative.dev/maxScale"])?;
    (most > 0.0 && least > most).then(|| format!("`max-scale: {most}` is below `min-scale: {least}`"))
}

/// Kinds whose version may go up by one minor version at a time: group, kind, path.
///
/// Reference: cluster-api controlplane/kubeadm/webhooks/admission/kubeadmcontrolplane.go `validateVersion`, which takes a lower version;
/// core/webhooks/admission/cluster.go `validateTopologyVersionUpdate`.
const STEPS: [(&str, &str, &[&str]); 2] = [
    ("controlplane.cluster.x-k8s.io", "KubeadmControlPlane", &["spec", "version"]),
    ("cluster.x-k8s.io", "Cluster", &["spec", "topology", "version"]),
];

/// A version of Kubernetes that leaves out one, or goes back.
pub(super) fn skipped(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (.., path) = STEPS.iter().find(|(group, kind, _)| (*group, *kind) == (new.home_group(), new.kind()))?;
    let minor = |object: &Manifest| -> Option<[i64; 2]> {
        let mut parts = word(object.object(), path).trim_start_matches('v').split('.');
        Some([parts.next()?.parse().ok()?, parts.next()?.parse().ok()?])
    };
    let ([from_major, from], [to_major, to]) = (minor(old)?, minor(new)?);
    let is_lower = to < from && new.kind() == "Cluster";
    (from_major == to_major && (is_lower || to > from + 1)).then(|| {
        let why = if to < from { "it cannot go back" } else { "it may go up by one minor version at a time" };
        let text = format!("version {from_major}.{from} → {to_major}.{to}: its controller refuses it: {why}");
        Danger::said(Severity::Refused, "downgrade", text, "keep to one minor version after the other")
    })
}

/// Nodes of a pool of which all may be emptied at once.
///
/// Reference: karpenter.sh docs/concepts/disruption, "NodePool Disruption Budgets": the strictest one counts.
pub(super) fn emptied(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_pool = (new.home_group(), new.kind()) == ("karpenter.sh", "NodePool");
    let is_all = |pool: &Manifest| {
        let nodes = texts(pool.object(), &["spec", "disruption", "budgets", "*", "nodes"]);
        !nodes.is_empty() && nodes.iter().all(|one| one == "100%")
    };
    (is_pool && is_all(new) && !is_all(old)).then(|| {
        let text = "`nodes: 100%`: all its nodes may be emptied at once".to_owned();
        Danger::said(Severity::Other, "evicts", text, "keep a share that the Pods bear, such as 10%")
    })
}

/// Topics to which nothing can be written once one broker is down.
///
/// Reference: kafka.apache.org documentation, "Topic configs" `min.insync.replicas`: with `acks=all`, fewer refuse what is written.
pub(super) fn unwritable(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (copies, least): (&[&str], &[&str]) = match (new.home_group(), new.kind()) {
        ("kafka.strimzi.io", "KafkaTopic") => (&["spec", "replicas"], &["spec", "config", "min.insync.replicas"]),
        ("kafka.strimzi.io", "Kafka") => (
            &["spec", "kafka", "config", "default.replication.factor"],
            &["spec", "kafka", "config", "min.insync.replicas"],
        ),
        _ => return None,
    };
    let get = |object: &Manifest, path: &[&str]| texts(object.object(), path).first().and_then(|text| size(text));
    let room = |object: &Manifest| Some((get(object, copies)?, get(object, least)?));
    let is_full = |object: &Manifest| room(object).is_some_and(|(copies, least)| copies > 1.0 && least >= copies);
    let (copies, least) = room(new)?;
    (is_full(new) && !is_full(old)).then(|| {
        let when = if least > copies { "at any time" } else { "once one broker is down, as in each restart" };
        let text = format!(
            "`min.insync.replicas` is {least} of {copies} copies: what is written with `acks=all` is refused {when}"
        );
        Danger::said(Severity::Outage, "refusing", text, "keep it below the number of copies")
    })
}

/// An object of a cloud that its controller no longer updates.
///
/// Reference: docs.crossplane.io managed-resources, `managementPolicies`: none are all, `*`.
pub(super) fn unmanaged(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = new.home_group().ends_with(".upbound.io") || new.home_group().ends_with(".crossplane.io");
    let is_updated = |object: &Manifest| {
        let policies = items(object.object(), &["spec", "managementPolicies"]);
        policies.is_empty() || policies.iter().any(|policy| matches!(policy.as_str(), Some("*" | "Update")))
    };
    (is_it && is_updated(old) && !is_updated(new)).then(|| {
        let text = "`managementPolicies` has neither `Update` nor `*`: its controller applies no change of it any more";
        Danger::said(Severity::Other, "paused", text.to_owned(), "keep `Update` where its changes shall be applied")
    })
}

/// A Composite Resource Definition, or another object of a cloud that holds no data by itself, and goes.
pub(super) fn external(old: &Manifest) -> Option<&'static str> {
    if (old.home_group(), old.kind()) == ("apiextensions.crossplane.io", "CompositeResourceDefinition") {
        return Some("all its composite resources and claims, and what they stand for");
    }
    let is_it = old.home_group().ends_with(".upbound.io") || old.home_group().ends_with(".crossplane.io");
    let policies = items(old.object(), &["spec", "managementPolicies"]);
    let may_delete = policies.iter().any(|policy| matches!(policy.as_str(), Some("*" | "Delete")));
    let is_kept = word(old.object(), &["spec", "deletionPolicy"]) == "Orphan" || !(policies.is_empty() || may_delete);
    let is_managed = old.object().at(&["spec", "forProvider"]).is_some();
    (is_it && is_managed && !is_kept).then_some("what it stands for outside of the cluster")
}
