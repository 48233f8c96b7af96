//! Directories for what a process needs for a while: one of a process that died is taken away by the next.
//!
//! Beside each is a file that says so, and that its process has locked while it lives. What has no such file is not taken
//! away, whatever its name is: the directory for temporary files has directories of people too. The file is not inside, since a
//! program may do there what it likes, and so nothing of a directory is changed before its lock is had.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

use crate::regular;
use crate::removal::remove_dir;

/// How the name of each scratch directory starts.
pub const SCRATCH: &str = "git-hydrate-";

/// What follows in the name of the file beside it, and what that file says.
const LOCK: &str = ".lock";
const MARK: &[u8] =
    b"The directory of this name without `.lock` is a scratch directory of git-hydrate, and goes with it.\n";

/// How often another name is tried when somebody has a directory of that name.
const NAMES_MAX: usize = 10;

/// The mode of a scratch directory: what is in it may be private.
const SCRATCH_MODE: u32 = 0o700;

/// A directory that goes with what is in it when it is dropped. While its process lives it is locked, so that
/// [`sweep`] takes away what dead ones left.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// The file beside it, locked; none once it is kept.
    lock: Option<File>,
}

impl Scratch {
    /// Makes one in `dir`; `purpose` is a part of its name.
    fn make(purpose: &str, dir: &Path) -> io::Result<Self> {
        let prefix = format!("{SCRATCH}{purpose}-");
        let dir = fs::canonicalize(dir)?;
        for _ in 0..NAMES_MAX {
            let mut lock = tempfile::Builder::new().prefix(&prefix).suffix(LOCK).tempfile_in(&dir)?;
            flock(lock.as_file(), FlockOperation::NonBlockingLockExclusive)?;
            // Locked before it says what it is: a process that reads that and gets the lock knows that we are dead.
            lock.write_all(MARK)?;
            let path = lock.path().with_extension("");
            match DirBuilder::new().mode(SCRATCH_MODE).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    made?;
                    let (file, _) = lock.keep()?;
                    return Ok(Self { path, lock: Some(file) });
                }
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
        drop(fs::remove_file(lock_of(&self.path)));
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
            remove(&self.path);
        }
    }
}

/// The file beside a scratch directory.
fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(LOCK);
    PathBuf::from(name)
}

/// Removes a scratch directory, and then the file beside it: what cannot be removed is left to the next sweep.
fn remove(path: &Path) {
    match remove_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {}
        _ => drop(fs::remove_file(lock_of(path))),
    }
}

/// Makes a directory that its process does not keep: the next sweep takes it away, where [`take_left`] did not before.
///
/// # Errors
///
/// It is there, or cannot be made.
pub fn leave(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut lock = options.write(true).create_new(true).mode(0o600).open(lock_of(path))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    lock.write_all(MARK)?;
    DirBuilder::new().mode(SCRATCH_MODE).create(path)
}

/// Takes away what was [left](leave).
pub fn take_left(path: &Path) {
    let is_others = |path: &Path| fs::symlink_metadata(path).is_ok_and(|dir| dir.uid() != geteuid().as_raw());
    if let Some(_lock) = lock_of_dead(&lock_of(path)).filter(|_| !is_others(path)) {
        remove(path);
    }
}

/// Takes away the scratch directories of ours that dead processes left in these.
pub fn sweep(dirs: &[&Path]) {
    let entries = dirs.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(SCRATCH) && name.ends_with(LOCK) {
            let lock = entry.path();
            take_left(&lock.with_extension(""));
        }
    }
}

/// The file beside a scratch directory of ours, locked, unless its process lives.
fn lock_of_dead(path: &Path) -> Option<File> {
    let file = regular::open(path).ok()?;
    let ours = file.metadata().ok().filter(|file| file.uid() == geteuid().as_raw())?;
    let mut said = Vec::new();
    (&file).take(MARK.len() as u64 + 1).read_to_end(&mut said).ok()?;
    if said != MARK || flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return None;
    }
    // Another sweep may have been here, and the name may be that of another one by now.
    let there = fs::symlink_metadata(path).ok()?;
    ((there.dev(), there.ino()) == (ours.dev(), ours.ino())).then_some(file)
}

