//! The Argo CD `Application` with `spec.sourceHydrator`: what to render, and where the result goes.
//!
//! In the order of a hydration: [`may_hold_applications`] and [`patches`] choose the files of a dry tree, [`read()`]
//! finds the Applications of one, [`validate()`] judges all of them together, [`source()`] merges the override files of a
//! directory and chooses the tool, [`Environment::substitute`] replaces variables. Each is a function of what it is
//! given, and its answer is a value.
//!
//! Leaves to others: which Applications a push touches ([`discover`](crate::discover)), and how a source is rendered (the engines).
//!
//! Never: a name, branch or path that was not checked, or one mistake in place of all of them. What is pushed to us is
//! bounded in depth, in number and in the length of what is said of it.

mod by_directory;
mod conflict;
mod copy;
mod cost;
mod decode;
mod deployed;
mod destinations;
mod document;
mod drawn;
mod environment;
mod excerpt;
mod field;
pub(crate) mod jinja;
mod located;
mod made;
mod maker;
mod misspelt;
mod mistake;
mod name;
mod near;
mod object;
mod options;
pub(crate) mod parent;
mod pause;
mod plain;
mod read;
mod referenced;
mod rendered;
mod repo_url;
mod repository;
mod revision;
mod rules;
mod search;
pub(crate) mod set;
mod source;
mod sync_path;
mod sync_policy;
mod tools;
mod url;
mod validate;
mod write;

use std::borrow::Cow;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::ContentId;
use go_yaml::Value;
use sha2::{Digest, Sha256};

use crate::manifest::Manifest;
use crate::versions::Tools;
use field::Field;
use inputs::Key;
use set::Cluster;

pub(crate) use by_directory::{directory_promoted_from, unnamed_active_paths};
pub(crate) use conflict::{destination_is_dry, no_such_branch};
pub(crate) use copy::Copier;
pub(crate) use cost::{cost_of, extra_of};
pub(crate) use deployed::Deployed;
pub(crate) use destinations::{Destinations, unsafe_url};
pub(crate) use document::Document;
pub(crate) use drawn::{Drawn, DrawnPaths, HeldIdentities, HeldIdentity, SeedIdentities, SeedIdentity};
pub use environment::Environment;
pub(crate) use environment::{Substituted, Variable};
pub(crate) use made::makers_of;
pub(crate) use maker::{By, Keeps, Maker};
pub(crate) use misspelt::{Looks, Misspelt};
pub use name::BranchName;
pub(crate) use name::{AppName, DestinationName, NameError, OUT, ref_of};
pub(crate) use near::{is_near_branch, is_near_file, near};
pub use options::Jsonnet;
pub(crate) use options::{
    Directory, FileParameter, Helm, HelmParameter, JsonnetVariable, Kustomize, Options, Patch, PatchTarget, Plugin,
    PluginParameter, PluginVariable, Replicas,
};
pub use read::read;
pub(crate) use read::{
    File, count_certain, count_mentions, is_marked, objects, read_by, read_no_file, read_too_large, read_within,
};
pub(crate) use referenced::Referenced;
pub(crate) use revision::{LedTo, Revision, is_short_id, newest_above};
pub(crate) use rules::Rule;
pub use rules::RuleSet;
pub use search::Patterns;
pub(crate) use search::{PatternError, is_kustomization, may_hold_applications, patches};
pub use source::source;
pub(crate) use source::{Source, SourceError, SourceType, Tool};
pub(crate) use sync_policy::{Removal, SyncPolicy};
pub(crate) use tools::{ToolSettings, check_tool};
pub(crate) use url::{has_password, is_same_repository, may_be_url, without_credentials};
pub use validate::{Context, Standing, validate};
pub(crate) use validate::{Finding, Verdict, proven_repository};
pub(crate) use write::{HydratorEdit, write_source_hydrator};

/// The group of Argo CD's kinds.
pub(crate) const GROUP: &str = "argoproj.io";

/// The annotation: `"true"` keeps the files of an Application as they are.
pub(crate) const PAUSED: &str = "git-hydrate/paused";

