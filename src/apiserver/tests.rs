use std::collections::BTreeMap;

use super::*;
use crate::manifest::{Source, read};

fn manifests(text: &str) -> Vec<Manifest> {
    read(text.as_bytes(), Source::Output("test")).expect("manifests")
}

fn settings(text: &str) -> Settings {
    Settings::read(&BTreeMap::from([("settings.yaml".to_owned(), text.as_bytes().to_vec())])).expect(text)
}

/// `SERVICE: FIELD`, with `before` for what was there before.
fn said(answers: &[Answer]) -> Vec<String> {
    let all = answers.iter().flat_map(|answer| answer.findings.iter().map(move |said| (answer, said)));
    let before = |said: &Said| if said.was_before { " before" } else { "" };
    all.map(|(answer, said)| format!("{}: {}{}", answer.object, said.finding.field, before(said))).collect()
}

#[test]
fn only_what_changes_is_said_and_what_was_there_before_is_marked() {
    let settings = settings("{}");
    let server = Server::running(Kubernetes::NEWEST, &settings).expect("known");
    let judge = server.judge(Crds::new());
    let service = |name: &str, ports: &str| {
        format!("apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{ports: [{ports}]}}\n---\n")
    };
    let (old, new) = ("{port: 80, prot: 1}", "{port: 81}, {port: 80, prot: 1, name: a, targetPrt: 1}");
    let before = manifests(&[service("same", old), service("changed", old), service("gone", old)].concat());
    let after = manifests(&[service("same", old), service("changed", new), service("new", old)].concat());
    let answers = server.since(server.answers(&judge, &after), (&before, &after), [&judge; 2]);
    let said = said(&answers);
    assert!(said.contains(&"Service changed: spec.ports[1].prot before".to_owned()), "{said:?}");
    assert!(said.contains(&"Service changed: spec.ports[1].targetPrt".to_owned()), "{said:?}");
    assert!(said.contains(&"Service new: spec.ports[0].prot".to_owned()), "{said:?}");
    assert!(!said.iter().any(|line| line.starts_with("Service same")), "{said:?}");
}

#[test]
fn a_warning_that_is_switched_off_is_not_said() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: opaque\n";
    for (settings_text, expected) in [("{}", 1), ("silentWarnings: secret-type", 0)] {
        let settings = settings(settings_text);
        let server = Server::running(Kubernetes::NEWEST, &settings).expect("known");
        let answers = server.answers(&server.judge(Crds::new()), &manifests(text));
        assert_eq!(answers.len(), expected, "{settings_text}: {answers:?}");
    }
}

#[test]
fn what_is_said_of_a_secret_has_no_value_of_it() {
    let text =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {pin: 4711}\ndata: {key: 4712, b: '4713'}\n";
    let settings = settings("{}");
    let server = Server::running(Kubernetes::NEWEST, &settings).expect("known");
    let answers = server.answers(&server.judge(Crds::new()), &manifests(text));
    assert_eq!(said(&answers).len(), 2, "{answers:?}");
    assert!(!format!("{answers:?}").contains("471"), "{answers:?}");
    for rest in ["}\ntype: sesame", ", labels: {a: 'sesame of all'}}", ", labels: {a: 'sesame `of` all'}}"] {
        let text = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a{rest}\n");
        let answers = server.answers(&server.judge(Crds::new()), &manifests(&text));
        assert_eq!(answers.len(), 1, "{rest}: {answers:?}");
        assert!(!format!("{answers:?}").contains("sesame"), "{answers:?}");
        assert!(format!("{answers:?}").contains("<hidden>"), "{answers:?}");
    }
}
