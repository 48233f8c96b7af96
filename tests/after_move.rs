//! `git hydrate doctor --after-move`: what a moved repository lacks, each with a command that brings it.

use crate::support::{Answer, Lab, Repo};

const DEV: &str = "environments/dev";

/// A hydrated server with keys of an admin and a hook of somebody else.
fn old(lab: &Lab) -> Repo {
    let server = lab.server();
    server.git(&["config", "hydrate.jobs", "1"]);
    server.git(&["config", "--add", "hydrate.vendorAllow", "a.example.com"]);
    server.git(&["config", "--add", "hydrate.vendorAllow", "b.example.com:8443"]);
    server.hook("hooks/update", "#!/bin/sh\nexit 0\n");
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    server
}

/// A new server that has these refs of the old one.
fn moved(lab: &Lab, old: &Repo, refspec: &str) -> Repo {
    lab.command("git", &lab.path(""))
        .args(["init", "-q", "--bare", "-b", "main", "new dir/new.git"])
        .status()
        .expect("runs");
    let new = Repo::at(lab, "new dir/new.git");
    new.git(&["fetch", "-q", address(old), refspec]);
    new.install_without_settings();
    new
}

fn address(old: &Repo) -> &str {
    old.path.to_str().expect("UTF-8")
}

/// Runs the commands of what the move lacks, in their order.
fn follow(new: &Repo, found: &[(String, String)]) {
    for (_, command) in found {
        let command = command.split("; that takes").next().unwrap_or_default();
        let command = command.split("; if git rejects").next().unwrap_or_default();
        new.run("sh", &["-ec", command]).success();
    }
}

/// A push to the old place that changes what `environments/dev` shows.
fn late_push(old: &Repo) {
    let late = old.clone_to("late");
    late.run("sed", &["-i", "s/web:1.4.2/web:1.5.0/", "environments/dev/east/web.yaml"]).success();
    late.commit("late", &[]);
    late.push().success();
    late.git(&["push", "-q", "origin", "HEAD:refs/heads/topic", "HEAD:refs/tags/v1"]);
}

fn asked(new: &Repo, old: &Repo) -> Answer {
    new.hydrate(&["doctor", "--after-move", old.path.to_str().expect("UTF-8")])
}

/// The findings that the move is the cause of, each with its command.
fn lacking(answer: &Answer) -> Vec<(String, String)> {
    let ends = ["advice   Applications name a repository by its URL", "good     Applications may name "];
    let end = ends.iter().find_map(|end| answer.stdout.find(end)).expect("is said");
    let lines: Vec<&str> = answer.stdout[..end].lines().collect();
    lines.chunks(2).map(|two| (two[0].trim().to_owned(), two.get(1).unwrap_or(&"").trim().to_owned())).collect()
}

#[test]
fn what_an_import_of_branches_lacks_is_said_and_each_command_brings_it() {
    let lab = Lab::new();
    let old = old(&lab);
    let new = moved(&lab, &old, "refs/heads/*:refs/heads/*");
    let answer = asked(&new, &old).exits(1);
    let found = lacking(&answer);
    for part in [
        "refs are not here, refs/hydrate/branches",
        "no hydrate.jobs",
        "no hydrate.vendorallow",
        "hooks/update",
        "reflogs",
    ] {
        assert!(found.iter().any(|(what, _)| what.contains(part)), "{part}: {}", answer.stdout);
    }
    follow(&new, &found);
    let answer = asked(&new, &old).success();
    assert!(
        answer.stdout.contains(&format!("good     all that {} has is here", old.path.display())),
        "{}",
        answer.stdout
    );
    assert_eq!(new.git(&["config", "--get-all", "hydrate.vendorAllow"]), "a.example.com\nb.example.com:8443");
    assert_eq!(new.git(&["reflog", "show", "--format=%H", DEV]), old.git(&["reflog", "show", "--format=%H", DEV]));
    let verified = new.hydrate(&["verify"]).success().stdout;
    assert!(verified.contains("equal"), "{verified}");
}

#[test]
fn a_mirror_lacks_only_what_no_ref_holds() {
    let lab = Lab::new();
    let old = old(&lab);
    let new = moved(&lab, &old, "+refs/*:refs/*");
    let found = lacking(&asked(&new, &old).exits(1));
    assert!(!found.iter().any(|(what, _)| what.contains("refs/")), "{found:?}");
}

