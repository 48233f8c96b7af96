use go_yaml::json;

use super::*;
use crate::manifest::{self, Source};

fn manifests(text: &str) -> Vec<Manifest> {
    manifest::read(text.as_bytes(), Source::Output("a test")).expect(text)
}

fn compared(old: &str, new: &str, options: &Options) -> Vec<ObjectDiff> {
    compare(&manifests(old), &manifests(new), options)
}

/// Each object on a line, each place that differs on a line below it.
fn told(diffs: &[ObjectDiff]) -> String {
    let mut text = String::new();
    for diff in diffs {
        let sign = match diff.change {
            Change::Added => '+',
            Change::Removed => '-',
            Change::Changed => '~',
        };
        let restarts = if diff.restarts { " restarts" } else { "" };
        let old_name = diff.old_name.as_ref().map(|name| format!(" was {name}")).unwrap_or_default();
        text += &format!("{sign} {}{old_name}{restarts}\n", diff.object);
        if diff.change != Change::Changed {
            continue;
        }
        diff.difference.visit(&mut |path, place| {
            let encode = |value: &Option<Value>| value.as_ref().map(|value| json::encode(value, Default::default()));
            text += &match place {
                Place::Moved(from, to) => format!("  {path}: moved {from} to {to}\n"),
                Place::Leaf(leaf) => {
                    let noise = leaf.noise.map(|noise| format!(" ({noise})")).unwrap_or_default();
                    match (encode(&leaf.old), encode(&leaf.new)) {
                        (Some(old), Some(new)) => format!("  {path}: {old} -> {new}{noise}\n"),
                        (Some(old), None) => format!("  {path}: -{old}{noise}\n"),
                        (None, new) => format!("  {path}: +{}{noise}\n", new.unwrap_or_default()),
                    }
                }
            };
        });
    }
    text
}

fn deployment(spec: &str) -> String {
    format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec: {spec}\n")
}

fn pod_template(template: &str) -> String {
    deployment(&format!("{{template: {template}}}"))
}

