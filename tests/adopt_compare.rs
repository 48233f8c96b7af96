//! `git hydrate adopt --compare`: what would be hydrated beside what runs.

use std::fs;

use serde_json::{Value, json};

use crate::made_applications::{URL, config};
use crate::support::{Answer, Lab, Repo};

const PATTERN: &str = "environments/dev";

fn application(name: &str, path: &str, more: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  destination: {{server: \
         https://kubernetes.default.svc, namespace: shop}}\n  source: {{repoURL: {URL}, targetRevision: HEAD, path: {path}}}\n{more}"
    )
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'nginx:1.27', resources: {limits: {cpu: 1000m}}}]}
";

const REST: &str = "apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {password: hunter2}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'b:1'}]}}}
";

/// What Kubernetes 1.34 keeps of [`DEPLOYMENT`], by `SetDefaults_Deployment`, `SetDefaults_PodSpec` and
/// `SetDefaults_Container`, with what it notes of each object.
fn running(replicas: u32, tracking: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "shop", "uid": "0b7a", "resourceVersion": "7", "generation": 2,
            "creationTimestamp": "2030-01-01T00:00:00Z",
            "annotations": {"argocd.argoproj.io/tracking-id": tracking, "deployment.kubernetes.io/revision": "1"},
        },
        "spec": {
            "replicas": replicas, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"creationTimestamp": null, "labels": {"app": "web"}},
                "spec": {
                    "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
                    "securityContext": {}, "terminationGracePeriodSeconds": 30,
                    "containers": [{
                        "name": "web", "image": "nginx:1.27", "imagePullPolicy": "IfNotPresent",
                        "resources": {"limits": {"cpu": "1"}},
                        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                    }],
                },
            },
        },
        "status": {"replicas": replicas},
    })
}

fn secret(password: &str) -> Value {
    let metadata = json!({"name": "key", "namespace": "shop", "annotations": {"argocd.argoproj.io/tracking-id": "web:/Secret:shop/key"}});
    json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata, "data": {"password": password}})
}

fn web(lab: &Lab) -> Repo {
    let clone = lab.bare(&[]).clone_to("clone");
    let other = config("api", "dev", "one");
    clone.commit(
        "two",
        &[
            ("argocd/web.yaml", &application("web", "web", "")),
            ("argocd/api.yaml", &application("api", "apps/api/dev", "")),
            ("web/deployment.yaml", DEPLOYMENT),
            ("web/rest.yaml", REST),
            (&other.0, &other.1),
        ],
    );
    clone
}

fn compare(clone: &Repo, what: &str, args: &[&str]) -> Answer {
    clone.hydrate(&[&["adopt", "--offline", "--branch-pattern", PATTERN, "--compare", what], args].concat())
}

const TRACKING: &str = "web:apps/Deployment:shop/web";

#[test]
fn what_the_cluster_adds_is_no_difference_and_all_else_is_told_with_its_field() {
    let lab = Lab::new();
    let clone = web(&lab);
    let file = lab.path("live.json");
    let write = |objects: &[Value]| {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects, "metadata": {"resourceVersion": ""}});
        fs::write(&file, list.to_string()).expect("written");
    };
    let path = file.to_str().expect("a path");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "ownerReferences": [{"kind": "ReplicaSet", "name": "web"}]}});
    let other =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt", "namespace": "shop"}});
    write(&[running(1, TRACKING), secret("aHVudGVyMg=="), pod.clone(), other.clone()]);
    let same = compare(&clone, path, &[]).exits(0).stdout;
    assert_eq!(
        same,
        "same as what runs: web\nnot in the files: api\nnot counted: 6 fields that the API server keeps; 4 added when they were applied; \
         14 with their defaults; 1 written otherwise; 1 hook, which does not stay; 2 objects of no Application\n1 of 1 Application that runs \
         is the same\n"
    );

    let stray = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "stray", "namespace": "shop", "annotations":
        {"argocd.argoproj.io/tracking-id": "web:/ConfigMap:shop/stray"}}});
    let gone = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "shop", "annotations":
        {"argocd.argoproj.io/tracking-id": "elsewhere:/ConfigMap:shop/x"}}});
    write(&[running(5, TRACKING), stray, gone]);
    let told = compare(&clone, path, &[]).exits(1).stdout;
    for expected in [
        "web (environments/dev, web)\n",
        "  Deployment web\n      spec\n    -   replicas: 5\n",
        "  Secret key  only rendered: the files do not have it\n",
        "  ConfigMap shop/stray  only runs: it is not rendered\n",
        "runs, but does not hydrate from here: elsewhere\n",
        "0 of 1 Application that runs is the same\n",
    ] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    let told: Value = serde_json::from_str(&compare(&clone, path, &["--json"]).exits(1).stdout).expect("JSON");
    assert_eq!(told["format"], 1);
    assert_eq!(told["counts"], json!({"same": 0, "different": 1, "notRunning": 1, "failing": 0}));
    let web = told["applications"].as_array().expect("a list").iter().find(|one| one["name"] == "web").expect("there");
    assert_eq!(
        (&web["result"], &web["branch"], &web["path"]),
        (&"different".into(), &"environments/dev".into(), &"web".into())
    );
    let deployment = web["differences"].as_array().expect("a list").iter().find(|one| one["kind"] == "Deployment");
    assert_eq!(
        deployment.expect("there")["fields"],
        json!([{"path": "spec.replicas", "running": 5, "rendered": null}])
    );

    // The value of a Secret is shown nowhere.
    write(&[running(1, TRACKING), secret("b3RoZXI=")]);
    for args in [&[][..], &["--json"]] {
        let told = compare(&clone, path, args).exits(1).stdout;
        assert!(told.contains("password") && !told.contains("b3RoZXI=") && !told.contains("aHVudGVyMg=="), "{told}");
    }
}

