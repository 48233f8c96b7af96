//! Branches go back, stay and go on at random: with what is remembered and without, the commits are the same, each of them can be
//! made again, none goes away, and in the end the branch has what one has that was never held.

use std::collections::BTreeMap;

use git_hydrate::testing::application::BranchName;
use git_hydrate::testing::git::ObjectId;
use git_hydrate::testing::hydrate::{Outcome, Report};

use super::made::{Twins, URL};
use super::tags::Tags;
use super::{Dry, Random, Server, rounds};
use crate::support::Repo;

const PROD: &str = "environments/prod";
const DEV: &str = "environments/dev";

/// What is held at random; nothing where `git` has too little.
fn holds(server: &Repo, random: &mut Random) -> Option<String> {
    let line = server.git(&["rev-list", "--first-parent", PROD]);
    let commits: Vec<&str> = line.lines().collect();
    let at = commits[random.below(commits.len().min(6))];
    let names = match random.below(3) {
        0 => String::new(),
        1 => format!(", applications: [app-{}]", random.below(12)),
        _ => format!(", applications: [app-{}, app-{}]", random.below(12), random.below(12)),
    };
    (random.below(4) > 0).then(|| format!("{PROD}: {{at: {at}, reason: 'number {}'{names}}}\n", random.below(100)))
}

fn set(
    servers: [&Server; 2],
    settings: &BTreeMap<String, String>,
    parent: Option<ObjectId>,
    seconds: i64,
) -> Option<ObjectId> {
    servers.map(|server| server.commit("refs/hydrate/config", parent, settings, seconds)).first().copied()
}

fn manifests(server: &Repo, branch: &str) -> Vec<String> {
    let all = server.git(&["ls-tree", "-r", branch]);
    all.lines().filter(|line| line.ends_with("/manifest.yaml")).map(str::to_owned).collect()
}

/// What a random history has beside pushes, rollbacks, holds and resumes.
#[derive(Clone, Copy)]
struct Kind {
    rounds: usize,
    /// More settings. With any, Applications are mistaken or paused, too.
    settings: &'static str,
    /// Whether the Applications of one branch follow tags, ranges and ids.
    has_tags: bool,
}

const PLAIN: Kind = Kind { rounds: 40, settings: "", has_tags: false };

/// How often a branch stayed where it is held, how often a commit went back, and how many commits show a tag or an id.
fn history(seed: u64, Kind { rounds, settings, has_tags }: Kind) -> [usize; 3] {
    let mut twins = Twins::new();
    let never = Server::new(&twins.lab, "never.git", "");
    let revisions = if has_tags { "revisions: true\n" } else { "" };
    let text = format!("repoURL: {URL}\nmadeApplications: true\ndryBranches: [main]\n{settings}{revisions}");
    let mut files = BTreeMap::from([("settings.yaml".to_owned(), text)]);
    let mut config = set([&twins.warm, &twins.cold], &files, None, 1_700_000_000);
    never.commit("refs/hydrate/config", None, &files, 1_700_000_000);
    let mut random = Random(seed);
    let mut dry = Dry::start();
    let mut tags = has_tags.then(|| Tags::of(PROD));
    let (mut seconds, mut tip, mut held, mut waited) = (1_700_000_000, None, 0, false);
    let cold = Repo::at(&twins.lab, "cold.git");
    let mut stays = |report: &Report| {
        held += report.branches.iter().filter(|branch| matches!(&branch.outcome, Outcome::Frozen(_))).count();
    };
    for round in 0..rounds {
        // What the last run saw is remembered, and of several commits a held branch is judged since then.
        for _ in 0..[1, 1, if has_tags { 1 } else { 2 }][random.below(3)] {
            if round > 0 {
                dry.edit(&mut random);
                if !settings.is_empty() {
                    dry.stay(&mut random, "");
                }
            }
            seconds += 60;
            let parent = tip;
            let files = tags.as_ref().map_or_else(|| dry.0.clone(), |tags| tags.named_in(&dry.0));
            tip = twins.push(parent, &files, seconds);
            never.commit("refs/heads/main", parent, &files, seconds);
            if let Some(tags) = &mut tags {
                tags.pushed(tip, &Dry(files));
            }
        }
        let all = [&twins.warm, &twins.cold, &never];
        if let Some(tags) = &mut tags {
            for _ in 0..=random.below(2) {
                tags.change(&all, &twins.lab, seconds, &mut random);
            }
            let resumed = if random.below(4) == 0 { BranchName::new(PROD).ok() } else { None };
            all.iter().for_each(|server| *server.resumed.borrow_mut() = resumed.clone());
        }
        let before = exists(&twins.cold, PROD).then(|| cold.git(&["rev-parse", PROD]));
        if round > 2 && before.is_some() && random.below(3) == 0 {
            let known = match holds(&cold, &mut random) {
                Some(text) => files.insert("hold.yaml".to_owned(), text.clone()).as_ref() == Some(&text),
                None => files.remove("hold.yaml").is_none(),
            };
            if !known {
                config = set([&twins.warm, &twins.cold], &files, config, seconds);
            }
        }
        let report = twins.hydrate(round, &mut random);
        stays(&report);
        waited |= report.branches.iter().any(|branch| branch.branch == DEV && waits_for_a_hold(&branch.outcome));
        never.hydrate("main");
        if let Some(before) = before {
            cold.git(&["merge-base", "--is-ancestor", &before, PROD]);
        }
        // What leaves for a branch of another revision stays until it is there, and one that is held does not take it. Nor does dev
        // take what is held on prod, and has no commit of those that had it.
        if !has_tags && !waited {
            let dev = format!("heads/{DEV}");
            assert_eq!(twins.cold.refs().get(&dev), never.refs().get(&dev), "seed {seed}, round {round}: {DEV}");
        }
    }
    // What is broken stays as it is for as long as that.
    dry = Dry::start();
    seconds += 60;
    let parent = tip;
    let mut last = dry.0.clone();
    if let Some(tags) = &mut tags {
        tags.name_a_name();
        last = tags.named_in(&last);
    }
    tip = twins.push(parent, &last, seconds);
    never.commit("refs/heads/main", parent, &last, seconds);
    if let Some((tags, tip)) = tags.as_mut().zip(tip) {
        tags.move_to_newest(&twins.lab, &[&twins.warm, &twins.cold, &never], &tip.to_string());
    }
    let mirror = mirrored(&twins, "mirror.git", &["+refs/*:refs/*"]);
    assert_eq!(mirror.refs(), twins.cold.refs(), "seed {seed}");
    files.remove("hold.yaml");
    let servers = [&twins.warm, &twins.cold];
    set(servers, &files, config, seconds);
    mirror.commit("refs/hydrate/config", config, &files, seconds);
    let report = twins.compare("nothing is held");
    // What leaves for a branch of another revision does so once it is there.
    assert!(has_tags || report.is_success(), "seed {seed}: {report:?}");
    never.hydrate("main");
    mirror.hydrate("main");
    assert_eq!(mirror.refs(), twins.cold.refs(), "seed {seed}: a copy of the repository that remembers nothing");
    if has_tags {
        let report = twins.compare("nothing is held, again");
        assert!(report.is_success(), "seed {seed}: {report:?}");
        never.hydrate("main");
    }
    let fresh = mirrored(&twins, "fresh.git", &["+refs/heads/main:refs/heads/main", "+refs/tags/*:refs/tags/*"]);
    fresh.commit("refs/hydrate/config", None, &files, seconds);
    fresh.hydrate("main");
    for name in ["never.git", "fresh.git"] {
        for branch in [DEV, PROD] {
            let other = Repo::at(&twins.lab, name);
            assert_eq!(manifests(&cold, branch), manifests(&other, branch), "seed {seed}: {branch} of {name}");
        }
    }
    let verified = cold.hydrate(&["verify"]);
    if verified.code != Some(0) {
        println!(
            "{}",
            cold.git(&[
                "log",
                "--reverse",
                "--notes=hydrator.metadata",
                "--format=== %H %s%n%(trailers)%N",
                "--name-only",
                PROD
            ])
        );
        println!("{}", cold.git(&["log", "--oneline", "--reverse", "--decorate", "main"]));
        println!("{}", cold.git(&["log", "-p", "--reverse", "refs/hydrate/config"]));
        println!("{}", cold.git(&["log", "-p", "--reverse", "main"]));
    }
    assert_eq!(verified.code, Some(0), "seed {seed}: {verified:?}");
    let count = |trailer: &str| {
        let grep = format!("--grep=^{trailer}: ");
        cold.git(&["rev-list", "--count", &grep, PROD]).parse().expect("a number")
    };
    [held, count("Hydrate-Rollback-To"), count("Hydrate-Resolved")]
}