#[test]
fn differences() {
    let cases: Vec<(&str, String, String, &str)> = vec![
        ("nothing", deployment("{a: 1}"), deployment("{a: 1}"), ""),
        (
            "a field that is replaced, added, removed",
            deployment("{a: 1, b: {c: x}, d: [1]}"),
            deployment("{a: '1', b: {e: null}, d: [1]}"),
            "~ Deployment shop/web\n  spec.a: 1 -> \"1\"\n  spec.b.c: -\"x\"\n  spec.b.e: +null\n",
        ),
        (
            "objects that come and go",
            "kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata: {name: b, namespace: x}\n".to_owned(),
            "kind: A\nmetadata: {name: c}\n---\nkind: B\nmetadata: {name: b, namespace: x}\n".to_owned(),
            "- A a\n+ A c\n",
        ),
        (
            "another version of the API is the same object",
            "apiVersion: policy/v1beta1\nkind: A\nmetadata: {name: a}\n".to_owned(),
            "apiVersion: policy/v1\nkind: A\nmetadata: {name: a}\n".to_owned(),
            "~ A a\n  apiVersion: \"policy/v1beta1\" -> \"policy/v1\"\n",
        ),
        (
            "another group is another object",
            "apiVersion: extensions/v1\nkind: A\nmetadata: {name: a}\n".to_owned(),
            "apiVersion: policy/v1\nkind: A\nmetadata: {name: a}\n".to_owned(),
            "+ A a\n- A a\n",
        ),
        (
            "objects whose name the server makes",
            "kind: Job\nmetadata: {generateName: m-}\n---\nkind: Job\nmetadata: {generateName: m-}\nspec: 1\n".to_owned(),
            "kind: Job\nmetadata: {generateName: m-}\nspec: 2\n---\nkind: Job\nmetadata: {generateName: m-}\n".to_owned(),
            "+ Job m-*\n- Job m-*\n",
        ),
        (
            "containers by name, in another order",
            pod_template("{spec: {containers: [{name: web, image: 'web:1'}, {name: proxy, image: 'p:1'}]}}"),
            pod_template("{spec: {containers: [{name: proxy, image: 'p:1'}, {name: web, image: 'web:2'}]}}"),
            "~ Deployment shop/web restarts\n  spec.template.spec.containers[name=proxy]: moved 1 to 0\n  \
             spec.template.spec.containers[name=web].image: \"web:1\" -> \"web:2\"\n",
        ),
        (
            "an item in front moves nothing",
            deployment("{env: [{name: A, value: a}, {name: B, value: b}]}"),
            deployment("{env: [{name: Z, value: z}, {name: A, value: a}, {name: B, value: c}]}"),
            "~ Deployment shop/web\n  spec.env[name=Z]: +{\"name\":\"Z\",\"value\":\"z\"}\n  \
             spec.env[name=B].value: \"b\" -> \"c\"\n",
        ),
        (
            "arguments",
            deployment("{args: [serve, --level=info, --port=80]}"),
            deployment("{args: [--port=80, serve, --level=debug, --quiet]}"),
            "~ Deployment shop/web\n  spec.args[0]: moved 2 to 0\n  \
             spec.args[2]: \"--level=info\" -> \"--level=debug\"\n  spec.args[3]: +\"--quiet\"\n",
        ),
        (
            "a list that takes the place of a mapping",
            deployment("{a: {b: 1}}"),
            deployment("{a: [1]}"),
            "~ Deployment shop/web\n  spec.a: {\"b\":1} -> [1]\n",
        ),
        (
            "chart labels and checksums are noise, other labels are not",
            "kind: A\nmetadata: {name: a, labels: {helm.sh/chart: web-1, tier: web}, annotations: {checksum/config: d41d8cd9}}\n"
                .to_owned(),
            "kind: A\nmetadata: {name: a, labels: {helm.sh/chart: web-2, tier: api}, annotations: {checksum/config: 0cc175b9}}\n"
                .to_owned(),
            "~ A a\n  metadata.annotations[\"checksum/config\"]: \"d41d8cd9\" -> \"0cc175b9\" (checksums)\n  \
             metadata.labels[\"helm.sh/chart\"]: \"web-1\" -> \"web-2\" (chart labels)\n  \
             metadata.labels.tier: \"web\" -> \"api\"\n",
        ),
        (
            "a label that something selects by is not noise",
            "kind: A\nmetadata: {name: a, labels: {helm.sh/chart: web-1, chart: web-1}}\n---\nkind: B\nmetadata: {name: b}\n\
             spec: {podSelector: {matchExpressions: [{key: helm.sh/chart, operator: Exists}]}}\n"
                .to_owned(),
            "kind: A\nmetadata: {name: a, labels: {helm.sh/chart: web-2, chart: web-2}}\n---\nkind: B\nmetadata: {name: b}\n\
             spec: {podSelector: {matchExpressions: [{key: helm.sh/chart, operator: Exists}]}}\n"
                .to_owned(),
            "~ A a\n  metadata.labels.chart: \"web-1\" -> \"web-2\" (chart labels)\n  \
             metadata.labels[\"helm.sh/chart\"]: \"web-1\" -> \"web-2\"\n",
        ),
        (
            "a text is not a checksum, whatever the key says",
            "kind: A\nmetadata: {name: a, annotations: {checksum/run: '#!/bin/sh 1'}}\n".to_owned(),
            "kind: A\nmetadata: {name: a, annotations: {checksum/run: '#!/bin/evil 1'}}\n".to_owned(),
            "~ A a\n  metadata.annotations[\"checksum/run\"]: \"#!/bin/sh 1\" -> \"#!/bin/evil 1\"\n",
        ),
        (
            "what has no digest is not a checksum",
            "kind: A\nmetadata: {name: a, annotations: {x.io/upstream-hash-by: arg1, x.io/hash-size: '3', x.io/hash: blue}}\n"
                .to_owned(),
            "kind: A\nmetadata: {name: a, annotations: {x.io/upstream-hash-by: arg2, x.io/hash-size: '1', x.io/hash: d41d8cd9}}\n"
                .to_owned(),
            "~ A a\n  metadata.annotations[\"x.io/hash\"]: \"blue\" -> \"d41d8cd9\"\n  \
             metadata.annotations[\"x.io/hash-size\"]: \"3\" -> \"1\"\n  \
             metadata.annotations[\"x.io/upstream-hash-by\"]: \"arg1\" -> \"arg2\"\n",
        ),
        (
            "a digest that something selects by is not noise",
            "kind: A\nmetadata: {name: a, labels: {pod-hash: d41d8cd9, a-hash: d41d8cd9, b-hash: d41d8cd9}}\n---\nkind: B\n\
             metadata: {name: b}\nspec: {selector: {matchLabels: {pod-hash: d41d8cd9}}, subsets: [{labels: {a-hash: d41d8cd9}}]}\n"
                .to_owned(),
            "kind: A\nmetadata: {name: a, labels: {pod-hash: 0cc175b9, a-hash: 0cc175b9, b-hash: 0cc175b9}}\n---\nkind: B\n\
             metadata: {name: b}\nspec: {selector: {matchLabels: {pod-hash: d41d8cd9}}, subsets: [{labels: {a-hash: d41d8cd9}}]}\n"
                .to_owned(),
            "~ A a\n  metadata.labels.a-hash: \"d41d8cd9\" -> \"0cc175b9\"\n  \
             metadata.labels.b-hash: \"d41d8cd9\" -> \"0cc175b9\" (checksums)\n  \
             metadata.labels.pod-hash: \"d41d8cd9\" -> \"0cc175b9\"\n",
        ),
        (
            "a label that is new is somebody's decision, one in a selector is no label",
            "kind: A\nmetadata: {name: a}\nspec: {selector: {helm.sh/chart: web-1}}\n".to_owned(),
            "kind: A\nmetadata: {name: a, labels: {chart: web-2}}\nspec: {selector: {helm.sh/chart: web-2}}\n".to_owned(),
            "~ A a\n  metadata.labels: +{\"chart\":\"web-2\"}\n  \
             spec.selector[\"helm.sh/chart\"]: \"web-1\" -> \"web-2\"\n",
        ),
        (
            "names that Kustomize generates",
            format!(
                "kind: ConfigMap\nmetadata: {{name: web-4h2mb8g5t9}}\ndata: {{a: '1'}}\n---\n{}",
                pod_template("{spec: {envFrom: [{configMapRef: {name: web-4h2mb8g5t9}}]}}")
            ),
            format!(
                "kind: ConfigMap\nmetadata: {{name: web-9k7bd6ctm2}}\ndata: {{a: '2'}}\n---\n{}",
                pod_template("{spec: {envFrom: [{configMapRef: {name: web-9k7bd6ctm2}}]}}")
            ),
            "~ ConfigMap web-9k7bd6ctm2 was web-4h2mb8g5t9\n  data.a: \"1\" -> \"2\"\n  \
             metadata.name: \"web-4h2mb8g5t9\" -> \"web-9k7bd6ctm2\" (generated names)\n\
             ~ Deployment shop/web restarts\n  spec.template.spec.envFrom[0].configMapRef.name: \
             \"web-4h2mb8g5t9\" -> \"web-9k7bd6ctm2\" (generated names)\n",
        ),
        (
            "a name that only looks generated, and two of one stem",
            "kind: ConfigMap\nmetadata: {name: web-production}\n---\nkind: ConfigMap\nmetadata: {name: b-4h2mb8g5t9}\n"
                .to_owned(),
            "kind: ConfigMap\nmetadata: {name: web-developers}\n---\nkind: ConfigMap\nmetadata: {name: b-9k7bd6ctm2}\n\
             ---\nkind: ConfigMap\nmetadata: {name: b-8k7bd6ctm2}\n"
                .to_owned(),
            "- ConfigMap b-4h2mb8g5t9\n+ ConfigMap b-8k7bd6ctm2\n+ ConfigMap b-9k7bd6ctm2\n\
             + ConfigMap web-developers\n- ConfigMap web-production\n",
        ),
        (
            "Secrets tell that they changed, not what they hold",
            "kind: Secret\nmetadata: {name: a}\ndata: {user: YQ==, key: eHg=}\ntype: Opaque\n".to_owned(),
            "kind: Secret\nmetadata: {name: a}\ndata: {user: YQ==, key: eHh4eA==}\nstringData: {x: 'y'}\n".to_owned(),
            "~ Secret a\n  data.key: \"<hidden>\" -> \"<hidden>\"\n  \
             stringData: +{\"x\":\"<hidden>\"}\n  type: -\"Opaque\"\n",
        ),
    ];
    for (rule, old, new, expected) in cases {
        assert_eq!(told(&compared(&old, &new, &Options::default())), expected, "{rule}");
    }
}