#[test]
fn a_file_is_of_the_application_of_its_name() {
    let lab = Lab::new();
    let clone = web(&lab);
    let live = lab.path("live");
    fs::create_dir_all(live.join("shop")).expect("made");
    // As `argocd app manifests` prints it, without a tracking id.
    fs::write(live.join("shop/web.yaml"), format!("{DEPLOYMENT}---\n{}", REST.split("---").next().expect("one")))
        .expect("written");
    let (_, api) = config("api", "dev", "one");
    fs::write(live.join("argocd_api.yml"), api).expect("written");
    fs::write(live.join("README.md"), "{{ no YAML").expect("written");
    let told = compare(&clone, "../live", &[]).exits(0).stdout;
    assert!(
        told.contains("same as what runs: api, web\n") && told.contains("2 of 2 Applications that run are the same\n"),
        "{told}"
    );
    // A tracking id that was copied from another object says nothing; the name of the file does.
    let copied = running(1, "other:apps/Deployment:shop/copied");
    fs::write(live.join("shop/web.yaml"), copied.to_string()).expect("written");
    let told = compare(&clone, "../live", &[]).exits(1).stdout;
    assert!(told.contains("Secret key  only rendered") && !told.contains("Deployment"), "{told}");
}

#[test]
fn live_applications_that_a_set_would_take_along_are_refused() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  generators: [{{list: {{elements: [{{app: \
         made}}]}}}}]\n  template:\n    metadata: {{name: '{{{{app}}}}'}}\n    spec: {{destination: {{namespace: shop}}, source: {{repoURL: {URL}, \
         targetRevision: HEAD, path: 'apps/{{{{app}}}}/dev'}}}}\n"
    );
    let ([web, made], file) =
        (["web", "made"].map(|name| config(name, "dev", "one")), application("web", "apps/web/dev", ""));
    clone.commit("one of each", &[("set.yaml", &set), ("web.yaml", &file), (&web.0, &web.1), (&made.0, &made.1)]);
    let live = lab.path("live.yaml");
    let owned = |name: &str, set: &str| {
        format!(
            "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, ownerReferences: [{{apiVersion: \
             argoproj.io/v1alpha1, kind: ApplicationSet, name: {set}, uid: x}}]}}\nspec: {{}}\n"
        )
    };
    let objects = |name: &str, text: &str| {
        let id =
            format!("metadata:\n  annotations: {{argocd.argoproj.io/tracking-id: '{name}:/ConfigMap:shop/{name}'}}\n");
        format!("---\n{}", text.replace("metadata:\n", &id))
    };
    let all = [objects("web", &web.1), objects("made", &made.1)].concat();
    // `made` stays with its set; `web` left the one that owns it.
    fs::write(&live, format!("{}{}{all}", owned("web", "former"), owned("made", "all"))).expect("written");
    let refused = compare(&clone, "../live.yaml", &[]).exits(2).stderr;
    for expected in [
        "ApplicationSets own live Applications that they would take along when they go\n",
        "  web: the set `former` does not make it in this repository\n",
        "--cascade=orphan",
    ] {
        assert!(refused.contains(expected), "{expected}\n{refused}");
    }
    assert!(!refused.contains("made"), "{refused}");
    // A rule that expands the set copies what it makes, and the set goes.
    fs::write(&live, format!("{}{all}", owned("made", "all"))).expect("written");
    compare(&clone, "../live.yaml", &[]).exits(0);
    let rules = format!("- {{branch: {PATTERN}, path: '{{{{ name }}}}', expand: [all]}}\n");
    clone.hydrate(&["config", "set", "rules", "--", &rules]).success();
    let refused = clone.hydrate(&["adopt", "--offline", "--compare", "../live.yaml"]).exits(2).stderr;
    assert!(
        refused.contains("  made: rule `expand` copies what the set makes in place of the set `all`\n"),
        "{refused}"
    );
    fs::write(&live, all).expect("written");
    clone.hydrate(&["adopt", "--offline", "--compare", "../live.yaml"]).exits(0);
}

