//! Where the manifests of a path are on a branch.

use super::branch::Branch;
use crate::owners::files::MANIFEST;
use crate::owners::snapshot::Snapshot;
use crate::repo::publish::HydratedTree;
use crate::repo::{Error, Mode, ObjectId};
use dry_files::path::RepoPath;

/// What is on a branch, or what takes its place where two dry commits are compared; none on a new one.
pub(crate) fn tree_before<'f>(branch: &Branch, found: &'f Snapshot<'_>) -> Option<HydratedTree<'f>> {
    let tip = branch.tip.as_ref().map(|tip| tip.tree);
    tip.or(found.compared.get(&branch.name).copied()).map(|tree| found.tree_of(tree))
}

/// The blob of `manifest.yaml` at a path.
pub(crate) fn manifest_of(tree: &HydratedTree<'_>, dir: &RepoPath) -> Result<Option<ObjectId>, Error> {
    let path = dir.child(MANIFEST).expect("the names of our files are single components");
    Ok(tree.entry(&path)?.filter(|(mode, _)| matches!(mode, Mode::File | Mode::Executable)).map(|(_, blob)| blob))
}
