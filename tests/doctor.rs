//! Each row breaks an installation in one way: the doctor finds it, and what it says mends it.

mod good;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{BINARY, Lab, Repo};

const HOOK: &str = "hooks/post-receive";

#[test]
fn a_new_installation_is_in_good_order() {
    for args in [&[] as &[&str], &["--object-format=sha256"], &["--ref-format=reftable"], &["--shared=group"]] {
        let lab = Lab::new();
        let server = lab.bare(args);
        server.install_without_settings();
        server.git(&["config", "core.fsync", "committed"]);
        let told = server.hydrate(&["doctor"]).success().stdout;
        assert!(told.lines().all(|line| line.starts_with("good ")), "{args:?}: {told}");
        assert!(told.contains(&format!("{HOOK} runs {BINARY} (git-hydrate {})", env!("CARGO_PKG_VERSION"))), "{told}");
    }
}

#[test]
fn what_is_broken_is_found() {
    type Break = fn(&Lab, &Repo);
    let rows: [(&str, Break, &str, &str); 36] = [
        (
            "no hook",
            |_, repo| fs::remove_file(repo.path.join(HOOK)).expect("removed"),
            "bad      no post-receive hook runs git-hydrate",
            "git hydrate install --server REPO",
        ),
        (
            "no gate",
            |_, repo| fs::remove_file(repo.path.join("hooks/pre-receive")).expect("removed"),
            "bad      no pre-receive hook runs git-hydrate",
            "git hydrate install --server REPO",
        ),
        (
            "program of the gate gone",
            |_, repo| {
                let script = repo.file("hooks/pre-receive").expect("installed").replace(BINARY, "/no/such/git-hydrate");
                repo.hook("hooks/pre-receive", &script);
            },
            "bad      REPO/hooks/pre-receive runs /no/such/git-hydrate, which does not exist: pushes are not guarded",
            "git hydrate install --server REPO",
        ),
        (
            "a lock that its owner cannot open",
            |_, repo| {
                let lock = repo.path.join("hydrate.lock");
                fs::write(&lock, "").expect("written");
                fs::set_permissions(lock, fs::Permissions::from_mode(0o0)).expect("set");
            },
            "cannot write REPO/hydrate.lock: pushes are not hydrated",
            "chmod -R u+rwX REPO/hydrate.lock",
        ),
        (
            "a dry branch that does not exist",
            |_, repo| drop(repo.hydrate(&["config", "set", "dryBranches", "mian"]).exits(0)),
            "bad      the setting dryBranches names mian, which does not exist",
            "git -C REPO hydrate config unset dryBranches mian",
        ),
        (
            "a mirror that a fetch writes over",
            |_, repo| {
                repo.git(&["config", "remote.origin.url", "https://git.example.com/dry.git"]);
                repo.git(&["config", "remote.origin.fetch", "+refs/*:refs/*"]);
            },
            "bad      a fetch from origin writes over what is pushed and hydrated here",
            "if the mirror is to stay: git hydrate uninstall REPO; if it is not: git -C REPO remote remove origin",
        ),
        (
            "unguarded",
            |_, repo| drop(repo.git(&["config", "hydrate.guard", "false"])),
            "advice   hydrated branches are not guarded: anyone who can push can rewrite them",
            "git -C REPO config hydrate.guard true",
        ),
        (
            "unguarded, with the names of those who alone shall push settings",
            |_, repo| {
                repo.git(&["config", "hydrate.guard", "false"]);
                repo.git(&["config", "hydrate.settingsPusher", "admin"]);
            },
            "bad      hydrated branches are not guarded: anyone who can push can rewrite them and the settings; hydrate.settingsPusher \
             keeps none of them from it",
            "git -C REPO config hydrate.guard true",
        ),
        (
            "a switch in place of the command that notifies a platform",
            |_, repo| drop(repo.git(&["config", "hydrate.tell", "true"])),
            "bad      hydrate.tell is `true`, which is not a command: nothing is notified",
            "git -C REPO config --unset-all hydrate.tell, or set the command that notifies the platform",
        ),
        (
            "not hidden",
            |_, repo| drop(repo.git(&["config", "--unset-all", "receive.hideRefs"])),
            "advice   only the pre-receive hook guards refs/notes/hydrator.metadata, refs/hydrate/failures, refs/replace",
            "git hydrate install --server REPO",
        ),
        (
            "hidden from who may push",
            |_, repo| drop(repo.git(&["config", "hydrate.settingsPusher", "admin"])),
            "bad      settings pushers cannot push to refs/hydrate/config: it is hidden",
            "git hydrate install --server REPO",
        ),
        (
            "no names",
            |_, repo| drop(repo.git(&["config", "hydrate.promoter", "bot"])),
            "bad      the names of pushers are unknown: hydrate.pusherVariable is not set",
            "git -C REPO config hydrate.pusherVariable VARIABLE",
        ),
        (
            "not executable",
            |_, repo| fs::set_permissions(repo.path.join(HOOK), fs::Permissions::from_mode(0o644)).expect("set"),
            "bad      REPO/hooks/post-receive is not executable: git skips it",
            "chmod +x REPO/hooks/post-receive",
        ),
        (
            "not the hook but a copy of it",
            |_, repo| fs::rename(repo.path.join(HOOK), repo.path.join("hooks/post-receive.old")).expect("renamed"),
            "bad      no post-receive hook runs git-hydrate",
            "git hydrate install --server REPO",
        ),
        (
            "a copy beside a hook of somebody else",
            |_, repo| {
                fs::rename(repo.path.join(HOOK), repo.path.join("hooks/post-receive.bak")).expect("renamed");
                repo.hook(HOOK, "#!/bin/sh\n# formerly: git-hydrate hook post-receive\nexit 0\n");
            },
            "bad      no post-receive hook runs git-hydrate",
            "git hydrate install --server REPO",
        ),
        (
            "the script of the other hook",
            |_, repo| {
                let script = repo.file("hooks/pre-receive").expect("installed");
                repo.hook(HOOK, &script);
            },
            "bad      REPO/hooks/post-receive is our pre-receive hook: pushes are not hydrated",
            "git hydrate install --server REPO",
        ),
        (
            "the call of the other hook",
            |_, repo| repo.hook(HOOK, "#!/bin/sh\nexec git-hydrate hook pre-receive\n"),
            "bad      no post-receive hook runs git-hydrate",
            "git hydrate install --server REPO",
        ),
        (
            "a hook that was there before and is not executable",
            |_, repo| {
                repo.hook("hooks/post-receive.hydrate-orig", "#!/bin/sh\nexit 0\n");
                let kept = repo.path.join("hooks/post-receive.hydrate-orig");
                fs::set_permissions(kept, fs::Permissions::from_mode(0o644)).expect("set");
            },
            "advice   REPO/hooks/post-receive.hydrate-orig is not executable, so it does not run before ours",
            "chmod +x REPO/hooks/post-receive.hydrate-orig",
        ),
        (
            "a hook in a directory that nothing runs through",
            |_, repo| {
                repo.hook("hooks/post-receive.d/hydrate", &repo.file(HOOK).expect("there"));
                fs::remove_file(repo.path.join(HOOK)).expect("removed");
            },
            "bad      REPO/hooks/post-receive is not executable, so REPO/hooks/post-receive.d/hydrate does not run",
            "chmod +x REPO/hooks/post-receive",
        ),
        (
            "a directory of branches that the owner cannot write",
            |_, repo| {
                let dir = repo.path.join("refs/heads/environments");
                fs::create_dir_all(&dir).expect("made");
                fs::set_permissions(dir, fs::Permissions::from_mode(0o555)).expect("set");
            },
            ", who owns the repository, cannot write REPO/refs/heads/environments: pushes fail",
            "chmod -R u+rwX REPO/refs/heads/environments",
        ),
        (
            "a reflog that the owner cannot write",
            |_, repo| {
                let log = repo.path.join("logs/refs/heads/main");
                fs::set_permissions(log, fs::Permissions::from_mode(0o444)).expect("set");
            },
            ", who owns the repository, cannot write REPO/logs/refs/heads/main: pushes fail",
            "chmod -R u+rwX REPO/logs/refs/heads/main",
        ),
        (
            "closed to the group below the top",
            |_, repo| {
                repo.git(&["config", "core.sharedRepository", "group"]);
                repo.run("chmod", &["-R", "g+rwX", "."]).success();
                let dir = repo.path.join("refs/heads/environments");
                fs::create_dir_all(&dir).expect("made");
                fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).expect("set");
            },
            "bad      the repository is shared, but its group cannot write REPO/refs/heads/environments\n",
            "chmod -R g+rwX,g+s REPO/refs/heads/environments",
        ),
        (
            "program gone",
            |_, repo| with_binary(repo, "/no/such/git-hydrate"),
            "bad      REPO/hooks/post-receive runs /no/such/git-hydrate, which does not exist: pushes are not hydrated",
            "move REPO/hooks/post-receive away, then: git hydrate install --server REPO",
        ),
        (
            "program broken",
            |lab, repo| {
                lab.program("broken", "#!/bin/sh\necho no disk >&2\nexit 3\n");
                with_binary(repo, lab.path("bin/broken").to_str().expect("UTF-8"));
            },
            "bad      REPO/hooks/post-receive runs LAB/bin/broken, which fails (exit status: 3): no disk",
            "move REPO/hooks/post-receive away, then: git hydrate install --server REPO",
        ),
        (
            "program of another version",
            |lab, repo| {
                lab.program("older", "#!/bin/sh\necho git-hydrate 0.0.1\n");
                with_binary(repo, lab.path("bin/older").to_str().expect("UTF-8"));
            },
            "advice   REPO/hooks/post-receive runs LAB/bin/older, which is git-hydrate 0.0.1; this is git-hydrate",
            "move REPO/hooks/post-receive away, then: git hydrate install --server REPO",
        ),
        (
            "edited",
            |_, repo| repo.hook(HOOK, &repo.file(HOOK).expect("there").replace("status=0\n", "status=1\n")),
            "advice   REPO/hooks/post-receive was edited since it was installed: it is not kept up to date",
            "move REPO/hooks/post-receive away, then: git hydrate install --server REPO",
        ),
        (
            "hooks elsewhere",
            |lab, repo| drop(repo.git(&["config", "core.hooksPath", lab.path("shared").to_str().expect("UTF-8")])),
            "bad      no post-receive hook runs git-hydrate: hooks are taken from LAB/shared",
            "git -C REPO config --unset core.hooksPath, or add to",
        ),
        (
            "in the configuration of a git that does not read it",
            |_, repo| {
                fs::remove_file(repo.path.join(HOOK)).expect("removed");
                repo.git(&["config", "hook.hydrate.event", "post-receive"]);
                repo.git(&["config", "hook.hydrate.command", &format!("if [ -x '{BINARY}' ]; then :; fi")]);
            },
            "bad      the post-receive hook is in git's configuration, which git 2.",
            "git hydrate install --server REPO",
        ),
        (
            "installed twice",
            |_, repo| repo.hook("custom_hooks/post-receive.d/hydrate", &repo.file(HOOK).expect("there")),
            "bad      post-receive is installed twice, so each push does its work twice",
            "git hydrate install --server REPO",
        ),
        (
            "a lock on a branch",
            |_, repo| old_file(repo, "refs/heads/environments/dev.lock"),
            "bad      REPO/refs/heads/environments/dev.lock was left",
            "rm REPO/refs/heads/environments/dev.lock",
        ),
        (
            "a lock on all refs",
            |_, repo| old_file(repo, "packed-refs.lock"),
            "bad      REPO/packed-refs.lock was left",
            "make sure that no git process runs here",
        ),
        (
            "closed to the group",
            |_, repo| {
                repo.git(&["config", "core.sharedRepository", "group"]);
                fs::set_permissions(repo.path.join("objects"), fs::Permissions::from_mode(0o755)).expect("set");
            },
            "bad      the repository is shared, but its group cannot write REPO and ",
            "chmod -R g+rwX,g+s REPO",
        ),
        (
            "a ref in the way",
            |_, repo| {
                for name in ["refs/hydrate/config", "refs/hydrate/branches"] {
                    repo.git(&["update-ref", "-d", name]);
                }
                repo.git(&["update-ref", "refs/hydrate", "main"]);
            },
            "bad      refs/hydrate is in the way of refs/hydrate/config",
            "git -C REPO update-ref -d refs/hydrate",
        ),
        (
            "another object in place of one",
            |_, repo| drop(repo.git(&["update-ref", &format!("refs/replace/{}", "1".repeat(40)), "main"])),
            "advice   1 object is replaced below refs/replace: git shows ",
            "git -C REPO replace -l --format=long; to delete one: git -C REPO replace -d 1111111111",
        ),
        (
            "other parents",
            |_, repo| {
                let main = repo.git(&["rev-parse", "main"]);
                fs::write(repo.path.join("info/grafts"), format!("{main}\n")).expect("written");
            },
            "advice   info/grafts gives commits other parents: git follows it, hydration does not",
            "look at it; if nothing needs it: rm REPO/info/grafts",
        ),
        (
            "no reflogs",
            |_, repo| drop(repo.git(&["config", "--unset", "core.logAllRefUpdates"])),
            "advice   there are no reflogs, which record who moved a branch",
            "git -C REPO config core.logAllRefUpdates true",
        ),
    ];
    for (name, damage, finding, remedy) in rows {
        let lab = Lab::new();
        let server = lab.server();
        let clone = server.clone_to("clone");
        clone.commit("first", &[]);
        with_binary(&server, "/bin/true");
        clone.push().success();
        fs::remove_file(server.path.join(HOOK)).expect("removed");
        server.install_without_settings();
        damage(&lab, &server);
        let lab_path = fs::canonicalize(lab.path("")).expect("there");
        let (repo, lab_path) = (lab_path.join("dry.git"), lab_path);
        let plain = |text: &str| {
            let text = text.replace("REPO", repo.to_str().expect("UTF-8"));
            text.replace("LAB", lab_path.to_str().expect("UTF-8"))
        };
        let answer = server.hydrate(&["doctor"]).exits(i32::from(!finding.starts_with("advice")));
        assert!(answer.stdout.contains(&plain(finding)), "{name}: {}", answer.stdout);
        assert!(answer.stdout.contains(&plain(remedy)), "{name}: {}", answer.stdout);
    }
}

