//! Applications that move from one environment branch to another, where the new one does not take them.

use crate::push::{application, both, config_map, dry, note, note_of, tip, verified};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";
const SOURCE: &str = "apps/web/dev/config.yaml";

/// The document of `web-dev` for another branch.
fn moved_to(branch: &str) -> (String, String) {
    let (file, text) = application("web", "dev");
    (file, text.replace("targetBranch: environments/dev", &format!("targetBranch: {branch}")))
}

/// `web` and `api` on dev, `api` on prod, hydrated.
fn hydrated(server: &Repo) -> Repo {
    let clone = dry(server, &["api"], &["dev", "prod"]);
    let (file, text) = application("web", "dev");
    clone.commit("web", &[(&file, &text), (SOURCE, &config_map("web", "one"))]);
    clone.push().success();
    clone
}

fn push(clone: &Repo) -> String {
    clone.push().success().remote().join("\n")
}

fn has_web(server: &Repo, branch: &str) -> bool {
    !server.git(&["ls-tree", branch, "web/manifest.yaml"]).is_empty()
}

const HELD: &str = "error: `web-dev` moves from `environments/dev` to `environments/prod`, where it fails to render";

#[test]
fn an_application_that_moves_and_does_not_render_there_stays_on_its_old_branch() {
    both(|server| {
        let clone = hydrated(server);
        let (before, prod) = (tip(server, DEV), tip(server, PROD));
        let (file, text) = moved_to(PROD);
        clone.commit("move web", &[(&file, &text), (SOURCE, BROKEN)]);
        let told = push(&clone);
        assert!(told.contains(HELD) && told.contains("environments/dev   stays at"), "{told}");
        assert_eq!((tip(server, DEV), tip(server, PROD)), (before.clone(), prod));
        // Nor does it go with the next push of something else.
        clone.commit("api", &[("apps/api/dev/config.yaml", &config_map("api", "two"))]);
        let told = push(&clone);
        assert!(told.contains(HELD), "{told}");
        assert_eq!(tip(server, DEV), before);
        let status = server.hydrate(&["status"]).exits(1).stdout;
        assert!(status.contains(HELD), "{status}");
        let fixed = clone.commit("correct it", &[(SOURCE, &config_map("web", "two"))]);
        let told = push(&clone);
        assert!(told.contains("removed web"), "{told}");
        assert_eq!((has_web(server, DEV), has_web(server, PROD)), (false, true));
        assert_eq!(note(server, DEV), note_of(&fixed));
        verified(server);
    });
}

#[test]
fn an_application_that_moves_and_is_wrong_as_it_is_written_stays_on_its_old_branch() {
    both(|server| moves_wrongly(server, "branch"));
    both(|server| moves_wrongly(server, "application"));
}

