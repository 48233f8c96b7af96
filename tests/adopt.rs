//! `git hydrate adopt` in a clone: a repository as it is, and how it comes to be hydrated.

mod clusters;
mod foretold;
mod patterns;

use std::fs;

use serde_json::Value;

use crate::made_applications::{config, files, manifest};
use crate::support::{Answer, Lab, Repo};
use crate::vendor::{files_of, packed, vendor};

const URL: &str = "https://git.example.com/team/dry.git";

const BY_LABEL: &str = "environments/{{ labels.env }}";

/// An Application as Argo CD users write it.
fn application(name: &str, labels: &str, source: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}
  namespace: argocd
  labels: {{{labels}}}
spec:
  project: default
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  source: {{{source}}}
"
    )
}

fn here(path: &str) -> String {
    format!("repoURL: '{URL}', targetRevision: HEAD, path: {path}")
}

/// A directory with a repository of charts.
fn charts(lab: &Lab) -> std::path::PathBuf {
    let root = lab.path("charts");
    fs::create_dir_all(&root).expect("made");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\n";
    let chart = "apiVersion: v2\nname: web\nversion: 1.2.3\n";
    let chart = packed(
        &[("web/Chart.yaml", chart), ("web/templates/a.yaml", map)]
            .map(|(path, text)| (path.to_owned(), text.to_owned())),
    );
    fs::write(root.join("web-1.2.3.tgz"), chart).expect("written");
    let index = "apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.2.3, urls: [web-1.2.3.tgz]}\n";
    fs::write(root.join("index.yaml"), index).expect("written");
    root
}

/// A hundred Applications: in files, of a set, of an app of apps that only the cluster has, with charts from elsewhere; and a
/// few with which something is wrong.
fn hundred(clone: &Repo, chart_url: &str) {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |path: String, text: String| all.push((path, text));
    for (number, env) in (0..40).map(|index| (index / 2, ["dev", "prod"][index % 2])) {
        let name = format!("app-{number}-{env}");
        add(
            format!("argocd/{env}/{name}.yaml"),
            application(&name, &format!("env: {env}"), &here(&format!("apps/{name}/{env}"))),
        );
        let (path, text) = config(&name, env, "one");
        add(path, text);
    }
    let elements: Vec<String> =
        (0..20).map(|index| format!("{{app: svc-{index}, env: {}}}", ["dev", "prod"][index % 2])).collect();
    let template = application("'{{app}}-{{env}}'", "env: '{{env}}'", &here("'apps/{{app}}/{{env}}'"));
    let template = template.split_once("metadata:").expect("there").1.replace('\n', "\n    ");
    add(
        "argocd/set.yaml".to_owned(),
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: services, namespace: argocd}}\nspec:\n  \
         generators:\n  - list: {{elements: [{}]}}\n  template:\n    metadata:{}\n",
            elements.join(", "),
            template.trim_end()
        ),
    );
    for index in 0..20 {
        let (path, text) = config(&format!("svc-{index}"), ["dev", "prod"][index % 2], "one");
        add(path, text);
    }
    add("bootstrap/Chart.yaml".to_owned(), "apiVersion: v2\nname: bootstrap\nversion: 1.0.0\n".to_owned());
    let team = application("team-{{ $team }}", "env: prod", &here("apps/team-{{ $team }}/prod"));
    add(
        "bootstrap/templates/teams.yaml".to_owned(),
        format!("{{{{- range $team := until 10 }}}}\n---\n{team}{{{{- end }}}}\n"),
    );
    for index in 0..10 {
        let (path, text) = config(&format!("team-{index}"), "prod", "one");
        add(path, text);
    }
    for index in 0..20 {
        let name = format!("web-{index}");
        let source = format!("repoURL: '{chart_url}', chart: web, targetRevision: 1.2.3");
        add(format!("argocd/charts/{name}.yaml"), application(&name, "env: prod", &source));
    }
    for index in 0..5 {
        let name = format!("base-{index}");
        add(
            format!("argocd/kustomize/{name}.yaml"),
            application(&name, "env: dev", &here(&format!("kustomize/{name}"))),
        );
        add(format!("kustomize/{name}/kustomization.yaml"), "resources: [map.yaml]\n".to_owned());
        add(
            format!("kustomize/{name}/map.yaml"),
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"),
        );
    }
    for (chart, template) in [("random", "{{ randAlphaNum 5 }}"), ("broken", "{{ fail \"no\" }}")] {
        add(format!("charts/{chart}/Chart.yaml"), format!("apiVersion: v2\nname: {chart}\nversion: 1.0.0\n"));
        add(
            format!("charts/{chart}/templates/a.yaml"),
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: '{{{{ .Release.Name }}}}'}}\ndata: {{a: '{template}'}}\n"
            ),
        );
    }
    for (name, labels, source) in [
        ("random-1", "env: dev", here("charts/random")),
        ("random-2", "env: prod", here("charts/random")),
        ("broken", "env: dev", here("charts/broken")),
        ("pinned", "env: prod", here("apps/pinned").replace("HEAD", "v1.0.0")),
        ("unlabelled", "team: x", here("kustomize/base-0")),
    ] {
        add(format!("argocd/odd/{name}.yaml"), application(name, labels, &source));
    }
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("Run a hundred Applications", &all);
}

