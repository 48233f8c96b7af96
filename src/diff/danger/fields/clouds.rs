//! Objects of clouds: Crossplane, ACK, Config Connector, and who may reach them.

use super::super::Severity::{DataLoss, Other, Outage, Refused, Security};
use super::Field;
use super::When::{Changes, ChangesFrom, Falls, Is, IsOrGoes};

const UPBOUND: &str = ".upbound.io";
const CROSSPLANE: &str = ".crossplane.io";
const ACK: &str = ".services.k8s.aws";
const CNRM: &str = ".cnrm.cloud.google.com";

const KEEP: &str = "keep it, or make another object beside it and move to that";

/// What a provider cannot change of what there is.
///
/// Reference: crossplane/upjet docs, "refuse to update the external resource because the following update requires replacing it";
/// aws-controllers-k8s docs, `ACK.Terminal`; cloud.google.com config-connector docs, "immutable fields".
const fn fixed(group: &'static str, path: &'static [&'static str]) -> Field {
    let effect =
        "it cannot be changed of what there is: its controller refuses it, and applies nothing of the object any more";
    Field { group, kinds: "", path, when: Changes, severity: Refused, danger: "unchangeable", effect, advice: KEEP }
}

/// What a controller looks for what there is by.
const fn place(group: &'static str, path: &'static [&'static str]) -> Field {
    let effect = "its controller looks for it there, and makes another one without the data: the one of before stays, and nothing manages it";
    Field { group, kinds: "", path, when: Changes, severity: Outage, danger: "elsewhere", effect, advice: KEEP }
}

const fn paused(group: &'static str, path: &'static [&'static str], values: &'static [&'static str]) -> Field {
    let effect = "its controller applies no change of it any more";
    let advice = "take the field away when it shall run again";
    Field { group, kinds: "", path, when: Is(values), severity: Other, danger: "paused", effect, advice }
}

const fn emptied(group: &'static str, path: &'static [&'static str]) -> Field {
    let effect = "a bucket that has objects is deleted with them from now on";
    let advice = "keep it false where the data shall outlive the object";
    Field { group, kinds: "", path, when: Is(&["true"]), severity: Other, danger: "deletesData", effect, advice }
}

/// Without encryption from now on, of a field that can change.
const fn unencrypted(group: &'static str, kinds: &'static str, path: &'static [&'static str]) -> Field {
    let effect = "what is stored is not encrypted any more";
    let advice = "keep it encrypted";
    Field { group, kinds, path, when: IsOrGoes(&["false"]), severity: Security, danger: "unguarded", effect, advice }
}

const FOR: &str = "forProvider";
const DATABASES: &str = "Instance|Cluster|DBInstance|DBCluster|RDSInstance|SQLInstance|DatabaseInstance";

pub(super) const FIELDS: &[Field] = &[
    place(UPBOUND, &["spec", FOR, "region"]),
    place(CROSSPLANE, &["spec", FOR, "region"]),
    place(UPBOUND, &["metadata", "annotations", "crossplane.io/external-name"]),
    place(CROSSPLANE, &["metadata", "annotations", "crossplane.io/external-name"]),
    place(UPBOUND, &["spec", "providerConfigRef", "name"]),
    place(CROSSPLANE, &["spec", "providerConfigRef", "name"]),
    place(ACK, &["metadata", "annotations", "services.k8s.aws/region"]),
    place(ACK, &["metadata", "annotations", "services.k8s.aws/owner-account-id"]),
    place(CNRM, &["metadata", "annotations", "cnrm.cloud.google.com/project-id"]),
    place(CNRM, &["spec", "resourceID"]),
    Field {
        group: CNRM,
        kinds: "",
        path: &["spec", "location"],
        when: Changes,
        severity: Refused,
        danger: "invalid",
        effect: "its webhook refuses another place",
        advice: KEEP,
    },
    Field {
        group: CNRM,
        kinds: "",
        path: &["spec", "region"],
        when: Changes,
        severity: Refused,
        danger: "invalid",
        effect: "its webhook refuses another place",
        advice: KEEP,
    },
    paused(UPBOUND, &["metadata", "annotations", "crossplane.io/paused"], &["true"]),
    paused(CROSSPLANE, &["metadata", "annotations", "crossplane.io/paused"], &["true"]),
    paused(CNRM, &["metadata", "annotations", "cnrm.cloud.google.com/reconcile-interval-in-seconds"], &["0"]),
    paused(".azure.com", &["metadata", "annotations", "serviceoperator.azure.com/reconcile-policy"], &["skip"]),
    Field {
        group: UPBOUND,
        kinds: "",
        path: &["spec", "managementPolicies"],
        when: Changes,
        severity: Other,
        danger: "paused",
        effect: "its controller may do other things with it than before: without `Update` and `*` it applies no change",
        advice: "check that what it shall do is listed",
    },
    emptied(UPBOUND, &["spec", FOR, "forceDestroy"]),
    emptied(CROSSPLANE, &["spec", FOR, "forceDestroy"]),
    emptied(CNRM, &["metadata", "annotations", "cnrm.cloud.google.com/force-destroy"]),
    fixed(UPBOUND, &["spec", FOR, "engine"]),
    fixed(CROSSPLANE, &["spec", FOR, "engine"]),
    fixed(ACK, &["spec", "engine"]),
    fixed(UPBOUND, &["spec", FOR, "storageEncrypted"]),
    fixed(CROSSPLANE, &["spec", FOR, "storageEncrypted"]),
    fixed(ACK, &["spec", "storageEncrypted"]),
    fixed(UPBOUND, &["spec", FOR, "kmsKeyId"]),
    fixed(ACK, &["spec", "kmsKeyID"]),
    fixed(UPBOUND, &["spec", FOR, "dbName"]),
    fixed(UPBOUND, &["spec", FOR, "databaseName"]),
    fixed(CROSSPLANE, &["spec", FOR, "dbName"]),
    fixed(ACK, &["spec", "dbName"]),
    fixed(UPBOUND, &["spec", FOR, "username"]),
    fixed(UPBOUND, &["spec", FOR, "masterUsername"]),
    fixed(CROSSPLANE, &["spec", FOR, "masterUsername"]),
    fixed(ACK, &["spec", "masterUsername"]),
    fixed(UPBOUND, &["spec", FOR, "cidrBlock"]),
    fixed(CROSSPLANE, &["spec", FOR, "cidrBlock"]),
    fixed(UPBOUND, &["spec", FOR, "availabilityZone"]),
    fixed(UPBOUND, &["spec", FOR, "hashKey"]),
    fixed(UPBOUND, &["spec", FOR, "rangeKey"]),
    fixed(UPBOUND, &["spec", FOR, "location"]),
    fixed(UPBOUND, &["spec", FOR, "fifoQueue"]),
    fixed(UPBOUND, &["spec", FOR, "resourceGroupName"]),
    fixed(ACK, &["spec", "dbInstanceIdentifier"]),
    fixed(ACK, &["spec", "dbClusterIdentifier"]),
    fixed(ACK, &["spec", "tableName"]),
    fixed(ACK, &["spec", "keySchema"]),
    fixed(ACK, &["spec", "queueName"]),
    fixed(ACK, &["spec", "name"]),
    unencrypted(UPBOUND, "ReplicationGroup", &["spec", FOR, "atRestEncryptionEnabled"]),
    Field {
        group: UPBOUND,
        kinds: "ReplicationGroup",
        path: &["spec", FOR, "transitEncryptionEnabled"],
        when: IsOrGoes(&["false"]),
        severity: Security,
        danger: "unguarded",
        effect: "connections are in plain text",
        advice: "keep what encrypts it",
    },
    Field {
        group: UPBOUND,
        kinds: DATABASES,
        path: &["spec", FOR, "applyImmediately"],
        when: Is(&["true"]),
        severity: Other,
        danger: "rollout",
        effect: "changes that stop it for a while are made at once, and not in its window of maintenance",
        advice: "keep it to changes that cannot wait",
    },
    Field {
        group: UPBOUND,
        kinds: "Queue",
        path: &["spec", FOR, "messageRetentionSeconds"],
        when: Falls(50),
        severity: DataLoss,
        danger: "retention",
        effect: "messages that are older are deleted",
        advice: "copy what shall be kept first",
    },
    Field {
        group: "apiextensions.crossplane.io",
        kinds: "CompositeResourceDefinition",
        path: &["spec", "defaultCompositionRef", "name"],
        when: ChangesFrom(""),
        severity: Other,
        danger: "elsewhere",
        effect: "what is made from now on is of another composition",
        advice: "check what new claims get",
    },
    Field {
        group: "apiextensions.crossplane.io",
        kinds: "Composition",
        path: &["spec", "compositeTypeRef", "kind"],
        when: Changes,
        severity: Refused,
        danger: "immutable",
        effect: "it cannot be changed: the sync fails",
        advice: KEEP,
    },
];
