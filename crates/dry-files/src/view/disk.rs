//! The files of a directory on disk.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::{ContentId, Entry, Files, Kind, Unreadable};
use crate::path::RepoPath;
use crate::regular;

/// Files of a plain directory: for rendering what is in no repository.
///
/// Ids are those of paths, not of contents, so that nothing is read to list a directory: they distinguish files within
/// one run over files that do not change meanwhile. A directory is listed once: every path is found from the root on,
/// through directories that may contain thousands. Sockets, devices and the like are left out, and so is `.git`.
#[derive(Debug)]
pub struct DiskFiles {
    root: PathBuf,
    listings: Mutex<HashMap<RepoPath, Arc<[Entry]>>>,
}

impl DiskFiles {
    /// The files below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), listings: Mutex::default() }
    }

    fn path(&self, path: &RepoPath) -> PathBuf {
        path.components().fold(self.root.clone(), |root, component| root.join(component))
    }
}

fn id_of(path: &RepoPath) -> ContentId {
    ContentId::new(&Sha256::digest(path.as_str()))
}

fn message(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

impl Files for DiskFiles {
    fn list(&self, dir: &RepoPath, _id: ContentId) -> Result<Arc<[Entry]>, String> {
        let listings = || self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = listings().get(dir) {
            return Ok(entries.clone());
        }
        let path = self.path(dir);
        let mut entries = Vec::new();
        for entry in fs::read_dir(&path).map_err(|error| message(&path, &error))? {
            let entry = entry.map_err(|error| message(&path, &error))?;
            let name = entry.file_name().into_string().map_err(|name| format!("{}: not UTF-8", name.display()))?;
            let file_type = entry.file_type().map_err(|error| message(&entry.path(), &error))?;
            if name == ".git" {
                continue;
            }
            let kind = if file_type.is_symlink() {
                Kind::Link
            } else if file_type.is_dir() {
                Kind::Directory
            } else if file_type.is_file() {
                Kind::File
            } else {
                continue;
            };
            let id = id_of(&dir.child(&name).map_err(|error| error.to_string())?);
            entries.push(Entry { name, kind, id });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let entries: Arc<[Entry]> = entries.into();
        listings().insert(dir.clone(), entries.clone());
        Ok(entries)
    }

    fn read(&self, path: &RepoPath, _id: ContentId) -> Result<Arc<[u8]>, Unreadable> {
        let path = self.path(path);
        let is_link = fs::symlink_metadata(&path).map_err(|error| message(&path, &error))?.is_symlink();
        if !is_link {
            return Ok(regular::read(&path, u64::MAX).map_err(|error| message(&path, &error))?.into());
        }
        let target = fs::read_link(&path).map_err(|error| message(&path, &error))?;
        let target = target.into_os_string().into_string();
        let target = target.map_err(|_| format!("{}: not UTF-8", path.display()))?;
        Ok(target.into_bytes().into())
    }

    fn size(&self, path: &RepoPath, _id: ContentId) -> Result<u64, Unreadable> {
        let path = self.path(path);
        Ok(fs::symlink_metadata(&path).map_err(|error| message(&path, &error))?.len())
    }

    fn root(&self) -> ContentId {
        id_of(&RepoPath::root())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;

    #[test]
    fn a_directory_reads_as_a_tree() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(dir.path().join("a")).expect("writable");
        fs::write(dir.path().join("a/b.txt"), "text").expect("writable");
        std::os::unix::fs::symlink("a/b.txt", dir.path().join("link")).expect("writable");
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("out")).expect("writable");
        let files = DiskFiles::new(dir.path());
        let view = View::new(&files);
        let path = |text: &str| RepoPath::new(text).expect("plain");
        let names: Vec<_> = view.list(&RepoPath::root()).expect("a directory").iter().map(|e| e.name.clone()).collect();
        assert_eq!(names, ["a", "link", "out"]);
        assert_eq!(&*view.read(&path("link")).expect("a link").data, b"text");
        assert!(view.read(&path("out")).is_err());
        assert_eq!(view.kind(&path("b")), Ok(None));
    }
}
