//! Other repositories as destinations: real pushes to a server, which pushes on to real repositories.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::push::{application, both, config_map, dry, healthy, note_of, tip, verified};
use crate::support::{Answer, Lab, Repo};

/// The URL of a destination, as Applications have it.
fn url(name: &str) -> String {
    format!("https://git.example.com/{name}.git")
}

/// An empty repository beside a server, which the settings and the git configuration of the server lead to.
pub(crate) fn destination(server: &Repo, name: &str) -> Repo {
    let there = beside(server, name);
    server.git(&["init", "-q", "--bare", there.path.to_str().expect("UTF-8")]);
    lead_to(server, name, &there);
    there
}

fn beside(server: &Repo, name: &str) -> Repo {
    server.beside(&format!("{name}.git"))
}

fn lead_to(server: &Repo, name: &str, there: &Repo) {
    let path = there.path.to_str().expect("UTF-8");
    server.git(&["config", &format!("hydrate.destination.{name}.pushURL"), path]);
    server.hydrate(&["config", "set", &format!("destinations.{name}"), &url(name)]).success();
}

/// An Application that is hydrated to another repository.
fn to(name: &str, env: &str, destination: &str) -> (String, String) {
    let (path, text) = application(name, env);
    let sync = format!("    syncSource:\n      repoURL: {}\n", url(destination));
    (path.replace("applications/", &format!("applications/{destination}/")), text.replace("    syncSource:\n", &sync))
}

/// A clone with Applications, and with what they render.
fn committed(server: &Repo, applications: &[(String, String)]) -> Repo {
    let clone = server.clone_to("clone");
    let mut files = applications.to_vec();
    for name in ["web", "api"] {
        for env in ["dev", "prod"] {
            files.push((format!("apps/{name}/{env}/config.yaml"), config_map(name, env)));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    clone.commit("feat: all applications", &files);
    clone
}

/// The branches and notes of a repository.
fn refs(repo: &Repo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname)"])
}

fn refs_and_ids(repo: &Repo) -> String {
    repo.git(&["for-each-ref"])
}

fn out(server: &Repo, destination: &str, branch: &str) -> String {
    server.git(&["rev-parse", "--verify", &format!("refs/hydrate/out/{destination}/{branch}")])
}

/// What a pusher was told, on one line.
fn told(answer: &Answer) -> String {
    answer.remote().join(" ")
}

#[test]
fn what_is_hydrated_for_another_repository_is_pushed_there() {
    both(|server| {
        let eu = destination(server, "eu");
        let clone = committed(server, &[to("web", "dev", "eu"), application("api", "dev")]);
        let first = clone.git(&["rev-parse", "HEAD"]);
        let said = told(&clone.push().success());
        assert!(said.contains("eu:environments/dev") && said.contains("pushed to `eu`: environments/dev"), "{said}");
        assert_eq!(refs(&eu), "refs/heads/environments/dev\nrefs/notes/hydrator.metadata");
        assert_eq!(tip(&eu, "environments/dev"), out(server, "eu", "environments/dev"));
        let note = |branch: &str| eu.git(&["notes", "--ref=hydrator.metadata", "show", branch]);
        assert_eq!(note("environments/dev"), note_of(&first));
        let message = eu.git(&["log", "-1", "--format=%B", "environments/dev"]);
        assert!(message.contains("Hydrate-Branch: eu:environments/dev\n"), "{message}");
        // The branch of the same name here is another one.
        assert_ne!(tip(server, "environments/dev"), tip(&eu, "environments/dev"));
        let files = |repo: &Repo| repo.git(&["ls-tree", "-r", "--name-only", "environments/dev"]);
        assert!(files(&eu).contains("web/manifest.yaml") && !files(&eu).contains("api/"), "{}", files(&eu));
        assert!(files(server).contains("api/manifest.yaml") && !files(server).contains("web/"), "{}", files(server));

        // Each dry commit has its commit and its note there, in order.
        clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
        let third = clone.commit("web: three", &[("apps/web/dev/config.yaml", &config_map("web", "three"))]);
        let before = tip(&eu, "environments/dev");
        clone.push().success();
        assert_eq!(eu.git(&["rev-list", "--count", &format!("{before}..environments/dev")]), "2");
        assert_eq!(note("environments/dev"), note_of(&third));
        assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 3);

        // A dry commit that changes nothing there moves the note.
        let fourth = clone.commit("docs", &[("README", "text")]);
        let before = tip(&eu, "environments/dev");
        clone.push().success();
        assert_eq!((tip(&eu, "environments/dev"), note("environments/dev")), (before, note_of(&fourth)));
        healthy(&eu);
        verified(server);

        // An Application that leaves goes there too.
        let limit = "Drop web\n\nHydrate-Allow-Removal: eu:environments/dev";
        clone.commit(limit, &[(&to("web", "dev", "eu").0, "")]);
        clone.push().success();
        assert!(!files(&eu).contains("web/manifest.yaml"), "{}", files(&eu));
    });
}

