//! Many workers and pushers at once, workers that are killed, and a hook beside them: the ids are those of a hook, and nothing
//! is lost.
//!
//! `cargo test` does it with few; `WORKERS="10 5 100 200"`, or `tests/long/workers`, with so many workers, pushers, pushes of each,
//! and kills.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::crashes::Random;
use crate::push::{config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo, ends_within};

const ENVIRONMENTS: [&str; 3] = ["dev", "test", "prod"];

/// How many there are.
struct Size {
    workers: usize,
    pushers: usize,
    pushes: usize,
    kills: usize,
}

fn size() -> Size {
    let given = std::env::var("WORKERS").ok();
    let words = given.as_deref().unwrap_or("2 2 3 6").split(' ').map(|word| word.parse().expect("a number"));
    let [workers, pushers, pushes, kills] = words.collect::<Vec<usize>>()[..] else {
        panic!("WORKERS PUSHERS PUSHES KILLS")
    };
    Size { workers, pushers, pushes, kills }
}

/// A hydrated host without hooks, its dry commit, and clones for pushers and workers.
struct Field {
    lab: Lab,
    host: Repo,
    first: String,
    pushers: Vec<Repo>,
    workers: Vec<Repo>,
}

impl Field {
    fn new(size: &Size) -> Self {
        let lab = Lab::new();
        let host = lab.bare(&[]);
        host.git(&["config", "gc.auto", "0"]);
        let clone = dry(&host, &["web", "api"], &ENVIRONMENTS);
        clone.push().success();
        clone.hydrate(&["push"]).success();
        let first = clone.git(&["rev-parse", "HEAD"]);
        // A local clone copies files of pushes in flight, and fails when one vanishes: so all clone before the first pushes.
        let clones = |name: &str, count| (0..count).map(|n| host.clone_to(&format!("{name}{n}"))).collect();
        let (pushers, workers) = (clones("pusher", size.pushers), clones("worker", size.workers));
        Self { lab, host, first, pushers, workers }
    }

    /// Whether everything is as a hook makes it of the same dry commits.
    fn judge(&self) {
        let job = self.host.clone_to("last");
        job.hydrate(&["push"]).success();
        let server = Repo::at(&self.lab, "hooked.git");
        self.host.git(&["init", "-q", "--bare", server.path.to_str().expect("UTF-8")]);
        server.install_without_settings();
        let url = server.path.to_str().expect("UTF-8");
        job.git(&["push", "-q", url, &format!("{}:refs/heads/main", self.first)]);
        job.git(&["push", "-q", url, "origin/main:refs/heads/main"]);
        server.hydrate(&["catch-up", "--quiet"]).success();
        for env in ENVIRONMENTS {
            let branch = format!("environments/{env}");
            assert_eq!(tip(&self.host, &branch), tip(&server, &branch), "{branch}");
            assert_eq!(note(&self.host, &branch), note_of(&tip(&self.host, "main")), "{branch}");
        }
        assert_eq!(self.host.git(&["fsck", "--strict", "--full", "--no-dangling"]), "");
    }
}

/// A pusher who changes a file of some environment with each push.
fn pusher(clone: &Repo, number: usize, pushes: usize) -> std::process::Command {
    let mut command = clone.command("sh");
    let text = config_map(&format!("p{number}"), "v$n");
    let script = format!(
        "n=0
        while [ $n -lt {pushes} ]; do
            n=$((n + 1))
            case $(((n + {number}) % 3)) in 0) env=dev ;; 1) env=test ;; *) env=prod ;; esac
            cat >apps/web/$env/p{number}.yaml <<end\n{text}end
            git add -A && git commit -qm {number}.$n || exit 1
            until git push -q origin HEAD; do git pull -q --rebase origin main || exit 1; done
        done"
    );
    // A pipe that is not read stops it once it is full.
    let errors = std::fs::File::create(clone.path.join(".git/pusher.err")).expect("writes");
    command.args(["-c", &script]).stdout(Stdio::null()).stderr(errors);
    command
}

fn start_pushers(field: &Field, pushes: usize) -> Vec<Child> {
    let start = |(number, clone): (usize, &Repo)| pusher(clone, number, pushes).spawn().expect("starts");
    field.pushers.iter().enumerate().map(start).collect()
}

