//! Texts as go-yaml reads and writes them. `tests/cases/yaml/README.md` says where the expected files come from.

use std::fs;
use std::path::{Path, PathBuf};

use git_hydrate::testing::yaml::{self, Dialect, Limits, Sequences, Value, json, sigs};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn files_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

fn to_json(value: &Value) -> String {
    json::encode(value, json::Options { escape_html: true, indent: None }) + "\n"
}

/// What is made of a text, by the name of the file that holds what is expected.
fn results(text: &[u8]) -> Vec<(&'static str, String)> {
    let limits = Limits::default();
    let mut results = Vec::new();
    let mut add = |name, error_name, result: Result<String, yaml::Error>| match result {
        Ok(text) => results.push((name, text)),
        Err(error) => results.push((error_name, format!("{error}\n"))),
    };
    let v2 = sigs::yaml_to_json(text, &limits);
    if let Ok(value) = &v2 {
        add("v2.yaml", "v2_error.txt", sigs::marshal(value));
    }
    add("v2.json", "v2_error.txt", v2.map(|value| to_json(&value)));
    let v3 = yaml::parse_first(text, &limits)
        .and_then(|node| node.map_or(Ok(Value::Null), |node| node.to_value(Dialect::V3, &limits)));
    add("v3.json", "v3_error.txt", v3.map(|value| to_json(&value)));
    let nodes = yaml::parse(text, &limits);
    add("nodes.yaml", "parse_error.txt", nodes.map(|nodes| yaml::emit_nodes(&nodes, Sequences::Compact)));
    results.sort();
    results
}

#[test]
fn texts_are_read_and_written_as_go_yaml_does() {
    let mut count = 0;
    for entry in fs::read_dir(cases().join("yaml")).expect("readable") {
        let case = entry.expect("readable").path();
        if !case.is_dir() {
            continue;
        }
        count += 1;
        let name = case.file_name().expect("a name").to_string_lossy().into_owned();
        let mut expected: Vec<(String, String)> = Vec::new();
        for file in fs::read_dir(&case).expect("readable") {
            let path = file.expect("readable").path();
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            if file != "in.yaml" {
                expected.push((file, fs::read_to_string(&path).expect("UTF-8")));
            }
        }
        expected.sort();
        let found = results(&fs::read(case.join("in.yaml")).expect("readable"));
        assert_eq!(
            found.iter().map(|(file, _)| *file).collect::<Vec<_>>(),
            expected.iter().map(|(file, _)| file.as_str()).collect::<Vec<_>>(),
            "{name}"
        );
        for ((file, found), (_, expected)) in found.iter().zip(&expected) {
            assert!(found == expected, "{name}/{file}\n--- expected\n{expected}\n--- found\n{found}");
        }
    }
    assert!(count > 40, "only {count} cases");
}

/// The value with its numbers as another Go program has them.
fn with_numbers(value: &Value, number: &impl Fn(&Value) -> Value) -> Value {
    match value {
        Value::Sequence(items) => Value::Sequence(items.iter().map(|item| with_numbers(item, number)).collect()),
        Value::Mapping(mapping) => {
            Value::Mapping(mapping.iter().map(|(key, value)| (key.clone(), with_numbers(value, number))).collect())
        }
        Value::Int(_) | Value::Uint(_) => number(value),
        value => value.clone(),
    }
}

#[test]
fn values_are_written_as_go_does() {
    let float = |value: &Value| match value {
        Value::Int(number) => Value::Float(*number as f64),
        Value::Uint(number) => Value::Float(*number as f64),
        value => value.clone(),
    };
    let small = |value: &Value| match value {
        Value::Uint(number) => Value::Float(*number as f64),
        value => value.clone(),
    };
    let mut count = 0;
    for entry in fs::read_dir(cases().join("yaml-values")).expect("readable") {
        let case = entry.expect("readable").path();
        let text = fs::read(case.join("in.json")).expect("readable");
        let value = json::decode(&text, &Limits::default()).expect("JSON");
        let (floats, integers) = (with_numbers(&value, &float), with_numbers(&value, &small));
        let encode = |escape_html, indent| json::encode(&floats, json::Options { escape_html, indent }) + "\n";
        let rows = [
            ("v2.yaml", sigs::marshal(&value).expect("no forbidden characters")),
            ("v3.yaml", yaml::emit_v3(&integers, Sequences::Indented)),
            ("v3-compact.yaml", yaml::emit_v3(&integers, Sequences::Compact)),
            ("out.json", encode(true, None)),
            ("raw.json", encode(false, None)),
            ("indented.json", encode(true, Some("  "))),
        ];
        for (file, found) in rows {
            let expected = fs::read_to_string(case.join(file)).expect("readable");
            assert!(found == expected, "{}/{file}\n--- expected\n{expected}\n--- found\n{found}", case.display());
            count += 1;
        }
    }
    assert!(count > 100, "only {count} files");
}

/// Other cases hold templates and broken files too: none may do harm, and what a tool wrote must be readable.
#[test]
fn every_file_of_every_case_can_be_looked_at() {
    let mut files = Vec::new();
    files_below(&cases(), &mut files);
    for path in files {
        let text = fs::read(&path).expect("readable");
        let results = results(&text);
        if path.file_name().is_some_and(|name| name == "expected.yaml") {
            let errors: Vec<_> = results.iter().filter(|(name, _)| *name == "parse_error.txt").collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
}
