//! Where an active branch goes back to: what was deployed before, whoever promoted it and however often it went back.

use super::{NEXT, NOTES, PROD, promote, promoted};
use crate::hold::{change, value};
use crate::push::{application, config_map, tip, verified};
use crate::support::{Answer, Lab, Repo};

/// A note of Promoter's on a commit: one of 0.38 or later works here.
pub(crate) fn noted(server: &Repo, commit: &str) {
    let who = ["-c", "user.name=Promoter", "-c", "user.email=promoter@example.com"];
    let note = ["notes", "--ref=promoter.history", "add", "-f", "-m", "{\"Sha-dry-active\":[\"7\"]}", commit];
    server.git(&who.iter().chain(&note).copied().collect::<Vec<_>>());
}

fn rollback(server: &Repo, more: &[&str]) -> Answer {
    server.hydrate(&[&["rollback", "prod", "--reason", "payments fail", "--yes"], more].concat())
}

/// `web` with the values `1` to `count`, each promoted by a merge; the commits of the active branch.
fn values(server: &Repo, count: usize) -> (Repo, Vec<String>) {
    let (clone, [first, second]) = promoted(server);
    noted(server, &first);
    let mut all = vec![first, second];
    for step in 3..=count {
        change(&clone, "web", &step.to_string());
        all.push(promote(server, &step.to_string()));
    }
    (clone, all)
}

#[test]
fn each_rollback_goes_one_further_back_and_none_goes_forward() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = values(&server, 4);
    for expected in ["3", "two", "one"] {
        rollback(&server, &[]).success();
        assert_eq!(value(&server, "environments/prod:web"), expected);
        verified(&server);
    }
    let told = rollback(&server, &[]).exits(2).stderr;
    assert!(
        told.contains("there is nothing to go back to: no earlier commit of `environments/prod` has other"),
        "{told}"
    );
    // What a number, a dry commit and a time mean begins with what is shown, too.
    rollback(&server, &["--to", &tips[2]]).success();
    rollback(&server, &["--to", "~1"]).success();
    assert_eq!(value(&server, "environments/prod:web"), "two");
    rollback(&server, &["--to", &clone.git(&["rev-parse", "HEAD~1"])]).success();
    assert_eq!(value(&server, "environments/prod:web"), "3");
    // Promoter goes on: its merge keeps what was restored until hydration changes it, and conflicts then.
    change(&clone, "web", "five");
    promote(&server, "5");
    rollback(&server, &[]).success();
    assert_eq!(value(&server, "environments/prod:web"), "3");
    verified(&server);
}

#[test]
fn a_promotion_that_changed_no_object_is_passed_over() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = values(&server, 2);
    let directory = server.path.join("settings");
    let name = directory.display().to_string();
    server.hydrate(&["config", "export", &name]).success();
    std::fs::write(directory.join("README.tmpl"), "Made by hydration.\n").expect("written");
    server.hydrate(&["config", "import", &name]).success();
    clone.commit("a resource", &[("apps/web/prod/README.md", "words")]);
    clone.push().success();
    let next = tip(&server, NEXT);
    assert_ne!(server.git(&["rev-parse", &format!("{}^2", tips[1])]), next, "a hydrated commit without other objects");
    promote(&server, "3");
    let told = rollback(&server, &[]).success().stdout;
    assert!(told.contains(&format!("is restored to {}", &tips[0][..7])), "{told}");
    assert_eq!(value(&server, "environments/prod:web"), "one");
}

