//! What sources need from elsewhere, found by reading them: nothing is rendered.
//!
//! Charts: the dependencies of a `Chart.yaml`, in the versions of its `Chart.lock` when there is one. Kustomizations: what a
//! [`walk`](super::walk()) of them finds. What a scan cannot read it passes over: the render says what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_yaml::{self as yaml, Limits, Node, Value};

use super::dependencies::{self, Dependency, stale_hint};
use super::git_key;
use super::walk::{Mention, Repository, What, walk};
use inputs::{KeptInputs, Key, KeyError};
use kustomize_build::Remote;

/// A directory that is rendered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// A chart.
    Chart(RepoPath),
    /// A chart that an Application names by its repository, and where it is looked for.
    ChartFrom(Key, RepoPath),
    /// A directory of another repository, where that is looked for, and what it has.
    From(Repository, RepoPath, Content),
    /// A kustomization, with components that are named elsewhere.
    Kustomization(RepoPath, Vec<String>),
}

/// What a directory of another repository has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Content {
    /// Plain files; or it is not known, since it is not here yet.
    Plain,
    /// A chart.
    Chart,
    /// A kustomization, with components that are named elsewhere.
    Kustomization(Vec<String>),
}

/// What is needed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// A chart, at a path where a tool looks for it.
    Chart(Key, RepoPath),
    /// A directory of a git repository.
    Directory(Key, RepoPath),
    /// A file.
    File(Key),
    /// A file; where the server has none of this name, or no resources in it, the directory of a repository.
    Either(Key, Key, RepoPath),
}

/// Who needs it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    /// The name of the Application.
    pub application: String,
    /// Where the input is named.
    pub span: Span,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// What is needed, and by whom.
    pub needs: BTreeMap<Need, Vec<Use>>,
    /// What is needed and cannot be an input.
    pub mistakes: Vec<Diagnostic>,
}

/// How many files a scan reads.
const FILES_MAX: usize = 100_000;

/// Reads sources of one dry tree.
pub(crate) struct Scan<'v> {
    view: &'v View<'v>,
    kept: KeptInputs<'v>,
    application: String,
    seen: BTreeSet<RepoPath>,
    read: usize,
    found: Found,
}

impl<'v> Scan<'v> {
    /// Nothing found yet.
    pub(crate) fn new(view: &'v View<'v>, kept: KeptInputs<'v>) -> Self {
        Self { view, kept, application: String::new(), seen: BTreeSet::new(), read: 0, found: Found::default() }
    }

    /// Adds what the source of an Application needs; `span` is where it is named.
    pub(crate) fn add(&mut self, application: &str, source: &Source, span: &Span) {
        application.clone_into(&mut self.application);
        self.seen.clear();
        match source {
            Source::ChartFrom(key, place) => self.need(Need::Chart(key.clone(), place.clone()), span.clone()),
            Source::From(repository, directory, content) => {
                self.need(Need::Directory(repository.0.clone(), directory.clone()), span.clone());
                let dir = repository.1.join(directory);
                match content {
                    Content::Plain => {}
                    Content::Chart => self.chart(&dir),
                    Content::Kustomization(components) => self.kustomization((&dir, Some(repository)), components),
                }
            }
            Source::Chart(dir) => self.chart(dir),
            Source::Kustomization(dir, components) => self.kustomization((dir, None), components),
        }
    }

    fn kustomization(&mut self, at: (&RepoPath, Option<&Repository>), components: &[String]) {
        for mention in walk(self.view, &self.kept, at, components, None).mentions {
            self.mention(mention);
        }
    }

    /// Adds a file that an Application names by a URL.
    pub(crate) fn add_file(&mut self, application: &str, url: &str, span: Span) {
        application.clone_into(&mut self.application);
        self.file_of(url, span);
    }

    /// What was found.
    pub(crate) fn finish(self) -> Found {
        self.found
    }

    fn need(&mut self, need: Need, span: Span) {
        let used = Use { application: self.application.clone(), span };
        let uses = self.found.needs.entry(need).or_default();
        if !uses.contains(&used) {
            uses.push(used);
        }
    }

    fn mistake(&mut self, what: &str, error: &KeyError, span: Span) {
        let mistake = Diagnostic::error(format!("{what}: {error}")).at(span);
        if !self.found.mistakes.contains(&mistake) {
            self.found.mistakes.push(mistake);
        }
    }

    fn file(&mut self, path: &RepoPath) -> Option<String> {
        self.read += 1;
        if self.read > FILES_MAX {
            return None;
        }
        Some(String::from_utf8_lossy(&self.view.read(path).ok()?.data).into_owned())
    }

    fn kind(&self, path: &RepoPath) -> Option<Kind> {
        self.view.kind(path).ok().flatten()
    }

    /// The dependencies of a chart, and of those that it names by `file://`.
    fn chart(&mut self, dir: &RepoPath) {
        if !self.seen.insert(dir.clone()) {
            return;
        }
        for (name, lock) in dependencies::FILES {
            let (Ok(file), Ok(lock)) = (dir.child(name), dir.child(lock)) else { continue };
            let Some(text) = self.file(&file) else { continue };
            let lock = self.file(&lock);
            self.dependencies(dir, &file, &text, lock.as_deref());
        }
    }

