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

/// The branch that was made, as the command names it.
fn made(said: &Answer) -> String {
    let line =
        said.stdout.lines().find_map(|line| line.strip_prefix("the branch ")).unwrap_or_else(|| panic!("{said:?}"));
    line.split(' ').next().expect("a name").to_owned()
}

/// Pushes what was made to the dry branch, as the hint has it.
fn push(clone: &Repo, said: &Answer) -> String {
    let hint = said.stdout.lines().find_map(|line| line.strip_prefix("hint: to deploy it: ")).expect("a hint");
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
    let said = back(&clone, &[]).success();
    for part in [
        format!("{PROD}: to {} (", &tips[2][..7]),
        "value: four".to_owned(),
        "value: three".to_owned(),
        "\n  apps/web/prod/config.yaml\n".to_owned(),
        format!("rendered, {PROD} has the manifests of {}, and nothing else changes\n", &tips[2][..7]),
    ] {
        assert!(said.stdout.contains(&part), "{part}: {said:?}");
    }
    let name = made(&said);
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
    let said = push(&clone, &said);
    assert!(said.contains("1 of 2 manifests changed"), "{said}");
    assert_eq!(value(&server, "environments/prod:web"), "three");
    assert_eq!(value(&server, "environments/dev:web"), "four");
    let trees = [&tips[2], PROD].map(|commit| server.git(&["rev-parse", &format!("{commit}:web/manifest.yaml")]));
    assert_eq!(trees[0], trees[1]);
    assert_eq!(tip(&server, "environments/dev"), before);
    verified(&server);
}

#[test]
fn each_commit_of_the_dry_branch_goes_one_further_back_and_none_goes_forward() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    for (expected, at) in [("three", 2), ("two", 1)] {
        let said = back(&clone, &[]).success();
        assert!(said.stdout.contains(&format!("{PROD}: to {} (", &tips[at][..7])), "{said:?}");
        push(&clone, &said);
        clone.git(&["fetch", "-q"]);
        assert_eq!(value(&server, "environments/prod:web"), expected);
    }
    // Nor does a rollback on the server.
    server.hydrate(&["rollback", "prod", "--reason", "outage", "--yes"]).success();
    assert_eq!(value(&server, "environments/prod:web"), "prod");
    verified(&server);
}

#[test]
fn the_dry_branch_is_brought_in_line_with_a_branch_that_is_held() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    server.hydrate(&["rollback", "prod", "--to", &tips[1], "--reason", "outage", "--yes"]).success();
    let said = back(&clone, &[]).success();
    assert!(said.stdout.contains(&format!("{PROD}: to {} (", &tips[1][..7])), "{said:?}");
    assert!(
        said.stdout.contains("hint: environments/prod stays held until git hydrate resume environments/prod\n"),
        "{said:?}"
    );
    push(&clone, &said);
    let said = server.hydrate(&["resume", "prod", "--yes"]).success().stdout;
    assert!(said.contains("no object changes now"), "{said}");
    assert_eq!(value(&server, "environments/prod:web"), "two");
    assert_eq!(value(&server, "environments/dev:web"), "four");
    verified(&server);
    // The dry branch has it now.
    clone.git(&["fetch", "-q"]);
    let said = back(&clone, &["--to", &tips[1]]).exits(2).stderr;
    assert!(said.contains("the dry branch gives these manifests already"), "{said}");
}

