//! Arrows between modules point down only, every test file is part of the runner, and doc comments stand alone.

mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The map of modules as the documentation of the crate draws it.
struct Map {
    /// The line of each module, counted from the top.
    rank: BTreeMap<String, usize>,
    /// Arrows that are allowed inside a line.
    sideways: BTreeSet<(String, String)>,
}

/// What a line of the map may begin with.
const AREAS: &[&str] = &["edge", "operation", "state", "stage", "domain", "format", "ground"];

impl Map {
    fn read() -> Self {
        let lib = include_str!("../src/lib.rs");
        let (_, map) = lib.split_once("//! # Rooms").expect("a map");
        let map = map.split("```").nth(1).expect("a block").trim_start_matches("text");
        let (mut rank, mut sideways) = (BTreeMap::new(), BTreeSet::new());
        for (number, line) in map.lines().map(|line| line.trim_start_matches("//!").trim()).enumerate() {
            let area = AREAS.iter().find_map(|area| line.strip_prefix(area)).unwrap_or(line).trim();
            // An arrow may begin a line that goes on with those of the line before.
            let begins_with_arrow = area.split_whitespace().nth(1) == Some("->");
            let (names, arrows) =
                if begins_with_arrow { ("", area) } else { area.split_once("      ").unwrap_or((area, "")) };
            rank.extend(names.split_whitespace().map(|name| (name.to_owned(), number)));
            for arrow in arrows.split(',').filter(|arrow| !arrow.trim().is_empty()) {
                let (from, to) = arrow.split_once("->").expect("an arrow");
                sideways.extend(to.split_whitespace().map(|to| (from.trim().to_owned(), to.to_owned())));
            }
        }
        Self { rank, sideways }
    }

    fn allows(&self, from: &str, to: &str) -> bool {
        let (Some(here), Some(there)) = (self.rank.get(from), self.rank.get(to)) else { return true };
        from == to || there > here || (there == here && self.sideways.contains(&(from.to_owned(), to.to_owned())))
    }
}

#[test]
fn the_map_is_read_as_it_is_drawn() {
    let map = Map::read();
    assert!(map.allows("cli", "repo") && map.allows("metadata", "manifest") && map.allows("discover", "render"));
    assert!(!map.allows("repo", "cli") && !map.allows("manifest", "metadata") && !map.allows("inspect", "hydrate"));
    let drawn: BTreeSet<String> = map.rank.keys().cloned().collect();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let there = files.iter().map(|file| module_of(file.strip_prefix(&src).expect("below src")));
    assert_eq!(drawn, there.filter(|name| name != "lib").collect());
}

/// Where the sources of each crate are, those of the product first.
fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(root.join("crates")).expect("readable");
    let mut crates: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path().join("src")).collect();
    // The fork keeps the shape of its own project.
    crates.retain(|src| !src.ends_with("rsjsonnet-lang/src"));
    crates.sort();
    crates.insert(0, root.join("src"));
    crates
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("src is readable") {
        let path = entry.expect("src is readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn module_of(path: &Path) -> String {
    let first = path.components().next().expect("a file has a name").as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// The modules that a file names by `crate::` or `git_hydrate::` paths, comments left out.
fn uses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for root in ["crate::", "git_hydrate::"] {
            for (at, _) in line.match_indices(root) {
                let rest = &line[at + root.len()..];
                let names = rest
                    .strip_prefix('{')
                    .map_or_else(|| vec![rest], |list| list.split('}').next().unwrap_or_default().split(',').collect());
                for name in names {
                    let end = name.trim_start().find(|c: char| !c.is_alphanumeric() && c != '_');
                    let name = name.trim_start();
                    found.push(name[..end.unwrap_or(name.len())].to_owned());
                }
            }
        }
    }
    found
}

