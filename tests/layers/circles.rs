//! Files of one module do not use each other in circles.
//!
//! A file and the files below it belong together: the upper one has the types, the lower ones the work. Between all others
//! of a module the arrows form no circle. What a file uses is read from its paths: by `use`, and by `crate::`, `super::` and
//! the names of modules in the code; a name that a file only passes on by `pub use` counts for the file that has it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Module = Vec<String>;

/// What is looked at of a file.
struct Source {
    /// Its code without comments, texts, tests and `use`.
    code: String,
    /// What it declares.
    items: BTreeSet<String>,
    /// The paths of `use`, with the name that each gets here, and whether others see it.
    uses: Vec<(Vec<String>, String, bool)>,
}

impl Source {
    fn read(text: &str) -> Self {
        let mut code = bare(text);
        code.truncate(code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len()));
        let mut uses = Vec::new();
        let mut rest = String::new();
        let mut lines = code.split_inclusive('\n');
        while let Some(line) = lines.next() {
            let begin = line.trim_start();
            let tree = begin.split_once("use ").filter(|(before, _)| before.is_empty() || before.starts_with("pub"));
            let Some((before, tree)) = tree else {
                rest.push_str(line);
                continue;
            };
            let mut tree = tree.to_owned();
            while !tree.contains(';') {
                tree.push_str(lines.next().expect("a `use` ends"));
            }
            expand(tree.split(';').next().unwrap_or_default(), &[], &mut |path, alias| {
                uses.push((path, alias, !before.is_empty()));
            });
        }
        let items = rest.lines().filter_map(declared).collect();
        Self { code: rest, items, uses }
    }

    fn path_of(&self, name: &str) -> Option<&[String]> {
        let used =
            self.uses.iter().find(|(path, alias, _)| alias == name && path.first().is_some_and(|first| first != name));
        used.map(|(path, ..)| path.as_slice())
    }
}

/// The item that a line at the left margin declares.
fn declared(line: &str) -> Option<String> {
    const KINDS: &[&str] = &["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules!"];
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let mut words =
        line.split_whitespace().skip_while(|word| !KINDS.contains(word) || *word == "const" && line.contains(" fn "));
    words.next()?;
    let name: String = words.next()?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    Some(name).filter(|name| !name.is_empty())
}

/// Code without comments and without what is inside of quotes.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            'r' if !out.ends_with(|c: char| c.is_alphanumeric() || c == '_') && raw(rest).is_some() => {
                raw(rest).unwrap_or_default()
            }
            '"' => quoted(rest),
            '\'' if rest[1..].starts_with('\\') => rest[3..].find('\'').map_or(rest.len(), |end| end + 4),
            '\'' if rest.chars().nth(2) == Some('\'') => rest.char_indices().nth(3).map_or(rest.len(), |(at, _)| at),
            _ => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

/// How long the raw string at the beginning is, when there is one.
fn raw(text: &str) -> Option<usize> {
    let after = text[1..].trim_start_matches('#');
    let hashes = &text[1..text.len() - after.len()];
    let end = format!("\"{hashes}");
    let body = after.strip_prefix('"')?;
    Some(text.len() - body.len() + body.find(&end)? + end.len())
}

