//! Which files go back: those of Applications that the branch shows now, and of no others.

use super::{PROD, at, change, hold, hydrated, value};
use crate::push::{application, both, config_map, healthy, tip, verified};
use crate::support::{Lab, Repo};

fn paths(server: &Repo) -> Vec<String> {
    let all = server.git(&["ls-tree", "-r", "--name-only", PROD]);
    all.lines().filter_map(|path| path.strip_suffix("/manifest.yaml")).map(str::to_owned).collect()
}

fn edited(name: &str, from: &str, to: &str) -> (String, String) {
    let (path, text) = application(name, "prod");
    let edited = text.replace(from, to);
    assert_ne!(text, edited);
    (path, edited)
}

#[test]
fn an_application_that_the_commit_does_not_have_stays_and_is_named() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        let (file, text) = application("api", "prod");
        let second =
            clone.commit("add api", &[(&file, &text), ("apps/api/prod/config.yaml", &config_map("api", "new"))]);
        clone.push().success();
        let told = hold(server, &at(PROD, &first, "")).success().stdout;
        let expected = format!("warning: `{PROD}` keeps as they are, since {} does not have them: api", &first[..7]);
        assert!(told.contains(&expected), "{told}");
        assert_eq!(paths(server), ["api", "db", "web"]);
        let metadata = server.git(&["show", &format!("{PROD}:hydrator.metadata")]);
        assert!(metadata.contains(&format!("\"path\": \"api\",\n      \"drySha\": \"{second}\"")), "{metadata}");
        verified(server);
        // It leaves while the branch is held: its files leave when that ends.
        clone.commit(&format!("drop api\n\nHydrate-Allow-Removal: {PROD}"), &[(&file, "")]);
        clone.push().success();
        assert_eq!(paths(server), ["api", "db", "web"]);
        let told = hold(server, "").success().stdout;
        assert!(told.contains("removed api"), "{told}");
        assert_eq!(paths(server), ["db", "web"]);
        verified(server);
    });
}

#[test]
fn an_application_that_is_gone_comes_back_only_when_it_is_named() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        let (file, text) = application("web", "prod");
        clone.commit("drop web", &[(&file, "")]);
        clone.push().success();
        assert_eq!(paths(server), ["db"]);
        hold(server, &at(PROD, &first, "")).success();
        assert_eq!(paths(server), ["db"]);
        verified(server);
        hold(server, &at(PROD, &first, ", applications: [web-prod]")).success();
        assert_eq!(paths(server), ["db", "web"]);
        verified(server);
        // It stays while others change.
        clone.commit("db", &[("apps/db/prod/config.yaml", &config_map("db", "two"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("web-prod is held: web shows"), "{told}");
        assert_eq!(
            (paths(server), value(server, "environments/prod:db")),
            (vec!["db".into(), "web".into()], "two".into())
        );
        verified(server);
        hold(server, "").success();
        assert_eq!(paths(server), ["db"], "nothing leads to it");
        verified(server);
        clone.commit("web again", &[(&file, &text)]);
        clone.push().success();
        assert_eq!(paths(server), ["db", "web"]);
    });
}

#[test]
fn the_files_of_an_application_that_moved_go_where_it_is_now() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        let (file, text) = edited("web", "      path: web\n", "      path: team/web\n");
        clone.commit("move web", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "two"))]);
        clone.push().success();
        hold(server, &at(PROD, &first, "")).success();
        assert_eq!(paths(server), ["db", "team/web"]);
        assert_eq!(value(server, "environments/prod:team/web"), "prod");
        verified(server);
        hold(server, "").success();
        assert_eq!(
            (paths(server), value(server, "environments/prod:team/web")),
            (vec!["db".into(), "team/web".into()], "two".into())
        );
        verified(server);
    });
}

