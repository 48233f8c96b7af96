//! Whatever stands where our files are in the git directory, and wherever temporary files cannot be made: a push goes in
//! and is hydrated, and no hook waits for ever.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::push::{config_map, dry, note, note_of, tip};
use crate::support::{Answer, Lab, Repo, ends_within, fifo};

/// Pushes, but waits no longer than half a minute.
#[track_caller]
fn push(clone: &Repo, temp_dir: Option<&str>) -> Answer {
    let mut command = clone.command("git");
    command.args(["push", "origin", "HEAD"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(temp_dir.map(|dir| ("TMPDIR", dir)));
    let mut child = command.spawn().expect("starts");
    if !ends_within(&child, Duration::from_secs(30)) {
        end(&mut child);
        panic!("the push hangs");
    }
    Answer::new(child.wait_with_output().expect("ended"))
}

fn end(child: &mut Child) {
    child.kill().expect("killed");
    assert!(child.wait().expect("ended").signal().is_some());
}

#[test]
fn a_fifo_in_place_of_a_file_of_ours_hangs_no_hook() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.log", "hydrate.log"]);
    let clone = dry(&server, &["web"], &["dev"]);
    push(&clone, None).success();
    let names = server.names("hydrate/cache");
    let overlay = names.iter().find(|name| name.starts_with("state-")).expect("a state");
    let table = names.iter().find(|name| name.starts_with("table-")).expect("a table");
    let files = [
        format!("hydrate/cache/{overlay}"),
        format!("hydrate/cache/{table}"),
        "hydrate.foreseen".to_owned(),
        "hydrate.fetched".to_owned(),
        "hydrate.locks/1".to_owned(),
        "hydrate.log".to_owned(),
    ];
    for (index, file) in files.iter().enumerate() {
        fifo(&server.path.join(file));
        let value = index.to_string();
        let dry = clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", &value))]);
        push(&clone, None).success();
        assert_eq!(note(&server, "environments/dev"), note_of(&dry), "{file}");
    }
    fifo(&server.path.join("hydrate.lock"));
    clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "more"))]);
    let answer = push(&clone, None).success();
    assert!(answer.remote().join(" ").contains("hydrate.lock"), "{answer:?}");
}

#[test]
fn without_a_place_for_temporary_files_pushes_go_in_and_are_hydrated() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.strict", "touched"]);
    let clone = dry(&server, &["web"], &["dev"]);
    push(&clone, Some("/nowhere/at/all")).success();
    let before = tip(&server, "environments/dev");
    let dry = clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "new"))]);
    push(&clone, Some("/proc")).success();
    assert_ne!(tip(&server, "environments/dev"), before);
    assert_eq!(note(&server, "environments/dev"), note_of(&dry));
    // What was made elsewhere is gone again.
    assert!(!server.names(".").iter().any(|name| name.starts_with("git-hydrate-")), "{:?}", server.names("."));
}

#[test]
fn a_tree_in_the_place_of_a_file_holds_its_own_dry_branch_and_strict_mode_refuses_it() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "set", "dryBranches", "[main, rel]"]).success();
    let odd = |path: &str| {
        clone.git(&["checkout", "-q", "-B", "odd", "main"]);
        let script = "printf '100644 blob %s\\tzz\\n' $(echo u | git hash-object -w --stdin) | git mktree";
        let tree = clone.run("sh", &["-c", script]).success().stdout.trim_end().to_owned();
        clone.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{tree},{path}")]);
        clone.git(&["commit", "-q", "-m", "odd", "--no-verify"]);
    };
    odd("applications/odd.yaml");
    let said = clone.run("git", &["push", "origin", "odd:rel"]).success().remote().join("\n");
    assert!(
        said.contains("applications/odd.yaml: git has a tree there, and the directory says that it is a file"),
        "{said}"
    );
    // Others hydrate, and any branch may be pushed.
    clone.git(&["checkout", "-q", "-f", "main"]);
    clone.commit("two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let said = clone.push().success().remote().join("\n");
    assert!(said.contains("environments/dev  ") && !said.contains("hydration failed"), "{said}");
    assert!(server.git(&["show", "environments/dev:web/manifest.yaml"]).contains("value: two"));
    clone.run("git", &["push", "origin", "main:topic"]).success();
    server.git(&["config", "hydrate.strict", "all"]);
    odd("apps/web/dev/odd.yaml");
    let said = clone.run("git", &["push", "-f", "origin", "odd:main"]).exits(1).remote().join("\n");
    assert!(said.contains("apps/web/dev/odd.yaml: git has a tree there"), "{said}");
}
