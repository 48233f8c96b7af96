//! What messages say is true, and what they propose helps: in the order in which somebody without a guide met them.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::push::{application, config_map, dry, tip};
use crate::support::{Answer, BINARY, Lab, Repo};

const PROD: &str = "environments/prod";

/// A server that hydrated one Application for each of two environments.
fn hydrated(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    (server, clone)
}

/// What `git hydrate doctor` says of a finding, and its remedy on the line below.
fn found(server: &Repo, what: &str) -> Option<(String, String)> {
    let heard = server.hydrate(&["doctor"]).stdout;
    let mut lines = heard.lines().skip_while(|line| !line.contains(what));
    Some((lines.next()?.to_owned(), lines.next().unwrap_or_default().trim().to_owned()))
}

/// A branch whose Applications are staged for `prod`.
fn staged(server: &Repo) -> Repo {
    let clone = server.clone_to("clone");
    let (path, text) = application("web", "prod");
    let text = format!("{text}    hydrateTo: {{targetBranch: {PROD}-next}}\n");
    clone.commit("prod", &[(&path, &text), ("apps/web/prod/config.yaml", &config_map("web", "1"))]);
    clone
}

fn push_as(clone: &Repo, pusher: Option<&str>, refspec: &str) -> Answer {
    let mut command = clone.command("git");
    command.args(["push", "origin", refspec]).envs(pusher.map(|pusher| ("PUSHER", pusher)));
    Answer::new(command.output().expect("runs"))
}

fn flat(text: &str) -> String {
    text.replace("remote: ", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn settings_that_change_nothing_that_is_hydrated_are_not_doubted() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    let rows: [&[&str]; 4] = [
        &["set", "branches", "environments/*"],
        &["set", "onFailure", "application"],
        &["set", "dryBranches", "main"],
        &["add", "repoURL", "https://git.example.com/other.git"],
    ];
    for row in rows {
        server.hydrate(&[&["config"], row].concat()).success();
        for command in ["status", "diff", "check"] {
            let heard = clone.hydrate(&[command]).success().stderr;
            assert!(!heard.contains("warning:"), "{row:?} {command}: {heard}");
        }
    }
    // What would hide a branch is doubted as before.
    server.git(&["config", "core.hooksPath", "nowhere"]);
    server.hydrate(&["config", "set", "branches", "environments/dev"]);
    let heard = clone.hydrate(&["status"]).stderr;
    assert!(heard.contains("no branch was hydrated with them yet"), "{heard}");
}

#[test]
fn settings_that_a_clone_pushed_itself_are_not_doubted_there() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    server.allow("hydrate.settingsPusher");
    server.git(&["config", "core.hooksPath", "nowhere"]);
    for branches in ["environments/dev", "environments/none"] {
        clone.hydrate(&["config", "set", "branches", branches]).success();
        clone.git(&["push", "-q", "origin", "refs/hydrate/config"]);
        for command in ["status", "diff", "check"] {
            let heard = clone.hydrate(&[command]).stderr;
            assert!(!heard.contains("no branch was hydrated with them yet"), "{command}: {heard}");
        }
    }
    let other = server.clone_to("other");
    assert!(other.hydrate(&["status"]).stderr.contains("no branch was hydrated with them yet"));
}

#[test]
fn doctor_of_a_remote_with_hooks_does_not_say_that_anyone_may_have_written_its_settings() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    server.hydrate(&["install", "--server"]).success();
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    let heard = clone.hydrate(&["doctor", "origin"]).stdout;
    assert!(heard.contains("hides records and notes from pushes"), "{heard}");
    assert!(heard.contains("no job is needed") && !heard.contains("anyone who can push may have written"), "{heard}");
}

#[test]
fn a_clone_sees_that_a_branch_was_deleted_at_its_remote() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    clone.git(&["fetch", "-q"]);
    let was = tip(&server, PROD);
    server.git(&["update-ref", "-d", "refs/heads/environments/prod"]);
    let heard = clone.hydrate(&["status"]).exits(1).stdout;
    let line = heard.lines().find(|line| line.starts_with(PROD)).expect("a line");
    assert!(line.contains("of main  missing: hydration left it at ") && !line.contains("nothing yet"), "{line}");
    assert!(line.contains(&format!("git update-ref refs/heads/{PROD} {was}")), "{line}");
    // Nothing of the clone was deleted for that.
    assert_eq!(clone.git(&["rev-parse", "origin/environments/prod"]), was);
    clone.hydrate(&["status", "--offline"]).success();
}