#[test]
fn what_stands_in_the_way_of_applications_is_found() {
    type Break = fn(&Repo);
    let rows: [(&str, Break, &str); 9] = [
        ("nothing", |_| {}, "good     Applications hydrate to environments/dev, environments/prod, environments/test"),
        (
            "a branch that is behind",
            |repo| {
                repo.hydrate(&["catch-up"]).success();
                let next = repo.git(&["commit-tree", "-p", "main", "-m", "missed", "main^{tree}"]);
                repo.git(&["update-ref", "refs/heads/main", &next]);
            },
            "advice   environments/dev is 1 commit behind main",
        ),
        (
            "a branch that fails",
            |repo| {
                repo.hydrate(&["catch-up"]).success();
                let broken = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: web\n";
                let files = [("environments/dev/east/broken.yaml", broken)];
                let clone = repo.clone_to("other");
                clone.commit("break it", &files);
                clone.push().success();
            },
            "advice   environments/dev stays behind main, which does not hydrate to it",
        ),
        (
            "a dry branch of the same name",
            |repo| {
                repo.git(&["branch", "environments/test", "main"]);
                repo.hydrate(&["config", "set", "dryBranches", "main", "environments/test"]).exits(1);
            },
            "bad      environments/test is a dry branch, and Applications of main name it as their targetBranch\n         name another \
             targetBranch\n         or, if environments/test has no dry files: git -C ",
        ),
        (
            "a branch above",
            |repo| drop(repo.git(&["branch", "environments", "main"])),
            "bad      the branch environments is in the way of environments/dev",
        ),
        (
            "a branch below",
            |repo| drop(repo.git(&["branch", "environments/dev/old", "main"])),
            "bad      the branch environments/dev/old is in the way of environments/dev",
        ),
        (
            "a worktree",
            |repo| drop(repo.git(&["worktree", "add", "-q", "-b", "environments/test", "../there", "main"])),
            "bad      environments/test is checked out in a worktree",
        ),
        (
            "settings",
            |repo| {
                let blob = repo.git(&["hash-object", "-w", "--stdin"]);
                let tree = format!("printf '100644 blob {blob}\tunknown.yaml\n' | git mktree");
                let tree = repo.run("sh", &["-c", &tree]).success().stdout;
                let commit = repo.git(&["commit-tree", "-m", "x", tree.trim_end()]);
                repo.git(&["update-ref", "refs/hydrate/config", &commit]);
            },
            "bad      the settings cannot be used: `unknown.yaml` is not a settings file",
        ),
        (
            "tools of another version",
            |repo| {
                repo.git(&["config", "hydrate.helm", "true"]);
                repo.hydrate(&["config", "set", "renderer", "exec"]).success();
            },
            "bad      the renderer exec cannot work: ",
        ),
    ];
    for (name, damage, finding) in rows {
        let lab = Lab::new();
        let server = lab.server();
        let clone = server.clone_to("clone");
        clone.example();
        // Pushed while nothing hydrates, as before an installation.
        server.hydrate(&["uninstall"]).success();
        clone.push().success();
        server.install_without_settings();
        damage(&server);
        let answer = server.hydrate(&["doctor"]).exits(i32::from(finding.starts_with("bad")));
        assert!(answer.stdout.contains(finding), "{name}: {}", answer.stdout);
    }
}

