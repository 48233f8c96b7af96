//! Which objects differ between two trees of hydrated branches.

use crate::manifest::{ChangedObjects, RenamedApplication, Tally};
use crate::metadata::Provenance;
use crate::owners::files::{MANIFEST, METADATA};
use crate::repo::{Error, Mode, ObjectBuffer, ObjectId};
use dry_files::path::RepoPath;

/// The directory of a `manifest.yaml`; none of another file.
pub(crate) fn directory_of(file: &str) -> Option<RepoPath> {
    RepoPath::new(file.strip_suffix(MANIFEST)?.strip_suffix('/')?).ok()
}

/// The text of a file; empty without one, none of what is not a file.
///
/// Errors: it cannot be read.
pub(crate) fn text_of(file: Option<(Mode, ObjectId)>, buffer: &ObjectBuffer<'_>) -> Result<Option<Vec<u8>>, Error> {
    match file {
        None => Ok(Some(Vec::new())),
        Some((Mode::File | Mode::Executable, blob)) => buffer.blob(blob).map(Some),
        Some((Mode::Directory | Mode::Link | Mode::Submodule, _)) => Ok(None),
    }
}

/// Whether an object differs in a directory or below it, or in all of a branch without one. What cannot be read as manifests counts as an
/// object that differs.
///
/// Errors: what differs cannot be read.
pub(crate) fn has_changed(
    buffer: &ObjectBuffer<'_>,
    old: ObjectId,
    new: ObjectId,
    directory: Option<&RepoPath>,
) -> Result<bool, Error> {
    let mut tally = Tally::default();
    for change in buffer.diff_trees(old, new)? {
        let Some(path) = directory_of(&change.path) else { continue };
        if directory.is_some_and(|directory| !path.starts_with(directory)) {
            continue;
        }
        match (text_of(change.old, buffer)?, text_of(change.new, buffer)?) {
            (Some(old), Some(new)) if tally.add(&path, &old, &new) => {}
            _ => return Ok(true),
        }
    }
    Ok(!tally.finish().counts.is_zero())
}

/// Those of all paths.
///
/// Errors: what differs cannot be read.
pub(crate) fn changed_objects(
    buffer: &ObjectBuffer<'_>,
    old: ObjectId,
    new: ObjectId,
) -> Result<ChangedObjects, Error> {
    let mut tally = Tally::default();
    for change in buffer.diff_trees(old, new)? {
        let Some(path) = directory_of(&change.path) else { continue };
        if let (Some(old), Some(new)) = (text_of(change.old, buffer)?, text_of(change.new, buffer)?) {
            tally.add(&path, &old, &new);
        }
    }
    Ok(ChangedObjects { applications: renamed_applications(buffer, old, new)?, ..tally.finish() })
}

/// How many directories are asked for another name.
const RENAMES_MAX: usize = 200;

/// The Applications that have another name in a tree than in the one before it, by what is written beside their manifests.
///
/// Errors: what differs cannot be read.
pub(crate) fn renamed_applications(
    buffer: &ObjectBuffer<'_>,
    old: ObjectId,
    new: ObjectId,
) -> Result<Vec<RenamedApplication>, Error> {
    if old == buffer.empty_tree_id() {
        return Ok(Vec::new());
    }
    let directory = |file: &str| RepoPath::new(file.strip_suffix(METADATA)?.strip_suffix('/')?).ok();
    let changes =
        buffer.diff_trees(old, new)?.into_iter().filter(|change| change.old.is_some() && change.new.is_some());
    let mut renamed = Vec::new();
    for (path, change) in changes.filter_map(|change| Some((directory(&change.path)?, change))).take(RENAMES_MAX) {
        let names = |file| -> Result<Vec<String>, Error> {
            let text = text_of(file, buffer)?.unwrap_or_default();
            let mut names = Provenance::read(&path, &text).map(|found| found.applications).unwrap_or_default();
            names.sort();
            Ok(names)
        };
        let (from, to) = (names(change.old)?, names(change.new)?);
        if from != to && !from.is_empty() && !to.is_empty() {
            renamed.push(RenamedApplication { path, from, to });
        }
    }
    Ok(renamed)
}