#[test]
fn nothing_changes_for_branches_of_this_repository() {
    let tips = [false, true].map(|with| {
        let lab = Lab::new();
        let server = lab.server();
        server.hydrate(&["config", "set", "profile", "proposal"]).success();
        if with {
            server.git(&["config", "hydrate.destination.eu.pushURL", "/nowhere"]);
        }
        let clone = dry(&server, &["web"], &["dev", "prod"]);
        clone.push().success();
        ["dev", "prod"].map(|env| tip(&server, &format!("environments/{env}")))
    });
    assert_eq!(tips[0], tips[1]);
}

#[test]
fn a_destination_that_is_away_gets_it_later() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let away = eu.path.with_extension("away");
    fs::rename(&eu.path, &away).expect("moved");
    let clone = committed(&server, &[to("web", "dev", "eu"), application("api", "dev")]);
    let said = told(&clone.push().success());
    assert!(said.contains("warning: not pushed to `eu` (https://git.example.com/eu.git): environments/dev:"), "{said}");
    assert!(said.contains("git hydrate catch-up"), "{said}");
    // Everything else went on, and it is made already.
    assert!(tip(&server, "environments/dev") != out(&server, "eu", "environments/dev"));
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert!(status.contains("not pushed to https://git.example.com/eu.git, away: "), "{status}");
    let json: serde_json::Value =
        serde_json::from_str(&server.hydrate(&["status", "--json"]).exits(1).stdout).expect("JSON");
    assert_eq!(json["destinations"][0]["branch"], "eu:environments/dev");
    assert_eq!(
        (&json["destinations"][0]["isDelivered"], &json["destinations"][0]["why"]),
        (&false.into(), &"away".into())
    );
    server.hydrate(&["catch-up"]).exits(1);

    // It is back: a push of anything brings it.
    fs::rename(&away, &eu.path).expect("moved");
    clone.commit("api: two", &[("apps/api/dev/config.yaml", &config_map("api", "two"))]);
    let said = told(&clone.push().success());
    assert!(said.contains("pushed to `eu`: environments/dev") && !said.contains("warning"), "{said}");
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    let status = server.hydrate(&["status"]).success().stdout;
    assert!(status.contains("eu:environments/dev") && !status.contains("not pushed"), "{status}");
}

#[test]
fn catch_up_brings_what_was_made_while_a_destination_was_away() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let away = eu.path.with_extension("away");
    fs::rename(&eu.path, &away).expect("moved");
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    fs::rename(&away, &eu.path).expect("moved");
    let answer = server.hydrate(&["catch-up"]).success();
    assert!(answer.stdout.contains("pushed to `eu`: environments/dev"), "{answer:?}");
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 2);
    let again = server.hydrate(&["catch-up"]).success();
    assert!(!again.stdout.contains("pushed"), "{again:?}");

    // The file of what is known is a saving only; a repository that lost its branches gets them again.
    fs::remove_file(server.path.join("hydrate/out/eu.json")).expect("there");
    eu.git(&["update-ref", "-d", "refs/heads/environments/dev"]);
    clone.commit("docs", &[("README", "text")]);
    clone.push().success();
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
}

