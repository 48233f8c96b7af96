//! A Secret in plain text is told once, when it comes to a branch: by the push, before it, and by `diff`.

use crate::push::{config_map, dry};
use crate::support::Lab;

const SECRET: &str = "apps/web/dev/secret.yaml";

fn secret(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\nstringData:\n  password: {value}\n")
}

const WARNING: &str = "warning: Secret db is hydrated in plain text";

#[test]
fn a_plain_secret_is_told_once_by_push_pre_push_and_diff() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit("secret", &[(SECRET, &secret("db", "old"))]);
    let diff = clone.hydrate(&["diff"]).stdout;
    assert_eq!(diff.matches(WARNING).count(), 1, "{diff}");
    let told = clone.push().success().stderr;
    let (remote, local): (Vec<&str>, Vec<&str>) =
        told.lines().filter(|line| line.contains(WARNING)).partition(|line| line.starts_with("remote:"));
    assert_eq!((local.len(), remote.len()), (1, 1), "{told}");
    assert!(told.contains("--> applications/dev/web.yaml:12") && !told.contains("old"), "{told}");
    // It is known now, with another value and beside others too.
    for (value, more) in [("new", "x"), ("new", "y")] {
        clone.git(&["fetch", "-q"]);
        clone.commit("more", &[(SECRET, &secret("db", value)), ("apps/web/dev/config.yaml", &config_map("web", more))]);
        let told = clone.push().success().stderr;
        assert!(!told.contains("plain text"), "{told}");
    }
    clone.git(&["fetch", "-q"]);
    let all = format!("{}---\n{}---\n{}", secret("db", "new"), secret("a", "x"), secret("b", "z"));
    clone.commit("two more", &[(SECRET, &all)]);
    let told = clone.push().success().stderr;
    assert_eq!(told.matches("warning: Secrets a, b are hydrated in plain text").count(), 2, "{told}");
}

#[test]
fn what_is_no_plain_secret_is_not_told_and_what_becomes_one_is() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    let allowed =
        secret("ok", "x").replace("  name: ok", "  name: ok\n  annotations: {git-hydrate/plain-secret: allowed}");
    clone.commit("placeholders", &[(SECRET, &format!("{}---\n{allowed}", secret("db", "<path:a#b>")))]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("plain text"), "{told}");
    clone.commit("a value", &[(SECRET, &format!("{}---\n{allowed}", secret("db", "old")))]);
    let told = clone.push().success().stderr;
    assert!(told.contains(WARNING), "{told}");
    // An Application that moves brings nothing new.
    let (file, text) = crate::push::application("web", "dev");
    clone.commit("move", &[(&file, &text.replace("      path: web\n", "      path: new\n"))]);
    let told = clone.push().success().stderr;
    assert!(!told.contains("plain text"), "{told}");
}

#[test]
fn a_pull_request_behind_its_branch_shows_the_secret_that_it_brings() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.commit("there", &[("apps/web/dev/old.yaml", &secret("old", "x"))]);
    clone.push().success();
    clone.git(&["checkout", "-q", "-b", "topic"]);
    clone.commit("secret", &[(SECRET, &secret("db", "old"))]);
    clone.git(&["checkout", "-q", "main"]);
    clone.commit("ahead", &[("apps/web/dev/config.yaml", &config_map("web", "y"))]);
    clone.push().success();
    clone.git(&["fetch", "-q"]);
    let diff = clone.hydrate(&["diff", "topic"]).stdout;
    assert!(diff.contains("merge base") && diff.contains(WARNING) && !diff.contains("Secret old is"), "{diff}");
}
