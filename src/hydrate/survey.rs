//! What the Applications at the tips of the dry branches ask for, without rendering anything.

use std::collections::{BTreeMap, BTreeSet};

use super::dry_tree::DryTrees;
use super::error::HydrateError;
use super::setup::Setup;
use super::snapshot::Snapshot;
use crate::application::{Application, BranchName};
use crate::git::ObjectBuffer;
use crate::settings::Settings;

/// What a repository asks for.
#[derive(Debug)]
pub struct Survey {
    /// The branches that its Applications name, those that are deployed and those for staging.
    pub branches: BTreeSet<BranchName>,
    /// Its Applications that are hydrated, each with its dry branch.
    pub applications: Vec<(BranchName, Application)>,
    /// Its settings.
    pub settings: Settings,
}

/// What the Applications and settings of a repository ask for.
pub fn survey(setup: &Setup<'_>) -> Result<Survey, HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let mut trees = DryTrees::default();
    let heads = found.heads();
    let (mut branches, mut applications) = (BTreeSet::new(), Vec::new());
    for head in &heads {
        let tree = trees.read(head.tip, head, &heads, &found)?;
        for application in tree.hydrated() {
            branches.extend([application.environment_branch().clone(), application.sync_branch.clone()]);
            applications.push((head.branch.clone(), (**application).clone()));
        }
    }
    Ok(Survey { branches, applications, settings: found.rules.settings })
}

/// A branch that Applications name.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// Their dry branch.
    pub dry_branch: BranchName,
    /// Whether hydration writes it; else it is the sync branch of a staging branch.
    pub is_environment: bool,
}

/// The branches that the Applications at the tips of the dry branches name.
pub(super) fn named(found: &Snapshot<'_>) -> Result<BTreeMap<BranchName, Named>, HydrateError> {
    let mut trees = DryTrees::default();
    let heads = found.heads();
    let mut names = BTreeMap::new();
    for head in &heads {
        let tree = trees.read(head.tip, head, &heads, found)?;
        let named = |is_environment| Named { dry_branch: head.branch.clone(), is_environment };
        for application in tree.hydrated() {
            names.entry(application.sync_branch.clone()).or_insert(named(false));
        }
        for application in tree.hydrated() {
            names.insert(application.environment_branch().clone(), named(true));
        }
    }
    Ok(names)
}
