//! What somebody runs into who has never rolled anything back, while production is broken.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{PROD, change, history, promoted, value};
use crate::push::{application, config_map, dry, tip, verified};
use crate::strict::BROKEN;
use crate::support::{Answer, Lab, Repo};

fn rollback(server: &Repo, more: &[&str]) -> Answer {
    server.hydrate(&[&["rollback", "prod", "--reason", "outage", "--yes"], more].concat())
}

fn values(server: &Repo) -> (String, String) {
    (value(server, "environments/prod:web"), value(server, "environments/prod:db"))
}

#[test]
fn an_application_stays_held_when_a_second_one_is_held_or_goes_back() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, _) = history(&server);
    change(&clone, "db", "two");
    rollback(&server, &["--application", "web-prod"]).success();
    assert_eq!(values(&server), ("three".into(), "two".into()));
    let hold = ["hold", "prod", "--application", "db-prod", "--reason", "migration", "--yes"];
    let told = server.hydrate(&hold).success().stdout;
    assert!(told.contains("of environments/prod, db-prod is held at"), "{told}");
    for command in ["status", "doctor"] {
        let told = server.hydrate(&[command]);
        assert!(told.stdout.contains("db-prod is held at") && told.stdout.contains(": migration"), "{told:?}");
    }
    clone.commit("more", &[("apps/db/prod/config.yaml", &config_map("db", "more"))]);
    let told = clone.hydrate(&["diff"]).stdout;
    assert!(told.contains("db-prod is held at") && told.contains(": migration") && !told.contains("paused"), "{told}");
    assert_eq!(values(&server), ("three".into(), "two".into()));
    change(&clone, "web", "five");
    change(&clone, "db", "three");
    assert_eq!(values(&server), ("three".into(), "two".into()));
    verified(&server);
    // Each has its own place and reason.
    let told = rollback(&server, &["--application", "db-prod"]).success().stdout;
    assert!(told.contains("web-prod is held: web shows") && told.contains("db-prod is held: db shows"), "{told}");
    assert_eq!(values(&server), ("three".into(), "prod".into()));
    let message = server.git(&["log", "-1", "--format=%B", PROD]);
    for line in ["Hydrate-Held: db-prod", "Hydrate-Held: web-prod", "Hydrate-Rolled-Back: db-prod"] {
        assert!(message.lines().any(|own| own == line), "{line}: {message}");
    }
    verified(&server);
    change(&clone, "web", "six");
    change(&clone, "db", "four");
    assert_eq!(values(&server), ("three".into(), "prod".into()));
    verified(&server);
    server.hydrate(&["resume", "prod", "--application", "web-prod", "--yes"]).success();
    assert_eq!(values(&server), ("six".into(), "prod".into()));
    verified(&server);
    let log = server.hydrate(&["log", PROD, "-n", "1"]).success().stdout;
    assert!(log.contains("web-prod no longer held"), "{log}");
    server.hydrate(&["resume", "prod", "--yes"]).success();
    assert_eq!(values(&server), ("six".into(), "four".into()));
    let log = server.hydrate(&["log", PROD, "-n", "1", "--oneline"]).success().stdout;
    assert!(log.contains(", db-prod no longer held"), "{log}");
    verified(&server);
}

#[test]
fn a_branch_that_is_held_stays_so_when_one_application_is_named() {
    let lab = Lab::new();
    let server = lab.server();
    let (_, tips) = history(&server);
    rollback(&server, &[]).success();
    let held = tip(&server, PROD);
    for command in [&["rollback", "prod"][..], &["hold", "prod"]] {
        let words = [command, &["--application", "db-prod", "--reason", "x", "--yes"]].concat();
        let told = server.hydrate(&words).exits(2).stderr;
        let expected = format!("`{PROD}` is held as a whole at {}: outage", &tips[2][..7]);
        assert!(told.contains(&expected) && told.contains("git hydrate resume environments/prod"), "{told}");
        assert_eq!(tip(&server, PROD), held);
    }
    verified(&server);
}