#[test]
fn who_pushed_to_the_old_place_after_the_move_is_found() {
    let lab = Lab::new();
    let old = old(&lab);
    let new = moved(&lab, &old, "+refs/*:refs/*");
    let late = old.clone_to("late");
    late.run("sed", &["-i", "s/web:1.4.2/web:1.5.0/", "environments/dev/east/web.yaml"]).success();
    late.commit("late", &[]);
    late.push().success();
    assert_ne!(old.git(&["rev-parse", DEV]), new.git(&["rev-parse", DEV]));
    // What hydration wrote there is not to be brought: it follows from what was pushed.
    let found = lacking(&asked(&new, &old).exits(1));
    let [(what, command)] =
        &found.iter().filter(|(what, _)| what.contains("which is not behind it")).collect::<Vec<_>>()[..]
    else {
        panic!("{found:?}")
    };
    assert!(what.contains("refs/heads/main"), "{what}");
    let (bring, look) = command.split_once("; if git rejects that, both were pushed to: ").expect("two ways");
    let shown = new.run("sh", &["-ec", look]).success().stdout;
    assert!(shown.contains("> ") && shown.contains("late"), "{shown}");
    new.run("sh", &["-ec", bring]).success();
    assert_eq!(old.git(&["rev-parse", DEV]), new.git(&["rev-parse", DEV]));
    let answer = asked(&new, &old);
    assert!(!answer.stdout.contains("which is not behind it"), "{}", answer.stdout);
    // A push to the new place alone is as it should be.
    let own = new.clone_to("own");
    own.commit("own", &[("own.txt", "own")]);
    own.push().success();
    assert!(!asked(&new, &old).stdout.contains("which is not behind it"));
}

#[test]
fn of_the_settings_that_branches_name_the_newest_are_brought_back() {
    let lab = Lab::new();
    let old = old(&lab);
    old.hydrate(&["config", "set", "history", "tip"]).success();
    let later = old.clone_to("later");
    later.run("sed", &["-i", "s/web:1.4.2/web:1.5.0/", "environments/dev/east/web.yaml"]).success();
    later.commit("later", &[]);
    later.push().success();
    let settings = old.git(&["rev-parse", "refs/hydrate/config"]);
    let new = moved(&lab, &old, "refs/heads/*:refs/heads/*");
    new.git(&["fetch", "-q", old.path.to_str().expect("UTF-8"), "refs/hydrate/config:refs/kept"]);
    let told = new.hydrate(&["doctor"]).exits(1).stdout;
    assert_eq!(told.matches("(Hydrate-Settings)").count(), 1, "{told}");
    assert!(told.contains(&format!("update-ref refs/hydrate/config {settings}\n")), "{told}");
}

#[test]
fn where_the_log_goes_is_said() {
    let lab = Lab::new();
    let old = old(&lab);
    let new = moved(&lab, &old, "+refs/*:refs/*");
    new.git(&["config", "hydrate.log", old.path.join("runs.log").to_str().expect("UTF-8")]);
    let doctor = new.hydrate(&["doctor"]).stdout;
    let found = format!("advice   hydrate.log is {0}/runs.log, in {0}\n", old.path.display());
    assert!(doctor.contains(&found), "{doctor}");
    new.git(&["config", "hydrate.log", "/no/such/runs.log"]);
    let doctor = new.hydrate(&["doctor"]).exits(1).stdout;
    assert!(
        doctor.contains("bad      hydrate.log is in /no/such, which is not a directory\n         mkdir -p /no/such\n"),
        "{doctor}"
    );
    new.git(&["config", "hydrate.log", "runs.log"]);
    let doctor = new.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("good     each run is logged in "), "{doctor}");
}

#[test]
fn a_url_is_compared_by_its_refs_and_a_clone_is_refused() {
    let lab = Lab::new();
    let old = old(&lab);
    let new = moved(&lab, &old, "refs/heads/*:refs/heads/*");
    let url = format!("file://{}", old.path.display());
    let answer = new.hydrate(&["doctor", "--after-move", &url]).exits(1);
    assert!(answer.stdout.contains("refs are not here"), "{}", answer.stdout);
    assert!(answer.stdout.contains("cannot be compared from here"), "{}", answer.stdout);
    let clone = new.clone_to("of-new");
    let answer = clone.hydrate(&["doctor", "--after-move", &url]).exits(2);
    assert!(answer.stderr.contains("--after-move is for the repository of a server"), "{}", answer.stderr);
}

