//! `git hydrate adopt --write-source-hydrator`: files of plain Applications, edited; real pushes.

use std::fs;

use serde_json::Value;

use crate::made_applications::{URL, config, files};
use crate::support::{Answer, Lab, Repo};

const BY_LABEL: &str = "environments/{{ labels.env }}";

/// Applications of every style, and some that no file can say a `drySource` of.
fn styles() -> Vec<(String, String)> {
    let head = "apiVersion: argoproj.io/v1alpha1\nkind: Application\n";
    let names = ["block", "anchor", "flow", "crlf", "json"];
    let mut all: Vec<(String, String)> = names.iter().map(|name| config(name, "dev", "one")).collect();
    let mut add = |path: &str, text: String| all.push((path.to_owned(), text));
    add(
        "argocd/several.yaml",
        format!(
            "# The first of all.
{head}metadata:
  name: block
  labels: {{env: dev}}   # where
spec:
  project: default

  source:   # what
    # the repository
    repoURL: {URL}
    targetRevision: \"HEAD\"
    path: apps/block/dev   # and its directory
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
---
# No Application.
apiVersion: v1
kind: ConfigMap
metadata: {{name: other}}
---
{head}metadata: {{name: anchor, labels: &labels {{env: dev}}}}
spec:
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  source: &source {{repoURL: {URL}, path: apps/anchor/dev}}
  info: [{{name: labels, value: x}}]
"
        ),
    );
    add(
        "argocd/flow.yaml",
        format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: flow, labels: {{env: dev}}}}, spec: {{source: {{repoURL: \
             '{URL}', targetRevision: HEAD, path: apps/flow/dev}}, destination: {{server: https://kubernetes.default.svc}}}}}}\n"
        ),
    );
    let crlf = format!(
        "{head}metadata:\n    name: crlf\n    labels:\n        env: dev\nspec:\n    source:\n        repoURL: {URL}\n        targetRevision: HEAD\n        \
         path: apps/crlf/dev\n    project: default\n"
    );
    add("argocd/crlf.yaml", crlf.replace('\n', "\r\n"));
    add(
        "argocd/app.json",
        format!(
            "{{\n  \"apiVersion\": \"argoproj.io/v1alpha1\",\n  \"kind\": \"Application\",\n  \"metadata\": {{\"name\": \"json\", \"labels\": {{\"env\": \
             \"dev\"}}}},\n  \"spec\": {{\n    \"source\": {{\n      \"repoURL\": \"{URL}\",\n      \"targetRevision\": \"HEAD\",\n      \"path\": \
             \"apps/json/dev\"\n    }}\n  }}\n}}\n"
        ),
    );
    // A release has the name of its Application by a rule.
    add("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned());
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {a: '{{ .Values.a }}'}\n";
    add("chart/templates/map.yaml", map.to_owned());
    add(
        "argocd/chart.yaml",
        format!(
            "{head}metadata: {{name: chart, labels: {{env: dev}}}}\nspec:\n  source:\n    repoURL: {URL}\n    targetRevision: HEAD\n    path: chart\n    \
             helm:\n      parameters: [{{name: a, value: b}}]\n"
        ),
    );
    // What is refused.
    add(
        "argocd/sources.yaml",
        format!(
            "{head}metadata: {{name: sources, labels: {{env: dev}}}}\nspec:\n  sources:\n  - {{repoURL: {URL}, targetRevision: HEAD, path: apps/block/dev, \
             directory: {{exclude: '*'}}}}\n"
        ),
    );
    add(
        "argocd/elsewhere.yaml",
        format!(
            "{head}metadata: {{name: elsewhere, labels: {{env: dev}}}}\nspec:\n  source: {{repoURL: 'https://charts.example.com', chart: web, \
             targetRevision: 1.0.0}}\n"
        ),
    );
    add(
        "argocd/set.yaml",
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all}}\nspec:\n  generators: [{{list: {{elements: [{{app: made}}]}}}}]\n  \
             template:\n    metadata: {{name: '{{{{app}}}}', labels: {{env: dev}}}}\n    spec: {{source: {{repoURL: {URL}, targetRevision: HEAD, path: \
             apps/made/dev}}}}\n"
        ),
    );
    let (path, text) = config("made", "dev", "one");
    add(&path, text);
    add(
        "argocd/alias.yaml",
        format!(
            "{head}metadata: {{name: alias, labels: {{env: dev}}, annotations: {{}}}}\nx-source: &it {{repoURL: {URL}, targetRevision: HEAD, path: \
             apps/alias/dev}}\nspec: {{source: *it}}\n"
        ),
    );
    let (path, text) = config("alias", "dev", "one");
    add(&path, text);
    all
}

