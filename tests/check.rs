//! `git hydrate check`: each rule with its place, for people, programs and code scanning.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

/// A repository whose Applications `name` render `apps/<name>/dev`.
fn repository(lab: &Lab, names: &[&str], files: &[(&str, &str)]) -> Repo {
    let clone = dry(&lab.bare(&[]), &["web"], &["dev"]);
    let mut all: Vec<(String, String)> = names.iter().map(|name| application(name, "dev")).collect();
    all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("more", &all);
    clone
}

fn check(repo: &Repo, args: &[&str], code: i32) -> Value {
    let answer = repo.hydrate(&[&["check", "--json"], args].concat()).exits(code);
    serde_json::from_str(&answer.stdout).expect("JSON")
}

/// The rules that were broken, each with its file.
fn rules(found: &Value) -> BTreeSet<(String, String)> {
    let findings = found["findings"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    findings.iter().map(|one| (text(&one["rule"]), text(&one["span"]["path"]))).collect()
}

const LFS: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";

/// A rule, how the path of its finding begins, and the files that break it.
type Row = (&'static str, &'static str, Vec<(&'static str, String)>);

/// One mistake of each rule.
fn mistakes() -> Vec<Row> {
    let chart = |name: &str| format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
    let base = "metadata: {name: {{ randAlphaNum 5 }}}\n";
    vec![
        (
            "unreadable-file",
            "applications/dev/bad.yaml",
            vec![("applications/dev/bad.yaml", "a: [sourceHydrator\n".to_owned())],
        ),
        (
            "application",
            "applications/dev/none.yaml",
            vec![(
                "applications/dev/none.yaml",
                application("none", "dev").1.split_once("    syncSource").expect("there").0.to_owned(),
            )],
        ),
        (
            "destination",
            "applications/dev/",
            vec![("applications/dev/twice.yaml", application("web", "dev").1.replace("web-dev", "twice"))],
        ),
        ("render", "apps/render/dev/a.yaml", vec![("apps/render/dev/a.yaml", config_map("render", "["))]),
        (
            "nondeterministic",
            "apps/random/dev/templates/a.yaml",
            vec![
                ("apps/random/dev/Chart.yaml", chart("random")),
                ("apps/random/dev/templates/a.yaml", base.to_owned()),
            ],
        ),
        (
            "missing-dependency",
            "",
            vec![(
                "apps/lacking/dev/Chart.yaml",
                chart("lacking") + "dependencies:\n- {name: redis, version: 1.x, repository: 'https://example.com'}\n",
            )],
        ),
        (
            "unsupported",
            "",
            vec![(
                "apps/remote/dev/kustomization.yaml",
                "resources:\n- https://github.com/org/repo//base?ref=v1\n".to_owned(),
            )],
        ),
        (
            "elsewhere",
            "",
            vec![("apps/pointer/dev/Chart.yaml", chart("pointer")), ("apps/pointer/dev/values.yaml", LFS.to_owned())],
        ),
        (
            "plain-secret",
            "apps/secret/dev/a.yaml",
            vec![(
                "apps/secret/dev/a.yaml",
                "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: old}\n".to_owned(),
            )],
        ),
        (
            "refused",
            "apps/secret/dev/service.yaml",
            vec![(
                "apps/secret/dev/service.yaml",
                "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  port: 80\n".to_owned(),
            )],
        ),
        (
            "doubtful",
            "apps/secret/dev/type.yaml",
            vec![(
                "apps/secret/dev/type.yaml",
                "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\ntype: opaque\n".to_owned(),
            )],
        ),
        (
            "object-conflict",
            "",
            vec![(
                "apps/same/dev/a.yaml",
                config_map("web", "dev").replace("name: web", "name: web\n  namespace: web"),
            )],
        ),
        (
            "ineffective",
            "apps/idle/dev/prod.yaml",
            vec![
                (
                    "applications/dev/idle.yaml",
                    application("idle", "dev").1.replace(
                        "    syncSource:",
                        "      helm: {releaseName: idle, valueFiles: [prod.yaml]}\n    syncSource:",
                    ),
                ),
                ("apps/idle/dev/Chart.yaml", chart("idle")),
                ("apps/idle/dev/values.yaml", "replicas: 1\n".to_owned()),
                ("apps/idle/dev/prod.yaml", "replica: 1\n".to_owned()),
                ("apps/idle/dev/templates/a.yaml", config_map("idle", "'{{ .Values.replicas }}'")),
            ],
        ),
        ("application-set", "applications/set.yaml", vec![("applications/set.yaml", SET.to_owned())]),
        (
            "environment-branch",
            "",
            vec![
                ("applications/theirs/web.yaml", application("web", "theirs").1),
                ("apps/web/theirs/config.yaml", config_map("web", "theirs")),
            ],
        ),
        ("unused-rule", "", vec![("settings/settings.yaml", SETTINGS.to_owned())]),
    ]
}

/// One that asks for clusters, of which the tree has no list.
const SET: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all}
spec:
  generators: [{clusters: {}}]
  template:
    metadata: {name: '{{name}}'}
    spec:
      destination: {server: '{{server}}'}
      sourceHydrator:
        drySource: {repoURL: 'https://git.example.com/dry.git', targetRevision: main, path: apps/web/dev}
        syncSource: {targetBranch: environments/all, path: '{{name}}'}
";

const SETTINGS: &str = "\
repoURL: https://git.example.com/dry.git
madeApplications: true
rules:
- {match: {name: nothing-has-this-name}, branch: environments/dev, path: a}
";

#[test]
fn each_rule_names_its_place() {
    let lab = Lab::new();
    let mistakes = mistakes();
    let files: Vec<(&str, &str)> =
        mistakes.iter().flat_map(|(_, _, files)| files).map(|(path, text)| (*path, text.as_str())).collect();
    let names = ["render", "random", "lacking", "remote", "pointer", "same", "secret"];
    let repo = repository(&lab, &names, &files);
    repo.git(&["push", "-q", "origin", "HEAD~1:refs/heads/environments/theirs"]);
    let [(web_file, web), (same_file, same)] = ["web", "same"].map(|name| {
        let (file, text) = application(name, "dev");
        (file, text.replace("  destination:\n", "  destination:\n    name: here\n"))
    });
    let config = config_map("web", "dev").replace("name: web", "name: web\n  namespace: web");
    repo.commit("one cluster", &[(&web_file, &web), (&same_file, &same), ("apps/web/dev/config.yaml", &config)]);
    let settings = ["--settings", "settings"];
    let found = check(&repo, &settings, 1);
    for (rule, place, _) in &mistakes {
        let is_there = rules(&found).iter().any(|(name, at)| name == rule && at.starts_with(place));
        assert!(is_there, "{rule} at {place}: {:#?}", rules(&found));
    }
    assert_eq!(found["dryBranch"], "main");
    let text = repo.hydrate(&[&["check"][..], &settings].concat()).exits(1).stdout;
    let is_told = |line: &str| {
        let place =
            line.strip_prefix("apps/random/dev/templates/a.yaml:1:").and_then(|rest| rest.split_once(": error: "));
        place.is_some_and(|(column, text)| column.parse::<u32>().is_ok() && text.ends_with(" [nondeterministic]"))
    };
    assert!(text.lines().any(is_told), "{text}");
    let answer = repo.hydrate(&[&["check", "--sarif"][..], &settings].concat()).exits(1);
    let known = sarif(&answer.stdout, found["findings"].as_array().map_or(0, Vec::len));
    assert_eq!(known, mistakes.iter().map(|(rule, _, _)| (*rule).to_owned()).collect(), "a mistake of each rule");
}

/// The rules that a log of code scanning knows, if it has the shape that this relies on.
fn sarif(log: &str, count: usize) -> BTreeSet<String> {
    let log: Value = serde_json::from_str(log).expect("JSON");
    assert_eq!((&log["version"], log["runs"].as_array().map(Vec::len)), (&"2.1.0".into(), Some(1)));
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("a list");
    assert!(rules.iter().all(|rule| rule["id"].is_string() && rule["help"]["text"].is_string()));
    let results = log["runs"][0]["results"].as_array().expect("a list");
    assert_eq!(results.len(), count);
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(matches!(result["level"].as_str(), Some("error" | "warning")));
        assert!(result["message"]["text"].is_string());
        for location in result["locations"].as_array().expect("a list") {
            let place = &location["physicalLocation"];
            assert!(place["artifactLocation"]["uri"].is_string());
            assert!(place["region"].is_null() || place["region"]["startLine"].as_u64() > Some(0), "{place}");
        }
    }
    rules.iter().filter_map(|rule| rule["id"].as_str()).map(str::to_owned).collect()
}

#[test]
fn commits_working_trees_and_directories_are_checked() {
    let lab = Lab::new();
    let repo = repository(&lab, &[], &[]);
    let found = check(&repo, &[], 0);
    assert_eq!((&found["applications"], &found["rendered"], rules(&found).len()), (&1.into(), &1.into(), 0), "{found}");
    let text = repo.hydrate(&["check"]).success().stdout;
    assert_eq!(text, "no errors, no warnings: 1 of 1 Applications of main render\n");
    std::fs::write(repo.path.join("apps/web/dev/config.yaml"), config_map("web", "[")).expect("written");
    check(&repo, &[], 0);
    let expected = BTreeSet::from([("render".to_owned(), "apps/web/dev/config.yaml".to_owned())]);
    assert_eq!(rules(&check(&repo, &["--worktree"], 1)), expected);
    let elsewhere = lab.path("elsewhere");
    repo.run("cp", &["-R", ".", elsewhere.to_str().expect("UTF-8")]).success();
    std::fs::remove_dir_all(elsewhere.join(".git")).expect("removed");
    assert_eq!(rules(&check(&repo, &["../elsewhere"], 1)), expected);
    repo.git(&["checkout", "-q", "--detach"]);
    assert_eq!(check(&repo, &["main"], 0)["hydrated"], 1, "on no branch, as in CI");
    check_usage(&repo);
}

fn check_usage(repo: &Repo) {
    for args in [&["nowhere"][..], &["main", "--worktree"], &["--json", "--sarif"]] {
        repo.hydrate(&[&["check"], args].concat()).exits(2);
    }
}

/// A mistake of a kustomization stands there, one of what an Application asks of it in the Application.
#[test]
fn a_mistake_of_a_kustomization_has_its_place() {
    let (path, web) = application("more", "dev");
    let labelled =
        web.replace("path: apps/more/dev\n", "path: apps/more/dev\n      kustomize: {commonLabels: {a: x}}\n");
    assert_ne!(labelled, web);
    let kustomization = "resources:\n- a.yaml\n- gone.yaml\ncommonLabels:\n  a: b\n";
    let rows = [
        (web, kustomization, "apps/more/dev/kustomization.yaml:3:3", "no such file or directory"),
        (labelled, kustomization, "apps/more/dev/kustomization.yaml:5:3", ""),
    ];
    for (application, kustomization, place, label) in rows {
        let lab = Lab::new();
        let files = [
            (path.as_str(), application.as_str()),
            ("apps/more/dev/kustomization.yaml", kustomization),
            ("apps/more/dev/a.yaml", &config_map("more", "1")),
        ];
        let found = check(&repository(&lab, &[], &files), &[], 1);
        let found = &found["findings"][0];
        let span = &found["span"];
        let told = format!("{}:{}:{}", span["path"].as_str().unwrap_or_default(), span["line"], span["column"]);
        assert_eq!(told, place, "{found}");
        assert_eq!(found["label"].as_str().unwrap_or_default(), label, "{found}");
    }
}

#[test]
fn an_object_that_one_application_renders_twice_is_a_warning() {
    let lab = Lab::new();
    let text = config_map("web", "two");
    let repo = repository(&lab, &[], &[("apps/web/dev/copy.yaml", &text)]);
    let told = repo.hydrate(&["check"]).exits(0).stdout;
    let expected = "warning: `web-dev` renders ConfigMap web/web more than once: the last one counts in the cluster";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn an_object_conflict_names_the_places_of_both_applications() {
    let lab = Lab::new();
    let config = config_map("web", "dev").replace("name: web", "name: web\n  namespace: web");
    let repo =
        repository(&lab, &["web", "same"], &[("apps/same/dev/a.yaml", &config), ("apps/web/dev/config.yaml", &config)]);
    let here = |name: &str| {
        let (file, text) = application(name, "dev");
        (file, text.replace("  destination:\n", "  destination:\n    name: here\n"))
    };
    let [web, same] = ["web", "same"].map(here);
    repo.commit("one cluster", &[(&web.0, &web.1), (&same.0, &same.1)]);
    let told = repo.hydrate(&["diff"]).exits(1).stdout;
    assert!(told.contains("--> applications/dev/web.yaml:4:9"), "{told}");
    assert!(told.contains("`same-dev` is at applications/dev/same.yaml:4:9"), "{told}");
}

const OBJECTS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: right}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {port: [{port: 80}], externalName: a}
---
apiVersion: example.com/v1
kind: Test
metadata: {name: other}
";

#[test]
fn objects_of_a_file_are_judged_as_a_server_would_judge_them() {
    let lab = Lab::new();
    let clone = repository(&lab, &[], &[("objects.yaml", OBJECTS)]);
    let answer = clone.hydrate(&["check", "--objects", "objects.yaml", "--kubernetes", "1.36"]).exits(1);
    let expected = "\
Service web: error: spec.port: is not a field of this type; did you mean `ports`? [unknown-field]
Service web: error: spec.ports: must be set [required]
Service web: warning: spec.externalName: has no effect where `type` is not ExternalName [external-name-ignored]
3 objects: 1 refused, 1 with warnings; not judged, since no schema is known: 1 object
";
    assert_eq!(answer.stdout, expected);
    let args = ["check", "--objects", "objects.yaml", "--without", "external-name-ignored", "--json"];
    let lines = clone.hydrate(&args).exits(1).stdout;
    let answers: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(
        answers.iter().map(|answer| answer["refused"].as_bool()).collect::<Vec<_>>(),
        [Some(false), Some(true), Some(false)]
    );
    assert_eq!(answers[1]["findings"][0]["field"], "spec.port");
    assert!(answers[1].get("warnings").is_none() && answers[2]["unknown_kind"] == true);
    let refused = clone.hydrate(&["check", "--objects", "objects.yaml", "--kubernetes", "1.12"]).exits(2);
    assert!(refused.stderr.contains("known are 1.30 to 1.37"), "{}", refused.stderr);
}

#[test]
fn where_the_applications_are_not_committed_yet_check_says_that_it_looked_at_head() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    clone.commit("nothing yet", &[("README.md", "text\n")]);
    let (file, text) = crate::push::application("web", "dev");
    for (path, text) in [(&file[..], &text[..]), ("apps/web/dev/config.yaml", &crate::push::config_map("web", "one"))] {
        let path = clone.path.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let told = clone.hydrate(&["check"]).success().stdout;
    let expected = "there is no Application with `spec.sourceHydrator` in HEAD\n\
                    hint: to check files that are not committed: git hydrate check --worktree\n";
    assert!(told.starts_with(expected), "{told}");
    assert!(clone.hydrate(&["check", "--worktree"]).success().stdout.contains("1 of 1 Applications"));
}

#[test]
fn a_kind_that_is_a_slip_in_a_template_is_not_explained_by_capabilities() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    clone.hydrate(&["init", "--chart"]).success();
    let path = "hello/templates/service.yaml";
    let text = clone.file(path).expect("there");
    for (from, to, is_of_version) in
        [("kind: Service", "kind: Servce", false), ("apiVersion: v1", "apiVersion: v1beta3", true)]
    {
        clone.commit("slip", &[(path, &text.replace(from, to))]);
        let told = clone.hydrate(&["check"]).stdout;
        assert!(told.contains("not-served") || told.contains("refuses"), "{told}");
        assert_eq!(told.contains(".Capabilities"), is_of_version, "{to}: {told}");
    }
}
