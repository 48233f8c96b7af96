//! What kustomizations name that is elsewhere, or that a tool would read as an option.
//!
//! One walk for two readers: [`Scan`](super::Scan) asks what a dry tree needs, and the official Kustomize gets a tree in
//! which each [`Mention`] is the path of what is kept. Followed are directories of the tree and what is kept of other
//! repositories. What cannot be read is passed over: the build says what is wrong with it.
//!
//! A document is read as its meaning, with aliases and merge keys resolved and keys without regard to case, as Kustomize
//! does: what a tool sees is seen here.

use std::collections::BTreeSet;

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_std::json::is_field;
use go_yaml::{self as yaml, Dialect, Limits, Node, Value};

use super::git_key;
use inputs::{KeptInputs, Key};
use kustomize_build::{Remote, is_url};

/// How many files are read.
const FILES_MAX: usize = 10_000;

/// How deep values of a chart are looked into: deeper than any field that names something.
const DEPTH_MAX: usize = 12;

/// The fields of a kustomization whose entries are files, directories or documents themselves.
const ENTRIES: [&str; 9] = [
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

/// The fields that may name directories.
const DIRECTORIES: [&str; 6] = ["resources", "bases", "components", "generators", "transformers", "validators"];

/// The fields whose files configure something.
const CONFIGURING: [&str; 3] = ["generators", "transformers", "validators"];

/// The kind of a generator that is a chart by itself.
const CHART_KIND: &str = "HelmChartInflationGenerator";

/// The charts of a kustomization, by their new and their old field.
const CHARTS: [&str; 2] = ["helmCharts", "helmChartInflationGenerator"];

/// One thing that a kustomization names.
#[derive(Debug, Clone)]
pub(crate) struct Mention {
    /// The file that names it.
    pub file: RepoPath,
    /// Where paths in that file begin: the directory of the kustomization.
    pub dir: RepoPath,
    /// The repository that the file is kept of, and where it is kept, when that is another one.
    pub repository: Option<(Key, RepoPath)>,
    /// Where it is named.
    pub span: Span,
    /// The text itself; none in a document that is a text of another document.
    pub place: Option<Place>,
    /// What is named.
    pub what: What,
}

/// A text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which document of the file, from 0.
    pub document: usize,
    /// The way there.
    pub steps: Vec<Step>,
    /// What is before the name in the text, such as `key=`.
    pub before: String,
}

/// One step into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into a mapping.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
}

/// What a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// Something that a tool reads as an option, or that has a control character.
    Word(String),
    /// A file behind a URL.
    File(String),
    /// A directory of another repository.
    Base {
        /// As it is written.
        text: String,
        /// What that means.
        remote: Remote,
        /// Whether Kustomize takes a file of this URL when there is one.
        or_file: bool,
    },
    /// A directory of the repository that the kustomization is of, which is not kept.
    Directory(RepoPath),
    /// A chart.
    Chart {
        /// Its name.
        name: String,
        /// The version as it is written; may be empty.
        version: String,
        /// The repository; empty for a chart of this tree.
        repo: String,
        /// Where Kustomize looks for it.
        at: RepoPath,
    },
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// In the order of the walk.
    pub mentions: Vec<Mention>,
    /// Whether there were more files than are read.
    pub is_cut: bool,
}

/// Walks the kustomization of a directory and those of `components`, paths from there. `repository` is the other one that
/// the directory is kept of.
///
/// `edited` is the content that is used in place of the file of the kustomization.
pub(crate) fn walk(
    view: &View<'_>,
    kept: &KeptInputs<'_>,
    (dir, repository): (&RepoPath, Option<&Repository>),
    components: &[String],
    edited: Option<(&RepoPath, &str)>,
) -> Walked {
    let mut walk = Walk { view, kept, edited, known: BTreeSet::new(), todo: Vec::new(), found: Walked::default() };
    walk.enter(dir, repository);
    if !components.is_empty() {
        let site = Site { dir, file: dir, text: "", nodes: &[], repository, is_inline: true };
        let components = components.iter().map(|text| Value::from(text.as_str())).collect::<Vec<_>>();
        walk.document(&site, 0, &Value::Mapping([("components".to_owned(), components.into())].into()));
    }
    while let Some((dir, repository)) = walk.todo.pop() {
        walk.kustomization(&dir, repository.as_ref());
    }
    walk.found
}

/// The repository that something is kept of, and where all of it is.
pub(super) type Repository = (Key, RepoPath);

struct Walk<'v, 'k> {
    view: &'v View<'v>,
    kept: &'k KeptInputs<'v>,
    edited: Option<(&'k RepoPath, &'k str)>,
    known: BTreeSet<(RepoPath, bool)>,
    todo: Vec<(RepoPath, Option<Repository>)>,
    found: Walked,
}

