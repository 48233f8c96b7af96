//! Whose work was late when the first process of a run ended itself, for the second one to know.
//!
//! Work that does not notice that its time is over ends the process; see [`Watch`](super::super::Watch). Were it done once more, it
//! would take as long again. So the first process writes down whose work it was and what that had read, in a directory that
//! both processes name by the one that started them, and the second process takes that for the result. Without the file, such
//! as in a directory that cannot be written, the work is done once more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dry_files::regular;
use dry_files::view::{ContentId, Reads, SharedReads};
use rustix::process::getppid;

use super::apart::{read_reads, write_reads};
use crate::known::{Decoder, Encoder};
use dry_files::scratch::{self, SCRATCH};

/// The file in the directory.
const FILE: &str = "late";

/// The longest file that is read.
const BYTES_MAX: u64 = 64 << 20;

/// What a limit of time is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    /// The dry tree.
    pub root: ContentId,
    /// What it is in that tree.
    pub name: String,
    /// How long it may take.
    pub time: Duration,
}

/// The work that ended the process before this one, and what it had read.
#[derive(Debug, Default)]
pub(crate) struct Late(BTreeMap<Subject, Reads>);

/// The directory of the file, in the git directory. One that stays is removed with others of its kind.
fn directory(git_dir: &Path) -> Option<PathBuf> {
    let parent = getppid()?.as_raw_nonzero();
    Some(git_dir.join(format!("{SCRATCH}late-{parent}")))
}

/// Writes down what was late. Whatever keeps us from it costs time only.
pub(crate) fn write(git_dir: &Path, late: &[(Subject, SharedReads)]) {
    let Some(directory) = directory(git_dir) else { return };
    let mut file = Encoder::default();
    file.list(late.iter(), |file, (subject, reads)| write_entry(file, subject, &reads.all()));
    scratch::take_left(&directory);
    drop(scratch::leave(&directory));
    drop(fs::write(directory.join(FILE), file.0));
}

fn write_entry(file: &mut Encoder, subject: &Subject, reads: &Reads) {
    file.bytes(subject.root.as_bytes());
    file.text(&subject.name);
    file.number(millis(subject.time));
    write_reads(file, reads);
}

fn read_entry(file: &mut Decoder<'_>) -> Option<(Subject, Reads)> {
    let (root, name) = (file.id()?, file.text()?);
    let time = Duration::from_millis(file.number()?);
    Some((Subject { root, name, time }, read_reads(file)?))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Late {
    /// What the process before this one wrote, which is removed.
    pub(crate) fn take(git_dir: &Path) -> Self {
        let Some(directory) = directory(git_dir) else { return Self::default() };
        let content = regular::read(&directory.join(FILE), BYTES_MAX).unwrap_or_default();
        scratch::take_left(&directory);
        let list = Decoder(&content).list(read_entry);
        Self(list.unwrap_or_default().into_iter().collect())
    }

    /// What the work had read, if it was late.
    pub(crate) fn reads(&self, subject: &Subject) -> Option<&Reads> {
        self.0.get(subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::path::RepoPath;
    use dry_files::view::{MemoryFiles, View};

    #[test]
    fn the_second_process_knows_what_was_late_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let files = MemoryFiles::new().file("a/b", "text");
        let view = View::new(&files);
        view.read(&RepoPath::new("a/b").expect("plain")).expect("there");
        let subject = Subject { root: ContentId::new(&[7; 20]), name: "x".to_owned(), time: Duration::from_secs(3) };
        write(dir.path(), &[(subject.clone(), view.shared_reads())]);
        let late = Late::take(dir.path());
        assert_eq!(late.reads(&subject), Some(&view.reads()));
        assert_eq!(late.reads(&Subject { time: Duration::from_secs(4), ..subject.clone() }), None);
        assert_eq!(late.reads(&Subject { root: ContentId::new(&[8; 20]), ..subject.clone() }), None);
        assert_eq!(Late::take(dir.path()).reads(&subject), None);
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
    }
}
