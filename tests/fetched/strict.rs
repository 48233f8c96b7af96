//! Strict mode: what a push needs from elsewhere is fetched before it is accepted, once.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::{begun, charted, fetches, message};
use crate::made_applications::{URL, manifest};
use crate::push::config_map;
use crate::rules::{directory, plain};
use crate::servers::{Liar, respond};
use crate::support::{Lab, Repo};
use crate::vendor::{chart, packed, repository, sha256};

/// A server of charts, and what it was asked for.
fn counted(root: PathBuf) -> (Liar, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let paths = asked.clone();
    let charts = Liar::start(move |request, stream| {
        paths.lock().expect("one at a time").push(request.path.clone());
        match fs::read(root.join(request.path.trim_start_matches('/'))) {
            Ok(body) => respond(stream, "200 OK", "", &body),
            Err(_) => respond(stream, "404 Not Found", "", b""),
        }
    });
    (charts, asked)
}

fn count(asked: &Mutex<Vec<String>>) -> usize {
    std::mem::take(&mut *asked.lock().expect("one at a time")).len()
}

/// A strict server that may fetch `web` 1.2.3 and 1.3.0, and a clone with an Application of the first one.
fn strict(lab: &Lab, word: &str) -> (Liar, Arc<Mutex<Vec<String>>>, Repo, Repo) {
    repository(&lab.path("charts"), &[("web", "1.3.0"), ("web", "1.2.3")]);
    let (charts, asked) = counted(lab.path("charts"));
    let (server, clone) = begun(lab, &charts.url(), "1.2.3");
    fetches(&server, &charts.url());
    server.git(&["config", "hydrate.strict", word]);
    (charts, asked, server, clone)
}

#[test]
fn an_input_is_fetched_once_for_both_hooks() {
    for word in ["all", "touched"] {
        let lab = Lab::new();
        let (charts, asked, server, clone) = strict(&lab, word);
        let told = clone.push().success().remote().join("\n");
        assert_eq!(told.matches("fetching chart web 1.2.3").count(), 1, "{told}");
        assert!(!told.contains("warning") && !told.contains("error"), "{told}");
        assert_eq!(count(&asked), 2, "the index and the chart");
        assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.2.3"));
        assert!(message(&server, "environments/dev").contains("Hydrate-Inputs: "));

        clone.commit("bump", &[("web.yaml", &charted(&charts.url(), "1.3.0"))]);
        let told = clone.push().success().remote().join("\n");
        assert_eq!(told.matches("fetching chart web 1.3.0").count(), 1, "{told}");
        assert_eq!(count(&asked), 2);
        assert_eq!(server.git(&["rev-list", "--count", "refs/hydrate/inputs"]), "2");
        assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.3.0"));
        assert_eq!(server.hydrate(&["verify"]).code, Some(0));
        server.git(&["fsck", "--strict"]);
        server.git(&["gc", "-q", "--prune=now"]);
        server.git(&["fsck", "--strict"]);
    }
}

