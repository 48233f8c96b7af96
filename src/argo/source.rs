//! What is rendered in the end: the Application's drySource, its override files merged in, its tool chosen.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View, ViewError};
use serde::Serialize;

use super::field::{Content, Field, Place};
use super::mistake::{Mistake, Mistakes};
use super::object::Object;
use super::{Application, Directory, DrySource, Helm, Kustomize, Options, Plugin, Profile, decode, read};
use inputs::{KeptInputs, Unusable};

/// Which engine renders a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceType {
    /// A Helm chart.
    Helm,
    /// A kustomization.
    Kustomize,
    /// Plain manifests and Jsonnet.
    Directory,
    /// An external command.
    Plugin,
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SourceType::Helm => "Helm",
            SourceType::Kustomize => "Kustomize",
            SourceType::Directory => "Directory",
            SourceType::Plugin => "Plugin",
        })
    }
}

/// The engine of a source with its options.
#[derive(Debug, Clone, PartialEq)]
pub enum Tool {
    /// A Helm chart.
    Helm(Helm),
    /// A kustomization.
    Kustomize(Kustomize),
    /// Plain manifests and Jsonnet.
    Directory(Directory),
    /// An external command.
    Plugin(Plugin),
}

impl Tool {
    /// Which engine it is.
    pub fn source_type(&self) -> SourceType {
        match self {
            Tool::Helm(_) => SourceType::Helm,
            Tool::Kustomize(_) => SourceType::Kustomize,
            Tool::Directory(_) => SourceType::Directory,
            Tool::Plugin(_) => SourceType::Plugin,
        }
    }
}

/// One directory to render.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The directory, which exists.
    pub path: RepoPath,
    /// How to render it.
    pub tool: Tool,
    /// The override files that were merged in, in this order.
    pub overrides: Vec<RepoPath>,
    /// What is odd about the override files: warnings only.
    pub warnings: Vec<Diagnostic>,
    /// The drySource with everything merged in.
    fields: Arc<Field>,
}

impl Source {
    /// Where an option is, in the Application or in an override file.
    ///
    /// `path` is made of keys and indexes from the option object down: `["helm", "valueFiles", "0"]`. Where that ends
    /// early, the place of the last part that is there.
    pub fn span(&self, path: &[&str]) -> Span {
        self.place(path).span()
    }

    /// The place of a line of the text at `path`, where that is a block; else that of the text.
    pub(crate) fn span_of_line(&self, path: &[&str], line: u32) -> Span {
        self.place(path).span_of_line(line)
    }

    pub(super) fn place(&self, path: &[&str]) -> &Place {
        self.fields.find(path)
    }
}

/// Why a source can't be rendered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SourceError {
    /// Mistakes of the dry commit.
    #[error("{} mistakes in the source of an Application", .0.len())]
    Mistakes(Vec<Diagnostic>),
    /// The repository could not be read.
    #[error(transparent)]
    View(ViewError),
}

/// Finds out what is to be rendered for an Application: reads its directory's override files and chooses its tool.
///
/// `.argocd-source.yaml` is merged in first, then `.argocd-source-<namespace>_<name>.yaml`, or if that is not there
/// `.argocd-source-<name>.yaml`. They can't change `path`, `repoURL` and `targetRevision`.
///
/// The tool: the one option object that is there, else by exact file names: `Chart.yaml` is Helm, a kustomization
/// Kustomize, all else Directory. Both files are an error; in the profile `argocd`, and of what a rule hydrates, Kustomize wins.
///
/// Reference: Argo CD 3 reposerver/repository `mergeSourceParameters`, `GetAppSourceType`; its merge can't delete, and
/// it takes any name that ends in `Chart.yaml`. Which of the two names an Application's own file has depends there on
/// the namespace that Argo CD runs in, which is not given.
pub fn source(view: &View<'_>, application: &Application, profile: Profile) -> Result<Source, SourceError> {
    let profile = application.profile(profile);
    let sources = Sources { view, application };
    sources.check_directory()?;
    let overrides = sources.overrides()?;
    let (fields, options, warnings) = sources.merge(&overrides)?;
    let tool = match explicit(options) {
        Some(tool) => tool,
        None => sources.detect(profile)?,
    };
    Ok(Source { path: application.dry.path.clone(), tool, overrides, warnings, fields })
}

/// The tool whose option object is there; that there is but one was checked when they were read.
fn explicit(options: Options) -> Option<Tool> {
    let Options { helm, kustomize, directory, plugin } = options;
    let tool = kustomize.map(Tool::Kustomize).or(helm.map(Tool::Helm));
    let plugin = plugin.map(|plugin| match plugin.is_kustomize {
        true => Tool::Kustomize(Kustomize::default()),
        false => Tool::Plugin(plugin),
    });
    tool.or(directory.map(Tool::Directory)).or(plugin)
}

/// What override files cannot change.
const FIXED: [&str; 3] = ["repoURL", "targetRevision", "path"];

/// What a source has beside those of a `drySource`.
const PLAIN: [&str; 4] = ["chart", "name", "ref", "tagPrefix"];

/// The directory of one Application.
struct Sources<'a> {
    view: &'a View<'a>,
    application: &'a Application,
}

