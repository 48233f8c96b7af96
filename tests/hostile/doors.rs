//! Hostile repositories wherever somebody has them hydrated: by each hook, each command, the worker and the remote
//! helper.
//!
//! `HOSTILE=doors` tries each case in each of these ways, with costs as in the table.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{Case, Dry, HELD_BACK, SAID_BYTES_MAX, TABLES, late_max, measure_command, program, template, time_limit};
use crate::push::{config_map, tip};
use crate::support::{Lab, Repo};

/// A case or two for each engine, for what makes Applications, and for what the settings and lock files say; none takes long.
const CHOSEN: &[&str] = &[
    "a regular expression of 60 MB",
    "schema that refers to itself",
    "a patch at index a billion",
    "billion laughs in a manifest",
    "Jsonnet that imports the host",
    "a set whose template has no end",
    "a root that renders without end",
    "a rule whose branch has no end",
    "a lock file of 100,000 lines",
    "README template without end",
];

/// What pre-receive lets in without a word: makers that never fed a branch warn after the push.
const LET_IN: &[&str] =
    &["a row of Applications without end", "a set whose template has no end", "a root that renders without end"];

/// How long the rest of a backlog may take in the background.
const BACKGROUND_MAX: Duration = Duration::from_secs(60);

/// A server whose dry branch is to move from one commit to a hostile one, both of which it has.
struct House {
    lab: Lab,
    server: Repo,
    old: String,
    new: String,
}

/// A way to have it hydrated.
struct Door {
    name: &'static str,
    /// Whether it shows what is wrong.
    shows: bool,
    /// Makes it ready.
    open: fn(&House) -> Command,
    /// Whether all others were hydrated, where it hydrates.
    is_done: Option<fn(&House) -> bool>,
}

const DOORS: &[Door] = &[
    Door {
        name: "pre-receive",
        shows: true,
        open: |house| {
            house.rewind();
            house.server.git(&["config", "hydrate.strict", "touched"]);
            let line = format!("{} {} refs/heads/main\n", house.old, house.new);
            with_input(house.program(&house.server, &["hook", "pre-receive"]), &house.server, &line)
        },
        is_done: None,
    },
    Door {
        name: "catch-up",
        shows: true,
        open: |house| house.program(&house.server, &["catch-up"]),
        is_done: Some(|house| house.is_hydrated(&house.server, "environments/prod")),
    },
    Door {
        name: "background",
        shows: true,
        open: |house| {
            house.server.git(&["config", "hydrate.budget", "0"]);
            house.server.git(&["config", "hydrate.notify", "cat >>notices"]);
            house.program(&house.server, &["hook", "post-receive"])
        },
        is_done: Some(|house| house.is_hydrated(&house.server, "environments/prod")),
    },
    Door { name: "status", shows: false, open: |house| house.program(&house.server, &["status"]), is_done: None },
    Door { name: "verify", shows: false, open: |house| house.program(&house.server, &["verify"]), is_done: None },
    Door {
        name: "pre-push",
        shows: true,
        open: |house| {
            let clone = house.clone_of(&house.server);
            let line = format!("refs/heads/main {} refs/heads/main {}\n", house.new, house.old);
            let url = house.server.path.display().to_string();
            with_input(house.program(&clone, &["hook", "pre-push", "origin", &url]), &clone, &line)
        },
        is_done: None,
    },
    Door {
        name: "git hydrate",
        shows: true,
        open: |house| house.program(&house.clone_of(&house.server), &["--offline", &house.new]),
        is_done: Some(|house| house.is_hydrated(&house.in_clone(), "refs/remotes/hydrate/environments/prod")),
    },
    Door { name: "diff", shows: true, open: |house| house.client(&["diff", "--offline"]), is_done: None },
    Door { name: "check", shows: true, open: |house| house.client(&["check", "--offline"]), is_done: None },
    Door { name: "plan", shows: false, open: |house| house.client(&["plan", "--offline"]), is_done: None },
    Door { name: "apps", shows: false, open: |house| house.client(&["apps", "--offline"]), is_done: None },
    Door { name: "render", shows: false, open: |house| house.client(&["render", "x-dev", "--rev"]), is_done: None },
    Door { name: "vendor", shows: false, open: |house| house.client(&["vendor", "--check"]), is_done: None },
    Door {
        name: "adopt",
        shows: false,
        open: |house| {
            let clone = house.clone_of(&house.server);
            house.program(&clone, &["adopt", "--offline"])
        },
        is_done: None,
    },
    Door {
        name: "explain",
        shows: false,
        open: |house| house.program(&house.clone_of(&house.server), &["explain", "ConfigMap/stable"]),
        is_done: None,
    },
    Door {
        name: "worker",
        shows: true,
        open: |house| {
            house.without_hooks();
            let job = house.clone_of(&house.server);
            house.program(&job, &["push", "--settings-ref", "refs/hydrate/config"])
        },
        is_done: Some(|house| house.is_hydrated(&house.server, "environments/prod")),
    },
    Door {
        name: "remote helper",
        shows: false,
        open: |house| {
            house.without_hooks();
            house.limits(None);
            let url = format!("hydrate::file://{}", house.server.path.display());
            let mut command = Repo::at(&house.lab, "").command("git");
            command.args(["clone", "-q", "--branch", "environments/prod", &url, "reader"]);
            command
        },
        is_done: Some(|house| house.is_hydrated(&house.in_clone(), "refs/remotes/origin/environments/prod")),
    },
];

