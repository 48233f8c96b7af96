//! Code of a pusher that runs confined changes nothing outside, whatever system call it makes; usual programs go on.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use git_hydrate::testing::plugin::{Call, Limits, Output, Runner};
use git_hydrate::testing::view::Stop;
use rustix::process::{Pid, Resource, getpriority_process, getrlimit};

use super::{runner, sh, small};
use crate::push::{application, config_map, tip};
use crate::support::{Lab, Repo, fifo};

/// How many calls the program makes, on every architecture: 40 times each number up to 511, without six.
const CALLS: usize = 512 * 40 - 6;

/// The compiled `every_call.c`.
fn every_call() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plugin/every_call.c");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("every_call-{}", std::process::id()));
        let compiled = Command::new("cc").args(["-O1", "-static", "-o"]).arg(&program).arg(source).status();
        assert!(compiled.expect("a C compiler").success());
        program
    })
}

/// All that the kernel notes of a file. The time of change moves with each of them, and no call can set it.
fn state(file: &Path) -> String {
    let found = file.symlink_metadata().expect("there");
    let times = [(found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec())];
    format!(
        "mode {:o}, owner {}:{}, links {}, bytes {}, times {times:?}",
        found.mode(),
        found.uid(),
        found.gid(),
        found.nlink(),
        found.size()
    )
}

/// The number after `name` in a manifest.
fn number(manifest: &str, name: &str) -> usize {
    let line = manifest.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: ")));
    let text = line.unwrap_or_else(|| panic!("{name}: {manifest}")).trim_matches(['"', '\'']);
    text.parse().expect("a number")
}

/// Two files that a program may not and may read, and what came of running it on them.
struct Tried {
    dir: tempfile::TempDir,
    before: [String; 2],
}

impl Tried {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join("given")).expect("made");
        let tried = Self { dir, before: Default::default() };
        for file in tried.files() {
            std::fs::write(&file, "#!/bin/sh\nexit 1\n").expect("written");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("set");
        }
        Self { before: tried.files().map(|file| state(&file)), ..tried }
    }

    fn files(&self) -> [PathBuf; 2] {
        ["outside", "given/readable"].map(|name| self.dir.path().join(name))
    }

    fn changed(&self) -> Vec<String> {
        let after = self.files().map(|file| state(&file));
        std::iter::zip(&self.before, after)
            .filter(|(before, after)| *before != after)
            .map(|(before, after)| format!("{before} -> {after}"))
            .collect()
    }

    fn arguments(&self, calls: &str) -> Vec<std::ffi::OsString> {
        self.files().into_iter().map(Into::into).chain([calls.into()]).collect()
    }

    fn confined(&self, calls: &str) -> Output {
        let given = self.dir.path().join("given");
        let call = Call {
            program: every_call(),
            args: self.arguments(calls),
            dir: &given,
            readable: vec![given.clone()],
            writable: Vec::new(),
            ours: false,
            environment: Vec::new(),
        };
        runner(Limits { tasks_max: 1024, ..Limits::default() }).run(&call, &Stop::default()).expect("runs")
    }
}

