//! Branches of tags and ranges that are rolled back, held and resumed: real pushes.

use super::{DEV, FILE, PROD, dry, exists, head, push, resolved, tag, trailers, value};
use crate::push::{application, both, config_map, healthy, tip, verified};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

/// Commits another value for production on `main`, and puts a tag there.
fn tagged(clone: &Repo, name: &str, text: &str) -> String {
    let commit = clone.commit(text, &[(FILE, &config_map("web", text))]);
    push(clone, &["main"]);
    tag(clone, name, &commit);
    commit
}

/// A clone of a server whose production shows the tag `prod` at `one`, then `two`, then `three`.
fn three_times(server: &Repo) -> (Repo, [String; 3]) {
    let clone = dry(server, "prod");
    let one = head(&clone);
    tag(&clone, "prod", &one);
    push(&clone, &["main"]);
    let commits = [one, tagged(&clone, "prod", "two"), tagged(&clone, "prod", "three")];
    assert_eq!(value(server, PROD), "three");
    (clone, commits)
}

fn is_on_top(server: &Repo, before: &str) {
    server.git(&["merge-base", "--is-ancestor", before, PROD]);
}

#[test]
fn a_rollback_goes_to_what_the_tag_was_before_and_resume_to_where_it_is() {
    both(|server| {
        let (clone, [one, two, _]) = three_times(server);
        let before = tip(server, PROD);
        server.hydrate(&["rollback", "prod", "--reason", "payments fail", "--yes"]).success();
        assert_eq!((value(server, PROD), trailers(server, PROD)), ("two".to_owned(), resolved(&two, &two, "prod")));
        let metadata = server.git(&["show", &format!("{PROD}:hydrator.metadata")]);
        assert!(metadata.contains(&format!("\"drySha\": \"{two}\"")), "{metadata}");
        is_on_top(server, &before);
        verified(server);
        // The tag moves on: the branch stays, and each push says why.
        let before = tip(server, PROD);
        let four = clone.commit("four", &[(FILE, &config_map("web", "four"))]);
        push(&clone, &["main"]);
        let said = tag(&clone, "prod", &four);
        assert!(said.stderr.contains("payments fail"), "{said:?}");
        assert_eq!((value(server, PROD), tip(server, PROD)), ("two".to_owned(), before));
        let status = server.hydrate(&["status"]).stdout;
        assert!(status.contains("of prod  behind: prod is at ") && status.contains("payments fail"), "{status}");
        verified(server);
        // Further back, to what it showed of a dry commit, then on.
        server.hydrate(&["rollback", "prod", "--to", &one, "--reason", "still", "--yes"]).success();
        assert_eq!(value(server, PROD), "one");
        verified(server);
        let shown = server.hydrate(&["resume", "prod", "--dry-run"]).exits(1).stdout;
        assert!(shown.contains("four"), "{shown}");
        server.hydrate(&["resume", "prod", "--yes"]).success();
        assert_eq!((value(server, PROD), trailers(server, PROD)), ("four".to_owned(), resolved(&four, &four, "prod")));
        verified(server);
    });
}

#[test]
fn a_dry_commit_that_a_tag_left_is_found_though_a_later_one_was_shown_since() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, [one, two, three]) = three_times(&server);
    tag(&clone, "prod", &one);
    for (commit, expected) in [(&three, "three"), (&two, "two")] {
        server.hydrate(&["rollback", "prod", "--to", commit, "--reason", "back", "--yes"]).success();
        assert_eq!(value(&server, PROD), expected);
    }
    server.hydrate(&["resume", "prod", "--yes"]).success();
    assert_eq!(value(&server, PROD), "one");
    verified(&server);
}

#[test]
fn an_application_goes_back_alone_and_the_tag_moves_the_others() {
    both(|server| {
        let clone = dry(server, "prod");
        let (file, text) = application("api", "prod");
        let text = text.replace("targetRevision: main", "targetRevision: prod");
        let config = "apps/api/prod/config.yaml";
        let one = clone.commit("api", &[(&file, &text), (config, &config_map("api", "one"))]);
        tag(&clone, "prod", &one);
        push(&clone, &["main"]);
        let both_of = |word: &str| {
            let files = [(FILE, config_map("web", word)), (config, config_map("api", word))];
            let commit = clone.commit(word, &[(files[0].0, &files[0].1), (files[1].0, &files[1].1)]);
            push(&clone, &["main"]);
            tag(&clone, "prod", &commit);
            commit
        };
        both_of("two");
        let shown = || {
            ["web", "api"].map(|path| {
                let manifest = server.git(&["show", &format!("{PROD}:{path}/manifest.yaml")]);
                let line = manifest.lines().find_map(|line| line.strip_prefix("  value: ").map(str::to_owned));
                line.expect("a value")
            })
        };
        let alone = ["--application", "web-prod", "--yes"];
        server.hydrate(&[&["rollback", "prod", "--reason", "web fails"], &alone[..]].concat()).success();
        assert_eq!(shown(), ["one", "two"]);
        let metadata = server.git(&["show", &format!("{PROD}:hydrator.metadata")]);
        assert!(metadata.contains(&format!("\"path\": \"web\",\n      \"drySha\": \"{one}\"")), "{metadata}");
        verified(server);
        let three = both_of("three");
        assert_eq!(
            (shown(), trailers(server, PROD)),
            (["one".into(), "three".into()], resolved(&three, &three, "prod"))
        );
        let status = server.hydrate(&["status"]).stdout;
        assert!(status.contains("web fails"), "{status}");
        verified(server);
        server.hydrate(&[&["resume", "prod"], &alone[..]].concat()).success();
        assert_eq!(shown(), ["three", "three"]);
        verified(server);
        // Held alone, where it is.
        server.hydrate(&[&["hold", "prod", "--reason", "a fair"], &alone[..]].concat()).success();
        both_of("four");
        assert_eq!(shown(), ["three", "four"]);
        verified(server);
        server.hydrate(&["resume", "prod", "--yes"]).success();
        assert_eq!(shown(), ["four", "four"]);
        verified(server);
    });
}

