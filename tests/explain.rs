//! `git hydrate explain`: from a hydrated object or line back to where it comes from.

use serde_json::{Value, json};

use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

const CHART: &str = "apiVersion: v2\nname: shop\nversion: 1.0.0\n";
const TEMPLATE: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Values.name }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      - name: shop
        image: {{ .Values.image }}
";

/// A server with a chart, a kustomization and a directory, and dry commits that change one thing each.
fn server(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let [chart, overlay] = ["chart", "overlay"].map(|name| application(name, "dev"));
    let values = |replicas: u32, image: &str| format!("name: shop\nreplicas: {replicas}\nimage: {image}\n");
    clone.commit(
        "add",
        &[
            (&chart.0, &chart.1),
            ("apps/chart/dev/Chart.yaml", CHART),
            ("apps/chart/dev/values.yaml", &values(1, "nginx:1")),
            ("apps/chart/dev/templates/deployment.yaml", TEMPLATE),
            (&overlay.0, &overlay.1),
            ("apps/overlay/dev/kustomization.yaml", "resources:\n- ../../base\n- more.yaml\nnamePrefix: dev-\n"),
            ("apps/overlay/dev/more.yaml", &config_map("more", "x")),
            ("apps/base/kustomization.yaml", "resources: [config.yaml]\n"),
            ("apps/base/config.yaml", &config_map("base", "x")),
        ],
    );
    clone.push().success();
    let steps: [(&str, &str, String); 3] = [
        ("scale", "apps/chart/dev/values.yaml", values(2, "nginx:1")),
        ("image", "apps/chart/dev/values.yaml", values(2, "nginx:2")),
        ("base", "apps/base/config.yaml", config_map("base", "y")),
    ];
    for (message, file, text) in &steps {
        clone.commit(message, &[(file, text)]);
        clone.push().success();
    }
    (server, clone)
}

fn explain(repo: &Repo, args: &[&str]) -> Value {
    let answer = repo.hydrate(&[&["explain", "--json"], args].concat()).success();
    serde_json::from_str(&answer.stdout).expect("JSON")
}

#[test]
fn objects_and_lines_lead_to_their_dry_commits() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    // (what, field, dry commit, files that it changed)
    let rows: [(&[&str], Value, &str, Value); 9] = [
        (&["deploy/shop"], Value::Null, "image", json!(["apps/chart/dev/values.yaml"])),
        (&["Deployment/shop", "environments/dev"], Value::Null, "image", json!(["apps/chart/dev/values.yaml"])),
        (&["cm/dev-base"], Value::Null, "base", json!(["apps/base/config.yaml"])),
        (&["configmaps/dev-more"], Value::Null, "add", json!(null)),
        (
            &["environments/dev:chart/manifest.yaml:6"],
            json!("spec.replicas"),
            "scale",
            json!(["apps/chart/dev/values.yaml"]),
        ),
        (&["environments/dev:chart:2"], json!("kind"), "add", json!(null)),
        (&["environments/dev:chart"], Value::Null, "image", json!(["apps/chart/dev/values.yaml"])),
        (&["environments/dev:overlay/manifest.yaml:3"], json!("data.value"), "base", json!(["apps/base/config.yaml"])),
        (&["environments/dev~1:overlay/manifest.yaml:3"], json!("data.value"), "add", json!(null)),
    ];
    for repo in [&server, &clone] {
        for (args, field, subject, files) in &rows {
            let found = explain(repo, args);
            assert_eq!(found["field"], *field, "{args:?} {found}");
            assert_eq!(found["changed"]["dry"]["subject"], *subject, "{args:?} {found}");
            if !files.is_null() {
                assert_eq!(found["changed"]["files"], *files, "{args:?} {found}");
            }
        }
    }
    let found = explain(&server, &["deploy/shop"]);
    let origin = &found["origin"];
    assert_eq!(origin["application"], "chart-dev");
    assert_eq!((&origin["file"], &origin["line"]), (&json!("applications/dev/chart.yaml"), &json!(4)));
    assert_eq!((&origin["sourceType"], &origin["sourcePath"]), (&json!("helm"), &json!("apps/chart/dev")));
    assert_eq!(origin["template"], "apps/chart/dev/templates/deployment.yaml");
    let reads = ["Chart.yaml", "templates/deployment.yaml", "values.yaml"].map(|name| format!("apps/chart/dev/{name}"));
    assert_eq!(origin["reads"], json!(reads));
    let found = explain(&server, &["cm/dev-base"]);
    assert!(found["origin"]["reads"].as_array().expect("a list").contains(&json!("apps/base/config.yaml")), "{found}");
    let text = server.hydrate(&["explain", "environments/dev:chart/manifest.yaml:6"]).success().stdout;
    for line in ["Deployment shop", "  field        spec.replicas", "  source       Helm  apps/chart/dev"] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn the_values_line_that_made_a_change_is_named_and_no_file_that_the_commit_left_alone() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    let values = |comment: &str, replicas: u32, image: &str| {
        format!("# {comment}\nname: shop\nreplicas: {replicas}\nimage: {image}\n")
    };
    // A dry commit that changes what the render reads, and nothing that it makes.
    clone.commit("words", &[("apps/chart/dev/values.yaml", &values("new words", 2, "nginx:2"))]);
    let description = "apiVersion: v2\nname: shop\nversion: 1.0.0\ndescription: of the shop\n";
    clone.commit("more words", &[("apps/chart/dev/Chart.yaml", description)]);
    clone.push().success();
    clone.commit("both", &[("apps/chart/dev/values.yaml", &values("new words", 5, "nginx:3"))]);
    clone.push().success();
    // (what, files, places)
    let rows = [
        ("environments/dev:chart/manifest.yaml:6", json!([{"path": "apps/chart/dev/values.yaml", "line": 3}])),
        ("environments/dev:chart/manifest.yaml:10", json!([{"path": "apps/chart/dev/values.yaml", "line": 4}])),
        ("environments/dev:chart/manifest.yaml", Value::Null),
    ];
    for (what, places) in rows {
        let found = explain(&server, &[what]);
        assert_eq!(found["changed"]["files"], json!(["apps/chart/dev/values.yaml"]), "{what}");
        assert_eq!(found["changed"]["places"], places, "{what}");
    }
    let text = server.hydrate(&["explain", "environments/dev:chart/manifest.yaml:6"]).success().stdout;
    assert!(text.contains("\n               apps/chart/dev/values.yaml:3\n"), "{text}");
    assert!(!text.contains("apps/chart/dev/Chart.yaml\n  hydrated"), "{text}");
}

