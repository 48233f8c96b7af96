//! What the real Kustomize of each version makes of the cases of `tests/versions`.
//!
//! `tests/versions/CASE/in` is built. `VERSION.yaml` beside it is what that version prints, `VERSION.error` what it says when it
//! refuses; each holds up to the next version that has a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::differences::cases;
use super::{Difference, Kustomize, Switches};
use crate::{Build, Error, NativeCharts, Options, build_with};
use dry_files::path::RepoPath;
use dry_files::view::{MemoryFiles, View};
use helm_template::Helm;

/// The versions whose outputs are recorded: those of the official binaries at hand. The others are known by the sources alone.
const RECORDED: [Kustomize; 4] = [Kustomize::V5_4_2, Kustomize::V5_6_0, Kustomize::V5_7_1, Kustomize::V5_8_1];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/versions")
}

fn files_below(dir: &Path, prefix: &str, files: MemoryFiles) -> MemoryFiles {
    let mut entries: Vec<_> = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry")).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    entries.into_iter().fold(files, |files, entry| {
        let path = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        match entry.file_type().expect("a type").is_dir() {
            true => files_below(&entry.path(), &path, files),
            false => files.file(&path, fs::read(entry.path()).expect("a file")),
        }
    })
}

/// What a case builds to.
fn built(case: &str, version: Kustomize, switches: Switches) -> Result<String, String> {
    let files = files_below(&root().join(case).join("in"), "in", MemoryFiles::new());
    let options = Options { version, enable_helm: true, ..Options::default() };
    let helm = if version < Kustomize::V5_8_1 && case != "chart-helm-four" { "3.17.3" } else { "4.2.3" };
    let charts = NativeCharts { helm: helm.parse::<Helm>().expect("a version"), ..NativeCharts::default() };
    let dir = RepoPath::new("in").expect("a path");
    let built = build_with(&View::new(&files), &dir, &options, switches, Some(&charts));
    built.and_then(|build: Build| build.to_yaml()).map_err(|error: Error| error.to_string())
}

/// What a case is recorded to build to, by version: nothing when it is refused.
fn recorded(case: &str) -> BTreeMap<Kustomize, Option<String>> {
    let files = fs::read_dir(root().join(case)).expect("a case").map(|entry| entry.expect("an entry").path());
    let outcome = |path: PathBuf| {
        let version = path.file_stem()?.to_str()?.parse().ok()?;
        let is_text = path.extension().is_some_and(|extension| extension == "yaml");
        Some((version, is_text.then(|| fs::read_to_string(&path).expect("a file"))))
    };
    files.filter_map(outcome).collect()
}

#[test]
fn every_version_builds_each_case_as_the_real_one() {
    let mut differing = Vec::new();
    let entries = fs::read_dir(root()).expect("the cases").map(|entry| entry.expect("an entry"));
    for entry in entries.filter(|entry| entry.path().is_dir()) {
        let case = entry.file_name().to_string_lossy().into_owned();
        let recorded = recorded(&case);
        for version in Kustomize::ALL {
            let is_known = RECORDED.contains(&version) || recorded.contains_key(&version);
            let Some((_, expected)) = recorded.range(..=version).next_back().filter(|_| is_known) else { continue };
            let ours = built(&case, version, Switches::of(version));
            if ours.as_ref().ok() != expected.as_ref() {
                differing.push(format!("{case} {version}\nexpected {expected:#?}\nfound {ours:#?}"));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}

#[test]
fn every_difference_has_a_case_that_shows_it() {
    for (difference, case) in cases() {
        let shows = |version: &Kustomize| {
            let switches = Switches::of(*version);
            built(case, *version, switches).ok() != built(case, *version, switches.flipped(difference)).ok()
        };
        assert!(Kustomize::ALL.iter().any(shows), "{case} does not show {difference:?}");
    }
}

#[test]
fn what_is_unknown_is_refused_with_the_nearest() {
    let rows = [("5.4.1", "5.4.2"), ("5.4.9", "5.5.0"), ("5.6.1", "5.7.0"), ("5.8.2", "5.8.1"), ("4.5.7", "5.4.2")];
    for (asked, nearest) in rows {
        let error = asked.parse::<Kustomize>().expect_err(asked).to_string();
        assert!(error.contains(&format!("the nearest that they can build as is {nearest};")), "{asked}: {error}");
    }
    for text in ["v5.8.1", "5.8", "", "latest", "05.8.1"] {
        let error = text.parse::<Kustomize>().expect_err(text).to_string();
        assert!(error.contains("is not an exact version of Kustomize such as 5.8.1"), "{text}: {error}");
    }
    for version in Kustomize::ALL {
        assert_eq!(version.to_string().parse(), Ok(version));
    }
}

#[test]
fn a_difference_that_ended_is_not_done_any_more() {
    let has = |version| Switches::of(version).has(Difference::NamespaceInherited);
    assert_eq!(Kustomize::ALL.map(has), [false, false, false, false, false, false, true, false]);
}

#[test]
fn the_label_of_build_metadata_names_the_version() {
    let files = MemoryFiles::new()
        .file("in/kustomization.yaml", "buildMetadata: [managedByLabel]\nconfigMapGenerator: [{name: a}]\n");
    for version in Kustomize::ALL {
        let options = Options { version, ..Options::default() };
        let dir = RepoPath::new("in").expect("a path");
        let built = crate::build(&View::new(&files), &dir, &options, None).and_then(|build| build.to_yaml());
        let label = format!("app.kubernetes.io/managed-by: kustomize-v{version}\n");
        assert!(built.as_ref().is_ok_and(|text| text.contains(&label)), "{version}: {built:?}");
    }
}
