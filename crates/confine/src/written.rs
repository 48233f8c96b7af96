//! How much a program has below its scratch directory.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time between two looks, at least; and how many times as long as a look took.
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_LOOKS: u32 = 10;

/// What a file or directory counts at least, in bytes: an entry takes room of its own.
const ENTRY_BYTES: u64 = 4 << 10;

/// Looks at a directory now and then while a program writes there.
#[derive(Debug)]
pub(super) struct Written<'d> {
    dir: &'d Path,
    limit: u64,
    next: Instant,
}

impl<'d> Written<'d> {
    /// Looks for the first time after a pause; 0 is no limit.
    pub(super) fn new(dir: &'d Path, limit: u64) -> Self {
        Self { dir, limit, next: Instant::now() + PAUSE }
    }

    /// Whether there is more than the limit, if it is time for a look.
    pub(super) fn is_too_much(&mut self) -> bool {
        let begun = Instant::now();
        if self.limit == 0 || begun < self.next {
            return false;
        }
        let is_too_much = size(self.dir, self.limit) > self.limit;
        let ended = Instant::now();
        self.next = ended + PAUSE.max((ended - begun) * PAUSE_LOOKS);
        is_too_much
    }
}

/// The bytes on disk below a directory, as far as they are no more than `enough`. What cannot be looked into, such as a
/// directory that lets itself not be read or is too deep to be named, is as much as can be.
fn size(dir: &Path, enough: u64) -> u64 {
    let (mut size, mut open) = (0_u64, vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        match add(&dir, &mut size, &mut open, enough) {
            // A program takes away its own files.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return u64::MAX,
            _ if size > enough => return size,
            Ok(()) | Err(_) => {}
        }
    }
    size
}

fn add(dir: &Path, size: &mut u64, open: &mut Vec<PathBuf>, enough: u64) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        *size = size.saturating_add((metadata.blocks() * 512).max(ENTRY_BYTES));
        if *size > enough {
            break;
        }
        if metadata.is_dir() {
            open.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_counts_and_no_link_is_followed() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(size(dir.path(), 1 << 20), 0);
        fs::write(dir.path().join("file"), vec![1; 10_000]).expect("written");
        fs::create_dir(dir.path().join("below")).expect("made");
        std::os::unix::fs::symlink("/usr", dir.path().join("link")).expect("made");
        for name in 0..20 {
            fs::write(dir.path().join(format!("below/{name}")), "").expect("written");
        }
        let all = size(dir.path(), 1 << 20);
        assert!((10_000 + 22 * ENTRY_BYTES..200_000).contains(&all), "{all}");
        assert!(size(dir.path(), 50_000) > 50_000, "it stops there");
        assert_eq!(size(&dir.path().join("gone"), 1), 0);
        assert_eq!(size(&dir.path().join("file"), 1), u64::MAX, "no directory");
    }
}
