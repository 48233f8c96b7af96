//! What rules hydrate, copies and freezes: the same with what is remembered and from scratch.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use git_hydrate::testing::hydrate::Outcome;
use git_hydrate::testing::metadata::Time;

use super::made::{Twins, URL, is_quiet, moved};
use super::{Dry, Random, Server, damage, rounds};
use crate::support::{Lab, Repo};

/// The rules that [`plain`] writes its Applications for: one that leads each where it was led before, and others.
pub(super) const RULES: [&str; 3] = [
    "- {branch: '{{ annotations.targetBranch }}', path: '{{ annotations.path }}'}\n",
    "- {match: {name: '*-api*'}, hydrate: false}\n- {match: {namespace: '!*'}, branch: '{{ annotations.targetBranch }}', path: \
     '{{ annotations.path }}'}\n",
    "- {match: {name: 'app-1*'}, branch: environments/dev, path: 'ruled/{{ name }}'}\n- {branch: '{{ annotations.targetBranch \
     }}', path: '{{ annotations.path }}'}\n",
];

/// An Application, or a template of Applications, with a plain source: annotations say where rules lead it.
fn plain(text: &str) -> String {
    let parts = text.split_once("sourceHydrator:\n").and_then(|(head, rest)| {
        let (dry, sync) = rest.split_once("syncSource:")?;
        Some((head, dry.trim_start().strip_prefix("drySource:")?, sync))
    });
    let Some((head, dry, sync)) = parts else { return text.to_owned() };
    let (at, tail) = match sync.strip_prefix(" {") {
        Some(sync) => {
            let (line, tail) = sync.split_once('\n').unwrap_or((sync, ""));
            (line.trim_end_matches('}').to_owned() + if line.ends_with("}}'}") { "}}'" } else { "" }, tail)
        }
        None => {
            let mut lines = sync.splitn(4, '\n').skip(1);
            let [branch, path] = [(); 2].map(|()| lines.next().unwrap_or_default().trim());
            (format!("{branch}, {path}"), lines.next().unwrap_or_default())
        }
    };
    let (before, name) = head.split_at(head.rfind("metadata:").map_or(0, |at| at + "metadata:".len()));
    let name = match name.strip_prefix(" {") {
        Some(name) => format!(" {{annotations: {{{at}}}, {name}"),
        None => format!("\n  annotations: {{{at}}}{name}"),
    };
    format!("{before}{name}source:{}\n{tail}", dry.trim_end())
}

impl Dry {
    /// The files with plain Applications in place of most; `app-3` and its like keep `spec.sourceHydrator`.
    pub(super) fn ruled(&self) -> BTreeMap<String, String> {
        let is_kept = |path: &str| path.ends_with("3.yaml");
        let one =
            |(path, text): (&String, &String)| (path.clone(), if is_kept(path) { text.clone() } else { plain(text) });
        self.0.iter().map(one).collect()
    }
}

/// Applications that rules hydrate, those of sets and parents included, change at random, while the rules change too.
#[test]
fn what_rules_hydrate_is_the_same_with_what_is_remembered_and_from_scratch() {
    follow_rules(31, "");
}

/// Copies of Applications that rules hydrate follow random changes of both.
#[test]
fn copies_are_the_same_with_what_is_remembered_and_from_scratch() {
    follow_rules(31, "applicationsTo: copies\n");
}

