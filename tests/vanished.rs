//! A pusher who goes away leaves a pipe that nobody reads and nobody closes. The hook ends all the same, with its work done.

use std::fs;
use std::io::Read as _;
use std::process::{Child, Stdio};

use crate::push::{application, config_map, dry, note, note_of, tip};
use crate::support::{BINARY, Lab, PATIENCE, Repo, ends_within, until};

/// A server, and a clone of it with a commit of which there is something to tell.
fn talkative(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    let mut files = vec![("apps/web/dev/config.yaml".to_owned(), config_map("web", "changed"))];
    for n in 0..40 {
        let (path, text) = application(&format!("a{n}"), "test");
        // Each a mistake of its own, since equal ones are told once.
        let broken = format!("a: *{}{n}\n", "x".repeat(100));
        files.extend([(path, text), (format!("apps/a{n}/test/config.yaml"), broken)]);
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("much to tell", &files);
    (server, clone)
}

fn ends(child: &mut Child) -> bool {
    let ends = ends_within(child, PATIENCE);
    if !ends {
        child.kill().expect("is a child");
    }
    child.wait().expect("ends");
    ends
}

#[test]
fn a_pipe_that_nobody_reads_holds_nobody_up() {
    let lab = Lab::new();
    let (server, clone) = talkative(&lab);
    server.git(&["config", "core.hooksPath", "/nonexistent"]);
    clone.push().success();
    let mut hook = server.command(BINARY);
    hook.args(["hook", "post-receive"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut hook = hook.spawn().expect("starts");
    let pipe = hook.stderr.as_ref().expect("piped");
    let size = rustix::pipe::fcntl_setpipe_size(pipe, 4096).expect("set");
    // Both ends stay open, as in a receive-pack whose pusher is gone.
    assert!(ends(&mut hook), "it waits for a reader");
    let mut told = String::new();
    hook.stderr.take().expect("piped").read_to_string(&mut told).expect("UTF-8");
    assert_eq!(told.len(), size, "the pipe was never full: {told}");
    assert_eq!(note(&server, "environments/dev"), note_of(&tip(&server, "main")));
}

#[test]
fn a_pusher_who_is_killed_leaves_a_hook_that_ends() {
    let lab = Lab::new();
    let (server, clone) = talkative(&lab);
    // The hook begins when the pusher is dead.
    let [begun, go, end] = ["begun", "go", "end"].map(|name| lab.path(name));
    let hook = server.file("hooks/post-receive").expect("installed");
    server.hook("hooks/ours", &hook);
    let script = format!(
        "#!/bin/sh\n: >{}\nwhile [ ! -e {} ]; do sleep 0.02; done\ntimeout 1 yes >&2\nhooks/ours\necho $? >{}\n",
        begun.display(),
        go.display(),
        end.display()
    );
    server.hook("hooks/post-receive", &script);
    let mut push = clone.command("git");
    push.args(["push", "origin", "HEAD"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut push = push.spawn().expect("starts");
    until(|| begun.exists(), "the hook begins");
    push.kill().expect("is a child");
    push.wait().expect("ends");
    fs::write(&go, "").expect("written");
    until(|| end.exists(), "the hook ends");
    assert_eq!(note(&server, "environments/dev"), note_of(&tip(&server, "main")));
    // Nobody holds the lock either.
    clone.commit("next", &[("apps/web/dev/config.yaml", &config_map("web", "next"))]);
    clone.push().success();
    assert_eq!(note(&server, "environments/dev"), note_of(&tip(&server, "main")));
}
