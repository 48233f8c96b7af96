//! What kustomizations would have the official tools fetch, or hand on to git and Helm as an option.
//!
//! Our own engine opens no connection and starts nothing, and refuses what is elsewhere where it meets it. The official
//! Kustomize starts `git fetch` and `helm pull` with words of the tree: inside of the confinement, but nothing there needs
//! to see them. So a tree with such words is refused before any tool runs.
//!
//! Reference: kustomize 5.8.1 api/internal/git/cloner.go `ClonerUsingGitExec`,
//! api/internal/builtins/HelmChartInflationGenerator.go `pullCommand`, api/types/helmchartargs.go `AsHelmArgs`.

use std::collections::BTreeSet;

use super::charts::directory;
use super::failure::Failure;
use super::kustomization;
use crate::diag::{Diagnostic, Span};
use crate::inputs::ENTRIES;
use crate::kustomize::{is_repository, is_url, names_yaml};
use crate::path::RepoPath;
use crate::view::{Kind, View};
use crate::yaml::{self, Value};

/// How many files are looked at; the build refuses what has more.
const FILES_MAX: usize = 10_000;

/// How deep values are looked into: deeper than any field that names something.
const DEPTH_MAX: usize = 12;

/// The fields below which every text ends up in a word of Helm's.
const CHARTS: [&str; 3] = ["helmCharts", "helmChartInflationGenerator", "helmGlobals"];

/// The kind of a generator that is such a field by itself.
const CHART_KIND: &str = "HelmChartInflationGenerator";

/// Refuses kustomizations that name something outside of the dry tree, or a text that a tool would read as an option.
///
/// Looked at is the kustomization of `dir`, those of `components`, and all files that they lead to. What cannot be read is
/// passed over: the build says what is wrong with it.
pub(super) fn check(view: &View<'_>, dir: &RepoPath, components: &[String]) -> Result<(), Failure> {
    let mut walk = Walk { view, known: BTreeSet::new(), todo: Vec::new(), mistakes: Vec::new() };
    walk.enter(dir.clone());
    for component in components {
        if let Some(path) = directory(view, dir, component) {
            walk.enter(path);
        }
    }
    while let Some(dir) = walk.todo.pop() {
        if let Ok(file) = kustomization::file(view, &dir) {
            walk.file(&dir, file);
        }
    }
    if walk.mistakes.is_empty() { Ok(()) } else { Err(Failure::Mistakes(walk.mistakes)) }
}

struct Walk<'v> {
    view: &'v View<'v>,
    known: BTreeSet<RepoPath>,
    todo: Vec<RepoPath>,
    mistakes: Vec<Diagnostic>,
}

/// A document, and where paths in it start.
struct Site<'s> {
    dir: &'s RepoPath,
    file: &'s RepoPath,
    text: &'s str,
}

