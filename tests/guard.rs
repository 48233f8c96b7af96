//! Nobody but hydration moves what hydration owns, whatever a push tries; who is named by the admin may add to it.

use crate::push::{application, config_map, dry, healthy, note, note_of, tip};
use crate::support::{Answer, Lab, Repo};

const PROD: &str = "environments/prod";

/// A server with two hydrated branches and settings, and a clone that knows all of its refs.
fn guarded(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    server.hydrate(&["config", "set", "history", "tip"]).success();
    clone.push().success();
    server.git(&["update-ref", "refs/hydrate/failures", "main"]);
    server.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/environments/prod"]);
    clone.git(&["fetch", "-q", "origin", "+refs/*:refs/server/*"]);
    (server, clone)
}

fn refs(repo: &Repo) -> String {
    let refs = repo.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    refs.lines().filter(|line| !line.starts_with("refs/heads/main ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_hydration_owns_is_closed_to_every_kind_of_push() {
    let rows: [(&str, &[&str]); 25] = [
        ("a commit on top", &["edited:environments/prod"]),
        ("other commits", &["--force", "main:environments/prod"]),
        ("a rewind", &["--force", "refs/server/heads/environments/prod~1:refs/heads/environments/prod"]),
        ("a deletion", &[":environments/prod"]),
        ("with others, at once", &["--atomic", "main:refs/heads/another", "edited:environments/prod"]),
        ("through a symbolic ref", &["edited:refs/heads/alias"]),
        ("notes", &["main:refs/notes/hydrator.metadata", "--force"]),
        ("notes away", &[":refs/notes/hydrator.metadata"]),
        ("settings", &["main:refs/hydrate/config", "--force"]),
        ("settings away", &[":refs/hydrate/config"]),
        ("failures", &["edited:refs/hydrate/failures", "--force"]),
        ("more records", &["main:refs/hydrate/more"]),
        ("in the way of the notes", &["main:refs/notes/hydrator.metadata/x"]),
        ("a branch that Applications name", &["main:refs/heads/environments/test"]),
        ("below a branch that Applications name", &["main:refs/heads/environments/test/x"]),
        ("in the way of a branch that Applications name", &["main:refs/heads/staging"]),
        ("another object in place of one", &["main:refs/replace/1111111111111111111111111111111111111111"]),
        ("in the way of replacements", &["main:refs/replace/x/y"]),
        ("a tag of the branch's name", &["main:refs/tags/environments/prod"]),
        ("a tag of the name that the branch has in clones", &["main:refs/tags/origin/environments/prod"]),
        ("a ref that git takes for the branch", &["main:refs/environments/prod"]),
        ("a tag of the dry branch's name", &["edited:refs/tags/main"]),
        ("a branch of the dry branch's full name", &["main:refs/heads/refs/heads/main"]),
        ("a tag of the branch's full name", &["main:refs/tags/refs/heads/environments/prod"]),
        ("a ref of the full name of a branch to come", &["main:refs/refs/heads/topic"]),
    ];
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    let (file, text) = application("web", "test");
    let (staging_file, staging) = application("web", "staging");
    let staging = staging.replace("environments/staging", "staging/web");
    let bad = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: web\n";
    let files = [(file.as_str(), text.as_str()), ("apps/web/test/config.yaml", bad)];
    let staging = [(staging_file.as_str(), staging.as_str()), ("apps/web/staging/config.yaml", bad)];
    clone.commit("Applications that fail", &[files, staging].concat());
    clone.push().success();
    clone.git(&["checkout", "-q", "-b", "edited", &format!("refs/server/heads/{PROD}")]);
    clone.commit("edit by hand", &[("web/manifest.yaml", "kind: ConfigMap\n")]);
    clone.git(&["checkout", "-q", "main"]);
    let before = refs(&server);
    for hidden in [false, true] {
        if hidden {
            server.install_without_settings();
            let values = server.git(&["config", "--get-all", "receive.hideRefs"]);
            assert!(values.lines().any(|line| line == "refs/heads/environments/prod"), "{values}");
        }
        for (name, args) in rows {
            let answer = clone.run("git", &[&["push", "origin"], args].concat()).exits(1);
            assert_eq!(refs(&server), before, "{name}: {answer:?}");
            let by_us = answer.remote().first().is_some_and(|line| line.starts_with("error: "));
            // git finds nothing to delete where it is told of nothing.
            assert!(by_us || hidden && answer.stderr.contains("remote ref does not exist"), "{name}: {answer:?}");
        }
    }
    // Without our hook, what is hidden stays closed.
    std::fs::remove_file(server.path.join("hooks/pre-receive")).expect("removed");
    for (name, args) in &rows[..4] {
        clone.run("git", &[&["push", "origin"], *args].concat()).exits(1);
        assert_eq!(refs(&server), before, "{name}");
    }
    healthy(&server);
}

#[test]
fn the_pusher_reads_what_to_do_instead() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    clone.git(&["checkout", "-q", "-b", "edited", &format!("refs/server/heads/{PROD}")]);
    clone.commit("edit by hand", &[("web/manifest.yaml", "kind: ConfigMap\n")]);
    let told = clone.run("git", &["push", "origin", "edited:environments/prod"]).exits(1);
    let expected = [
        "error: `environments/prod` is hydrated from `main`: pushes to it are refused",
        "--> applications/prod/web.yaml:15:13",
        "= application: web-prod",
        "= hint: change apps/web/prod on `main` instead, and push that",
    ];
    assert_eq!(told.remote(), expected, "a place, and nothing of what is there");
    let told = clone.run("git", &["push", "origin", ":environments/prod"]).exits(1);
    let hint = "= hint: remove its Applications from `main`: applications/prod/api.yaml, applications/prod/web.yaml";
    assert_eq!(told.remote(), ["error: `environments/prod` is hydrated from `main`: it cannot be deleted", hint]);
    // What is not ours goes in as ever, also a copy of what is, and a mirror that holds nothing of ours.
    clone.git(&["push", "-q", "origin", "edited:refs/heads/mine"]);
    clone.git(&["push", "-q", "origin", ":refs/heads/mine", "main:refs/tags/v1"]);
    server.install_without_settings();
    server.git(&["symbolic-ref", "-d", "refs/heads/alias"]);
    let mirror = server.clone_to("mirror");
    mirror.commit("a commit", &[("NOTES", "text")]);
    mirror.git(&["remote", "remove", "origin"]);
    mirror.git(&["push", "-q", "--mirror", server.path.to_str().expect("UTF-8")]);
    assert_eq!(tip(&server, "main"), tip(&mirror, "main"));
    assert_eq!(note(&server, PROD), note_of(&tip(&server, "main")), "the branches are there still");
}

#[test]
fn a_promoter_adds_and_the_note_is_put_right_at_once() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    server.git(&["config", "hydrate.promoted", PROD]);
    server.allow("hydrate.promoter");
    let prod = tip(&server, PROD);
    clone.git(&["checkout", "-q", "-b", "promote", &prod]);
    clone.git(&["merge", "-q", "--no-ff", "-s", "ours", "--allow-unrelated-histories", "-m", "Promote", "main"]);
    clone.git(&["push", "-q", "origin", "HEAD:environments/prod"]);
    let merge = tip(&server, PROD);
    assert_eq!(merge, clone.git(&["rev-parse", "HEAD"]));
    assert_eq!(note(&server, PROD), note_of(&tip(&server, "main")));
    // One that changes what hydration wrote is followed by what the dry commit says.
    clone.commit("wrong", &[("web/manifest.yaml", "kind: ConfigMap\n")]);
    clone.git(&["push", "-q", "origin", "HEAD:environments/prod"]);
    assert_eq!(server.git(&["rev-parse", &format!("{PROD}~1")]), clone.git(&["rev-parse", "HEAD"]));
    let manifest = |commit: &str| server.git(&["rev-parse", &format!("{commit}:web/manifest.yaml")]);
    assert_eq!(manifest(PROD), manifest(&prod));
    assert_eq!(note(&server, PROD), note_of(&tip(&server, "main")));
    let before = refs(&server);
    for args in [&[":environments/prod"][..], &["--force", "HEAD~1:environments/prod"]] {
        let told = clone.run("git", &[&["push", "origin"], args].concat()).exits(1);
        assert!(told.remote()[0].contains("may add commits to `environments/prod`, but not remove any"), "{told:?}");
    }
    // Not to other branches, and nobody else.
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-B", "promote", "origin/environments/dev"]);
    clone.commit("on dev", &[("OWNERS", "us\n")]);
    clone.run("git", &["push", "origin", "HEAD:environments/dev"]).exits(1);
    server.git(&["config", "hydrate.promoter", "somebody"]);
    clone.git(&["checkout", "-q", "-B", "promote", "origin/environments/prod"]);
    clone.commit("on prod", &[("OWNERS", "us\n")]);
    clone.run("git", &["push", "origin", "HEAD:environments/prod"]).exits(1);
    assert_eq!(refs(&server), before);
    healthy(&server);
}

