//! `hydrate::<url>`: what plain git gets through the remote helper.

use crate::push::{application, config_map, dry, healthy, tip};
use crate::support::{Answer, Lab, Repo};

fn git(lab: &Lab, args: &[&str]) -> Answer {
    Answer::new(lab.command("git", &lab.path("")).args(args).output().expect("git runs"))
}

fn address(repo: &Repo) -> String {
    format!("hydrate::file://{}", repo.path.display())
}

/// Clones through the helper.
fn clone(lab: &Lab, url: &str, args: &[&str]) -> Answer {
    git(lab, &[&["clone", url, "hydrated"], args].concat())
}

fn hydrated(lab: &Lab, args: &[&str]) -> String {
    let answer = git(lab, &[&["-C", "hydrated"], args].concat()).success();
    answer.stdout.trim_end_matches('\n').to_owned()
}

fn fetched(lab: &Lab) -> String {
    let format = "--format=%(refname:lstrip=3) %(objectname)";
    let all = hydrated(lab, &["for-each-ref", format, "refs/remotes/origin"]);
    all.lines().filter(|line| !line.starts_with("HEAD ")).collect::<Vec<_>>().join("\n")
}

fn environments(server: &Repo) -> String {
    let format = "--format=%(refname:lstrip=2) %(objectname)";
    server.git(&["for-each-ref", format, "refs/heads/environments"])
}

fn change(clone: &Repo, name: &str, env: &str, value: &str) -> String {
    let file = format!("apps/{name}/{env}/config.yaml");
    clone.commit(&format!("{name} on {env}: {value}"), &[(&file, &config_map(name, value))])
}

#[test]
fn what_upstream_has_not_hydrated_yet_gets_the_ids_that_its_server_makes() {
    let lab = Lab::new();
    let server = lab.server();
    let dry = dry(&server, &["web", "api"], &["dev", "prod"]);
    let (file, text) = application("web", "stage");
    let staged = format!("{text}    hydrateTo:\n      targetBranch: environments/stage-next\n");
    dry.commit("stage", &[(&file, &staged), ("apps/web/stage/config.yaml", &config_map("web", "stage"))]);
    dry.push().success();
    let refs = ["environments/dev", "environments/prod", "environments/stage-next"];
    let old: Vec<String> = refs.iter().map(|branch| tip(&server, branch)).collect();
    let old_notes = server.git(&["rev-parse", "refs/notes/hydrator.metadata"]);
    for (push, env) in [("one", "dev"), ("two", "stage"), ("three", "dev")] {
        change(&dry, "web", env, push);
        change(&dry, "api", "dev", push);
        dry.commit("docs: nothing rendered", &[("NOTES", push)]);
        dry.push().success();
    }
    let expected = environments(&server);
    let notes = |repo: &Repo| -> Vec<String> {
        let notes = repo.git(&["notes", "--ref=hydrator.metadata", "list"]);
        let mut notes: Vec<String> = notes.lines().map(str::to_owned).collect();
        notes.sort();
        notes
    };
    let expected_notes = notes(&server);
    for (branch, old) in refs.iter().zip(&old) {
        server.git(&["update-ref", &format!("refs/heads/{branch}"), old]);
    }
    server.git(&["update-ref", "refs/notes/hydrator.metadata", &old_notes]);
    assert_ne!(environments(&server), expected);
    clone(&lab, &address(&server), &["--mirror"]).success();
    let mirror = Repo::at(&lab, "hydrated");
    assert_eq!(environments(&mirror), expected);
    assert_eq!(notes(&mirror), expected_notes);
    let refs = mirror.git(&["for-each-ref", "--format=%(refname)"]);
    let others: Vec<&str> = refs.lines().filter(|name| !name.starts_with("refs/heads/environments/")).collect();
    assert_eq!(others, ["refs/notes/hydrator.metadata"]);
    assert_ne!(environments(&server), expected, "upstream is only read");
    healthy(&mirror);
}

