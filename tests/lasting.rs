//! What may stay as it is for long is reported when it comes, with the line to run, and not at every push.

use crate::made_applications::URL;
use crate::push::{application, config_map, dry, tip};
use crate::rules::{BY_LABEL, plain, rule, two};
use crate::support::{Lab, Repo};

const TYPO: &str = "environments/deev";
const LEFT: &str = "this commit would empty `environments/deev`";

/// A branch that only a typo named, and nothing names any more. Answers what the push said that took the typo back.
fn taken_back(server: &Repo) -> (Repo, String) {
    let clone = dry(server, &["web", "api"], &["dev"]);
    clone.push().success();
    let (file, text) = application("web", "dev");
    clone.commit("typo", &[(&file, &text.replace("environments/dev", TYPO))]);
    clone.push().success();
    clone.commit("no typo", &[(&file, &text)]);
    let told = clone.push().success().remote().join("\n");
    (clone, told)
}

#[test]
fn a_branch_that_a_typo_made_is_reported_once_and_not_at_every_push_after_the_typo_is_gone() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, told) = taken_back(&server);
    assert!(told.contains(LEFT) && told.contains("git update-ref -d refs/heads/environments/deev"), "{told}");
    for n in 0..2 {
        clone.commit("next", &[("NOTES", &n.to_string())]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("environments/dev") && !told.contains("deev"), "{told}");
    }
    // Neither do the questions of a developer, whose commit has nothing to do with it.
    clone.git(&["fetch", "-q"]);
    for args in [&["check"] as &[&str], &["diff"], &["plan"]] {
        let told = clone.hydrate(args).success();
        assert!(!told.stdout.contains(LEFT) && !told.stderr.contains(LEFT), "{args:?}: {told:?}");
    }
    server.hydrate(&["catch-up"]).success();
    for strict in ["touched", "all"] {
        server.git(&["config", "hydrate.strict", strict]);
        clone.commit("strict", &[("NOTES", strict)]);
        clone.push().success();
    }
    // Who asks for it reads where its Application is now, and all ways out.
    let status = server.hydrate(&["status"]).exits(1).stdout;
    let expected = "left as it is: no Application names it any more
  what left it is on environments/dev now; to put it back: push a commit to main in which its Applications name environments/deev again
  to delete it, if nothing deploys it, on the server: git update-ref -d refs/heads/environments/deev
  to take all objects off it, if that is intended: push a commit to main whose message ends with the line `Hydrate-Allow-Removal: environments/deev`\n";
    assert!(status.contains(expected) && !status.contains(LEFT), "{status}");
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("no Application names environments/deev any more"), "{doctor}");
}

#[test]
fn a_branch_that_a_misspelt_label_made_is_left_in_peace_when_the_label_is_right_again() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = two(&server);
    clone.push().success();
    let text = clone.file("applications/prod.yaml").expect("there");
    clone.commit("typo", &[("applications/prod.yaml", &text.replace("env: prod", "env: prodd"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("environments/prodd  new -> ") && told.contains("would empty `environments/prod`"), "{told}");
    clone.commit("no typo", &[("applications/prod.yaml", &text)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("would empty `environments/prodd`"), "{told}");
    clone.commit("next", &[("NOTES", "text")]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("environments/prod") && !told.contains("prodd"), "{told}");
}

#[test]
fn what_a_push_says_of_an_environment_whose_applications_are_all_gone_is_repeated_when_it_is_all_there_is_to_say() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.git(&["rm", "-r", "-q", "."]);
    clone.commit("all gone", &[("NOTES", "text")]);
    clone.push().success();
    clone.commit("next", &[("NOTES", "more")]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("this commit would empty `environments/dev`"), "{told}");
}

#[test]
fn the_hints_about_an_environment_that_is_to_go_end_with_the_environment_gone() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, told) = taken_back(&server);
    // The trailer empties it.
    assert!(told.contains("ends with the line `Hydrate-Allow-Removal: environments/deev`"), "{told}");
    clone.commit("empty it\n\nHydrate-Allow-Removal: environments/deev", &[("NOTES", "text")]);
    clone.push().success();
    server.hydrate(&["status"]).success();
    // The branch cannot be deleted by a push, and the refusal has the whole line.
    let told = clone.run("git", &["push", "origin", ":environments/deev"]).exits(1).stderr;
    let line = "git update-ref -d refs/heads/environments/deev";
    assert!(told.contains(&format!("have an admin delete it on the server: {line}; ")), "{told}");
    server.run("sh", &["-c", line]).success();
    assert!(!server.hydrate(&["status"]).success().stdout.contains("deev"));
    clone.git(&["fetch", "-q", "--prune"]);
    assert!(!clone.hydrate(&["status"]).success().stdout.contains("deev"));
    clone.commit("next", &[("NOTES", "more")]);
    assert!(!clone.push().success().remote().join("\n").contains("deev"));
}

