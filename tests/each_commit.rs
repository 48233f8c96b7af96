//! What the commits of a change do on the way, where each is hydrated by itself: a preview of the last one alone shows no trace of
//! it.

use crate::forged::{fed, forge_settings, hydrated};
use crate::push::{application, config_map, dry};
use crate::support::{Answer, Lab, Repo};

const PROD: &str = "environments/prod";

/// What is said of commits that leave an object which the last one alone does not have.
const OTHERWISE: &str = "leave `environments/prod` otherwise than the last one alone: it has ClusterRoleBinding.rbac";

/// Where an object is that comes and goes.
const ODD: &str = "apps/web/prod/odd.yaml";

/// A request whose first commit brings an object.
fn bring(clone: &Repo) {
    const BINDING: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: odd}\n";
    clone.git(&["checkout", "-q", "-b", "request"]);
    clone.commit("feat: a cache", &[(ODD, BINDING)]);
}

/// A commit that takes it away again and pauses its Application, so that it stays.
fn pause(clone: &Repo) {
    let (file, text) = application("web", "prod");
    let name = "  name: web-prod\n";
    let paused = text.replace(name, &format!("{name}  annotations: {{git-hydrate/paused: \"true\"}}\n"));
    assert_ne!(text, paused);
    clone.git(&["rm", "-q", ODD]);
    clone.commit("chore: pause", &[(&file, &paused)]);
}

fn bring_and_pause(clone: &Repo) {
    bring(clone);
    pause(clone);
}

/// A commit that has it be no manifest any more: that is an error, so it stays.
fn rename(clone: &Repo) {
    clone.git(&["mv", ODD, "apps/web/prod/odd.yaml.bak"]);
    clone.commit("chore: a backup", &[]);
}

/// What a reviewer's new clone shows of the request.
fn reviewed(host: &Repo, name: &str, args: &[&str]) -> (Answer, String) {
    let reviewer = host.clone_to(name);
    reviewer.git(&["checkout", "-q", "request"]);
    let shown = reviewer.hydrate(&[&["diff"], args].concat());
    let said = [shown.stdout.as_str(), &shown.stderr].concat();
    (shown, said)
}

/// Commits on top of `branch` that each write one file, without a process for each.
fn many_commits(clone: &Repo, branch: &str, count: usize) {
    let before = clone.git(&["rev-parse", branch]);
    let mut stream = String::new();
    for number in 0..count {
        let from = if number == 0 { format!("from {before}\n") } else { String::new() };
        stream += &format!(
            "commit refs/heads/{branch}\ncommitter A <a@example.com> {} +0000\ndata 1\nx\n{from}\
             M 100644 inline notes.txt\ndata <<END\n{number}\nEND\n",
            1_800_000_000 + number
        );
    }
    fed(clone, &["fast-import", "--quiet"], &stream);
}

#[test]
fn what_commits_do_on_the_way_is_shown_where_a_later_one_hides_it() {
    type Second = fn(&Repo);
    for (name, second) in [("paused", pause as Second), ("renamed", rename)] {
        let lab = Lab::new();
        let (host, clone) = hydrated(&lab);
        bring(&clone);
        second(&clone);
        clone.push().success();
        let reviewer = host.clone_to("reviewer");
        reviewer.git(&["checkout", "-q", "request"]);
        for args in [&["diff"] as &[&str], &["diff", "--markdown"], &["diff", "--json"]] {
            let shown = reviewer.hydrate(args);
            let said = [shown.stdout.as_str(), &shown.stderr].concat();
            assert!(shown.code == Some(1) && said.contains(OTHERWISE), "{name} {args:?} {said}");
        }
        // That is what becomes of them.
        clone.git(&["push", "-q", "origin", "request:main"]);
        host.clone_to("job-2").hydrate(&["push"]);
        assert!(host.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("name: odd"), "{name}");
    }
}

#[test]
fn commits_that_end_as_the_last_one_does_are_shown_as_before() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    clone.git(&["checkout", "-q", "-b", "request"]);
    let config = "apps/web/prod/config.yaml";
    for text in [config_map("web", "one"), "a: [".to_owned(), config_map("web", "two")] {
        clone.commit("feat: step", &[(config, &text)]);
    }
    clone.push().success();
    let reviewer = host.clone_to("reviewer");
    reviewer.git(&["checkout", "-q", "request"]);
    let shown = reviewer.hydrate(&["diff"]).exits(1);
    assert!(!shown.stdout.contains("error") && !shown.stdout.contains("otherwise"), "{}", shown.stdout);
    // So are they behind main.
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("feat: beside", &[("notes.txt", "x")]);
    clone.push().success();
    reviewer.git(&["fetch", "-q"]);
    let shown = reviewer.hydrate(&["diff"]).exits(1);
    let said = [shown.stdout.as_str(), &shown.stderr].concat();
    assert!(said.contains("compared at the merge base"), "{said}");
    assert!(!said.contains("error") && !said.contains("otherwise") && !said.contains("warning"), "{said}");
}