#[test]
fn a_branch_of_the_team_that_looks_like_ours_stays_the_teams() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    let id = clone.git(&["rev-parse", "HEAD"]);
    for branch in ["main", "feature"] {
        let trailers =
            format!("slip\n\nHydrate-Branch: {branch}\nHydrate-Dry: {id}\nHydrate-Dry-Branch: main\nHydrate-Engine: 1");
        clone.commit(&trailers, &[]);
        clone.git(&["push", "-q", "origin", &format!("HEAD:refs/heads/{branch}")]);
        let next = clone.commit("on top of it", &[]);
        clone.git(&["push", "-q", "origin", &format!("HEAD:refs/heads/{branch}")]);
        assert_eq!(tip(&server, branch), next);
    }
    assert_eq!(note(&server, PROD), note_of(&tip(&server, "main")), "main is still hydrated");
}

#[test]
fn a_gate_that_was_there_goes_first_and_its_no_stands() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.hook("hooks/pre-receive", "#!/bin/sh\necho \"theirs $#\"\ngrep -q refs/heads/no && exit 3\nexit 0\n");
    server.install_without_settings();
    let clone = dry(&server, &["web"], &["dev"]);
    assert_eq!(clone.push().success().remote()[0], "theirs 0");
    let told = clone.run("git", &["push", "origin", "main:refs/heads/no"]).exits(1);
    assert_eq!(told.remote(), ["theirs 0"]);
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "origin/environments/dev"]);
    clone.commit("by hand", &[("web/manifest.yaml", &config_map("web", "mine"))]);
    let told = clone.run("git", &["push", "origin", "HEAD:refs/heads/environments/dev"]).exits(1);
    assert!(told.remote()[1].starts_with("error: `environments/dev` is hydrated"), "{told:?}");
    server.hydrate(&["uninstall"]).success();
    clone.git(&["push", "-q", "origin", "HEAD:refs/heads/environments/dev"]);
}