#[test]
fn an_admin_says_how_many_branches_one_push_moves() {
    for (limit, expected) in [(None, "2\n"), (Some("1"), "1\n1\n")] {
        let lab = Lab::new();
        let server = lab.server();
        let eu = destination(&server, "eu");
        eu.hook("hooks/post-receive", "#!/bin/sh\ngrep -c refs/heads/ >>pushes\n");
        if let Some(limit) = limit {
            server.git(&["config", "hydrate.destination.eu.refsPerPush", limit]);
        }
        committed(&server, &[to("web", "dev", "eu"), to("web", "prod", "eu")]).push().success();
        assert_eq!(eu.file("pushes").expect("pushed"), expected);
        assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 2);
    }
}

#[test]
fn what_was_not_tried_after_a_destination_went_away_counts_as_missing() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    eu.hook("hooks/pre-receive", "#!/bin/sh\nkill -9 $PPID\n");
    server.git(&["config", "hydrate.destination.eu.refsPerPush", "1"]);
    let clone = committed(&server, &[to("web", "dev", "eu"), to("web", "prod", "eu")]);
    let said = told(&clone.push().success());
    assert!(said.contains("): environments/dev, environments/prod: "), "{said}");
    fs::remove_file(eu.path.join("hooks/pre-receive")).expect("removed");
    // What is missing is known without asking.
    clone.commit("nothing", &[("README.md", "nothing\n")]);
    clone.push().success();
    for branch in ["environments/dev", "environments/prod"] {
        assert_eq!(tip(&eu, branch), out(&server, "eu", branch));
    }
}

#[test]
fn a_destination_that_hangs_is_given_up() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    let asked = lab.path("asked");
    lab.program("hanging-ssh", &format!("#!/bin/sh\necho >>{}\nexec sleep 600\n", asked.display()));
    server.git(&["config", "hydrate.destination.eu.pushURL", "git@git.example.com:eu.git"]);
    server.git(&["config", "hydrate.destination.eu.sshCommand", "hanging-ssh"]);
    server.git(&["config", "hydrate.deliverTimeLimit", "1"]);
    let clone = committed(&server, &[to("web", "dev", "eu"), application("api", "dev")]);
    let said = told(&clone.push().success());
    assert!(said.contains("does not answer in time (hydrate.deliverTimeLimit)"), "{said}");
    tip(&server, "environments/dev");

    // The next push does not wait for it again; who asks for it does.
    let count = || fs::read_to_string(&asked).expect("asked").lines().count();
    assert_eq!(count(), 1);
    clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let said = told(&clone.push().success());
    assert!(said.contains("did not answer in time, and is not asked again for"), "{said}");
    assert!(said.contains("git hydrate catch-up"), "{said}");
    assert_eq!(count(), 1);
    server.hydrate(&["catch-up"]).exits(1);
    assert_eq!(count(), 2);
}

#[test]
fn many_branches_go_in_one_push_without_being_compared_one_by_one() {
    both(|server| {
        let eu = destination(server, "eu");
        eu.hook("hooks/post-receive", "#!/bin/sh\ngrep -c refs/heads/ >>pushes\n");
        let branches = |from: usize, to: usize| (from..to).map(|n| format!("e{n}")).collect::<Vec<String>>();
        let applications = |names: &[String]| -> Vec<(String, String)> {
            let one = |name: &String| {
                let (path, text) = to("web", "dev", "eu");
                let text = text.replace("environments/dev", &format!("environments/{name}"));
                (path.replace("web", &format!("web-{name}")), text.replace("name: web", &format!("name: web-{name}")))
            };
            names.iter().map(one).collect()
        };
        let names = branches(0, 203);
        let clone = committed(server, &applications(&names));
        let said = told(&clone.push().success());
        assert!(said.contains("pushed to `eu`:") && !said.contains("not pushed"), "{said}");
        clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
        clone.push().success();
        assert_eq!(eu.file("pushes").expect("pushed"), "203\n203\n");
        for name in &names {
            let branch = format!("environments/{name}");
            assert_eq!(tip(&eu, &branch), out(server, "eu", &branch), "{branch}");
        }
        assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 406);
        healthy(&eu);
    });
}

