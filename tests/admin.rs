//! What a new admin runs into, on a server and in a clone.

use std::fs;

use crate::support::{Answer, BINARY, Lab, Repo};

const CONFIG: &str = "refs/hydrate/config";
const READING: [&[&str]; 7] = [
    &["apps", "main"],
    &["check", "main"],
    &["log", "environments/dev"],
    &["diff", "main"],
    &["plan", "main"],
    &["verify"],
    &["status"],
];

/// A server with the example on it, and a clone of it.
fn shop(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    (server, clone)
}

/// A second server, made from the first as `kind` of clone.
fn moved(lab: &Lab, from: &Repo, kind: &str) -> Repo {
    let new = Repo::at(lab, "new.git");
    from.git(&["clone", "-q", kind, ".", new.path.to_str().expect("UTF-8")]);
    // What each fetch writes over is no server.
    if kind == "--mirror" {
        let refused = new.hydrate(&["install", "--server"]).exits(2).stderr;
        assert!(refused.contains("this is a mirror of") && refused.contains("`destinations`"), "{refused}");
        new.git(&["config", "--unset-all", "remote.origin.fetch"]);
    }
    new.hydrate(&["install", "--server"]).success();
    new
}

#[test]
fn looking_at_a_new_server_does_not_throw_its_pushes_away() {
    for kind in ["--mirror", "--bare"] {
        let lab = Lab::new();
        let (old, clone) = shop(&lab);
        let new = moved(&lab, &old, kind);
        clone.git(&["remote", "set-url", "origin", new.path.to_str().expect("UTF-8")]);
        let pushed = clone.commit("only on the new server", &[("notes.txt", "x")]);
        clone.push().success();
        let refs = new.git(&["for-each-ref"]);
        for args in READING {
            new.hydrate(args);
            assert_eq!(new.git(&["for-each-ref"]), refs, "{kind} {args:?}");
        }
        assert_eq!(new.git(&["rev-parse", "main"]), pushed, "{kind}");
    }
}

#[test]
fn a_server_is_looked_at_while_the_one_that_it_came_from_is_away() {
    let lab = Lab::new();
    let (old, _) = shop(&lab);
    let new = moved(&lab, &old, "--mirror");
    new.git(&["remote", "set-url", "origin", "/no/such/repository"]);
    for args in READING {
        let answer = new.hydrate(args);
        assert!(answer.code != Some(2), "{args:?}: {}", answer.stderr);
    }
    let told = new.hydrate(&["status", "--remote", "origin"]).exits(2).stderr;
    assert!(told.contains("this is a server's repository"), "{told}");
}

#[test]
fn looking_in_a_clone_writes_nothing_that_the_user_set_for_git_fetch() {
    let lab = Lab::new();
    let (_, clone) = shop(&lab);
    clone.git(&["config", "--add", "remote.origin.fetch", "+refs/heads/*:refs/copies/*"]);
    clone.git(&["config", "fetch.prune", "true"]);
    clone.git(&["update-ref", "refs/remotes/origin/mine", "HEAD"]);
    clone.hydrate(&["status"]).success();
    let refs = clone.git(&["for-each-ref", "--format=%(refname)"]);
    assert!(!refs.contains("refs/copies/"), "{refs}");
    assert!(refs.contains("refs/remotes/origin/mine"), "{refs}");
}

#[test]
fn strict_mode_of_the_machine_is_seen_where_git_is_not_below_usr() {
    let lab = Lab::new();
    let server = lab.server();
    let git = server.run("sh", &["-c", "command -v git"]).success().stdout;
    fs::create_dir_all(lab.path("opt/bin")).expect("made");
    fs::create_dir_all(lab.path("opt/etc")).expect("made");
    lab.program("../opt/bin/git", &format!("#!/bin/sh\nexec {} \"$@\"\n", git.trim_end()));
    fs::write(lab.path("opt/etc/gitconfig"), "[hydrate]\n\tstrict = sometimes\n").expect("written");
    let mut command = server.command(BINARY);
    command.arg("doctor").env_remove("GIT_CONFIG_NOSYSTEM");
    command.env("PATH", format!("{}:/usr/bin:/bin", lab.path("opt/bin").display()));
    let told = Answer::new(command.output().expect("runs")).stdout;
    assert!(told.contains("bad      hydrate.strict is `sometimes`"), "{told}");
}

