//! Many pushers at once, on several dry branches: nothing is lost, nothing is done twice.
//!
//! `cargo test` pushes a few times; `PUSHERS="50 100 10"`, or `tests/long/pushers`, takes so many pushers, pushes of each, and
//! dry branches.

use std::time::Instant;

use crate::push::{application, config_map, note, note_of, tip};
use crate::support::{Lab, Repo};

/// The pushers, the pushes of each, and the dry branches that they share.
fn size() -> (usize, usize, usize) {
    let given = std::env::var("PUSHERS").ok();
    let words = given.as_deref().unwrap_or("4 5 2").split(' ').map(|word| word.parse().expect("a number"));
    let [pushers, pushes, branches] = words.collect::<Vec<usize>>()[..] else { panic!("PUSHERS PUSHES BRANCHES") };
    (pushers, pushes, branches)
}

/// A server with a dry branch for each environment of its own.
fn server(lab: &Lab, branches: &[String]) -> Repo {
    let server = lab.server();
    let first = server.clone_to("first");
    first.commit("nothing yet", &[("README", "x")]);
    first.push().success();
    set_dry_branches(&server, branches);
    for branch in branches {
        first.git(&["switch", "-q", "-c", branch, "--no-track", "main"]);
        let (path, text) = application("web", branch);
        let text = text.replace("targetRevision: main", &format!("targetRevision: {branch}"));
        let config = (format!("apps/web/{branch}/config.yaml"), config_map("web", branch));
        first.commit(branch, &[(&path, &text), (&config.0, &config.1)]);
        first.git(&["push", "-q", "origin", branch]);
    }
    server
}

fn set_dry_branches(server: &Repo, branches: &[String]) {
    let names: Vec<&str> = branches.iter().map(String::as_str).collect();
    server.hydrate(&[&["config", "set", "dryBranches"], &names[..]].concat()).success();
}

/// Each hydrated commit of an environment, oldest first: its dry commit, and the one that its note names.
fn hydrated(repo: &Repo, branch: &str) -> Vec<(String, String)> {
    let format = "--format=%(trailers:key=Hydrate-Dry,valueonly,separator=) %N";
    let log = repo.git(&["log", "--reverse", "--notes=hydrator.metadata", format, &format!("environments/{branch}")]);
    let pairs = log.lines().filter_map(|line| line.split_once(' '));
    // The first one is the empty commit that the branch starts with.
    pairs.skip(1).map(|(dry, note)| (dry.to_owned(), note.to_owned())).collect()
}

#[test]
fn many_pushers_leave_one_hydrated_commit_for_each_change() {
    let (pushers, pushes, branches) = size();
    let lab = Lab::new();
    let branches: Vec<String> = (0..branches).map(|n| format!("dry{n}")).collect();
    let server = server(&lab, &branches);
    // A local clone copies files of pushes in flight, and fails when one vanishes: so all clone before the first pushes.
    let clones: Vec<Repo> = (0..pushers).map(|pusher| server.clone_to(&format!("pusher{pusher}"))).collect();
    let started = Instant::now();
    std::thread::scope(|scope| {
        for (pusher, clone) in clones.iter().enumerate() {
            let branch = &branches[pusher % branches.len()];
            clone.git(&["switch", "-q", branch]);
            let mut command = clone.command("sh");
            let text = config_map(&format!("p{pusher}"), "v$n");
            let script = format!(
                "n=0
                while [ $n -lt {pushes} ]; do
                    n=$((n + 1))
                    cat >apps/web/{branch}/p{pusher}.yaml <<end\n{text}end
                    git add -A && git commit -qm {pusher}.$n || exit 1
                    until git push -q origin HEAD; do git pull -q --rebase origin {branch} || exit 1; done
                done"
            );
            scope.spawn(move || {
                let output = command.args(["-c", &script]).output().expect("runs");
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            });
        }
    });
    println!("{pushers} pushers, {pushes} pushes each, {} dry branches: {:?}", branches.len(), started.elapsed());
    let cold = Repo::at(&lab, "cold.git");
    std::fs::create_dir(&cold.path).expect("made");
    cold.git(&["init", "-q", "--bare"]);
    cold.install_without_settings();
    set_dry_branches(&cold, &branches);
    server.git(&["push", "-q", "../cold.git", "refs/heads/dry*:refs/heads/dry*"]);
    let mut changes = 0;
    for branch in &branches {
        let dry = server.git(&["log", "--first-parent", "--reverse", "--format=%H", branch, "^main"]);
        let expected: Vec<_> = dry.lines().map(|dry| (dry.to_owned(), note_of(dry))).collect();
        assert_eq!(hydrated(&server, branch), expected, "{branch}");
        changes += expected.len() - 1;
        let environment = format!("environments/{branch}");
        assert_eq!(note(&server, &environment), note_of(&tip(&server, branch)));
        let tree = |repo: &Repo| repo.git(&["rev-parse", &format!("{environment}^{{tree}}")]);
        assert_eq!(tree(&server), tree(&cold), "{branch}");
    }
    assert_eq!(changes, pushers * pushes);
    // Pushes that lost a race leave their objects behind; git's own prune takes them.
    assert_eq!(server.git(&["fsck", "--strict", "--full", "--no-dangling"]), "");
}
