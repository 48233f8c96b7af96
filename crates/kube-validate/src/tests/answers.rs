//! What kube-apiserver 1.36.3 answered under strict field validation, a row for each class of mistake, and what it took.

use go_yaml::{Limits, sigs};

use crate::{Crds, Judge, Verdict};

fn judged(minor: u8, crds: Crds, text: &str) -> Verdict {
    let object = sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML");
    Judge::new(minor, crds).expect("a minor that is known").judge(&object)
}

/// The fields for which an object is refused, each with its rule.
fn refusals(verdict: &Verdict) -> Vec<String> {
    let refusals = verdict.findings.iter().filter(|finding| finding.is_refusal());
    refusals.map(|finding| format!("{} {}", finding.field, finding.rule)).collect()
}

/// A Deployment whose Pod and whose container have these fields besides, in YAML's flow style.
fn deployment(pod: &str, container: &str) -> String {
    format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{selector: {{matchLabels: {{app: web}}}}, \
         template: {{metadata: {{labels: {{app: web}}}}, spec: {{{pod} containers: [{{name: web, image: web:1, {container}}}]}}}}}}}}"
    )
}

const CONTAINERS: &[(&str, &str)] = &[
    ("imagePullPolcy: Always", "imagePullPolcy unknown-field"),
    ("command: web", "command type"),
    ("imagePullPolicy: always", "imagePullPolicy enum"),
    ("ports: [{containerPort: 0}]", "ports[0].containerPort range"),
    ("ports: [{containerPort: 80, name: Web_Port}]", "ports[0].name port-name"),
    ("env: [{name: A, value: 1}]", "env[0].value type"),
    ("env: [{name: 'A=B'}]", "env[0].name env-name"),
    ("env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", "env[0].valueFrom one-of"),
    (
        "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.nme}}}]",
        "env[0].valueFrom.fieldRef.fieldPath field-path",
    ),
    ("volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts[0].name mount-without-volume"),
    ("livenessProbe: {periodSeconds: 5}", "livenessProbe required"),
    ("livenessProbe: {httpGet: {port: 0}}", "livenessProbe.httpGet.port range"),
    ("resources: {limits: {memory: 1x}}", "resources.limits[memory] quantity"),
    ("resources: {limits: {cpu: 1}, requests: {cpu: 2}}", "resources.requests[cpu] requests-above-limits"),
    ("resources: {limits: {gpu: 1}}", "resources.limits[gpu] resource-name"),
    ("lifecycle: {preStop: {sleep: {seconds: 60}}}", "lifecycle.preStop.sleep sleep"),
];

#[test]
fn a_container_is_refused_for_what_a_server_refuses_it_for() {
    for (fields, wanted) in CONTAINERS {
        let verdict = judged(36, Crds::new(), &deployment("", fields));
        assert_eq!(refusals(&verdict), [format!("spec.template.spec.containers[0].{wanted}")], "{fields}");
    }
}

const PODS: &[(&str, &str)] = &[
    ("volumes: [{name: a}, {name: a}],", "volumes[1].name duplicate"),
    ("volumes: [{name: a, emptyDir: {}, configMap: {name: b}}],", "volumes[0].emptyDir volume-source"),
    ("restartPolicy: Never,", "restartPolicy enum"),
    ("tolerations: [{key: a, operator: Exists, value: b}],", "tolerations[0].operator toleration"),
    ("nodeSelector: {a/b/c: d},", "nodeSelector[a/b/c] label-key"),
    ("serviceAccountName: Web_,", "serviceAccountName name"),
];

#[test]
fn a_pod_is_refused_for_what_a_server_refuses_it_for() {
    for (fields, wanted) in PODS {
        let verdict = judged(36, Crds::new(), &deployment(fields, ""));
        assert_eq!(refusals(&verdict), [format!("spec.template.spec.{wanted}")], "{fields}");
    }
}

const OBJECTS: &[(&str, &[&str])] = &[
    ("{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}", &["apiVersion not-served"]),
    ("{apiVersion: v1, kind: ConfigMap, metadata: {}}", &["metadata.name required"]),
    ("{apiVersion: v1, kind: ConfigMap, metadata: {name: A_b}}", &["metadata.name name"]),
    ("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a//b: c}}}", &["metadata.labels label-key"]),
    ("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a: -b}}}", &["metadata.labels[a] label-value"]),
    ("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a b: c}}", &["data[a b] key"]),
    ("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: true}}", &["data[a] type"]),
    ("{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: '?'}}", &["data[a] base64"]),
    (
        "{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/tls}",
        &["data[tls.crt] required", "data[tls.key] required"],
    ),
    (
        "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}, {port: 80}]}}",
        &["spec.ports[0].name required", "spec.ports[1].name required", "spec.ports[1] duplicate-port"],
    ),
    (
        "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: a, ports: [{port: 80}]}}",
        &["spec.clusterIP ip"],
    ),
    (
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1, maxUnavailable: 1}}",
        &["spec one-of"],
    ),
    (
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 101%}}",
        &["spec.minAvailable percent"],
    ),
    (
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {minReplicas: 3, maxReplicas: 2, \
      scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}}",
        &["spec.maxReplicas range"],
    ),
    (
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {rules: [{host: 'a_b'}]}}",
        &["spec.rules[0].host host"],
    ),
    (
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{apiGroups: [''], resources: [pods]}]}",
        &["rules[0].verbs required", "rules[0].verbs required"],
    ),
];

#[test]
fn an_object_is_refused_for_what_a_server_refuses_it_for() {
    for (text, wanted) in OBJECTS {
        assert_eq!(&refusals(&judged(36, Crds::new(), text)), wanted, "{text}");
    }
}

