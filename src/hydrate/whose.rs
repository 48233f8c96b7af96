//! Whose a report is. A run hydrates what there is, the commits of other pushes too, and each push is shown its own: so a run
//! notes which dry commit each part of its report is about.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use dry_files::diag::Diagnostic;

/// A dry commit, as one of a dry branch. Ids are full and in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct DryPoint {
    /// The dry branch.
    pub dry_branch: String,
    /// The dry commit.
    pub dry_sha: String,
}

impl DryPoint {
    /// A commit of a dry branch.
    pub(crate) fn new(dry_branch: impl ToString, dry_sha: impl ToString) -> Self {
        Self { dry_branch: dry_branch.to_string(), dry_sha: dry_sha.to_string() }
    }
}

/// What a sentence of a report is about; one that has none of these is about the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum About {
    /// A dry commit.
    Dry(DryPoint),
    /// What was made of a dry commit, beside what others had put on a branch.
    Made(DryPoint),
    /// Some dry branches, whatever their commits.
    Branches(Vec<String>),
    /// The push itself.
    Push,
    /// All dry branches together.
    Together,
}

/// What came of a dry commit on a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Judged {
    /// The branch.
    pub branch: String,
    /// The dry commit.
    pub dry: DryPoint,
    /// Why it was not hydrated; none when it was, with a hydrated commit or without.
    pub failure: Option<Vec<Diagnostic>>,
}

/// What a run knows of whose its report is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Whose {
    /// The dry branches that the run looked at, each with its tip.
    pub heads: BTreeMap<String, String>,
    /// What the run judged, in that order.
    pub judged: Vec<Judged>,
    /// The dry commits of each dry branch of which something was known before the run: branches showed them, or they had failed.
    pub known: BTreeMap<String, BTreeSet<String>>,
    /// The dry commit that each branch shows after the run, of each dry branch.
    pub shown: BTreeMap<String, BTreeSet<DryPoint>>,
    /// Whether each dry commit is judged, and not the tips alone.
    pub judges_every: bool,
    /// The branch of copies, if there is one.
    pub copies: Option<String>,
    /// Of the problems, warnings and notes of the report, by their place in it.
    pub about: [BTreeMap<usize, About>; 3],
}

impl Whose {
    /// What was judged of a dry commit on a branch.
    pub(crate) fn judged(&self, branch: &str, dry_branch: &str, dry_sha: &str) -> Option<&Judged> {
        let is_it = |judged: &&Judged| {
            judged.dry.dry_sha == dry_sha && judged.dry.dry_branch == dry_branch && judged.branch == branch
        };
        self.judged.iter().rev().find(is_it)
    }

    /// The dry commit of a dry branch that a branch shows.
    pub(crate) fn shown(&self, branch: &str, dry_branch: &str) -> Option<&str> {
        let shown = self.shown.get(branch)?.iter().find(|shown| shown.dry_branch == dry_branch);
        shown.map(|shown| shown.dry_sha.as_str())
    }

    /// Whether the tip of a dry branch was nothing that an earlier run had tried, although earlier runs tried others: somebody
    /// pushed it, and no change of settings made it be looked at.
    pub(crate) fn is_news(&self, dry_branch: &str) -> bool {
        match (self.heads.get(dry_branch), self.known.get(dry_branch)) {
            (Some(tip), Some(known)) => !known.contains(tip),
            (Some(_) | None, _) => false,
        }
    }
}