#[test]
fn what_commits_do_on_the_way_is_shown_of_a_request_that_is_behind_main_too() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    bring_and_pause(&clone);
    clone.push().success();
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("feat: beside", &[("notes.txt", "x")]);
    clone.push().success();
    let (shown, said) = reviewed(&host, "reviewer", &[]);
    assert!(shown.code == Some(1) && said.contains("compared at the merge base") && said.contains(OTHERWISE), "{said}");
    // That is what becomes of them.
    clone.git(&["rebase", "-q", "main", "request"]);
    clone.git(&["push", "-q", "origin", "request:main"]);
    host.clone_to("job-2").hydrate(&["push"]);
    assert!(host.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("name: odd"));
}

#[test]
fn more_commits_than_are_tried_are_no_success_and_are_not_pushed() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    clone.git(&["checkout", "-q", "-b", "request"]);
    many_commits(&clone, "request", 1001);
    clone.git(&["reset", "-q", "--hard"]);
    clone.push().success();
    let expected = "error: these are 1001 commits, of which only what the last one gives is shown: at most 1000 are tried one by one";
    for args in [&[] as &[&str], &["--markdown"], &["--json"]] {
        let (shown, said) = reviewed(&host, &format!("reviewer{}", args.len() + args.concat().len()), args);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.code == Some(1) && said.contains(&expected["error: ".len()..]), "{args:?} {said}");
    }
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "main"]);
    clone.git(&["merge", "-q", "--ff-only", "request"]);
    let refused = clone.push();
    let said = refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(refused.code != Some(0) && said.contains(expected) && said.contains("push blocked"), "{said}");
    // As one merge commit they are hydrated as one.
    clone.git(&["reset", "-q", "--hard", "origin/main"]);
    clone.git(&["merge", "-q", "--no-ff", "-m", "merge", "request"]);
    clone.push().success();
}

#[test]
fn many_commits_that_change_nothing_change_nothing() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    clone.git(&["checkout", "-q", "-b", "request"]);
    many_commits(&clone, "request", 250);
    clone.git(&["reset", "-q", "--hard"]);
    clone.push().success();
    let (shown, said) = reviewed(&host, "reviewer", &[]);
    assert!(shown.code == Some(0) && !said.contains("commits"), "{said}");
}

#[test]
fn commits_of_which_only_the_last_is_hydrated_are_not_tried_one_by_one() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "history", "tip"]).success();
    let clone = dry(&server, &["web"], &["prod"]);
    clone.push().success();
    bring_and_pause(&clone);
    clone.push().success();
    let (_, said) = reviewed(&server, "reviewer", &[]);
    assert!(said.contains("environments/prod") && !said.contains("one by one"), "{said}");
}

#[test]
fn forged_settings_that_only_the_last_is_hydrated_hide_nothing() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    forge_settings(&host, "history: tip");
    bring_and_pause(&clone);
    clone.push().success();
    let (shown, said) = reviewed(&host, "reviewer", &[]);
    assert!(shown.code == Some(1) && said.contains(OTHERWISE), "{said}");
}

#[test]
fn a_request_that_merged_main_is_hydrated_as_one_commit() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    bring_and_pause(&clone);
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("feat: beside", &[("notes.txt", "x")]);
    clone.push().success();
    host.clone_to("job-2").hydrate(&["push"]).success();
    clone.git(&["checkout", "-q", "request"]);
    clone.git(&["merge", "-q", "--no-edit", "main"]);
    clone.push().success();
    let (_, said) = reviewed(&host, "reviewer", &[]);
    assert!(!said.contains("one by one"), "{said}");
    clone.git(&["push", "-q", "origin", "request:main"]);
    host.clone_to("job-3").hydrate(&["push"]).success();
    assert!(!host.git(&["show", &format!("{PROD}:web/manifest.yaml")]).contains("name: odd"));
}

#[test]
fn commits_that_a_shallow_clone_lacks_are_no_success() {
    let lab = Lab::new();
    let (host, clone) = hydrated(&lab);
    bring_and_pause(&clone);
    clone.push().success();
    let url = format!("file://{}", host.path.display());
    let shallow = lab.path("shallow");
    let path = shallow.to_str().expect("text");
    host.git(&["clone", "-q", "--depth", "1", "--no-single-branch", "-b", "request", &url, path]);
    let shallow = Repo::at(&lab, "shallow");
    let shown = shallow.hydrate(&["diff"]).exits(1);
    let said = [shown.stdout.as_str(), &shown.stderr].concat();
    assert!(said.contains("the history of this clone is cut off"), "{said}");
    assert!(said.contains("hint: git fetch --unshallow"), "{said}");
    shallow.git(&["fetch", "-q", "--unshallow"]);
    let shown = shallow.hydrate(&["diff"]).exits(1);
    assert!(shown.stdout.contains(OTHERWISE), "{shown:?}");
}
