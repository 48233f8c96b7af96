use serde::Serialize;

use super::HydrateError;
use super::failures::{FAILURES_REF, Failure, Failures};
use super::heads::{self, RefNames};
use super::rules::Rules;
use super::standing::Standing;
use crate::git::{ObjectBuffer, Repository};

/// How an environment branch stands. Ids are full and in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchStatus {
    /// The branch.
    pub branch: String,
    /// The commit it points at.
    pub tip: String,
    /// The dry branch that it is hydrated from.
    pub dry_branch: String,
    /// The dry commit that it is hydrated from, if that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_sha: Option<String>,
    /// The tip of the dry branch; none when that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_tip: Option<String>,
    /// How many commits the dry branch is ahead on its first-parent line; none when it was rewound, or is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<usize>,
    /// The dry commits after its own that did not hydrate, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}

impl BranchStatus {
    /// Whether the branch shows what the tip of its dry branch says.
    pub fn is_current(&self) -> bool {
        self.behind == Some(0) && self.failures.is_empty()
    }
}

/// How many commits ahead are counted.
const BEHIND_MAX: usize = 100_000;

/// How all environment branches stand, by name; those that never hydrated, because they failed from the start, are
/// among them without a tip.
pub fn status(repository: &Repository, names: &RefNames) -> Result<Vec<BranchStatus>, HydrateError> {
    let buffer = ObjectBuffer::new(repository);
    let refs = repository.refs()?;
    let rules = Rules::read(&refs, &buffer)?;
    let mut notes = heads::recorded_notes(&refs, &buffer)?;
    let (records, _) = heads::records(names, &refs, &mut notes, &buffer)?;
    let failures = Failures::read(&buffer, refs.get(FAILURES_REF))?;
    let mut found = Vec::new();
    for (branch, dry_branch) in heads::environments(names, &refs, &records) {
        let Some(tip) = names.tip(&refs, &branch) else { continue };
        let standing = Standing::read(&branch, tip, &dry_branch, &rules.settings, &records, &mut notes, &buffer)?;
        let dry_tip = names.tip(&refs, &dry_branch);
        let line = match (standing.dry.filter(|dry| repository.has(*dry)), dry_tip) {
            (Some(dry), Some(tip)) => repository.first_parents(dry, tip, BEHIND_MAX)?,
            _ => None,
        };
        found.push(BranchStatus {
            failures: failures.of(&branch).to_vec(),
            branch: branch.to_string(),
            tip: tip.to_string(),
            dry_branch: dry_branch.to_string(),
            dry_sha: standing.dry.map(|dry| dry.to_string()),
            dry_tip: dry_tip.map(|tip| tip.to_string()),
            behind: line.map(|line| line.len()),
        });
    }
    for (branch, failures) in failures.branches() {
        if found.iter().all(|status| status.branch != branch) {
            found.push(BranchStatus {
                branch: branch.to_owned(),
                tip: String::new(),
                dry_branch: failures.last().map(|failure| failure.dry_branch.clone()).unwrap_or_default(),
                dry_sha: None,
                dry_tip: failures.last().map(|failure| failure.dry_sha.clone()),
                behind: None,
                failures: failures.to_vec(),
            });
        }
    }
    found.sort_by(|a, b| a.branch.cmp(&b.branch));
    Ok(found)
}