impl Walk<'_> {
    fn enter(&mut self, dir: RepoPath) {
        if self.known.len() < FILES_MAX && self.known.insert(dir.clone()) {
            self.todo.push(dir);
        }
    }

    fn config(&mut self, dir: &RepoPath, file: RepoPath) {
        if self.known.len() < FILES_MAX && self.known.insert(file.clone()) {
            self.file(dir, file);
        }
    }

    /// A kustomization, or the configuration of a generator, transformer or validator.
    fn file(&mut self, dir: &RepoPath, file: RepoPath) {
        let Ok(blob) = self.view.read(&file) else { return };
        let text = String::from_utf8_lossy(&blob.data);
        self.documents(&Site { dir, file: &file, text: &text }, &text);
    }

    fn documents(&mut self, site: &Site<'_>, text: &str) {
        for document in text.split("\n---") {
            if let Ok(content) = yaml::sigs::unmarshal(document.as_bytes(), &yaml::Limits::default()) {
                self.document(site, &content);
            }
        }
    }

    fn document(&mut self, site: &Site<'_>, content: &Value) {
        if kustomization::field(content, "kind").and_then(Value::as_str) == Some(CHART_KIND) {
            self.words(site, content, DEPTH_MAX);
        }
        for field in CHARTS {
            if let Some(charts) = kustomization::field(content, field) {
                self.words(site, charts, DEPTH_MAX);
            }
        }
        for field in ENTRIES {
            let entries = kustomization::field(content, field).and_then(Value::as_sequence).unwrap_or_default();
            for entry in entries.iter().filter_map(Value::as_str) {
                self.entry(site, field, entry);
            }
        }
        self.paths(site, content, DEPTH_MAX);
    }

    /// A file, a directory, a document itself, or something elsewhere.
    fn entry(&mut self, site: &Site<'_>, field: &str, entry: &str) {
        let is_config = matches!(field, "generators" | "transformers" | "validators");
        if entry.trim().contains('\n') {
            if is_config {
                self.documents(site, entry);
            }
            return;
        }
        self.word(site, entry);
        let path = site.dir.resolve(entry).ok();
        let kind = path.as_ref().and_then(|path| self.view.kind(path).ok().flatten());
        match (path, kind) {
            _ if is_url(entry) && is_repository(entry) && !names_yaml(entry) => {
                self.refuse(site, entry, "remote base");
            }
            _ if is_url(entry) => self.refuse(site, entry, "remote file"),
            (Some(path), Some(Kind::File)) if is_config => self.config(site.dir, path),
            (Some(_), Some(Kind::File)) => {}
            // Kustomize clones what looks like a repository, also where a directory of that name is.
            _ if is_repository(entry) || entry.contains("://") => self.refuse(site, entry, "remote base"),
            (Some(path), Some(Kind::Directory)) => self.enter(path),
            _ => {}
        }
    }

    /// Every `path`, wherever it is: of patches, replacements, schemas.
    fn paths(&mut self, site: &Site<'_>, value: &Value, depth: usize) {
        match value {
            _ if depth == 0 => {}
            Value::Sequence(items) => items.iter().for_each(|item| self.paths(site, item, depth - 1)),
            Value::Mapping(entries) => {
                for (key, value) in entries {
                    match value.as_str() {
                        Some(text) if key.eq_ignore_ascii_case("path") && is_url(text) => {
                            self.refuse(site, text, "remote file");
                        }
                        _ => self.paths(site, value, depth - 1),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) | Value::String(_) => {}
        }
    }

    /// The texts that become words of Helm's. Values that are there are written to a file.
    fn words(&mut self, site: &Site<'_>, value: &Value, depth: usize) {
        match value {
            _ if depth == 0 => {}
            Value::String(text) => self.word(site, text),
            Value::Sequence(items) => items.iter().for_each(|item| self.words(site, item, depth - 1)),
            Value::Mapping(entries) => {
                let of_values =
                    |key: &str| ["valuesInline", "values"].iter().any(|name| key.eq_ignore_ascii_case(name));
                let others = entries.iter().filter(|(key, _)| !of_values(key));
                others.for_each(|(_, value)| self.words(site, value, depth - 1));
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => {}
        }
    }

    fn word(&mut self, site: &Site<'_>, text: &str) {
        let mistake = if text.starts_with('-') {
            format!("`{text}` begins with `-`: a tool would read it as an option")
        } else if text.contains(char::is_control) {
            format!("{text:?} has a control character")
        } else {
            return;
        };
        let hint = "write a name or path without it; a path can begin with `./`";
        self.mistakes.push(Diagnostic::error(mistake).at(place(site, text)).hint(hint));
    }

    fn refuse(&mut self, site: &Site<'_>, text: &str, what: &str) {
        let mistake = Diagnostic::error(format!("{what} '{text}': rendering opens no connection"));
        let hint = "copy it into the repository and name the copy";
        self.mistakes.push(mistake.at(place(site, text)).hint(hint));
    }
}

/// The first line that has the text as it is, else the file.
fn place(site: &Site<'_>, text: &str) -> Span {
    let found = site.text.lines().zip(1..).find_map(|(line, number)| Some((line, number, line.find(text)?)));
    match found.filter(|_| !text.is_empty()) {
        Some((line, number, at)) => {
            let column = u32::try_from(line[..at].chars().count() + 1).unwrap_or_default();
            let width = u32::try_from(text.chars().count()).unwrap_or(1);
            Span { width, ..Span::at(site.file.clone(), number, column) }.quoting(site.text)
        }
        None => Span::file(site.file.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::MemoryFiles;

    #[test]
    fn no_tool_sees_what_is_elsewhere_or_looks_like_an_option() {
        let rows = [
            ("what is here", "resources: [a.yaml, ../base, './-odd']\npatches: [{path: a.yaml}]\n", ""),
            ("a local file of an odd name", "resources: [github.com/a/b]\n", ""),
            ("a ref", "resources:\n- https://example.com/a//b?ref=--upload-pack=x\n", "k/kustomization.yaml:2:3"),
            ("a ref of ssh", "bases: ['git@example.com:a/b.git?ref=-x']\n", "remote base"),
            ("a component", "components: ['github.com/c/d?ref=v1']\n", "remote base"),
            ("a file", "crds: ['HTTPS://example.com/crd.yaml']\n", "remote file"),
            ("a patch", "patches: [{path: 'https://example.com/p.yaml'}]\n", "remote file"),
            ("an option", "resources: [-x]\n", "`-x` begins with `-`"),
            ("a chart", "helmCharts: [{name: --post-renderer=x, releaseName: a}]\n", "begins with `-`"),
            ("a version", "helmCharts:\n- {name: c, version: -x}\n", "k/kustomization.yaml:2:22"),
            ("a release", "HelmCharts: [{name: c, releaseName: '-x'}]\n", "begins with `-`"),
            ("an API version", "helmCharts: [{name: c, apiVersions: [\"a\\nb\"]}]\n", "control character"),
            ("values", "helmCharts: [{name: c, valuesInline: {a: -x, b: \"c\\nd\"}}]\n", ""),
            ("another kustomization", "resources: [../outside]\n", "outside/kustomization.yaml:1:14"),
            ("a generator", "generators: [generator.yaml]\n", "k/generator.yaml:3:7"),
            ("an inline one", "generators:\n- |\n  kind: HelmChartInflationGenerator\n  name: -x\n", "begins with `-`"),
            ("a transformer", "transformers: ['git::https://example.com/a']\n", "remote base"),
            ("a loop", "resources: [../k]\n", ""),
            ("nothing that can be read", "resources: [\n", ""),
        ];
        for (name, text, expected) in rows {
            let files = MemoryFiles::new()
                .file("k/kustomization.yaml", text)
                .file("k/a.yaml", "kind: A\n")
                .file("k/github.com/a/b", "kind: A\n")
                .file("k/generator.yaml", "kind: A\n---\nname: -x\nkind: HelmChartInflationGenerator\n")
                .file("base/kustomization.yaml", "resources: []\n")
                .file("outside/kustomization.yaml", "resources: ['https://example.com/a']\n");
            let dir = RepoPath::new("k").expect("plain");
            let found = match check(&View::new(&files), &dir, &[]) {
                Ok(()) => String::new(),
                Err(Failure::Mistakes(mistakes)) => mistakes.iter().map(ToString::to_string).collect(),
                Err(other) => panic!("{name}: {other}"),
            };
            let is_right = if expected.is_empty() { found.is_empty() } else { found.contains(expected) };
            assert!(is_right, "{name}: {found}");
        }
    }
}
