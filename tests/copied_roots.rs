//! Copies of what an app of apps renders, where rules tell the root from its children by their files or their names. Real pushes.

use crate::copies::{copied, expected, names, plain_set, push, root};
use crate::made_applications::{URL, config, dry, files, manifest};
use crate::push::{both, verified};
use crate::rules::{BY_LABEL, directory, plain, two};
use crate::support::{Lab, Repo};

/// A branch of its own for what is in `bootstrap`.
fn by_file() -> String {
    format!("- {{match: {{file: bootstrap/}}, branch: environments/root, path: '{{{{ name }}}}'}}\n{BY_LABEL}")
}

fn rendered(server: &Repo) -> String {
    manifest(server, "environments/root", "root")
}

fn is_calm(said: &str) -> bool {
    !said.contains("warning") && !said.contains("error")
}

#[test]
fn copies_in_a_root_lead_where_the_files_of_its_children_are_hydrated_to() {
    both(|server| led_by_files(server, None));
}

#[test]
fn copies_in_a_root_that_is_a_kustomization_lead_there_too() {
    both(|server| led_by_files(server, Some("resources: [dev.yaml, prod.yaml, shop.yaml]\n")));
}

#[test]
fn children_that_a_library_of_jsonnet_makes_are_hydrated_and_led_there() {
    let lab = Lab::new();
    let server = lab.server();
    let by_name = format!("- {{match: {{name: root}}, branch: environments/root, path: root}}\n{BY_LABEL}");
    copied(&server, &by_name);
    let clone = two(&server);
    let library = "{ app(name, env):: { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: {name: name, namespace: 'argocd', \
                   labels: {env: env}}, spec: {project: 'default', source: {repoURL: 'HERE', targetRevision: 'main', path: 'apps/web/dev'}, \
                   destination: {server: 'https://kubernetes.default.svc', namespace: 'shop'}}} }";
    let by_library = root().replace("path: applications", "path: made, directory: {jsonnet: {libs: [vendor/argo]}}");
    clone.commit(
        "a library",
        &[
            ("bootstrap/root.yaml", &by_library),
            ("made/web.jsonnet", "local argo = import 'argo.libsonnet';\nargo.app('web-live', 'live')\n"),
            ("vendor/argo/argo.libsonnet", &library.replace("HERE", URL)),
        ],
    );
    let said = push(&clone);
    assert!(!said.contains("error") && said.contains("environments/live"), "{said}");
    assert!(files(&server, "environments/live").contains("web-live/manifest.yaml"), "{said}");
    let copies = rendered(&server);
    assert!(copies.contains(&expected("web-live", "live", "web-live")), "{copies}");
    verified(&server);
}

fn led_by_files(server: &Repo, kustomization: Option<&str>) {
    copied(server, &by_file());
    let clone = two(server);
    let set = plain_set("").replace("'{{app}}-{{environment}}'", "'shop-{{environment}}'");
    clone.commit("set", &[("applications/shop.yaml", &set), ("bootstrap/root.yaml", &root())]);
    if let Some(text) = kustomization {
        clone.commit("kustomization", &[("applications/kustomization.yaml", text)]);
    }
    let said = push(&clone);
    assert!(is_calm(&said), "{said}");
    let copies = rendered(server);
    for environment in ["dev", "prod"] {
        let name = format!("web-{environment}");
        assert!(copies.contains(&expected(&name, environment, &name)), "{copies}");
        let all = files(server, &format!("environments/{environment}"));
        assert!(all.contains(&format!("{name}/manifest.yaml")), "{all}");
        assert!(all.contains(&format!("shop-{environment}/manifest.yaml")), "{all}");
    }
    assert!(copies.contains("targetRevision: environments/{{environment}}"), "{copies}");
    assert!(!files(server, "environments/root").contains("web-"), "{}", files(server, "environments/root"));
    assert_eq!(names(server), ["applications/argocd/root"]);
    verified(server);

    // A child changes: only its own.
    let text = directory("web", "dev").replace("project: default", "project: default\n  revisionHistoryLimit: 3");
    clone.commit("dev", &[("applications/dev.yaml", &text)]);
    let said = push(&clone);
    assert!(is_calm(&said), "{said}");
    let copies = rendered(server);
    assert!(copies.contains("revisionHistoryLimit: 3\n  source:\n"), "{copies}");
    assert!(!copies.contains("targetRevision: environments/root"), "{copies}");
    verified(server);
}