/// A file that is read.
#[derive(Clone, Copy)]
struct Site<'s> {
    dir: &'s RepoPath,
    file: &'s RepoPath,
    text: &'s str,
    /// Its documents as they are written; none where their places are not known.
    nodes: &'s [Node],
    repository: Option<&'s Repository>,
    /// Whether the document is a text of another one.
    is_inline: bool,
}

/// A part of a document.
#[derive(Clone, Copy)]
struct Part<'s> {
    site: &'s Site<'s>,
    document: usize,
    steps: &'s [Step],
}

impl Walk<'_, '_> {
    fn enter(&mut self, dir: &RepoPath, repository: Option<&Repository>) {
        // As Kustomize names it: paths start where a link leads.
        let dir = self.view.real_path(dir).unwrap_or_else(|_| dir.clone());
        if self.is_new(&dir, repository) {
            self.todo.push((dir, repository.cloned()));
        }
    }

    fn is_new(&mut self, path: &RepoPath, repository: Option<&Repository>) -> bool {
        if self.known.len() >= FILES_MAX {
            self.found.is_cut = true;
            return false;
        }
        self.known.insert((path.clone(), repository.is_some()))
    }

    fn kind(&self, path: &RepoPath) -> Option<Kind> {
        self.view.kind(path).ok().flatten()
    }

    fn kustomization(&mut self, dir: &RepoPath, repository: Option<&Repository>) {
        for name in kustomize_build::FILE_NAMES {
            let Ok(file) = dir.child(name) else { continue };
            if self.kind(&file) == Some(Kind::File) {
                self.file(dir, &file, repository);
            }
        }
    }

    /// A kustomization, or what configures a generator, transformer or validator.
    fn file(&mut self, dir: &RepoPath, file: &RepoPath, repository: Option<&Repository>) {
        let text = match self.edited.filter(|(edited, _)| *edited == file) {
            Some((_, text)) => text.to_owned(),
            None => match self.view.read(file) {
                Ok(blob) => String::from_utf8_lossy(&blob.data).into_owned(),
                Err(_) => return,
            },
        };
        self.documents(&Site { dir, file, text: &text, nodes: &[], repository, is_inline: false }, &text);
    }

    fn documents(&mut self, site: &Site<'_>, text: &str) {
        let nodes = match yaml::parse(text.as_bytes(), &Limits::default()) {
            Ok(nodes) => nodes,
            // A tool that reads the first document alone does not see what is wrong behind it.
            Err(_) => {
                let site = Site { is_inline: true, ..*site };
                for part in text.split("\n---") {
                    if let Ok(content) = yaml::sigs::unmarshal(part.as_bytes(), &Limits::default()) {
                        self.document(&site, 0, &content);
                    }
                }
                return;
            }
        };
        let site = Site { nodes: if site.is_inline { &[] } else { &nodes }, ..*site };
        for (index, node) in nodes.iter().enumerate() {
            if let Ok(content) = node.to_value(Dialect::V2, &Limits::default()) {
                self.document(&site, index, &content);
            }
        }
    }

    fn document(&mut self, site: &Site<'_>, document: usize, content: &Value) {
        let top = Part { site, document, steps: &[] };
        for field in ENTRIES {
            for (steps, entry) in items(content, &[], field) {
                if let Some(text) = entry.as_str() {
                    self.entry(&Part { steps: &steps, ..top }, field, text);
                }
            }
        }
        for field in ["patches", "patchesJson6902", "replacements"] {
            for (steps, item) in items(content, &[], field) {
                self.path(&top, &steps, item, "path");
            }
        }
        for (steps, openapi) in field(content, &[], "openapi") {
            self.path(&top, &steps, openapi, "path");
        }
        // Of a file that configures a transformer.
        self.path(&top, &[], content, "path");
        for (steps, path) in items(content, &[], "paths") {
            self.plain(&Part { steps: &steps, ..top }, "", path.as_str().unwrap_or_default());
        }
        for field in ["configMapGenerator", "secretGenerator"] {
            for (steps, generator) in items(content, &[], field) {
                self.generator(&top, &steps, generator);
            }
        }
        self.generator(&top, &[], content);
        self.charts(&top, content);
    }

    fn path(&mut self, top: &Part<'_>, steps: &[Step], within: &Value, name: &str) {
        for (steps, path) in field(within, steps, name) {
            self.plain(&Part { steps: &steps, ..*top }, "", path.as_str().unwrap_or_default());
        }
    }

