//! Branches that Applications name and that somebody else made.

use crate::argo::{Application, BranchName};
use crate::hydrate::make::takeover::left_alone;
use crate::hydrate::survey::{named, survey};
use crate::owners::error::HydrateError;
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::repo::{ObjectBuffer, ObjectId};

/// A branch that Applications name, and that hydration did not make as far as its records say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignBranch {
    /// The branch.
    pub name: BranchName,
    /// Its newest commit.
    pub tip: ObjectId,
    /// The files on it that no Application makes.
    pub files: Vec<String>,
}

/// The branches that Applications name and that somebody else made. Not dry branches: these cannot be handed over.
pub(crate) fn foreign(setup: &Setup<'_>) -> Result<Vec<ForeignBranch>, HydrateError> {
    let survey = survey(setup)?;
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let mut foreign = Vec::new();
    for (branch, named) in named(&found)? {
        let Some(tip) = found.tip(&branch).filter(|_| !found.dry_branches.contains(&branch)) else { continue };
        let tree = found.buffer.commit(tip)?.tree;
        let is_ours = found.records.get(&branch).is_some_and(|record| record.is_of(tip, setup.repository));
        let is_free = is_ours || tree == found.buffer.empty_tree_id() || survey.settings.adopt.contains(&branch);
        if is_free || !(named.is_environment || named.is_foreign_active(&branch, &found)?) {
            continue;
        }
        let applications = survey.applications.iter().map(|(_, application)| application);
        let names = |app: &&Application| *app.environment_branch() == branch || app.sync_branch == branch;
        let paths = applications.filter(names).map(|app| &app.sync_path).collect();
        let files = left_alone(tree, &paths, &found.buffer)?;
        foreign.push(ForeignBranch { name: branch, tip, files });
    }
    Ok(foreign)
}
