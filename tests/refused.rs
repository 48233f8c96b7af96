//! What an API server would refuse is reported before it gets there, with the line; with `validate: refuse` it does not go in.

use serde_json::Value;

use crate::push::{application, config_map, dry, tip};
use crate::support::{Lab, Repo};

const FILE: &str = "apps/web/dev/service.yaml";
const REFUSED: &str =
    "Kubernetes 1.37 refuses Service web: `spec.ports[0].prot` is not a field of this type; did you mean `port`?";

fn service(name: &str, port: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec:\n  ports:\n    - {{port: 80, {port}: 80}}\n"
    )
}

/// A server with settings, and a clone whose Application `web` is hydrated to `environments/dev`.
fn team(lab: &Lab, settings: &[&[&str]]) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    for setting in settings {
        server.hydrate(&[&["config", "set"], *setting].concat()).success();
    }
    (server, clone)
}

/// How often a push tells of a text.
fn told(clone: &Repo, text: &str) -> usize {
    clone.push().success().remote().join("\n").matches(text).count()
}

#[test]
fn a_mistake_is_told_once_with_its_line_by_push_pre_push_and_diff() {
    let lab = Lab::new();
    let (_server, clone) = team(&lab, &[]);
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit("service", &[(FILE, &service("web", "prot"))]);
    let danger = format!("{} (apps/web/dev/service.yaml:6)", REFUSED.replace("Service web:", "it, so the sync fails:"));
    let diff = clone.hydrate(&["diff"]).stdout;
    assert_eq!((diff.matches(&danger).count(), diff.matches(REFUSED).count()), (1, 0), "{diff}");
    let json: Value = serde_json::from_str(&clone.hydrate(&["diff", "--json"]).stdout).expect("JSON");
    assert_eq!(json["environments"][0]["dangers"][0]["message"], danger);
    let stderr = clone.push().success().stderr;
    let (remote, local): (Vec<&str>, Vec<&str>) = stderr.lines().partition(|line| line.starts_with("remote:"));
    let count = |lines: &[&str], text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!((count(&local, &danger), count(&local, REFUSED), count(&remote, REFUSED)), (1, 0, 1), "{stderr}");
    // What is there already is not reported again, whatever else changes.
    clone.git(&["fetch", "-q"]);
    clone.commit("another", &[("apps/web/dev/config.yaml", &config_map("web", "new"))]);
    assert_eq!(told(&clone, "refuses"), 0);
}

#[test]
fn what_a_danger_says_of_a_refused_object_is_not_said_again_by_a_warning() {
    let lab = Lab::new();
    let (_server, clone) = team(&lab, &[]);
    clone.git(&["fetch", "-q"]);
    let job = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: night}\nspec:\n  schedule: 0 3 * * *\n  jobTemplate:\n    \
               spec:\n      template:\n        spec:\n          restartPolicy: Always\n          containers: [{name: a, image: 'a:1'}]\n";
    clone.commit("a CronJob", &[("apps/web/dev/job.yaml", job)]);
    let once = "Kubernetes 1.37 refuses it, so the sync fails: `spec.jobTemplate.spec.template.spec.restartPolicy` must be \
                OnFailure or Never (apps/web/dev/job.yaml:10)";
    let page = clone.path.join("page.html");
    for args in [&["diff"][..], &["diff", "--markdown"], &["diff", "--json"], &["diff", "--html", "page.html"]] {
        let shown = clone.hydrate(args).stdout;
        let shown = if args.contains(&"--html") { std::fs::read_to_string(&page).expect("a page") } else { shown };
        let shown = shown.replace("&#x2f;", "/");
        assert!(shown.contains(once), "{args:?}: {shown}");
        assert_eq!(shown.matches("refuses CronJob").count(), 0, "{args:?}: {shown}");
        assert_eq!(shown.matches("the API server refuses it").count(), 0, "{args:?}: {shown}");
    }
    let json: Value = serde_json::from_str(&clone.hydrate(&["diff", "--json"]).stdout).expect("JSON");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(0), "{json}");
    assert_eq!(json["environments"][0]["dangers"][0]["severity"], "refused");
    // A push, which shows no dangers, warns.
    assert_eq!(told(&clone, "refuses CronJob night"), 1);
}

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  \
                          template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers: [{name: a, image: 'a:1', env: \
                          [{name: NUMBER, value: '5'}]}]\n";

