//! The script that sets commit statuses, run by `hydrate.notify` against a stand-in that takes down what it is asked, byte by byte.
//!
//! Reference: the published API documents. Gitea 1.26 and Forgejo 11 `POST /repos/{owner}/{repo}/statuses/{sha}` (CreateStatusOption),
//! GitLab 17 `POST /projects/:id/statuses/:sha`, GitHub 2022-11-28 `POST /repos/{owner}/{repo}/statuses/{sha}`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread::JoinHandle;

use crate::push::{config_map, dry, tip};
use crate::support::Lab;

/// Answers so many requests, and gives their first line, headers that were set on purpose, and body, sorted.
fn platform(count: usize) -> (String, JoinHandle<Vec<String>>) {
    platform_that_answers(&["201 Created"].repeat(count))
}

/// As [`platform`], with these answers.
fn platform_that_answers(answers: &[&'static str]) -> (String, JoinHandle<Vec<String>>) {
    let answers = answers.to_vec();
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let answering = std::thread::spawn(move || {
        // Each is waited for before any is answered: they are sent at once.
        let all: Vec<TcpStream> = answers.iter().map(|_| listener.accept().expect("a connection").0).collect();
        let mut asked: Vec<String> = all.into_iter().zip(answers).map(|(one, answer)| request(one, answer)).collect();
        asked.sort();
        asked
    });
    (address, answering)
}

fn request(mut stream: TcpStream, answer: &str) -> String {
    let mut reader = BufReader::new(stream.try_clone().expect("a handle"));
    let (mut text, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let line = line.trim_end_matches("\r\n");
        match line.split_once(": ") {
            _ if line.is_empty() => break,
            Some(("Content-Length", value)) => length = value.parse().expect("a number"),
            Some(("Host" | "User-Agent", _)) | Some(("Accept", "*/*")) => {}
            _ => text += &format!("{line}\n"),
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
    stream.write_all(answer.as_bytes()).expect("answered");
    text + &String::from_utf8(body).expect("UTF-8")
}

#[test]
#[ignore = "needs curl and jq"]
fn each_environment_has_a_status_on_the_dry_commit() {
    // The platform, the path of its requests, its headers, and how it calls a failure and the name of a status.
    let rows = [
        ("gitea", "/repos/shop/config/statuses/", "Authorization: token secret\n", "failure", "context"),
        (
            "github",
            "/repos/shop/config/statuses/",
            "Authorization: Bearer secret\nAccept: application/vnd.github+json\n",
            "failure",
            "context",
        ),
        ("gitlab", "/projects/shop%2Fconfig/statuses/", "PRIVATE-TOKEN: secret\n", "failed", "name"),
    ];
    for (name, path, headers, failure, key) in rows {
        let lab = Lab::new();
        let server = lab.server();
        let clone = dry(&server, &["web"], &["dev", "prod"]);
        std::fs::write(lab.path("token"), "secret\n").expect("written");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/notify-statuses");
        let (token, script) = (lab.path("token"), script.display().to_string());
        let notify = |address: &str| {
            format!(
                "HYDRATE_PLATFORM={name} HYDRATE_API={address} HYDRATE_REPOSITORY=shop/config HYDRATE_TOKEN_FILE={} \
                 HYDRATE_URL=https://ci.example.com {script}",
                token.display()
            )
        };
        let expected = |dry: &str, state: &str, text: &str, branch: &str| {
            let body = format!(
                r#"{{"state":"{state}","description":"{text}","{key}":"hydrate/environments/{branch}","target_url":"https://ci.example.com"}}"#
            );
            format!("POST {path}{dry} HTTP/1.1\n{headers}Content-Type: application/json\n{body}\n")
        };
        let (address, asked) = platform(2);
        server.git(&["config", "hydrate.notify", &notify(&address)]);
        let told = clone.push().success().stderr;
        assert!(!told.contains("warning: hydrate.notify"), "{told}");
        let dry = tip(&server, "main");
        let done = |branch: &str| {
            let text = format!("hydrated to {}", &tip(&server, &format!("environments/{branch}"))[..7]);
            expected(&dry, "success", &text, branch)
        };
        assert_eq!(asked.join().expect("answered"), [done("dev"), done("prod")], "{name}");
        let (address, asked) = platform(2);
        server.git(&["config", "hydrate.notify", &notify(&address)]);
        let slip = config_map("web", "x") + "  b: [\n";
        let dry = clone.commit("slip", &[("apps/web/dev/config.yaml", &slip)]);
        clone.push().success();
        let asked = asked.join().expect("answered");
        let failed =
            expected(&dry, failure, "", "dev").replace(r#""description":"""#, r#""description":"not valid YAML"#);
        let (head, _) = failed.split_once("not valid YAML").expect("there");
        assert!(asked[0].starts_with(head), "{name}: {}", asked[0]);
        assert_eq!(asked[1], expected(&dry, "success", "unchanged", "prod"), "{name}");
        // What judges nothing new asks for nothing: no platform answers any more.
        let told = clone.run("git", &["push", "origin", "HEAD:topic"]).success().stderr;
        assert!(!told.contains("warning: hydrate.notify"), "{told}");
        let caught_up = server.hydrate(&["catch-up"]).exits(1).stderr;
        assert!(!caught_up.contains("warning: hydrate.notify"), "{caught_up}");
    }
}

#[test]
#[ignore = "needs curl and jq"]
fn a_status_that_the_platform_refuses_keeps_no_other_from_being_set() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    std::fs::write(lab.path("token"), "secret\n").expect("written");
    let (address, asked) = platform_that_answers(&["400 Bad Request", "201 Created"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/notify-statuses");
    let (token, script) = (lab.path("token").display().to_string(), script.display().to_string());
    let variables = "HYDRATE_PLATFORM=gitlab HYDRATE_REPOSITORY=shop/config";
    let command = format!("{variables} HYDRATE_API={address} HYDRATE_TOKEN_FILE={token} {script}");
    server.git(&["config", "hydrate.notify", &command]);
    let told = clone.push().success();
    let asked = asked.join().expect("both were asked for");
    assert!(
        asked[0].contains("hydrate/environments/dev") && asked[1].contains("hydrate/environments/prod"),
        "{asked:?}"
    );
    assert!(told.stderr.contains("warning: hydrate.notify") && told.stderr.contains("400"), "{}", told.stderr);
    // The next run tries that one again.
    let (address, asked) = platform(1);
    let command = format!("{variables} HYDRATE_API={address} HYDRATE_TOKEN_FILE={token} {script}");
    server.git(&["config", "hydrate.notify", &command]);
    clone.run("git", &["push", "origin", "HEAD:topic"]).success();
    assert_eq!(asked.join().expect("answered").len(), 1);
}

#[test]
#[ignore = "needs curl and jq"]
fn the_tip_of_a_merged_pull_request_has_the_statuses_too() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/notify-statuses");
    let asked_at = |address: &str| {
        let command =
            format!("HYDRATE_API={address} HYDRATE_REPOSITORY=shop/config HYDRATE_TOKEN=secret {}", script.display());
        server.git(&["config", "hydrate.notify", &command]);
    };
    let of = |asked: &[String], commit: &str| asked.iter().filter(|one| one.contains(commit)).count();
    let (address, asked) = platform(2);
    asked_at(&address);
    clone.push().success();
    assert_eq!(asked.join().expect("answered").len(), 2);
    clone.git(&["switch", "-q", "-c", "topic"]);
    let slip = config_map("web", "x") + "  b: [\n";
    let head = clone.commit("slip", &[("apps/web/dev/config.yaml", &slip)]);
    clone.git(&["switch", "-q", "main"]);
    clone.git(&["merge", "-q", "--no-ff", "--no-edit", "topic"]);
    let (address, asked) = platform(4);
    asked_at(&address);
    clone.push().success();
    let asked = asked.join().expect("answered");
    assert_eq!((of(&asked, &head), of(&asked, &tip(&server, "main"))), (2, 2), "{asked:?}");
    let failed = |one: &&String| one.contains(&head) && one.contains("\"failure\"");
    assert_eq!(asked.iter().filter(failed).count(), 1, "{asked:?}");
    // A topic branch that merged the dry branch, and is taken as it is: what it merged is not a pull request.
    clone.git(&["switch", "-q", "-c", "other", "HEAD^1"]);
    clone.commit("other", &[("README", "other\n")]);
    clone.git(&["merge", "-q", "--no-edit", "main"]);
    let (address, asked) = platform(2);
    asked_at(&address);
    clone.run("git", &["push", "-q", "origin", "other:main"]).success();
    let asked = asked.join().expect("answered");
    assert_eq!(of(&asked, &tip(&server, "main")), 2, "{asked:?}");
}

#[test]
#[ignore = "needs curl and jq"]
fn a_job_that_hydrates_for_a_host_without_hooks_sets_statuses() {
    let lab = Lab::new();
    let host = lab.bare(&[]);
    let clone = dry(&host, &["web"], &["dev", "prod"]);
    clone.push().success();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/notify-statuses");
    let command = |address: &str| {
        format!("HYDRATE_API={address} HYDRATE_REPOSITORY=shop/config HYDRATE_TOKEN=secret {}", script.display())
    };
    let (address, asked) = platform(2);
    clone.git(&["config", "hydrate.notify", &command(&address)]);
    let said = clone.hydrate(&["push", "--dry-run"]).success().stderr;
    assert!(!said.contains("hydrate.notify"), "{said}");
    let said = clone.hydrate(&["push"]).success().stderr;
    assert!(!said.contains("hydrate.notify"), "{said}");
    assert!(asked.join().expect("answered").iter().all(|one| one.contains("\"success\"")));
    assert_eq!(clone.git(&["status", "--porcelain"]), "");
    // Only news is sent: no platform answers any more.
    let said = clone.hydrate(&["push"]).success().stderr;
    assert!(!said.contains("hydrate.notify"), "{said}");
}

#[test]
#[ignore = "needs curl and jq"]
fn what_was_set_before_the_time_was_over_is_not_set_again_and_the_token_is_left_in_no_file() {
    let lab = Lab::new();
    let server = lab.server();
    let clone = dry(&server, &["web"], &["dev", "prod"]);
    // It answers once, and is silent then.
    let answering = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = format!("http://{}", answering.local_addr().expect("an address"));
    let one = std::thread::spawn(move || {
        let mut asked = Vec::new();
        let mut kept = Vec::new();
        for stream in answering.incoming().take(2) {
            let stream = stream.expect("a connection");
            match asked.is_empty() {
                true => asked.push(request(stream, "201 Created")),
                false => kept.push(stream),
            }
        }
        (asked, kept)
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/notify-statuses");
    let command = |address: &str| {
        format!("HYDRATE_API={address} HYDRATE_REPOSITORY=shop/config HYDRATE_TOKEN=secret-token {}", script.display())
    };
    server.git(&["config", "hydrate.notify", &command(&address)]);
    server.git(&["config", "hydrate.notifyTimeLimit", "2"]);
    let said = clone.push().success().stderr;
    assert!(said.contains("ended after 2 seconds"), "{said}");
    let (asked, kept) = one.join().expect("answered");
    drop(kept);
    assert_eq!(asked.len(), 1);
    let left = server.run("grep", &["-rl", "secret-token", lab.path("").to_str().expect("UTF-8")]).stdout;
    let left: Vec<&str> = left.lines().filter(|file| !file.ends_with("/config")).collect();
    assert_eq!(left, [""; 0]);
    let (address, asked) = platform(1);
    server.git(&["config", "hydrate.notify", &command(&address)]);
    clone.run("git", &["push", "origin", "HEAD:topic"]).success();
    assert_eq!(asked.join().expect("answered").len(), 1);
}