#[test]
fn a_branch_that_is_removed_as_documented_is_not_missed_in_a_clone() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    clone.hydrate(&["status"]).success();
    let gone = ["web", "api"].map(|name| application(name, "prod").0);
    clone.commit("chore: no prod", &[(&gone[0], ""), (&gone[1], "")]);
    clone.push().success();
    assert!(clone.hydrate(&["status"]).exits(1).stdout.contains("no Application names it any more"));
    server.git(&["update-ref", "-d", "refs/heads/environments/prod"]);
    let heard = clone.hydrate(&["status"]).success().stdout;
    assert!(!heard.contains(PROD), "{heard}");
}

#[test]
fn a_branch_that_is_before_where_hydration_left_it_is_said_to_be() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    clone.commit("feat: two", &[("apps/web/prod/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let left = tip(&server, PROD);
    server.git(&["update-ref", "refs/heads/environments/prod", &format!("{left}~")]);
    let back = tip(&server, PROD);
    let said = format!(
        "moved back to {}, or hydration was killed before it moved on: it is recorded at {}",
        &back[..7],
        &left[..7]
    );
    for repo in [&server, &clone] {
        let heard = repo.hydrate(&["status"]).exits(1).stdout;
        assert!(heard.contains(&said), "{heard}");
    }
    let (what, remedy) = found(&server, "moved back").expect("found");
    assert!(what.contains(&said) && remedy.ends_with(&format!("update-ref refs/heads/{PROD} {left}")), "{remedy}");
    clone.commit("feat: dev", &[("apps/web/dev/config.yaml", &config_map("web", "3"))]);
    let heard = flat(&clone.push().success().stderr);
    assert!(heard.contains(&format!("`{PROD}` was {said}, and moved it on to {}", &left[..7])), "{heard}");
    assert!(server.run("git", &["merge-base", "--is-ancestor", &left, PROD]).code == Some(0));
    server.hydrate(&["status"]).success();
}

#[test]
fn a_branch_that_no_run_came_to_says_who_finds_the_cause() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    server.git(&["config", "core.hooksPath", "nowhere"]);
    clone.commit("feat: two", &[("apps/web/prod/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    for repo in [&server, &clone] {
        let heard = repo.hydrate(&["status"]).exits(1).stdout;
        assert!(
            heard.contains("nothing says why: a run is going on, or an admin finds the cause on the server"),
            "{heard}"
        );
    }
}

#[test]
fn doctor_does_not_propose_what_is_set_already_after_a_rename() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    server.git(&["branch", "-m", "main", "trunk"]);
    server.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    let (_, remedy) = found(&server, "does not exist").expect("found");
    let command = remedy.split_once("takes its place: ").expect("a command").1.to_owned();
    server.run("sh", &["-c", &command]);
    let heard = server.hydrate(&["doctor"]).stdout;
    assert!(!heard.contains("config set dryBranches"), "{heard}");
    assert!(heard.contains("in which its Applications say `targetRevision: trunk`"), "{heard}");
    clone.git(&["branch", "-m", "main", "trunk"]);
    clone.run("sh", &["-c", "sed -i 's/targetRevision: main/targetRevision: trunk/' applications/*/*.yaml"]).success();
    clone.commit("chore: trunk", &[]);
    clone.push().success();
    server.hydrate(&["status"]).success();
}

#[test]
fn hooks_of_another_directory_are_led_back_by_a_command_that_has_effect() {
    let lab = Lab::new();
    let (server, _) = hydrated(&lab);
    fs::create_dir(lab.path("hooks")).expect("made");
    lab.configure(&format!("[core]\n\thooksPath = {}\n", lab.path("hooks").display()));
    let (_, remedy) = found(&server, "which other repositories may use too").expect("found");
    let command = remedy.split(", or add").next().expect("a command").to_owned();
    server.run("sh", &["-c", &command]).success();
    assert!(found(&server, "which other repositories may use too").is_none());
}

#[test]
fn lost_settings_are_said_before_branches_are_adopted() {
    let lab = Lab::new();
    let (server, _) = hydrated(&lab);
    let id = server.git(&["rev-parse", "refs/hydrate/config"]);
    for name in server.git(&["for-each-ref", "--format=%(refname)", "refs/hydrate", "refs/notes"]).lines() {
        server.git(&["update-ref", "-d", name]);
    }
    let (what, remedy) = found(&server, "Hydrate-Settings").expect("found");
    assert!(what.contains(PROD) && remedy.ends_with(&format!("update-ref refs/hydrate/config {id}")), "{remedy}");
    let refused = server.hydrate(&["adopt", "--all"]).exits(2).stderr;
    assert!(refused.contains("settings that are lost here") && refused.contains("--yes"), "{refused}");
    let command = remedy.split_once(": ").expect("a command").1.to_owned();
    server.run("sh", &["-c", &command]).success();
    server.hydrate(&["adopt", "--all"]).success();
    server.hydrate(&["status"]).success();
}

#[test]
fn naming_a_promoter_needs_no_wider_pattern_than_the_branch_that_is_promoted_to() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = staged(&server);
    clone.push().success();
    server.git(&["config", "hydrate.pusherVariable", "PUSHER"]);
    server.git(&["config", "hydrate.promoter", "alice"]);
    server.git(&["config", "hydrate.promoted", PROD]);
    let installed = server.hydrate(&["install", "--server"]).success().stdout;
    let doctor = server.hydrate(&["doctor"]).stdout;
    for heard in [&installed, &doctor] {
        assert!(!heard.contains("no account may promote") && !heard.contains("environments/*"), "{heard}");
    }
    assert!(doctor.contains("who may promote: alice to environments/prod"), "{doctor}");
    clone.git(&["fetch", "-q"]);
    push_as(&clone, Some("alice"), "origin/environments/prod-next:environments/prod").success();
}

#[test]
fn who_promotes_to_a_branch_that_is_still_hidden_reads_what_shows_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = staged(&server);
    clone.push().success();
    server.hydrate(&["install", "--server"]).success();
    server.git(&["config", "--add", "receive.hideRefs", "refs/heads/environments/prod"]);
    clone.git(&["fetch", "-q"]);
    // A branch that git does not show is named in full.
    let promotion = "origin/environments/prod-next:refs/heads/environments/prod";
    let promote = |pusher| flat(&push_as(&clone, pusher, promotion).stderr);
    let refused = promote(Some("alice"));
    let commands = "git config hydrate.pusherVariable VARIABLE && git config --add hydrate.promoter NAME && git config --add \
                    hydrate.promoted environments/prod && git hydrate install --server";
    assert!(refused.contains(commands), "{refused}");
    server.git(&["config", "hydrate.pusherVariable", "PUSHER"]);
    server.git(&["config", "hydrate.promoter", "alice"]);
    server.git(&["config", "hydrate.promoted", PROD]);
    let hidden = promote(Some("alice"));
    assert!(hidden.contains("is hidden from pushes") && hidden.contains("git hydrate install --server"), "{hidden}");
    // The variable is set for no push.
    let nameless = promote(None);
    assert!(nameless.contains("alice may, but this push has no name: PUSHER is not set for it"), "{nameless}");
    server.git(&["config", "hydrate.settingsPusher", "alice"]);
    let nameless = flat(&push_as(&clone, None, "HEAD:refs/hydrate/config").exits(1).stderr);
    assert!(nameless.contains("this push has no name: PUSHER is not set for it"), "{nameless}");
    assert!(found(&server, "who may push the settings: alice").is_some());
}