#[test]
fn a_held_branch_stays_where_it_is_while_its_tag_moves_and_goes() {
    both(|server| {
        let (clone, [one, ..]) = three_times(server);
        server.hydrate(&["hold", "prod", "--reason", "a fair", "--yes"]).success();
        let before = tip(server, PROD);
        tag(&clone, "prod", &one);
        assert_eq!((tip(server, PROD), value(server, DEV).as_str()), (before.clone(), "dev"));
        push(&clone, &[":refs/tags/prod"]);
        // Without a tag there is nowhere to go.
        let said = server.hydrate(&["resume", "prod", "--yes"]).exits(1);
        assert!(said.stderr.contains("no branch and no tag is named `prod`"), "{said:?}");
        assert_eq!(tip(server, PROD), before);
        verified(server);
        tag(&clone, "prod", &one);
        assert_eq!(tip(server, PROD), before);
        server.hydrate(&["resume", "prod", "--yes"]).success();
        assert_eq!(value(server, PROD), "one");
        verified(server);
    });
}

#[test]
fn a_range_is_rolled_back_held_against_newer_tags_and_resumed() {
    both(|server| {
        let clone = dry(server, "~1.4");
        let one = head(&clone);
        tag(&clone, "v1.4.0", &one);
        push(&clone, &["main"]);
        tagged(&clone, "v1.4.1", "two");
        server.hydrate(&["rollback", "prod", "--reason", "outage", "--yes"]).success();
        assert_eq!((value(server, PROD), trailers(server, PROD)), ("one".to_owned(), resolved(&one, &one, "v1.4.0")));
        let three = tagged(&clone, "v1.4.2", "three");
        assert_eq!(value(server, PROD), "one");
        // Named by its tag.
        server.hydrate(&["rollback", "prod", "--to", "v1.4.1", "--reason", "outage", "--yes"]).success();
        assert_eq!(value(server, PROD), "two");
        verified(server);
        // The tag that it shows, and the higher one, go while it is held: it goes on to what is the highest then.
        push(&clone, &[":refs/tags/v1.4.1", ":refs/tags/v1.4.2"]);
        tag(&clone, "v1.4.3", &three);
        assert_eq!(value(server, PROD), "two");
        server.hydrate(&["resume", "prod", "--yes"]).success();
        assert_eq!(trailers(server, PROD), resolved(&three, &three, "v1.4.3"));
        verified(server);
    });
}

#[test]
fn what_main_breaks_is_not_said_of_a_held_branch_that_a_tag_leads_elsewhere() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, _) = three_times(&server);
    server.hydrate(&["hold", "prod", "--reason", "a fair", "--yes"]).success();
    clone.commit("broken", &[(FILE, BROKEN)]);
    let said = push(&clone, &["main"]).stderr;
    assert!(said.contains("a fair") && !said.contains("would not hydrate"), "{said}");
}

#[test]
fn rollback_dry_says_that_no_commit_of_main_takes_a_tag_back() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, [_, two, _]) = three_times(&server);
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    clone.git(&["fetch", "-q"]);
    let said = clone.hydrate(&["rollback", "prod", "--dry", "--reason", "outage"]).exits(2);
    let text = format!(
        "`{PROD}` shows the tag `prod`, so no commit of `main` takes it back\nhint: git tag -f prod {0} && git push -f origin \
         refs/tags/prod",
        &two[..7]
    );
    assert!(said.stderr.contains(&text), "{said:?}");
    // The tag would take the others along.
    let said = clone
        .hydrate(&["rollback", "prod", "--dry", "--application", "web-prod", "--reason", "outage"])
        .exits(2)
        .stderr;
    let hint = format!("hint: git hydrate rollback {PROD} --application web-prod --reason …");
    assert!(said.contains(&hint) && !said.contains("git tag"), "{said}");
    clone.git(&["tag", "-f", "prod", &two[..7]]);
    push(&clone, &["-f", "refs/tags/prod"]);
    assert_eq!(value(&server, PROD), "two");
    healthy(&server);
}

#[test]
fn a_clone_rolls_a_tag_back_by_the_settings() {
    let lab = Lab::new();
    let server = lab.server();
    let (clone, _) = three_times(&server);
    server.allow("hydrate.settingsPusher");
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    clone.git(&["fetch", "-q"]);
    clone.hydrate(&["rollback", "prod", "--reason", "outage", "--yes"]).success();
    assert_eq!(value(&server, PROD), "two");
    clone.git(&["fetch", "-q"]);
    clone.hydrate(&["resume", "prod", "--yes"]).success();
    assert_eq!(value(&server, PROD), "three");
    verified(&server);
    assert!(exists(&server, DEV));
}