#[test]
fn what_an_api_server_refuses_is_a_danger_and_nothing_restarts() {
    let lab = Lab::new();
    let (_server, clone) = team(&lab, &[]);
    clone.commit("a Deployment", &[("apps/web/dev/web.yaml", DEPLOYMENT)]);
    assert_eq!(told(&clone, "refuses"), 0);
    clone.git(&["fetch", "-q"]);
    let rows = [
        ("value: '5'", "value: 5", "must be a string, not `5`"),
        ("metadata: {name: web}", "metadata: {name: web, labels: {a: b c}}", "metadata.labels[a]"),
        ("spec:\n  selector", "spec:\n  replicas: '3'\n  selector", "spec.replicas"),
    ];
    for (from, to, expected) in rows {
        let text = DEPLOYMENT.replacen(from, to, 1).replace("a:1", "a:2");
        clone.commit("change", &[("apps/web/dev/web.yaml", &text)]);
        let json: Value = serde_json::from_str(&clone.hydrate(&["diff", "--json"]).stdout).expect("JSON");
        let environment = &json["environments"][0];
        assert_eq!(environment["dangers"].as_array().map(Vec::len), Some(1), "{json:#}");
        assert_eq!(environment["dangers"][0]["severity"], "refused", "{json:#}");
        let message = environment["dangers"][0]["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{expected}: {message}");
        assert_eq!((&environment["summary"]["restarts"], &environment["summary"]["dangers"]), (&0.into(), &1.into()));
        assert_eq!(json["warnings"].as_array().map(Vec::len), Some(0), "{json:#}");
    }
}

#[test]
fn an_object_that_was_refused_before_keeps_its_other_dangers_and_its_mistake_is_not_said_as_new() {
    let lab = Lab::new();
    let (_server, clone) = team(&lab, &[]);
    clone.commit("an old mistake", &[("apps/web/dev/web.yaml", &DEPLOYMENT.replace("value: '5'", "value: 5"))]);
    assert_eq!(told(&clone, "must be a string, not `5`"), 1);
    clone.git(&["fetch", "-q"]);
    let changed =
        DEPLOYMENT.replace("value: '5'", "value: 5").replace("spec:\n  selector", "spec:\n  replicas: 0\n  selector");
    clone.commit("another change", &[("apps/web/dev/web.yaml", &changed)]);
    let json: Value = serde_json::from_str(&clone.hydrate(&["diff", "--json"]).stdout).expect("JSON");
    let dangers = &json["environments"][0]["dangers"];
    assert_eq!((dangers.as_array().map(Vec::len), &dangers[0]["kind"]), (Some(1), &"scaledToZero".into()), "{json:#}");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(1), "{json:#}");
    // With a new mistake beside the old one, the new one is the danger.
    clone.commit("a new mistake", &[("apps/web/dev/web.yaml", &changed.replace("replicas: 0", "replicas: '0'"))]);
    let json: Value = serde_json::from_str(&clone.hydrate(&["diff", "--json"]).stdout).expect("JSON");
    let dangers = &json["environments"][0]["dangers"];
    assert_eq!((dangers.as_array().map(Vec::len), &dangers[0]["kind"]), (Some(1), &"invalid".into()), "{json:#}");
    let message = dangers[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("spec.replicas") && !message.contains("value"), "{message}");
}

#[test]
fn an_object_that_goes_to_another_application_with_an_old_mistake_keeps_its_dangers() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    let old = DEPLOYMENT.replace("value: '5'", "value: 5");
    clone.commit("an old mistake", &[("apps/web/dev/web.yaml", &old)]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let scaled = old.replace("spec:\n  selector", "spec:\n  replicas: 0\n  selector");
    clone.commit("it moves", &[("apps/web/dev/web.yaml", ""), ("apps/api/dev/web.yaml", &scaled)]);
    let json: Value = serde_json::from_str(&clone.hydrate(&["diff", "--json"]).stdout).expect("JSON");
    let dangers = &json["environments"][0]["dangers"];
    assert_eq!(dangers.as_array().map(Vec::len), Some(1), "{json:#}");
    assert_eq!(dangers[0]["message"], "namespace web → api: new Pods start there, the old ones go", "{json:#}");
}