fn moves_wrongly(server: &Repo, on_failure: &str) {
    server.hydrate(&["config", "set", "onFailure", on_failure]).success();
    let clone = hydrated(server);
    let (before, prod) = (tip(server, DEV), tip(server, PROD));
    let (file, text) = moved_to(PROD);
    let wrong = text.replace("path: web\n", "path: .\n");
    assert_ne!(wrong, text);
    clone.commit("move web", &[(&file, &wrong), ("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    let told = push(&clone);
    assert!(told.contains("error: the hydrated manifests cannot be at the root of the branch"), "{told}");
    assert!(has_web(server, DEV) && !told.contains("removed"), "{told}");
    assert_eq!((on_failure == "branch", tip(server, PROD)), (tip(server, DEV) == before, prod), "{told}");
    verified(server);
    clone.commit("correct it", &[(&file, &text)]);
    let told = push(&clone);
    assert!(told.contains("removed web"), "{told}");
    assert_eq!((has_web(server, DEV), has_web(server, PROD)), (false, true));
    verified(server);
}

#[test]
fn many_commits_of_which_one_moves_an_application_that_fails_give_the_same_at_once_and_one_by_one() {
    let history = |server: &Repo, each: bool| {
        let clone = hydrated(server);
        let step = |message: &str, files: &[(&str, &str)]| {
            clone.commit(message, files);
            if each {
                push(&clone);
            }
        };
        let (file, there) = moved_to(PROD);
        let (_, here) = application("web", "dev");
        step("move web", &[(&file, &there), (SOURCE, BROKEN)]);
        step("api", &[("apps/api/dev/config.yaml", &config_map("api", "two"))]);
        step("move it back", &[(&file, &here), (SOURCE, &config_map("web", "two"))]);
        step("move it", &[(&file, &there)]);
        step("api again", &[("apps/api/prod/config.yaml", &config_map("api", "three"))]);
        push(&clone);
        assert_eq!((has_web(server, DEV), has_web(server, PROD)), (false, true));
        verified(server);
        [tip(server, DEV), tip(server, PROD)]
    };
    let tips = [true, false].map(|each| {
        let lab = Lab::new();
        history(&lab.server(), each)
    });
    assert_eq!(tips[0], tips[1]);
}

#[test]
fn an_application_that_fails_on_a_branch_that_is_not_made_stays_on_its_old_branch() {
    both(|server| {
        let clone = hydrated(server);
        let before = tip(server, DEV);
        let (file, text) = moved_to("environments/qa");
        let text = text.replace("path: apps/web/dev", "path: apps/wep/dev");
        clone.commit("move web", &[(&file, &text)]);
        let told = push(&clone);
        assert!(told.contains("error: ") && !told.contains("removed"), "{told}");
        assert_eq!(tip(server, DEV), before);
        verified(server);
    });
}

#[test]
fn an_application_that_is_paused_cannot_leave_its_branch() {
    both(|server| {
        let clone = hydrated(server);
        let before = tip(server, DEV);
        let (file, text) = moved_to(PROD);
        let paused = "  name: web-dev\n  annotations:\n    git-hydrate/paused: \"true\"\n";
        clone.commit("move web", &[(&file, &text.replace("  name: web-dev\n", paused))]);
        let told = push(&clone);
        assert!(told.contains("moves from `environments/dev` to `environments/prod`, and is paused"), "{told}");
        assert_eq!(tip(server, DEV), before);
        clone.commit("go on", &[(&file, &text)]);
        push(&clone);
        assert_eq!((has_web(server, DEV), has_web(server, PROD)), (false, true));
        verified(server);
    });
}

#[test]
fn each_step_before_a_push_tells_of_an_application_that_moves_and_fails() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    clone.hydrate(&["install", "--client"]).success();
    server.git(&["config", "hydrate.strict", "touched"]);
    let (file, text) = moved_to(PROD);
    clone.commit("move web", &[(&file, &text), (SOURCE, BROKEN)]);
    for step in ["diff", "check"] {
        let told = clone.hydrate(&[step]).exits(1).stdout;
        assert!(told.contains(HELD.trim_start_matches("error: ")), "{step}: {told}");
    }
    let blocked = clone.push().exits(1).stderr;
    assert!(blocked.contains(HELD) && blocked.contains("push blocked"), "{blocked}");
    let refused = clone.run("git", &["push", "--no-verify", "origin", "HEAD"]).exits(1).stderr;
    assert!(refused.contains(HELD.trim_start_matches("error: ")), "{refused}");
}

/// Moves `web` to a branch that does not take it, and asks everywhere what becomes of it.
#[track_caller]
fn leaves(server: &Repo, clone: &Repo, branch: &str, why: &str, after: &str) {
    let (file, text) = moved_to(branch);
    clone.commit("move web", &[(&file, &text)]);
    clone.git(&["fetch", "-q"]);
    let warning = format!("`web-dev` moves from `environments/dev` to `{branch}`, {why}");
    for step in ["diff", "check"] {
        let told = clone.hydrate(&[step]).stdout;
        assert!(told.contains(&warning), "{step}: {told}");
    }
    let checked = clone.run("git", &["push", "--dry-run", "origin", "HEAD"]).stderr;
    assert!(checked.contains(&format!("warning: {warning}")), "{checked}");
    let told = clone.run("git", &["push", "--no-verify", "origin", "HEAD"]).success().remote().join("\n");
    assert!(told.contains(&format!("warning: {warning}")) && told.contains("removed web"), "{told}");
    assert!(!has_web(server, DEV));
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains(after), "{status}");
    for hydrated in [DEV, PROD] {
        server.hydrate(&["verify", hydrated]).exits(0);
    }
}

#[test]
fn who_moves_an_application_to_a_frozen_branch_is_warned_that_it_is_on_none() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    clone.hydrate(&["install", "--client"]).success();
    server.hydrate(&["config", "set", "frozen.environments/prod", "{reason: release}"]).success();
    let after =
        "warning: `web-dev` is on no branch: moved from `environments/dev` to `environments/prod`, which is frozen";
    leaves(&server, &clone, PROD, "which is frozen", after);
    // It is there when the freeze ends.
    server.hydrate(&["config", "unset", "frozen"]).success();
    assert!(has_web(&server, PROD));
    let status = server.hydrate(&["status"]).exits(0).stdout;
    assert!(!status.contains("on no branch"), "{status}");
}