#[test]
fn what_cannot_be_judged_does_not_go_in() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    server.git(&["config", "hydrate.promoted", "[a"]);
    clone.commit("next", &[]);
    let told = clone.push().exits(1);
    assert!(told.remote().join(" ").contains("hydrate.promoted: `[a` is not a valid pattern"), "{told:?}");
    server.git(&["config", "hydrate.guard", "false"]);
    clone.push().success();
}

#[test]
fn a_file_system_that_ignores_case_opens_no_other_way() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    // As `git init` finds it on such a file system.
    server.git(&["config", "core.ignoreCase", "true"]);
    let (file, text) = application("web", "test");
    let bad = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: web\n";
    clone.commit("an Application that fails", &[(&file, &text), ("apps/web/test/config.yaml", bad)]);
    clone.push().success();
    let before = refs(&server);
    for name in [
        "refs/heads/Environments/prod",
        "refs/heads/environments/Test",
        "refs/heads/ENVIRONMENTS/test/x",
        "refs/heads/environments/PROD/x",
        "refs/heads/Environments",
        "refs/Hydrate/config",
        "refs/notes/Hydrator.metadata",
        "refs/Replace/1111111111111111111111111111111111111111",
    ] {
        let told = clone.run("git", &["push", "origin", &format!("main:{name}")]).exits(1);
        assert!(told.remote().first().is_some_and(|line| line.starts_with("error: ")), "{name}: {told:?}");
    }
    assert_eq!(refs(&server), before);
    clone.git(&["push", "-q", "origin", "main:refs/heads/Feature/x"]);
}

