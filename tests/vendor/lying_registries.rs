//! Registries whose answers do not fit each other: a row a lie.

use super::liars::{Reply, bomb};
use super::{chart, kustomized, packed, sha256, vendor};
use crate::servers::{Liar, respond};
use crate::support::Lab;

const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CONTENT: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A repository of a registry: what it sends for manifests, and for blobs; for tags, what it sends for manifests.
struct Row {
    name: &'static str,
    manifest: Reply,
    blob: Reply,
    /// What `vendor` says; empty where it takes the chart.
    expected: &'static str,
}

/// A manifest of one layer.
fn manifest(config: &str, digest: &str, media: &str, size: u64) -> String {
    format!(
        "{{\"config\":{{\"mediaType\":\"{config}\",\"digest\":\"{digest}\"}},\"layers\":[{{\"mediaType\":\"{media}\",\
         \"digest\":\"{digest}\",\"size\":{size}}}]}}"
    )
}

fn of_kind(kind: &str, more: &str, body: &str) -> Reply {
    Reply::Full("200 OK", format!("Content-Type: {kind}\r\n{more}"), body.as_bytes().to_vec())
}

fn wants(challenge: &str) -> Reply {
    Reply::Full("401 Unauthorized", format!("WWW-Authenticate: {challenge}\r\n"), Vec::new())
}

fn rows() -> Vec<Row> {
    let archive = packed(&chart("web", "1.2.3"));
    let digest = |data: &[u8]| format!("sha256:{}", sha256(data));
    let (own, wrong) = (digest(&archive), format!("sha256:{}", "0".repeat(64)));
    let good = manifest(CONFIG, &own, CONTENT, 1);
    let row = |name, manifest, expected| Row { name, manifest, blob: Reply::Body(archive.clone()), expected };
    let text = |name, text: String, expected| row(name, of_kind(MANIFEST, "", &text), expected);
    let claim = format!("Docker-Content-Digest: {wrong}\r\n");
    let nested = format!("{{\"manifests\":[{{\"digest\":\"{own}\"}}]}}");
    let tags = |count: usize| format!("{{\"tags\":[{}]}}", vec!["\"1.0.0\""; count].join(","));
    let next = "Link: </v2/pages/web/tags/list?again>; rel=\"next\"\r\n";
    let image = "application/vnd.oci.image.config.v1+json";
    vec![
        text("image", manifest(image, &own, CONTENT, 1), "it is not a chart: its config is"),
        text("layer", manifest(CONFIG, &own, "text/plain", 1), "it has no layer with a chart"),
        text("path", manifest(CONFIG, "../../x", CONTENT, 1), "`../../x` is no digest"),
        text("blob", manifest(CONFIG, &wrong, CONTENT, 1), "the layer has sha256:"),
        text("large-blob", manifest(CONFIG, &own, CONTENT, 1 << 40), "more than 33554432 bytes"),
        text("no-json", "<html>".to_owned(), "expected value"),
        row("huge", Reply::Long(8 << 20), "more than 4194304 bytes"),
        row("slow", Reply::Silence, "timed out"),
        row("claim", of_kind(MANIFEST, &claim, &good), "the registry says sha256:"),
        row(
            "docker",
            of_kind("application/vnd.docker.distribution.manifest.v2+json", "", &good),
            "is not the manifest",
        ),
        row("nested", of_kind(INDEX, "", &nested), "the registry says sha256:"),
        row("pages", of_kind("application/json", next, &tags(1)), "more than 100 pages of tags"),
        row("tags", of_kind("application/json", "", &tags(100_001)), "more than 100000 tags"),
        row("login", wants("Basic realm=\"x\""), "is only sent over TLS"),
        row("realm", wants("Bearer realm=\"https://169.254.169.254/token\",service=\"x\""), "link-local address"),
        row("realm-file", wants("Bearer realm=\"file:///etc/passwd\""), "is not supported"),
        row("bearer", wants("Bearer realm=\"@OWN@/token\""), "no token"),
        Row {
            name: "bomb",
            manifest: of_kind(MANIFEST, "", &manifest(CONFIG, &digest(&bomb()), CONTENT, 1)),
            blob: Reply::Body(bomb()),
            expected: "its files are more than 200 times",
        },
        Row {
            name: "blob-out",
            manifest: of_kind(MANIFEST, "", &good),
            blob: Reply::redirect("https://169.254.169.254/x"),
            expected: "has the link-local address",
        },
        text("good", good, ""),
    ]
}

#[test]
fn lying_registries_get_nothing_in() {
    let lab = Lab::new();
    let rows = rows();
    let table: Vec<(&str, &str)> = rows.iter().map(|row| (row.name, row.expected)).collect();
    let liar = Liar::start(move |request, stream| {
        if request.path.starts_with("/token") {
            return respond(stream, "200 OK", "", b"{\"token\": \"a\\r\\nX-Evil: b\"}");
        }
        let name = request.path.split('/').nth(2).unwrap_or_default();
        let Some(row) = rows.iter().find(|row| row.name == name) else { return };
        let reply = if request.path.contains("/blobs/") { &row.blob } else { &row.manifest };
        reply.send(request, stream);
    });
    let dry = kustomized(&lab, "resources: []\n");
    for (name, expected) in table {
        let version = if matches!(name, "pages" | "tags") { "~1.2.0" } else { "1.2.3" };
        let repo = format!("oci://127.0.0.1:{}/{name}", liar.port);
        let line = format!("helmCharts: [{{name: web, version: {version}, repo: '{repo}', releaseName: a}}]\n");
        dry.commit("Try", &[("web/kustomization.yaml", &line)]);
        let answer = vendor(&dry, &["--timeout", if name == "slow" { "2" } else { "60" }]);
        assert_eq!(answer.code, Some(if expected.is_empty() { 0 } else { 2 }), "{name}: {}", answer.stderr);
        assert!(answer.stderr.contains(expected), "{name}: {}", answer.stderr);
    }
}

/// The storage that a registry redirects to gets no token of the registry.
#[test]
fn a_token_stays_at_its_registry() {
    let lab = Lab::new();
    let archive = packed(&chart("web", "1.2.3"));
    let good = manifest(CONFIG, &format!("sha256:{}", sha256(&archive)), CONTENT, 1);
    let storage = Liar::start(move |request, stream| match request.header("authorization") {
        None => respond(stream, "200 OK", "", &archive),
        Some(_) => respond(stream, "400 Bad Request", "", b""),
    });
    let target = format!("{}/blob", storage.url());
    let registry = Liar::start(move |request, stream| {
        let is_known = request.header("authorization") == Some("Bearer anonymous");
        let reply = match request.path.as_str() {
            path if path.starts_with("/token") => Reply::text("{\"token\": \"anonymous\"}"),
            _ if !is_known => wants("Bearer realm=\"@OWN@/token\",service=\"test\""),
            path if path.contains("/blobs/") => Reply::redirect(&target),
            _ => of_kind(MANIFEST, "", &good),
        };
        reply.send(request, stream);
    });
    let repo = format!("oci://127.0.0.1:{}/charts", registry.port);
    let line = format!("helmCharts: [{{name: web, version: 1.2.3, repo: '{repo}', releaseName: a}}]\n");
    vendor(&kustomized(&lab, &line), &[]).success();
}