fn are_done(pushers: &mut [Child]) -> bool {
    pushers.iter_mut().all(|pusher| {
        let status = pusher.try_wait().expect("is ours");
        status.is_some_and(|status| {
            assert!(status.success(), "a pusher failed");
            true
        })
    })
}

#[test]
fn workers_race_and_make_what_a_hook_makes() {
    let size = size();
    let field = Field::new(&size);
    let started = Instant::now();
    let mut pushers = start_pushers(&field, size.pushes);
    let runs = AtomicUsize::new(0);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for worker in &field.workers {
            let (runs, is_over) = (&runs, &is_over);
            let mut commands: Vec<_> = (0..1000).map(|_| worker.command("git")).collect();
            scope.spawn(move || {
                while let Some(mut command) = commands.pop() {
                    let was_over = is_over.load(Ordering::SeqCst);
                    let output = command.args(["hydrate", "push"]).output().expect("runs");
                    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                    runs.fetch_add(1, Ordering::SeqCst);
                    if was_over {
                        break;
                    }
                }
            });
        }
        let ends: Vec<_> = pushers.iter_mut().map(|pusher| pusher.wait().expect("is ours")).collect();
        // Before the assertion: the threads of the workers are waited for, whatever it says.
        is_over.store(true, Ordering::SeqCst);
        assert!(ends.iter().all(|status| status.success()), "a pusher failed: {ends:?}");
    });
    for env in ENVIRONMENTS {
        let branch = format!("environments/{env}");
        assert_eq!(note(&field.host, &branch), note_of(&tip(&field.host, "main")), "{branch} before the last run");
    }
    field.judge();
    let dry = field.host.git(&["rev-list", "--count", "main"]);
    eprintln!("{dry} dry commits, {} runs of {} workers in {:?}", runs.into_inner(), size.workers, started.elapsed());
}

/// Starts a worker in a process group of its own, kills all of it after a while, and answers whether it was still alive.
fn kill_one(worker: &Repo, after: Duration) -> bool {
    use std::os::unix::process::CommandExt as _;
    let mut command = worker.command("git");
    command.args(["hydrate", "push"]).process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("starts");
    if ends_within(&child, after) {
        child.wait().expect("is ours");
        return false;
    }
    let group = rustix::process::Pid::from_child(&child);
    // It fails only when no process is left.
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    child.wait().expect("is ours");
    true
}

#[test]
fn workers_that_are_killed_lose_nothing() {
    let size = Size { workers: 2, pushers: 1, pushes: 0, ..size() };
    let field = Field::new(&size);
    let mut random = Random(7);
    let started = Instant::now();
    let mut longest = 400_000;
    let mut killed = 0;
    let mut tried = 0;
    while killed < size.kills {
        tried += 1;
        let clone = &field.pushers[0];
        let env = ENVIRONMENTS[random.below(3) as usize];
        clone.commit(
            &format!("{tried}"),
            &[(&format!("apps/web/{env}/more.yaml"), &config_map("more", &tried.to_string()))],
        );
        clone.push().success();
        let after = Duration::from_micros(random.below(longest));
        // About every second one shall die, so that the kills fall on all of its life on this machine.
        if kill_one(&field.workers[random.below(2) as usize], after) {
            // The `git receive-pack` of a remote on this machine dies with the worker, as none of a host does: the locks of
            // that are not the worker's.
            field.host.run("find", &[".", "-name", "*.lock", "-delete"]).success();
            killed += 1;
            longest += longest / 10;
        } else {
            longest -= longest / 10;
        }
    }
    eprintln!("{killed} of {tried} workers were killed in {:?}", started.elapsed());
    field.judge();
}

#[test]
fn workers_beside_a_hook_find_its_work_or_do_it() {
    let size = size();
    let field = Field::new(&size);
    field.host.install_without_settings();
    field.host.git(&["config", "hydrate.guard", "false"]);
    let hidden = field.host.run("git", &["config", "--unset-all", "receive.hideRefs"]);
    assert!(matches!(hidden.code, Some(0 | 5)), "{hidden:?}");
    let mut pushers = start_pushers(&field, size.pushes);
    while !are_done(&mut pushers) {
        for worker in &field.workers {
            worker.hydrate(&["push", "--settings-ref", "refs/hydrate/config"]).success();
        }
    }
    field.judge();
}
