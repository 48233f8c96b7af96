//! What is broken costs only itself: a push that has nothing to do with it is planned by what changed, and told what it would be
//! told after a look at everything.

use git_hydrate::testing::hydrate::{Outcome, Report};

use super::joining::tables;
use super::made::{Twins, URL, set};
use super::{Dry, is_long};

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

/// Those that change and bring documents of `environments/dev`.
const ELSEWHERE: &[(&str, Edit)] = &[
    ("a document", |dry| dry.application(6, "dev", "app-6", &Dry::options(6, 1))),
    ("sources", |dry| [20, 23].into_iter().for_each(|n| dry.sources(n))),
    ("a new one", |dry| dry.application(20, "dev", "app-20", "")),
];

/// Those that bring another Application of `environments/prod`, change what it renders and what others do.
const NEW: &[(&str, Edit)] = &[
    ("a new one of the branch", |dry| {
        dry.sources(23);
        dry.application(23, "prod", "app-23", "");
    }),
    ("a file of the new one", |dry| dry.put("plain/23/map.yaml", map(23, 1))),
    ("a file of the branch again", |dry| dry.put("plain/11/map.yaml", map(11, 2))),
    ("another new one of the branch", |dry| dry.application(21, "prod", "app-21", "")),
];

/// Whether it is a document that holds the branch, and not the want of one that was there.
fn holds_by_document(cause: &str) -> bool {
    !matches!(
        cause,
        "one is misspelt" | "one names a dry branch that is not there" | "one names the dry branch as its destination"
    )
}

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

/// The pushes by which everything was looked at.
fn pushes_beside(cause: (&str, Edit), on_failure: &str, others: &[&[(&str, Edit)]]) -> Vec<String> {
    let mut wide = Vec::new();
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
    let mut before = tables(&twins.warm);
    for (what, edit) in others.iter().copied().flatten() {
        edit(&mut dry);
        let report = push(&dry, &mut twins, what);
        assert!(is_broken(&report), "{name}, {on_failure}, {what}: nothing is wrong any more");
        let now = tables(&twins.warm);
        if before != now {
            wide.push(format!("{name}, {on_failure}, {what}"));
        }
        before = now;
    }
    dry = Dry::start();
    let report = push(&dry, &mut twins, "corrected");
    assert!(!is_broken(&report), "{name}, {on_failure}: {report:?}");
    wide
}

#[test]
fn a_push_beside_what_holds_its_branch_is_planned_by_what_changed() {
    let mut wide = Vec::new();
    for cause in OBJECTS {
        wide.extend(pushes_beside(*cause, "branch", &[OTHERS, ELSEWHERE]));
    }
    for cause in RENDERS {
        // What lost objects may find them in one that comes.
        let new = if cause.0 == "one does not render" { NEW } else { &[] };
        wide.extend(pushes_beside(*cause, "branch", &[OTHERS, OF_BRANCH, DOCUMENT, ELSEWHERE, new]));
    }
    for cause in DOCUMENTS {
        let new = if holds_by_document(cause.0) { NEW } else { &[] };
        wide.extend(pushes_beside(*cause, "branch", &[OTHERS, OF_BRANCH, ELSEWHERE, new]));
    }
    assert!(wide.is_empty(), "everything was looked at: {wide:#?}");
}

#[test]
fn a_push_beside_what_stays_alone_is_planned_by_what_changed() {
    let mut wide = Vec::new();
    for cause in RENDERS {
        wide.extend(pushes_beside(*cause, "application", &[OTHERS, OF_BRANCH, DOCUMENT, ELSEWHERE]));
    }
    // Two of one object hold the branch all the same.
    for cause in OBJECTS {
        wide.extend(pushes_beside(*cause, "application", &[OTHERS, ELSEWHERE]));
    }
    for cause in DOCUMENTS {
        let more: &[_] = if stays_alone(cause.0) { &[DOCUMENT, NEW] } else { &[] };
        wide.extend(pushes_beside(*cause, "application", &[&[OTHERS, OF_BRANCH, ELSEWHERE], more].concat()));
    }
    assert!(wide.is_empty(), "everything was looked at: {wide:#?}");
}

