//! Inputs that the server fetches by itself, once: real pushes, servers on loopback.

mod charts;
mod recorded;
mod strict;

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::made_applications::{URL, dry, manifest};
use crate::push::tip;
use crate::rules::{BY_LABEL, plain, rule};
use crate::servers::{Certificates, Liar, Nginx, git_server, respond};
use crate::support::{Answer, Lab, Repo};
use crate::vendor::{BASE, chart, files_of, packed, repository, sha256, upstream, with_password};

/// A rule of a server: what it may fetch, for `main`.
fn fetches(server: &Repo, url: &str) {
    server.git(&["config", "hydrate.allowUnconfined", "true"]);
    server.git(&["config", "--add", "hydrate.fetch.team.url", url]);
    server.git(&["config", "hydrate.fetch.team.branches", "main"]);
}

fn charted(url: &str, version: &str) -> String {
    let source = format!("source: {{repoURL: '{url}', chart: web, targetRevision: {version}}}");
    plain("shop", "dev", &source)
}

/// A server with the usual rules for Applications, and a clone of it with an Application of a chart.
fn begun(lab: &Lab, url: &str, version: &str) -> (Repo, Repo) {
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    let clone = dry(&server, &[("web.yaml", &charted(url, version))]);
    (server, clone)
}

/// Charts with `web` 1.2.3, a server that may fetch them, and a clone with an Application of that chart.
fn fetching(lab: &Lab) -> (Liar, Repo, Repo) {
    repository(&lab.path("charts"), &[("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let (server, clone) = begun(lab, &charts.url(), "1.2.3");
    fetches(&server, &charts.url());
    (charts, server, clone)
}

fn message(server: &Repo, branch: &str) -> String {
    server.git(&["log", "-1", "--format=%B", branch])
}

#[test]
fn a_bump_of_a_version_deploys_without_vendor() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.3.0"), ("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let (server, clone) = begun(&lab, &charts.url(), "1.2.3");
    fetches(&server, &charts.url());
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("fetching chart web 1.2.3 of") && !told.contains("error"), "{told}");
    let dev = "environments/dev";
    assert!(manifest(&server, dev, "shop").contains("version: 1.2.3"));
    assert!(message(&server, dev).contains("Hydrate-Inputs: "));
    assert_eq!(clone.git(&["ls-tree", "--name-only", "HEAD"]), "web.yaml", "nothing comes into the dry tree");

    let first = tip(&server, dev);
    clone.commit("bump", &[("web.yaml", &charted(&charts.url(), "1.3.0"))]);
    clone.push().success();
    assert!(manifest(&server, dev, "shop").contains("version: 1.3.0"));
    let messages = server.git(&["log", "-2", "--format=%(trailers:key=Hydrate-Inputs)", dev]);
    assert_ne!(messages.lines().next(), messages.lines().last(), "other inputs, another tree");

    // Nothing is asked for again, and nothing is needed to make it again.
    drop(charts);
    clone.commit("back", &[("web.yaml", &server.git(&["show", "main~1:web.yaml"]))]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("fetching") && !told.contains("error"), "{told}");
    assert_eq!(
        server.git(&["rev-parse", &format!("{first}:shop/manifest.yaml")]),
        server.git(&["rev-parse", &format!("{dev}:shop/manifest.yaml")])
    );
    let verified = server.hydrate(&["verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    server.git(&["fsck", "--strict"]);
}

#[test]
fn a_clone_makes_the_commits_of_the_server() {
    let lab = Lab::new();
    let (charts, server, clone) = fetching(&lab);
    clone.push().success();
    drop(charts);
    let other = server.clone_to("other");
    other.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*", "+refs/notes/*:refs/notes/*"]);
    let verified = other.hydrate(&["verify", "--offline"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    other.git(&["update-ref", "-d", "refs/remotes/origin/environments/dev"]);
    other.hydrate(&["--offline"]).success();
    let made = other.git(&["rev-parse", "refs/remotes/hydrate/environments/dev"]);
    assert_eq!(made, tip(&server, "environments/dev"));
}

#[test]
fn without_a_rule_that_leads_there_the_input_is_a_mistake() {
    let rows = [
        ("no rule", None, "main", "1.2.3"),
        ("another path", Some("/team"), "main", "1.2.3"),
        ("another branch", Some(""), "release/*", "1.2.3"),
        ("a range", Some(""), "main", "~1.2.0"),
    ];
    for (name, path, branches, version) in rows {
        let lab = Lab::new();
        repository(&lab.path("charts"), &[("web", "1.2.3")]);
        let charts = files_of(lab.path("charts"));
        let (server, clone) = begun(&lab, &charts.url(), version);
        if let Some(path) = path {
            fetches(&server, &format!("{}{path}", charts.url()));
            server.git(&["config", "hydrate.fetch.team.branches", branches]);
        }
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains("is not in this repository") && told.contains("git hydrate vendor"), "{name}: {told}");
        assert!(!told.contains("fetching"), "{name}: {told}");
        assert_eq!(server.git(&["for-each-ref", "refs/hydrate/inputs"]), "", "{name}");
    }
}

#[test]
fn a_branch_waits_for_what_is_not_to_be_had_and_others_go_on() {
    let lab = Lab::new();
    let is_up = Arc::new(AtomicUsize::new(0));
    repository(&lab.path("charts"), &[("web", "1.2.3")]);
    let (root, up) = (lab.path("charts"), is_up.clone());
    let charts = Liar::start(move |request, stream| {
        let file = fs::read(root.join(request.path.trim_start_matches('/')));
        match file.ok().filter(|_| up.load(Ordering::Relaxed) > 0) {
            Some(body) => respond(stream, "200 OK", "", &body),
            None => respond(stream, "503 Service Unavailable", "", b""),
        }
    });
    let (server, clone) = begun(&lab, &charts.url(), "1.2.3");
    server.hydrate(&["config", "set", "onFailure", "application"]).success();
    fetches(&server, &charts.url());
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    let here = format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: plain}}");
    let [beside, prod] =
        [("beside", "dev"), ("plain", "prod")].map(|(name, environment)| plain(name, environment, &here));
    clone.commit("more", &[("plain/map.yaml", object), ("beside.yaml", &beside), ("prod.yaml", &prod)]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("`shop` waits for chart web 1.2.3 of") && told.contains("503"), "{told}");
    assert!(manifest(&server, "environments/prod", "plain").contains("name: plain"));
    assert_eq!(
        server.git(&["for-each-ref", "refs/heads/environments/dev"]),
        "",
        "no Application goes without the other"
    );
    let failures = server.git(&["for-each-ref", "refs/hydrate/failures"]);
    assert_eq!(failures, "", "nothing is wrong with the dry commit");

    // For a minute no push asks again; an admin may.
    clone.commit("another", &[("plain/map.yaml", &object.replace("plain", "other"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(!told.contains("fetching"), "{told}");
    assert!(manifest(&server, "environments/prod", "plain").contains("name: other"));
    is_up.store(1, Ordering::Relaxed);
    let caught_up = server.hydrate(&["catch-up"]);
    assert_eq!(caught_up.code, Some(0), "{caught_up:?}");
    assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.2.3"));
    assert!(manifest(&server, "environments/dev", "beside").contains("name: other"));
    assert_eq!(server.hydrate(&["verify"]).code, Some(0));
}

#[test]
fn a_server_that_lies_gives_nothing() {
    let archive = packed(&chart("web", "1.2.3"));
    let index = |line: &str| format!("apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.2.3, {line}}}\n");
    let rows: Vec<(&str, String, &str)> = vec![
        ("another host", index("urls: ['http://localhost:1/web.tgz']"), "http://localhost:1/web.tgz is not asked"),
        (
            "beside the rule",
            index("urls: [../secret/web.tgz]"),
            "is not asked: no `url` or `also` of the rule leads there",
        ),
        ("hidden in a path", index("urls: ['%2e%2e/secret/web.tgz']"), "is not asked"),
        (
            "a digest that is not the file's",
            index(&format!("urls: [web.tgz], digest: {}", "f".repeat(64))),
            "the file has sha256:",
        ),
        ("no chart of the name", "apiVersion: v1\nentries: {}\n".to_owned(), "waits for chart web 1.2.3"),
        ("a redirect", index("urls: [away.tgz]"), "http://169.254.169.254/ is not asked"),
    ];
    for (name, index, expected) in rows {
        let lab = Lab::new();
        let (archive, asked) = (archive.clone(), Arc::new(Mutex::new(Vec::new())));
        let paths = asked.clone();
        let charts = Liar::start(move |request, stream| {
            paths.lock().expect("one at a time").push(request.path.clone());
            match request.path.as_str() {
                "/team/index.yaml" => respond(stream, "200 OK", "", index.as_bytes()),
                "/team/away.tgz" => respond(stream, "302 Found", "Location: http://169.254.169.254/\r\n", b""),
                _ => respond(stream, "200 OK", "", &archive),
            }
        });
        let url = format!("{}/team", charts.url());
        let (server, clone) = begun(&lab, &url, "1.2.3");
        fetches(&server, &url);
        let told = clone.push().success().remote().join("\n");
        assert!(told.contains(expected), "{name}: {told}");
        let asked = asked.lock().expect("one at a time").join(" ");
        assert!(!asked.contains("secret"), "{name}: {asked}");
        assert_eq!(server.git(&["for-each-ref", "refs/hydrate/inputs", "refs/heads/environments"]), "", "{name}");
    }
}

#[test]
fn git_repositories_at_a_commit_and_remote_bases_are_fetched() {
    let lab = Lab::new();
    let clone = upstream(&lab, BASE);
    let commit = clone.git(&["rev-parse", "HEAD"]);
    let git = git_server(&lab.path("git"));
    let url = format!("{}/upstream.git", git.url());
    let server = lab.server();
    rule(&server, BY_LABEL).success();
    fetches(&server, &url);
    let of_git = format!("source: {{repoURL: '{url}', targetRevision: {commit}, path: base}}");
    let here = format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: web}}");
    let dry = dry(
        &server,
        &[
            ("shop.yaml", &plain("shop", "dev", &of_git)),
            ("web.yaml", &plain("web", "prod", &here)),
            ("web/kustomization.yaml", &format!("namePrefix: web-\nresources: ['{url}//base?ref={commit}']\n")),
        ],
    );
    let told = dry.push().success().remote().join("\n");
    assert!(!told.contains("error"), "{told}");
    for (branch, name, prefix) in [("environments/dev", "shop", ""), ("environments/prod", "web", "web-")] {
        let found = manifest(&server, branch, name);
        assert!(
            found.contains(&format!("name: {prefix}base")) && found.contains(&format!("name: {prefix}shared")),
            "{found}"
        );
    }
    // What the base leads to was fetched too, each directory by itself.
    let listing = server.git(&["ls-tree", "-r", "--name-only", "refs/hydrate/inputs"]);
    assert_eq!(listing.lines().filter(|path| path.ends_with("entry.json")).count(), 2, "{listing}");
    assert!(!listing.contains("big.txt"), "{listing}");

    // A tag may move.
    dry.commit("by a tag", &[("web/kustomization.yaml", &format!("resources: ['{url}//base?ref=v1']\n"))]);
    let told = dry.push().success().remote().join("\n");
    assert!(told.contains("base?ref=v1 is not in this repository") && told.contains("git hydrate vendor"), "{told}");
}

#[test]
fn charts_of_a_registry_are_fetched() {
    let lab = Lab::new();
    let archive = packed(&chart("web", "1.2.3"));
    let digest = sha256(&archive);
    let text = format!(
        "{{\"schemaVersion\": 2, \"config\": {{\"mediaType\": \"application/vnd.cncf.helm.config.v1+json\", \"digest\": \"sha256:{0}\", \
         \"size\": 2}}, \"layers\": [{{\"mediaType\": \"application/vnd.cncf.helm.chart.content.v1.tar+gzip\", \"digest\": \
         \"sha256:{digest}\", \"size\": {1}}}]}}",
        "0".repeat(64),
        archive.len()
    );
    let (own, other) = (format!("sha256:{}", sha256(text.as_bytes())), format!("sha256:{}", "f".repeat(64)));
    // The tag, the digest, and a digest of something else.
    let names = ["1.2.3", &own, &other].map(|name| format!("/v2/charts/web/manifests/{name}"));
    let charts = Liar::start(move |request, stream| {
        let kind = "Content-Type: application/vnd.oci.image.manifest.v1+json\r\n";
        match &request.path {
            path if names.contains(path) => respond(stream, "200 OK", kind, text.as_bytes()),
            path if *path == format!("/v2/charts/web/blobs/sha256:{digest}") => respond(stream, "200 OK", "", &archive),
            _ => respond(stream, "404 Not Found", "", b""),
        }
    });
    let url = format!("oci://127.0.0.1:{}/charts", charts.port);
    let (server, clone) = begun(&lab, &url, "1.2.3");
    fetches(&server, &url);
    server.git(&["config", "hydrate.fetch.team.also", &charts.url()]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("fetching chart web 1.2.3 of oci://") && !told.contains("error"), "{told}");
    assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.2.3"));

    // By its digest, which names one chart for ever: what the registry has by it is compared with it.
    let by_digest = |digest: &str| {
        let source = format!("source: {{repoURL: '{url}/web', path: ., targetRevision: '{digest}'}}");
        plain("shop", "dev", &source)
    };
    clone.commit("by its digest", &[("web.yaml", &by_digest(&own))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains(&format!("fetching chart web {own} of oci://")) && !told.contains("error"), "{told}");
    assert!(server.hydrate(&["inputs"]).success().stdout.contains(&own));
    clone.commit("by another digest", &[("web.yaml", &by_digest(&other))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains(&format!("the registry says {other}, the manifest has {own}")), "{told}");

    // A chart that the registry does not have, and one beside the rule.
    clone.commit("missing", &[("web.yaml", &charted(&url, "9.9.9"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("waits for chart web 9.9.9") && told.contains("not found (404)"), "{told}");
    clone.commit("secret", &[("web.yaml", &charted(&url.replace("/charts", "/secret"), "1.2.3"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("is not in this repository") && !told.contains("fetching"), "{told}");
}

/// nginx behind TLS, with a part for one name and password.
#[test]
#[ignore = "needs nginx and openssl"]
fn a_rule_has_a_password_of_its_own_and_no_other_rule_uses_it() {
    let lab = Lab::new();
    let certificates = Certificates::new(&lab.path("bin"));
    repository(&lab.path("charts"), &[("web", "1.3.0"), ("web", "1.2.3")]);
    let nginx = Nginx::start(&lab.path("bin"), &lab.path("charts"), &certificates, 1);
    let secret = format!("{}/secret", nginx.url);
    let (server, clone) = begun(&lab, &secret, "1.2.3");
    let push = || {
        let mut command = clone.command("git");
        command.args(["push", "-q", "origin", "main"]).env("SSL_CERT_FILE", &certificates.authority);
        Answer::new(command.output().expect("runs")).success().remote().join("\n")
    };
    // The account's own helper knows it too, and is not asked.
    with_password(&lab, &server);
    fetches(&server, &secret);
    let told = push();
    assert!(told.contains("waits for chart web 1.2.3") && told.contains("401"), "{told}");
    let site = nginx.url.replace("https://", "https://user:word@");
    fs::write(lab.path("passwords"), format!("{site}\n")).expect("written");
    server.git(&["config", "hydrate.fetch.team.credentials", lab.path("passwords").to_str().expect("UTF-8")]);
    fs::remove_file(server.path.join("hydrate.missed")).expect("there");
    clone.commit("again", &[("note.txt", "x\n")]);
    let told = push();
    assert!(!told.contains("error"), "{told}");
    assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.2.3"));
    assert_eq!(fs::read_to_string(lab.path("passwords")).expect("there"), format!("{site}\n"), "nothing is kept there");

    // Another rule for the same host has none.
    server.git(&["config", "hydrate.fetch.team.url", &format!("{}/elsewhere", nginx.url)]);
    server.git(&["config", "hydrate.fetch.open.url", &nginx.url]);
    server.git(&["config", "hydrate.fetch.open.branches", "main"]);
    clone.commit("bump", &[("web.yaml", &charted(&secret, "1.3.0"))]);
    let told = push();
    assert!(told.contains("waits for chart web 1.3.0") && told.contains("401"), "{told}");
    let everything = server.git(&["log", "--all", "-p", "--format=%B"]);
    assert!(!everything.contains("user:word") && !told.contains("word@"), "{told}");
}

/// With the cache or without it the commits are the same.
#[test]
fn commits_do_not_depend_on_what_is_remembered() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.3.0"), ("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let (server, clone) = begun(&lab, &charts.url(), "1.2.3");
    fetches(&server, &charts.url());
    let other = server.copy_to("other.git");
    other.git(&["config", "hydrate.cache", "false"]);
    let both = |what: &str| {
        clone.push().success();
        clone.git(&["push", "-q", other.path.to_str().expect("UTF-8"), "main"]);
        assert_eq!(tip(&server, "environments/dev"), tip(&other, "environments/dev"), "{what}");
    };
    both("one chart");
    let second = charted(&charts.url(), "1.3.0").replace("name: shop,", "name: second,");
    clone.commit("a second", &[("second.yaml", &second)]);
    both("a second chart beside it");
    clone.commit(
        "plain",
        &[
            (
                "second.yaml",
                &plain("second", "dev", &format!("source: {{repoURL: {URL}, targetRevision: HEAD, path: plain}}")),
            ),
            ("plain/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n"),
        ],
    );
    both("the second needs nothing any more");
    clone.commit("other words", &[("plain/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")]);
    both("the first one is not touched");
    assert!(message(&server, "environments/dev").contains("Hydrate-Inputs"));
}

#[test]
fn strict_mode_refuses_what_no_rule_leads_to() {
    let lab = Lab::new();
    let (_charts, server, clone) = fetching(&lab);
    server.git(&["config", "hydrate.strict", "all"]);
    clone.push().success();
    assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.2.3"));
    clone.commit("elsewhere", &[("web.yaml", &charted("https://charts.example.com", "1.2.3"))]);
    let told = clone.push().exits(1).remote().join("\n");
    assert!(told.contains("is not in this repository"), "{told}");
}

/// Nothing changed but what the server may do, so only a retry finds that out.
#[test]
fn a_retry_fetches_what_a_rule_allows_since() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let (server, clone) = begun(&lab, &charts.url(), "1.2.3");
    server.git(&["config", "hydrate.allowUnconfined", "true"]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("is not in this repository"), "{told}");
    fetches(&server, &charts.url());
    let caught_up = server.hydrate(&["catch-up", "--retry"]).success();
    assert!(caught_up.stderr.contains("fetching chart web 1.2.3"), "{caught_up:?}");
    assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.2.3"));
    assert_eq!(server.hydrate(&["verify"]).code, Some(0));
    let status = server.hydrate(&["status"]).success();
    assert!(!status.stdout.contains("fail"), "{status:?}");
}

/// A command that looks at the dry tree sees what the server would.
#[test]
fn commands_about_a_dry_commit_see_what_is_recorded() {
    let lab = Lab::new();
    let (charts, server, clone) = fetching(&lab);
    clone.push().success();
    drop(charts);
    clone.git(&["fetch", "-q", "origin", "+refs/hydrate/*:refs/hydrate/*", "+refs/notes/*:refs/notes/*"]);
    clone.git(&["fetch", "-q", "origin"]);
    for repo in [&server, &clone] {
        repo.hydrate(&["check", "main"]).success();
        let rendered = repo.hydrate(&["render", "shop", "--rev", "main"]).success().stdout;
        assert!(rendered.contains("version: 1.2.3"), "{rendered}");
        let explained = repo.hydrate(&["explain", "ConfigMap/shop-web"]);
        assert!(explained.stdout.contains("shop"), "{explained:?}");
    }
    clone.commit("plain", &[("note.txt", "nothing\n")]);
    let told = clone.hydrate(&["--offline", "diff"]);
    assert!(!told.stdout.contains("is not in this repository"), "{told:?}");
}

#[test]
fn the_doctor_says_which_rules_are_whole() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let (server, clone) = begun(&lab, &charts.url(), "1.2.3");
    let doctor = |expected: &str| {
        let told = server.hydrate(&["doctor"]).stdout;
        assert!(told.contains(expected), "{expected}: {told}");
    };
    server.git(&["config", "hydrate.fetch.team.branches", "main"]);
    doctor("hydrate.fetch.team fetches nothing: it has no `url`");
    server.git(&["config", "hydrate.fetch.team.url", "ssh://git@h/r"]);
    doctor("hydrate.fetch.team.url is ssh://git@h/r, which is neither https, http nor oci");
    server.git(&["config", "--unset", "hydrate.fetch.team.branches"]);
    doctor("hydrate.fetch.team fetches nothing: `branches` has no patterns of dry branches");
    server.git(&["config", "--unset", "hydrate.fetch.team.url"]);
    fetches(&server, &charts.url());
    server.git(&["config", "hydrate.fetch.team.credentials", "none"]);
    doctor("which is not a file");
    server.git(&["config", "--unset", "hydrate.fetch.team.credentials"]);
    server.git(&["config", "hydrate.fetch.team.branch", "main"]);
    doctor("hydrate.fetch.team.branch");
    server.git(&["config", "--unset", "hydrate.fetch.team.branch"]);
    clone.push().success();
    doctor("hydrate.fetch.team fetches for main");
    doctor("1 input is recorded, 1 KiB in all; 0 withdrawn");

    // Elsewhere than in the usual directory nothing is found, so nothing is asked for.
    server.hydrate(&["config", "set", "vendorDirectory", "third_party"]).exits(1);
    doctor("nothing is fetched: the setting `vendorDirectory` names another directory");
    clone.commit("another", &[("other.yaml", &charted(&charts.url(), "1.3.0").replace("name: shop,", "name: other,"))]);
    let told = clone.push().success().remote().join("\n");
    assert!(told.contains("is not in this repository") && !told.contains("fetching"), "{told}");
}

/// The hook of a clone knows where the server fetches from, and what it has not fetched yet stops no push.
#[test]
fn the_pre_push_hook_lets_a_bump_go() {
    let lab = Lab::new();
    repository(&lab.path("charts"), &[("web", "1.3.0"), ("web", "1.2.3")]);
    let charts = files_of(lab.path("charts"));
    let (server, clone) = begun(&lab, &charts.url(), "1.2.3");
    fetches(&server, &charts.url());
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    clone.commit("bump", &[("web.yaml", &charted(&charts.url(), "1.3.0"))]);
    let pushed = clone.push().success();
    assert!(pushed.stderr.contains("waits for chart web 1.3.0"), "{pushed:?}");
    assert!(
        pushed.stderr.contains("note: 1 environment waits for what the server fetches after the push"),
        "{pushed:?}"
    );
    assert!(manifest(&server, "environments/dev", "shop").contains("version: 1.3.0"));

    // A range is a mistake here as there.
    clone.git(&["fetch", "-q"]);
    clone.commit("a range", &[("web.yaml", &charted(&charts.url(), "~1.2.0"))]);
    let pushed = clone.push().exits(1);
    assert!(pushed.stderr.contains("git hydrate vendor"), "{pushed:?}");
}

/// Whichever process renders, it finds what is recorded.
#[test]
fn what_is_recorded_is_rendered_in_processes_of_their_own() {
    let lab = Lab::new();
    let (_charts, server, clone) = fetching(&lab);
    clone.push().success();
    let made = tip(&server, "environments/dev");
    let again = server.copy_to("again.git");
    again.git(&["update-ref", "-d", "refs/heads/environments/dev"]);
    for name in ["refs/hydrate/branches", "refs/notes/hydrator.metadata"] {
        again.git(&["update-ref", "-d", name]);
    }
    let answer = again
        .command(crate::support::BINARY)
        .args(["catch-up"])
        .env("GIT_HYDRATE_ISOLATION", "apart")
        .output()
        .expect("runs");
    assert!(answer.status.success(), "{answer:?}");
    assert_eq!(tip(&again, "environments/dev"), made);
}