    /// The files of a generator of ConfigMaps or Secrets.
    fn generator(&mut self, top: &Part<'_>, steps: &[Step], generator: &Value) {
        for (steps, entry) in items(generator, steps, "files") {
            let text = entry.as_str().unwrap_or_default();
            // The key is the name of the file, unless one is written before it.
            let (before, path) = match text.split_once('=') {
                Some((key, path)) => (format!("{key}="), path),
                None => (format!("{}=", text.rsplit('/').next().unwrap_or_default()), text),
            };
            self.plain(&Part { steps: &steps, ..*top }, &before, path);
        }
        for (steps, entry) in items(generator, steps, "envs").chain(field(generator, steps, "env")) {
            self.plain(&Part { steps: &steps, ..*top }, "", entry.as_str().unwrap_or_default());
        }
    }

    fn charts(&mut self, top: &Part<'_>, content: &Value) {
        let own = text(content, "chartHome");
        let globals = field(content, &[], "helmGlobals").next();
        let home = globals.as_ref().map(|(_, globals)| text(globals, "chartHome")).filter(|home| !home.is_empty());
        if let Some((steps, globals)) = &globals {
            self.words(&Part { steps, ..*top }, globals, DEPTH_MAX);
        }
        for name in CHARTS {
            for (steps, chart) in items(content, &[], name) {
                let own = text(chart, "chartHome");
                let home = home.filter(|_| own.is_empty()).unwrap_or(own);
                self.chart(&Part { steps: &steps, ..*top }, home, chart);
            }
        }
        if text(content, "kind") == CHART_KIND {
            self.chart(top, own, content);
        }
    }

    /// A chart where Kustomize looks for it.
    ///
    /// Reference: kustomize 5.8.1 api/internal/builtins/HelmChartInflationGenerator.go `absChartHome`, `chartExistsLocally`;
    /// api/types/helmchartargs.go for the old names of the fields.
    fn chart(&mut self, part: &Part<'_>, home: &str, chart: &Value) {
        self.words(part, chart, DEPTH_MAX);
        for name in ["valuesFile", "values"] {
            self.path(part, part.steps, chart, name);
        }
        for (steps, file) in items(chart, part.steps, "additionalValuesFiles") {
            self.plain(&Part { steps: &steps, ..*part }, "", file.as_str().unwrap_or_default());
        }
        let name = text_of_either(chart, ["name", "chartName"]).to_owned();
        let version = text_of_either(chart, ["version", "chartVersion"]).to_owned();
        let repo = text_of_either(chart, ["repo", "chartRepoUrl"]).to_owned();
        let home = if home.is_empty() { "charts" } else { home };
        let below = match version.is_empty() || repo.is_empty() {
            true => format!("{home}/{name}"),
            false => format!("{home}/{name}-{version}/{name}"),
        };
        let Ok(at) = part.site.dir.resolve(&below) else { return };
        let steps = field(chart, part.steps, "repo").next().map(|(steps, _)| steps);
        let steps = steps.unwrap_or_else(|| part.steps.to_vec());
        let place = Part { steps: &steps, ..*part };
        self.mention(&place, "", &repo.clone(), What::Chart { name, version, repo, at });
    }

