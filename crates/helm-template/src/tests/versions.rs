//! What versions of Helm do otherwise, by the cases of `tests/cases/helm-versions`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dry_files::path::RepoPath;
use dry_files::view::{MemoryFiles, View};

use crate::version::differences::{DIFFERENCES, Difference, Value};
use crate::{Helm, Options, ValuesSource, render};

/// A chart with its flags, and what versions print for it; nothing where they fail.
struct Case {
    files: MemoryFiles,
    args: Vec<String>,
    answers: Vec<(Helm, Option<String>)>,
}

impl Case {
    /// Reads the text that the head of `tests/cases/helm-versions/record` describes.
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("readable");
        let mut case = Self { files: MemoryFiles::new(), args: Vec::new(), answers: Vec::new() };
        let mut sections: Vec<(&str, String)> = Vec::new();
        for line in text.split_inclusive('\n') {
            match line.strip_prefix("-- ").and_then(|line| line.strip_suffix(" --\n")) {
                Some(name) => sections.push((name, String::new())),
                None => sections.last_mut().into_iter().for_each(|(_, text)| text.push_str(line)),
            }
        }
        for (name, text) in sections {
            let versions: Vec<Helm> = name.split(' ').map_while(|word| word.parse().ok()).collect();
            match (name, name.split_once(" repeated ")) {
                ("args", _) => case.args = text.lines().map(str::to_owned).collect(),
                (path, Some((file, count))) => {
                    let count = count.parse().unwrap_or_else(|_| panic!("a count in {path}"));
                    case.files = case.files.file(file, vec![b'a'; count]);
                }
                (path, None) if versions.is_empty() => case.files = case.files.file(path, text),
                (answer, None) => {
                    let printed = (!answer.contains(" fail")).then_some(text);
                    case.answers.extend(versions.into_iter().map(|helm| (helm, printed.clone())));
                }
            }
        }
        case
    }

    /// What this engine prints; nothing when it fails.
    fn print(&self, helm: Helm) -> Option<String> {
        let mut options = Options { release_name: "rel".to_owned(), helm, ..Options::default() };
        for flag in self.args.chunks(2) {
            match flag {
                [flag, value] if flag == "--set" => options.set.push(value.clone()),
                [flag, value] if flag == "--set-json" => options.set_json.push(value.clone()),
                [flag, value] if flag == "--kube-version" => options.kube_version = Some(value.clone()),
                [flag, value] if flag == "-f" => options.values.push(ValuesSource::File(path(value))),
                _ => panic!("flags {flag:?}"),
            }
        }
        render(&View::new(&self.files), &path("chart"), &options).ok().map(|rendered| rendered.text)
    }
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

fn cases() -> BTreeMap<String, Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/helm-versions");
    let files = fs::read_dir(dir).expect("readable").map(|entry| entry.expect("readable").path());
    let cases = files.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    cases.map(|path| (path.file_stem().expect("a name").to_string_lossy().into_owned(), Case::read(&path))).collect()
}

#[test]
fn a_version_prints_what_the_real_one_does() {
    let mut wrong = Vec::new();
    for (name, case) in cases() {
        for (helm, expected) in &case.answers {
            let printed = case.print(*helm);
            if printed != *expected {
                wrong.push(format!("{name} as {helm}: {}", printed.unwrap_or_else(|| "fails".to_owned())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a case shows that a version has this value of a switch, and not the other one.
fn tells_apart(case: &Case, difference: &Difference, value: &Value, other: &Value) -> bool {
    case.answers.iter().any(|(helm, expected)| {
        let (mut here, mut there) = (helm.switches(), helm.switches());
        (value.put)(&mut here);
        (other.put)(&mut there);
        assert_ne!(here, there, "two values of {}", difference.switch);
        here == helm.switches() && case.print(helm.with(there)) != *expected
    })
}

#[test]
fn each_row_of_the_table_has_cases_that_fail_when_its_switch_is_wrong() {
    let cases = cases();
    let mut missing = Vec::new();
    for difference in DIFFERENCES {
        for value in difference.values {
            let shown: Vec<&Case> = value.case.split(' ').filter_map(|name| cases.get(name)).collect();
            for other in difference.values.iter().filter(|other| other.name != value.name) {
                if !shown.iter().any(|case| tells_apart(case, difference, value, other)) {
                    missing.push(format!("{}: {} from {}", difference.switch, value.name, other.name));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no case tells apart:\n{}", missing.join("\n"));
}

/// The table of `docs/differences.md`.
fn table() -> String {
    let mut table = "| what | Helm | since | case |\n|---|---|---|---|\n".to_owned();
    for difference in DIFFERENCES {
        let what = difference.what.join("").trim().to_owned();
        for value in difference.values {
            let since = difference.since.iter().zip(difference.since.iter().skip(1).map(Some).chain([None]));
            let ranges = since.filter(|((_, name), _)| *name == value.name).map(|((from, _), next)| match next {
                Some((until, _)) => format!("{from} (until {until})"),
                None => (*from).to_owned(),
            });
            let ranges: Vec<String> = ranges.collect();
            let case = value.case.replace(' ', ", ");
            table += &format!("| {what} | {} | {} | {case} |\n", value.what.join("").trim(), ranges.join(", "));
        }
    }
    table
}

#[test]
fn the_documents_have_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/differences.md");
    let text = fs::read_to_string(&page).expect("readable");
    let table = table();
    if text.contains(&table) {
        return;
    }
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let head = table.lines().next().unwrap_or_default();
        let start = text.find(head).expect("the head of the table");
        let end = text[start..].find("\n\n").map_or(text.len(), |end| start + end + 1);
        fs::write(&page, format!("{}{table}{}", &text[..start], &text[end..])).expect("writable");
        return;
    }
    panic!("docs/differences.md lacks this table; UPDATE_EXPECTED=1 writes it:\n{table}");
}