#[test]
fn the_id_of_the_dry_commit_is_noise() {
    let (old, new) = ("0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98");
    let object =
        |id: &str| format!("kind: A\nmetadata: {{name: a}}\nspec: {{full: 'rev {id}', short: '{}'}}\n", &id[..7]);
    let options = Options { dry_commits: Some((old.to_owned(), new.to_owned())), ..Options::default() };
    let diffs = compared(&object(old), &object(new), &options);
    assert!(diffs.iter().all(ObjectDiff::is_noise), "{}", told(&diffs));
    let diffs = compared(&object(old), &object(&new.replace("fed", "def")), &options);
    assert!(!diffs[0].is_noise(), "another commit");
}

#[test]
fn secrets_are_told_to_who_asks() {
    let secret = |value: &str| format!("kind: Secret\nmetadata: {{name: a}}\nstringData: {{a: {value}}}\n");
    let options = Options { reveal_secrets: true, ..Options::default() };
    assert!(told(&compared(&secret("one"), &secret("two"), &options)).contains("\"one\" -> \"two\""));
    for (old, new) in [(secret("sesame"), String::new()), (String::new(), secret("sesame"))] {
        let diffs = compared(&old, &new, &Options::default());
        assert!(!format!("{diffs:?}").contains("sesame"), "{diffs:?}");
    }
}