/// What else comes is judged as by a look at everything: it takes what is there, or fails itself, or what holds the branch goes.
#[test]
fn what_comes_to_a_branch_that_stays_is_held_with_it() {
    const ROWS: &[(&str, Edit)] = &[
        ("new ones", |dry| {
            dry.sources(23);
            [21, 23].into_iter().for_each(|n| dry.application(n, "prod", &format!("app-{n}"), ""));
        }),
        ("one in the other", |dry| dry.application(15, "prod", "app-23/inside", "")),
        ("it goes", |dry| drop(dry.0.remove("applications/app-15.yaml"))),
        ("one of a name that is there", |dry| {
            let text = dry.0["applications/app-23.yaml"].replace("path: app-23", "path: second");
            dry.put("applications/second.yaml", text);
        }),
        ("it goes too", |dry| drop(dry.0.remove("applications/second.yaml"))),
        ("a new one fails", |dry| dry.put("plain/23/map.yaml", "kind: [\n")),
        ("it renders", |dry| dry.put("plain/23/map.yaml", map(23, 3))),
        ("one goes again", |dry| drop(dry.0.remove("applications/app-21.yaml"))),
        ("one of another kind", |dry| {
            dry.sources(22);
            dry.application(22, "prod", "app-22", "");
        }),
        ("it fails", |dry| dry.put("overlays/22/patch.yaml", "apiVersion: [broken\n")),
    ];
    for (at, cause) in RENDERS.iter().chain(DOCUMENTS).chain(OBJECTS).enumerate() {
        for (mode, on_failure) in ["branch", "application"].into_iter().enumerate() {
            if at % 2 == mode || is_long() {
                drop(pushes_beside(*cause, on_failure, &[ROWS]));
            }
        }
    }
}

/// A branch lets go of what moved only where that renders.
#[test]
fn what_moved_from_a_branch_that_stays_is_judged_there_too() {
    const ROWS: &[(&str, Edit)] = &[
        ("one moves", |dry| dry.application(10, "dev", "app-10", &Dry::options(10, 0))),
        ("another file", |dry| dry.put("plain/2/map.yaml", map(2, 3))),
        ("it fails there", |dry| dry.put("overlays/10/patch.yaml", "apiVersion: [broken\n")),
        ("it renders", |dry| dry.sources(10)),
        ("one of its name", |dry| {
            let text = dry.0["applications/app-10.yaml"].replace("environments/dev", "environments/prod");
            dry.put("applications/second.yaml", text.replace("path: app-10", "path: second"));
        }),
    ];
    for cause in RENDERS.iter().chain(&DOCUMENTS[..1]) {
        drop(pushes_beside(*cause, "branch", &[ROWS]));
    }
}

