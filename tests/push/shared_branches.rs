//! One branch that two dry branches, or promotion strategies, want.

use super::{application, both, config_map, dry, healthy, names, note, note_of, show, tip, verified};
use crate::strict::BROKEN;
use crate::support::Lab;

#[test]
fn two_dry_branches_cannot_write_one_branch() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "add", "dryBranches", "release"]).success();
    let before = tip(&server, "environments/dev");
    clone.git(&["checkout", "-q", "-b", "release"]);
    let (file, text) = application("web", "dev");
    clone.commit("for release", &[(&file, &text.replace("targetRevision: main", "targetRevision: release"))]);
    let answer = clone.push().success();
    assert!(answer.remote().join(" ").contains("`environments/dev` is hydrated from `main`"), "{answer:?}");
    assert_eq!(tip(&server, "environments/dev"), before);
    // Nor does the one hold back the other.
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    assert_eq!(note(&server, "environments/dev"), note_of(&tip(&server, "main")));
    assert_ne!(tip(&server, "environments/dev"), before);
}

/// An Application of a dry branch that goes to `sync`, by way of `staging` where that is not empty.
fn of_branch(dry_branch: &str, sync: &str, staging: &str) -> String {
    let (_, text) = application("web", "new");
    let text = text.replace("targetRevision: main", &format!("targetRevision: {dry_branch}"));
    let text = text.replace("environments/new", sync);
    if staging.is_empty() { text } else { format!("{text}    hydrateTo: {{targetBranch: {staging}}}\n") }
}

#[test]
fn new_branches_of_two_dry_branches_that_git_cannot_have_together_stop_nobody() {
    let rows = [
        // Both want the same, one of them as the active branch of its staging branch.
        (["environments/new", ""], ["environments/new", "environments/new-next"]),
        (["environments/new", "environments/new-next"], ["environments/new", ""]),
        (["environments/a", "environments/b"], ["environments/b", "environments/a"]),
        // One is a directory of the other.
        (["environments/x", ""], ["environments/x/y", ""]),
        (["environments/x/y", ""], ["environments/x", ""]),
        (["environments/x", ""], ["environments/z", "environments/x/y"]),
    ];
    for (main, release) in rows {
        let what = format!("{main:?} and {release:?}");
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["web"], &["dev"]);
        clone.push().success();
        server.hydrate(&["config", "add", "dryBranches", "release"]).success();
        clone.git(&["checkout", "-q", "-b", "release"]);
        clone.git(&["rm", "-q", "-r", "applications"]);
        let source = ("apps/web/new/config.yaml", config_map("web", "new"));
        clone.commit(
            "release",
            &[("applications/new.yaml", &of_branch("release", release[0], release[1])), (source.0, &source.1)],
        );
        clone.git(&["checkout", "-q", "main"]);
        let (dev, new) = (config_map("web", "2"), of_branch("main", main[0], main[1]));
        let files = [
            ("apps/web/dev/config.yaml", dev.as_str()),
            ("applications/new.yaml", new.as_str()),
            (source.0, source.1.as_str()),
        ];
        let next = clone.commit("new", &files);
        let told = clone.run("git", &["push", "-q", "origin", "main", "release"]).success();
        assert!(told.remote().join(" ").contains("error: `environments/"), "{what}: {told:?}");
        assert_eq!(note(&server, "environments/dev"), note_of(&next), "{what}: {told:?}");
        let written = if main[1].is_empty() { main[0] } else { main[1] };
        assert_eq!(note(&server, written), note_of(&next), "{what}: the first dry branch has what it asks for");
        server.hydrate(&["verify"]).success();
        // It stays so, and ends when the other dry branch takes another name.
        clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "3"))]);
        clone.push().success();
        assert!(show(&server, "environments/dev:web/manifest.yaml").contains("value: 3"), "{what}");
        clone.git(&["checkout", "-q", "release"]);
        clone.commit("elsewhere", &[("applications/new.yaml", &of_branch("release", "environments/other", ""))]);
        let told = clone.push().success();
        assert!(!told.stderr.contains("error"), "{what}: {told:?}");
        assert!(show(&server, "environments/other:web/manifest.yaml").contains("value: new"), "{what}");
    }
}

#[test]
fn a_staging_branch_is_not_cut_from_a_branch_that_another_dry_branch_writes() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "add", "dryBranches", "release"]).success();
    clone.git(&["checkout", "-q", "-b", "release"]);
    clone.git(&["rm", "-q", "-r", "applications"]);
    let text = of_branch("release", "environments/dev", "environments/dev-next");
    let source = ("apps/web/new/config.yaml", config_map("web", "new"));
    clone.commit("stage it", &[("applications/new.yaml", &text), (source.0, &source.1)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("error: `environments/dev` is hydrated from `main`, not from `release`"), "{told}");
    assert!(told.contains("applications/new.yaml:14:21"), "{told}");
    assert!(server.run("git", &["rev-parse", "--quiet", "--verify", "environments/dev-next"]).code != Some(0));
    clone.git(&["checkout", "-q", "main"]);
    let next = clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    assert_eq!(note(&server, "environments/dev"), note_of(&next));
}

