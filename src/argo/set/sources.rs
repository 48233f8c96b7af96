//! What the generators of a set may look at.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use dry_files::diag::{Refusal, Span};
use dry_files::path::RepoPath;
use dry_files::view::View;
use serde::{Deserialize, Serialize};

use super::fault::{Fault, Result};
use super::known_clusters::{Clusters, Known};
use super::only::Only;
use super::recorded::{Recorded, read_recorded};
use crate::argo::url::RepoUrl;
use inputs::InputsDir;

/// The repository and the revision that are the tree.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Home {
    /// The URLs of the repository.
    pub repo_urls: Vec<String>,
    /// What the tree can be named by, besides `HEAD` and nothing: branches with and without `refs/heads/`, commit ids.
    pub revisions: Vec<String>,
    /// Whether `HEAD` is another branch than the tree is of.
    pub is_beside_head: bool,
}

impl Home {
    /// Whether something with this URL and revision is read from the tree. Any revision is where none is known.
    pub fn is_here(&self, repo_url: &str, revision: &str) -> bool {
        let revision = if self.revisions.is_empty() { "HEAD" } else { revision };
        self.check(repo_url, revision).is_ok()
    }

    pub(super) fn check(&self, repo_url: &str, revision: &str) -> Result<()> {
        let asked = RepoUrl::new(repo_url);
        let is_here = |url: &String| RepoUrl::new(url) == asked || RepoUrl::new(url).same_place(&asked);
        if !self.repo_urls.iter().any(is_here) {
            let known = match self.repo_urls.as_slice() {
                [] => "the URL of this repository is not known".to_owned(),
                urls => format!("this one is `{}`", urls.join("`, `")),
            };
            return Err(Fault::refused(
                format!("the generator reads `{repo_url}`, which is not this repository"),
                Refusal::Elsewhere,
                format!("name this repository; {known}"),
            )
            .below("repoURL"));
        }
        let revision = revision.trim();
        let is_head = matches!(revision, "" | "HEAD") && !self.is_beside_head;
        let is_this = is_head || self.revisions.iter().any(|known| known == revision);
        if !is_this {
            return Err(Fault::refused(
                format!("the generator reads the revision `{revision}`, which is not this dry branch"),
                Refusal::Elsewhere,
                match self.revisions.first() {
                    Some(branch) if self.is_beside_head => format!("use `{branch}`"),
                    Some(branch) => format!("use `HEAD` or `{branch}`"),
                    None => "use `HEAD`".to_owned(),
                },
            )
            .below("revision"));
        }
        Ok(())
    }
}

/// The namespace of Argo CD, as its own manifests have it.
pub(crate) const ARGOCD_NAMESPACE: &str = "argocd";

/// What generators ask.
#[derive(Debug)]
pub struct Sources<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) home: Home,
    pub(super) argocd_namespace: String,
    pub(super) recorded: Arc<Recorded>,
    pub(super) recorded_files: BTreeMap<String, RepoPath>,
    pub(super) clusters: OnceLock<Arc<Clusters>>,
    pub(super) clusters_are_used: AtomicBool,
    pub(super) only: Option<&'a Only>,
    pub(super) inputs: InputsDir,
    pub(super) lists: Vec<RepoPath>,
}

impl<'a> Sources<'a> {
    /// The files of a tree, and where it is from. Argo CD lives in the namespace `argocd`, and nothing is recorded.
    pub fn new(view: &'a View<'a>, home: Home) -> Self {
        Self {
            view,
            home,
            argocd_namespace: ARGOCD_NAMESPACE.to_owned(),
            recorded: Arc::default(),
            recorded_files: BTreeMap::new(),
            clusters: OnceLock::new(),
            clusters_are_used: AtomicBool::new(false),
            only: None,
            inputs: InputsDir::default(),
            lists: Vec::new(),
        }
    }

    /// Sets the part of the tree that `git` generators look at; all of it without one.
    pub fn of_part(self, only: Option<&'a Only>) -> Self {
        Self { only, ..self }
    }

    /// Sets another directory for inputs, which no generator looks into.
    pub fn with_inputs_in(self, inputs: InputsDir) -> Self {
        Self { inputs, ..self }
    }

    /// Whether `git` generators look at a path.
    pub(super) fn has(&self, path: &RepoPath) -> bool {
        self.only.is_none_or(|only| only.has(path)) && !self.inputs.has(path)
    }

    /// Sets the namespace of Argo CD, which has the Secrets of its clusters.
    pub fn in_namespace(self, argocd_namespace: impl Into<String>) -> Self {
        Self { argocd_namespace: argocd_namespace.into(), clusters: OnceLock::new(), ..self }
    }

    /// Sets the recorded params of generators that are answered outside of git, by the name of the generator:
    /// `scmProvider`, `pullRequest`, `plugin`, `clusterDecisionResource`.
    pub fn with_recorded(self, recorded: Recorded) -> Self {
        Self { recorded: Arc::new(recorded), ..self }
    }

    /// Sets the files of the tree with recorded params, by the name of the set.
    pub fn with_recorded_files(self, recorded_files: BTreeMap<String, RepoPath>) -> Self {
        Self { recorded_files, ..self }
    }

    /// Sets the files of the tree that list clusters, beside the Secrets of clusters.
    pub fn with_lists(self, lists: Vec<RepoPath>) -> Self {
        Self { lists, clusters: OnceLock::new(), ..self }
    }

    /// Sets clusters that are known already; without them the Secrets of clusters are looked for in the tree.
    pub fn with_clusters(self, clusters: Arc<Clusters>) -> Self {
        Self { clusters: clusters.into(), ..self }
    }

    /// Whether a generator asked for clusters: what a set makes then depends on which files have any.
    pub fn used_clusters(&self) -> bool {
        self.clusters_are_used.load(Ordering::Relaxed)
    }

    pub(super) fn clusters(&self) -> Result<&Known> {
        let search = || Arc::new(Clusters::search(self.view, &self.argocd_namespace, &self.inputs, &self.lists));
        let clusters = self.clusters.get_or_init(search);
        self.clusters_are_used.store(true, Ordering::Relaxed);
        self.view.note_all(&clusters.reads);
        clusters.known.as_ref().map_err(|unclear| unclear.fault())
    }

    /// What was recorded for a set.
    pub(super) fn recorded_of(&self, set: &str) -> Result<Arc<Recorded>> {
        let Some(path) = self.recorded_files.get(set) else { return Ok(self.recorded.clone()) };
        let read = match self.view.read(path) {
            Ok(blob) => read_recorded(&blob.data),
            Err(error) => Err(error.to_string()),
        };
        read.map(Arc::new).map_err(|reason| unreadable(set, path, &reason))
    }
}

/// What is wrong with the file of the recorded parameters of a set.
fn unreadable(set: &str, path: &RepoPath, reason: &str) -> Fault {
    Fault::new(format!("the recorded parameters of the ApplicationSet cannot be read: {reason}"))
        .hint(format!("correct the file, or the setting: git hydrate config set applicationSets.{set}.parameters FILE"))
        .at(Span::file(path.clone()))
}
