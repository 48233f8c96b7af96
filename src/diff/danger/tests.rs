use super::*;
use crate::diff::{Options, compare};
use crate::manifest::{Source, read};

fn manifests(text: &str) -> Vec<Manifest> {
    read(text.as_bytes(), Source::Output("a test")).expect(text)
}

/// One change of the table.
struct Case {
    change: String,
    old: String,
    new: String,
    pruning: Pruning,
    expected: Vec<String>,
}

fn cases() -> Vec<Case> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/dangers/changes.yaml");
    let text = std::fs::read_to_string(file).expect("the table is there");
    let table = manifests(&format!("kind: Table\nchanges:\n{text}")).remove(0);
    let case = |case: &Value| {
        let text = |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        for key in ["change", "source", "fact"] {
            assert!(!text(key).is_empty(), "{key} is missing: {case:?}");
        }
        let pruning = match text("pruning").as_str() {
            "" => Pruning::Automatic,
            "manual" => Pruning::Manual,
            "off" => Pruning::Off,
            "cascade" => Pruning::Cascade,
            "orphaned" => Pruning::Orphaned,
            other => panic!("unknown pruning {other}"),
        };
        let expected = items(case, &["expect"]).iter().map(|danger| danger.as_str().expect("a text").to_owned());
        Case { change: text("change"), old: text("old"), new: text("new"), pruning, expected: expected.collect() }
    };
    items(table.object(), &["changes"]).iter().map(case).collect()
}

fn found(case: &Case) -> Vec<Danger> {
    let options = Options { pruning: case.pruning, ..Options::default() };
    let diffs = compare(&manifests(&case.old), &manifests(&case.new), &options);
    diffs.into_iter().flat_map(|diff| diff.dangers).collect()
}

#[test]
fn changes_have_the_dangers_that_the_documentation_gives_them() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let mut found: Vec<String> =
            found(case).iter().map(|danger| format!("{} {}", danger.severity.as_str(), danger.kind())).collect();
        found.sort();
        let mut expected = case.expected.clone();
        expected.sort();
        if found != expected {
            wrong.push(format!("{}: expected {expected:?}, found {found:?}", case.change));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn each_danger_says_what_happens_and_what_to_do() {
    for case in cases() {
        for danger in found(&case) {
            assert!(!danger.to_string().is_empty() && !danger.advice().is_empty(), "{danger:?}");
            let removes = matches!(danger.what, What::Removed { .. } | What::NamespaceChanged { .. });
            assert!(!removes || danger.pruning.is_some(), "{danger:?}");
        }
    }
}

#[test]
fn what_is_said_of_pruning() {
    let claim = |options: &str| {
        let annotations = format!("{{argocd.argoproj.io/sync-options: '{options}'}}");
        let text =
            format!("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: a, annotations: {annotations}}}\n");
        manifests(&text).remove(0)
    };
    let rows = [
        (Pruning::Automatic, "", Pruning::Automatic),
        (Pruning::Automatic, "Prune=false", Pruning::Off),
        (Pruning::Automatic, "PruneLast=true", Pruning::Automatic),
        (Pruning::Manual, "Prune=confirm", Pruning::Confirmed),
        (Pruning::Off, "", Pruning::Off),
        (Pruning::Off, "Prune=true", Pruning::Unknown),
        (Pruning::Cascade, "Prune=false", Pruning::Cascade),
        (Pruning::Cascade, "Delete=false", Pruning::Off),
        (Pruning::Cascade, "Delete=confirm", Pruning::Confirmed),
        (Pruning::Orphaned, "Prune=true", Pruning::Orphaned),
    ];
    for (pruning, options, expected) in rows {
        assert_eq!(pruning.of(&claim(options)), expected, "{pruning:?} {options}");
    }
}