    fn dependencies(&mut self, dir: &RepoPath, file: &RepoPath, text: &str, lock: Option<&str>) {
        let Ok(Some(root)) = yaml::parse_first(text.as_bytes(), &Limits::default()) else { return };
        let items = root.get("dependencies").and_then(Node::as_sequence).unwrap_or_default();
        let dependencies = match dependencies::read(text, lock, file.file_name() == Some(dependencies::OLD)) {
            Ok(dependencies) => dependencies,
            Err(stale) => {
                let hint = stale_hint(dir, &stale);
                let mistake = Diagnostic::error(stale.to_string()).at(Span::file(file.clone())).hint(hint);
                return self.found.mistakes.push(mistake);
            }
        };
        for (dependency, node) in dependencies.iter().zip(items) {
            let Dependency { name, repository, version, .. } = dependency;
            if let Some(relative) = repository.strip_prefix("file://") {
                if let Ok(path) = dir.resolve(relative) {
                    self.chart(&path);
                }
                continue;
            }
            if repository.is_empty() {
                continue;
            }
            let node = node.get("repository").unwrap_or(node);
            let span = Span::at(file.clone(), node.mark.line, node.mark.column).quoting(text);
            match Key::chart(repository, name, version) {
                Ok(key) => {
                    let is_alone = dependencies.iter().all(|other| other.is_alike(dependency));
                    let place = if is_alone { name.clone() } else { format!("{name}-{version}") };
                    let at = dir.resolve(&format!("charts/{place}"));
                    if let Some(at) = at.ok().filter(|at| !self.is_by_hand(dir, name, at)) {
                        // Nothing is added to what is kept of another repository.
                        let at = if self.kept.kind_of(dir).is_some() { self.kept.place(&key) } else { at };
                        self.need(Need::Chart(key, at), span);
                    }
                }
                Err(error) => {
                    if !self.is_by_hand(dir, name, &RepoPath::root()) {
                        self.mistake(&format!("the dependency `{name}`"), &error, span);
                    }
                }
            }
        }
    }

    /// Whether `charts/` has a chart of this name that no lock file lists.
    fn is_by_hand(&self, dir: &RepoPath, name: &str, at: &RepoPath) -> bool {
        let listed = |path: &RepoPath| self.kept.lock().is_some_and(|lock| lock.at(path).is_some());
        let Ok(charts) = dir.child("charts") else { return false };
        let Ok(entries) = self.view.list(&charts) else { return false };
        for entry in entries.iter() {
            let Ok(path) = charts.child(&entry.name) else { continue };
            let is_packaged =
                entry.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".tgz"));
            let is_chart = entry.kind == Kind::Directory && self.chart_name(&path).as_deref() == Some(name);
            if (is_packaged || is_chart || path == *at) && !listed(&path) {
                return true;
            }
        }
        false
    }

    fn chart_name(&self, dir: &RepoPath) -> Option<String> {
        let data = self.view.read(&dir.child("Chart.yaml").ok()?).ok()?.data;
        Some(text(&yaml::sigs::unmarshal(&data, &Limits::default()).ok()?, "name"))
    }

    fn mention(&mut self, mention: Mention) {
        let Mention { repository, span, what, .. } = mention;
        match what {
            // The official tools alone would take it for one.
            What::Word(_) => {}
            What::File(url) => self.file_of(&url, span),
            What::Base { text, remote, or_file } => self.base(&text, &remote, or_file, span),
            What::Directory(directory) => {
                if let Some((key, _)) = repository
                    && self.kept.directory(&key, &directory).is_err()
                {
                    self.need(Need::Directory(key, directory), span);
                }
            }
            What::Chart { at, repo, .. } if repo.is_empty() => self.chart(&at),
            What::Chart { name, version, repo, at } => {
                let is_listed = self.kept.lock().is_some_and(|lock| lock.at(&at).is_some());
                if self.kind(&at) == Some(Kind::Directory) && !is_listed {
                    return self.chart(&at);
                }
                match Key::chart(&repo, &name, &version) {
                    // Nothing is added to what is kept of another repository.
                    Ok(key) if repository.is_some() => {
                        let place = self.kept.place(&key);
                        self.need(Need::Chart(key, place), span);
                    }
                    Ok(key) => self.need(Need::Chart(key, at), span),
                    Err(error) => self.mistake(&format!("the chart `{name}`"), &error, span),
                }
            }
        }
    }

    fn file_of(&mut self, url: &str, span: Span) {
        match Key::file(url) {
            Ok(key) => self.need(Need::File(key), span),
            Err(error) => self.mistake("a remote file", &error, span),
        }
    }

    fn base(&mut self, text: &str, remote: &Remote, or_file: bool, span: Span) {
        let Ok(directory) = RepoPath::clean(&remote.directory) else { return };
        let base = match git_key(remote) {
            Ok(base) => base,
            Err(error) => return self.mistake(&format!("the remote base '{text}'"), &error, span),
        };
        match Key::file(text).ok().filter(|_| or_file) {
            Some(file) if self.kept.lists(&file) => self.need(Need::File(file), span),
            Some(file) if !self.kept.lists_directory(&base, &directory) => {
                self.need(Need::Either(file, base, directory), span);
            }
            _ => self.need(Need::Directory(base, directory), span),
        }
    }
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
