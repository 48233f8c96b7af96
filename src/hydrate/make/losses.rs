//! What Applications that stay lose of their objects: counted in what the branch has, whatever a cache remembers.

use super::branch::Branch;
use super::manifest_of::manifest_of;
use super::nothing;
use super::output::PathOutput;
use crate::argo::Application;
use crate::discover::{Counts, Losses, Objects, Removal, RemovalMistake, Why};
use crate::manifest;
use crate::owners::snapshot::Snapshot;
use crate::repo::{Error, ObjectBuffer, ObjectId};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// What the Applications of these paths lose on a branch that was hydrated before; none when that is nothing, or too
/// little for any limit. Only manifests that change are looked at.
///
/// `removals` are paths that are not written any more: what an Application had where it was before it moved counts for
/// where it is now.
pub(crate) fn losses(
    branch: &Branch,
    paths: &[PathOutput<'_>],
    removals: &[Removal],
    keeps: &dyn Fn(&PathOutput<'_>) -> bool,
    found: &Snapshot<'_>,
) -> Result<Option<Losses>, Error> {
    let limit = found.policy.settings.removal_limit;
    let (Some(tip), Some(_), true) = (&branch.tip, branch.dry, limit.object_share < 1.0) else { return Ok(None) };
    let tree = found.tree_of(tip.tree);
    let mut counts = Vec::new();
    let mut has_new = false;
    let is_of = |path: &PathOutput<'_>, removal: &Removal| {
        path.applications.iter().any(|(name, _)| **name == removal.application)
    };
    for path in paths {
        let moved = || removals.iter().find(|removal| is_of(path, removal));
        let old = match manifest_of(&tree, path.dir)? {
            None => moved().map(|removal| manifest_of(&tree, &removal.path)).transpose()?.flatten(),
            old => old,
        };
        has_new |= old.is_none();
        if old != Some(path.manifest) && !(old.is_some() && keeps(path)) {
            let before = old.map(|old| objects_in(&found.buffer, old)).unwrap_or_default();
            counts.push(Counts { path: path.dir.clone(), before, now: objects_in(&found.buffer, path.manifest) });
        }
    }
    let mut replaced = Vec::new();
    for removal in removals.iter().filter(|removal| has_new && !paths.iter().any(|path| is_of(path, removal))) {
        let before = manifest_of(&tree, &removal.path)?.map(|old| objects_in(&found.buffer, old)).unwrap_or_default();
        replaced.push(Counts { path: removal.path.clone(), before, now: Objects::new() });
    }
    Ok(Losses::new(counts, replaced, limit.objects_at_least))
}

/// Why what these Applications lose is too much, for the pusher. `paths` are all of the branch.
pub(crate) fn too_many(
    branch: &Branch,
    paths: &[PathOutput<'_>],
    removals: &[Removal],
    keeps: &dyn Fn(&PathOutput<'_>) -> bool,
    dry: ObjectId,
    found: &Snapshot<'_>,
) -> Result<Option<Diagnostic>, Error> {
    let (Some(losses), Some(tip)) = (losses(branch, paths, removals, keeps, found)?, &branch.tip) else {
        return Ok(None);
    };
    let tree = found.tree_of(tip.tree);
    let mut all = 0;
    for dir in paths.iter().map(|path| path.dir).chain(removals.iter().map(|removal| &removal.path)) {
        all += manifest_of(&tree, dir)?.map_or(0, |manifest| objects_in(&found.buffer, manifest).values().sum());
    }
    let limit = found.policy.settings.removal_limit;
    let mistake = losses.mistake(&branch.name, all, (limit.object_share, limit.objects_at_least));
    let Some(mistake) = mistake else { return Ok(None) };
    let diagnostic = mistake.diagnostic(&losses.paths(), &Why::default());
    let emptied = match &mistake {
        RemovalMistake::EmptiesPath { path, .. } => emptied(path, paths),
        _ => None,
    };
    Ok(Some(match emptied {
        Some(application) => nothing::explained(diagnostic, application, dry, found)?,
        None => diagnostic,
    }))
}

/// The Application that renders nothing now in a path, or in another one in place of it.
fn emptied<'p>(dir: &RepoPath, paths: &[PathOutput<'p>]) -> Option<&'p Application> {
    let here = paths.iter().find(|path| path.dir == dir);
    here.or_else(|| paths.iter().find(|path| path.count == Some(0)))?.application
}

/// What cannot be read is written anew, so nothing is lost with it.
fn objects_in(buffer: &ObjectBuffer<'_>, manifest: ObjectId) -> Objects {
    buffer.blob(manifest).map(|text| manifest::kinds(&text)).unwrap_or_default()
}
