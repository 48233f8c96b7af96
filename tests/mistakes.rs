//! What a push, `status` and `verify` say is so: a mistake stays where it is, and is told.

use serde_json::Value;

use crate::push::{application, both, config_map, dry, note, note_of, tip, verified};
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
fn an_application_that_names_another_repository_by_mistake_keeps_its_manifests() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api", "db"], &["dev", "prod"]);
    clone.push().success();
    let before = tip(&server, PROD);
    let (file, text) = application("web", "prod");
    clone.commit("typo", &[(&file, &text.replace("example.com/dry.git", "example.com/drry.git"))]);
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    let told = clone.push().success().stderr;
    assert!(told.contains("`drySource.repoURL` names another repository"), "{told}");
    assert_eq!(tip(&server, PROD), before, "nothing is removed for a URL");
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
    // ssh and https lead to one repository.
    clone.commit("ssh", &[(&file, &text.replace("https://git.example.com/dry.git", "git@git.example.com:dry.git"))]);
    clone.push().success();
    assert!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("web"));
}

#[test]
fn the_first_push_says_when_it_cannot_tell_which_repository_this_is() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    clone.commit("add", &[(&file, &text)]);
    let told = clone.push().success().stderr;
    assert!(told.contains("`apps/web/dev` does not exist, so it cannot be determined whether"), "{told}");
    assert!(told.contains("git hydrate config set repoURL https://git.example.com/dry.git"), "{told}");
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]);
    clone.commit("fix", &[("apps/web/dev/config.yaml", &config_map("web", "dev"))]);
    clone.push().success();
    tip(&server, DEV);
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

/// `application` of dev with a mistake in its document, pushed after it was hydrated. Answers what the pusher reads.
fn mistaken(server: &Repo, from: &str, to: &str) -> String {
    let clone = dry(server, &["web", "api"], &["dev"]);
    clone.push().success();
    let (file, text) = application("web", "dev");
    clone.commit("mistake", &[(&file, &text.replace(from, to))]);
    let before = tip(server, DEV);
    let told = clone.push().success().remote().join("\n");
    assert_eq!(tip(server, DEV), before, "{told}");
    let files = server.git(&["ls-tree", "-r", "--name-only", DEV]);
    assert!(files.contains("web/manifest.yaml"), "{files}");
    // Once it is right again, the branch goes on.
    let fixed = clone.commit("correct it", &[(&file, &text), ("apps/web/dev/config.yaml", &config_map("web", "new"))]);
    clone.push().success();
    assert_eq!(note(server, DEV), note_of(&fixed));
    told
}

#[test]
fn a_mistyped_target_revision_leaves_the_application_where_it_runs() {
    both(|server| {
        let told = mistaken(server, "targetRevision: main", "targetRevision: mian");
        let error = "error: `mian` is named by 1 Application and does not exist here";
        assert!(told.contains(error) && told.contains("environments/dev  stays at"), "{told}");
    });
}

#[test]
fn a_destination_that_is_refused_leaves_the_application_where_it_runs() {
    both(|server| {
        let told = mistaken(server, "targetBranch: environments/dev", "targetBranch: main");
        assert!(
            told.contains("error: `main` is a dry branch")
                && told.contains("environments/dev  stays at")
                && !told.contains("\nmain "),
            "{told}"
        );
    });
    both(|server| {
        server.hydrate(&["config", "set", "branches", "environments/*"]).success();
        let told = mistaken(server, "targetBranch: environments/dev", "targetBranch: prod");
        assert!(told.contains("the settings do not allow hydration to `prod`"), "{told}");
    });
}

#[test]
fn strict_mode_refuses_a_mistyped_target_revision_that_would_take_an_application_away() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    server.git(&["config", "hydrate.strict", "touched"]);
    let (file, text) = application("web", "dev");
    clone.commit("typo", &[(&file, &text.replace("targetRevision: main", "targetRevision: mian"))]);
    let told = clone.run("git", &["push", "origin", "HEAD"]);
    assert!(told.code != Some(0) && told.stderr.contains("`mian` is named by 1 Application"), "{told:?}");
}

#[test]
fn an_application_that_moves_to_another_dry_branch_is_removed_from_where_it_was() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        clone.push().success();
        let (file, text) = application("web", "dev");
        let moved = text.replace("targetRevision: main", "targetRevision: next");
        clone.git(&["switch", "-q", "-c", "next"]);
        clone.commit("move", &[(&file, &moved.replace("environments/dev", "environments/next"))]);
        clone.git(&["push", "-q", "origin", "next"]);
        server.hydrate(&["config", "set", "dryBranches", "main", "next"]).success();
        assert!(server.git(&["ls-tree", "-r", "--name-only", "environments/next"]).contains("web/manifest.yaml"));
        clone.git(&["switch", "-q", "main"]);
        clone.commit("move", &[(&file, &moved)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("removed web"), "{told}");
        verified(server);
    });
}

