//! Which Applications have random values, and whose anybody can compute.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::argo::{BranchName, Drawn, DrawnPaths, SeedIdentity};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::error::HydrateError;
use crate::owners::heads::DryHead;
use crate::owners::public_seeds;
use crate::owners::setup::Setup;
use crate::settings::Seeds;
use dry_files::diag::Diagnostic;

/// An Application with random values, on a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RandomValues {
    /// The environment branch.
    pub branch: String,
    /// The Application, as `NAMESPACE/NAME`.
    pub application: String,
    /// The objects that show them.
    pub objects: Vec<String>,
    /// Whether anybody can compute them.
    pub is_public: bool,
    /// What they are drawn for.
    #[serde(skip)]
    pub identity: SeedIdentity,
}

impl RandomValues {
    fn of(branch: &BranchName, drawn: Drawn, seeds: &Seeds) -> Self {
        Self {
            branch: branch.to_string(),
            application: drawn.identity.application().to_owned(),
            objects: public_seeds::objects(&drawn),
            is_public: seeds.is_public(&drawn.identity),
            identity: drawn.identity,
        }
    }
}

/// The Applications with random values on all branches that hydration made, by branch. They are in its records; a branch of an
/// earlier engine is rendered.
///
/// Errors: the repository.
pub(crate) fn random_values(setup: &Setup<'_>) -> Result<Vec<RandomValues>, HydrateError> {
    let mut run = Run::new(setup)?;
    let all = drawn(&mut run).map_err(Stopped::into_error)?;
    let seeds = &run.found.policy.settings.seeds;
    let mut found = Vec::new();
    for (branch, drawn) in all {
        found.extend(drawn.into_values().map(|drawn| RandomValues::of(&branch, drawn, seeds)));
    }
    Ok(found)
}

/// A warning of the random values that anybody can compute, and where they are; none where there are none.
///
/// Errors: the repository.
pub(crate) fn public_values(setup: &Setup<'_>) -> Result<Option<(Diagnostic, Vec<RandomValues>)>, HydrateError> {
    let mut run = Run::new(setup)?;
    if run.found.policy.settings.nondeterministic.is_empty() {
        return Ok(None);
    }
    let all = drawn(&mut run).map_err(Stopped::into_error)?;
    let Some(warning) = public_seeds::warning(&all, &run.found.policy.settings, &setup.place) else { return Ok(None) };
    let mut values = random_values(setup)?;
    values.retain(|values| values.is_public);
    Ok(Some((warning, values)))
}

fn drawn(run: &mut Run<'_>) -> Result<BTreeMap<BranchName, DrawnPaths>, Stopped> {
    let records: Vec<_> = run.found.records.iter().map(|(name, record)| (name.clone(), record.clone())).collect();
    let mut all = BTreeMap::new();
    for (name, record) in records {
        if record.initial || run.found.tip(&name).is_none() {
            continue;
        }
        let drawn = match (record.drawn, run.found.tip(&record.dry_branch)) {
            (Some(drawn), _) => drawn,
            (None, Some(tip)) => {
                let branch = run.open(&name, &name, &DryHead { branch: record.dry_branch, tip })?;
                run.look_at(&branch)?
            }
            (None, None) => continue,
        };
        all.insert(name, drawn);
    }
    Ok(all)
}