#[test]
fn an_application_that_moves_while_it_is_held_takes_its_files_along() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        clone.commit("two", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
        clone.push().success();
        hold(server, &at(PROD, &first, ", applications: [web-prod]")).success();
        let (file, text) = edited("web", "      path: web\n", "      path: team/web\n");
        let moved = [(file.as_str(), text.as_str()), ("apps/db/prod/config.yaml", &config_map("db", "two"))];
        clone.commit("move web", &moved);
        let said = clone.push().success().remote().join("\n");
        assert!(said.contains("web-prod is held: team/web shows"), "{said}");
        assert_eq!(paths(server), ["db", "team/web"], "Argo CD reads the new path");
        assert_eq!(value(server, "environments/prod:team/web"), "prod");
        assert_eq!(value(server, "environments/prod:db"), "two");
        verified(server);
        // It stays there, and moves once more together with a change of its own.
        clone.commit("db", &[("apps/db/prod/config.yaml", &config_map("db", "three"))]);
        clone.push().success();
        let (file, text) = edited("web", "      path: web\n", "      path: web/v2\n");
        clone.commit("move web again", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "three"))]);
        clone.push().success();
        assert_eq!(paths(server), ["db", "web/v2"]);
        assert_eq!(value(server, "environments/prod:web/v2"), "prod");
        verified(server);
        let said = server.hydrate(&["resume", "prod", "--dry-run"]).exits(1).stdout;
        assert!(said.contains("1 object changed in 1 of 2 Applications") && !said.contains("removed"), "{said}");
        hold(server, "").success();
        assert_eq!(paths(server), ["db", "web/v2"]);
        assert_eq!(value(server, "environments/prod:web/v2"), "three");
        verified(server);
    });
}

#[test]
fn an_application_that_is_held_is_not_deployed_from_another_branch() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        clone.commit("bad", &[("apps/web/prod/config.yaml", &config_map("web", "bad"))]);
        clone.push().success();
        hold(server, &at(PROD, &first, ", applications: [web-prod]")).success();
        let before = ["environments/dev", PROD].map(|branch| tip(server, branch));
        let (file, text) = edited(
            "web",
            "targetBranch: environments/prod\n      path: web\n",
            "targetBranch: environments/dev\n      path: live\n",
        );
        clone.commit("move web to dev", &[(&file, &text)]);
        let said = clone.push().success().remote().join("\n");
        let expected = "`web-prod` moves from `environments/prod` to `environments/dev`, and is held";
        assert!(said.contains(expected) && said.contains("git hydrate resume environments/prod"), "{said}");
        assert_eq!(before, ["environments/dev", PROD].map(|branch| tip(server, branch)));
        // It is so for later pushes, until the hold ends.
        clone.commit("db", &[("apps/db/prod/config.yaml", &config_map("db", "two"))]);
        clone.push().success();
        assert_eq!(before, ["environments/dev", PROD].map(|branch| tip(server, branch)));
        server.hydrate(&["resume", "prod", "--yes"]).success();
        assert_eq!(paths(server), ["db"]);
        assert_eq!(value(server, "environments/dev:live"), "bad");
        verified(server);
    });
}

#[test]
fn an_application_that_moves_off_a_branch_that_is_held_as_a_whole_is_deployed_from_where_it_goes() {
    both(|server| {
        let clone = hydrated(server);
        let before = tip(server, PROD);
        hold(server, &at(PROD, &before, "")).success();
        let (file, text) = edited(
            "web",
            "targetBranch: environments/prod\n      path: web\n",
            "targetBranch: environments/dev\n      path: live\n",
        );
        clone.commit("move web to dev", &[(&file, &text)]);
        clone.push().success();
        // Nothing of it is deleted: its files stay where it was until the hold ends.
        assert_eq!((tip(server, PROD), value(server, "environments/dev:live")), (before, "prod".to_owned()));
        assert_eq!(paths(server), ["db", "web"]);
        server.hydrate(&["resume", "prod", "--yes"]).success();
        assert_eq!(paths(server), ["db"]);
        verified(server);
    });
}

#[test]
fn who_removes_an_application_that_is_held_reads_that_argo_cd_deletes_it_all_the_same() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    hold(&server, &at(PROD, &tip(&server, PROD), ", applications: [web-prod]")).success();
    let (file, _) = application("web", "prod");
    clone.commit("drop web", &[(&file, "")]);
    let text = "`web-prod` is held on `environments/prod`, and `main` has it no more";
    let said = clone.hydrate(&["diff"]);
    assert!(format!("{}{}", said.stdout, said.stderr).contains(text), "{said:?}");
    let said = clone.push().success().remote().join("\n");
    assert!(said.contains(text) && said.contains("the hold keeps its files"), "{said}");
    assert_eq!(paths(&server), ["db", "web"]);
    let (_, said) = change(&clone, "db", "two");
    assert!(!said.contains(text), "once: {said}");
}

