//! The lock of a repository.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use dry_files::regular;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{Doing as _, Error, Shared};

/// The right to hydrate a repository. Only one process has it at a time; the kernel takes it back when that one dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// How long to wait between two tries: short beside the time of any push.
const PAUSE: Duration = Duration::from_millis(20);

impl Lock {
    /// Waits for the lock file `path`. `waiting` is called before each pause with the time waited so far, and ends
    /// the wait by answering false; the result is `None` then. The file stays, with the mode that `shared` says.
    pub(crate) fn acquire(
        path: &Path,
        shared: Shared,
        mut waiting: impl FnMut(Duration) -> bool,
    ) -> Result<Option<Self>, Error> {
        let file = regular::make(path).doing(|| format!("locking {}", path.display()))?;
        shared.give(&file).doing(|| format!("locking {}", path.display()))?;
        let mut waited = Duration::ZERO;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(Errno::WOULDBLOCK) if waiting(waited) => std::thread::sleep(PAUSE),
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error).doing(|| format!("locking {}", path.display())),
            }
            waited += PAUSE;
        }
    }

    /// The process that has a lock file locked, as Linux lists it in `/proc/locks`; none where it runs in another container or on
    /// another machine.
    pub(crate) fn holder(path: &Path) -> Option<u32> {
        let file = fs::metadata(path).ok()?;
        let (major, minor) = (rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()));
        let locked = format!("{major:02x}:{minor:02x}:{}", file.ino());
        fs::read_to_string("/proc/locks").ok()?.lines().find_map(|line| holder_in(line, &locked))
    }
}

/// The process of a line such as `1: FLOCK  ADVISORY  WRITE 708 00:25:1234 0 EOF`, if the line is about the file `locked`. What waits
/// for a lock has an arrow behind the number.
fn holder_in(line: &str, locked: &str) -> Option<u32> {
    let mut words = line.split_whitespace().skip(1);
    let is_of_flock = words.next() == Some("FLOCK");
    let process = words.nth(2).filter(|_| is_of_flock)?;
    (words.next() == Some(locked)).then(|| process.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("lock");
        let first = Lock::acquire(&path, Shared::Umask, |_| false).expect("no failure").expect("free");
        assert!(Lock::acquire(&path, Shared::Umask, |waited| waited.is_zero()).expect("no failure").is_none());
        assert_eq!(Lock::holder(&path), Some(std::process::id()));
        drop(first);
        // A process that another test starts holds what we hold until it runs its own program.
        let patient = |waited| waited < Duration::from_secs(10);
        assert!(Lock::acquire(&path, Shared::Umask, patient).expect("no failure").is_some());
    }

    #[test]
    fn a_line_of_the_kernel_names_the_process_and_the_file() {
        let held = "1: FLOCK  ADVISORY  WRITE 708 00:25:1234 0 EOF";
        assert_eq!(holder_in(held, "00:25:1234"), Some(708));
        assert_eq!(holder_in(held, "00:25:123"), None);
        let waiting = "1: -> FLOCK  ADVISORY  WRITE 709 00:25:1234 0 EOF";
        assert_eq!(holder_in(waiting, "00:25:1234"), None);
        let of_another_kind = "2: POSIX  ADVISORY  WRITE 708 00:25:1234 0 EOF";
        assert_eq!(holder_in(of_another_kind, "00:25:1234"), None);
        assert_eq!(holder_in("", "00:25:1234"), None);
    }
}
