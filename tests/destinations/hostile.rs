//! What a pusher cannot do by way of destinations.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use super::{beside, committed, destination, lead_to, out, to, told};
use crate::push::{application, config_map, tip};
use crate::support::{Lab, Repo};

#[test]
fn what_somebody_else_pushed_there_is_never_overwritten() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu"), to("web", "prod", "eu")]);
    clone.push().success();
    let other = eu.clone_to("other");
    other.git(&["checkout", "-q", "environments/dev"]);
    let theirs = other.commit("by hand", &[("by-hand.yaml", "kind: X")]);
    other.git(&["push", "-q", "origin", "environments/dev"]);
    clone.commit(
        "two",
        &[
            ("apps/web/dev/config.yaml", &config_map("web", "two")),
            ("apps/web/prod/config.yaml", &config_map("web", "two")),
        ],
    );
    let answer = clone.push().success();
    let said = told(&answer);
    assert_eq!(tip(&eu, "environments/dev"), theirs);
    assert_eq!(tip(&eu, "environments/prod"), out(&server, "eu", "environments/prod"));
    assert!(said.contains(&format!("environments/dev: it has {} there", &theirs[..7])), "{said}");
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("diverged: it has"), "{status}");

    // The line of the hint that goes on from there.
    let path = eu.path.to_str().expect("UTF-8");
    let json: serde_json::Value =
        serde_json::from_str(&server.hydrate(&["catch-up", "--json"]).exits(1).stdout).expect("JSON");
    let hint = json["destinations"][0]["undelivered"][0]["hint"].as_str().expect("a hint");
    let line = format!(
        "git fetch {path} +refs/heads/environments/dev:refs/hydrate/out/eu/environments/dev && git hydrate adopt eu:environments/dev"
    );
    let at = |words: &str| hint.find(words).expect(words);
    assert!(at("another `targetBranch`") < at(&line) && at(&line) < at("to lose what is there"), "{hint}");
    server.run("sh", &["-c", &line]).success();
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    let files = eu.git(&["ls-tree", "-r", "--name-only", "environments/dev"]);
    assert!(files.contains("by-hand.yaml") && files.contains("web/manifest.yaml"), "{files}");
    assert!(eu.git(&["show", "environments/dev:web/manifest.yaml"]).contains("value: two"));

    // And the one that replaces it.
    other.git(&["fetch", "-q"]);
    other.git(&["reset", "-q", "--hard", "origin/environments/dev"]);
    other.commit("by hand again", &[("again.yaml", "kind: X")]);
    other.git(&["push", "-q", "origin", "environments/dev"]);
    let line = format!("git push {path} +refs/hydrate/out/eu/environments/dev:refs/heads/environments/dev");
    let hint = server.hydrate(&["catch-up"]).exits(1).stderr;
    assert!(hint.contains(&line), "{hint}");
    server.run("sh", &["-c", &line]).success();
    server.hydrate(&["catch-up"]).success();
}

#[test]
fn a_url_that_no_admin_named_leads_nowhere() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "us"), application("api", "prod")]);
    let said = told(&clone.push().success());
    assert!(
        said.contains("`syncSource.repoURL` (`https://git.example.com/us.git`) is neither this repository nor one of"),
        "{said}"
    );
    assert!(said.contains("git hydrate config set destinations.NAME https://git.example.com/us.git"), "{said}");
    assert!(server.git(&["for-each-ref", "refs/hydrate/out"]).is_empty());
    // The line of the hint.
    let us = beside(&server, "us");
    server.git(&["init", "-q", "--bare", us.path.to_str().expect("UTF-8")]);
    lead_to(&server, "us", &us);
    assert_eq!(tip(&us, "environments/dev"), out(&server, "us", "environments/dev"));
}

#[test]
fn hostile_urls_run_nothing() {
    let lab = Lab::new();
    let server = lab.server();
    let mark = lab.path("mark");
    let urls = [
        format!("ext::sh -c touch% {}", mark.display()),
        format!("ext::touch%20{}", mark.display()),
        format!("-oProxyCommand=touch${{IFS}}{}", mark.display()),
        format!("ssh://-oProxyCommand=touch {}/x", mark.display()),
        format!("ssh://-oProxyCommand=touch{}/x", mark.display()),
        format!("--upload-pack=touch {}", mark.display()),
        "/srv/git/a\nb.git".to_owned(),
        "fd::0".to_owned(),
        "relative/path.git".to_owned(),
    ];
    for url in &urls {
        let answer = server.hydrate(&["config", "set", "destinations.eu", "--", &format!("{url:?}")]).exits(2);
        assert!(answer.stderr.contains("cannot be a destination"), "{url:?}: {answer:?}");
    }
    // What the machine says of its own is looked at as well.
    destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    for url in &urls {
        server.git(&["config", "hydrate.destination.eu.pushURL", url]);
        clone.commit("again", &[("apps/web/dev/config.yaml", &config_map("web", &format!("v{}", url.len())))]);
        let said = told(&clone.push().success());
        assert!(said.contains("hydrate.destination.eu.pushURL: "), "{url:?}: {said}");
    }
    // A rewritten URL asks for no other protocol.
    server.git(&["config", "--unset", "hydrate.destination.eu.pushURL"]);
    let ext = format!("url.ext::touch% {} %S.insteadOf", mark.display());
    server.git(&["config", &ext, "https://git.example.com/"]);
    clone.commit("once more", &[("apps/web/dev/config.yaml", &config_map("web", "last"))]);
    let said = told(&clone.push().success());
    assert!(said.contains("transport 'ext' not allowed"), "{said}");
    assert!(!mark.exists());
}

