//! Branches of tags and ranges beside what else there is: real pushes.

use std::fs;

use super::{DEV, FILE, PROD, SETTINGS, dry, exists, following, head, push, resolved, tag, trailers, value};
use crate::destinations::destination;
use crate::made_applications::manifest;
use crate::push::{application, both, config_map, healthy, tip, verified};
use crate::rules::{BY_LABEL, plain, rule};
use crate::support::{Lab, Repo};

/// What a pusher read, on one line.
fn said_to(clone: &Repo, args: &[&str]) -> String {
    push(clone, args).remote().join("\n")
}

#[test]
fn a_diff_shows_what_a_tag_would_bring_that_another_environment_shows() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "prod");
    tag(&clone, "prod", "HEAD");
    push(&clone, &["main"]);
    let args = ["diff", "--from", "dev", "--to", "prod"];
    let said = clone.hydrate(&args).exits(2).stderr;
    assert!(said.contains(&format!("`{PROD}` shows the dry commit that `{DEV}` shows: ")), "{said}");
    let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    let before = tip(&server, PROD);
    let shown = clone.hydrate(&args).exits(1).stdout;
    assert!(shown.starts_with(&format!("{PROD}  1 object changed in 1 of 1 Applications\n")), "{shown}");
    assert!(shown.contains("two") && !shown.contains(DEV), "{shown}");
    assert_eq!((tip(&server, PROD), clone.git(&["tag", "--points-at", "HEAD"])), (before, String::new()));
    // The tag does what was shown.
    tag(&clone, "prod", &two);
    assert_eq!(value(&server, PROD), "two");
    // A range has a tag to move once one is in it.
    let follow = |revision: &str| {
        let (file, text) = following("web", "prod", revision);
        clone.commit(revision, &[(&file, &text), (FILE, &config_map("web", revision))]);
        push(&clone, &["main"]);
    };
    follow("~1.4");
    let said = clone.hydrate(&args).exits(2).stderr;
    assert!(said.contains("no tag is in the range `~1.4` yet\nhint: git tag"), "{said}");
    tag(&clone, "v1.4.0", &two);
    let shown = clone.hydrate(&args).exits(1).stdout;
    assert!(shown.contains("~1.4"), "{shown}");
    follow(&two);
    let said = clone.hydrate(&args).exits(2).stderr;
    let text = format!(
        "shows the commit that its Applications name\nhint: to promote what `{DEV}` shows, write {}",
        head(&clone)
    );
    assert!(said.contains(&text), "{said}");
    verified(&server);
}

#[test]
fn status_says_what_is_followed_and_what_is_ahead() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "~1.4");
    let one = head(&clone);
    tag(&clone, "v1.4.0", &one);
    push(&clone, &["main"]);
    let line = || {
        let status = server.hydrate(&["status"]).success().stdout;
        let line = status.lines().find(|line| line.starts_with(PROD)).map(str::to_owned);
        line.expect("a line of production")
    };
    let short = &one[..7];
    assert!(line().contains(&format!("{short} of ~1.4 at v1.4.0  up to date, last commit")), "{}", line());
    clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    assert!(line().contains("up to date, main is 1 dry commit ahead"), "{}", line());
    clone.commit("three", &[(FILE, &config_map("web", "three"))]);
    push(&clone, &["main"]);
    tag(&clone, "v1.5.0", "HEAD");
    assert!(line().contains("up to date, main is 2 dry commits ahead, v1.5.0 is newer"), "{}", line());
    let json = server.hydrate(&["status", "--json"]).success().stdout;
    let all: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let branches = all["branches"].as_array().expect("branches");
    let of = |name: &str| branches.iter().find(|branch| branch["branch"] == name).expect("a branch");
    let expected = serde_json::json!({
        "revision": "~1.4", "kind": "range", "shown": "v1.4.0", "newerTag": "v1.5.0", "dryCommitsAhead": 2
    });
    assert_eq!(of(PROD)["follows"], expected);
    assert!(of(DEV)["follows"].is_null() && of(DEV)["dryBranch"] == "main", "{json}");
    // What a hold keeps from it.
    server.hydrate(&["hold", "prod", "--reason", "a fair", "--yes"]).success();
    tag(&clone, "v1.4.1", "HEAD");
    assert!(line().contains("of ~1.4 at v1.4.0  behind: v1.4.1 is there, held at "), "{}", line());
    server.hydrate(&["resume", "prod", "--yes"]).success();
    // A tag, and a commit.
    for (revision, kind) in [("v1.4.0", "tag"), (one.as_str(), "commit")] {
        let (file, text) = following("web", "prod", revision);
        clone.commit(kind, &[(&file, &text)]);
        push(&clone, &["main"]);
        let json = server.hydrate(&["status", "--json"]).success().stdout;
        assert!(json.contains(&format!("\"kind\": \"{kind}\"")) && json.contains(revision), "{json}");
    }
}

