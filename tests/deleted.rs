//! Branches that somebody deletes: environment branches on the server, where no hook runs, and dry branches.

use crate::push::{application, both, config_map, dry, tip, verified};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";

/// A server whose branch was deleted after two dry commits, with its clone and the tip that it had.
fn deleted(server: &Repo) -> (Repo, String) {
    let clone = dry(server, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.commit("one", &[("apps/web/dev/config.yaml", &config_map("web", "one"))]);
    clone.push().success();
    let left = tip(server, DEV);
    server.git(&["update-ref", "-d", &format!("refs/heads/{DEV}")]);
    (clone, left)
}

#[test]
fn a_deleted_branch_goes_on_where_hydration_left_it_and_the_pusher_is_told() {
    both(|server| {
        let (clone, left) = deleted(server);
        clone.commit("two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
        let told = clone.push().success().remote().join("\n");
        let warning = format!("warning: `{DEV}` was deleted: it goes on from {}, where hydration left it", &left[..7]);
        assert!(told.contains(&warning), "{told}");
        assert_eq!(server.git(&["rev-parse", &format!("{DEV}~1")]), left);
        verified(server);
        clone.commit("three", &[("apps/web/dev/config.yaml", &config_map("web", "three"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("deleted"), "it is told once: {told}");
    });
}

#[test]
fn a_deleted_branch_that_nothing_touches_is_there_again_after_the_next_run() {
    both(|server| {
        let (_, left) = deleted(server);
        let told = server.hydrate(&["catch-up"]).success();
        assert!(format!("{}{}", told.stdout, told.stderr).contains("was deleted"), "{told:?}");
        assert_eq!(tip(server, DEV), left);
        verified(server);
    });
}

#[test]
fn a_deleted_branch_whose_commits_are_pruned_begins_anew_and_its_old_tip_is_named() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, left) = deleted(&server);
    server.git(&["reflog", "expire", "--expire=now", "--all"]);
    server.git(&["-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now"]);
    clone.commit("two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let told = clone.push().success().remote().join("\n");
    let warning =
        format!("`{DEV}` was deleted, and {}, where hydration left it, is lost: its history begins anew", &left[..7]);
    assert!(told.contains(&warning), "{told}");
    verified(&server);
}

/// A server whose `prod` is hydrated from `release`, which was deleted since, and its clone; with what the pusher read.
fn without_release(lab: &Lab) -> (Repo, Repo, String) {
    let server = lab.server();
    server.hydrate(&["config", "set", "dryBranches", "main", "release"]);
    let clone = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("web", "prod");
    let of_release = text.replace("targetRevision: main", "targetRevision: release");
    clone.commit("prod", &[(&file, &of_release), ("apps/web/prod/config.yaml", &config_map("web", "hotfix"))]);
    clone.git(&["push", "-q", "origin", "main", "main:release"]);
    let heard = clone.run("git", &["push", "origin", "--delete", "release"]).success().remote().join(" ");
    (server, clone, heard)
}

#[test]
fn who_deletes_a_dry_branch_reads_which_environments_it_fed_and_is_not_told_to_forget_it_first() {
    let lab = Lab::new();
    let (server, clone, heard) = without_release(&lab);
    let heard = heard.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(heard.contains("does not exist: `environments/prod`, hydrated from it, stays as it is"), "{heard}");
    assert!(heard.contains("hint: push it again; if another branch has all that it had"), "{heard}");
    server.hydrate(&["config", "unset", "dryBranches", "release"]);
    clone.commit("go on", &[]);
    let heard = clone.push().success().remote().join(" ");
    let heard = heard.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(heard.contains("if `release` was deleted, push it again: `main` may lack what it had"), "{heard}");
}

#[test]
fn status_brings_a_deleted_dry_branch_back_by_a_command_that_works() {
    let lab = Lab::new();
    let (server, clone, _) = without_release(&lab);
    for repo in [&server, &clone] {
        let status = repo.hydrate(&["status"]).exits(1).stdout;
        assert!(
            status.contains("its dry branch does not exist") && status.contains("\n  push release again; if "),
            "{status}"
        );
        let command = status
            .lines()
            .find_map(|line| Some(&line[line.find(" git push origin ").or(line.find(" git update-ref "))?..]));
        repo.run("sh", &["-c", command.expect("a command")]).success();
        repo.hydrate(&["status"]).success();
        clone.run("git", &["push", "-q", "origin", "--delete", "release"]).success();
    }
}

#[test]
fn applications_of_a_dry_branch_that_was_deleted_are_not_counted_as_hydrated() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "receive.denyDeleteCurrent", "ignore"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    assert!(
        clone
            .hydrate(&["apps"])
            .success()
            .stdout
            .ends_with("1 of 1 Applications hydrate from main, if they render: git hydrate check\n")
    );
    clone.git(&["push", "-q", "origin", "--delete", "main"]);
    let told = clone.hydrate(&["apps"]).success().stdout;
    assert!(told.ends_with("1 of 1 Applications hydrate from main, which does not exist: none is now\n"), "{told}");
}

#[test]
fn log_and_explain_in_a_clone_say_that_the_server_has_the_branch_no_more() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let asked = [&["log", DEV] as &[&str], &["explain", &format!("{DEV}:web/manifest.yaml:1")]];
    let warnings = || asked.map(|args| clone.hydrate(args).success().stderr);
    assert_eq!(warnings(), ["", ""]);
    // The remote is asked once.
    for args in asked {
        let trace = lab.path("trace");
        let mut command = clone.command("git");
        let output = command.arg("hydrate").args(args).env("GIT_TRACE", &trace).output().expect("runs");
        assert!(output.status.success(), "{output:?}");
        let traced = std::fs::read_to_string(&trace).expect("written");
        assert_eq!(traced.matches("trace: built-in: git upload-pack").count(), 1, "{args:?}: {traced}");
        std::fs::remove_file(&trace).expect("removed");
    }
    server.git(&["update-ref", "-d", &format!("refs/heads/{DEV}")]);
    let expected = format!(
        "warning: origin has no {DEV} any more: what is shown is as it was when last fetched\n  \
         = hint: to drop what was deleted there: git fetch --prune origin\n"
    );
    assert_eq!(warnings(), [&expected[..], &expected]);
    assert_eq!(clone.hydrate(&["log", DEV, "--offline"]).success().stderr, "");
}
