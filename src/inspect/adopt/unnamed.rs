//! What a tree has that no Application names: charts and kustomizations, and how many things of each kind there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_yaml::{self as yaml, Limits, Node};
use serde::Serialize;

use super::super::check::{Findings, Judged, Rule, Tree};
use crate::argo::{self, Application, RuleSet};
use crate::owners::error::HydrateError;

/// What no Application names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Unnamed {
    /// The charts and kustomizations that no Application names.
    pub sources: Vec<RepoPath>,
    /// Everything that was seen, by kind.
    pub seen: Seen,
}

/// How many things of each kind a tree has, whether hydration renders them or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Seen {
    /// Argo CD Applications, with `spec.sourceHydrator` or without.
    pub applications: usize,
    /// ApplicationSets.
    pub application_sets: usize,
    /// Helm charts, but for libraries and those inside of others.
    pub charts: usize,
    /// Kustomizations, bases and components too.
    pub kustomizations: usize,
    /// Files of Jsonnet, libraries too.
    pub jsonnet_files: usize,
    /// Files of helmfile, which hydration does not render.
    pub helmfiles: usize,
    /// Files with Kubernetes objects as they are, but for Argo CD's.
    pub manifest_files: usize,
}

/// Directories that could be the source of an Application.
pub(super) type Sources = BTreeMap<RepoPath, Source>;

/// What such a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Chart,
    Kustomization,
}

/// Where the Applications are that are made up here; no tree has such a file.
const MADE_UP: &str = ".git/hydrate-adopt.yaml";

/// How deep directories may nest.
const DEPTH_MAX: usize = 128;

/// A larger file is not read for Applications.
const FILE_BYTES_MAX: usize = 4 << 20;

/// The charts and kustomizations that no Application names.
pub(super) fn sources(judged: &Judged, tree: &Tree<'_>) -> Result<Sources, HydrateError> {
    let found = survey_of(tree, &mut Findings::default())?;
    Ok(found.without_named(judged).0)
}

/// What no Application names. Submodules, whose files are not here, are findings.
pub(super) fn survey(judged: &Judged, tree: &Tree<'_>, found: &mut Findings) -> Result<Unnamed, HydrateError> {
    let (sources, seen) = survey_of(tree, found)?.without_named(judged);
    Ok(Unnamed { sources: sources.into_keys().collect(), seen })
}

fn survey_of(tree: &Tree<'_>, found: &mut Findings) -> Result<Found, HydrateError> {
    let view = View::new(tree.files);
    let mut survey =
        Survey { view: &view, sources: BTreeMap::new(), referenced: BTreeSet::new(), found, seen: Seen::default() };
    survey.directory(&RepoPath::root(), 0)?;
    let Survey { sources, referenced, seen, .. } = survey;
    Ok(Found { sources, referenced, seen })
}

/// What a walk over a tree found.
struct Found {
    sources: Sources,
    /// Kustomizations that another one names.
    referenced: BTreeSet<RepoPath>,
    seen: Seen,
}

impl Found {
    fn without_named(self, judged: &Judged) -> (Sources, Seen) {
        let Self { mut sources, referenced, seen } = self;
        let applications = judged.discovered.applications.iter();
        let own = applications.flat_map(|application| application.all_sources()).filter(|dry| dry.input.is_none());
        let roots = &judged.policy.settings.roots;
        let roots = roots
            .iter()
            .filter_map(|root| Some(root.application("https://example.com", "HEAD", &RuleSet::default())?.dry.path));
        let named: BTreeSet<RepoPath> = own.map(|source| source.path.clone()).chain(roots).collect();
        sources.retain(|path, source| {
            let is_base = *source == Source::Kustomization && referenced.contains(path);
            !(is_base || named.contains(path))
        });
        (sources, seen)
    }
}

/// An Application for each source, with a file of values where one is given, so that they are rendered as all others are.
pub(super) fn made_up<'s>(
    sources: impl Iterator<Item = (&'s RepoPath, Source, Option<&'s str>)>,
) -> Vec<Arc<Application>> {
    let mut text = String::new();
    for (index, (path, source, values)) in sources.enumerate() {
        let values = values.map(|file| yaml::json::encode_string(file, false));
        let values = values.map(|file| format!("valueFiles: [{file}]")).unwrap_or_default();
        let tool = match source {
            Source::Chart => format!("helm: {{{values}}}"),
            Source::Kustomization => "kustomize: {}".to_owned(),
        };
        let path = yaml::json::encode_string(if path.is_root() { "." } else { path.as_str() }, false);
        text.push_str(&format!(
            "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: source-{index}}}\nspec:\n  \
             destination: {{namespace: default}}\n  sourceHydrator:\n    drySource: {{repoURL: here, targetRevision: \
             main, path: {path}, {tool}}}\n    syncSource: {{targetBranch: adopt, path: source-{index}}}\n"
        ));
    }
    let file = RepoPath::new(MADE_UP).expect("a path");
    argo::read(&file, text.as_bytes()).documents.into_iter().filter_map(|found| found.application).collect()
}

