//! Repositories that share: with a group of users who push by turns, or with the object store of another repository.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::push::{config_map, dry, healthy, note, note_of, tip};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

/// Everything below a directory, itself included.
fn below(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    found.push(dir.to_owned());
    for entry in fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() { below(&path, found) } else { found.push(path) }
    }
}

#[test]
fn the_next_pusher_of_the_group_can_go_on() {
    for args in [&["--shared=group"] as &[&str], &["--shared=group", "--ref-format=reftable"]] {
        let lab = Lab::new();
        let server = lab.bare(args);
        server.install_without_settings();
        server.git(&["config", "hydrate.log", "hydrate.jsonl"]);
        let clone = dry(&server, &["web"], &["dev", "prod"]);
        // A umask that takes everything from the group, as accounts of services have it.
        let push = || clone.run("sh", &["-c", "umask 077 && exec git push -q origin HEAD"]).success();
        push();
        clone.commit("break one", &[("apps/web/dev/config.yaml", BROKEN)]);
        push();
        clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "changed"))]);
        push();
        assert_eq!(note(&server, "environments/dev"), note_of(&tip(&server, "main")));
        let mut paths = Vec::new();
        for dir in ["objects", "refs", "hydrate", "hydrate.locks", "reftable", "logs"] {
            let dir = server.path.join(dir);
            if dir.exists() {
                below(&dir, &mut paths);
            }
        }
        paths.extend(["hydrate.lock", "hydrate.jsonl"].map(|name| server.path.join(name)));
        for path in paths {
            let mode = fs::metadata(&path).expect("is there").permissions().mode() & 0o7777;
            // What never changes is for reading; all else the next one must be able to write.
            let wanted = match path.is_dir() {
                true => 0o2070,
                false if path.starts_with(server.path.join("objects")) => 0o040,
                false => 0o060,
            };
            assert_eq!(mode & wanted, wanted, "{args:?} {} has {mode:o}", path.display());
        }
        healthy(&server);
    }
}

#[test]
fn objects_of_another_repository_count() {
    let lab = Lab::new();
    let pool = lab.server();
    let clone = dry(&pool, &["web", "api"], &["dev", "prod"]);
    clone.push().success();
    for (name, strict) in [("plain.git", "off"), ("strict.git", "all")] {
        let fork = Repo::at(&lab, name);
        // As forks on hosting services are made: refs of its own, the objects of all in one place.
        pool.git(&[
            "clone",
            "-q",
            "--bare",
            "--shared",
            "--single-branch",
            "--branch=main",
            ".",
            fork.path.to_str().expect("UTF-8"),
        ]);
        assert!(fork.file("objects/info/alternates").is_some());
        fork.install_without_settings();
        fork.git(&["config", "hydrate.strict", strict]);
        let push = || clone.run("git", &["push", "-q", &format!("../{name}"), "HEAD:main"]);
        let changed = clone.commit(name, &[("apps/web/dev/config.yaml", &config_map("web", name))]);
        push().success();
        for env in ["environments/dev", "environments/prod"] {
            assert_eq!(note(&fork, env), note_of(&changed), "{name}");
        }
        assert_eq!(fork.git(&["fsck", "--strict", "--full", "--no-dangling"]), "");
        if strict == "all" {
            clone.commit("break it", &[("apps/web/dev/config.yaml", BROKEN)]);
            let told = push().exits(1);
            assert!(told.remote().join("\n").contains("--> apps/web/dev/config.yaml:4:1"), "{told:?}");
            clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
        }
    }
    // The same commits as without: where objects stand changes no id.
    clone.push().success();
    assert_eq!(tip(&pool, "main"), tip(&Repo::at(&lab, "strict.git"), "main"));
    healthy(&pool);
}
