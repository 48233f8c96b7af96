//! A report belongs to commits: each pusher reads what came of his, whoever's process hydrated them, and nothing of others.
//!
//! The hook that an admin had before ours runs first, so it can hold a push whose refs have moved, while another push comes and
//! hydrates what it finds.

use std::process::{Child, Stdio};

use crate::push::{application, config_map, dry, healthy, tip};
use crate::strict::BROKEN;
use crate::support::{Answer, Lab, Repo, fifo, until};

const DEV: &str = "environments/dev";
const WEB: &str = "apps/web/dev/config.yaml";
pub(crate) const BACKENDS: [&[&str]; 2] = [&[], &["--ref-format=reftable"]];

/// A push that waits between git and our hook, and whose commit is `dry`.
pub(crate) struct Held {
    push: Child,
    fifo: std::path::PathBuf,
    dry: String,
}

impl Held {
    /// Pushes what a clone has checked out, to a branch, until its refs have moved.
    pub(crate) fn begin(clone: &Repo, refspec: &str) -> Self {
        let dry = clone.git(&["rev-parse", "HEAD"]);
        let path = clone.path.join(".git").join(format!("held-{dry}"));
        fifo(&path);
        let mut push = clone.command("git");
        push.args(["push", "origin", refspec]).env("HELD", &path);
        let push = push.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        until(|| path.with_extension("here").exists(), "a push comes to its hook");
        Self { push, fifo: path, dry }
    }

    /// Lets it go on, and answers what its pusher saw.
    pub(crate) fn release(self) -> String {
        std::fs::write(&self.fifo, "go\n").expect("read");
        said(&Answer::new(self.push.wait_with_output().expect("ends")).success())
    }

    fn short(&self) -> &str {
        short(&self.dry)
    }
}

fn short(id: &str) -> &str {
    &id[..7]
}

fn said(answer: &Answer) -> String {
    answer.remote().join("\n")
}

/// A server that holds pushes which say so, with `web` and `api` on the environments.
pub(crate) fn server(lab: &Lab, args: &[&str], envs: &[&str]) -> (Repo, Repo) {
    let server = lab.bare(args);
    server.hook("hooks/post-receive", "#!/bin/sh\n[ -z \"$HELD\" ] || { : >\"$HELD.here\"; read -r _ <\"$HELD\"; }\n");
    server.install_without_settings();
    let clone = dry(&server, &["web", "api"], envs);
    clone.push().success();
    (server, clone)
}

pub(crate) fn push(clone: &Repo, refspec: &str) -> String {
    said(&clone.run("git", &["push", "origin", refspec]).success())
}

fn web(value: &str) -> String {
    config_map("web", value)
}

/// What a pusher reads whose commit another process hydrated.
fn by_another(old: &str, new: &str, applications: usize) -> String {
    let (old, new) = (short(old), short(new));
    format!(
        "{DEV}  {old} -> {new}  1 of {applications} manifests changed: 1 object changed, by another push\nhint: run `git fetch` to see the new commits"
    )
}

#[test]
fn a_topic_push_reads_nothing_of_the_dry_push_that_its_process_hydrates_and_the_dry_pusher_reads_it() {
    for args in BACKENDS {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args, &["dev"]);
        let old = tip(&server, DEV);
        clone.commit("change", &[(WEB, &web("two"))]);
        let held = Held::begin(&clone, "main");
        assert_eq!(push(&clone, "main:refs/heads/topic"), "", "{args:?}");
        let new = tip(&server, DEV);
        assert_ne!(old, new);
        assert_eq!(held.release(), by_another(&old, &new, 2), "{args:?}");
        assert_eq!(tip(&server, DEV), new);
        healthy(&server);
    }
}

#[test]
fn the_error_of_a_dry_push_is_for_its_pusher_and_not_for_whose_process_found_it() {
    for args in BACKENDS {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args, &["dev"]);
        let at = tip(&server, DEV);
        clone.commit("slip", &[(WEB, BROKEN)]);
        let held = Held::begin(&clone, "main");
        for refspec in ["main:refs/heads/topic", "main:refs/tags/v1", "main:refs/heads/another"] {
            assert_eq!(push(&clone, refspec), "", "{args:?} {refspec}");
        }
        let line = format!("{DEV}  stays at {}: {} failed\nerror: not valid YAML", short(&at), held.short());
        let told = held.release();
        assert!(told.starts_with(&line), "{told}");
    }
}

