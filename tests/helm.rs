//! Charts as `helm template` renders them: a folder a rule, see `tests/cases/helm`.
//!
//! A case has `case.json` (what it is about, release, namespace, chart, flags), `in/`, where the command runs, and what the
//! real Helm printed: `expected.yaml`, or `expected_error.txt` from `Error: ` on. Where another version than the default prints
//! something else, that is in `expected-VERSION.yaml` or `expected_error-VERSION.txt`. `tests/cases/helm/record` writes those anew;
//! where `case.json` says `own_text`, the text is ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use git_hydrate::testing::helm::{self, Effects, Options, Seed};
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::view::{MemoryFiles, View};

use crate::push::application;
use crate::support::{BINARY, Lab};

#[derive(serde::Deserialize)]
struct Case {
    release: String,
    namespace: String,
    chart: String,
    flags: Vec<String>,
}

/// The versions of Helm that charts render as, the default first.
const VERSIONS: [&str; 2] = ["4.2.3", "4.2.4"];

/// What `git-hydrate render helm` prints for the case: its output, or its error.
fn printed(dir: &Path, version: &str) -> String {
    let case = fs::read_to_string(dir.join("case.json")).expect("readable");
    let Case { release, namespace, chart, flags } = serde_json::from_str(&case).expect("a case");
    let mut command = Command::new(BINARY);
    command
        .args(["render", "helm", &release, &chart, "--namespace", &namespace, "--helm-version", version])
        .args(flags);
    let output = command.current_dir(dir.join("in")).env("TZ", "UTC").output().expect("git-hydrate runs");
    if output.status.success() {
        return String::from_utf8(output.stdout).expect("UTF-8");
    }
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    error.find("Error: ").map_or(error.clone(), |start| error[start..].to_owned())
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/helm");
    let mut cases: Vec<_> =
        fs::read_dir(root).expect("readable").map(|entry| entry.expect("readable").path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    cases
}

/// What a version prints: its output, and its error.
fn expected(dir: &Path, version: &str) -> [Option<String>; 2] {
    let read = |suffix: &str| {
        [format!("expected{suffix}.yaml"), format!("expected_error{suffix}.txt")]
            .map(|name| fs::read_to_string(dir.join(name)).ok())
    };
    let own = read(&format!("-{version}"));
    if own.iter().any(Option::is_some) { own } else { read("") }
}

/// How a case differs from what is expected of a version; none when it does not.
fn difference(dir: &Path, version: &str) -> Option<String> {
    let [output, error] = expected(dir, version);
    let printed = printed(dir, version);
    let is_equal = match (output, error) {
        (Some(output), None) => printed == output,
        (None, Some(error)) => printed.trim_end() == error.trim_end(),
        _ => false,
    };
    (!is_equal).then(|| format!("{} as Helm {version}:\n{printed}", dir.display()))
}

#[test]
fn charts_render_as_helm_renders_them() {
    let cases = cases();
    assert!(cases.len() >= 152, "cases are gone: {} are left", cases.len());
    let (left, differences) = (Mutex::new(cases), Mutex::new(Vec::new()));
    let work = || {
        while let Some(dir) = { left.lock().expect("no panic").pop() } {
            differences
                .lock()
                .expect("no panic")
                .extend(VERSIONS.iter().filter_map(|version| difference(&dir, version)));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let differences = differences.into_inner().expect("no panic");
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn all_refusals_of_a_chart_are_told_at_once() {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/values.yaml", "auth: {password: \"\", token: \"\", stamp: \"\", known: yes}\n")
        .file(
            "c/templates/t.yaml",
            "password: {{ .Values.auth.password | default (randAlphaNum 8) }}
token: {{ .Values.auth.token | default (randAlphaNum 8) }}
again: {{ .Values.auth.token | default (randAlphaNum 8) }}
known: {{ .Values.auth.known | default (randAlphaNum 8) }}
length: {{ randNumeric 3 | len }}
year: {{ now | date \"2006\" }}
",
        );
    let refusals = helm::refusals(&View::new(&files), &RepoPath::new("c").expect("plain"), &Options::default());
    let refusals = refusals.expect("nothing else is wrong");
    let told: Vec<_> = refusals.iter().map(|error| (error.helm_text(), error.diagnostic().hint)).collect();
    let random = |place: &str| {
        format!("c/templates/t.yaml:{place}: `randAlphaNum` is random: its result would change with every render")
    };
    let value = |value: &str| {
        Some(format!(
            "set the value `{value}`, which it is the default of, or have an admin allow `randAlphaNum` by name: git hydrate config add \
             nondeterministic randAlphaNum"
        ))
    };
    let hint = |function: &str| {
        Some(format!(
            "where the template takes a value in its place, set that one; else remove `{function}` from the template, or have an \
             admin allow `{function}` by name: git hydrate config add nondeterministic {function}"
        ))
    };
    assert_eq!(
        told,
        [
            (random("1:46"), value("auth.password")),
            (random("2:40"), value("auth.token")),
            (random("3:40"), value("auth.token")),
            (
                "c/templates/t.yaml:6:9: `now` reads the clock: its result would change with every render".to_owned(),
                hint("now")
            ),
        ]
    );
    let allowed = Effects::Seeded {
        seed: Seed::public("web"),
        allowed: vec!["randAlphaNum".to_owned()],
        now: jiff::Timestamp::UNIX_EPOCH,
        drew: Default::default(),
    };
    let options = Options { effects: allowed, ..Options::default() };
    let refusals = helm::refusals(&View::new(&files), &RepoPath::new("c").expect("plain"), &options);
    assert_eq!(refusals.expect("nothing else is wrong").len(), 1, "`now` alone is left");
}

#[test]
fn a_call_in_a_file_that_another_prints_the_checksum_of_is_told_once() {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/values.yaml", "password: \"\"\n")
        .file("c/templates/secret.yaml", "a: {{ .Values.password | default (randAlphaNum 8) }}\n")
        .file("c/templates/web.yaml", "b: {{ include (print .Template.BasePath \"/secret.yaml\") . | sha256sum }}\n");
    let refusals = helm::refusals(&View::new(&files), &RepoPath::new("c").expect("plain"), &Options::default());
    assert_eq!(refusals.expect("nothing else is wrong").len(), 1);
}

#[test]
fn what_is_allowed_repeats_beside_what_is_not_needed() {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/values.yaml", "stamp: fixed\n")
        .file("c/templates/t.yaml", "a: {{ randAlphaNum 8 }}\nb: {{ .Values.stamp | default now }}\n");
    let effects = Effects::Seeded {
        seed: Seed::public("web"),
        allowed: vec!["randAlphaNum".to_owned()],
        now: jiff::Timestamp::UNIX_EPOCH,
        drew: Default::default(),
    };
    let render = |effects: &Effects| {
        let options = Options { effects: effects.clone(), ..Options::default() };
        helm::render(&View::new(&files), &RepoPath::new("c").expect("plain"), &options).expect("renders").text
    };
    let all = Effects::Seeded {
        seed: Seed::public("web"),
        allowed: vec!["randAlphaNum".to_owned(), "now".to_owned()],
        now: jiff::Timestamp::UNIX_EPOCH,
        drew: Default::default(),
    };
    assert_eq!(render(&effects), render(&all));
}

#[test]
fn a_file_in_git_lfs_is_refused_where_a_template_reads_it() {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/big.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
        .file("c/templates/t.yaml", "a: {{ if .Values.read }}{{ .Files.Get \"big.txt\" }}{{ end }}\n");
    let render = |set: &[&str]| {
        let set = set.iter().map(|&text| text.to_owned()).collect();
        helm::render(&View::new(&files), &RepoPath::new("c").expect("plain"), &Options { set, ..Options::default() })
    };
    assert!(render(&[]).is_ok(), "a file that no template reads is no harm");
    let error = render(&["read=true"]).expect_err("has no content").to_string();
    let words = "c/big.txt: is a Git LFS pointer, whose content is not in this repository; commit the file itself instead of storing it with Git LFS";
    assert!(error.ends_with(words), "{error}");
}

#[test]
fn a_chart_that_fails_anyway_says_why_and_not_what_is_refused() {
    let files = MemoryFiles::new()
        .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
        .file("c/templates/t.yaml", "a: {{ randAlphaNum 8 }}\nb: {{ required \"name a cluster\" .Values.cluster }}\n");
    let error = helm::render(&View::new(&files), &RepoPath::new("c").expect("plain"), &Options::default());
    let error = error.expect_err("a value is missing").to_string();
    assert_eq!(error, "execution error at (c/templates/t.yaml:2:6): name a cluster");
}

#[test]
fn the_command_tells_what_is_refused_and_what_can_be_done() {
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/helm/random-refused-error/in/c");
    let run = std::process::Command::new(crate::support::BINARY)
        .args(["render", "helm", "rel"])
        .arg(chart)
        .output()
        .expect("starts");
    assert_eq!((run.status.code(), run.stdout.as_slice()), (Some(1), b"".as_slice()));
    assert_eq!(
        String::from_utf8_lossy(&run.stderr),
        "Error: c/templates/t.yaml:4:6: `now` reads the clock: its result would change with every render
hint: where the template takes a value in its place, set that one; else remove `now` from the template, or have an admin allow `now` by name: git hydrate config add nondeterministic now
"
    );
}

#[test]
fn a_setting_has_charts_render_as_another_helm() {
    let lab = Lab::new();
    let server = lab.server();
    server.hydrate(&["config", "set", "repoURL", "https://git.example.com/dry.git"]).success();
    let clone = server.clone_to("clone");
    let (file, text) = application("web", "dev");
    let map = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  a: |+\n    x\n\n\n")
    };
    clone.commit(
        "a chart",
        &[
            (&file, &text),
            ("apps/web/dev/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("apps/web/dev/templates/maps.yaml", &format!("{}---\n{}", map("first"), map("second"))),
        ],
    );
    clone.push().success();
    let hydrated = |file: &str| server.git(&["show", &format!("environments/dev:web/{file}")]);
    let kept = |manifest: &str| manifest.matches("|+").count();
    assert_eq!(kept(&hydrated("manifest.yaml")), 0);
    server.hydrate(&["config", "set", "tools.helm", "4.2.4"]).success();
    assert_eq!(kept(&hydrated("manifest.yaml")), 1);
    let metadata = hydrated("hydrator.metadata");
    assert!(metadata.contains("\"helm\": \"4.2.4\""), "{metadata}");
}

/// Every flag that `helm template --help` of 3.17.3, 3.18.0, 3.19.0, 4.1.4, 4.2.2 or 4.3.1 has and that this command has no use
/// for, with a value as the flag takes one.
const BORROWED: &str = "--atomic --burst-limit=1 --ca-file=x --cert-file=x --color=never --colour=never --content-cache=x \
    --create-namespace --dependency-update --description=x --devel --disable-openapi-validation --dry-run --dry-run=client \
    --dry-run=server --enable-dns --force --force-conflicts --force-replace --generate-name -g --hide-notes \
    --insecure-skip-tls-verify --key-file=x --keyring=x --kube-apiserver=x --kube-as-group=x --kube-as-user=x \
    --kube-ca-file=x --kube-context=x --kube-insecure-skip-tls-verify --kube-tls-server-name=x --kube-token=x --kubeconfig=x \
    --labels=a=b -l=a=b --output-dir=x --pass-credentials --password=x --plain-http --post-renderer=x --post-renderer-args=x \
    --qps=1 --registry-config=x --release-name --render-subchart-notes --replace --repo=x --repository-cache=x \
    --repository-config=x --rollback-on-failure --server-side --server-side=false --take-ownership --timeout=5m --username=x \
    --validate --verify --version=1 --wait --wait=watcher --wait-for-jobs";

#[test]
fn a_pasted_line_of_helm_template_works_or_says_why_not() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    clone.commit("a chart", &[("c/Chart.yaml", "name: c\nversion: 1.0.0\n"), ("c/templates/a.yaml", map)]);
    let plain = clone.hydrate(&["render", "helm", "web", "c"]).success().stdout;
    let mut refused = Vec::new();
    for flag in BORROWED.split_whitespace() {
        // As `--flag value`, too.
        let forms = [vec![flag], flag.split_once('=').map_or(vec![flag], |(name, value)| vec![name, value])];
        let is_joined =
            flag.starts_with("--dry-run") || flag.starts_with("--wait") || flag.starts_with("--server-side");
        for form in forms.iter().take(if is_joined { 1 } else { 2 }) {
            let told = clone.hydrate(&[&["render", "helm", "web", "c"], &form[..]].concat());
            match told.code {
                Some(0) => assert_eq!(told.stdout, plain, "{form:?}"),
                code => {
                    assert_eq!(code, Some(2), "{form:?}: {}", told.stderr);
                    assert!(told.stderr.contains("cannot be had: "), "{form:?}: {}", told.stderr);
                    refused.push(flag);
                }
            }
        }
    }
    refused.dedup();
    let expected = "--dependency-update --dry-run=server --enable-dns --generate-name -g --output-dir=x --post-renderer=x \
                    --post-renderer-args=x --repo=x --validate --verify";
    assert_eq!(refused.join(" "), expected);
    let twice = clone.hydrate(&["render", "helm", "web", "c", "--name-template", "x"]).exits(2).stderr;
    assert!(twice.contains("cannot set --name-template and also specify a name"), "{twice}");
}

#[test]
fn debug_prints_what_is_not_yaml_as_the_error_advises() {
    let lab = Lab::new();
    let clone = lab.bare(&[]).clone_to("clone");
    let map = "kind: ConfigMap\n";
    let files = [
        ("c/Chart.yaml", "name: c\nversion: 1.0.0\n"),
        ("c/templates/b.yaml", map),
        ("c/templates/a.yaml", "a: b: {{ .Release.Name }}\n"),
        ("c/templates/none.yaml", "{{/* nothing */}}\n"),
    ];
    clone.commit("a chart", &files);
    let told = clone.hydrate(&["render", "helm", "web", "c"]).exits(1);
    assert!(told.stderr.contains("Use --debug flag to render out invalid YAML"), "{}", told.stderr);
    assert_eq!(told.stdout, "");
    let debug = clone.hydrate(&["render", "helm", "web", "c", "--debug"]).exits(1);
    assert_eq!(debug.stderr, told.stderr);
    // As Helm 4.2.3, but for the order, which differs from run to run there.
    assert_eq!(
        debug.stdout,
        "---\n# Source: c/templates/a.yaml\na: b: web\n\n---\n# Source: c/templates/b.yaml\nkind: ConfigMap\n"
    );
}
