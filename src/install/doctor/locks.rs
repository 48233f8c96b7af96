//! Locks: the one that a hydration has, and those that dead processes left.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use dry_files::diag::shell_path;

use super::{DEPTH_MAX, Doctor};
use crate::hydrate;
use crate::install::Error;
use crate::repo::LOCK_SECONDS;

/// No living git holds a lock for so long, and few hydrations do.
const LOCK_AGE: Duration = Duration::from_secs(LOCK_SECONDS.unsigned_abs());

impl Doctor<'_> {
    /// Locks that dead processes left: git itself never removes one.
    pub(super) fn locks(&mut self) -> Result<(), Error> {
        self.hydrating();
        let top = self.repository.common_dir();
        let mut files = Vec::new();
        locks_in(top, 0, &mut files);
        for below in ["refs", "reftable"] {
            locks_in(&top.join(below), DEPTH_MAX, &mut files);
        }
        // This one is locked by the kernel, and stays.
        files.retain(|file| *file != hydrate::lock_path(self.repository));
        files.sort();
        let dead = self.repository.dead_locks();
        if !dead.is_empty() {
            let what = format!("{} locks of a hydration that was killed: the next one removes them", dead.len());
            self.advise(what, format!("{} hydrate catch-up", self.git_command()));
        }
        files.retain(|file| !dead.contains(file));
        for file in files {
            let age = self.age(&file).unwrap_or_default();
            if age >= LOCK_AGE {
                let what =
                    format!("{} was left behind {} s ago: what it locks cannot change", file.display(), age.as_secs());
                self.bad(what, format!("make sure that no git process runs here, then: rm {}", shell_path(&file)));
            } else {
                let what = format!(
                    "{} is {} s old: a git process has it, or one that was killed left it",
                    file.display(),
                    age.as_secs()
                );
                let again = format!("ask again in a minute: {} hydrate doctor", self.git_command());
                self.advise(what, again);
            }
        }
        Ok(())
    }

    /// The process that hydrates now: all others wait for it.
    fn hydrating(&mut self) {
        let Some(process) = hydrate::lock_holder(self.repository) else { return };
        let there = PathBuf::from(format!("/proc/{process}"));
        let is_stopped = fs::read_to_string(there.join("stat")).is_ok_and(|stat| is_stopped(&stat));
        let age = self.age(&there).unwrap_or_default();
        let what = format!("process {process} hydrates here, and runs since {} s", age.as_secs());
        if is_stopped {
            let remedy = format!("kill -CONT {process}\nor, to end it: kill -KILL {process}");
            self.bad(format!("{what}: it was stopped by a signal, and others wait for it"), remedy);
        } else if age >= LOCK_AGE {
            let remedy = format!("ps -o pid,stat,etime,args -p {process}; if it makes no progress: kill {process}");
            self.advise(format!("{what}: others wait for it"), remedy);
        } else {
            self.good(what);
        }
    }

    /// How long ago a file was changed last.
    fn age(&self, file: &Path) -> Option<Duration> {
        let modified: SystemTime = fs::metadata(file).and_then(|metadata| metadata.modified()).ok()?;
        self.around.now.duration_since(modified).ok()
    }
}

/// Whether the kernel's line about a process, `PID (NAME) STATE ...`, says that a signal stopped it.
fn is_stopped(stat: &str) -> bool {
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['T', 't']))
}

fn locks_in(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth > 0 {
                locks_in(&path, depth - 1, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            found.push(path);
        }
    }
}
