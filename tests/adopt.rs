//! `git hydrate adopt` in a clone: a repository as it is, and how it comes to be hydrated.

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
fn the_directories_of_roots_are_a_pattern_that_fits() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let root = |env: &str| {
        let text = format!("resources: [../../base]\nnameSuffix: -{env}\n");
        (format!("clusters/{env}/kustomization.yaml"), text)
    };
    let app = application("web", "", &here("apps/web/dev"));
    let all = [
        root("dev"),
        root("prod"),
        ("base/kustomization.yaml".to_owned(), "resources: [app.yaml]\n".to_owned()),
        ("base/app.yaml".to_owned(), app),
        config("web", "dev", "one"),
    ];
    clone.commit("two clusters", &all.each_ref().map(|(path, text)| (path.as_str(), text.as_str())));
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    let first = "for --branch-pattern\n  'environments/{{ (file | split('\\''/'\\''))[1] }}'\n      2 branches: environments/dev, \
                 environments/prod\n";
    assert!(told.contains(first), "{told}");
    let told = adopt(&clone, &["--repo-url", URL, "--branch-pattern", "environments/{{ (file | split('/'))[1] }}"]);
    assert!(told.exits(0).stdout.contains("2 of 2 Applications hydrate"));
}

#[test]
fn the_first_pattern_is_the_one_by_which_the_most_applications_hydrate() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let mut all = Vec::new();
    for (index, directory) in ["", "", "", "dev/", "dev/", "dev/", "prod/", "prod/"].iter().enumerate() {
        let (text, object) = plain(&format!("a{index}"), &format!("m{index}"));
        all.push((format!("apps/{directory}a{index}.yaml"), text.replace("  labels: {env: dev}\n", "")));
        all.push((format!("m{index}/config.yaml"), object));
    }
    clone.commit("eight", &all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    let first = "for --branch-pattern\n  environments/main\n      1 branch: environments/main\n  \
                 'environments/{{ (directory | split('\\''/'\\''))[1] }}'\n      2 branches: environments/dev, \
                 environments/prod; 3 Applications have none\n";
    assert!(told.contains(first), "{told}");
    assert!(told.contains("  git hydrate adopt --branch-pattern environments/main --repo-url"), "{told}");
    // What two of them render holds a branch: they are better apart.
    clone.commit("shared", &[("m3/shared.yaml", &plain("", "shared").1), ("m6/shared.yaml", &plain("", "shared").1)]);
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(told.contains("for --branch-pattern\n  'environments/{{ (directory"), "{told}");
}

#[test]
fn a_pattern_that_puts_environments_of_one_application_onto_one_branch_loses() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let mut all = Vec::new();
    for (app, env) in ["api", "web", "shop", "pay"].into_iter().flat_map(|app| [(app, "dev"), (app, "prod")]) {
        let name = format!("{app}-{env}");
        let text = application(&name, &format!("env: {env}"), &here(&format!("apps/{app}/{env}")));
        all.push((format!("argocd/{name}.yaml"), text));
        all.push((format!("apps/{app}/{env}/config.yaml"), plain("", &name).1));
    }
    // It fails wherever it goes, and keeps back whatever is there.
    let plugin = here("apps/api/prod") + ", plugin: {name: ytt}";
    all.push(("argocd/broken-prod.yaml".to_owned(), application("broken-prod", "env: prod", &plugin)));
    clone
        .commit("two environments", &all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let said = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(said.contains(&format!("for --branch-pattern\n  '{BY_LABEL}'\n")), "{said}");
    assert!(said.contains("  the git config of this clone decides here whether plugins render: `ytt`\n"), "{said}");
}