#[test]
fn a_push_whose_commits_changed_nothing_reads_so_although_another_process_looked_at_them() {
    let lab = Lab::new();
    let (_server, clone) = server(&lab, &[], &["dev"]);
    clone.commit("notes", &[("NOTES", "x")]);
    let held = Held::begin(&clone, "main");
    assert_eq!(push(&clone, "main:refs/heads/topic"), "");
    let expected = format!("{DEV}  unchanged by {}", held.short());
    assert_eq!(held.release(), expected);
}

#[test]
fn who_pushes_on_top_of_a_push_that_waits_reads_of_his_own_commit_only() {
    for args in BACKENDS {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args, &["dev"]);
        let start = tip(&server, DEV);
        clone.commit("first", &[(WEB, &web("first"))]);
        let first = Held::begin(&clone, "main");
        clone.commit("second", &[(WEB, &web("second"))]);
        let told = push(&clone, "main");
        let (below, top) = (server.git(&["rev-parse", &format!("{DEV}~1")]), tip(&server, DEV));
        let expected =
            format!("{DEV}  {} -> {}  1 of 2 manifests changed: 1 object changed\n", short(&below), short(&top));
        assert!(told.starts_with(&expected), "{told}");
        assert_eq!(first.release(), by_another(&start, &below, 2), "{args:?}");
    }
}

#[test]
fn a_mistake_that_a_later_push_took_back_is_still_told_to_who_made_it() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    let at = tip(&server, DEV);
    clone.commit("slip", &[(WEB, BROKEN)]);
    let first = Held::begin(&clone, "main");
    let mended = clone.commit("mend", &[(WEB, &web("mended"))]);
    let told = push(&clone, "main");
    let expected =
        format!("{DEV}  {} -> {}  1 of 2 manifests changed: 1 object changed", short(&at), short(&tip(&server, DEV)));
    assert_eq!(told, expected + "\nhint: run `git fetch` to see the new commits");
    // Another push that fails and one that mends come between, each hydrated by a process of its own.
    clone.commit("another slip", &[(WEB, BROKEN)]);
    push(&clone, "main");
    clone.commit("another mend", &[(WEB, &web("mended again"))]);
    push(&clone, "main");
    let shown = clone.git(&["rev-parse", "HEAD"]);
    let slip = first.dry.clone();
    let told = first.release();
    let line = format!("{DEV}  {} failed; hydrated from {}, which came later\n", short(&slip), short(&shown));
    assert!(told.starts_with(&(line + "error: not valid YAML")), "{told}");
    assert!(!told.contains(short(&mended)), "{told}");
}

#[test]
fn a_process_that_finds_a_later_push_too_tells_each_pusher_of_his_own() {
    for args in BACKENDS {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args, &["dev"]);
        let start = tip(&server, DEV);
        let good = clone.commit("good", &[(WEB, &web("good"))]);
        let first = Held::begin(&clone, "main");
        clone.commit("slip", &[(WEB, BROKEN)]);
        let second = Held::begin(&clone, "main");
        let told = first.release();
        let made = tip(&server, DEV);
        let expected =
            format!("{DEV}  {} -> {}  1 of 2 manifests changed: 1 object changed\n", short(&start), short(&made));
        assert!(told.starts_with(&expected) && !told.contains("error") && !told.contains(second.short()), "{told}");
        let expected = format!("{DEV}  stays at {}: {} failed\nerror: not valid YAML", short(&made), second.short());
        let told = second.release();
        assert!(told.starts_with(&expected) && !told.contains(short(&good)), "{told}");
    }
}