#[test]
fn a_destination_that_moves_gets_everything_and_one_that_is_renamed_begins_anew() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    let moved = beside(&server, "moved");
    server.git(&["init", "-q", "--bare", moved.path.to_str().expect("UTF-8")]);
    server.git(&["config", "hydrate.destination.eu.pushURL", moved.path.to_str().expect("UTF-8")]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(tip(&moved, "environments/dev"), out(&server, "eu", "environments/dev"));

    let before = tip(&moved, "environments/dev");
    // While the Application has the old URL, that is an error, and its branch stays.
    server.hydrate(&["config", "unset", "destinations.eu"]).exits(1);
    server.git(&["config", "hydrate.destination.us.pushURL", moved.path.to_str().expect("UTF-8")]);
    server.hydrate(&["config", "set", "destinations.us", &url("us")]).exits(1);
    let (path, text) = to("web", "dev", "us");
    let message = "renamed\n\nHydrate-Allow-Removal: eu:environments/dev";
    clone.commit(message, &[(&to("web", "dev", "eu").0, ""), (&path, &text)]);
    let said = told(&clone.push().success());
    assert!(said.contains("not pushed to `us`") && said.contains("which hydration did not make"), "{said}");
    assert_eq!(tip(&moved, "environments/dev"), before);
}

#[test]
fn doctor_asks_each_destination() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let doctor = || server.hydrate(&["doctor"]).stdout;
    assert!(doctor().contains("good     destination `eu` (https://git.example.com/eu.git) can be read; nothing"));
    committed(&server, &[to("web", "dev", "eu")]).push().success();
    let before = refs(&eu);
    assert!(
        doctor().contains("good     destination `eu` (https://git.example.com/eu.git) can be read and pushed to\n")
    );
    assert_eq!(refs(&eu), before);
    fs::rename(&eu.path, eu.path.with_extension("away")).expect("moved");
    let said = doctor();
    assert!(
        said.contains("bad      destination `eu` (https://git.example.com/eu.git) cannot be pushed to: "),
        "{said}"
    );
    assert!(said.contains("hydrate.destination.eu.pushURL"), "{said}");
}

#[test]
fn a_clone_says_what_it_cannot_see_and_uninstalling_forgets_what_was_pushed() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu"), application("api", "dev")]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    let said = clone.hydrate(&["status"]).success().stdout;
    assert_eq!(said.matches("whether it was pushed there: git hydrate status on the server").count(), 1, "{said}");
    let said = server.hydrate(&["status"]).success().stdout;
    assert!(!said.contains("whether"), "{said}");
    let said = server.hydrate(&["uninstall"]).success().stdout;
    assert!(said.contains("hydrate/out: removed"), "{said}");
    assert!(!server.path.join("hydrate/out").exists());
}