#[test]
fn one_of_two_applications_of_a_name_is_removed_although_the_other_is_mistaken() {
    both(|server| {
        let clone = server.clone_to("clone");
        let named = |env: &str| {
            let (file, text) = application("web", env);
            (file, text.replace(&format!("name: web-{env}\n"), "name: web\n"))
        };
        let ((dev, dev_text), (prod, prod_text)) = (named("dev"), named("prod"));
        let (api, api_text) = application("api", "dev");
        let [a, b, c] = ["web/dev", "web/prod", "api/dev"].map(|dir| format!("apps/{dir}/config.yaml"));
        let map = config_map("web", "x");
        let api_map = config_map("api", "x");
        clone.commit(
            "all",
            &[(&dev, &dev_text), (&prod, &prod_text), (&api, &api_text), (&a, &map), (&b, &map), (&c, &api_map)],
        );
        clone.push().success();
        clone.git(&["rm", "-q", &dev]);
        clone.commit("drop", &[(&prod, &prod_text.replace("targetRevision: main", "targetRevision: mian"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("removed web") && told.contains("environments/prod  stays at"), "{told}");
    });
}

#[test]
fn an_application_that_went_while_the_dry_branch_was_renamed_is_removed() {
    for is_head in [false, true] {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["web", "api"], &["dev"]);
        if is_head {
            let files = ["web", "api"].map(|name| application(name, "dev"));
            let files = files.map(|(file, text)| (file, text.replace("targetRevision: main", "targetRevision: HEAD")));
            clone.commit("HEAD", &[(&files[0].0, &files[0].1), (&files[1].0, &files[1].1)]);
        }
        clone.push().success();
        server.git(&["config", "receive.denyDeleteCurrent", "ignore"]);
        clone.git(&["push", "-q", "origin", ":main"]);
        clone.git(&["branch", "-q", "-m", "trunk"]);
        let ((web, _), (api, text)) = (application("web", "dev"), application("api", "dev"));
        clone.git(&["rm", "-q", &web]);
        if !is_head {
            clone.commit("rename", &[(&api, &text.replace("targetRevision: main", "targetRevision: trunk"))]);
        }
        clone.commit("next", &[("NOTES", "text")]);
        clone.git(&["push", "-q", "origin", "trunk"]);
        let told = server.hydrate(&["config", "set", "dryBranches", "trunk"]).success();
        assert!(told.stdout.contains("removed web"), "{told:?}");
        assert!(!server.git(&["ls-tree", "-r", "--name-only", DEV]).contains("web/"));
        verified(&server);
    }
}

/// What `git push` told of a change of `apps/web/dev/config.yaml` to `value`.
pub(crate) fn edited(clone: &Repo, value: &str) -> String {
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", value))]);
    clone.push().success().stderr
}

#[test]
fn a_wrong_repo_url_setting_keeps_branches_with_an_error_and_the_right_one_renders_what_they_lack() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev", "prod"]);
        clone.push().success();
        let before = (tip(server, DEV), note(server, DEV));
        let told = server.hydrate(&["config", "set", "repoURL", "https://git.example.com/drry.git"]);
        assert!(told.stdout.contains("environments/dev   stays at"), "{told:?}");
        assert!(told.stdout.contains("error: `drySource.repoURL` names another repository"), "{told:?}");
        for value in ["one", "two"] {
            let told = edited(&clone, value);
            assert!(told.contains("environments/dev   stays at") && !told.contains("unchanged"), "{told}");
            assert_eq!((tip(server, DEV), note(server, DEV)), before);
        }
        let status = server.hydrate(&["status"]).exits(1).stdout;
        assert!(status.contains("2 dry commits behind"), "{status}");
        server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
        assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("value: two"));
        server.hydrate(&["status"]).success();
        verified(server);
    });
}

#[test]
fn strict_mode_refuses_a_push_while_the_repo_url_setting_is_wrong() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/drry.git"]);
    server.git(&["config", "hydrate.strict", "all"]);
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    let told = clone.push().exits(1).stderr;
    assert!(told.contains("`drySource.repoURL` names another repository"), "{told}");
}

#[test]
fn touched_refuses_a_push_of_what_a_wrong_setting_keeps_from_being_hydrated_and_lets_others_in() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/drry.git"]);
    server.git(&["config", "hydrate.strict", "touched"]);
    clone.commit("beside it", &[("NOTES", "text")]);
    clone.push().success();
    clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    let told = clone.push().exits(1).stderr;
    assert!(told.contains("`drySource.repoURL` names another repository"), "{told}");
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    clone.push().success();
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("value: edited"));
}

#[test]
fn an_application_whose_url_is_taken_out_of_the_settings_keeps_its_manifests_with_an_error() {
    both(|server| {
        let clone = dry(server, &["web", "api"], &["dev"]);
        let (file, text) = application("web", "dev");
        let mirror = "https://mirror.example.com/dry.git";
        clone.commit("mirror", &[(&file, &text.replace("https://git.example.com/dry.git", mirror))]);
        server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git", mirror]).success();
        clone.push().success();
        let before = tip(server, DEV);
        server.hydrate(&["config", "unset", "repoURL", mirror]);
        let told = edited(&clone, "edited");
        assert!(told.contains("stays at") && told.contains("names another repository"), "{told}");
        assert_eq!(tip(server, DEV), before);
        server.hydrate(&["config", "add", "repoURL", mirror]).success();
        assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
    });
}

