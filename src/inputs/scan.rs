//! What sources need from elsewhere, found by reading them: nothing is rendered.
//!
//! Charts: the dependencies of a `Chart.yaml`, in the versions of its `Chart.lock` when there is one. Kustomizations: charts,
//! bases and files, followed through bases, those too that are kept of other repositories. What a scan cannot read it passes
//! over: the render says what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use super::{ChartLock, Kept, Key, KeyError, Remote, is_top};
use crate::diag::{Diagnostic, Span};
use crate::path::RepoPath;
use crate::view::{Kind, View};
use crate::yaml::{self, Limits, Node, Value};

/// A directory that is rendered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A chart.
    Chart(RepoPath),
    /// A chart that an Application names by its repository.
    ChartFrom(Key),
    /// A directory of another repository, with the place where it is named; with components when it is known to be a
    /// kustomization.
    From(Key, RepoPath, Option<Vec<String>>),
    /// A kustomization, with components that are named elsewhere.
    Kustomization(RepoPath, Vec<String>),
}

/// What is needed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
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
pub struct Use {
    /// The name of the Application.
    pub application: String,
    /// Where the input is named.
    pub span: Span,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// What is needed, and by whom.
    pub needs: BTreeMap<Need, Vec<Use>>,
    /// What is needed and cannot be an input.
    pub mistakes: Vec<Diagnostic>,
}

/// How many files a scan reads.
const FILES_MAX: usize = 100_000;

/// The fields of a kustomization whose entries are files, directories or documents themselves.
pub const ENTRIES: [&str; 9] = [
    "resources",
    "bases",
    "components",
    "generators",
    "transformers",
    "validators",
    "crds",
    "configurations",
    "patchesStrategicMerge",
];

/// Those of them that may name directories.
const DIRECTORIES: [&str; 6] = ["resources", "bases", "components", "generators", "transformers", "validators"];

/// Reads sources of one dry tree.
pub struct Scan<'v> {
    view: &'v View<'v>,
    kept: Kept<'v>,
    application: String,
    seen: BTreeSet<RepoPath>,
    read: usize,
    found: Found,
}

/// A kustomization or chart, and the repository that it is of when that is another one.
struct Site<'s> {
    dir: &'s RepoPath,
    file: &'s RepoPath,
    text: &'s str,
    repository: Option<&'s (Key, RepoPath)>,
}

impl<'v> Scan<'v> {
    /// Nothing found yet.
    pub fn new(view: &'v View<'v>, kept: Kept<'v>) -> Self {
        Self { view, kept, application: String::new(), seen: BTreeSet::new(), read: 0, found: Found::default() }
    }

    /// Adds what the source of an Application needs; `span` is where it is named.
    pub fn add(&mut self, application: &str, source: &Source, span: &Span) {
        application.clone_into(&mut self.application);
        self.seen.clear();
        match source {
            Source::ChartFrom(key) => self.need(Need::Chart(key.clone(), key.place()), span.clone()),
            Source::From(key, directory, components) => {
                self.need(Need::Directory(key.clone(), directory.clone()), span.clone());
                let repository = (key.clone(), key.place());
                let dir = repository.1.join(directory);
                for component in components.iter().flatten() {
                    let site = Site { dir: &dir, file: &dir, text: component, repository: Some(&repository) };
                    self.entry(&site, "components", component, span.clone());
                }
                if components.is_some() {
                    self.kustomization(&dir, Some(&repository));
                }
            }
            Source::Chart(dir) => self.chart(dir),
            Source::Kustomization(dir, components) => {
                self.kustomization(dir, None);
                for component in components {
                    let (text, file) = (component.as_str(), dir.clone());
                    let site = Site { dir, file: &file, text, repository: None };
                    self.entry(&site, "components", component, Span::file(file.clone()));
                }
            }
        }
    }