#[test]
fn a_destination_that_refuses_one_branch_gets_the_others() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    eu.hook(
        "hooks/pre-receive",
        "#!/bin/sh\nif grep -q environments/prod; then echo 'prod is protected'; exit 1; fi\n",
    );
    let clone = committed(&server, &[to("web", "dev", "eu"), to("web", "prod", "eu")]);
    let said = told(&clone.push().success());
    assert!(said.contains("pushed to `eu`: environments/dev"), "{said}");
    assert!(said.contains("(https://git.example.com/eu.git): environments/prod:"), "{said}");
    assert!(said.contains("prod is protected") && said.contains("pre-receive hook declined"), "{said}");
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 1);
    let status = server.hydrate(&["status"]).exits(1).stdout;
    assert_eq!(status.matches("refused: ").count(), 1, "{status}");
    fs::remove_file(eu.path.join("hooks/pre-receive")).expect("there");
    server.hydrate(&["catch-up"]).success();
    assert_eq!(tip(&eu, "environments/prod"), out(&server, "eu", "environments/prod"));
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 2);
}

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
fn two_destinations_may_have_a_branch_of_one_name() {
    both(|server| {
        let (eu, us) = (destination(server, "eu"), destination(server, "us"));
        let applications = [to("web", "dev", "eu"), to("web", "dev", "us"), application("web", "dev")];
        let clone = committed(server, &applications);
        let said = told(&clone.push().success());
        assert!(!said.contains("error") && !said.contains("warning"), "{said}");
        let tips = [tip(&eu, "environments/dev"), tip(&us, "environments/dev"), tip(server, "environments/dev")];
        assert!(tips[0] != tips[1] && tips[1] != tips[2] && tips[0] != tips[2], "{tips:?}");
        clone.commit("us goes", &[(&applications[1].0, &applications[1].1.replace("path: web\n", "path: moved\n"))]);
        clone.push().success();
        assert_eq!(tip(&eu, "environments/dev"), tips[0]);
        assert!(us.git(&["ls-tree", "-r", "--name-only", "environments/dev"]).contains("moved/manifest.yaml"));
        // Inside of one they collide as ever.
        let second = to("api", "dev", "eu").1.replace("path: api\n", "path: web\n");
        clone.commit("the same place", &[("applications/second.yaml", &second)]);
        let said = told(&clone.push().success());
        assert!(said.contains("`web` on `eu:environments/dev`"), "{said}");
        verified(server);
    });
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
fn a_rule_leads_to_another_repository() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    let rule = format!("- {{branch: 'env/{{{{ labels.env }}}}', path: '{{{{ name }}}}', repoURL: '{}'}}", url("eu"));
    server.hydrate(&["config", "set", "rules", "--", &rule]).success();
    let source = "source: {repoURL: https://git.example.com/dry.git, targetRevision: HEAD, path: apps/web/dev}";
    let plain = crate::rules::plain("web", "dev", source);
    let clone = committed(&server, &[("applications/web.yaml".to_owned(), plain)]);
    let said = told(&clone.push().success());
    assert!(said.contains("eu:env/dev"), "{said}");
    assert!(eu.git(&["ls-tree", "-r", "--name-only", "env/dev"]).contains("web/manifest.yaml"));
    // A rule leads to no other repository than those that are named.
    let other = rule.replace("/eu.git", "/us.git");
    let answer = server.hydrate(&["config", "set", "rules", "--", &other]).exits(2);
    assert!(answer.stderr.contains("rules.0.repoURL: `https://git.example.com/us.git` is not one of"), "{answer:?}");
}

#[test]
fn copies_lead_to_the_other_repository() {
    let lab = Lab::new();
    let server = lab.server();
    destination(&server, "eu");
    server.hydrate(&["config", "set", "applicationsTo", "argocd"]).success();
    let clone = committed(&server, &[to("web", "dev", "eu"), application("api", "dev")]);
    clone.push().success();
    let copies = server.git(&["ls-tree", "-r", "--name-only", "argocd"]);
    let copy = |name: &str| {
        let path = copies.lines().find(|path| path.contains(name) && path.ends_with("manifest.yaml")).expect("a copy");
        server.git(&["show", &format!("argocd:{path}")])
    };
    let web = copy("web");
    assert!(web.contains("repoURL: https://git.example.com/eu.git") && !web.contains("dry.git"), "{web}");
    assert!(web.ends_with("targetRevision: environments/dev"), "{web}");
    assert!(copy("api").contains("repoURL: https://git.example.com/dry.git"));
}

#[test]
fn a_promoter_works_at_the_destination() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let (path, text) = to("web", "dev", "eu");
    let text = format!("{text}    hydrateTo:\n      targetBranch: environments/dev-next\n");
    let clone = committed(&server, &[(path, text)]);
    clone.push().success();
    assert_eq!(
        refs(&eu),
        "refs/heads/environments/dev\nrefs/heads/environments/dev-next\nrefs/notes/hydrator.metadata"
    );
    let promoter = eu.clone_to("promoter");
    let merge = || {
        promoter.git(&["fetch", "-q"]);
        promoter.git(&["checkout", "-q", "-B", "environments/dev", "origin/environments/dev"]);
        promoter.git(&["merge", "-q", "--no-ff", "-m", "Promote", "origin/environments/dev-next"]);
        promoter.git(&["push", "-q", "origin", "environments/dev"]);
    };
    merge();
    let second = clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let said = told(&clone.push().success());
    assert!(!said.contains("warning"), "{said}");
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "show", "environments/dev-next"]), note_of(&second));
    // What the promoter did there is known here.
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    merge();
    server.hydrate(&["catch-up"]).success();
    assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"));
    assert!(eu.git(&["show", "environments/dev:web/manifest.yaml"]).contains("value: two"));
    server.hydrate(&["status"]).success();
}