#[test]
fn a_push_in_a_namespace_is_about_the_refs_of_the_namespace() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    let before = ["main", "environments/dev"].map(|branch| tip(&server, branch));
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    let mut push = clone.command("git");
    let told = push.env("GIT_NAMESPACE", "team").args(["push", "origin", "main"]).output().expect("runs");
    Answer::new(told).success();
    assert_eq!(server.git(&["rev-parse", "refs/namespaces/team/refs/heads/main"]), tip(&clone, "main"));
    assert_eq!(["main", "environments/dev"].map(|branch| tip(&server, branch)), before);
    assert_eq!(
        server.git(&[
            "for-each-ref",
            "refs/namespaces/team/refs/heads/environments",
            "refs/namespaces/team/refs/notes"
        ]),
        ""
    );
    // A link of the namespace leads to no guarded branch.
    server.git(&["symbolic-ref", "refs/namespaces/team/refs/heads/link", "refs/heads/environments/prod"]);
    let mut push = clone.command("git");
    push.env("GIT_NAMESPACE", "team").args(["push", "--force", "origin", "main:refs/heads/link"]);
    let told = Answer::new(push.output().expect("runs")).exits(1);
    assert!(told.remote()[0].contains("`environments/prod` is hydrated from `main`"), "{told:?}");
}

/// How often git is asked for all refs while something is pushed, on a reftable, which only git reads.
fn listings(clone: &Repo, refspec: &str) -> usize {
    let trace = clone.path.join("trace");
    let trace = trace.to_str().expect("a path");
    let args = [&format!("GIT_TRACE2_EVENT={trace}"), "git", "push", "-q", "origin", refspec];
    clone.run("env", &args).success();
    let events = std::fs::read_to_string(trace).expect("written");
    std::fs::remove_file(trace).expect("there");
    events.lines().filter(|line| line.contains("\"start\"") && line.contains("for-each-ref")).count()
}

#[test]
fn many_refs_in_one_push_cost_no_more_looks_at_the_refs_than_one() {
    let lab = Lab::new();
    let server = lab.bare(&["--ref-format=reftable"]);
    server.install_without_settings();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.git(&["tag", "one"]);
    let one = listings(&clone, "refs/tags/one");
    (0..40).for_each(|n| drop(clone.git(&["tag", &format!("many/{n}")])));
    assert!(one > 0);
    assert_eq!(listings(&clone, "refs/tags/many/*:refs/tags/many/*"), one);
}

#[test]
fn refs_that_make_a_push_of_another_one_fail_are_refused_and_those_that_are_there_can_be_deleted() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    let told = clone.run("git", &["push", "origin", "main:refs/heads/refs/heads/main"]).exits(1);
    let expected = [
        "error: git would take `refs/heads/refs/heads/main` for `refs/heads/main` when somebody pushes that by name",
        "= hint: choose another name: one that does not begin with `refs/`",
    ];
    assert_eq!(told.remote(), expected);
    let names = ["refs/heads/refs/heads/main", "refs/tags/refs/heads/environments/prod", "refs/tags/refs/heads/other"];
    for name in names {
        server.git(&["update-ref", name, "main"]);
    }
    let told = clone.run("git", &["push", "origin", "main"]).exits(1).stderr;
    assert!(told.contains("matches more than one"), "{told}");
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    let what = "bad      the repository has `refs/heads/refs/heads/main`, `refs/tags/refs/heads/environments/prod`, which git \
                takes for `refs/heads/environments/prod`, `refs/heads/main` when somebody pushes that by name\n";
    assert!(told.contains(what), "{told}");
    assert!(told.contains("update-ref -d refs/heads/refs/heads/main && git "), "{told}");
    for name in names {
        clone.git(&["push", "-q", "origin", "--delete", name]);
    }
    clone.git(&["push", "-q", "origin", "main"]);
    assert!(!server.hydrate(&["doctor"]).stdout.contains("git takes for"));
}

