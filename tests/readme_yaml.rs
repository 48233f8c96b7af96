//! The YAML of README.md and of `docs/` is what it says it is: each block parses, and what others read has the fields that
//! they require.

use git_hydrate::testing::yaml::{self, Dialect, Limits, json};

use crate::readme::{PAGES, text_of};
use crate::support::Lab;

/// The YAML blocks, each with the heading above it.
pub(crate) fn blocks() -> Vec<(String, String)> {
    let texts: String = PAGES.map(text_of).concat();
    let (mut heading, mut blocks, mut open) = (String::new(), Vec::new(), None::<String>);
    for line in texts.split_inclusive('\n') {
        match &mut open {
            Some(_) if line == "```\n" => blocks.extend(open.take().map(|text| (heading.clone(), text))),
            Some(text) => text.push_str(line),
            None if line == "```yaml\n" => open = Some(String::new()),
            None if line.starts_with('#') => heading = line.trim_start_matches(['#', ' ']).trim_end().to_owned(),
            None => {}
        }
    }
    blocks
}

/// The documents of a text, as Argo CD and Flux read them.
pub(crate) fn documents(text: &str) -> Vec<serde_json::Value> {
    let documents = yaml::decode(text.as_bytes(), Dialect::V2, &Limits::default()).expect(text);
    let json = documents.iter().map(|document| json::encode(document, json::Options::default()));
    json.map(|json| serde_json::from_str(&json).expect("JSON")).collect()
}

#[test]
fn every_block_is_yaml_and_its_objects_have_kinds_and_names() {
    let blocks = blocks();
    assert!(blocks.len() >= 5, "{}", blocks.len());
    for (heading, text) in blocks {
        for document in documents(&text) {
            let is_object = document.get("kind").is_some();
            assert!(!is_object || document["metadata"]["name"].is_string(), "{heading}: {document}");
            assert!(!is_object || document["apiVersion"].is_string(), "{heading}: {document}");
        }
    }
}

/// The objects below a heading by kind.
fn object(heading: &str, kind: &str) -> serde_json::Value {
    let found = blocks().into_iter().filter(|(name, _)| name == heading).flat_map(|(_, text)| documents(&text));
    found.into_iter().find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("{heading}: {kind}"))
}

#[test]
fn what_argo_cd_and_flux_are_given_leads_to_branches_that_a_push_makes() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = server.clone_to("clone");
    clone.example();
    clone.push().success();
    let exists = |rev: &str| server.run("git", &["cat-file", "-e", rev]).success();
    let root = object("Argo CD", "Application");
    let source = &root["spec"]["source"];
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    exists(&format!("{}:{}", text(&source["targetRevision"]), text(&source["path"])));
    assert_eq!(object("Argo CD", "Secret")["stringData"]["url"], source["repoURL"]);
    assert_eq!(object("Argo CD", "ConfigMap")["data"]["hydrator.enabled"], "false", "a text, not a boolean");
    let repository = object("Flux", "GitRepository");
    let kustomization = object("Flux", "Kustomization");
    assert_eq!(kustomization["spec"]["sourceRef"]["name"], repository["metadata"]["name"]);
    let branch = text(&repository["spec"]["ref"]["branch"]);
    let path = text(&kustomization["spec"]["path"]);
    exists(&format!("{branch}:{}/manifest.yaml", path.trim_start_matches("./")));
    // The repository is the one that the Applications name.
    let url = server.git(&["show", "refs/hydrate/config:settings.yaml"]);
    assert!(url.contains(&text(&repository["spec"]["url"])), "{url}");
    // As Flux reads a path without a kustomization: all of its YAML is objects.
    clone.git(&["fetch", "-q"]);
    clone.git(&["worktree", "add", "-q", "../flux", &format!("origin/{branch}")]);
    let dir = lab.path("flux").join(path.trim_start_matches("./"));
    let rendered = clone.hydrate(&["render", "directory", "--recurse", dir.to_str().expect("UTF-8")]).success().stdout;
    assert!(rendered.contains("kind: Deployment"), "{rendered}");
}
