//! Branches and settings that are lost, and what brings them back.

use super::{cured, pushed, staged};
use crate::push::{application, dry};
use crate::support::Lab;

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
        "missing; to restore it, on the server: git update-ref refs/heads/environments/prod {}",
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
fn branches_of_a_deleted_dry_branch_are_not_left_to_catch_up() {
    let lab = Lab::new();
    let (server, _) = pushed(&lab);
    server.git(&["update-ref", "-d", "refs/heads/main"]);
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("environments/dev is hydrated from main, which does not exist\n"), "{told}");
    let advice = told.lines().skip_while(|line| !line.contains("which does not exist")).nth(1).expect("a remedy");
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
    assert!(status.contains("missing, and no Application names it: git hydrate catch-up"), "{status}");
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("enviroments/dev, which hydration made, is missing, and no Application names it"), "{told}");
    server.hydrate(&["catch-up"]).success();
    let status = server.hydrate(&["status"]).exits(0).stdout;
    assert!(!status.contains("enviroments/dev"), "{status}");
}