/// Makes a directory that goes when it is dropped, in the first of these where one can be made.
///
/// The directory for temporary files may be gone, full or another user's: a push is not refused for that.
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
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::removal::is_run_as_another_user;

    /// What a process left that was killed.
    fn left(dir: &Path) -> PathBuf {
        let mut left = scratch_dir("run", &[dir]).expect("made");
        left.lock = None;
        left.path.clone()
    }

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    }

    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).expect("read").flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_scratch_directory_is_made_where_it_can_be() {
        let dir = tempfile::tempdir().expect("a directory");
        let gone = dir.path().join("gone");
        let made = scratch_dir("x", &[&gone, dir.path()]).expect("made in the second");
        assert!(made.path().is_dir());
        assert_eq!(mode_of(made.path()), 0o700, "what is in it may be private");
        assert_eq!(scratch_dir("x", &[&gone]).expect_err("nowhere").kind(), io::ErrorKind::NotFound);
        drop(made);
        assert!(names(dir.path()).is_empty(), "it goes without a trace");
    }

    #[test]
    fn only_what_dead_processes_left_is_swept() {
        if is_run_as_another_user("scratch::tests::only_what_dead_processes_left_is_swept") {
            return;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let dead = left(dir.path());
        fs::create_dir_all(dead.join("a/b")).expect("made");
        for path in ["a/b", "a", ""] {
            set_mode(&dead.join(path), 0o000);
        }
        fs::remove_dir(left(dir.path())).expect("killed before it made the directory");
        leave(&dir.path().join("git-hydrate-late-7")).expect("made");
        let living = scratch_dir("x", &[dir.path()]).expect("made");
        let kept = scratch_dir("x", &[dir.path()]).expect("made").keep();
        let before = [living.path().to_owned(), lock_of(living.path()), kept];
        sweep(&[dir.path()]);
        let mut expected = before.map(|path| path.file_name().expect("a name").to_string_lossy().into_owned());
        expected.sort();
        assert_eq!(names(dir.path()), expected);
    }

    #[test]
    fn directories_of_people_stay_as_they_are_whatever_their_names() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        for name in ["git-hydrate-fork", "git-hydrate-run-AbC123", "git-hydrate-locked", "git-hydrate-linked"] {
            fs::create_dir_all(path(name).join("src")).expect("made");
            set_mode(&path(name), 0o555);
        }
        fs::write(path("git-hydrate-locked.lock"), "").expect("written");
        fs::write(path("mark"), MARK).expect("written");
        symlink(path("mark"), path("git-hydrate-linked.lock")).expect("made");
        fs::write(path("git-hydrate-file"), "").expect("written");
        fs::create_dir(path("git-hydrate-directory.lock")).expect("made");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("git-hydrate-pipe.lock"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .expect("made");
        let before = names(dir.path());
        sweep(&[dir.path()]);
        assert_eq!(names(dir.path()), before);
        assert_eq!((mode_of(&path("git-hydrate-fork")), mode_of(&path("git-hydrate-run-AbC123"))), (0o555, 0o555));
        assert!(path("git-hydrate-locked").join("src").exists() && path("git-hydrate-linked").join("src").exists());
    }

    #[test]
    fn what_the_program_of_a_living_process_made_of_its_directory_stays_as_it_is() {
        let dir = tempfile::tempdir().expect("a directory");
        let living = scratch_dir("x", &[dir.path()]).expect("made");
        set_mode(living.path(), 0o500);
        sweep(&[dir.path()]);
        assert_eq!(mode_of(living.path()), 0o500);
    }
}