#[test]
fn a_hook_that_calls_us_is_as_good_as_ours() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    server.hook(HOOK, "#!/bin/sh\nexec git-hydrate hook post-receive\n");
    let told = server.hydrate(&["doctor"]).success().stdout;
    assert!(told.contains("hooks/post-receive calls git-hydrate\n"), "{told}");
}

#[test]
fn a_path_with_spaces_is_quoted_in_the_commands_to_run() {
    let lab = Lab::new();
    let server = Repo::at(&lab, "our repositories/it's dry.git");
    fs::create_dir_all(&server.path).expect("made");
    server.git(&["init", "-q", "--bare"]);
    let dir = fs::canonicalize(lab.path("")).expect("there");
    let quoted = format!("'{}/our repositories/it'\\''s dry.git'", dir.display());
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    assert!(told.contains(&format!("git hydrate install --server {quoted}\n")), "{told}");
    server.install_without_settings();
    server.git(&["config", "hydrate.guard", "false"]);
    let told = server.hydrate(&["doctor"]).success().stdout;
    let line = format!("git -C {quoted} config hydrate.guard true");
    assert!(told.contains(&line), "{told}");
    server.run("sh", &["-c", &line]).success();
    assert_eq!(server.git(&["config", "hydrate.guard"]), "true");
}