/// What a freeze leaves without a render is known by its name.
#[test]
fn a_new_application_beside_a_frozen_branch_is_planned_by_what_changed() {
    let mut twins = Twins::new();
    let settings = format!("repoURL: {URL}\n");
    let frozen = format!("{settings}frozen:\n  environments/prod: {{reason: holidays}}\n");
    let mut dry = Dry::start();
    let (mut seconds, mut tip, mut before) = (1_700_000_000, None, Vec::new());
    let rows: &[(&str, Edit)] = &[
        ("first", |_| {}),
        ("frozen", |dry| dry.put("docs/readme.md", "text")),
        ("sources", |dry| [20, 23].into_iter().for_each(|n| dry.sources(n))),
        ("a new one", |dry| dry.application(20, "dev", "app-20", "")),
        ("none", |dry| drop(dry.0.remove("applications/app-20.yaml"))),
        ("a new one of the branch", |dry| dry.application(23, "prod", "app-23", "")),
        ("a file of it", |dry| dry.put("plain/23/map.yaml", map(23, 1))),
        ("it goes", |dry| drop(dry.0.remove("applications/app-23.yaml"))),
        ("it comes elsewhere", |dry| dry.application(23, "dev", "app-23", "")),
        ("it comes back", |dry| dry.application(23, "prod", "app-23", "")),
        ("thawed", |_| {}),
    ];
    for (what, edit) in rows {
        edit(&mut dry);
        seconds += 60;
        match *what {
            "first" => twins.settings(&settings, seconds),
            "frozen" => twins.settings(&frozen, seconds),
            "thawed" => twins.settings(&settings, seconds),
            _ => {}
        }
        tip = twins.push(tip, &dry.0, seconds);
        let report = twins.compare(what);
        let now = tables(&twins.warm);
        // Of what comes to the branch as long as it is frozen, nothing is known but its name.
        let is_wide =
            matches!(*what, "first" | "frozen" | "it goes" | "it comes elsewhere" | "it comes back" | "thawed");
        assert!(is_wide || before == now, "{what}: everything was looked at: {report:?}");
        before = now;
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

/// An Application that goes stays with one that does not render and has it, until that one renders or goes.
#[test]
fn what_goes_stays_with_its_parent() {
    const CHILD: &str = "plain/5/child.yaml";
    const BROKEN: &str = "plain/5/map.yaml";
    fn child(dry: &mut Dry, n: usize) {
        dry.sources(n);
        dry.application(n, "prod", &format!("app-{n}"), "");
        let text = dry.0.remove(&format!("applications/app-{n}.yaml")).expect("there");
        dry.put(CHILD, text);
    }
    const ROWS: &[(&str, Edit, &[&str])] = &[
        ("first", |dry| child(dry, 23), &[]),
        ("it goes", |dry| drop((dry.put(BROKEN, "kind: [\n"), dry.0.remove(CHILD))), &["app-23", "app-5"]),
        ("a file of the branch", |dry| dry.put("plain/11/map.yaml", map(11, 1)), &["app-23", "app-5"]),
        ("another goes", |dry| drop(dry.0.remove("applications/app-11.yaml")), &["app-23", "app-5"]),
        ("a new one", |dry| dry.application(15, "prod", "app-15", ""), &["app-23", "app-5"]),
        ("another child", |dry| child(dry, 20), &["app-23", "app-5"]),
        ("it comes back", |dry| child(dry, 23), &["app-5"]),
        ("it goes again", |dry| drop(dry.0.remove(CHILD)), &["app-23", "app-5"]),
        ("one writes its path", |dry| dry.application(18, "prod", "app-23", ""), &["app-5"]),
        ("none does", |dry| drop(dry.0.remove("applications/app-18.yaml")), &["app-5"]),
        ("corrected", |dry| dry.put(BROKEN, map(5, 1)), &[]),
        ("a child that moves", |dry| child(dry, 23), &[]),
        (
            "it moves",
            |dry| {
                let text = dry.0[CHILD].replace("path: app-23", "path: elsewhere");
                dry.put(CHILD, text);
                dry.put(BROKEN, "kind: [\n");
            },
            &["app-23", "app-5"],
        ),
        ("its parent goes", |dry| drop(dry.0.remove("applications/app-5.yaml")), &[]),
    ];
    let mut twins = Twins::new();
    twins.settings(&format!("repoURL: {URL}\nonFailure: application\n"), 1_700_000_000);
    let mut dry = Dry::start();
    let (mut seconds, mut tip) = (1_700_000_000, None);
    for (what, edit, expected) in ROWS {
        edit(&mut dry);
        seconds += 60;
        tip = twins.push(tip, &dry.0, seconds);
        let report = twins.compare(what);
        let behind = report.branches.iter().flat_map(|branch| branch.behind.iter().map(|one| one.path.as_str()));
        assert_eq!(behind.collect::<Vec<_>>(), *expected, "{what}: {report:?}");
    }
}