fn adopt(clone: &Repo, args: &[&str]) -> Answer {
    clone.hydrate(&[&["adopt"], args].concat())
}

/// How many Applications hydrate, and of how many; and how many do not, by their causes.
fn numbers(clone: &Repo, args: &[&str]) -> (u64, usize, Vec<(String, usize)>) {
    let answer = adopt(clone, &[&["--json"], args].concat());
    let found: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let applications = found["adoption"]["applications"].as_array().expect("a list");
    let mut causes: Vec<(String, usize)> = Vec::new();
    for cause in applications.iter().filter_map(|one| one["cause"].as_str()) {
        match causes.iter_mut().find(|(known, _)| known == cause) {
            Some((_, count)) => *count += 1,
            None => causes.push((cause.to_owned(), 1)),
        }
    }
    causes.sort();
    (found["adoption"]["hydrate"].as_u64().expect("a number"), applications.len(), causes)
}

fn causes(rows: &[(&str, usize)]) -> Vec<(String, usize)> {
    rows.iter().map(|(cause, count)| ((*cause).to_owned(), *count)).collect()
}

/// A plain directory with one object, and an Application of it.
fn plain(name: &str, path: &str) -> (String, String) {
    let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {path}}}\n");
    (application(name, "env: dev", &here(path)), object)
}