fn follow_rules(seed: u64, more: &str) {
    let mut twins = Twins::new();
    let mut random = Random(seed);
    let mut dry = Dry::start();
    dry.start_sets();
    dry.start_parents();
    let whole = dry.clone();
    let (mut seconds, mut tip) = (1_700_000_000, None);
    let settings = |rules: &str| {
        let rules = rules.replace("\n- ", "\n  - ");
        format!("repoURL: {URL}\nclusters: fleet.yaml\nmadeApplications: true\n{more}rules:\n  {rules}")
    };
    twins.settings(&settings(RULES[0]), seconds);
    for round in 0..rounds(60) {
        for _ in 0..[1, 1, 1, 2][random.below(4)] {
            match random.below(6) {
                // What is wrong holds branches until it is corrected.
                _ if round % 5 == 0 => dry = whole.clone(),
                0 | 1 => dry.edit(&mut random),
                2 | 3 => dry.edit_sets(&mut random),
                _ => dry.edit_parents(&mut random),
            }
            seconds += 60;
            tip = twins.push(tip, &dry.ruled(), seconds);
        }
        match round % 15 {
            8 => twins.settings(&settings(RULES[1 + random.below(2)]), seconds),
            11 => twins.settings(&settings(RULES[0]), seconds),
            _ => {}
        }
        let report = twins.hydrate(round, &mut random);
        if round == 0 {
            let branches = if more.is_empty() { 2 } else { 3 };
            assert!(moved(&report) == branches && report.problems.is_empty(), "{report:?}");
            assert!(!more.is_empty() || is_quiet(&report), "{report:?}");
        }
    }
    let [with, without] = twins.rendered();
    assert!(with < without, "{with} renders with what is remembered, {without} without");
    let verified = Repo::at(&twins.lab, "cold.git").hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// Branches freeze and thaw, by the settings and by the clock.
#[test]
fn what_is_frozen_is_the_same_with_what_is_remembered_and_from_scratch() {
    let lab = Lab::new();
    let warm = Server::new(&lab, "warm.git", "");
    let cold = Server::new(&lab, "cold.git", "[hydrate]\n\tcache = false\n");
    let servers = [&warm, &cold];
    let mut random = Random(30);
    let mut dry = Dry::start();
    let (mut seconds, mut tip, mut frozen, mut thawed) = (1_700_000_000, None, 0, 0);
    let mut is_frozen = false;
    for round in 0..rounds(60) {
        for _ in 0..[1, 1, 2, 3][random.below(4)] {
            match random.below(6) {
                _ if round == 0 => {}
                // What is wrong holds branches until it is corrected.
                _ if round % 6 == 0 => dry = Dry::start(),
                _ => dry.edit(&mut random),
            }
            seconds += 60;
            let parent = tip;
            tip = servers.map(|server| server.commit("refs/heads/main", parent, &dry.0, seconds)).first().copied();
        }
        let settings = match random.below(8) {
            0 => Some("{environments/prod: {reason: release}}".to_owned()),
            1 | 2 => {
                let until = Time::new(seconds + 300, 0).rfc3339();
                Some(format!("{{'environments/*': {{reason: release, until: '{until}'}}}}"))
            }
            3 => Some("{}".to_owned()),
            _ => None,
        };
        if let Some(frozen) = settings {
            let files = BTreeMap::from([("settings.yaml".to_owned(), format!("frozen: {frozen}\n"))]);
            for server in servers {
                let parent = server.refs().get("hydrate/config").copied();
                server.commit("refs/hydrate/config", parent, &files, seconds);
            }
        }
        if random.below(8) == 0 {
            damage(&warm.path.join("hydrate/cache"), &mut random);
        }
        let before = warm.refs().get("heads/environments/prod").copied();
        let [with, without] = servers.map(|server| {
            server.now.set(seconds);
            server.hydrate("main")
        });
        assert_eq!(with, without, "round {round}");
        assert_eq!(warm.refs(), cold.refs(), "round {round}");
        let prod = with.branches.iter().find(|branch| branch.branch == "environments/prod");
        let was_frozen = is_frozen;
        is_frozen = prod.is_some_and(|prod| matches!(prod.outcome, Outcome::Frozen(_)));
        frozen += usize::from(is_frozen);
        if is_frozen {
            assert_eq!(before, warm.refs().get("heads/environments/prod").copied(), "round {round}");
        } else if was_frozen && prod.is_some_and(|prod| prod.outcome == Outcome::Moved) {
            assert_eq!(prod.map(|prod| prod.commits.len()), Some(1), "round {round}");
            thawed += 1;
        }
    }
    assert!(frozen > rounds(10) && thawed > rounds(2), "frozen {frozen} times, thawed {thawed} times");
    let [with, without] = servers.map(|server| server.rendered.0.load(Ordering::Relaxed));
    assert!(with < without, "{with} renders with what is remembered, {without} without");
    let verified = Repo::at(&lab, "cold.git").hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}