#[test]
fn what_a_rule_leaves_out_by_its_file_is_left_out_of_what_a_root_makes() {
    let lab = Lab::new();
    let server = lab.server();
    let rules = format!("- {{match: {{file: applications/prod.yaml}}, hydrate: false}}\n{}", by_file());
    copied(&server, &rules);
    let clone = two(&server);
    clone.commit("root", &[("bootstrap/root.yaml", &root())]);
    let said = push(&clone);
    assert!(is_calm(&said), "{said}");
    let apps = server.hydrate(&["apps", "main"]).success().stdout;
    assert!(apps.contains("web-dev") && !apps.contains("web-prod"), "{apps}");
    assert!(server.git(&["branch", "--list", "environments/prod"]).is_empty(), "{said}");
    let copies = rendered(&server);
    assert!(copies.contains(&expected("web-dev", "dev", "web-dev")), "{copies}");
    assert!(copies.contains("path: apps/web/prod\n"), "{copies}");
    verified(&server);
}

#[test]
fn a_rule_for_the_name_of_a_root_leaves_sets_their_copies_whose_names_begin_otherwise() {
    for name in ["root", "'root-*'", "[root, 'root-*']"] {
        let lab = Lab::new();
        let server = lab.server();
        let own = format!("- {{match: {{name: {name}}}, branch: environments/root, path: '{{{{ name }}}}'}}\n");
        copied(&server, &format!("{own}{BY_LABEL}"));
        let set = plain_set("").replace("'{{app}}-{{environment}}'", "'shop-{{environment}}'");
        let [dev, prod] = ["dev", "prod"].map(|environment| config("web", environment, "one"));
        let root = root();
        let clone = dry(
            &server,
            &[("bootstrap/root.yaml", &root), ("applications/shop.yaml", &set), (&dev.0, &dev.1), (&prod.0, &prod.1)],
        );
        let said = push(&clone);
        assert!(is_calm(&said), "{name}: {said}");
        let copies = rendered(&server);
        assert!(copies.contains("targetRevision: environments/{{environment}}"), "{name}: {copies}");
        verified(&server);
    }
}

#[test]
fn the_hint_for_a_set_in_a_root_does_not_send_it_to_expand() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, &format!("- {{match: {{name: '*-old'}}, hydrate: false}}\n{BY_LABEL}"));
    let [dev, prod] = ["dev", "prod"].map(|environment| config("web", environment, "one"));
    let (root, set) = (root(), plain_set(""));
    let clone = dry(
        &server,
        &[("bootstrap/root.yaml", &root), ("applications/shop.yaml", &set), (&dev.0, &dev.1), (&prod.0, &prod.1)],
    );
    let said = push(&clone);
    let text = "warning: ApplicationSet `shop` stays in the manifests of Application `root` as it is: its elements decide \
                whether rule 1 of the settings matches";
    assert!(said.contains(text) && !said.contains("`expand`"), "{said}");
    clone.commit("notes", &[("NOTES", "x")]);
    assert!(push(&clone).contains(text));
}

#[test]
fn what_a_root_leads_to_a_directory_that_no_hydrated_branch_has_is_warned_of() {
    let lab = Lab::new();
    let server = lab.server();
    copied(&server, &format!("- {{match: {{name: stray}}, hydrate: false}}\n{BY_LABEL}"));
    let clone = two(&server);
    let stray = |path: &str| {
        plain("stray", "dev", &format!("source: {{repoURL: {URL}, targetRevision: environments/dev, path: {path}}}"))
    };
    clone.commit("root", &[("bootstrap/root.yaml", &root()), ("applications/stray.yaml", &stray("gone"))]);
    let text = "warning: Application `root` renders `stray`, which leads to `gone` of `environments/dev`, where nothing is hydrated";
    let said = push(&clone);
    assert!(said.contains(text), "{said}");
    clone.commit("notes", &[("NOTES", "x")]);
    assert!(push(&clone).contains(text));
    clone.commit("there", &[("applications/stray.yaml", &stray("web-dev"))]);
    let said = push(&clone);
    assert!(is_calm(&said), "{said}");
}
