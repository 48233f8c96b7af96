//! Locks that a dead `git update-ref` of ours left, distinguished from those of others and removed.
//!
//! git itself never removes a lock, and on reftable a single one stops every ref of the repository. So before git takes any
//! for a transaction, the process and the locks that it will take are recorded, and before it commits, the files that it holds
//! by then. A later transaction removes those of a process that is proven dead: what it held, if it is still the same file;
//! what it may have taken before it was killed, if it is younger than the record and contains what that git would have written.
//! All others stay, for a person to judge.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use dry_files::regular;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use serde::{Deserialize, Serialize};

use super::{Doing as _, Error, RefEdit, Repository};

/// Where the records are: a file for each transaction that is about to commit.
pub(crate) const LOCKS_DIR: &str = "hydrate.locks";

/// No living git holds the lock of a ref for so long, in seconds.
pub(crate) const LOCK_SECONDS: i64 = 60;

/// More than this is no record of ours, in bytes: a transaction of 100,000 refs takes half of it.
const RECORD_BYTES_MAX: u64 = 64 << 20;

/// More than this is in no lock of a ref, in bytes.
const LOCK_BYTES_MAX: u64 = 1 << 10;

/// How long an empty lock of a dead process is watched. git holds the lock of a ref for a moment where it packs refs, and that is
/// empty too.
const WATCH: Duration = Duration::from_secs(1);

/// The locks of a transaction, and the process that takes them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    process: Process,
    /// Those that it held once the transaction was prepared; none until then.
    locks: Vec<Held>,
    /// Those that it takes to prepare it; none from then on.
    #[serde(default)]
    wanted: Vec<Wanted>,
}

/// A lock that git takes, and what it writes there.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Wanted {
    path: PathBuf,
    content: String,
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

/// Records the locks that the process `pid` is about to take for `edits`.
///
/// On a machine without `/proc` nothing can be proven later, so nothing is recorded.
pub(super) fn record_wanted(repository: &Repository, pid: u32, edits: &[RefEdit]) -> Result<Recorded, Error> {
    let Some(process) = Process::of(pid) else { return Ok(Recorded(None)) };
    write(repository, pid, &Record { process, locks: Vec::new(), wanted: candidates(repository, edits) })
}

/// Records in its place the locks that the process `pid` holds for `edits`, prepared by now.
pub(super) fn record_held(repository: &Repository, pid: u32, edits: &[RefEdit]) -> Result<Recorded, Error> {
    let Some(process) = Process::of(pid) else { return Ok(Recorded(None)) };
    let locks = candidates(repository, edits).into_iter().filter_map(|wanted| Held::of(wanted.path));
    write(repository, pid, &Record { process, locks: locks.collect(), wanted: Vec::new() })
}

fn write(repository: &Repository, pid: u32, record: &Record) -> Result<Recorded, Error> {
    let dir = repository.common_dir().join(LOCKS_DIR);
    let path = dir.join(pid.to_string());
    let doing = || format!("writing {}", path.display());
    super::store::make_dir(&dir, repository.shared())?;
    let text = serde_json::to_vec(record).expect("a record of texts and numbers is JSON");
    let mut new = tempfile::NamedTempFile::new_in(&dir).doing(doing)?;
    new.write_all(&text).doing(doing)?;
    repository.shared().give(new.as_file()).doing(doing)?;
    new.persist(&path).map_err(|error| error.error).doing(doing)?;
    Ok(Recorded(Some(path)))
}

impl Repository {
    /// Locks that a dead process of ours left, and that the next hydration takes away.
    pub fn dead_locks(&self) -> Vec<PathBuf> {
        dead(self)
    }