/// A walk over all directories.
struct Survey<'a> {
    view: &'a View<'a>,
    sources: BTreeMap<RepoPath, Source>,
    /// Kustomizations that another one names.
    referenced: BTreeSet<RepoPath>,
    found: &'a mut Findings,
    seen: Seen,
}

impl Survey<'_> {
    fn directory(&mut self, dir: &RepoPath, depth: usize) -> Result<(), dry_files::view::ViewError> {
        let entries = self.view.list(dir)?;
        let is_file = |name: &str| entries.iter().any(|entry| entry.name == name && entry.kind == Kind::File);
        let is_chart = is_file("Chart.yaml");
        if is_chart && !self.is_library(dir) {
            self.sources.insert(dir.clone(), Source::Chart);
            self.seen.charts += 1;
        }
        for entry in entries.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            match entry.kind {
                Kind::File if entry.name.ends_with(".jsonnet") || entry.name.ends_with(".libsonnet") => {
                    self.seen.jsonnet_files += 1;
                }
                Kind::File if entry.name.starts_with("helmfile.yaml") => self.seen.helmfiles += 1,
                Kind::File if argo::is_kustomization(&path) => self.kustomization(dir, &path),
                Kind::File if argo::may_hold_applications(&path) => self.file(&path),
                Kind::Directory if is_chart && matches!(entry.name.as_str(), "templates" | "charts") => {}
                Kind::Directory if depth < DEPTH_MAX => self.directory(&path, depth + 1)?,
                Kind::Submodule => {
                    let text = format!("`{path}` is a git submodule, whose files are not in this repository");
                    let hint = "copy what is rendered from it into this repository";
                    self.found.add(Rule::Elsewhere, Diagnostic::warning(text).at(Span::file(path)).hint(hint), None);
                }
                Kind::File | Kind::Directory | Kind::Link => {}
            }
        }
        Ok(())
    }

    /// What cannot be read is reported when it is rendered.
    fn parse(&self, path: &RepoPath) -> Vec<Node> {
        let Ok(blob) = self.view.read(path) else { return Vec::new() };
        if blob.data.len() > FILE_BYTES_MAX {
            Vec::new()
        } else {
            yaml::parse(&blob.data, &Limits::default()).unwrap_or_default()
        }
    }

    fn is_library(&self, chart: &RepoPath) -> bool {
        let file = chart.child("Chart.yaml");
        let documents = file.map(|file| self.parse(&file)).unwrap_or_default();
        documents.first().and_then(|chart| chart.get("type")).and_then(Node::as_str) == Some("library")
    }

    fn kustomization(&mut self, dir: &RepoPath, file: &RepoPath) {
        self.seen.kustomizations += 1;
        let documents = self.parse(file);
        let field = |name: &str| documents.first().and_then(|document| document.get(name));
        if field("kind").and_then(Node::as_str) != Some("Component") {
            self.sources.insert(dir.clone(), Source::Kustomization);
        }
        for list in ["resources", "bases", "components"] {
            let items = field(list).and_then(Node::as_sequence).unwrap_or_default();
            let paths = items.iter().filter_map(|item| dir.resolve(item.as_str()?).ok());
            self.referenced.extend(paths.collect::<Vec<_>>());
        }
    }

    /// Counts what a file contains.
    fn file(&mut self, path: &RepoPath) {
        let is_argo = |text: &[u8]| memchr::memmem::find(text, b"argoproj.io").is_some();
        let Ok(blob) = self.view.read(path) else { return };
        if blob.data.len() > FILE_BYTES_MAX || !is_argo(&blob.data) {
            let has = |key: &[u8]| blob.data.split(|byte| *byte == b'\n').any(|line| line.starts_with(key));
            self.seen.manifest_files += usize::from(has(b"apiVersion:") && has(b"kind:"));
            return;
        }
        for node in yaml::parse(&blob.data, &Limits::default()).unwrap_or_default() {
            let text = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default();
            match (text("apiVersion").starts_with("argoproj.io/"), text("kind")) {
                (true, "Application") => self.seen.applications += 1,
                (true, "ApplicationSet") => self.seen.application_sets += 1,
                _ => {}
            }
        }
    }
}