#[test]
fn a_hundred_applications_come_to_be_hydrated_without_being_edited() {
    let lab = Lab::new();
    let upstream = files_of(charts(&lab));
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    hundred(&clone, &upstream.url());

    // What there is, and what to ask for.
    let told = adopt(&clone, &[]).exits(1).stdout;
    let first = told.split("for --branch-pattern\n").nth(1).expect("patterns").lines().next().expect("one");
    assert_eq!(first, format!("  '{BY_LABEL}'"), "{told}");
    for expected in [
        &format!("  repoURL:  # named by 70 sources\n  - {URL}\n"),
        "  - name: bootstrap\n    path: bootstrap\n    namespace: argocd\n",
        "  nondeterministic:  # Applications that need it: randAlphaNum: 2\n  - randAlphaNum\n",
        "20 Applications need what is not in this repository: git hydrate vendor\n",
        "78 of 100 Applications would hydrate (of the 100, 30 are made by ApplicationSets and other Applications)\n",
        &format!(
            "  git hydrate adopt --branch-pattern '{BY_LABEL}' --branch-pattern environments/main --write --vendor"
        ),
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert!(clone.git(&["for-each-ref", "refs/hydrate"]).is_empty() && clone.git(&["status", "--short"]).is_empty());
    let mut shown = vec![told];
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    let next = format!(
        "  git hydrate adopt --branch-pattern '{BY_LABEL}' --branch-pattern environments/main --repo-url {URL} --write"
    );
    assert!(told.contains(&next), "{told}");
    let refused = adopt(&clone, &["--write"]).exits(2).stderr;
    assert!(refused.contains("give a --branch-pattern"), "{refused}");

    // With a pattern, each has a branch; the settings are written, no file is.
    let told = adopt(&clone, &["--branch-pattern", BY_LABEL, "--write"]).exits(1).stdout;
    for expected in [
        "environments/dev   36 of 37 Applications hydrate\n",
        "environments/prod  41 of 62 Applications hydrate\n",
        "1 Application is not right as it is written\n  argocd/odd/unlabelled.yaml:4:9: the proposed rule: `branch`: it uses a value that does not exist: `labels.env`\n",
        "  onFailure: application  # else 77 Applications wait for others of their branches that fail\n",
        "  git hydrate vendor --commit ",
        "  git push origin HEAD:main refs/hydrate/config",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    shown.push(told);
    assert!(clone.git(&["status", "--short"]).is_empty());
    let all = [("document", 1), ("input", 20), ("pinned", 1), ("render", 1)];
    assert_eq!(numbers(&clone, &[]), (77, 100, causes(&all)));

    // Run again, it tells how far it is.
    vendor(&clone, &[]).success();
    let rest = [("document", 1), ("pinned", 1), ("render", 1)];
    assert_eq!(numbers(&clone, &[]), (97, 100, causes(&rest)));
    let told = adopt(&clone, &[]).exits(1).stdout;
    assert!(!told.contains("vendor") && !told.contains("settings to write"), "{told}");
    assert!(told.contains("\n97 of 100 Applications hydrate (of the 100, 30 are made"), "{told}");

    // The server does the same.
    let applications = clone.git(&["rev-parse", "HEAD"]);
    clone.commit("vendor", &[]);
    // A seed is there.
    clone.hydrate(&["config", "set", "seeds", "new"]).exits(2);
    let pushed =
        clone.run("git", &["push", "origin", "HEAD:main", "refs/hydrate/config"]).success().remote().join("\n");
    assert!(pushed.contains("environments/dev") && pushed.contains("environments/prod"), "{pushed}");
    let count =
        |branch: &str| files(&server, branch).split(' ').filter(|file| file.ends_with("/manifest.yaml")).count();
    assert_eq!((count("environments/dev"), count("environments/prod")), (36, 61));
    // helm 4.2.3 template web-7 web-1.2.3.tgz.
    assert_eq!(
        manifest(&server, "environments/prod", "web-7"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web-7"
    );
    assert_eq!(numbers(&server.clone_to("other"), &[]), (97, 100, causes(&rest)));
    shown.push(told);
    shown.push(compared(&lab, &server, &clone));

    // The page shows what they said.
    let readme = include_str!("../docs/migrate.md");
    let mut missing: Vec<String> =
        shown.iter().map(|told| told.replace(&upstream.url(), "https://charts.example.com")).collect();
    missing.retain(|told| !readme.contains(told.as_str()));
    assert!(missing.is_empty(), "docs/migrate.md has other words than these:\n{}", missing.join("\n----\n"));

    copies_follow(&server, &clone);
    one_breaks_and_others_go_on(&server, &clone);
    frozen_and_thawed(&server, &clone);

    // The way back: nothing of the dry branch is to be changed.
    server.hydrate(&["uninstall", "--server"]).success();
    let refs = [":environments/dev", ":environments/prod", ":applications", ":refs/hydrate/config"];
    clone.git(&[&["push", "-q", "origin"], &refs[..]].concat());
    assert_eq!(server.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]), "refs/heads/main");
    assert_eq!(clone.git(&["diff", "--stat", &applications, "--", ".", ":!.hydrate", ":!apps", ":!NOTES"]), "");
}

/// What runs, as Argo CD applied it from the dry branch: what is hydrated, with what the cluster and Argo CD add. One
/// value was changed by hand, one object is from before, and one never came to be.
fn compared(lab: &Lab, server: &Repo, clone: &Repo) -> String {
    let live = lab.path("live");
    fs::create_dir(&live).expect("made");
    for branch in ["environments/dev", "environments/prod"] {
        let all = files(server, branch);
        for name in all.split(' ').filter_map(|path| path.strip_suffix("/manifest.yaml")) {
            let added = format!(
                "metadata:\n  annotations:\n    argocd.argoproj.io/tracking-id: {name}:/ConfigMap:shop/{name}\n  creationTimestamp: \
                 \"2030-01-01T00:00:00Z\"\n  namespace: shop\n  resourceVersion: \"4711\"\n  uid: 0b7a2f6c\n"
            );
            let mut text = manifest(server, branch, name).replace("metadata:\n", &added) + "\n";
            match name {
                "app-3-prod" => text = text.replace("value: one", "value: by hand"),
                "app-4-prod" => text += &format!("---\n{}", text.replace("app-4-prod\n", "app-4-former\n")),
                "web-5" => continue,
                _ => {}
            }
            fs::write(live.join(format!("{name}.yaml")), text).expect("written");
        }
    }
    let told = adopt(clone, &["--compare", "../live"]).exits(1).stdout;
    assert!(told.contains("\n94 of 96 Applications that run are the same\n"), "{told}");
    told
}

/// Every Application that hydrates has a copy, alone or as what its set makes.
fn copies_follow(server: &Repo, clone: &Repo) {
    server.hydrate(&["config", "set", "applicationsTo", "applications"]);
    clone.commit("notes", &[("NOTES", "copies")]);
    clone.push().success();
    let copies = files(server, "applications");
    let count = copies.split(' ').filter(|file| file.ends_with("/manifest.yaml")).count();
    assert_eq!(count, 78, "{copies}");
    let copy = manifest(server, "applications", "applications/argocd/web-7");
    assert!(copy.contains("path: web-7\n") && copy.contains("targetRevision: environments/prod"), "{copy}");
}

/// A config of an application that was changed.
fn change(clone: &Repo, name: &str, value: &str) {
    let env = if name.ends_with("prod") { "prod" } else { "dev" };
    let (path, text) = config(name, env, value);
    clone.commit(&format!("{name}: {value}"), &[(&path, &text)]);
}

fn one_breaks_and_others_go_on(server: &Repo, clone: &Repo) {
    let before = manifest(server, "environments/prod", "app-3-prod");
    change(clone, "app-3-prod", "'");
    change(clone, "app-4-prod", "two");
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("app-3-prod"), "{told}");
    assert_eq!(manifest(server, "environments/prod", "app-3-prod"), before);
    assert!(manifest(server, "environments/prod", "app-4-prod").contains("value: two"));
    change(clone, "app-3-prod", "three");
    clone.push().success();
    assert!(manifest(server, "environments/prod", "app-3-prod").contains("value: three"));
}