    /// The texts that become words of Helm's. Values that are written in place get into a file.
    fn words(&mut self, part: &Part<'_>, value: &Value, depth: usize) {
        let with = |step: Step| [part.steps, &[step]].concat();
        match value {
            _ if depth == 0 => {}
            Value::String(text) => self.word(part, text),
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.words(&Part { steps: &with(Step::Index(index)), ..*part }, item, depth - 1);
                }
            }
            Value::Mapping(entries) => {
                for (key, value) in entries {
                    let of_values = ["valuesInline", "values"].iter().any(|name| is_field(name, key));
                    if !of_values || value.as_str().is_some() {
                        self.words(&Part { steps: &with(Step::Key(key.clone())), ..*part }, value, depth - 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => {}
        }
    }

    fn word(&mut self, part: &Part<'_>, text: &str) {
        if text.starts_with('-') || text.contains(char::is_control) {
            self.mention(part, "", text, What::Word(text.to_owned()));
        }
    }

    /// A file that is only ever read as one.
    fn plain(&mut self, part: &Part<'_>, before: &str, text: &str) {
        if is_url(text) {
            self.mention(part, before, text, What::File(text.to_owned()));
        }
    }

    /// A file, a directory, a document itself, or something elsewhere.
    fn entry(&mut self, part: &Part<'_>, field: &str, text: &str) {
        let site = part.site;
        let configures = CONFIGURING.contains(&field);
        if text.trim().contains('\n') {
            if configures {
                self.documents(&Site { is_inline: true, ..*site }, text);
            }
            return;
        }
        self.word(part, text);
        let is_url = is_url(text);
        let path = site.dir.resolve(text).ok();
        let kind = path.as_ref().and_then(|path| self.kind(path));
        match (path, kind, Remote::parse(text).filter(|_| DIRECTORIES.contains(&field))) {
            (Some(path), Some(Kind::File), _) if !is_url => self.named_file(site, configures, &path),
            (_, _, Some(remote)) => self.base(part, text, remote, is_url && field != "components"),
            _ if is_url => self.plain(part, "", text),
            (Some(path), Some(Kind::Directory), None) => self.enter(&path, site.repository),
            (Some(path), None, None) => self.missing(part, text, &path),
            _ => {}
        }
    }

    /// A file of the tree; one that configures may name what is elsewhere too.
    fn named_file(&mut self, site: &Site<'_>, configures: bool, path: &RepoPath) {
        if configures && self.is_new(path, site.repository) {
            self.file(site.dir, path, site.repository);
        }
    }

    fn base(&mut self, part: &Part<'_>, text: &str, remote: Remote, or_file: bool) {
        let is_file = or_file && Key::file(text).is_ok_and(|key| self.kept.lists(&key));
        let directory = RepoPath::clean(&remote.directory);
        if let (false, Ok(key), Ok(directory)) = (is_file, git_key(&remote), directory)
            && let Ok((dir, place)) = self.kept.directory(&key, &directory)
        {
            self.enter(&dir, Some(&(key, place)));
        }
        self.mention(part, "", text, What::Base { text: text.to_owned(), remote, or_file });
    }

    /// Directories that are kept are whole, so this is another one of the same repository.
    fn missing(&mut self, part: &Part<'_>, text: &str, path: &RepoPath) {
        let place = part.site.repository.map(|(_, place)| place);
        if let Some(directory) = place.and_then(|place| path.strip_prefix(place)) {
            self.mention(part, "", text, What::Directory(directory));
        }
    }

    fn mention(&mut self, part: &Part<'_>, before: &str, text: &str, what: What) {
        let Part { site, document, steps } = *part;
        let place = Place { document, steps: steps.to_vec(), before: before.to_owned() };
        self.found.mentions.push(Mention {
            file: site.file.clone(),
            dir: site.dir.clone(),
            repository: site.repository.cloned(),
            span: span(part, text),
            place: (!site.is_inline).then_some(place),
            what,
        });
    }
}

/// Where a text is written: the node, else the first line that has it, else the file.
fn span(part: &Part<'_>, text: &str) -> Span {
    let Part { site, document, steps } = *part;
    let node = site.nodes.get(document).and_then(|node| steps.iter().try_fold(node, into));
    if let Some(node) = node {
        let width = u32::try_from(text.chars().count()).unwrap_or(1).max(1);
        let span = Span::at(site.file.clone(), node.mark.line, node.mark.column);
        return Span { width, ..span }.quoting(site.text);
    }
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

fn into<'n>(node: &'n Node, step: &Step) -> Option<&'n Node> {
    match step {
        Step::Key(key) => node.get(key),
        Step::Index(index) => node.as_sequence()?.get(*index),
    }
}

/// The text of a field, empty for any other value.
fn text<'c>(content: &'c Value, name: &str) -> &'c str {
    field(content, &[], name).next().and_then(|(_, value)| value.as_str()).unwrap_or_default()
}

/// The text of the first field that has any, by its new name or by its old one.
fn text_of_either<'c>(content: &'c Value, [new, old]: [&str; 2]) -> &'c str {
    match text(content, new) {
        "" => text(content, old),
        text => text,
    }
}

/// A field with the way to it: by its name, else by one that differs in case, as Go reads it.
fn field<'c>(content: &'c Value, steps: &[Step], name: &str) -> impl Iterator<Item = (Vec<Step>, &'c Value)> + use<'c> {
    let entries = content.as_mapping();
    let found = entries.and_then(|entries| {
        let exact = entries.get_key_value(name);
        exact.or_else(|| entries.iter().find(|(key, _)| is_field(name, key)))
    });
    let way = |key: &str| [steps, &[Step::Key(key.to_owned())]].concat();
    found.map(|(key, value)| (way(key), value)).into_iter()
}

/// The items of a list.
fn items<'c>(content: &'c Value, steps: &[Step], name: &str) -> impl Iterator<Item = (Vec<Step>, &'c Value)> + use<'c> {
    let list = field(content, steps, name).next();
    list.into_iter().flat_map(|(steps, list)| {
        let items = list.as_sequence().unwrap_or_default().iter().enumerate();
        items.map(move |(index, item)| ([&steps[..], &[Step::Index(index)]].concat(), item))
    })
}
