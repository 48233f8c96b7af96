//! What is wrong is shown once, in its newest state, however many Applications and branches it touches.

use crate::push::{config_map, dry};
use crate::strict::BROKEN;
use crate::support::{Lab, Repo};

fn status(server: &Repo, args: &[&str]) -> String {
    server.hydrate(&[&["status"], args].concat()).exits(1).stdout
}

#[test]
fn status_does_not_repeat_an_error_that_is_corrected() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web", "api"], &["dev"]);
    clone.push().success();
    clone.commit("slip", &[("apps/web/dev/config.yaml", BROKEN)]);
    clone.push().success();
    let mended = config_map("web", "mended");
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n";
    clone.commit("another", &[("apps/web/dev/config.yaml", &mended), ("apps/api/dev/config.yaml", text)]);
    clone.push().success();
    let told = status(&server, &[]);
    assert!(told.contains("apps/api/dev/config.yaml") && !told.contains("apps/web/dev/config.yaml"), "{told}");
    assert_eq!(told.matches("error: ").count(), 1, "{told}");
}

#[test]
fn status_tells_a_cause_of_two_environments_once() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let kustomization = "resources: [../../../base]\n";
    let overlays = ["dev", "prod"].map(|env| (format!("apps/web/{env}/kustomization.yaml"), kustomization.to_owned()));
    let files: Vec<(&str, &str)> = overlays.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("overlays", &files);
    clone.commit(
        "base",
        &[("base/kustomization.yaml", "resources: [a.yaml]\n"), ("base/a.yaml", &config_map("a", "x"))],
    );
    clone.push().success();
    clone.commit("slip", &[("base/a.yaml", BROKEN)]);
    clone.push().success();
    let told = status(&server, &[]);
    assert_eq!(told.matches("error: ").count(), 1, "{told}");
    assert!(told.contains("failed, as environments/dev did"), "{told}");
}

#[test]
fn status_shows_twenty_causes_and_all_of_them_when_it_is_asked_to() {
    let lab = Lab::new();
    let server = lab.server();
    let names: Vec<String> = (0..30).map(|n| format!("app{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let clone = dry(&server, &names, &["dev"]);
    clone.push().success();
    let broken: Vec<(String, String)> = names
        .iter()
        .map(|name| (format!("apps/{name}/dev/kustomization.yaml"), format!("resources: [{name}.yaml]\n")))
        .collect();
    let broken: Vec<(&str, &str)> = broken.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("slips", &broken);
    clone.push().success();
    let told = status(&server, &[]);
    assert_eq!(told.matches("error: ").count(), 20, "{told}");
    assert!(told.ends_with("… and 10 more: git hydrate status --all\n"), "{told}");
    let told = status(&server, &["--all"]);
    assert_eq!(told.matches("error: ").count(), 30, "{told}");
    assert!(!told.contains("more: "), "{told}");
}

#[test]
fn a_repository_that_got_another_url_is_told_once_with_three_names() {
    let lab = Lab::new();
    let server = lab.server();
    let names = ["a", "b", "c", "d", "e", "f"];
    let clone = dry(&server, &names, &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/renamed.git"]).exits(1);
    clone.commit("next", &[("NOTES", "x")]);
    let told = clone.push().success().remote().join("\n");
    assert_eq!(told.matches("error: ").count(), 1, "{told}");
    assert!(told.contains("= also at: applications/dev/b.yaml:10:16, ") && told.contains(" and 2 more"), "{told}");
    let told = status(&server, &[]);
    assert_eq!(told.matches("error: ").count(), 1, "{told}");
}
