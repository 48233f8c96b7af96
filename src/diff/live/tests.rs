//! Objects as clusters have them, beside what was rendered.

use super::*;
use crate::diff::{self, Options};
use crate::manifest::{self, Source};

fn one(text: &str) -> Manifest {
    let mut all = manifest::read(text.as_bytes(), Source::Output("a test")).expect("objects");
    assert_eq!(all.len(), 1, "{text}");
    all.pop().expect("one")
}

fn settled(running: &str, rendered: &str, cluster: &Cluster<'_>) -> (Vec<String>, BTreeMap<Addition, usize>) {
    let found = settle(&one(running), &one(rendered), cluster);
    let mut paths = Vec::new();
    for object in diff::compare(&[found.running], &[found.rendered], &Options::default()) {
        object.difference.visit(&mut |path, _| paths.push(path.to_string()));
    }
    (paths, found.additions)
}

fn differences(running: &str, rendered: &str) -> Vec<String> {
    settled(running, rendered, &Cluster { application: "web", ..Cluster::default() }).0
}

const RENDERED: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      hostNetwork: false
      serviceAccountName: web
      containers:
      - name: web
        image: example.com:5000/web:1.0
        ports: [{containerPort: 80}]
        resources: {requests: {cpu: 1000m, memory: 1Gi}}
        readinessProbe: {httpGet: {path: /, port: 80}}
        env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
      volumes: [{name: config, configMap: {name: web}}]
";

const RUNNING: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  uid: 7c5c0c5e-6a1f-4a53-9b1f-0c4b4a7c3f10
  resourceVersion: '812'
  generation: 3
  creationTimestamp: '2030-01-01T00:00:00Z'
  labels: {app: web, app.kubernetes.io/instance: web}
  annotations:
    argocd.argoproj.io/tracking-id: web:apps/Deployment:shop/web
    deployment.kubernetes.io/revision: '2'
  managedFields: [{manager: argocd-controller, operation: Update}]
spec:
  replicas: 1
  progressDeadlineSeconds: 600
  revisionHistoryLimit: 10
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {creationTimestamp: null, labels: {app: web}}
    spec:
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
      serviceAccount: web
      serviceAccountName: web
      containers:
      - name: web
        image: example.com:5000/web:1.0
        imagePullPolicy: IfNotPresent
        ports: [{containerPort: 80, protocol: TCP}]
        resources: {requests: {cpu: '1', memory: 1Gi}}
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        readinessProbe:
          httpGet: {path: /, port: 80, scheme: HTTP}
          failureThreshold: 3
          periodSeconds: 10
          successThreshold: 1
          timeoutSeconds: 1
        env: [{name: POD, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}]
      volumes: [{name: config, configMap: {name: web, defaultMode: 420}}]
status: {readyReplicas: 1}
";

#[test]
fn what_the_api_server_adds_is_no_difference() {
    let (paths, additions) = settled(RUNNING, RENDERED, &Cluster { application: "web", ..Cluster::default() });
    assert!(paths.is_empty(), "{paths:?}");
    let counted = |addition| additions.get(&addition).copied().unwrap_or_default();
    assert_eq!((counted(Addition::Server), counted(Addition::Applied), counted(Addition::Written)), (7, 3, 2));
}

#[test]
fn another_value_than_the_default_is_a_difference() {
    let rows = [
        ("replicas: 1", "replicas: 5", "spec.replicas"),
        ("progressDeadlineSeconds: 600", "progressDeadlineSeconds: 30", "spec.progressDeadlineSeconds"),
        ("maxSurge: 25%", "maxSurge: 50%", "spec.strategy"),
        (
            "imagePullPolicy: IfNotPresent",
            "imagePullPolicy: Always",
            "spec.template.spec.containers[name=web].imagePullPolicy",
        ),
        ("web:1.0", "web:1.1", "spec.template.spec.containers[name=web].image"),
        ("cpu: '1'", "cpu: '2'", "spec.template.spec.containers[name=web].resources.requests.cpu"),
        ("serviceAccount: web\n", "serviceAccount: api\n", "spec.template.spec.serviceAccount"),
        ("dnsPolicy: ClusterFirst", "dnsPolicy: Default", "spec.template.spec.dnsPolicy"),
        ("defaultMode: 420", "defaultMode: 256", "spec.template.spec.volumes[name=config].configMap.defaultMode"),
        ("labels: {app: web, app.kubernetes.io/instance: web}", "labels: {app: web, team: a}", "metadata.labels.team"),
        (
            "app.kubernetes.io/instance: web}",
            "app.kubernetes.io/instance: other}",
            "metadata.labels[\"app.kubernetes.io/instance\"]",
        ),
    ];
    for (from, to, expected) in rows {
        assert!(RUNNING.contains(from), "{from}");
        assert_eq!(differences(&RUNNING.replacen(from, to, 1), RENDERED), [expected], "{to}");
    }
}