impl House {
    fn program(&self, repo: &Repo, args: &[&str]) -> Command {
        let mut command = repo.command(&program());
        command.args(args);
        command
    }

    /// A command of a clone about the hostile commit, which it names last.
    fn client(&self, args: &[&str]) -> Command {
        let clone = self.clone_of(&self.server);
        self.program(&clone, &[args, &[&self.new]].concat())
    }

    /// As it was before the push.
    fn rewind(&self) {
        self.server.git(&["update-ref", "refs/heads/main", &self.old]);
    }

    /// A host that runs no hooks.
    fn without_hooks(&self) {
        drop(fs::remove_dir_all(self.server.path.join("hooks")));
        for key in ["hydrate.guard", "receive.hideRefs"] {
            self.server.run("git", &["config", "--unset-all", key]);
        }
    }

    fn in_clone(&self) -> Repo {
        Repo::at(&self.lab, "reader")
    }

    /// A clone that knows all that hydration keeps, with the limits of the server. Nothing is checked out: not all that is in
    /// these trees can be.
    fn clone_of(&self, server: &Repo) -> Repo {
        let clone = self.in_clone();
        let (from, to) = (server.path.display().to_string(), clone.path.display().to_string());
        Repo::at(&self.lab, "").run("git", &["clone", "-q", "--no-checkout", &from, &to]).success();
        clone.run("git", &["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*", "+refs/notes/*:refs/notes/*"]);
        self.limits(Some(&clone));
        clone
    }

    /// Gives a repository the limits of the server, or all of this lab.
    fn limits(&self, repo: Option<&Repo>) {
        let limits = self.server.run("git", &["config", "--get-regexp", "^hydrate\\..*(limit|memory)$"]).stdout;
        for (key, value) in limits.lines().filter_map(|line| line.split_once(' ')) {
            match repo {
                Some(repo) => repo.git(&["config", key, value]),
                None => self.server.git(&["config", "--global", key, value]),
            };
        }
    }

    /// Whether the Application that has nothing to do with it was hydrated.
    fn is_hydrated(&self, repo: &Repo, branch: &str) -> bool {
        repo.run("git", &["show", &format!("{branch}:stable/manifest.yaml")]).stdout.contains("goes on")
    }
}

fn with_input(mut command: Command, repo: &Repo, input: &str) -> Command {
    let file = repo.path.with_extension("input");
    fs::write(&file, input).expect("written");
    command.stdin(fs::File::open(file).expect("readable"));
    command
}

/// Makes a server that has two commits to hydrate, the second of them hostile.
fn build(lab: &Lab, template: &Repo, case: &Case) -> House {
    drop(fs::remove_dir_all(lab.path("house.git")));
    let (from, to) = (template.path.display().to_string(), lab.path("house.git").display().to_string());
    Repo::at(lab, "").run("cp", &["-a", &from, &to]).success();
    let server = Repo::at(lab, "house.git");
    let mut dry = Dry { server: server.clone(), script: Vec::new(), message: b"fine".to_vec(), spoiled: Vec::new() };
    dry.file("apps/stable/prod/config.yaml", config_map("stable", "begins"));
    dry.commit();
    let old = tip(&server, "main");
    dry.script.clear();
    dry.message = b"evil".to_vec();
    dry.file("apps/stable/prod/config.yaml", config_map("stable", "goes on"));
    (case.build)(&mut dry);
    dry.commit();
    let new = tip(&server, "main");
    House { lab: lab.clone(), server, old, new }
}

