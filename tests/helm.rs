//! Charts as `helm template` 4.2.3 renders them: a folder a rule, see `tests/cases/helm`.
//!
//! A case has `case.json` (what it is about, release, namespace, flags), the chart in `in/c`, and what the real Helm
//! printed: `expected.yaml`, or `expected_error.txt` from `Error: ` on. Refusals of our own have our text.

use std::fs;
use std::path::{Path, PathBuf};

use git_hydrate::helm::{self, Options, ValuesSource};
use git_hydrate::path::RepoPath;
use git_hydrate::view::{DiskFiles, View};

#[derive(serde::Deserialize)]
struct Case {
    release: String,
    namespace: String,
    flags: Vec<String>,
}

fn options(case: &Case) -> Options {
    let mut options =
        Options { release_name: case.release.clone(), namespace: case.namespace.clone(), ..Options::default() };
    let mut flags = case.flags.iter();
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().expect("the flag has a value").clone();
        match flag.as_str() {
            "--set" => options.set.push(value()),
            "--set-json" => options.set_json.push(value()),
            "--values" => options.values.push(ValuesSource::File(RepoPath::new(&value()).expect("plain"))),
            "--include-crds" => options.include_crds = true,
            other => panic!("unknown flag {other}"),
        }
    }
    options
}

/// What the case prints: its output, or its error.
fn printed(dir: &Path) -> String {
    let case = fs::read_to_string(dir.join("case.json")).expect("readable");
    let case: Case = serde_json::from_str(&case).expect("a case");
    let files = DiskFiles::new(dir.join("in"));
    let chart = RepoPath::new("c").expect("plain");
    match helm::render(&View::new(&files), &chart, &options(&case)) {
        Ok(rendered) => rendered.text,
        Err(error) => format!("Error: {}\n", error.helm_text()),
    }
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/helm");
    let mut cases: Vec<_> =
        fs::read_dir(root).expect("readable").map(|entry| entry.expect("readable").path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    cases
}

#[test]
fn charts_render_as_helm_renders_them() {
    let cases = cases();
    assert!(cases.len() >= 13, "the cases are gone");
    for dir in cases {
        let output = dir.join("expected.yaml");
        let expected = if output.exists() { output } else { dir.join("expected_error.txt") };
        let expected = fs::read_to_string(expected).expect("readable");
        assert_eq!(printed(&dir).trim_end(), expected.trim_end(), "{}", dir.display());
    }
}

#[test]
fn a_refusal_says_which_value_avoids_it() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/helm/random-refused-error/in");
    let files = DiskFiles::new(dir);
    let chart = RepoPath::new("c").expect("plain");
    let error = helm::render(&View::new(&files), &chart, &Options::default()).expect_err("is refused");
    assert_eq!(
        error.diagnostic().to_string(),
        "error: c/templates/t.yaml:4:6: `now` reads the clock: its result would change with every render
  --> c/templates/t.yaml:4:7
   |
 4 | a: {{ now | unixEpoch }}
   |       ^^^
  = hint: set `auth.stamp`, or have an admin allow `now` by name"
    );
}