#[test]
fn the_log_names_who_promoted_and_who_pushed_settings() {
    let lab = Lab::new();
    let server = lab.server();
    for (key, value) in [
        ("hydrate.pusherVariable", "PUSHER"),
        ("hydrate.promoter", "alice"),
        ("hydrate.promoted", PROD),
        ("hydrate.settingsPusher", "bob"),
        ("hydrate.log", "runs.log"),
        ("hydrate.notify", "cat >>notices"),
    ] {
        server.git(&["config", key, value]);
    }
    let clone = staged(&server);
    clone.push().success();
    server.hydrate(&["install", "--server"]).success();
    clone.git(&["fetch", "-q"]);
    push_as(&clone, Some("alice"), "origin/environments/prod-next:environments/prod").success();
    clone.hydrate(&["config", "set", "history", "tip"]).success();
    push_as(&clone, Some("bob"), "refs/hydrate/config").success();
    for file in ["runs.log", "notices"] {
        let text = server.file(file).expect("written");
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let pushed = |line: Value| {
            let pushed = &line["pushed"][0];
            Some((pushed["pusher"].as_str()?.to_owned(), pushed["ref"].as_str()?.to_owned()))
        };
        let expected = [("alice", "refs/heads/environments/prod"), ("bob", "refs/hydrate/config")];
        let expected = expected.map(|(pusher, name)| (pusher.to_owned(), name.to_owned()));
        assert_eq!(lines.filter_map(pushed).collect::<Vec<_>>(), expected, "{file}");
    }
}