/// Whether a branch would get an Application that is held on another one.
fn waits_for_a_hold(outcome: &Outcome) -> bool {
    let Outcome::Failed { diagnostics, .. } = outcome else { return false };
    diagnostics.iter().any(|mistake| mistake.message.ends_with("and is held"))
}

fn exists(server: &Server, branch: &str) -> bool {
    server.refs().contains_key(&format!("heads/{branch}"))
}

/// Another repository, with these refs of the one that remembers nothing.
fn mirrored(twins: &Twins, name: &str, refspecs: &[&str]) -> Server {
    let server = Server::new(&twins.lab, name, "");
    Repo::at(&twins.lab, name).git(&[&["fetch", "-q", "../cold.git"], refspecs].concat());
    server
}

#[test]
fn branches_that_go_back_and_on_are_the_same_with_what_is_remembered_and_without() {
    let [held, back, _] = history(91, PLAIN);
    assert!(held > 3 && back > 2, "held {held} times, {back} commits back");
}

#[test]
fn branches_go_back_and_on_beside_applications_that_stay_behind() {
    let [held, back, _] = history(92, Kind { settings: "onFailure: application\n", ..PLAIN });
    assert!(held > 3 && back > 2, "held {held} times, {back} commits back");
}

#[test]
fn branches_that_follow_tags_go_back_and_on() {
    let [held, back, resolved] = history(98, Kind { rounds: rounds(40), has_tags: true, ..PLAIN });
    let counts = format!("held {held} times, {back} commits back, {resolved} of tags");
    assert!(held > 0 && back > 0 && resolved > 3, "{counts}");
}

/// `SEEDS="FIRST COUNT"` goes through more histories.
#[test]
#[ignore = "takes long: tests/long/seeds"]
fn over_many_histories() {
    let seeds = std::env::var("SEEDS").unwrap_or_else(|_| "1000 1".to_owned());
    let (first, count) = seeds.split_once(' ').expect("two numbers");
    let (first, count): (u64, u64) = (first.parse().expect("a number"), count.parse().expect("a number"));
    for seed in first..first + count {
        println!("seed {seed}");
        let settings = ["", "onFailure: application\n"][seed as usize % 2];
        let kind = Kind { settings, has_tags: seed % 4 > 1, ..PLAIN };
        println!("held, back, of tags: {:?}", history(seed, kind));
    }
}