#[test]
fn a_mistake_is_told_to_who_made_it_when_his_own_process_hydrates_what_mends_it() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    clone.commit("slip", &[(WEB, BROKEN)]);
    let first = Held::begin(&clone, "main");
    let start = tip(&server, DEV);
    clone.commit("mend", &[(WEB, &web("mended"))]);
    let second = Held::begin(&clone, "main");
    let expected =
        format!("{DEV}  {} failed; hydrated from {}, which came later\nerror: ", first.short(), second.short());
    let told = first.release();
    assert!(told.starts_with(&expected), "{told}");
    assert_eq!(second.release(), by_another(&start, &tip(&server, DEV), 2));
}

#[test]
fn what_waited_after_a_kill_is_hydrated_and_told_to_nobody_but_the_log() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    server.git(&["config", "hydrate.log", "hydrate.log"]);
    let lost = |text: &str| {
        clone.commit(text, &[(WEB, text)]);
        server.run("git", &["config", "core.hooksPath", "nowhere"]).success();
        clone.push().success();
        server.run("git", &["config", "--unset", "core.hooksPath"]).success();
    };
    lost(BROKEN);
    assert_eq!(push(&clone, "HEAD:refs/heads/topic"), "");
    let log = server.file("hydrate.log").expect("written");
    assert!(log.lines().count() == 1 && log.contains("not valid YAML"), "{log}");
    assert!(server.hydrate(&["status"]).exits(1).stdout.contains("not valid YAML"));
    lost(&web("two"));
    // Who pushes next to the dry branch reads of his commit.
    let before = tip(&server, DEV);
    clone.commit("three", &[(WEB, &web("three"))]);
    let told = push(&clone, "main");
    let (below, top) = (server.git(&["rev-parse", &format!("{DEV}~1")]), tip(&server, DEV));
    assert_ne!(before, below);
    let expected = format!("{DEV}  {} -> {}  1 of 2 manifests changed: 1 object changed\n", short(&below), short(&top));
    assert!(told.starts_with(&expected) && told.lines().count() == 2, "{told}");
}

/// A second dry branch, which hydrates `other` to an environment of its own.
pub(crate) fn other_dry_branch(server: &Repo, clone: &Repo) -> Repo {
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    let other = server.clone_to("other");
    other.git(&["switch", "-q", "--orphan", "other"]);
    let (file, text) = application("other", "lab");
    let text = text.replace("targetRevision: main", "targetRevision: other");
    other.commit("other", &[(&file, &text), ("apps/other/lab/config.yaml", &config_map("other", "one"))]);
    push(&other, "other");
    clone.git(&["fetch", "-q"]);
    other
}

#[test]
fn two_dry_branches_at_once_are_told_apart() {
    for args in BACKENDS {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args, &["dev"]);
        let other = other_dry_branch(&server, &clone);
        let (dev, lab_tip) = (tip(&server, DEV), tip(&server, "environments/lab"));
        clone.commit("slip", &[(WEB, BROKEN)]);
        let held = Held::begin(&clone, "main");
        other.commit("two", &[("apps/other/lab/config.yaml", &config_map("other", "two"))]);
        let told = push(&other, "other");
        let expected = format!(
            "environments/lab  {} -> {}  1 of 1 manifests changed: 1 object changed\n",
            short(&lab_tip),
            short(&tip(&server, "environments/lab"))
        );
        assert!(told.starts_with(&expected) && told.lines().count() == 2, "{told}");
        let expected = format!("{DEV}  stays at {}: {} failed\n", short(&dev), held.short());
        let told = held.release();
        assert!(told.starts_with(&expected) && !told.contains("environments/lab"), "{told}");
        // As long as it is broken, the other branch hears nothing of it.
        other.commit("three", &[("apps/other/lab/config.yaml", &config_map("other", "three"))]);
        let told = push(&other, "other");
        assert!(!told.contains("error") && !told.contains("dev"), "{told}");
    }
}