/// What is tried does something where nothing confines it, so that the tests below can fail.
#[test]
fn the_calls_that_are_tried_change_a_file_where_nothing_is_confined() {
    let rows = [
        ("fchmod", libc::SYS_fchmod),
        ("fchmodat", libc::SYS_fchmodat),
        ("fchmodat2", 452),
        ("utimensat", libc::SYS_utimensat),
        ("openat", libc::SYS_openat),
        ("linkat", libc::SYS_linkat),
        ("unlinkat", libc::SYS_unlinkat),
    ];
    for (name, call) in rows {
        let tried = Tried::new();
        let mut program = Command::new(every_call());
        program.args(tried.arguments(&call.to_string())).env("HOME", tried.dir.path().join("given"));
        // Not the null device of the machine, of which a call that nothing confines may change the mode.
        let output = program.stdin(Stdio::piped()).output().expect("runs");
        let said = String::from_utf8(output.stdout).expect("text");
        // A kernel before Linux 6.6 has no `fchmodat2`.
        let is_old = name == "fchmodat2" && tried.changed().is_empty();
        assert_eq!(number(&said, "back"), 40, "{name}");
        assert!(is_old || !tried.files()[0].exists() || !tried.changed().is_empty(), "{name}");
    }
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn no_system_call_changes_a_file_or_a_process_outside() {
    let tried = Tried::new();
    let read_at = tried.files()[0].metadata().expect("there").atime();
    let of_this_process = || {
        let nice = getpriority_process(Pid::from_raw(std::process::id().cast_signed())).expect("told");
        (nice, getrlimit(Resource::Nofile).current)
    };
    let before = of_this_process();
    let output = tried.confined("all");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(tried.changed(), Vec::<String>::new(), "{said}");
    assert_eq!(tried.files()[0].metadata().expect("there").atime(), read_at);
    assert_eq!(of_this_process(), before);
    assert!(number(&said, "made") >= CALLS, "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(number(&said, "back") > CALLS * 9 / 10, "{said}");
}

/// A server whose plugin, Helm and Kustomize are the program that makes every call on its guard, and a clone with one
/// Application for each, and one of Jsonnet.
fn server(lab: &Lab) -> (Repo, Repo) {
    let server = lab.server();
    let guard = server.path.join("hooks/pre-receive");
    let readable = lab.path("given/readable");
    std::fs::create_dir(lab.path("given")).expect("made");
    std::fs::write(&readable, "given\n").expect("written");
    let command = format!("{} {} {} all", every_call().display(), guard.display(), readable.display());
    server.git(&["config", "hydrate-plugin.evil.command", &command]);
    server.git(&["config", "hydrate.helm", &command]);
    server.git(&["config", "hydrate.readable", lab.path("given").to_str().expect("UTF-8")]);
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    let clone = server.clone_to("clone");
    (server, clone)
}

/// The push of Applications with this source each, the manifest of which says that all calls were made; then nothing has
/// changed, and the guard refuses what was made by hand.
fn guard_holds(server: &Repo, clone: &Repo, files: &[(&str, &str)]) {
    let lab = server.beside("given");
    let watched = [server.path.join("hooks/pre-receive"), lab.path.join("readable")];
    let before = watched.each_ref().map(|file| state(file));
    clone.commit("feat: code of a pusher", files);
    let told = clone.push().success().stderr;
    let manifest = server.git(&["show", "environments/prod:web/manifest.yaml"]);
    assert!(number(&manifest, "made") >= CALLS, "{manifest}\n{told}");
    assert_eq!(watched.each_ref().map(|file| state(file)), before, "{told}");

    let made = tip(server, "environments/prod");
    clone.git(&["fetch", "-q", "origin"]);
    clone.git(&["checkout", "-q", "-B", "by-hand", "origin/environments/prod"]);
    clone.commit("by hand", &[("web/manifest.yaml", "kind: ConfigMap\n")]);
    let refused = clone.run("git", &["push", "origin", "by-hand:environments/prod"]).exits(1);
    assert!(refused.stderr.contains("environments/prod"), "{}", refused.stderr);
    assert_eq!(tip(server, "environments/prod"), made);
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn the_guard_refuses_a_commit_made_by_hand_after_a_plugin_made_every_call() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    let (file, text) = application("web", "prod");
    let text = text.replace("path: apps/web/prod\n", "path: apps/web/prod\n      plugin: {name: evil}\n");
    guard_holds(&server, &clone, &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "1"))]);
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn the_guard_refuses_a_commit_made_by_hand_after_an_official_tool_made_every_call() {
    let lab = Lab::new();
    let (server, clone) = server(&lab);
    server.hydrate(&["config", "set", "renderer", "exec"]).success();
    let (file, text) = application("web", "prod");
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
    guard_holds(&server, &clone, &[(&file, &text), ("apps/web/prod/Chart.yaml", chart)]);
}

