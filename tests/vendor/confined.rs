//! What the program that fetches can do, and what works without it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

use super::{charted, vendor, web, with_charts};
use crate::support::{Answer, BINARY, Lab, Repo};

/// What a program that it starts tries: a word, and the command.
const TRIES: &[(&str, &str)] = &[
    ("scratch", "touch here"),
    ("read", "cat LAB/home/secret"),
    ("list", "ls LAB/home"),
    ("write", "touch LAB/home/written"),
    ("namespaces", "unshare --user true"),
];

/// The script that tries all of it, in the place of git.
fn probe(lab: &Lab) -> String {
    let mut script = "#!/bin/sh\n".to_owned();
    for (name, command) in TRIES {
        let command = command.replace("LAB", lab.path("").to_str().expect("UTF-8").trim_end_matches('/'));
        script += &format!("if {command} >/dev/null 2>&1; then echo '{name}: yes'; else echo '{name}: no'; fi >&2\n");
    }
    script + "exit 1\n"
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn the_fetcher_reaches_one_scratch_directory() {
    let lab = Lab::new();
    fs::write(lab.path("home/secret"), "secret\n").expect("written");
    lab.program("git", &probe(&lab));
    fs::create_dir(lab.path("scratch")).expect("made");
    // Without any restriction, to see that the script tries what it says.
    let free = Answer::new(
        lab.command(lab.path("bin/git").to_str().expect("UTF-8"), &lab.path("scratch")).output().expect("runs"),
    );
    assert!(free.stderr.starts_with("scratch: yes\nread: yes\nlist: yes\nwrite: yes\n"), "{}", free.stderr);
    fs::remove_file(lab.path("home/written")).expect("there");

    let mut command = lab.command(env!("CARGO_BIN_EXE_git-hydrate-fetch"), &lab.path(""));
    // The one directory beside those of the system that it can read, and so can start programs of.
    command.arg(lab.path("scratch").canonicalize().expect("there")).env("SSL_CERT_DIR", lab.path("bin"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let mut input = child.stdin.take().expect("piped");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut say = |text: &str| writeln!(input, "{text}").expect("read");
    say(r#"{"say": "start", "allow": ["http://127.0.0.1"], "only": [], "accept": [], "timeoutSeconds": 20}"#);
    let ready = lines.next().expect("a line").expect("UTF-8");
    assert_eq!(ready, r#"{"say":"ready","unconfined":[]}"#);
    say(
        r#"{"say": "fetch", "id": 0, "what": {"kind": "git", "url": "http://127.0.0.1:1/a.git", "want": "v1", "directories": [""]}}"#,
    );
    let failed = lines.next().expect("a line").expect("UTF-8");
    let failed: serde_json::Value = serde_json::from_str(&failed).expect("JSON");
    let expected = "git init: scratch: yes\nread: no\nlist: no\nwrite: no\nnamespaces: no";
    assert_eq!(failed["reason"], expected);
    drop(input);
    assert!(child.wait().expect("ends").success());
    assert!(!lab.path("home/written").exists());
}

/// A machine without the program that fetches: what is kept renders, is checked and pushed; only fetching says what is missing.
#[test]
fn what_is_kept_needs_no_fetcher() {
    let (lab, charts) = with_charts(&[("web", "1.3.0"), ("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    vendor(&dry, &[]).success();
    dry.commit("Vendor", &[]);
    let alone = lab.path("alone");
    fs::create_dir(&alone).expect("made");
    let program = alone.join("git-hydrate");
    // By another process: a program cannot be run that this one, or what it forks meanwhile, has open for writing.
    dry.run("cp", &[BINARY, program.to_str().expect("UTF-8")]).success();
    let hydrate = |repo: &Repo, args: &[&str]| {
        let mut command = repo.command(program.to_str().expect("UTF-8"));
        let path = std::env::var("PATH").expect("UTF-8");
        let has_none = |dir: &&str| !Path::new(dir).join("git-hydrate-fetch").exists();
        let path: Vec<&str> = path.split(':').filter(has_none).collect();
        Answer::new(command.args(args).env("PATH", path.join(":")).output().expect("runs"))
    };
    for args in [&["check"][..], &["render", "app"], &["vendor", "--check"], &["vendor"]] {
        hydrate(&dry, args).success();
    }
    let bare = Repo::at(&lab, "dry.git");
    dry.push().success();
    hydrate(&bare, &["verify"]).success();
    let chart = fs::read_to_string(dry.path.join("charts/app/Chart.yaml")).expect("there").replace("1.2.3", "1.3.0");
    dry.commit("Bump", &[("charts/app/Chart.yaml", &chart)]);
    let answer = hydrate(&dry, &["vendor", "--allow", "http://127.0.0.1"]).exits(2);
    assert!(answer.stderr.contains("to fetch more, install it beside git-hydrate"), "{}", answer.stderr);
}

/// The proxy that a shell names would see what is asked for, and could answer: nobody asks it.
#[test]
fn proxies_of_the_environment_are_not_asked() {
    let (lab, charts) = with_charts(&[("web", "1.2.3")]);
    let dry = charted(&lab, &web(&charts, "1.2.3"));
    let mut command = dry.command("git");
    command.args(["hydrate", "vendor", "--allow", "http://127.0.0.1"]);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, "http://127.0.0.1:1");
    }
    Answer::new(command.output().expect("runs")).success();
    drop(lab);
}
