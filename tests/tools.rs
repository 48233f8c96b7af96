//! The setting `tools`: branches are rendered as the Argo CD does that deploys them, and an upgrade is seen before it is made.

use serde_json::Value;

use crate::push::{application, tip};
use crate::support::{Lab, Repo};

/// A chart whose second document begins after empty lines that Helm 4.2.4 keeps, and 4.2.1 does not.
const MAPS: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: |+\n    x\n\n\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";
const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

/// A Pod whose volume is an image, which Kustomize changes since 5.7.0.
const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: nginx}]\n  volumes: [{name: v, image: {reference: models:1}}]\n";
const KUSTOMIZATION: &str = "resources: [pod.yaml]\nimages: [{name: models, newTag: '2'}]\n";

/// A server with a chart `web` and a kustomization `pod` for `dev` and `prod`, pushed, and its clone.
fn server(lab: &Lab, settings: &[&[&str]]) -> (Repo, Repo) {
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    for words in settings {
        server.hydrate(&[&["config", "set"], *words].concat()).success();
    }
    let clone = server.clone_to("clone");
    let mut files = Vec::new();
    for env in ["dev", "prod"] {
        files.extend([application("web", env), application("pod", env)]);
        let file = |path: &str, text: &str| (format!("apps/{path}").replace("ENV", env), text.to_owned());
        files.extend([
            file("web/ENV/Chart.yaml", CHART),
            file("web/ENV/templates/maps.yaml", MAPS),
            file("pod/ENV/kustomization.yaml", KUSTOMIZATION),
            file("pod/ENV/pod.yaml", POD),
        ]);
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("charts", &files);
    clone.push().success();
    (server, clone)
}

fn show(server: &Repo, place: &str) -> String {
    server.git(&["show", &format!("environments/{place}")])
}

/// Whether the empty lines at the end of the first object are there, as with Helm 4.2.4.
fn keeps_lines(server: &Repo, env: &str) -> bool {
    show(server, &format!("{env}:web/manifest.yaml")).contains("|+")
}

#[test]
fn each_branch_is_rendered_as_its_argo_cd_does() {
    let lab = Lab::new();
    let settings: [&[&str]; 1] = [&["tools", "{argocd: 3.0, environments/p*: {argocd: 3.6}}"]];
    let (server, _) = server(&lab, &settings);
    assert_eq!([keeps_lines(&server, "dev"), keeps_lines(&server, "prod")], [false, true]);
    let reference = |env: &str| show(&server, &format!("{env}:pod/manifest.yaml")).contains("reference: models:2");
    assert_eq!([reference("dev"), reference("prod")], [false, true]);
    let rows = [
        ("dev", "\"helm\": \"3.17.1\"", "\"kustomize\": \"5.6.0\""),
        ("prod", "\"helm\": \"4.2.4\"", "\"kustomize\": \"5.8.1\""),
    ];
    for (env, helm, kustomize) in rows {
        let metadata = show(&server, &format!("{env}:web/hydrator.metadata"));
        assert!(metadata.contains(helm), "{metadata}");
        let metadata = show(&server, &format!("{env}:pod/hydrator.metadata"));
        assert!(metadata.contains(kustomize), "{metadata}");
    }
    let written = server.git(&["show", "refs/hydrate/config:settings.yaml"]);
    let expected = "tools:\n  argocd: '3.0'\n  helm: 3.17.1\n  kustomize: 5.6.0\n  jsonnet: 0.20.0\n  environments/p*:\n    argocd: '3.6'\n    helm: 4.2.4\n    kustomize: 5.8.1\n    jsonnet: 0.22.0\n";
    assert!(written.contains(expected), "{written}");
}

#[test]
fn an_argo_cd_that_is_not_known_is_refused_with_the_nearest() {
    let lab = Lab::new();
    let server = lab.server();
    let rows = [
        ("tools.argocd", "2.14", "the tools of Argo CD 2.14 are not known: the nearest that is known is 3.0"),
        (
            "tools",
            "helm=3.18.0",
            "charts can't render as Helm 3.18.0, which reads numbers as no other version does: take 3.18.1",
        ),
        ("tools.kustomize", "5.3.0", "the nearest that they can build as is 5.4.2"),
    ];
    for (key, value, expected) in rows {
        let said = server.hydrate(&["config", "set", key, value]);
        assert!(said.code != Some(0) && said.stderr.contains(expected), "{key} {value}: {}", said.stderr);
    }
}

#[test]
fn an_upgrade_is_seen_before_it_is_made_and_makes_one_commit_a_branch() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[&["profile", "argocd"], &["tools", "argocd=3.5"]]);
    let before = ["environments/dev", "environments/prod"].map(|branch| tip(&server, branch));
    let seen = clone.hydrate(&["diff", "--tools", "environments/prod:argocd=3.6", "--json"]).exits(1).stdout;
    let seen: Value = serde_json::from_str(&seen).expect("JSON");
    let environments = seen["environments"].as_array().expect("a list");
    let changed: Vec<_> = environments.iter().filter(|one| one["summary"]["changed"] != 0).collect();
    let [prod] = changed[..] else { panic!("{seen:#}") };
    assert_eq!((prod["branch"].as_str(), prod["summary"]["changed"].as_u64()), (Some("environments/prod"), Some(1)));
    let text = clone.hydrate(&["diff", "--tools", "environments/prod:argocd=3.6"]).exits(1).stdout;
    assert!(text.contains("environments/prod") && text.contains("ConfigMap"), "{text}");
    assert_eq!(before, ["environments/dev", "environments/prod"].map(|branch| tip(&server, branch)), "nothing moves");

    server.hydrate(&["config", "set", "tools", "environments/prod:argocd=3.6"]).success();
    assert_eq!(tip(&server, "environments/dev"), before[0]);
    let range = format!("{}..environments/prod", before[1]);
    assert_eq!(server.git(&["rev-list", "--count", &range]).trim(), "1");
    let files = server.git(&["diff", "--name-only", &before[1], "environments/prod", "--", "*.yaml"]);
    assert_eq!(files.trim(), "web/manifest.yaml");
    assert!(keeps_lines(&server, "prod"));
    let made = clone.hydrate(&["diff", "--tools", "environments/prod:argocd=3.6"]).success().stdout;
    assert!(!made.contains("ConfigMap"), "{made}");
}