#[test]
fn an_app_of_apps_without_a_rule_is_named_with_the_rule_for_it() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let (web, object) = plain("web", "a");
    let (root, alone) = (application("root", "team: x", &here("argocd")), application("alone", "team: x", &here("a")));
    let files = [("argocd/web.yaml", &web), ("a/config.yaml", &object), ("root.yaml", &root), ("alone.yaml", &alone)];
    clone.commit("a root", &files.map(|(path, text)| (path, text.as_str())));
    let rules = "- {match: {labels: {env: '*'}}, branch: 'environments/{{ labels.env }}', path: '{{ name }}'}\n";
    clone.hydrate(&["config", "set", "rules", "--", rules]).success();
    let said = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    let named = "2 Applications have no rule\n      alone\n      hint: add a rule for it: git hydrate config edit; without one it is \
                 deployed as before\n  it renders other Applications\n      root\n      hint: an app of apps is led to a branch of its \
                 own, by a rule before the others: {match: {name: root}, branch: environments/root, path: '{{ name }}'}: git hydrate \
                 config edit\n";
    assert!(said.contains(named), "{said}");
    // As it says: copies of what the root renders are on that branch.
    let all = format!("- {{match: {{name: root}}, branch: environments/root, path: '{{{{ name }}}}'}}\n{rules}");
    clone.hydrate(&["config", "set", "rules", "--", &all]).success();
    assert_eq!(numbers(&clone, &["--repo-url", URL]), (2, 3, causes(&[("no-rule", 1)])));
    let said = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(said.contains("  git hydrate config set applicationsTo BRANCH "), "{said}");
}

#[test]
fn copies_are_proposed_with_the_first_rules_and_sets_that_have_none_are_named() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let template = application("'{{app}}'", "env: dev", &here("'{{app}}'")).replace('\n', "\n    ");
    let (_, template) = template.split_once("metadata:").expect("there");
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  \
         generators: [{{list: {{elements: [{{app: a}}]}}}}]\n  template:\n    metadata:{}\n",
        template.trim_end()
    );
    clone.commit("a set", &[("set.yaml", &set), ("a/config.yaml", &plain("", "a").1)]);
    let proposed = "  applicationsTo: applications  # copies of the Applications, for Argo CD to follow\n";
    let args = ["--repo-url", URL, "--branch-pattern", "environments/dev"];
    let said = adopt(&clone, &args).exits(0).stdout;
    assert!(said.contains(proposed) && !said.contains("has no copy"), "{said}");
    assert!(
        said.contains("next\n  git hydrate install --server REPO.git ") && said.contains("  kubectl apply -f "),
        "{said}"
    );
    let said = adopt(&clone, &[&args[..], &["--path-pattern", "{{ name | lower }}"]].concat()).exits(0).stdout;
    let without = "set.yaml:3:18: ApplicationSet `all` has no copy that leads to what is hydrated: rule 1 of the settings does more \
                   with values than to insert them\n";
    assert!(said.contains(without) && said.contains("`expand`"), "{said}");
    // A branch of that name is somebody's.
    clone.git(&["push", "-q", "origin", "HEAD:applications"]);
    clone.git(&["fetch", "-q"]);
    let said = adopt(&clone, &args).exits(0).stdout;
    assert!(!said.contains(proposed), "{said}");
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

/// A plain directory with one object, and an Application of it.
fn plain(name: &str, path: &str) -> (String, String) {
    let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {path}}}\n");
    (application(name, "env: dev", &here(path)), object)
}

/// What `adopt` foretells by application and by branch, and how many the server has hydrated after the same commit.
fn foretold(lab: &Lab, files: &[(&str, &str)], settings: &[&[&str]]) -> (u64, usize, String) {
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = server.clone_to("clone");
    clone.commit("as it is", files);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/main"]);
    for words in settings {
        clone.hydrate(&[&["config", "set"], *words].concat()).success();
    }
    let said = adopt(&clone, &["--branch-pattern", "environments/one", "--write"]).exits(1).stdout;
    let (hydrate, ..) = numbers(&clone, &[]);
    clone.git(&["push", "-q", "origin", "refs/hydrate/config"]);
    let is_there = !server.git(&["for-each-ref", "refs/heads/environments/one"]).is_empty();
    let files = if is_there { files_of_branch(&server) } else { 0 };
    (hydrate, files, said)
}

fn files_of_branch(server: &Repo) -> usize {
    files(server, "environments/one").split(' ').filter(|file| file.ends_with("/manifest.yaml")).count()
}