/// Its code cannot make a system call of its choice; should it ever, the process is confined as the others are.
#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn jsonnet_is_evaluated_in_a_process_with_the_same_filters() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("waits.jsonnet");
    fifo(&file);
    let found = std::thread::scope(|scope| {
        let runner = runner(Limits::default());
        let dir = dir.path();
        let evaluating = scope.spawn(move || evaluate(&runner, dir));
        // Opened once the process reads it, which it does when it has restricted itself.
        let mut writer = std::fs::OpenOptions::new().write(true).open(&file).expect("opened");
        let status = status_of_reader(dir);
        std::io::Write::write_all(&mut writer, b"{a: 1}").expect("written");
        drop(writer);
        let output = evaluating.join().expect("no panic");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "{\"a\": 1}", "{output:?}");
        status
    });
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "Seccomp_filters:\t5"] {
        assert!(found.lines().any(|it| it == line), "{line}: {found}");
    }
}

fn evaluate(runner: &Runner, dir: &Path) -> Output {
    let program = PathBuf::from(crate::support::BINARY);
    let call = Call {
        program: &program,
        args: vec!["__jsonnet".into(), "waits.jsonnet".into()],
        dir,
        readable: vec![dir.to_owned()],
        writable: Vec::new(),
        ours: true,
        environment: Vec::new(),
    };
    runner.run(&call, &Stop::default()).expect("runs")
}

/// What the kernel says of the process that works in a directory.
fn status_of_reader(dir: &Path) -> String {
    let dir = dir.canonicalize().expect("there");
    let processes = std::fs::read_dir("/proc").expect("readable").flatten();
    let here = processes.filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == dir));
    let statuses: Vec<String> =
        here.filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok()).collect();
    assert_eq!(statuses.len(), 1, "one process works there");
    statuses.concat()
}

#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn usual_programs_work_on_their_own_files() {
    let given = tempfile::tempdir().expect("a directory");
    std::fs::write(given.path().join("in.txt"), "input\n").expect("written");
    std::fs::create_dir(given.path().join("dir")).expect("made");
    std::fs::write(given.path().join("dir/deep.txt"), "deep\n").expect("written");
    std::os::unix::fs::symlink("in.txt", given.path().join("link")).expect("made");
    let python = "import os, pathlib, shutil, subprocess, tempfile, threading\n\
         home = pathlib.Path(os.environ[\"HOME\"])\n\
         shutil.copy(\"in.txt\", home / \"a\"); shutil.copy2(\"in.txt\", home / \"b\"); shutil.copytree(\".\", home / \"c\")\n\
         (home / \"touched\").touch(); os.chmod(home / \"a\", 0o600); os.utime(home / \"b\", (1, 1))\n\
         thread = threading.Thread(target=lambda: None); thread.start(); thread.join()\n\
         tempfile.NamedTemporaryFile().write(b\"x\")\n\
         print((home / \"c/dir/deep.txt\").read_text() + str((home / \"touched\").exists()) + \
         subprocess.run([\"cat\", \"in.txt\"], capture_output=True, text=True).stdout, end=\"\")";
    let node = "const fs = require(\"fs\"), home = process.env.HOME; fs.cpSync(\".\", home + \"/c\", \
         {recursive: true, preserveTimestamps: true}); fs.chmodSync(home + \"/c/in.txt\", 0o600); \
         console.log(require(\"child_process\").execFileSync(\"cat\", [home + \"/c/in.txt\"]).toString().trim())";
    let rows: [(&str, &str, &str); 19] = [
        ("cp", "cp in.txt $HOME/a && cat $HOME/a", "input\n"),
        ("cp -p", "cp -p in.txt $HOME/a && cat $HOME/a", "input\n"),
        ("cp -a", "cp -a . $HOME/a && cat $HOME/a/link $HOME/a/dir/deep.txt", "input\ndeep\n"),
        ("install", "install -m 755 in.txt $HOME/a && install -d $HOME/b/c && cat $HOME/a", "input\n"),
        ("tar", "tar -c . | tar -x -C $HOME && cat $HOME/link", "input\n"),
        ("tar as the superuser does", "tar -c . | tar -x -p --same-owner -C $HOME && cat $HOME/link", "input\n"),
        ("gzip", "cp in.txt $HOME/a && gzip $HOME/a && gzip -d $HOME/a.gz && cat $HOME/a", "input\n"),
        ("mktemp", "cat in.txt >$(mktemp) && mktemp -d >/dev/null && echo made", "made\n"),
        ("touch", "touch $HOME/a && touch $HOME/a && ls $HOME", "a\n"),
        ("chmod of a script", "echo 'echo ran' >$HOME/a && chmod +x $HOME/a && sh $HOME/a", "ran\n"),
        ("sed -i", "cp in.txt $HOME/a && sed -i s/in/out/ $HOME/a && cat $HOME/a", "output\n"),
        ("a pipe with a name", "mkfifo $HOME/p && (cat in.txt >$HOME/p &) && cat $HOME/p", "input\n"),
        (
            "find and xargs",
            "find . -name '*.txt' -print0 | sort -z | xargs -0 -P2 -n1 basename | sort",
            "deep.txt\nin.txt\n",
        ),
        ("timeout", "timeout 60 cat in.txt", "input\n"),
        ("jobs", "sleep 60 & kill $!; wait $! 2>/dev/null || echo ended", "ended\n"),
        ("nice", "nice -n 5 cat in.txt", "input\n"),
        ("perl", "perl -e 'open F, \"<\", \"in.txt\"; utime 1, 1, \"/\"; print <F>'", "input\n"),
        (
            "git",
            "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; cd $HOME && git init -q r && cd r && echo x >f && \
             git config user.name n && git config user.email e && git add f && git commit -qm m && rm f && \
             git checkout -q f && git clone -q . ../s && git -C ../s gc -q && cat ../s/f",
            "x\n",
        ),
        ("python3", "python3 -c \"$PYTHON\"", "deep\nTrueinput\n"),
    ];
    let runner = runner(Limits { memory_bytes_max: 1 << 30, ..small() });
    for (name, script, expected) in rows {
        let script = format!("PYTHON='{python}'; {script}");
        let output = sh(&runner, &script, given.path(), &Stop::default()).expect(name);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((&*String::from_utf8_lossy(&output.stdout), &*stderr), (expected, ""), "{name}: {output:?}");
    }
    // It reserves more address space than the limit of the others.
    let roomy = super::runner(Limits { memory_bytes_max: 0, ..Limits::default() });
    if roomy.find("node").is_ok() {
        let output = sh(&roomy, &format!("OPENSSL_CONF=/dev/null node -e '{node}'"), given.path(), &Stop::default())
            .expect("node");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "input\n", "{output:?}");
    }
}

