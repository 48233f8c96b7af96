//! Each finding has its line in the dry file that makes it.

use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

const KUSTOMIZATION: &str = "apps/web/dev/kustomization.yaml";

fn check(clone: &Repo) -> String {
    clone.hydrate(&["check", "--worktree"]).stdout
}

/// Writes files, and checks with them.
fn with(clone: &Repo, files: &[(&str, &str)]) -> String {
    for (path, text) in files {
        let path = clone.path.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    check(clone)
}

#[test]
fn a_dependency_has_the_line_that_names_it_and_an_open_quote_the_line_that_opens_it() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web", "api"], &["dev"]);
    let chart = |dependency: &str| {
        format!(
            "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n  - name: here\n    version: 1.x\n    repository: file://../here\n  - {dependency}\n"
        )
    };
    let file = "apps/web/dev/Chart.yaml";
    std::fs::remove_file(clone.path.join("apps/web/dev/config.yaml")).expect("removed");
    let here = ("apps/web/here/Chart.yaml", "apiVersion: v2\nname: here\nversion: 1.0.0\n");
    let rows = [
        ("{name: redis, version: 1.x, repository: 'https://example.com'}", "missing in charts/ directory: redis"),
        (
            "{name: redis, version: 1.x, repository: 'file://../none'}",
            "unable to detect chart at apps/web/none/Chart.yaml",
        ),
        ("{name: other, version: 2.x, repository: 'file://../here'}", "can't get a valid version for dependency other"),
    ];
    for (dependency, expected) in rows {
        let told = with(&clone, &[(file, &chart(dependency)), here]);
        assert!(told.contains(&format!("{file}:8:12: error: ")) && told.contains(expected), "{dependency}: {told}");
    }
    std::fs::remove_file(clone.path.join(file)).expect("removed");
    let open = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"web\ndata: {}\n";
    let told = with(&clone, &[("apps/web/dev/config.yaml", open)]);
    assert!(
        told.contains("apps/web/dev/config.yaml:4:9: error: ") && told.contains("unexpected end of stream"),
        "{told}"
    );
    // Of two that claim an object, both Applications are named.
    let told = with(&clone, &[("apps/web/dev/config.yaml", &config_map("api", "x"))]);
    assert!(!told.contains("both render"), "{told}");
    let here = |name: &str| {
        let (file, text) = application(name, "dev");
        (
            file,
            text.replace(&format!("namespace: {name}"), "{name: here, namespace: api}")
                .replace("destination:\n    {", "destination: {"),
        )
    };
    let [web, api] = ["web", "api"].map(here);
    let told = with(&clone, &[(&web.0, &web.1), (&api.0, &api.1)]);
    assert!(told.contains("applications/dev/web.yaml:4:9: error: `api-dev` and `web-dev` both render"), "{told}");
    assert!(told.contains("`api-dev` is at applications/dev/api.yaml:4:9"), "{told}");
}

#[test]
fn what_a_patch_or_a_generator_of_a_kustomization_says_has_its_line() {
    let lab = Lab::new();
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  \
                      template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: nginx}]}\n";
    let base = ("apps/web/dev/config.yaml", deployment);
    let resources = "resources: [config.yaml]\n";
    let strategic = "patches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec:\n      \
                     replica: 3\n";
    let json = "patches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: add\n      path: /spec/template/spec/restartPolicy\n      value: \
                Never mind\n";
    let generator = "configMapGenerator:\n- name: cfg\n  literals:\n  - good=1\n  - bad key=2\n";
    let rows = [
        (strategic, ":8: warning: Kubernetes 1.37 refuses Deployment web: `spec.replica` is not a field"),
        (
            json,
            ":6: warning: Kubernetes 1.37 refuses Deployment web: `spec.template.spec.restartPolicy` is `Never mind`",
        ),
        (generator, ":6: warning: Kubernetes 1.37 refuses ConfigMap cfg-"),
    ];
    for (text, expected) in rows {
        let told = with(&clone, &[base, (KUSTOMIZATION, &[resources, text].concat())]);
        assert!(told.contains(&format!("{KUSTOMIZATION}{expected}")), "{expected}: {told}");
    }
    // A number below zero is found where a field of the kustomization sets it.
    let told = with(&clone, &[base, (KUSTOMIZATION, &[resources, "replicas:\n- name: web\n  count: -1\n"].concat())]);
    assert!(
        told.contains(&format!(
            "{KUSTOMIZATION}:4: warning: Kubernetes 1.37 refuses Deployment web: `spec.replicas` is -1"
        )),
        "{told}"
    );
}