    /// The lock of a ref that is older than `before`, in seconds since 1970, and that no transaction takes away; none on reftable, where
    /// one lock is for all refs.
    pub(crate) fn lock_left_on(&self, name: &str, before: i64) -> Option<PathBuf> {
        if self.uses_reftable() {
            return None;
        }
        let name = match self.place() {
            Some(place) => format!("{place}{}", name.strip_prefix("refs/").unwrap_or(name)),
            None => name.to_owned(),
        };
        let path = self.common_dir().join(format!("{name}.lock"));
        let is_old = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.mtime() < before);
        (is_old && !dead(self).contains(&path)).then_some(path)
    }

    /// Takes these locks away.
    pub fn clear_dead_locks(&self) {
        clear(self);
    }
}

/// Takes away the recorded locks whose process is proven dead, and their records.
pub(super) fn clear(repository: &Repository) {
    let Ok(entries) = fs::read_dir(repository.common_dir().join(LOCKS_DIR)) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let record =
            regular::read(&path, RECORD_BYTES_MAX).ok().and_then(|text| serde_json::from_slice::<Record>(&text).ok());
        let Some(record) = record.filter(|record| record.process.is_dead()) else { continue };
        let (certain, empty): (Vec<Held>, Vec<Held>) =
            record.left(&path).into_iter().partition(|held| !held.is_empty());
        certain.iter().for_each(|held| held.remove(repository));
        if !empty.is_empty() {
            thread::sleep(WATCH);
            empty.iter().filter(|held| held.is_empty()).for_each(|held| held.remove(repository));
        }
        drop(fs::remove_file(&path));
    }
}

impl Record {
    /// The locks that are there and that its process left; `path` is where the record is.
    fn left(&self, path: &Path) -> Vec<Held> {
        let since = Held::of(path.to_owned()).map(|record| record.born);
        let taken = self.wanted.iter().filter_map(|wanted| wanted.taken(since?));
        let held = self.locks.iter().filter_map(|held| Held::of(held.path.clone()).filter(|now| now == held));
        held.chain(taken).collect()
    }
}

impl Wanted {
    /// The lock, if it was made after `since` and contains what git would have written, or nothing yet.
    fn taken(&self, since: (i64, u32)) -> Option<Held> {
        let held = Held::of(self.path.clone()).filter(|held| held.born >= since)?;
        let content = regular::read(&self.path, LOCK_BYTES_MAX).ok()?;
        (content.is_empty() || content == self.content.as_bytes()).then_some(held)
    }
}

/// The locks that are recorded and that the next transaction takes away.
fn dead(repository: &Repository) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository.common_dir().join(LOCKS_DIR)).into_iter().flatten().flatten();
    let records = entries.filter_map(|entry| {
        let text = regular::read(&entry.path(), RECORD_BYTES_MAX).ok()?;
        Some((entry.path(), serde_json::from_slice::<Record>(&text).ok()?))
    });
    let dead = records.filter(|(_, record)| record.process.is_dead());
    dead.flat_map(|(path, record)| record.left(&path)).map(|held| held.path).collect()
}

/// The files that git locks to prepare a transaction, and what it has written there then.
///
/// Reference: git 2.47 refs/files-backend.c `lock_ref_for_update`, `write_ref_to_lockfile` and `split_head_update`,
/// reftable/stack.c `reftable_addition_init`.
fn candidates(repository: &Repository, edits: &[RefEdit]) -> Vec<Wanted> {
    let top = repository.common_dir();
    if repository.uses_reftable() {
        return vec![Wanted { path: top.join("reftable/tables.list.lock"), content: String::new() }];
    }
    let wanted = |edit: &RefEdit| Wanted {
        path: top.join(format!("{}.lock", edit.name)),
        content: edit.new.map(|id| format!("{id}\n")).unwrap_or_default(),
    };
    edits.iter().map(wanted).collect()
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

    fn is_empty(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
    }

    /// Removes it if it is still this file, of this repository.
    fn remove(&self, repository: &Repository) {
        let is_ours = self.path.starts_with(repository.common_dir());
        if is_ours && Self::of(self.path.clone()).as_ref() == Some(self) {
            // Should it fail, git says so in a moment: it finds the lock.
            drop(fs::remove_file(&self.path));
        }
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
