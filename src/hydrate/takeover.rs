//! Branches of somebody else that an admin hands over to hydration.

use std::collections::BTreeSet;

use super::error::HydrateError;
use super::files::{METADATA, PATH_FILES};
use super::heads;
use super::setup::Setup;
use super::survey::survey;
use crate::application::BranchName;
use crate::diag::Diagnostic;
use crate::git::{Error, ObjectBuffer, ObjectId};
use crate::path::RepoPath;

/// How many files are named.
const SHOWN_MAX: usize = 5;

/// The files of a tree that no Application makes: Argo CD may deploy them, and hydration leaves them alone. `paths` are
/// those that Applications write.
pub(super) fn left_alone(
    tree: ObjectId,
    paths: &BTreeSet<&RepoPath>,
    buffer: &ObjectBuffer<'_>,
) -> Result<Vec<String>, Error> {
    let paths: BTreeSet<&str> = paths.iter().map(|path| path.as_str()).collect();
    let is_ours = |path: &str| {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let in_path = PATH_FILES.contains(&name) && paths.contains(dir);
        in_path || path == METADATA || path == ".gitattributes"
    };
    let files = buffer.diff_trees(buffer.empty_tree_id(), tree)?.into_iter().map(|change| change.path);
    Ok(files.filter(|path| !is_ours(path)).collect())
}

/// What to tell an admin of them; none where there are none.
pub(super) fn warning(branch: &BranchName, files: &[String]) -> Option<Diagnostic> {
    let named = files.iter().take(SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = files.len().saturating_sub(SHOWN_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let text = format!("`{branch}` has files that no Application makes, which stay as they are: {named}{more}");
    let hint = "if they must not be deployed, remove them with a commit on that branch, made on the server";
    (!files.is_empty()).then(|| Diagnostic::warning(text).hint(hint))
}

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
