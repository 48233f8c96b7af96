//! A branch that was promoted very often is known as it was after the first time.

use super::{Way, application, metadata, noted, promote, push_commit, server, tip};
use crate::push::config_map;
use crate::support::{Lab, Repo};

const ACTIVE: &str = "env/prod";
const NEXT: &str = "env/prod-next";

/// Promotes `count` values of `web` from push to push.
fn promote_values(server: &Repo, clone: &Repo, count: usize, how: &dyn Fn(&Repo)) {
    for step in 0..count {
        clone.commit(&format!("value {step}"), &[("apps/web/prod/config.yaml", &config_map("web", &step.to_string()))]);
        clone.push().success();
        how(server);
    }
}

/// What is asked of the branch by its short name and its full one.
fn is_known(server: &Repo, clone: &Repo, last: usize, what: &str) {
    let dry = clone.git(&["rev-parse", "--short=7", "HEAD"]);
    clone.commit("one more", &[("apps/web/prod/config.yaml", &config_map("web", "more"))]);
    clone.push().success();
    for name in ["prod", ACTIVE] {
        let log = server.hydrate(&["log", name, "-n", "1", "--oneline"]).success().stdout;
        assert!(log.contains(&dry), "{what}, {name}: {log}");
        let told = server.hydrate(&["hold", name, "--reason", "x", "--yes"]).exits(2).stderr;
        assert!(
            told.contains(&format!("`{ACTIVE}` is promoted: a promoter takes what it shows at its word")),
            "{told}"
        );
        let shown = server.hydrate(&["rollback", name, "--reason", "x", "--dry-run"]).exits(1).stdout;
        let lines = [format!("value: {last}"), format!("value: {}", last - 1)];
        assert!(lines.iter().all(|line| shown.contains(line)), "{what}, {name}: {shown}");
        let shown = server.hydrate(&["rollback", name, "--to", "~3", "--reason", "x", "--dry-run"]).exits(1).stdout;
        assert!(shown.contains(&format!("value: {}", last - 3)), "{what}, {name}: {shown}");
    }
    for from in ["prod-next", NEXT] {
        let shown = clone.hydrate(&["diff", "--from", from, "--to", "prod"]).exits(1).stdout;
        assert!(shown.contains("value: more") && shown.contains(&format!("value: {last}")), "{what}: {shown}");
    }
    let explained = server.hydrate(&["explain", &format!("{ACTIVE}:web/manifest.yaml:3")]).success().stdout;
    assert!(explained.contains(&dry), "{what}: {explained}");
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(
        status.contains(&format!("{dry} of main, promoted from {NEXT}, which is 1 dry commit ahead")),
        "{what}: {status}"
    );
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(!doctor.contains("was not made by hydration") && !doctor.contains("not a promotion"), "{what}: {doctor}");
}

#[test]
fn a_branch_is_known_after_forty_merges() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "prod", NEXT)]);
    noted(&server);
    promote_values(&server, &clone, 40, &|server| promote(server, ACTIVE, NEXT, None, Way::Merge));
    is_known(&server, &clone, 39, "merges");
    server.hydrate(&["verify"]).success();
    // The remote helper serves it as it is.
    let url = format!("hydrate::file://{}", server.path.display());
    let listed = clone.git(&["ls-remote", "--heads", &url]);
    assert!(listed.contains(&format!("{}\trefs/heads/{ACTIVE}", tip(&server, ACTIVE))), "{listed}");
}

#[test]
fn a_branch_is_known_after_twenty_promotions_of_another_kind() {
    for way in [Way::Squash, Way::FastForward] {
        let lab = Lab::new();
        let (server, clone) = server(&lab, &[], &[("web", "prod", NEXT)]);
        noted(&server);
        promote_values(&server, &clone, 20, &|server| promote(server, ACTIVE, NEXT, None, way));
        is_known(&server, &clone, 19, &format!("{way:?}"));
    }
    // A rebase copies the messages, and with them the trailers.
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "prod", NEXT)]);
    noted(&server);
    promote_values(&server, &clone, 20, &|server| {
        let (tree, message) = (format!("{NEXT}^{{tree}}"), server.git(&["log", "-1", "--format=%B", NEXT]));
        push_commit(server, ACTIVE, &server.git(&["rev-parse", &tree]), &[&tip(server, ACTIVE)], &message);
    });
    is_known(&server, &clone, 19, "rebase");
}

#[test]
fn what_was_changed_by_hand_is_named_and_undone_as_doctor_says() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &[("web", "prod", NEXT)]);
    promote(&server, ACTIVE, NEXT, None, Way::Merge);
    let (file, text) = application("web", "prod", NEXT);
    clone.commit("again", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    for is_merge in [false, true] {
        clone.git(&["fetch", "-q"]);
        clone.git(&["checkout", "-q", "--detach", "origin/env/prod"]);
        if is_merge {
            clone.git(&["merge", "-q", "--no-ff", "--no-commit", "origin/env/prod-next"]);
        }
        let by = clone.commit("by hand", &[("web/manifest.yaml", &config_map("web", "9"))]);
        let told = clone.run("git", &["push", "-q", "origin", "HEAD:env/prod"]).success().remote().join(" ");
        assert!(told.contains(&format!("from what hydration made, by {}", &by[..7])), "{told}");
        let merge = clone.commit("beside", &[("NOTES", &by)]);
        clone.git(&["push", "-q", "origin", "HEAD:env/prod"]);
        let status = server.hydrate(&["status"]).exits(1).stdout;
        let line = format!(
            "its tip {} is not what hydration made: it changes web/manifest.yaml, by {}",
            &merge[..7],
            &by[..7]
        );
        assert!(status.contains(&line), "{status}");
        let doctor = server.hydrate(&["doctor"]).exits(1).stdout;
        let what = format!(
            "env/prod is at {}, which is not a promotion of what hydration made: {} changes it",
            &merge[..7],
            &by[..7]
        );
        assert!(doctor.contains(&what), "{doctor}");
        let cure = doctor.split("as an account that may promote: ").nth(1).expect("a cure");
        clone.run("sh", &["-ec", cure.lines().next().expect("a line")]).success();
        server.hydrate(&["status"]).success();
        assert!(metadata(&server, ACTIVE, "")["drySha"].as_str().is_some());
        server.hydrate(&["status"]).success();
    }
}