/// Wherever a value of a Secret is, by a slip in a field or in a kind or in another object, it is not shown: of an object that comes,
/// of one that goes, and of one that changes.
#[test]
fn secrets_with_slips_are_not_shown() {
    let rows = [
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringdata: {pw: VALUE}",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nStringData: {pw: VALUE}",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndta: {pw: VALUE}",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nspec: {pw: [{b: VALUE}]}",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\npassword: VALUE",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: VALUE",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nimmutable: VALUE",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, data: {pw: VALUE}}",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {pw: VALUE}}",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {pw: VALUE of}}",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: VALUE}}",
        "apiVersion: v1\nkind: secret\nmetadata: {name: a}\nstringData: {pw: VALUE}",
        "apiVersion: v1\nkind: Secrt\nmetadata: {name: a}\ndata: {pw: VALUE}",
        "apiVersion: v1\nkind: Secrets\nmetadata: {name: a}\ndata: {pw: VALUE}",
        "apiVersion: v2\nkind: Secret\nmetadata: {name: a}\ndata: {pw: VALUE}",
        "apiVersion: v1\nkind: Credential\nmetadata: {name: a}\ntype: Opaque\ndata: {pw: VALUE}",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nstringData: {pw: VALUE}",
        "apiVersion: v1\nkind: Foo\nmetadata: {name: a}\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: q}, data: {pw: VALUE}}]",
        "apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: a}\n\
         spec: {resources: [{template: {apiVersion: v1, kind: Secret, stringData: {pw: VALUE}}}]}",
    ];
    for row in rows {
        let [old, new] = ["sesame1", "sesame2"].map(|value| format!("{}\n", row.replace("VALUE", value)));
        for (old, new) in [(&old, &String::new()), (&String::new(), &new), (&old, &new)] {
            let diffs = compared(old, new, &Options::default());
            assert!(!diffs.is_empty(), "{row}");
            let shown = format!("{:?} {}", diffs.iter().map(|diff| &diff.difference).collect::<Vec<_>>(), told(&diffs));
            assert!(!shown.contains("sesame"), "{row}\n{shown}");
        }
    }
    // What has no values of it is shown, and data of others.
    let shown = [
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {tier: VALUE}}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {reflector.io/namespaces: VALUE}}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: kubernetes.io/VALUE\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: VALUE}\n",
        "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: a}\nspec: {encryptedData: {a: VALUE}}\n",
    ];
    for row in shown {
        let [old, new] = ["one", "two"].map(|value| row.replace("VALUE", value));
        assert!(told(&compared(&old, &new, &Options::default())).contains("two\""), "{row}");
    }
}

