//! Files of the directory `hydrate` of the git directory: what a process keeps for the next one.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use dry_files::regular;

use super::Repository;

/// How large a file may be: a line of 200 bytes for each of 80,000 branches.
pub(crate) const BYTES_MAX: u64 = 16 << 20;

/// The directory of what is kept for the next run, or one in it.
pub(crate) fn directory(repository: &Repository, below: Option<&str>) -> io::Result<PathBuf> {
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
pub(crate) fn write(repository: &Repository, name: &str, content: &[u8]) -> io::Result<()> {
    let directory = directory(repository, None)?;
    let mut file = tempfile::NamedTempFile::new_in(&directory)?;
    file.write_all(content)?;
    repository.shared().give(file.as_file())?;
    file.persist(directory.join(name)).map(drop).map_err(|error| error.error)
}

/// Reads a file of the directory; empty where there is none.
pub(crate) fn read(repository: &Repository, name: &str) -> io::Result<Vec<u8>> {
    match regular::read(&repository.common_dir().join("hydrate").join(name), BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// Removes a file. Answers whether there was one.
pub(crate) fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
