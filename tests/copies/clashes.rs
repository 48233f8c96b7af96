//! Copies of one name from two dry branches.

use super::{TO, copy, push};
use crate::made_applications::URL;
use crate::push::{application, both, config_map, verified};
use crate::support::Lab;

#[test]
fn a_name_that_another_dry_branch_takes_too_holds_its_own_copy_only() {
    both(|server| {
        server.hydrate(&["config", "set", "applicationsTo", TO]).success();
        let clone = crate::push::dry(server, &["web"], &["dev"]);
        push(&clone);
        assert!(copy(server, "web-dev").contains("targetRevision: environments/dev"));
        server.hydrate(&["config", "add", "dryBranches", "other"]).success();
        clone.git(&["checkout", "-q", "-b", "other"]);
        let (path, text) = application("web", "dev");
        let theirs =
            text.replace("Revision: main", "Revision: other").replace("environments/dev", "environments/other");
        clone.commit("the same name", &[(&path, &theirs)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("one copy cannot lead to both"), "{told}");
        assert!(told.contains("until then the copy leads to `environments/dev`"), "{told}");
        assert!(copy(server, "web-dev").contains("targetRevision: environments/dev"));
        // The others go on.
        clone.git(&["checkout", "-q", "main"]);
        let (path, text) = application("api", "dev");
        clone.commit("more", &[(&path, &text), ("apps/api/dev/config.yaml", &config_map("api", "one"))]);
        clone.push().success();
        assert!(copy(server, "api-dev").contains("targetRevision: environments/dev"));
        // Nor does it follow theirs while its own branch is frozen.
        // The clash itself is still told, with an exit code of 1.
        server.hydrate(&["config", "set", "frozen.environments/dev", "{reason: release}"]);
        clone.git(&["checkout", "-q", "other"]);
        clone.commit("on", &[("apps/web/dev/config.yaml", &config_map("web", "theirs"))]);
        clone.push().success();
        assert!(copy(server, "web-dev").contains("targetRevision: environments/dev"));
        // It is theirs when it is not ours any more.
        server.hydrate(&["config", "unset", "frozen"]);
        clone.git(&["checkout", "-q", "main"]);
        let message = "drop\n\nHydrate-Allow-Removal: environments/dev";
        clone.commit(message, &[(&application("web", "dev").0, "")]);
        clone.push().success();
        clone.commit("on", &[("NOTES", "text")]);
        clone.push().success();
        assert!(copy(server, "web-dev").contains("targetRevision: environments/other"));
        verified(server);
    });
}

/// An Application on one line, with a password that a reader of another dry branch need not know.
fn on_one_line(dry_branch: &str, password: &str, project: &str) -> String {
    format!(
        r#"{{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {{"name": "solo"}}, "spec": {{"project": "{project}", "info": [{{"name": "password", "value": "{password}"}}], "destination": {{"name": "c", "namespace": "solo"}}, "sourceHydrator": {{"drySource": {{"repoURL": "{URL}", "targetRevision": "{dry_branch}", "path": "apps"}}, "syncSource": {{"targetBranch": "environments/{dry_branch}", "path": "solo"}}}}}}}}"#
    )
}

#[test]
fn a_clash_of_copies_tells_each_pusher_his_own_line_and_only_the_place_of_the_other() {
    both(|server| {
        server.hydrate(&["config", "set", "repoURL", URL]).success();
        server.hydrate(&["config", "set", "applicationsTo", TO]).success();
        server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
        let clone = server.clone_to("clone");
        let files = |dry_branch: &str, password: &str, project: &str| {
            let config = ("apps/config.yaml", config_map("solo", dry_branch));
            let text = on_one_line(dry_branch, password, project);
            clone.commit(project, &[("solo.json", &text), (config.0, &config.1)]);
        };
        files("main", "MAIN-PASSWORD", "default");
        push(&clone);
        clone.git(&["checkout", "-q", "--orphan", "other"]);
        files("other", "OTHER-PASSWORD", "default");
        let told = clone.push().success().remote().join("\n");
        let theirs = "the Application `solo` is hydrated to `environments/other`, and one of that name of `main` to \
                      `environments/main`: one copy cannot lead to both";
        assert!(told.contains(theirs) && told.contains("the other one is at solo.json:1:84 of `main`"), "{told}");
        assert!(told.contains("OTHER-PASSWORD") && !told.contains("MAIN-PASSWORD"), "{told}");
        clone.git(&["checkout", "-q", "main"]);
        files("main", "MAIN-PASSWORD", "changed");
        let told = clone.push().success().remote().join("\n");
        let ours = "the Application `solo` is hydrated to `environments/main`, and one of that name of `other` to";
        assert!(told.contains(ours) && told.contains("the other one is at solo.json:1:84 of `other`"), "{told}");
        assert!(told.contains("MAIN-PASSWORD") && !told.contains("OTHER-PASSWORD"), "{told}");
        // The copy is that of the one that had it first, and goes on with it, as is said.
        assert!(told.contains("until then the copy leads to `environments/main`"), "{told}");
        assert!(copy(server, "solo").contains("project: changed"));
        // Nor does one read it who pushes to what is hydrated.
        clone.git(&["checkout", "-q", "--orphan", "edited"]);
        let edited = clone.run("git", &["push", "-f", "origin", "HEAD:environments/main"]);
        assert!(!format!("{edited:?}").contains("PASSWORD"), "{edited:?}");
    });
}

#[test]
fn a_clash_of_copies_that_are_both_new_says_that_there_is_none() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", URL]).success();
    server.hydrate(&["config", "set", "applicationsTo", TO]).success();
    let clone = server.clone_to("clone");
    let config = config_map("solo", "one");
    let second = on_one_line("main", "second", "default").replace("environments/main", "environments/second");
    clone.commit(
        "two",
        &[("a.json", &on_one_line("main", "first", "default")), ("b.json", &second), ("apps/a.yaml", &config)],
    );
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("one copy cannot lead to both") && told.contains("until then there is no copy"), "{told}");
    assert_eq!(server.git(&["for-each-ref", "refs/heads/applications"]), "");
}
