//! Locks that a dead `git update-ref` of ours left, distinguished from those of others and removed.
//!
//! git itself never removes a lock, and on reftable a single one stops every ref of the repository. So before each commit
//! of a transaction the locks that it holds by then are recorded, with the process that holds them. A later transaction
//! removes those that are still the same files and whose process is proven dead. All others stay, for a person to judge.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use dry_files::regular;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use serde::{Deserialize, Serialize};

use super::{Doing as _, Error, RefEdit, Repository};

/// Where the records are: a file for each transaction that is about to commit.
const DIR: &str = "hydrate.locks";

/// More than this is no record of ours, in bytes: a transaction of 100,000 refs takes half of it.
const RECORD_BYTES_MAX: u64 = 64 << 20;

/// The locks that a transaction holds, and the process that holds them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    process: Process,
    locks: Vec<Held>,
}

/// A process, distinct from every other there was or will be, as long as the machine is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Process {
    pid: u32,
    /// In ticks since the machine started.
    start: u64,
    boot: String,
    /// The name space that `pid` counts in.
    namespace: String,
    machine: String,
}

/// A lock file, distinct from a later one of the same name.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Held {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// When it was made, where the file system knows, else when it was changed last: reftable writes to its lock once more
    /// before it takes effect.
    born: (i64, u32),
}

/// A record on disk, which goes when the transaction has come to its end.
#[derive(Debug)]
pub(super) struct Recorded(Option<PathBuf>);

impl Recorded {
    /// Lets the record stay: the process died, and its locks are to be taken away.
    pub(super) fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // A record that stays names a process that is gone and locks that no longer exist.
            drop(fs::remove_file(path));
        }
    }
}

/// Records the locks that the process `pid` holds for `edits`, prepared by now.
///
/// On a machine without `/proc` nothing can be proven later, so nothing is recorded.
pub(super) fn record(repository: &Repository, pid: u32, edits: &[RefEdit]) -> Result<Recorded, Error> {
    let Some(process) = Process::of(pid) else { return Ok(Recorded(None)) };
    let locks: Vec<Held> = candidates(repository, edits).into_iter().filter_map(Held::of).collect();
    let dir = repository.common_dir().join(DIR);
    let path = dir.join(pid.to_string());
    let doing = || format!("writing {}", path.display());
    super::store::make_dir(&dir, repository.shared())?;
    let text = serde_json::to_vec(&Record { process, locks }).expect("a record of texts and numbers is JSON");
    let mut new = tempfile::NamedTempFile::new_in(&dir).doing(doing)?;
    std::io::Write::write_all(&mut new, &text).doing(doing)?;
    repository.shared().give(new.as_file()).doing(doing)?;
    new.persist(&path).map_err(|error| error.error).doing(doing)?;
    Ok(Recorded(Some(path)))
}

impl Repository {
    /// Locks that a dead process of ours left, and that the next hydration takes away.
    pub fn dead_locks(&self) -> Vec<PathBuf> {
        dead(self)
    }

    /// Takes these locks away.
    pub fn clear_dead_locks(&self) {
        clear(self);
    }
}

/// Takes away the recorded locks whose process is proven dead, and their records.
pub(super) fn clear(repository: &Repository) {
    let Ok(entries) = fs::read_dir(repository.common_dir().join(DIR)) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let record =
            regular::read(&path, RECORD_BYTES_MAX).ok().and_then(|text| serde_json::from_slice::<Record>(&text).ok());
        let Some(record) = record.filter(|record| record.process.is_dead()) else { continue };
        let ours = record.locks.iter().filter(|held| held.path.starts_with(repository.common_dir()));
        for held in ours.filter(|held| Held::of(held.path.clone()).as_ref() == Some(*held)) {
            // Should it fail, git says so in a moment: it finds the lock.
            drop(fs::remove_file(&held.path));
        }
        drop(fs::remove_file(&path));
    }
}

/// The locks that are recorded and that the next transaction takes away.
fn dead(repository: &Repository) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository.common_dir().join(DIR)).into_iter().flatten().flatten();
    let records = entries.filter_map(|entry| {
        serde_json::from_slice::<Record>(&regular::read(&entry.path(), RECORD_BYTES_MAX).ok()?).ok()
    });
    let dead = records.filter(|record| record.process.is_dead()).flat_map(|record| record.locks);
    dead.filter(|held| Held::of(held.path.clone()).as_ref() == Some(held)).map(|held| held.path).collect()
}

