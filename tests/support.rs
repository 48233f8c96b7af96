//! Real repositories, real pushes: what the tests of the whole product stand on.
//!
//! A [`Lab`] is a temporary directory with its own home, a cleared environment, a fixed identity and a clock that
//! ticks once a commit. In it stand [`Repo`]s: bare ones with our hook installed, and clones that push to them.

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// The program under test: the one that cargo built beside the tests, or the one that `GIT_HYDRATE_TEST_PROGRAM` named when the
/// tests were compiled. A release build takes a third less time than a debug build.
pub(crate) const BINARY: &str = match option_env!("GIT_HYDRATE_TEST_PROGRAM") {
    Some(program) => program,
    None => DEBUG_BINARY,
};

/// The program as cargo built it beside the tests. A debug build alone heeds `hydrate-test.NAME.does`.
const DEBUG_BINARY: &str = env!("CARGO_BIN_EXE_git-hydrate");

/// How long to wait for what takes no time, on a machine with much to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Whether a child ends by itself within a time. It is not reaped, so that whoever asks can still wait for it or kill it.
pub(crate) fn ends_within(child: &Child, limit: Duration) -> bool {
    let pid = Pid::from_child(child);
    let (ended, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        let end = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let _ = ended.send(end.is_ok());
    });
    waiting.recv_timeout(limit).unwrap_or(false)
}

/// Looks again and again until something is so: for what no other process tells us of, such as a file of a hook whose pusher
/// is gone. Panics when it takes too long.
pub(crate) fn until(is_so: impl Fn() -> bool, what: &str) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}: it takes too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Makes a FIFO, in place of what may be there.
pub(crate) fn fifo(path: &Path) {
    drop(fs::remove_file(path));
    fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    assert!(Command::new("mkfifo").arg(path).status().expect("starts").success());
}

/// The git config of a new lab. Hooks are files whatever git this is, and the tests that want another place say so.
const CONFIG: &str = "[init]\n\tdefaultBranch = main\n[hydrate]\n\tconfigHooks = false\n";

/// A directory of repositories that nothing outside of it can change.
#[derive(Clone)]
pub(crate) struct Lab {
    /// The program that its hooks and commands find by name.
    program: &'static str,
    dir: Rc<tempfile::TempDir>,
    clock: Rc<Cell<u64>>,
}

/// A repository, and what one can do in it.
#[derive(Clone)]
pub(crate) struct Repo {
    pub path: PathBuf,
    lab: Lab,
}

/// What a program answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Arguments of `git init` that this git knows. One before 2.45 keeps refs in files alone: a test of another backend says so, and
/// tests that one.
pub(crate) fn known_to_git<'a>(args: &[&'a str]) -> Vec<&'a str> {
    static HAS_REFTABLE: OnceLock<bool> = OnceLock::new();
    let has_reftable = *HAS_REFTABLE.get_or_init(|| {
        let usage = Command::new("git").args(["init", "-h"]).output().expect("git");
        [usage.stdout, usage.stderr].iter().any(|text| String::from_utf8_lossy(text).contains("--ref-format"))
    });
    let (known, new): (Vec<&str>, Vec<&str>) =
        args.iter().partition(|arg| has_reftable || !arg.starts_with("--ref-format"));
    if !new.is_empty() {
        eprintln!("skipped: this git does not know {}", new.join(" "));
    }
    known
}

/// Takes a ref at `host` away from a clone of it, where its git lets pushes have it: one before 2.40 refuses names of two parts.
pub(crate) fn delete_at(host: &Repo, clone: &Repo, name: &str) {
    let told = clone.run("git", &["push", "-q", "origin", "--delete", name]);
    match told.stderr.contains("funny refname") {
        true => {
            eprintln!("skipped: this git does not know pushes of {name}");
            host.git(&["update-ref", "-d", name]);
        }
        false => drop(told.success()),
    }
}

impl Lab {
    pub(crate) fn new() -> Self {
        let dir = Rc::new(tempfile::tempdir().expect("a directory"));
        let lab = Self { program: BINARY, dir, clock: Rc::default() };
        fs::create_dir(lab.path("home")).expect("made");
        fs::create_dir(lab.path("bin")).expect("made");
        fs::write(lab.path("home/.gitconfig"), CONFIG).expect("written");
        lab
    }