#[test]
fn a_branch_that_only_the_setting_gives_to_hydration_is_not_said_to_be_hydrated() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    server.hydrate(&["config", "set", "branches", "environments/*"]).success();
    let heard = flat(&clone.run("git", &["push", "origin", "HEAD:environments/new2"]).exits(1).stderr);
    assert!(
        heard.contains("`environments/new2` matches the setting `branches`, which gives it to hydration"),
        "{heard}"
    );
    assert!(!heard.contains("is hydrated from"), "{heard}");
}

#[test]
fn a_push_beside_the_dry_branches_proposes_to_add_its_branch() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    server.hydrate(&["config", "set", "dryBranches", "trunk"]);
    clone.git(&["checkout", "-q", "-b", "feature"]);
    clone.commit("feat: two", &[]);
    let heard = clone.push().success().stderr;
    let hint = "git hydrate config add dryBranches feature; if it takes the place of `trunk`: git hydrate config set";
    assert!(flat(&heard).contains(hint), "{heard}");
    server.hydrate(&["config", "set", "dryBranches", "main"]).success();
    clone.git(&["checkout", "-q", "-b", "other"]);
    clone.commit("feat: three", &[]);
    assert!(!clone.push().success().stderr.contains("config set"));
}

#[test]
fn a_server_that_may_not_write_its_refs_does_not_promise_that_the_next_push_is_hydrated() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    server.git(&["config", "core.hooksPath", "/nonexistent"]);
    clone.commit("feat: two", &[("apps/web/prod/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    let git = server.run("sh", &["-c", "command -v git"]).success().stdout;
    let lock = "refs/heads/environments/prod.lock";
    lab.program(
        "git",
        &format!(
            "#!/bin/sh\ncase \" $* \" in *' update-ref '*)\n  echo \"fatal: cannot lock ref: Unable to create '{lock}': Permission \
             denied\" >&2\n  exit 128\nesac\nexec {} \"$@\"\n",
            git.trim()
        ),
    );
    // Not as a command of git, which would put its own directory in front of the lab's.
    let mut hook = server.command(BINARY);
    hook.args(["hook", "post-receive"]).stdin(Stdio::null());
    let heard = flat(&Answer::new(hook.output().expect("runs")).stderr);
    assert!(heard.contains(&format!("Unable to create '{lock}': Permission denied")), "{heard}");
    let cure = "no push is hydrated until the user that git runs as on the server may write there";
    assert!(heard.contains(cure) && !heard.contains("catch-up"), "{heard}");
}

#[test]
fn status_in_a_clone_counts_the_commits_that_are_not_pushed() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    assert!(!clone.hydrate(&["status"]).success().stdout.contains("not pushed"));
    for (count, expected) in
        [("1", "1 commit of main here is not pushed\n"), ("2", "2 commits of main here are not pushed\n")]
    {
        clone.commit("feat: more", &[("apps/web/prod/config.yaml", &config_map("web", count))]);
        let heard = clone.hydrate(&["status"]).success().stdout;
        assert!(heard.ends_with(expected), "{heard}");
    }
    clone.push().success();
    assert!(!clone.hydrate(&["status"]).success().stdout.contains("not pushed"));
    assert!(!server.hydrate(&["status"]).success().stdout.contains("not pushed"));
}

#[test]
fn settings_that_cannot_be_used_are_reported_without_a_doubt_of_who_wrote_them() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    let wrong =
        server.run("sh", &["-c", "printf 'dryBranches: {a: b}\\n' | git hash-object -w --stdin"]).success().stdout;
    let tree = format!("printf '100644 blob {}\\tsettings.yaml\\n' | git mktree", wrong.trim());
    let tree = server.run("sh", &["-c", &tree]).success().stdout;
    let commit = server.git(&["commit-tree", "-m", "wrong", tree.trim()]);
    server.git(&["update-ref", "refs/hydrate/config", &commit]);
    let heard = clone.hydrate(&["status"]);
    assert!(heard.stderr.contains("dryBranches") || heard.stdout.contains("dryBranches"), "{heard:?}");
    assert!(!heard.stderr.contains("anyone may have written them"), "{heard:?}");
}

