use super::*;
use crate::diff::{Beside, ObjectDiff, Options, Sides, Syncs, compare, compare_all};
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
    syncs: Syncs,
    expected: Vec<String>,
    says: String,
    restarts: Option<bool>,
}

fn cases() -> Vec<Case> {
    [
        "changes.yaml",
        "environments.yaml",
        "beside.yaml",
        "equal.yaml",
        "commits.yaml",
        "judged.yaml",
        "public.yaml",
        "argocd.yaml",
        "controllers.yaml",
        "reviewed.yaml",
        "policies.yaml",
        "operated.yaml",
        "fields.yaml",
        "wired.yaml",
    ]
    .into_iter()
    .flat_map(read_cases)
    .collect()
}

fn read_cases(file: &str) -> Vec<Case> {
    let file = format!("{}/tests/cases/dangers/{file}", env!("CARGO_MANIFEST_DIR"));
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
        Case {
            change: text("change"),
            old: text("old"),
            new: text("new"),
            pruning,
            syncs: manifests(&text("application")).first().map(|one| Syncs::of(one.object())).unwrap_or_default(),
            expected: expected.collect(),
            says: text("says"),
            restarts: case.get("restarts").and_then(Value::as_bool),
        }
    };
    items(table.object(), &["changes"]).iter().map(case).collect()
}

fn diffs(case: &Case) -> Vec<ObjectDiff> {
    let options = Options { pruning: case.pruning, syncs: case.syncs.clone(), ..Options::default() };
    compare(&manifests(&case.old), &manifests(&case.new), &options)
}

fn found(case: &Case) -> Vec<Danger> {
    diffs(case).into_iter().flat_map(|diff| diff.dangers).collect()
}

#[test]
fn changes_have_the_dangers_that_the_documentation_gives_them() {
    let cases = cases();
    assert!(cases.len() >= 300, "{}", cases.len());
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
    let is_said = |case: &Case| found(case).iter().any(|danger| danger.to_string().contains(&case.says));
    for case in cases.iter().filter(|case| !case.says.is_empty() && !is_said(case)) {
        wrong.push(format!("{}: {:?} is not said: {:?}", case.change, case.says, found(case)));
    }
    for case in &cases {
        let restarts = diffs(case).iter().any(|diff| diff.restarts);
        if case.restarts.is_some_and(|expected| expected != restarts) {
            wrong.push(format!("{}: restarts {restarts}", case.change));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn what_does_not_change_is_no_danger() {
    let mut wrong = Vec::new();
    for case in cases() {
        for side in [&case.old, &case.new] {
            let options = Options { syncs: case.syncs.clone(), ..Options::default() };
            let found = compare(&manifests(side), &manifests(side), &options);
            wrong.extend(found.first().map(|diff| format!("{}: {:?}", case.change, diff.dangers)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sync_waits_for_what_comes_later_in_its_own_application_alone() {
    let hook = "{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {argocd.argoproj.io/hook: PreSync}}, spec: {containers: \
         [{name: a, envFrom: [{configMapRef: {name: c}}]}]}}";
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}";
    let side = |new: &str| Sides { old: Vec::new(), new: manifests(new), options: Options::default() };
    let kinds = |paths: &[Sides]| -> Vec<&str> {
        let all = compare_all(paths, &Beside::default()).into_iter().flatten();
        all.flat_map(|diff| diff.dangers).map(|danger| danger.kind()).collect()
    };
    assert_eq!(kinds(&[side(&format!("{hook}\n---\n{map}\n"))]), ["deadlock"]);
    assert!(kinds(&[side(hook), side(map)]).is_empty());
}

/// A claim of one node, and the Pods that have it, may be of an Application that does not change.
#[test]
fn a_claim_of_one_node_is_shared_between_applications() {
    let claim = |mode: &str| {
        format!(
            "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: files}}\nspec: {{accessModes: [{mode}]}}\n---\n"
        )
    };
    let workload = |name: &str, volumes: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: {name}}}}}, \
             template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: a, image: 'a:1', \
             volumeMounts: [{volumes}]}}], volumes: [{{name: f, persistentVolumeClaim: {{claimName: files}}}}]}}}}}}\n"
        )
    };
    let mounted = "{name: f, mountPath: /f}";
    for (mode, namespace, volumes, expected) in [
        ("ReadWriteOnce", "shop", mounted, 1),
        ("ReadWriteMany", "shop", mounted, 0),
        ("ReadWriteOnce", "other", mounted, 0),
        ("ReadWriteOnce", "shop", "", 0),
    ] {
        let text = format!("{}{}", claim(mode), workload("web", mounted));
        let beside = Beside::new(vec![(text.into_bytes(), Some(namespace.to_owned()))], false);
        let options = Options { namespace: Some("shop".to_owned()), ..Options::default() };
        let new = manifests(&workload("worker", volumes));
        let all = compare_all(&[Sides { old: Vec::new(), new, options }], &beside).into_iter().flatten();
        let kinds: Vec<&str> = all.flat_map(|diff| diff.dangers).map(|danger| danger.kind()).collect();
        assert_eq!(
            kinds.iter().filter(|kind| **kind == "sharedClaim").count(),
            expected,
            "{mode} {namespace}: {kinds:?}"
        );
    }
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
    let stays = "until somebody syncs with pruning: the Application does not prune by itself";
    assert_eq!(Pruning::Manual.sentence("it", 1), format!("it stays {stays}"));
    assert_eq!(Pruning::Manual.sentence("they", 2), format!("they stay {stays}"));
    assert_eq!(Pruning::Cascade.sentence("they", 2), "Argo CD deletes them together with their Application");
}

