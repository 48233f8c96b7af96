//! What a promotion brings, seen before it is made.

use crate::push::{application, config_map, tip};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";
const PROD: &str = "environments/prod";

/// What is shown where a promotion to production brings nothing.
const NO_CHANGE: &str = "no change in environments/prod\n";

fn base(value: &str) -> String {
    config_map("base", value)
}

/// A clone whose development is hydrated from `main` and whose production from `release`, out of one base, which says "one".
fn two_dry_branches(server: &Repo) -> Repo {
    let clone = server.clone_to("clone");
    let (dev_file, dev) = application("web", "dev");
    let (prod_file, prod) = application("web", "prod");
    let kustomization = |env: &str| format!("resources: [../base]\nnamePrefix: {env}-\n");
    clone.commit(
        "feat: web",
        &[
            (&dev_file, &dev),
            (&prod_file, &prod.replace("targetRevision: main", "targetRevision: release")),
            ("apps/web/base/kustomization.yaml", "resources: [config.yaml]\n"),
            ("apps/web/base/config.yaml", &base("one")),
            ("apps/web/dev/kustomization.yaml", &kustomization("dev")),
            ("apps/web/prod/kustomization.yaml", &kustomization("prod")),
        ],
    );
    server.hydrate(&["config", "set", "dryBranches", "main", "release"]).success();
    clone.push().success();
    clone.git(&["push", "-q", "origin", "main:release"]);
    clone
}

#[test]
fn what_a_merge_brings_is_shown_without_what_environments_differ_in() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = two_dry_branches(&server);
    let args = ["diff", "--from", "dev", "--to", PROD];
    assert_eq!(clone.hydrate(&args).exits(0).stdout, NO_CHANGE);
    clone.commit("two", &[("apps/web/base/config.yaml", &base("two"))]);
    let noted = clone.hydrate(&["diff", "--worktree"]).exits(1).stderr;
    assert!(noted.contains("note: this is what the tip of `main` gives; of `release`: --branch NAME\n"), "{noted}");
    clone.push().success();
    let before = [tip(&server, DEV), tip(&server, PROD)];
    let shown = clone.hydrate(&args).exits(1).stdout;
    assert!(shown.contains(PROD) && shown.contains("prod-base") && !shown.contains(DEV), "{shown}");
    assert!(shown.contains("value: one") && shown.contains("value: two"), "{shown}");
    assert!(!shown.contains("dev-base"), "{shown}");
    assert_eq!([tip(&server, DEV), tip(&server, PROD)], before);
    // The other way round there is nothing that development does not have.
    let back = clone.hydrate(&["diff", "--from", "prod", "--to", "dev"]).exits(0).stdout;
    assert!(back.ends_with(": main has 1 commit that this one lacks\nno change in environments/dev\n"), "{back}");
    clone.git(&["push", "-q", "origin", "main:release"]);
    assert!(server.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("value: two"));
    assert_eq!(clone.hydrate(&args).exits(0).stdout, NO_CHANGE);
}

#[test]
fn a_commit_that_changed_nothing_of_development_is_promoted_with_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = two_dry_branches(&server);
    clone.hydrate(&["install", "--client"]).success();
    let before = tip(&server, DEV);
    clone.commit("only prod", &[("apps/web/prod/kustomization.yaml", "resources: [../base]\nnamePrefix: live-\n")]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    assert_eq!(tip(&server, DEV), before);
    let shown = clone.hydrate(&["diff", "--from", "dev", "--to", "prod"]).exits(1).stdout;
    assert!(shown.contains("live-base"), "{shown}");
}

#[test]
fn two_environments_of_one_dry_branch_are_promoted_by_an_edit_and_not_called_equal() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    let told = clone.hydrate(&["diff", "--from", "dev", "--to", "prod"]).exits(2).stderr;
    assert!(told.contains("`environments/prod` has all that `environments/dev` shows of `main`"), "{told}");
    assert!(told.contains("git hydrate diff --worktree"), "{told}");
}