#[test]
fn a_hook_that_its_directory_runs_is_found_there() {
    let call = "#!/bin/sh\nexec /opt/bin/git-hydrate hook post-receive\n";
    let rows = [
        ("hooks/post-receive.d/20-hydrate", "#!/bin/sh\nfor h in $0.d/*; do \"$h\"; done\n"),
        ("hooks/post-receive.h00-hydrate", "#!/bin/sh\nfor h in $0.*; do [ -x $h ] && $h; done\n"),
        ("hooks/hydrate-it", "#!/bin/sh\nexec \"$(dirname \"$0\")/hydrate-it\"\n"),
    ];
    for (file, driver) in rows {
        let lab = Lab::new();
        let server = lab.bare(&[]);
        server.hook(HOOK, driver);
        server.hook(file, call);
        let told = server.hydrate(&["doctor"]).success().stdout;
        assert!(told.contains(&format!("{file} calls git-hydrate\n")), "{file}: {told}");
    }
}

#[test]
#[ignore = "only root can give files to another user; as root: cargo test -- --ignored"]
fn files_of_another_user_are_found_before_a_push_fails() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    server.run("chown", &["-R", "12345:12345", "."]).success();
    // As `sudo git hydrate catch-up` would leave it.
    server.run("chown", &["-R", "0:0", "refs/heads/environments", "logs/refs/heads/environments"]).success();
    lab.trust_every_directory();
    let told = server.hydrate(&["doctor"]).exits(1).stdout;
    let dir = fs::canonicalize(&server.path).expect("there");
    let dir = dir.to_str().expect("UTF-8");
    assert!(told.contains(" belong to user 0, not 12345: pushes fail\n"), "{told}");
    assert!(told.contains(&format!("sudo chown -R 12345:12345 {dir}\n")), "{told}");
    assert!(told.contains(&format!("sudo -u '#12345' git -C {dir} hydrate doctor\n")), "{told}");
    for args in [&["catch-up"] as &[&str], &["config", "set", "history", "tip"], &["uninstall"]] {
        let told = server.hydrate(args).exits(2).stderr;
        assert!(told.contains(&format!("sudo -u '#12345' git -C {dir} hydrate ")), "{args:?}: {told}");
    }
}

