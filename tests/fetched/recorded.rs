//! What is recorded of fetched inputs, and how it is withdrawn.

use std::fs;

use super::{begun, charted, fetches, fetching};
use crate::made_applications::{URL, manifest};
use crate::rules::plain;
use crate::support::Lab;
use crate::vendor::{chart, files_of, packed, repository, sha256, vendor};

#[test]
fn what_was_recorded_first_stays_and_a_lock_file_beside_it_must_agree() {
    let lab = Lab::new();
    let (_charts, server, clone) = fetching(&lab);
    clone.push().success();
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);

    // The same files in the tree: nothing differs but what the commit rests on.
    vendor(&clone, &[]).success();
    clone.commit("vendor", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");

    // Its publisher replaced it.
    let mut files = chart("web", "1.2.3");
    files[1].1 = "word: replaced\n".to_owned();
    let archive = packed(&files);
    let index = format!(
        "apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.2.3, urls: [web-1.2.3.tgz], digest: {}}}\n",
        sha256(&archive)
    );
    fs::write(lab.path("charts/web-1.2.3.tgz"), archive).expect("written");
    fs::write(lab.path("charts/index.yaml"), index).expect("written");
    vendor(&clone, &["--update"]).success();
    clone.commit("take the other", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("but its server recorded sha256:"), "{told}");
    clone.git(&["rm", "-r", "-q", ".hydrate"]);
    clone.commit("as it was recorded", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    assert!(manifest(&server, "environments/dev", "shop").contains("word: plain"));
}

#[test]
fn nothing_that_is_pushed_counts_as_recorded() {
    let lab = Lab::new();
    let (_charts, _server, clone) = fetching(&lab);
    clone.push().success();
    let recorded = clone.path.join(".hydrate/recorded");
    fs::create_dir_all(&recorded).expect("made");
    clone.git(&["fetch", "-q", "origin", "refs/hydrate/inputs"]);
    let listing = clone.git(&["ls-tree", "-r", "--name-only", "FETCH_HEAD"]);
    let entry = listing.lines().find(|path| path.ends_with("entry.json")).expect("an entry").to_owned();
    let text = clone.git(&["show", &format!("FETCH_HEAD:{entry}")]);
    let forged = format!("{}\n", text.replace("1.2.3", "9.9.9"));
    clone.commit(
        "forge",
        &[
            (&format!(".hydrate/recorded/{entry}"), &forged),
            ("web.yaml", &charted("https://charts.example.com", "9.9.9")),
        ],
    );
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("chart web 9.9.9 of https://charts.example.com is not in this repository"), "{told}");

    // Nor is what is recorded read by another way than by its name.
    let listing = clone.git(&["ls-tree", "-r", "--name-only", "FETCH_HEAD", "files"]);
    let values = listing.lines().find(|path| path.ends_with("values.yaml")).expect("values").replacen(
        "files",
        ".hydrate/inputs",
        1,
    );
    let source =
        format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: own, helm: {{valueFiles: [/{values}]}}}}");
    clone.git(&["rm", "-r", "-q", ".hydrate"]);
    clone.commit(
        "by its path",
        &[
            ("web.yaml", &plain("shop", "dev", &source)),
            ("own/Chart.yaml", "apiVersion: v2\nname: own\nversion: 0.1.0\n"),
            (
                "own/templates/map.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata: {word: '{{ .Values.word }}'}\n",
            ),
        ],
    );
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("is a file of an input that its reader does not name"), "{told}");
}

#[test]
fn more_than_an_admin_allows_is_not_recorded() {
    for (key, expected) in [
        ("hydrate.fetchLimit", "more than 100 bytes were fetched"),
        ("hydrate.recordLimit", "more than 100 bytes are recorded"),
        ("hydrate.fetch.team.recordLimit", "more than 100 bytes are recorded"),
    ] {
        let lab = Lab::new();
        repository(&lab.path("charts"), &[("web", "1.2.3")]);
        let charts = files_of(lab.path("charts"));
        let (server, clone) = begun(&lab, &charts.url(), "1.2.3");
        fetches(&server, &charts.url());
        server.git(&["config", key, "100"]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(expected) && told.contains(key), "{told}");
        assert_eq!(server.git(&["for-each-ref", "refs/hydrate/inputs"]), "");
    }
}