#[test]
fn a_push_of_a_tag_shows_what_it_changes_before_it_is_there() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "~1.4");
    tag(&clone, "v1.4.0", "HEAD");
    push(&clone, &["main"]);
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    clone.git(&["tag", "v1.4.1"]);
    // With its commit, in one push.
    let said = push(&clone, &["main", "v1.4.1"]).stderr;
    assert!(said.contains(&format!("{PROD}  1 object changed in 1 of 1 Applications")), "{said}");
    assert_eq!(value(&server, PROD), "two");
    clone.git(&["fetch", "-q"]);
    // One that nothing follows changes nothing, and one that goes is said to lead nowhere.
    clone.git(&["tag", "v1.5.0"]);
    let said = push(&clone, &["v1.5.0"]).stderr;
    assert!(!said.contains("object changed"), "{said}");
    let said = clone.run("git", &["push", "origin", ":refs/tags/v1.4.1"]).exits(1).stderr;
    assert!(said.contains(&format!("the tag `v1.4.1`, which `{PROD}` shows, is gone")), "{said}");
    push(&clone, &["--no-verify", ":refs/tags/v1.4.1"]);
    assert_eq!(value(&server, PROD), "two");
}

#[test]
fn a_random_value_stays_when_the_tag_moves_and_changes_when_it_is_drawn_anew() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "prod");
    server.hydrate(&["config", "set", "nondeterministic", "randAlphaNum"]).success();
    server.hydrate(&["config", "set", "seeds", "new"]).success();
    let (file, text) = following("db", "prod", "prod");
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: '{{ randAlphaNum 24 }}'}\n";
    let chart = "apiVersion: v2\nname: db\nversion: 1.0.0\n";
    let one = clone.commit(
        "db",
        &[
            (&file, &text.replace("path: apps/db/prod", "path: charts/db\n      helm: {releaseName: db}")),
            ("charts/db/Chart.yaml", chart),
            ("charts/db/templates/secret.yaml", secret),
        ],
    );
    tag(&clone, "prod", &one);
    push(&clone, &["main"]);
    let password = || {
        let manifest = server.git(&["show", &format!("{PROD}:db/manifest.yaml")]);
        manifest.lines().find(|line| line.contains("password: ")).map(str::to_owned).expect("a password")
    };
    let before = password();
    let chart = chart.replace("1.0.0", "1.1.0");
    let more = secret.replace("{name: db}", "{name: db, labels: {a: b}}");
    let two = clone.commit("two", &[("charts/db/Chart.yaml", &chart), ("charts/db/templates/secret.yaml", &more)]);
    push(&clone, &["main"]);
    tag(&clone, "prod", &two);
    assert!(server.git(&["show", &format!("{PROD}:db/manifest.yaml")]).contains("a: b"));
    assert_eq!(password(), before);
    tag(&clone, "prod", &one);
    assert_eq!(password(), before);
    verified(&server);
    server.hydrate(&["config", "set", "seeds", "rotate"]).success();
    assert_ne!(password(), before);
    assert_eq!(trailers(&server, PROD).first(), Some(&format!("Hydrate-Dry: {one}")));
    verified(&server);
}

#[test]
fn copies_lead_to_a_branch_that_follows_a_tag() {
    both(|server| {
        server.hydrate(&["config", "set", "applicationsTo", "applications"]).success();
        let clone = dry(server, "prod");
        push(&clone, &["main"]);
        tag(&clone, "prod", "HEAD");
        let copied = || manifest(server, "applications", "applications/argocd/web-prod");
        let copy = copied();
        assert!(copy.contains("targetRevision: environments/prod") && !copy.contains("targetRevision: prod"), "{copy}");
        let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
        push(&clone, &["main"]);
        tag(&clone, "prod", &two);
        assert_eq!((copied(), value(server, PROD).as_str()), (copy, "two"));
        verified(server);
    });
}

