//! The built-in field specs of Kustomize 5.8.1.

use super::{Config, NameReference, spec};
use crate::field_spec::FieldSpec;
use crate::id::OwnedGvk;

const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";

fn full(group: &str, version: &str, kind: &str, path: &str, create: bool) -> FieldSpec {
    FieldSpec::new(OwnedGvk::new(group, version, kind), path, create)
}

pub(super) fn config() -> Config {
    Config {
        name_prefix: vec![spec("", "metadata/name", false)],
        name_suffix: vec![spec("", "metadata/name", false)],
        namespace: vec![
            spec("Namespace", "metadata/name", true),
            full("apiregistration.k8s.io", "", "APIService", "spec/service/namespace", true),
            full(
                "apiextensions.k8s.io",
                "",
                "CustomResourceDefinition",
                "spec/conversion/webhook/clientConfig/service/namespace",
                false,
            ),
        ],
        common_labels: selectors().into_iter().chain(template_labels()).collect(),
        labels: Vec::new(),
        template_labels: template_labels(),
        common_annotations: annotations(),
        name_reference: name_references(),
        var_reference: var_references(),
        images: [
            "spec/containers[]/image",
            "spec/initContainers[]/image",
            "spec/volumes[]/image/reference",
            "spec/template/spec/containers[]/image",
            "spec/template/spec/initContainers[]/image",
            "spec/template/spec/volumes[]/image/reference",
        ]
        .map(|path| spec("", path, true))
        .into(),
        replicas: ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"]
            .map(|kind| spec(kind, "spec/replicas", true))
            .into(),
    }
}

/// What there was before [`Difference::VolumeImages`](crate::version::Difference).
pub(super) fn without_volume_images(mut config: Config) -> Config {
    config.images.retain(|spec| !spec.path.contains("volumes[]"));
    config
}

/// What there was before [`Difference::PolicyNames`](crate::version::Difference).
pub(super) fn without_policy_names(mut config: Config) -> Config {
    config.name_reference.retain(|reference| reference.gvk.kind != "ValidatingAdmissionPolicy");
    config
}