#[test]
fn images_by_container() {
    let old = pod_template("{spec: {containers: [{name: a, image: 'x:1'}, {name: b, image: 'y:1'}]}}");
    let new =
        pod_template("{spec: {initContainers: [{name: c, image: 'z:1'}], containers: [{name: a, image: 'x:2'}]}}");
    let told: Vec<String> = compared(&old, &new, &Options::default())[0]
        .images
        .iter()
        .map(|ImageChange { container, old, new }| format!("{container} {old:?} {new:?}"))
        .collect();
    let expected = ["a Some(\"x:1\") Some(\"x:2\")", "b Some(\"y:1\") None", "c None Some(\"z:1\")"];
    assert_eq!(told, expected);
}

/// An object of a group and kind named `a`, with the rest of its text.
fn object(api_version: &str, kind: &str, rest: &str) -> String {
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: a\n{rest}\n")
}

fn dangers(old: &str, new: &str) -> Vec<String> {
    let diffs = compared(old, new, &Options::default());
    diffs.iter().flat_map(|diff| &diff.dangers).map(Danger::to_string).collect()
}

#[test]
fn what_is_lost_with_an_object() {
    // (group and version, kind, whether its removal is dangerous)
    let rows = [
        ("v1", "Namespace", true),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", true),
        ("v1", "PersistentVolumeClaim", true),
        ("v1", "PersistentVolume", false),
        ("apps/v1", "StatefulSet", true),
        ("apps/v1", "Deployment", true),
        ("v1", "ConfigMap", false),
        ("example.com/v1", "Namespace", false),
    ];
    for (api_version, kind, expected) in rows {
        assert_eq!(!dangers(&object(api_version, kind, ""), "").is_empty(), expected, "{kind}");
        assert_eq!(dangers("", &object(api_version, kind, "")), [""; 0], "{kind} added");
    }
    let kept =
        object("v1", "Namespace", "  annotations: {argocd.argoproj.io/sync-options: 'Validate=false, Prune=false'}");
    assert_eq!(dangers(&kept, ""), [""; 0]);
}