#[test]
fn arrows_between_layers_point_down() {
    let map = Map::read();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 5, "no sources found");
    let mut wrong = Vec::new();
    for file in files {
        let path = file.strip_prefix(&src).expect("below src");
        let module = module_of(path);
        if module == "lib" {
            continue;
        }
        for used in uses(&fs::read_to_string(&file).expect("readable")) {
            if !map.allows(&module, &used) {
                wrong.push(format!("{}: `{module}` must not use `{used}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What reaches the host and is a function of more than the dry commit. A stopwatch for a time limit changes no byte.
const DOORS: &[&str] = &[
    "std::env",
    "std::fs",
    "std::process",
    "SystemTime",
    "Timestamp::now",
    "Zoned::now",
    "TimeZone::system",
    "TcpStream",
    "UdpSocket",
    "UnixStream",
    "ToSocketAddrs",
    "getrandom",
    "tempfile",
    "rustix",
    "libc::",
];

/// The rooms and files of which a hydrated commit is a function, as all crates of `crates/` are but those named here; and the
/// files that work on a disk.
const SEALED: &[&str] = &[
    "src/argo",
    "src/diff",
    "src/discover",
    "src/manifest",
    "src/metadata",
    "src/render/directory",
    "src/render/jsonnet",
    "src/render/needs",
    "src/repo/publish",
    "src/settings",
];
const UNSEALED: &[&str] = &[
    "src/render/jsonnet/evaluate.rs",
    "crates/confine/",
    "crates/dry-files/src/growth.rs",
    "crates/dry-files/src/regular.rs",
    "crates/dry-files/src/removal.rs",
    "crates/dry-files/src/scratch.rs",
    "crates/dry-files/src/view/disk.rs",
    "crates/git-hydrate-fetch/",
];

#[test]
fn what_shapes_a_commit_names_no_door_to_the_host() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    crates().iter().for_each(|src| sources(src, &mut files));
    let mut wrong = Vec::new();
    for file in files {
        let file_path = file.strip_prefix(root).expect("below the root");
        let path = file_path.to_string_lossy().into_owned();
        let is_of = |room: &&&str| path.strip_prefix(**room).is_some_and(|rest| rest.starts_with(['/', '.']));
        let is_sealed = !path.starts_with("src/") || SEALED.iter().any(|room| is_of(&room));
        if !is_sealed
            || path.contains("/tests")
            || path.ends_with("/cost.rs")
            || UNSEALED.iter().any(|unsealed| path.starts_with(unsealed))
        {
            continue;
        }
        let text = fs::read_to_string(&file).expect("readable");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in (1..).zip(code.lines()).filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let doors = DOORS.iter().filter(|door| line.contains(**door));
            wrong.extend(doors.map(|door| format!("{path}:{number}: {door}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_test_file_is_in_the_runner() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let runner = fs::read_to_string(tests.join("runner.rs")).expect("readable");
    for entry in fs::read_dir(&tests).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "rs") && name != "runner" {
            assert!(runner.contains(&format!("mod {name};")), "tests/{name}.rs is not listed in tests/runner.rs");
        }
    }
}

/// How a doc comment begins that says nothing without the one before it.
const SAME: &str = "The same";

/// The lines where a doc comment begins that only says how its item is like the one above, from 1.
fn leaning_comments(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut before = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let comment = ["///", "//!"].into_iter().find_map(|mark| Some((mark, line.strip_prefix(mark)?)));
        let mark = comment.map(|(mark, _)| mark);
        if mark != before && comment.is_some_and(|(_, text)| text.trim_start().starts_with(SAME)) {
            found.push(number);
        }
        before = mark;
    }
    found
}

#[test]
fn a_doc_comment_that_leans_on_its_neighbour_is_found_where_it_begins() {
    assert_eq!(leaning_comments(&format!("//! {SAME} files.\n\n    /// {SAME}.\nfn same() {{}}\n")), [1, 3]);
    assert_eq!(leaning_comments(&format!("//! Files.\n///{SAME}, twice.\nfn twice() {{}}\n")), [2]);
    assert!(
        leaning_comments(&format!("/// Both have\n/// {SAME} name.\n// {SAME} as above.\nfn name() {{}}\n")).is_empty()
    );
}

#[test]
fn no_doc_comment_leans_on_its_neighbour() {
    let mut wrong = Vec::new();
    for (path, text) in written_here() {
        let lines = leaning_comments(&text);
        wrong.extend(lines.iter().map(|line| format!("{path}:{line}: say what the item is or does")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The path of each file of Rust that this project has written, and its text; `crates/rsjsonnet-lang` is a fork.
fn written_here() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    ["src", "crates", "tests", "benches", "fuzz"].iter().for_each(|dir| sources(&root.join(dir), &mut files));
    // `cargo fuzz` builds beside its inputs.
    let others = ["crates/rsjsonnet-lang", "fuzz/target"].map(|dir| root.join(dir));
    files.retain(|file| !others.iter().any(|dir| file.starts_with(dir)));
    let path = |file: &Path| file.strip_prefix(root).expect("below the root").display().to_string();
    files.iter().map(|file| (path(file), fs::read_to_string(file).expect("readable"))).collect()
}

/// How many lines a file may have, so that it is about one thing.
const LINES_MAX: usize = 600;

#[test]
fn no_file_is_long() {
    let long = written_here().into_iter().map(|(path, text)| (path, text.lines().count()));
    let long: Vec<(String, usize)> = long.filter(|(_, lines)| *lines > LINES_MAX).collect();
    assert!(long.is_empty(), "files of more than {LINES_MAX} lines: {long:?}");
}

/// What opens connections is part of one program only.
#[test]
fn only_the_fetcher_has_network_code() {
    let mut files = Vec::new();
    crates().iter().for_each(|src| sources(src, &mut files));
    let fetcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/git-hydrate-fetch/src");
    for file in files.iter().filter(|file| !file.starts_with(&fetcher)) {
        let text = fs::read_to_string(file).expect("readable");
        for name in ["ureq::", "rustls::", "TcpStream", "UdpSocket", "ToSocketAddrs", "to_socket_addrs"] {
            let used = text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| line.contains(name));
            assert!(!used, "{}: {name}", file.display());
        }
    }
    // Files of the crates, as panics name them, also where a linker leaves no symbols.
    let has = |program: &str, name: &[u8]| {
        let bytes = fs::read(program).expect("readable");
        memchr::memmem::find(&bytes, name).is_some()
    };
    for name in [&b"/ring-"[..], b"/rustls-", b"/ureq-"] {
        assert!(!has(env!("CARGO_BIN_EXE_git-hydrate"), name), "{}", String::from_utf8_lossy(name));
        assert!(has(env!("CARGO_BIN_EXE_git-hydrate-fetch"), name), "{}", String::from_utf8_lossy(name));
    }
}