#[test]
fn of_two_applications_that_write_one_path_adopt_counts_none_as_the_server_hydrates_none() {
    let lab = Lab::new();
    let [(first, a), (second, b), (third, c)] = [plain("web", "a"), plain("web", "b"), plain("other", "c")];
    let files: [(&str, &str); 6] = [
        ("clusters/one/web.yaml", &first),
        ("clusters/two/web.yaml", &second),
        ("clusters/other.yaml", &third),
        ("a/object.yaml", &a),
        ("b/object.yaml", &b),
        ("c/object.yaml", &c),
    ];
    let (hydrate, made, said) = foretold(&lab, &files, &[]);
    assert_eq!((hydrate, made), (1, 1), "{said}");
    assert!(said.contains("2 Applications cannot go where they would\n"), "{said}");
    assert!(said.contains("  onFailure: application  # else 1 Application waits for another one"), "{said}");
}

#[test]
fn what_waits_for_an_application_that_lacks_an_input_is_counted_by_what_the_settings_say() {
    let lab = Lab::new();
    let (first, a) = plain("web", "a");
    let chart = "repoURL: 'https://charts.example.com', chart: db, targetRevision: 1.0.0";
    let lacking = application("db", "env: dev", chart);
    let files: [(&str, &str); 3] = [("web.yaml", &first), ("db.yaml", &lacking), ("a/object.yaml", &a)];
    let (hydrate, made, said) = foretold(&lab, &files, &[]);
    assert_eq!((hydrate, made), (1, 1), "{said}");
    assert!(said.contains("  onFailure: application  # else 1 Application waits for another one"), "{said}");

    // What an admin has set stays, with what comes of it.
    let lab = Lab::new();
    let (hydrate, made, said) = foretold(&lab, &files, &[&["onFailure", "branch"]]);
    assert_eq!((hydrate, made), (0, 0), "{said}");
    assert!(said.contains("1 Application waits for another one of its branch, which fails\n      web\n"), "{said}");
    assert!(said.contains("  git hydrate config set onFailure application"), "{said}");
}

#[test]
fn a_placeholder_in_place_of_a_url_is_not_proposed_and_the_rest_is_written() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let (first, a) = plain("web", "a");
    let template = application("web", "env: dev", "repoURL: REPO_URL, targetRevision: main, path: a");
    clone.commit("x", &[("web.yaml", &first), ("template.yaml", &template), ("a/object.yaml", &a)]);
    let said = adopt(&clone, &["--branch-pattern", "environments/one", "--write"]).exits(1).stdout;
    assert!(said.contains("settings, written\n") && !said.contains("  - REPO_URL"), "{said}");
    assert!(said.contains(": `REPO_URL` is not an `https://` URL\n"), "{said}");
}

#[test]
fn what_vendor_cannot_mend_is_not_led_there() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n\
                 - {name: db, version: 1.0.0, repository: 'https://charts.example.com'}\n";
    let values = here("web").replace("path: web", "path: web, helm: {valueFiles: [values-dev.yaml]}");
    let files = [("web.yaml", &*application("web", "env: dev", &values)), ("web/Chart.yaml", chart)];
    clone.commit("a file that is not there", &files);
    assert_eq!(numbers(&clone, &[]).2, causes(&[("render", 1)]));
    clone.commit("a file", &[("web/values-dev.yaml", "a: b\n")]);
    assert_eq!(numbers(&clone, &[]).2, causes(&[("input", 1)]));
}

