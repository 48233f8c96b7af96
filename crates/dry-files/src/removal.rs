//! Removes a directory of ours in which a program did what it liked.
//!
//! A program may leave directories without permissions, or thousands inside each other. So each directory is made accessible
//! first, and those in it are moved up beside it: nothing is deep, no path is long, and three files are open at once. What cannot be
//! removed stays, and all else goes.
//!
//! Never: a link followed, a directory of another user changed.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, Stat, fchmod, fstat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

/// What the names of directories begin with that were moved up.
const MOVED: &str = "moved-up-";

/// How often another name is tried when one is taken.
const NAMES_MAX: usize = 16;

/// How often all that is left is tried again.
const PASSES_MAX: usize = 3;

/// Removes a directory with all that is in it.
///
/// # Errors
///
/// The first one's. What could be removed is.
pub(crate) fn remove_dir(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let name = CString::new(name.as_encoded_bytes())?;
    let parent = openat(CWD, parent, dir_flags(), Mode::empty())?;
    let top = open_ours(parent.as_fd(), &name)?;
    let mut removal = Removal { top, moved: Vec::new(), names: 0, error: None };
    let mut removed = Ok(());
    // A list of what changes meanwhile may leave some out.
    for _ in 0..PASSES_MAX {
        removal.error = None;
        removal.empty_top();
        removed = unlinkat(&parent, &name, AtFlags::REMOVEDIR);
        if removed.is_ok() {
            return Ok(());
        }
    }
    removal.error.map_or(removed, Err).map_err(io::Error::from)
}

/// Opens a directory for reading, and lets us change what is in it, if it is ours.
///
/// # Errors
///
/// It is something else, a link included, or cannot be opened.
fn open_ours(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let open = || openat(parent, name, dir_flags(), Mode::empty());
    let dir = match open() {
        Err(Errno::ACCESS) => {
            make_accessible(parent, name)?;
            open()
        }
        opened => opened,
    }?;
    let stat = fstat(&dir)?;
    if is_ours(&stat) && mode(&stat) & Mode::RWXU != Mode::RWXU {
        fchmod(&dir, mode(&stat) | Mode::RWXU)?;
    }
    Ok(dir)
}

fn dir_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn is_ours(stat: &Stat) -> bool {
    stat.st_uid == geteuid().as_raw()
}

fn mode(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode)
}

/// Lets us use a directory of ours that cannot be opened. It is the same one that is looked at and that is changed.
#[cfg(target_os = "linux")]
fn make_accessible(parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    use std::os::fd::AsRawFd as _;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = openat(parent, name, flags, Mode::empty())?;
    let stat = fstat(&dir)?;
    if !is_ours(&stat) {
        return Err(Errno::ACCESS);
    }
    let path = format!("/proc/self/fd/{}", dir.as_raw_fd());
    rustix::fs::chmod(path, mode(&stat) | Mode::RWXU)
}

