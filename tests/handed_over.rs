//! Production goes over from one dry branch to another, as promotion by a dry branch of its own begins: what is deployed
//! stays, and each step says the next.

use crate::push::{application, both, config_map, dry, tip, verified};
use crate::support::Repo;

const PROD: &str = "environments/prod";

/// The document of production, for another dry branch.
fn of_release() -> (String, String) {
    let (file, text) = application("web", "prod");
    (file, text.replace("targetRevision: main", "targetRevision: release"))
}

/// Development and production on `main`, with `release` a dry branch that is like it.
fn hydrated(server: &Repo) -> Repo {
    let clone = dry(server, &["web"], &["dev", "prod"]);
    clone.push().success();
    clone.git(&["push", "-q", "origin", "main:release"]);
    server.hydrate(&["config", "set", "dryBranches", "main", "release"]).success();
    clone
}

fn push(clone: &Repo, refspec: &str) -> String {
    clone.run("git", &["push", "origin", refspec]).success().remote().join("\n")
}

/// From here on `release` decides alone.
fn is_of_release(server: &Repo, clone: &Repo, before: &str) {
    assert_eq!(server.git(&["rev-parse", &format!("{PROD}^")]), before, "goes on from what there was");
    clone.commit("two", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
    let now = tip(server, PROD);
    push(clone, "main");
    assert_eq!(tip(server, PROD), now);
    let said = push(clone, "main:release");
    assert!(said.contains(&format!("{PROD}  {} -> ", &now[..7])), "{said}");
    assert!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("value: two"));
    let status = server.hydrate(&["status"]).success().stdout;
    assert_eq!(status.matches(PROD).count(), 1, "{status}");
    verified(server);
}

#[test]
fn main_says_so_first_and_the_push_to_release_takes_the_branch() {
    both(|server| {
        let clone = hydrated(server);
        let before = tip(server, PROD);
        let (file, text) = of_release();
        clone.commit("prod is of release", &[(&file, &text)]);
        let said = push(&clone, "main");
        assert!(said.contains("push it to `release` first"), "{said}");
        assert_eq!(tip(server, PROD), before);
        clone.git(&["fetch", "-q"]);
        let shown = clone.hydrate(&["diff", "--branch", "release"]).success();
        assert!(!shown.stderr.contains("is hydrated from"), "{}", shown.stderr);
        let said = push(&clone, "main:release");
        assert!(!said.contains("error"), "{said}");
        server.hydrate(&["status"]).success();
        is_of_release(server, &clone, &before);
    });
}

#[test]
fn release_has_it_first_and_takes_the_branch_once_main_lets_go() {
    both(|server| {
        let clone = hydrated(server);
        let before = tip(server, PROD);
        let (file, text) = of_release();
        clone.commit("prod is of release", &[(&file, &text)]);
        let said = push(&clone, "main:release");
        assert!(said.contains(&format!("`{PROD}` is hydrated from `main`, not from `release`")), "{said}");
        assert_eq!(tip(server, PROD), before);
        let said = push(&clone, "main");
        assert!(said.contains(&format!("`{PROD}` is hydrated from `release` from now on")), "{said}");
        assert!(!said.contains("would empty"), "{said}");
        server.hydrate(&["status"]).success();
        is_of_release(server, &clone, &before);
    });
}

#[test]
fn release_cannot_take_what_main_still_hydrates() {
    both(|server| {
        let clone = hydrated(server);
        clone.git(&["checkout", "-q", "-b", "release"]);
        let before = tip(server, PROD);
        let (file, text) = of_release();
        clone.commit("mine", &[(&file, &text)]);
        let said = push(&clone, "release");
        assert!(said.contains(&format!("`{PROD}` is hydrated from `main`, not from `release`")), "{said}");
        server.hydrate(&["catch-up"]).exits(1);
        assert_eq!(tip(server, PROD), before);
        verified(server);
    });
}

#[test]
fn production_goes_back_to_what_main_had_led_it_to() {
    both(|server| {
        let clone = hydrated(server);
        let (first, before) = (tip(server, PROD), server.git(&["show", &format!("{PROD}:web/manifest.yaml")]));
        let (file, text) = of_release();
        clone.commit("prod is of release", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "two"))]);
        let refspecs = ["push", "-q", "origin", "main", "main:release"];
        clone.git(&refspecs);
        assert_ne!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]), before);
        let said = server.hydrate(&["rollback", PROD, "--to", &first, "--reason", "x", "--yes"]).success();
        assert!(!said.stdout.contains("does not have them"), "{said:?}");
        assert_eq!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]), before);
        clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
        clone.git(&refspecs);
        assert_eq!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]), before);
        server.hydrate(&["resume", PROD, "--yes"]).success();
        assert!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("value: three"));
        verified(server);
    });
}

#[test]
fn in_strict_mode_the_hint_of_the_refused_push_hands_production_over() {
    both(|server| {
        let clone = hydrated(server);
        server.git(&["config", "hydrate.strict", "touched"]);
        let before = tip(server, PROD);
        let (file, text) = of_release();
        clone.commit("prod is of release", &[(&file, &text)]);
        for refspec in ["main", "main:release"] {
            let refused = clone.run("git", &["push", "origin", refspec]).exits(1).remote().join(" ");
            let hint = refused.split("or to both at once: ").nth(1).expect("a hint");
            let command = hint.split(';').next().expect("a command").split_whitespace().collect::<Vec<_>>();
            assert_eq!(command, ["git", "push", "origin", "HEAD:main", "HEAD:release"], "{refused}");
        }
        clone.git(&["push", "-q", "origin", "HEAD:main", "HEAD:release"]);
        is_of_release(server, &clone, &before);
    });
}
