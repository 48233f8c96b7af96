//! What the doctor calls good is so: an admin who reads it looks no further.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{BINARY, Lab, Repo};

fn installed(lab: &Lab) -> Repo {
    let server = lab.bare(&[]);
    server.install_without_settings();
    server.git(&["config", "hydrate.guard", "true"]);
    server
}

fn set_mode(path: &std::path::Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

#[test]
fn a_guard_without_its_hook_is_not_called_good_and_its_key_alone_is_no_remedy() {
    let lab = Lab::new();
    let server = installed(&lab);
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    let guards = "the pre-receive hook guards environments/dev";
    assert!(server.hydrate(&["doctor"]).stdout.contains(guards));
    fs::remove_file(server.path.join("hooks/pre-receive")).expect("removed");
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(told.contains("bad      no pre-receive hook runs git-hydrate"), "{told}");
    assert!(!told.contains("the pre-receive hook guards"), "{told}");
    server.hydrate(&["uninstall"]).success();
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("hydrated branches are not guarded") && !told.contains("hydrate.guard true"), "{told}");
}

#[test]
fn a_log_that_pushes_cannot_write_is_not_called_good() {
    let lab = Lab::new();
    let server = installed(&lab);
    fs::create_dir(server.path.join("runs.log")).expect("made");
    server.git(&["config", "hydrate.log", "runs.log"]);
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(told.contains("runs.log, which pushes cannot write: no run is logged"), "{told}");
    assert!(!told.contains("each run is logged"), "{told}");
}

#[test]
fn what_fails_for_a_closed_place_is_what_is_said_of_it() {
    let rows = [
        ("hydrate.locks", "pushes are not hydrated"),
        ("hydrate/cache", "pushes are hydrated, and nothing is remembered for the next one, which takes longer"),
        ("refs", "pushes fail"),
    ];
    for (place, effect) in rows {
        let lab = Lab::new();
        let server = installed(&lab);
        let dir = server.path.join(place);
        fs::create_dir_all(&dir).expect("made");
        set_mode(&dir, 0o555);
        let told = server.hydrate(&["doctor"]).exits(1).stdout;
        let found = format!("cannot write {}: {effect}\n", dir.display());
        set_mode(&dir, 0o755);
        assert!(told.contains(&found), "{place}: {told}");
    }
}

#[test]
fn a_script_of_ones_own_runs_a_program_that_is_there() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let hooks = lab.path("elsewhere");
    fs::create_dir(&hooks).expect("made");
    server.git(&["config", "core.hooksPath", hooks.to_str().expect("UTF-8")]);
    let write = |binary: &str| {
        for hook in ["post-receive", "pre-receive"] {
            let script = server.hydrate(&["install", "--print", hook]).success().stdout.replace(BINARY, binary);
            fs::write(hooks.join(hook), script).expect("written");
            set_mode(&hooks.join(hook), 0o755);
        }
    };
    write(BINARY);
    server.hydrate(&["install", "--server"]).success();
    let told = server.hydrate(&["doctor"]).success().stdout;
    assert!(told.contains(&format!("elsewhere/pre-receive runs {BINARY} (")), "{told}");
    write("/no/such/git-hydrate");
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    let found = "elsewhere/post-receive runs /no/such/git-hydrate, which does not exist: pushes are not hydrated\n";
    assert!(told.contains(found) && told.contains("git hydrate install --print post-receive >"), "{told}");
}

#[test]
fn a_hook_that_git_skipped_is_not_said_to_run_and_one_that_cannot_be_read_stops_the_installation() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    fs::write(server.path.join("hooks/pre-receive"), "#!/bin/sh\nexit 1\n").expect("written");
    let told = server.hydrate(&["install", "--server"]).success().stdout;
    assert!(told.contains("hooks/pre-receive.hydrate-orig, which is not executable and does not run\n"), "{told}");

    let other = Lab::new();
    let other = other.bare(&[]);
    fs::create_dir(other.path.join("hooks/pre-receive")).expect("made");
    let told = other.hydrate(&["install", "--server"]).exits(2);
    assert!(told.stderr.contains("not a regular file"), "{told:?}");
    assert!(!other.path.join("hooks/post-receive").exists());
    let told = other.hydrate(&["doctor"]).exits(1).stdout;
    assert!(
        told.contains("bad      the pre-receive hook cannot be read") && told.contains("move it away, then"),
        "{told}"
    );
}

#[test]
fn a_lock_is_named_as_soon_as_it_is_there() {
    let lab = Lab::new();
    let server = installed(&lab);
    fs::create_dir_all(server.path.join("refs/heads/environments")).expect("made");
    fs::write(server.path.join("refs/heads/environments/dev.lock"), "").expect("written");
    let told = server.hydrate(&["doctor"]).stdout;
    assert!(told.contains("advice   ") && told.contains("/refs/heads/environments/dev.lock is "), "{told}");
    assert!(told.contains("         ask again in a minute: git -C "), "{told}");
}

#[test]
fn keys_that_decide_what_becomes_of_a_push_are_shown() {
    let lab = Lab::new();
    let server = installed(&lab);
    for (key, value) in [("withoutProgram", "refuse"), ("strict", "touched"), ("notify", "/bin/true --token secret")] {
        server.git(&["config", &format!("hydrate.{key}"), value]);
    }
    let told = server.hydrate(&["doctor"]).stdout;
    for line in ["hydrate.withoutProgram = refuse", "hydrate.strict = touched", "hydrate.notify = /bin/true"] {
        assert!(told.contains(&format!("good     {line}\n")), "{line}: {told}");
    }
    assert!(!told.contains("secret"), "{told}");
}

#[test]
fn a_hold_that_should_have_ended_is_not_called_good() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = crate::push::dry(&server, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    let hold = |branch: &str, until: &str, more: &[&str]| {
        let args = [&["hold", branch, "--reason", "x", "--until", until, "--yes"], more].concat();
        server.hydrate(&args).success();
    };
    hold("prod", "2020-01-01", &[]);
    hold("dev", "2020-01-01", &["--application", "web-dev"]);
    let told = server.hydrate(&["doctor"]).stdout;
    for (held, end) in [
        ("environments/prod is held at", "hydrate resume environments/prod\n"),
        ("of environments/dev, web-dev is held at", "hydrate resume environments/dev --application web-dev\n"),
    ] {
        let line = told.lines().find(|line| line.contains(held)).unwrap_or_else(|| panic!("{held}: {told}"));
        assert!(line.starts_with("advice   ") && line.ends_with(", which is over"), "{line}");
        assert!(told.contains(end), "{told}");
    }
    hold("prod", "2099-01-01", &[]);
    assert!(server.hydrate(&["doctor"]).stdout.contains("good     environments/prod is held at"));
}
