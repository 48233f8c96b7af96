//! In which minors an object is refused: what came later, what was switched on later, and what no server ever asked for.

use std::ops::RangeInclusive;

use super::answers::judged;
use crate::{Crds, MINORS};

type Case = (&'static str, RangeInclusive<u8>);

const ALWAYS: RangeInclusive<u8> = MINORS;
/// No minor is in it.
const NEVER: RangeInclusive<u8> = 0..=0;

fn check(cases: &[Case], object: impl Fn(&str) -> String) {
    for (fields, refused) in cases {
        for minor in MINORS {
            let verdict = judged(minor, Crds::new(), &object(fields));
            assert_eq!(verdict.is_refused(), refused.contains(&minor), "1.{minor} {fields} {:?}", verdict.findings);
        }
    }
}

const PODS: &[Case] = &[
    ("hostUsers: false, hostPID: true", 33..=37),
    ("hostAliases: [{ip: 010.0.0.1, hostnames: [a]}]", 36..=37),
    ("hostAliases: [{ip: '::ffff:10.0.0.1', hostnames: [a]}]", 36..=37),
    ("hostAliases: [{ip: 10.0.0.256, hostnames: [a]}]", ALWAYS),
    ("dnsConfig: {searches: [_x.local]}", 30..=32),
    ("dnsConfig: {searches: [a.b., '.']}", 30..=32),
    ("dnsConfig: {searches: [-a]}", ALWAYS),
    ("securityContext: {sysctls: [{name: net.core.somaxconn}]}", NEVER),
    ("securityContext: {sysctls: [{name: kernel.shm, value: a}, {name: kernel.shm, value: b}]}", ALWAYS),
    ("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}}", NEVER),
    ("affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}}", ALWAYS),
    ("tolerations: [{key: a, operator: Gt, value: '5'}]", ALWAYS),
    ("nodeName: a, schedulingGates: [{name: a}]", ALWAYS),
    (
        "volumes: [{name: a, projected: {sources: [{secret: {name: a, items: [{key: a, path: x}]}}, {configMap: {name: a, items: [{key: a, path: x}]}}]}}]",
        ALWAYS,
    ),
    ("volumes: [{name: a, configMap: {name: a, items: [{key: a, path: ..x}]}}]", ALWAYS),
    ("volumes: [{name: a, downwardAPI: {items: [{path: a, resourceFieldRef: {resource: limits.cpu}}]}}]", ALWAYS),
    ("volumes: [{name: a, cephfs: {monitors: []}}]", ALWAYS),
];

#[test]
fn a_pod_is_refused_by_those_servers_that_ask_for_it() {
    check(PODS, |fields| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{{fields}, containers: [{{name: a, image: a}}]}}}}"
        )
    });
}

const CONTAINERS: &[Case] = &[
    ("image: a, resources: {requests: {cpu: 100u, memory: 0.1m}, limits: {cpu: 1m, memory: 1m}}", NEVER),
    ("image: a, resources: {requests: {cpu: 1100u}, limits: {cpu: 1m}}", ALWAYS),
    ("image: a, lifecycle: {preStop: {sleep: {seconds: 0}}}", 30..=32),
    ("image: a, restartPolicy: Always", 30..=33),
    ("image: a, env: [{name: a b}]", 30..=31),
    ("image: a, env: [{name: a, valueFrom: {fileKeyRef: {volumeName: empty, path: a, key: a}}}]", 30..=34),
    ("image: a, volumeMounts: [{name: empty, mountPath: /a, mountPropagation: Bidirectional}]", ALWAYS),
    (
        "image: a, securityContext: {privileged: true}, volumeMounts: [{name: empty, mountPath: /a, mountPropagation: Bidirectional}]",
        NEVER,
    ),
    ("image: a, volumeDevices: [{name: empty, devicePath: /a}]", ALWAYS),
    ("image: a, volumeDevices: [{name: claim, devicePath: /a}]", NEVER),
    ("image: a, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]", 33..=37),
    ("image: a, ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: 80}]", ALWAYS),
    (
        "image: a, ports: [{containerPort: 80, hostPort: 80, hostIP: 10.0.0.1}, {containerPort: 81, hostPort: 80}]",
        NEVER,
    ),
    ("image: a, ports: [{containerPort: 80}, {containerPort: 80}]", NEVER),
];

#[test]
fn a_container_is_refused_by_those_servers_that_ask_for_it() {
    check(CONTAINERS, |fields| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{restartPolicy: Never, volumes: [{{name: empty}}, \
             {{name: claim, persistentVolumeClaim: {{claimName: a}}}}], containers: [{{name: a, {fields}}}]}}}}"
        )
    });
}