#[test]
fn fields_that_cannot_be_changed() {
    // (group and version, kind, old, new, the fields)
    let rows: &[(&str, &str, &str, &str, &[&str])] = &[
        (
            "apps/v1",
            "Deployment",
            "spec: {selector: {a: b}, x: 1}",
            "spec: {selector: {a: c}, x: 2}",
            &["spec.selector"],
        ),
        ("apps/v1", "Deployment", "spec: {selector: {a: b}, x: 1}", "spec: {selector: {a: b}, x: 2}", &[]),
        (
            "apps/v1",
            "StatefulSet",
            "spec: {replicas: 1, serviceName: a, volumeClaimTemplates: [{metadata: {name: d, labels: {helm.sh/chart: a}}}]}",
            "spec: {replicas: 2, serviceName: b, volumeClaimTemplates: [{metadata: {name: d, labels: {helm.sh/chart: b}}}]}",
            &["spec.serviceName", "spec.volumeClaimTemplates"],
        ),
        ("apps/v1", "StatefulSet", "spec: {a: 1}", "spec: {a: 1, podManagementPolicy: OrderedReady}", &[]),
        (
            "apps/v1",
            "StatefulSet",
            "spec: {a: 1}",
            "spec: {a: 1, podManagementPolicy: Parallel}",
            &["spec.podManagementPolicy"],
        ),
        ("apps/v1", "StatefulSet", "spec: {template: {a: 1}}", "spec: {template: {a: 2}, minReadySeconds: 5}", &[]),
        ("batch/v1", "Job", "spec: {template: {a: 1}, suspend: true}", "spec: {template: {a: 2}}", &["spec.template"]),
        (
            "v1",
            "PersistentVolumeClaim",
            "spec: {resources: {requests: {storage: 10Gi}}}",
            "spec: {resources: {requests: {storage: 20Gi}}}",
            &[],
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            "spec: {accessModes: [a], resources: {requests: {storage: 10Gi}}}",
            "spec: {accessModes: [b], resources: {requests: {storage: 9000Mi}}}",
            &["spec.accessModes", "spec.resources.requests.storage"],
        ),
        ("v1", "Service", "spec: {clusterIP: None}", "spec: {clusterIP: 10.0.0.1}", &["spec.clusterIP"]),
        ("v1", "Service", "spec: {type: ClusterIP}", "spec: {clusterIP: None}", &["spec.clusterIP"]),
        ("v1", "Service", "spec: {type: ExternalName}", "spec: {clusterIP: None}", &[]),
        (
            "storage.k8s.io/v1",
            "StorageClass",
            "parameters: {a: b}",
            "reclaimPolicy: Delete\nparameters: {a: c}",
            &["parameters"],
        ),
        ("v1", "Secret", "type: Opaque", "data: {}", &[]),
        ("v1", "Secret", "type: Opaque", "type: example.com/key", &["type"]),
        ("v1", "ConfigMap", "immutable: true\ndata: {a: b}", "immutable: true\ndata: {a: c}", &["data"]),
        ("v1", "ConfigMap", "data: {a: b}", "immutable: true\ndata: {a: c}", &[]),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {name: a}", "roleRef: {name: b}", &["roleRef"]),
        ("example.com/v1", "Deployment", "spec: {selector: a}", "spec: {selector: b}", &[]),
    ];
    for (api_version, kind, old, new, expected) in rows {
        let diffs = compared(&object(api_version, kind, old), &object(api_version, kind, new), &Options::default());
        let fields = diffs.iter().flat_map(|diff| &diff.dangers).map(|danger| match danger {
            Danger { what: danger::What::Immutable { field, replaced: false, .. }, .. } => field.clone(),
            other => other.to_string(),
        });
        assert_eq!(fields.collect::<Vec<_>>(), *expected, "{kind} {old} {new}");
    }
    let forced = |value: &str| {
        let annotation = "  annotations: {argocd.argoproj.io/sync-options: 'Force=true'}";
        object("apps/v1", "Deployment", &format!("{annotation}\nspec: {{selector: {value}}}"))
    };
    let expected = "`spec.selector` cannot be changed: the object is deleted and created again (`Force=true`)";
    assert_eq!(dangers(&forced("1"), &forced("2")), [expected]);
}

#[test]
fn nothing_runs_any_more() {
    let deployment = |spec: &str| object("apps/v1", "Deployment", &format!("spec: {spec}"));
    let rows = [
        ("{replicas: 3}", "{replicas: 0}", vec!["replicas 3 → 0: nothing runs"]),
        ("{x: 1}", "{replicas: 0}", vec!["replicas 1 → 0: nothing runs"]),
        ("{replicas: 0}", "{replicas: 0, x: 1}", vec![]),
        ("{replicas: 3}", "{replicas: 1}", vec![]),
        ("{replicas: 0}", "{replicas: 1}", vec![]),
    ];
    for (old, new, expected) in rows {
        assert_eq!(dangers(&deployment(old), &deployment(new)), expected, "{old} {new}");
    }
}

