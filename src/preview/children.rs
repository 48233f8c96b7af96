//! What two dry commits differ in by Applications that one which stays as it is has among its objects.

use super::{Owners, PreviewedPath};
use crate::argo::Application;
use crate::hydrate::plan::skipped::Children;
use crate::hydrate::report::BehindPath;
use crate::manifest::{Source, read};

/// Adds to what stays `behind` the Applications that the dry commit has no more and that one of those has as it was before: a branch
/// keeps them.
pub(super) fn keep(behind: &mut Vec<BehindPath>, paths: &[PreviewedPath], owners: &Owners<'_>) {
    let mut at = 0;
    while let Some(parent) = behind.get(at).cloned() {
        at += 1;
        let Some(children) = children(&parent, paths) else { continue };
        let is_going = |path: &&PreviewedPath| {
            let stays = || behind.iter().any(|one| one.path == path.path);
            path.old.is_some() && path.new.is_none() && !stays()
        };
        let is_its = |former: &&Application| children.have(former);
        let going = paths.iter().filter(is_going);
        let its: Vec<_> = going.filter_map(|path| Some((path, owners.former(&path.path).filter(is_its)?))).collect();
        behind.extend(its.into_iter().map(|(path, former)| BehindPath {
            path: path.path.clone(),
            dry_sha: parent.dry_sha.clone(),
            application: Some(former.name.to_string()),
            paused: parent.paused,
            paused_at: None,
            held: None,
            parent: Some(children.parent().to_string()),
        }));
    }
    behind.sort_by(|one, other| one.path.cmp(&other.path));
}

/// The Applications among the objects that a path which stays has.
fn children(parent: &BehindPath, paths: &[PreviewedPath]) -> Option<Children> {
    let before = paths.iter().find(|path| path.path == parent.path && path.new.is_none())?;
    let manifests = read(before.old.as_ref()?, Source::File(&before.path)).ok()?;
    Some(Children::of(before.application.as_ref()?, parent.paused, &manifests))
}
