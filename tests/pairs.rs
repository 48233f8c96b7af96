//! Two pushes at once, again and again: each pusher's report is true of his commit, and none shows the other's.
//!
//! Nobody chooses who comes first. `cargo test` takes a few pairs; `PAIRS=200`, or `tests/long/pairs`, takes so many of each ref
//! format.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};

use crate::push::{application, config_map, dry, healthy, note, note_of, tip};
use crate::support::{Answer, Lab, Repo};

/// What the second of two pushes is, beside a push to `main`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Beside {
    /// One of a topic branch.
    Topic,
    /// One of another dry branch.
    Other,
    /// One on top of the first, to `main` too.
    OnTop,
}

/// A push, and what its report is to be judged by.
struct Pushed {
    /// What only this pusher's commit has in it.
    mark: String,
    dry: Option<String>,
    environment: &'static str,
    breaks: bool,
    told: String,
}

fn count() -> usize {
    std::env::var("PAIRS").map_or(6, |count| count.parse().expect("a number"))
}

/// A server with `main`, which has `web` and `api` on an environment each, and the dry branch `other`.
fn server(lab: &Lab, args: &[&str]) -> (Repo, [Repo; 3]) {
    let server = lab.bare(args);
    server.git(&["config", "receive.autogc", "false"]);
    server.install_without_settings();
    let first = dry(&server, &["web"], &["dev"]);
    let (file, text) = application("api", "prod");
    first.commit("api", &[(&file, &text), ("apps/api/prod/config.yaml", &config_map("api", "prod"))]);
    first.push().success();
    server.hydrate(&["config", "set", "dryBranches", "main", "other"]).success();
    let other = server.clone_to("other");
    other.git(&["switch", "-q", "--orphan", "other"]);
    let (file, text) = application("other", "lab");
    let text = text.replace("targetRevision: main", "targetRevision: other");
    other.commit("other", &[(&file, &text), ("apps/other/lab/config.yaml", &config_map("other", "one"))]);
    other.push().success();
    let second = server.clone_to("second");
    (server, [first, second, other])
}

/// The hydrated commit that was made of a dry commit on a branch, if there is one.
fn made_of(server: &Repo, branch: &str, dry: &str) -> Option<String> {
    let log =
        server.git(&["log", "--format=%h %(trailers:key=Hydrate-Dry,valueonly,separator=)", "--abbrev=7", branch]);
    let made = log.lines().filter_map(|line| line.split_once(' ')).find(|(_, of)| *of == dry);
    made.map(|(id, _)| id.to_owned())
}

/// What is wrong with the report of a push, in a few words; none when it is true and shows nothing of the other's.
fn fault(server: &Repo, pushed: &Pushed, other: &Pushed) -> Option<&'static str> {
    let told = &pushed.told;
    let Some(dry) = &pushed.dry else { return (!told.is_empty()).then_some("tells who shows nothing") };
    if other.dry.as_ref().is_some_and(|other| told.contains(&other[..7])) {
        return Some("names the other's commit");
    }
    // Who pushes on top of a mistake has it in his own commit.
    let contains = |below: &String| server.run("git", &["merge-base", "--is-ancestor", below, dry]).code == Some(0);
    let is_his_too = other.breaks && other.dry.as_ref().is_some_and(contains);
    if !is_his_too && told.contains(&other.mark) {
        return Some("shows the other's");
    }
    let line = told.lines().find(|line| line.starts_with(pushed.environment)).unwrap_or_default();
    match (pushed.breaks, made_of(server, pushed.environment, dry)) {
        (true, Some(_)) => Some("was hydrated although it is broken"),
        (true, None) if !line.contains(&format!("{} failed", &dry[..7])) => Some("lacks the failure"),
        (true, None) if !told.contains("error: ") || !told.contains(&pushed.mark) => Some("lacks the error"),
        (true, None) => None,
        (false, Some(made)) if !line.contains(&format!("-> {made}  1 of ")) => Some("names another hydrated commit"),
        (false, Some(_)) if !is_his_too && told.contains("error: ") => Some("shows an error"),
        (false, Some(_)) => None,
        (false, None) => Some("was not hydrated"),
    }
}

