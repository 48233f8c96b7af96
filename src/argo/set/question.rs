//! One set and all that its expansion goes by, so that another process can be asked for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{Files, Reads, View};
use serde::{Deserialize, Serialize};

use super::super::rendered::RenderedObject;
use super::{ApplicationSet, Clusters, Expanded, Home, Limits, Only, Sources};
use inputs::InputsDir;

/// What a set is expanded by, beside its document and the files of the tree.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Question {
    /// The repository and the revision that are the tree.
    pub home: Home,
    /// The namespace of Argo CD.
    pub argocd_namespace: String,
    /// Files of the tree with recorded params, by the name of the set.
    pub recorded_files: BTreeMap<String, RepoPath>,
    /// Where inputs are.
    pub inputs: InputsDir,
    /// The files with Secrets of clusters.
    pub secrets: Vec<RepoPath>,
    /// The files with lists of clusters.
    pub lists: Vec<RepoPath>,
    /// How much it may make.
    pub limits: Limits,
    /// The part of the tree that `git` generators look at; all of it without one.
    pub only: Option<Only>,
}

/// What became of a [`Question`].
#[derive(Debug)]
pub struct Answer {
    /// What the set makes, or the first thing that is wrong.
    pub made: Result<Expanded, Diagnostic>,
    /// What is left of the limits.
    pub left: Limits,
    /// Everything of the tree that was looked at.
    pub reads: Reads,
    /// Whether it asked for clusters.
    pub used_clusters: bool,
}

impl Question {
    /// The clusters of a tree.
    pub fn clusters(&self, files: &dyn Files) -> Arc<Clusters> {
        let view = View::new(files);
        Arc::new(Clusters::of_files(&view, &self.argocd_namespace, self.secrets.iter(), &self.lists))
    }

    /// Expands the set. `clusters` are those of the same tree.
    pub fn answer(&self, set: &ApplicationSet, view: &View<'_>, clusters: &Arc<Clusters>) -> Answer {
        let sources = Sources::new(view, self.home.clone()).in_namespace(&self.argocd_namespace);
        let sources = sources.with_recorded_files(self.recorded_files.clone()).with_clusters(clusters.clone());
        let sources = sources.of_part(self.only.as_ref()).with_inputs_in(self.inputs.clone());
        let mut left = self.limits;
        let made = set.expand_within(&sources, &mut left);
        let used_clusters = sources.used_clusters();
        Answer { made, left, reads: view.reads(), used_clusters }
    }
}

impl ApplicationSet {
    /// The set as a text that [`ApplicationSet::remade`] reads; none for one that is in its file.
    pub fn rendered_text(&self) -> Option<String> {
        self.of_parent().map(|rendered| serde_json::to_string(rendered).expect("texts and numbers are JSON"))
    }

    /// The set that was rendered, as it is kept. None when the text is not one that was kept.
    pub fn remade(kept: &str) -> Option<Arc<Self>> {
        serde_json::from_str::<RenderedObject>(kept).ok()?.set().map(Arc::new)
    }
}
