//! Objects that custom resources name by fields of their own: a table of kinds, paths and what is named.

use go_yaml::Value;

use super::super::thing::Thing;
use super::super::{Placed, word};

/// A field that names an object.
struct Reference {
    group: &'static str,
    /// The kinds, between `|`.
    kinds: &'static str,
    /// The keys that lead to a text, or to a mapping with `name`. `*` is for each item of a list.
    path: &'static [&'static str],
    /// What is named where no `kind` says otherwise, and those that a `kind` may say. A `Cluster…` is of the whole cluster.
    named: &'static [&'static str],
}

const fn refers(
    group: &'static str,
    kinds: &'static str,
    path: &'static [&'static str],
    named: &'static [&'static str],
) -> Reference {
    Reference { group, kinds, path, named }
}

const WORKFLOWS: &[&str] = &["WorkflowTemplate"];
const SOURCES: &[&str] = &["GitRepository", "OCIRepository", "Bucket"];
const CHARTS: &[&str] = &["HelmRepository", "GitRepository", "Bucket"];

/// Reference: the APIs of each of these projects: argo-workflows, tekton, fluxcd, cloudnative-pg, metallb, strimzi, velero, karpenter.
const REFERENCES: [Reference; 20] = [
    refers("argoproj.io", "CronWorkflow", &["spec", "workflowSpec", "workflowTemplateRef"], WORKFLOWS),
    refers("argoproj.io", "Workflow", &["spec", "workflowTemplateRef"], WORKFLOWS),
    refers(
        "argoproj.io",
        "WorkflowTemplate",
        &["spec", "templates", "*", "dag", "tasks", "*", "templateRef"],
        WORKFLOWS,
    ),
    refers("argoproj.io", "WorkflowTemplate", &["spec", "templates", "*", "steps", "*", "*", "templateRef"], WORKFLOWS),
    refers("tekton.dev", "Pipeline", &["spec", "tasks", "*", "taskRef"], &["Task"]),
    refers("tekton.dev", "Pipeline", &["spec", "finally", "*", "taskRef"], &["Task"]),
    refers("tekton.dev", "PipelineRun", &["spec", "pipelineRef"], &["Pipeline"]),
    refers("tekton.dev", "TaskRun", &["spec", "taskRef"], &["Task"]),
    refers("triggers.tekton.dev", "EventListener", &["spec", "triggers", "*", "template", "ref"], &["TriggerTemplate"]),
    refers(
        "triggers.tekton.dev",
        "EventListener",
        &["spec", "triggers", "*", "bindings", "*", "ref"],
        &["TriggerBinding"],
    ),
    refers("kustomize.toolkit.fluxcd.io", "Kustomization", &["spec", "sourceRef"], SOURCES),
    refers("kustomize.toolkit.fluxcd.io", "Kustomization", &["spec", "dependsOn", "*"], &["Kustomization"]),
    refers("helm.toolkit.fluxcd.io", "HelmRelease", &["spec", "chart", "spec", "sourceRef"], CHARTS),
    refers("helm.toolkit.fluxcd.io", "HelmRelease", &["spec", "dependsOn", "*"], &["HelmRelease"]),
    refers("postgresql.cnpg.io", "ScheduledBackup|Backup|Pooler|Database", &["spec", "cluster"], &["Cluster"]),
    refers("metallb.io", "L2Advertisement|BGPAdvertisement", &["spec", "ipAddressPools", "*"], &["IPAddressPool"]),
    refers(
        "kafka.strimzi.io",
        "KafkaTopic|KafkaUser|KafkaNodePool",
        &["metadata", "labels", "strimzi.io/cluster"],
        &["Kafka"],
    ),
    refers("kafka.strimzi.io", "KafkaConnector", &["metadata", "labels", "strimzi.io/cluster"], &["KafkaConnect"]),
    refers("karpenter.sh", "NodePool", &["spec", "template", "spec", "nodeClassRef"], &["EC2NodeClass"]),
    refers("argoproj.io", "Sensor|EventSource", &["spec", "eventBusName"], &["EventBus"]),
];

/// Kinds of the whole cluster.
const OF_CLUSTER: [&str; 1] = ["EC2NodeClass"];

/// What an object names by its own fields.
pub(super) fn named(of: Placed<'_>) -> Vec<Thing> {
    let (group, kind) = (of.manifest.home_group(), of.manifest.kind());
    let is_for = |one: &&Reference| one.group == group && one.kinds.split('|').any(|known| known == kind);
    let mut found = Vec::new();
    for reference in REFERENCES.iter().filter(is_for) {
        visit(of.manifest.object(), reference.path, &mut |value| {
            let Some(default) = reference.named.first() else { return };
            let kind = match word(value, &["kind"]) {
                "" => Some(default),
                kind => reference.named.iter().find(|known| **known == kind),
            };
            let name = value.as_str().unwrap_or_else(|| word(value, &["name"]));
            let home = match word(value, &["namespace"]) {
                "" => of.namespace,
                namespace => namespace,
            };
            // A resolver, or another group, finds it elsewhere.
            let is_elsewhere = ["resolver", "bundle"].iter().any(|key| value.get(key).is_some())
                || value.get("clusterScope").and_then(Value::as_bool) == Some(true);
            if let Some(kind) = kind.filter(|_| !name.is_empty() && !is_elsewhere) {
                let namespace = if OF_CLUSTER.contains(kind) { "" } else { home };
                found.push(Thing { kind, namespace: namespace.to_owned(), name: name.to_owned() });
            }
        });
    }
    found.sort();
    found.dedup();
    found
}

/// Calls back for each value at a path.
fn visit(value: &Value, path: &[&str], each: &mut dyn FnMut(&Value)) {
    match path.split_first() {
        None => each(value),
        Some((&"*", rest)) => value.as_sequence().into_iter().flatten().for_each(|item| visit(item, rest, each)),
        Some((key, rest)) => {
            if let Some(value) = value.get(key) {
                visit(value, rest, each);
            }
        }
    }
}
