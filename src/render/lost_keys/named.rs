//! What a kustomization names and Kustomize reads as it reads itself: patches, replacements, values of charts.
//!
//! Reference: kustomize 5.8.1. It refuses such keys in resources, generators and transformers, and takes the last one here.

use std::collections::BTreeSet;

use dry_files::path::RepoPath;
use go_yaml::{Mark, Node};

/// The files that a kustomization names, and the texts in it, each with its place.
#[derive(Debug, Default)]
pub(super) struct Named<'a> {
    pub files: BTreeSet<RepoPath>,
    pub texts: Vec<(Mark, &'a str)>,
}

impl<'a> Named<'a> {
    /// Of a kustomization in `dir` with these documents.
    pub(super) fn new(dir: &RepoPath, documents: &'a [Node]) -> Self {
        let mut named = Self::default();
        for document in documents {
            for field in ["patches", "patchesJson6902", "patchesStrategicMerge", "replacements"] {
                items(document, field).for_each(|item| named.patch(dir, item));
            }
            for chart in items(document, "helmCharts") {
                let files = chart.get("valuesFile").into_iter().chain(items(chart, "additionalValuesFiles"));
                files.filter_map(Node::as_str).for_each(|name| named.file(dir, name));
            }
        }
        named
    }

    /// One with a path or a text, or in the old form the name of a file or a text alone.
    fn patch(&mut self, dir: &RepoPath, item: &'a Node) {
        let path = item.get("path").and_then(Node::as_str);
        path.into_iter().for_each(|path| self.file(dir, path));
        let node = item.get("patch").unwrap_or(item);
        match node.as_str() {
            Some(text) if text.contains(['\n', ':']) => self.texts.push((node.mark, text)),
            Some(name) => self.file(dir, name),
            None => {}
        }
    }

    fn file(&mut self, dir: &RepoPath, name: &str) {
        self.files.extend(dir.resolve(name));
    }
}

fn items<'a>(node: &'a Node, field: &str) -> impl Iterator<Item = &'a Node> {
    node.get(field).and_then(Node::as_sequence).into_iter().flatten()
}
