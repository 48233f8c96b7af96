//! Where a params set comes from: what made the Application that is rendered with it.

use std::fmt;

use dry_files::path::RepoPath;

/// One params set, and where it comes from.
#[derive(Debug)]
pub(super) struct Element {
    pub params: super::params::Params,
    pub origin: Origin,
}

/// Where a params set comes from: one source for each generator that takes part, in their order. Of a merge, what its first
/// child says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origin(pub Vec<Source>);

/// What one generator made a params set of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// An entry of the set itself; keys and indexes that lead to it, innermost first.
    Entry(Vec<String>),
    /// A directory of the dry tree.
    Directory(RepoPath),
    /// A file of the dry tree, and which of its objects it is when it contains a list.
    File(RepoPath, Option<usize>),
    /// A cluster.
    Cluster(String),
    /// What was recorded of a generator, and which of its params sets it is, from 0.
    Recorded(String, usize),
}

impl Origin {
    pub(super) fn of(source: Source) -> Self {
        Self(vec![source])
    }

    /// Adds to the way of each entry the entry `step` of what is around.
    pub(super) fn below(&mut self, step: impl fmt::Display) {
        for source in &mut self.0 {
            if let Source::Entry(steps) = source {
                steps.push(step.to_string());
            }
        }
    }

    /// That of a params set that is made of two.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }
}

impl Element {
    /// Of an object that is in the set.
    pub(super) fn entry(params: super::params::Params, steps: &[&dyn fmt::Display]) -> Self {
        Self { params, origin: Origin::of(Source::Entry(steps.iter().map(ToString::to_string).collect())) }
    }
}
