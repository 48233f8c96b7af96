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

/// By what one Application of `environments/prod` does not render.
const RENDERS: &[(&str, Edit)] = &[
    ("one does not render", |dry| dry.put("overlays/4/patch.yaml", "apiVersion: [broken\n")),
    ("one lost its objects", |dry| dry.put("plain/5/map.yaml", "kind: [\n")),
];

/// By what several render something that does not go together.
const OBJECTS: &[(&str, Edit)] = &[("two render one object", |dry| {
    [5, 11].into_iter().for_each(|n| {
        edit(dry, n, &format!("    namespace: ns-{n}\n"), &format!("    namespace: ns-{n}\n    name: here\n"))
    });
    dry.put("plain/5/twice.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain-11, namespace: ns-11}\n");
})];

/// By what a document of `environments/prod` is wrong, or stays as it was.
const DOCUMENTS: &[(&str, Edit)] = &[
    ("a document is invalid", |dry| edit(dry, 5, "spec:\n", "spec:\n  source: slip\n")),
    ("a document of a new one is invalid", |dry| {
        dry.application(14, "prod", "app-14", "");
        edit(dry, 14, "spec:\n", "spec:\n  source: slip\n");
    }),
    ("a file is not YAML", |dry| edit(dry, 5, "spec:\n", "spec:\n\t- slip\n")),
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

/// One that changes the document of another Application of `environments/prod`.
const DOCUMENT: &[(&str, Edit)] =
    &[("a document of the branch", |dry| dry.application(9, "prod", "app-9", &Dry::options(9, 1)))];

/// Those that bring another Application.
const NEW: &[(&str, Edit)] = &[
    ("sources", |dry| [20, 23].into_iter().for_each(|n| dry.sources(n))),
    ("a new one", |dry| dry.application(20, "dev", "app-20", "")),
    ("a new one of the branch", |dry| dry.application(23, "prod", "app-23", "")),
];

/// Whether a cause holds back no more than its Application where that may stay alone, and is in a file that can be read.
fn stays_alone(cause: &str) -> bool {
    !matches!(
        cause,
        "a file is not YAML"
            | "a set cannot be expanded"
            | "one is misspelt"
            | "one names a dry branch that is not there"
            | "one names the dry branch as its destination"
    )
}

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
    OBJECTS.iter().for_each(|cause| pushes_beside(*cause, "branch", &[OTHERS]));
    RENDERS.iter().for_each(|cause| pushes_beside(*cause, "branch", &[OTHERS, OF_BRANCH, DOCUMENT]));
    for cause in DOCUMENTS {
        // What is paused stays alone in any case.
        let new = if cause.0 == "one is paused" { NEW } else { &[] };
        pushes_beside(*cause, "branch", &[OTHERS, OF_BRANCH, new]);
    }
}

#[test]
fn a_push_beside_what_stays_alone_is_planned_by_what_changed() {
    RENDERS.iter().for_each(|cause| pushes_beside(*cause, "application", &[OTHERS, OF_BRANCH, DOCUMENT]));
    // Two of one object hold the branch all the same.
    OBJECTS.iter().for_each(|cause| pushes_beside(*cause, "application", &[OTHERS]));
    for cause in DOCUMENTS {
        let more: &[_] = if stays_alone(cause.0) { &[DOCUMENT, NEW] } else { &[] };
        pushes_beside(*cause, "application", &[&[OTHERS, OF_BRANCH], more].concat());
    }
}

const LOST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain-5, namespace: ns-5}\n";

/// What an Application lost turns up in another one of its branch, or was in a file beside that is another one by now: each push is
/// answered as it would be after a look at everything.
#[test]
fn what_was_lost_is_lost_until_another_application_renders_it() {
    type Step = (&'static str, Edit, bool);
    const BREAKS: Step = ("broken", |dry| dry.put("plain/5/map.yaml", "kind: [\n"), true);
    const MOVES: Step =
        ("another has it", |dry| dry.put("plain/11/map.yaml", format!("{}---\n{LOST}", map(11, 1))), false);
    let rows: &[&[Step]] = &[
        &[BREAKS, MOVES],
        &[BREAKS, ("another changes", |dry| dry.put("plain/11/map.yaml", map(11, 3)), true), MOVES],
        &[
            (
                "the file is renamed",
                |dry| {
                    let text = dry.0.remove("plain/5/map.yaml").expect("there");
                    dry.put("plain/5/map.yaml.old", text);
                },
                true,
            ),
            ("it is a note then", |dry| dry.put("plain/5/map.yaml.old", "notes\n"), false),
        ],
    ];
    for (row, on_failure) in rows.iter().flat_map(|row| [(row, "branch"), (row, "application")]) {
        let mut twins = Twins::new();
        twins.settings(&format!("repoURL: {URL}\nonFailure: {on_failure}\n"), 1_700_000_000);
        let mut dry = Dry::start();
        dry.put("plain/5/map.yaml", LOST);
        dry.put("plain/5/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more-5}\n");
        let (mut seconds, mut tip) = (1_700_000_000, None);
        for (what, edit, expected) in [("first", (|_| {}) as Edit, false)].iter().chain(*row) {
            edit(&mut dry);
            seconds += 60;
            tip = twins.push(tip, &dry.0, seconds);
            let report = twins.compare(&format!("{on_failure}, {what}"));
            let failed = report.branches.iter().any(|branch| matches!(branch.outcome, Outcome::Failed { .. }));
            let is_lost = failed || report.branches.iter().any(|branch| !branch.behind.is_empty());
            assert_eq!(is_lost, *expected, "{on_failure}, {what}: {report:?}");
        }
    }
}
