//! A clone takes over what its remote published of its renders, and no preview says anything else for it.

use std::process::Stdio;

use serde_json::Value;

use crate::crashes::Random;
use crate::preview_base::{changed, clone_with, diff, edit, write};
use crate::push::{application, config_map, dry};
use crate::support::{Lab, Repo};

/// How many Applications there are beside those that are edited: enough for a server to publish anything.
const FILLERS: usize = 64;

/// The files of Applications whose manifests are larger than those of others.
fn fillers() -> Vec<(String, String)> {
    let all = (0..FILLERS).flat_map(|n| {
        let name = format!("filler-{n}");
        let map = (format!("apps/{name}/dev/map.yaml"), config_map(&name, &"x".repeat(3000)));
        [application(&name, "dev"), map]
    });
    all.collect()
}

fn clone() -> (Lab, Repo) {
    let fillers = fillers();
    let files: Vec<(&str, &str)> = fillers.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone_with(&files)
}

fn server(clone: &Repo) -> Repo {
    clone.beside("dry.git")
}

/// What the server published, by ref.
fn published(server: &Repo) -> String {
    server.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/hydrate/reads"])
}

fn forget(clone: &Repo) {
    let cache = clone.path.join(".git/hydrate/cache");
    if cache.exists() {
        std::fs::remove_dir_all(cache).expect("removed");
    }
}

/// Whether a preview finds out what the branches were rendered from although no filler can be rendered.
fn takes_over(clone: &Repo) -> bool {
    forget(clone);
    clone.git(&["config", "hydrate.fileLimit", "2000"]);
    diff(clone);
    clone.git(&["config", "--unset", "hydrate.fileLimit"]);
    let found = clone.names(".git/hydrate/cache").iter().any(|name| name.ends_with("-base"));
    forget(clone);
    found
}

/// Whether the first preview of a clone says the same with what was published and without.
fn compare(clone: &Repo, what: &str) -> Value {
    forget(clone);
    let with = diff(clone);
    forget(clone);
    clone.git(&["config", "hydrate.sharedCache", "false"]);
    let without = diff(clone);
    clone.git(&["config", "--unset", "hydrate.sharedCache"]);
    assert_eq!(with, without, "{what}");
    with
}

#[test]
fn the_first_preview_of_a_clone_renders_only_what_it_edits() {
    let (_lab, clone) = clone();
    assert!(takes_over(&clone));
    write(&clone, "apps/web/dev/config.yaml", &config_map("web", "edited"));
    assert!(takes_over(&clone));
    assert_eq!(changed(&compare(&clone, "an edit")), 1);
    for (key, value) in [("hydrate.sharedCache", "false"), ("hydrate.settingsRef", "settings")] {
        clone.git(&["config", key, value]);
        assert!(!takes_over(&clone), "{key}");
        clone.git(&["config", "--unset", key]);
    }
    assert!(takes_over(&clone));
    edit(&clone, &|what| compare(&clone, what));
}

#[test]
fn a_push_from_a_new_clone_shows_the_same_with_what_was_published() {
    let (_lab, clone) = clone();
    clone.hydrate(&["install", "--client"]).success();
    clone.commit("Edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    let shown = [true, false].map(|wanted| {
        forget(&clone);
        clone.git(&["config", "hydrate.sharedCache", if wanted { "true" } else { "false" }]);
        clone.run("git", &["push", "--dry-run", "origin", "HEAD"]).success().stderr
    });
    assert!(shown[0].contains("environments/dev"), "{}", shown[0]);
    assert_eq!(shown[0], shown[1]);
}