#[test]
fn charts_that_ask_for_an_unknown_cluster_are_told_with_their_lines() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\n";
    let apis = "{{- if .Capabilities.APIVersions.Has \"monitoring.coreos.com/v1\" }}\n";
    let template =
        format!("{map}data:\n  kube: '{{{{ .Capabilities.KubeVersion.Version }}}}'\n---\n{apis}{map}{{{{- end }}}}\n");
    let versions = "path: chart, helm: {kubeVersion: '1.30', apiVersions: [monitoring.coreos.com/v1]}";
    let kube = "path: chart, helm: {kubeVersion: '1.30'}";
    let one = |name: &str, source: &str| application(name, "env: dev", &here("chart").replace("path: chart", source));
    let files = [
        ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        ("chart/templates/map.yaml", template),
        ("apps/web.yaml", one("web", "path: chart")),
        ("apps/kube.yaml", one("kube", kube)),
        ("apps/known.yaml", one("known", versions)),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    clone.commit("charts", &files);
    let told = adopt(&clone, &["--repo-url", URL, "--branch-pattern", BY_LABEL]).stdout;
    let line = |at: &str, names: &str| {
        format!(
            "  chart/templates/map.yaml:{at}: the chart asks for `.Capabilities` of a cluster that is not known, so what runs may differ: {names}\n"
        )
    };
    assert!(told.contains(&line("5:13", "web")) && told.contains(&line("7:8", "kube, web")), "{told}");
    assert!(
        told.contains("hint: name the versions that the cluster serves")
            && !told.contains("differ: known")
            && !told.contains(", known"),
        "{told}"
    );

    // A list of clusters tells them.
    let clusters =
        "- {name: in-cluster, server: https://kubernetes.default.svc, kubeVersion: '1.30', apiVersions: [v1]}\n";
    clone.commit("clusters", &[("clusters.yaml", clusters)]);
    clone.hydrate(&["config", "set", "clusters", "clusters.yaml"]);
    let told = adopt(&clone, &["--repo-url", URL, "--branch-pattern", BY_LABEL]).stdout;
    assert!(!told.contains(".Capabilities"), "{told}");
}

#[test]
fn an_application_that_a_directory_applies_as_it_is_counts_once_where_the_proposed_rule_names_its_file() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let root = application("root", "", &format!("{}, directory: {{recurse: true}}", here("argocd")));
    let mut files = vec![("argocd/root.yaml".to_owned(), root)];
    for (name, environment) in [("shop", "dev"), ("shop", "prod"), ("api", "dev"), ("api", "prod")] {
        let app = application(&format!("{name}-{environment}"), "", &here(&format!("{name}/{environment}")));
        files.push((format!("argocd/apps/{environment}/{name}.yaml"), app));
        files.push((format!("{name}/{environment}/config.yaml"), crate::push::config_map(name, environment)));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("app of apps", &files);
    let told = clone.hydrate(&["adopt", "--offline"]);
    assert!(!told.stdout.contains("there is another Application"), "{told:?}");
    assert!(told.stdout.contains("5 of 5 Applications would hydrate"), "{told:?}");
}

#[test]
fn a_copied_repository_whose_url_is_unclear_says_so_in_place_of_no_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = crate::push::dry(&server, &["web", "api"], &["dev"]);
    let (file, text) = crate::push::application("web", "dev");
    let mirror = "https://mirror.example.com/dry.git";
    clone.commit("mirror", &[(&file, &text.replace("https://git.example.com/dry.git", mirror))]);
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git", mirror]).success();
    clone.push().success();
    // As `git clone --bare` copies it.
    for name in server.git(&["for-each-ref", "--format=%(refname)", "refs/hydrate", "refs/notes"]).lines() {
        server.git(&["update-ref", "-d", name]);
    }
    for args in [&["adopt"][..], &["verify"]] {
        let told = server.hydrate(args).exits(1).stdout;
        assert!(
            told.contains("error: the URL of this repository is not set, and Applications name several"),
            "{args:?}: {told}"
        );
        assert!(!told.contains("no branch to hand over") && !told.contains("no environment branch"), "{told}");
    }
}

