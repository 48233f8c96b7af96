//! What a push, `status` and `verify` say is so: a mistake stays where it is, and is told.

mod repo_url;
mod revisions;

use serde_json::Value;

use crate::push::{application, both, config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo, known_to_git};

const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";

/// Commits an Application that stages on `staging` for `sync`.
fn staged(clone: &Repo, name: &str, sync: &str, staging: &str) {
    let (file, text) = application(name, "dev");
    let text = text.replace("targetBranch: environments/dev", &format!("targetBranch: {sync}"));
    let text = format!("{text}    hydrateTo:\n      targetBranch: {staging}\n");
    let source = format!("apps/{name}/dev/config.yaml");
    clone.commit("add", &[(&file, &text), (&source, &config_map(name, "dev"))]);
}

fn json(repo: &Repo, args: &[&str]) -> Value {
    serde_json::from_str(&repo.hydrate(args).stdout).expect("JSON")
}

fn of_branch<'v>(list: &'v Value, branch: &str) -> &'v Value {
    let list = list.as_array().or_else(|| list["branches"].as_array()).expect("a list");
    list.iter().find(|one| one["branch"] == branch).unwrap_or(&Value::Null)
}

#[test]
fn two_proposed_branches_of_one_new_active_branch_hydrate_in_one_push() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "activePaths.env/dev", "web", "api"]).success();
    let clone = server.clone_to("clone");
    staged(&clone, "web", "env/dev", "env/dev-next/web");
    staged(&clone, "api", "env/dev", "env/dev-next/api");
    let told = clone.push().success();
    assert!(!told.stderr.contains("error"), "{told:?}");
    let first = server.git(&["rev-list", "--max-parents=0", "env/dev-next/web"]);
    assert_eq!(first, server.git(&["rev-list", "--max-parents=0", "env/dev-next/api"]));
    assert_eq!(first, tip(&server, "env/dev"));
    let local = clone.hydrate(&[]).success();
    assert!(!local.stderr.contains("error"), "{local:?}");
}

#[test]
fn active_paths_are_set_for_the_active_branch_and_hold_for_its_proposed_branches() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "activePaths.env/dev", "web", "api"]).success();
    server.hydrate(&["config", "set", "activePaths.env/none", "web"]).success();
    let clone = server.clone_to("clone");
    staged(&clone, "web", "env/dev", "env/dev-next/web");
    staged(&clone, "api", "env/dev", "env/dev-next/api");
    staged(&clone, "odd", "env/dev", "env/odd");
    let told = clone.push().success().stderr;
    for name in ["web", "api"] {
        let files = server.git(&["ls-tree", "-r", "--name-only", &format!("env/dev-next/{name}")]);
        let expected = ["README.md", "hydrator.metadata", "manifest.yaml"].map(|file| format!("{name}/{file}"));
        assert_eq!(files.lines().collect::<Vec<_>>(), expected, "nothing stands at the root");
    }
    assert!(told.contains("the setting `activePaths` names `env/none`, which no Application has"), "{told}");
    assert!(told.contains("`env/odd` is not a proposed branch of `env/dev`, which is promoted by directory"), "{told}");
}

#[test]
fn applications_without_a_destination_may_render_objects_of_one_name() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    for name in ["web", "api"] {
        let (file, text) = application(name, "dev");
        let text = text.replace(&format!("  destination:\n    namespace: {name}\n"), "");
        let source = format!("apps/{name}/dev/config.yaml");
        clone.commit("add", &[(&file, &text), (&source, &config_map("shared", name))]);
    }
    clone.push().success();
    assert!(server.git(&["ls-tree", "-r", "--name-only", DEV]).contains("api/manifest.yaml"));
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("shared", "edited"))]);
    clone.push().success();
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
}

#[test]
fn one_mistyped_path_holds_back_its_own_branch_only() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    let (file, text) = application("web", "prod");
    clone.commit("typo", &[(&file, &text.replace("path: apps/web/prod", "path: apps/web/porduction"))]);
    let told = clone.push().success().stderr;
    assert!(told.contains("repoURL is now set to https://git.example.com/dry.git"), "{told}");
    assert!(told.contains("apps/web/porduction"), "{told}");
    tip(&server, DEV);
    assert!(server.run("git", &["rev-parse", "--verify", &format!("refs/heads/{PROD}")]).code != Some(0));
    clone.commit("fix", &[(&file, &text)]);
    clone.push().success();
    tip(&server, PROD);
    // Later too.
    clone.commit("typo", &[(&file, &text.replace("path: apps/web/prod", "path: apps/web/porduction"))]);
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    let told = clone.push().success().stderr;
    assert!(told.contains("apps/web/porduction") && !told.contains("config set repoURL"), "{told}");
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
}