#[test]
fn an_application_that_was_not_there_then_is_an_error_by_name() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let (file, text) = application("late", "prod");
    clone.commit("late", &[(&file, &text), ("apps/late/prod/config.yaml", &config_map("late", "one"))]);
    clone.push().success();
    let before = tip(&server, PROD);
    let told = rollback(&server, &["--to", &tips[1], "--application", "late-prod"]).exits(2).stderr;
    let expected = format!("{} does not have the Application `late-prod`", &tips[1][..7]);
    assert!(told.contains(&expected) && !told.contains("error: error"), "{told}");
    for (name, meant) in [("late", "late-prod"), ("wbe-prod", "web-prod"), ("web", "web-prod")] {
        let told = rollback(&server, &["--application", name]).exits(2).stderr;
        let expected = format!("it has no Application `{name}`");
        let hint = format!("hint: did you mean `{meant}`?");
        assert!(told.contains(&expected) && told.contains(&hint) && !told.contains("error: error"), "{told}");
    }
    assert_eq!(tip(&server, PROD), before);
    assert!(server.hydrate(&["resume", "prod", "--yes"]).exits(2).stderr.contains("nothing of"));
}

#[test]
fn a_time_is_understood_or_refused_and_never_means_now() {
    let lab = Lab::new();
    let server = lab.server();
    let (_, tips) = history(&server);
    for to in ["a few minutes ago", "an hour or so ago", "29.11.2026", "tomorrow"] {
        let told = rollback(&server, &["--to", to]).exits(2).stderr;
        assert!(told.contains("for a time, write 2 hours ago, 90m"), "{to}: {told}");
    }
    for to in ["~0", &tips[3]] {
        let told = rollback(&server, &["--to", to]).exits(2).stderr;
        let expected = format!("{} is what `{PROD}` has now", &tips[3][..7]);
        assert!(told.contains(&expected) && told.contains("git hydrate log"), "{to}: {told}");
    }
    assert_eq!(tip(&server, PROD), tips[3]);
}

#[test]
fn a_time_means_what_was_deployed_then_and_not_what_was_committed() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let days = 24 * 60;
    deployed_before(&server, &tips, &[5 * days, 3 * days, 120, 10]);
    let now = "5 minutes ago";
    for (to, expected) in [
        ("an hour ago", &tips[2]),
        ("half an hour ago", &tips[2]),
        ("30 mins ago", &tips[2]),
        ("1h", &tips[2]),
        ("yesterday", &tips[1]),
        ("2 days ago", &tips[1]),
        ("4 days ago", &tips[0]),
    ] {
        let told = rollback(&server, &["--dry-run", "--to", to]).exits(1).stdout;
        assert!(told.contains(&format!("{PROD}: to {} (", &expected[..7])), "{to}: {told}");
    }
    let told = rollback(&server, &["--to", now]).exits(2).stderr;
    assert!(told.contains(&format!("{} is what `{PROD}` has now", &tips[3][..7])), "{told}");
    let told = rollback(&server, &["--to", "6 days ago"]).exits(2).stderr;
    assert!(told.contains("had no commit yet at the time of"), "{told}");
    // A clone knows the dates of dry commits, which are those of years ago; the newest of them is that of now.
    clone.git(&["fetch", "-q"]);
    let date = |commit: &str| server.git(&["log", "-1", "--format=%cI", commit]);
    for (to, expected) in [(date(&tips[1]), &tips[1]), (date(&tips[2]), &tips[2])] {
        let told = rollback(&clone, &["--dry-run", "--to", &to]).exits(1).stdout;
        assert!(told.contains(&format!("{PROD}: to {} (", &expected[..7])), "{to}: {told}");
    }
    // They are of 22:15 UTC on that day.
    let told = rollback(&clone, &["--to", "2023-11-14"]).exits(2).stderr;
    assert!(told.contains("had no commit yet at the time of"), "a day is its start: {told}");
}

/// Has the reflog of production say that it moved to each of these so many minutes ago.
fn deployed_before(server: &Repo, tips: &[String], minutes: &[u64]) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let path = server.path.join("logs/refs/heads").join(PROD);
    let text = std::fs::read_to_string(&path).expect("a reflog");
    let moved = |line: &str| {
        let (who, message) = line.split_once('\t').expect("a message");
        let at = tips.iter().position(|tip| who.contains(&format!(" {tip} ")));
        let (who, zone) = who.rsplit_once(' ').expect("a zone");
        let (who, _) = who.rsplit_once(' ').expect("a time");
        format!("{who} {} {zone}\t{message}\n", now - at.map_or(minutes[0], |at| minutes[at]) * 60)
    };
    std::fs::write(path, text.lines().map(moved).collect::<String>()).expect("written");
}