#[test]
fn a_service_may_keep_the_port_of_its_old_type_written_when_the_type_changes() {
    let lab = Lab::new();
    let (_server, clone) = team(&lab, &[]);
    let service = |kind: &str, node: u32| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{type: {kind}, ports: [{{port: 80, nodePort: \
             {node}}}]}}\n"
        )
    };
    clone.commit("a port of the nodes", &[(FILE, &service("NodePort", 30080))]);
    assert_eq!(told(&clone, "refuses"), 0);
    clone.commit("inside only", &[(FILE, &service("ClusterIP", 30080))]);
    assert_eq!(told(&clone, "refuses"), 0);
    clone.commit("another port", &[(FILE, &service("ClusterIP", 30081))]);
    assert_eq!(told(&clone, "refuses Service web"), 1);
}

#[test]
fn strict_mode_refuses_what_a_push_brings_and_not_what_was_there() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &[]);
    clone.commit("old mistake", &[(FILE, &service("web", "prot"))]);
    assert_eq!(told(&clone, REFUSED), 1);
    server.git(&["config", "hydrate.strict", "touched"]);
    server.hydrate(&["config", "set", "validate", "{environments/dev: refuse}"]).success();
    clone.commit("another object", &[("apps/web/dev/config.yaml", &config_map("web", "new"))]);
    assert_eq!(told(&clone, "refuses"), 0);
    // The same object with another change still has its old mistake, which is reported.
    clone.commit("the same object", &[(FILE, &service("web", "prot").replace("port: 80", "port: 81"))]);
    assert_eq!(told(&clone, REFUSED), 1);
    let before = tip(&server, "main");
    clone.commit("new mistake", &[("apps/web/dev/other.yaml", &service("other", "targetPrt"))]);
    let refused = clone.push().exits(1);
    let expected = [
        "error: Kubernetes 1.37 refuses Service other: `spec.ports[0].targetPrt` is not a field of this type; did you mean \
         `targetPort`?",
        "--> apps/web/dev/other.yaml:6",
    ];
    assert_eq!(refused.remote()[..2], expected, "{refused:?}");
    assert_eq!(tip(&server, "main"), before);
    clone.commit("mended", &[("apps/web/dev/other.yaml", &service("other", "targetPort"))]);
    assert_eq!(told(&clone, "refuses"), 0);
}

#[test]
fn no_byte_depends_on_it() {
    let lab = Lab::new();
    let trees: Vec<String> = ["off", "warn", "refuse"]
        .map(|word| {
            let lab = Lab::new();
            let (server, clone) = team(&lab, &[&["validate", word]]);
            clone.commit("service", &[(FILE, &service("web", "prot"))]);
            assert_eq!(told(&clone, "refuses"), usize::from(word != "off"), "{word}");
            let at = server.git(&["rev-parse", "environments/dev^{tree}"]);
            server.hydrate(&["config", "set", "validate", "off"]).success();
            server.hydrate(&["config", "set", "kubernetes", "1.31"]).success();
            assert_eq!(server.git(&["rev-parse", "environments/dev^{tree}"]), at);
            at
        })
        .into();
    drop(lab);
    assert!(trees.iter().all(|tree| *tree == trees[0]), "{trees:?}");
}

const SCHEMA: &str = "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: FlowSchema\nmetadata: {name: a}\nspec: \
                      {priorityLevelConfiguration: {name: exempt}}\n";

#[test]
fn check_shows_what_an_upgrade_of_the_cluster_would_refuse() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &[&["kubernetes", "{environments/dev: 1.31}"]]);
    clone.commit("flow", &[("apps/web/dev/flow.yaml", SCHEMA)]);
    assert_eq!(told(&clone, "refuses"), 0);
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    let quiet = clone.hydrate(&["check"]).success().stdout;
    assert!(!quiet.contains("refuses"), "{quiet}");
    let answer = clone.hydrate(&["check", "--kubernetes", "1.32"]).exits(1).stdout;
    let expected =
        "apps/web/dev/flow.yaml:1: error: Kubernetes 1.32 refuses FlowSchema a: `apiVersion` is `flowcontrol";
    assert!(answer.contains(expected) && answer.contains(" [refused]\n"), "{answer}");
    let log = clone.hydrate(&["check", "--kubernetes", "1.32", "--sarif"]).exits(1).stdout;
    let log: Value = serde_json::from_str(&log).expect("JSON");
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"refused".into(), &"error".into()));
    let unknown = clone.hydrate(&["check", "--kubernetes", "1.3"]).exits(2).stderr;
    assert!(unknown.contains("known are 1.30 to 1.37"), "{unknown}");
    // The settings of the server hold in it too.
    server.hydrate(&["config", "set", "kubernetes", "1.36"]).success();
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    let warned = clone.hydrate(&["check"]).success().stdout;
    assert!(warned.contains("warning: Kubernetes 1.36 refuses FlowSchema a"), "{warned}");
}

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  names: {kind: Shop, plural: shops}
  scope: Namespaced
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
              properties:
                size: {type: integer, maximum: 3}