#[test]
fn what_only_argo_cd_knows_of_clusters_is_named_with_the_line_that_asks_it() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: everywhere, namespace: argocd}}\nspec:\n  generators: [{{matrix: {{generators: \
         [{{list: {{elements: [{{app: web}}]}}}}, {{clusters: {{selector: {{matchLabels: {{env: dev}}}}}}}}]}}}}]\n  template:\n    metadata: {{name: \
         '{{{{app}}}}-{{{{name}}}}', labels: {{team: '{{{{metadata.annotations.team}}}}'}}}}\n    spec: {{destination: {{server: '{{{{server}}}}', namespace: \
         shop}}, source: {{repoURL: '{URL}', targetRevision: HEAD, path: apps/web/dev}}}}\n"
    );
    let there = application("there", "env: dev", &here("apps/web/dev"))
        .replace("https://kubernetes.default.svc", "https://prod.example.com");
    let (path, text) = config("web", "dev", "one");
    clone.commit("sets", &[("set.yaml", &set), ("there.yaml", &there), (&path, &text)]);
    let args = ["--repo-url", URL, "--branch-pattern", "environments/dev"];
    let told = adopt(&clone, &args).exits(1).stdout;
    for expected in [
        "only Argo CD knows the clusters that these ApplicationSets ask for\n      everywhere\n",
        "clusters that Applications deploy to, and of which nothing is known\n      https://prod.example.com (1)\n",
        "  kubectl get secret -n argocd -l argocd.argoproj.io/secret-type=cluster -o yaml | git hydrate clusters import > clusters.yaml",
    ] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    // What the line writes is found by its content.
    let encoded = [("name", "ZGV2"), ("server", "aHR0cHM6Ly9kZXYuZXhhbXBsZS5jb20=")];
    let data: String = encoded.iter().map(|(key, value)| format!("  {key}: {value}\n")).collect();
    let secret = |namespace: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: dev\n  namespace: {namespace}\n  labels: {{argocd.argoproj.io/secret-type: cluster, env: dev}}\n  annotations: {{team: blue, token: x}}\ndata:\n{data}"
        )
    };
    // Before there are rules, too, it has the annotations that a set asks for.
    let list = clone.hydrate_with(&["clusters", "import"], &secret("argocd")).success().stdout;
    assert!(list.starts_with("- annotations:\n    team: blue\n  labels:\n"), "{list}");
    fs::create_dir(clone.path.join("ops")).expect("made");
    fs::write(clone.path.join("ops/clusters.yaml"), list).expect("written");
    let told = adopt(&clone, &args).exits(0).stdout;
    assert!(told.contains("  clusters:  # lists of clusters\n  - ops/clusters.yaml\n"), "{told}");
    assert!(
        told.contains("2 of 2 Applications hydrate (of the 2, 1 is made") && !told.contains("kubectl get"),
        "{told}"
    );
    // Secrets in the tree, in the namespace that Argo CD has.
    fs::write(clone.path.join("ops/clusters.yaml"), secret("gitops")).expect("written");
    let told = adopt(&clone, &args).exits(0).stdout;
    assert!(told.contains("  argocdNamespace: gitops  # the Secret of a cluster is in it\n"), "{told}");
    assert!(told.contains("2 of 2 Applications hydrate (of the 2, 1 is made"), "{told}");
}

#[test]
fn applications_of_another_branch_are_counted_from_its_tree() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (path, text) = config("web", "dev", "one");
    let main = application("main", "env: dev", &here("apps/web/dev"));
    let later = |name: &str| application(name, "env: dev", &here("apps/web/dev").replace("HEAD", "develop"));
    let (one, two) = (later("one"), later("two"));
    clone.commit("main", &[("main.yaml", &main), ("one.yaml", &one), ("two.yaml", &two), (&path, &text)]);
    let args = ["--repo-url", URL, "--branch-pattern", "environments/{{ name }}", "--branch", "main"];
    clone.git(&["checkout", "-qb", "develop"]);
    clone.git(&["rm", "-q", "two.yaml"]);
    clone.commit("only one", &[]);
    clone.git(&["push", "-q", "origin", "main", "develop"]);
    clone.git(&["checkout", "-q", "main"]);
    let told = adopt(&clone, &args).exits(1).stdout;
    assert!(told.contains("  1 of 2 hydrate from the tree of `develop`\n"), "{told}");
    assert!(told.contains("  dryBranches:  # the branches that Applications name\n  - main\n  - develop\n"), "{told}");
    let judged =
        "judged as the tip of `develop`, which most Applications name; as that of the branch here: --branch main\n";
    assert!(!told.contains("judged as"), "{told}");
    assert!(told.contains(" --branch main --write"), "{told}");
    let told = adopt(&clone, &args[..4]).stdout;
    assert!(told.contains(judged), "{told}");
    assert!(told.contains("  dryBranches:  # the branches that Applications name\n  - develop\n  - main\n"), "{told}");
    assert!(told.contains("  1 of 1 hydrate from the tree of `main`\n"), "HEAD is `main`: {told}");
    // What comes next looks at the branch that was judged.
    assert!(!told.contains("does not exist"), "{told}");
    adopt(&clone, &[&args[..4], &["--write"]].concat());
    let told = adopt(&clone, &[]).stdout;
    assert!(told.contains("  git hydrate diff --worktree --branch develop  what each branch would get\n"), "{told}");
    // One that was not pushed is named.
    clone.git(&["branch", "-D", "develop"]);
    clone.git(&["push", "-q", "origin", "--delete", "develop"]);
    let told = adopt(&clone, &args[..4]).stdout;
    assert!(told.contains("`develop` does not exist: nothing is hydrated from it until it is pushed\n"), "{told}");
}