#[test]
fn refs_that_are_missing_come_without_those_of_hydration() {
    let lab = Lab::new();
    let old = old(&lab);
    let new = moved(&lab, &old, "+refs/*:refs/*");
    late_push(&old);
    let found = lacking(&asked(&new, &old).exits(1));
    let (_, command) =
        found.iter().find(|(what, _)| what.starts_with("bad      2 refs are not here")).expect("is said");
    assert!(command.ends_with(" refs/heads/topic:refs/heads/topic refs/tags/v1:refs/tags/v1"), "{command}");
    let before = new.git(&["rev-parse", DEV]);
    new.run("sh", &["-ec", command]).success();
    assert_eq!(new.git(&["rev-parse", DEV]), before, "its note and its record are those of before");
    follow(&new, &lacking(&asked(&new, &old).exits(1)));
    assert_eq!(new.git(&["rev-parse", DEV]), old.git(&["rev-parse", DEV]));
    new.hydrate(&["verify"]).success();
}

#[test]
fn settings_of_both_places_are_settled_before_anything_is_deployed() {
    let lab = Lab::new();
    let old = old(&lab);
    let new = moved(&lab, &old, "+refs/*:refs/*");
    old.hydrate(&["config", "set", "frozen", "{environments/dev: {reason: release}}"]).success();
    new.hydrate(&["config", "add", "repoURL", "https://new.example.com/config.git"]).success();
    late_push(&old);
    let answer = asked(&new, &old).exits(1);
    assert!(!answer.stdout.contains("catch-up") && !answer.stdout.contains("adopt"), "{}", answer.stdout);
    let stated = |answer: &Answer| answer.stdout.contains("bad      refs/hydrate/config is at ");
    assert!(stated(&answer), "{}", answer.stdout);
    assert!(answer.stdout.contains("log -p FETCH_HEAD..refs/hydrate/config"), "{}", answer.stdout);
    let before = new.git(&["rev-parse", DEV]);
    let lines: Vec<&str> = answer.stdout.lines().collect();
    let at = lines.iter().position(|line| line.contains("refs/hydrate/config is at ")).expect("is said");
    follow(&new, &[(String::new(), lines[at + 1].trim().to_owned())]);
    let answer = asked(&new, &old).exits(1);
    assert!(!stated(&answer) && answer.stdout.contains("hydrate catch-up"), "{}", answer.stdout);
    follow(&new, &lacking(&answer));
    assert_eq!(new.git(&["rev-parse", DEV]), before, "it is frozen");
    new.hydrate(&["config", "add", "repoURL", "https://new.example.com/config.git"]).success();
    let answer = asked(&new, &old);
    assert!(answer.stdout.contains("good     Applications may name "), "{}", answer.stdout);
    assert!(!answer.stdout.contains("Applications name a repository by its URL"), "{}", answer.stdout);
}

#[test]
fn settings_that_install_wrote_are_not_those_of_the_old_place() {
    let lab = Lab::new();
    let old = old(&lab);
    let new = moved(&lab, &old, "refs/heads/*:refs/heads/*");
    old.hydrate(&["config", "set", "history", "tip"]).success();
    new.hydrate(&["install", "--server", ".", "--repo-url", "https://new.example.com/config.git"]).success();
    assert_ne!(new.git(&["rev-parse", "refs/hydrate/config"]), old.git(&["rev-parse", "refs/hydrate/config"]));
    follow(&new, &lacking(&asked(&new, &old).exits(1)));
    assert_eq!(new.git(&["rev-parse", "refs/hydrate/config"]), old.git(&["rev-parse", "refs/hydrate/config"]));
    asked(&new, &old).success();
}

#[test]
fn reflogs_of_before_come_before_the_lines_of_the_fetch() {
    let lab = Lab::new();
    let old = old(&lab);
    lab.command("git", &lab.path("")).args(["init", "-q", "--bare", "-b", "main", "new.git"]).status().expect("runs");
    let new = Repo::at(&lab, "new.git");
    new.git(&["config", "core.logAllRefUpdates", "true"]);
    new.git(&["fetch", "-q", address(&old), "+refs/*:refs/*"]);
    new.install_without_settings();
    let found = lacking(&asked(&new, &old).exits(1));
    assert!(found.iter().any(|(what, _)| what.contains("the reflogs of ")), "{found:?}");
    follow(&new, &found);
    let lines = |repo: &Repo| repo.git(&["reflog", "show", "--format=%H %gs", DEV]);
    assert!(lines(&new).ends_with(&lines(&old)) && lines(&new) != lines(&old), "{}", lines(&new));
    let again = asked(&new, &old);
    assert!(!again.stdout.contains("the reflogs of "), "{}", again.stdout);
}