#[test]
fn each_fetch_continues_the_one_before() {
    let lab = Lab::new();
    let bare = lab.bare(&[]);
    let dry = dry(&bare, &["web", "api"], &["dev", "prod"]);
    dry.push().success();
    let answer = clone(&lab, &address(&bare), &[]).success();
    assert!(answer.stderr.contains("environments/dev   new -> "), "{}", answer.stderr);
    assert_eq!(hydrated(&lab, &["symbolic-ref", "HEAD"]), "refs/heads/environments/dev");
    assert!(hydrated(&lab, &["show", "HEAD:web/manifest.yaml"]).contains("value: dev"));
    let first = fetched(&lab);
    assert_eq!(hydrated(&lab, &["fetch"]), "");
    assert_eq!(fetched(&lab), first);
    change(&dry, "web", "dev", "one");
    change(&dry, "web", "prod", "two");
    dry.push().success();
    let answer = git(&lab, &["-C", "hydrated", "pull", "--ff-only"]).success();
    assert!(answer.stderr.contains("environments/prod  "), "{}", answer.stderr);
    assert!(hydrated(&lab, &["show", "HEAD:web/manifest.yaml"]).contains("value: one"));
    let continued = fetched(&lab);
    assert_ne!(continued, first);
    // A server that was there from the start makes the same.
    let first_push = dry.git(&["rev-parse", "HEAD~2"]);
    bare.install_without_settings();
    bare.git(&["update-ref", "refs/heads/main", &first_push]);
    bare.hydrate(&["catch-up"]).success();
    dry.push().success();
    assert_eq!(environments(&bare), continued);
    assert_eq!(hydrated(&lab, &["fetch"]), "");
    assert_eq!(fetched(&lab), continued, "upstream has caught up");
    // What upstream makes of its branches holds, whatever was served before.
    bare.git(&["update-ref", "-d", "refs/heads/environments/prod"]);
    bare.git(&["config", "core.hooksPath", "/nonexistent"]);
    let dev = tip(&bare, "environments/dev");
    bare.git(&["update-ref", "refs/heads/environments/dev", &format!("{dev}~1")]);
    assert!(!hydrated(&lab, &["ls-remote"]).contains(&continued[continued.find("prod ").expect("there") + 5..]));
    hydrated(&lab, &["fetch"]);
    assert!(fetched(&lab).contains(&dev), "continued, not rewound");
}

#[test]
fn a_dry_branch_that_does_not_render_keeps_what_there_was() {
    let lab = Lab::new();
    let bare = lab.bare(&[]);
    let dry = dry(&bare, &["web"], &["dev", "prod"]);
    dry.push().success();
    clone(&lab, &address(&bare), &["-q"]).success();
    let before = fetched(&lab);
    dry.commit("break", &[("apps/web/dev/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n")]);
    dry.push().success();
    for _ in 0..2 {
        let answer = git(&lab, &["-C", "hydrated", "fetch", "-q"]).success();
        assert!(answer.stderr.contains("apps/web/dev/config.yaml:4:1"), "{}", answer.stderr);
        assert_eq!(fetched(&lab), before);
    }
}

#[test]
fn every_kind_of_repository_is_served() {
    for args in [["--object-format=sha256"], ["--ref-format=reftable"]] {
        let lab = Lab::new();
        let bare = lab.bare(&args);
        dry(&bare, &["web"], &["dev"]).push().success();
        let answer = clone(&lab, &format!("hydrate::{}", bare.path.display()), &["-q"]);
        assert_eq!(answer.success().stderr, "", "{args:?}");
        assert!(hydrated(&lab, &["show", "HEAD:web/manifest.yaml"]).contains("value: dev"), "{args:?}");
        assert_eq!(hydrated(&lab, &["fsck", "--strict", "--no-dangling"]), "", "{args:?}");
    }
}

#[test]
fn depth_and_filters_are_between_git_and_git() {
    let lab = Lab::new();
    let bare = lab.bare(&[]);
    dry(&bare, &["web"], &["dev"]).push().success();
    clone(&lab, &address(&bare), &["-q", "--depth=1", "--filter=blob:none", "--branch=environments/dev"]).success();
    assert_eq!(hydrated(&lab, &["rev-list", "--count", "HEAD"]), "1");
    assert!(hydrated(&lab, &["show", "HEAD:web/manifest.yaml"]).contains("value: dev"));
}

