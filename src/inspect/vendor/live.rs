//! Where Argo CD itself would take vendored files for something of its own: it has no exclusion for them.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_yaml::{self as yaml, Limits, Node};

use crate::argo::{self, is_same_repository};
use inputs::{InputsDir, TOP};

/// How many entries of directories are looked at.
const ENTRIES_MAX: usize = 200_000;

/// How large a file with Applications may be, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;

/// What is known of the dry tree.
pub(super) struct Known<'a> {
    /// Where vendored files are.
    pub places: Vec<RepoPath>,
    /// The URLs of this repository; empty when they are not known.
    pub repo_urls: &'a [String],
    /// Where inputs are that no tool looks for at a place of its own.
    pub inputs: &'a InputsDir,
    /// The names of the Applications that are hydrated.
    pub hydrated: BTreeSet<&'a str>,
}

/// How a source reads its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// With all directories below it.
    AllBelow,
    /// As a chart.
    Chart,
}

impl Known<'_> {
    /// The warning of an Application with a source in `dir`, if it would find vendored files there.
    pub(super) fn application(&self, name: &str, reads: Reads, dir: &RepoPath, span: Span) -> Option<Diagnostic> {
        let what = match reads {
            Reads::AllBelow if dir.is_root() => "reads all directories of the repository".to_owned(),
            Reads::AllBelow => format!("reads all directories below `{dir}`"),
            Reads::Chart if dir.is_root() => {
                "has a chart at the root of the repository, whose files are all others".to_owned()
            }
            Reads::Chart => return None,
        };
        let text = format!("`{name}` {what}: where Argo CD renders it itself, that includes vendored files");
        let warning = Diagnostic::warning(text).at(span).hint("give the Application a directory of its own");
        self.has_any_in(dir).then_some(warning)
    }

    fn has_any_in(&self, dir: &RepoPath) -> bool {
        self.places.iter().any(|place| place.starts_with(dir))
    }

    /// Whether a pattern may find files at any depth of a directory with vendored files.
    fn is_found_by(&self, pattern: &str) -> bool {
        let plain = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let dir = plain.rsplit_once('/').map_or("", |(dir, _)| dir);
        let is_deep = pattern.contains("**") || (dir.is_empty() && pattern.starts_with('*'));
        is_deep && RepoPath::clean(dir).is_ok_and(|dir| self.has_any_in(&dir))
    }
}

/// The warnings of the Applications that are not hydrated, and of all ApplicationSets.
pub(super) fn warnings(view: &View<'_>, known: &Known<'_>) -> Vec<Diagnostic> {
    if known.places.is_empty() {
        return Vec::new();
    }
    let has_chart = matches!(view.kind(&RepoPath::clean("Chart.yaml").unwrap_or_default()), Ok(Some(Kind::File)));
    let mut search = Search { view, known, has_chart, entries: 0, found: Vec::new() };
    search.directory(&RepoPath::root());
    search.found
}

struct Search<'a> {
    view: &'a View<'a>,
    known: &'a Known<'a>,
    has_chart: bool,
    entries: usize,
    found: Vec<Diagnostic>,
}

/// A file with Applications.
struct Site<'a> {
    path: &'a RepoPath,
    text: &'a str,
}

impl Site<'_> {
    fn span(&self, node: &Node) -> Span {
        Span::at(self.path.clone(), node.mark.line, node.mark.column).quoting(self.text)
    }
}