fn adopt(clone: &Repo, args: &[&str]) -> Answer {
    clone.hydrate(&[&["adopt", "--offline"], args].concat())
}

/// Every manifest of a branch, with the id of its content.
fn manifests(server: &Repo, branch: &str) -> Vec<String> {
    let all = files(server, branch);
    let paths = all.split(' ').filter(|path| path.ends_with("/manifest.yaml"));
    paths.map(|path| format!("{path} {}", server.git(&["rev-parse", &format!("{branch}:{path}")]))).collect()
}

#[test]
fn files_are_edited_and_the_push_hydrates_what_the_rules_did() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    let all = styles();
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.git(&["config", "core.autocrlf", "false"]);
    clone.commit("every style", &all);
    clone.hydrate(&["adopt", "--branch-pattern", BY_LABEL, "--write"]).exits(1);
    clone.hydrate(&["config", "set", "onFailure", "application"]).success();
    clone.git(&["push", "-q", "origin", "refs/hydrate/config"]);
    clone.push();
    let branch = "environments/dev";
    let before = manifests(&server, branch);
    assert_eq!(before.len(), 9, "{before:?}");

    let head = clone.git(&["rev-parse", "HEAD"]);
    let shown = adopt(&clone, &["--write-source-hydrator", "--dry-run"]).exits(1).stdout;
    for expected in [
        "--- a/argocd/several.yaml\n+++ b/argocd/several.yaml\n@@ -7,11 +7,15 @@\n spec:\n   project: default\n \n-  source:   # what\n-    # the repository\n",
        "+  sourceHydrator:\n+    drySource:   # what\n+      # the repository\n",
        "+      path: apps/block/dev   # and its directory\n+    syncSource:\n+      targetBranch: environments/dev\n+      path: block\n",
        "+  sourceHydrator:\n+    drySource: &source {targetRevision: HEAD, repoURL:",
        "+        releaseName: chart\n",
        "4 Applications not edited\n",
        "  it has `sources`, and a `drySource` is one: keep its rule\n      sources (argocd/sources.yaml:3)\n",
        "  its source is chart web 1.0.0 of https://charts.example.com, and a `drySource` is a directory of this repository: keep its rule\n      elsewhere (argocd/elsewhere.yaml:3)\n",
        "  ApplicationSet `all` makes it: edit the template of the set, or keep its rule\n      made (argocd/set.yaml:7)\n",
        "  its `source` is an alias of what is elsewhere in the file\n      alias (argocd/alias.yaml:3)\n",
        "6 Applications of 5 files would get `spec.sourceHydrator`; nothing was written\n",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    assert_eq!(clone.git(&["status", "--short"]), "");

    let told: Value =
        serde_json::from_str(&adopt(&clone, &["--write-source-hydrator", "--json"]).exits(1).stdout).expect("JSON");
    assert_eq!((&told["format"], &told["written"]), (&Value::from(1), &Value::from(true)));
    assert_eq!((told["files"].as_array().map(Vec::len), told["refused"].as_array().map(Vec::len)), (Some(5), Some(4)));
    // Each changed line has to do with a source; line ends stay.
    let crlf = fs::read_to_string(clone.path.join("argocd/crlf.yaml")).expect("read");
    assert_eq!(crlf.matches("\r\n").count(), crlf.matches('\n').count());
    assert!(crlf.contains("    sourceHydrator:\r\n        drySource:\r\n            repoURL:"), "{crlf}");
    let several = fs::read_to_string(clone.path.join("argocd/several.yaml")).expect("read");
    assert!(
        several.starts_with("# The first of all.\n") && several.contains("\n---\n# No Application.\n"),
        "{several}"
    );

    clone.git(&["commit", "-qam", "Say where it is hydrated"]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("environments/dev  unchanged"), "{told}");
    assert_eq!(manifests(&server, branch), before);
    assert_ne!(clone.git(&["rev-parse", "HEAD"]), head);
    let told = adopt(&clone, &["--write-source-hydrator"]).exits(1).stdout;
    assert!(told.contains("\n0 Applications of 0 files got `spec.sourceHydrator`"), "{told}");
}