#[test]
fn a_push_after_which_nothing_could_hydrate_says_so() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.commit("docs", &[("NOTES", "text")]);
    let told = clone.push().success().stderr;
    let text = "nothing to hydrate: `main` has no Application with `spec.sourceHydrator`; without it, rules can lead it: \
                `git hydrate adopt` in a clone proposes them";
    assert!(told.contains(text), "{told}");
    let told = clone.hydrate(&["vendor"]).success().stdout;
    assert!(told.ends_with("there are no rules for others\nhint: git hydrate adopt\n"), "{told}");
    // A branch that the Applications name and that is not there.
    let files: Vec<(String, String)> = ["dev", "prod"].map(|env| application("web", env)).into();
    for (file, text) in &files {
        clone.commit("add", &[(file, &text.replace("targetRevision: main", "targetRevision: trunk"))]);
    }
    let told = clone.push().success().stderr;
    assert!(told.contains("`trunk` is named by 2 Applications and does not exist here"), "{told}");
    assert!(told.contains("targetRevision: main"), "{told}");
}

#[test]
fn an_environment_name_that_failed_once_and_was_corrected_leaves_status() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    let (file, text) = application("api", "prdo");
    clone.commit(
        "typo",
        &[(&file, &text), ("apps/api/prdo/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n")],
    );
    clone.push().success();
    assert_eq!(of_branch(&json(&server, &["status", "--json"]), "environments/prdo")["state"], "notMade");
    let text = text.replace("environments/prdo", PROD);
    clone.commit("fix", &[(&file, &text), ("apps/api/prdo/config.yaml", &config_map("api", "prod"))]);
    clone.push().success();
    let status = server.hydrate(&["status"]).exits(0).stdout;
    assert!(!status.contains("prdo"), "{status}");
}

#[test]
fn a_branch_that_somebody_else_made_is_in_status_verify_and_doctor() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    let foreign = clone.commit("mine", &[("evil/manifest.yaml", "kind: Evil\n")]);
    clone.git(&["push", "-q", server.path.to_str().expect("a path"), &format!("{foreign}:refs/heads/other")]);
    server.git(&["update-ref", &format!("refs/heads/{PROD}"), &foreign]);
    let at = format!("at {}, not made by hydration", &foreign[..7]);
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains(&at), "{status}");
    let status = json(&server, &["status", "--json"]);
    assert_eq!(of_branch(&status, PROD)["state"], "notHydrated", "{status}");
    let verified = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(verified.contains(PROD), "{verified}");
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("was not made by hydration"), "{doctor}");
    // One that was never hydrated as well.
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let (file, text) = application("web", "stage");
    server.git(&["update-ref", "refs/heads/environments/stage", &foreign]);
    clone.commit("stage", &[(&file, &text), ("apps/web/stage/config.yaml", &config_map("web", "stage"))]);
    clone.push();
    let verified = server.hydrate(&["verify"]).exits(1).stdout;
    assert!(verified.contains("the branch was not made by hydration"), "{verified}");
}

#[test]
fn a_branch_that_was_lost_is_missing_in_status() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    server.git(&["update-ref", "-d", &format!("refs/heads/{PROD}")]);
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.lines().any(|line| line.starts_with(PROD) && line.contains("missing")), "{status}");
}

#[test]
fn a_hint_quotes_a_branch_name_that_a_shell_would_run() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let odd = "environments/x;$(touch${IFS}PWN)";
    clone.push().success();
    clone.git(&["push", "-q", "origin", &format!("HEAD:refs/heads/{odd}")]);
    let (file, text) = application("api", "dev");
    let text = text.replace("targetBranch: environments/dev", &format!("targetBranch: '{odd}'"));
    clone.commit("add", &[(&file, &text), ("apps/api/dev/config.yaml", &config_map("api", "dev"))]);
    let told = clone.push().success();
    let words = told.remote().join(" ");
    assert!(words.contains(&format!("git hydrate adopt '{odd}'")), "{words}");
}

