//! What it costs to find the Applications of one dry branch fails that dry branch alone, in each hook and command.

use std::fs;

use crate::push::{config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";

/// An Application of the dry branch `other` whose values are few bytes, and this many once its aliases are written out.
fn grown(n: usize, values: usize) -> (String, String) {
    let (ones, aliases) = ("1,".repeat(100), "*a,".repeat(values / 100));
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: grown-{n}}}
spec:
  destination: {{namespace: grown}}
  sourceHydrator:
    drySource:
      repoURL: https://git.example.com/dry.git
      targetRevision: other
      path: apps/grown
      helm:
        valuesObject: {{a: &a [{ones}], b: [{aliases}]}}
    syncSource: {{targetBranch: environments/other, path: grown-{n}}}
"
    );
    (format!("grown/{n}.yaml"), text)
}

/// A server with the dry branches `main` and `other`, both hydrated, and a clone that has `other` checked out.
fn two_dry_branches() -> (Lab, Repo, Repo) {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    clone.git(&["checkout", "-q", "--orphan", "other"]);
    clone.git(&["rm", "-q", "-r", "-f", "."]);
    let (file, text) = grown(0, 100);
    let chart = "apiVersion: v2\nname: grown\nversion: 1.0.0\n";
    let template = config_map("grown", "{{ len .Values.b }}");
    let chart = [("apps/grown/Chart.yaml", chart), ("apps/grown/templates/a.yaml", &template)];
    clone.commit("few values", &[(&*file, &*text), chart[0], chart[1]]);
    clone.git(&["push", "-q", "origin", "other"]);
    (lab, server, clone)
}

