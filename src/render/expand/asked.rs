//! A set to expand, and why it is not.

use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::Reads;

use super::super::Error;
use crate::argo::set::{ApplicationSet, Clusters, Question};

/// A set, and what it is expanded by.
pub struct Set<'a> {
    /// The set.
    pub set: &'a ApplicationSet,
    /// The file that it is in, or that contains what renders it.
    pub file: &'a RepoPath,
    /// Which set of the file it is, from 0, if it is there itself.
    pub ordinal: usize,
    /// What it is asked.
    pub question: &'a Question,
    /// The clusters of the tree.
    pub clusters: &'a Arc<Clusters>,
}

/// A set that reached a limit of this machine.
#[derive(Debug)]
pub struct Unexpanded {
    /// Which limit, or why it was not expanded.
    pub error: Error,
    /// Everything of the dry tree that was looked at until then.
    pub reads: Reads,
    /// Whether it comes to the same wherever `reads` are confirmed.
    pub repeats: bool,
}

impl Unexpanded {
    pub(in crate::render) fn new(error: Error, reads: Reads) -> Self {
        let repeats = error.is_limit() && !error.is_limit_of_commit();
        Self { error, reads, repeats }
    }
}