/// A chart with a helper, labels, and values of two environments.
fn labelled(lab: &Lab) -> Repo {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, chart) = application("chart", "dev");
    let chart = chart.replace("path: apps/chart/dev\n", "path: apps/chart/dev\n      helm: {valueFiles: [dev.yaml]}\n");
    let template = "apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\n  labels: {{- include \"labels\" . | nindent 4 }}\n\
                    spec:\n  type: {{ .Values.type }}\n";
    let helper = |label: &str| format!("{{{{- define \"labels\" }}}}\na: {label}\nb: two\n{{{{- end }}}}\n");
    clone.commit(
        "add",
        &[
            (&file, &chart),
            ("apps/chart/dev/Chart.yaml", CHART),
            ("apps/chart/dev/dev.yaml", "type: ClusterIP\n"),
            ("apps/chart/dev/prod.yaml", "type: LoadBalancer\n"),
            ("apps/chart/dev/templates/_h.tpl", &helper("one")),
            ("apps/chart/dev/templates/other.yaml", &config_map("other", "x")),
            ("apps/chart/dev/templates/service.yaml", template),
        ],
    );
    clone.push().success();
    let steps = [
        ("label", "apps/chart/dev/templates/_h.tpl", helper("three")),
        ("type", "apps/chart/dev/dev.yaml", "type: NodePort\n".to_owned()),
        ("other environment", "apps/chart/dev/prod.yaml", "type: ExternalName\n".to_owned()),
    ];
    for (message, file, text) in &steps {
        clone.commit(message, &[(file, text)]);
        clone.push().success();
    }
    server
}

#[test]
fn a_mapping_is_changed_by_the_newest_change_of_anything_below_it() {
    let lab = Lab::new();
    let server = labelled(&lab);
    let rows = [
        ("svc/shop/metadata.labels", "metadata.labels", "label"),
        ("svc/shop/metadata.labels.a", "metadata.labels.a", "label"),
        ("svc/shop/metadata.labels.b", "metadata.labels.b", "add"),
        ("svc/shop/metadata", "metadata", "label"),
        ("svc/shop/spec", "spec", "type"),
    ];
    for (what, field, subject) in rows {
        let found = explain(&server, &[what]);
        assert_eq!((&found["field"], &found["changed"]["dry"]["subject"]), (&json!(field), &json!(subject)), "{what}");
    }
}