#[test]
fn notes_that_others_have_there_stay() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let other = eu.clone_to("other");
    let commit = other.commit("theirs", &[("file", "text")]);
    other.git(&["notes", "--ref=hydrator.metadata", "add", "-m", "theirs", &commit]);
    other.git(&["push", "-q", "origin", "HEAD:main", "refs/notes/hydrator.metadata"]);
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "show", &commit]), "theirs");
    assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), 2);
    assert_eq!(tip(&eu, "main"), commit);
    healthy(&eu);
    healthy(&server);
}

#[test]
fn a_clone_shows_the_commits_that_the_server_makes() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu"), application("web", "dev")]);
    clone.push().success();
    clone.hydrate(&["install", "--client"]).success();
    clone.git(&["fetch", "-q"]);
    let fetched = clone.git(&["for-each-ref", "--format=%(refname)", "refs/hydrate"]);
    assert!(
        fetched.contains("refs/hydrate/branches") && fetched.contains("refs/hydrate/out/eu/environments/dev"),
        "{fetched}"
    );
    clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let plan = clone.hydrate(&["plan"]);
    assert!(plan.stdout.contains("eu:environments/dev"), "{plan:?}");
    let shown = clone.hydrate(&["diff"]);
    assert!(shown.stdout.contains("eu:environments/dev") && shown.stdout.contains("value: two"), "{shown:?}");
    let answer = clone.hydrate(&[]).success();
    assert!(answer.stdout.contains("eu:environments/dev"), "{answer:?}");
    let here = clone.git(&["rev-parse", "refs/remotes/hydrate@eu/environments/dev"]);
    clone.push().success();
    assert_eq!(here, tip(&eu, "environments/dev"));
    // What reads history knows it by its name.
    for repo in [&server, &clone] {
        let log = repo.hydrate(&["log", "eu:environments/dev"]).success().stdout;
        assert!(log.contains("web: two"), "{log}");
        repo.hydrate(&["verify", "eu:environments/dev"]).success();
    }
    let log = clone.hydrate(&["log"]).success().stdout;
    assert!(log.contains("eu:environments/dev"), "{log}");
    for what in [&["ConfigMap/web", "eu:environments/dev"][..], &["eu:environments/dev:web/manifest.yaml:4"]] {
        let why = server.hydrate(&[&["explain"], what].concat()).success();
        assert!(why.stdout.contains("apps/web/dev"), "{why:?}");
    }
    let apps = clone.hydrate(&["apps"]).success().stdout;
    assert!(apps.contains("eu:environments/dev"), "{apps}");
}

#[test]
fn a_frozen_branch_of_a_destination_stays() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu"), application("web", "dev")]);
    clone.push().success();
    let before = [tip(&eu, "environments/dev"), tip(&server, "environments/dev")];
    server.hydrate(&["config", "set", "frozen.eu:environments/dev", "{reason: release}"]).success();
    clone.commit("web: two", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    assert_eq!(tip(&eu, "environments/dev"), before[0]);
    assert_ne!(tip(&server, "environments/dev"), before[1]);
    server.hydrate(&["config", "unset", "frozen"]).success();
    assert_ne!(tip(&eu, "environments/dev"), before[0]);
}