#[test]
fn what_cannot_be_served_is_refused_with_the_way_out() {
    let lab = Lab::new();
    let bare = lab.bare(&[]);
    let url = address(&bare);
    let refused = |args: &[&str], expected: &str| {
        let answer = git(&lab, args).exits(128);
        assert!(answer.stderr.contains(expected), "{args:?}: {}", answer.stderr);
    };
    refused(&["ls-remote", &url], "has no commit yet");
    let dry = dry(&bare, &["web"], &["dev"]);
    dry.git(&["push", "-q", "origin", "HEAD~0:refs/heads/main"]);
    git(&lab, &["clone", "-q", "--depth=1", &format!("file://{}", bare.path.display()), "shallow"]).success();
    // A root commit cannot be cut off; its child can.
    change(&dry, "web", "dev", "one");
    dry.push().success();
    git(&lab, &["-C", "shallow", "fetch", "-q", "--depth=1"]).success();
    git(&lab, &["-C", "shallow", "reset", "-q", "--hard", "origin/main"]).success();
    let shallow = format!("hydrate::file://{}", lab.path("shallow").display());
    refused(&["ls-remote", &shallow], "run `git fetch --unshallow` in it");
    git(&lab, &["-C", "shallow", "fetch", "-q", "--unshallow"]).success();
    git(&lab, &["ls-remote", &shallow]).success();
    refused(&["ls-remote", "hydrate::file:///nonexistent"], "file:///nonexistent cannot be read");
    refused(&["ls-remote", "hydrate::dry.git"], "write hydrate::/path/to/it");
    refused(&["ls-remote", "hydrate://example.com/dry.git"], "such as hydrate::https://example.com/dry.git");
    refused(&["ls-remote", &format!("hydrate::{url}")], "write `hydrate::` once");
    clone(&lab, &url, &["-q"]).success();
    refused(&["-C", "hydrated", "push", "origin", "HEAD"], "git remote set-url --push origin file://");
    let mut looping = lab.command("git", &lab.path(""));
    looping.env("GIT_REMOTE_HYDRATE", "1").args(["ls-remote", &url]);
    let answer = Answer::new(looping.output().expect("runs")).exits(128);
    assert!(answer.stderr.contains("cannot itself begin with hydrate::"), "{}", answer.stderr);
    let nothing = Repo::at(&lab, "shallow");
    nothing.git(&["rm", "-rq", "applications"]);
    nothing.git(&["commit", "-qm", "no Application"]);
    refused(&["ls-remote", &format!("hydrate::{}", nothing.path.display())], "no Application of");
}

#[test]
fn fetches_at_once_wait_for_each_other() {
    let lab = Lab::new();
    let bare = lab.bare(&[]);
    dry(&bare, &["web"], &["dev", "prod"]).push().success();
    let url = address(&bare);
    let children: Vec<_> = (0..4)
        .map(|_| {
            let mut command = lab.command("git", &lab.path(""));
            command.args(["ls-remote", &url]).stdout(std::process::Stdio::piped());
            command.spawn().expect("starts")
        })
        .collect();
    let answers: Vec<String> = children
        .into_iter()
        .map(|child| Answer::new(child.wait_with_output().expect("ends")).success().stdout)
        .collect();
    assert!(answers[0].contains("refs/heads/environments/prod"));
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[test]
fn what_needs_dry_branches_is_refused_in_a_clone_of_hydrated_ones() {
    let lab = Lab::new();
    let server = lab.server();
    dry(&server, &["web"], &["dev"]).push().success();
    clone(&lab, &address(&server), &[]).success();
    let clone = Repo::at(&lab, "hydrated");
    for command in ["status", "verify", "plan", "diff"] {
        let told = clone.hydrate(&[command]).exits(2).stderr;
        let from = format!("file://{}", server.path.display());
        let expected = format!(
            "error: `origin` has hydrated branches only, made here from {from}\nhint: run it in a clone of {from}\n"
        );
        assert_eq!(told, expected, "{command}");
    }
}

#[test]
fn an_address_that_looks_like_an_option_is_refused_and_makes_no_clone() {
    let lab = Lab::new();
    for option in
        ["--help", "-h", "--version", "--json", "--request=true,1", "--request", "-x", "--", "--upload-pack=touch x"]
    {
        let answer = clone(&lab, &format!("hydrate::{option}"), &[]).exits(128);
        let expected = format!("error: `{option}` is not the address of a repository\n");
        assert!(answer.stderr.contains(&expected) && answer.stdout.is_empty(), "{option}: {answer:?}");
        assert!(!lab.path("hydrated").exists(), "{option}");
    }
    // A remote's name is handed over too.
    let repo = lab.bare(&[]);
    repo.git(&["config", "remote.--json.url", "hydrate::-x"]);
    let answer = repo.run("git", &["fetch", "--", "--json"]).exits(128);
    assert!(answer.stderr.contains("error: `-x` is not the address of a repository\n"), "{answer:?}");
}
