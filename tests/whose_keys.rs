//! The doctor judges the keys that the hooks' git reads, says which files they are from, and edits no other.

use std::fs;
use std::path::Path;

use crate::support::{Answer, BINARY, Lab, Repo};
use crate::tell::gitea;

/// What an admin with another home sees, in whose own configuration a key is mistyped and the guard is on.
fn doctor(host: &Repo, home: &Path, more: &[(&str, &str)]) -> String {
    let mut doctor = host.command(BINARY);
    doctor.args(["doctor", "."]).env_remove("GIT_CONFIG_NOSYSTEM").env("HOME", home).envs(more.iter().copied());
    // That of this machine is not what is tried.
    Answer::new(doctor.env("GIT_CONFIG_SYSTEM", "/dev/null").output().expect("runs")).stdout
}

fn written(lab: &Lab, name: &str, text: &str) -> std::path::PathBuf {
    let file = lab.path(name);
    fs::create_dir_all(file.parent().expect("a directory")).expect("made");
    fs::write(&file, text).expect("written");
    file
}

const OF_ADMIN: &str = "[hydrate]\n\tguard = true\n\tstrikt = touched\n";

#[test]
fn the_platforms_keys_are_found_by_its_app_ini_and_the_cure_edits_its_file() {
    let lab = Lab::new();
    let host = gitea(&lab);
    host.git(&["config", "--unset", "hydrate.guard"]);
    let admin = written(&lab, "admin/.gitconfig", OF_ADMIN);
    let of_platform = written(&lab, "elsewhere/git/.gitconfig", "[hydrate]\n\tguards = true\n");
    let data = lab.path("elsewhere");
    let app_ini = format!("[server]\nAPP_DATA_PATH = {}\n[git]\nHOME_PATH = git\n", data.display());
    let app_ini = written(&lab, "etc/app.ini", &app_ini);
    let script = format!("#!/bin/sh\n/usr/bin/gitea hook --config={} post-receive\n", app_ini.display());
    host.hook("hooks/post-receive.d/gitea", &script);
    let found = doctor(&host, &lab.path("admin"), &[]);
    let of = of_platform.display();
    let expected = format!("good     keys are read as by the platform's git: from the repository, and from {of}\n");
    assert!(found.contains(&expected), "{found}");
    assert!(found.contains("hydrated branches are not guarded"), "{found}");
    assert!(!found.contains("strikt"), "no key of the admin is judged: {found}");
    let cure = found.lines().find(|line| line.ends_with("--unset-all hydrate.guards")).expect("a cure").trim();
    assert!(cure.contains(&format!("git config --file {of} --unset-all")), "{cure}");
    host.run("sh", &["-c", cure]).success();
    assert!(!fs::read_to_string(&of_platform).expect("there").contains("guards"));
    assert_eq!(fs::read_to_string(&admin).expect("there"), OF_ADMIN, "no cure edits what no hook reads");
    assert_eq!(host.git(&["config", "hydrate.guard"]), "true", "what was meant is set here");
}

#[test]
fn where_the_platforms_keys_are_not_found_doctor_says_so_and_reads_no_others() {
    let lab = Lab::new();
    let host = gitea(&lab);
    host.git(&["config", "--unset", "hydrate.guard"]);
    fs::remove_file(lab.path("home/.gitconfig")).expect("there");
    written(&lab, "admin/.gitconfig", OF_ADMIN);
    let found = doctor(&host, &lab.path("admin"), &[]);
    assert!(found.contains("advice   only keys of the repository are read: the file of the platform's git"), "{found}");
    assert!(found.contains("hydrated branches are not guarded") && !found.contains("strikt"), "{found}");
    // Named, it is read.
    let file = written(&lab, "far/home/.gitconfig", "[hydrate]\n\tguard = true\n");
    let name = file.to_str().expect("UTF-8");
    assert!(found.contains("GIT_CONFIG_GLOBAL=…/home/.gitconfig git hydrate doctor"), "{found}");
    let found = doctor(&host, &lab.path("admin"), &[("GIT_CONFIG_GLOBAL", name)]);
    assert!(found.contains(&format!("and from {name}\n")) && !found.contains("are not guarded"), "{found}");
}

#[test]
fn the_platforms_own_home_is_read_as_any_other_users_is_not() {
    let lab = Lab::new();
    let host = gitea(&lab);
    host.git(&["config", "--unset", "hydrate.guard"]);
    // The home of an account lies nearer, by chance, where the platform's would.
    let text = "[receive]\n\tprocReceiveRefs = refs/for\n[hydrate]\n\tguard = true\n";
    let of_platform = written(&lab, "data/home/.gitconfig", text);
    for home in ["data/home", "home", "admin"] {
        let found = doctor(&host, &lab.path(home), &[]);
        assert!(found.contains(&format!("and from {}\n", of_platform.display())), "{home}: {found}");
        assert!(!found.contains("are not guarded"), "{home}: {found}");
    }
}

#[test]
#[ignore = "only root can give files to another user; as root: cargo test -- --ignored"]
fn an_admin_who_is_not_the_owner_reads_none_of_his_own_keys() {
    let lab = Lab::new();
    let host = lab.server();
    host.git(&["config", "--unset", "hydrate.guard"]);
    written(&lab, "admin/.gitconfig", &format!("{OF_ADMIN}[safe]\n\tdirectory = *\n"));
    host.run("chown", &["-R", "12345", "."]).success();
    let found = doctor(&host, &lab.path("admin"), &[]);
    assert!(found.contains("only keys of the repository and of the machine are read"), "{found}");
    assert!(found.contains("sudo -H -u '#12345' git hydrate doctor"), "{found}");
    assert!(found.contains("hydrated branches are not guarded") && !found.contains("strikt"), "{found}");
}
