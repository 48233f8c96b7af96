//! The methods of Go that templates can call on what they reach: each as Helm 4.2.3 calls or refuses it.
//!
//! `tests/cases/helm-methods/methods.txt` has every method of each type, as the real Helm's binary has them, and
//! `rows.txt` three lines for each call: its name, the template, and what Helm makes of it; `pushed.yaml` is what Helm makes of
//! the chart `pushed`. `record` makes all three.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use git_hydrate::testing::helm::{self, Options};
use git_hydrate::testing::path::RepoPath;
use git_hydrate::testing::view::{MemoryFiles, View};
use git_hydrate::testing::yaml::{Limits, Value, sigs};

use crate::push::{application, both, verified};

const METHODS: &str = include_str!("cases/helm-methods/methods.txt");
const ROWS: &str = include_str!("cases/helm-methods/rows.txt");

struct Row {
    /// The method, or a type and what the row is about.
    name: &'static str,
    template: &'static str,
    /// Behind `= ` what is printed, behind `! ` the error; `⏎` is a line break.
    expected: &'static str,
}

fn rows() -> Vec<Row> {
    let mut lines = ROWS.lines();
    let mut rows = Vec::new();
    while let (Some(name), Some(template), Some(expected)) = (lines.next(), lines.next(), lines.next()) {
        rows.push(Row { name, template, expected });
    }
    rows
}

/// The chart of all rows, without a template.
fn chart() -> MemoryFiles {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/helm-methods");
    let mut files = MemoryFiles::new();
    let mut folders: Vec<PathBuf> = vec![root.join("c")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).expect("below").to_str().expect("text").to_owned();
            files = files.file(&name, fs::read_to_string(&path).expect("text"));
        }
    }
    files
}

/// What the chart makes of a template, written as the rows are.
fn rendered(template: &str) -> String {
    let files = chart().file("c/templates/t.yaml", format!("x: |\n  {template}\n"));
    let options = Options { release_name: "r".to_owned(), namespace: "default".to_owned(), ..Options::default() };
    let text = match helm::render(&View::new(&files), &RepoPath::new("c").expect("plain"), &options) {
        Ok(rendered) => {
            let out = rendered.text.split_once("x: |\n  ").map_or("", |(_, out)| out);
            format!("= {}", out.trim_matches('\n'))
        }
        Err(error) => {
            let text = format!("Error: {}", error.helm_text());
            format!("! {}", text.trim_end().trim_end_matches("Use --debug flag to render out invalid YAML").trim_end())
        }
    };
    text.replace('\n', "⏎")
}

#[test]
fn a_method_prints_in_a_chart_what_helm_prints_and_is_never_taken_for_a_missing_key() {
    let rows = rows();
    let wrong: Vec<String> = rows
        .iter()
        .map(|row| (row, rendered(row.template)))
        .filter(|(row, found)| *found != row.expected)
        .map(|(row, found)| format!("{}\n  {}\n  helm  {}\n  found {found}", row.name, row.template, row.expected))
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn every_method_of_every_type_has_a_row() {
    let named: BTreeSet<&str> = rows().iter().map(|row| row.name).collect();
    let methods: Vec<&str> = METHODS.lines().collect();
    assert!(methods.len() > 100, "the list is gone");
    let missing: Vec<&&str> = methods.iter().filter(|method| !named.contains(**method)).collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
}

/// A method that is taken for a missing key leaves an empty value, and no error: a push shows it.
#[test]
fn a_pushed_chart_that_calls_methods_is_hydrated_as_helm_renders_it() {
    both(|server| {
        let clone = server.clone_to("clone");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/helm-methods");
        let (file, text) = application("web", "dev");
        let text = text.replace("apps/web/dev\n", "apps/web/dev\n      helm: {releaseName: web}\n");
        let mut files = vec![(file, text)];
        for name in ["Chart.yaml", "values.yaml", "templates/map.yaml"] {
            let text = fs::read_to_string(root.join("pushed").join(name)).expect("readable");
            files.push((format!("apps/web/dev/{name}"), text));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        clone.commit("a chart", &files);
        clone.push().success();
        let hydrated = server.git(&["show", "environments/dev:web/manifest.yaml"]);
        let rendered = fs::read_to_string(root.join("pushed.yaml")).expect("readable");
        let [hydrated, rendered] = [hydrated, rendered]
            .map(|text| sigs::yaml_to_json(text.as_bytes(), &Limits::default()).expect("a document"));
        assert_eq!(hydrated.get("data"), rendered.get("data"));
        assert_eq!(hydrated.at(&["data", "map"]), Some(&Value::from("hello")));
        verified(server);
    });
}