#[test]
fn a_mistyped_switch_leaves_the_branches_guarded() {
    let lab = Lab::new();
    let (server, clone) = shop(&lab);
    server.git(&["config", "--unset-all", "receive.hideRefs"]);
    server.git(&["config", "hydrate.guard", "yess"]);
    let told = clone.run("git", &["push", "origin", "+HEAD:environments/prod"]).exits(1).remote().join(" ");
    assert!(told.contains("warning: hydrate.guard is `yess`, which is neither true nor false"), "{told}");
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(told.contains("bad      hydrate.guard is `yess`: it must be true or false\n"), "{told}");
}

#[test]
fn mistyped_keys_and_values_are_found() {
    let lab = Lab::new();
    let server = lab.server();
    let rows = [
        ("hydrate.stict", "all", "so it does nothing: did you mean hydrate.strict?", "config hydrate.strict all"),
        ("hydrate.promoters", "bot", "bad      hydrate.promoters is not a key", "config hydrate.promoter bot"),
        ("hydrate.settingPusher", "x", "hydrate.settingpusher is not a key", "config hydrate.settingsPusher x"),
        ("hydrate.jobs", "x", "bad      hydrate.jobs is `x`: it must be a number", "config --unset-all hydrate.jobs"),
        ("hydrate.budget", "-5", "bad      hydrate.budget is `-5`: it must be a number", "hydrate.budget"),
        ("hydrate.lockWait", "abc", "bad      hydrate.lockWait is `abc`: it must be a number", "hydrate.lockWait"),
        ("hydrate.cache", "maybe", "bad      hydrate.cache is `maybe`: it must be true or false", "hydrate.cache true"),
        ("hydrate.notifyTimeLimit", "x", "bad      hydrate.notifyTimeLimit is `x`", "hydrate.notifyTimeLimit"),
    ];
    for (key, value, finding, remedy) in rows {
        server.git(&["config", "--", key, value]);
        let told = server.hydrate(&["doctor"]).exits(1).stdout;
        assert!(told.contains(finding) && told.contains(remedy), "{key}: {told}");
        // For a misspelt key, what is printed mends it.
        let unset = format!("--unset-all {}", key.to_lowercase());
        let is_cure = |line: &&str| {
            (finding.contains("is not a key") || finding.contains("did you mean")) && line.contains(&unset)
        };
        if let Some(cure) = told.lines().map(str::trim).find(is_cure) {
            server.run("sh", &["-c", cure]).success();
            let told = server.hydrate(&["doctor"]).stdout;
            assert!(!told.contains("is not a key of git-hydrate"), "{key}: {told}");
            let (set, _) = cure.split_once(" && ").expect("two commands");
            let good = set.split(' ').find(|word| word.starts_with("hydrate.")).expect("a key");
            assert_eq!(server.git(&["config", good]), value);
            server.git(&["config", "--unset-all", good]);
        } else {
            assert!(!finding.contains("is not a key") && !finding.contains("did you mean"), "{told}");
            server.git(&["config", "--unset", key]);
        }
    }
    server.git(&["config", "hydrate.mine", "anything"]);
    server.hydrate(&["doctor"]).success();
}

#[test]
fn branches_are_not_called_guarded_without_the_hook_that_guards_them() {
    let lab = Lab::new();
    let (server, _) = shop(&lab);
    server.hydrate(&["install", "--server"]).success();
    assert!(server.hydrate(&["doctor"]).success().stdout.contains("good     hydrated branches are guarded\n"));
    fs::remove_file(server.path.join("hooks/pre-receive")).expect("removed");
    assert!(!server.hydrate(&["doctor"]).exits(1).stdout.contains("are guarded"));
}

#[test]
fn a_mistyped_strict_mode_names_the_word_that_was_meant() {
    let lab = Lab::new();
    let (server, clone) = shop(&lab);
    server.git(&["config", "hydrate.strict", "touchd"]);
    clone.commit("next", &[]);
    let told = clone.push().exits(1).remote().join(" ");
    assert!(told.contains("hydrate.strict = touchd: must be off, touched or all"), "{told}");
    assert!(told.contains("did you mean `touched`?"), "{told}");
    assert!(!told.contains("git config") && told.contains("git hydrate doctor"), "the command is an admin's: {told}");
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("config hydrate.strict touched\n"), "{doctor}");
    server.git(&["config", "hydrate.strict", "perhaps"]);
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("set it to off, touched or all: "), "{doctor}");
    server.git(&["config", "hydrate.strict", "off"]);
    clone.push().success();
}