#[test]
fn versions_of_custom_resources() {
    let crd = |versions: &str| {
        object("apiextensions.k8s.io/v1", "CustomResourceDefinition", &format!("spec: {{versions: {versions}}}"))
    };
    let expected = "version v1alpha1 is removed: objects that are stored in it cannot be read";
    assert_eq!(dangers(&crd("[{name: v1alpha1}, {name: v1}]"), &crd("[{name: v1}, {name: v2}]")), [expected]);
}

#[test]
fn rights_that_grow() {
    let cluster_role = |rules: &str| object("rbac.authorization.k8s.io/v1", "ClusterRole", &format!("rules: {rules}"));
    let rule = |groups: &str, resources: &str, verbs: &str| {
        format!("[{{apiGroups: [{groups}], resources: [{resources}], verbs: [{verbs}]}}]")
    };
    let named = "[{apiGroups: [''], resources: [secrets], resourceNames: [a], verbs: [get]}]";
    let urls = |urls: &str| format!("[{{nonResourceURLs: [{urls}], verbs: [get]}}]");
    let rows: Vec<(&str, String, String, &str)> = vec![
        (
            "a verb",
            rule("''", "pods", "get"),
            rule("''", "pods", "get, delete"),
            "grants additional permissions: delete pods",
        ),
        ("fewer", rule("''", "pods", "get, list"), rule("''", "pods", "get"), ""),
        (
            "a group",
            rule("apps", "deployments", "get"),
            rule("apps, batch", "deployments", "get"),
            "grants additional permissions: get deployments.batch",
        ),
        ("all before", rule("'*'", "'*'", "'*'"), rule("''", "secrets", "'*'"), ""),
        ("all now", rule("''", "pods", "get"), rule("''", "'*'", "get"), "grants additional permissions: get *"),
        ("a subresource of all", rule("''", "'*/scale'", "get"), rule("''", "pods/scale", "get"), ""),
        (
            "one before, all now",
            named.to_owned(),
            rule("''", "secrets", "get"),
            "grants additional permissions: get secrets",
        ),
        ("all before, one now", rule("''", "secrets", "get"), named.to_owned(), ""),
        (
            "another one",
            named.to_owned(),
            named.replace("[a]", "[a, b]"),
            "grants additional permissions: get secrets/b",
        ),
        (
            "addresses",
            urls("'/healthz/*'"),
            urls("/healthz/x, /metrics"),
            "grants additional permissions: get /metrics",
        ),
        (
            "many",
            "[]".to_owned(),
            rule("''", "a, b, c", "get, list"),
            "grants additional permissions: get a, get b, get c, list a and 2 more",
        ),
    ];
    for (name, old, new, expected) in rows {
        assert_eq!(dangers(&cluster_role(&old), &cluster_role(&new)).join("|"), expected, "{name}");
    }
    assert_eq!(dangers("", &cluster_role(&rule("''", "pods", "get"))), [""; 0]);
    assert_eq!(
        dangers("", &cluster_role(&rule("''", "'*'", "'*'"))),
        ["grants additional permissions: everything on *"]
    );
    let huge = rule("''", &vec!["r"; 300].join(","), &vec!["v"; 300].join(","));
    assert_eq!(dangers(&cluster_role("[]"), &cluster_role(&huge)), ["grants additional permissions: v r"]);
}

