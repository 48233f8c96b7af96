//! A hold beside everything else that keeps a branch, or leads it elsewhere.

use std::fs;

use super::{PROD, at, change, hold, hydrated, value};
use crate::push::{application, both, config_map, dry, note_of, tip, verified};
use crate::rules::{BY_LABEL, rule, two};
use crate::strict::BROKEN;
use crate::support::Lab;

#[test]
fn strict_mode_judges_a_held_branch_as_if_it_were_not() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.strict", "touched"]);
    let clone = hydrated(&server);
    let first = tip(&server, PROD);
    change(&clone, "web", "two");
    hold(&server, &at(PROD, &first, "")).success();
    let held = tip(&server, PROD);
    clone.commit("break prod", &[("apps/web/prod/config.yaml", BROKEN)]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("error: not valid YAML"), "{told}");
    change(&clone, "web", "three");
    assert_eq!((tip(&server, PROD), value(&server, "environments/dev:web")), (held, "three".into()));
    hold(&server, "").success();
    assert_eq!(value(&server, "environments/prod:web"), "three");
    verified(&server);
}

#[test]
fn a_frozen_branch_goes_back_all_the_same() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        change(&clone, "web", "two");
        server.hydrate(&["config", "set", "frozen.environments/prod", "{reason: release week}"]).success();
        hold(server, &at(PROD, &first, "")).success();
        assert_eq!(value(server, "environments/prod:web"), "prod");
        let (_, told) = change(&clone, "web", "three");
        assert!(told.contains(": outage") && !told.contains("release week"), "{told}");
        // What comes when the freeze ends is shown before the hold does.
        let shown = server.hydrate(&["resume", "prod", "--dry-run"]).exits(1).stdout;
        assert!(shown.contains("frozen: release week; held back until that ends"), "{shown}");
        assert!(shown.contains("value: three"), "{shown}");
        // It is frozen still when the hold ends.
        hold(server, "").success();
        assert_eq!(value(server, "environments/prod:web"), "prod");
        let (_, told) = change(&clone, "web", "four");
        assert!(told.contains("frozen: release week"), "{told}");
        server.hydrate(&["config", "unset", "frozen"]).success();
        assert_eq!(value(server, "environments/prod:web"), "four");
        verified(server);
    });
}

#[test]
fn a_paused_application_goes_back_with_its_branch() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        change(&clone, "web", "two");
        let (file, text) = application("web", "prod");
        let paused =
            text.replace("  name: web-prod\n", "  name: web-prod\n  annotations: {git-hydrate/paused: \"true\"}\n");
        clone.commit("pause web", &[(&file, &paused)]);
        change(&clone, "db", "two");
        assert_eq!(value(server, "environments/prod:web"), "two");
        hold(server, &at(PROD, &first, "")).success();
        assert_eq!(
            (value(server, "environments/prod:web"), value(server, "environments/prod:db")),
            ("prod".into(), "prod".into())
        );
        verified(server);
        // What is paused stays so, as the branch has it now.
        hold(server, "").success();
        assert_eq!(
            (value(server, "environments/prod:web"), value(server, "environments/prod:db")),
            ("prod".into(), "two".into())
        );
        verified(server);
        clone.commit("go on", &[(&file, &text)]);
        clone.push().success();
        assert_eq!(value(server, "environments/prod:web"), "two");
        verified(server);
    });
}

#[test]
fn an_application_that_fails_goes_back_with_its_branch() {
    both(|server| {
        server.hydrate(&["config", "set", "onFailure", "application"]).success();
        let clone = hydrated(server);
        let first = tip(server, PROD);
        change(&clone, "web", "two");
        clone.commit(
            "break web",
            &[("apps/web/prod/config.yaml", BROKEN), ("apps/db/prod/config.yaml", &config_map("db", "two"))],
        );
        clone.push().success();
        hold(server, &at(PROD, &first, "")).success();
        assert_eq!(
            (value(server, "environments/prod:web"), value(server, "environments/prod:db")),
            ("prod".into(), "prod".into())
        );
        verified(server);
        hold(server, "").success();
        assert_eq!(
            (value(server, "environments/prod:web"), value(server, "environments/prod:db")),
            ("prod".into(), "two".into())
        );
        verified(server);
    });
}

#[test]
fn a_branch_that_fails_goes_back_and_stays_without_an_error() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        change(&clone, "web", "two");
        clone.commit("break web", &[("apps/web/prod/config.yaml", BROKEN)]);
        clone.push().success();
        hold(server, &at(PROD, &first, "")).success();
        assert_eq!(value(server, "environments/prod:web"), "prod");
        verified(server);
        let (_, told) = change(&clone, "db", "three");
        assert!(!told.contains("error"), "{told}");
    });
}

