//! What the repository says of clusters, and what only Argo CD knows.
//!
//! The setting `clusters` is proposed where the tree has a list as `git hydrate clusters import` writes it, and
//! `argocdNamespace` where it has the Secrets of clusters in another namespace. What is not known is named, with the line
//! that asks the cluster.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::Value;
use serde::Serialize;

use super::super::check::{Judged, Tree};
use super::{Draft, walk};
use crate::argo::AppName;
use crate::argo::set::{ARGOCD_NAMESPACE, Clusters};
use crate::manifest::OWN_CLUSTER;
use crate::manifest::{self, Source};
use crate::owners::error::HydrateError;
use inputs::InputsDir;

/// Clusters of which nothing is known although something asks for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UnknownClusters {
    /// The ApplicationSets whose generators ask for clusters.
    pub sets: BTreeSet<String>,
    /// The servers and names that Applications name as destinations, each with how many name it; the cluster of Argo CD itself
    /// is left out.
    pub destinations: BTreeMap<String, usize>,
    /// The namespace of Argo CD.
    pub namespace: String,
    /// Whether charts ask for the versions that a cluster serves.
    pub asks_versions: bool,
}

/// How large a list may be.
const LIST_BYTES_MAX: usize = 4 << 20;

/// Proposes where clusters are listed; answers whether anything was proposed.
pub(super) fn propose(draft: &mut Draft, judged: &Judged, tree: &Tree<'_>) -> Result<bool, HydrateError> {
    let settings = draft.settings()?;
    let view = View::new(tree.files);
    let mut is_new = false;
    if settings.clusters.is_empty() {
        let lists = lists(&view, judged.policy.plain.inputs());
        if !lists.is_empty() {
            let names: Vec<&str> = lists.iter().map(RepoPath::as_str).collect();
            draft.set("clusters", names.into(), "lists of clusters".to_owned())?;
            is_new = true;
        }
    }
    if settings.argocd_namespace.is_none()
        && let Some((namespace, count)) = only_namespace(judged, &view)
    {
        let secrets = if count == 1 {
            "the Secret of a cluster is".to_owned()
        } else {
            format!("{count} Secrets of clusters are")
        };
        draft.set("argocdNamespace", namespace.into(), format!("{secrets} in it"))?;
        is_new = true;
    }
    Ok(is_new)
}

/// The files that are lists of clusters: by their name, then by what they contain.
fn lists(view: &View<'_>, inputs: &InputsDir) -> Vec<RepoPath> {
    let mut found = walk::files(view, inputs, is_called_so);
    found.retain(|path| is_list(view, path));
    found.sort();
    found
}

fn is_called_so(name: &str) -> bool {
    let is_yaml = [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    is_yaml && name.to_ascii_lowercase().contains("cluster")
}

fn is_list(view: &View<'_>, path: &RepoPath) -> bool {
    let is_small = view.read(path).is_ok_and(|blob| blob.data.len() <= LIST_BYTES_MAX);
    let listed =
        |path: &RepoPath| Clusters::of_files(view, ARGOCD_NAMESPACE, std::iter::empty(), std::slice::from_ref(path));
    is_small && !listed(path).names().is_empty()
}

/// The namespace of all Secrets of clusters, when that is not Argo CD's usual one, and how many they are.
fn only_namespace(judged: &Judged, view: &View<'_>) -> Option<(String, usize)> {
    let mut namespaces: Vec<String> = Vec::new();
    for (file, _) in &judged.discovered.clusters {
        let Ok(blob) = view.read(file) else { continue };
        let objects = manifest::read(&blob.data, Source::File(file)).unwrap_or_default();
        let is_cluster = |object: &&manifest::Manifest| {
            let label = object.object().at(&["metadata", "labels", "argocd.argoproj.io/secret-type"]);
            object.kind() == "Secret" && label.and_then(Value::as_str) == Some("cluster")
        };
        namespaces.extend(objects.iter().filter(is_cluster).map(|object| object.namespace().to_owned()));
    }
    let first = namespaces.first()?.clone();
    let is_usual = first.is_empty() || first == ARGOCD_NAMESPACE || AppName::new(&first).is_err();
    (!is_usual && namespaces.iter().all(|namespace| *namespace == first)).then_some((first, namespaces.len()))
}

/// The clusters that something asks for and of which nothing is known; none where nothing asks, or all is known. `asks`: whether
/// a chart asks for what a cluster serves.
pub(super) fn unknown(draft: &Draft, judged: &Judged, tree: &Tree<'_>, asks: bool) -> Option<UnknownClusters> {
    let settings = draft.settings().ok()?;
    let namespace = settings.argocd_namespace.clone().unwrap_or_else(|| ARGOCD_NAMESPACE.to_owned());
    let view = View::new(tree.files);
    let secrets = judged.discovered.clusters.iter().map(|(file, _)| file);
    let known = Clusters::of_files(&view, &namespace, secrets, &settings.clusters);
    let is_known = !known.names().is_empty();
    let sets: BTreeSet<String> = match is_known {
        true => BTreeSet::new(),
        false => {
            let asking = judged.discovered.sets.iter().filter(|found| found.set.asks_for_clusters());
            let written = asking.filter_map(|found| found.set.name().map(str::to_owned));
            // Those that something renders.
            let asking = judged.discovered.unanswered.iter().filter(|maker| maker.asks_for_clusters);
            written.chain(asking.map(|maker| maker.by.name().to_owned())).collect()
        }
    };
    let mut destinations: BTreeMap<String, usize> = BTreeMap::new();
    for application in &judged.discovered.applications {
        let Some(cluster) = &application.destination_cluster else { continue };
        if cluster != OWN_CLUSTER && application.cluster.is_none() {
            *destinations.entry(cluster.clone()).or_default() += 1;
        }
    }
    let is_asked = !sets.is_empty() || (asks && !destinations.is_empty());
    is_asked.then_some(UnknownClusters { sets, destinations, namespace, asks_versions: asks })
}