/// The files that git locks for a transaction, once it is prepared.
///
/// Reference: git 2.47 refs/files-backend.c `lock_ref_for_update` and `split_head_update`, reftable/stack.c
/// `reftable_addition_init`.
fn candidates(repository: &Repository, edits: &[RefEdit]) -> Vec<PathBuf> {
    let top = repository.common_dir();
    if repository.uses_reftable() {
        return vec![top.join("reftable/tables.list.lock")];
    }
    edits.iter().map(|edit| top.join(format!("{}.lock", edit.name))).collect()
}

impl Held {
    fn of(path: PathBuf) -> Option<Self> {
        let flags = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let metadata = fs::symlink_metadata(&path).ok()?;
        let seen = statx(CWD, &path, AtFlags::SYMLINK_NOFOLLOW, flags).ok()?;
        let known = StatxFlags::from_bits_retain(seen.stx_mask).contains(StatxFlags::BTIME);
        let time = if known { seen.stx_btime } else { seen.stx_ctime };
        Some(Self { path, device: metadata.dev(), inode: metadata.ino(), born: (time.tv_sec, time.tv_nsec) })
    }
}

impl Process {
    fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(Self { pid, start: start_of(&stat)?, ..Self::here()? })
    }

    /// What this machine and this process agree on.
    fn here() -> Option<Self> {
        let system = rustix::system::uname();
        let machine = fs::read_to_string("/etc/machine-id").unwrap_or_default();
        Some(Self {
            pid: 0,
            start: 0,
            boot: fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned(),
            namespace: fs::read_link("/proc/self/ns/pid").ok()?.display().to_string(),
            machine: format!("{} {}", machine.trim(), system.nodename().to_string_lossy()),
        })
    }

    /// Whether it is proven dead: the machine was started again, or no process has its number, or another one does.
    fn is_dead(&self) -> bool {
        let Some(here) = Self::here().filter(|here| here.machine == self.machine) else { return false };
        if here.boot != self.boot {
            return true;
        }
        if here.namespace != self.namespace || !Path::new("/proc/self/stat").exists() {
            return false;
        }
        match fs::read_to_string(format!("/proc/{}/stat", self.pid)) {
            Ok(stat) => is_over(&stat) || start_of(&stat).is_some_and(|start| start != self.start),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }
}

/// The fields of `/proc/<pid>/stat` behind the name of the program, which may contain anything.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace()
}

/// When a process started.
fn start_of(stat: &str) -> Option<u64> {
    fields(stat).nth(19)?.parse().ok()
}

/// Whether a process only waits for its end to be noticed.
fn is_over(stat: &str) -> bool {
    fields(stat).next().is_some_and(|state| matches!(state, "Z" | "X"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_told_by_their_start() {
        let stat = "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        assert_eq!((start_of(stat), is_over(stat)), (Some(4242), false));
        assert!(is_over("7 (git) Z 1 7") && start_of("").is_none());
    }

    #[test]
    fn only_proof_counts_as_dead() {
        let alive = Process::of(std::process::id()).expect("this process");
        let rows = [
            ("this one", alive.clone(), false),
            ("another with its number", Process { start: alive.start + 1, ..alive.clone() }, true),
            ("before the machine started", Process { boot: "earlier".to_owned(), ..alive.clone() }, true),
            ("no number that is given", Process { pid: u32::MAX, ..alive.clone() }, true),
            ("another machine", Process { machine: "other".to_owned(), pid: u32::MAX, ..alive.clone() }, false),
            ("a container", Process { namespace: "pid:[1]".to_owned(), pid: u32::MAX, ..alive.clone() }, false),
        ];
        for (name, process, expected) in rows {
            assert_eq!(process.is_dead(), expected, "{name}");
        }
    }

    #[test]
    fn a_file_made_anew_is_another() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x.lock");
        fs::write(&path, "one").expect("written");
        let held = Held::of(path.clone());
        assert!(held.is_some());
        let other = dir.path().join("y.lock");
        fs::write(&other, "two").expect("written");
        fs::rename(&other, &path).expect("renamed");
        assert_ne!(Held::of(path), held);
    }
}
