//! Repositories that somebody made to do harm: what one push of each costs, and what it is answered.
//!
//! Every case is made by code, on top of a repository with an Application that renders: that one goes on. No case may panic
//! or run without end, take more memory than [`PEAK_BYTES_MAX`], or write anything but refs of its own. Each says what it
//! is answered.
//!
//! `HOSTILE=table` prints exit code, time on a processor and on the wall, peak memory of the largest process and of all
//! together, and the answer of each; `tests/long/hostile` does so with a release build. `HOSTILE=light` prints it of those
//! cases alone that `cargo test` tries.
#![expect(unsafe_code, reason = "limits and costs of a child, from libc")]

mod charts;
mod costs;
mod documents;
mod doors;
mod jobs;
mod kustomizations;
mod parents;
mod records;
mod trees;

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use crate::push::{application, config_map, dry, tip};
use crate::support::{BINARY, Lab, Repo};

/// How much memory one run may take.
const PEAK_BYTES_MAX: u64 = 640 << 20;

/// How much processor time one run may take, in seconds: without optimisation far more than with it.
const SECONDS_MAX: u64 = 60;

/// How much longer than its limit a row of the table may take, on a machine that does nothing else. `HOSTILE_LATE` gives the
/// seconds of one that does, such as that of CI.
const LATE_MAX: Duration = Duration::from_secs(1);

/// How often the memory of all processes of a run is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// How much one run may say, in bytes: one text in full, what stands around it, and what the other Application is told.
const SAID_BYTES_MAX: usize = 50_000;

/// What takes long without optimisation, or to be made: only `HOSTILE=table` tries it.
const HEAVY: &[&str] = &[
    "file:// charts that double",
    "anchors by the million",
    "150,000 documents",
    "a million empty documents",
    "a line of 9 MB",
    "9 MB of tabs",
    "9 MB of comments",
    "9 MB of question marks",
    "20,000 Applications in 20,000 files",
    "10,001 Applications in a file",
    "Jsonnet without end",
    "Jsonnet that recurses",
    "Jsonnet that eats memory",
    "Jsonnet that prints without end",
    "commit message: 10 MB of escapes",
    "commit message: a million trailers",
    "100,000 files in a directory",
    "90,000 directories",
    "a tree that holds itself a billion times",
    "the same beside all Applications",
    "the same with what seem to be Applications",
    "the same with names of 250 bytes",
    "one file of Applications in 100,000 places",
    "one file of 60 MB in 100,000 places",
    "a chart that holds itself a billion times",
    "value files that hold themselves a billion times",
    "a destination that holds itself a billion times",
    "a manifest of 100 MB",
    "an Application file of 100 MB",
    "2,000 Applications on as many branches",
    "tpl of itself",
    "range in range in range",
    "range over an integer",
    "string that doubles 60 times",
    "list that doubles 60 times",
    "nested lists that double 60 times",
    "deepCopy of what doubles",
    "regex that grows its text",
    "replace that grows its text",
    "join of a long separator",
    "archive: 1 GB of zeros in one file",
    "archive: 1 GB in many files",
    "archive: 100,000 empty files",
    "archive: zeros behind the end",
    "archive: a long name of 100 MB",
    "archives in archives",
    "a failure of 100 MB",
    "output of 200 MB",
    "output of 300,000 objects",
    "bases that double 40 times",
    "20,000 objects that refer to each other",
    "a resource named a million times",
    "replacements that double an object",
    "note of 50 MB",
    "settings: billion laughs",
    "settings: 50 MB",
    "settings: a pattern of stars",
    "metadata of 50 MB on a branch",
    "10,000 branches and tags",
    "an object that unpacks to 1 GB",
    "one file in 20,000 keys",
    "12,000 config maps that are generated",
    "20,000 containers into 20,000",
    "8,000 images on 12,000 containers",
    "5,000 variables of 30,000 objects",
    "one name in 5,000 namespaces",
    "one scalar of 1 MB, 10,000 aliases",
    "3,000 block levels in a manifest",
    "100,000 brackets in a manifest",
    "10,000 Applications from one parent",
    "Applications that make four more each, without end",
    "5,000 Applications from a template of 8 KB",
];

/// What rightly holds back the Application that has nothing to do with it: two branches cannot both be, a template is that
/// of all branches, and nobody knows which Applications there are.
const HELD_BACK: &[&str] = &[
    "16 kB of aliases in seven Applications",
    "60,000 patches below a long name",
    "README template without end",
    "README template that reads files",
    "the same with what seem to be Applications",
    "the same with names of 250 bytes",
    "one file of Applications in 100,000 places",
];

