//! Dangers of Applications, their sets and their projects.

use super::dangers::CLAIM;
use super::{clone, json};
use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};
use serde_json::Value;

const REMOVAL: &str = "\n\nHydrate-Allow-Removal: environments/dev";

fn dangers(clone: &Repo) -> Vec<String> {
    let shown = json(clone, &[], 1);
    let all = shown["environments"].as_array().into_iter().flatten().flat_map(|one| one["dangers"].as_array());
    let said = |danger: &Value| {
        let text = |key: &str| danger[key].as_str().unwrap_or_default().to_owned();
        format!(
            "{} {}: {}",
            text("severity"),
            danger["objects"][0]["name"].as_str().unwrap_or_default(),
            text("message")
        )
    };
    all.flatten().map(said).collect()
}

#[test]
fn another_namespace_is_no_danger_where_all_objects_name_theirs() {
    let clone = clone();
    let (file, text) = application("web", "dev");
    let moved = text.replace("namespace: web", "namespace: shop");
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: []\n";
    let config = config_map("web", "one").replace("name: web", "name: web\n  namespace: fixed");
    super::commit_web(&clone, &[config, role.to_owned()]);
    clone.push().success();
    clone.commit("move", &[(&file, &moved)]);
    assert_eq!(dangers(&clone), [""; 0]);
    clone.commit("back", &[(&file, &text)]);
    super::commit_web(&clone, &[config_map("web", "one"), role.to_owned()]);
    clone.push().success();
    clone.commit("move", &[(&file, &moved)]);
    let said = dangers(&clone);
    assert!(said.len() == 1 && said[0].starts_with("other web-dev: namespace web → shop"), "{said:?}");
}

/// An Application of the directory `apps/NAME` that renders the documents there.
fn parent(name: &str) -> (String, String) {
    let (file, text) = application(name, "dev");
    (file, text.replace("spec:\n", "spec:\n  syncPolicy: {automated: {prune: true}}\n"))
}

#[test]
fn an_application_that_is_an_object_of_another_one_is_named_once() {
    let clone = dry(&Lab::new().server(), &["web"], &["dev"]);
    let (file, text) = parent("apps");
    let child = |policy: &str| {
        let text = application("child", "dev").1.replace("metadata:\n", "metadata:\n  namespace: argocd\n");
        text.replace("spec:\n", &format!("spec:\n  syncPolicy: {{automated: {policy}}}\n"))
    };
    let config = config_map("child", "x");
    let files = [
        (file.as_str(), text.as_str()),
        ("apps/apps/dev/child.yaml", &child("{}")),
        ("apps/child/dev/config.yaml", &config),
    ];
    clone.commit("parent", &files);
    clone.push().success();
    clone.commit("prune", &[("apps/apps/dev/child.yaml", &child("{prune: true}"))]);
    let shown = json(&clone, &[], 1);
    assert_eq!(shown["environments"][0]["summary"]["dangers"], 1, "{shown:#}");
    assert_eq!(shown["environments"][0]["dangers"][0]["objects"].as_array().map(Vec::len), Some(1), "{shown:#}");
}

/// A set of `db` and `other`, or of fewer.
fn set(elements: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: workloads, namespace: argocd}}\nspec:\n  \
         generators: [{{list: {{elements: [{elements}]}}}}]\n  template:\n    metadata: {{name: '{{{{name}}}}'}}\n    spec:\n      \
         project: default\n      destination: {{namespace: '{{{{name}}}}'}}\n      sourceHydrator:\n        drySource: {{repoURL: \
         https://git.example.com/dry.git, path: 'm/{{{{name}}}}', targetRevision: main}}\n        syncSource: {{targetBranch: \
         environments/dev, path: '{{{{name}}}}'}}\n"
    )
}

#[test]
fn an_application_that_leaves_its_set_for_a_file_is_deleted_first() {
    let keeps = "  syncPolicy: {applicationsSync: create-update}\n";
    for (policy, expected) in [("", Some("data-loss")), (keeps, None)] {
        let clone = dry(&Lab::new().server(), &["web"], &["dev"]);
        let with_policy =
            |elements: &str| set(elements).replace("spec:\n  generators", &format!("spec:\n{policy}  generators"));
        let db = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: db, namespace: argocd}\nspec:\n  project: \
                  default\n  destination: {namespace: db}\n  sourceHydrator:\n    drySource: {repoURL: \
                  https://git.example.com/dry.git, path: m/db, targetRevision: main}\n    syncSource: {targetBranch: \
                  environments/dev, path: db}\n";
        let files = [
            ("applications/set.yaml", with_policy("{name: db}, {name: other}")),
            ("m/db/claim.yaml", CLAIM.to_owned()),
            ("m/other/config.yaml", config_map("other", "x")),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
        clone.commit("set", &files);
        clone.push().success();
        clone.commit(
            "own file",
            &[("applications/set.yaml", &with_policy("{name: other}")), ("applications/db.yaml", db)],
        );
        let shown = json(&clone, &[], i32::from(expected.is_some()));
        let danger = &shown["environments"][0]["dangers"][0];
        assert_eq!(danger["severity"].as_str(), expected, "{shown:#}");
        if expected.is_some() {
            let text = clone.hydrate(&["diff", "--against", "HEAD~1"]).exits(1).stdout;
            assert!(text.contains("\n    what it deploys goes with it, and comes again\n"), "{text}");
            let said = "its ApplicationSet workloads deletes it, and its object with it, before the other document makes it anew";
            assert_eq!((&danger["message"], &danger["objects"][0]["name"]), (&said.into(), &"db".into()), "{shown:#}");
        }
    }
}

