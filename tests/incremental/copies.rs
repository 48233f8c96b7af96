//! Copies of Applications: only those that changed are made again.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::made::Twins;
use super::{Dry, Random, Report, Server, rounds};
use crate::support::Repo;

const SETTINGS: &str = "repoURL: https://git.example.com/dry.git\napplicationsTo: copies\n";

/// The file that remembers the copies; none where they are to be looked at again.
fn remembered(server: &Server) -> Option<PathBuf> {
    let files = fs::read_dir(server.path.join("hydrate/cache")).into_iter().flatten().flatten();
    files.map(|entry| entry.path()).find(|path| path.display().to_string().contains("/copies-"))
}

/// How many copies a report counts.
fn count(report: &Report) -> Option<usize> {
    report.branches.iter().find(|branch| branch.branch == "copies").map(|branch| branch.applications)
}

impl Dry {
    /// A label that no manifest depends on.
    fn label(&mut self, n: usize, value: usize) {
        let file = format!("applications/app-{n}.yaml");
        let Some(text) = self.0.get(&file) else { return };
        let lines = text.lines().filter(|line| !line.contains("labels:"));
        let text = lines.map(|line| format!("{line}\n")).collect::<String>();
        let name = format!("  name: app-{n}\n");
        self.put(&file, text.replace(&name, &format!("{name}  labels: {{value: 'x{value}'}}\n")));
    }

    /// The files with a staging branch for what goes to production.
    fn staged(&self) -> BTreeMap<String, String> {
        let staged = "      targetBranch: environments/prod\n";
        let hydrate_to = "    hydrateTo:\n      targetBranch: environments/prod-next\n    syncSource:\n";
        let one = |(path, text): (&String, &String)| {
            let is_staged = path.starts_with("applications/") && text.contains(staged);
            let text = if is_staged { text.replace("    syncSource:\n", hydrate_to) } else { text.clone() };
            (path.clone(), text)
        };
        self.0.iter().map(one).collect()
    }
}

#[test]
fn copies_of_files_are_the_same_with_what_is_remembered_and_from_scratch() {
    let mut twins = Twins::new();
    let mut random = Random(41);
    let mut dry = Dry::start();
    let (mut seconds, mut tip, mut known) = (1_700_000_000, None, 0);
    twins.settings(SETTINGS, seconds);
    for round in 0..rounds(80) {
        for _ in 0..[1, 1, 1, 2][random.below(4)] {
            match random.below(5) {
                _ if round == 0 => {}
                // What is wrong holds branches until it is corrected.
                _ if round % 8 == 0 => dry = Dry::start(),
                0 | 1 => dry.edit(&mut random),
                _ => dry.label(random.below(12), random.below(100)),
            }
            seconds += 60;
            tip = twins.push(tip, &dry.staged(), seconds);
        }
        if round % 3 == 2 {
            for server in ["warm.git", "cold.git"] {
                let next = "refs/heads/environments/prod-next";
                Repo::at(&twins.lab, server).git(&["update-ref", "refs/heads/environments/prod", next]);
            }
        }
        twins.hydrate(round, &mut random);
        known += usize::from(remembered(&twins.warm).is_some());
    }
    assert!(known > rounds(30), "only {known} rounds left something to go on from");
    let verified = Repo::at(&twins.lab, "cold.git").hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// Has the cache say that there are 77 copies, as nothing but the cache says.
fn miscount(server: &Server) {
    let path = remembered(server).expect("remembered");
    let text = fs::read(&path).expect("readable");
    let text = text[..text.len() - 16].to_vec();
    let key = b"\"count\":";
    let at = text.windows(key.len()).position(|part| part == key).expect("a count") + key.len();
    let mut changed = text;
    changed[at..at + 2].copy_from_slice(b"77");
    let hash = Sha256::digest(&changed);
    changed.extend(&hash[..16]);
    fs::write(path, changed).expect("writable");
}

#[test]
fn a_push_that_changes_some_applications_looks_at_no_other_copy() {
    let mut twins = Twins::new();
    let mut dry = Dry::start();
    let mut seconds = 1_700_000_000;
    twins.settings(SETTINGS, seconds);
    let mut tip = twins.push(None, &dry.0, seconds);
    twins.compare("start");
    let mut push = |twins: &Twins, dry: &Dry| {
        seconds += 60;
        tip = twins.push(tip, &dry.0, seconds);
        miscount(&twins.warm);
        let reports = [&twins.warm, &twins.cold].map(|server| server.hydrate("main"));
        assert_eq!(twins.warm.refs(), twins.cold.refs());
        reports.each_ref().map(count)
    };
    // By what is remembered: a manifest, a document, nothing at all.
    dry.put("charts/web/values-0.yaml", "replicas: 7\n");
    assert_eq!(push(&twins, &dry), [Some(77), Some(12)]);
    dry.label(1, 1);
    assert_eq!(push(&twins, &dry), [Some(77), Some(12)]);
    dry.put("docs/a.md", "a");
    assert_eq!(push(&twins, &dry), [Some(77), Some(12)]);
    // One that comes, and two.
    for (come, copies) in [(12..13, 13), (13..15, 15)] {
        let expected = [Some(77 + come.len()), Some(copies)];
        for n in come {
            dry.sources(n);
            dry.application(n, "dev", &format!("app-{n}"), &Dry::options(n, 0));
        }
        assert_eq!(push(&twins, &dry), expected);
    }
    // One that has the name of another one has all of them looked at.
    dry.sources(17);
    dry.application(17, "prod", "app-17", "");
    let text = dry.0["applications/app-17.yaml"].replace("name: app-17\n", "name: app-12\n");
    dry.put("applications/app-17.yaml", text);
    assert_eq!(push(&twins, &dry), [Some(15), Some(15)]);
}