/// Whose rules apply where the proposal and Argo CD's own hydrator differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub enum Profile {
    /// The Manifest Hydrator proposal, made deterministic.
    #[default]
    Proposal,
    /// Argo CD's hydrator, so that a team can move over with an empty diff.
    Argocd,
}

/// An Application of a dry tree: its file, and which of the file it is.
pub(crate) type Identity = (RepoPath, usize);

/// The Argo CD that has an Application, its namespace, and its name.
pub(crate) type FullName = (Option<AppName>, Option<AppName>, AppName);

/// One Application that is hydrated: by its `spec.sourceHydrator`, or by a rule of the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Application {
    /// `metadata.name`.
    pub name: AppName,
    /// `metadata.namespace`: where the Application object lives, not where it deploys to.
    pub namespace: Option<AppName>,
    /// The Argo CD that has it, by the settings `rules` and `roots`; none for the only one.
    pub instance: Option<AppName>,
    /// `spec.project`; `default` when it is left out, as in Argo CD.
    pub project: String,
    /// The cluster that it deploys to: `spec.destination.server`, else `spec.destination.name`, as clusters are compared. The server
    /// in place of a name that the lists of clusters know.
    pub destination_cluster: Option<String>,
    /// `spec.destination.namespace`.
    pub destination_namespace: Option<String>,
    /// `spec.sourceHydrator.drySource`; for a plain Application its source, and of several `sources` the first in this
    /// repository, else the first.
    pub dry: DrySource,
    /// All of `spec.sources`, in their order, of one that a rule hydrates; none when it has one source.
    pub sources: Arc<[PlacedSource]>,
    /// The rule that hydrates it, from 1; none with `spec.sourceHydrator`.
    pub rule: Option<usize>,
    /// An id of all of the document that a rule hydrates; none with `spec.sourceHydrator`.
    pub document: Option<ContentId>,
    /// `spec.sourceHydrator.syncSource.targetBranch`: the branch that is deployed.
    pub sync_branch: BranchName,
    /// `spec.sourceHydrator.syncSource.path`: the directory of the hydrated manifests. Never the root.
    pub sync_path: RepoPath,
    /// `spec.sourceHydrator.hydrateTo.targetBranch`: the staging branch that receives the commit instead.
    pub hydrate_to: Option<BranchName>,
    /// The file of the dry commit that contains the Application, or its maker.
    pub file: RepoPath,
    /// Which Application of the file it is, from 0; items of lists are counted one by one. One that is made has a number
    /// that follows from its name and its maker's.
    pub index: usize,
    /// What Argo CD does in the cluster with what goes.
    pub sync_policy: SyncPolicy,
    /// The object that the cluster has of it, without what its manifests are made of: what Argo CD does with them.
    pub deployed: Deployed,
    /// Whether the annotation [`PAUSED`] keeps its manifests as they are.
    pub paused: bool,
    /// Where its fields are.
    pub places: Places,
    /// What makes it; none for one that is in a file itself.
    pub maker: Option<Arc<Maker>>,
    /// What is known of the cluster that it deploys to; none when nothing is.
    pub cluster: Option<Arc<Cluster>>,
    /// As which versions it is rendered.
    pub tools: Tools,
}

impl Application {
    /// Adds to a mistake of the Application what made the Application.
    pub fn tells(&self, diagnostic: Diagnostic) -> Diagnostic {
        match &self.maker {
            Some(maker) => diagnostic.made_by(maker),
            None => diagnostic,
        }
    }