    /// What was found.
    pub fn finish(self) -> Found {
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
            let site = Site { dir, file: &file, text: &text, repository: None };
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
                // Names of a machine's own list are told by what they stood for.
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
        entries.iter().any(|entry| {
            let Ok(path) = charts.child(&entry.name) else { return false };
            let is_packaged =
                entry.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".tgz"));
            let is_chart = entry.kind == Kind::Directory && self.chart_name(&path).as_deref() == Some(name);
            (is_packaged || is_chart || path == *at) && !listed(&path)
        })
    }

    fn chart_name(&self, dir: &RepoPath) -> Option<String> {
        let data = self.view.read(&dir.child("Chart.yaml").ok()?).ok()?.data;
        Some(text(&yaml::sigs::unmarshal(&data, &Limits::default()).ok()?, "name"))
    }

    fn kustomization(&mut self, dir: &RepoPath, repository: Option<&(Key, RepoPath)>) {
        if !self.seen.insert(dir.clone()) {
            return;
        }
        for name in ["kustomization.yaml", "kustomization.yml", "Kustomization"] {
            let Ok(file) = dir.child(name) else { continue };
            if self.kind(&file) == Some(Kind::File)
                && let Some(text) = self.file(&file)
            {
                self.documents(&Site { dir, file: &file, text: &text, repository }, &text);
            }
        }
    }

    fn documents(&mut self, site: &Site<'_>, text: &str) {
        for root in yaml::parse(text.as_bytes(), &Limits::default()).unwrap_or_default() {
            self.document(site, &root, text.len() == site.text.len());
        }
    }

    /// A kustomization, or what configures a generator, transformer or validator.
    fn document(&mut self, site: &Site<'_>, root: &Node, has_places: bool) {
        let place = |node: &Node| if has_places { span(site, node) } else { Span::file(site.file.clone()) };
        for field in ENTRIES {
            for entry in items(root, field) {
                if let Some(text) = entry.as_str() {
                    self.entry(site, field, text, place(entry));
                }
            }
        }
        for field in ["patches", "patchesJson6902", "replacements"] {
            for path in items(root, field).iter().filter_map(|item| item.get("path")) {
                self.plain_file(site, path.as_str().unwrap_or_default(), place(path));
            }
        }
        if let Some(path) = root.at(&["openapi", "path"]) {
            self.plain_file(site, path.as_str().unwrap_or_default(), place(path));
        }
        for field in ["configMapGenerator", "secretGenerator"] {
            for generator in items(root, field) {
                for list in ["files", "envs"] {
                    for entry in items(generator, list) {
                        let text = entry.as_str().unwrap_or_default();
                        let path = text.split_once('=').map_or(text, |(_, path)| path);
                        self.plain_file(site, if is_url(text) { text } else { path }, place(entry));
                    }
                }
            }
        }
        let home = root.at(&["helmGlobals", "chartHome"]).and_then(Node::as_str).filter(|home| !home.is_empty());
        for chart in items(root, "helmCharts") {
            self.helm_chart(site, home.unwrap_or("charts"), chart, &place);
        }
        if root.get("kind").and_then(Node::as_str) == Some("HelmChartInflationGenerator") {
            let home = root.get("chartHome").and_then(Node::as_str).filter(|home| !home.is_empty());
            self.helm_chart(site, home.unwrap_or("charts"), root, &place);
        }
    }

    /// A chart where Kustomize looks for it.
    ///
    /// Reference: kustomize 5.8.1 api/internal/builtins/HelmChartInflationGenerator.go `absChartHome`, `chartExistsLocally`.
    fn helm_chart(&mut self, site: &Site<'_>, home: &str, chart: &Node, place: &dyn Fn(&Node) -> Span) {
        let text = |key: &str| chart.get(key).and_then(Node::as_str).unwrap_or_default();
        let (name, version, repo) = (text("name"), text("version"), text("repo"));
        for field in ["valuesFile", "additionalValuesFiles"] {
            let nodes = chart.get(field).map(|node| node.as_sequence().unwrap_or(std::slice::from_ref(node)));
            for file in nodes.unwrap_or_default() {
                self.plain_file(site, file.as_str().unwrap_or_default(), place(file));
            }
        }
        let below = match version.is_empty() || repo.is_empty() {
            true => format!("{home}/{name}"),
            false => format!("{home}/{name}-{version}/{name}"),
        };
        let Ok(at) = site.dir.resolve(&below) else { return };
        if repo.is_empty() {
            return self.chart(&at);
        }
        let is_here = self.kind(&at) == Some(Kind::Directory);
        let is_listed = self.kept.lock().is_some_and(|lock| lock.at(&at).is_some());
        if is_here && !is_listed {
            return self.chart(&at);
        }
        let span = place(chart.get("repo").unwrap_or(chart));
        match Key::chart(repo, name, version) {
            Ok(_) if site.repository.is_some() => {
                let text = format!("the chart `{name}` is named by a kustomization of another repository");
                let hint = "name the chart in a kustomization of this repository";
                self.found.mistakes.push(Diagnostic::error(text).at(span).hint(hint));
            }
            Ok(key) => self.need(Need::Chart(key, at), span),
            Err(error) => self.mistake(&format!("the chart `{name}`"), &error, span),
        }
    }

    /// A file that is only ever read as one.
    fn plain_file(&mut self, _site: &Site<'_>, text: &str, span: Span) {
        if is_url(text) {
            match Key::file(text) {
                Ok(key) => self.need(Need::File(key), span),
                Err(error) => self.mistake("a remote file", &error, span),
            }
        }
    }

    /// A file, a directory, a document itself, or something elsewhere.
    fn entry(&mut self, site: &Site<'_>, field: &str, text: &str, span: Span) {
        let is_config = matches!(field, "generators" | "transformers" | "validators");
        if text.trim().contains('\n') {
            if is_config {
                self.documents(site, text);
            }
            return;
        }
        if !DIRECTORIES.contains(&field) {
            return self.plain_file(site, text, span);
        }
        let path = site.dir.resolve(text).ok();
        match path.as_ref().and_then(|path| self.kind(path)) {
            Some(Kind::File) if is_config => {
                if let Some(path) = path
                    && self.seen.insert(path.clone())
                    && let Some(text) = self.file(&path)
                {
                    self.documents(&Site { file: &path, text: &text, ..*site }, &text);
                }
                return;
            }
            Some(Kind::File) => return,
            _ => {}
        }
        if let Some(remote) = Remote::parse(text) {
            return self.remote(text, &remote, field == "components", span);
        }
        if is_url(text) {
            return self.plain_file(site, text, span);
        }
        let Some(path) = path else { return };
        if self.kind(&path) == Some(Kind::Directory) {
            if !path.components().next().is_some_and(|first| is_top(&RepoPath::root(), first))
                || site.repository.is_some()
            {
                self.kustomization(&path, site.repository);
            }
        } else if let Some((key, place)) = site.repository
            && let Some(directory) = path.strip_prefix(place)
        {
            // Directories that are kept are whole, so this is another one.
            let is_kept = self.kept.directory(key, &directory).is_ok();
            if !is_kept {
                self.need(Need::Directory(key.clone(), directory), span);
            }
        }
    }

    fn remote(&mut self, text: &str, remote: &Remote, is_directory: bool, span: Span) {
        let base = Key::git(remote);
        let Ok(directory) = RepoPath::clean(&remote.directory) else { return };
        let base = match base {
            Ok(base) => base,
            Err(error) => return self.mistake(&format!("the remote base '{text}'"), &error, span),
        };
        let file = Key::file(text).ok().filter(|_| is_url(text) && !is_directory);
        if let Some(file) = &file
            && self.kept.lists(file)
        {
            return self.need(Need::File(file.clone()), span);
        }
        let kept = self.kept.directory(&base, &directory);
        match file {
            Some(file) if !self.kept.lists(&base) => self.need(Need::Either(file, base.clone(), directory), span),
            _ => self.need(Need::Directory(base.clone(), directory), span),
        }
        if let Ok((dir, place)) = kept {
            self.kustomization(&dir, Some(&(base, place)));
        }
    }
}

/// Whether Kustomize fetches this over HTTP when a file is wanted.
fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// Whether this names an entry of the list of repositories that a machine has.
fn is_alias(repository: &str) -> bool {
    repository.starts_with('@') || repository.starts_with("alias:")
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).and_then(Node::as_sequence).unwrap_or_default()
}

fn span(site: &Site<'_>, node: &Node) -> Span {
    Span::at(site.file.clone(), node.mark.line, node.mark.column).quoting(site.text)
}
