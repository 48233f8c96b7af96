//! What is said of a values file that is not there.

use dry_files::path::RepoPath;
use dry_files::view::{Kind, View, ViewError};

use crate::argo::is_near_file;

/// Where none beside it has nearly its name.
///
/// The option comes last, and with what it does: a misspelt name is missing too, and all that its file says would be lost.
pub(super) const NONE_NEAR: &str = "paths are relative to the chart, or start with `/` at the root of the repository; if it is \
                                    meant to be missing, `ignoreMissingValueFiles: true` renders without its values";

/// The hint for `text`, which names the missing `path`: the file beside it that was probably meant.
///
/// Errors: its directory cannot be read.
pub(super) fn hint(view: &View<'_>, path: &RepoPath, text: &str) -> Result<String, ViewError> {
    let Some(near) = near(view, path)? else { return Ok(NONE_NEAR.to_owned()) };
    let directory = text.rfind('/').map_or("", |at| &text[..=at]);
    Ok(format!("did you mean `{directory}{near}`?"))
}

/// The name of a file beside `path` that is nearly its name; of several the first one.
fn near(view: &View<'_>, path: &RepoPath) -> Result<Option<String>, ViewError> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    if view.kind(&directory)? != Some(Kind::Directory) {
        return Ok(None);
    }
    let entries = view.list(&directory)?;
    let is_file = |kind| matches!(kind, Kind::File | Kind::Link);
    let mut names = entries.iter().filter(|entry| is_file(entry.kind)).map(|entry| entry.name.as_str());
    Ok(names.find(|other| is_near_file(name, other)).map(str::to_owned))
}