/// Pushes, and begins again on top of what came first.
fn start(clone: &Repo, refspec: &str) -> Child {
    // What a push was told that was refused is no report.
    let push = format!("git push origin {refspec} 2>.git/told");
    let script = format!("until {push}; do git pull -q --rebase origin main || exit 1; done; cat .git/told >&2");
    let mut push = clone.command("sh");
    push.args(["-c", &script]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

/// Commits a change to what an environment is hydrated from, or a mistake there.
fn change(clone: &Repo, environment: &'static str, mark: &str, breaks: bool) -> Pushed {
    let (app, path) = match environment {
        "environments/dev" => ("web", "apps/web/dev"),
        "environments/prod" => ("api", "apps/api/prod"),
        _ => ("other", "apps/other/lab"),
    };
    let broken = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: {mark}\n");
    let text = if breaks { broken } else { config_map(app, mark) };
    let dry = clone.commit(mark, &[(&format!("{path}/config.yaml"), &text)]);
    Pushed { mark: mark.to_owned(), dry: Some(dry), environment, breaks, told: String::new() }
}

/// Brings a clone to where the server is.
fn fresh(clone: &Repo, branch: &str, from: &str) {
    clone.git(&["fetch", "-q"]);
    clone.git(&["checkout", "-q", "-B", branch, from]);
}

/// Two pushes at once. Answers what each pusher read.
fn pair(clones: &[Repo; 3], beside: Beside, number: usize, breaks: [bool; 2]) -> [Pushed; 2] {
    let [first, second, other] = clones;
    let marks = [0, 1].map(|side| format!("mark-{number}-{side}"));
    fresh(first, "main", "origin/main");
    let mut one = change(first, "environments/dev", &marks[0], breaks[0]);
    let (clone, refspec, mut two) = match beside {
        Beside::Topic => {
            fresh(second, "topic", "origin/main");
            second.commit(&marks[1], &[("NOTES", &marks[1])]);
            let mark = marks[1].clone();
            let two = Pushed { mark, dry: None, environment: "environments/dev", breaks: false, told: String::new() };
            (second, format!("HEAD:refs/heads/topic-{number}"), two)
        }
        Beside::Other => (other, "other".to_owned(), change(other, "environments/lab", &marks[1], breaks[1])),
        Beside::OnTop => {
            fresh(second, "main", "origin/main");
            (second, "main".to_owned(), change(second, "environments/prod", &marks[1], breaks[1]))
        }
    };
    let pushing = [start(first, "main"), start(clone, &refspec)];
    for (pushed, (clone, push)) in [&mut one, &mut two].into_iter().zip([first, clone].into_iter().zip(pushing)) {
        let answer = Answer::new(push.wait_with_output().expect("ends")).success();
        let mut lines = answer.remote();
        // Why a push takes its time is no report.
        lines.retain(|line| *line != "waiting for the hydration of another push …");
        pushed.told = lines.join("\n");
        // A rebase made another commit of it.
        pushed.dry = pushed.dry.take().map(|_| clone.git(&["rev-parse", "HEAD"]));
    }
    [one, two]
}

fn campaign(args: &[&str]) {
    let lab = Lab::new();
    let (server, clones) = server(&lab, args);
    let mut figures: BTreeMap<(Beside, &str), usize> = BTreeMap::new();
    for number in 0..count() {
        let beside = [Beside::Topic, Beside::OnTop, Beside::Other][number % 3];
        // One of two pairs has a mistake, now in one push and now in the other.
        let breaks = [number / 3 % 4 == 1, number / 3 % 4 == 3 && beside != Beside::Topic];
        let [one, two] = pair(&clones, beside, number, breaks);
        for (pushed, other) in [(&one, &two), (&two, &one)] {
            let fault = fault(&server, pushed, other);
            assert_eq!(
                fault, None,
                "{args:?} pair {number}, {beside:?}, {breaks:?}: {:?}\n{}",
                pushed.dry, pushed.told
            );
            let how = match pushed.told.contains("by another push") {
                true => "hydrated by the other's process",
                false => "hydrated by its own process",
            };
            *figures.entry((beside, if pushed.dry.is_some() { how } else { "told nothing" })).or_default() += 1;
        }
        if (number + 1) % 20 == 0 {
            println!("{args:?} {} pairs so far: {figures:?}", number + 1);
        }
        // What is broken is mended before the next pair.
        if breaks[0] {
            fresh(&clones[0], "main", "origin/main");
            change(&clones[0], "environments/dev", &format!("mended-{number}"), false);
            clones[0].push().success();
        }
        if breaks[1] {
            let (clone, branch) = if beside == Beside::Other { (&clones[2], "other") } else { (&clones[1], "main") };
            fresh(clone, branch, &format!("origin/{branch}"));
            let environment = if beside == Beside::Other { "environments/lab" } else { "environments/prod" };
            change(clone, environment, &format!("mended-{number}"), false);
            clone.push().success();
        }
    }
    println!("{args:?} {} pairs: {figures:?}", count());
    for (environment, branch) in [("dev", "main"), ("prod", "main"), ("lab", "other")] {
        assert_eq!(note(&server, &format!("environments/{environment}")), note_of(&tip(&server, branch)));
    }
    healthy(&server);
}

#[test]
fn pairs_of_pushes_with_refs_in_files() {
    campaign(&[]);
}

#[test]
fn pairs_of_pushes_with_refs_in_tables() {
    campaign(&["--ref-format=reftable"]);
}