#[test]
fn it_goes_back_before_the_last_change_and_not_to_a_commit_with_the_same_objects() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    // A commit of the branch in which no object changes.
    let (file, text) = application("web", "prod");
    clone.commit("a comment", &[(&file, &format!("# x\n{text}")), ("README.md", "x")]);
    server.hydrate(&["config", "set", "readme", "false"]);
    clone.push().success();
    change(&clone, "db", "two");
    let told = rollback(&server, &["--application", "web-prod", "--dry-run"]).exits(1).stdout;
    let target = format!("{PROD}: to {} (", &tips[2][..7]);
    assert!(told.contains(&target) && told.contains("web: three, deployed 20"), "{told}");
    let json = server.hydrate(&["--json", "rollback", "prod", "--reason", "x", "--dry-run", "--to", &tips[1]]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((json["to"]["commit"].as_str(), json["format"].as_u64()), (Some(&tips[1][..]), Some(1)));
    assert_eq!(json["to"]["dry"]["subject"], "web: two");
    rollback(&server, &["--application", "web-prod"]).success();
    assert_eq!(values(&server), ("three".into(), "two".into()));
    // Again: from what it went to.
    rollback(&server, &["--application", "web-prod"]).success();
    assert_eq!(values(&server), ("two".into(), "two".into()));
    // All of it: no further forward than web is held.
    let said = rollback(&server, &[]).success();
    assert!(said.stderr.contains("this takes the place of the hold of web-prod"), "{said:?}");
    assert_eq!(values(&server), ("two".into(), "prod".into()));
    verified(&server);
}

#[test]
fn an_application_does_not_come_back_beside_the_one_that_has_its_objects_now() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, _) = history(&server);
    let (file, text) = application("web", "prod");
    let text = text.replace("  destination:\n", "  destination:\n    server: https://kubernetes.default.svc\n");
    clone.commit("a cluster", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "five"))]);
    clone.push().success();
    let renamed = text.replace("name: web-prod", "name: shop-prod").replace("path: web\n", "path: shop\n");
    clone.commit("web is called shop", &[(&file, &renamed)]);
    clone.push().success();
    let before = tip(&server, PROD);
    let said = rollback(&server, &["--application", "web-prod"]).exits(2).stderr;
    let expected = "`web-prod` would come back with ConfigMap web/web, which `shop-prod` has now";
    assert!(said.contains(expected), "{said}");
    assert_eq!(tip(&server, PROD), before);
    // As the hint has it.
    let hint = ["rollback", PROD, "--dry", "--application", "web-prod", "--shared", "--reason", "x"];
    assert!(said.contains(&format!("git hydrate {} …", hint[..hint.len() - 1].join(" "))), "{said}");
    let said = clone.hydrate(&hint).success().stdout;
    let made =
        said.split("git push origin ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a command");
    clone.git(&["push", "-q", "origin", made]);
    assert_eq!(value(&server, "environments/prod:web"), "five");
    assert_eq!(server.git(&["ls-tree", "--name-only", PROD, "shop"]), "");
    verified(&server);
}

#[test]
fn a_branch_with_nothing_to_go_back_to_says_so() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "db"], &["dev", "prod"]);
    clone.push().success();
    change(&clone, "db", "two");
    let before = tip(&server, PROD);
    for more in [&["--application", "web-prod"][..], &["--application", "web-prod", "--dry-run"]] {
        let told = rollback(&server, more).exits(2).stderr;
        assert!(told.contains("there is nothing to go back to"), "{told}");
    }
    assert_eq!(tip(&server, PROD), before);
    assert!(server.hydrate(&["resume", "prod", "--yes"]).exits(2).stderr.contains("nothing of"));
}