fn frozen_and_thawed(server: &Repo, clone: &Repo) {
    let tips = || ["environments/prod", "environments/dev"].map(|branch| server.git(&["rev-parse", branch]));
    let freeze = "{environments/prod: {reason: end of the year}}";
    server.hydrate(&["config", "set", "frozen", "--", freeze]);
    let before = tips();
    change(clone, "app-5-prod", "two");
    change(clone, "app-5-dev", "two");
    clone.push().success();
    let [prod, dev] = tips();
    assert!(prod == before[0] && dev != before[1]);
    server.hydrate(&["config", "unset", "frozen"]);
    assert!(manifest(server, "environments/prod", "app-5-prod").contains("value: two"));
}

#[test]
fn where_everything_hydrates_adopt_has_nothing_to_say_against_it() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let (path, text) = config("web", "dev", "one");
    clone.commit("one", &[("web.yaml", &application("web", "env: dev", &here("apps/web/dev"))), (&path, &text)]);
    let told = adopt(&clone, &["--branch-pattern", "environments/dev", "--write"]).exits(0).stdout;
    assert!(told.contains("\n1 of 1 Application hydrate\n"), "{told}");
    assert_eq!(clone.hydrate(&["config", "get", "rules", "--json"]).code, Some(0));
    let told = adopt(&clone, &[]).exits(0).stdout;
    assert!(told.contains("next\n  git hydrate diff --worktree"), "{told}");
}

#[test]
fn adopt_replaces_no_rules_that_somebody_wrote() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let (path, text) = config("web", "dev", "one");
    let files = [("web", "env: dev"), ("other", "team: x")]
        .map(|(name, labels)| (format!("{name}.yaml"), application(name, labels, &here("apps/web/dev"))));
    clone.commit("two", &[(&files[0].0, &files[0].1), (&files[1].0, &files[1].1), (&path, &text)]);
    let rules = "- {match: {labels: {env: '*'}}, branch: 'environments/{{ labels.env }}', path: '{{ name }}'}\n";
    clone.hydrate(&["config", "set", "rules", "--", rules]).success();
    let refused = adopt(&clone, &["--branch-pattern", "all"]).exits(2).stderr;
    assert!(
        refused.contains("there are rules with `match`") && refused.contains("git hydrate config edit"),
        "{refused}"
    );
    // What no rule is for is told.
    assert_eq!(numbers(&clone, &[]), (1, 2, causes(&[("no-rule", 1)])));
}