";

fn shop(size: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Shop\nmetadata: {{name: a}}\nspec:\n  size: {size}\n")
}

const TOO_LARGE: &str = "Kubernetes 1.37 refuses Shop a: `spec.size` ";

#[test]
fn a_custom_resource_is_judged_by_the_crd_of_another_application_of_its_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.commit("unknown", &[("apps/web/dev/shop.yaml", &shop("9"))]);
    assert_eq!(told(&clone, "refuses"), 0);
    clone.commit("crd", &[("apps/api/dev/crd.yaml", CRD), ("apps/web/dev/shop.yaml", &shop("8"))]);
    assert_eq!(told(&clone, TOO_LARGE), 1);
    // The other Application is not rendered by this push.
    clone.commit("again", &[("apps/web/dev/shop.yaml", &shop("7").replace("name: a", "name: b"))]);
    assert_eq!(told(&clone, "refuses Shop b"), 1);
    clone.commit("crd goes", &[("apps/api/dev/crd.yaml", "")]);
    clone.push().success();
    clone.commit("once more", &[("apps/web/dev/shop.yaml", &shop("7").replace("name: a", "name: c"))]);
    assert_eq!(told(&clone, "refuses"), 0);
}

#[test]
fn the_setting_crds_names_files_of_the_dry_tree() {
    let lab = Lab::new();
    let (_server, clone) = team(&lab, &[&["crds", "platform"]]);
    clone.commit("shop", &[("platform/crds/shop.yaml", CRD), ("apps/web/dev/shop.yaml", &shop("9"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains(TOO_LARGE) && told.contains("--> apps/web/dev/shop.yaml:5"), "{told}");
}

/// Excerpts of CRDs in the cache.
fn excerpts(server: &Repo) -> Vec<std::path::PathBuf> {
    let names = server.names("hydrate/cache").into_iter().filter(|name| name.starts_with("crd-"));
    names.map(|name| server.path.join("hydrate/cache").join(name)).collect()
}

#[test]
fn excerpts_of_crds_that_are_damaged_missing_or_of_others_decide_nothing() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &[&["crds", "platform"]]);
    let mut count = 0;
    let mut is_told = |crd: &str| {
        count += 1;
        let name = format!("s{count}");
        let shop = shop("9").replace("name: a", &format!("name: {name}"));
        clone.commit("shop", &[("platform/shop.yaml", crd), ("apps/web/dev/shop.yaml", &shop)]);
        told(&clone, &format!("refuses Shop {name}: `spec.size`")) == 1
    };
    let looser = CRD.replace("maximum: 3", "maximum: 30");
    assert!(is_told(CRD) && !is_told(&looser));
    let files = excerpts(&server);
    let [first, second] = [0, 1].map(|at| std::fs::read(&files[at]).expect("readable"));
    // Both are right by themselves, and not under each other's name.
    std::fs::write(&files[0], &second).expect("written");
    std::fs::write(&files[1], &first).expect("written");
    assert!(is_told(CRD) && !is_told(&looser));
    for file in &files {
        let mut bytes = std::fs::read(file).expect("readable");
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        std::fs::write(file, bytes).expect("written");
    }
    assert!(is_told(CRD) && !is_told(&looser));
    files.iter().for_each(|file| std::fs::write(file, "").expect("written"));
    assert!(is_told(CRD) && !is_told(&looser));
    files.iter().for_each(|file| std::fs::remove_file(file).expect("removed"));
    assert!(is_told(CRD) && !is_told(&looser));
    assert_eq!(excerpts(&server), files);
    // Where no CRD is of the group, that is known as well, and only for these.
    let others = "# None.\n";
    assert!(!is_told(others) && !is_told(others) && is_told(CRD));
    assert_eq!(excerpts(&server).len(), 3);
}

#[test]
fn a_push_that_is_refused_leaves_no_excerpt_of_a_crd() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &[&["crds", "platform"], &["validate", "refuse"]]);
    server.git(&["config", "hydrate.strict", "touched"]);
    let commit = |size: &str| {
        clone.commit("shop", &[("platform/crds/shop.yaml", CRD), ("apps/web/dev/shop.yaml", &shop(size))]);
        clone.push()
    };
    commit("9").exits(1);
    assert_eq!(excerpts(&server).len(), 0);
    commit("2").success();
    assert_eq!(excerpts(&server).len(), 1);
    commit("9").exits(1);
    commit("3").success();
    assert_eq!(excerpts(&server).len(), 1);
}

