//! Which objects are of the whole cluster.

mod custom;

use go_yaml::Value;

use super::Manifest;

/// Kinds of Kubernetes that live outside of namespaces.
const CLUSTER_KINDS: &[(&str, &str)] = &[
    ("", "ComponentStatus"),
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("authentication.k8s.io", "SelfSubjectReview"),
    ("authentication.k8s.io", "TokenReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
    ("authorization.k8s.io", "SubjectAccessReview"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "DeviceTaintRule"),
    ("resource.k8s.io", "ResourcePoolStatusRequest"),
    ("resource.k8s.io", "ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storage.k8s.io", "VolumeAttributesClass"),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
];

/// Whether objects of this kind of Kubernetes are in no namespace, whatever they say.
pub(crate) fn is_cluster_kind(group: &str, kind: &str) -> bool {
    CLUSTER_KINDS.contains(&(group, kind))
}

/// Whether objects of this kind are in no namespace, or in one; none for a custom kind that is not known.
pub(crate) fn is_cluster_scoped(group: &str, kind: &str) -> Option<bool> {
    let is_own = !group.contains('.') || group.ends_with(".k8s.io");
    let is_of_cluster = is_cluster_kind(group, kind) || custom::is_of_cluster(group, kind);
    (is_of_cluster || is_own || custom::is_namespaced(group, kind)).then_some(is_of_cluster)
}

/// Whether an object is in no namespace, as far as its kind says: a custom kind that is not known is taken by its name.
pub(crate) fn is_likely_of_cluster(manifest: &Manifest) -> bool {
    let (group, kind) = (manifest.home_group(), manifest.kind());
    is_cluster_scoped(group, kind).unwrap_or_else(|| kind.starts_with("Cluster"))
}

/// The group and kind that a CRD defines, and whether objects of it are in no namespace.
pub(crate) fn defined_scope(definition: &Manifest) -> Option<((&str, &str), bool)> {
    if (definition.group(), definition.kind()) != ("apiextensions.k8s.io", "CustomResourceDefinition") {
        return None;
    }
    let text = |path: &[&str]| definition.object().at(path).and_then(Value::as_str);
    Some(((text(&["spec", "group"])?, text(&["spec", "names", "kind"])?), text(&["spec", "scope"])? == "Cluster"))
}
