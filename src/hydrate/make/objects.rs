//! What of its objects a run changed on a branch: between the commit before the run and the last one that it made.

use super::branch::Branch;
use super::manifest_of::manifest_of;
use crate::manifest::{ChangedObjects, Tally};
use crate::owners::changed_objects::renamed_applications;
use crate::owners::snapshot::Snapshot;
use crate::repo::{Error, ObjectBuffer, ObjectId};

/// None where the run made no commit. Only manifests that its commits wrote or removed are read, and of a branch that had none
/// before, none.
pub(crate) fn changed(branch: &Branch, found: &Snapshot<'_>) -> Result<Option<ChangedObjects>, Error> {
    let paths = branch.moved_paths();
    let (Some(tip), false) = (&branch.tip, branch.has_no_commit()) else { return Ok(None) };
    let before = branch.own_base().map(|base| found.buffer.commit(base)).transpose()?;
    let before = before.map_or(found.buffer.empty_tree_id(), |commit| commit.tree);
    if let Some(rendered) = branch.rendered().filter(|_| before == found.buffer.empty_tree_id()) {
        return Ok(Some(ChangedObjects::all_added(rendered)));
    }
    let (old, new) = (found.tree_of(before), found.tree_of(tip.tree));
    let mut tally = Tally::default();
    for path in paths {
        let (was, is) = (manifest_of(&old, path)?, manifest_of(&new, path)?);
        if was != is {
            tally.add_within(path, branch.namespace(path), &text(&found.buffer, was), &text(&found.buffer, is));
        }
    }
    let applications = renamed_applications(&found.buffer, before, tip.tree)?;
    Ok(Some(ChangedObjects { applications, ..tally.finish() }))
}

/// What cannot be read is written anew, so nothing is lost with it.
fn text(buffer: &ObjectBuffer<'_>, manifest: Option<ObjectId>) -> Vec<u8> {
    manifest.and_then(|manifest| buffer.blob(manifest).ok()).unwrap_or_default()
}