/// The last Application left with the trailer: the push says so, and so do `status` and `doctor`, with what deletes the branch.
#[test]
fn a_branch_that_its_last_application_left_is_said_to_be_given_up() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    let gone = ["web", "api"].map(|name| application(name, "prod").0);
    clone.commit("chore: no prod\n\nHydrate-Allow-Removal: environments/prod", &[(&gone[0], ""), (&gone[1], "")]);
    let said = clone.push().success().remote().join("\n");
    let delete = "git update-ref -d refs/heads/environments/prod";
    assert!(said.contains("no Application names it any more") && said.contains(delete), "{said}");
    for place in [&server, &clone] {
        let status = place.hydrate(&["status"]).success().stdout;
        assert!(status.contains("up to date: no Application names it any more") && status.contains(delete), "{status}");
    }
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(
        doctor.contains("no Application names environments/prod any more") && doctor.contains("update-ref -d"),
        "{doctor}"
    );
    clone.commit("chore: next", &[("notes.txt", "x")]);
    let said = clone.push().success().remote().join("\n");
    assert!(!said.contains("any more"), "{said}");
}

/// The dry commit that it was made from is gone, and the one in its place gives the same.
#[test]
fn a_branch_that_an_amended_commit_changes_nothing_of_is_up_to_date() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab);
    clone.commit("feat: two", &[("apps/web/prod/config.yaml", &config_map("web", "2"))]);
    clone.push().success();
    clone.git(&["commit", "-q", "--amend", "-m", "feat: better words"]);
    clone.git(&["push", "-q", "--force", "origin", "main"]);
    for place in [&server, &clone] {
        if std::ptr::eq(place, &clone) {
            clone.git(&["fetch", "-q"]);
        }
        let said = place.hydrate(&["status"]).success().stdout;
        assert!(!said.contains("rewound"), "{said}");
    }
    // One that gives something else is not hidden by it.
    server.git(&["config", "hydrate.guard", "false"]);
    let before = tip(&server, PROD);
    clone.commit("feat: three", &[("apps/web/prod/config.yaml", &config_map("web", "3"))]);
    clone.push().success();
    server.git(&["update-ref", "refs/heads/environments/prod", &before]);
    clone.git(&["fetch", "-q"]);
    clone.hydrate(&["status"]).exits(1);
}

#[test]
fn a_short_name_of_several_branches_is_ambiguous() {
    let lab = Lab::new();
    let (_server, clone) = hydrated(&lab);
    let (file, text) = application("web", "eu");
    let files = [
        (file.as_str(), text.replace("environments/eu", "eu/prod")),
        ("apps/web/eu/config.yaml", config_map("web", "eu")),
    ];
    clone.commit("feat: eu", &files.each_ref().map(|(path, text)| (*path, text.as_str())));
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let said = clone.hydrate(&["rollback", "prod", "--reason", "x"]).exits(2).stderr;
    assert!(said.contains("`prod` is ambiguous: it may be environments/prod, eu/prod"), "{said}");
    let said = clone.hydrate(&["rollback", "pord", "--reason", "x"]).exits(2).stderr;
    assert!(said.contains("there is no environment branch `pord`; there are environments/dev"), "{said}");
    let other = Lab::new();
    let none = other.server().clone_to("none");
    none.commit("nothing", &[("README.md", "x")]);
    let said = none.hydrate(&["log", "prod"]).stderr;
    assert!(!said.contains("there are \n"), "{said}");
    // What is looked for in a hurry is found.
    for (words, found) in [("revert", "rollback"), ("undo", "rollback"), ("outage", "Go back")] {
        let said = clone.hydrate(&["help", words]).success().stdout;
        assert!(said.contains(found), "{words}: {said}");
    }
}