impl Search<'_> {
    fn directory(&mut self, dir: &RepoPath) {
        // A directory that cannot be read is one that the render complains of.
        let Ok(entries) = self.view.list(dir) else { return };
        for entry in entries.iter() {
            self.entries += 1;
            let Ok(path) = dir.child(&entry.name) else { continue };
            match entry.kind {
                _ if self.entries > ENTRIES_MAX => return,
                Kind::Directory if self.known.inputs.keeps(dir, &entry.name) => {}
                Kind::Directory => self.directory(&path),
                Kind::File if argo::may_hold_applications(&path) => self.file(&path),
                Kind::File | Kind::Link | Kind::Submodule => {}
            }
        }
    }

    fn file(&mut self, path: &RepoPath) {
        let Ok(blob) = self.view.read(path) else { return };
        let has = |words: &[u8]| memchr::memmem::find(&blob.data, words).is_some();
        if blob.data.len() > FILE_BYTES_MAX || !has(b"argoproj.io/") || !has(b"Application") {
            return;
        }
        let text = String::from_utf8_lossy(&blob.data);
        let site = Site { path, text: &text };
        // What is no YAML is no Application either.
        for document in yaml::parse(text.as_bytes(), &Limits::default()).unwrap_or_default() {
            match text_at(&document, &["kind"]) {
                "Application" => self.application(&document, &site),
                "ApplicationSet" => self.set(&document, &site),
                _ => {}
            }
        }
    }

    fn application(&mut self, document: &Node, site: &Site<'_>) {
        let name = text_at(document, &["metadata", "name"]);
        if !self.known.hydrated.contains(name) {
            self.sources(name, document.get("spec"), site);
        }
    }

    fn set(&mut self, document: &Node, site: &Site<'_>) {
        let name = text_at(document, &["metadata", "name"]);
        self.sources(name, document.at(&["spec", "template", "spec"]), site);
        if let Some(generators) = document.at(&["spec", "generators"]) {
            self.generators(generators, site);
        }
    }

    fn sources(&mut self, name: &str, spec: Option<&Node>, site: &Site<'_>) {
        let several = spec.and_then(|spec| spec.get("sources")).and_then(Node::as_sequence).unwrap_or_default();
        for source in spec.and_then(|spec| spec.get("source")).into_iter().chain(several) {
            let Some(path) = source.get("path").filter(|_| self.is_here(source)) else { continue };
            let Some(Ok(dir)) = path.as_str().map(RepoPath::clean) else { continue };
            let reads = match text_at(source, &["directory", "recurse"]) {
                "true" => Reads::AllBelow,
                _ if self.has_chart => Reads::Chart,
                _ => continue,
            };
            self.found.extend(self.known.application(name, reads, &dir, site.span(path)));
        }
    }

    /// Whether a source is a directory of this repository, as far as that is known.
    fn is_here(&self, source: &Node) -> bool {
        let url = text_at(source, &["repoURL"]);
        let urls = self.known.repo_urls;
        source.get("chart").is_none() && (urls.is_empty() || urls.iter().any(|known| is_same_repository(known, url)))
    }

    /// The patterns of files of the git generators in a list, those of matrices and merges too.
    fn generators(&mut self, node: &Node, site: &Site<'_>) {
        for generator in node.as_sequence().unwrap_or_default() {
            for kind in ["matrix", "merge"] {
                if let Some(inner) = generator.at(&[kind, "generators"]) {
                    self.generators(inner, site);
                }
            }
            let files = generator.at(&["git", "files"]).and_then(Node::as_sequence).unwrap_or_default();
            let (excluded, taken): (Vec<&Node>, Vec<&Node>) =
                files.iter().partition(|item| text_at(item, &["exclude"]) == "true");
            let top = if self.known.inputs == &InputsDir::default() { TOP } else { self.known.inputs.path().as_str() };
            if excluded.iter().any(|item| text_at(item, &["path"]).starts_with(top)) {
                continue;
            }
            let paths = taken.iter().filter_map(|item| item.get("path"));
            for path in paths.filter(|path| self.known.is_found_by(path.as_str().unwrap_or_default())) {
                let text = "Argo CD's own ApplicationSet controller finds vendored files with this pattern too";
                let hint = "begin the pattern with the directory that is meant";
                self.found.push(Diagnostic::warning(text).at(site.span(path)).hint(hint));
            }
        }
    }
}

fn text_at<'n>(node: &'n Node, keys: &[&str]) -> &'n str {
    node.at(keys).and_then(Node::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    fn plain(source: &str) -> String {
        let head = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: all}\nspec:\n";
        format!("{head}  source: {{repoURL: https://h/dry.git, {source}}}\n")
    }

    fn set(files: &str) -> String {
        let head = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all}\nspec:\n";
        format!("{head}  generators: [{{matrix: {{generators: [{{git: {{files: {files}}}}}]}}}}]\n")
    }

    #[test]
    fn what_argo_cd_itself_would_find() {
        let recursion = "`all` reads all directories of the repository: where Argo CD renders it itself";
        let chart = "`all` has a chart at the root of the repository";
        let pattern = "Argo CD's own ApplicationSet controller finds vendored files";
        let rows = [
            (plain("path: ., directory: {recurse: true}"), false, recursion),
            (plain("path: ./, directory: {recurse: true}"), false, recursion),
            (plain("path: ."), false, ""),
            (plain("path: ."), true, chart),
            (plain("path: apps, directory: {recurse: true}"), true, ""),
            (plain("path: web, directory: {recurse: true}"), true, "`all` reads all directories below `web`"),
            (plain("path: ., directory: {recurse: true}").replace("h/dry", "h/other"), true, ""),
            (plain("path: ., directory: {recurse: true}").replace("all", "known"), true, ""),
            (set("[{path: '**/config.json'}]"), false, pattern),
            (set("[{path: '*/config.json'}]"), false, pattern),
            (set("[{path: 'apps/**/config.json'}]"), false, ""),
            (set("[{path: 'web/**/config.json'}]"), false, pattern),
            (set("[{path: '**/config.json'}, {path: '.hydrate/**', exclude: true}]"), false, ""),
            (set("[{path: apps/config.json}]"), false, ""),
            ("{apiVersion: argoproj.io/v1alpha1, kind: Application".to_owned(), true, ""),
        ];
        for (text, has_chart, expected) in rows {
            let mut files =
                MemoryFiles::new().file("apps/all.yaml", text.as_str()).file(".hydrate/inputs/all.yaml", text.as_str());
            if has_chart {
                files = files.file("Chart.yaml", "name: all\n");
            }
            let place = |text: &str| RepoPath::new(text).expect("plain");
            let known = Known {
                places: vec![place(".hydrate/inputs/git/h/base@v1"), place("web/charts/web")],
                repo_urls: &["https://h/dry.git".to_owned()],
                inputs: &InputsDir::default(),
                hydrated: ["known"].into(),
            };
            let found = warnings(&View::new(&files), &known);
            let found: Vec<&str> = found.iter().map(|warning| warning.message.as_str()).collect();
            match found[..] {
                [] => assert_eq!(expected, "", "{text}"),
                [found] => assert!(found.starts_with(expected) && !expected.is_empty(), "{text}: {found}"),
                _ => panic!("{text}: {found:?}"),
            }
        }
    }
}