/// How long the string at the beginning is.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Every path of a tree of `use`, with the name that it gets.
fn expand(tree: &str, before: &[String], found: &mut dyn FnMut(Vec<String>, String)) {
    let names = |text: &str| -> Vec<String> {
        text.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    };
    let Some((base, inner)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim())));
        let mut path = [before, &names(path)].concat();
        path.pop_if(|last| last == "self");
        let alias = alias.map(str::to_owned).or_else(|| path.last().cloned());
        return found(path, alias.unwrap_or_default());
    };
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let base = [before, &names(base)].concat();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[start..at].trim().is_empty() {
                    expand(&inner[start..at], &base, found);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// All files of a crate by the paths of their modules.
struct Crate(BTreeMap<Module, Source>);

impl Crate {
    fn read(src: &Path) -> Self {
        let mut files = Vec::new();
        super::sources(src, &mut files);
        let mut modules = BTreeMap::new();
        for file in files {
            let path = file.strip_prefix(src).expect("below src").with_extension("");
            let module: Module = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            let is_other = matches!(module[0].as_str(), "bin" | "main" | "lib" | "testing" | "fetch");
            if !is_other && !module.iter().any(|name| name.starts_with("tests")) {
                modules.insert(module, Source::read(&fs::read_to_string(file).expect("readable")));
            }
        }
        Self(modules)
    }

    /// The path from the root of the crate that a path in a module means; none for other crates.
    fn absolute(&self, module: &[String], path: &[String], depth: u32) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => return Some([module, rest].concat()),
            "super" => {
                let above = path.iter().take_while(|name| *name == "super").count();
                let base = module.get(..module.len().checked_sub(above)?)?;
                return Some([base, &path[above..]].concat());
            }
            _ => {}
        }
        let child = [module, std::slice::from_ref(first)].concat();
        if self.0.contains_key(&child) {
            return Some([&child, rest].concat());
        }
        let used = self.0.get(module)?.path_of(first).filter(|_| depth < 6)?;
        Some([&self.absolute(module, used, depth + 1)?, rest].concat())
    }

    /// The file that has what a path from the root means.
    fn home(&self, path: &[String], depth: u32) -> Option<Module> {
        let length = (1..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let Some((name, below)) = rest.split_first() else { return Some(module.to_vec()) };
        let source = &self.0[module];
        if source.items.contains(name) || depth > 12 {
            return Some(module.to_vec());
        }
        let Some(used) = source.path_of(name) else { return Some(module.to_vec()) };
        let passed_on = self.absolute(module, used, 0).map(|used| [&used, below].concat());
        passed_on.and_then(|path| self.home(&path, depth + 1)).or_else(|| Some(module.to_vec()))
    }

    /// The files that a file uses.
    fn uses(&self, module: &[String]) -> BTreeSet<Module> {
        let source = &self.0[module];
        let mut paths: Vec<Vec<String>> = Vec::new();
        for (path, alias, is_passed_on) in &source.uses {
            // What is used of a module follows from the code.
            let names_module = self.absolute(module, path, 0).is_some_and(|path| self.0.contains_key(&path));
            match names_module {
                true => paths.extend(named(&source.code, alias).map(|name| [path.as_slice(), &[name]].concat())),
                false if !is_passed_on => paths.push(path.clone()),
                false => {}
            }
        }
        for child in self.0.keys().filter(|other| other.len() == module.len() + 1 && other.starts_with(module)) {
            let child = &child[module.len()];
            paths.extend(named(&source.code, child).map(|name| vec!["self".to_owned(), child.clone(), name]));
        }
        for root in ["crate", "super", "self"] {
            for (at, _) in source.code.match_indices(&format!("{root}::")) {
                let before = source.code[..at].chars().next_back();
                let path: String =
                    source.code[at..].chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
                if before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | ':')) {
                    paths.push(path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect());
                }
            }
        }
        let homes = paths.iter().filter_map(|path| self.home(&self.absolute(module, path, 0)?, 0));
        homes.filter(|home| home[0] == module[0] && !home.starts_with(module) && !module.starts_with(home)).collect()
    }

    /// Everything that is reached from each file.
    fn reached(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let uses: BTreeMap<&Module, BTreeSet<Module>> =
            self.0.keys().map(|module| (module, self.uses(module))).collect();
        let reach = |from: &Module| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = next.pop() {
                next.extend(uses[&module].iter().filter(|used| seen.insert((*used).clone())).cloned());
            }
            seen
        };
        self.0.keys().map(|module| (module, reach(module))).collect()
    }
}

/// What follows `name::` in code.
fn named<'c>(code: &'c str, name: &str) -> impl Iterator<Item = String> + use<'c> {
    let start = format!("{name}::");
    let found: Vec<String> = code
        .match_indices(&start)
        .filter(|(at, _)| {
            code[..*at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | ':'))
        })
        .map(|(at, _)| code[at + start.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect();
    found.into_iter()
}

#[test]
fn files_of_a_module_use_each_other_in_no_circle() {
    let circles: Vec<String> = super::crates().iter().flat_map(|src| circles_of(src)).collect();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

/// The circles of one crate, each in a line.
fn circles_of(src: &Path) -> Vec<String> {
    let all = Crate::read(src);
    let reached = all.reached();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, below) in &reached {
        let circle: Vec<String> = reached
            .iter()
            .filter(|(other, back)| below.contains(**other) && back.contains(*module))
            .map(|(other, _)| other.join("/"))
            .collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.iter().map(|circle| circle.join(" ")).collect()
}

#[test]
fn a_circle_is_found_through_a_name_that_is_passed_on() {
    let source = |text: &str| Source::read(text);
    let module = |path: &str| path.split('/').map(str::to_owned).collect::<Module>();
    let all = Crate(BTreeMap::from([
        (module("a"), source("mod b;\nmod c;\npub use b::One;\n")),
        (module("a/b"), source("use super::c;\npub struct One;\nfn f() { c::two(\"c::three\", '\"') } // c::four()\n")),
        (module("a/c"), source("use super::{\n    One,\n};\npub fn two(_: One) {}\n")),
    ]));
    assert_eq!(all.uses(&module("a/b")), BTreeSet::from([module("a/c")]));
    assert_eq!(all.uses(&module("a/c")), BTreeSet::from([module("a/b")]));
    assert_eq!(all.uses(&module("a")), BTreeSet::new());
}