#[test]
fn all_sources_of_an_application_are_of_one_tag() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["hydrate", "config", "set", "revisions", "true"]);
    rule(&server, BY_LABEL).success();
    let url = crate::made_applications::URL;
    let sources = |one: &str, other: &str| {
        let values = format!("{{repoURL: {url}, targetRevision: {one}, ref: values}}");
        let chart = "path: charts/web, helm: {valueFiles: [$values/envs/prod.yaml]}";
        plain("web", "prod", &format!("sources: [{values}, {{repoURL: {url}, targetRevision: {other}, {chart}}}]"))
    };
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  value: {{ .Values.word }}\n";
    let clone = server.clone_to("clone");
    clone.commit(
        "one",
        &[
            ("web.yaml", &sources("v1", "v1")),
            ("envs/prod.yaml", "word: one\n"),
            ("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("charts/web/templates/map.yaml", map),
        ],
    );
    push(&clone, &["main"]);
    tag(&clone, "v1", "HEAD");
    assert_eq!(value(&server, PROD), "one");
    let two = clone.commit("two", &[("envs/prod.yaml", "word: two\n")]);
    push(&clone, &["main"]);
    assert_eq!(value(&server, PROD), "one");
    tag(&clone, "v1", &two);
    assert_eq!(value(&server, PROD), "two");
    verified(&server);
    clone.commit("two revisions", &[("web.yaml", &sources("v1", "main"))]);
    let said = said_to(&clone, &["main"]);
    assert!(said.contains("the sources name the repository of `ref: values` at several revisions"), "{said}");
    assert_eq!(value(&server, PROD), "two");
}

#[test]
fn a_range_is_hydrated_to_another_repository() {
    let lab = Lab::new();
    let server = lab.server();
    let there = destination(&server, "deploy");
    server.git(&["hydrate", "config", "set", "revisions", "true"]);
    let (file, text) = following("web", "prod", "~1.4");
    let sync = "    syncSource:\n      repoURL: https://git.example.com/deploy.git\n";
    let text = text.replace("    syncSource:\n", sync);
    let clone = server.clone_to("clone");
    let one = clone.commit("one", &[(&file, &text), (FILE, &config_map("web", "one"))]);
    push(&clone, &["main"]);
    assert!(!exists(&there, PROD));
    tag(&clone, "v1.4.0", &one);
    assert_eq!((value(&there, PROD), trailers(&there, PROD)), ("one".to_owned(), resolved(&one, &one, "v1.4.0")));
    let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    assert_eq!(value(&there, PROD), "one");
    tag(&clone, "v1.4.1", &two);
    assert_eq!(value(&there, PROD), "two");
    verified(&server);
    healthy(&there);
    // Back, by an admin.
    push(&clone, &[":refs/tags/v1.4.1"]);
    assert_eq!(value(&there, PROD), "two");
    server.hydrate(&["resume", "deploy:environments/prod", "--yes"]).success();
    assert_eq!(value(&there, PROD), "one");
    verified(&server);
}

#[test]
fn a_frozen_branch_goes_to_its_tag_when_the_freeze_ends() {
    both(|server| {
        let clone = dry(server, "prod");
        tag(&clone, "prod", "HEAD");
        push(&clone, &["main"]);
        let freeze = "{reason: release week}";
        server.hydrate(&["config", "set", "frozen.environments/prod", freeze]).success();
        let before = tip(server, PROD);
        clone.commit("two", &[(FILE, &config_map("web", "two"))]);
        push(&clone, &["main"]);
        let said = tag(&clone, "prod", "HEAD");
        assert!(said.stderr.contains("frozen: release week"), "{said:?}");
        let three = clone.commit("three", &[(FILE, &config_map("web", "three"))]);
        push(&clone, &["main"]);
        tag(&clone, "prod", &three);
        assert_eq!(tip(server, PROD), before);
        server.hydrate(&["config", "unset", "frozen"]).success();
        assert_eq!(
            (value(server, PROD), trailers(server, PROD)),
            ("three".to_owned(), resolved(&three, &three, "prod"))
        );
        assert_eq!(server.git(&["rev-parse", &format!("{PROD}^")]), before, "one commit, of the last");
        verified(server);
    });
}

#[test]
fn a_paused_application_stays_and_the_tag_moves_the_others() {
    both(|server| {
        server.hydrate(&["config", "set", "onFailure", "application"]).success();
        let clone = dry(server, "prod");
        let (file, text) = application("api", "prod");
        let text = text.replace("targetRevision: main", "targetRevision: prod");
        let one = clone.commit("api", &[(&file, &text), ("apps/api/prod/config.yaml", &config_map("api", "one"))]);
        tag(&clone, "prod", "HEAD");
        push(&clone, &["main"]);
        let (web_file, web) = following("web", "prod", "prod");
        let paused = "  name: web-prod\n  annotations: {git-hydrate/paused: 'true'}\n";
        let files = [(FILE, config_map("web", "two")), ("apps/api/prod/config.yaml", config_map("api", "two"))];
        let web_paused = web.replace("  name: web-prod\n", paused);
        let two = clone.commit("two", &[(&web_file, &web_paused), (FILE, &files[0].1), (files[1].0, &files[1].1)]);
        push(&clone, &["main"]);
        let said = tag(&clone, "prod", &two);
        assert!(said.stderr.contains("web-prod is"), "{said:?}");
        let shown = ["web", "api"].map(|path| server.git(&["show", &format!("{PROD}:{path}/manifest.yaml")]));
        assert!(shown[0].contains("value: one") && shown[1].contains("value: two"), "{shown:?}");
        let metadata = server.git(&["show", &format!("{PROD}:hydrator.metadata")]);
        assert!(metadata.contains(&format!("\"path\": \"web\",\n      \"drySha\": \"{one}\"")), "{metadata}");
        verified(server);
        clone.commit("go on", &[(&web_file, &web)]);
        push(&clone, &["main"]);
        assert_eq!(
            (value(server, PROD).as_str(), trailers(server, PROD)),
            ("two", resolved(&two, &head(&clone), "prod"))
        );
        verified(server);
    });
}