#[test]
fn a_left_branch_that_is_deleted_as_status_says_is_forgotten_as_status_says_then() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, _) = taken_back(&server);
    let status = server.hydrate(&["status"]).exits(1).stdout;
    let line = status
        .lines()
        .find_map(|line| line.trim().strip_prefix("to delete it, if nothing deploys it, on the server: "));
    server.run("sh", &["-c", line.expect("the line")]).success();
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("git hydrate catch-up on the server forgets it") && !status.contains(LEFT), "{status}");
    server.hydrate(&["catch-up"]).success();
    assert!(!server.hydrate(&["status"]).success().stdout.contains("deev"));
    clone.git(&["fetch", "-q", "--prune"]);
    assert!(!clone.hydrate(&["status"]).success().stdout.contains("deev"));
}

#[test]
fn a_pinned_application_is_warned_of_by_the_push_that_touches_it_and_by_no_other() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("api", "dev");
    let pinned = text.replace("targetRevision: main", "targetRevision: v1.2.3");
    clone.commit("pinned", &[(&file, &pinned), ("apps/api/dev/config.yaml", &config_map("api", "dev"))]);
    let told = clone.push().success().remote().join("\n");
    let expected = "`v1.2.3` is a version: pinned, not hydrated on push";
    let cure = "to hydrate it on each push: `targetRevision: main`";
    assert!(told.contains(expected) && told.contains(cure), "{told}");
    clone.commit("next", &[("NOTES", "text")]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("pinned"), "{told}");
    for args in [&["status"] as &[&str], &["apps"], &["check"]] {
        let told = server.hydrate(args);
        assert!((told.stdout.clone() + &told.stderr).contains(expected), "{args:?}: {told:?}");
    }
    server.hydrate(&["status"]).success();
    clone.commit("touched", &[(&file, &format!("# text\n{pinned}"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains(expected), "{told}");
}

#[test]
fn one_that_is_pinned_where_it_was_hydrated_is_an_error_and_no_warning_beside_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    let (file, text) = application("api", "dev");
    clone.commit("pinned", &[(&file, &text.replace("targetRevision: main", "targetRevision: v1.2.3"))]);
    let told = clone.push().success().remote().join("\n");
    assert_eq!(told.matches("`v1.2.3` is a version").count(), 1, "{told}");
    assert!(told.contains("error: `v1.2.3` is a version"), "{told}");
}

#[test]
fn verify_counts_the_commits_of_each_branch_where_one_was_cut_from_the_other() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.git(&["branch", "environments/copy", "environments/dev"]);
    let (file, text) = application("web", "dev");
    let copy = text.replace("environments/dev", "environments/copy").replace("name: web-dev", "name: web-copy");
    clone.commit("copy", &[("applications/copy.yaml", &copy), (&file, &text)]);
    clone.push().success();
    server.hydrate(&["adopt", "environments/copy"]).success();
    let told = server.hydrate(&["verify"]).success().stdout;
    let counts: Vec<&str> = told.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(counts, ["3", "2"], "{told}");
    assert_ne!(tip(&server, "environments/copy"), tip(&server, "environments/dev"));
}

#[test]
fn a_label_that_a_rule_asks_for_in_vain_is_named() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, "[{branch: 'environments/{{ labels.env }}', path: '{{ name }}'}]").success();
    let clone = two(&server);
    let source = format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: apps/web/dev}}");
    let text = plain("api", "dev", &source).replace("labels: {env: dev}", "labels: {environment: dev}");
    clone.commit("no label", &[("applications/api.yaml", &text)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`branch`: it uses a value that does not exist: `labels.env`"), "{told}");
}

#[test]
fn uninstall_names_the_copies_that_argo_cd_follows_and_the_keys_that_it_keeps() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    server.hydrate(&["config", "set", "applicationsTo", "deployed"]).success();
    let clone = two(&server);
    clone.push().success();
    let told = server.hydrate(&["uninstall", "--repoint"]).success().stdout;
    let expected = "# Argo CD follows copies on deployed, which no push moves once git-hydrate is uninstalled.";
    assert!(told.contains(expected) && told.contains("\n#   applications/argocd/web-prod\n"), "{told}");
    let json = server.hydrate(&["uninstall", "--repoint", "--json"]).success().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["copies"]["branch"], "deployed", "{json}");
    assert_eq!(json["copies"]["paths"][0], "applications/argocd/web-dev", "{json}");
    server.git(&["config", "hydrate.destination.deploy.credentialHelper", "store"]);
    let told = server.hydrate(&["uninstall"]).success().stdout;
    assert!(told.contains("keys that you set are kept: hydrate.destination.deploy.credentialhelper"), "{told}");
    let line = told.lines().find_map(|line| line.trim().strip_prefix("to remove them: ")).expect("a line to run");
    server.run("sh", &["-c", line]).success();
    assert!(!server.hydrate(&["uninstall"]).success().stdout.contains("kept"));
}

#[test]
fn a_branch_that_is_left_while_its_dry_branch_is_gone_is_not_to_be_emptied_by_a_push_to_it() {
    let lab = Lab::new();
    let server = lab.server();
    taken_back(&server);
    server.git(&["branch", "-m", "main", "trunk"]);
    let status = server.hydrate(&["status"]).exits(1).stdout;
    let expected = "once main is there again, push a commit to it whose message ends with the line `Hydrate-Allow-Removal: \
                    environments/deev`\n";
    assert!(status.contains(expected) && !status.contains("push a commit to main"), "{status}");
}