#[test]
fn what_is_asked_for_wrongly_is_refused_with_the_way_to_ask() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let rows: [(&Repo, &[&str], &str); 6] = [
        (
            &clone,
            &["--branch-pattern", "a..b"],
            "--branch-pattern, --path-pattern: `branch`: `a..b` is not a valid branch name",
        ),
        (&clone, &["--branch-pattern", "{{ nme }}"], "there is no value `nme`; there are name"),
        (&clone, &["--root", "../x"], "--root ../x: "),
        (&clone, &["environments/dev"], "git hydrate config add adopt BRANCH"),
        (&clone, &["--branch-pattern", "x", "--write", "--dry-run"], "'--write' cannot be used with '--dry-run'"),
        (&server, &["--write"], "this is a server's repository"),
    ];
    for (repo, args, expected) in rows {
        let refused = adopt(repo, args).exits(2).stderr;
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
}

#[test]
fn a_chart_in_a_directory_of_a_registry_is_an_input() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let source = "repoURL: registry.example.com, chart: charts/web, targetRevision: 1.2.3";
    clone.commit("one", &[("web.yaml", &application("web", "env: dev", source))]);
    let told = adopt(&clone, &[]).exits(1).stdout;
    assert!(told.contains("git hydrate adopt --repo-url URL"), "{told}");
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(told.contains("chart web 1.2.3 of oci://registry.example.com/charts"), "{told}");
}

#[test]
fn what_an_application_of_a_root_renders_is_no_root() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let chart = |name: &str| format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
    let (path, text) = config("web", "dev", "one");
    clone.commit(
        "two charts of Applications",
        &[
            ("a/Chart.yaml", &chart("a")),
            ("a/templates/web.yaml", &application("web", "env: dev", &here("apps/web/dev"))),
            ("top/Chart.yaml", &chart("top")),
            ("top/templates/a.yaml", &application("a", "env: dev", &here("a"))),
            (&path, &text),
        ],
    );
    let told = adopt(&clone, &[]).exits(1).stdout;
    assert!(told.contains("  - name: top\n    path: top\n") && !told.contains("- name: a\n"), "{told}");
    assert!(told.contains("2 of 2 Applications would hydrate"), "{told}");
}

