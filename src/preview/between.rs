//! What differs between two commits of one branch, or of two.

use super::{Owners, Preview, PreviewedBranch, beside, paths};
use crate::argo::BranchName;
use crate::owners::error::HydrateError;
use crate::owners::files::MANIFEST;
use crate::repo::{ObjectBuffer, ObjectId};

/// What `branch` would show that has the tree `new` in place of `old`, of which `against` is the commit. Whose the paths are is not
/// looked up: each is called by its own name.
pub(crate) fn preview_between(
    branch: &BranchName,
    (against, old): (ObjectId, ObjectId),
    new: ObjectId,
    buffer: &ObjectBuffer<'_>,
) -> Result<Preview, HydrateError> {
    let owners = Owners::default();
    let paths = paths(buffer, (old, new), &owners)?;
    let beside = beside::beside(buffer, (new, Vec::new()), &paths, &owners)?;
    let is_manifest = |file: &str| file.strip_suffix(MANIFEST).is_some_and(|directory| directory.ends_with('/'));
    let all = buffer.diff_trees(buffer.empty_tree_id(), new)?;
    let applications = all.iter().filter(|file| is_manifest(&file.path)).count();
    let environment = PreviewedBranch {
        branch: branch.clone(),
        sync_branch: branch.clone(),
        dry_branch: String::new(),
        dry_sha: String::new(),
        dry_sha_before: None,
        against: Some(against),
        applications,
        paths,
        beside,
        like: None,
        frozen: None,
        mistakes: Vec::new(),
        behind: Vec::new(),
        held: Vec::new(),
        failures: Vec::new(),
        not_compared: Vec::new(),
    };
    Ok(Preview {
        environments: vec![environment],
        problems: Vec::new(),
        warnings: Vec::new(),
        refusals: Vec::new(),
        departures: Vec::new(),
        inputs: Vec::new(),
        merge_base: None,
    })
}