#[test]
fn one_application_goes_back_and_the_others_go_on() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    change(&clone, "db", "two");
    let said = back(&clone, &["--to", &tips[0], "--application", "web-prod"]).success();
    assert_eq!(changed(&clone, &made(&said)), "apps/web/prod/config.yaml");
    push(&clone, &said);
    assert_eq!(
        (value(&server, "environments/prod:web"), value(&server, "environments/prod:db")),
        ("prod".into(), "two".into())
    );
    let said = back(&clone, &["--to", &tips[0], "--application", "cart"]).exits(2).stderr;
    assert!(said.contains("it has no Application `cart`, neither now nor then"), "{said}");
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
    let said = back(&clone, &["--to", &tips[2]]).exits(1);
    assert!(said.stdout.contains("came since, and stay: api-prod\n"), "{said:?}");
    assert!(said.stdout.contains("are gone since, and stay gone: db-prod\n"), "{said:?}");
    let expected = format!("has the manifests of {} but for db-prod, and nothing else changes\n", &tips[2][..7]);
    assert!(said.stdout.contains(&expected), "{said:?}");
    let hint = format!("git hydrate rollback environments/prod --dry --to {} --application db-prod", &tips[2][..7]);
    assert!(said.stdout.contains(&hint), "{said:?}");
    assert_eq!(changed(&clone, &made(&said)), "apps/web/prod/config.yaml");
    push(&clone, &said);
    clone.git(&["pull", "-q", "--ff-only"]);
    clone.git(&["branch", "-q", "-D", &made(&said)]);
    let said = back(&clone, &["--to", &tips[2], "--application", "db-prod"]).success();
    assert_eq!(changed(&clone, &made(&said)), "applications/prod/db.yaml");
    push(&clone, &said);
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
    let said = back(&clone, &[]).success();
    assert_eq!(changed(&clone, &made(&said)), file);
    push(&clone, &said);
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
    let said = back(&clone, &["--to", &tips[3]]).success();
    assert_eq!(changed(&clone, &made(&said)), "apps/web/prod/config.yaml");
    let said = push(&clone, &said);
    assert!(!said.contains("error"), "{said}");
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
    let said = back(&clone, &["--to", &tips[2]]).exits(1);
    assert!(said.stderr.contains("Hydrate-Allow-Removal") && said.stderr.contains("nothing was made\n"), "{said:?}");
    let said = back(&clone, &["--to", &tips[2], "--allow-removal"]).success();
    let message = clone.git(&["log", "-1", "--format=%B", &made(&said)]);
    let trailers = format!("\n\nHydrate-Back-To: {}\nHydrate-Allow-Removal: environments/prod", tips[2]);
    assert!(message.trim_end().ends_with(&trailers), "{message}");
    let said = push(&clone, &said);
    assert!(!said.contains("error"), "{said}");
    assert_eq!(value(&server, "environments/prod:web"), "three");
    verified(&server);
}

#[test]
fn what_is_promoted_goes_back_on_its_way() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, [_, second]) = promoted(&server);
    let said = back(&clone, &[]).exits(2).stderr;
    assert!(said.contains("`environments/prod` is promoted"), "{said}");
    assert!(said.contains("hint: git hydrate rollback environments/prod-next --dry …"), "{said}");
    let said = clone.hydrate(&["rollback", NEXT, "--dry", "--reason", "payments fail"]).success();
    push(&clone, &said);
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
    let said = server.hydrate(&["rollback", "prod", "--dry", "--reason", "x"]).exits(2).stderr;
    assert!(said.contains("--dry makes a commit that is pushed like any other: run it in a clone"), "{said}");
    for (more, expected) in [
        (&["--to", tips[3].as_str()][..], "the dry branch gives these manifests already"),
        (&["--until", "2031-01-02"], "--dry holds and promotes nothing: leave --path and --until out"),
    ] {
        let said = back(&clone, more).exits(2).stderr;
        assert!(said.contains(expected), "{said}");
    }
    // Shown, and not made.
    let said = back(&clone, &["--dry-run"]).exits(1).stdout;
    assert!(said.contains("and nothing else changes\n") && !said.contains("the branch"), "{said}");
    assert_eq!(refs(&clone), before);
    let said = back(&clone, &["--dry-run", "--json"]).exits(1).stdout;
    for part in ["\"proven\": true", "\"files\": [\n    \"apps/web/prod/config.yaml\"\n  ]", "\"others\": []"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    back(&clone, &[]).success();
    let said = back(&clone, &[]).exits(2).stderr;
    let name = format!("rollback-prod-{}", &tips[2][..7]);
    assert!(said.contains(&format!("the branch `{name}` exists already\nhint: git branch -D {name}")), "{said}");
}

/// One that the API server takes, or refuses for its port.
fn service(port: u32) -> String {
    format!("apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{ports: [{{port: {port}}}]}}\n")
}

#[test]
fn what_the_api_server_refuses_is_passed_over_unless_it_is_named() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = crate::push::dry(&server, &["web"], &["prod"]);
    clone.push().success();
    let mut tips = Vec::new();
    for port in [80, 90_000, 8080] {
        clone.commit(&format!("port {port}"), &[("apps/web/prod/config.yaml", &service(port))]);
        clone.push().success();
        tips.push(tip(&server, PROD));
    }
    let passed = format!("{} is passed over: the API server refuses Service web of it", &tips[1][..7]);
    let said = back(&clone, &["--dry-run"]).exits(1);
    assert!(said.stdout.contains(&format!("{PROD}: to {} (", &tips[0][..7])), "{said:?}");
    assert!(said.stderr.contains(&passed), "{said:?}");
    let said = back(&clone, &["--dry-run", "--to", &tips[1]]).exits(1);
    assert!(said.stdout.contains(&format!("{PROD}: to {} (", &tips[1][..7])), "{said:?}");
    // On the server, too, and of an Application alone.
    for more in [&[][..], &["--application", "web-prod"]] {
        let said = server.hydrate(&[&["rollback", "prod", "--reason", "x", "--dry-run"], more].concat()).exits(1);
        assert!(said.stdout.contains(&tips[0][..7]) && said.stderr.contains(&passed), "{said:?}");
    }
}
