//! Kustomizations as `kubectl kustomize` 5.8.1 builds them: a folder a rule, see `tests/cases/kustomize`.
//!
//! A case has `case.json` (what it is about, the directory to build, flags), its files in `in`, and what the real
//! Kustomize printed: `expected.yaml`, or `expected_error.txt` with `{in}` for the path of `in`. Where
//! `case.json` says `own_text`, that text is ours. `tests/cases/kustomize/expect` writes what is expected of a new case.

use std::fs;
use std::path::{Path, PathBuf};

use git_hydrate::testing::kustomize::{self, NativeCharts, Options};
use git_hydrate::testing::needs::Vendored;
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::view::{DiskFiles, View};

#[derive(serde::Deserialize)]
struct Case {
    #[serde(default = "here")]
    target: String,
    #[serde(default)]
    flags: Vec<String>,
}

fn here() -> String {
    ".".to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/kustomize")
}

/// What the case prints: its output, or its error.
fn printed(dir: &Path) -> Result<String, String> {
    let case = fs::read_to_string(dir.join("case.json")).expect("readable");
    let case: Case = serde_json::from_str(&case).expect("a case");
    let (mut options, _) = Options::parse(case.flags.iter().map(String::as_str)).expect("flags of Kustomize");
    options.inputs = &Vendored;
    let files = DiskFiles::new(dir.join("in"));
    let target = RepoPath::clean(&case.target).expect("plain");
    kustomize::build(&View::new(&files), &target, &options, Some(&NativeCharts::default()))
        .and_then(|build| build.to_yaml())
        .map_err(|error| format!("Error: {}\n", error.message().trim_end()))
}

#[test]
fn kustomizations_build_as_kustomize_builds_them() {
    let mut cases: Vec<_> =
        fs::read_dir(root()).expect("readable").map(|entry| entry.expect("readable").path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    assert!(cases.len() >= 70, "the cases are gone");
    let mut wrong = Vec::new();
    for dir in cases {
        let (file, printed) = match printed(&dir) {
            Ok(output) => ("expected.yaml", output),
            Err(message) => ("expected_error.txt", message),
        };
        let expected = fs::read_to_string(dir.join(file)).unwrap_or_default();
        let expected = expected.replace("{in}/", "").replace("{in}", ".");
        if printed != expected {
            let name = dir.file_name().unwrap_or_default().display().to_string();
            wrong.push(format!("{name}\n--- {file}\n{expected}\n--- printed\n{printed}"));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}
