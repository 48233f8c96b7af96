//! Secrets that a branch gets in plain text and that it did not have so: the pusher reads it once.

use super::branch::Branch;
use super::manifest_of::{manifest_of, tree_before};
use super::output::Output;
use crate::argo::Application;
use crate::discover::Removal;
use crate::manifest::{self, Key};
use crate::owners::plain_secret;
use crate::owners::snapshot::Snapshot;
use crate::repo::{Error, ObjectId};
use dry_files::diag::Diagnostic;

/// A warning for each Application that brings some. What it had where it was before it moved, as `removals` say, is not new.
pub(crate) fn warnings<'o>(
    outputs: impl Iterator<Item = (&'o Application, &'o Output)>,
    branch: &Branch,
    removals: &[Removal],
    found: &Snapshot<'_>,
) -> Result<Vec<Diagnostic>, Error> {
    let mut warnings = Vec::new();
    for (application, output) in outputs.filter(|(_, output)| !output.plain_secrets.is_empty()) {
        let manifest = manifest_before(application, branch, removals, found)?;
        if manifest == Some(output.manifest) {
            continue;
        }
        let text = manifest.and_then(|manifest| found.buffer.blob(manifest).ok());
        let before = text.map(|text| manifest::plain_secrets(&text)).unwrap_or_default();
        let new: Vec<String> = output.plain_secrets.difference(&before).map(Key::place).collect();
        if !new.is_empty() {
            let warning = plain_secret::warning(&new).at(application.places.dry_path.clone());
            warnings.push(application.tells(warning.of(application.name.as_str())));
        }
    }
    Ok(warnings)
}

/// The manifests that the branch has of an Application.
fn manifest_before(
    application: &Application,
    branch: &Branch,
    removals: &[Removal],
    found: &Snapshot<'_>,
) -> Result<Option<ObjectId>, Error> {
    let Some(tree) = tree_before(branch, found) else { return Ok(None) };
    let here = manifest_of(&tree, &application.sync_path)?;
    let moved = removals.iter().find(|removal| here.is_none() && removal.application == application.name);
    Ok(here.or(moved.map(|removal| manifest_of(&tree, &removal.path)).transpose()?.flatten()))
}