const SCHEDULES: &[(&str, &str, bool)] = &[
    ("*/5 * * * *", "Europe/Berlin", true),
    ("@hourly", "UTC", true),
    ("0 0 * * MON", "Etc/UTC", true),
    ("60 * * * *", "UTC", false),
    ("0 0 L * *", "UTC", false),
    ("*/0 * * * *", "UTC", false),
    ("TZ=UTC 0 0 * * *", "UTC", false),
    ("0 0 * * *", "europe/berlin", false),
    ("0 0 * * *", "Local", false),
    ("0 0 * * *", "", false),
];

#[test]
fn a_schedule_and_its_time_zone_are_read_as_a_server_reads_them() {
    for (schedule, zone, is_taken) in SCHEDULES {
        let text = format!(
            "{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: a}}, spec: {{schedule: '{schedule}', timeZone: '{zone}', \
             jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: a}}]}}}}}}}}}}}}"
        );
        assert_eq!(judged(36, Crds::new(), &text).is_refused(), !is_taken, "{schedule} {zone}");
    }
}

#[test]
fn a_null_is_a_field_that_is_not_set() {
    let text = deployment("nodeSelector: null, volumes: null,", "env: [{name: A, value: null}], ports: null");
    assert_eq!(refusals(&judged(36, Crds::new(), &text)), Vec::<String>::new());
    let verdict = judged(36, Crds::new(), &deployment("", "name: null"));
    assert_eq!(refusals(&verdict), ["spec.template.spec.containers[0].name required"]);
}

#[test]
fn a_misspelt_field_is_told_with_the_one_that_was_meant() {
    let verdict = judged(36, Crds::new(), &deployment("", "imagePullPolcy: Always"));
    let message = verdict.findings.first().map(|finding| finding.message.as_str());
    assert_eq!(message, Some("is not a field of this type; did you mean `imagePullPolicy`?"));
}

#[test]
fn what_a_server_lets_pass_is_a_warning() {
    let verdict = judged(36, Crds::new(), &deployment("", "env: [{name: A}, {name: A}]"));
    let rules: Vec<&str> = verdict.findings.iter().map(|finding| finding.rule).collect();
    assert!(!verdict.is_refused());
    assert_eq!(rules, ["duplicate-env"]);
}

#[test]
fn a_field_is_unknown_to_the_minors_before_it() {
    let text = deployment("", "restartPolicyRules: [], image: web");
    assert!(judged(30, Crds::new(), &text).is_refused());
}

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tests.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tests, singular: test, kind: Test, listKind: TestList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: '!has(self.least) || self.least <= self.size', message: least must not exceed size}
            properties:
              size: {type: integer, minimum: 1, default: 3}
              least: {type: integer}
              net: {type: string, format: cidr}
              name: {type: string, pattern: '^[a-z]+$'}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              one:
                type: object
                oneOf: [{required: [a]}, {required: [b]}]
                properties: {a: {type: string}, b: {type: string}}
";

const CUSTOM: &[(&str, &[&str])] = &[
    ("{}", &[]),
    ("{size: null}", &[]),
    ("{any: {a: 1}}", &[]),
    ("{sise: 1}", &["spec.sise unknown-field"]),
    ("{size: a}", &["spec.size type"]),
    ("{size: 0}", &["spec.size range"]),
    ("{net: 10.0.0.0}", &["spec.net format"]),
    ("{name: A}", &["spec.name pattern"]),
    ("{tags: [a, a]}", &["spec.tags[1] duplicate"]),
    ("{one: {}}", &["spec.one one-of"]),
    ("{one: {a: x, b: x}}", &["spec.one one-of"]),
    ("{least: 4}", &["spec cel"]),
    ("{least: 3}", &[]),
];

#[test]
fn a_custom_resource_is_judged_by_its_definition() {
    for (spec, wanted) in CUSTOM {
        let mut crds = Crds::new();
        crds.add(CRD.as_bytes().to_vec());
        let verdict = judged(
            36,
            crds,
            &format!("{{apiVersion: example.com/v1, kind: Test, metadata: {{name: a}}, spec: {spec}}}"),
        );
        assert_eq!(&refusals(&verdict), wanted, "{spec}");
    }
}

#[test]
fn a_kind_without_schema_is_refused_only_where_all_definitions_are_known() {
    let text = "{apiVersion: example.com/v1, kind: Test, metadata: {name: a}}";
    let verdict = judged(36, Crds::new(), text);
    assert!(!verdict.is_refused() && verdict.is_unknown_kind);
    let mut crds = Crds::new();
    crds.and_no_others();
    assert_eq!(refusals(&judged(36, crds, text)), ["apiVersion not-served"]);
    // Of a group of which one kind is known there may be others; of a kind that is known, all versions are.
    for (kind, is_refused) in [("Other", false), ("Test", true)] {
        let mut crds = Crds::new();
        crds.add(CRD.as_bytes().to_vec());
        let verdict = judged(36, crds, &format!("{{apiVersion: example.com/v9, kind: {kind}, metadata: {{name: a}}}}"));
        assert_eq!((verdict.is_refused(), verdict.is_unknown_kind), (is_refused, !is_refused), "{kind}");
    }
}

#[test]
fn a_definition_is_refused_for_a_schema_that_says_too_little() {
    let text = CRD.replace("least: {type: integer}", "least: {description: a}");
    let at = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[least].type required";
    assert_eq!(refusals(&judged(36, Crds::new(), &text)), [at]);
    assert_eq!(refusals(&judged(36, Crds::new(), CRD)), Vec::<String>::new());
}