#[test]
fn promotion_strategies_share_a_branch() {
    let lab = Lab::new();
    let server = lab.server();
    server.allow("hydrate.settingsPusher");
    let clone = dry(&server, &["a", "b"], &["dev"]);
    let settings = server.clone_to("settings");
    settings.git(&["checkout", "-q", "--orphan", "settings"]);
    let shared = "repoURL: https://git.example.com/dry.git\ndryBranches: [main, other]\nmadeApplications: true\nactivePaths: {environments/dev: [a, b]}\n";
    settings.commit("share", &[("settings.yaml", shared)]);
    settings.git(&["push", "-q", "origin", "HEAD:refs/hydrate/config"]);
    clone.push().success();
    let ours = |name: &str| ["README.md", "hydrator.metadata", "manifest.yaml"].map(|file| format!("{name}/{file}"));
    assert_eq!(names(&server, "environments/dev"), [ours("a"), ours("b")].concat(), "nothing at the root");
    assert!(show(&server, "environments/dev:a/hydrator.metadata").contains("\"subject\": \"feat: all applications\""));
    clone.commit("change", &[("apps/a/dev/config.yaml", &config_map("a", "new"))]);
    clone.push().success();
    let changed = server.git(&["diff", "--name-only", "environments/dev~1", "environments/dev"]);
    assert_eq!(changed.lines().collect::<Vec<_>>(), ours("a"));
    clone.git(&["checkout", "-q", "-b", "other"]);
    let (file, text) = application("c", "dev");
    let text = text.replace("targetRevision: main", "targetRevision: other");
    clone.commit(
        "another dry branch",
        &[
            (&file, &text),
            (&application("a", "dev").0, ""),
            (&application("b", "dev").0, ""),
            ("apps/c/dev/config.yaml", &config_map("c", "c")),
        ],
    );
    let answer = clone.push().success();
    assert!(answer.remote().join(" ").contains("is not in any of the `activePaths`"), "{answer:?}");
    settings.commit("share", &[("settings.yaml", &shared.replace("[a, b]", "[a, b, c]"))]);
    settings.git(&["push", "-q", "origin", "HEAD:refs/hydrate/config"]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(names(&server, "environments/dev"), [ours("a"), ours("b"), ours("c")].concat());
    healthy(&server);
}

#[test]
fn dry_branches_that_share_a_branch_each_get_their_commits() {
    both(|server| {
        server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
        server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
        server.hydrate(&["config", "set", "activePaths", "{environments/dev: [a, b]}"]).success();
        let clone = dry(server, &["a"], &["dev"]);
        clone.push().success();
        clone.git(&["checkout", "-q", "--orphan", "other"]);
        clone.git(&["rm", "-q", "-r", "--force", "."]);
        let (file, text) = application("b", "dev");
        let text = text.replace("targetRevision: main", "targetRevision: other");
        let change = |name: &str, value: &str| {
            clone.git(&["checkout", "-q", if name == "a" { "main" } else { "other" }]);
            clone.commit(value, &[(&format!("apps/{name}/dev/config.yaml"), &config_map(name, value))])
        };
        clone.commit("other", &[(&file, &text), ("apps/b/dev/config.yaml", &config_map("b", "first"))]);
        clone.push().success();
        let push = || clone.run("git", &["push", "-q", "origin", "main", "other"]).success().remote().join("\n");
        let shown = || ["a", "b"].map(|name| show(server, &format!("environments/dev:{name}/manifest.yaml")));
        let shows = |a: &str, b: &str| {
            let is = [a, b].map(|value| format!("value: {value}"));
            assert!(shown().iter().zip(&is).all(|(shown, is)| shown.contains(is.as_str())), "{is:?}: {:?}", shown());
        };
        // One of them, the other, and both at once; no push loses what another brought.
        change("a", "two");
        push();
        shows("two", "first");
        change("b", "three");
        push();
        shows("two", "three");
        change("a", "four");
        change("b", "five");
        push();
        shows("four", "five");
        change("a", "six");
        let told = push();
        assert!(told.contains("1 of 1 manifests changed") || told.contains("1 of 2 manifests changed"), "{told}");
        shows("six", "five");
        // One that fails holds back itself, and is told.
        clone.git(&["checkout", "-q", "main"]);
        clone.commit("broken", &[("apps/a/dev/config.yaml", BROKEN)]);
        change("b", "seven");
        let told = push();
        assert!(told.contains("apps/a/dev/config.yaml"), "{told}");
        shows("six", "seven");
        server.hydrate(&["status"]).exits(1);
        change("a", "eight");
        push();
        shows("eight", "seven");
        // Neither writes where the other does.
        clone.git(&["checkout", "-q", "other"]);
        clone.commit("take it", &[(&file, &text.replace("      path: b\n", "      path: a\n"))]);
        let told = push();
        assert!(told.contains("error: `a` on `environments/dev` is hydrated from `main`, not from `other`"), "{told}");
        change("a", "nine");
        push();
        shows("nine", "seven");
        clone.git(&["checkout", "-q", "other"]);
        clone.commit("give it back", &[(&file, &text)]);
        push();
        server.hydrate(&["status"]).success();
        verified(server);
    });
}