#[test]
fn files_that_hold_no_objects_are_refused_with_their_names() {
    let lab = Lab::new();
    let clone = web(&lab);
    let file = lab.path("live.yaml");
    let aliases: String =
        (1..30).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "))).collect();
    let rows: [(Vec<u8>, &str); 9] = [
        (b"a: [\n".to_vec(), "live.yaml"),
        (b"\x00\x01\xFF".to_vec(), "live.yaml"),
        (b"- a\n- b\n".to_vec(), "a Kubernetes object must be a mapping"),
        (b"a: b\n".to_vec(), "`kind` is missing"),
        (format!("kind: A\na0: &a0 x\n{aliases}").into_bytes(), "excessive aliasing"),
        ([b"kind: A\na: ".to_vec(), vec![b'['; 5000]].concat(), "live.yaml"),
        (vec![b'{'; 100_000], "live.yaml"),
        (b"".to_vec(), "live.yaml: there is no object in it"),
        (b"kind: List\nitems: [{kind: List, items: [{kind: ConfigMap}]}]\n".to_vec(), "no object of the files belongs"),
    ];
    for (content, expected) in rows {
        fs::write(&file, &content).expect("written");
        let refused = compare(&clone, "../live.yaml", &[]).exits(2).stderr;
        let start = String::from_utf8_lossy(&content[..content.len().min(40)]).into_owned();
        assert!(refused.contains(expected), "{start}: {expected}\n{refused}");
    }
    // What only looks like objects of an Application compares as what it is.
    fs::write(&file, "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: web, namespace: shop, annotations: 5, labels: [x]}\nspec: text\n")
        .expect("written");
    compare(&clone, "../live.yaml", &[]).exits(1);
    fs::create_dir(lab.path("empty")).expect("made");
    let rows = [("../empty", "there is no `.yaml`, `.yml` or `.json` file"), ("../none", "reading ../none")];
    for (what, expected) in rows {
        let refused = compare(&clone, what, &[]).exits(2).stderr;
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
    // Links are not followed: this one leads to itself.
    std::os::unix::fs::symlink(lab.path("empty"), lab.path("empty/more")).expect("linked");
    std::os::unix::fs::symlink("/dev/zero", lab.path("empty/zero.yaml")).expect("linked");
    compare(&clone, "../empty", &[]).exits(2);
}

#[test]
fn files_that_prove_nothing_are_named() {
    let lab = Lab::new();
    let clone = web(&lab);
    let live = lab.path("live");
    fs::create_dir_all(&live).expect("made");
    let write = |name: &str, text: &str| fs::write(live.join(name), text).expect("written");
    write("web.yaml", &running(1, TRACKING).to_string());
    write("api.yaml", "");
    let told = compare(&clone, "../live", &[]).exits(2).stderr;
    assert!(told.contains("api.yaml: there is no object in it\nhint: see whether the command"), "{told}");
    // Two dumps of one object, taken at other times.
    write("api.yaml", &config("api", "dev", "one").1);
    write("old.yaml", &running(3, TRACKING).to_string());
    let told = compare(&clone, "../live", &[]).exits(2).stderr;
    assert!(told.contains("old.yaml and") && told.contains("web.yaml hold Deployment `web`, and not alike"), "{told}");
    let mut later = running(1, TRACKING);
    later["metadata"]["resourceVersion"] = "8".into();
    later["status"]["replicas"] = 0.into();
    write("old.yaml", &later.to_string());
    let told = compare(&clone, "../live", &[]).exits(1).stdout;
    assert!(told.contains("Secret key  only rendered: the files do not have it"), "{told}");
    assert!(told.contains("no file has an object of kind: Secret\nhint: `kubectl get all` leaves kinds out"), "{told}");
    // What is left of a hook that ran.
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "migrate", "namespace": "shop", "annotations": {
        "argocd.argoproj.io/hook": "PreSync", "argocd.argoproj.io/tracking-id": "web:batch/Job:shop/migrate"}}});
    write("old.yaml", &json!({"apiVersion": "v1", "kind": "List", "items": [job, secret("aHVudGVyMg==")]}).to_string());
    let told = compare(&clone, "../live", &[]).exits(0).stdout;
    assert!(told.contains("same as what runs: api, web\n"), "{told}");
}

#[test]
fn an_object_that_two_applications_render_is_compared_with_both() {
    let lab = Lab::new();
    let clone = web(&lab);
    let shared = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    clone.commit("share", &[("web/namespace.yaml", shared), ("apps/api/dev/namespace.yaml", shared)]);
    let live = lab.path("live");
    fs::create_dir_all(&live).expect("made");
    let objects = [running(1, TRACKING), secret("aHVudGVyMg==")].map(|object| object.to_string()).join("\n---\n");
    fs::write(live.join("all.yaml"), format!("{objects}\n---\n{shared}---\n{}", config("api", "dev", "one").1))
        .expect("written");
    let told = compare(&clone, "../live", &[]).stdout;
    assert!(!told.contains("Namespace"), "{told}");
}
