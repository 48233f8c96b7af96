//! Locks that a killed hydration leaves go with the next push; those of others stay, and are told.

use std::fs;
use std::path::{Path, PathBuf};

use crate::push::{config_map, dry, note, note_of, tip};
use crate::support::{BINARY, Lab, Repo};

const DEV: &str = "environments/dev";
const WEB: &str = "apps/web/dev/config.yaml";

/// A git in front of the real one that kills it in the midst of a transaction, as the file `kill` says: `git` between `prepare`
/// and `commit`, `both` with it its parent, `preparing` both before the parent hears that all locks are taken.
fn deadly_git(lab: &Lab) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file()).expect("git is there");
    let kill = lab.path("kill");
    let script = format!(
        "#!/bin/bash
if [[ ! -e {kill} || \" $* \" != *' update-ref '*'--stdin'* ]]; then exec {real} \"$@\"; fi
coproc GIT {{ exec {real} \"$@\"; }}
while read -r line; do
    if [ \"$line\" = commit ]; then
        whom=$(<{kill})
        rm {kill}
        kill -9 $GIT_PID
        [ \"$whom\" = both ] && kill -9 $PPID
        kill -9 $$
    fi
    echo \"$line\" >&${{GIT[1]}}
    if [ \"$line\" = prepare ]; then
        whom=$(<{kill})
        if [ \"$whom\" = preparing ]; then
            head -2 <&${{GIT[0]}} >&2
            rm {kill}
            kill -9 $GIT_PID $PPID $$
        fi
        head -2 <&${{GIT[0]}}
    fi
done
",
        kill = kill.display(),
        real = real.display()
    );
    lab.program("git", &script);
    kill
}

fn locks(repo: &Repo) -> Vec<String> {
    let found = repo.run("sh", &["-c", "find refs reftable packed-refs.lock HEAD.lock -name '*.lock' 2>/dev/null; :"]);
    found.success().stdout.lines().map(str::to_owned).collect()
}

fn server(lab: &Lab, args: &[&str]) -> (Repo, Repo) {
    let server = lab.bare(args);
    server.install_without_settings();
    let clone = dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    (server, clone)
}

fn push(clone: &Repo, value: &str) -> String {
    let id = clone.commit(value, &[(WEB, &config_map("web", value))]);
    clone.push().success();
    id
}

/// Kills the hydration of a commit: git alone, or both.
fn kill(lab: &Lab, server: &Repo, clone: &Repo, whom: &str) {
    let file = deadly_git(lab);
    server.git(&["config", "core.hooksPath", "/nonexistent"]);
    push(clone, &format!("kill {whom}"));
    server.git(&["config", "--unset", "core.hooksPath"]);
    fs::write(&file, whom).expect("written");
    // Not as a command of git, which would put its own directory in front of the lab's.
    let mut command = server.command(BINARY);
    // Nor with another process that goes on when this one is killed.
    command.arg("catch-up").env("GIT_HYDRATE_ISOLATION", "together");
    assert!(!command.output().expect("starts").status.success());
    assert!(!file.exists(), "nobody was killed");
}

#[test]
fn a_kill_between_prepare_and_commit_is_made_up_for() {
    for args in [&[] as &[&str], &["--ref-format=reftable"]] {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args);
        kill(&lab, &server, &clone, "git");
        assert_eq!(locks(&server), [""; 0], "{args:?}");
        assert_ne!(note(&server, DEV), note_of(&tip(&server, "main")));
        kill(&lab, &server, &clone, "both");
        assert_ne!(locks(&server), [""; 0], "{args:?}");
        let told = server.hydrate(&["doctor"]).success().stdout;
        assert!(told.contains("of a hydration that was killed: the next one removes them"), "{told}");
        let last = push(&clone, "nobody dies");
        assert_eq!(locks(&server), [""; 0], "{args:?}");
        assert_eq!(note(&server, DEV), note_of(&last));
        assert_eq!(server.names("hydrate.locks"), [""; 0]);
        // What was made for the commit that did not come about is git's own to prune.
        assert_eq!(server.git(&["fsck", "--strict", "--full", "--no-dangling"]), "");
    }
}

#[test]
fn a_kill_while_git_takes_its_locks_is_made_up_for() {
    for args in [&[] as &[&str], &["--ref-format=reftable"]] {
        let lab = Lab::new();
        let (server, clone) = server(&lab, args);
        kill(&lab, &server, &clone, "preparing");
        assert_ne!(locks(&server), [""; 0], "{args:?}");
        if args.is_empty() {
            // Killed before it wrote what it had opened.
            let lock = server.path.join(format!("refs/heads/{DEV}.lock"));
            fs::OpenOptions::new().write(true).truncate(true).open(lock).expect("emptied");
        }
        let told = server.hydrate(&["doctor"]).success().stdout;
        assert!(told.contains("of a hydration that was killed: the next one removes them"), "{told}");
        let last = push(&clone, "on");
        assert_eq!(locks(&server), [""; 0], "{args:?}");
        assert_eq!(note(&server, DEV), note_of(&last));
        assert_eq!(server.names("hydrate.locks"), [""; 0]);
    }
}

#[test]
fn a_lock_that_contains_what_the_killed_git_would_not_have_written_stays() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[]);
    kill(&lab, &server, &clone, "preparing");
    let path = format!("refs/heads/{DEV}.lock");
    fs::write(server.path.join(&path), format!("{}\n", "1".repeat(40))).expect("written");
    server.git(&["config", "core.filesRefLockTimeout", "10"]);
    clone.commit("next", &[(WEB, &config_map("web", "next"))]);
    let told = clone.push().success().remote().join(" ");
    assert!(told.contains("an admin removes it: rm"), "{told}");
    assert_eq!(locks(&server), std::slice::from_ref(&path));
    fs::remove_file(server.path.join(path)).expect("removed");
    let last = push(&clone, "last");
    assert_eq!(note(&server, DEV), note_of(&last));
}

#[test]
fn a_lock_of_somebody_else_stays() {
    let lab = Lab::new();
    let (server, clone) = server(&lab, &[]);
    kill(&lab, &server, &clone, "both");
    // The same name, but no longer the same file.
    let path = server.path.join(format!("refs/heads/{DEV}.lock"));
    let other: &Path = &lab.path("other.lock");
    fs::write(other, "").expect("written");
    fs::rename(other, &path).expect("replaced");
    server.git(&["config", "core.filesRefLockTimeout", "10"]);
    clone.commit("next", &[(WEB, &config_map("web", "next"))]);
    let told = clone.push().success();
    let advice = format!("rm '{}'", fs::canonicalize(&path).expect("it stays").display());
    assert!(told.remote().join(" ").contains(&advice), "{told:?}");
    assert_eq!(locks(&server), [format!("refs/heads/{DEV}.lock")]);
    fs::remove_file(&path).expect("removed");
    let last = push(&clone, "last");
    assert_eq!(note(&server, DEV), note_of(&last));
}