#[test]
fn of_what_a_set_makes_the_one_that_renders_what_another_one_does_is_named() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let mut set = application("'{{.path.basename}}'", "", &here("'{{.path.path}}'")).replace('\n', "\n    ");
    let from = set.find("metadata:").expect("a document");
    set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  \
         goTemplate: true\n  generators:\n  - git: {{repoURL: '{URL}', revision: HEAD, directories: [{{path: apps/*}}]}}\n  \
         template:\n    {}",
        &set[from..]
    );
    let object = |name: &str| plain("", name).1;
    let mut all = vec![("set.yaml".to_owned(), set)];
    all.extend(["a", "b", "c"].map(|name| (format!("apps/{name}/config.yaml"), object(name))));
    all.extend(["b", "c"].map(|name| (format!("apps/{name}/shared.yaml"), object("shared"))));
    clone.commit("a set", &all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let args = ["--repo-url", URL, "--branch-pattern", "environments/one"];
    clone.hydrate(&["config", "set", "rules", "[{branch: environments/one, path: '{{ name }}'}]"]).exits(0);
    let told = adopt(&clone, &args).exits(1).stdout;
    assert!(told.contains("`b` and `c` both render") && told.contains("\nc keeps its branch as a whole"), "{told}");
    let found = adopt(&clone, &[&args[..], &["--json"]].concat()).stdout;
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let applications = found["adoption"]["applications"].as_array().expect("a list");
    let cause = |name: &str| applications.iter().find(|one| one["name"] == name).map(|one| one["cause"].clone());
    assert_eq!((cause("a"), cause("c")), (Some("kept-back".into()), Some("object-conflict".into())), "{told}");
}

#[test]
fn a_chart_whose_values_are_placeholders_is_no_root() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let one = application("web", "env: dev", "repoURL: '{{ .Values.url }}', path: web, targetRevision: HEAD");
    let two = one.replace("name: web", "name: api");
    let chart = [
        ("my cluster/Chart.yaml", "apiVersion: v2\nname: cluster\nversion: 1.0.0\n"),
        ("my cluster/values.yaml", "url: YOUR_REPO_URL\n"),
        ("my cluster/templates/web.yaml", &one),
        ("my cluster/templates/api.yaml", &two),
    ];
    clone.commit(
        "a chart to be filled in",
        &[&chart[..], &[("here.yaml", &application("here", "env: dev", &here("web")))]].concat(),
    );
    let told = adopt(&clone, &[]).exits(1).stdout;
    let line = "  my cluster: `my cluster` makes Applications of `YOUR_REPO_URL`, which is no URL, so it is not taken for a root\n";
    assert!(
        told.contains(line) && told.contains(" --root 'my cluster'\n") && told.contains("0 of 1 Application would"),
        "{told}"
    );
    let told = adopt(&clone, &["--root", "my cluster"]).exits(1).stdout;
    assert!(told.contains("0 of 3 Applications"), "{told}");
}

#[test]
fn applications_without_a_name_that_can_be_read_are_listed_by_their_files() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let one = application("<NAME>", "env: dev", &here("web"));
    clone.commit("names to be filled in", &[("one.yaml", &one), ("two.yaml", &one)]);
    let told = adopt(&clone, &["--repo-url", URL, "--branch-pattern", "environments/dev"]).exits(1).stdout;
    assert!(told.contains("\n      one.yaml, two.yaml\n"), "{told}");
}

#[test]
fn a_chart_of_applications_that_needs_a_file_of_values_is_a_root_with_it() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let template = application("{{ .name }}", "env: {{ .env }}", &here("apps/web/{{ .env }}"));
    let template = format!("{{{{- range .Values.apps }}}}\n---\n{template}{{{{- end }}}}\n");
    let [dev, prod] = ["dev", "prod"].map(|env| config("web", env, "one"));
    let chart = "apiVersion: v2\nname: bootstrap\nversion: 1.0.0\n";
    let all = [
        ("bootstrap/Chart.yaml", chart),
        ("bootstrap/templates/apps.yaml", &template),
        ("bootstrap/values-dev.yaml", "apps: [{name: web-dev, env: dev}]\n"),
        ("bootstrap/values-prod.yaml", "apps: [{name: web-prod, env: prod}]\n"),
        (&dev.0, &dev.1),
        (&prod.0, &prod.1),
    ];
    clone.commit("a chart of Applications", &all);
    let args = ["--repo-url", URL, "--branch-pattern", BY_LABEL];
    let told = adopt(&clone, &args).exits(0).stdout;
    let root = |name: &str, env: &str| {
        format!(
            "  - name: {name}\n    path: bootstrap\n    namespace: argocd\n    helm:\n      valueFiles:\n      - values-{env}.yaml\n"
        )
    };
    let expected = root("bootstrap", "dev") + &root("bootstrap-2", "prod");
    assert!(told.contains(&expected) && told.contains("\n2 of 2 Applications hydrate (of the 2, 2 are made"), "{told}");

    // Each is that of a cluster of its own, and has the same names.
    let values = "apps: [{name: web-dev, env: dev}, {name: web-prod, env: prod}]\n";
    clone.commit("alike", &[("bootstrap/values-prod.yaml", values)]);
    let told = adopt(&clone, &args).exits(0).stdout;
    assert!(told.contains(&root("bootstrap", "prod")) && !told.contains(&root("bootstrap-2", "dev")), "{told}");
    let line = told.lines().find(|line| line.contains("same names with other values")).expect("a note");
    assert!(line.contains("`values-dev.yaml`: it is taken with `values-prod.yaml`"), "{line}");
    let hint = told.split("to take others: git hydrate ").nth(1).and_then(|hint| hint.lines().next()).expect("a hint");
    let words: Vec<&str> = hint.splitn(4, ' ').map(|word| word.trim_matches('\'')).collect();
    clone.hydrate(&words).success();
    let told = adopt(&clone, &args).exits(0).stdout;
    assert!(told.contains("1 of 1 Application hydrate"), "{told}");
}