#[test]
fn what_was_corrected_in_production_alone_is_no_change_of_a_promotion() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = two_dry_branches(&server);
    clone.git(&["checkout", "-q", "-b", "release"]);
    let patched = "resources: [../base]\nnamePrefix: prod-\nnameSuffix: -hotfix\n";
    clone.commit("fix: production", &[("apps/web/prod/kustomization.yaml", patched)]);
    clone.git(&["push", "-q", "origin", "release"]);
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("two", &[("apps/web/base/config.yaml", &base("two"))]);
    clone.push().success();
    let shown = clone.hydrate(&["diff", "--from", "dev", "--to", "prod"]).exits(1).stdout;
    assert!(shown.contains("release has 1 commit that this one lacks"), "{shown}");
    assert!(shown.contains("value: two") && !shown.contains("hotfix"), "{shown}");
}

#[test]
fn a_commit_that_another_dry_branch_names_is_looked_at_as_the_tip_of_that_one() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = two_dry_branches(&server);
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-b", "release"]);
    let patched = "resources: [../base]\nnamePrefix: prod-\nnameSuffix: -hotfix\n";
    clone.commit("fix: production", &[("apps/web/prod/kustomization.yaml", patched)]);
    clone.git(&["checkout", "-q", "main"]);
    for command in ["diff", "plan"] {
        let said = clone.hydrate(&[command, "release"]);
        assert!(said.stdout.contains(PROD) && !said.stdout.contains(DEV), "{command}: {said:?}");
        assert!(!said.stderr.contains("--branch"), "{command}: {said:?}");
        let said = clone.hydrate(&[command, "main"]);
        assert!(!said.stdout.contains(PROD), "{command}: {said:?}");
    }
    clone.git(&["push", "-q", "origin", "release"]);
    clone.git(&["fetch", "-q"]);
    assert_eq!(clone.hydrate(&["diff", "origin/release"]).success().stdout, NO_CHANGE);
    let said = clone.hydrate(&["diff", "origin/release", "--branch", "main"]).success().stdout;
    assert_eq!(said, "no change in environments/dev\n");
}

#[test]
fn what_a_merge_of_a_staging_branch_brings_is_shown_as_its_files_have_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let staged = |env: &str| {
        let (file, text) = application("web", env);
        (file, text + &format!("    hydrateTo:\n      targetBranch: environments/{env}-next\n"))
    };
    let [(dev_file, dev), (prod_file, prod)] = ["dev", "prod"].map(staged);
    let both = |value: &str| {
        let text = config_map("web", value);
        clone.commit(value, &[("apps/web/dev/config.yaml", &text), ("apps/web/prod/config.yaml", &text)]);
        clone.push().success();
    };
    clone.commit("web", &[(&dev_file, &dev), (&prod_file, &prod)]);
    both("one");
    let promote = |env: &str| {
        let next = tip(&server, &format!("environments/{env}-next"));
        server.git(&["update-ref", &format!("refs/heads/environments/{env}"), &next]);
    };
    promote("dev");
    promote("prod");
    both("two");
    promote("dev");
    both("three");
    // Of the staging branch, its newest; of development, what that shows.
    for (from, expected) in [("prod-next", "three"), ("dev-next", "three"), ("dev", "two")] {
        let shown = clone.hydrate(&["diff", "--from", from, "--to", "prod"]).exits(1).stdout;
        assert!(shown.contains("value: one") && shown.contains(&format!("value: {expected}")), "{from}: {shown}");
    }
    promote("prod");
    assert_eq!(clone.hydrate(&["diff", "--from", "prod-next", "--to", "prod"]).exits(0).stdout, NO_CHANGE);
}

#[test]
fn what_cannot_be_promoted_is_wrong_use() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = two_dry_branches(&server);
    for (args, expected) in [
        (&["--from", "dev"][..], "--to <BRANCH>"),
        (&["--from", "dev", "--to", "dev"], "are both `environments/dev`"),
        (&["--from", "test", "--to", "prod"], "there is no environment branch `test`; there are"),
        (&["--from", "dev", "--to", "prod", "HEAD"], "cannot be used with"),
    ] {
        let told = clone.hydrate(&[&["diff"], args].concat()).exits(2).stderr;
        assert!(told.contains(expected), "{args:?}: {told}");
    }
}
