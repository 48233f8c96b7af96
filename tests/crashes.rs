//! A server that is killed again and again: pushes, kill -9 at random moments, clocks that jump, gc and repack meanwhile.
//!
//! All is drawn from a seed: what is committed, when the committer's clock says it was, which process of the push dies, and
//! how long it lives. After each push the repository is whole and no ref points at an object that is not there. After a push
//! in which nobody died no environment branch is behind. In the end each branch is what a cold hydration makes, and has
//! one hydrated commit for each dry commit that changed it.
//!
//! `cargo test` pushes a few times; `tests/long/crashes SEED PUSHES` as often as one likes, and prints figures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::push::{config_map, dry, note, note_of, tip};
use crate::support::{Answer, BINARY, Lab, Repo, until};

/// Random numbers that are the same for a seed on each machine (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// A process of a push, and how long it lives at most before it is killed, in microseconds: a guess to begin with. The
/// campaign moves it until about every second one dies, so that the kills fall on all of its life on this machine.
const VICTIMS: [(&str, u64); 4] =
    [("hook", 60_000), ("update-ref", 6_000), ("index-pack", 6_000), ("receive-pack", 120_000)];

const ENVIRONMENTS: [&str; 3] = ["dev", "test", "prod"];

/// What became of the pushes in which one sort of process was to die.
#[derive(Default)]
struct Figures {
    pushes: u32,
    killed: u32,
    failed: u32,
    behind: u32,
    locks: u32,
    locks_cleared: u32,
    locks_reported: u32,
}

struct Server {
    lab: Lab,
    repo: Repo,
    git: PathBuf,
}

impl Server {
    fn new(init: &[&str]) -> (Self, Repo) {
        let lab = Lab::new();
        let repo = lab.bare(init);
        repo.install_without_settings();
        for (key, value) in [("core.fsync", "committed"), ("receive.unpackLimit", "1"), ("gc.auto", "0")] {
            repo.git(&["config", key, value]);
        }
        let clone = dry(&repo, &["web", "api"], &ENVIRONMENTS);
        clone.push().success();
        let search = std::env::var_os("PATH").expect("is set");
        let git = std::env::split_paths(&search).map(|dir| dir.join("git")).find(|path| path.exists());
        (Self { lab, repo, git: git.expect("is installed") }, clone)
    }

    /// Makes every process of a push go through a script that kills the victim after a while.
    fn arm(&self, victim: Option<&str>, microseconds: u64) {
        let (git, mark) = (self.git.display(), self.lab.path("killed").display().to_string());
        drop(fs::remove_file(&mark));
        // The killer stands beside the victim, which has the descriptors and the parent that it always has.
        let run = |name: &str, command: &str| {
            let seconds = microseconds as f64 / 1e6;
            let killer = format!(
                "(sleep {seconds}; read -r pid name state rest </proc/$$/stat && [ $state != Z ] && kill -9 $$ && echo {name} >{mark}) </dev/null >/dev/null 2>&1 &"
            );
            let killer = if victim == Some(name) { killer.as_str() } else { ":" };
            format!("{killer}\nexec {command}")
        };
        let hook = run("hook", &format!("{BINARY} hook post-receive"));
        let bin = self.lab.path("armed").display().to_string();
        self.repo.hook("hooks/post-receive", &format!("#!/bin/sh\nPATH={bin}:$PATH\nunset GIT_EXEC_PATH\n{hook}\n"));
        let update_ref = run("update-ref", &format!("{git} \"$@\""));
        let index_pack = run("index-pack", &format!("{git} \"$@\""));
        let cases = format!(
            "case \" $* \" in\n*' update-ref '*) {update_ref};;\n*' index-pack '*) {index_pack};;\n*) exec {git} \"$@\";;\nesac\n"
        );
        // Outside of the PATH of the lab: only the hook and receive-pack shall find it.
        self.repo.hook("../armed/git", &format!("#!/bin/sh\n{cases}"));
        let receive_pack = run("receive-pack", &format!("{git} receive-pack \"$@\""));
        let exec_path = self.repo.git(&["--exec-path"]);
        let armed = format!("#!/bin/sh\nexport GIT_EXEC_PATH={bin}\n{receive_pack}\n");
        self.repo.hook("../armed/receive-pack", &armed);
        // git looks for its own parts there as well.
        for entry in fs::read_dir(exec_path).expect("readable") {
            let path = entry.expect("readable").path();
            let link = self.lab.path("armed").join(path.file_name().expect("a name"));
            if !link.exists() {
                std::os::unix::fs::symlink(path, link).expect("made");
            }
        }
    }

