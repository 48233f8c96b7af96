//! The repositories of a server.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many directories deep they are looked for: forges need two, those that hash names five.
const DEPTH_MAX: usize = 16;

/// The bare repositories below a directory, by path. Links are not followed, and no repository is looked for in another.
///
/// Errors: the directory cannot be read. One below it that cannot be is passed over.
pub(crate) fn repositories(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![(dir.to_path_buf(), 0)];
    fs::read_dir(dir)?;
    while let Some((dir, depth)) = left.pop() {
        if is_repository(&dir) {
            found.push(dir);
        } else if depth < DEPTH_MAX {
            let below = fs::read_dir(&dir).into_iter().flatten().flatten();
            let below =
                below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != ".git");
            left.extend(below.map(|entry| (entry.path(), depth + 1)));
        }
    }
    found.sort();
    Ok(found)
}

/// Whether git takes a directory for a git directory.
///
/// Reference: git 2.47 setup.c `is_git_directory`.
fn is_repository(dir: &Path) -> bool {
    let is_there = |name: &str| dir.join(name).is_dir();
    fs::symlink_metadata(dir.join("HEAD")).is_ok() && is_there("objects") && is_there("refs")
}
