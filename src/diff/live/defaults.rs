//! What the API server and its controllers add to objects of the built-in kinds.
//!
//! Reference: kubernetes 1.34 pkg/apis/*/v1/defaults.go, `SetDefaults_*`; pkg/registry/core/service/storage for what is
//! allocated.

/// A type whose fields are known.
pub(super) type Type = &'static [(&'static str, Kind)];

/// What is known of a field.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// It has this value, as JSON, when nothing else is said.
    Is(&'static str),
    /// It has this value, as JSON, when neither it nor the field beside it of this name is said.
    IsWithout(&'static str, &'static str),
    /// The cluster fills it in, with whatever value.
    Filled,
    /// The cluster fills it in, with whatever but this, as JSON: that has a meaning of its own.
    FilledBut(&'static str),
    /// It has the value of the field beside it of this name.
    As(&'static str),
    /// `Always` for an image without a tag or of the tag `latest`, else `IfNotPresent`.
    PullPolicy,
    /// It is a mapping, or a list of mappings, with fields that are known.
    Of(Type),
}

use Kind::{As, Filled, FilledBut, Is, IsWithout, Of, PullPolicy};

/// The fields of a kind beside its metadata; none where nothing is known.
pub(super) fn of_kind(group: &str, kind: &str) -> Option<Type> {
    Some(match (group, kind) {
        ("", "Pod") => POD,
        ("", "PodTemplate") => &[("template", Of(TEMPLATE))],
        ("", "ReplicationController") | ("apps", "ReplicaSet") => REPLICA_SET,
        ("apps", "Deployment") => DEPLOYMENT,
        ("apps", "StatefulSet") => STATEFUL_SET,
        ("apps", "DaemonSet") => DAEMON_SET,
        ("batch", "Job") => JOB,
        ("batch", "CronJob") => CRON_JOB,
        ("", "Service") => SERVICE,
        ("", "ServiceAccount") => &[("secrets", Filled)],
        ("", "Secret") => &[("type", Is("\"Opaque\""))],
        ("", "Namespace") => &[("spec", Filled)],
        ("", "PersistentVolumeClaim") => &[("spec", Of(CLAIM_SPEC))],
        ("", "PersistentVolume") => PERSISTENT_VOLUME,
        ("storage.k8s.io", "StorageClass") => STORAGE_CLASS,
        ("autoscaling", "HorizontalPodAutoscaler") => &[("spec", Of(&[("minReplicas", Is("1"))]))],
        ("networking.k8s.io", "NetworkPolicy") => NETWORK_POLICY,
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => BINDING,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => DEFINITION,
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
            &[("webhooks", Of(WEBHOOK))]
        }
        ("apiregistration.k8s.io", "APIService") => &[("spec", Of(&[("caBundle", Filled)]))],
        ("scheduling.k8s.io", "PriorityClass") => &[("preemptionPolicy", Is("\"PreemptLowerPriority\""))],
        ("argoproj.io", "Application") => &[("operation", Filled)],
        _ => return None,
    })
}

const POD: Type = &[("spec", Of(POD_SPEC))];
const TEMPLATE: Type = &[("metadata", Of(&[("creationTimestamp", Is("null"))])), ("spec", Of(POD_SPEC))];
const POD_SPEC: Type = &[
    ("restartPolicy", Is("\"Always\"")),
    ("dnsPolicy", Is("\"ClusterFirst\"")),
    ("schedulerName", Is("\"default-scheduler\"")),
    ("securityContext", Is("{}")),
    ("terminationGracePeriodSeconds", Is("30")),
    ("enableServiceLinks", Is("true")),
    ("serviceAccount", As("serviceAccountName")),
    ("containers", Of(CONTAINER)),
    ("initContainers", Of(CONTAINER)),
    ("ephemeralContainers", Of(CONTAINER)),
    ("volumes", Of(VOLUME)),
];
const CONTAINER: Type = &[
    ("terminationMessagePath", Is("\"/dev/termination-log\"")),
    ("terminationMessagePolicy", Is("\"File\"")),
    ("imagePullPolicy", PullPolicy),
    ("resources", Is("{}")),
    ("ports", Of(&[("protocol", Is("\"TCP\""))])),
    ("livenessProbe", Of(PROBE)),
    ("readinessProbe", Of(PROBE)),
    ("startupProbe", Of(PROBE)),
    ("lifecycle", Of(&[("postStart", Of(HANDLER)), ("preStop", Of(HANDLER))])),
    ("env", Of(&[("valueFrom", Of(&[("fieldRef", Of(FIELD_REF)), ("resourceFieldRef", Of(RESOURCE_FIELD_REF))]))])),
];
const PROBE: Type = &[
    ("timeoutSeconds", Is("1")),
    ("periodSeconds", Is("10")),
    ("successThreshold", Is("1")),
    ("failureThreshold", Is("3")),
    ("httpGet", Of(HTTP_GET)),
    ("grpc", Of(&[("service", Is("\"\""))])),
];
const HANDLER: Type = &[("httpGet", Of(HTTP_GET))];
const HTTP_GET: Type = &[("scheme", Is("\"HTTP\"")), ("path", Is("\"/\""))];
const FIELD_REF: Type = &[("apiVersion", Is("\"v1\""))];
const RESOURCE_FIELD_REF: Type = &[("divisor", Is("\"0\""))];
const DOWNWARD: Type = &[("fieldRef", Of(FIELD_REF)), ("resourceFieldRef", Of(RESOURCE_FIELD_REF))];
const MODE: (&str, Kind) = ("defaultMode", Is("420"));
const VOLUME: Type = &[
    ("emptyDir", Is("{}")),
    ("configMap", Of(&[MODE])),
    ("secret", Of(&[MODE])),
    ("downwardAPI", Of(&[MODE, ("items", Of(DOWNWARD))])),
    ("projected", Of(&[MODE, ("sources", Of(PROJECTION))])),
    ("hostPath", Of(&[("type", Is("\"\""))])),
    ("ephemeral", Of(&[("volumeClaimTemplate", Of(CLAIM_TEMPLATE))])),
];
const PROJECTION: Type = &[
    ("serviceAccountToken", Of(&[("expirationSeconds", Is("3600"))])),
    ("downwardAPI", Of(&[("items", Of(DOWNWARD))])),
];
const CLAIM_TEMPLATE: Type =
    &[("metadata", Of(&[("creationTimestamp", Is("null"))])), ("spec", Of(&[("volumeMode", Is("\"Filesystem\""))]))];
const CLAIM_SPEC: Type = &[("volumeMode", Is("\"Filesystem\"")), ("volumeName", Filled), ("storageClassName", Filled)];
const PERSISTENT_VOLUME: Type = &[(
    "spec",
    Of(&[
        ("volumeMode", Is("\"Filesystem\"")),
        ("persistentVolumeReclaimPolicy", Is("\"Retain\"")),
        ("claimRef", Filled),
        ("hostPath", Of(&[("type", Is("\"\""))])),
    ]),
)];
const STORAGE_CLASS: Type = &[("reclaimPolicy", Is("\"Delete\"")), ("volumeBindingMode", Is("\"Immediate\""))];
const REPLICA_SET: Type = &[("spec", Of(&[("replicas", Is("1")), ("template", Of(TEMPLATE))]))];
const DEPLOYMENT: Type = &[(
    "spec",
    Of(&[
        ("replicas", Is("1")),
        ("revisionHistoryLimit", Is("10")),
        ("progressDeadlineSeconds", Is("600")),
        ("strategy", Of(&[("type", Is("\"RollingUpdate\"")), ("rollingUpdate", Of(SURGE))])),
        ("template", Of(TEMPLATE)),
    ]),
)];
const SURGE: Type = &[("maxSurge", Is("\"25%\"")), ("maxUnavailable", Is("\"25%\""))];
const STATEFUL_SET: Type = &[(
    "spec",
    Of(&[
        ("replicas", Is("1")),
        ("revisionHistoryLimit", Is("10")),
        ("podManagementPolicy", Is("\"OrderedReady\"")),
        (
            "persistentVolumeClaimRetentionPolicy",
            Of(&[("whenDeleted", Is("\"Retain\"")), ("whenScaled", Is("\"Retain\""))]),
        ),
        ("updateStrategy", Of(&[("type", Is("\"RollingUpdate\"")), ("rollingUpdate", Of(&[("partition", Is("0"))]))])),
        ("template", Of(TEMPLATE)),
        (
            "volumeClaimTemplates",
            Of(&[
                ("apiVersion", Is("\"v1\"")),
                ("kind", Is("\"PersistentVolumeClaim\"")),
                ("status", Of(&[("phase", Is("\"Pending\""))])),
                ("metadata", Of(&[("creationTimestamp", Is("null"))])),
                ("spec", Of(&[("volumeMode", Is("\"Filesystem\""))])),
            ]),
        ),
    ]),
)];
const DAEMON_SET: Type = &[(
    "spec",
    Of(&[
        ("revisionHistoryLimit", Is("10")),
        (
            "updateStrategy",
            Of(&[
                ("type", Is("\"RollingUpdate\"")),
                ("rollingUpdate", Of(&[("maxSurge", Is("0")), ("maxUnavailable", Is("1"))])),
            ]),
        ),
        ("template", Of(TEMPLATE)),
    ]),
)];
const JOB: Type = &[("spec", Of(JOB_SPEC))];
const JOB_SPEC: Type = &[
    ("backoffLimit", Is("6")),
    ("completions", IsWithout("1", "parallelism")),
    ("parallelism", Is("1")),
    ("completionMode", Is("\"NonIndexed\"")),
    ("suspend", Is("false")),
    ("podReplacementPolicy", Is("\"TerminatingOrFailed\"")),
    ("manualSelector", Is("false")),
    ("selector", Filled),
    (
        "template",
        Of(&[
            ("metadata", Of(&[("creationTimestamp", Is("null")), ("labels", Of(JOB_LABELS))])),
            ("spec", Of(POD_SPEC)),
        ]),
    ),
];
const JOB_LABELS: Type = &[
    ("controller-uid", Filled),
    ("job-name", Filled),
    ("batch.kubernetes.io/controller-uid", Filled),
    ("batch.kubernetes.io/job-name", Filled),
];
const CRON_JOB: Type = &[(
    "spec",
    Of(&[
        ("concurrencyPolicy", Is("\"Allow\"")),
        ("failedJobsHistoryLimit", Is("1")),
        ("successfulJobsHistoryLimit", Is("3")),
        ("suspend", Is("false")),
        ("jobTemplate", Of(&[("metadata", Of(&[("creationTimestamp", Is("null"))])), ("spec", Of(JOB_SPEC))])),
    ]),
)];
const SERVICE: Type = &[(
    "spec",
    Of(&[
        ("type", Is("\"ClusterIP\"")),
        ("sessionAffinity", Is("\"None\"")),
        ("internalTrafficPolicy", Is("\"Cluster\"")),
        ("externalTrafficPolicy", Is("\"Cluster\"")),
        ("allocateLoadBalancerNodePorts", Is("true")),
        // A headless Service, and one of two families, are asked for.
        ("clusterIP", FilledBut("\"None\"")),
        ("clusterIPs", FilledBut("[\"None\"]")),
        ("ipFamilies", Filled),
        ("ipFamilyPolicy", Is("\"SingleStack\"")),
        ("healthCheckNodePort", Filled),
        ("ports", Of(&[("protocol", Is("\"TCP\"")), ("targetPort", As("port")), ("nodePort", Filled)])),
    ]),
)];
const PROTOCOLS: Type = &[("ports", Of(&[("protocol", Is("\"TCP\""))]))];
const NETWORK_POLICY: Type =
    &[("spec", Of(&[("policyTypes", Is("[\"Ingress\"]")), ("ingress", Of(PROTOCOLS)), ("egress", Of(PROTOCOLS))]))];
const BINDING: Type = &[
    ("subjects", Of(&[("apiGroup", Is("\"rbac.authorization.k8s.io\""))])),
    ("roleRef", Of(&[("apiGroup", Is("\"rbac.authorization.k8s.io\""))])),
];
const DEFINITION: Type = &[(
    "spec",
    Of(&[
        ("conversion", Is("{\"strategy\":\"None\"}")),
        ("preserveUnknownFields", Is("false")),
        ("names", Of(&[("listKind", Filled), ("singular", Filled)])),
    ]),
)];
const WEBHOOK: Type = &[
    ("matchPolicy", Is("\"Equivalent\"")),
    ("failurePolicy", Is("\"Fail\"")),
    ("reinvocationPolicy", Is("\"Never\"")),
    ("timeoutSeconds", Is("10")),
    ("namespaceSelector", Is("{}")),
    ("objectSelector", Is("{}")),
    ("clientConfig", Of(&[("caBundle", Filled), ("service", Of(&[("port", Is("443"))]))])),
    ("rules", Of(&[("scope", Is("\"*\""))])),
];

/// What the cluster writes into the metadata of any object.
pub(super) const METADATA: [&str; 9] = [
    "managedFields",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
];

/// Annotations, labels and finalizers that the cluster and its controllers write, whole or by what is before the `/`.
pub(super) const WRITTEN: [&str; 13] = [
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "kubernetes.io/metadata.name",
    "kubernetes.io/pvc-protection",
    "kubernetes.io/pv-protection",
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/storage-provisioner",
    "batch.kubernetes.io/job-tracking",
    "batch.kubernetes.io/cronjob-scheduled-timestamp",
    "service.kubernetes.io/load-balancer-cleanup",
    "kubernetes.io/service-account.",
    "customresourcecleanup.apiextensions.k8s.io",
];

/// Fields whose empty value the API server does not keep, in objects of built-in kinds: `omitempty` of what is not a pointer.
pub(super) const DROPPED: [&str; 35] = [
    "labels",
    "annotations",
    "nodeSelector",
    "matchLabels",
    "data",
    "binaryData",
    "limits",
    "requests",
    "parameters",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "readOnly",
    "tty",
    "stdin",
    "stdinOnce",
    "paused",
    "publishNotReadyAddresses",
    "minReadySeconds",
    "value",
    "subPath",
    "subPathExpr",
    "medium",
    "hostPort",
    "hostIP",
    "initialDelaySeconds",
    "workingDir",
    "hostname",
    "subdomain",
    "nodeName",
    "priorityClassName",
    "fsType",
    "volumeName",
    "clusterIP",
    "loadBalancerIP",
];
