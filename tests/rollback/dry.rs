//! `git hydrate rollback --dry`: the commit of the dry branch that takes one environment back, and no other.

use super::{NEXT, PROD, change, history, promoted, value};
use crate::push::{application, config_map, tip, verified};
use crate::strict::BROKEN;
use crate::support::{Answer, Lab, Repo};

mod files;
mod random;

/// Takes production back by a commit, as the clone's user types it.
fn back(clone: &Repo, more: &[&str]) -> Answer {
    clone.hydrate(&[&["rollback", "prod", "--dry", "--reason", "payments fail"], more].concat())
}

/// The branch that was made, by what is told of it.
fn made(told: &Answer) -> String {
    let line =
        told.stdout.lines().find_map(|line| line.strip_prefix("the branch ")).unwrap_or_else(|| panic!("{told:?}"));
    line.split(' ').next().expect("a name").to_owned()
}

/// Pushes what was made to the dry branch, as the hint has it.
fn push(clone: &Repo, told: &Answer) -> String {
    let hint = told.stdout.lines().find_map(|line| line.strip_prefix("hint: to deploy it: ")).expect("a hint");
    clone.run("sh", &["-ec", hint]).success().remote().join("\n")
}

/// The files that a commit changes.
fn changed(clone: &Repo, commit: &str) -> String {
    clone.git(&["diff", "--name-only", &format!("{commit}^"), commit])
}

#[test]
fn production_goes_back_by_a_commit_and_nothing_else_does() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let (head, before) = (clone.git(&["rev-parse", "HEAD"]), tip(&server, "environments/dev"));
    let told = back(&clone, &[]).success();
    for part in [
        format!("{PROD}: to {} (", &tips[2][..7]),
        "value: four".to_owned(),
        "value: three".to_owned(),
        "\n  apps/web/prod/config.yaml\n".to_owned(),
        format!("rendered, {PROD} has the manifests of {}, and nothing else changes\n", &tips[2][..7]),
    ] {
        assert!(told.stdout.contains(&part), "{part}: {told:?}");
    }
    let name = made(&told);
    assert_eq!(name, format!("rollback-prod-{}", &tips[2][..7]));
    assert_eq!(changed(&clone, &name), "apps/web/prod/config.yaml");
    assert_eq!(clone.git(&["rev-parse", &format!("{name}^")]), head);
    let message = clone.git(&["log", "-1", "--format=%B", &name]);
    assert!(
        message.starts_with("Roll environments/prod back to ") && message.contains("\n\npayments fail\n\n"),
        "{message}"
    );
    // Nothing that is checked out is touched.
    assert_eq!((clone.git(&["rev-parse", "HEAD"]), clone.git(&["status", "--porcelain"])), (head, String::new()));
    let told = push(&clone, &told);
    assert!(told.contains("1 of 2 manifests changed"), "{told}");
    assert_eq!(value(&server, "environments/prod:web"), "three");
    assert_eq!(value(&server, "environments/dev:web"), "four");
    let trees = [&tips[2], PROD].map(|commit| server.git(&["rev-parse", &format!("{commit}:web/manifest.yaml")]));
    assert_eq!(trees[0], trees[1]);
    assert_eq!(tip(&server, "environments/dev"), before);
    verified(&server);
}

#[test]
fn the_dry_branch_is_brought_in_line_with_a_branch_that_is_held() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    server.hydrate(&["rollback", "prod", "--to", &tips[1], "--reason", "outage", "--yes"]).success();
    let told = back(&clone, &[]).success();
    assert!(told.stdout.contains(&format!("{PROD}: to {} (", &tips[1][..7])), "{told:?}");
    assert!(
        told.stdout.contains("hint: environments/prod stays held until git hydrate resume environments/prod\n"),
        "{told:?}"
    );
    push(&clone, &told);
    let told = server.hydrate(&["resume", "prod", "--yes"]).success().stdout;
    assert!(told.contains("no object changes now"), "{told}");
    assert_eq!(value(&server, "environments/prod:web"), "two");
    assert_eq!(value(&server, "environments/dev:web"), "four");
    verified(&server);
    // The dry branch has it now.
    clone.git(&["fetch", "-q"]);
    let told = back(&clone, &["--to", &tips[1]]).exits(2).stderr;
    assert!(told.contains("the dry branch gives these manifests already"), "{told}");
}

#[test]
fn one_application_goes_back_and_the_others_go_on() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    change(&clone, "db", "two");
    let told = back(&clone, &["--to", &tips[0], "--application", "web-prod"]).success();
    assert_eq!(changed(&clone, &made(&told)), "apps/web/prod/config.yaml");
    push(&clone, &told);
    assert_eq!(
        (value(&server, "environments/prod:web"), value(&server, "environments/prod:db")),
        ("prod".into(), "two".into())
    );
    let told = back(&clone, &["--to", &tips[0], "--application", "cart"]).exits(2).stderr;
    assert!(told.contains("it has no Application `cart`, neither now nor then"), "{told}");
    verified(&server);
}

