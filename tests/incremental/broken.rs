//! What is broken costs only itself: a push that has nothing to do with it is planned by what changed, and told what it would be
//! told after a look at everything.

use git_hydrate::testing::hydrate::{Outcome, Report};

use super::Dry;
use super::joining::tables;
use super::made::{Twins, URL, set};

type Edit = fn(&mut Dry);

/// Edits `file` of an Application.
fn edit(dry: &mut Dry, n: usize, from: &str, to: &str) {
    let file = format!("applications/app-{n}.yaml");
    let text = dry.0[&file].replacen(from, to, 1);
    assert_ne!(text, dry.0[&file], "{file} has no {from:?}");
    dry.put(&file, text);
}

/// By what the render of an Application does not become part of `environments/prod`.
const RENDERS: &[(&str, Edit)] = &[
    ("one does not render", |dry| dry.put("overlays/4/patch.yaml", "apiVersion: [broken\n")),
    ("two render one object", |dry| {
        [5, 11].into_iter().for_each(|n| {
            edit(dry, n, &format!("    namespace: ns-{n}\n"), &format!("    namespace: ns-{n}\n    name: here\n"))
        });
        dry.put(
            "plain/5/twice.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain-11, namespace: ns-11}\n",
        );
    }),
];

/// By what a document of `environments/prod` is wrong, or stays as it was.
const DOCUMENTS: &[(&str, Edit)] = &[
    ("a document is invalid", |dry| edit(dry, 5, "spec:\n", "spec:\n  source: slip\n")),
    ("a document of a new one is invalid", |dry| {
        dry.application(14, "prod", "app-14", "");
        edit(dry, 14, "spec:\n", "spec:\n  source: slip\n");
    }),
    ("a file is no YAML", |dry| edit(dry, 5, "spec:\n", "spec:\n\t- slip\n")),
    ("one is paused", |dry| {
        edit(dry, 5, "  name: app-5\n", "  name: app-5\n  annotations: {git-hydrate/paused: \"true\"}\n")
    }),
    ("two write one path", |dry| edit(dry, 3, "path: app-3", "path: app-4")),
    ("one is misspelt", |dry| edit(dry, 5, "sourceHydrator", "sourceHydrater")),
    ("one names a dry branch that is not there", |dry| edit(dry, 5, "targetRevision: main", "targetRevision: nowhere")),
    ("one names the dry branch as its destination", |dry| {
        edit(dry, 5, "targetBranch: environments/prod", "targetBranch: main");
    }),
    ("a set cannot be expanded", |dry| {
        let text =
            set("bad", "  - git: {repoURL: x, revision: HEAD, directories: [{path: 'svc/*'}]}\n", ["svc", "prod"], "");
        dry.put("sets/bad.yaml", text);
    }),
];

/// Edits that have nothing to do with any of the causes.
const OTHERS: &[(&str, Edit)] = &[
    ("a file", |dry| dry.put("plain/2/map.yaml", map(2, 1))),
    ("a file beside them", |dry| dry.put("docs/readme.md", "text")),
    ("a file again", |dry| dry.put("plain/2/map.yaml", map(2, 2))),
];

/// One that changes another Application of `environments/prod`.
const OF_BRANCH: &[(&str, Edit)] = &[("a file of the branch", |dry| dry.put("plain/11/map.yaml", map(11, 1)))];

fn map(n: usize, value: usize) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: plain-{n}}}\ndata: {{v: '{value}'}}\n")
}

/// Whether something is wrong, or stays as it is.
fn is_broken(report: &Report) -> bool {
    let is_of = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
    let branches = || report.branches.iter();
    let stays =
        branches().any(|branch| is_of(&branch.outcome) || !branch.behind.is_empty() || !branch.mistakes.is_empty());
    stays || !report.problems.is_empty() || !report.warnings.is_empty()
}

fn pushes_beside(cause: (&str, Edit), on_failure: &str, others: &[&[(&str, Edit)]]) {
    let mut twins = Twins::new();
    twins.settings(&format!("repoURL: {URL}\nmadeApplications: true\nonFailure: {on_failure}\n"), 1_700_000_000);
    let mut dry = Dry::start();
    let (name, breaks) = cause;
    let (mut seconds, mut tip) = (1_700_000_000, None);
    let mut push = |dry: &Dry, twins: &mut Twins, what: &str| {
        seconds += 60;
        tip = twins.push(tip, &dry.0, seconds);
        twins.compare(&format!("{name}, {on_failure}, {what}"))
    };
    assert!(push(&dry, &mut twins, "first").is_success());
    breaks(&mut dry);
    assert!(is_broken(&push(&dry, &mut twins, "broken")), "{name}, {on_failure}: nothing is wrong");
    let before = tables(&twins.warm);
    for (what, edit) in others.iter().copied().flatten() {
        edit(&mut dry);
        let report = push(&dry, &mut twins, what);
        assert!(is_broken(&report), "{name}, {on_failure}, {what}: nothing is wrong any more");
        assert_eq!(before, tables(&twins.warm), "{name}, {on_failure}, {what}: everything was looked at: {report:?}");
    }
    dry = Dry::start();
    let report = push(&dry, &mut twins, "corrected");
    assert!(!is_broken(&report), "{name}, {on_failure}: {report:?}");
}

#[test]
fn a_push_beside_what_holds_its_branch_is_planned_by_what_changed() {
    RENDERS.iter().for_each(|cause| pushes_beside(*cause, "branch", &[OTHERS]));
    DOCUMENTS.iter().for_each(|cause| pushes_beside(*cause, "branch", &[OTHERS, OF_BRANCH]));
}

#[test]
fn a_push_beside_what_stays_alone_is_planned_by_what_changed() {
    let [render, conflict] = RENDERS else { panic!("two") };
    pushes_beside(*render, "application", &[OTHERS, OF_BRANCH]);
    // Two of one object hold the branch all the same.
    pushes_beside(*conflict, "application", &[OTHERS]);
    DOCUMENTS.iter().for_each(|cause| pushes_beside(*cause, "application", &[OTHERS, OF_BRANCH]));
}
