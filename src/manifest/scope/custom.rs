//! Custom kinds of which it is known where their objects are, whatever CRDs there are.

/// Kinds of the whole cluster, by their groups. A group that begins with a dot is the end of several.
///
/// Reference: `scope: Cluster` in the CRDs of cert-manager/cert-manager deploy/crds, cert-manager/trust-manager and
/// cert-manager/approver-policy deploy/crds; kyverno/kyverno config/crds; external-secrets/external-secrets config/crds;
/// cilium/cilium pkg/k8s/apis/cilium.io/client/crds; projectcalico/calico libcalico-go/config/crd; kubernetes-sigs/karpenter and
/// aws/karpenter-provider-aws pkg/apis/crds; docs.aws.amazon.com eks/latest/userguide/create-node-class;
/// kubernetes-sigs/aws-load-balancer-controller helm/aws-load-balancer-controller/crds; crossplane/crossplane cluster/crds;
/// kubernetes-sigs/gateway-api config/crd; kubernetes-sigs/network-policy-api config/crd; kubernetes-csi/external-snapshotter
/// client/config/crd; open-policy-agent/gatekeeper charts/gatekeeper/crds; kedacore/keda config/crd; argoproj/argo-workflows and
/// argoproj/argo-rollouts manifests/crds; tailscale/tailscale cmd/k8s-operator/deploy/crds; kubernetes-sigs/kueue config/components/crd;
/// fluent/fluent-operator config/crd; kubewarden/kubewarden-controller config/crd; sigstore/policy-controller config;
/// spiffe/spire-controller-manager config/crd; piraeusdatastore/piraeus-operator config/crd; NVIDIA/gpu-operator config/crd;
/// projectcapsule/capsule charts/capsule/crds; kubernetes-sigs/node-feature-discovery deployment/base/nfd-crds;
/// openshift/api security/v1, project/v1, user/v1, oauth/v1.
const OF_CLUSTER: &[(&str, &[&str])] = &[
    ("cert-manager.io", &["ClusterIssuer"]),
    ("trust.cert-manager.io", &["Bundle"]),
    ("policy.cert-manager.io", &["CertificateRequestPolicy"]),
    ("kyverno.io", &["ClusterPolicy", "ClusterCleanupPolicy", "GlobalContextEntry"]),
    (
        "policies.kyverno.io",
        &["ValidatingPolicy", "MutatingPolicy", "GeneratingPolicy", "DeletingPolicy", "ImageValidatingPolicy"],
    ),
    ("wgpolicyk8s.io", &["ClusterPolicyReport"]),
    ("external-secrets.io", &["ClusterSecretStore", "ClusterExternalSecret", "ClusterPushSecret"]),
    ("generators.external-secrets.io", &["ClusterGenerator"]),
    (
        "cilium.io",
        &[
            "CiliumBGPAdvertisement",
            "CiliumBGPClusterConfig",
            "CiliumBGPNodeConfig",
            "CiliumBGPNodeConfigOverride",
            "CiliumBGPPeerConfig",
            "CiliumBGPPeeringPolicy",
            "CiliumCIDRGroup",
            "CiliumClusterwideEnvoyConfig",
            "CiliumClusterwideNetworkPolicy",
            "CiliumEgressGatewayPolicy",
            "CiliumExternalWorkload",
            "CiliumIdentity",
            "CiliumL2AnnouncementPolicy",
            "CiliumLoadBalancerIPPool",
            "CiliumNode",
            "CiliumPodIPPool",
        ],
    ),
    ("projectcalico.org", CALICO),
    ("crd.projectcalico.org", CALICO),
    ("operator.tigera.io", &["Installation", "APIServer", "ImageSet", "Goldmane", "Whisker"]),
    ("karpenter.sh", &["NodePool", "NodeClaim", "Provisioner", "Machine"]),
    ("karpenter.k8s.aws", &["EC2NodeClass", "AWSNodeTemplate"]),
    ("karpenter.azure.com", &["AKSNodeClass"]),
    ("eks.amazonaws.com", &["NodeClass", "IngressClassParams"]),
    ("elbv2.k8s.aws", &["IngressClassParams"]),
    (
        "pkg.crossplane.io",
        &[
            "Provider",
            "ProviderRevision",
            "Configuration",
            "ConfigurationRevision",
            "Function",
            "FunctionRevision",
            "ControllerConfig",
            "DeploymentRuntimeConfig",
            "ImageConfig",
            "Lock",
        ],
    ),
    (
        "apiextensions.crossplane.io",
        &["Composition", "CompositionRevision", "CompositeResourceDefinition", "EnvironmentConfig", "Usage"],
    ),
    ("protection.crossplane.io", &["ClusterUsage"]),
    (".crossplane.io", &["ProviderConfig"]),
    (".upbound.io", &["ProviderConfig"]),
    ("gateway.networking.k8s.io", &["GatewayClass"]),
    ("policy.networking.k8s.io", &["AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy"]),
    ("snapshot.storage.k8s.io", &["VolumeSnapshotClass", "VolumeSnapshotContent"]),
    ("groupsnapshot.storage.k8s.io", &["VolumeGroupSnapshotClass", "VolumeGroupSnapshotContent"]),
    ("templates.gatekeeper.sh", &["ConstraintTemplate"]),
    ("constraints.gatekeeper.sh", &[]),
    ("mutations.gatekeeper.sh", &["Assign", "AssignImage", "AssignMetadata", "ModifySet"]),
    ("externaldata.gatekeeper.sh", &["Provider"]),
    ("expansion.gatekeeper.sh", &["ExpansionTemplate"]),
    ("syncset.gatekeeper.sh", &["SyncSet"]),
    ("keda.sh", &["ClusterTriggerAuthentication"]),
    ("argoproj.io", &["ClusterAnalysisTemplate", "ClusterWorkflowTemplate"]),
    ("tailscale.com", &["Connector", "DNSConfig", "ProxyClass", "ProxyGroup", "Recorder"]),
    ("kueue.x-k8s.io", &["AdmissionCheck", "ClusterQueue", "ResourceFlavor", "Topology", "WorkloadPriorityClass"]),
    (
        "fluentbit.fluent.io",
        &["ClusterFilter", "ClusterFluentBitConfig", "ClusterInput", "ClusterOutput", "ClusterParser"],
    ),
    ("policies.kubewarden.io", &["ClusterAdmissionPolicy", "ClusterAdmissionPolicyGroup", "PolicyServer"]),
    ("policy.sigstore.dev", &["ClusterImagePolicy", "TrustRoot"]),
    ("spire.spiffe.io", &["ClusterFederatedTrustDomain", "ClusterSPIFFEID", "ClusterStaticEntry"]),
    ("piraeus.io", &["LinstorCluster", "LinstorNodeConnection", "LinstorSatelliteConfiguration"]),
    ("nvidia.com", &["ClusterPolicy", "NVIDIADriver"]),
    ("capsule.clastix.io", &["Tenant"]),
    ("nfd.k8s-sigs.io", &["NodeFeatureRule"]),
    ("security.openshift.io", &["SecurityContextConstraints"]),
    ("project.openshift.io", &["Project", "ProjectRequest"]),
    ("user.openshift.io", &["Group", "Identity", "User"]),
    ("oauth.openshift.io", &["OAuthClient"]),
];

