//! `git hydrate plan`: what a push would render, and why.

use std::path::Path;

use serde_json::{Value, json};

use crate::push::{application, config_map, dry};
use crate::support::{Answer, Lab, Repo};

fn plan(repo: &Repo, args: &[&str]) -> (Value, Option<i32>) {
    let answer = repo.hydrate(&[&["plan", "--json"], args].concat());
    (serde_json::from_str(&answer.stdout).unwrap_or_else(|why| panic!("{why}: {}", answer.stderr)), answer.code)
}

/// The branches of the only dry commit of a plan.
fn branches(repo: &Repo) -> Value {
    let (mut plan, code) = plan(repo, &["--offline"]);
    assert_eq!((code, plan["commits"].as_array().map(Vec::len)), (Some(0), Some(1)), "{plan}");
    plan["commits"][0]["branches"].take()
}

fn render(name: &str, env: &str, why: Value) -> Value {
    let mut render =
        json!({"application": format!("{name}-{env}"), "source": format!("apps/{name}/{env}"), "path": name});
    render.as_object_mut().expect("an object").extend(why.as_object().expect("an object").clone());
    render
}

/// A clone that hydrates each commit itself before it pushes it.
fn hydrated(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    for message in ["", "docs: say it too"] {
        if !message.is_empty() {
            clone.commit(message, &[("docs.md", message)]);
        }
        clone.hydrate(&[]).success();
        clone.push().success();
    }
    // It fetches what the push made.
    clone.hydrate(&["plan"]).success();
    (server, clone)
}

#[test]
fn a_plan_names_each_render_with_its_reason() {
    let lab = Lab::new();
    let (_server, clone) = hydrated(&lab);
    assert_eq!(plan(&clone, &[]).0["commits"], json!([]), "nothing is left to do");
    clone.commit("a file", &[("apps/web/dev/config.yaml", &config_map("web", "new"))]);
    let file = json!({"reason": "file", "changed": "apps/web/dev/config.yaml"});
    let expected = json!([
        {"branch": "environments/dev", "known": 1, "render": [render("web", "dev", file.clone())]},
        {"branch": "environments/prod", "known": 2, "render": []},
    ]);
    assert_eq!(branches(&clone), expected);
    let (path, text) = application("api", "prod");
    clone.git(&["reset", "-q", "--hard", "HEAD~"]);
    clone.commit("an Application", &[(&path, &text.replace("namespace: api", "namespace: other"))]);
    let expected = json!([
        {"branch": "environments/dev", "known": 2, "render": []},
        {"branch": "environments/prod", "known": 1, "render": [render("api", "prod", json!({"reason": "application"}))]},
    ]);
    assert_eq!(branches(&clone), expected);
    let (path, text) = application("new", "dev");
    clone.commit("one more", &[(&path, &text), ("apps/new/dev/config.yaml", &config_map("new", "x"))]);
    let (plan, _) = plan(&clone, &["--offline"]);
    let dev = &plan["commits"][1]["branches"][0];
    assert_eq!(dev["render"], json!([render("new", "dev", json!({"reason": "new"}))]), "{plan}");
}

