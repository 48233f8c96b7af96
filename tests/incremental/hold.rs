//! Branches go back, stay and go on at random: with what is remembered and without, the commits are the same, each of them can be
//! made again, none goes away, and in the end the branch has what one has that was never held.

use std::collections::BTreeMap;

use git_hydrate::testing::git::ObjectId;
use git_hydrate::testing::hydrate::{Outcome, Report};

use super::made::{Twins, URL};
use super::{Dry, Random, Server};
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

/// How often a branch stayed where it is held, and how often a commit went back.
fn history(seed: u64, settings: &str) -> [usize; 2] {
    let mut twins = Twins::new();
    let never = Server::new(&twins.lab, "never.git", "");
    let text = format!("repoURL: {URL}\nmadeApplications: true\ndryBranches: [main]\n{settings}");
    let mut files = BTreeMap::from([("settings.yaml".to_owned(), text)]);
    let mut config = set([&twins.warm, &twins.cold], &files, None, 1_700_000_000);
    never.commit("refs/hydrate/config", None, &files, 1_700_000_000);
    let mut random = Random(seed);
    let mut dry = Dry::start();
    let (mut seconds, mut tip, mut held) = (1_700_000_000, None, 0);
    let cold = Repo::at(&twins.lab, "cold.git");
    let mut stays = |report: &Report| {
        held += report.branches.iter().filter(|branch| matches!(&branch.outcome, Outcome::Frozen(_))).count();
    };
    for round in 0..40 {
        for _ in 0..[1, 1, 2][random.below(3)] {
            if round > 0 {
                dry.edit(&mut random);
                if !settings.is_empty() {
                    dry.stay(&mut random, "");
                }
            }
            seconds += 60;
            let parent = tip;
            tip = twins.push(parent, &dry.0, seconds);
            never.commit("refs/heads/main", parent, &dry.0, seconds);
        }
        let before = if round > 0 { Some(cold.git(&["rev-parse", PROD])) } else { None };
        if round > 2 && random.below(3) == 0 {
            let known = match holds(&cold, &mut random) {
                Some(text) => files.insert("hold.yaml".to_owned(), text.clone()).as_ref() == Some(&text),
                None => files.remove("hold.yaml").is_none(),
            };
            if !known {
                config = set([&twins.warm, &twins.cold], &files, config, seconds);
            }
        }
        stays(&twins.hydrate(round, &mut random));
        never.hydrate("main");
        if let Some(before) = before {
            cold.git(&["merge-base", "--is-ancestor", &before, PROD]);
        }
        let dev = format!("heads/{DEV}");
        assert_eq!(twins.cold.refs().get(&dev), never.refs().get(&dev), "seed {seed}, round {round}: {DEV}");
    }
    // What is broken stays as it is for as long as that.
    dry = Dry::start();
    seconds += 60;
    let parent = tip;
    twins.push(parent, &dry.0, seconds);
    never.commit("refs/heads/main", parent, &dry.0, seconds);
    files.remove("hold.yaml");
    set([&twins.warm, &twins.cold], &files, config, seconds);
    let report = twins.compare("nothing is held");
    assert!(report.is_success(), "{report:?}");
    never.hydrate("main");
    assert_eq!(manifests(&cold, PROD), manifests(&Repo::at(&twins.lab, "never.git"), PROD), "seed {seed}");
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
        println!("{}", cold.git(&["log", "--oneline", "--reverse", "main"]));
        println!("{}", cold.git(&["log", "-p", "--reverse", "refs/hydrate/config"]));
    }
    assert_eq!(verified.code, Some(0), "seed {seed}: {verified:?}");
    let back = cold.git(&["rev-list", "--count", "--grep=^Hydrate-Rollback-To: ", PROD]);
    [held, back.parse().expect("a number")]
}

#[test]
fn branches_that_go_back_and_on_are_the_same_with_what_is_remembered_and_without() {
    let [held, back] = history(91, "");
    assert!(held > 3 && back > 2, "held {held} times, {back} commits back");
}

#[test]
fn branches_go_back_and_on_beside_applications_that_stay_behind() {
    let [held, back] = history(92, "onFailure: application\n");
    assert!(held > 3 && back > 2, "held {held} times, {back} commits back");
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
        history(seed, ["", "onFailure: application\n"][seed as usize % 2]);
    }
}