    /// A lab whose renders fail where `hydrate-test.NAME.does` of git config says how.
    pub(crate) fn that_fails_at_will() -> Self {
        Self { program: DEBUG_BINARY, ..Self::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// An empty bare repository `dry.git`, made by `git init` with further arguments.
    pub(crate) fn bare(&self, args: &[&str]) -> Repo {
        let repo = Repo { path: self.path("dry.git"), lab: self.clone() };
        fs::create_dir(&repo.path).expect("made");
        repo.git(&[&["init", "-q", "--bare"], &known_to_git(args)[..]].concat());
        repo
    }

    /// A bare repository whose pushes are hydrated, with no setting: what is rendered without any stays as it is for ever.
    pub(crate) fn server(&self) -> Repo {
        static INSTALLED: OnceLock<Vec<u8>> = OnceLock::new();
        if !self.is_untouched() {
            return self.install_server();
        }
        // Nothing in it says where it is, so that it is installed once for all labs.
        let installed = INSTALLED.get_or_init(|| {
            let repo = Self::new().install_server();
            let archive = repo.command("tar").args(["-c", "."]).output().expect("tar");
            assert!(archive.status.success(), "{}", String::from_utf8_lossy(&archive.stderr));
            archive.stdout
        });
        let repo = Repo { path: self.path("dry.git"), lab: self.clone() };
        fs::create_dir(&repo.path).expect("made");
        let mut unpack = repo.command("tar").arg("-x").stdin(Stdio::piped()).spawn().expect("tar");
        unpack.stdin.take().expect("piped").write_all(installed).expect("read");
        assert!(unpack.wait().expect("ends").success());
        repo
    }

    fn install_server(&self) -> Repo {
        let repo = self.bare(&[]);
        repo.install_without_settings();
        repo
    }

    /// Whether no test changed yet what runs in the lab, or with which config.
    fn is_untouched(&self) -> bool {
        let count = |name| fs::read_dir(self.path(name)).expect("readable").count();
        let config = fs::read_to_string(self.path("home/.gitconfig")).expect("there");
        config == CONFIG && count("home") == 1 && count("bin") == 0
    }

    /// Puts an executable script first on the PATH of everything that runs in the lab.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        executable(&path, script);
    }

    /// Lets git read repositories of other users, as an admin may have set.
    pub(crate) fn trust_every_directory(&self) {
        self.configure("[safe]\n\tdirectory = *\n");
    }

    /// Adds to the git config of everything that runs in the lab.
    pub(crate) fn configure(&self, more: &str) {
        let path = self.path("home/.gitconfig");
        let config = fs::read_to_string(&path).expect("there");
        fs::write(path, config + more).expect("written");
    }

    /// A command with the environment of the lab and nothing else.
    pub(crate) fn command(&self, program: &str, dir: &Path) -> Command {
        let product = Path::new(self.program).parent().expect("a directory");
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path = [self.path("bin"), product.to_owned()].into_iter().chain(std::env::split_paths(&inherited));
        let date = format!("{} +0200", 1_700_000_000 + 60 * self.clock.get());
        let mut command = Command::new(program);
        command.current_dir(dir).env_clear();
        command.env("PATH", std::env::join_paths(path).expect("no colon in a path"));
        command.env("HOME", self.path("home")).env("TMPDIR", self.dir.path());
        command.env("TZ", "UTC").env("LC_ALL", "C");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Dev Eloper").env(format!("GIT_{role}_EMAIL"), "dev@example.com");
            command.env(format!("GIT_{role}_DATE"), &date);
        }
        command
    }
}

impl Repo {
    /// The repository of this name, which somebody else made in the lab.
    pub(crate) fn at(lab: &Lab, name: &str) -> Self {
        Self { path: lab.path(name), lab: lab.clone() }
    }