    /// Where it comes from, when that is not said by its file alone: what makes it, and the rule that hydrates it.
    pub fn origin(&self) -> Option<String> {
        let maker = self.maker.as_ref().map(|maker| format!("made by {maker}"));
        let rule = self.rule.map(|rule| format!("by rule {rule}"));
        let parts: Vec<String> = maker.into_iter().chain(rule).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// All its sources, in their order.
    pub fn all_sources(&self) -> impl Iterator<Item = &DrySource> {
        let only = self.sources.is_empty().then_some(&self.dry);
        only.into_iter().chain(self.sources.iter().map(|source| &source.dry))
    }

    /// The Application once for each source that is rendered, with that source alone.
    pub fn parts(&self) -> Vec<Cow<'_, Self>> {
        if self.sources.is_empty() {
            return vec![Cow::Borrowed(self)];
        }
        let rendered = self.sources.iter().filter(|source| source.dry.renders);
        rendered.map(|source| Cow::Owned(self.with(source))).collect()
    }

    fn with(&self, source: &PlacedSource) -> Self {
        let PlacedSource { dry, repo_url, target_revision, dry_path } = source.clone();
        let places = Places { repo_url, target_revision, dry_path, ..self.places.clone() };
        Self { dry, places, ..self.clone() }
    }

    /// Whether some source is a directory of this repository.
    pub fn has_own_source(&self) -> bool {
        self.all_sources().any(|source| source.input.is_none())
    }

    /// The profile that decides about its release name, variables and tools: what a rule hydrates renders as Argo CD renders it
    /// without us.
    pub fn profile(&self, profile: Profile) -> Profile {
        if self.rule.is_some() { Profile::Argocd } else { profile }
    }

    /// Whether both say the same, wherever they are: a rule may make other branches and paths of one document in another
    /// file.
    pub fn is_same(&self, other: &Self) -> bool {
        let settled = |application: &Self| {
            let all = application.all_sources().map(|source| source.fields.to_value());
            settled(Value::Sequence(all.collect()))
        };
        (&self.project, &self.destination_namespace) == (&other.project, &other.destination_namespace)
            && (self.placement() == other.placement() || self.is_same_document(other))
            && settled(self) == settled(other)
    }

    fn is_same_document(&self, other: &Self) -> bool {
        self.document.is_some() && self.document == other.document
    }

    /// That its chart is rendered as a release that nothing names.
    pub fn unnamed_release(&self, at: Span) -> Diagnostic {
        let text = format!("`{}` sets no release name, so Helm uses `release-name`", self.name);
        let hint = format!("set `helm.releaseName: {}` in the drySource", self.name);
        Diagnostic::warning(text).at(at).hint(hint)
    }

    /// Whether one of its fields that rules point at is there.
    fn has_place(&self, span: &Span) -> bool {
        let Places { name, repo_url, target_revision, dry_path, sync_branch, sync_path, hydrate_to, .. } = &self.places;
        let places = [name, repo_url, target_revision, dry_path, sync_branch, sync_path];
        places.into_iter().chain(hydrate_to).any(|place| place == span)
    }

    /// The branch that hydration writes: the staging branch if there is one, else the sync branch.
    pub fn environment_branch(&self) -> &BranchName {
        self.hydrate_to.as_ref().unwrap_or(&self.sync_branch)
    }

    /// An id of everything in the document that can change the manifests: equal ids, and with equal files equal
    /// manifests.
    ///
    /// Its names, project, destination namespace, drySource and the versions of the tools. Where the manifests go is not part of
    /// it.
    pub fn fingerprint(&self) -> ContentId {
        let mut hash = Sha256::new();
        let namespace = self.namespace.as_ref().map(AppName::as_str);
        for text in [Some(self.name.as_str()), namespace, Some(&self.project), self.destination_namespace.as_deref()] {
            hash.update([u8::from(text.is_some())]);
            hash.update(text.unwrap_or_default().len().to_le_bytes());
            hash.update(text.unwrap_or_default());
        }
        self.dry.fields.hash_into(&mut hash);
        if self.rule.is_some() {
            hash.update([3]);
            for source in self.all_sources() {
                source.fields.hash_into(&mut hash);
                hash.update(source.path.as_str());
                hash.update([0, u8::from(source.input.is_some())]);
            }
        }
        if self.all_sources().any(DrySource::is_kustomize_by_plugin) {
            hash.update([5]);
        }
        if self.tools != Tools::default() {
            hash.update([4]);
            hash.update(self.tools.to_string());
        }
        // Of the cluster, only what is passed to renders.
        let (version, apis) = (self.kube_version(), self.api_versions());
        for text in version.into_iter().chain(apis.iter().map(String::as_str)) {
            hash.update([2]);
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        ContentId::new(&hash.finalize())
    }
}

impl Application {
    /// What it costs to be kept, by the measure of files. A text in one piece takes its length, where values take several times
    /// theirs.
    pub(crate) fn cost(&self) -> u64 {
        let kept = self.maker.as_ref().map_or(0, |maker| maker.kept.len() as u64 / 4);
        self.all_sources().map(DrySource::cost).fold(kept, u64::saturating_add)
    }

