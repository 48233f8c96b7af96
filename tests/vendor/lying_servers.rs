//! Chart repositories that do what no server should: a row a lie.

use std::fs;

use super::liars::{Reply, bomb, linked};
use super::{chart, kustomized, packed, sha256, vendor};
use crate::servers::Liar;
use crate::support::Lab;

/// A repository: what its index is, and what it sends for every other path.
struct Row {
    name: &'static str,
    index: Reply,
    file: Reply,
    /// What `vendor` says; empty where it takes the chart.
    expected: &'static str,
}

/// An index with one chart.
fn index(url: &str, digest: &str) -> Reply {
    Reply::text(format!(
        "apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.2.3, urls: ['{url}'], digest: '{digest}'}}\n"
    ))
}

/// Lies of the index.
fn of_the_index() -> Vec<Row> {
    let good = packed(&chart("web", "1.2.3"));
    let other = packed(&chart("lib", "1.2.3"));
    let row = |name, index, file: &[u8], expected| Row { name, index, file: Reply::Body(file.to_vec()), expected };
    let to = |name, url, expected| row(name, index(url, ""), b"", expected);
    let twice =
        "apiVersion: v1\nentries:\n  web:\n  - {version: 1.2.3, urls: [a.tgz]}\n  - {version: 1.2.3, urls: [b.tgz]}\n";
    vec![
        to("plain-metadata", "http://169.254.169.254/latest", "is not fetched without TLS"),
        to("metadata", "https://169.254.169.254/latest", "has the link-local address 169.254.169.254: refused"),
        to("private", "https://10.0.0.1/x", "has the private address 10.0.0.1: refused"),
        to("mapped", "https://[::ffff:169.254.1.1]/x", "has the link-local address"),
        to("decimal", "https://2852039166/x", "has the link-local address 169.254.169.254: refused"),
        to("name", "https://localhost/x", "localhost has the loopback address"),
        to("file", "file:///etc/passwd", "scheme `file` is not supported"),
        to("user", "https://a:b@example.invalid/x", "has a user, or no host"),
        row("digest", index("web.tgz", &"0".repeat(64)), &good, "refused (to take the file: --accept sha256:"),
        row("bad-digest", index("web.tgz", "sha256:xyz"), &good, "in its index is not valid"),
        // Helm's cache would give this archive to all who ask for the other one.
        row("another", index("lib.tgz", &sha256(&good)), &other, "refused (to take the file: --accept sha256:"),
        row("twice", Reply::text(twice), &good, "it lists 1.2.3 twice, with different archives"),
        row("html", Reply::text("<html>"), &good, "its index cannot be read"),
        row("none", Reply::not_found(), &good, "not found (404)"),
        row("huge", Reply::Long(100 << 20), &good, "more than 67108864 bytes"),
        row("good", index("web.tgz", &sha256(&good)), &good, ""),
    ]
}

/// Lies of the archive.
fn of_the_archive() -> Vec<Row> {
    let good = packed(&chart("web", "1.2.3"));
    let row = |name, file, expected| Row { name, index: index("web.tgz", ""), file, expected };
    let body = |name, file: Vec<u8>, expected| row(name, Reply::Body(file), expected);
    let many: Vec<(String, String)> = (0..20_001).map(|number| (format!("web/{number}"), String::new())).collect();
    // More than a file may have, and hardly smaller when it is packed.
    let noise = (0_u32..1 << 20).map(|number| format!("{:06x}", number.wrapping_mul(2_654_435_761) >> 8));
    let large = vec![
        ("web/Chart.yaml".to_owned(), "name: web\nversion: 1.2.3\n".to_owned()),
        ("web/large".to_owned(), noise.collect()),
    ];
    let two = [chart("web", "1.2.3"), chart("lib", "1.2.3")].concat();
    let encoded = Reply::Full("200 OK", "Content-Encoding: gzip\r\n".to_owned(), good.clone());
    vec![
        row("out", Reply::redirect("https://169.254.169.254/latest"), "has the link-local address"),
        row("to-a-file", Reply::redirect("file:///etc/passwd"), "scheme `file` is not supported"),
        row("to-plain", Reply::redirect("http://localhost:1/latest"), "is not fetched without TLS"),
        row("in-circles", Reply::redirect("web.tgz"), "more than 5 redirects"),
        row("encoded", encoded, "the server sent `gzip`, which was not requested"),
        row("long", Reply::Long(40 << 20), "more than 33554432 bytes"),
        row("slow", Reply::Silence, "timed out"),
        row("drip", Reply::Drip, "timed out"),
        row("page", Reply::text("<html>"), "it is not a gzip archive"),
        body("cut", good[..good.len() / 2].to_vec(), "it is damaged"),
        body("trailing", [good, vec![0]].concat(), "it has bytes after its end"),
        body("bomb", bomb(), "its files are more than 200 times"),
        body("many", packed(&many), "it has more than 20000 entries"),
        body("large", packed(&large), "`web/large` is larger than 5242880 bytes"),
        body("link", linked(), "symbolic link \"web/evil\" is not allowed"),
        body("two", packed(&two), "is not in the one directory that a packaged chart has"),
        body("other", packed(&chart("lib", "1.2.3")), "it is the chart lib 1.2.3, not web 1.2.3"),
        body("version", packed(&chart("web", "1.2.4")), "it is the chart web 1.2.4, not web 1.2.3"),
    ]
}

