//! Environment branches that somebody deletes on the server, where no hook runs.

use crate::push::{both, config_map, dry, tip, verified};
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