    /// The text of the file that it was read from, places and all.
    pub fn text(&self) -> &str {
        &self.dry.fields.place.file.text
    }

    /// The Application, deployed to a cluster of which only what is passed to renders is known.
    pub fn on_cluster(self, kube_version: Option<String>, api_versions: Vec<String>) -> Self {
        let is_known = kube_version.is_some() || !api_versions.is_empty();
        let cluster = || Arc::new(Cluster { kube_version, api_versions, ..Cluster::default() });
        Self { cluster: is_known.then(cluster), ..self }
    }

    /// The version of Kubernetes that its cluster is known to have, for a source that names none.
    pub fn kube_version(&self) -> Option<&str> {
        self.cluster.as_ref()?.kube_version.as_deref()
    }

    /// The versions of APIs that its cluster is known to serve, for a source that names none.
    pub fn api_versions(&self) -> &[String] {
        self.cluster.as_ref().map_or(&[], |cluster| &cluster.api_versions)
    }

    /// An id of everything in the document that rules over all Applications look at, places left out but for that of the
    /// annotation by which it is paused: equal ids, equal verdicts.
    pub fn placement(&self) -> ContentId {
        let mut hash = Sha256::new();
        if let Some(instance) = &self.instance {
            hash.update([6]);
            hash.update(instance.as_str().len().to_le_bytes());
            hash.update(instance.as_str());
        }
        let optional = [
            self.namespace.as_ref().map(AppName::as_str),
            self.destination_cluster.as_deref(),
            self.hydrate_to.as_ref().map(BranchName::as_str),
        ];
        let dry = &self.dry;
        let required = [
            self.name.as_str(),
            &dry.repo_url,
            &dry.target_revision,
            dry.path.as_str(),
            self.sync_branch.as_str(),
            self.sync_path.as_str(),
        ];
        for text in optional.into_iter().chain(required.map(Some)) {
            hash.update([u8::from(text.is_some())]);
            hash.update(text.unwrap_or_default().len().to_le_bytes());
            hash.update(text.unwrap_or_default());
        }
        if self.rule.is_some() {
            hash.update([3]);
            for source in self.all_sources() {
                for text in [source.repo_url.as_str(), &source.target_revision, source.path.as_str()] {
                    hash.update(text.len().to_le_bytes());
                    hash.update(text);
                }
                hash.update([u8::from(source.input.is_some())]);
            }
        }
        hash.update([u8::from(self.paused)]);
        // Where it is paused is reported of it for as long as it is.
        if let Some(Span { line, column, .. }) = self.places.paused {
            hash.update(line.to_le_bytes());
            hash.update(column.to_le_bytes());
        }
        ContentId::new(&hash.finalize())
    }

    /// Its file, and which Application of the file it is: no other one of a dry tree has both.
    pub(crate) fn identity(&self) -> Identity {
        (self.file.clone(), self.index)
    }

    /// The order among the Applications of a branch: by file, within a file the written ones in their order, then the
    /// made ones by name.
    pub fn rank(&self) -> impl Ord + '_ {
        let index = if self.maker.is_some() { usize::MAX } else { self.index };
        (&self.file, index, &self.name, self.namespace.as_ref(), self.index)
    }

    /// What no other Application of a cluster has: the Argo CD that has it, its namespace and its name.
    pub(crate) fn full_name(&self) -> FullName {
        (self.instance.clone(), self.namespace.clone(), self.name.clone())
    }

