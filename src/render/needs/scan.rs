//! What sources need from elsewhere, found by reading them: nothing is rendered.
//!
//! Charts: the dependencies of a `Chart.yaml`, in the versions of its `Chart.lock` when there is one. Kustomizations: what a
//! [`walk`](super::walk()) of them finds. What a scan cannot read it passes over: the render says what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_yaml::{self as yaml, Limits, Node, Value};

use super::git_key;
use super::walk::{Mention, Repository, What, walk};
use inputs::{ChartLock, KeptInputs, Key, KeyError};
use kustomize_build::Remote;

/// A directory that is rendered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// A chart.
    Chart(RepoPath),
    /// A chart that an Application names by its repository, and where it is looked for.
    ChartFrom(Key, RepoPath),
    /// A directory of another repository, and where that is looked for; with components when it is known to be a
    /// kustomization.
    From(Repository, RepoPath, Option<Vec<String>>),
    /// A kustomization, with components that are named elsewhere.
    Kustomization(RepoPath, Vec<String>),
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

/// The file of a chart that names dependencies.
struct Site<'s> {
    dir: &'s RepoPath,
    file: &'s RepoPath,
    text: &'s str,
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
            Source::From(repository, directory, components) => {
                self.need(Need::Directory(repository.0.clone(), directory.clone()), span.clone());
                if let Some(components) = components {
                    self.kustomization((&repository.1.join(directory), Some(repository)), components);
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
        for (name, lock) in [("Chart.yaml", "Chart.lock"), ("requirements.yaml", "requirements.lock")] {
            let (Ok(file), Ok(lock)) = (dir.child(name), dir.child(lock)) else { continue };
            let Some(text) = self.file(&file) else { continue };
            let lock =
                self.file(&lock).and_then(|text| yaml::sigs::unmarshal(text.as_bytes(), &Limits::default()).ok());
            let site = Site { dir, file: &file, text: &text };
            self.dependencies(&site, lock.as_ref().map(ChartLock::of));
        }
    }

    fn dependencies(&mut self, site: &Site<'_>, lock: Option<ChartLock>) {
        let Ok(Some(root)) = yaml::parse_first(site.text.as_bytes(), &Limits::default()) else { return };
        let items = root.get("dependencies").and_then(Node::as_sequence).unwrap_or_default();
        let Ok(value) = yaml::sigs::unmarshal(site.text.as_bytes(), &Limits::default()) else { return };
        let mut requested = value.get("dependencies").and_then(Value::as_sequence).unwrap_or_default().to_vec();
        let is_v1 = site.file.file_name() == Some("requirements.yaml");
        if let Some(lock) = &lock {
            for (item, (_, repository, _)) in requested.iter_mut().zip(&lock.dependencies) {
                // Names of a machine's own list are known by what they meant.
                if let Value::Mapping(fields) = item
                    && fields.get("repository").and_then(Value::as_str).is_some_and(is_alias)
                {
                    fields.insert("repository".to_owned(), Value::String(repository.clone()));
                }
            }
            if let Err(stale) = lock.check(&requested, is_v1) {
                let hint = format!("run `helm dependency update {}`, or remove {}", site.dir, stale.lock);
                let mistake = Diagnostic::error(stale.to_string()).at(Span::file(site.file.clone())).hint(hint);
                self.found.mistakes.push(mistake);
                return;
            }
        }
        let names: Vec<(String, String)> =
            requested.iter().map(|item| (text(item, "name"), text(item, "version"))).collect();
        for (index, (item, node)) in requested.iter().zip(items).enumerate() {
            let (name, repository) = (text(item, "name"), text(item, "repository"));
            let locked = lock.as_ref().and_then(|lock| lock.dependencies.get(index));
            let version = locked.map_or_else(|| text(item, "version"), |(_, _, version)| version.clone());
            if let Some(relative) = repository.strip_prefix("file://") {
                if let Ok(path) = site.dir.resolve(relative) {
                    self.chart(&path);
                }
                continue;
            }
            if repository.is_empty() {
                continue;
            }
            let span = span(site, node.get("repository").unwrap_or(node));
            let is_alone = names.iter().all(|(other, wanted)| *other != name || *wanted == text(item, "version"));
            match Key::chart(&repository, &name, &version) {
                Ok(key) => {
                    let place = if is_alone { name.clone() } else { format!("{name}-{version}") };
                    let at = site.dir.resolve(&format!("charts/{place}"));
                    if let Some(at) = at.ok().filter(|at| !self.is_by_hand(site.dir, &name, at)) {
                        self.need(Need::Chart(key, at), span);
                    }
                }
                Err(error) => {
                    if !self.is_by_hand(site.dir, &name, &RepoPath::root()) {
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
                    Ok(_) if repository.is_some() => {
                        let text = format!("the chart `{name}` is named by a kustomization of another repository");
                        let hint = "name the chart in a kustomization of this repository";
                        self.found.mistakes.push(Diagnostic::error(text).at(span).hint(hint));
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

/// Whether this names an entry of the list of repositories that a machine has.
fn is_alias(repository: &str) -> bool {
    repository.starts_with('@') || repository.starts_with("alias:")
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn span(site: &Site<'_>, node: &Node) -> Span {
    Span::at(site.file.clone(), node.mark.line, node.mark.column).quoting(site.text)
}