#[test]
fn a_server_publishes_again_when_a_quarter_is_old_and_what_is_old_does_no_harm() {
    let (_lab, clone) = clone();
    let server = server(&clone);
    let first = published(&server);
    assert_eq!(first.lines().count(), 1, "{first}");
    let path = |n: usize| format!("apps/filler-{n}/dev/map.yaml");
    let push = |count: usize, value: &str| {
        let files: Vec<(String, String)> =
            (0..count).map(|n| (path(n), config_map(&format!("filler-{n}"), value))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        clone.commit("Edit", &files);
        clone.push().success();
        clone.git(&["fetch", "-q"]);
    };
    push(3, "small");
    assert_eq!(published(&server), first);
    assert!(takes_over(&clone), "what is not old");
    write(&clone, "apps/web/dev/config.yaml", &config_map("web", "edited"));
    assert_eq!(changed(&compare(&clone, "old")), 1);
    clone.git(&["checkout", "-q", "."]);
    push(16, &"y".repeat(3000));
    let second = published(&server);
    assert_ne!(second, first);
    assert!(takes_over(&clone), "what was published again");
    push(1, "other");
    assert_eq!(published(&server), second);
}

/// Has the server publish other bytes.
fn forge(server: &Repo, bytes: &[u8]) {
    use std::io::Write as _;
    let mut child = server.command("git");
    child.args(["hash-object", "-w", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(bytes).expect("read");
    let blob = String::from_utf8(child.wait_with_output().expect("ends").stdout).expect("an id");
    let tree = server.run("sh", &["-c", &format!("printf '100644 blob {}\\treads\\n' | git mktree", blob.trim())]);
    let commit = server.git(&["commit-tree", "-m", "Forged", tree.success().stdout.trim()]);
    point(server, &commit);
}

/// Has what the server publishes be another object.
fn point(server: &Repo, id: &str) {
    for line in published(server).lines() {
        let (_, name) = line.split_once(' ').expect("an id and a name");
        server.git(&["update-ref", name, id]);
    }
}

#[test]
fn what_somebody_forged_changes_no_preview() {
    let (_lab, clone) = clone();
    let server = server(&clone);
    let commit = published(&server).split(' ').next().expect("an id").to_owned();
    let command = format!("git cat-file blob {commit}:reads > honest");
    server.run("sh", &["-c", &command]).success();
    let honest = std::fs::read(server.path.join("honest")).expect("written");
    write(&clone, "apps/web/dev/config.yaml", &config_map("web", "edited"));
    let is_same = |what: &str| assert_eq!(changed(&compare(&clone, what)), 1, "{what}");
    for (what, id) in [("a tree", format!("{commit}^{{tree}}")), ("a blob", format!("{commit}:reads"))] {
        point(&server, &server.git(&["rev-parse", &id]));
        is_same(what);
    }
    point(&server, &server.git(&["rev-parse", "main"]));
    is_same("another commit");
    let mut long = honest[..16].to_vec();
    long.extend([0xff; 9]);
    let mut many = honest.clone();
    many.truncate(50);
    many.extend([0xff, 0xff, 0xff, 0xff, 0x7f]);
    let mut random = Random(7);
    let mut forged = vec![Vec::new(), honest[..honest.len() / 2].to_vec(), long, many, vec![b'x'; 33 << 20]];
    for _ in 0..4 {
        let mut bytes = honest.clone();
        for _ in 0..40 {
            let at = 60 + pick(&mut random, bytes.len() - 60);
            bytes[at] = bytes[at].wrapping_add(1);
        }
        forged.push(bytes);
    }
    // Nothing but other commands, which decide nothing.
    let at = honest.windows(15).position(|window| window == b"kustomize build").expect("a command");
    let mut commands = honest.clone();
    commands[at] = b'K';
    forged.push(commands);
    for (number, bytes) in forged.iter().enumerate() {
        forge(&server, bytes);
        is_same(&format!("forged {number}"));
    }
    forge(&server, &honest);
    assert!(takes_over(&clone));
}

#[test]
fn a_manifest_that_somebody_put_on_a_branch_is_not_taken_over() {
    let (_lab, clone) = clone();
    clone.git(&["checkout", "-q", "-b", "tampered", "origin/environments/dev"]);
    clone.commit("By hand", &[("web/manifest.yaml", &config_map("web", "by hand"))]);
    clone.git(&["checkout", "-q", "main"]);
    let from = clone.path.display().to_string();
    server(&clone).git(&["fetch", "-q", &from, "+refs/heads/tampered:refs/heads/environments/dev"]);
    write(&clone, "apps/api/dev/config.yaml", &config_map("api", "edited"));
    assert_eq!(changed(&compare(&clone, "tampered")), 2);
}

fn pick(random: &mut Random, end: usize) -> usize {
    usize::try_from(random.below(end as u64)).expect("small")
}

#[test]
fn previews_say_the_same_over_random_edits_and_pushes() {
    let (_lab, clone) = clone();
    let mut random = Random(11);
    let paths = ["apps/web/dev/config.yaml", "apps/api/prod/config.yaml", "apps/base/map.yaml", "sites/one/map.yaml"];
    for step in 0..10 {
        for _ in 0..=pick(&mut random, 2) {
            let (path, value) = (paths[pick(&mut random, paths.len())], format!("v{}", pick(&mut random, 5)));
            write(&clone, path, &config_map(["base", "other"][pick(&mut random, 2)], &value));
        }
        if pick(&mut random, 3) == 0 {
            let name = format!("sites/{}/map.yaml", pick(&mut random, 3));
            write(&clone, &name, &config_map("site", &step.to_string()));
        }
        compare(&clone, &format!("step {step}"));
        if pick(&mut random, 3) == 0 {
            clone.commit("Step", &[]);
            clone.push().success();
            clone.git(&["fetch", "-q"]);
        }
    }
}

#[test]
fn what_was_published_of_a_dry_branch_goes_with_it() {
    let (_lab, clone) = clone();
    let server = server(&clone);
    let gone = "refs/hydrate/reads/0123";
    server.git(&["update-ref", gone, "main"]);
    server.hydrate(&["catch-up"]).success();
    assert!(!published(&server).contains(gone));
    assert_eq!(published(&server).lines().count(), 1);
    // What was lost is published by a catch-up, and not by a push.
    let line = published(&server);
    let (_, name) = line.split_once(' ').expect("an id and a name");
    server.git(&["update-ref", "-d", name]);
    clone.commit("Edit", &[("apps/web/dev/config.yaml", &config_map("web", "edited"))]);
    clone.push().success();
    assert_eq!(published(&server), "");
    server.hydrate(&["catch-up"]).success();
    assert_eq!(published(&server).lines().count(), 1);
    assert!(takes_over(&clone));
}

#[test]
fn a_ref_in_the_way_keeps_nothing_from_being_hydrated() {
    for name in ["refs/hydrate/reads", "refs/hydrate/reads/a/b"] {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["web"], &["dev"]);
        let id = clone.git(&["rev-parse", "HEAD"]);
        let from = clone.path.display().to_string();
        server.git(&["fetch", "-q", &from, "HEAD"]);
        server.git(&["update-ref", name, &id]);
        let fillers = fillers();
        let files: Vec<(&str, &str)> = fillers.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        clone.commit("Fill", &files);
        clone.push().success();
        assert!(server.git(&["ls-tree", "--name-only", "environments/dev"]).contains("filler-9"));
        assert_eq!(published(&server).lines().count(), 1, "{name}");
        server.hydrate(&["doctor"]);
    }
}

#[test]
fn small_repositories_servers_that_do_not_want_it_and_jobs_publish_nothing() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    assert_eq!(published(&server), "");
    server.git(&["config", "hydrate.sharedCache", "false"]);
    let fillers = fillers();
    let files: Vec<(&str, &str)> = fillers.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("Fill", &files);
    clone.push().success();
    assert_eq!(published(&server), "");

    let lab = Lab::new();
    let bare = lab.bare(&[]);
    let clone = dry(&bare, &["web"], &["dev"]);
    clone.commit("Fill", &files);
    clone.push().success();
    clone.hydrate(&["push"]).success();
    assert!(bare.git(&["for-each-ref"]).contains("refs/heads/environments/dev"));
    assert_eq!(published(&bare), "");
}
