//! Branches of somebody else that an admin hands over to hydration.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;
use dry_files::diag::more::listed;
use dry_files::path::RepoPath;

use crate::argo::BranchName;
use crate::owners::files::{METADATA, PATH_FILES};
use crate::repo::{Error, ObjectBuffer, ObjectId};

/// How many files are named.
const SHOWN_MAX: usize = 5;

/// The files of a tree that no Application makes: Argo CD may deploy them, and hydration leaves them alone. `paths` are
/// those that Applications write.
pub(crate) fn left_alone(
    tree: ObjectId,
    paths: &BTreeSet<&RepoPath>,
    buffer: &ObjectBuffer<'_>,
) -> Result<Vec<String>, Error> {
    let paths: BTreeSet<&str> = paths.iter().map(|path| path.as_str()).collect();
    let files = buffer.diff_trees(buffer.empty_tree_id(), tree)?.into_iter().map(|change| change.path);
    Ok(files.filter(|file| !is_ours(file, &paths)).collect())
}

fn is_ours(file: &str, paths: &BTreeSet<&str>) -> bool {
    let (dir, name) = file.rsplit_once('/').unwrap_or(("", file));
    let in_path = PATH_FILES.contains(&name) && paths.contains(dir);
    in_path || file == METADATA || file == ".gitattributes"
}

/// What to report to an admin of them; none where there are none.
pub(crate) fn warning(branch: &BranchName, files: &[String]) -> Option<Diagnostic> {
    let named = listed(files, SHOWN_MAX);
    let text = format!("`{branch}` has files that no Application makes, which stay as they are: {named}");
    let hint = "if they must not be deployed, remove them with a commit on that branch, made on the server";
    (!files.is_empty()).then(|| Diagnostic::warning(text).hint(hint))
}