#[test]
fn a_value_of_a_chart_is_told_with_its_line_of_the_values() {
    let lab = Lab::new();
    let (_server, clone) = team(&lab, &[]);
    let template = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  sessionAffinity: {{ .Values.affinity }}\n  \
                    ports:\n    - port: 80\n      protocl: TCP\n";
    let files = [
        ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("apps/web/dev/values.yaml", "other: 1\naffinity: ClientIp\n"),
        ("apps/web/dev/templates/service.yaml", template),
    ];
    clone.git(&["rm", "-q", "apps/web/dev/config.yaml"]);
    clone.commit("chart\n\nHydrate-Allow-Removal: environments/dev", &files);
    let told = clone.push().success().remote().join("\n");
    let rows = [
        ("`spec.sessionAffinity` is `ClientIp`", "--> apps/web/dev/values.yaml:2"),
        ("`spec.ports[0].protocl` is not a field", "--> apps/web/dev/templates/service.yaml:8"),
    ];
    for (what, place) in rows {
        let rest = told.split_once(what).unwrap_or_else(|| panic!("{what}: {told}")).1;
        let found = rest.lines().find(|line| line.contains("-->")).unwrap_or_default();
        assert!(found.contains(place), "{what}: {told}");
    }
}

#[test]
fn what_is_alike_in_many_objects_is_told_once() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    let files: Vec<(String, String)> = ["web", "api"]
        .iter()
        .flat_map(|name| ["dev", "prod"].map(|env| (format!("apps/{name}/{env}/service.yaml"), service(name, "prot"))))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("services", &files);
    let told = clone.push().success().remote().join("\n");
    assert_eq!(told.matches("refuses").count(), 1, "{told}");
    assert!(told.contains("refuses Service api and 2 more: "), "{told}");
}

#[test]
fn a_worker_warns() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev"]);
    clone.commit(
        "secret",
        &[("apps/web/dev/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: opaque\n")],
    );
    clone.commit("service", &[(FILE, &service("web", "prot"))]);
    clone.push().success();
    let worker = clone.hydrate(&["push"]).success();
    let told = format!("{}{}", worker.stdout, worker.stderr);
    assert!(
        told.contains(REFUSED) && told.contains("warning: Secret a: `type`") && told.contains("[secret-type]"),
        "{told}"
    );
    assert!(host.git(&["branch", "--list", "environments/dev"]).contains("environments/dev"));
}

#[test]
fn a_warning_is_switched_off_by_its_name() {
    let lab = Lab::new();
    let (server, clone) = team(&lab, &[]);
    for (name, expected) in [("a", 1), ("b", 0)] {
        let secret = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\ntype: opaque\n");
        clone.commit("secret", &[("apps/web/dev/secret.yaml", &secret)]);
        assert_eq!(told(&clone, "[secret-type]"), expected, "{name}");
        server.hydrate(&["config", "set", "silentWarnings", "secret-type"]).success();
    }
}

/// A CRD of the kind Shop with this schema of `spec`, and a Shop.
fn bomb(schema: &str, spec: &str) -> [(&'static str, String); 2] {
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: shops.example.com}}\nspec:\n  \
         group: example.com\n  scope: Namespaced\n  names: {{kind: Shop, plural: shops}}\n  versions:\n  - name: v1\n    \
         served: true\n    storage: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {schema}}}}}}}\n"
    );
    let shop = format!("apiVersion: example.com/v1\nkind: Shop\nmetadata: {{name: large}}\nspec: {spec}\n");
    [("apps/web/dev/crd.yaml", crd), ("apps/web/dev/shop.yaml", shop)]
}

