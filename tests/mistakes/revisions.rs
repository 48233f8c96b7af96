//! A mistyped revision or destination, and a dry branch that is none any more.

use super::DEV;
use crate::push::{application, both, config_map, dry, note, note_of, tip, verified};
use crate::support::{Lab, Repo};

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
fn a_push_to_what_was_the_dry_branch_is_told_that_nothing_is_hydrated_from_it() {
    both(|server| {
        let clone = dry(server, &["web"], &["dev", "prod"]);
        clone.push().success();
        clone.git(&["push", "-q", "origin", "HEAD:release"]);
        let told = server.hydrate(&["config", "set", "dryBranches", "release"]);
        let warning = "warning: `main` is not a dry branch any more, so nothing is hydrated from it: `environments/dev`, \
                       `environments/prod` stay as they are";
        assert!((told.stdout.clone() + &told.stderr).contains(warning), "{told:?}");
        clone.commit("edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
        let told = clone.push().success().stderr;
        assert!(told.contains(warning) && told.contains("git hydrate config add dryBranches main"), "{told}");
        // The hint.
        server.hydrate(&["config", "add", "dryBranches", "main"]);
        assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("edited"));
    });
}
