//! Several who push at once.

use std::fs;
use std::process::Stdio;

use super::{NOT_OF_THE_PUSH, dispatcher, gitea, heard, line, push, push_command, settle, until};
use crate::push::{config_map, dry, note, note_of, tip};
use crate::support::{Answer, Lab, Repo};

/// How many push at once.
const PUSHERS: usize = 8;

/// A push by one of several users, which goes on by itself.
fn push_as(clone: &Repo, pusher: usize) -> std::process::Child {
    let mut command = push_command(clone);
    command.env("GITEA_PUSHER_ID", pusher.to_string()).env("GITEA_PUSHER_NAME", format!("user{pusher}"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

/// Pushes a change of one of several users, and goes on when the server has it.
fn change(host: &Repo, clone: &Repo, pusher: usize, round: usize) -> std::process::Child {
    clone.git(&["pull", "-q", "--rebase", "origin", "main"]);
    let value = config_map("web", &format!("{pusher} {round}"));
    clone.commit(&format!("user{pusher}"), &[("apps/web/dev/config.yaml", &value)]);
    let child = push_as(clone, pusher);
    let pushed = clone.git(&["rev-parse", "HEAD"]);
    until(|| host.git(&["rev-parse", "main"]) == pushed);
    child
}

/// Each hydrated commit of a branch since `old` was told once, by a line of its own in the name of who pushed its dry commit.
fn each_is_told_once(host: &Repo, old: &str) {
    settle(host);
    let mut found: Vec<(String, [String; 3])> = heard(host);
    let made = host.git(&["log", "--reverse", "--format=%H %P", &format!("{old}..environments/dev")]);
    let mut expected = Vec::new();
    for (new, old) in made.lines().filter_map(|line| line.split_once(' ')) {
        let dry = host.git(&["log", "-1", "--format=%(trailers:key=Hydrate-Dry,valueonly)", new]);
        let user = host.git(&["log", "-1", "--format=%s", dry.trim()]);
        let id = user.strip_prefix("user").expect("a user");
        expected.push((format!("{id}:{user} team/dry"), line(old, new, "environments/dev")));
    }
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

fn clones(host: &Repo) -> Vec<Repo> {
    (0..PUSHERS).map(|pusher| host.clone_to(&format!("user{pusher}"))).collect()
}

#[test]
fn nobody_waits_for_what_others_pushed() {
    let lab = Lab::new();
    let host = gitea(&lab);
    push(&dry(&host, &["web"], &["dev"]));
    host.hook("hooks/post-receive", &dispatcher());
    let clones = clones(&host);
    for round in 0..3 {
        let old = tip(&host, "environments/dev");
        heard(&host);
        // All are told at the same time: none ends before all have begun.
        let wait = "[ $1 = after ] || { echo >>begun; until [ -e go ]; do sleep 0.05; done; }\n";
        fs::write(host.path.join("trap"), NOT_OF_THE_PUSH.to_owned() + wait).expect("written");
        let mut pushes = Vec::new();
        for (pusher, clone) in clones.iter().enumerate() {
            pushes.push(change(&host, clone, pusher, round));
            until(|| host.file("begun").is_some_and(|begun| begun.lines().count() == pusher + 1));
        }
        fs::write(host.path.join("go"), "").expect("written");
        for push in pushes {
            Answer::new(push.wait_with_output().expect("ends")).success();
        }
        each_is_told_once(&host, &old);
        assert_eq!(host.git(&["rev-parse", "refs/pull/dev/head"]), tip(&host, "environments/dev"));
        for file in ["trap", "begun", "go"] {
            fs::remove_file(host.path.join(file)).expect("there");
        }
    }
}

#[test]
fn whoever_hydrates_them_pushes_are_told_by_those_who_pushed() {
    let lab = Lab::new();
    let host = gitea(&lab);
    push(&dry(&host, &["web"], &["dev"]));
    let clones = clones(&host);
    for round in 0..3 {
        let old = tip(&host, "environments/dev");
        heard(&host);
        let lock = fs::File::create(host.path.join("hydrate.lock")).expect("made");
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("locked");
        let pushes = clones.iter().enumerate().map(|(pusher, clone)| change(&host, clone, pusher, round));
        let mut pushes: Vec<_> = pushes.collect();
        // One is killed while it waits: what it leaves is told in its name.
        let waiting = || fs::read_dir(host.path.join("hydrate/hooks")).map_or(0, |dir| dir.count());
        until(|| waiting() == PUSHERS);
        if round == 1 {
            let killed = pushes.remove(0);
            kill_hook_of(&host, 0);
            drop(killed.wait_with_output());
        }
        drop(lock);
        for push in pushes {
            Answer::new(push.wait_with_output().expect("ends")).success();
        }
        each_is_told_once(&host, &old);
    }
}

#[test]
fn pushes_that_gave_up_are_hydrated_when_the_run_before_them_ends_and_told_by_those_who_pushed() {
    let lab = Lab::new();
    let host = gitea(&lab);
    push(&dry(&host, &["web"], &["dev"]));
    host.git(&["config", "hydrate.lockWait", "0"]);
    let clones = clones(&host);
    for round in 0..2 {
        let old = tip(&host, "environments/dev");
        heard(&host);
        let lock = fs::File::create(host.path.join("hydrate.lock")).expect("made");
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("locked");
        for (pusher, clone) in clones.iter().enumerate() {
            let push = change(&host, clone, pusher, round);
            let told = Answer::new(push.wait_with_output().expect("ends")).success();
            let told = told.remote().join(" ");
            assert!(told.contains("it is hydrated as soon as what runs now ends"), "{told}");
        }
        assert_eq!(tip(&host, "environments/dev"), old, "another one has the lock");
        drop(lock);
        until(|| note(&host, "environments/dev") == note_of(&host.git(&["rev-parse", "main"])));
        // Those that came while one waited left it to that one.
        until(|| processes(&host) == 0);
        each_is_told_once(&host, &old);
    }
}

/// How many processes of ours run in a repository.
fn processes(host: &Repo) -> usize {
    let here = host.path.canonicalize().expect("there");
    let is_here = |entry: &fs::DirEntry| fs::read_link(entry.path().join("cwd")).is_ok_and(|dir| dir == here);
    fs::read_dir("/proc").expect("proc").flatten().filter(is_here).count()
}

/// Kills the hook that waits for a user's push, and the one that its shell starts in its place.
fn kill_hook_of(host: &Repo, pusher: usize) {
    let name = format!("GITEA_PUSHER_NAME=user{pusher}");
    let here = host.path.canonicalize().expect("there");
    for _ in 0..2 {
        let mut killed = None;
        until(|| {
            let hooks = fs::read_dir("/proc").expect("proc").flatten().filter_map(|entry| {
                let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
                let words = fs::read(entry.path().join("cmdline")).ok()?;
                let environment = fs::read(entry.path().join("environ")).ok()?;
                let is_his = environment.split(|byte| *byte == 0).any(|word| word == name.as_bytes());
                let is_here = fs::read_link(entry.path().join("cwd")).is_ok_and(|dir| dir == here);
                let is_hook = words.ends_with(b"hook\0post-receive\0");
                (is_his && is_here && is_hook && Some(pid) != killed).then_some(pid)
            });
            killed = hooks.last().or(killed);
            killed.is_some()
        });
        let pid = rustix::process::Pid::from_raw(killed.expect("found")).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
        until(|| fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).map_or(true, |words| words.is_empty()));
    }
}
