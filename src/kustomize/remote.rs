//! What Kustomize would take from elsewhere: looked up among the inputs that the dry tree keeps.

use super::error::{Error, Result};
pub(super) use crate::inputs::is_url;
use crate::inputs::{KeptInputs, Key, KeyError, Remote, Unusable};
use dry_files::path::RepoPath;
use dry_files::view::View;

/// The file that is kept of a URL.
///
/// Where none is, but a repository is kept that the same text names, Kustomize goes on to that.
pub(super) fn file(view: &View<'_>, text: &str) -> Result<RepoPath> {
    let kept = KeptInputs::read(view).map_err(|error| unusable(&error))?;
    let key = Key::file(text).map_err(|error| wrong(text, &error))?;
    let base = Remote::parse(text).and_then(|remote| Key::git(&remote).ok());
    if !kept.lists(&key) && base.is_some_and(|base| kept.lists(&base)) {
        return Err(Error::new(format!("'{text}' is kept as a directory of a repository, not as a file")));
    }
    kept.find(&key).map_err(|error| unusable(&error))
}

/// The directory that is kept of a repository, and all that is kept of it.
pub(super) fn directory(view: &View<'_>, text: &str, remote: &Remote) -> Result<(RepoPath, RepoPath)> {
    let kept = KeptInputs::read(view).map_err(|error| unusable(&error))?;
    let key = Key::git(remote).map_err(|error| wrong(text, &error))?;
    let directory = RepoPath::clean(&remote.directory).map_err(|error| Error::new(format!("'{text}': {error}")))?;
    kept.directory(&key, &directory).map_err(|error| unusable(&error))
}

/// An input that cannot be used, as an error of the kustomization that names it.
pub(super) fn unusable(error: &Unusable) -> Error {
    if let Some(world) = error.world() {
        return Error::from(world.clone());
    }
    let shown = Error::unsupported(error.to_string(), error.hint());
    error.span().map_or_else(|| shown.clone(), |span| shown.clone().at(span))
}

fn wrong(text: &str, error: &KeyError) -> Error {
    Error::unsupported(format!("'{text}': {error}"), "copy it into the repository and name the copy")
}