#[test]
fn a_chart_s_object_is_made_from_its_helpers_and_from_no_values_of_other_environments() {
    let lab = Lab::new();
    let server = labelled(&lab);
    let found = explain(&server, &["svc/shop"]);
    let reads = ["Chart.yaml", "dev.yaml", "templates/_h.tpl", "templates/service.yaml"];
    assert_eq!(found["origin"]["reads"], json!(reads.map(|name| format!("apps/chart/dev/{name}"))));
    assert_eq!(found["changed"]["files"], json!(["apps/chart/dev/dev.yaml"]));
    let text = server.hydrate(&["explain", "svc/shop"]).success().stdout;
    assert!(text.contains("\n               apps/chart/dev/templates/_h.tpl\n  changed by"), "{text}");
}

#[test]
fn what_keeps_an_object_as_it_is_is_told_where_it_is_explained() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    let (file, text) = application("chart", "dev");
    clone.commit(
        "pause",
        &[(&file, &text.replace("metadata:\n", "metadata:\n  annotations: {git-hydrate/paused: 'true'}\n"))],
    );
    clone.push().success();
    clone.commit("more", &[("apps/chart/dev/values.yaml", "name: shop\nreplicas: 9\nimage: nginx:2\n")]);
    clone.push().success();
    let text = server.hydrate(&["explain", "deploy/shop"]).success().stdout;
    assert!(text.contains("\n  held back    chart-dev is paused: chart shows dry commit "), "{text}");
    assert!(!server.hydrate(&["explain", "cm/dev-base"]).success().stdout.contains("held back"));
    server.hydrate(&["config", "set", "frozen", "{environments/dev: {reason: release}}"]).success();
    let text = server.hydrate(&["explain", "cm/dev-base"]).success().stdout;
    assert!(text.contains("\n  held back    frozen") && text.contains(": release\n"), "{text}");
}

/// A chart whose fields come from values, several at a time, and from its templates; and a kustomization.
fn valued(lab: &Lab) -> Repo {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let [(chart_file, chart), (overlay_file, overlay)] = ["chart", "overlay"].map(|name| application(name, "dev"));
    let chart = chart.replace("path: apps/chart/dev\n", "path: apps/chart/dev\n      helm: {valueFiles: [dev.yaml]}\n");
    let template = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Values.name }}
spec:
  replicas: {{ .Values.replicas }}
  paused: {{ .Values.paused }}
  minReadySeconds: 2
  progressDeadlineSeconds: {{ mul .Values.replicas 300 }}
  template:
    spec:
      containers:
      - name: app
        image: {{ .Values.image.repository }}:{{ .Values.image.tag }}
        args:
        {{- toYaml .Values.args | nindent 8 }}
";
    let values = "# 2 replicas\nname: shop\nreplicas: 1\nunused: 2\npaused: false\nimage:\n  repository: nginx\n  tag: \"1.27\"\n";
    clone.commit(
        "add",
        &[
            (&chart_file, &chart),
            ("apps/chart/dev/Chart.yaml", CHART),
            ("apps/chart/dev/values.yaml", values),
            ("apps/chart/dev/dev.yaml", "args: [-v, 'listen=:80']\nreplicas: 2\n"),
            ("apps/chart/dev/templates/deployment.yaml", template),
            (&overlay_file, &overlay),
            ("apps/overlay/dev/kustomization.yaml", "resources: [web.yaml]\nimages:\n- name: web\n  newTag: 1.0.7\n"),
            (
                "apps/overlay/dev/web.yaml",
                "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: web, image: web}\n",
            ),
        ],
    );
    clone.push().success();
    server
}