#[test]
fn what_others_are_made_from_stays_as_it_is() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let app = |name: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, labels: {{env: dev}}}}\nspec:\n  source: {{repoURL: {URL}, \
             targetRevision: HEAD, path: apps/{name}/dev}}\n"
        )
    };
    // A set reads the source of an Application out of its file.
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: twins}}\nspec:\n  generators: [{{git: {{repoURL: {URL}, revision: HEAD, \
         files: [{{path: argocd/web.yaml}}]}}}}]\n  template:\n    metadata: {{name: '{{{{metadata.name}}}}-twin', labels: {{env: dev}}}}\n    spec: {{source: \
         {{repoURL: {URL}, targetRevision: HEAD, path: '{{{{spec.source.path}}}}'}}}}\n"
    );
    let (web, api) = (config("web", "dev", "one"), config("api", "dev", "one"));
    let files = [
        ("argocd/web.yaml", app("web")),
        ("argocd/api.yaml", app("api")),
        ("set.yaml", set),
        (&web.0, web.1.clone()),
        (&api.0, api.1.clone()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    clone.commit("a set of twins", &files);
    let told =
        adopt(&clone, &["--repo-url", URL, "--branch-pattern", BY_LABEL, "--write-source-hydrator"]).exits(1).stdout;
    assert!(told.contains("      web (argocd/web.yaml:3)\n") && told.contains("  with `sourceHydrator`"), "{told}");
    assert!(told.contains("1 Application of 1 file got"), "{told}");
    assert_eq!(clone.git(&["status", "--short"]), " M argocd/api.yaml");
}

#[test]
fn what_is_asked_for_wrongly_is_refused() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (path, text) = config("web", "dev", "one");
    let app = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec: {{source: {{repoURL: {URL}, targetRevision: HEAD, path: \
         apps/web/dev}}}}\n"
    );
    clone.commit("one", &[("web.yaml", &app), (&path, &text)]);
    let rows: [(&Repo, &[&str], &str); 4] = [
        (&clone, &["--write-source-hydrator"], "give a --branch-pattern, or set rules"),
        (&clone, &["--dry-run"], "--write-source-hydrator"),
        (&clone, &["--write", "--write-source-hydrator"], "cannot be used with"),
        (&server, &["--write-source-hydrator"], "this is a server's repository"),
    ];
    for (repo, args, expected) in rows {
        let refused = repo.hydrate(&[&["adopt"], args].concat()).exits(2).stderr;
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
    // Through a link, a file outside could be written.
    fs::rename(clone.path.join("web.yaml"), lab.path("outside.yaml")).expect("moved");
    fs::create_dir(clone.path.join("real")).expect("made");
    fs::copy(lab.path("outside.yaml"), clone.path.join("real/web.yaml")).expect("copied");
    let told = adopt(&clone, &["--branch-pattern", "environments/dev", "--write-source-hydrator"]).exits(0).stdout;
    assert!(told.contains("1 Application of 1 file got `spec.sourceHydrator`\n"), "{told}");
    // There are no rules: a pattern led them.
    assert!(!told.contains("rule"), "{told}");
}
