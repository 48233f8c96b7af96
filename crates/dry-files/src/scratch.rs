//! Directories for what a process needs for a while: one of a process that died is taken away by the next.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

use crate::removal::{open_ours, remove_dir};

/// How the name of each scratch directory starts.
pub const SCRATCH: &str = "git-hydrate-";

/// How often a directory is made again that another process took for one of a dead process.
const SCRATCH_TRIES: usize = 10;

/// The mode of a scratch directory: what is in it may be private.
const SCRATCH_MODE: u32 = 0o700;

/// A directory that goes with what is in it when it is dropped. While its process lives it is locked, so that
/// [`sweep`] takes away what dead ones left.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// None once it is kept.
    lock: Option<File>,
}

impl Scratch {
    /// Makes one in `dir`; `purpose` is a part of its name.
    fn make(purpose: &str, dir: &Path) -> io::Result<Self> {
        let prefix = format!("{SCRATCH}{purpose}-");
        let dir = fs::canonicalize(dir)?;
        for _ in 0..SCRATCH_TRIES {
            let mut made = tempfile::Builder::new();
            let made = made.prefix(&prefix).permissions(Permissions::from_mode(SCRATCH_MODE)).tempdir_in(&dir)?;
            if let Some(lock) = locked(made.path())? {
                return Ok(Self { path: made.keep(), lock: Some(lock) });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets it stay for a person, by a name that is not swept; answers where it is.
    pub fn keep(mut self) -> PathBuf {
        self.lock = None;
        let path = self.path.clone();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let kept = path.with_file_name(format!("kept-by-{name}"));
        if fs::rename(&path, &kept).is_ok() { kept } else { path }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // What cannot be removed is left to the next sweep.
            drop(remove_dir(&self.path));
        }
    }
}

/// The lock of a directory, unless another process has it, or the directory is gone.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let is_locked = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    let is_there =
        fs::symlink_metadata(path).is_ok_and(|there| file.metadata().is_ok_and(|ours| ours.ino() == there.ino()));
    Ok((is_locked && is_there).then_some(file))
}

/// Takes away the scratch directories of ours that dead processes left in these.
pub fn sweep(dirs: &[&Path]) {
    let entries = dirs.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(SCRATCH)) {
        let path = entry.path();
        let is_ours = |dir: &File| dir.metadata().is_ok_and(|dir| dir.uid() == geteuid().as_raw());
        drop(make_accessible(&path));
        if let Some(_lock) = locked(&path).ok().flatten().filter(is_ours) {
            // What cannot be removed stays for a person.
            drop(remove_dir(&path));
        }
    }
}

/// Makes a scratch directory one that can be locked, whatever a program made of it.
fn make_accessible(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let parent = File::open(parent)?;
    open_ours(parent.as_fd(), &CString::new(name.as_encoded_bytes())?)?;
    Ok(())
}

/// Makes a directory that goes when it is dropped, in the first of these where one can be made.
///
/// The directory for temporary files may be gone, full or another user's, which is no reason to refuse a push.
///
/// # Errors
///
/// The first one's, when none can be made.
pub fn scratch_dir(purpose: &str, dirs: &[&Path]) -> io::Result<Scratch> {
    let mut made = dirs.iter().map(|dir| Scratch::make(purpose, dir));
    let first = made.next().unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
    first.or_else(|error| made.find_map(Result::ok).ok_or(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::removal::is_run_as_another_user;

    #[test]
    fn a_scratch_directory_is_made_where_it_can_be() {
        let dir = tempfile::tempdir().expect("a directory");
        let gone = dir.path().join("gone");
        let made = scratch_dir("x", &[&gone, dir.path()]).expect("made in the second");
        assert!(made.path().is_dir());
        let mode = fs::metadata(made.path()).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "what is in it may be private");
        assert_eq!(scratch_dir("x", &[&gone]).expect_err("nowhere").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn only_what_dead_processes_left_is_swept() {
        if is_run_as_another_user("git::regular::tests::only_what_dead_processes_left_is_swept") {
            return;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let living = scratch_dir("x", &[dir.path()]).expect("made");
        let left = dir.path().join("git-hydrate-run-1");
        fs::create_dir_all(left.join("a/b")).expect("made");
        for path in ["a/b", "a", ""] {
            fs::set_permissions(left.join(path), Permissions::from_mode(0o000)).expect("ours");
        }
        for other in ["git-hydrate", "somebody-else"] {
            fs::create_dir(dir.path().join(other)).expect("made");
        }
        fs::write(dir.path().join("git-hydrate-file"), "").expect("written");
        sweep(&[dir.path()]);
        let mut names: Vec<_> =
            fs::read_dir(dir.path()).expect("read").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        let living = living.path().file_name().expect("a name");
        assert_eq!(names, ["git-hydrate".as_ref(), "git-hydrate-file".as_ref(), living, "somebody-else".as_ref()]);
    }
}