#[test]
fn what_a_push_breaks_on_a_held_branch_is_said_to_its_pusher_and_to_no_later_one() {
    both(|server| {
        let clone = hydrated(server);
        let first = tip(server, PROD);
        change(&clone, "web", "two");
        hold(server, &at(PROD, &first, "")).success();
        clone.commit("break web", &[("apps/web/prod/config.yaml", BROKEN)]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("warning: `environments/prod` is held, and would not hydrate: "), "{told}");
        assert!(told.contains("apps/web/prod/config.yaml:"), "{told}");
        let (_, told) = change(&clone, "db", "three");
        assert!(!told.contains("would not hydrate"), "{told}");
        clone.commit("fix: web", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
        assert!(!clone.push().success().stderr.contains("would not hydrate"));
    });
}

#[test]
fn a_push_beside_a_held_branch_reads_no_document_that_has_nothing_to_do_with_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    let first = tip(&server, PROD);
    change(&clone, "web", "two");
    hold(&server, &at(PROD, &first, "")).success();
    change(&clone, "web", "three");
    // Who reads all documents misses this one.
    let document = format!("main:{}", application("web", "dev").0);
    let id = server.git(&["rev-parse", &document]);
    let (directory, name) = id.split_at(2);
    fs::remove_file(server.path.join("objects").join(directory).join(name)).expect("a loose object");
    let (_, told) = change(&clone, "db", "two");
    assert!(!told.contains("error"), "{told}");
    clone.commit("break db", &[("apps/db/prod/new.yaml", BROKEN)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`environments/prod` is held, and would not hydrate: "), "{told}");
    clone.commit("db on prod", &[("apps/db/prod/new.yaml", &config_map("new", "one"))]);
    assert!(!clone.push().success().stderr.contains("would not hydrate"));
}

#[test]
fn a_worker_goes_back_by_the_settings_that_it_is_given() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web", "db"], &["dev", "prod"]);
    clone.push().success();
    let job = host.clone_to("job");
    let folder = lab.path("settings");
    fs::create_dir(&folder).expect("made");
    let push = |hold: &str| {
        fs::write(folder.join("settings.yaml"), "dryBranches: [main]\n").expect("written");
        drop(fs::remove_file(folder.join("hold.yaml")));
        if !hold.is_empty() {
            fs::write(folder.join("hold.yaml"), hold).expect("written");
        }
        job.git(&["pull", "-q"]);
        job.hydrate(&["push", "--settings", folder.to_str().expect("UTF-8")]).success()
    };
    push("");
    let first = tip(&host, PROD);
    let first_dry = clone.git(&["rev-parse", "HEAD"]);
    change(&clone, "web", "two");
    push("");
    let second = tip(&host, PROD);
    let told = push(&at(PROD, &first, "")).stdout;
    assert!(told.contains("held at"), "{told}");
    let held = tip(&host, PROD);
    assert_eq!(host.git(&["rev-parse", &format!("{held}^")]), second);
    assert_eq!(
        (value(&host, "environments/prod:web"), crate::push::note(&host, PROD)),
        ("prod".into(), note_of(&first_dry))
    );
    change(&clone, "web", "three");
    push(&at(PROD, &first, ""));
    assert_eq!((tip(&host, PROD), value(&host, "environments/dev:web")), (held, "three".into()));
    push(&at(PROD, &first, ", applications: [web-prod]"));
    change(&clone, "db", "three");
    push(&at(PROD, &first, ", applications: [web-prod]"));
    assert_eq!(
        (value(&host, "environments/prod:web"), value(&host, "environments/prod:db")),
        ("prod".into(), "three".into())
    );
    push("");
    assert_eq!(value(&host, "environments/prod:web"), "three");
}

#[test]
fn a_branch_of_another_repository_goes_back_and_is_pushed_there() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = crate::destinations::destination(&server, "eu");
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "prod");
    let text = text.replace("    syncSource:\n", "    syncSource:\n      repoURL: https://git.example.com/eu.git\n");
    clone.commit("web", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "one"))]);
    clone.push().success();
    let first = tip(&eu, PROD);
    clone.commit("two", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    hold(&server, &at("eu:environments/prod", &first, "")).success();
    assert_eq!(value(&eu, "environments/prod:web"), "one");
    verified(&server);
    clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    clone.push().success();
    assert_eq!(value(&eu, "environments/prod:web"), "one");
    hold(&server, "").success();
    assert_eq!(value(&eu, "environments/prod:web"), "three");
    verified(&server);
}

