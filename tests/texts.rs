//! Every text that a user may see, in one file: `tests/cases/texts.txt`, so that a change of one shows in review.
//!
//! Made from the source: the literals of sentences outside of tests, in the order of the alphabet for each crate, so that a text
//! that moves to another file changes nothing; and the help of each command. The words of Go, Helm and Kustomize, which the
//! engines give back as they are, are among them where they stand beside ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{BINARY, Lab};

/// Crates whose every word is upstream's.
const UPSTREAM: [&str; 4] = ["go-std", "go-template", "go-yaml", "rsjsonnet-lang"];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The string literals of a Rust file before its tests, each with what stands before it on its line.
fn literals(text: &str) -> Vec<(String, String)> {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let bytes = text.as_bytes();
    let (mut at, mut line_start, mut found) = (0, 0, Vec::new());
    while at < bytes.len() {
        let rest = &text[at..];
        let before = || text[line_start..at].trim_start().to_owned();
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(hashes) = raw_start(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = at + 2 + hashes;
            let length = text[start..].find(&end).expect("a raw string ends");
            found.push((before(), text[start..start + length].to_owned()));
            at = start + length + end.len();
        } else if rest.starts_with('"') {
            let mut end = at + 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            found.push((before(), unescaped(&text[at + 1..end])));
            at = end + 1;
        } else if let Some(inner) = rest.strip_prefix('\'') {
            // A character, or a lifetime.
            let escaped = inner.starts_with('\\');
            let close = inner.char_indices().skip(1 + usize::from(escaped)).take(10).find(|(_, c)| *c == '\'');
            let is_character =
                close.is_some_and(|(close, _)| escaped || inner.get(..close).is_some_and(|c| c.chars().count() == 1));
            at += if is_character { close.map_or(1, |(close, _)| close + 2) } else { 1 };
        } else {
            if rest.starts_with('\n') {
                line_start = at + 1;
            }
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// The number of `#` of a raw string that starts here.
fn raw_start(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('r')?;
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    rest[hashes..].starts_with('"').then_some(hashes)
}

/// A literal as the program has it, but for its line breaks, which stay `\n`.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        rest = match after.chars().next() {
            Some('\n') => after.trim_start(),
            Some('"') => {
                out.push('"');
                &after[1..]
            }
            Some('\\') => {
                out.push_str("\\\\");
                &after[1..]
            }
            _ => {
                out.push('\\');
                after
            }
        };
    }
    out + rest
}

/// Whether a literal is a sentence, or a part of one.
fn is_text(before: &str, text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1).count();
    let is_for_us =
        [".expect(", "expect(", "reason = ", "unreachable!(", "include_str!("].iter().any(|end| before.ends_with(end));
    words > 1 && !is_for_us
}

fn texts() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut crates = BTreeMap::from([("git-hydrate".to_owned(), root.join("src"))]);
    for entry in fs::read_dir(root.join("crates")).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
        crates.insert(name, path.join("src"));
    }
    let mut all = String::from("# Made by tests/texts.rs; to take changes over: UPDATE_EXPECTED=1 cargo test texts\n");
    for (name, src) in crates.iter().filter(|(name, _)| !UPSTREAM.contains(&name.as_str())) {
        let texts = texts_of(src);
        if !texts.is_empty() {
            all += &format!("\n## {name}\n{}", texts.into_iter().collect::<String>());
        }
    }
    all + &help()
}

/// The texts of a crate, each in a line.
fn texts_of(src: &Path) -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(src, &mut files);
    let mut texts = BTreeSet::new();
    for file in files {
        let name = file.strip_prefix(src).expect("below").to_str().expect("UTF-8");
        if name.ends_with("tests.rs") || name.contains("tests/") {
            continue;
        }
        let literals = literals(&fs::read_to_string(&file).expect("readable"));
        let literals = literals.iter().filter(|(before, text)| is_text(before, text));
        texts.extend(literals.map(|(_, text)| format!("{}\n", text.replace('\n', "\\n"))));
    }
    texts
}

/// What each command prints with `--help`.
fn help() -> String {
    let lab = Lab::new();
    let ask = |args: &[&str]| {
        let output = lab.command(BINARY, &lab.path("")).args(args).output().expect("runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let commands = ask(&["-h"]);
    let commands = commands.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<String> = commands.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
    assert!(names.len() > 10, "{names:?}");
    let mut all = format!("\n## git hydrate --help\n{}", ask(&["--help"]));
    for name in names.iter().filter(|name| *name != "help") {
        all += &format!("\n## git hydrate {name} --help\n{}", ask(&[name, "--help"]));
    }
    all.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn every_text_is_in_one_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/texts.txt");
    let found = texts();
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        return fs::write(&path, &found).expect("written");
    }
    let expected = fs::read_to_string(&path).expect("readable");
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(
            found,
            expected,
            "tests/cases/texts.txt:{}; to take it over: UPDATE_EXPECTED=1 cargo test texts",
            number + 1
        );
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}
