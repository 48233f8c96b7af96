//! The hooks that run now, or ran and were ended before all was hydrated that their pushes brought.
//!
//! Whichever process hydrates a push, its own hook notifies the platform of it, in the name of its pusher. So each hook leaves a
//! file in `hydrate/hooks` of the git directory, with what was pushed and by whom, and has it locked as long as it lives. One that
//! cannot do its part any more is known by a file without a lock.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dry_files::regular;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::caller::Caller;
use super::known::{self, BYTES_MAX};
use crate::hydrate::RefUpdate;
use crate::repo::{Repository, object_id};

/// The directory of the files.
pub(super) const DIRECTORY: &str = "hooks";

/// What a file says.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    updates: Vec<[String; 3]>,
    caller: Option<Caller>,
}

/// The file of this process.
#[derive(Debug)]
pub(super) struct Attendance {
    name: String,
    path: PathBuf,
    /// Locked, until this process ends.
    _file: File,
    /// Whether the file goes when this process ends: its part is done.
    pub is_done: bool,
}

impl Attendance {
    /// Has others know that this process runs for a push of `caller`. The caller of this function has the lock of the queue, so that
    /// no other process sees the file before it is locked.
    pub(super) fn new(repository: &Repository, updates: &[RefUpdate], caller: Option<&Caller>) -> io::Result<Self> {
        let directory = known::directory(repository, Some(DIRECTORY))?;
        let (mut file, path) = tempfile::Builder::new().prefix("").tempfile_in(directory)?.into_parts();
        repository.shared().give(&file)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let stored = Stored { updates: updates.iter().map(words).collect(), caller: caller.cloned() };
        file.write_all(&serde_json::to_vec(&stored).map_err(io::Error::other)?)?;
        let path = path.keep().map_err(|error| error.error)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, path, _file: file, is_done: false })
    }

    /// Has the file go when this process ends.
    pub(super) fn that_leaves_nothing(mut self) -> Self {
        self.is_done = true;
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        if self.is_done {
            drop(known::remove(&self.path));
        }
    }
}

/// Another process.
#[derive(Debug)]
pub(super) struct Attendant {
    pub name: String,
    path: PathBuf,
    pub is_alive: bool,
    pub updates: Vec<RefUpdate>,
    pub caller: Option<Caller>,
}

impl Attendant {
    /// Takes away what a process left that ended.
    pub(super) fn forget(&self) {
        drop(known::remove(&self.path));
    }
}

/// All processes but this one.
pub(super) fn others(repository: &Repository, this: &Attendance) -> Vec<Attendant> {
    let directory = repository.common_dir().join("hydrate").join(DIRECTORY);
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| *name != this.name).collect();
    names.sort();
    names.into_iter().filter_map(|name| attendant(repository, name)).collect()
}

fn attendant(repository: &Repository, name: String) -> Option<Attendant> {
    let path = repository.common_dir().join("hydrate").join(DIRECTORY).join(&name);
    let stored: Option<Stored> = serde_json::from_slice(&regular::read(&path, BYTES_MAX).ok()?).ok();
    let Stored { updates, caller } = stored.unwrap_or(Stored { updates: Vec::new(), caller: None });
    let updates = updates.iter().map(update).collect();
    Some(Attendant { is_alive: is_locked(&path), name, path, updates, caller })
}

/// Whether the process of a name runs.
pub(super) fn is_alive(repository: &Repository, name: &str) -> bool {
    // Only plain file names are ours.
    !name.contains('/') && is_locked(&repository.common_dir().join("hydrate").join(DIRECTORY).join(name))
}

fn is_locked(path: &Path) -> bool {
    let Ok(file) = regular::open(path) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared).is_err()
}

fn words(update: &RefUpdate) -> [String; 3] {
    let id = |id: Option<_>| id.map(|id: crate::repo::ObjectId| id.to_string()).unwrap_or_default();
    [id(update.old), id(update.new), update.name.clone()]
}

fn update([old, new, name]: &[String; 3]) -> RefUpdate {
    RefUpdate { name: name.clone(), old: object_id(old), new: object_id(new) }
}