#[test]
fn a_branch_that_is_promoted_by_directory_names_no_tag() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "activePaths.environments/prod", "web"]).success();
    let clone = dry(&server, "prod");
    tag(&clone, "prod", "HEAD");
    let said = said_to(&clone, &["main"]);
    assert!(said.contains(&format!("`prod` is not a branch, and `{PROD}` is promoted")), "{said}");
    assert!(!exists(&server, PROD));
}

#[test]
fn strict_judges_what_a_tag_leads_to_by_what_the_branch_is_held_back_from() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, "~1.4");
    tag(&clone, "v1.4.0", "HEAD");
    push(&clone, &["main"]);
    server.git(&["config", "hydrate.strict", "touched"]);
    server.hydrate(&["hold", "prod", "--reason", "a fair", "--yes"]).success();
    let broken = clone.commit("broken", &[(FILE, crate::strict::BROKEN)]);
    push(&clone, &["main"]);
    clone.git(&["tag", "v1.4.1", &broken]);
    let said = clone.run("git", &["push", "origin", "v1.4.1"]).exits(1);
    assert!(said.stderr.contains("not valid YAML"), "{said:?}");
    // A tag that nothing follows is taken, and so is one of the range that renders.
    push(&clone, &[&format!("{broken}:refs/tags/v1.5.0")]);
    let better = clone.commit("better", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    clone.git(&["tag", "-d", "v1.4.1"]);
    tag(&clone, "v1.4.1", &better);
    assert_eq!(value(&server, PROD), "one");
    server.hydrate(&["resume", "prod", "--yes"]).success();
    assert_eq!(value(&server, PROD), "two");
    // The tag that it shows does not go.
    let said = clone.run("git", &["push", "origin", ":refs/tags/v1.4.1"]).exits(1);
    assert!(said.stderr.contains("is gone, and `v1.4.0` is now the highest"), "{said:?}");
    verified(&server);
}

#[test]
fn a_job_lets_a_range_go_back_and_a_clone_says_who_may() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let settings = lab.path("settings");
    fs::create_dir(&settings).expect("made");
    fs::write(settings.join("settings.yaml"), SETTINGS).expect("written");
    let settings = settings.to_str().expect("UTF-8");
    let job = host.clone_to("job");
    let work = |more: &[&str]| job.hydrate(&[&["push", "--settings", settings], more].concat());
    let clone = host.clone_to("clone");
    let (file, text) = following("web", "prod", "~1.4");
    let one = clone.commit("one", &[(&file, &text), (FILE, &config_map("web", "one"))]);
    tag(&clone, "v1.4.0", &one);
    push(&clone, &["main"]);
    work(&[]).success();
    let two = clone.commit("two", &[(FILE, &config_map("web", "two"))]);
    push(&clone, &["main"]);
    tag(&clone, "v1.4.1", &two);
    let said = work(&["--resume", "prod"]).success();
    assert!(said.stdout.contains("`--resume`: no range keeps `prod` where it is"), "{said:?}");
    assert_eq!(value(&host, PROD), "two");
    push(&clone, &[":refs/tags/v1.4.1"]);
    let said = work(&[]).exits(1);
    assert!(said.stdout.contains(&format!("the tag `v1.4.1`, which `{PROD}` shows, is gone")), "{said:?}");
    assert_eq!(value(&host, PROD), "two");
    work(&["--resume", "prod", "--dry-run"]).success();
    assert_eq!(value(&host, PROD), "two");
    clone.git(&["fetch", "-q"]);
    let said = clone.hydrate(&["resume", "prod", "--yes"]).exits(2).stderr;
    assert!(said.contains("or a job: git hydrate push --resume environments/prod"), "{said}");
    work(&["--resume", "prod"]).success();
    assert_eq!((value(&host, PROD), trailers(&host, PROD)), ("one".to_owned(), resolved(&one, &two, "v1.4.0")));
    assert!(work(&[]).success().stdout.ends_with("origin is up to date\n"));
    clone.git(&["fetch", "-q", "--tags", "--force"]);
    job.hydrate(&["verify"]).success();
}