#[test]
fn with_the_tips_alone_hydrated_a_pusher_reads_which_commit_contains_his() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    server.hydrate(&["config", "set", "history", "tip"]).success();
    clone.commit("first", &[(WEB, &web("first"))]);
    let first = Held::begin(&clone, "main");
    let second = clone.commit("second", &[("apps/api/dev/config.yaml", &config_map("api", "second"))]);
    push(&clone, "main");
    let expected = format!("{DEV}  hydrated from {}, which contains {}", short(&second), first.short());
    assert_eq!(first.release(), expected);
    // So does he whose own process hydrated it.
    clone.commit("third", &[(WEB, &web("third"))]);
    let third = Held::begin(&clone, "main");
    clone.commit("fourth", &[("apps/api/dev/config.yaml", &config_map("api", "fourth"))]);
    let fourth = Held::begin(&clone, "main");
    let expected = format!("{DEV}  hydrated from {}, which contains {}", fourth.short(), third.short());
    assert_eq!(third.release(), expected);
    assert!(fourth.release().ends_with("by another push\nhint: run `git fetch` to see the new commits"));
}

#[test]
fn a_push_that_was_taken_back_by_force_reads_that_nothing_came_of_it() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    clone.commit("first", &[(WEB, &web("first"))]);
    let first = Held::begin(&clone, "main");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let other = clone.commit("instead", &[(WEB, &web("instead"))]);
    let told = push(&clone, "+main");
    assert!(told.contains("1 of 2 manifests changed") && !told.contains(first.short()), "{told}");
    let (at, lost) = (tip(&server, DEV), first.short().to_owned());
    let expected = format!("{DEV}  stays at {}: main went on to {}, without {lost}", short(&at), short(&other));
    assert_eq!(first.release(), expected);
}

#[test]
fn a_rewind_to_what_the_branches_show_reads_that_nothing_changes() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    let before = tip(&server, DEV);
    clone.commit("slip", &[(WEB, BROKEN)]);
    assert!(push(&clone, "main").contains("not valid YAML"));
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let told = push(&clone, "+main");
    assert!(told.contains("unchanged") && !told.contains("another push"), "{told}");
    assert_eq!(tip(&server, DEV), before);
    let status = server.hydrate(&["status"]).success();
    assert!(!status.stdout.contains("failed"), "{}", status.stdout);
    // What a rewind really takes back is hydrated again, also by the process of somebody else.
    let old = clone.git(&["rev-parse", "HEAD"]);
    clone.commit("first", &[(WEB, &web("first"))]);
    push(&clone, "main");
    let moved = tip(&server, DEV);
    clone.git(&["reset", "-q", "--hard", &old]);
    let rewind = Held::begin(&clone, "+main");
    clone.git(&["switch", "-q", "-c", "topic"]);
    clone.commit("topic", &[("notes.txt", "x")]);
    push(&clone, "topic");
    assert_ne!(tip(&server, DEV), moved);
    let told = rewind.release();
    assert!(told.contains("1 object changed, by another push"), "{told}");
}

#[test]
fn an_application_that_another_process_left_behind_is_told_to_who_broke_it() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    clone.commit("slip", &[(WEB, BROKEN), ("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    let held = Held::begin(&clone, "main");
    assert_eq!(push(&clone, "main:refs/heads/topic"), "");
    clone.commit("mend", &[(WEB, &web("mended"))]);
    let told = push(&clone, "main");
    assert!(!told.contains("error") && !told.contains("behind"), "{told}");
    let told = held.release();
    assert!(
        told.contains(
            "1 of 2 manifests changed: 1 object changed, by another push\nweb is behind: it shows dry commit "
        ),
        "{told}"
    );
    assert!(told.contains("error: not valid YAML"), "{told}");
    drop(server);
}

#[test]
fn an_admin_is_notified_once_and_in_nobodys_name_of_what_another_process_did() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    server.git(&["config", "hydrate.notify", "cat >>notices"]);
    server.git(&["config", "hydrate.pusherVariable", "GIT_AUTHOR_NAME"]);
    server.git(&["config", "hydrate.log", "hydrate.log"]);
    clone.commit("two", &[(WEB, &web("two"))]);
    let held = Held::begin(&clone, "main");
    push(&clone, "main:refs/heads/topic");
    held.release();
    let notices: Vec<serde_json::Value> =
        server.file("notices").expect("told").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let moved = |notice: &&serde_json::Value| notice["branches"][0]["outcome"] == "moved";
    let moved: Vec<_> = notices.iter().filter(moved).collect();
    assert_eq!((moved.len(), &moved[0]["pusher"]), (1, &serde_json::Value::Null), "{notices:?}");
    let log = server.file("hydrate.log").expect("written");
    assert_eq!(log.matches("\"outcome\":\"moved\"").count(), 1, "{log}");
}

#[test]
fn settings_that_cannot_be_used_are_no_business_of_who_pushes_a_topic_branch() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    server.hydrate(&["config", "set", "dryBranches", "main"]).success();
    server.git(&["update-ref", "-d", "refs/hydrate/config"]);
    clone.commit("two", &[(WEB, &web("two"))]);
    assert_eq!(push(&clone, "HEAD:refs/heads/topic"), "");
    let told = push(&clone, "main");
    assert!(told.starts_with("error: hydration failed: refs/hydrate/config is missing"), "{told}");
}