    fn push(&self, clone: &Repo) -> Answer {
        let receive_pack = format!("--receive-pack={}", self.lab.path("armed/receive-pack").display());
        let mut command = clone.command("timeout");
        command.args(["300", "git", "push", "-q", "--force", &receive_pack, "origin", "HEAD"]).stdin(Stdio::null());
        Answer::new(command.output().expect("runs"))
    }

    /// Whoever was killed, the children of others go on for a while: waits until none is at work here.
    fn settle(&self) {
        let here = self.repo.path.canonicalize().expect("is there");
        let is_here = |process: &fs::DirEntry| fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == here);
        let is_idle = || !fs::read_dir("/proc").expect("readable").flatten().any(|process| is_here(&process));
        until(is_idle, "a process at work in the repository");
    }

    /// The lock files that outlived their makers.
    fn locks(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for dir in ["refs", "reftable"] {
            collect_locks(&self.repo.path.join(dir), &mut found);
        }
        collect_lock(&self.repo.path.join("packed-refs.lock"), &mut found);
        collect_lock(&self.repo.path.join("HEAD.lock"), &mut found);
        found
    }

    /// Has the next run clear the locks that are proven dead, and removes the others by the commands that doctor tells
    /// an admin. Answers how many there were of either.
    fn clear(&self, locks: &[PathBuf], what: &str) -> (u32, u32) {
        self.arm(None, 0);
        self.repo.run("sh", &["-c", "exec hooks/post-receive </dev/null"]);
        let left = self.locks();
        for lock in &left {
            // Only what is older than any git at work is reported.
            self.repo.run("touch", &["-d", "2000-01-01", &lock.display().to_string()]).success();
        }
        let told = if left.is_empty() { String::new() } else { self.repo.hydrate(&["doctor"]).stdout };
        for lock in &left {
            let lock = lock.canonicalize().expect("is there").display().to_string();
            let command = format!("rm {lock}\n");
            assert!(told.contains(&command), "{lock} is not reported: {told}\n{what}");
            self.repo.run("sh", &["-c", &command]).success();
        }
        ((locks.len() - left.len()) as u32, left.len() as u32)
    }

    fn whole(&self, what: &str) {
        let answer = self.repo.run("git", &["fsck", "--strict", "--full", "--no-dangling"]);
        assert!(answer.code == Some(0) && answer.stdout.is_empty(), "{what}: {answer:?}");
    }

    /// The environment branches whose note names another commit than the tip of their dry branch.
    fn behind(&self) -> Vec<&'static str> {
        let dry = note_of(&tip(&self.repo, "main"));
        ENVIRONMENTS.into_iter().filter(|env| note(&self.repo, &format!("environments/{env}")) != dry).collect()
    }

    /// The trees of the environment branches.
    fn trees(repo: &Repo) -> BTreeMap<&'static str, String> {
        let tree = |env: &'static str| {
            (
                env,
                repo.git(&["show", &format!("environments/{env}:web/manifest.yaml")])
                    + &repo.git(&["show", &format!("environments/{env}:api/manifest.yaml")]),
            )
        };
        ENVIRONMENTS.into_iter().map(tree).collect()
    }
}

fn collect_locks(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() { collect_locks(&entry.path(), found) } else { collect_lock(&entry.path(), found) }
    }
}

fn collect_lock(path: &Path, found: &mut Vec<PathBuf>) {
    if path.extension().is_some_and(|extension| extension == "lock") && path.exists() {
        found.push(path.to_owned());
    }
}