#[test]
fn a_revert_by_hand_is_described_in_the_push_and_a_rollback_has_promoter_know_of_it() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.promoter");
    let (clone, tips) = values(&server, 3);
    // Hydration has seen the branch.
    change(&clone, "db", "nothing of it");
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "--detach", "origin/environments/prod"]);
    clone.git(&["revert", "--no-edit", "-m", "1", "HEAD"]);
    let told = clone.run("git", &["push", "-q", "origin", "HEAD:environments/prod"]).success().remote().join(" ");
    let by = tip(&server, PROD);
    let shows = server.git(&["rev-parse", &format!("{}^2", tips[1])]);
    let line = format!("`{PROD}` went back by {} to what `{NEXT}` had at {}", &by[..7], &shows[..7]);
    let cure = format!("git hydrate rollback {PROD} --to {} --reason TEXT", &tips[1][..7]);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&line) && told.contains(&cure), "{told}");
    // As the hint has it: the files are there already, and the commit says so.
    rollback(&server, &["--to", &tips[1][..7]]).success();
    let message = server.git(&["log", "-1", "--format=%B", PROD]);
    assert!(message.contains(&format!("Promoter-restored-from: {}", tips[1])), "{message}");
    let told = rollback(&server, &["--to", &tips[1][..7]]).exits(2).stderr;
    assert!(told.contains("the branch has just what"), "{told}");
    // What was taken back by hand counts as what it went to.
    rollback(&server, &[]).success();
    assert_eq!(value(&server, "environments/prod:web"), "one");
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains(&format!("restored to {} of before; {NEXT} waits", &tips[0][..7])), "{status}");
    let status: serde_json::Value = serde_json::from_str(&server.hydrate(&["status", "--json"]).stdout).expect("JSON");
    let prod = status["branches"].as_array().expect("branches").iter().find(|one| one["branch"] == PROD).expect("prod");
    assert_eq!(prod["promotedFrom"][0]["restoredTo"], tips[0].as_str(), "{prod}");
    verified(&server);
    // A promotion says nothing, and neither does Promoter's own restore.
    clone.git(&["checkout", "-q", "main"]);
    change(&clone, "web", "four");
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "--detach", "origin/environments/prod"]);
    let (tree, next) = ("origin/environments/prod-next^{tree}", "origin/environments/prod-next");
    let merge = clone.git(&["commit-tree", tree, "-p", "HEAD", "-p", next, "-m", "Promote"]);
    clone.git(&["checkout", "-q", "--detach", &merge]);
    let told = clone.run("git", &["push", "-q", "origin", "HEAD:environments/prod"]).success().stderr;
    assert!(!told.contains("went back"), "{told}");
    let status = server.hydrate(&["status"]).stdout;
    assert!(!status.contains("restored"), "{status}");
    let message = format!("Revert\n\nPromoter-restored-from: {}\n", tips[1]);
    let tree = format!("{}^{{tree}}", tips[1]);
    let restored = clone.git(&["commit-tree", &tree, "-p", "HEAD", "-m", &message]);
    let told = clone.run("git", &["push", "-q", "origin", &format!("{restored}:environments/prod")]).success().stderr;
    assert!(!told.contains("went back"), "{told}");
}

/// `web` and `api` share the branch `environments/prod`, each with a directory that is promoted on its own.
fn by_directory(server: &Repo) -> Repo {
    server.hydrate(&["config", "set", "activePaths.environments/prod", "[web, api]"]).success();
    let clone = server.clone_to("clone");
    let mut files = Vec::new();
    for name in ["web", "api"] {
        let (file, text) = application(name, "prod");
        files.push((file, text + &format!("    hydrateTo:\n      targetBranch: {NEXT}/{name}\n")));
        files.push((format!("apps/{name}/prod/config.yaml"), config_map(name, "one")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("both", &files);
    clone.push().success();
    clone
}

/// Merges the staging branch of one directory.
fn promote_directory(server: &Repo, name: &str) -> String {
    let (active, next) = (tip(server, PROD), tip(server, &format!("{NEXT}/{name}")));
    let tree = server.git(&["merge-tree", "--write-tree", &active, &next]);
    let merge = server.git(&["commit-tree", &tree, "-p", &active, "-p", &next, "-m", &format!("Promote {name}")]);
    server.git(&["update-ref", &format!("refs/heads/{PROD}"), &merge]);
    merge
}

#[test]
fn a_directory_goes_back_to_what_it_had_whatever_was_promoted_beside_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = by_directory(&server);
    let first = promote_directory(&server, "web");
    noted(&server, &first);
    promote_directory(&server, "api");
    for step in ["two", "three"] {
        change(&clone, "web", step);
        promote_directory(&server, "web");
        change(&clone, "api", step);
        promote_directory(&server, "api");
    }
    let shown = || ["web", "api"].map(|name| value(&server, &format!("{PROD}:{name}")));
    let told = rollback(&server, &[]).exits(2).stderr;
    assert!(told.contains("is promoted by directory: --path web, or --path api"), "{told}");
    for expected in ["two", "one"] {
        rollback(&server, &["--path", "web"]).success();
        assert_eq!(shown(), [expected, "three"]);
    }
    rollback(&server, &["--path", "api"]).success();
    assert_eq!(shown(), ["one", "two"]);
    let told = rollback(&server, &["--path", "web"]).exits(2).stderr;
    assert!(told.contains("no earlier commit of web of `environments/prod` has other objects"), "{told}");
    let status = server.hydrate(&["status"]).stdout;
    let both = format!("{NEXT}/api (restored to ");
    let restored = format!("{NEXT}/web (restored to {})", &first[..7]);
    assert!(status.contains(&both) && status.contains(&restored), "{status}");
    // By a dry commit, and by how many times the directory changed.
    rollback(&server, &["--path", "web", "--to", &clone.git(&["rev-parse", "HEAD~1"])]).success();
    assert_eq!(shown(), ["three", "two"]);
    rollback(&server, &["--path", "web", "--to", "~2"]).success();
    assert_eq!(shown(), ["one", "two"]);
    verified(&server);
    assert!(server.git(&["rev-list", "--count", NOTES]).parse::<usize>().is_ok_and(|count| count > 4));
}