#[test]
fn a_clone_with_reftable_finds_its_commits() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.git(&[&["clone", "-q"], &known_to_git(&["--ref-format=reftable"])[..], &[".", "../clone"]].concat());
    let repo = Repo::at(&lab, "clone");
    repo.hydrate(&["init"]).success();
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "example"]);
    repo.hydrate(&["check", "HEAD"]).success();
    repo.hydrate(&["check", "main"]).success();
}

#[test]
fn an_environment_that_gets_a_staging_branch_keeps_what_is_deployed() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    let dev = tip(&server, DEV);
    let texts = ["web", "api"].map(|name| application(name, "dev"));
    let staged = |text: &str| format!("{text}    hydrateTo:\n      targetBranch: environments/dev-next\n");
    let files: Vec<(&str, String)> = texts.iter().map(|(file, text)| (file.as_str(), staged(text))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
    clone.commit("stage\n\nHydrate-Allow-Removal: environments/dev", &files);
    let told = clone.push().success();
    assert!(!told.stderr.contains("error"), "{told:?}");
    assert_eq!(tip(&server, DEV), dev, "what is deployed stays");
    assert_eq!(server.git(&["rev-parse", "environments/dev-next~1"]), dev);
    for command in ["verify", "status", "catch-up"] {
        server.hydrate(&[command]).success();
    }
    let status = json(&server, &["status", "--json"]);
    assert_eq!(of_branch(&status, DEV)["state"], "promoted", "{status}");
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    assert_eq!(tip(&server, DEV), dev);
    assert!(server.git(&["show", "environments/dev-next:web/manifest.yaml"]).contains("next"));
    // And back.
    let files: Vec<(&str, &str)> = texts.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    clone.commit("back\n\nHydrate-Allow-Removal: environments/dev-next", &files);
    let told = clone.push().success();
    assert!(!told.stderr.contains("error"), "{told:?}");
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("next"));
    server.hydrate(&["verify"]).success();
}

#[test]
fn an_application_that_feeds_no_branch_for_an_error_is_in_status() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["status"]).success();
    let (_, text) = application("web", "new");
    let name = text.replace("targetBranch: environments/new", "targetBranch: '-x'");
    let path = text.replace("path: web", "path: ../x");
    clone.commit("bad", &[("applications/a.yaml", &name), ("applications/b.yaml", &path)]);
    let told = clone.push().success().stderr;
    assert_eq!(told.matches("error:").count(), 2, "{told}");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert_eq!(status.matches("error:").count(), 2, "{status}");
    assert!(status.contains("applications/a.yaml") && status.contains("applications/b.yaml"), "{status}");
    assert_eq!(json(&server, &["status", "--json"])["problems"].as_array().expect("a list").len(), 2);
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("2 errors keep Applications from being hydrated"), "{doctor}");
}

#[test]
fn a_branch_that_another_dry_branch_names_too_is_up_to_date_in_status() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "dryBranches", "main", "team"]).success();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.git(&["checkout", "-q", "--orphan", "team"]);
    clone.git(&["rm", "-q", "-r", "--force", "."]);
    let (file, text) = application("web", "dev");
    let text = text.replace("targetRevision: main", "targetRevision: team");
    clone.commit("mine", &[(&file, &text), ("apps/web/dev/config.yaml", &config_map("web", "mine"))]);
    clone.push().success();
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("of main  up to date") && !status.contains("rewound"), "{status}");
    assert!(status.contains("`environments/dev` is hydrated from `main`, not from `team`"), "{status}");
}