#[test]
fn a_plan_follows_a_push_of_several_commits() {
    let lab = Lab::new();
    let (_server, clone) = hydrated(&lab);
    clone.commit("first", &[("apps/web/dev/config.yaml", &config_map("web", "1"))]);
    clone.commit("nothing", &[("docs.md", "x")]);
    clone.commit("third", &[("apps/web/prod/config.yaml", &config_map("web", "3"))]);
    let (plan, code) = plan(&clone, &[]);
    let renders = |commit: usize, branch: usize| {
        let render = plan["commits"][commit]["branches"][branch]["render"].as_array().expect("a list");
        render.iter().map(|render| render["changed"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(renders(0, 0), ["apps/web/dev/config.yaml"]);
    assert_eq!(renders(0, 1), none);
    assert_eq!([renders(1, 0), renders(1, 1)], [none; 2]);
    assert_eq!(renders(2, 0), none);
    assert_eq!(renders(2, 1), ["apps/web/prod/config.yaml"]);
    assert_eq!((plan["commits"][2]["subject"].as_str(), code), (Some("third"), Some(0)));
}

#[test]
fn the_settings_are_a_reason() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    server.hydrate(&["config", "set", "profile", "argocd"]).success();
    clone.commit("docs", &[("docs.md", "x")]);
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    // The server hydrated with the new settings already; this clone still has the branches from before.
    let found = branches(&clone);
    assert_eq!(found[0]["render"][0]["reason"], "settings", "{found}");
}

#[test]
fn what_is_known_to_fail_is_told_with_exit_code_1() {
    let lab = Lab::new();
    let (_server, clone) = hydrated(&lab);
    let (path, text) = application("api", "prod");
    clone.commit("broken", &[(&path, &text.replace("path: api", "path: ../api"))]);
    let (plan, code) = plan(&clone, &[]);
    assert_eq!(code, Some(1));
    let prod = &plan["commits"][0]["branches"][1];
    assert_eq!(prod["mistakes"][0]["span"]["path"], path.as_str(), "{plan}");
    let text = clone.hydrate(&["plan"]).exits(1).stdout;
    assert!(text.contains("  environments/prod  fails, so it does not move\nerror: "), "{text}");
}

#[test]
fn what_leaves_the_dry_tree_is_planned_to_be_removed() {
    let lab = Lab::new();
    let (_server, clone) = hydrated(&lab);
    let (path, _) = application("api", "prod");
    clone.commit("gone\n\nHydrate-Allow-Removal: environments/prod", &[(&path, "")]);
    assert_eq!(branches(&clone)[1]["removes"], json!(["api"]));
}

/// All refs and files of a repository.
fn state(repo: &Repo) -> (String, Vec<String>) {
    fn below(dir: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).expect("readable") {
            let entry = entry.expect("readable");
            if entry.path().is_dir() {
                below(&entry.path(), found);
            } else {
                let changed = entry.metadata().and_then(|metadata| metadata.modified());
                found.push(format!("{} {changed:?}", entry.path().display()));
            }
        }
    }
    let mut files = Vec::new();
    below(&repo.path, &mut files);
    files.sort();
    (repo.git(&["for-each-ref"]), files)
}

#[test]
fn a_server_plans_by_what_its_last_push_left_and_writes_nothing() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    clone.commit("a file", &[("apps/web/dev/config.yaml", &config_map("web", "new"))]);
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/later"]);
    let before = state(&server);
    let Answer { stdout, .. } = server.hydrate(&["plan", "later", "--branch", "main"]).success();
    assert_eq!(state(&server), before);
    let commit = clone.git(&["rev-parse", "HEAD"]);
    let expected = format!(
        "{} a file\n  environments/dev  1 to render, 1 known\n    apps/web/dev/config.yaml changed: web-dev\n  \
         environments/prod  0 to render, 2 known\n1 to render, 3 known\n",
        &commit[..7]
    );
    assert_eq!(stdout, expected);
    assert_eq!(
        server.hydrate(&["plan"]).success().stdout,
        "nothing to hydrate: no environment branch lacks this commit\n"
    );
}

#[test]
fn a_clone_that_never_hydrated_knows_no_render() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    clone.commit("docs", &[("docs.md", "x")]);
    let other = server.clone_to("other");
    other.git(&["pull", "-q", clone.path.to_str().expect("UTF-8"), "main"]);
    let (plan, code) = plan(&other, &[]);
    let reasons: Vec<&Value> = plan["commits"][0]["branches"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|branch| branch["render"].as_array().expect("a list").iter().map(|render| &render["reason"]))
        .collect();
    assert_eq!((reasons, code), (vec![&json!("unknown"); 4], Some(0)));
    let text = other.hydrate(&["plan"]).success().stdout;
    assert!(text.contains("hint: run `git hydrate`"), "{text}");
    other.hydrate(&[]).success();
    let (plan, _) = self::plan(&other, &[]);
    assert_eq!(plan["commits"][0]["branches"][0]["known"], 2, "{plan}");
}

#[test]
fn a_plan_of_a_commit_that_fails_names_each_branch_and_each_mistake_once() {
    let lab = Lab::new();
    let (_server, clone) = hydrated(&lab);
    let (path, text) = application("api", "prod");
    clone.commit("mistake", &[(&path, &text.replace("targetBranch: environments/prod", "targetBranch: main"))]);
    let told = clone.hydrate(&["plan", "--offline"]).exits(1).stdout;
    assert_eq!(told.matches("error: `main` is a dry branch").count(), 1, "{told}");
    assert!(told.contains("environments/dev") && told.contains("environments/prod  fails"), "{told}");
    clone.git(&["reset", "-q", "--hard", "HEAD~"]);
    clone.commit("mistake", &[(&path, &text.replace("path: apps/api/prod", "path: apps/ap/prod"))]);
    // Only the render finds that the directory is not there.
    let told = clone.hydrate(&["plan", "--offline"]).exits(0).stdout;
    assert!(told.contains("environments/dev") && told.contains("environments/prod  1 to render"), "{told}");
}
