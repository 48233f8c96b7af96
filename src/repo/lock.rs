//! The lock of a repository.

use std::fs::File;
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
        drop(first);
        // A process that another test starts holds what we hold until it runs its own program.
        let patient = |waited| waited < Duration::from_secs(10);
        assert!(Lock::acquire(&path, Shared::Umask, patient).expect("no failure").is_some());
    }
}