/// As one that was there before an Application named the branch.
#[test]
fn a_tag_that_git_shows_in_place_of_a_branch_is_named_and_can_be_deleted() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    let said = "`refs/tags/environments/prod` hides the branch `environments/prod`";
    for told in [server.hydrate(&["doctor"]), server.hydrate(&["status"]), clone.hydrate(&["status"])] {
        assert!(!told.stdout.contains("hides the branch"), "{told:?}");
    }
    server.git(&["update-ref", "refs/tags/environments/prod", "main"]);
    server.git(&["update-ref", "refs/tags/v1", "main"]);
    clone.git(&["fetch", "-q", "--tags", "origin"]);
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(told.contains(said) && told.contains("update-ref -d refs/tags/environments/prod\n"), "{told}");
    let told = server.hydrate(&["status"]).stdout;
    assert!(told.contains(said) && told.contains("hint: git update-ref -d refs/tags/environments/prod"), "{told}");
    let told = clone.hydrate(&["status"]).stdout;
    let hint = "hint: git push origin --delete refs/tags/environments/prod; and here: git update-ref -d refs/tags/environments/prod";
    assert!(told.contains(said) && told.contains(hint), "{told}");
    let told = clone.hydrate(&["doctor", "origin"]).exits(1).stdout;
    assert!(told.contains(&format!("origin: {said}")), "{told}");
    clone.git(&["push", "-q", "origin", "--delete", "refs/tags/environments/prod"]);
    clone.git(&["update-ref", "-d", "refs/tags/environments/prod"]);
    for told in [server.hydrate(&["doctor"]), clone.hydrate(&["status"]), clone.hydrate(&["doctor", "origin"])] {
        assert!(!told.stdout.contains("hides the branch"), "{told:?}");
    }
    clone.git(&["push", "-q", "origin", "main:refs/tags/v2"]);
}

#[test]
fn the_settings_are_open_to_who_may_push_them_whatever_hides_them_was_set_before() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    // As it is after the values of another place were copied.
    server.git(&["config", "receive.hideRefs", "!refs/hydrate/config"]);
    server.git(&["config", "hydrate.pusherVariable", "HYDRATE_USER"]);
    server.git(&["config", "hydrate.settingsPusher", "alice"]);
    server.hydrate(&["install", "--server"]).success();
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(!told.contains("it is hidden"), "{told}");
    let values = server.git(&["config", "--get-all", "receive.hideRefs"]);
    assert!(values.ends_with("refs/replace\n!refs/hydrate/config"), "{values}");
    let again = server.hydrate(&["install", "--server"]).success().stdout;
    assert!(!again.contains("receive.hideRefs"), "{again}");
    assert_eq!(server.git(&["config", "--get-all", "receive.hideRefs"]), values);
}

#[test]
fn a_dry_branch_that_is_not_there_keeps_its_name() {
    let lab = Lab::new();
    let (server, clone) = guarded(&lab);
    server.hydrate(&["config", "set", "dryBranches", "main", "releases/2"]).success();
    for name in ["releases", "releases/2/x"] {
        let said =
            clone.run("git", &["push", "origin", &format!("main:refs/heads/{name}")]).exits(1).remote().join(" ");
        assert!(said.contains(&format!("the branch `{name}` would be in the way of `releases/2`")), "{said}");
    }
    clone.run("git", &["push", "origin", "main:releases/2"]).success();
}

#[test]
fn an_installation_says_that_a_promoter_has_no_effect_while_pushers_have_no_names() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.promoter", "bot"]);
    let told = server.hydrate(&["install", "--server"]).success().stdout;
    let line = "hydrate.promoter has no effect: hydrate.pusherVariable, which names who pushes, is not set";
    assert!(told.contains(line) && told.contains(" config hydrate.pusherVariable VARIABLE"), "{told}");
    server.git(&["config", "hydrate.pusherVariable", "GIT_AUTHOR_NAME"]);
    let told = server.hydrate(&["install", "--server"]).success().stdout;
    assert!(!told.contains("has no effect"), "{told}");
}