#[test]
fn a_worker_pushes_to_destinations_too() {
    let (hook, worker) = (Lab::new(), Lab::new());
    let server = hook.server();
    let expected = destination(&server, "eu");
    let host = worker.bare(&[]);
    let eu = beside(&host, "eu");
    host.git(&["init", "-q", "--bare", eu.path.to_str().expect("UTF-8")]);
    let settings = worker.path("settings");
    let found = |repo: &Repo| repo.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads"]);
    let mut clones = Vec::new();
    for server in [&server, &host] {
        clones.push(committed(server, &[to("web", "dev", "eu"), application("web", "dev")]));
    }
    let job = |name: &str| {
        let job = host.clone_to(name);
        job.git(&["config", "hydrate.destination.eu.pushURL", eu.path.to_str().expect("UTF-8")]);
        job
    };
    let push = |job: &Repo| job.hydrate(&["push", "--settings", settings.to_str().expect("UTF-8")]);
    for round in 0..3 {
        for clone in &clones {
            let text = config_map("web", &format!("round{round}"));
            clone.set_clock(10 + round);
            clone.commit("web: next", &[("apps/web/dev/config.yaml", &text)]);
            clone.push().success();
        }
        if round == 0 {
            server.hydrate(&["config", "export", settings.to_str().expect("UTF-8")]).success();
        }
        let before = refs_and_ids(&eu);
        let args = ["push", "--dry-run", "--settings", settings.to_str().expect("UTF-8")];
        let rehearsed = job(&format!("dry{round}")).hydrate(&args).success().stdout;
        assert!(rehearsed.contains("would push to `eu`: environments/dev"), "{rehearsed}");
        assert_eq!(refs_and_ids(&eu), before);
        let answer = push(&job(&format!("job{round}"))).success();
        assert!(answer.stdout.contains("pushed to `eu`: environments/dev"), "{answer:?}");
        let trees = |repo: &Repo| repo.git(&["rev-parse", "environments/dev^{tree}"]);
        assert_eq!(trees(&eu), trees(&expected));
        assert_eq!(eu.git(&["notes", "--ref=hydrator.metadata", "list"]).lines().count(), usize::from(round as u8) + 1);
        assert_eq!(out(&host, "eu", "environments/dev"), tip(&eu, "environments/dev"));
    }
    assert_eq!(found(&eu).lines().count(), 1);

    // What anyone may have written on the host of the dry repository does not count.
    let forged = host.git(&["rev-parse", "main"]);
    host.git(&["update-ref", "refs/hydrate/out/eu/environments/dev", &forged]);
    clones[1].commit("web: last", &[("apps/web/dev/config.yaml", &config_map("web", "last"))]);
    clones[1].push().success();
    let before = tip(&eu, "environments/dev");
    push(&job("unforged")).success();
    assert_eq!(eu.git(&["rev-parse", "environments/dev^"]), before);

    // Away: all else is pushed, and the job fails.
    fs::rename(&eu.path, eu.path.with_extension("away")).expect("moved");
    clones[1].commit("web: away", &[("apps/web/dev/config.yaml", &config_map("web", "away"))]);
    clones[1].push().success();
    let here = tip(&host, "environments/dev");
    let answer = push(&job("away")).exits(2);
    assert!(answer.stderr.contains("not pushed to `eu`"), "{answer:?}");
    assert_ne!(tip(&host, "environments/dev"), here);
    fs::rename(eu.path.with_extension("away"), &eu.path).expect("moved");
    push(&job("back")).success();
    assert!(eu.git(&["show", "environments/dev:web/manifest.yaml"]).contains("value: away"));
}

#[test]
fn notes_that_are_none_keep_no_branch_from_a_destination() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    let notes = eu.git(&["rev-parse", NOTES]);
    fs::write(eu.path.join("text"), "text").expect("written");
    let blob = eu.git(&["hash-object", "-w", "text"]);
    let in_the_way = format!("{NOTES}/x");
    for (number, (gone, name)) in [("", NOTES), (NOTES, in_the_way.as_str())].into_iter().enumerate() {
        if !gone.is_empty() {
            eu.git(&["update-ref", "-d", gone]);
        }
        eu.git(&["update-ref", name, &blob]);
        clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", &format!("v{number}")))]);
        let said = told(&clone.push().success());
        assert!(said.contains("pushed to `eu`: environments/dev"), "{name}: {said}");
        assert!(said.contains("warning: not pushed to `eu`") && said.contains(NOTES), "{name}: {said}");
        assert_eq!(tip(&eu, "environments/dev"), out(&server, "eu", "environments/dev"), "{name}");
        server.hydrate(&["status"]).exits(1);
    }
    eu.git(&["update-ref", "-d", &in_the_way]);
    eu.git(&["update-ref", NOTES, &notes]);
    server.hydrate(&["catch-up"]).success();
    let tip = tip(&eu, "environments/dev");
    eu.git(&["notes", "--ref=hydrator.metadata", "show", &tip]);
    server.hydrate(&["status"]).success();
}