/// What a case is answered that renders.
const RENDERS: &str = "environments/dev new ->";

/// What somebody pushed, and some words of the answer.
struct Case {
    name: &'static str,
    expected: &'static str,
    build: fn(&mut Dry),
}

/// A dry commit in the making.
struct Dry {
    server: Repo,
    script: Vec<u8>,
    message: Vec<u8>,
    /// Loose objects that are overwritten or removed when the commit stands.
    spoiled: Vec<(String, Option<Vec<u8>>)>,
}

impl Dry {
    /// An entry of any mode, its content inline.
    fn entry(&mut self, mode: &str, path: &[u8], content: &[u8]) {
        self.script.extend(format!("M {mode} inline {}\ndata {}\n", quoted(path), content.len()).as_bytes());
        self.script.extend(content);
        self.script.push(b'\n');
    }

    fn file(&mut self, path: &str, content: impl AsRef<[u8]>) {
        self.entry("100644", path.as_bytes(), content.as_ref());
    }

    fn link(&mut self, path: &str, target: &str) {
        self.entry("120000", path.as_bytes(), target.as_bytes());
    }

    fn submodule(&mut self, path: &str) {
        self.script.extend(format!("M 160000 {} {path}\n", "1".repeat(40)).as_bytes());
    }

    /// A directory that is there as an object.
    fn directory(&mut self, path: &str, id: &str) {
        self.script.extend(format!("M 040000 {id} {path}\n").as_bytes());
    }

    /// A directory of many entries, all with the same content.
    fn many(&mut self, path: &str, mode: &str, id: &str, names: impl Iterator<Item = String>) {
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        let id = hex(id);
        let tree: Vec<u8> =
            names.iter().flat_map(|name| [format!("{mode} {name}\0").into_bytes(), id.clone()].concat()).collect();
        let id = self.object("tree", &tree);
        self.directory(path, &id);
    }

    /// A directory whose entries are as raw as they can be: mode, name and content of files.
    fn raw(&mut self, path: &str, entries: &[(&str, &[u8], &[u8])]) {
        let mut tree = Vec::new();
        for (mode, name, content) in entries {
            let id = self.object("blob", content);
            tree.extend([mode.as_bytes(), b" ", name, b"\0"].concat());
            tree.extend(hex(&id));
        }
        let id = self.object("tree", &tree);
        self.directory(path, &id);
    }

    /// Any bytes as an object of any kind, checked by nobody.
    fn object(&self, kind: &str, content: &[u8]) -> String {
        let file = self.server.path.with_extension("object");
        fs::write(&file, content).expect("written");
        let file = file.display().to_string();
        self.server.git(&["hash-object", "-w", "--literally", "-t", kind, &file])
    }

    /// An Application that renders `apps/<name>/dev`, with its text edited.
    fn application(&mut self, name: &str, edit: impl Fn(String) -> String) {
        let (path, text) = application(name, "dev");
        self.file(&path, edit(text));
    }

    /// The Application of most cases: plain files, a chart or a kustomization in `apps/x/dev`.
    fn x(&mut self) {
        self.application("x", |text| text);
    }

    /// The Application of most cases, with one more field of its dry source.
    fn x_with(&mut self, field: &str) {
        self.application("x", |text| text.replace("    syncSource:", &format!("      {field}\n    syncSource:")));
    }

    /// The Application, and one file in its directory.
    fn x_file(&mut self, name: &str, content: impl AsRef<[u8]>) {
        self.x();
        self.file(&format!("apps/x/dev/{name}"), content);
    }

    /// The Application, and a chart with one template.
    fn chart(&mut self, template: impl AsRef<[u8]>) {
        self.x_file("Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n");
        self.file("apps/x/dev/values.yaml", "list: [1, 2, 3]\n");
        self.file("apps/x/dev/templates/t.yaml", template);
    }

    /// Points `main` at the commit.
    fn commit(&mut self) {
        let mut script = b"commit refs/heads/main\ncommitter Eve <eve@example.com> 1700001000 +0000\n".to_vec();
        script.extend(format!("data {}\n", self.message.len()).as_bytes());
        script.extend(&self.message);
        script.extend(b"\nfrom refs/heads/main^0\n");
        script.extend(&self.script);
        script.push(b'\n');
        let file = self.server.path.with_extension("stream");
        fs::write(&file, script).expect("written");
        let input = fs::File::open(&file).expect("readable");
        let mut command = self.server.command("git");
        let output = command.args(["fast-import", "--quiet", "--force"]).stdin(input).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for (id, content) in &self.spoiled {
            let path = self.server.path.join("objects").join(&id[..2]).join(&id[2..]);
            fs::remove_file(&path).expect("is loose");
            if let Some(content) = content {
                fs::write(path, content).expect("written");
            }
        }
    }
}

