//! What strangers can hand to us, each with a function that takes any bytes and some bytes to start from. Nothing panics, and
//! what holds for every input is asserted.
//!
//! `fuzz_targets/inputs.rs` hands them what libFuzzer makes, `tests/mutations.rs` what a seeded mutator makes.

mod targets;

use std::collections::BTreeMap;

use git_hydrate::testing::application::set::{self, Clusters, Home, Sources};
use git_hydrate::testing::application::{self, Jsonnet, Patterns, RuleSet};
use git_hydrate::testing::go::glob::Glob;
use git_hydrate::testing::helm;
use git_hydrate::testing::hydrate::{CommitRequest, check_settings};
use git_hydrate::testing::jsonnet;
use git_hydrate::testing::kustomize;
use git_hydrate::testing::manifest;
use git_hydrate::testing::metadata::{self, Provenance, Trailers, contract, read_note};
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::plan::Discovery;
use git_hydrate::testing::remote;
use git_hydrate::testing::settings::SettingsFiles;
use git_hydrate::testing::view::{MemoryFiles, View};
use git_hydrate::testing::yaml::{self, Dialect, Limits, Sequences, Value, json, sigs};

pub(super) use targets::TARGETS;

/// Of a text of YAML.
const LIMITS: Limits = Limits { bytes: 1 << 16, depth: 64, nodes: 10_000 };

/// One sort of input.
pub(super) struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// Inputs that mean something.
    pub seeds: &'static [&'static str],
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("plain")
}

fn application(bytes: &[u8]) {
    for diagnostic in application::read(&path("applications/a.yaml"), bytes).all_diagnostics() {
        assert!(!diagnostic.to_string().is_empty());
    }
    let files = MemoryFiles::new().file("a/b.yaml", bytes).file("kustomization.yaml", bytes);
    let all = Patterns::new::<&str>([]).expect("no pattern is bad");
    Discovery::default().discover(&files, &all, &RuleSet::default(), 10_000).expect("memory is readable");
}

fn application_set(bytes: &[u8]) {
    let files = MemoryFiles::new().file("apps/web/config.yaml", bytes).file("clusters/a.yaml", bytes);
    let home = Home {
        repo_urls: vec!["https://git.example.com/dry.git".to_owned()],
        revisions: Vec::new(),
        is_beside_head: false,
    };
    let view = View::new(&files);
    let sources = Sources::new(&view, home);
    let few = set::Limits { applications: 100, params: 1000, bytes: 1 << 22, ..set::Limits::default() };
    let sets = set::read_sets(&path("sets.yaml"), bytes).unwrap_or_default();
    drop(set::read_recorded(bytes));
    let versions = BTreeMap::from([("c".to_owned(), set::Versions::read(&String::from_utf8_lossy(bytes)))]);
    drop(set::import(bytes, &sets.iter().collect::<Vec<_>>(), &versions));
    drop(Clusters::of_files(&view, "argocd", [path("clusters/a.yaml")].iter(), &[path("apps/web/config.yaml")]));
    for set in sets {
        match set.expand(&sources, &few) {
            Ok(expanded) => {
                assert!(expanded.applications.len() <= 100);
                assert!(set.documents(&expanded, &RuleSet::default()).0.len() <= 100);
            }
            Err(diagnostic) => assert!(!diagnostic.to_string().is_empty()),
        }
    }
}

fn records(bytes: &[u8]) {
    drop(Provenance::read(&path("hydrator.metadata"), bytes));
    drop((contract::check_metadata(bytes), contract::check_note(bytes)));
    if let Some(note) = read_note(bytes) {
        assert_eq!(read_note(&note.text()), Some(note));
    }
}

fn message(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    drop((Trailers::read(&text), metadata::allowed_removals(&text)));
    if let Some(address) = metadata::Address::parse(&text) {
        drop((address.plain(), address.rfc5322()));
    }
}

fn ignored(bytes: &[u8]) {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/.helmignore", bytes)
        .file("c/aaaa/b/abab.txt", "")
        .file("c/templates/t.yaml", "a: b\n");
    drop(helm::render(&View::new(&files), &path("c"), &helm::Options::default()));
}

fn glob(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, name) = text.split_once('\n').unwrap_or((&text, "aaaa/b/abab.yaml"));
    for glob in [Glob::new(pattern), Glob::without_separator(pattern)].into_iter().flatten() {
        glob.matches(name);
        glob.matches("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
    }
    drop(Patterns::new([pattern]));
}

fn jsonnet(bytes: &[u8]) {
    let files = MemoryFiles::new().file("a/a.jsonnet", bytes).file("a/b.libsonnet", bytes);
    let libraries = jsonnet::libraries(&path("a"), &Jsonnet::default()).expect("none is named");
    drop(jsonnet::closure(&View::new(&files), &path("a/a.jsonnet"), &libraries, &Jsonnet::default()));
    drop(jsonnet::objects(&path("a/a.jsonnet"), bytes));
}