#[test]
fn a_field_leads_to_the_lines_of_the_values_that_set_it() {
    let lab = Lab::new();
    let server = valued(&lab);
    // (what, field, [file, line, key])
    const VALUES: &str = "apps/chart/dev/values.yaml";
    type Row = (&'static str, &'static str, &'static [(&'static str, u32, &'static str)]);
    let rows: [Row; 10] = [
        ("deploy/shop/spec.replicas", "spec.replicas", &[("apps/chart/dev/dev.yaml", 2, "replicas")]),
        ("deploy/shop/metadata.name", "metadata.name", &[(VALUES, 2, "name")]),
        ("deploy/shop/spec.paused", "spec.paused", &[(VALUES, 5, "paused")]),
        (
            "deploy/shop/spec.template.spec.containers[0].image",
            "spec.template.spec.containers[name=app].image",
            &[(VALUES, 7, "image.repository"), (VALUES, 8, "image.tag")],
        ),
        (
            "deploy/shop/spec.template.spec.containers[name=app].args[1]",
            "spec.template.spec.containers[name=app].args[1]",
            &[("apps/chart/dev/dev.yaml", 1, "args[1]")],
        ),
        ("deploy/shop/spec.minReadySeconds", "spec.minReadySeconds", &[]),
        ("deploy/shop/spec.progressDeadlineSeconds", "spec.progressDeadlineSeconds", &[]),
        ("deploy/shop/spec.template", "spec.template", &[]),
        (
            "po/web/spec.containers[0].image",
            "spec.containers[name=web].image",
            &[("apps/overlay/dev/kustomization.yaml", 4, "images[0].newTag")],
        ),
        ("po/web/metadata.name", "metadata.name", &[("apps/overlay/dev/web.yaml", 3, "metadata.name")]),
    ];
    for (what, field, lines) in rows {
        let found = explain(&server, &[what, "environments/dev"]);
        assert_eq!(found["field"], field, "{what}");
        let lines: Vec<Value> =
            lines.iter().map(|(path, line, field)| json!({"path": path, "line": line, "field": field})).collect();
        let expected = if lines.is_empty() { Value::Null } else { json!(lines) };
        assert_eq!(found["origin"]["setIn"], expected, "{what} {found:#}");
    }
    let text = server.hydrate(&["explain", "deploy/shop/spec.replicas"]).success().stdout;
    assert!(text.contains("\n  set in       apps/chart/dev/dev.yaml:2  replicas\n"), "{text}");
    let answer = server.hydrate(&["explain", "deploy/shop/spec.replica"]).exits(2);
    assert!(
        answer.stderr.starts_with("error: Deployment shop has no field `spec.replica`\n  spec.replicas\n"),
        "{answer:?}"
    );
    // However long the path is, one that ends with what was asked for comes first.
    let answer = server.hydrate(&["explain", "deploy/shop/image"]).exits(2);
    let first = "error: Deployment shop has no field `image`\n  spec.template.spec.containers[";
    assert!(answer.stderr.starts_with(first), "{answer:?}");
}

#[test]
fn a_generated_name_needs_no_hash() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    let kustomization = "configMapGenerator: [{name: api-env, literals: [a=1]}]\nnamePrefix: dev-\n";
    clone.commit("generate", &[("apps/overlay/dev/kustomization.yaml", kustomization)]);
    clone.push().success();
    let found = explain(&server, &["configmap/dev-api-env", "environments/dev"]);
    let name = found["object"]["name"].as_str().unwrap_or_default();
    assert!(name.starts_with("dev-api-env-") && name.len() == "dev-api-env-".len() + 10, "{found}");
}

#[test]
fn what_cannot_be_told_is_said_with_what_can() {
    let lab = Lab::new();
    let (server, _) = server(&lab);
    let rows: [(&[&str], &str); 9] = [
        (&["cm/web"], "environments/prod:web/manifest.yaml:1  ConfigMap web"),
        (&["deploy/shopp"], "environments/dev:chart/manifest.yaml:1  Deployment shop"),
        (&["secret/shop"], "Deployment shop"),
        (&["deploy/shop", "environments/prod"], "there is no `deploy/shop` on environments/prod"),
        (&["environments/dev:shop"], "  chart/manifest.yaml"),
        (&["environments/dev:chart:99"], "`chart/manifest.yaml` has 11 lines"),
        (
            &["environments/nowhere:chart/manifest.yaml"],
            "the hydrated branches are environments/dev, environments/prod",
        ),
        (&["shop"], "neither BRANCH:PATH nor KIND/NAME"),
        (&["environments/dev:chart", "environments/dev"], "already names a branch"),
    ];
    for (args, expected) in rows {
        let answer = server.hydrate(&[&["explain"], args].concat()).exits(2);
        assert!(answer.stderr.contains(expected), "{args:?}\n{}", answer.stderr);
    }
    let found = explain(&server, &["cm/web", "environments/prod", "--namespace", "web"]);
    assert_eq!(found["origin"]["application"], "web-prod", "the Application gives the namespace");
}