fn project(spec: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {{name: default, namespace: argocd}}\nspec: {spec}\n"
    )
}

#[test]
fn applications_that_their_project_no_longer_permits_are_an_outage() {
    let clone = dry(&Lab::new().server(), &["web", "api", "projects"], &["dev"]);
    let (file, text) = parent("projects");
    clone.commit("prune", &[(&file, &text)]);
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: []\n";
    super::commit_web(&clone, &[config_map("web", "x"), role.to_owned()]);
    let commit = |message: &str, text: &str| clone.commit(message, &[("apps/projects/dev/config.yaml", text)]);
    let all = "sourceRepos: ['*'], destinations: [{namespace: '*', server: '*'}]";
    commit("project", &project(&format!("{{{all}, clusterResourceWhitelist: [{{group: '*', kind: '*'}}]}}")));
    clone.push().success();
    let rows = [
        (
            format!(
                "{{{}, clusterResourceWhitelist: [{{group: '*', kind: '*'}}]}}",
                all.replace("server: '*'", "server: 'https://a'")
            ),
            "",
        ),
        (
            format!("{{{all}, clusterResourceWhitelist: [{{group: '', kind: Namespace}}]}}"),
            "an Application (web-dev: its ClusterRole r)",
        ),
        (
            format!(
                "{{{}, clusterResourceWhitelist: [{{group: '*', kind: '*'}}]}}",
                all.replace("['*']", "['https://a/*']")
            ),
            "3 Applications (api-dev: its repository https://git.example.com/dry.git, ",
        ),
    ];
    for (spec, expected) in rows {
        commit("narrower", &project(&spec));
        let said = dangers(&clone);
        let is_it = |one: &String| one.starts_with(&format!("outage default: no longer permits {expected}"));
        assert!(expected.is_empty() || said.iter().any(is_it), "{spec}: {said:?}");
    }
    commit(&format!("gone{REMOVAL}"), &config_map("projects", "x"));
    let said = dangers(&clone);
    let expected = "outage default: removed while Applications are of it (api-dev, projects-dev, web-dev): Argo CD stops syncing them";
    assert_eq!(said, [expected]);
}

#[test]
fn an_application_that_goes_from_an_app_of_apps_says_that_its_objects_stay() {
    let clone = dry(&Lab::new().server(), &["web"], &["dev"]);
    let (file, text) = parent("apps");
    let child = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: child, namespace: argocd}\nspec:\n  \
                 destination: {namespace: c, name: in-cluster}\n  source: {repoURL: https://example.com/x, path: p}\n";
    let files = [("apps/apps/dev/child.yaml", child), ("apps/apps/dev/map.yaml", &config_map("map", "x"))];
    clone.commit("parent", &[&[(file.as_str(), text.as_str())], &files[..]].concat());
    clone.push().success();
    clone.commit("gone", &[("apps/apps/dev/child.yaml", "")]);
    assert_eq!(dangers(&clone), ["other child: removed: its objects stay, and nothing manages them"]);
    clone.commit(
        "finalizer",
        &[(
            "apps/apps/dev/child.yaml",
            &child.replace("metadata: {", "metadata: {finalizers: [resources-finalizer.argocd.argoproj.io], "),
        )],
    );
    clone.push().success();
    clone.commit("gone", &[("apps/apps/dev/child.yaml", "")]);
    assert!(dangers(&clone)[0].starts_with("outage child: removed, with all that it deploys"));
}

/// The project of Applications does not ask whether they are hydrated.
#[test]
fn a_project_counts_applications_that_are_not_hydrated() {
    let clone = dry(&Lab::new().server(), &["projects"], &["dev"]);
    let (file, text) = parent("projects");
    let of_project = |name: &str, from: &str, to: &str| {
        let (file, text) = application(name, "test");
        (file, text.replace("spec:\n", "spec:\n  project: shop\n").replace(from, to))
    };
    let applications = [
        of_project("a", "", ""),
        of_project("b", "path: b\n", "path: a\n"),
        of_project("c", "targetRevision: main", "targetRevision: v1"),
    ];
    let configs = ["a", "b"].map(|name| (format!("apps/{name}/test/config.yaml"), config_map(name, "x")));
    let project = |spec: &str| project(spec).replace("name: default", "name: shop");
    let all = "sourceRepos: ['*'], destinations: [{namespace: '*', server: '*'}]";
    let of_all = project(&format!("{{{all}}}"));
    let files = applications.iter().chain(&configs).map(|(file, text)| (file.as_str(), text.as_str()));
    let files = files.chain([(file.as_str(), text.as_str()), ("apps/projects/dev/config.yaml", of_all.as_str())]);
    clone.commit("project", &files.collect::<Vec<_>>());
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.commit(
        "own clusters",
        &[("apps/projects/dev/config.yaml", &project(&format!("{{permitOnlyProjectScopedClusters: true, {all}}}")))],
    );
    for args in [&["diff"][..], &["diff", "--against", "HEAD~1"]] {
        let text = clone.hydrate(args).exits(1).stdout;
        let expected = "\n  outage AppProject argocd/shop: no longer permits 3 Applications (a-test: its cluster ";
        assert!(text.contains(expected), "{text}");
    }
}