#[test]
fn deleted_applications_are_named_with_the_line_that_brings_them_back() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, tips) = history(&server);
    let (file, _) = application("web", "prod");
    clone.git(&["rm", "-q", &file]);
    clone.commit("web goes", &[("README.md", "x")]);
    clone.push().success();
    // Not brought back, and not held in vain.
    let told = rollback(&server, &[]).exits(2);
    let line = format!("git hydrate rollback {PROD} --to {} --with web-prod", &tips[3][..7]);
    let is_told = |told: &Answer| {
        let all = format!("{}{}", told.stdout, told.stderr);
        assert!(all.contains("web-prod is gone from") && all.contains(&line), "{told:?}");
    };
    is_told(&told);
    // Beside something that goes back it is a warning, before and after.
    change(&clone, "db", "two");
    is_told(&rollback(&server, &["--to", &tips[3], "--dry-run"]).exits(1));
    is_told(&rollback(&server, &["--to", &tips[3]]).success());
    assert_eq!(value(&server, "environments/prod:db"), "prod");
    // As the line has it, while the branch is held; a later push changes nothing of that.
    let again = ["rollback", PROD, "--with", "web-prod", "--reason", "x"];
    let shown = server.hydrate(&[&again[..], &["--dry-run"]].concat()).exits(1).stdout;
    assert!(shown.contains("web-prod  web  new") && !shown.contains("is gone from"), "{shown}");
    server.hydrate(&[&again[..], &["--to", &tips[3][..7], "--yes"]].concat()).success();
    assert_eq!(values(&server), ("four".into(), "prod".into()));
    verified(&server);
    let count = server.git(&["rev-list", "--count", PROD]);
    change(&clone, "db", "three");
    server.hydrate(&["catch-up"]).success();
    assert_eq!((server.git(&["rev-list", "--count", PROD]), values(&server)), (count, ("four".into(), "prod".into())));
    let log = server.hydrate(&["log", PROD, "-n", "1"]).success().stdout;
    assert!(log.contains("rolled back to"), "{log}");
    // Nothing leads to it when the hold ends.
    let shown = server.hydrate(&["resume", "prod", "--dry-run"]).exits(1).stdout;
    assert!(shown.contains("web-prod  web  removed"), "{shown}");
    server.hydrate(&["resume", "prod", "--yes"]).success();
    assert_eq!(server.git(&["ls-tree", "--name-only", PROD, "web"]), "");
    assert_eq!(value(&server, "environments/prod:db"), "three");
    verified(&server);
    // By one command.
    rollback(&server, &["--to", &tips[3], "--with", "web-prod"]).success();
    assert_eq!(values(&server), ("four".into(), "prod".into()));
    verified(&server);
    server.hydrate(&["resume", "prod", "--yes"]).success();
    let told = server
        .hydrate(&["rollback", PROD, "--to", &tips[3][..7], "--application", "web-prod", "--reason", "x", "--yes"])
        .success();
    assert!(!told.stdout.contains("0 objects"), "{told:?}");
    assert_eq!(value(&server, "environments/prod:web"), "four");
    verified(&server);
}

#[test]
fn a_hold_stays_when_what_it_releases_does_not_render() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, _) = history(&server);
    rollback(&server, &[]).success();
    clone.commit("break web", &[("apps/web/prod/config.yaml", BROKEN)]);
    clone.push();
    let held = tip(&server, PROD);
    let told = server.hydrate(&["resume", "prod", "--yes"]).exits(1);
    assert!(told.stderr.contains("stays held: nothing was changed"), "{told:?}");
    assert_eq!(tip(&server, PROD), held);
    assert!(server.hydrate(&["status"]).stdout.contains(": outage"));
    clone.commit("correct web", &[("apps/web/prod/config.yaml", &config_map("web", "five"))]);
    clone.push().success();
    assert_eq!(tip(&server, PROD), held);
    server.hydrate(&["resume", "prod", "--yes"]).success();
    assert_eq!(value(&server, "environments/prod:web"), "five");
    verified(&server);
}

#[test]
fn without_a_promoter_each_hint_leads_to_git_revert() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, [first, _]) = promoted(&server);
    for words in [&["rollback", "prod"][..], &["rollback", "environments/prod-next"], &["hold", "prod"]] {
        let said = server.hydrate(&[words, &["--reason", "x", "--yes"]].concat()).exits(2).stderr;
        assert!(
            said.contains("git revert on the dry branch (git hydrate rollback STAGING_BRANCH --dry"),
            "{words:?}: {said}"
        );
        assert!(said.contains("makes the commit), and promote"), "{words:?}: {said}");
    }
    let who = ["-c", "user.name=Promoter", "-c", "user.email=promoter@example.com"];
    let note = ["notes", "--ref=promoter.history", "add", "-m", "{\"Sha-dry-active\":[\"7\"]}", &first];
    server.git(&who.iter().chain(&note).copied().collect::<Vec<_>>());
    for words in [&["rollback", "environments/prod-next"], &["hold", "prod"]] {
        let said = server.hydrate(&[&words[..], &["--reason", "x", "--yes"]].concat()).exits(2).stderr;
        assert!(said.contains(&format!("goes back by git hydrate rollback {PROD}")), "{words:?}: {said}");
    }
    // A clone does not have the notes before.
    let said = clone.hydrate(&["rollback", "prod", "--reason", "x", "--dry-run"]).exits(1).stdout;
    assert!(said.contains("value: one"), "{said}");
}
