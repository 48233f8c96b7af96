//! Branches and settings that are lost, and what brings them back.

use super::{cured, pushed, staged};
use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

#[test]
fn a_deployed_branch_that_is_lost_is_back_by_the_command_that_status_and_doctor_print() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = staged(&server);
    clone.push().success();
    let told = server.hydrate(&["status"]).success().stdout;
    assert!(told.contains("nothing is promoted from environments/dev-next yet"), "{told}");
    let before = server.git(&["rev-parse", "environments/dev"]);
    server.git(&["update-ref", "-d", "refs/heads/environments/dev"]);
    let told = server.hydrate(&["status"]).exits(1).stdout;
    let expected = format!("on the server: git update-ref refs/heads/environments/dev {before}");
    assert!(told.contains(&expected), "{told}");
    cured(&server, "environments/dev, which is promoted to, is missing");
    assert_eq!(server.git(&["rev-parse", "environments/dev"]), before);
    server.hydrate(&["status"]).success();
    assert!(!server.hydrate(&["doctor"]).stdout.contains("missing"));
}

#[test]
fn a_lost_branch_keeps_its_history_when_it_is_restored_as_the_doctor_says() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    clone.run("sed", &["-i", "s/web:1.4.2/web:1.5.0/", "environments/dev/east/web.yaml"]).success();
    clone.commit("next", &[]);
    clone.push().success();
    let before = server.git(&["rev-parse", "environments/dev"]);
    server.git(&["update-ref", "-d", "refs/heads/environments/dev"]);
    cured(&server, "environments/dev, which hydration made, is missing");
    assert_eq!(server.git(&["rev-parse", "environments/dev"]), before);
    server.hydrate(&["status"]).success();
}

#[test]
fn settings_that_are_lost_are_restored_by_the_command_that_a_push_prints() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    server.hydrate(&["config", "set", "frozen.environments/prod", "{reason: holidays}"]).success();
    let settings = server.git(&["rev-parse", "refs/hydrate/config"]);
    clone.commit("next", &[("NOTES", "text")]);
    clone.push().success();
    server.git(&["update-ref", "-d", "refs/hydrate/config"]);
    clone.run("sed", &["-i", "s/web:1.4.2/web:1.5.0/", "environments/prod/east/web.yaml"]).success();
    clone.commit("change", &[]);
    let prod = server.git(&["rev-parse", "environments/prod"]);
    let told = clone.push().success().remote().join(" ");
    let cure = format!("git update-ref refs/hydrate/config {settings}");
    assert!(told.contains("refs/hydrate/config is missing") && told.contains(&cure), "{told}");
    assert_eq!(server.git(&["rev-parse", "environments/prod"]), prod);
    let told = server.hydrate(&["status"]).exits(1).stdout;
    assert!(told.contains(&cure), "{told}");
    cured(&server, "refs/hydrate/config, the settings that");
    assert_eq!(server.git(&["rev-parse", "refs/hydrate/config"]), settings);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(server.git(&["rev-parse", "environments/prod"]), prod);
}

#[test]
fn a_staging_branch_that_came_without_records_is_recognized_when_it_is_adopted() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = staged(&server);
    clone.push().success();
    let refs = ["refs/hydrate/branches", "refs/notes/hydrator.metadata"];
    refs.iter().for_each(|name| drop(server.git(&["update-ref", "-d", name])));
    std::fs::remove_dir_all(server.path.join("hydrate")).expect("a cache");
    let told = server.hydrate(&["adopt"]).success().stdout;
    assert!(told.contains("environments/dev-next  made by hydration"), "{told}");
}

#[test]
fn a_branch_that_the_server_lost_is_missing_and_not_up_to_date() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    server.git(&["update-ref", "-d", "refs/heads/environments/prod"]);
    let told = server.hydrate(&["status"]).exits(1).stdout;
    let missing = format!(
        "missing: hydration left it at {}; to restore it, on the server: git update-ref refs/heads/environments/prod {}",
        clone.git(&["rev-parse", "--short=7", "origin/environments/prod"]),
        clone.git(&["rev-parse", "origin/environments/prod"])
    );
    let line = told.lines().find(|line| line.starts_with("environments/prod ")).expect("listed");
    assert!(line.ends_with(&missing), "{told}");
    let doctor = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(doctor.contains("bad      environments/prod, which hydration made, is missing\n"), "{doctor}");
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q", "--prune"]);
    let told = clone.hydrate(&["status"]).exits(1).stdout;
    assert!(told.contains(&missing), "{told}");
    cured(&server, "environments/prod, which hydration made, is missing");
    server.hydrate(&["status"]).success();
}

#[test]
fn what_was_rolled_back_is_held_again_after_its_settings_were_lost_as_the_doctor_says() {
    let lab = Lab::new();
    let (server, clone) = pushed(&lab);
    clone.run("sed", &["-i", "s/web:1.4.2/web:1.5.0/", "environments/prod/east/web.yaml"]).success();
    clone.commit("change", &[]);
    clone.push().success();
    server.hydrate(&["rollback", "environments/prod", "--reason", "outage", "--yes"]).success();
    let prod = server.git(&["rev-parse", "environments/prod"]);
    server.git(&["update-ref", "-d", "refs/hydrate/config"]);
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    let cure = told.lines().find(|line| line.contains("update-ref refs/hydrate/config ")).expect("a remedy").trim();
    let (restore, hold) = cure.split_once("; then, since what was rolled back would go on: ").expect("two commands");
    server.run("sh", &["-c", restore]).success();
    server.run("sh", &["-c", &format!("{hold} --yes")]).success();
    server.hydrate(&["catch-up"]).success();
    assert_eq!(server.git(&["rev-parse", "environments/prod"]), prod);
}

