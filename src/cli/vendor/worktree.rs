//! What a command changes in a working tree: the files that differ between two trees, written as they are.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dry_files::diag::printable;
use dry_files::path::RepoPath;

use crate::repo::{Mode, ObjectBuffer, TreeChange};

/// An error where a change would lose a file that was not vendored, or cannot be made: before anything is written.
///
/// `is_ours` answers whether `git hydrate vendor` wrote what is at a path.
pub(super) fn check(
    top: &Path,
    buffer: &ObjectBuffer<'_>,
    changes: &[TreeChange],
    is_ours: &dyn Fn(&RepoPath) -> bool,
) -> anyhow::Result<()> {
    let goes = |change: &&TreeChange| change.new.is_none();
    let gone: BTreeSet<PathBuf> = changes.iter().filter(goes).map(|change| top.join(&change.path)).collect();
    for change in changes {
        let path = place(top, &change.path, &gone)?;
        let own = RepoPath::new(&change.path).with_context(|| change.path.clone())?;
        let is_there = fs::symlink_metadata(&path).is_ok();
        // What git ignores was not in the tree before.
        if !is_there || (change.old.is_some() && is_ours(&own)) {
            continue;
        }
        let comes = match change.new {
            Some((Mode::File, blob)) => Some(buffer.blob(blob)?),
            _ => None,
        };
        if comes.is_none_or(|comes| fs::read(&path).ok().as_deref() != Some(&comes[..])) {
            bail!(
                "nothing was written: `{}` is in the way and does not belong to an input\nhint: move it, then run `git hydrate vendor` again",
                printable(own.as_str())
            );
        }
    }
    Ok(())
}

/// Makes the files of a working tree those of another tree. Links on the way are never followed.
pub(super) fn write(top: &Path, buffer: &ObjectBuffer<'_>, changes: &[TreeChange]) -> anyhow::Result<()> {
    // What goes makes room for what comes.
    for change in changes.iter().filter(|change| change.new.is_none()) {
        let path = place(top, &change.path, &BTreeSet::new())?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("removing {}", path.display()));
            }
            _ => remove_empty(top, &path),
        }
    }
    for change in changes {
        let Some((Mode::File, blob)) = change.new else { continue };
        let path = place(top, &change.path, &BTreeSet::new())?;
        let dir = path.parent().unwrap_or(top);
        fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
        let written = || format!("writing {}", path.display());
        let mut file = tempfile::NamedTempFile::new_in(dir).with_context(written)?;
        file.write_all(&buffer.blob(blob)?).with_context(written)?;
        // As git makes a file: readable as the user's mask allows.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666 & !mask());
        file.as_file().set_permissions(mode).with_context(written)?;
        file.persist(&path).with_context(written)?;
    }
    Ok(())
}

/// The bits that this process leaves out of the modes of its files.
fn mask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(mask);
    mask.bits()
}

/// The path in the working tree, every directory on the way a real one, once the files of `gone` are.
fn place(top: &Path, path: &str, gone: &BTreeSet<PathBuf>) -> anyhow::Result<PathBuf> {
    let path = RepoPath::new(path).with_context(|| path.to_owned())?;
    let mut here = top.to_owned();
    let count = path.components().count();
    for (index, name) in path.components().enumerate() {
        here.push(name);
        let is_last = index + 1 == count;
        match fs::symlink_metadata(&here) {
            Ok(found) if is_last && found.is_dir() && goes(&here, gone) => {}
            Ok(_) if !is_last && gone.contains(&here) => return Ok(top.join(path.as_str())),
            Ok(found) if (is_last && !found.is_file()) || (!is_last && !found.is_dir()) => {
                bail!("nothing was written: `{}` is in the way: move it", printable(&here.to_string_lossy()))
            }
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("nothing was written: looking at {}", here.display()));
            }
            _ => {}
        }
    }
    Ok(here)
}

/// Whether nothing is left of a directory once the files of `gone` are.
fn goes(dir: &Path, gone: &BTreeSet<PathBuf>) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return false };
    let mut paths = entries.map(|entry| entry.map(|entry| entry.path()));
    paths.all(|path| path.is_ok_and(|path| gone.contains(&path) || (!path.is_symlink() && goes(&path, gone))))
}

fn remove_empty(top: &Path, path: &Path) {
    let mut here = path.parent();
    while let Some(dir) = here.filter(|dir| *dir != top) {
        if fs::remove_dir(dir).is_err() {
            return;
        }
        here = dir.parent();
    }
}