fn campaign(seed: u64, pushes: u32, init: &[&str]) {
    let (server, clone) = Server::new(init);
    let mut random = Random(seed);
    let mut figures: BTreeMap<&str, Figures> = BTreeMap::new();
    let mut lives: BTreeMap<&str, u64> = VICTIMS.into_iter().collect();
    for number in 0..pushes {
        let drawn = VICTIMS.get(random.below(5) as usize).map(|(name, _)| *name);
        let victim = drawn.unwrap_or("nobody");
        let share = random.below(1000);
        let life = drawn.map_or(0, |name| share * lives[name] / 1000);
        server.arm(drawn, life);
        // Some commits are amended and pushed by force, and some clocks are wrong.
        let rewinds = random.below(20) == 0;
        let (app, env) = (["web", "api"][random.below(2) as usize], ENVIRONMENTS[random.below(3) as usize]);
        clone.set_clock(random.below(1_000_000));
        if rewinds {
            clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
        }
        for _ in 0..=random.below(3) {
            let text = config_map(app, &format!("{}", random.next()));
            clone.commit(&format!("change {number}"), &[(&format!("apps/{app}/{env}/config.yaml"), &text)]);
        }
        let mut gc = (random.below(10) == 0).then(|| {
            let args: &[&str] = if random.below(2) == 0 { &["gc", "-q", "--prune=now"] } else { &["repack", "-adq"] };
            server.repo.command("git").args(args).stderr(Stdio::null()).spawn().expect("starts")
        });
        let answer = server.push(&clone);
        server.settle();
        if let Some(gc) = &mut gc {
            gc.wait().expect("ends");
        }
        let what = format!("seed {seed}, push {number}, {victim} after {life} µs: {answer:?}");
        assert_ne!(answer.code, Some(124), "the push never ended: {what}");
        assert!(!answer.stderr.contains("panicked"), "{what}");
        server.whole(&what);
        let killed = server.lab.path("killed").exists();
        let (locks, behind) = (server.locks(), server.behind());
        if !killed && locks.is_empty() && gc.is_none() {
            assert!(answer.code == Some(0) && behind.is_empty(), "{behind:?} behind: {what}");
        }
        if let Some(life) = lives.get_mut(victim) {
            *life = if killed { *life * 9 / 8 } else { (*life * 8 / 9).max(500) };
        }
        let (cleared, reported) = if locks.is_empty() { (0, 0) } else { server.clear(&locks, &what) };
        let entry = figures.entry(victim).or_default();
        entry.pushes += 1;
        entry.killed += u32::from(killed);
        entry.failed += u32::from(answer.code != Some(0));
        entry.behind += u32::from(!behind.is_empty());
        entry.locks += locks.len() as u32;
        entry.locks_cleared += cleared;
        entry.locks_reported += reported;
    }
    server.arm(None, 0);
    clone.commit("the end", &[("README", "end")]);
    let answer = server.push(&clone).success();
    assert_eq!(server.behind(), [""; 0], "{answer:?}");
    server.whole("the end");
    let main = tip(&server.repo, "main");
    for env in ENVIRONMENTS {
        let format = "--format=%(trailers:key=Hydrate-Dry,valueonly,separator=)";
        let hydrated = server.repo.git(&["log", "--first-parent", format, &format!("environments/{env}")]);
        let hydrated: Vec<&str> = hydrated.lines().collect();
        // The empty commit that a branch starts with is made from the first dry commit too.
        let distinct: BTreeSet<&str> = hydrated.iter().copied().collect();
        assert_eq!(distinct.len(), hydrated.len() - 1, "{env}: a dry commit is hydrated twice");
    }
    let cold = cold(&server, &main);
    assert_eq!(Server::trees(&server.repo), Server::trees(&cold), "seed {seed}");
    for (victim, figures) in figures {
        let Figures { pushes, killed, failed, behind, locks, locks_cleared, locks_reported } = figures;
        println!(
            "{init:?} {victim:13} {pushes:5} pushes, {killed:5} killed, {failed:5} failed, {behind:5} left a branch behind, {locks:4} locks left, {locks_cleared} of them cleared by the next run, {locks_reported} reported"
        );
    }
}

/// A new server to which the same dry commit is pushed once.
fn cold(server: &Server, main: &str) -> Repo {
    let cold = Repo::at(&server.lab, "cold.git");
    fs::create_dir(&cold.path).expect("made");
    cold.git(&["init", "-q", "--bare"]);
    cold.install_without_settings();
    server.repo.git(&["push", "-q", "../cold.git", &format!("{main}:refs/heads/main")]);
    cold
}

/// The seed and the number of pushes of a long run, or those of a short one.
fn size() -> (u64, u32) {
    let given = std::env::var("CRASHES").ok();
    let mut words = given.as_deref().unwrap_or("1 3").split(' ').map(|word| word.parse().expect("SEED PUSHES"));
    (words.next().expect("a seed"), words.next().expect("a number of pushes") as u32)
}

#[test]
fn a_server_that_is_killed_with_refs_in_files() {
    let (seed, pushes) = size();
    campaign(seed, pushes, &[]);
}

#[test]
fn a_server_that_is_killed_with_refs_in_tables() {
    let (seed, pushes) = size();
    campaign(seed, pushes, &["--ref-format=reftable"]);
}

/// Between the moment when objects are written and that when refs point at them, somebody prunes and repacks.
#[test]
fn no_prune_takes_what_refs_are_about_to_point_at() {
    let (server, clone) = Server::new(&[]);
    let git = server.git.display();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' update-ref '*) {git} gc -q --prune=now; {git} repack -adq; {git} prune --expire=now;; esac\nexec {git} \"$@\"\n"
    );
    server.lab.program("git", &script);
    server.repo.git(&["config", "core.hooksPath", "/nonexistent"]);
    clone.commit("change", &[("apps/web/dev/config.yaml", &config_map("web", "changed"))]);
    clone.push().success();
    server.repo.git(&["config", "--unset", "core.hooksPath"]);
    // Not as a command of git, which would put its own directory in front of the lab's.
    server.repo.run(BINARY, &["catch-up"]).success();
    server.whole("pruned");
    assert_eq!(server.behind(), [""; 0]);
}