#[test]
fn bindings_that_grow() {
    let binding = |role: &str, subjects: &str| {
        let rest = format!("roleRef: {{name: {role}}}\nsubjects: [{subjects}]");
        object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", &rest)
    };
    let ci = "{kind: ServiceAccount, namespace: ci, name: bot}";
    let dev = "{kind: Group, name: dev}";
    let all = "{kind: Group, name: 'system:authenticated'}";
    let rows = [
        (
            "one more",
            binding("edit", ci),
            binding("edit", &format!("{ci}, {dev}")),
            "grants additional permissions: edit for Group dev",
        ),
        ("one less", binding("edit", &format!("{ci}, {dev}")), binding("edit", dev), ""),
        ("new, of a reader", String::new(), binding("view", ci), ""),
        (
            "new, of a writer of all namespaces",
            String::new(),
            binding("edit", ci),
            "grants additional permissions: edit for ServiceAccount ci/bot",
        ),
        (
            "new, of an admin",
            String::new(),
            binding("cluster-admin", ci),
            "grants additional permissions: cluster-admin for ServiceAccount ci/bot",
        ),
        (
            "new, for everybody",
            String::new(),
            binding("view", all),
            "grants additional permissions: view for Group system:authenticated",
        ),
    ];
    for (name, old, new, expected) in rows {
        assert_eq!(dangers(&old, &new).join("|"), expected, "{name}");
    }
}

#[test]
fn an_object_that_does_not_fit_into_the_annotation_of_what_was_applied_is_refused() {
    let map = |bytes: usize, options: &str| {
        let annotations = format!("  annotations: {{argocd.argoproj.io/sync-options: '{options}'}}");
        object("v1", "ConfigMap", &format!("{annotations}\ndata: {{a: '{}'}}", "x".repeat(bytes)))
    };
    let (small, large) = (100_000, 270_000);
    // (bytes before and after, options of the Application and of the object, whether it is refused)
    let rows = [
        (small, large, "", "", true),
        (small, large, "ServerSideApply=true", "", false),
        (small, large, "Replace=true", "", false),
        (small, large, "", "ServerSideApply=true", false),
        (large, large + 1, "", "", false),
        (small, small + 1, "", "", false),
    ];
    for (before, after, of_all, own, expected) in rows {
        let application = format!("apiVersion: v1\nkind: A\nspec: {{syncPolicy: {{syncOptions: ['{of_all}']}}}}\n");
        let syncs = Syncs::of(manifests(&application)[0].object());
        let options = Options { syncs, ..Options::default() };
        let diffs = compared(&map(before, own), &map(after, own), &options);
        let kinds: Vec<&str> = diffs.iter().flat_map(|diff| &diff.dangers).map(Danger::kind).collect();
        assert_eq!(kinds.contains(&"oversized"), expected, "{before} {after} {of_all} {own}: {kinds:?}");
    }
    let unknown = compared(&map(small, ""), &map(large, ""), &Options::default());
    assert!(unknown.iter().all(|diff| diff.dangers.is_empty()), "nothing is known of the Application");
}

#[test]
fn the_namespace_of_an_object_of_the_whole_cluster_is_noise() {
    let object = |kind: &str, namespace: &str| {
        format!("apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: a{namespace}}}\nspec: {{x: y}}\n")
    };
    let definition = |scope: &str| {
        let names = "names: {kind: Thing, plural: things}";
        let text = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things.example.com}}\n\
             spec: {{group: example.com, scope: {scope}, {names}}}\n"
        );
        Beside::new(vec![(text.into_bytes(), None)], false)
    };
    let rows = [
        ("Thing", definition("Cluster"), true, 0),
        ("Thing", definition("Namespaced"), false, 1),
        ("Thing", Beside::default(), false, 1),
        ("ClusterThing", Beside::default(), false, 0),
    ];
    for (kind, beside, is_noise, dangers) in rows {
        let [old, new] = [", namespace: b", ", namespace: c"].map(|namespace| manifests(&object(kind, namespace)));
        let sides = Sides { old, new, options: Options::default() };
        let found = compare_all(&[sides], &beside).remove(0).remove(0);
        assert_eq!((found.is_noise(), found.dangers.len()), (is_noise, dangers), "{kind} {beside:?}");
    }
}