/// Advice on what is done outside of git, or with judgement.
const OF_OTHERS: [&str; 15] = [
    "back up the data, or set `whenScaled: Retain` in a commit before this one",
    "correct what is named here: until then, nothing of the object is applied",
    "copy the data to the other claim first",
    "copy what shall be kept first",
    "delete it with `--cascade=orphan`, which keeps its Pods, and sync: claims that are there stay as they are",
    "grant only what is needed",
    "grow the claims with `kubectl patch pvc`, delete the StatefulSet with `--cascade=orphan`, which keeps its Pods, and sync",
    "move the clients of this version first",
    "name a port of the container, or a number",
    "name the workload that it shall scale",
    "name those who may connect",
    "select labels that its Pods have",
    "store all objects in another version and clear `status.storedVersions` first",
    "sync to the new cluster, move the data, then delete by hand what stays in the old one",
    "take the field away when it shall run again",
];

/// What an API server refuses of objects for the sake of fields that do not fit each other: what a row leaves out is not meant.
fn refused(objects: &str) -> Vec<String> {
    let newest = *kube_validate::MINORS.end();
    let judge = kube_validate::Judge::new(newest, kube_validate::Crds::default()).expect("it is known");
    let all = manifests(objects);
    let findings = all.iter().flat_map(|one| judge.judge(one.object()).findings);
    let is_meant = |one: &kube_validate::Finding| one.is_refusal() && one.reason != kube_validate::Reason::Required;
    findings.filter(is_meant).map(|one| format!("{} {}", one.field, one.message)).collect()
}

#[test]
fn an_advice_that_is_followed_is_no_danger_itself() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/dangers/remedies.yaml");
    let text = std::fs::read_to_string(file).expect("the table is there");
    let table = manifests(&format!("kind: Table\nremedies:\n{text}")).remove(0);
    let cases = cases();
    let mut wrong = Vec::new();
    let mut followed = Vec::new();
    for remedy in items(table.object(), &["remedies"]) {
        let text = |key: &str| remedy.get(key).and_then(Value::as_str).unwrap_or_default();
        let case =
            cases.iter().find(|case| case.change == text("change")).unwrap_or_else(|| panic!("{}", text("change")));
        let given = found(case).iter().any(|danger| danger.advice().contains(text("advice")));
        let next = compare(&manifests(&case.old), &manifests(text("followed")), &Options::default());
        let next: Vec<Danger> = next.into_iter().flat_map(|diff| diff.dangers).collect();
        let refused = refused(text("followed"));
        if !given || !next.is_empty() || !refused.is_empty() {
            wrong.push(format!("{}: given {given}, then {next:?}, refused {refused:?}", case.change));
        }
        followed.push(text("advice").to_owned());
    }
    // What is to be looked at, or left as it is, has nothing to follow.
    let is_plain = |advice: &str| ["check", "keep", "look", "compare"].iter().any(|word| advice.starts_with(word));
    for advice in cases.iter().flat_map(found).map(|danger| danger.advice()) {
        let is_followed = followed.iter().any(|part| advice.contains(part));
        if !is_plain(advice) && !is_followed && !OF_OTHERS.contains(&advice) {
            wrong.push(format!("no row follows: {advice}"));
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