/// What is wrong with how a case went through a door.
fn wrong(case: &Case, door: &Door, house: &House, table: bool) -> Vec<String> {
    let started = Instant::now();
    let mut cost = measure_command((door.open)(house), &house.server);
    if door.name == "background" {
        let notices = || house.server.file("notices").unwrap_or_default();
        while !notices().contains("\"unfinished\":false") && started.elapsed() < BACKGROUND_MAX {
            std::thread::yield_now();
        }
        cost.said += &notices();
    }
    let code = cost.status.code().map_or_else(|| cost.status.to_string(), |code| code.to_string());
    let wall = started.elapsed();
    if table {
        let (ms, wall, tree) = (cost.time.as_millis(), wall.as_millis(), cost.tree_bytes >> 20);
        let headline: String = cost.headline().trim().chars().take(100).collect();
        println!(
            "{:44} {:13} {code:>2} {ms:>7} ms {wall:>7} ms {tree:>5} MiB  {}",
            case.name,
            door.name,
            headline.escape_debug()
        );
    }
    let mut wrong = Vec::new();
    let mut complain = |what: &str| wrong.push(format!("{}: {}: {what}: {}", case.name, door.name, cost.said));
    // Notices are JSON.
    let said = cost.said.replace("\"severity\":\"error\",\"message\":\"", "error: ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    // git itself answers 128 where its helper fails.
    if cost.status.code().is_none_or(|code| code > 2) || said.contains("panicked") || said.contains("ended by signal 6")
    {
        complain(&format!("does not end well ({code})"));
    }
    let is_let_in = door.name == "pre-receive" && LET_IN.contains(&case.name);
    if door.shows && !is_let_in && !case.expected.starts_with("environments/") && !said.contains(case.expected) {
        complain(&format!("does not say `{}`", case.expected));
    }
    if cost.said.len() > 2 * SAID_BYTES_MAX && door.name != "background" {
        complain(&format!("says {} bytes", cost.said.len()));
    }
    let limit = time_limit(&house.server);
    if table && limit.is_some_and(|limit| wall > limit + late_max()) {
        complain("takes too long after its limit");
    }
    let is_held_back = case.expected.starts_with("hydration failed") || HELD_BACK.contains(&case.name);
    if door.is_done.is_some_and(|is_done| !is_held_back && !is_done(house)) {
        complain("stops what has nothing to do with it");
    }
    wrong
}

fn try_doors(doors: impl Fn(&Door) -> bool) {
    let wanted = std::env::var("HOSTILE_CASE").ok();
    let all = std::env::var("HOSTILE").is_ok_and(|word| word == "doors");
    let (lab, template) = template();
    let cases = TABLES.iter().copied().flatten().filter(|case| match &wanted {
        Some(wanted) => wanted == case.name,
        None => all || CHOSEN.contains(&case.name),
    });
    let mut found = Vec::new();
    for case in cases {
        let house = build(&lab, &template, case);
        let as_built = house.server.copy_to("as-built.git");
        for door in DOORS.iter().filter(|door| doors(door)) {
            as_built.copy_to("house.git");
            found.extend(wrong(case, door, &house, all));
            drop(fs::remove_dir_all(lab.path("reader")));
        }
    }
    assert!(found.is_empty(), "{} fall:\n\n{}", found.len(), found.join("\n\n"));
}

#[test]
fn a_server_survives_them_in_each_hook_and_command() {
    try_doors(|door| ["pre-receive", "catch-up", "background", "status", "verify"].contains(&door.name));
}

#[test]
fn a_clone_survives_them_in_each_command() {
    let of_clones =
        ["pre-push", "git hydrate", "diff", "check", "plan", "apps", "render", "vendor", "adopt", "explain"];
    try_doors(|door| of_clones.contains(&door.name));
}

#[test]
fn a_worker_and_the_remote_helper_survive_them() {
    try_doors(|door| ["worker", "remote helper"].contains(&door.name));
}