#[test]
fn what_was_withdrawn_does_not_come_back_by_another_spelling() {
    let lab = Lab::new();
    let (charts, server, clone) = fetching(&lab);
    clone.push().success();
    let name = format!("chart web 1.2.3 of {}", charts.url());
    server.hydrate(&["inputs", "withdraw", &name, "--reason", "it was broken into"]).success();
    let record = || server.git(&["rev-parse", "refs/hydrate/inputs"]);
    let before = record();
    let url = charts.url();
    let rows = [
        (format!("{url}/"), "1.2.3", "was withdrawn from this repository: it was broken into"),
        (url.clone(), "v1.2.3", "which was withdrawn from this repository: it was broken into"),
        (format!("{url}//"), "1.2.3", "was withdrawn from this repository: it was broken into"),
        (format!("{url}?x=1"), "1.2.3", "is not in this repository"),
        (format!("{url}//."), "1.2.3", "is not in this repository"),
        (format!("{url}/%77eb"), "1.2.3", "is not in this repository"),
    ];
    for (url, version, expected) in rows {
        clone.commit("spell", &[("web.yaml", &charted(&url, version).replace("name: shop", "name: shop2"))]);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(expected), "{url} {version}: {told}");
        assert_eq!(record(), before, "{url} {version}");
    }
}

#[test]
fn what_is_withdrawn_is_so_by_all_its_names() {
    let lab = Lab::new();
    let (charts, server, clone) = fetching(&lab);
    clone.push().success();
    clone.commit("v", &[("web.yaml", &charted(&charts.url(), "v1.2.3"))]);
    clone.push().success();
    let [one, other] = ["1.2.3", "v1.2.3"].map(|version| format!("chart web {version} of {}", charts.url()));
    let withdrawn = server.hydrate(&["inputs", "withdraw", &other, "--reason", "bad"]).success();
    assert_eq!(withdrawn.stdout, format!("withdrawn: {one}\nwithdrawn: {other}\n"));
}

#[test]
fn what_is_recorded_is_listed_and_can_be_withdrawn() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let (server, clone) = begun(&lab, &charts.url(), "1.2.3");
    assert_eq!(server.hydrate(&["inputs"]).success().stdout, "nothing is recorded\n");
    fetches(&server, &charts.url());
    clone.push().success();
    let name = format!("chart web 1.2.3 of {}", charts.url());
    let listed = server.hydrate(&["inputs"]).success().stdout;
    assert!(listed.starts_with(&format!("{name}  ")) && listed.contains(" bytes  sha256:"), "{listed}");
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(status.contains(&format!("up to date, last commit: 1 object added\n  uses {name}\n")), "{status}");
    let json = server.hydrate(&["--json", "status"]).success().stdout;
    assert!(json.contains(&format!("\"input\": \"{name}\"")) && json.contains("\"content\": \"sha256:"), "{json}");
    let json = server.hydrate(&["--json", "inputs"]).success().stdout;
    assert!(json.contains("\"format\": 1") && json.contains("\"want\": \"1.2.3\""), "{json}");
    let pushed = clone.run("git", &["push", "origin", "HEAD:refs/hydrate/inputs"]);
    assert_ne!(pushed.code, Some(0), "{pushed:?}");

    assert_eq!(clone.hydrate(&["inputs", "withdraw", &name, "--reason", "x"]).code, Some(2), "not in a clone");
    assert_eq!(server.hydrate(&["inputs", "withdraw", "web", "--reason", "x"]).code, Some(2), "by its whole name");
    let withdrawn = server.hydrate(&["inputs", "withdraw", &name, "--reason", "it was broken into"]).success();
    assert_eq!(withdrawn.stdout, format!("withdrawn: {name}\n"));
    assert!(server.hydrate(&["inputs"]).success().stdout.ends_with(": withdrawn: it was broken into\n"));
    let source = format!(
        "source: {{repoURL: '{}', chart: web, targetRevision: 1.2.3, helm: {{valuesObject: {{word: ours}}}}}}",
        charts.url()
    );
    clone.commit("other values", &[("web.yaml", &plain("shop", "dev", &source))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("was withdrawn from this repository: it was broken into"), "{told}");
    assert!(!told.contains("fetching"), "{told}");
    assert!(manifest(&server, "environments/dev", "shop").contains("word: plain"));
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*"]);
    vendor(&clone, &[]).success();
    clone.commit("vendor", &[]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    assert!(manifest(&server, "environments/dev", "shop").contains("word: ours"));
}
