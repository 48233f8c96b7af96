use serde::Serialize;

use crate::application::BranchName;
use crate::diag::Diagnostic;
use crate::git::ObjectBuffer;
use crate::hydrate::error::HydrateError;
use crate::hydrate::failures::Failure;
use crate::hydrate::files::METADATA;
use crate::hydrate::ledger::Ledger;
use crate::hydrate::report::{BehindPath, Outcome};
use crate::hydrate::run::{Branch, Run, Stopped};
use crate::hydrate::setup::Setup;
use crate::hydrate::snapshot::Snapshot;
use crate::hydrate::standing::{Origin, Standing, provenance};
use crate::hydrate::survey::{Named, named};
use crate::metadata::Behind;

/// What a branch that Applications name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BranchState {
    /// Hydration made it.
    Hydrated,
    /// Hydration made it, and it does not exist any more.
    Missing,
    /// It was never made.
    NotMade,
    /// It exists, and hydration did not make it.
    NotHydrated,
    /// The sync branch of staging branches: whoever promotes writes it.
    Promoted,
}

/// How a branch that hydration made, or that Applications name, stands. Ids are full and in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchStatus {
    /// The branch.
    pub branch: String,
    /// What it is.
    pub state: BranchState,
    /// The commit it points at; empty when it does not exist.
    pub tip: String,
    /// The dry branch that it is hydrated from.
    pub dry_branch: String,
    /// The dry commit that it is hydrated from, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_sha: Option<String>,
    /// The tip of the dry branch; none when that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_tip: Option<String>,
    /// How many commits the dry branch is ahead on its first-parent line; none when it was rewound, or is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<usize>,
    /// The paths that stay at an earlier dry commit than `dry_sha`, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths_behind: Vec<BehindPath>,
    /// The dry commits that did not hydrate, oldest first: those after its own, and its own where paths are behind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}

impl BranchStatus {
    /// Whether the branch shows what the tip of its dry branch says; of a sync branch, whether it exists.
    pub fn is_current(&self) -> bool {
        match self.state {
            BranchState::Hydrated => {
                let is_whole = self.paths_behind.iter().all(|path| path.paused);
                self.behind == Some(0) && self.failures.is_empty() && is_whole
            }
            BranchState::Missing | BranchState::NotMade | BranchState::NotHydrated => false,
            BranchState::Promoted => true,
        }
    }
}

/// How many commits ahead are counted.
const BEHIND_MAX: usize = 100_000;

/// What is wrong at the tips of the dry branches, before anything is rendered: in Applications that feed no branch yet, or
/// with a branch that is not written for it.
pub fn problems(setup: &Setup<'_>) -> Result<Vec<Diagnostic>, HydrateError> {
    let surveyed = Run::new(setup).map_err(Stopped::from).and_then(|mut run| {
        run.survey()?;
        Ok(run)
    });
    let run = match surveyed.map_err(Stopped::into_error) {
        // A clone that fetched none knows how its branches are all the same.
        Err(HydrateError::SettingsMissing { .. }) => return Ok(Vec::new()),
        run => run?,
    };
    let mut problems = run.report.problems;
    for outcome in run.branches.values().filter_map(Branch::failure) {
        if let Outcome::Failed { diagnostics, .. } = outcome {
            problems.extend(diagnostics.iter().cloned());
        }
    }
    Ok(problems)
}

/// How all branches stand that hydration made or that the Applications of the dry branches name, by name.
///
/// [`Setup::wake`] should ask for everything; nothing is rendered.
pub fn status(setup: &Setup<'_>) -> Result<Vec<BranchStatus>, HydrateError> {
    let (found, mut ledger) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let mut names = named(&found)?;
    for (branch, dry_branch) in &found.environments {
        // Another dry branch that names it too gets nothing there.
        let named = names.entry(branch.clone()).or_insert_with(|| Named::environment(dry_branch));
        if found.rules.settings.active_paths(branch).is_empty() {
            named.dry_branch.clone_from(dry_branch);
        }
    }
    for (branch, record) in found.records.iter().filter(|(_, record)| !record.initial) {
        // Without its dry branch nothing makes it again.
        if found.tip(branch).or(found.tip(&record.dry_branch)).is_none() {
            continue;
        }
        names.entry(branch.clone()).or_insert_with(|| Named::environment(&record.dry_branch));
    }
    for (branch, failures) in ledger.failures.branches() {
        let (Ok(branch), Some(failure)) = (BranchName::new(branch), failures.last()) else { continue };
        let Ok(dry_branch) = BranchName::new(&failure.dry_branch) else { continue };
        names.entry(branch).or_insert_with(|| Named::environment(&dry_branch));
    }
    names.iter().map(|(branch, named)| one(&found, &mut ledger, branch, named)).collect()
}

fn one(
    found: &Snapshot<'_>,
    ledger: &mut Ledger,
    branch: &BranchName,
    named: &Named,
) -> Result<BranchStatus, HydrateError> {
    let tip = found.tip(branch);
    let dry_tip = found.tip(&named.dry_branch);
    let standing = tip.map(|tip| found.standing(branch, tip, &named.dry_branch, &mut ledger.notes)).transpose()?;
    let is_ours = |standing: &Standing| matches!(standing.origin, Origin::Ours(_));
    let state = match &standing {
        None if found.records.get(branch).is_some() => BranchState::Missing,
        None => BranchState::NotMade,
        Some(_) if !named.is_environment => match named.is_foreign_active(branch, found)? {
            true => BranchState::NotHydrated,
            false => BranchState::Promoted,
        },
        Some(standing) if is_ours(standing) => BranchState::Hydrated,
        Some(_) => BranchState::NotHydrated,
    };
    let standing = standing.filter(|_| state == BranchState::Hydrated);
    let paths_behind = paths_behind(found, standing.as_ref(), named)?;
    let dry = standing.and_then(|standing| standing.dry);
    let repository = found.setup.repository;
    let line = match (dry.filter(|dry| repository.has(*dry)), dry_tip) {
        (Some(dry), Some(tip)) => repository.first_parents(dry, tip, BEHIND_MAX)?,
        _ => None,
    };
    Ok(BranchStatus {
        branch: branch.to_string(),
        state,
        tip: tip.map(|tip| tip.to_string()).unwrap_or_default(),
        dry_branch: named.dry_branch.to_string(),
        dry_sha: dry.map(|dry| dry.to_string()),
        dry_tip: dry_tip.map(|tip| tip.to_string()),
        behind: line.map(|line| line.len()),
        paths_behind,
        failures: ledger.failures.of(branch).to_vec(),
    })
}

/// The paths that a branch lists as behind.
fn paths_behind(
    found: &Snapshot<'_>,
    standing: Option<&Standing>,
    named: &Named,
) -> Result<Vec<BehindPath>, HydrateError> {
    let Some(standing) = standing else { return Ok(Vec::new()) };
    let told = provenance(&found.buffer, standing.tip.tree, METADATA)?;
    let behind = told.map(|told| told.behind).unwrap_or_default();
    let path = |Behind { path, dry_commit }: Behind| BehindPath {
        application: named.applications.get(&path).map(|(name, _)| name.to_string()),
        paused: named.applications.get(&path).is_some_and(|(_, is_paused)| *is_paused),
        path,
        dry_sha: dry_commit.map(|id| id.to_string()),
    };
    Ok(behind.into_iter().map(path).collect())
}