#[test]
fn a_dry_branch_that_is_deleted_comes_back_as_the_doctor_says_and_its_branches_stay() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    let (main, prod) = (server.git(&["rev-parse", "main"]), server.git(&["rev-parse", "environments/prod"]));
    server.git(&["update-ref", "-d", "refs/heads/main"]);
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("environments/prod is hydrated from main, which does not exist\n"), "{told}");
    let advice = told.lines().skip_while(|line| !line.contains("which does not exist")).nth(1).expect("a remedy");
    assert!(told.contains("\n         or, if nothing deploys environments/dev: git -C "), "{told}");
    server.run("sh", &["-c", advice.trim()]).success();
    assert_eq!(server.git(&["rev-parse", "main"]), main);
    server.hydrate(&["status"]).success();
    assert_eq!(server.git(&["rev-parse", "environments/prod"]), prod);
}

#[test]
fn branches_of_a_deleted_dry_branch_are_not_left_to_catch_up() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    server.git(&["update-ref", "-d", "refs/heads/main"]);
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("environments/dev is hydrated from main, which does not exist\n"), "{told}");
    let advice = told.lines().skip_while(|line| !line.contains("which does not exist")).nth(2).expect("a remedy");
    assert!(advice.contains("update-ref -d refs/heads/environments/dev") && !told.contains("catch-up"), "{told}");
}

#[test]
fn a_mistyped_branch_that_an_admin_deleted_is_forgotten_and_not_called_lost() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    let (file, text) = application("web", "dev");
    clone.commit("typo", &[(&file, &text.replace("environments/dev", "enviroments/dev"))]);
    clone.push().success();
    clone.commit("revert", &[(&file, &text)]);
    clone.push().success();
    server.git(&["update-ref", "-d", "refs/heads/enviroments/dev"]);
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains(", and no Application names it: git hydrate catch-up"), "{status}");
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("enviroments/dev, which hydration made, is missing, and no Application names it"), "{told}");
    server.hydrate(&["catch-up"]).success();
    let status = server.hydrate(&["status"]).exits(0).stdout;
    assert!(!status.contains("enviroments/dev"), "{status}");
}

/// Production that was promoted to by a push, and is deleted by a button, where no hook runs.
fn promoted_and_deleted(server: &Repo) -> (Repo, String) {
    let clone = staged(server);
    server.allow("hydrate.promoter");
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "promotion", "origin/environments/dev"]);
    clone.git(&["merge", "-q", "--no-ff", "-m", "Promote", "origin/environments/dev-next"]);
    clone.git(&["push", "-q", "origin", "HEAD:environments/dev"]);
    clone.git(&["checkout", "-q", "main"]);
    let promoted = server.git(&["rev-parse", "environments/dev"]);
    server.git(&["update-ref", "-d", "refs/heads/environments/dev"]);
    (clone, promoted)
}

#[test]
fn production_that_a_button_deleted_is_back_as_it_was_by_the_command_that_everything_prints() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, promoted) = promoted_and_deleted(&server);
    let command = format!("git update-ref refs/heads/environments/dev {promoted}");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    let was = &promoted[..7];
    assert!(
        status.contains(&format!(
            "missing: when a push last came in it ended with {was}; to restore it, on the server: {command}"
        )),
        "{status}"
    );
    // Each push says so until it is back, and the staging branch goes on; so it does where it was deleted too.
    for (round, also) in [("one", ""), ("two", "refs/heads/environments/dev-next")] {
        if !also.is_empty() {
            server.git(&["update-ref", "-d", also]);
        }
        clone.commit(round, &[("apps/web/dev/config.yaml", &config_map("web", round))]);
        let told = clone.push().success().stderr.replace("remote: ", "");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        let warning = format!(
            "warning: `environments/dev`, which is promoted to, was deleted: when a push last came in it ended with {was}"
        );
        assert!(told.contains(&warning) && told.contains(&command), "{round}: {told}");
    }
    assert_eq!(server.run("git", &["rev-parse", "-q", "--verify", "environments/dev"]).code, Some(1));
    // It is not pruned either.
    server.git(&["reflog", "expire", "--expire=now", "--all"]);
    server.git(&["-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now"]);
    cured(&server, "environments/dev, which hydration made, is missing");
    assert_eq!(server.git(&["rev-parse", "environments/dev"]), promoted);
    server.hydrate(&["status"]).success();
    server.hydrate(&["verify"]).success();
    clone.commit("three", &[("apps/web/dev/config.yaml", &config_map("web", "three"))]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("deleted"), "{told}");
}

#[test]
fn what_was_promoted_is_forgotten_with_the_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, promoted) = promoted_and_deleted(&server);
    let kept = "refs/hydrate/promoted/environments%2Fdev";
    assert_eq!(server.git(&["rev-parse", kept]), promoted);
    server.git(&["update-ref", "-d", "refs/heads/environments/dev-next"]);
    clone.git(&["rm", "-rq", "applications"]);
    clone.commit("retire", &[]);
    clone.push();
    server.hydrate(&["catch-up"]);
    assert_eq!(server.run("git", &["rev-parse", "-q", "--verify", kept]).code, Some(1));
}
