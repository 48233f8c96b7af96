//! Whether there is room for what hydration writes.

use std::fs;
use std::path::Path;

use super::size::size;
use super::{Doctor, Finding, Health};

/// With less than this, in bytes, a push of some size fails: its own objects, those of hydration, and the ref transaction.
const ROOM_MIN: u64 = 64 << 20;

/// With fewer files than this, git cannot write a push of loose objects.
const FILES_MIN: u64 = 1000;

impl Doctor<'_> {
    /// Whether the disk of the repository is full, or nearly.
    pub(super) fn disk(&mut self) {
        let dir = self.repository.common_dir();
        let Ok(found) = rustix::fs::statvfs(dir) else { return };
        let files = (found.f_files > 0).then_some(found.f_favail);
        let room = found.f_bavail.saturating_mul(found.f_frsize);
        self.findings.extend(finding(dir, room, files));
    }
}

impl Doctor<'_> {
    /// Where each run is logged. A repository that was moved or restored may still name a file of the former place.
    pub(super) fn log_file(&mut self) {
        let Some(named) = self.repository.config("hydrate.log") else { return };
        let (dir, git) = (self.repository.common_dir(), self.git_command());
        let file = dir.join(named);
        let is_repository = |dir: &&Path| dir.join("HEAD").is_file() && dir.join("objects").is_dir();
        let other = file.ancestors().skip(1).find(is_repository).filter(|other| *other != dir);
        let remedy = format!("{git} config hydrate.log FILE");
        match (other, file.parent().is_some_and(Path::is_dir)) {
            (Some(other), _) => {
                self.advise(format!("hydrate.log is {}, in {}", file.display(), other.display()), remedy);
            }
            // It is said of the key.
            (None, false) => {}
            (None, true) if !self.can_log(&file) => {
                let what = format!("hydrate.log is {}, which pushes cannot write: no run is logged", file.display());
                self.bad(what, remedy);
            }
            (None, true) => self.good(format!("each run is logged in {}", file.display())),
        }
    }
}

impl Doctor<'_> {
    /// Whether the user that pushes arrive as can append to a log, or make it.
    fn can_log(&self, file: &Path) -> bool {
        let Ok(top) = fs::metadata(self.repository.common_dir()) else { return true };
        let there = fs::metadata(file).map(|there| (there.is_file(), there));
        match there {
            Ok((is_file, there)) => is_file && self.may_write(&there, &top),
            Err(_) => file.parent().and_then(|dir| fs::metadata(dir).ok()).is_none_or(|dir| self.may_write(&dir, &top)),
        }
    }
}

/// What is to be said of a disk with `room` bytes and, where it counts them, so many files left; nothing of one with enough.
fn finding(dir: &Path, room: u64, files: Option<u64>) -> Option<Finding> {
    let left = match files {
        _ if room < ROOM_MIN => size(room),
        Some(files) if files < FILES_MIN => format!("room for {files} files"),
        Some(_) | None => return None,
    };
    let what = format!("the disk of {} has {left} left: hydration fails when it is full", dir.display());
    let remedy = "make room; then the next push, or `git hydrate catch-up`, hydrates what failed".to_owned();
    Some(Finding { health: Health::Bad, what, remedy: Some(remedy) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_nearly_full_is_told_with_what_is_left() {
        let rows = [
            ("4 KiB", 4 << 10, Some(1 << 20), Some("has 4.0 KiB left")),
            ("nothing", 0, None, Some("has 0 bytes left")),
            ("no inodes", 1 << 40, Some(3), Some("has room for 3 files left")),
            ("no count of inodes", 1 << 40, None, None),
            ("enough", 65 << 20, Some(5000), None),
        ];
        for (name, room, files, expected) in rows {
            let found = finding(Path::new("/srv/dry.git"), room, files).map(|finding| finding.what);
            match (found, expected) {
                (Some(found), Some(expected)) => assert!(found.contains(expected), "{name}: {found}"),
                (None, None) => {}
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }
}
