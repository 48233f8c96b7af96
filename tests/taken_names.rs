//! A dry branch takes the name of an environment before the environment of another one has it: the push says so, and so does
//! `doctor`, with a cure that works.

use crate::push::{application, config_map, dry, note, note_of, tip};
use crate::support::{Lab, Repo};

const PROD: &str = "environments/prod";

/// A server with `web` in dev, hydrated from `main`.
fn hydrated(lab: &Lab, more: &str) -> (Repo, Repo) {
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev"]);
    clone.push().success();
    server.hydrate(&["config", "add", "dryBranches", more]).success();
    (server, clone)
}

#[test]
fn an_environment_that_another_dry_branch_took_first_comes_back_by_the_way_that_the_push_names() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab, "second");
    let (file, text) = application("web", "prod");
    clone.git(&["checkout", "-q", "-b", "second"]);
    clone.git(&["rm", "-q", "-r", "applications"]);
    let of_second = text.replace("targetRevision: main", "targetRevision: second");
    let source = ("apps/web/prod/config.yaml", config_map("web", "of second"));
    clone.commit("first", &[(&file, &of_second), (source.0, &source.1)]);
    clone.push().success();
    clone.git(&["checkout", "-q", "main"]);
    let mine = clone.commit("prod", &[(&file, &text), ("apps/web/prod/config.yaml", &config_map("web", "of main"))]);
    let heard = clone.push().success().remote().join(" ");
    assert!(heard.contains("error: `environments/prod` is hydrated from `second`, not from `main`"), "{heard}");
    let cure = "to hand it over, push the Applications with `targetRevision: main` to `second` too";
    assert!(heard.contains(cure), "{heard}");
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("`environments/prod` is hydrated from `second`, not from `main`"), "{doctor}");
    assert!(server.hydrate(&["status"]).stdout.contains(cure));
    clone.git(&["checkout", "-q", "second"]);
    clone.commit("give it back", &[(&file, &text)]);
    clone.push().success();
    assert_eq!(note(&server, PROD), note_of(&mine));
    server.hydrate(&["status"]).success();
    server.hydrate(&["verify", PROD]).success();
}

#[test]
fn an_environment_with_the_name_of_a_dry_branch_is_refused_by_name_until_it_has_another() {
    let lab = Lab::new();
    let (server, clone) = hydrated(&lab, PROD);
    clone.git(&["push", "-q", "origin", &format!("main:{PROD}")]);
    let (file, text) = application("web", "prod");
    let source = ("apps/web/prod/config.yaml", config_map("web", "one"));
    clone.commit("prod", &[(&file, &text), (source.0, &source.1)]);
    let heard = clone.push().success().remote().join(" ");
    assert!(heard.contains("`environments/prod` is a dry branch: hydration would overwrite its own source"), "{heard}");
    let doctor = server.hydrate(&["doctor"]).stdout;
    assert!(doctor.contains("`environments/prod` is a dry branch"), "{doctor}");
    // Another name does.
    let text = text.replace("targetBranch: environments/prod", "targetBranch: environments/live");
    let last = clone.commit("another name", &[(&file, &text)]);
    clone.push().success();
    assert_eq!(note(&server, "environments/live"), note_of(&last));
    assert_ne!(tip(&server, PROD), last);
}