fn commit_grown(clone: &Repo, count: usize, values: usize) -> String {
    let files: Vec<(String, String)> = (1..=count).map(|n| grown(n, values)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    clone.commit("many values", &files)
}

/// Commits something fine on `main` and pushes it: it is hydrated, whatever `other` is. The answer.
fn main_goes_on(server: &Repo, clone: &Repo, value: &str) -> String {
    clone.git(&["checkout", "-q", "-f", "main"]);
    let last = clone.commit(value, &[("apps/web/dev/config.yaml", &config_map("web", value))]);
    let told = clone.push().success().remote().join(" ");
    assert_eq!(note(server, DEV), note_of(&last), "{told}");
    told
}

fn push_topic(clone: &Repo, name: &str) -> String {
    clone.run("git", &["push", "-q", "origin", &format!("HEAD:refs/heads/{name}")]).success().stderr
}

/// Six Applications of 400,000 values each are more than a dry tree may have; seven files of 13 kB.
const TOO_MANY: (usize, usize) = (7, 370_000);

const WHY: &str = "`other` is not searched: files with Applications and kustomizations have more than 134217728 bytes, their \
                   aliases written out";

#[test]
fn aliases_that_grow_without_end_on_one_dry_branch_hold_that_one_alone() {
    let (_lab, server, clone) = two_dry_branches();
    let before = tip(&server, "environments/other");
    commit_grown(&clone, TOO_MANY.0, TOO_MANY.1);
    let told = clone.run("git", &["push", "-q", "origin", "other"]).success().remote().join(" ");
    assert!(told.contains(WHY) && told.contains("grown/6.yaml"), "{told}");
    assert!(!told.contains("trying again"), "{told}");
    assert_eq!(tip(&server, "environments/other"), before);
    let told = main_goes_on(&server, &clone, "on");
    assert!(!told.contains("trying again"), "{told}");
    // It is known, so the files are not read again: one of them is gone, and who reads it misses it.
    let blob = server.git(&["rev-parse", "other:grown/3.yaml"]);
    fs::remove_file(server.path.join("objects").join(&blob[..2]).join(&blob[2..])).expect("is loose");
    let told = main_goes_on(&server, &clone, "and on");
    assert!(!told.contains(&blob), "{told}");
    let told = push_topic(&clone, "topic");
    assert!(!told.contains(&blob), "{told}");
    assert_eq!(tip(&server, "environments/other"), before);
}

#[test]
fn what_one_dry_branch_takes_of_little_memory_holds_that_one_alone() {
    let (_lab, server, clone) = two_dry_branches();
    server.git(&["config", "hydrate.runMemory", "200m"]);
    commit_grown(&clone, 5, 370_000);
    let before = tip(&server, "environments/other");
    let told = clone.run("git", &["push", "-q", "origin", "other"]).success().remote().join(" ");
    assert!(told.contains("trying again") && !told.contains("twice"), "{told}");
    assert!(told.contains("`other` is not searched: "), "{told}");
    assert!(
        told.contains("git config hydrate.runMemory sets the limit, of which each dry branch has a share"),
        "{told}"
    );
    assert_eq!(tip(&server, "environments/other"), before);
    assert_eq!(server.git(&["for-each-ref", "refs/hydrate/failures"]), "", "another machine may have more");
    // It is remembered: no later push dies of it.
    let told = main_goes_on(&server, &clone, "on");
    assert!(!told.contains("trying again"), "{told}");
    push_topic(&clone, "topic");
    // With more memory it is hydrated.
    server.git(&["config", "hydrate.runMemory", "3g"]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(note(&server, "environments/other"), note_of(&tip(&server, "other")));
}

#[test]
fn a_topic_branch_goes_in_although_a_dry_branch_cannot_be_searched() {
    let (_lab, server, clone) = two_dry_branches();
    server.git(&["config", "hydrate.runMemory", "200m"]);
    server.git(&["config", "hydrate.cache", "false"]);
    commit_grown(&clone, 5, 370_000);
    let hooks = server.path.join("hooks");
    fs::rename(hooks.join("post-receive"), hooks.join("aside")).expect("moved");
    clone.run("git", &["push", "-q", "origin", "other"]).success();
    // Nothing is remembered of it, so pre-receive searches itself, and dies of it.
    let told = push_topic(&clone, "topic");
    assert!(told.contains("trying again") && !told.contains("refused"), "{told}");
    assert_eq!(tip(&server, "topic"), tip(&server, "other"));
    // What is hydration's stays so.
    clone.run("git", &["push", "-q", "-f", "origin", "HEAD:refs/heads/environments/dev"]).exits(1);
    clone.run("git", &["push", "-q", "-f", "origin", "HEAD:refs/heads/environments/other"]).exits(1);
}

#[test]
fn strict_refuses_the_dry_branch_that_cannot_be_searched_and_no_other() {
    let (_lab, server, clone) = two_dry_branches();
    server.git(&["config", "hydrate.strict", "touched"]);
    let before = tip(&server, "other");
    commit_grown(&clone, TOO_MANY.0, TOO_MANY.1);
    let told = clone.run("git", &["push", "-q", "origin", "other"]).exits(1).remote().join(" ");
    assert!(told.contains(WHY) && told.contains("grown/6.yaml"), "{told}");
    assert_eq!(tip(&server, "other"), before);
    push_topic(&clone, "topic");
    server.git(&["config", "hydrate.strict", "off"]);
    clone.run("git", &["push", "-q", "origin", "other"]).success();
    server.git(&["config", "hydrate.strict", "touched"]);
    main_goes_on(&server, &clone, "on");
}

#[test]
fn a_clone_tells_of_the_dry_branch_that_cannot_be_searched_and_shows_the_other() {
    let (_lab, server, clone) = two_dry_branches();
    commit_grown(&clone, TOO_MANY.0, TOO_MANY.1);
    clone.run("git", &["push", "-q", "origin", "other"]).success();
    main_goes_on(&server, &clone, "on");
    clone.git(&["fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/hydrate/*:refs/hydrate/*"]);
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    for (args, code) in [(&["check"][..], 0), (&["diff", "--offline"], 1)] {
        let told = clone.hydrate(args);
        assert_eq!(told.code, Some(code), "{args:?}: {told:?}");
    }
    let told = clone.hydrate(&["check", "origin/other"]);
    let said = format!("{}{}", told.stdout, told.stderr);
    assert!(said.contains("134217728 bytes, their aliases written out"), "{said}");
    let status = server.hydrate(&["status"]);
    assert!(status.stdout.contains("`other` is not searched"), "{status:?}");
}

/// An Application of the dry branch `other` that writes to a branch of its own.
fn to_a_branch(n: usize) -> (String, String) {
    let (_, text) = grown(0, 100);
    let text = text.replace("grown-0", &format!("branched-{n}"));
    (format!("branched/{n}.yaml"), text.replace("environments/other", &format!("environments/branched-{n}")))
}

fn commit_branches(clone: &Repo, numbers: std::ops::Range<usize>) -> String {
    let files: Vec<(String, String)> = numbers.map(to_a_branch).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    clone.commit("more branches", &files)
}

fn push_other(clone: &Repo) -> String {
    clone.run("git", &["push", "-q", "origin", "other"]).success().remote().join(" ")
}

fn branched(server: &Repo) -> usize {
    server.git(&["for-each-ref", "refs/heads/environments/branched-*"]).lines().count()
}

#[test]
fn more_branches_than_one_dry_branch_may_feed_hold_that_one_alone_and_nobody_looks_again() {
    let (_lab, server, clone) = two_dry_branches();
    server.hydrate(&["config", "set", "limits.branches", "3"]).success();
    let before = tip(&server, "environments/other");
    commit_branches(&clone, 1..6);
    let told = push_other(&clone);
    let why = "error: `other` is not hydrated: its Applications name 6 environment branches, of which 5 are new; the \
               setting limits.branches allows 3";
    assert!(told.contains(why) && told.contains("--> branched/1.yaml:13:32"), "{told}");
    assert!(told.contains("on the server: git hydrate config set limits.branches 6"), "{told}");
    assert_eq!((branched(&server), tip(&server, "environments/other")), (0, before.clone()));
    let told = main_goes_on(&server, &clone, "on");
    assert!(!told.contains("other"), "{told}");
    // It is known, so the files are not read again: one of them is gone, and who reads it misses it.
    let blob = server.git(&["rev-parse", "other:branched/3.yaml"]);
    let file = server.path.join("objects").join(&blob[..2]).join(&blob[2..]);
    let aside = server.path.join("aside");
    fs::rename(&file, &aside).expect("is loose");
    assert!(!main_goes_on(&server, &clone, "and on").contains(&blob));
    assert!(!push_topic(&clone, "topic").contains(&blob));
    fs::rename(&aside, &file).expect("moved");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("`other` is not hydrated"), "{status}");
    let checked = server.hydrate(&["check", "other"]).exits(1);
    assert!(format!("{checked:?}").contains("name 6 environment branches, of which 5 are new"), "{checked:?}");
    // As many as the hint says may be.
    server.hydrate(&["config", "set", "limits.branches", "6"]).success();
    assert_eq!(branched(&server), 5);
    assert_eq!(note(&server, "environments/other"), note_of(&tip(&server, "other")));
}

#[test]
fn branches_that_are_there_are_hydrated_on_beyond_the_limit_until_a_new_one_is_named() {
    let (_lab, server, clone) = two_dry_branches();
    commit_branches(&clone, 1..4);
    push_other(&clone);
    assert_eq!(branched(&server), 3);
    server.hydrate(&["config", "set", "limits.branches", "2"]).success();
    let last = clone.commit("change", &[("apps/grown/templates/a.yaml", &config_map("grown", "changed"))]);
    let told = push_other(&clone);
    assert!(!told.contains("error"), "{told}");
    assert_eq!(note(&server, "environments/branched-1"), note_of(&last));
    commit_branches(&clone, 4..5);
    let told = push_other(&clone);
    assert!(
        told.contains("name 5 environment branches, of which 1 is new; the setting limits.branches allows 2"),
        "{told}"
    );
    assert_eq!(note(&server, "environments/branched-1"), note_of(&last));
    // One that is taken away again is none that was there.
    clone.git(&["rm", "-q", "branched/4.yaml"]);
    let last = clone.commit("less", &[]);
    let told = push_other(&clone);
    assert!(!told.contains("error"), "{told}");
    assert_eq!((branched(&server), note(&server, "environments/branched-1")), (3, note_of(&last)));
    server.hydrate(&["status"]).success();
}

#[test]
fn a_parent_that_fails_on_one_dry_branch_is_rendered_by_its_own_push_alone() {
    let (_lab, server, clone) = two_dry_branches();
    let (file, text) = grown(0, 100);
    let (spec, sync) = (text.split_once("      helm:").expect("there").0, "    syncSource:");
    let parent = format!("{spec}{sync}{}", text.split_once(sync).expect("there").1).replace("apps/grown", "makes");
    let fails = "local sourceHydrator = 1; if sourceHydrator > 0 then error 'oops' else {}";
    clone.commit("a parent", &[(&*file, &*parent), ("makes/all.jsonnet", fails)]);
    assert!(push_other(&clone).contains("oops"));
    let blob = server.git(&["rev-parse", "other:makes/all.jsonnet"]);
    fs::remove_file(server.path.join("objects").join(&blob[..2]).join(&blob[2..])).expect("is loose");
    // Who renders it again misses what it reads.
    for value in ["on", "and on"] {
        let told = main_goes_on(&server, &clone, value);
        assert!(!told.contains("other") && !told.contains(&blob), "{told}");
        let told = push_topic(&clone, &value.replace(' ', "-"));
        assert!(!told.contains(&blob), "{told}");
    }
}

#[test]
fn branches_that_were_left_behind_count_with_those_that_are_named() {
    let (_lab, server, clone) = two_dry_branches();
    commit_branches(&clone, 1..4);
    push_other(&clone);
    assert_eq!(branched(&server), 3);
    server.hydrate(&["config", "set", "limits.branches", "4"]).success();
    clone.git(&["rm", "-q", "-r", "branched"]);
    commit_branches(&clone, 4..7);
    let told = push_other(&clone);
    let why = "error: `other` is not hydrated: its Applications name 4 environment branches, of which 3 are new and 3 more are \
               left of former ones; the setting limits.branches allows 4";
    assert!(told.contains(why) && told.contains("delete the branches that nothing deploys"), "{told}");
    assert_eq!(branched(&server), 3);
}

#[test]
fn strict_refuses_the_dry_branch_that_names_too_many_branches_and_no_other() {
    let (_lab, server, clone) = two_dry_branches();
    server.hydrate(&["config", "set", "limits.branches", "3"]).success();
    commit_branches(&clone, 1..6);
    push_other(&clone);
    for strict in ["touched", "all"] {
        server.git(&["config", "hydrate.strict", strict]);
        let told = main_goes_on(&server, &clone, strict);
        assert!(!told.contains("other"), "{told}");
        clone.git(&["checkout", "-q", "-f", "other"]);
        clone.commit(strict, &[("branched/6.yaml", &to_a_branch(6).1), ("NOTES", strict)]);
        let told = clone.run("git", &["push", "-q", "origin", "other"]).exits(1).remote().join(" ");
        assert!(told.contains("name 7 environment branches, of which 6 are new"), "{told}");
    }
}
