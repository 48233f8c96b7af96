//! Objects of clouds: Crossplane, ACK, Config Connector, and who may reach them.

use super::super::Severity::{DataLoss, Other, Outage, Refused};
use super::Field;
use super::When::{Changes, ChangesFrom, Falls, Is};

const UPBOUND: &str = ".upbound.io";
const CROSSPLANE: &str = ".crossplane.io";
const RDS: &str = "rds.aws.upbound.io";
const ACK: &str = ".services.k8s.aws";
const CNRM: &str = ".cnrm.cloud.google.com";

const KEEP: &str = "keep it, or make another object beside it and move to that";

/// What a provider cannot change of what there is.
///
/// Reference: crossplane/upjet pkg/controller, "refuse to update the external resource because the following update requires replacing
/// it", and the arguments of hashicorp/terraform-provider-aws that force a new resource; aws-controllers-k8s/runtime
/// pkg/runtime/reconciler.go `regionDrifted`, and `is_immutable` in generator.yaml of the controllers.
const fn fixed(group: &'static str, kinds: &'static str, path: &'static [&'static str]) -> Field {
    let effect =
        "it cannot be changed of what there is: its controller refuses it, and applies nothing of the object any more";
    Field { group, kinds, path, when: Changes, severity: Refused, danger: "unchangeable", effect, advice: KEEP }
}

/// What a webhook of Config Connector refuses.
///
/// Reference: GoogleCloudPlatform/k8s-config-connector pkg/webhook/immutable_fields_validator.go: "cannot make changes to immutable
/// field(s)", "cannot make changes to container annotation".
const fn held(path: &'static [&'static str]) -> Field {
    let effect = "it cannot be changed: another value is refused";
    Field { group: CNRM, kinds: "", path, when: Changes, severity: Refused, danger: "invalid", effect, advice: KEEP }
}

/// What a controller looks for what there is by.
const fn place(group: &'static str, path: &'static [&'static str]) -> Field {
    let effect = "its controller looks for it there, and makes another one without the data, or fails: the one of before stays, and nothing manages it";
    Field { group, kinds: "", path, when: Changes, severity: Outage, danger: "elsewhere", effect, advice: KEEP }
}

/// Another login of a controller.
const fn login(group: &'static str) -> Field {
    let effect =
        "its controller has another login: where that is for another account, it makes another one without the data";
    Field {
        group,
        kinds: "",
        path: &["spec", "providerConfigRef", "name"],
        when: Changes,
        severity: Outage,
        danger: "elsewhere",
        effect,
        advice: KEEP,
    }
}

const fn paused(group: &'static str, path: &'static [&'static str], values: &'static [&'static str]) -> Field {
    let effect = "its controller applies no change of it any more";
    let advice = "take the field away when it shall run again";
    Field { group, kinds: "", path, when: Is(values), severity: Other, danger: "paused", effect, advice }
}

const fn emptied(group: &'static str, kinds: &'static str, path: &'static [&'static str]) -> Field {
    let effect = "a bucket that has objects is deleted with them from now on";
    let advice = "keep it false where the data shall outlive the object";
    Field { group, kinds, path, when: Is(&["true"]), severity: Other, danger: "deletesData", effect, advice }
}

const FOR: &str = "forProvider";
const DATABASES: &str = "Instance|Cluster|DBInstance|DBCluster|RDSInstance|SQLInstance|DatabaseInstance";

pub(super) const FIELDS: &[Field] = &[
    place(UPBOUND, &["spec", FOR, "region"]),
    place(CROSSPLANE, &["spec", FOR, "region"]),
    place(UPBOUND, &["metadata", "annotations", "crossplane.io/external-name"]),
    place(CROSSPLANE, &["metadata", "annotations", "crossplane.io/external-name"]),
    login(UPBOUND),
    login(CROSSPLANE),
    held(&["metadata", "annotations", "cnrm.cloud.google.com/project-id"]),
    held(&["spec", "resourceID"]),
    held(&["spec", "location"]),
    held(&["spec", "region"]),
    paused(UPBOUND, &["metadata", "annotations", "crossplane.io/paused"], &["true"]),
    paused(CROSSPLANE, &["metadata", "annotations", "crossplane.io/paused"], &["true"]),
    paused(".azure.com", &["metadata", "annotations", "serviceoperator.azure.com/reconcile-policy"], &["skip"]),
    emptied(UPBOUND, "Bucket", &["spec", FOR, "forceDestroy"]),
    emptied(CNRM, "StorageBucket", &["metadata", "annotations", "cnrm.cloud.google.com/force-destroy"]),
    fixed(ACK, "", &["metadata", "annotations", "services.k8s.aws/region"]),
    fixed(RDS, "", &["spec", FOR, "engine"]),
    fixed(RDS, "", &["spec", FOR, "storageEncrypted"]),
    fixed(RDS, "", &["spec", FOR, "kmsKeyId"]),
    fixed(RDS, "", &["spec", FOR, "dbName"]),
    fixed(RDS, "", &["spec", FOR, "databaseName"]),
    fixed(RDS, "Instance", &["spec", FOR, "username"]),
    fixed(RDS, "Cluster", &["spec", FOR, "masterUsername"]),
    fixed(UPBOUND, "VPC|Subnet", &["spec", FOR, "cidrBlock"]),
    fixed(UPBOUND, "", &["spec", FOR, "availabilityZone"]),
    fixed(UPBOUND, "Table", &["spec", FOR, "hashKey"]),
    fixed(UPBOUND, "Table", &["spec", FOR, "rangeKey"]),
    fixed(UPBOUND, "", &["spec", FOR, "location"]),
    fixed(UPBOUND, "Queue", &["spec", FOR, "fifoQueue"]),
    fixed(UPBOUND, "", &["spec", FOR, "resourceGroupName"]),
    fixed(UPBOUND, "ReplicationGroup", &["spec", FOR, "atRestEncryptionEnabled"]),
    fixed(ACK, "Table", &["spec", "keySchema"]),
    fixed(ACK, "Queue", &["spec", "queueName"]),
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
    Field {
        group: "apiextensions.crossplane.io",
        kinds: "Composition",
        path: &["spec", "compositeTypeRef", "apiVersion"],
        when: Changes,
        severity: Refused,
        danger: "immutable",
        effect: "it cannot be changed: the sync fails",
        advice: KEEP,
    },
];
