//! `hydrate.notify`: an admin's command is told of each run, and can neither fail nor hold up a hydration.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::push::{config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo, until};

/// What the command was told so far, a notice a line.
fn notices(server: &Repo) -> Vec<Value> {
    let text = server.file("notices").unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn server(lab: &Lab, command: &str) -> Repo {
    let server = lab.server();
    server.git(&["config", "hydrate.notify", command]);
    server
}

#[test]
fn an_admin_is_told_of_pushes_failures_and_catch_up() {
    let lab = Lab::new();
    let server = server(&lab, "cat >>notices");
    server.git(&["config", "hydrate.pusherVariable", "GIT_AUTHOR_NAME"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let found = notices(&server);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["format"], &found[0]["pusher"]), (&1.into(), &"Dev Eloper".into()));
    let path = std::fs::canonicalize(&server.path).expect("there");
    assert_eq!(found[0]["repository"], path.to_str().expect("UTF-8"));
    let branch = &found[0]["branches"][0];
    assert_eq!((&branch["branch"], &branch["outcome"]), (&"environments/dev".into(), &"moved".into()));
    let dry = clone.commit("slip", &[("apps/web/dev/config.yaml", &(config_map("web", "x") + "  b: [\n"))]);
    clone.push().success();
    let found = notices(&server).pop().expect("told");
    assert_eq!((&found["branches"][0]["outcome"], &found["branches"][0]["drySha"]), (&"failed".into(), &dry.into()));
    assert!(found["branches"][0]["diagnostics"][0]["span"]["line"].is_number(), "{found}");
    clone.commit("better", &[("apps/web/dev/config.yaml", &config_map("web", "x"))]);
    server.run("git", &["config", "core.hooksPath", "nowhere"]).success();
    clone.push().success();
    assert_eq!(notices(&server).len(), 2, "no hook ran");
    server.hydrate(&["catch-up", "--quiet"]).success();
    assert_eq!(notices(&server).pop().expect("told")["branches"][0]["outcome"], "moved");
    // What keeps everything from being hydrated is told as well.
    server.git(&["config", "--unset", "core.hooksPath"]);
    server.git(&["config", "hydrate.lockWait", "0"]);
    let before = notices(&server).len();
    server.git(&["update-ref", "refs/hydrate/config", "main"]);
    clone.commit("more", &[]);
    clone.push().success();
    let found = notices(&server);
    assert_eq!(found.len(), before + 1);
    assert!(found.last().expect("told")["error"].as_str().is_some_and(|why| !why.is_empty()), "{found:?}");
}

#[test]
fn a_command_that_pushes_to_the_repository_is_not_run_for_its_own_push() {
    let lab = Lab::new();
    let push =
        "cat >>notices; env >>environment; git push -q . \"$(git commit-tree -m x main^{tree})\":refs/heads/log-$$";
    let server = server(&lab, push);
    let clone = dry(&server, &["web"], &["dev"]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("warning"), "{told}");
    assert_eq!(notices(&server).len(), 1);
    assert!(server.git(&["branch", "--list", "log-*"]).contains("log-"));
    let environment = server.file("environment").expect("there");
    assert!(
        !environment.contains("GIT_HYDRATE_ISOLATION") && !environment.contains("GIT_HYDRATE_USED"),
        "{environment}"
    );
}

#[test]
fn names_that_a_terminal_must_not_show_are_escaped_in_a_notice() {
    let lab = Lab::new();
    let server = server(&lab, "cat >>notices");
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.commit("slip", &[("applications/dev/a\u{202e}.yaml", "kind: Application\nspec: {sourceHydrator: [\n")]);
    clone.push().success();
    let text = server.file("notices").expect("there");
    assert!(text.contains("\\u202e") && !text.contains('\u{202e}'), "{text}");
}

#[test]
fn what_a_push_leaves_to_the_background_is_told_when_it_is_done() {
    let lab = Lab::new();
    let server = server(&lab, "cat >>notices");
    server.git(&["config", "hydrate.budget", "0"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    for value in ["a", "b", "c"] {
        clone.commit(value, &[("apps/web/dev/config.yaml", &config_map("web", value))]);
    }
    let tip = clone.git(&["rev-parse", "HEAD"]);
    clone.push().success();
    // A process of its own does the rest.
    let started = Instant::now();
    let is_told = || {
        notices(&server).iter().any(|notice| notice["branches"][0]["drySha"] == tip && notice["unfinished"] == false)
    };
    while !is_told() {
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", notices(&server));
        std::thread::yield_now();
    }
}

#[test]
fn a_push_that_gave_up_is_hydrated_by_a_process_that_waits_and_told_in_the_name_of_its_pusher() {
    let lab = Lab::new();
    let server = server(&lab, "cat >>notices");
    server.git(&["config", "hydrate.pusherVariable", "GIT_AUTHOR_NAME"]);
    server.git(&["config", "hydrate.lockWait", "0"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let before = tip(&server, "environments/dev");
    let lock = std::fs::File::create(server.path.join("hydrate.lock")).expect("made");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    let last = clone.commit("second", &[("apps/web/dev/config.yaml", &config_map("web", "second"))]);
    let told = clone.push().success().remote().join(" ");
    assert!(told.contains("error: hydration failed: another hydration has locked the repository"), "{told}");
    assert!(told.contains("it is hydrated as soon as what runs now ends"), "{told}");
    assert_eq!(tip(&server, "environments/dev"), before);
    drop(lock);
    until(|| notices(&server).len() == 3, "the waiting process ends");
    assert_eq!(note(&server, "environments/dev"), note_of(&last));
    let found = notices(&server).pop().expect("told");
    assert_eq!((&found["pusher"], &found["branches"][0]["outcome"]), (&"Dev Eloper".into(), &"moved".into()));
}

#[test]
fn a_command_that_fails_or_hangs_hurts_nobody() {
    let lab = Lab::new();
    let server = server(&lab, "echo no such channel >&2; exit 3");
    let clone = dry(&server, &["web"], &["dev"]);
    let told = clone.push().success().stderr;
    assert!(told.contains("environments/dev  new -> "), "{told}");
    assert!(told.contains("warning: hydrate.notify: exit status 3: no such channel"), "{told}");
    server.git(&["config", "hydrate.notify", "sleep 1000"]);
    server.git(&["config", "hydrate.notifyTimeLimit", "1"]);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    let told = clone.push().success().stderr;
    assert!(told.contains("warning: hydrate.notify: ended after 1 seconds (hydrate.notifyTimeLimit)"), "{told}");
    // It may push itself: the lock is free by then.
    let push = "git clone -q . ../again && cd ../again && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m again && \
                GIT_CONFIG_COUNT=0 git push -q";
    server.git(&["config", "hydrate.notifyTimeLimit", "60"]);
    server.git(&["config", "hydrate.notify", &format!("[ -d ../again ] || {{ unset GIT_DIR; {push}; }}")]);
    clone.commit("last", &[("apps/web/dev/config.yaml", &config_map("web", "last"))]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("warning"), "{told}");
    assert_eq!(server.git(&["log", "-1", "--format=%s", "main"]), "again");
    // A tag concerns no branch, and nobody is told.
    server.git(&["config", "hydrate.notify", "cat >>notices"]);
    clone.git(&["tag", "v1"]);
    clone.run("git", &["push", "-q", "origin", "v1"]).success();
}
