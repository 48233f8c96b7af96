//! Branches that Applications name and that somebody else made.

use std::collections::BTreeSet;

use crate::application::BranchName;
use crate::git::{ObjectBuffer, ObjectId};
use crate::hydrate::error::HydrateError;
use crate::hydrate::heads;
use crate::hydrate::run::left_alone;
use crate::hydrate::setup::Setup;
use crate::hydrate::survey::survey;

/// A branch that Applications name, and that hydration did not make as far as its records say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignBranch {
    /// The branch.
    pub name: BranchName,
    /// Its newest commit.
    pub tip: ObjectId,
    /// The files on it that no Application makes.
    pub files: Vec<String>,
}

/// The branches that Applications name and that somebody else made.
pub fn foreign(setup: &Setup<'_>) -> Result<Vec<ForeignBranch>, HydrateError> {
    let survey = survey(setup)?;
    let buffer = ObjectBuffer::new(setup.repository);
    let refs = setup.repository.refs()?;
    let mut notes = heads::recorded_notes(&refs, &buffer)?;
    let (records, _) = heads::records(&setup.refs, &refs, &mut notes, &buffer)?;
    let mut found = Vec::new();
    let written: BTreeSet<&BranchName> =
        survey.applications.iter().map(|(_, application)| application.environment_branch()).collect();
    for branch in written {
        let Some(tip) = setup.refs.tip(&refs, branch) else { continue };
        let tree = buffer.commit(tip)?.tree;
        let is_ours = records.get(branch).is_some_and(|record| record.is_of(tip, setup.repository));
        if is_ours || tree == buffer.empty_tree_id() || survey.settings.adopt.contains(branch) {
            continue;
        }
        let applications = survey.applications.iter().map(|(_, application)| application);
        let paths = applications.filter(|app| app.environment_branch() == branch).map(|app| &app.sync_path).collect();
        found.push(ForeignBranch { name: branch.clone(), tip, files: left_alone(tree, &paths, &buffer)? });
    }
    Ok(found)
}