    /// The cluster whose objects it writes, as it is compared with that of others: of two instances, no two are one. None where it
    /// is not known.
    pub(crate) fn object_cluster(&self) -> Option<Cow<'_, str>> {
        let cluster = self.destination_cluster.as_deref()?;
        Some(match &self.instance {
            // A name or a URL of a cluster has no blank.
            Some(instance) => Cow::Owned(format!("{instance} {cluster}")),
            None => Cow::Borrowed(cluster),
        })
    }

    /// Its `targetRevision` as the name of a branch, which it need not be.
    pub fn revision_name(&self) -> &str {
        let revision = self.dry.target_revision.as_str();
        revision.strip_prefix("refs/heads/").unwrap_or(revision)
    }
}

/// A value with its numbers as they are once it was rendered.
fn settled(value: Value) -> Option<Manifest> {
    let kind = ("kind".to_owned(), Value::from("any"));
    Manifest::new(Value::Mapping([kind, ("value".to_owned(), value)].into())).ok()
}

/// Where the sources of an Application are, and how they are rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct DrySource {
    /// The repository, as written.
    pub repo_url: String,
    /// A branch, `HEAD` (also written as the empty text), or something pinned, as written.
    pub target_revision: String,
    /// The directory of the sources in the dry tree; the root is allowed.
    pub path: RepoPath,
    /// `path`, as written.
    pub path_text: String,
    /// The tool options of the Application itself, without override files.
    pub options: Options,
    /// What it is asked for by, when it is a chart or in another repository.
    pub input: Option<Key>,
    /// The root of its repository in the dry tree: where the input is.
    pub root: RepoPath,
    /// `ref`: the name by which value files of other sources lead here.
    pub reference: Option<String>,
    /// Whether it is rendered; one with `ref` and no path is not.
    pub renders: bool,
    /// All of it, for override files to be merged into.
    fields: Arc<Field>,
}

impl DrySource {
    /// Whether a plugin renders it that is `kustomize build`, by the setting `kustomize.plugins`.
    fn is_kustomize_by_plugin(&self) -> bool {
        self.options.plugin.as_ref().is_some_and(|plugin| plugin.is_kustomize)
    }

    /// The place of a field of the Application's own document, as [`Source::span`]; with `line`, that line of a text in a block.
    pub(crate) fn span(&self, path: &[&str], line: Option<u32>) -> Span {
        let place = self.fields.find(path);
        place.span_of_line(line.unwrap_or_default())
    }

    /// What it costs to be kept, by the measure of files.
    fn cost(&self) -> u64 {
        cost_of(self.fields.size())
    }

    /// All of the source, as it is written.
    pub fn to_value(&self) -> Value {
        self.fields.to_value()
    }
}

/// A source, and where its fields are: the values, not the keys.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedSource {
    /// The source.
    pub dry: DrySource,
    /// `repoURL`
    pub repo_url: Span,
    /// `targetRevision`
    pub target_revision: Span,
    /// `path`, or `chart`.
    pub dry_path: Span,
}

/// Where the fields of an [`Application`] are that rules point at: the values, not the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// `metadata.name`.
    pub name: Span,
    /// `drySource.repoURL`.
    pub repo_url: Span,
    /// `drySource.targetRevision`.
    pub target_revision: Span,
    /// `drySource.path`.
    pub dry_path: Span,
    /// `syncSource.targetBranch`.
    pub sync_branch: Span,
    /// `syncSource.path`.
    pub sync_path: Span,
    /// `hydrateTo.targetBranch`.
    pub hydrate_to: Option<Span>,
    /// The key of the annotation by which it is paused, without its line.
    pub paused: Option<Span>,
    /// The key `spec.destination`, without its line.
    pub destination: Option<Span>,
}

impl Places {
    /// Where the environment branch is named.
    pub fn environment_branch(&self) -> &Span {
        self.hydrate_to.as_ref().unwrap_or(&self.sync_branch)
    }
}
