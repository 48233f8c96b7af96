//! Which Applications may render others: those whose sources have the word `sourceHydrator` somewhere; with rules, those whose
//! sources name Argo CD's group and Applications.
//!
//! To render every Application only to see what it makes would double the cost of a push. What a render prints comes from
//! the files that it reads, and these are in the directory of its sources or named there: so where none of them has the
//! word, nothing that is rendered has it. A template that puts the word together from pieces is not found so.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Files, Kind, View};
use flate2::read::MultiGzDecoder;

use super::super::misspelt::MARK;
use super::super::read::may_be_plain;
use super::super::search::is_kustomization;
use super::super::{Application, field};
use inputs::InputsDir;
use kustomize_build::{FILE_NAMES, Remote};

/// How deep directories are followed, and how many names of other places one directory may have: beyond them, what is below
/// counts as marked.
const DEPTH_MAX: usize = 128;
const NAMES_MAX: usize = 1_000;

/// A file above this has no Applications.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// What is known of directories and files by their content: nothing of it depends on where they are.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    directories: HashMap<ContentId, Arc<Below>>,
    files: HashMap<ContentId, bool>,
    /// Whether Applications without the word count.
    has_rules: bool,
    /// Where inputs are.
    inputs: InputsDir,
}

/// What is in a directory and below it.
#[derive(Debug, Default)]
struct Below {
    is_marked: bool,
    /// Whether files are marked that the kustomization of their directory does not name, so that Kustomize reads none.
    is_marked_beside: bool,
    /// Names of other places, each with the directory that it counts from.
    names: Vec<(RepoPath, String)>,
    /// Links, by their paths.
    links: Vec<RepoPath>,
}

impl Reach {
    /// Nothing is known yet. With rules, Applications without the word count.
    pub(crate) fn new(has_rules: bool, inputs: &InputsDir) -> Self {
        Self { has_rules, inputs: inputs.clone(), ..Self::default() }
    }

    /// Whether what an Application renders may contain the word.
    pub(crate) fn may_make(&mut self, application: &Application, files: &dyn Files) -> bool {
        let view = View::new(files);
        let mut seen = HashSet::new();
        let mut left = Vec::new();
        for source in application.all_sources() {
            let mut names = Vec::new();
            texts(&source.fields, &mut names);
            left.extend(names.into_iter().flat_map(|name| places(&source.path, &name, &self.inputs)));
            left.push(source.path.clone());
            left.extend(libraries(&source.fields));
            // Values can contain whole Applications.
            if self.has_rules && may_hold_plain(&source.fields) {
                return true;
            }
        }
        while let Some(path) = left.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            if seen.len() > NAMES_MAX {
                return true;
            }
            let Ok((real, kind, id)) = view.resolve(&path) else { continue };
            match kind {
                Kind::Directory => {
                    let below = self.below(files, &real, id, 0);
                    let is_built = files.list(&real, id).is_ok_and(|entries| kustomization(&entries).is_some());
                    if below.is_marked || (below.is_marked_beside && !is_built) {
                        return true;
                    }
                    let named = below.names.iter().flat_map(|(dir, name)| places(&real.join(dir), name, &self.inputs));
                    left.extend(named.chain(below.links.iter().map(|link| real.join(link))));
                }
                Kind::File if self.is_marked(files, &real, id) => return true,
                Kind::File | Kind::Link | Kind::Submodule => {}
            }
        }
        false
    }

    fn below(&mut self, files: &dyn Files, dir: &RepoPath, id: ContentId, depth: usize) -> Arc<Below> {
        if let Some(known) = self.directories.get(&id) {
            return known.clone();
        }
        let mut below = Below { is_marked: depth >= DEPTH_MAX, ..Below::default() };
        let entries = files.list(dir, id).ok();
        // A repository that cannot be read says so when the Application is rendered.
        below.is_marked |= entries.is_none();
        let build = entries.as_ref().and_then(|entries| kustomization(entries)).and_then(|entry| {
            let path = dir.child(&entry.name).ok()?;
            files.read(&path, entry.id).ok()
        });
        for entry in entries.iter().flat_map(|entries| entries.iter()) {
            let (Ok(path), Ok(name)) = (dir.child(&entry.name), RepoPath::root().child(&entry.name)) else { continue };
            match entry.kind {
                _ if below.is_marked => break,
                Kind::Directory => {
                    let inner = self.below(files, &path, entry.id, depth + 1);
                    below.is_marked |= inner.is_marked;
                    below.is_marked_beside |= inner.is_marked_beside;
                    below.names.extend(inner.names.iter().map(|(from, text)| (name.join(from), text.clone())));
                    below.links.extend(inner.links.iter().map(|link| name.join(link)));
                }
                Kind::File => {
                    if self.is_marked(files, &path, entry.id) {
                        let is_named = |text: &Arc<[u8]>| memchr::memmem::find(text, entry.name.as_bytes()).is_some();
                        let is_read = is_kustomization(&path) || build.as_ref().is_none_or(is_named);
                        below.is_marked |= is_read;
                        below.is_marked_beside |= !is_read;
                    }
                    if names_others(&path) {
                        below.names.extend(names(files, &path, entry.id).map(|text| (RepoPath::root(), text)));
                    }
                }
                Kind::Link => below.links.push(name),
                Kind::Submodule => {}
            }
            below.is_marked |= below.names.len() + below.links.len() > NAMES_MAX;
        }
        if below.is_marked {
            below = Below { is_marked: true, ..Below::default() };
        }
        let below = Arc::new(below);
        self.directories.insert(id, below.clone());
        below
    }

    fn is_marked(&mut self, files: &dyn Files, path: &RepoPath, id: ContentId) -> bool {
        if let Some(known) = self.files.get(&id) {
            return *known;
        }
        let read = || {
            let is_small = files.size(path, id).is_ok_and(|size| size <= FILE_BYTES_MAX);
            let content = files.read(path, id).ok().filter(|_| is_small);
            content.is_some_and(|content| match is_archive(path) {
                true => unpacked(&content).is_none_or(|files| self.is_marked_text(&files)),
                false => self.is_marked_text(&content),
            })
        };
        let is_marked = read();
        self.files.insert(id, is_marked);
        is_marked
    }

    fn is_marked_text(&self, content: &[u8]) -> bool {
        memchr::memmem::find(content, MARK.as_bytes()).is_some() || (self.has_rules && may_be_plain(content))
    }
}