fn settings(bytes: &[u8]) {
    for name in ["settings.yaml", "README.md.j2", "README.tmpl", "commit-message.j2", "commit-message.tmpl"] {
        drop(check_settings(&SettingsFiles::from([(name.to_owned(), bytes.to_vec())])));
    }
}

fn request(bytes: &[u8]) {
    drop(serde_json::from_slice::<CommitRequest>(bytes));
    drop(remote::Address::new(&String::from_utf8_lossy(bytes)));
}

fn manifests(bytes: &[u8]) {
    if let Ok(manifests) = manifest::read(bytes, manifest::Source::Output("a fuzzer")) {
        let text = manifest::encode(&manifests);
        let again = manifest::read(&text, manifest::Source::Output("us")).expect("our own text");
        assert_eq!(manifest::encode(&again), text, "{}", String::from_utf8_lossy(&text));
    }
}

fn chart(bytes: &[u8]) {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/values.yaml", "a: [1, {b: c}]\n")
        .file("c/templates/t.yaml", bytes);
    drop(helm::render(&View::new(&files), &path("c"), &helm::Options::default()));
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", bytes)
        .file("c/values.yaml", bytes)
        .file("c/values.schema.json", bytes)
        .file("c/charts/s.tgz", bytes)
        .file("c/templates/t.yaml", "a: {{ .Values | toYaml | len }}\n");
    drop(helm::render(&View::new(&files), &path("c"), &helm::Options::default()));
}

/// Files after each other, each below a line `=== PATH`: a chart with all that belongs to it. Kept or new, it renders to
/// the same.
fn whole_chart(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let files = text.split("=== ").filter_map(|part| part.split_once('\n')).fold(
        MemoryFiles::new().file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        |files, (name, content)| match RepoPath::new(&format!("c/{name}")) {
            Ok(path) => files.file(path.as_str(), content),
            Err(_) => files,
        },
    );
    let charts = helm::Charts::default();
    let options = helm::Options { include_crds: true, ..helm::Options::default() };
    let render = |charts| {
        let rendered = helm::render_kept(charts, &View::new(&files), &path("c"), &options);
        rendered.map_err(|error| error.diagnostic().to_string())
    };
    let first = render(&charts);
    assert_eq!(first, render(&charts), "kept");
    assert_eq!(first, render(&helm::Charts::default()), "new");
}

/// A schema and, below a line of `---`, values that it judges.
fn schema(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (schema, values) = text.split_once("\n---\n").unwrap_or((&text, "a: 1\n"));
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/values.schema.json", schema)
        .file("c/values.yaml", values)
        .file("c/templates/t.yaml", "a: b\n");
    drop(helm::render(&View::new(&files), &path("c"), &helm::Options::default()));
}

/// What `--set` and its kin take.
fn set(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/values.yaml", "a: [1, {b: c}]\nd: {e: f}\n")
        .file("c/templates/t.yaml", "a: {{ .Values | toJson | quote }}\n");
    let given = || vec![text.clone()];
    let plain = helm::Options::default;
    for options in [
        helm::Options { set: given(), ..plain() },
        helm::Options { set_string: given(), ..plain() },
        helm::Options { set_json: given(), ..plain() },
        helm::Options { set_literal: given(), ..plain() },
        helm::Options { set_file: given(), ..plain() },
    ] {
        drop(helm::render(&View::new(&files), &path("c"), &options));
    }
}

/// Functions with a language of their own, each handed the first line and the rest.
fn languages(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let values = serde_json::json!({ "a": first, "b": rest }).to_string();
    for call in [
        "regexReplaceAll .Values.a .Values.b .Values.a",
        "regexSplit .Values.a .Values.b -1",
        "regexFindAll .Values.a .Values.b 3",
        "semverCompare .Values.a .Values.b",
        "semver .Values.a",
        "toDate .Values.a .Values.b",
        "durationRound .Values.a",
        "printf .Values.a .Values.b 1 2.5 .Values",
        "fromYaml .Values.b | toToml",
        "fromToml .Values.b | toYamlPretty",
        "fromJson .Values.b | toPrettyJson",
        "urlParse .Values.a | urlJoin",
        "tpl .Values.b .",
        "wrapWith 3 .Values.a .Values.b",
        ".Files.Glob .Values.a",
    ] {
        let files = MemoryFiles::new()
            .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
            .file("c/values.yaml", values.as_str())
            .file("c/files/aaaaaaaaaaaaaaaaaaaaaaaaaaab", "")
            .file("c/templates/t.yaml", format!("a: {{{{ {call} | toString | quote }}}}\n"));
        drop(helm::render(&View::new(&files), &path("c"), &helm::Options::default()));
    }
}

