//! What a command changes in a working tree: the files that differ between two trees, written as they are.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::git::{Mode, ObjectBuffer, TreeChange};
use crate::path::RepoPath;

/// Makes the files of a working tree those of another tree. Links on the way are never followed.
pub(super) fn write(top: &Path, buffer: &ObjectBuffer<'_>, changes: &[TreeChange]) -> anyhow::Result<()> {
    // What goes makes room for what comes.
    for change in changes.iter().filter(|change| change.new.is_none()) {
        let path = place(top, &change.path)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("removing {}", path.display()));
            }
            _ => remove_empty(top, &path),
        }
    }
    for change in changes {
        let Some((Mode::File, blob)) = change.new else { continue };
        let path = place(top, &change.path)?;
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

/// The path in the working tree, every directory on the way a real one.
fn place(top: &Path, path: &str) -> anyhow::Result<PathBuf> {
    let path = RepoPath::new(path).with_context(|| path.to_owned())?;
    let mut here = top.to_owned();
    let count = path.components().count();
    for (index, name) in path.components().enumerate() {
        here.push(name);
        match fs::symlink_metadata(&here) {
            Ok(found) if index + 1 < count && !found.is_dir() => bail!("{} is in the way: move it", here.display()),
            Ok(found) if index + 1 == count && !found.is_file() => bail!("{} is in the way: move it", here.display()),
            _ => {}
        }
    }
    Ok(here)
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