#[test]
fn what_was_applied_last_tells_what_came_since() {
    let map = |data: &str, last: &str| {
        let last = format!("{{kubectl.kubernetes.io/last-applied-configuration: '{last}'}}");
        format!("apiVersion: example.com/v1\nkind: Web\nmetadata: {{name: a, annotations: {last}}}\nspec: {data}\n")
    };
    let last = r#"{"apiVersion":"example.com/v1","kind":"Web","metadata":{"name":"a"},"spec":{"a":"1","list":[{"name":"x"}]}}"#;
    let rendered = "apiVersion: example.com/v1\nkind: Web\nmetadata: {name: a}\nspec: {a: '1', list: [{name: x}]}\n";
    let trusting = Cluster { application: "web", trusts_last_applied: true, schema: None };
    let found = |running: &str, cluster: &Cluster<'_>| settled(running, rendered, cluster).0;
    let since = map("{a: '1', b: '2', list: [{name: x, more: 1}, {name: sidecar}]}", last);
    assert_eq!(found(&since, &trusting), Vec::<String>::new());
    // Where the API server merges, it says nothing.
    assert_eq!(found(&since, &Cluster::default()), ["spec.b", "spec.list[name=x].more", "spec.list[name=sidecar]"]);
    // What was applied, and is rendered no more, is a difference.
    let applied = map("{a: '1', b: '2', list: [{name: x}]}", &last.replace("\"a\":\"1\"", "\"a\":\"1\",\"b\":\"2\""));
    assert_eq!(found(&applied, &trusting), ["spec.b"]);
    // A text that is not JSON says nothing.
    assert_eq!(found(&map("{a: '1', b: '2', list: [{name: x}]}", "{"), &trusting), ["spec.b"]);
}

#[test]
fn a_custom_resource_has_the_defaults_of_its_schema() {
    let schema = yaml::decode(
        b"properties: {spec: {properties: {size: {default: 3}, tls: {default: {}, properties: {on: {default: true}}}, rules: {items: \
          {properties: {kind: {default: Soft}}}}}}}",
        yaml::Dialect::V2,
        &Limits::default(),
    );
    let schema = schema.expect("YAML").pop().expect("one");
    let cluster = Cluster { schema: Some(&schema), ..Cluster::default() };
    let rendered = "apiVersion: example.com/v1\nkind: Web\nmetadata: {name: a}\nspec: {rules: [{name: x}]}\n";
    let running = rendered
        .replace("spec: {rules: [{name: x}]}", "spec: {size: 3, tls: {on: true}, rules: [{name: x, kind: Soft}]}");
    assert_eq!(settled(&running, rendered, &cluster).0, Vec::<String>::new());
    assert_eq!(settled(&running.replace("size: 3", "size: 4"), rendered, &cluster).0, ["spec.size"]);
    assert_eq!(settled(&running.replace("Soft", "Hard"), rendered, &cluster).0, ["spec.rules[name=x].kind"]);
}

#[test]
fn small_kinds() {
    let rows = [
        // A Service: what is allocated.
        (
            "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ipFamilies: [IPv4], \
             ipFamilyPolicy: SingleStack, internalTrafficPolicy: Cluster, sessionAffinity: None, type: ClusterIP, ports: [{port: 80, protocol: \
             TCP, targetPort: 80}]}\n",
            "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n",
            vec![],
        ),
        // One that was made headless, or of two families, by hand.
        (
            "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {clusterIP: None, clusterIPs: [None], ipFamilies: [IPv6, IPv4], \
             ipFamilyPolicy: RequireDualStack, ports: [{port: 80}]}\n",
            "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n",
            vec!["spec.clusterIP", "spec.clusterIPs", "spec.ipFamilyPolicy"],
        ),
        // A Secret: texts are written in base64.
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: Opaque\ndata: {a: eA==, b: eQ==}\n",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: eA==}\nstringData: {b: 'y'}\n",
            vec![],
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: Opaque\ndata: {a: eA==}\n",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: 'y'}\n",
            vec!["data.a"],
        ),
        // What is left out when it is empty, and what means something then.
        (
            "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n",
            "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, labels: {}, annotations: null}\nimagePullSecrets: []\nautomountServiceAccountToken: false\n",
            vec!["automountServiceAccountToken"],
        ),
        // A custom resource keeps what is empty.
        (
            "apiVersion: example.com/v1\nkind: Web\nmetadata: {name: a}\nspec: {b: 1}\n",
            "apiVersion: example.com/v1\nkind: Web\nmetadata: {name: a}\nspec: {a: [], b: 1, c: null}\n",
            vec!["spec.a"],
        ),
        // An annotation that a person added.
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {owner: me}}\n",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
            vec!["metadata.annotations"],
        ),
    ];
    for (running, rendered, expected) in rows {
        assert_eq!(differences(running, rendered), expected, "{running}");
    }
}

#[test]
fn the_policy_by_which_an_image_is_pulled() {
    let rows = [
        ("web", "Always"),
        ("web:latest", "Always"),
        ("web:1", "IfNotPresent"),
        ("example.com:5000/web", "Always"),
        ("web@sha256:00", "IfNotPresent"),
    ];
    for (image, expected) in rows {
        assert_eq!(pull_policy(image), expected, "{image}");
    }
}