#[test]
fn dry_branches_whose_applications_go_where_those_of_another_go_are_left_out() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let of = |name: &str, env: &str, branch: &str| {
        application(name, &format!("env: {env}"), &here("apps/web/dev").replace("HEAD", branch))
    };
    let (path, text) = config("web", "dev", "one");
    let all = [
        ("main.yaml", of("main", "dev", "HEAD")),
        ("later.yaml", of("later", "dev", "develop")),
        ("prod.yaml", of("prod", "prod", "release")),
        (path.as_str(), text),
    ];
    clone.commit("three branches", &all.each_ref().map(|(path, text)| (*path, text.as_str())));
    clone.git(&["push", "-q", "origin", "main", "main:develop", "main:release"]);
    clone.git(&["fetch", "-q"]);
    let args = ["--repo-url", URL, "--branch-pattern", BY_LABEL, "--branch", "main"];
    let told = adopt(&clone, &args).exits(1).stdout;
    for expected in [
        "  dryBranches:  # the branches that Applications name\n  - main\n  - release\n",
        "  1 of 1 would hydrate from the tree of `develop`, which is not a dry branch\n",
        "  1 of 1 hydrate from the tree of `release`\n",
        "  `develop` is left out of `dryBranches`: its Applications would go to `environments/dev` too, which `main` is \
         hydrated to\n",
        "by the setting `activePaths`; then: git hydrate config add dryBranches develop\n",
    ] {
        assert!(told.contains(expected), "{expected}\n{told}");
    }

    // Each goes to branches of its own.
    let own = [args[0], args[1], args[2], "environments/{{ source.targetRevision }}", args[4], args[5]];
    let told = adopt(&clone, &own).exits(1).stdout;
    assert!(told.contains("  - main\n  - develop\n  - release\n") && !told.contains("left out"), "{told}");

    // Settings that name them all.
    clone.hydrate(&["config", "set", "dryBranches", "[main, develop, release]"]).success();
    let told = adopt(&clone, &args).exits(1).stdout;
    let expected = "  `develop` is in `dryBranches`, but nothing is hydrated from there: its Applications would go to `environments/dev` \
                    too, which `main` is hydrated to\n";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn many_sets_of_unknown_clusters_are_one_hint_and_those_of_a_root_are_asked_for_too() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let set = |name: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  generators: [{{clusters: {{}}}}]\n  \
             template:\n    metadata: {{name: '{name}-{{{{name}}}}'}}\n    spec: {{destination: {{server: '{{{{server}}}}', namespace: shop}}, source: {{repoURL: '{URL}', \
             targetRevision: HEAD, path: apps/web/dev}}}}\n"
        )
    };
    let kustomization = "resources: [set.yaml]\nnamePrefix: all-\n";
    clone.commit("a root", &[("root/set.yaml", &set("rooted")), ("root/kustomization.yaml", kustomization)]);
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert!(told.contains("  - name: root\n    path: root\n"), "{told}");
    assert!(told.contains("these ApplicationSets ask for\n      all-rooted\n"), "{told}");
    assert!(told.contains("  kubectl get secret -n argocd"), "{told}");

    let sets: Vec<(String, String)> =
        (10..30).map(|number| (format!("sets/{number}.yaml"), set(&format!("set-{number}")))).collect();
    let sets: Vec<(&str, &str)> = sets.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("many sets", &sets);
    let told = adopt(&clone, &["--repo-url", URL]).exits(1).stdout;
    assert_eq!(told.matches("hint: list them in a file of the dry tree").count(), 1, "{told}");
    assert!(told.contains("  … and 9 more; --json lists all\n"), "{told}");
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