/// Whether one text of a field may contain an Application.
fn may_hold_plain(of: &field::Field) -> bool {
    match &of.content {
        field::Content::Mapping(entries) => entries.iter().any(|entry| may_hold_plain(&entry.field)),
        field::Content::List(items) => items.iter().any(may_hold_plain),
        field::Content::Scalar(value) => value.as_str().is_some_and(|text| may_be_plain(text.as_bytes())),
    }
}

/// Whether a file is a packaged chart.
fn is_archive(path: &RepoPath) -> bool {
    path.file_name().is_some_and(|name| name.ends_with(".tgz"))
}

/// What a packaged chart has, all files after one another; none where it is too much to look at.
fn unpacked(archive: &[u8]) -> Option<Vec<u8>> {
    let mut files = Vec::new();
    let mut stream = MultiGzDecoder::new(archive).take(FILE_BYTES_MAX + 1);
    // What is broken is read as far as it goes: the render says what is wrong.
    let _ = stream.read_to_end(&mut files);
    (files.len() as u64 <= FILE_BYTES_MAX).then_some(files)
}

/// The directories in which the Jsonnet of a source looks for imports.
fn libraries(source: &field::Field) -> Vec<RepoPath> {
    let libs = source.get("directory").and_then(|options| options.get("jsonnet")?.get("libs"));
    let Some(field::Content::List(libs)) = libs.map(|libs| &libs.content) else { return Vec::new() };
    let libs = libs.iter().filter_map(field::Field::as_str);
    libs.filter_map(|lib| RepoPath::clean(lib.trim_start_matches('/')).ok()).collect()
}

/// The file of a kustomization among the entries of a directory.
fn kustomization(entries: &[Entry]) -> Option<&Entry> {
    entries.iter().find(|entry| FILE_NAMES.contains(&entry.name.as_str()))
}

/// Whether a file may name files or directories outside of its own.
fn names_others(path: &RepoPath) -> bool {
    let name = path.file_name().unwrap_or_default();
    is_kustomization(path)
        || is_jsonnet(path)
        || matches!(name, "Chart.yaml" | "requirements.yaml")
        || name.starts_with(".argocd-source")
}

/// The words of a file that may name what is outside of its directory.
fn names(files: &dyn Files, path: &RepoPath, id: ContentId) -> impl Iterator<Item = String> {
    let content = files.read(path, id).unwrap_or_default();
    let text = String::from_utf8_lossy(&content).into_owned();
    if is_jsonnet(path) {
        return imports(&text).filter(|name| leads_out(name)).map(str::to_owned).collect::<Vec<_>>().into_iter();
    }
    let between = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '[' | ']' | '{' | '}' | '=');
    let words: Vec<String> = text.split(between).filter(|word| leads_out(word)).map(str::to_owned).collect();
    words.into_iter()
}

fn is_jsonnet(path: &RepoPath) -> bool {
    path.file_name().is_some_and(|name| name.ends_with(".jsonnet") || name.ends_with(".libsonnet"))
}

/// What a Jsonnet text imports, and what it only seems to import.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("import").filter_map(|(at, word)| {
        let rest = &text[at + word.len()..];
        let rest = rest.strip_prefix("str").or_else(|| rest.strip_prefix("bin")).unwrap_or(rest);
        let rest = rest.trim_start();
        let rest = rest.strip_prefix('@').unwrap_or(rest);
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest[1..].split(quote).next()
    })
}

fn leads_out(word: &str) -> bool {
    if is_elsewhere(word) {
        return true;
    }
    let word = word.strip_prefix("file://").unwrap_or(word);
    !word.contains("://") && (word == ".." || word.contains("../") || word.ends_with("/..") || word.starts_with('/'))
}

/// Whether a word names something of another host, of which the tree may keep a copy.
fn is_elsewhere(word: &str) -> bool {
    !word.starts_with("file://") && (word.contains("://") || Remote::parse(word).is_some())
}

/// The places of the tree that a name may mean: counted from `dir`, or from the root when it begins with a `/`. What is kept
/// of other hosts is one place.
fn places(dir: &RepoPath, name: &str, inputs: &InputsDir) -> Option<RepoPath> {
    if is_elsewhere(name) {
        return Some(inputs.path().clone());
    }
    let name = name.strip_prefix("file://").unwrap_or(name);
    match name.strip_prefix('/') {
        Some(rest) => RepoPath::clean(rest).ok(),
        None => dir.resolve(name).ok(),
    }
}

/// All texts of a field that may name what is outside of the directory of sources.
fn texts(of: &field::Field, found: &mut Vec<String>) {
    match &of.content {
        field::Content::Mapping(entries) => entries.iter().for_each(|entry| texts(&entry.field, found)),
        field::Content::List(items) => items.iter().for_each(|item| texts(item, found)),
        field::Content::Scalar(value) => found.extend(value.as_str().filter(|text| leads_out(text)).map(str::to_owned)),
    }
}