/// A path as git writes one with odd bytes.
fn quoted(path: &[u8]) -> String {
    let octal = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => char::from(*byte).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", path.iter().map(octal).collect::<String>())
}

fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2).map(|n| u8::from_str_radix(&digits[2 * n..2 * n + 2], 16).expect("digits")).collect()
}

/// What one run of the hook did.
struct Cost {
    status: ExitStatus,
    said: String,
    /// On a processor.
    time: Duration,
    /// On the wall.
    wall: Duration,
    /// Of the process that took most.
    peak_bytes: u64,
    /// Of all its processes together, as far as a look at them now and then shows.
    tree_bytes: u64,
}

impl Cost {
    /// The first line that tells what is wrong.
    fn headline(&self) -> &str {
        let lines = || self.said.lines();
        let told = lines().find(|line| line.contains("error:")).or_else(|| lines().find(|line| line.contains("/dev")));
        told.or(lines().next()).unwrap_or("nothing")
    }
}

/// Runs the hook and measures it.
fn measure(repo: &Repo) -> Cost {
    let mut command = repo.command(&program());
    command.args(["hook", "post-receive"]).stdin(Stdio::null());
    measure_command(command, repo)
}

/// The program that is measured.
fn program() -> String {
    std::env::var("HOSTILE_PROGRAM").unwrap_or_else(|_| BINARY.to_owned())
}

/// Measures any command; what it says is kept beside the repository.
#[expect(clippy::zombie_processes, reason = "`wait` waits for it, and tells what it used besides")]
fn measure_command(mut command: Command, repo: &Repo) -> Cost {
    let said = repo.path.with_extension("said");
    let file = fs::File::create(&said).expect("made");
    command.stdout(file.try_clone().expect("a descriptor")).stderr(file);
    let limit_time = || {
        let limit = libc::rlimit { rlim_cur: SECONDS_MAX, rlim_max: SECONDS_MAX };
        // SAFETY: a plain system call with a pointer to memory of ours.
        if unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure does one system call. With one, the child is forked and starts with the memory that we have now,
    // not with the most that we ever had, which Linux else counts as its own.
    unsafe { command.pre_exec(limit_time) };
    let started = Instant::now();
    let child = command.process_group(0).spawn().expect("starts");
    let (over, tree) = (AtomicBool::new(false), AtomicU64::new(0));
    let (status, usage) = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                tree.fetch_max(group_bytes(child.id()), Ordering::Relaxed);
                thread::park_timeout(LOOK);
            }
        });
        let ended = wait(child.id());
        over.store(true, Ordering::Relaxed);
        ended
    });
    let (wall, tree_bytes) = (started.elapsed(), tree.into_inner());
    let said = String::from_utf8_lossy(&fs::read(said).expect("readable")).into_owned();
    let seconds = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    let time = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    Cost { status, said, time, wall, peak_bytes: usage.ru_maxrss as u64 * 1024, tree_bytes }
}

/// How much memory the processes of a group have now; what they share counts for each.
fn group_bytes(group: u32) -> u64 {
    let of_process = |dir: fs::DirEntry| {
        let stat = fs::read_to_string(dir.path().join("stat")).ok()?;
        // The name of the program may have blanks in it.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(2);
        let is_its = fields.next()?.parse() == Ok(group);
        let pages: u64 = fs::read_to_string(dir.path().join("statm")).ok()?.split(' ').nth(1)?.parse().ok()?;
        is_its.then_some(pages * 4096)
    };
    fs::read_dir("/proc").expect("Linux").flatten().filter_map(of_process).sum()
}

/// Waits for a process that nobody else waits for, and tells what it used, its own children with it.
fn wait(pid: u32) -> (ExitStatus, libc::rusage) {
    let mut status = 0;
    // SAFETY: a rusage is numbers, for which zeros are fine, and both pointers are to memory of ours.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert!(libc::wait4(pid as libc::pid_t, &mut status, 0, &mut usage) > 0, "our child");
        usage
    };
    (ExitStatus::from_raw(status), usage)
}

