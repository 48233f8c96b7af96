//! What kube-apiserver 1.36.3 answered under strict field validation, a row for each class of mistake, and what it took.

use go_yaml::{Limits, sigs};

use crate::{Crds, Judge, Verdict};

pub(super) fn judged(minor: u8, crds: Crds, text: &str) -> Verdict {
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
    (
        "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: http}]}}",
        &["spec.ports[0].port type"],
    ),
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
        &["rules[0].verbs required"],
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
              namespace: {type: string}
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
    // Of a group of which one kind is known there may be others; of a kind that is known, all versions are, and all names.
    let rows = [("v9", "Other", ""), ("v9", "Test", "apiVersion not-served"), ("v1", "Tests", "kind not-served")];
    for (version, kind, wanted) in rows {
        let mut crds = Crds::new();
        crds.add(CRD.as_bytes().to_vec());
        let text = format!("{{apiVersion: example.com/{version}, kind: {kind}, metadata: {{name: a}}}}");
        let verdict = judged(36, crds, &text);
        let wanted: Vec<&str> = Some(wanted).filter(|wanted| !wanted.is_empty()).into_iter().collect();
        assert_eq!(
            (refusals(&verdict), verdict.is_unknown_kind),
            (wanted.iter().map(|at| (*at).to_owned()).collect(), wanted.is_empty()),
            "{kind}"
        );
    }
}

/// Group and version, kind, and what is refused with which hint.
const SLIPS: &[(&str, &str, &str)] = &[
    ("extensions/v1beta1", "Ingress", "apiVersion: ; Ingress is served in `networking.k8s.io/v1`"),
    ("app/v1", "Deployment", "apiVersion: ; Deployment is served in `apps/v1`"),
    ("batch.k8s.io/v1", "Job", "apiVersion: ; Job is served in `batch/v1`"),
    ("rbac.authorization.k8s/v1", "Role", "apiVersion: ; Role is served in `rbac.authorization.k8s.io/v1`"),
    (
        "autoscaling/v2beta2",
        "HorizontalPodAutoscaler",
        "apiVersion: ; HorizontalPodAutoscaler is served in `autoscaling/v2`",
    ),
    ("apps/v1", "Deploymnet", "kind: ; did you mean `Deployment`?"),
    ("policy/v1beta1", "PodSecurityPolicy", "apiVersion: "),
    ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", ""),
    ("externaldns.k8s.io/v1alpha1", "DNSEndpoint", ""),
    ("gateway.networking.k8s.io/v1", "HTTPRoute", ""),
];

#[test]
fn a_group_that_no_definition_can_serve_is_a_slip() {
    for (version, kind, wanted) in SLIPS {
        let text = format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: a}}}}");
        let verdict = judged(36, Crds::new(), &text);
        let said = verdict.findings.iter().map(|finding| {
            let hint = finding.message.split_once(';').map(|(_, hint)| format!(";{hint}")).unwrap_or_default();
            format!("{}: {hint}", finding.field)
        });
        assert_eq!(said.collect::<Vec<_>>().join(" "), *wanted, "{version} {kind}");
        assert_eq!(verdict.is_unknown_kind, wanted.is_empty(), "{version} {kind}");
    }
}

#[test]
fn definitions_of_one_text_are_read_each_for_its_kind() {
    let other = CRD.replace("tests", "others").replace("test,", "other,").replace("Test", "Other");
    let group = CRD.replace("example.com", "example.org");
    for separator in ["\n---\n", "\n--- # another\n"] {
        let mut crds = Crds::new();
        crds.add([other.as_str(), &group, CRD].join(separator).into_bytes());
        let judge = Judge::new(36, crds).expect("a minor that is known");
        for (kind, is_refused) in [("Test", true), ("Other", true), ("Third", false)] {
            let text =
                format!("{{apiVersion: example.com/v1, kind: {kind}, metadata: {{name: a}}, spec: {{sise: 1}}}}");
            let object = sigs::unmarshal(text.as_bytes(), &Limits::default()).expect("YAML");
            let verdict = judge.judge(&object);
            assert_eq!((verdict.is_refused(), verdict.is_unknown_kind), (is_refused, !is_refused), "{kind}");
        }
    }
}

/// Rules of a schema that has the fields `size`, `least` and `name`, and whether a server takes the CRD.
const RULES: &[(&str, bool)] = &[
    ("self.least <= self.size", true),
    ("!has(self.name) || self.name.matches('^[a-z]+$')", true),
    ("oldSelf.size == self.size", true),
    ("self.tags.all(tag, tag.size() < 9) && self.tags.exists(tag, tag in ['a'])", true),
    ("type(self.size) == int && dyn(self.size) == 1", true),
    ("isURL(self.name) && quantity('1').isInteger()", true),
    ("self.?least.orValue(1) == 1", true),
    ("self.namespace != '' && self.__namespace__ != ''", true),
    ("self.least <=", false),
    ("self.leest <= self.size", false),
    ("has(self.leest)", false),
    ("seld.size > 1", false),
    ("self.tags.all(tag, tg == 'a')", false),
    ("self.name.matches('(')", false),
];

#[test]
fn a_rule_of_a_definition_is_refused_for_its_syntax_and_its_names() {
    for (rule, is_taken) in RULES {
        let text = CRD.replace("'!has(self.least) || self.least <= self.size'", &format!("\"{rule}\""));
        let verdict = judged(36, Crds::new(), &text);
        assert_eq!((verdict.is_refused(), verdict.expressions_unjudged), (!is_taken, usize::from(*is_taken)), "{rule}");
    }
}

/// Variables and a validation of a policy, and whether a server takes them.
const POLICIES: &[(&str, &str, bool)] = &[
    ("[{name: most, expression: '5'}]", "object.spec.replicas <= variables.most", true),
    ("[{name: a, expression: '5'}, {name: b, expression: variables.a + 1}]", "variables.b > 1", true),
    ("[]", "object.spec.replicas <= variables.most", false),
    ("[{name: b, expression: variables.a}, {name: a, expression: '1'}]", "variables.b > 1", false),
    ("[{name: b, expression: b +}]", "true", false),
    ("[]", "foo.bar", false),
    ("[]", "params.most > 1", false),
    ("[]", "object.metadata.name.matches('(')", false),
    (
        "[]",
        "request.userInfo.groups.exists(group, group == 'a') && authorizer.group('').resource('pods').check('get').allowed()",
        true,
    ),
];

#[test]
fn an_expression_of_a_policy_is_refused_for_its_syntax_and_its_names() {
    for (variables, validation, is_taken) in POLICIES {
        let text = format!(
            "{{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {{name: a}}, spec: {{ \
             matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]}}, \
             variables: {variables}, validations: [{{expression: \"{validation}\"}}]}}}}"
        );
        let verdict = judged(36, Crds::new(), &text);
        assert_eq!(verdict.is_refused(), !is_taken, "{variables} {validation} {:?}", verdict.findings);
        assert!(!is_taken || verdict.expressions_unjudged > 0, "{validation}");
    }
}

#[test]
fn a_definition_is_refused_for_a_schema_that_says_too_little() {
    let text = CRD.replace("least: {type: integer}", "least: {description: a}");
    let at = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[least].type required";
    assert_eq!(refusals(&judged(36, Crds::new(), &text)), [at]);
    let both = CRD.replace("least: {type: integer}", "least: {type: string, x-kubernetes-int-or-string: true}");
    assert_eq!(refusals(&judged(36, Crds::new(), &both)), Vec::<String>::new());
    assert_eq!(refusals(&judged(36, Crds::new(), CRD)), Vec::<String>::new());
}
