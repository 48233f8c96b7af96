//! The group versions that Helm's Kubernetes client knows.

/// Before the oldest client library.
const EVER: u8 = 0;
/// After the newest one.
const ALWAYS: u8 = u8::MAX;

/// The group versions in the order of all client libraries, with the first and the last minor version of Kubernetes whose
/// library has them.
///
/// Reference: helm 3.17.3, 3.18.0, 3.19.0, 4.1.4, 4.2.3 and 4.3.1 with client-go 0.32 to 0.37. Case `capabilities-default`.
const API_VERSIONS: &[(&str, u8, u8)] = &[
    ("v1", EVER, ALWAYS),
    ("admissionregistration.k8s.io/v1", EVER, ALWAYS),
    ("admissionregistration.k8s.io/v1alpha1", EVER, ALWAYS),
    ("admissionregistration.k8s.io/v1beta1", EVER, ALWAYS),
    ("internal.apiserver.k8s.io/v1alpha1", EVER, ALWAYS),
    ("apps/v1", EVER, ALWAYS),
    ("apps/v1beta1", EVER, ALWAYS),
    ("apps/v1beta2", EVER, ALWAYS),
    ("authentication.k8s.io/v1", EVER, ALWAYS),
    ("authentication.k8s.io/v1alpha1", EVER, ALWAYS),
    ("authentication.k8s.io/v1beta1", EVER, ALWAYS),
    ("authorization.k8s.io/v1", EVER, ALWAYS),
    ("authorization.k8s.io/v1beta1", EVER, ALWAYS),
    ("autoscaling/v1", EVER, ALWAYS),
    ("autoscaling/v2", EVER, ALWAYS),
    ("autoscaling/v2beta1", EVER, 35),
    ("autoscaling/v2beta2", EVER, 35),
    ("batch/v1", EVER, ALWAYS),
    ("batch/v1beta1", EVER, ALWAYS),
    ("certificates.k8s.io/v1", EVER, ALWAYS),
    ("certificates.k8s.io/v1beta1", EVER, ALWAYS),
    ("certificates.k8s.io/v1alpha1", EVER, ALWAYS),
    ("coordination.k8s.io/v1alpha2", EVER, ALWAYS),
    ("coordination.k8s.io/v1beta1", EVER, ALWAYS),
    ("coordination.k8s.io/v1", EVER, ALWAYS),
    ("discovery.k8s.io/v1", EVER, ALWAYS),
    ("discovery.k8s.io/v1beta1", EVER, ALWAYS),
    ("events.k8s.io/v1", EVER, ALWAYS),
    ("events.k8s.io/v1beta1", EVER, ALWAYS),
    ("extensions/v1beta1", EVER, ALWAYS),
    ("flowcontrol.apiserver.k8s.io/v1", EVER, ALWAYS),
    ("flowcontrol.apiserver.k8s.io/v1beta1", EVER, ALWAYS),
    ("flowcontrol.apiserver.k8s.io/v1beta2", EVER, ALWAYS),
    ("flowcontrol.apiserver.k8s.io/v1beta3", EVER, ALWAYS),
    ("lifecycle.k8s.io/v1alpha1", 37, ALWAYS),
    ("networking.k8s.io/v1", EVER, ALWAYS),
    ("networking.k8s.io/v1alpha1", EVER, 33),
    ("networking.k8s.io/v1beta1", EVER, ALWAYS),
    ("node.k8s.io/v1", EVER, ALWAYS),
    ("node.k8s.io/v1alpha1", EVER, ALWAYS),
    ("node.k8s.io/v1beta1", EVER, ALWAYS),
    ("policy/v1", EVER, ALWAYS),
    ("policy/v1beta1", EVER, ALWAYS),
    ("rbac.authorization.k8s.io/v1", EVER, ALWAYS),
    ("rbac.authorization.k8s.io/v1beta1", EVER, ALWAYS),
    ("rbac.authorization.k8s.io/v1alpha1", EVER, ALWAYS),
    ("resource.k8s.io/v1", 34, ALWAYS),
    ("resource.k8s.io/v1beta2", 33, ALWAYS),
    ("resource.k8s.io/v1beta1", EVER, ALWAYS),
    ("resource.k8s.io/v1alpha3", EVER, ALWAYS),
    ("scheduling.k8s.io/v1alpha1", EVER, 35),
    ("scheduling.k8s.io/v1alpha2", 36, 36),
    ("scheduling.k8s.io/v1alpha3", 37, ALWAYS),
    ("scheduling.k8s.io/v1beta1", EVER, ALWAYS),
    ("scheduling.k8s.io/v1", EVER, ALWAYS),
    ("storage.k8s.io/v1beta1", EVER, ALWAYS),
    ("storage.k8s.io/v1", EVER, ALWAYS),
    ("storage.k8s.io/v1alpha1", EVER, ALWAYS),
    ("storagemigration.k8s.io/v1alpha1", EVER, 34),
    ("storagemigration.k8s.io/v1", 37, ALWAYS),
    ("storagemigration.k8s.io/v1beta1", 35, ALWAYS),
    ("apiextensions.k8s.io/v1beta1", EVER, ALWAYS),
    ("apiextensions.k8s.io/v1", EVER, ALWAYS),
];

/// Those of the client library of a minor version of Kubernetes, in its order.
pub(super) fn known(minor: u8) -> impl Iterator<Item = &'static str> {
    API_VERSIONS.iter().filter(move |(_, first, last)| (*first..=*last).contains(&minor)).map(|(version, ..)| *version)
}