fn kustomization(bytes: &[u8]) {
    let files = MemoryFiles::new()
        .file("k/kustomization.yaml", bytes)
        .file("k/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n")
        .file("k/p.yaml", bytes);
    if let Ok(build) = kustomize::build(&View::new(&files), &path("k"), &kustomize::Options::default(), None) {
        drop(build.to_yaml());
    }
}

/// A tree of files in one text: each begins with a line `=== PATH`; `=== PATH -> TARGET` is a link. With how many lines each
/// has.
fn files_of(bytes: &[u8]) -> (MemoryFiles, BTreeMap<RepoPath, usize>) {
    let mut files = MemoryFiles::new();
    let mut lines: BTreeMap<RepoPath, usize> = BTreeMap::new();
    let text = String::from_utf8_lossy(bytes);
    for part in text.split("=== ").skip(1) {
        let (name, content) = part.split_once('\n').unwrap_or((part, ""));
        let (name, link) = name.split_once(" -> ").map_or((name, None), |(name, link)| (name, Some(link)));
        let Ok(path) = RepoPath::new(name) else { continue };
        if path.is_root() || lines.keys().any(|other| other.starts_with(&path) || path.starts_with(other)) {
            continue;
        }
        files = match link {
            Some(target) => files.link(name, target),
            None => files.file(name, content),
        };
        lines.insert(path, content.lines().count());
    }
    (files, lines)
}

/// Builds `k` of [`files_of`].
fn overlay(bytes: &[u8]) {
    let (files, lines) = files_of(bytes);
    let built = || kustomize::build(&View::new(&files), &path("k"), &kustomize::Options::default(), None);
    match built() {
        Ok(build) => {
            let written = build.to_yaml();
            assert_eq!(built().and_then(|build| build.to_yaml()), written, "another result");
            if let Ok(written) = written {
                yaml::decode(written.as_bytes(), Dialect::V2, &Limits::default()).expect("our own text");
            }
        }
        Err(error) => {
            assert!(!error.message().trim().is_empty(), "an error without a message");
            let diagnostic = error.diagnostic();
            assert!(!diagnostic.to_string().is_empty());
            if let Some(span) = diagnostic.span {
                let there = lines.get(&span.path).expect("the place is in a file");
                assert!(span.line as usize <= there + 1, "{span} is behind the end of the file");
            }
        }
    }
}

/// [`files_of`] as a dry tree: its Applications are found, and each directory is looked at.
fn tree(bytes: &[u8]) {
    let (files, lines) = files_of(bytes);
    let all = Patterns::new::<&str>([]).expect("no pattern is bad");
    Discovery::default().discover(&files, &all, &RuleSet::default(), 10_000).expect("memory is readable");
    let view = View::new(&files);
    for path in lines.keys().filter_map(RepoPath::parent) {
        drop((view.list(&path), view.kind(&path), view.content_id(&path)));
    }
}

fn to_json(value: &Value) -> String {
    json::encode(value, json::Options::default())
}

/// go-yaml v3 writes a literal whose first line starts with a tab, and can't read it.
fn has_tab(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\t'),
        Value::Sequence(items) => items.iter().any(has_tab),
        Value::Mapping(mapping) => mapping.iter().any(|(key, value)| key.contains('\t') || has_tab(value)),
        _ => false,
    }
}

fn yaml(bytes: &[u8]) {
    for dialect in [Dialect::V2, Dialect::V3] {
        for value in yaml::decode(bytes, dialect, &LIMITS).unwrap_or_default() {
            let mut written = vec![(Dialect::V2, yaml::emit_v2(&value))];
            if !has_tab(&value) {
                written.push((Dialect::V3, yaml::emit_v3(&value, Sequences::Indented)));
                written.push((Dialect::V3, yaml::emit_node(&yaml::from_value(&value), Sequences::Compact)));
            }
            for (dialect, text) in written {
                let limits = Limits { bytes: text.len(), ..LIMITS };
                let read = yaml::decode(text.as_bytes(), dialect, &limits).expect("our own text");
                assert_eq!(read.iter().map(to_json).collect::<Vec<_>>(), [to_json(&value)], "{text}");
            }
            let _ = sigs::marshal(&value);
        }
    }
    for node in yaml::parse(bytes, &LIMITS).unwrap_or_default() {
        let written = yaml::emit_node(&node, Sequences::Indented);
        let _ = yaml::parse(written.as_bytes(), &LIMITS);
        let _ = yaml::resolve_aliases(node, &LIMITS);
    }
    if let Ok(value) = json::decode(bytes, &LIMITS) {
        let text = to_json(&value);
        let limits = Limits { bytes: text.len(), ..LIMITS };
        assert_eq!(json::decode(text.as_bytes(), &limits).as_ref().map(to_json), Ok(text));
    }
}