/// Lets us use a directory of ours that cannot be opened, on systems other than Linux: by its name, links not followed.
#[cfg(not(target_os = "linux"))]
fn make_accessible(parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if !is_ours(&stat) {
        return Err(Errno::ACCESS);
    }
    rustix::fs::chmodat(parent, name, mode(&stat) | Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}

/// A removal under way.
struct Removal {
    top: OwnedFd,
    /// The numbers in the names of directories that were moved up and are still there.
    moved: Vec<u64>,
    /// How many names were used.
    names: u64,
    error: Option<Errno>,
}

impl Removal {
    fn empty_top(&mut self) {
        let entries = Dir::read_from(&self.top);
        for entry in self.noted(entries).into_iter().flatten() {
            let Some(entry) = self.noted(entry) else { break };
            match kind(self.top.as_fd(), &entry) {
                Kind::Itself => continue,
                Kind::Directory => self.remove_below_top(entry.file_name()),
                Kind::Other => {
                    let removed = unlinkat(&self.top, entry.file_name(), AtFlags::empty());
                    self.noted(removed);
                }
            }
            while let Some(number) = self.moved.pop() {
                self.remove_below_top(&moved_name(number));
            }
        }
    }

    /// Removes a directory of the top: moves up those in it first.
    fn remove_below_top(&mut self, name: &CStr) {
        let opened = open_ours(self.top.as_fd(), name);
        let Some(dir) = self.noted(opened) else { return };
        let entries = Dir::read_from(&dir);
        for entry in self.noted(entries).into_iter().flatten() {
            let Some(entry) = self.noted(entry) else { break };
            let gone = match kind(dir.as_fd(), &entry) {
                Kind::Itself => continue,
                Kind::Directory => self.move_up(dir.as_fd(), entry.file_name()),
                Kind::Other => unlinkat(&dir, entry.file_name(), AtFlags::empty()),
            };
            self.noted(gone);
        }
        let removed = unlinkat(&self.top, name, AtFlags::REMOVEDIR);
        self.noted(removed);
    }

    fn move_up(&mut self, dir: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        // Its entry for the directory above is changed too, which takes the right to write there.
        drop(open_ours(dir, name));
        for _ in 0..NAMES_MAX {
            let number = self.names;
            self.names += 1;
            match renameat(dir, name, &self.top, moved_name(number)) {
                Ok(()) => {
                    self.moved.push(number);
                    return Ok(());
                }
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::EXIST)
    }

    /// What there is without an error, which is noted. What is gone already is none.
    fn noted<T>(&mut self, result: Result<T, Errno>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(Errno::NOENT) => None,
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }
}

/// What an entry of a directory is.
enum Kind {
    /// That directory or the one above.
    Itself,
    Directory,
    Other,
}

fn kind(dir: BorrowedFd<'_>, entry: &DirEntry) -> Kind {
    let name = entry.file_name();
    let kind = match entry.file_type() {
        FileType::Unknown => statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
        kind => kind,
    };
    match kind {
        _ if name == c"." || name == c".." => Kind::Itself,
        FileType::Directory => Kind::Directory,
        _ => Kind::Other,
    }
}

fn moved_name(number: u64) -> CString {
    CString::new(format!("{MOVED}{number}")).unwrap_or_default()
}

/// Runs a test as another user if we are root, whom no mode keeps out. True where that was done.
#[cfg(test)]
pub(crate) fn is_run_as_another_user(test: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    if !geteuid().is_root() {
        return false;
    }
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).expect("ours");
    let program = dir.path().join("tests");
    std::fs::copy(std::env::current_exe().expect("known"), &program).expect("copied");
    let mut command = std::process::Command::new(program);
    command.args(["--exact", test]).env("TMPDIR", dir.path()).current_dir("/").uid(12345).gid(12345);
    assert!(command.status().expect("starts").success(), "{test}");
    true
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn directories_without_permissions_go() {
        if is_run_as_another_user("removal::tests::directories_without_permissions_go") {
            return;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let top = dir.path().join("top");
        for path in ["a/b/c", "a/read-only/d", "zero"] {
            fs::create_dir_all(top.join(path)).expect("made");
            fs::write(top.join(path).join("file"), "text").expect("written");
        }
        for (path, mode) in [("a/b/c", 0), ("a/b", 0o100), ("a/read-only", 0o555), ("a", 0o400), ("zero", 0), ("", 0)] {
            fs::set_permissions(top.join(path), Permissions::from_mode(mode)).expect("ours");
        }
        fs::remove_dir_all(&top).expect_err("the library does not");
        remove_dir(&top).expect("removed");
        assert!(!top.exists());
    }

    #[test]
    fn a_chain_of_directories_that_is_deeper_than_any_path_goes() {
        let dir = tempfile::tempdir().expect("a directory");
        let top = dir.path().join("top");
        let chain =
            "perl -e 'mkdir $ARGV[0]; chdir $ARGV[0]; for (1..24000) { mkdir \"d\"; chdir \"d\" or die }' \"$0\"";
        assert!(Command::new("sh").args(["-c", chain]).arg(&top).status().expect("starts").success());
        // Names that directories are moved up to are taken.
        fs::create_dir_all(top.join("moved-up-0/x")).expect("made");
        fs::write(top.join("moved-up-1"), "").expect("written");
        remove_dir(&top).expect("removed");
        assert!(!top.exists());
    }

    #[test]
    fn what_a_link_leads_to_stays_as_it_is() {
        let dir = tempfile::tempdir().expect("a directory");
        let (top, other) = (dir.path().join("top"), dir.path().join("other"));
        fs::create_dir_all(other.join("below")).expect("made");
        fs::set_permissions(&other, Permissions::from_mode(0o500)).expect("ours");
        fs::create_dir_all(top.join("a")).expect("made");
        symlink(&other, top.join("link")).expect("made");
        symlink(&other, top.join("a/link")).expect("made");
        remove_dir(&top).expect("removed");
        assert!(!top.exists() && other.join("below").exists());
        assert_eq!(mode_of(&other), 0o500);
        symlink(&other, &top).expect("made");
        remove_dir(&top).expect_err("a link");
        assert_eq!((other.join("below").exists(), mode_of(&other)), (true, 0o500));
    }

    #[test]
    fn all_goes_but_what_is_in_a_directory_of_another_user() {
        if !geteuid().is_root() {
            return;
        }
        let dir = tempfile::Builder::new().permissions(Permissions::from_mode(0o777)).tempdir().expect("a directory");
        let top = dir.path().join("top");
        let theirs = top.join("a/theirs");
        fs::create_dir_all(theirs.join("x")).expect("made");
        fs::write(top.join("a/file"), "").expect("written");
        fs::create_dir_all(top.join("b/c")).expect("made");
        fs::set_permissions(&theirs, Permissions::from_mode(0o700)).expect("ours");
        let script = "chown -R 12345 \"$0\"; chown 54321 \"$0/a/theirs\"";
        assert!(Command::new("sh").args(["-c", script]).arg(&top).status().expect("starts").success());
        let program = dir.path().join("tests");
        fs::copy(std::env::current_exe().expect("known"), &program).expect("copied");
        let mut command = Command::new(program);
        command.args(["--exact", "removal::tests::removes_what_the_environment_names"]);
        command.env("REMOVED", &top).current_dir("/");
        let status = command.uid(12345).gid(12345).status();
        assert!(status.expect("starts").success());
        assert!(theirs.join("x").exists() && !top.join("a/file").exists() && !top.join("b").exists());
        assert_eq!(mode_of(&theirs), 0o700);
    }

    /// A part of the test above, which runs it as another user; by itself it has nothing to remove.
    #[test]
    fn removes_what_the_environment_names() {
        let Some(top) = std::env::var_os("REMOVED") else { return };
        remove_dir(Path::new(&top)).expect_err("a directory of another user");
    }
}