#[test]
fn nobody_pushes_what_is_to_be_delivered() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    let before = out(&server, "eu", "environments/dev");
    for refspec in ["+HEAD:refs/hydrate/out/eu/environments/dev", ":refs/hydrate/out/eu/environments/dev"] {
        let answer = clone.run("git", &["push", "origin", refspec]).exits(1);
        assert!(answer.stderr.contains("refs/hydrate/out/eu/environments/dev"), "{answer:?}");
    }
    clone.run("git", &["push", "origin", "HEAD:refs/hydrate/out/us/main"]).exits(1);
    assert_eq!(out(&server, "eu", "environments/dev"), before);
    // Not by a promoter either, and not by hand.
    server.allow("hydrate.promoter");
    clone.run("git", &["push", "origin", "+HEAD:refs/hydrate/out/eu/environments/dev"]).exits(1);
    let head = clone.git(&["rev-parse", "HEAD"]);
    let line = format!("{before} {head} refs/hydrate/out/eu/environments/dev");
    drop(server.receive_pack(&[line], ""));
    assert_eq!(out(&server, "eu", "environments/dev"), before);
}

#[test]
fn credentials_do_not_go_where_a_redirect_leads() {
    let lab = Lab::new();
    let server = lab.server();
    let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
    let redirects = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to_elsewhere = elsewhere.local_addr().expect("bound");
    let first = redirects.local_addr().expect("bound");
    std::thread::spawn(move || {
        for stream in redirects.incoming().flatten() {
            let mut stream = stream;
            drop(stream.read(&mut [0; 4096]));
            let head = format!(
                "HTTP/1.1 301 Moved\r\nLocation: http://{to_elsewhere}/eu.git/info/refs?service=git-receive-pack\r\n"
            );
            drop(stream.write_all(format!("{head}Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes()));
        }
    });
    elsewhere.set_nonblocking(true).expect("set");
    server.hydrate(&["config", "set", "destinations.eu", "https://git.example.com/eu.git"]).success();
    server.git(&["config", "hydrate.destination.eu.pushURL", &format!("http://{first}/eu.git")]);
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    let said = told(&clone.push().success());
    assert!(said.contains("warning: not pushed to `eu`"), "{said}");
    assert!(elsewhere.accept().is_err(), "it was asked");
}

#[test]
fn a_misspelt_repo_url_of_a_sync_source_moves_nothing() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu"), to("api", "dev", "eu"), application("web", "prod")]);
    clone.push().success();
    let branches = |server: &Repo| server.git(&["branch", "--list"]);
    let before = (branches(&server), out(&server, "eu", "environments/dev"));
    let (path, text) = to("web", "dev", "eu");
    for (key, slip) in [
        ("syncSource:\n      repoURL", "syncSource:\n      repoUrl"),
        ("syncSource:\n      repoURL", "syncSource:\n      repoURl"),
    ] {
        let slip = text.replace(key, slip);
        assert_ne!(slip, text);
        clone.commit("slip", &[(&path, &slip)]);
        let said = told(&clone.push().success());
        assert!(said.contains("error: unknown field `repoU") && said.contains("did you mean `repoURL`?"), "{said}");
        assert_eq!((branches(&server), out(&server, "eu", "environments/dev")), before);
    }
    assert_eq!(tip(&eu, "environments/dev"), before.1);
}

#[test]
fn a_repository_is_no_destination_of_its_own() {
    let lab = Lab::new();
    let server = lab.server();
    let path = server.path.to_str().expect("UTF-8").to_owned();
    for url in [path.clone(), format!("file://{path}")] {
        server.hydrate(&["config", "set", "destinations.eu", "https://git.example.com/eu.git"]).success();
        server.git(&["config", "hydrate.destination.eu.pushURL", &url]);
    }
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    let said = told(&clone.push().success());
    assert!(said.contains("is this repository"), "{said}");
}
