//! `hydrate-check.NAME.command`: what an admin's program says of what changes, and whether strict mode refuses it.

use crate::push::{application, config_map, dry, tip, verified};
use crate::support::{Lab, Repo};

const DEV: &str = "environments/dev";

/// Finds each value that is `bad`, by file and line.
const CHECK: &str = "#!/bin/sh\nif grep -rn 'value: bad' . | sed 's/^\\.\\///; s/:  value: bad/: bad is not good/' | grep .; then exit 1; fi\n";

fn with_check(lab: &Lab, repo: &Repo, script: &str) {
    lab.program("judge", script);
    repo.git(&["config", "hydrate-check.judge.command", lab.path("bin/judge").to_str().expect("UTF-8")]);
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_push_reads_what_a_check_says_of_what_changes_and_is_hydrated_all_the_same() {
    let lab = Lab::new();
    let server = lab.server();
    with_check(&lab, &server, CHECK);
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.commit("bad", &[("apps/web/dev/config.yaml", &config_map("web", "bad"))]);
    let said = clone.push().success().remote().join("\n");
    assert!(said.contains("warning: check `judge`: ConfigMap web: bad is not good"), "{said}");
    assert!(said.contains("--> apps/web/dev/config.yaml:2"), "{said}");
    assert!(server.git(&["show", &format!("{DEV}:web/manifest.yaml")]).contains("value: bad"));
    // What stays as it is, is not asked about again.
    clone.commit("api", &[("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    let said = clone.push().success().remote().join("\n");
    assert!(!said.contains("check `judge`"), "{said}");
    verified(&server);
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn strict_mode_refuses_for_a_check_that_may_and_for_no_other() {
    let lab = Lab::new();
    let server = lab.server();
    with_check(&lab, &server, CHECK);
    server.git(&["config", "hydrate.strict", "touched"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.commit("bad", &[("apps/web/dev/config.yaml", &config_map("web", "bad"))]);
    clone.push().success();
    server.git(&["config", "hydrate-check.judge.refuse", "true"]);
    let before = tip(&server, DEV);
    clone.commit("worse", &[("apps/web/dev/config.yaml", &(config_map("web", "bad") + "  more: x\n"))]);
    let answer = clone.push().exits(1);
    assert!(answer.stderr.contains("error: check `judge`: ConfigMap web: bad is not good"), "{}", answer.stderr);
    assert_eq!(tip(&server, DEV), before);
    // It is never on the branch, and in the clone after `git hydrate`.
    let place = "after `git hydrate` in a clone: git hydrate explain hydrate/environments/dev:web/manifest.yaml:";
    assert!(answer.stderr.contains(place), "{}", answer.stderr);
    clone.hydrate(&[]);
    clone.hydrate(&["explain", "hydrate/environments/dev:web/manifest.yaml:6"]).success();
    // A program that cannot run judges nothing, so nothing goes in.
    server.git(&["config", "hydrate-check.judge.command", "/no/such/program"]);
    let answer = clone.push().exits(1);
    assert!(
        answer.stderr.contains("check `judge`: it cannot judge: program `/no/such/program` is not there"),
        "{}",
        answer.stderr
    );
    with_check(&lab, &server, CHECK);
    clone.commit("good", &[("apps/web/dev/config.yaml", &config_map("web", "good"))]);
    clone.push().success();
    verified(&server);
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_check_sees_what_changes_alone_and_neither_the_repository_nor_a_network() {
    let lab = Lab::new();
    let server = lab.server();
    let script = format!(
        "#!/bin/sh\nfind . -type f | sort\ncat {} && echo read\nls {} && echo listed\nexit 1\n",
        server.path.join("config").display(),
        server.path.display()
    );
    with_check(&lab, &server, &script);
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    clone.commit("one", &[("apps/web/prod/config.yaml", &config_map("web", "two"))]);
    let said = clone.push().success().remote().join("\n");
    assert_eq!(said.matches("check `judge`").count(), 1, "{said}");
    assert!(said.contains("check `judge`: ./environments/prod/web/manifest.yaml"), "{said}");
    assert!(!said.contains("read\n") && !said.contains("listed"), "{said}");
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn the_preview_of_a_clone_asks_the_checks_of_the_clone() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    with_check(&lab, &clone, CHECK);
    let (file, _) = application("web", "dev");
    assert!(clone.file(&file).is_some());
    clone.commit("bad", &[("apps/web/dev/config.yaml", &config_map("web", "bad"))]);
    let answer = clone.hydrate(&["diff"]).exits(1);
    let said = format!("{}{}", answer.stdout, answer.stderr);
    assert!(said.contains("check `judge`: ConfigMap web: bad is not good"), "{said}");
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn a_push_of_three_commits_makes_three_and_a_check_judges_the_tip_alone() {
    let lab = Lab::new();
    let server = lab.server();
    with_check(&lab, &server, CHECK);
    server.git(&["config", "hydrate.strict", "touched"]);
    server.git(&["config", "hydrate-check.judge.refuse", "true"]);
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let before = tip(&server, DEV);
    for value in ["one", "bad", "three"] {
        clone.commit(value, &[("apps/web/dev/config.yaml", &config_map("web", value))]);
    }
    let said = clone.push().success().remote().join("\n");
    assert!(!said.contains("check `judge`"), "{said}");
    let value = |commit: &str| server.git(&["show", &format!("{commit}:web/manifest.yaml")]);
    assert_eq!(server.git(&["rev-list", "--count", &format!("{before}..{DEV}")]), "3");
    assert!(value(&format!("{DEV}~1")).contains("value: bad") && value(DEV).contains("value: three"));
    // The branch went from one to the other at once.
    let moves = server.git(&["reflog", "show", "--format=%H", DEV]);
    assert_eq!(moves.lines().take(2).collect::<Vec<_>>(), [tip(&server, DEV), before]);
}

#[test]
fn what_a_refusing_check_had_no_time_to_judge_does_not_go_in() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    with_check(&lab, &server, CHECK);
    server.git(&["config", "hydrate.strict", "touched"]);
    server.git(&["config", "hydrate.strictTimeLimit", "0"]);
    server.git(&["config", "hydrate-check.judge.refuse", "true"]);
    let before = tip(&server, "main");
    // After the first commit the time is over.
    clone.commit("one", &[("apps/web/dev/config.yaml", &config_map("web", "one"))]);
    clone.commit("two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    for undecided in ["accept", "refuse"] {
        server.git(&["config", "hydrate.strictUndecided", undecided]);
        let told = clone.push().exits(1).remote().join(" ");
        assert!(told.contains("error: could not check this push: it takes more than 0 seconds"), "{told}");
        assert!(told.contains("check `judge`, which refuses pushes, has not judged all of it"), "{told}");
        assert_eq!(tip(&server, "main"), before);
    }
    server.git(&["config", "hydrate.strictUndecided", "accept"]);
    server.git(&["config", "hydrate-check.judge.refuse", "false"]);
    clone.push().success();
}