const NOTES: &str = "refs/notes/hydrator.metadata";

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
fn the_admins_command_gets_what_became_of_destinations() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    server.git(&["config", "hydrate.notify", "cat >>notices"]);
    let clone = committed(&server, &[to("web", "dev", "eu")]);
    clone.push().success();
    fs::rename(&eu.path, eu.path.with_extension("away")).expect("moved");
    clone.commit("more", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    clone.push().success();
    server.hydrate(&["catch-up"]).exits(1);
    let notices = server.file("notices").expect("there");
    let notices: Vec<serde_json::Value> =
        notices.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(notices[0]["destinations"][0]["delivered"], serde_json::json!(["environments/dev"]));
    for notice in &notices[1..] {
        assert_eq!(notice["destinations"][0]["undelivered"][0]["why"], "away", "{notice}");
    }
    assert_eq!(notices.len(), 3);
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
fn branches_that_are_refused_do_not_take_the_time_of_others() {
    let lab = Lab::new();
    let server = lab.server();
    let eu = destination(&server, "eu");
    // Together they are refused at once; a branch of `dev` alone takes all the time there is.
    eu.hook(
        "hooks/pre-receive",
        "#!/bin/sh\nrefs=$(cat)\ncase $refs in *dev*) ;; *) exit 0 ;; esac\n\
         [ \"$(echo \"$refs\" | wc -l)\" != 1 ] || exec tail -f /dev/null\nexit 1\n",
    );
    server.git(&["config", "hydrate.deliverTimeLimit", "2"]);
    let names = ["dev0", "dev1", "prod"];
    let mut files: Vec<(String, String)> = names.iter().map(|env| to("web", env, "eu")).collect();
    files.extend(names.iter().map(|env| (format!("apps/web/{env}/config.yaml"), config_map("web", env))));
    let clone = committed(&server, &files);
    clone.push().success();
    // Three turns; more where this machine is too slow for one.
    let is_there =
        || eu.run("git", &["rev-parse", "--verify", "--quiet", "refs/heads/environments/prod"]).code == Some(0);
    for _ in 0..30 {
        if is_there() {
            break;
        }
        server.hydrate(&["catch-up"]).exits(1);
    }
    assert_eq!(tip(&eu, "environments/prod"), out(&server, "eu", "environments/prod"));

    // From then on those that are refused are apart from the others.
    server.git(&["config", "hydrate.deliverTimeLimit", "60"]);
    eu.hook(
        "hooks/pre-receive",
        "#!/bin/sh\nrefs=$(cat)\necho \"$refs\n\" >>asked-now\ncase $refs in *dev*) exit 1 ;; esac\n",
    );
    for number in ["one", "two"] {
        drop(fs::remove_file(eu.path.join("asked-now")));
        let edits: Vec<(String, String)> =
            names.iter().map(|env| (format!("apps/web/{env}/config.yaml"), config_map("web", number))).collect();
        let edits: Vec<(&str, &str)> = edits.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        clone.commit(number, &edits);
        clone.push().success();
        // It hung, so that the push did not ask it.
        server.hydrate(&["catch-up"]).exits(1);
        let asked = eu.file("asked-now").expect("asked");
        let first = asked.split("\n\n").next().expect("a first push");
        assert!(first.contains("environments/prod") && !first.contains("dev"), "{asked}");
        assert_eq!(tip(&eu, "environments/prod"), out(&server, "eu", "environments/prod"));
    }
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
