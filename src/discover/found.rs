//! What one file of a dry tree says.

use std::collections::BTreeSet;

use crate::argo;
use dry_files::path::RepoPath;

/// What one file says.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// Its Applications and sets, if there are any or should be.
    pub file: Option<argo::File>,
    /// The files that it names as patches.
    pub patches: BTreeSet<RepoPath>,
    /// Whether it may contain Secrets of clusters.
    pub may_hold_clusters: bool,
    /// What it costs: its size, and what its aliases stand for.
    pub cost: u64,
}