const CALICO: &[&str] = &[
    "BGPConfiguration",
    "BGPFilter",
    "BGPPeer",
    "ClusterInformation",
    "FelixConfiguration",
    "GlobalNetworkPolicy",
    "GlobalNetworkSet",
    "HostEndpoint",
    "IPPool",
    "IPReservation",
    "KubeControllersConfiguration",
    "Tier",
];

/// Kinds in namespaces whose names begin as those of the whole cluster do.
///
/// Reference: `scope: Namespaced` in the CRDs of cloudnative-pg/cloudnative-pg config/crd; kubernetes-sigs/cluster-api config/crd;
/// kube-logging/logging-operator config/crd.
const IN_NAMESPACES: &[(&str, &[&str])] = &[
    ("postgresql.cnpg.io", &["Cluster"]),
    ("cluster.x-k8s.io", &["Cluster", "ClusterClass"]),
    ("addons.cluster.x-k8s.io", &["ClusterResourceSet", "ClusterResourceSetBinding"]),
    ("logging.banzaicloud.io", &["ClusterFlow", "ClusterOutput"]),
];

pub(super) fn is_of_cluster(group: &str, kind: &str) -> bool {
    // Since version 2, providers of Crossplane have kinds of namespaces beside those of the cluster.
    let is_in_namespaces = group.ends_with(".m.crossplane.io") || group.ends_with(".m.upbound.io");
    !is_in_namespaces && has(OF_CLUSTER, group, kind)
}

pub(super) fn is_namespaced(group: &str, kind: &str) -> bool {
    has(IN_NAMESPACES, group, kind)
}

/// Whether a row has a kind; one without kinds has all of its group.
fn has(rows: &[(&str, &[&str])], group: &str, kind: &str) -> bool {
    rows.iter().any(|(known, kinds)| {
        let is_group = group == *known || known.starts_with('.') && group.ends_with(known);
        is_group && (kinds.is_empty() || kinds.contains(&kind))
    })
}