#[test]
fn an_account_without_a_name_changes_settings_on_a_server() {
    let lab = Lab::new();
    let (server, clone) = shop(&lab);
    let nameless = |repo: &Repo| {
        repo.git(&["config", "user.useConfigOnly", "true"]);
        let mut command = repo.command(BINARY);
        command.args(["config", "set", "history", "tip"]);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env_remove(format!("GIT_{role}_NAME")).env_remove(format!("GIT_{role}_EMAIL"));
        }
        Answer::new(command.output().expect("runs"))
    };
    let told = nameless(&clone).exits(2).stderr;
    assert!(told.contains("git config user.name NAME; git config user.email ADDRESS"), "{told}");
    nameless(&server).success();
    let author = server.git(&["log", "-1", "--format=%an <%ae>", CONFIG]);
    assert_eq!(author, "git-hydrate <git-hydrate@localhost>");
}

#[test]
fn settings_of_a_clone_survive_every_fetch_until_they_are_pushed() {
    let lab = Lab::new();
    let (server, clone) = shop(&lab);
    server.allow("hydrate.settingsPusher");
    clone.hydrate(&["install", "--client"]).success();
    clone.hydrate(&["config", "set", "profile", "argocd"]).success();
    let get = || clone.hydrate(&["config", "get", "profile"]).success();
    let told = clone.hydrate(&["status"]).stderr;
    assert!(told.contains("hint: to have the server use them: git push origin refs/hydrate/config"), "{told}");
    assert_eq!(get().stdout, "argocd\n");
    clone.git(&["fetch", "-q"]);
    assert_eq!(get().stdout, "argocd\n");
    clone.hydrate(&["config", "set", "history", "tip"]).success();
    clone.run("git", &["push", "origin", CONFIG]).success();
    server.hydrate(&["config", "set", "history", "every"]).success();
    assert_eq!(clone.hydrate(&["status"]).stderr, "");
    assert_eq!(clone.hydrate(&["config", "get", "history"]).success().stdout, "every\n");
}

#[test]
fn of_two_remotes_none_is_guessed() {
    let lab = Lab::new();
    let (_, clone) = shop(&lab);
    clone.git(&["remote", "rename", "origin", "a"]);
    clone.git(&["remote", "add", "b", "/no/such/repository"]);
    clone.git(&["checkout", "-q", "--detach"]);
    let expected = "there are several remotes, and none is named `origin`: a, b";
    let told = clone.hydrate(&["status"]).exits(2).stderr;
    assert!(
        told.contains(expected) && told.contains("--remote NAME") && told.contains("git config hydrate.remote NAME")
    );
    assert!(clone.hydrate(&["config", "set", "history", "tip"]).exits(2).stderr.contains(expected));
    clone.hydrate(&["status", "--remote", "a"]).success();
    clone.git(&["config", "hydrate.remote", "a"]);
    clone.hydrate(&["status"]).success();
}

#[test]
fn a_developers_clone_is_not_taken_for_a_server() {
    let lab = Lab::new();
    let (_, clone) = shop(&lab);
    let refs = clone.git(&["for-each-ref"]);
    let told = clone.hydrate(&["catch-up"]).exits(2).stderr;
    assert!(told.contains("this is not a server's repository"), "{told}");
    let told = clone.hydrate(&["install", "--server"]).exits(2).stderr;
    assert!(told.contains("hint: in a clone: git hydrate install --client"), "{told}");
    assert_eq!(clone.git(&["for-each-ref"]), refs);
}

#[test]
fn outside_of_a_repository_every_command_says_so_as_git_does() {
    let lab = Lab::new();
    fs::create_dir(lab.path("nothing")).expect("made");
    let outside = Repo::at(&lab, "nothing");
    let dir = fs::canonicalize(&outside.path).expect("there");
    let expected = format!("error: not a git repository (or any of the parent directories): {}\n", dir.display());
    for args in [&["status"] as &[&str], &["install", "--server"], &["doctor"], &["config"], &["catch-up"]] {
        assert_eq!(outside.hydrate(args).exits(2).stderr, expected, "{args:?}");
    }
}

