//! What is rendered in the end: the Application's drySource, its override files merged in, its tool chosen.

use std::fmt;

use serde::Serialize;

use super::{Directory, Helm, Kustomize, Plugin};
use crate::path::RepoPath;

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
}