const SPECS: &[Case] = &[
    ("apps/v1, kind: StatefulSet, spec: {SELECTOR}", NEVER),
    ("apps/v1, kind: StatefulSet, spec: {serviceName: '', SELECTOR}", NEVER),
    ("apps/v1, kind: StatefulSet, spec: {serviceName: My_, SELECTOR}", 33..=37),
    ("apps/v1, kind: Deployment, spec: {replicas: 2.0, SELECTOR}", NEVER),
    ("apps/v1, kind: Deployment, spec: {replicas: 2.5, SELECTOR}", ALWAYS),
    ("apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: a, image: a}]}}}", ALWAYS),
    ("apps/v1, kind: Deployment, spec: {selector: {matchLabels: {a: b}}}", ALWAYS),
    ("networking.k8s.io/v1, kind: NetworkPolicy, spec: {ingress: []}", NEVER),
    (
        "networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 010.0.0.0/8}}]}]}",
        36..=37,
    ),
    (
        "networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.5/8}}]}]}",
        36..=37,
    ),
    (
        "networking.k8s.io/v1, kind: Ingress, spec: {defaultBackend: {service: {name: 1svc, port: {number: 80}}}}",
        30..=35,
    ),
    (
        "networking.k8s.io/v1, kind: IngressClass, spec: {controller: a/b, parameters: {kind: A, name: a, scope: Namespace}}",
        ALWAYS,
    ),
    ("networking.k8s.io/v1, kind: IngressClass, spec: {controller: a/b, parameters: {kind: A, name: a}}", NEVER),
    (
        "autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {kind: Deployment, name: a}, maxReplicas: 1}",
        34..=37,
    ),
    ("autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 1}", ALWAYS),
    (
        "autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, \
      minReplicas: 0, maxReplicas: 1, metrics: [{type: External, external: {metric: {name: a}, target: {type: Value, value: 1}}}]}",
        30..=35,
    ),
    ("v1, kind: Service, spec: {ports: [{port: 80}], trafficDistribution: PreferSameNode}", 31..=33),
    ("v1, kind: Service, spec: {ports: [{port: 80}], trafficDistribution: PreferClose}", NEVER),
    ("v1, kind: Service, spec: {ports: [{port: 80}], externalIPs: [127.0.0.1]}", ALWAYS),
    ("v1, kind: Service, spec: {ports: [{port: 80}], clusterIP: 010.0.0.1}", 36..=37),
    (
        "v1, kind: ResourceQuota, spec: {scopeSelector: {matchExpressions: [{scopeName: VolumeAttributesClass, operator: In, values: [a]}]}}",
        30..=33,
    ),
    (
        "v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}, \
      dataSource: {kind: PersistentVolumeClaim, name: a}, dataSourceRef: {kind: PersistentVolumeClaim, name: b}}",
        ALWAYS,
    ),
    ("v1, kind: Endpoints, subsets: [{addresses: [{ip: 127.0.0.1}], ports: [{port: 1}]}]", ALWAYS),
    ("discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [{addresses: [169.254.0.1]}]", ALWAYS),
    ("storage.k8s.io/v1, kind: StorageClass, provisioner: a/b, reclaimPolicy: ''", NEVER),
    ("storage.k8s.io/v1, kind: CSIDriver", NEVER),
    ("storage.k8s.io/v1, kind: CSIDriver, spec: {tokenRequests: [{expirationSeconds: 600}]}", NEVER),
    ("storage.k8s.io/v1, kind: VolumeAttachment, spec: {attacher: a, nodeName: a}", ALWAYS),
    ("resource.k8s.io/v1, kind: DeviceClass", 30..=33),
    ("resource.k8s.io/v1, kind: ResourceClaim", 30..=33),
    (
        "admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{name: a.b.c, sideEffects: None, \
      admissionReviewVersions: [], clientConfig: {url: 'https://a'}}]",
        ALWAYS,
    ),
    (
        "admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{name: a.b.c, sideEffects: None, \
      admissionReviewVersions: [v1]}]",
        ALWAYS,
    ),
    ("flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema", ALWAYS),
];

#[test]
fn an_object_is_refused_by_those_servers_that_ask_for_it() {
    let selector = "selector: {matchLabels: {a: b}}, \
                    template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}";
    check(SPECS, |fields| format!("{{metadata: {{name: a}}, apiVersion: {}}}", fields.replace("SELECTOR", selector)));
}

const JOBS: &[Case] = &[
    ("podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}", NEVER),
    ("podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [0]}}]}", ALWAYS),
    ("podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: NotIn, values: [0]}}]}", NEVER),
    ("podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [2, 1]}}]}", ALWAYS),
    (
        "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1], containerName: b}}]}",
        ALWAYS,
    ),
    ("podFailurePolicy: {rules: [{action: Fail, onExitCodes: {operator: In, values: [1]}}]}", ALWAYS),
    ("managedBy: foo", 32..=37),
    ("managedBy: a.b/c", NEVER),
    ("successPolicy: {rules: [{succeededCount: 1}]}", 31..=37),
    ("completionMode: Indexed, completions: 2, successPolicy: {}", 31..=37),
    ("completionMode: Indexed, completions: 2, successPolicy: {rules: [{succeededCount: 1}]}", NEVER),
    ("completionMode: Indexed, completions: 2, successPolicy: {rules: [{succeededCount: 3}]}", 31..=37),
    ("completionMode: Indexed, completions: 2, successPolicy: {rules: [{}]}", 31..=37),
];

#[test]
fn a_job_is_refused_by_those_servers_that_ask_for_it() {
    check(JOBS, |fields| {
        format!(
            "{{apiVersion: batch/v1, kind: Job, metadata: {{name: a}}, spec: {{{fields}, \
             template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: a}}]}}}}}}}}"
        )
    });
}

#[test]
fn a_pod_of_the_network_of_its_node_has_each_port_once() {
    let ports =
        "[{name: a, image: a, ports: [{containerPort: 80}]}, {name: b, image: b, ports: [{containerPort: 80}]}]";
    let pod = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{hostNetwork: true, containers: {ports}}}}}"
    );
    let template = format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a}}, spec: {{selector: {{matchLabels: {{a: b}}}}, \
         template: {{metadata: {{labels: {{a: b}}}}, spec: {{hostNetwork: true, containers: {ports}}}}}}}}}"
    );
    assert!(judged(36, Crds::new(), &pod).is_refused());
    assert!(!judged(36, Crds::new(), &template).is_refused());
}

#[test]
fn a_stateful_set_has_no_dot_in_its_name() {
    let text = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a.b}, spec: {selector: {matchLabels: {a: b}}, \
                template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}";
    assert!(judged(36, Crds::new(), text).is_refused());
    assert!(!judged(36, Crds::new(), &text.replace("a.b", "a-b")).is_refused());
}