#[test]
fn a_new_lock_may_be_alive() {
    let lab = Lab::new();
    let server = lab.server();
    fs::write(server.path.join("packed-refs.lock"), "").expect("written");
    fs::write(server.path.join("hydrate.lock"), "").expect("written");
    assert!(!server.hydrate(&["doctor"]).success().stdout.contains("was left"));
}

#[test]
fn the_process_that_hydrates_is_named_and_whether_it_was_stopped() {
    let lab = Lab::new();
    let server = lab.server();
    let lock = server.path.join("hydrate.lock");
    let mut command = std::process::Command::new("flock");
    command.arg(&lock).args(["sh", "-c", "echo locked; exec cat"]);
    let mut holder =
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().expect("starts");
    let mut line = String::new();
    let output = holder.stdout.take().expect("piped");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("read");
    let process = holder.id();
    let health = |what: &str| {
        let found = server.hydrate(&["doctor"]).stdout;
        let line = found.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{found}"));
        line.split_whitespace().next().expect("a word").to_owned()
    };
    let hydrates = format!("process {process} hydrates here, and runs since ");
    assert_eq!(health(&hydrates), "good");
    server.run("kill", &["-STOP", &process.to_string()]).success();
    assert_eq!(health(&hydrates), "bad");
    let heard = server.hydrate(&["doctor"]).stdout;
    assert!(
        heard.contains(&format!("kill -CONT {process}\n         or, to end it: kill -KILL {process}\n")),
        "{heard}"
    );
    server.run("kill", &["-CONT", &process.to_string()]).success();
    drop(holder.stdin.take());
    holder.wait().expect("ends");
    assert!(!server.hydrate(&["doctor"]).stdout.contains("hydrates here"));
}

