//! `git hydrate diff` of what changes of an Application itself: its manifests stay, and the cluster does not.

use serde_json::Value;

use crate::push::{application, config_map, dry};
use crate::rules::{BY_LABEL, rule, two};
use crate::support::{Lab, Repo};

const CLAIM: &str = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {resources: {requests: {storage: 1Gi}}}\n";
const ROLE: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: web}\nrules: []\n";

/// A clone with `web` on one branch: a claim, a ConfigMap and a ClusterRole that name no namespace, pruned by Argo CD.
fn clone() -> (Lab, Repo, String, String) {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let (file, text) = application("web", "dev");
    let text = text.replace("    namespace: web\n", "    namespace: web\n    server: https://one.example.com\n")
        + "  syncPolicy: {automated: {prune: true}}\n";
    let objects = [CLAIM, &config_map("web", "one"), ROLE].join("---\n");
    clone.commit("Objects", &[(&file, &text), ("apps/web/dev/config.yaml", &objects)]);
    clone.push().success();
    (lab, clone, file, text)
}

fn shown(clone: &Repo) -> String {
    clone.hydrate(&["diff"]).exits(1).stdout
}

fn json(clone: &Repo) -> Value {
    serde_json::from_str(&clone.hydrate(&["diff", "--json"]).exits(1).stdout).expect("JSON")
}

#[test]
fn another_destination_namespace_loses_the_data_of_claims_although_no_manifest_changes() {
    let (_lab, clone, file, text) = clone();
    clone.commit("Namespace", &[(&file, &text.replace("namespace: web", "namespace: shop"))]);
    assert_eq!(
        shown(&clone),
        "environments/dev  1 object changed in 1 of 1 Applications
  data loss PersistentVolumeClaim data: namespace web → shop: the new claim is empty, the old one goes with its data
    Argo CD prunes the old one with the next sync; have both for a while and copy the data, then remove the old one
  danger Application web-dev: namespace web → shop: objects that name no namespace are created there; Argo CD prunes the old ones with the next sync
    check that the namespace exists, or set the sync option `CreateNamespace=true`

  web-dev  web
    ~ Application web-dev
        spec.destination
      -   namespace: web
      +   namespace: shop

"
    );
    let shown = json(&clone);
    let dangers = shown["environments"][0]["dangers"].as_array().expect("a list");
    let kinds: Vec<&str> = dangers.iter().filter_map(|danger| danger["kind"].as_str()).collect();
    assert_eq!(kinds, ["namespaceChanged", "destinationNamespaceChanged"], "{shown:#}");
    let markdown = clone.hydrate(&["diff", "--markdown"]).exits(1).stdout;
    assert!(markdown.contains("the new claim is empty"), "{markdown}");
    let out = clone.hydrate(&["render", "--all", "out", "--changed"]).success();
    assert_eq!(out.stdout, "0 manifests in out\n");
    let told = clone.push().success();
    assert!(!told.stderr.contains("error"), "{told:?}");
}

#[test]
fn another_cluster_leaves_everything_in_the_old_one() {
    let (_lab, clone, file, text) = clone();
    let moved =
        text.replace("https://one.example.com", "https://two.example.com").replace("namespace: web", "namespace: shop");
    clone.commit("Cluster", &[(&file, &moved), ("apps/web/dev/config.yaml", &config_map("web", "one"))]);
    let shown = shown(&clone);
    let danger = "  outage Application web-dev: cluster https://one.example.com → https://two.example.com: everything is created there, claims without their data; what is in https://one.example.com stays, and Argo CD no longer manages it\n";
    assert!(shown.contains(danger), "{shown}");
    // The claim goes from git, and stays where it is.
    assert!(shown.contains("- PersistentVolumeClaim data") && !shown.contains("data loss"), "{shown}");
}

#[test]
fn the_name_of_the_cluster_of_argo_cd_is_its_url() {
    let (_lab, clone, file, text) = clone();
    let by_url = text.replace("https://one.example.com", "https://kubernetes.default.svc");
    clone.commit("URL", &[(&file, &by_url)]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.commit("Name", &[(&file, &by_url.replace("server: https://kubernetes.default.svc", "name: in-cluster"))]);
    let shown = shown(&clone);
    assert!(shown.contains("~ Application web-dev") && !shown.contains("outage"), "{shown}");
}

#[test]
fn project_and_sync_policy_are_shown_and_what_is_pruned_from_now_on_is_a_danger() {
    let (_lab, clone, file, text) = clone();
    let manual = text.replace("  syncPolicy: {automated: {prune: true}}\n", "  project: shop\n");
    clone.commit("By hand", &[(&file, &manual)]);
    let shown_now = shown(&clone);
    for line in ["      +   project: shop\n", "      -   syncPolicy:\n", "      -     automated:\n"] {
        assert!(shown_now.contains(line), "{shown_now}");
    }
    assert!(!shown_now.contains("danger"), "{shown_now}");
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let automated = text.replace("  syncPolicy:", "  project: shop\n  syncPolicy:");
    clone.commit("Automated", &[(&file, &automated)]);
    let shown_now = shown(&clone);
    assert!(shown_now.contains("  danger Application web-dev: prunes from now on: "), "{shown_now}");
}

#[test]
fn an_application_that_a_rule_hydrates_is_shown_too() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = two(&server);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let text = clone.file("applications/prod.yaml").expect("there");
    clone.commit(
        "Cluster",
        &[("applications/prod.yaml", &text.replace("https://kubernetes.default.svc", "https://b.example.com"))],
    );
    let shown = shown(&clone);
    let danger = "  outage Application argocd/web-prod: cluster in-cluster → https://b.example.com: ";
    assert!(shown.contains(danger) && shown.contains("no change in environments/dev\n"), "{shown}");
}

#[test]
fn before_a_push_a_changed_destination_is_shown() {
    let (_lab, clone, file, text) = clone();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit("Namespace", &[(&file, &text.replace("namespace: web", "namespace: shop"))]);
    let told = clone.push();
    assert!(told.stderr.contains("the new claim is empty"), "{told:?}");
}

#[test]
fn equal_fields_of_items_with_other_names_are_shown_once() {
    let (_lab, clone, ..) = clone();
    let rule = |n: u32, wait: &str| {
        format!(
            "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {{name: r{n}}}\nspec: {{groups: [{{name: g{n}, rules: [{{alert: A{n}, for: {wait}}}]}}]}}\n"
        )
    };
    let rules = |wait: &str| (1..=4).map(|n| rule(n, wait)).collect::<Vec<_>>().join("---\n");
    clone.commit("Rules", &[("apps/web/dev/config.yaml", &rules("10m"))]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.commit("Longer", &[("apps/web/dev/config.yaml", &rules("15m"))]);
    assert_eq!(
        shown(&clone),
        "environments/dev  4 objects changed in 1 of 1 Applications

  web-dev  web
    ~ 4 PrometheusRules r1, r2, r3, r4
        spec.groups[…].rules[…]
      -   for: 10m
      +   for: 15m

"
    );
}
