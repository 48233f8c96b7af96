//! A bare repository among the files of a clone: its configuration is what a pusher wrote.

use std::fs;

use crate::push::dry;
use crate::support::{Answer, Lab, Repo};

const EXPLICIT: &str = "[safe]\n\tbareRepository = explicit\n";

/// A clone of a server, and the bare repository among its files, whose configuration has programs run.
fn embedded(lab: &Lab) -> (Repo, Repo) {
    let clone = dry(&lab.server(), &["web"], &["dev"]);
    fs::create_dir(clone.path.join("charts")).expect("made");
    clone.git(&["clone", "-q", "--bare", ".", "charts/web"]);
    let web = Repo::at(lab, "clone/charts/web");
    for key in ["core.editor", "core.sshCommand", "hydrate.notify"] {
        web.git(&["config", key, &format!("touch {};", lab.path("started").display())]);
    }
    web.git(&["config", "remote.origin.url", "ssh://127.0.0.1/x"]);
    // What it says itself does not count.
    web.git(&["config", "safe.bareRepository", "all"]);
    (clone, web)
}

/// What git says of it, and how it is used all the same.
fn refusal(web: &Repo) -> (String, String) {
    let path = web.path.canonicalize().expect("there").display().to_string();
    let refusal = format!("cannot use bare repository '{path}' (safe.bareRepository is 'explicit')");
    (refusal, format!("hint: to use it: git --git-dir={path} hydrate …"))
}

#[test]
fn a_bare_repository_among_files_is_refused_as_by_git_and_starts_no_program() {
    let lab = Lab::new();
    let (clone, web) = embedded(&lab);
    lab.configure(EXPLICIT);
    let (refusal, hint) = refusal(&web);
    assert_eq!(web.run("git", &["log"]).exits(128).stderr, format!("fatal: {refusal}\n"));
    let expected = format!("error: {refusal}\n{hint}\n");
    let commands: [&[&str]; 7] = [
        &["status"],
        &["diff"],
        &["push", "--dry-run"],
        &["config", "edit"],
        &["catch-up"],
        &["doctor"],
        &["uninstall"],
    ];
    for args in commands {
        assert_eq!(web.hydrate(args).exits(2).stderr, expected, "{args:?}");
    }
    let below = Repo::at(&lab, "clone/charts/web/refs");
    assert_eq!(below.hydrate(&["status"]).exits(2).stderr, expected, "below it");
    assert!(!lab.path("started").exists());
    for around in [clone, Repo::at(&lab, "clone/.git"), Repo::at(&lab, "clone/apps")] {
        assert!(!around.hydrate(&["plan", "main"]).success().stderr.contains("bare"), "{}", around.path.display());
    }
}

#[test]
fn a_bare_repository_is_used_where_git_uses_it() {
    let lab = Lab::new();
    let (_, web) = embedded(&lab);
    let (refusal, _) = refusal(&web);
    let with = |args: &[&str]| web.run("git", &[args, &["hydrate", "plan", "main"]].concat());
    with(&[]).success();
    let explicit = with(&["-c", "safe.bareRepository=explicit"]).exits(2).stderr;
    assert!(explicit.contains(&refusal), "{explicit}");
    lab.configure(EXPLICIT);
    with(&["-c", "safe.bareRepository=all"]).success();
    with(&["--git-dir=."]).success();
    let counted = web
        .command("git")
        .args(["hydrate", "plan", "main"])
        .envs([("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.bareRepository"), ("GIT_CONFIG_VALUE_0", "all")])
        .output();
    Answer::new(counted.expect("runs")).success();
    // A path that is named is the repository, as for git clone.
    let server = Repo::at(&lab, "dry.git");
    let outside = Repo::at(&lab, "home");
    let path = server.path.to_str().expect("UTF-8");
    for args in [&["install", "--server", path] as &[&str], &["doctor", path]] {
        let told = outside.hydrate(args);
        assert!(!told.stderr.contains("cannot use bare repository"), "{told:?}");
    }
    let clone = Repo::at(&lab, "clone");
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("environments/dev"), "{told}");
}