#[test]
fn a_repository_that_an_earlier_version_took_for_hydrated_is_rendered_when_the_url_is_set_right() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let right = server.git(&["rev-parse", "refs/hydrate/config"]);
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/drry.git"]);
    let wrong = server.git(&["rev-parse", "refs/hydrate/config"]);
    edited(&clone, "edited");
    // What it wrote: the note and the record say that the branch shows the commit, by the wrong settings.
    let dry = tip(&server, "main");
    server.git(&["notes", "--ref=hydrator.metadata", "add", "-f", "-m", &note_of(&dry), DEV]);
    let record = server.git(&["show", "refs/hydrate/branches:environments%2Fdev.json"]);
    let before = record.lines().find_map(|line| line.split_once("\"drySha\": \"")).expect("a dry commit").1;
    let record = record.replace(before.trim_end_matches("\","), &dry).replace(&right, &wrong);
    let path = server.path.join("record.json");
    std::fs::write(&path, record).expect("written");
    let blob = server.git(&["hash-object", "-w", path.to_str().expect("UTF-8")]);
    let script = format!(
        "export GIT_INDEX_FILE=index.new; git read-tree refs/hydrate/branches && \
         git update-index --cacheinfo 100644,{blob},environments%2Fdev.json && \
         git update-ref refs/hydrate/branches $(git commit-tree -p refs/hydrate/branches -m x $(git write-tree))"
    );
    server.run("sh", &["-c", &script]).success();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
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

/// What `git push` told of an Application whose `targetRevision` became `revision`: it keeps what it has, and goes when it is
/// removed.
fn pinned(server: &Repo, revision: &str) -> String {
    let clone = dry(server, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.git(&["tag", "v1"]);
    clone.git(&["push", "-q", "origin", "v1", "HEAD:feature/x"]);
    let before = tip(server, DEV);
    let (file, text) = application("web", "dev");
    clone.commit("pin", &[(&file, &text.replace("targetRevision: main", &format!("targetRevision: {revision}")))]);
    let told = clone.push().success().remote().join("\n");
    assert_eq!(tip(server, DEV), before, "{told}");
    assert!(told.contains("environments/dev  stays at"), "{told}");
    // The hint of the error: others go on, and it stays.
    let paused = text.replace("metadata:", "metadata:\n  annotations: {git-hydrate/paused: 'true'}");
    clone.commit("pause", &[(&file, &paused), ("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    clone.push().success();
    assert!(server.git(&["show", &format!("{DEV}:api/manifest.yaml")]).contains("two"));
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("dev"));
    clone.commit("remove", &[(&file, "")]);
    assert!(clone.push().success().remote().join("\n").contains("removed web"));
    verified(server);
    told
}

#[test]
fn an_application_that_is_pinned_to_a_tag_keeps_its_manifests() {
    both(|server| {
        let told = pinned(server, "v1");
        assert!(told.contains("error: `v1` is a version: pinned, not hydrated on push"), "{told}");
        assert!(told.contains("the annotation `git-hydrate/paused: \"true\"`"), "{told}");
    });
}

#[test]
fn an_application_of_a_branch_that_is_no_dry_branch_keeps_its_manifests() {
    both(|server| {
        let told = pinned(server, "feature/x");
        let error =
            "error: `feature/x` is no dry branch, so `web-dev` would leave `environments/dev` and be hydrated nowhere";
        assert!(told.contains(error), "{told}");
        assert!(told.contains("git hydrate config add dryBranches feature/x"), "{told}");
    });
}

#[test]
fn strict_mode_refuses_a_pin_that_would_take_an_application_away() {
    for revision in ["v1", "feature/x"] {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["web", "api"], &["dev"]);
        clone.push().success();
        clone.git(&["push", "-q", "origin", "HEAD:feature/x"]);
        server.git(&["config", "hydrate.strict", "touched"]);
        let (file, text) = application("web", "dev");
        clone.commit("pin", &[(&file, &text.replace("targetRevision: main", &format!("targetRevision: {revision}")))]);
        let told = clone.push().exits(1).stderr;
        assert!(told.contains(&format!("`{revision}` is ")), "{told}");
    }
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

#[test]
fn a_push_to_what_was_the_dry_branch_is_told_that_nothing_is_hydrated_from_it() {
    both(|server| {
        let clone = dry(server, &["web"], &["dev", "prod"]);
        clone.push().success();
        clone.git(&["push", "-q", "origin", "HEAD:release"]);
        server.hydrate(&["config", "set", "dryBranches", "release"]);
        clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
        let told = clone.push().success().stderr;
        let warning = "warning: `main` is not a dry branch any more, so nothing is hydrated from it: `environments/dev`, \
                       `environments/prod` stay as they are";
        assert!(told.contains(warning) && told.contains("git hydrate config add dryBranches main"), "{told}");
        // The hint.
        server.hydrate(&["config", "add", "dryBranches", "main"]);
        assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
    });
}