#[test]
fn a_log_that_cannot_be_written_is_named_with_its_key_and_hinders_no_push_and_no_setting() {
    let lab = Lab::new();
    let (server, clone) = shop(&lab);
    server.git(&["config", "hydrate.log", "missing/log"]);
    clone.commit("more", &[("NOTES", "more")]);
    let pushed = clone.push().success().remote().join(" ");
    for told in [
        pushed,
        server.hydrate(&["catch-up"]).success().stderr,
        server.hydrate(&["config", "set", "history", "tip"]).success().stderr,
    ] {
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("not logged: hydrate.log: ") && told.contains("dry.git/missing/log: "), "{told}");
        assert!(told.contains("make its directory: mkdir -p ") && !told.contains("hydration fails"), "{told}");
    }
    std::fs::create_dir(server.path.join("missing")).expect("made");
    assert_eq!(server.hydrate(&["catch-up"]).success().stderr, "");
}

#[test]
fn the_status_of_a_branch_that_does_not_exist_is_an_error() {
    let lab = Lab::new();
    let (_, clone) = shop(&lab);
    let told = clone.hydrate(&["status", "--branch", "nonsense"]).exits(2).stderr;
    assert!(told.starts_with("error: no environment branch is hydrated from `nonsense`\n"), "{told}");
    assert_eq!(clone.hydrate(&["status", "--branch", "environments/dev"]).success().stdout.lines().count(), 2);
    assert_eq!(clone.hydrate(&["status", "--branch", "main"]).success().stdout.lines().count(), 4);
}

#[test]
fn the_working_tree_of_a_fresh_clone_is_checked_with_the_settings_of_the_server() {
    let lab = Lab::new();
    let (server, _) = shop(&lab);
    let fresh = server.clone_to("fresh");
    assert_eq!(
        fresh.hydrate(&["check", "--worktree"]).success().stdout,
        server.clone_to("other").hydrate(&["check"]).success().stdout
    );
}

#[test]
fn a_branch_that_was_moved_back_by_hand_after_adopt_is_not_up_to_date() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    let foreign = clone.git(&["commit-tree", "-m", "somebody", "HEAD^{tree}"]);
    server.git(&["config", "hydrate.guard", "false"]);
    server.git(&["config", "--unset-all", "receive.hideRefs"]);
    clone.run("git", &["push", "-q", "origin", &format!("{foreign}:refs/heads/environments/prod")]).success();
    clone.push();
    server.hydrate(&["adopt", "environments/prod"]).success();
    let hydrated = server.git(&["rev-parse", "environments/prod"]);
    server.git(&["update-ref", "refs/heads/environments/prod", "environments/prod~"]);
    let told = server.hydrate(&["status"]).exits(1).stdout;
    assert!(told.contains("moved back to "), "{told}");
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(told.contains(&format!("update-ref refs/heads/environments/prod {hydrated}\n")), "{told}");
    server.git(&["update-ref", "refs/heads/environments/prod", &hydrated]);
    server.hydrate(&["status"]).success();
}

#[test]
fn settings_with_which_hydration_fails_are_said_to_be_set() {
    let lab = Lab::new();
    let (server, _) = shop(&lab);
    server.git(&["config", "hydrate.helm", "/no/such/helm"]);
    server.git(&["config", "hydrate.kustomize", "/no/such/kustomize"]);
    let answer = server.hydrate(&["config", "set", "renderer", "exec"]);
    assert_ne!(answer.code, Some(2), "{answer:?}");
    assert!(server.git(&["show", &format!("{CONFIG}:settings.yaml")]).contains("renderer: exec"), "{answer:?}");
}

#[test]
fn settings_that_find_no_application_any_more_empty_no_branch_and_are_not_called_up_to_date() {
    let lab = Lab::new();
    let (server, clone) = shop(&lab);
    let tip = || server.git(&["rev-parse", "environments/dev"]);
    let before = tip();
    let answer = server.hydrate(&["config", "set", "applications", "deploy/**"]);
    let told = format!("{}{}", answer.stdout, answer.stderr);
    assert!(told.contains("this commit would empty `environments/dev`, which 2 Applications write"), "{answer:?}");
    assert!(told.contains("the settings have changed which Applications are hydrated"), "{answer:?}");
    let status = server.hydrate(&["status"]).exits(1);
    assert!(!status.stdout.contains("up to date"), "{status:?}");
    clone.git(&["commit", "-q", "--allow-empty", "-m", "on"]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("environments/dev   stays at"), "{told}");
    assert_eq!(tip(), before);
    server.hydrate(&["config", "unset", "applications"]).success();
    server.hydrate(&["status"]).success();
    assert_eq!(tip(), before);
}