#[test]
fn what_is_too_long_for_a_template_holds_back_its_own_branch_only() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    clone.push().success();
    let before = tip(&server, "environments/prod");
    let (path, text) = application("web", "prod");
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
    let parameter =
        format!("path: charts/web\n      helm: {{parameters: [{{name: a, value: {}}}]}}\n", "y".repeat(1 << 20));
    let long = text.replace("path: apps/web/prod\n", &parameter);
    let (dev, rendered) = (config_map("web", "2"), config_map("web", "chart"));
    let files = [
        (path.as_str(), long.as_str()),
        ("charts/web/Chart.yaml", chart),
        ("charts/web/templates/config.yaml", rendered.as_str()),
        ("apps/web/dev/config.yaml", dev.as_str()),
    ];
    let next = clone.commit("long", &files);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("error: the template README.md.j2 of the settings: its output has more than"), "{told}");
    assert!(told.contains("= application: web-prod"), "{told}");
    assert_eq!(note(&server, DEV), note_of(&next));
    assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains("value: 2"));
    assert_eq!(tip(&server, "environments/prod"), before);
    // Without it, the branch goes on.
    let next = clone.commit("short", &[(&path, &long.replace(&"y".repeat(1 << 20), "short"))]);
    clone.push().success();
    assert_eq!(note(&server, "environments/prod"), note_of(&next));
    server.hydrate(&["verify"]).success();
    // A message that is too long for an admin's template is passed over by the next commit.
    std::fs::create_dir(server.path.join("templates")).expect("a directory");
    let template = "{{ metadata.subject }}{% for i in range(2000) %}{{ metadata.body }}{% endfor %}\n";
    std::fs::write(server.path.join("templates/commit-message.j2"), template).expect("writable");
    server.hydrate(&["config", "import", "templates"]).success();
    let two =
        |value: &str| ["dev", "prod"].map(|env| (format!("apps/web/{env}/config.yaml"), config_map("web", value)));
    let commit = |message: &str, value: &str| {
        let files = two(value);
        clone.commit(message, &files.each_ref().map(|(path, text)| (path.as_str(), text.as_str())))
    };
    commit(&format!("long\n\n{}", "y".repeat(1000)), "3");
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("error: the template commit-message.j2 of the settings: its output has more than"), "{told}");
    let next = commit("short", "4");
    clone.push().success();
    assert_eq!(note(&server, DEV), note_of(&next));
}

/// What `git push` told of a change of `apps/web/dev/config.yaml` to `value`.
pub(crate) fn edited(clone: &Repo, value: &str) -> String {
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", value))]);
    clone.push().success().stderr
}

#[test]
fn the_push_that_creates_a_promoted_branch_lists_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    staged(&clone, "web", "env/dev", "env/dev-next-web");
    staged(&clone, "api", "env/dev", "env/dev-next-api");
    let told = clone.push().success().remote().join("\n");
    let at = &tip(&server, "env/dev")[..7];
    let note =
        format!("note: env/dev is new at {at} and empty, until env/dev-next-api, env/dev-next-web are promoted to it");
    assert!(told.contains(&note) && told.matches("is new at").count() == 1, "{told}");
    clone.commit("web", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("is new at"), "{told}");
    // It stays in view when nothing names it any more.
    server.git(&["config", "receive.denyDeleteCurrent", "ignore"]);
    clone.git(&["push", "-q", "origin", ":main"]);
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains(&format!("env/dev           at {at}, nothing is promoted to it yet")), "{status}");
    assert!(status.contains("its dry branch does not exist"), "{status}");
}

#[test]
fn a_staging_branch_that_is_misspelt_for_one_of_two_applications_removes_nothing() {
    both(|server| {
        let clone = server.clone_to("clone");
        staged(&clone, "web", "env/prod", "env/prod-next");
        staged(&clone, "api", "env/prod", "env/prod-next");
        clone.push().success();
        let before = tip(server, "env/prod-next");
        staged(&clone, "web", "env/prod", "stage/prod");
        let told = clone.push().success().remote().join("\n");
        assert_eq!(tip(server, "env/prod-next"), before, "{told}");
        let error = "error: `web-dev` would leave `env/prod-next` for `stage/prod`, and the next promotion of `env/prod-next` \
                     would take it off `env/prod`";
        assert!(told.contains(error), "{told}");
        staged(&clone, "web", "env/prod", "env/prod-next");
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("env/prod-next  unchanged") && told.contains("would empty `stage/prod`"), "{told}");
        server.git(&["update-ref", "-d", "refs/heads/stage/prod"]);
        server.git(&["gc", "-q", "--prune=now"]);
        server.hydrate(&["catch-up"]).success();
        server.hydrate(&["status"]).success();
    });
}