impl Sources<'_> {
    fn check_directory(&self) -> Result<(), SourceError> {
        let DrySource { path, root, input, .. } = &self.application.dry;
        let path = path.clone();
        if let Some(key) = input {
            let found = KeptInputs::read(self.view).and_then(|kept| kept.check_source(key, root, &path));
            found.map_err(|unusable| self.unusable(&unusable))?;
        }
        match self.kind(&path)? {
            Some(Kind::Directory) => Ok(()),
            Some(Kind::Submodule) => Err(self.unreadable(ViewError::Submodule(path))),
            Some(Kind::File | Kind::Link) => Err(self.mistake(Mistake::PathIsFile { path })),
            None => Err(self.mistake(Mistake::PathMissing { path })),
        }
    }

    /// The override files that are there.
    fn overrides(&self) -> Result<Vec<RepoPath>, SourceError> {
        let Application { name, namespace, .. } = self.application;
        let mut files: Vec<RepoPath> = self.file(".argocd-source.yaml")?.into_iter().collect();
        let of_namespace = namespace.as_ref().map(|namespace| format!(".argocd-source-{namespace}_{name}.yaml"));
        for own in of_namespace.into_iter().chain([format!(".argocd-source-{name}.yaml")]) {
            if let Some(file) = self.file(&own)? {
                files.push(file);
                break;
            }
        }
        Ok(files)
    }

    fn merge(&self, overrides: &[RepoPath]) -> Result<(Arc<Field>, Options, Vec<Diagnostic>), SourceError> {
        let dry = &self.application.dry;
        if overrides.is_empty() {
            return Ok((dry.fields.clone(), dry.options.clone(), Vec::new()));
        }
        let mut fields = Field::clone(&dry.fields);
        let mistakes: RefCell<Mistakes> = RefCell::default();
        for file in overrides {
            let blob = self.view.read(file).map_err(|error| self.unreadable(error))?;
            let patch = read::single_document(file, &blob.data).map_err(SourceError::Mistakes)?;
            let Some(mut patch) = patch else { continue };
            let Content::Mapping(entries) = &mut patch.content else {
                let mistake = Mistake::Type { field: file.to_string(), expected: "a mapping", found: patch.kind() };
                return Err(SourceError::Mistakes(vec![mistake.at(patch.place.span())]));
            };
            for entry in entries.iter().filter(|entry| self.is_fixed(&entry.key)) {
                mistakes.borrow_mut().add(Mistake::Fixed { field: entry.key.clone() }, &entry.key_place);
            }
            entries.retain(|entry| !self.is_fixed(&entry.key));
            fields.merge(&patch);
        }
        let object = Object::new(&fields, "", &fields.place, &mistakes);
        let mut options = object.map(|object| self.options(&object)).unwrap_or_default();
        if let (Some(plugin), Some(own)) = (&mut options.plugin, &dry.options.plugin) {
            plugin.is_kustomize = own.is_kustomize && plugin.name == own.name;
        }
        let mut diagnostics = mistakes.into_inner().into_diagnostics();
        // What is odd about the Application itself was reported when it was read.
        let ours =
            |diagnostic: &Diagnostic| diagnostic.span.as_ref().is_some_and(|span| span.path == self.application.file);
        diagnostics.retain(|diagnostic| diagnostic.is_error() || !ours(diagnostic));
        // As in a drySource: with the field left out, other manifests would be deployed.
        if self.application.rule.is_none() {
            let as_in_document = |one: Diagnostic| if one.is_near_miss() { one.as_error() } else { one };
            diagnostics = diagnostics.into_iter().map(as_in_document).collect();
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(SourceError::Mistakes(diagnostics));
        }
        Ok((Arc::new(fields), options, diagnostics))
    }

    /// The fields that override files cannot set.
    fn fixed(&self) -> impl Iterator<Item = &'static str> {
        let plain: &[&str] = if self.application.rule.is_some() { &PLAIN } else { &[] };
        FIXED.iter().chain(plain).copied()
    }

    fn is_fixed(&self, key: &str) -> bool {
        self.fixed().any(|fixed| fixed == key)
    }

    /// The options of a source, with warnings of fields that are neither options nor fixed.
    fn options(&self, source: &Object<'_>) -> Options {
        let options = decode::options(source);
        for key in self.fixed() {
            source.entry(key);
        }
        source.finish();
        options
    }

    fn detect(&self, profile: Profile) -> Result<Tool, SourceError> {
        let mut kustomization = None;
        for name in kustomize_build::FILE_NAMES {
            if kustomization.is_none() && self.file(name)?.is_some() {
                kustomization = Some(name.to_owned());
            }
        }
        let chart = self.file("Chart.yaml")?.is_some();
        match (kustomization, chart) {
            (Some(kustomization), true) if profile == Profile::Proposal => {
                let path = self.application.dry.path.clone();
                Err(self.mistake(Mistake::ChartAndKustomization { path, kustomization }))
            }
            (Some(_), _) => Ok(Tool::Kustomize(Kustomize::default())),
            (None, true) => Ok(Tool::Helm(Helm::default())),
            (None, false) => Ok(Tool::Directory(Directory::default())),
        }
    }

    /// The file `name` of the directory, if there is one.
    fn file(&self, name: &str) -> Result<Option<RepoPath>, SourceError> {
        let Ok(path) = self.application.dry.path.child(name) else { return Ok(None) };
        Ok((self.kind(&path)? == Some(Kind::File)).then_some(path))
    }

    fn kind(&self, path: &RepoPath) -> Result<Option<Kind>, SourceError> {
        self.view.kind(path).map_err(|error| self.unreadable(error))
    }

    fn mistake(&self, mistake: Mistake) -> SourceError {
        SourceError::Mistakes(vec![mistake.at(self.application.places.dry_path.clone())])
    }

    fn unusable(&self, unusable: &Unusable) -> SourceError {
        match unusable.world() {
            Some(world) => SourceError::View(world.clone()),
            None => SourceError::Mistakes(vec![unusable.found_by(&self.application.places.dry_path)]),
        }
    }

    fn unreadable(&self, error: ViewError) -> SourceError {
        match error {
            ViewError::Backend { .. } => SourceError::View(error),
            error => self.mistake(Mistake::Unreadable(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests;