fn template_labels() -> Vec<FieldSpec> {
    let template = "spec/template/metadata/labels";
    vec![
        spec("", "metadata/labels", true),
        full("", "v1", "ReplicationController", template, true),
        spec("Deployment", template, true),
        spec("ReplicaSet", template, true),
        spec("DaemonSet", template, true),
        full("apps", "", "StatefulSet", template, true),
        full("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
        full("batch", "", "Job", template, true),
        full("batch", "", "CronJob", "spec/jobTemplate/metadata/labels", true),
        full("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
    ]
}

fn selectors() -> Vec<FieldSpec> {
    let labels = "spec/selector/matchLabels";
    let mut specs = vec![
        full("", "v1", "Service", "spec/selector", true),
        full("", "v1", "ReplicationController", "spec/selector", true),
        spec("Deployment", labels, true),
        spec("ReplicaSet", labels, true),
        spec("DaemonSet", labels, true),
        full("apps", "", "StatefulSet", labels, true),
        full("batch", "", "Job", labels, false),
        full("batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
        full("policy", "", "PodDisruptionBudget", labels, false),
        full("networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels", false),
        full("networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
        full("networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
    ];
    for kind in ["Deployment", "StatefulSet"] {
        for affinity in ["podAffinity", "podAntiAffinity"] {
            for when in [
                "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm",
                "requiredDuringSchedulingIgnoredDuringExecution",
            ] {
                let path = format!("spec/template/spec/affinity/{affinity}/{when}/labelSelector/matchLabels");
                specs.push(full("apps", "", kind, &path, false));
            }
        }
        let spread = "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels";
        specs.push(full("apps", "", kind, spread, false));
    }
    specs
}

fn annotations() -> Vec<FieldSpec> {
    let template = "spec/template/metadata/annotations";
    vec![
        spec("", "metadata/annotations", true),
        full("", "v1", "ReplicationController", template, true),
        spec("Deployment", template, true),
        spec("ReplicaSet", template, true),
        spec("DaemonSet", template, true),
        spec("StatefulSet", template, true),
        full("batch", "", "Job", template, true),
        full("batch", "", "CronJob", "spec/jobTemplate/metadata/annotations", true),
        full("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations", true),
    ]
}

/// Where each kind has the spec of its pods.
const POD_SPECS: [(&str, &str); 9] = [
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// The given fields of the pods of all these kinds but `without`.
fn in_pods(without: &[&str], fields: &[&str]) -> Vec<FieldSpec> {
    let kinds = POD_SPECS.iter().filter(|(kind, _)| !without.contains(kind));
    kinds.flat_map(|(kind, pod)| fields.iter().map(move |field| spec(kind, format!("{pod}/{field}"), false))).collect()
}

/// The given fields of the pods of all these kinds but ReplicationController; a `Pod` is meant in version `v1` only.
fn in_v1_pods(fields: &[&str]) -> Vec<FieldSpec> {
    let mut specs = in_pods(&["ReplicationController"], fields);
    for spec in specs.iter_mut().filter(|spec| spec.gvk.kind == "Pod") {
        spec.gvk.version = "v1".to_owned();
    }
    specs
}

fn reference(group: &str, version: &str, kind: &str, referrers: Vec<FieldSpec>) -> NameReference {
    NameReference { gvk: OwnedGvk::new(group, version, kind), referrers }
}

fn name_references() -> Vec<NameReference> {
    let scaled = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"]
        .map(|kind| reference("", "", kind, vec![spec("HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false)]));
    let no_template = ["PodTemplate", "ReplicaSet"];
    let bindings =
        |path| ["RoleBinding", "ClusterRoleBinding"].map(|kind| full(RBAC, "", kind, path, false)).into_iter();
    let accounts = bindings("subjects").chain(in_pods(&no_template, &["serviceAccountName"])).collect();
    let others = [
        reference("", "v1", "ConfigMap", config_map_referrers()),
        reference("", "v1", "Secret", secret_referrers()),
        reference("", "v1", "Service", service_referrers()),
        reference(RBAC, "", "Role", bindings("roleRef/name").take(1).collect()),
        reference(RBAC, "", "ClusterRole", bindings("roleRef/name").collect()),
        reference("", "v1", "ServiceAccount", accounts),
        reference(
            "",
            "v1",
            "PersistentVolumeClaim",
            in_pods(&no_template, &["volumes/persistentVolumeClaim/claimName"]),
        ),
        reference(
            "",
            "v1",
            "PersistentVolume",
            vec![
                spec("PersistentVolumeClaim", "spec/volumeName", false),
                spec("ClusterRole", "rules/resourceNames", false),
            ],
        ),
        reference(
            "storage.k8s.io",
            "v1",
            "StorageClass",
            vec![
                spec("PersistentVolume", "spec/storageClassName", false),
                spec("PersistentVolumeClaim", "spec/storageClassName", false),
                spec("StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName", false),
            ],
        ),
        reference("scheduling.k8s.io", "v1", "PriorityClass", in_pods(&no_template, &["priorityClassName"])),
        // Kustomize has the version in the group as well, so this one never matches.
        reference("networking.k8s.io/v1", "v1", "IngressClass", vec![spec("Ingress", "spec/ingressClassName", false)]),
        reference(
            ADMISSION,
            "",
            "ValidatingAdmissionPolicy",
            vec![full(ADMISSION, "", "ValidatingAdmissionPolicyBinding", "spec/policyName", false)],
        ),
    ];
    scaled.into_iter().chain(others).collect()
}

fn config_map_referrers() -> Vec<FieldSpec> {
    let mut specs = in_v1_pods(&[
        "volumes/configMap/name",
        "containers/env/valueFrom/configMapKeyRef/name",
        "initContainers/env/valueFrom/configMapKeyRef/name",
        "containers/envFrom/configMapRef/name",
        "initContainers/envFrom/configMapRef/name",
        "volumes/projected/sources/configMap/name",
    ]);
    specs.extend([
        spec("Node", "spec/configSource/configMap", false),
        spec("Role", "rules/resourceNames", false),
        spec("ClusterRole", "rules/resourceNames", false),
        spec("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap", false),
    ]);
    specs
}

fn secret_referrers() -> Vec<FieldSpec> {
    let mut specs = in_v1_pods(&[
        "volumes/secret/secretName",
        "containers/env/valueFrom/secretKeyRef/name",
        "initContainers/env/valueFrom/secretKeyRef/name",
        "containers/envFrom/secretRef/name",
        "initContainers/envFrom/secretRef/name",
        "imagePullSecrets/name",
        "volumes/projected/sources/secret/name",
    ]);
    specs.extend(
        [
            ("Ingress", "spec/tls/secretName"),
            ("Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret"),
            ("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret"),
            ("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret"),
            ("ServiceAccount", "imagePullSecrets/name"),
            ("StorageClass", "parameters/secretName"),
            ("StorageClass", "parameters/adminSecretName"),
            ("StorageClass", "parameters/userSecretName"),
            ("StorageClass", "parameters/secretRef"),
            ("Role", "rules/resourceNames"),
            ("ClusterRole", "rules/resourceNames"),
            ("PersistentVolume", "spec/azureFile/secretName"),
        ]
        .map(|(kind, path)| spec(kind, path, false)),
    );
    let knative = "spec/template/spec/containers/env/valueFrom/secretKeyRef/name";
    specs.push(full("serving.knative.dev", "v1", "Service", knative, false));
    specs
}

fn service_referrers() -> Vec<FieldSpec> {
    vec![
        full("apps", "", "StatefulSet", "spec/serviceName", false),
        spec("Ingress", "spec/rules/http/paths/backend/serviceName", false),
        spec("Ingress", "spec/backend/serviceName", false),
        spec("Ingress", "spec/rules/http/paths/backend/service/name", false),
        spec("Ingress", "spec/defaultBackend/service/name", false),
        full("apiregistration.k8s.io", "", "APIService", "spec/service/name", false),
        full(ADMISSION, "", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service", false),
        full(ADMISSION, "", "MutatingWebhookConfiguration", "webhooks/clientConfig/service", false),
    ]
}

fn var_references() -> Vec<FieldSpec> {
    let mut specs = in_pods(
        &["PodTemplate", "ReplicationController"],
        &[
            "containers/args",
            "containers/command",
            "containers/env/value",
            "containers/volumeMounts/mountPath",
            "initContainers/args",
            "initContainers/command",
            "initContainers/env/value",
            "initContainers/volumeMounts/mountPath",
        ],
    );
    let without = ["PodTemplate", "ReplicationController", "StatefulSet", "CronJob"];
    specs.extend(in_pods(&without, &["volumes/nfs/server"]));
    specs.extend(
        [
            ("CronJob", "spec/jobTemplate/spec/template/volumes/nfs/server"),
            ("Deployment", "spec/template/metadata/annotations"),
            ("Ingress", "spec/rules/host"),
            ("Ingress", "spec/tls/hosts"),
            ("Ingress", "spec/tls/secretName"),
            ("Service", "spec/ports/port"),
            ("Service", "spec/ports/targetPort"),
            ("StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server"),
            ("PersistentVolume", "spec/nfs/server"),
            ("", "metadata/labels"),
            ("", "metadata/annotations"),
        ]
        .map(|(kind, path)| spec(kind, path, false)),
    );
    specs
}

#[cfg(test)]
mod tests {
    use super::config;

    /// How many specs Kustomize 5.8.1 has of each sort; there, Ingress' `spec/tls/secretName` refers to a Secret twice.
    #[test]
    fn the_numbers_of_specs() {
        let config = config();
        let referrers = config.name_reference.iter().map(|reference| reference.referrers.len()).sum::<usize>();
        let numbers = [
            config.common_labels.len(),
            config.template_labels.len(),
            config.common_annotations.len(),
            config.images.len(),
            config.name_reference.len(),
            referrers,
            config.var_reference.len(),
        ];
        assert_eq!(numbers, [32, 10, 9, 6, 16, 166, 72]);
    }
}