#[test]
fn who_moves_an_application_to_a_branch_of_somebody_else_is_warned_that_it_is_on_none() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["push", "-q", "--no-verify", "origin", "HEAD:release-notes"]);
    let why = "which is not written: `release-notes` was not made by hydration";
    leaves(&server, &clone, "release-notes", why, "`release-notes` was not made by hydration");
}

#[test]
fn who_moves_an_application_to_a_branch_that_another_one_holds_is_warned_that_it_is_on_none() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    clone.hydrate(&["install", "--client"]).success();
    clone.commit("break prod", &[("apps/api/prod/config.yaml", BROKEN)]);
    clone.run("git", &["push", "--no-verify", "origin", "HEAD"]).success();
    let after =
        "warning: `web-dev` is on no branch: moved from `environments/dev` to `environments/prod`, which failed";
    leaves(&server, &clone, PROD, "which failed", after);
    clone.commit("correct it", &[("apps/api/prod/config.yaml", &config_map("api", "two"))]);
    push(&clone);
    assert!(has_web(&server, PROD));
}

#[test]
fn an_application_that_moves_where_another_renders_its_object_stays_on_its_old_branch() {
    both(|server| clashes(server, "branch"));
    both(|server| clashes(server, "application"));
}

fn clashes(server: &Repo, on_failure: &str) {
    const OTHER: &str = "apps/api/prod/config.yaml";
    server.hydrate(&["config", "set", "onFailure", on_failure]).success();
    let clone = hydrated(server);
    let in_one_cluster = |(file, text): (String, String)| {
        (
            file,
            text.replace("  destination:\n", "  destination:\n    server: https://k8s\n")
                .replace("namespace: api", "namespace: web"),
        )
    };
    let (file, text) = in_one_cluster(moved_to(DEV));
    let (other_file, other_text) = in_one_cluster(application("api", "prod"));
    clone.commit("one cluster", &[(&file, &text), (&other_file, &other_text), (OTHER, &config_map("web", "theirs"))]);
    push(&clone);
    let (before, prod) = (tip(server, DEV), tip(server, PROD));
    let (_, text) = in_one_cluster(moved_to(PROD));
    clone.commit("move web", &[(&file, &text)]);
    let told = push(&clone);
    let held = "error: `web-dev` moves from `environments/dev` to `environments/prod`, where another Application renders one of its objects too";
    assert!(told.contains(held) && told.contains("both render ConfigMap"), "{told}");
    assert!(!told.contains("no branch has its manifests") && !told.contains("removed web"), "{told}");
    assert_eq!((tip(server, DEV), tip(server, PROD)), (before, prod));
    clone.commit("api", &[("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    let told = push(&clone);
    assert!(has_web(server, DEV) && told.contains(held), "{told}");
    clone.commit("correct it", &[(OTHER, &config_map("api", "theirs"))]);
    push(&clone);
    assert_eq!((has_web(server, DEV), has_web(server, PROD)), (false, true));
    verified(server);
}