#[test]
fn objects_made_to_take_all_time_and_memory_stop_no_push() {
    let list = |count: usize| (0..count).map(|index| format!("'{index:020}'")).collect::<Vec<_>>().join(", ");
    let sum = ["self.s"; 18].join(" + ");
    let doubling = format!(
        "{{type: object, properties: {{l: {{type: array, items: {{type: string}}}}, s: {{type: string}}}}, \
         x-kubernetes-validations: [{{rule: 'self.l.map(x, {sum}).size() > 1'}}]}}"
    );
    let patterns: Vec<String> =
        (0..400).map(|index| format!("{{pattern: '^([a-z]|[x0-9]){{0,300}}q{index}$'}}")).collect();
    let searching = format!(
        "{{type: object, properties: {{l: {{type: array, items: {{type: string, anyOf: [{}]}}}}}}}}",
        patterns.join(", ")
    );
    let rows = [
        (doubling, format!("{{l: [{}], s: '{:020000}'}}", list(20_000), 0), 0),
        (searching, format!("{{l: [{}]}}", list(20_000)), 1),
    ];
    for (schema, spec, unjudged) in rows {
        let lab = Lab::new();
        let (server, clone) = team(&lab, &[]);
        let before = tip(&server, "environments/dev");
        let files = bomb(&schema, &spec);
        clone.commit("large", &files.each_ref().map(|(path, text)| (*path, text.as_str())));
        let answer = clone.push().success().remote().join("\n");
        assert_eq!(answer.matches("is not judged: that would take too long").count(), unjudged, "{answer}");
        assert!(!answer.contains("signal") && !answer.contains("trying again"), "{answer}");
        assert_ne!(tip(&server, "environments/dev"), before);
    }
}

/// A chart that both environments render.
const SHARED: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replica: {{ .Values.replicaCount }}\n  \
                      selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: \
                      web, image: nginx}]}\n";

/// Applications of a chart that two environments share, with this template, not pushed yet.
fn shared_chart(lab: &Lab, template: &str) -> Repo {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let shared = |env| {
        let (file, text) = application("web", env);
        (file, text.replace(&format!("apps/web/{env}"), "charts/web"))
    };
    let (dev, prod) = (shared("dev"), shared("prod"));
    let chart = ("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    let values = ("charts/web/values.yaml", "replicaCount: 3\nport: 8080\n");
    clone.commit(
        "chart",
        &[(&dev.0, &dev.1), (&prod.0, &prod.1), chart, values, ("charts/web/templates/web.yaml", template)],
    );
    clone
}

#[test]
fn a_wrong_name_in_a_template_has_its_line_there_and_all_applications_are_named() {
    let lab = Lab::new();
    let clone = shared_chart(&lab, SHARED);
    let said = clone.push().success().remote().join("\n");
    assert!(said.contains("`spec.replica` is not a field") && said.contains("did you mean `replicas`"), "{said}");
    assert!(said.contains("--> charts/web/templates/web.yaml:6"), "{said}");
    assert!(said.contains("= application: web-dev, web-prod"), "{said}");
}

#[test]
fn a_wrong_value_in_a_template_has_the_line_that_sets_it() {
    let lab = Lab::new();
    let clone = shared_chart(&lab, &SHARED.replace("replica:", "replicas:"));
    clone.commit("below zero", &[("charts/web/values.yaml", "port: 8080\nreplicaCount: -3\n")]);
    let said = clone.push().success().remote().join("\n");
    assert!(said.contains("--> charts/web/values.yaml:2"), "{said}");
}

#[test]
fn yaml_that_a_template_prints_wrong_has_the_line_of_the_template() {
    let lab = Lab::new();
    let template = "{{- if .Values.port }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  A: b\n   PORT: {{ \
                    .Values.port | quote }}\n{{- end }}\n";
    let clone = shared_chart(&lab, template);
    let said = clone.push().success().remote().join("\n");
    assert!(said.contains("--> charts/web/templates/web.yaml:8"), "{said}");
}