/// A repository with a hydrated Application in `environments/prod`.
fn template() -> (Lab, Repo) {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.timeLimit", "2"]);
    server.git(&["config", "hydrate.memoryLimit", "700m"]);
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    dry(&server, &["stable"], &["prod"]).push().success();
    (lab, server)
}

/// [`LATE_MAX`], or what stands for it here.
fn late_max() -> Duration {
    let seconds = std::env::var("HOSTILE_LATE").ok().and_then(|seconds| seconds.parse().ok());
    seconds.map_or(LATE_MAX, Duration::from_secs)
}

/// All tables.
const TABLES: &[&[Case]] = &[
    trees::CASES,
    documents::CASES,
    charts::CASES,
    costs::CASES,
    kustomizations::CASES,
    parents::CASES,
    records::CASES,
];

/// Whether what it costs is printed.
fn is_table() -> bool {
    std::env::var_os("HOSTILE").is_some()
}

/// How long one Application may take in a repository, where it says so.
fn time_limit(repo: &Repo) -> Option<Duration> {
    let seconds = repo.run("git", &["config", "hydrate.renderTimeLimit"]).stdout;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

fn try_all(cases: &[Case]) {
    let (lab, server) = template();
    let table = is_table();
    let light = std::env::var("HOSTILE").is_ok_and(|word| word == "light");
    let mut wrong = Vec::new();
    for case in cases {
        if (light || !table) && HEAVY.contains(&case.name) {
            continue;
        }
        if std::env::var("HOSTILE_CASE").is_ok_and(|name| name != case.name) {
            continue;
        }
        let copy = Repo::at(&lab, "case.git");
        drop(fs::remove_dir_all(&copy.path));
        let (from, to) = (server.path.display().to_string(), copy.path.display().to_string());
        Repo::at(&lab, "").run("cp", &["-a", &from, &to]).success();
        let prod = tip(&copy, "environments/prod");
        let mut dry = Dry { server: copy.clone(), script: Vec::new(), message: b"evil".to_vec(), spoiled: Vec::new() };
        dry.file("apps/stable/prod/config.yaml", config_map("stable", "goes on"));
        (case.build)(&mut dry);
        dry.commit();
        drop(dry);
        let cost = measure(&copy);
        let (ms, mib) = (cost.time.as_millis(), cost.peak_bytes >> 20);
        let (wall, tree) = (cost.wall.as_millis(), cost.tree_bytes >> 20);
        let code = cost.status.code().map_or_else(|| cost.status.to_string(), |code| code.to_string());
        let headline: String = cost.headline().trim().chars().take(150).collect();
        if table {
            println!(
                "{:44} {code:>2} {ms:>7} ms {wall:>7} ms {mib:>5} MiB {tree:>5} MiB  {}",
                case.name,
                headline.escape_debug()
            );
        }
        let mut complain = |what: &str| wrong.push(format!("{}: {what}: {}", case.name, cost.said));
        let said = cost.said.replace('\n', " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if cost.status.code().is_none_or(|code| code > 1) || said.contains("panicked") {
            complain("does not end well");
        }
        if !said.contains(case.expected) {
            complain(&format!("does not say `{}`", case.expected));
        }
        if cost.said.chars().any(|c| c.is_control() && c != '\n') {
            complain("lets control characters through");
        }
        if cost.said.len() > SAID_BYTES_MAX {
            complain(&format!("says {} bytes", cost.said.len()));
        }
        if table && time_limit(&copy).is_some_and(|limit| cost.wall > limit + late_max()) {
            complain(&format!("takes {wall} ms, which is too long after its limit"));
        }
        if cost.time.as_secs() >= SECONDS_MAX || cost.peak_bytes > PEAK_BYTES_MAX {
            complain(&format!("takes {ms} ms and {mib} MiB"));
        }
        let goes_on = tip(&copy, "environments/prod") != prod;
        if goes_on == (case.expected.starts_with("hydration failed") || HELD_BACK.contains(&case.name)) {
            complain(if goes_on { "goes on" } else { "stops what has nothing to do with it" });
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn trees() {
    try_all(trees::CASES);
}

#[test]
fn documents() {
    try_all(documents::CASES);
}

#[test]
fn charts() {
    try_all(charts::CASES);
}

#[test]
fn costs() {
    try_all(costs::CASES);
}

#[test]
fn kustomizations() {
    try_all(kustomizations::CASES);
}

#[test]
fn parents() {
    try_all(parents::CASES);
}

#[test]
fn records() {
    try_all(records::CASES);
}