#[test]
fn what_came_since_stays_and_what_is_gone_comes_back_by_name_alone() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    clone.git(&["rm", "-q", "applications/prod/db.yaml"]);
    let (file, text) = application("api", "prod");
    clone.commit("api for db", &[(&file, &text), ("apps/api/prod/config.yaml", &config_map("api", "one"))]);
    clone.push().success();
    let told = back(&clone, &["--to", &tips[2]]).success();
    assert!(told.stdout.contains("came since, and stay: api-prod\n"), "{told:?}");
    assert!(told.stdout.contains("are gone since, and stay gone: db-prod\n"), "{told:?}");
    assert_eq!(changed(&clone, &made(&told)), "apps/web/prod/config.yaml");
    push(&clone, &told);
    clone.git(&["pull", "-q", "--ff-only"]);
    clone.git(&["branch", "-q", "-D", &made(&told)]);
    let told = back(&clone, &["--to", &tips[2], "--application", "db-prod"]).success();
    assert_eq!(changed(&clone, &made(&told)), "applications/prod/db.yaml");
    push(&clone, &told);
    let shown = ["web", "db", "api"].map(|name| value(&server, &format!("environments/prod:{name}")));
    assert_eq!(shown, ["three", "prod", "one"]);
    verified(&server);
}

#[test]
fn an_application_that_says_something_else_now_gets_its_document_back() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let (file, text) = application("web", "prod");
    let text = text.replace("path: apps/web/prod", "path: apps/web/canary").replace("path: web\n", "path: canary\n");
    clone.commit("canary", &[(&file, &text), ("apps/web/canary/config.yaml", &config_map("web", "canary"))]);
    clone.push().success();
    assert_eq!(value(&server, "environments/prod:canary"), "canary");
    let told = back(&clone, &[]).success();
    assert_eq!(changed(&clone, &made(&told)), file);
    push(&clone, &told);
    assert_eq!(value(&server, "environments/prod:web"), "four");
    let trees = [&tips[3], PROD].map(|commit| server.git(&["ls-tree", "-r", "--name-only", commit]));
    assert_eq!(trees[0], trees[1]);
    verified(&server);
}

#[test]
fn an_environment_that_does_not_render_goes_back_to_what_it_shows() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    clone.commit("break it", &[("apps/web/prod/config.yaml", BROKEN)]);
    clone.push().success();
    assert_eq!(tip(&server, PROD), tips[3]);
    let told = back(&clone, &["--to", &tips[3]]).success();
    assert_eq!(changed(&clone, &made(&told)), "apps/web/prod/config.yaml");
    let told = push(&clone, &told);
    assert!(!told.contains("error"), "{told}");
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(!status.contains("fail"), "{status}");
    verified(&server);
}

#[test]
fn what_takes_too_many_objects_away_needs_a_word() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let many: Vec<String> = (0..40).map(|number| config_map(&format!("web-{number}"), "x")).collect();
    clone.commit("more", &[("apps/web/prod/more.yaml", &many.join("---\n"))]);
    clone.push().success();
    let told = back(&clone, &["--to", &tips[2]]).exits(1);
    assert!(told.stderr.contains("Hydrate-Allow-Removal") && told.stderr.contains("nothing was made\n"), "{told:?}");
    let told = back(&clone, &["--to", &tips[2], "--allow-removal"]).success();
    let message = clone.git(&["log", "-1", "--format=%B", &made(&told)]);
    assert!(message.trim_end().ends_with("\n\nHydrate-Allow-Removal: environments/prod"), "{message}");
    let told = push(&clone, &told);
    assert!(!told.contains("error"), "{told}");
    assert_eq!(value(&server, "environments/prod:web"), "three");
    verified(&server);
}

#[test]
fn what_is_promoted_goes_back_on_its_way() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, [_, second]) = promoted(&server);
    let told = back(&clone, &[]).exits(2).stderr;
    assert!(told.contains("`environments/prod` is promoted"), "{told}");
    assert!(told.contains("hint: git hydrate rollback environments/prod-next --dry …"), "{told}");
    let told = clone.hydrate(&["rollback", NEXT, "--dry", "--reason", "payments fail"]).success();
    push(&clone, &told);
    assert_eq!((value(&server, &format!("{NEXT}:web")), tip(&server, PROD)), ("one".into(), second));
    verified(&server);
}

#[test]
fn where_there_is_no_such_commit_it_is_said_why() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let refs = |repo: &Repo| repo.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads"]);
    let before = refs(&clone);
    let told = server.hydrate(&["rollback", "prod", "--dry", "--reason", "x"]).exits(2).stderr;
    assert!(told.contains("--dry makes a commit that is pushed like any other: run it in a clone"), "{told}");
    for (more, expected) in [
        (&["--to", tips[3].as_str()][..], "the dry branch gives these manifests already"),
        (&["--until", "2031-01-02"], "--dry holds and promotes nothing: leave --path and --until out"),
    ] {
        let told = back(&clone, more).exits(2).stderr;
        assert!(told.contains(expected), "{told}");
    }
    // Shown, and not made.
    let told = back(&clone, &["--dry-run"]).exits(1).stdout;
    assert!(told.contains("and nothing else changes\n") && !told.contains("the branch"), "{told}");
    assert_eq!(refs(&clone), before);
    let told = back(&clone, &["--dry-run", "--json"]).exits(1).stdout;
    for part in ["\"proven\": true", "\"files\": [\n    \"apps/web/prod/config.yaml\"\n  ]", "\"others\": []"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    back(&clone, &[]).success();
    let told = back(&clone, &[]).exits(2).stderr;
    let name = format!("rollback-prod-{}", &tips[2][..7]);
    assert!(told.contains(&format!("the branch `{name}` exists already\nhint: git branch -D {name}")), "{told}");
}