    /// What `git` prints, without the line break at its end; it must succeed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.run("git", args).success().stdout.trim_end_matches('\n').to_owned()
    }

    /// What `git hydrate` answers.
    pub(crate) fn hydrate(&self, args: &[&str]) -> Answer {
        self.run("git", &[&["hydrate"], args].concat())
    }

    /// What `git hydrate` answers to an input.
    pub(crate) fn hydrate_with(&self, args: &[&str], input: &str) -> Answer {
        let mut command = self.command("git");
        command.arg("hydrate").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("read");
        Answer::new(child.wait_with_output().expect("ends"))
    }

    /// A command in this repository that is not run yet, so that another thread can do it.
    pub(crate) fn command(&self, program: &str) -> Command {
        self.lab.command(program, &self.path)
    }

    pub(crate) fn run(&self, program: &str, args: &[&str]) -> Answer {
        let output = self.command(program).args(args).output();
        Answer::new(output.unwrap_or_else(|error| panic!("{program}: {error}")))
    }

    /// Installs as on a server, and takes back the settings that a new repository gets.
    pub(crate) fn install_without_settings(&self) {
        const SETTINGS: &str = "refs/hydrate/config";
        let has_settings = self.run("git", &["rev-parse", "-q", "--verify", SETTINGS]).code == Some(0);
        self.hydrate(&["install", "--server"]).success();
        if !has_settings {
            self.git(&["update-ref", "-d", SETTINGS]);
        }
    }

    /// The repository of this name beside this one, whether or not it is there yet.
    pub(crate) fn beside(&self, name: &str) -> Repo {
        Repo { path: self.path.parent().expect("a lab").join(name), lab: self.lab.clone() }
    }

    /// A clone beside this repository; the next one of a team when there is one.
    pub(crate) fn clone_to(&self, name: &str) -> Repo {
        let clone = Repo { path: self.lab.path(name), lab: self.lab.clone() };
        // A git before 2.41 does not learn the format of an empty repository by cloning it.
        let format = self.git(&["rev-parse", "--show-object-format"]);
        let mut command = self.command("git");
        command.args(["clone", "-q", "."]).arg(&clone.path).env("GIT_DEFAULT_HASH", format);
        Answer::new(command.output().expect("git runs")).success();
        clone
    }

    /// Writes files and commits all there is; one without content is removed. Answers the commit's id.
    pub(crate) fn commit(&self, message: &str, files: &[(&str, &str)]) -> String {
        for (path, content) in files {
            let path = self.path.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            if content.is_empty() { fs::remove_file(path) } else { fs::write(path, content) }.expect("written");
        }
        self.lab.clock.set(self.lab.clock.get() + 1);
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Sets the clock of the lab, in minutes.
    pub(crate) fn set_clock(&self, minutes: u64) {
        self.lab.clock.set(minutes);
    }

    /// Commits the bundled example: two regions of three environments.
    pub(crate) fn example(&self) -> String {
        let example =
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/applications/two-regions-of-three-environments/in/.");
        self.run("cp", &["-R", example, "."]).success();
        self.commit("Run the shop in two regions of three environments", &[])
    }

    /// Pushes the branch that is checked out, and answers what the pusher saw.
    pub(crate) fn push(&self) -> Answer {
        self.run("git", &["push", "origin", "HEAD"])
    }

    /// What `git receive-pack` answers to these updates, each `<old> <new> <ref>`, with no objects: a push by hand, which
    /// need not say where the refs are.
    pub(crate) fn receive_pack(&self, updates: &[String], capabilities: &str) -> Answer {
        let mut empty = self.command("git");
        empty.args(["pack-objects", "--stdout", "-q"]).stdin(Stdio::null());
        let mut input = Vec::new();
        let mut end = format!("\0report-status {capabilities}");
        for update in updates {
            let line = format!("{update}{}", std::mem::take(&mut end));
            input.extend(format!("{:04x}{line}", line.len() + 4).into_bytes());
        }
        input.extend(b"0000");
        let null = |id: Option<&str>| id.is_some_and(|id| id.bytes().all(|byte| byte == b'0'));
        if !updates.iter().all(|update| null(update.split(' ').nth(1))) {
            input.extend(empty.output().expect("runs").stdout);
        }
        let mut command = self.command("git");
        // Without the list of refs that it begins with.
        command.args(["receive-pack", "--stateless-rpc", "."]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        let mut stdin = child.stdin.take().expect("piped");
        std::thread::scope(|scope| {
            // It may be refused before all of it is read.
            scope.spawn(move || drop(stdin.write_all(&input)));
            Answer::new(child.wait_with_output().expect("ends"))
        })
    }

    /// The repository as it is, beside itself.
    pub(crate) fn copy_to(&self, name: &str) -> Repo {
        let copy = Repo { path: self.lab.path(name), lab: self.lab.clone() };
        drop(fs::remove_dir_all(&copy.path));
        self.run("cp", &["-R", ".", copy.path.to_str().expect("UTF-8")]).success();
        copy
    }

    /// Lets everybody in the lab push what `key` gives to names: all go by the one name of its commits.
    pub(crate) fn allow(&self, key: &str) {
        self.git(&["config", "hydrate.pusherVariable", "GIT_AUTHOR_NAME"]);
        self.git(&["config", key, "Dev Eloper"]);
        self.install_without_settings();
    }

    /// Writes a hook, as an admin would.
    pub(crate) fn hook(&self, path: &str, script: &str) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        executable(&path, script);
    }

    /// The content of a file of the repository itself, such as a hook; none when there is none.
    pub(crate) fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path.join(path)).ok()
    }

    /// The names in a directory of the repository itself, sorted.
    pub(crate) fn names(&self, dir: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path.join(dir)).expect("readable");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

impl Answer {
    pub(crate) fn new(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// The answer again; the test fails unless the exit code is 0.
    #[track_caller]
    pub(crate) fn success(self) -> Self {
        self.exits(0)
    }

    /// The answer again; the test fails unless the exit code is `code`.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }

    /// What the remote said in a push, line by line, without the mark and the padding that git adds.
    pub(crate) fn remote(&self) -> Vec<&str> {
        self.stderr.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim).collect()
    }
}

/// Makes an executable file. A process of its own writes it: what another test starts meanwhile would have it open for
/// writing for a moment if we did, and nobody may run such a file.
fn executable(path: &Path, script: &str) {
    let mut command = Command::new("install");
    command.args(["-m", "755", "/dev/stdin"]).arg(path).stdin(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("read");
    assert!(child.wait().expect("ends").success(), "{}", path.display());
}