#[test]
fn a_branch_that_was_made_anew_leads_to_the_commit_that_changed_what_is_read() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    for gone in ["refs/heads/environments/dev", "refs/hydrate/branches"] {
        server.git(&["update-ref", "-d", gone]);
    }
    clone.commit("nothing", &[]);
    clone.push().success();
    clone.git(&["fetch", "-q", "--prune"]);
    let subject = |what: &str| explain(&clone, &[what, "environments/dev"])["changed"]["dry"]["subject"].clone();
    assert_eq!(subject("Deployment/shop"), "image");
    assert_eq!(subject("Deployment/shop/spec.replicas"), "scale");
    assert_eq!(subject("ConfigMap/dev-base"), "base");
}

#[test]
fn a_line_that_was_changed_by_hand_is_not_said_to_be_set_in_the_values() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-B", "byhand", "origin/environments/dev"]);
    let manifest = clone.git(&["show", "HEAD:chart/manifest.yaml"]).replace("nginx:2", "nginx:9") + "\n";
    let id = clone.commit("hot fix", &[("chart/manifest.yaml", &manifest)]);
    let path = clone.path.to_str().expect("UTF-8");
    server.git(&["fetch", "-q", path, "byhand:environments/dev"]);
    let found = explain(&server, &["deploy/shop/spec.template.spec.containers[0].image"]);
    assert_eq!(found["changed"]["madeByOthers"]["author"], "Dev Eloper <dev@example.com>");
    assert_eq!((found["origin"].get("setIn"), found["changed"].get("dry")), (None, None), "{found}");
    let text = server.hydrate(&["explain", "deploy/shop/spec.template.spec.containers[0].image"]).success().stdout;
    assert!(text.contains(&format!("\n  changed by   {} hot fix\n", &id[..7])), "{text}");
    assert!(text.contains("not made by hydration") && !text.contains("hydrated as"), "{text}");
    // The other lines of the object are explained as before.
    let text = server.hydrate(&["explain", "deploy/shop/spec.replicas"]).success().stdout;
    assert!(text.contains("set in       apps/chart/dev/values.yaml:2") && text.contains("hydrated as"), "{text}");
}

#[test]
fn what_is_behind_is_explained_by_the_commit_that_it_shows_and_by_what_failed_since() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    let good = clone.git(&["rev-parse", "HEAD"]);
    let bad = clone.commit("a slip", &[("apps/chart/dev/values.yaml", "name: [\n")]);
    clone.push().success();
    let failed = format!("{} failed: ", &bad[..7]);
    let text = server.hydrate(&["explain", "deploy/shop/spec.replicas"]).success().stdout;
    assert!(text.contains("\n  held back    1 dry commit behind\n") && text.contains(&failed), "{text}");
    // The others of its branch go on.
    server.hydrate(&["config", "set", "onFailure", "application"]);
    clone.commit("more", &[("apps/base/config.yaml", &config_map("base", "z"))]);
    clone.push().success();
    let text = server.hydrate(&["explain", "deploy/shop/spec.replicas"]).success().stdout;
    assert!(
        text.contains("set in       apps/chart/dev/values.yaml:2") && !text.contains("cannot be determined"),
        "{text}"
    );
    assert!(
        text.contains(&format!("\n  held back    chart-dev is behind: chart shows dry commit {}", &good[..7])),
        "{text}"
    );
    assert!(text.contains(" failed: ") && text.contains("(apps/chart/dev/values.yaml:"), "{text}");
    assert!(!server.hydrate(&["explain", "cm/dev-base"]).success().stdout.contains("held back"));
}

#[test]
fn what_keeps_a_branch_from_being_hydrated_at_all_is_told_where_something_of_it_is_explained() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "receive.denyDeleteCurrent", "ignore"]);
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("api", "dev");
    let staged = text.replace("environments/dev", "environments/test")
        + "    hydrateTo: {targetBranch: environments/test-next}\n";
    clone.commit("staged", &[(&file, &staged), ("apps/api/dev/config.yaml", &config_map("api", "1"))]);
    clone.push().success();
    let text = server.hydrate(&["explain", "cm/api", "environments/test-next"]).success().stdout;
    assert!(text.contains("held back    not promoted to environments/test yet"), "{text}");
    clone.git(&["push", "-q", "origin", "--delete", "main"]);
    let text = server.hydrate(&["explain", "cm/web"]).success().stdout;
    assert!(text.contains("held back    its dry branch does not exist"), "{text}");
}