/// The words that say how each kind of refusal is answered: a tool goes on from there by itself.
#[test]
#[ignore = "needs Linux with Landlock and seccomp"]
fn what_is_refused_says_so() {
    let given = tempfile::tempdir().expect("a directory");
    std::fs::write(given.path().join("in.txt"), "input\n").expect("written");
    let rows = [
        ("raises no limit", "ulimit -v unlimited && echo raised", "ermission denied|not permitted|cannot modify"),
        ("truncates nothing by its name", "perl -e 'truncate(\"in.txt\", 0) or die $!'", "not permitted"),
        (
            "truncates nothing that it opens to read",
            "perl -MFcntl -e 'sysopen(F, \"in.txt\", O_RDONLY|O_TRUNC) or die $!'",
            "not permitted",
        ),
        (
            "has no attributes",
            "python3 -c 'import os; os.setxattr(os.environ[\"HOME\"], \"user.a\", b\"b\")'",
            "not supported",
        ),
        ("makes no device", "mknod $HOME/a c 1 3", "not permitted"),
        (
            "sends to no socket",
            "python3 -c 'import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)'",
            "not permitted",
        ),
        ("watches nothing", "perl -e 'syscall(254, 0, 0, 0) == 0 or die $!'", "not permitted"),
        ("asks for what is not known yet", "perl -e 'syscall(500) == 0 or die $!'", "not implemented"),
        ("is told to use older calls", "perl -e 'syscall(435) == 0 or die $!'", "not implemented"),
    ];
    let runner = runner(small());
    for (name, script, words) in rows {
        let output = sh(&runner, script, given.path(), &Stop::default()).expect(name);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && words.split('|').any(|word| stderr.contains(word)), "{name}: {output:?}");
    }
}