#[test]
fn a_branch_that_the_change_does_not_touch_is_not_rendered() {
    let lab = Lab::that_fails_at_will();
    let (server, _) = server(&lab, &[&["tools", "argocd=3.5"]]);
    // It would end the run.
    server.git(&["config", "hydrate-test.web-dev.does", "abort"]);
    server.git(&["config", "hydrate-test.pod-dev.does", "abort"]);
    server.hydrate(&["config", "set", "tools", "environments/prod:argocd=3.6"]).success();
    assert!(keeps_lines(&server, "prod"));
}

#[test]
fn status_names_the_branches_that_have_other_tools() {
    let lab = Lab::new();
    let (server, _) = server(&lab, &[&["tools", "argocd=3.5"]]);
    server.hydrate(&["config", "set", "frozen", "{environments/prod: {reason: release}}"]).success();
    server.hydrate(&["config", "set", "tools", "argocd=3.6"]).success();
    let status = server.hydrate(&["status"]).stdout;
    let told = "rendered as Helm 4.2.1, the settings ask for Helm 4.2.4";
    assert_eq!(status.matches(told).count(), 1, "{status}");
    let json: Value = serde_json::from_str(&server.hydrate(&["status", "--json"]).stdout).expect("JSON");
    let tools = json["branches"].as_array().expect("a list").iter().map(|one| &one["tools"]["wanted"]["helm"]);
    assert_eq!(tools.filter_map(Value::as_str).collect::<Vec<_>>(), ["4.2.4"], "{json:#}");
}

#[test]
fn another_version_of_a_tool_that_renders_nothing_of_a_branch_is_not_said_of_it() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "tools", "{helm: 3.19.4, jsonnet: 0.21.0}"]).success();
    let clone = server.clone_to("clone");
    let (file, text) = application("pod", "dev");
    let files = [(&*file, &*text), ("apps/pod/dev/kustomization.yaml", KUSTOMIZATION), ("apps/pod/dev/pod.yaml", POD)];
    clone.commit("kustomization", &files);
    clone.push().success();
    server.hydrate(&["config", "set", "frozen", "{environments/dev: {reason: release}}"]).success();
    server.hydrate(&["config", "set", "tools", "{helm: 4.2.1, jsonnet: 0.22.0}"]).success();
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(!status.contains("rendered as") && !status.contains("other tools"), "{status}");
    // Its own tool is one that counts.
    server.hydrate(&["config", "set", "tools", "{helm: 4.2.1, kustomize: 5.6.0, jsonnet: 0.22.0}"]).success();
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains("rendered as Kustomize 5.8.1, the settings ask for Kustomize 5.6.0\n"), "{status}");
}

#[test]
fn jsonnet_counts_where_a_file_is_of_it() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "tools", "jsonnet=0.21.0"]).success();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    let object = "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}}";
    clone.commit("Jsonnet", &[(&file, &text), ("apps/web/dev/a.jsonnet", object)]);
    clone.push().success();
    server.hydrate(&["config", "set", "frozen", "{environments/dev: {reason: release}}"]).success();
    server.hydrate(&["config", "set", "tools", "jsonnet=0.22.0"]).success();
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains("rendered as Jsonnet 0.21.0, the settings ask for Jsonnet 0.22.0\n"), "{status}");
}

#[test]
fn another_argo_cd_takes_its_exact_versions_along() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "tools.argocd", "3.4"]).success();
    server.hydrate(&["config", "set", "tools.argocd", "3.5"]).success();
    let told = server.hydrate(&["config", "get", "tools.helm"]).success().stdout;
    assert_eq!(told.trim(), "4.2.1");
}

#[test]
fn jsonnet_has_the_functions_of_its_version() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    server.hydrate(&["config", "set", "tools", "jsonnet=0.20.0"]).success();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    let object = "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}, data: {a: std.trim(' a ')}}";
    clone.commit("Jsonnet", &[(&file, &text), ("apps/web/dev/a.jsonnet", object)]);
    let said = clone.push().success().remote().join(" ");
    assert!(said.contains("trim"), "{said}");
    server.hydrate(&["config", "set", "tools", "jsonnet=0.21.0"]).success();
    assert!(show(&server, "dev:web/manifest.yaml").contains("a: a"));
}
