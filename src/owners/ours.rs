//! Compares two trees, looking only at files that hydration writes.

use crate::owners::files::{ATTRIBUTES, METADATA, PATH_FILES};
use crate::repo::{Error, ObjectBuffer, ObjectId};

/// The files between two trees that differ and that hydration writes: those of directories that have a
/// `hydrator.metadata` in one of `owners`.
pub(crate) fn our_changes(
    before: ObjectId,
    after: ObjectId,
    owners: &[ObjectId],
    buffer: &ObjectBuffer<'_>,
) -> Result<Vec<String>, Error> {
    let mut paths = Vec::new();
    for change in buffer.diff_trees(before, after)? {
        let (dir, name) = change.path.rsplit_once('/').unwrap_or(("", &change.path));
        let metadata = if dir.is_empty() { METADATA.to_owned() } else { format!("{dir}/{METADATA}") };
        let is_ours = PATH_FILES.contains(&name) || name == ATTRIBUTES;
        if is_ours && owners.iter().any(|tree| matches!(buffer.entry(*tree, &metadata), Ok(Some(_)))) {
            paths.push(change.path);
        }
    }
    Ok(paths)
}

/// Whether two trees have the same files of hydration in a directory.
pub(crate) fn has_same_files(
    dir: &str,
    one: ObjectId,
    other: ObjectId,
    buffer: &ObjectBuffer<'_>,
) -> Result<bool, Error> {
    for name in PATH_FILES.iter().chain([&ATTRIBUTES]) {
        let path = if dir.is_empty() { (*name).to_owned() } else { format!("{dir}/{name}") };
        if buffer.entry(one, &path)? != buffer.entry(other, &path)? {
            return Ok(false);
        }
    }
    Ok(true)
}
