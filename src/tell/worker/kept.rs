//! The settings that hydrated commits name stay at the remote: making a commit again needs them, and the ref that the
//! job takes its settings from may be written anew, or hydration's own commit on top of it gives way to one on top of newer
//! ones.

use std::collections::BTreeSet;

use super::copy::Copy;
use crate::owners::claims;
use crate::repo::{self, Expected, ObjectId, RefEdit, Repository, update_refs};
use crate::settings::{KEPT_SETTINGS, SETTINGS_REF};

/// The settings that the branches of the remote were hydrated with last, as far as they are here.
///
/// Errors: refs cannot be read.
pub(super) fn named(copy: &Copy) -> Result<BTreeSet<ObjectId>, repo::Error> {
    claims::settings_of_branches(&copy.repository)
}

/// Gives each of `named` that nothing below `refs/hydrate/` leads to any more a ref of its own. It is the same one wherever a
/// job runs.
///
/// Errors: refs cannot be read or written.
pub(super) fn keep(named: &BTreeSet<ObjectId>, copy: &Copy) -> Result<(), repo::Error> {
    let repository: &Repository = &copy.repository;
    let refs = repository.refs()?;
    let kept: Vec<ObjectId> = refs.below(KEPT_SETTINGS).map(|(_, id)| id).chain(refs.get(SETTINGS_REF)).collect();
    let leads_there = |id: &ObjectId| kept.iter().any(|tip| tip == id || repository.is_ancestor(*id, *tip));
    let mut edits = Vec::new();
    for id in named.iter().filter(|id| !leads_there(id)) {
        let name = format!("{KEPT_SETTINGS}{id}");
        edits.push(RefEdit { name, new: Some(*id), expected: Expected::from(None) });
    }
    if edits.is_empty() {
        return Ok(());
    }
    update_refs(repository, &edits, "hydrate: push")
        .map_err(|error| repo::Error::new("keeping the settings of earlier commits", error))
}