#[test]
fn the_end_of_a_hold_ends_what_failed_because_of_it() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        change(&clone, "web", "two");
        hold(server, &at(PROD, &first, ", applications: [web-prod]")).success();
        let (file, text) = edited("web", "name: web-prod", "name: shop-prod");
        clone.commit("web is called shop", &[(&file, &text)]);
        let said = clone.push().success().remote().join("\n");
        assert!(said.contains("`web-prod` cannot stay as it is at `web`"), "{said}");
        server.hydrate(&["resume", "prod", "--yes"]).success();
        assert_eq!(value(server, "environments/prod:web"), "two");
        verified(server);
    });
}

#[test]
fn the_files_of_an_application_that_went_back_and_moved_back_leave_when_the_hold_ends() {
    for is_whole in [false, true] {
        let lab = Lab::new();
        let server = lab.server();
        let clone = hydrated(&server);
        let first = tip(&server, PROD);
        let (file, text) = edited("web", "      path: web\n", "      path: team/web\n");
        clone.commit("move web", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "two"))]);
        clone.push().success();
        hold(&server, &at(PROD, &first, ", applications: [web-prod]")).success();
        assert_eq!(paths(&server), ["db", "team/web"]);
        if is_whole {
            hold(&server, &at(PROD, &tip(&server, PROD), "")).success();
        }
        let (file, text) = application("web", "prod");
        clone.commit("move web back", &[(&file, &text)]);
        clone.push().success();
        hold(&server, "").success();
        assert_eq!(paths(&server), ["db", "web"], "{is_whole}");
        verified(&server);
    }
}

#[test]
fn files_of_another_application_are_not_taken_for_its_own() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    let first = tip(&server, PROD);
    let (web, _) = application("web", "prod");
    let (file, text) = edited("api", "      path: api\n", "      path: web\n");
    clone.commit(
        "api in place of web",
        &[(&web, ""), (&file, &text), ("apps/api/prod/config.yaml", &config_map("api", "new"))],
    );
    clone.push().success();
    let before = tip(&server, PROD);
    let told = hold(&server, &at(PROD, &first, "")).exits(1).stdout;
    let expected = format!(
        "error: `{PROD}` cannot be rolled back: `web` had the files of another Application than `api-prod` then"
    );
    assert!(told.contains(&expected), "{told}");
    assert_eq!(tip(&server, PROD), before, "it stays where it is");
    // The others of the branch can.
    hold(&server, &at(PROD, &first, ", applications: [db-prod]")).success();
    verified(&server);
}

#[test]
fn files_of_others_stay() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    let first = tip(&server, PROD);
    // An admin's own file, on the server.
    let blob = server.hydrate_with(&["--version"], "").success();
    assert!(blob.stdout.starts_with("git-hydrate"));
    let work = server.beside("work");
    server.git(&["worktree", "add", "-q", work.path.to_str().expect("UTF-8"), PROD]);
    work.commit("notes of the operators", &[("NOTES.md", "by hand"), ("web/NOTES.md", "by hand")]);
    server.git(&["worktree", "remove", "--force", work.path.to_str().expect("UTF-8")]);
    clone.commit("two", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    hold(&server, &at(PROD, &first, "")).success();
    assert_eq!(value(&server, "environments/prod:web"), "prod");
    for file in ["NOTES.md", "web/NOTES.md"] {
        assert_eq!(server.git(&["show", &format!("{PROD}:{file}")]), "by hand");
    }
    verified(&server);
    healthy(&server);
}

#[test]
fn what_would_take_too_much_from_clusters_is_refused_unless_it_is_allowed() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    let first = tip(&server, PROD);
    let more: String = (0..20).map(|n| format!("---\n{}", config_map(&format!("more-{n}"), "x"))).collect();
    clone.commit("more", &[("apps/web/prod/more.yaml", &more)]);
    clone.push().success();
    let before = tip(&server, PROD);
    let told = hold(&server, &at(PROD, &first, "")).exits(1).stdout;
    assert!(
        told.contains("this commit would remove 20 of the 22 objects") && told.contains("--allow-removal"),
        "{told}"
    );
    assert_eq!(tip(&server, PROD), before);
    hold(&server, &at(PROD, &first, ", allowRemoval: true")).success();
    assert_ne!(tip(&server, PROD), before);
    verified(&server);
}
