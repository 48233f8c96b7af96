//! What the platform knows of branches.
//!
//! The file `hydrate/told` of the git directory has a line `<id> <ref>` for each branch that the platform was notified of. Where it
//! is lost, the platform is notified of all branches as if they were new, which it takes for what it knows already.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use dry_files::regular;

use crate::repo::{ObjectId, Repository, object_id};

/// How large a file may be: a line of 200 bytes for each of 80,000 branches.
pub(super) const BYTES_MAX: u64 = 16 << 20;

/// The directory of what is kept for the next run, or one in it.
pub(super) fn directory(repository: &Repository, below: Option<&str>) -> io::Result<PathBuf> {
    let mut path = repository.common_dir().join("hydrate");
    for part in std::iter::once(None).chain(below.map(Some)) {
        path.extend(part);
        if !path.is_dir() {
            fs::create_dir_all(&path)?;
            let mode = fs::metadata(&path)?.permissions().mode() & 0o7777;
            fs::set_permissions(&path, Permissions::from_mode(repository.shared().directory_mode(mode)))?;
        }
    }
    Ok(path)
}

/// Writes a file of the directory, in one step.
pub(super) fn write(repository: &Repository, name: &str, content: &[u8]) -> io::Result<()> {
    let directory = directory(repository, None)?;
    let mut file = tempfile::NamedTempFile::new_in(&directory)?;
    file.write_all(content)?;
    repository.shared().give(file.as_file())?;
    file.persist(directory.join(name)).map(drop).map_err(|error| error.error)
}

/// Reads a file of the directory; empty where there is none.
pub(super) fn read(repository: &Repository, name: &str) -> io::Result<Vec<u8>> {
    match regular::read(&repository.common_dir().join("hydrate").join(name), BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// Removes a file. Answers whether there was one.
pub(super) fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The file that says what the platform knows.
pub(super) const FILE: &str = "told";

/// What the platform knows of branches, by full name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Known(BTreeMap<String, ObjectId>);

impl Known {
    /// As it was written last. A line that cannot be read is skipped.
    pub(super) fn read(repository: &Repository) -> io::Result<Self> {
        let text = read(repository, FILE)?;
        let text = String::from_utf8_lossy(&text);
        let of_line = |line: &str| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), object_id(id)?))
        };
        Ok(Self(text.lines().filter_map(of_line).collect()))
    }

    /// Writes it, in one step.
    pub(super) fn write(&self, repository: &Repository) -> io::Result<()> {
        let text: String = self.0.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
        write(repository, FILE, text.as_bytes())
    }

    /// What it knows a branch as.
    pub(super) fn get(&self, name: &str) -> Option<ObjectId> {
        self.0.get(name).copied()
    }

    /// Notes what it knows a branch as.
    pub(super) fn set(&mut self, name: &str, id: ObjectId) {
        self.0.insert(name.to_owned(), id);
    }

    /// Forgets the branches that are not to be kept.
    pub(super) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| keep(name));
    }
}