fn judge(rows: Vec<Row>) {
    let lab = Lab::new();
    let table: Vec<(&str, &str)> = rows.iter().map(|row| (row.name, row.expected)).collect();
    let liar = Liar::start(move |request, stream| {
        let name = request.path.split('/').nth(1).unwrap_or_default();
        let Some(row) = rows.iter().find(|row| row.name == name) else { return };
        let reply = if request.path.ends_with("/index.yaml") { &row.index } else { &row.file };
        reply.send(request, stream);
    });
    let dry = kustomized(&lab, "resources: []\n");
    for (name, expected) in table {
        let url = liar.url();
        let line = format!("helmCharts: [{{name: web, version: 1.2.3, repo: '{url}/{name}', releaseName: a}}]\n");
        dry.commit("Try", &[("web/kustomization.yaml", &line)]);
        let timeout = if matches!(name, "slow" | "drip") { "2" } else { "60" };
        let answer = vendor(&dry, &["--timeout", timeout]);
        if expected.is_empty() {
            answer.success();
            continue;
        }
        assert_eq!(answer.code, Some(2), "{name}: {}", answer.stdout);
        assert!(answer.stderr.contains(expected), "{name}: {}", answer.stderr);
        assert_eq!(dry.git(&["status", "--short"]), "", "{name}");
    }
}

#[test]
fn lying_indexes_get_nothing_in() {
    judge(of_the_index());
}

#[test]
fn lying_archives_get_nothing_in() {
    judge(of_the_archive());
}

/// The hint of a refusal: a digest that the user names is taken, and no other.
#[test]
fn an_archive_that_the_user_names_is_taken() {
    let lab = Lab::new();
    let archive = packed(&chart("web", "1.2.3"));
    let digest = format!("sha256:{}", sha256(&archive));
    let index = index("web.tgz", &"0".repeat(64));
    let liar = Liar::start(move |request, stream| match request.path.ends_with("index.yaml") {
        true => index.send(request, stream),
        false => Reply::Body(archive.clone()).send(request, stream),
    });
    let line = format!("helmCharts: [{{name: web, version: 1.2.3, repo: '{}', releaseName: a}}]\n", liar.url());
    let dry = kustomized(&lab, &line);
    let other = format!("sha256:{}", "1".repeat(64));
    vendor(&dry, &["--accept", &other]).exits(2);
    vendor(&dry, &["--accept", &digest]).success();
    assert!(dry.file(super::LOCK).expect("there").contains(&format!("origin = \"{digest}\"")));
}

/// What a tool would read as an option is no input, wherever it is named.
#[test]
fn options_are_no_names() {
    let lab = Lab::new();
    let dry = kustomized(&lab, "resources: []\n");
    let chart = |name: &str, version: &str, repo: &str| {
        format!("helmCharts: [{{name: '{name}', version: '{version}', repo: '{repo}', releaseName: a}}]\n")
    };
    let repo = "https://charts.example.com";
    let rows = [
        (chart("--post-renderer=x", "1.2.3", repo), "`--post-renderer=x` is not a valid chart name"),
        (chart("../web", "1.2.3", repo), "`../web` is not a valid chart name"),
        (chart("web", "1.2.3", "--repo=x"), "`--repo=x` is not an `https://` URL"),
        (chart("web", "1.2.3", "https://-x.example.com"), "has no valid host"),
        (chart("web", "1.2.3", "oci://-x/charts"), "has no valid host"),
    ];
    for (kustomization, expected) in rows {
        fs::write(dry.path.join("web/kustomization.yaml"), &kustomization).expect("written");
        let answer = vendor(&dry, &[]).exits(2);
        assert!(answer.stderr.contains(expected), "{kustomization}{}", answer.stderr);
    }
}
