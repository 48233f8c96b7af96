//! Files with Applications that a set reads as parameters: real pushes.

use crate::made_applications::{URL, config, dry, files, manifest};
use crate::push::{both, tip, verified};
use crate::rules::{BY_LABEL, directory, rule};
use crate::support::{Lab, Repo};

const SET: &str = "set.yaml";
const DEV: &str = "environments/dev";

/// A set that passes on the Applications of files, each with the label of its environment.
fn set(name: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: all, namespace: argocd}}
spec:
  goTemplate: true
  generators:
  - git: {{repoURL: {URL}, revision: HEAD, files: [{{path: argocd/*/application.yaml}}]}}
  template:
    metadata: {{name: '{name}', labels: {{env: dev}}}}
    spec:
      project: default
      source: {{repoURL: {URL}, targetRevision: HEAD, path: '{{{{.spec.source.path}}}}'}}
      destination: {{server: https://kubernetes.default.svc, namespace: made}}
"
    )
}

const NAME: &str = "{{.metadata.name}}";

/// A clone with the set and two files that it reads, committed.
fn two(server: &Repo) -> Repo {
    let [web, api] = ["web", "api"].map(|name| (directory(name, "dev"), config(name, "dev", "one")));
    let all = [
        (SET, set(NAME)),
        ("argocd/web/application.yaml", web.0),
        ("argocd/api/application.yaml", api.0),
        (&*web.1.0, web.1.1),
        (&*api.1.0, api.1.1),
    ];
    dry(server, &all.each_ref().map(|(path, text)| (*path, text.as_str())))
}

#[test]
fn a_file_of_which_a_set_makes_an_application_is_no_application_of_its_own() {
    both(|server| {
        rule(server, BY_LABEL).success();
        let clone = two(server);
        let told = clone.push().success().remote().join("\n");
        assert!(!told.contains("another Application of that name"), "{told}");
        let is_there = |name: &str| files(server, DEV).contains(&format!("{name}/manifest.yaml"));
        assert!(is_there("web-dev") && is_there("api-dev"), "{told}");

        // What an Application reads, the file of one, and a third one.
        let (path, text) = config("web", "dev", "two");
        clone.commit("a value", &[(&path, &text)]);
        clone.push().success();
        assert!(manifest(server, DEV, "web-dev").contains("value: two"));
        let (path, text) = config("web", "next", "three");
        let moved = directory("web", "dev").replace("apps/web/dev", "apps/web/next");
        clone.commit("another directory", &[("argocd/web/application.yaml", &moved), (&path, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(manifest(server, DEV, "web-dev").contains("value: three"), "{told}");
        let (path, text) = config("job", "dev", "one");
        clone.commit("one more", &[("argocd/job/application.yaml", &directory("job", "dev")), (&path, &text)]);
        let told = clone.push().success().remote().join("\n");
        assert!(is_there("job-dev"), "{told}");
        clone.commit("one less", &[("argocd/api/application.yaml", "")]);
        let told = clone.push().success().remote().join("\n");
        assert!(!is_there("api-dev") && is_there("job-dev"), "{told}");
        verified(server);

        // By another name, both are Applications; and without the set, the ones of the files.
        clone.commit("a prefix", &[(SET, &set(&format!("made-{NAME}")))]);
        let told = clone.push().success().remote().join("\n");
        assert!(is_there("made-web-dev") && files(server, DEV).contains(" web-dev/manifest.yaml"), "{told}");
        let before = tip(server, DEV);
        clone.commit("no set", &[(SET, "")]);
        let told = clone.push().success().remote().join("\n");
        assert!(!is_there("made-web-dev") && is_there("web-dev") && tip(server, DEV) != before, "{told}");
        verified(server);
    });
}

#[test]
fn adopt_says_which_files_count_as_parameters() {
    let lab = Lab::new();
    let clone = two(&lab.bare(&[]));
    let told = clone.hydrate(&["adopt", "--repo-url", URL, "--branch-pattern", "environments/{{ labels.env }}"]);
    let note = "  argocd/api/application.yaml: 2 files count as parameters of ApplicationSet `all`, not as Applications of their \
                own, such as `argocd/api/application.yaml`\n";
    assert!(told.stdout.contains(note) && told.stdout.contains("2 of 2 Applications hydrate"), "{told:?}");
}