#[test]
fn a_push_that_is_refused_records_nothing() {
    let lab = Lab::new();
    let (charts, asked, server, clone) = strict(&lab, "all");
    // What is wrong anyway is refused before anything is asked for.
    let source = format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: nowhere}}");
    clone.commit("wrong", &[("wrong.yaml", &plain("wrong", "prod", &source))]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("nowhere") && !told.contains("fetching"), "{told}");
    assert_eq!(count(&asked), 0);

    // What is wrong with the chart is found with it.
    let mut files = chart("web", "1.3.0");
    files[2].1 += "{{ fail \"not today\" }}\n";
    let (archive, before) = (packed(&files), fs::read(lab.path("charts/web-1.3.0.tgz")).expect("there"));
    let index = fs::read_to_string(lab.path("charts/index.yaml")).expect("there");
    fs::write(lab.path("charts/web-1.3.0.tgz"), &archive).expect("written");
    fs::write(lab.path("charts/index.yaml"), index.replace(&sha256(&before), &sha256(&archive))).expect("written");
    clone.git(&["rm", "-q", "wrong.yaml"]);
    clone.commit("broken", &[("web.yaml", &charted(&charts.url(), "1.3.0"))]);
    let before_push = server.git(&["count-objects", "-v"]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("fetching chart web 1.3.0") && told.contains("not today"), "{told}");
    assert_eq!(server.git(&["for-each-ref", "refs/hydrate/inputs", "refs/heads"]), "");
    assert_eq!(server.git(&["count-objects", "-v"]), before_push, "nothing of it stays");

    clone.commit("the other one", &[("web.yaml", &charted(&charts.url(), "1.2.3"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    let recorded = server.hydrate(&["inputs"]).success().stdout;
    assert!(recorded.contains("web 1.2.3") && !recorded.contains("web 1.3.0"), "{recorded}");
}

#[test]
fn what_is_not_to_be_had_is_asked_for_once_and_refuses_no_push() {
    let lab = Lab::new();
    let (charts, asked, server, clone) = strict(&lab, "all");
    clone.push().success();
    count(&asked);
    clone.commit("missing", &[("web.yaml", &charted(&charts.url(), "9.9.9"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("warning: `shop` waits for chart web 9.9.9"), "{told}");
    assert_eq!(told.matches("fetching").count(), 1, "{told}");
    assert_eq!(count(&asked), 1, "the index");
    assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.2.3"));
}

#[test]
fn a_push_that_waits_for_an_input_is_refused_where_a_check_refuses_pushes() {
    let lab = Lab::new();
    let (charts, _, server, clone) = strict(&lab, "touched");
    clone.push().success();
    server.git(&["config", "hydrate-check.policy.command", "true"]);
    server.git(&["config", "hydrate-check.policy.refuse", "true"]);
    clone.commit("missing", &[("web.yaml", &charted(&charts.url(), "9.9.9"))]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("check `policy`, which refuses pushes, cannot judge what waits for an input"), "{told}");
    assert!(told.contains("`shop` waits for chart web 9.9.9"), "{told}");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    // What the push leaves as it is keeps no other one back.
    server.git(&["config", "--unset", "hydrate-check.policy.refuse"]);
    clone.commit("missing", &[("web.yaml", &charted(&charts.url(), "9.9.9"))]);
    clone.push().success();
    server.git(&["config", "hydrate-check.policy.refuse", "true"]);
    clone.commit("other", &[("NOTES", "text")]);
    clone.push().success();
}

/// An Application of the chart `web` with values of the dry tree.
fn valued(url: &str, version: &str) -> String {
    let sources = format!(
        "sources:\n  - {{repoURL: '{url}', chart: web, targetRevision: {version}, helm: {{valueFiles: [$own/values/web.yaml]}}}}\n  \
         - {{repoURL: {URL}, targetRevision: HEAD, ref: own}}"
    );
    plain("shop", "dev", &sources)
}

#[test]
fn a_later_push_that_changes_what_waits_is_refused_where_a_check_refuses_pushes() {
    let lab = Lab::new();
    let (server, clone, charts) = waiting(&lab);
    // Its render ends before it reads the values.
    clone.commit("values", &[("values/web.yaml", "replicas: 3\n")]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("check `policy`, which refuses pushes, cannot judge what waits for an input"), "{told}");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("another version", &[("web.yaml", &valued(&charts.url(), "9.9.8"))]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("`shop` waits for chart web 9.9.8"), "{told}");
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    clone.commit("notes", &[("NOTES", "text")]);
    clone.push().success();
    assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.2.3"));
}

/// A strict server with a check that refuses what is `bad`, and a branch with an Application that waits and one that does not.
fn waiting(lab: &Lab) -> (Repo, Repo, Liar) {
    let (charts, _, server, clone) = strict(lab, "touched");
    clone.push().success();
    let files = [
        ("web.yaml", valued(&charts.url(), "9.9.9")),
        ("values/web.yaml", "replicas: 2\n".to_owned()),
        ("other.yaml", directory("other", "dev")),
        ("apps/other/dev/config.yaml", config_map("other", "one")),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    clone.commit("an Application that waits", &files);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`shop` waits for chart web 9.9.9"), "{told}");
    lab.program("judge", "#!/bin/sh\nif grep -rn 'value: bad' .; then exit 1; fi\n");
    let command = lab.path("bin/judge").display().to_string();
    server.git(&["config", "hydrate-check.policy.command", &command]);
    server.git(&["config", "hydrate-check.policy.refuse", "true"]);
    (server, clone, charts)
}

#[test]
fn what_comes_beside_an_application_that_waits_is_judged_when_it_is_pushed() {
    let lab = Lab::new();
    let (_server, clone, _charts) = waiting(&lab);
    let file = "apps/other/dev/config.yaml";
    clone.commit("bad", &[(file, &config_map("other", "bad"))]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("error: check `policy`"), "{told}");
    // What a later commit of the push corrects is not reported.
    clone.commit("good", &[(file, &config_map("other", "two"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("check `policy`"), "{told}");
    clone.commit("bad again", &[(file, &config_map("other", "bad"))]);
    clone.push().exits(1);
    clone.git(&["rm", "-q", "-r", "other.yaml", "apps"]);
    clone.commit("gone\n\nHydrate-Allow-Removal: environments/dev", &[]);
    clone.push().success();
}