#[test]
fn strict_mode_tells_each_pusher_of_his_own_too() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    server.git(&["config", "hydrate.strict", "touched"]);
    let start = tip(&server, DEV);
    clone.commit("first", &[(WEB, &web("first"))]);
    let first = Held::begin(&clone, "main");
    assert_eq!(push(&clone, "main:refs/heads/topic"), "");
    assert_eq!(first.release(), by_another(&start, &tip(&server, DEV), 2));
    // What was made for the judgement of the second push hydrates the first one as well.
    clone.commit("second", &[(WEB, &web("second"))]);
    let second = Held::begin(&clone, "main");
    let below = tip(&server, DEV);
    clone.commit("third", &[(WEB, &web("third"))]);
    let told = push(&clone, "main");
    let (middle, top) = (server.git(&["rev-parse", &format!("{DEV}~1")]), tip(&server, DEV));
    assert!(
        told.starts_with(&format!(
            "{DEV}  {} -> {}  1 of 2 manifests changed: 1 object changed\n",
            short(&middle),
            short(&top)
        )),
        "{told}"
    );
    assert_eq!(second.release(), by_another(&below, &middle, 2));
}

#[test]
fn who_changes_settings_reads_what_came_of_them_and_not_of_a_push_beside() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[], &["dev"]);
    server.allow("hydrate.settingsPusher");
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    clone.git(&["fetch", "-q", "origin", "refs/hydrate/config"]);
    clone.commit("slip", &[(WEB, BROKEN)]);
    let held = Held::begin(&clone, "main");
    let admin = server.clone_to("admin");
    admin.git(&["fetch", "-q", "origin", "refs/hydrate/config"]);
    admin.git(&["checkout", "-q", "--detach", "FETCH_HEAD"]);
    let tree = admin.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "same again"]);
    let told = push(&admin, &format!("{tree}:refs/hydrate/config"));
    assert!(!told.contains("error"), "{told}");
    assert!(held.release().contains("error: not valid YAML"));
}

#[test]
fn who_pushes_settings_where_another_hydrator_wrote_the_branch_reads_that_it_is_not_overwritten() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let older = clone.git(&["rev-parse", "HEAD"]);
    clone.git(&["checkout", "-q", "--orphan", DEV]);
    clone.git(&["rm", "-qrf", "."]);
    let metadata = format!("{{\"repoURL\": \"https://git.example.com/dry.git\", \"drySha\": \"{older}\"}}\n");
    clone.commit("by another hydrator", &[("hydrator.metadata", &metadata)]);
    clone.git(&["push", "-q", "origin", DEV]);
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("second", &[(WEB, &web("second"))]);
    clone.push().success();

    server.allow("hydrate.settingsPusher");
    clone.git(&["fetch", "-q", "origin"]);
    clone.hydrate(&["config", "set", "dryBranches", "main"]).success();
    let heard = push(&clone, "refs/hydrate/config");
    assert!(heard.contains("error: `environments/dev` was not made by hydration, so it is not overwritten"), "{heard}");
}