#[test]
fn no_copy_of_an_application_comes_or_goes() {
    let lab = Lab::new();
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    server.hydrate(&["config", "set", "applicationsTo", "applications"]).success();
    let clone = two(&server);
    clone.push().success();
    let first = tip(&server, PROD);
    clone.commit("two", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    let copies = server.git(&["rev-parse", "applications:applications"]);
    hold(&server, &at(PROD, &first, "")).success();
    assert_ne!(tip(&server, PROD), first);
    assert_eq!(server.git(&["rev-parse", "applications:applications"]), copies);
    clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    clone.push().success();
    assert_eq!(server.git(&["rev-parse", "applications:applications"]), copies);
    verified(&server);
    let told = hold(&server, &at("applications", &tip(&server, "applications"), "")).stdout;
    assert!(
        told.contains("warning: the setting `hold` names `applications`, which has copies: nothing of it is held"),
        "{told}"
    );
}

#[test]
fn what_a_promoter_reads_is_not_held_and_an_admin_reads_why() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "prod");
    let staged = text + "    hydrateTo:\n      targetBranch: environments/prod-next\n";
    clone.commit("web", &[(&file, &staged), ("apps/web/prod/config.yaml", &config_map("web", "one"))]);
    clone.push().success();
    let next = "environments/prod-next";
    let first = tip(&server, next);
    clone.commit("two", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    for name in [next, PROD] {
        let told = hold(&server, &at(name, &first, "")).success().stdout;
        let expected = format!("warning: the setting `hold` names `{name}`, which is promoted: nothing of it is held");
        assert!(told.contains(&expected), "{told}");
    }
    assert_eq!(value(&server, "environments/prod-next:web"), "two");
    clone.commit("three", &[("apps/web/prod/config.yaml", &config_map("web", "three"))]);
    clone.push().success();
    assert_eq!(value(&server, "environments/prod-next:web"), "three");
}

#[test]
fn a_hold_that_should_have_ended_goes_on_and_each_push_says_so() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = hydrated(&server);
    let first = tip(&server, PROD);
    change(&clone, "web", "two");
    hold(&server, &at(PROD, &first, ", until: 2024-01-01")).success();
    let held = tip(&server, PROD);
    let (_, told) = change(&clone, "web", "three");
    let expected = format!("warning: `{PROD}` is held, and was to be until 2024-01-01: outage");
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains("+02:00 until 2024-01-01: outage"), "{status}");
    assert!(told.contains(&expected) && told.contains("git hydrate resume"), "{told}");
    assert_eq!(tip(&server, PROD), held);
}

#[test]
fn what_cannot_be_held_is_an_error_at_each_push_and_the_branch_stays() {
    both(|server| {
        let clone = hydrated(server);
        let dev = tip(server, "environments/dev");
        change(&clone, "web", "two");
        let before = tip(server, PROD);
        let told = hold(server, &at(PROD, &dev, "")).exits(1).stdout;
        let expected = format!("error: `{PROD}` cannot be rolled back: {} is not in its history", &dev[..7]);
        assert!(told.contains(&expected), "{told}");
        let (_, told) = change(&clone, "web", "three");
        assert!(told.contains(&expected), "{told}");
        assert_eq!(tip(server, PROD), before);
        let told = hold(server, &at("environments/nowhere", &dev, "")).success().stdout;
        assert!(told.contains("names `environments/nowhere`, which is not an environment branch"), "{told}");
        assert_eq!(value(server, "environments/prod:web"), "three");
    });
}

#[test]
fn status_ends_each_hold_of_an_application_by_its_name() {
    let lab = Lab::new();
    let server = lab.server();
    dry(&server, &["web", "db"], &["prod"]).push().success();
    for name in ["web-prod", "db-prod"] {
        server.hydrate(&["hold", "prod", "--yes", "--application", name, "--reason", "look"]).success();
    }
    let status = server.hydrate(&["status"]).stdout;
    for name in ["web-prod", "db-prod"] {
        let line = format!(
            "  an admin ends the hold of {name} on the server: git hydrate resume environments/prod --application {name}\n"
        );
        assert!(status.contains(&line), "{status}");
    }
    server.hydrate(&["resume", "environments/prod", "--application", "web-prod", "--yes"]).success();
    let status = server.hydrate(&["status"]).stdout;
    assert!(status.contains("the hold of db-prod") && !status.contains("the hold of web-prod"), "{status}");
}