#[test]
fn a_clone_has_its_own_checks() {
    let lab = Lab::new();
    let clone = lab.server().clone_to("clone");
    let told = clone.hydrate(&["doctor"]).success().stdout;
    assert!(told.contains("git hydrate install --client --remote origin\n"), "{told}");
    clone.hydrate(&["install", "--client"]).success();
    let told = clone.hydrate(&["doctor"]).success().stdout;
    assert!(told.lines().all(|line| line.starts_with("good ")), "{told}");
    clone.git(&["config", "hydrate.prepush", "blok"]);
    clone.git(&["config", "hydrate.prePsh", "block"]);
    clone.git(&["config", "hydrate-check.owner.command", "/etc/none/owner --strict"]);
    clone.git(&["config", "hydrate-check.owner.refuse", "maybe"]);
    clone.git(&["config", "hydrate-check.owner.comand", "x"]);
    let told = clone.hydrate(&["doctor"]).exits(1).stdout;
    for finding in [
        "bad      hydrate-check.owner.command runs /etc/none/owner, which does not exist\n",
        "bad      hydrate-check.owner.refuse is `maybe`: it must be true or false\n",
        "bad      hydrate-check.owner.comand is not a key of git-hydrate, so it does nothing: did you mean hydrate-check.owner.command?\n",
        "bad      hydrate.prePush is `blok`: it must be block, warn or off\n",
        "bad      hydrate.prepsh is not a key of git-hydrate, so it does nothing: did you mean hydrate.prePush?\n",
    ] {
        assert!(told.contains(finding), "{told}");
    }
    clone.git(&["config", "--remove-section", "hydrate"]);
    clone.git(&["config", "--remove-section", "hydrate-check.owner"]);
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["remote", "add", "hydrate", ".."]);
    let told = clone.hydrate(&["doctor"]).exits(1).stdout;
    assert!(told.contains("bad      a remote is named `hydrate`"), "{told}");
}

#[test]
fn findings_are_read_by_programs_too() {
    let lab = Lab::new();
    let server = lab.bare(&[]);
    let json = server.hydrate(&["doctor", "--json"]).exits(1).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let findings = json["findings"].as_array().expect("a list");
    let bad: Vec<_> = findings.iter().filter(|finding| finding["health"] == "bad").collect();
    assert_eq!(bad.len(), 1, "{json}");
    assert_eq!(bad[0]["what"], "no post-receive hook runs git-hydrate");
}

/// Installs the hook with another program.
fn with_binary(repo: &Repo, binary: &str) {
    let script = repo.file(HOOK).expect("installed").replace(BINARY, binary);
    repo.hook(HOOK, &script);
}

fn old_file(repo: &Repo, path: &str) {
    let path = repo.path.join(path);
    fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    let file = fs::File::create(path).expect("made");
    let hour = std::time::Duration::from_secs(3600);
    file.set_modified(std::time::SystemTime::now() - hour).expect("set");
}
