//! Whether the user that pushes arrive as can write where git and hydration write.

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use dry_files::diag::shell_path;

use super::{DEPTH_MAX, Doctor};
use crate::hydrate;
use crate::install::{Error, Io as _};
use crate::repo::{LOCKS_DIR, Shared};

impl Doctor<'_> {
    /// Everything below the top that git writes must be open to the owner of the repository, or to its group where it is
    /// shared: one command as another user is enough to close a directory.
    pub(super) fn ownership(&mut self) -> Result<(), Error> {
        let dir = self.repository.common_dir();
        let top = fs::metadata(dir).doing(|| format!("reading {}", dir.display()))?;
        let (owner, is_shared) = (top.uid(), self.repository.shared() != Shared::Umask);
        let belongs = format!("the repository belongs to user {owner}");
        if owner != self.around.user && !is_shared {
            let what = format!("{belongs}, but this is user {}: git refuses pushes by another user", self.around.user);
            let remedy = format!(
                "have pushes arrive as user {owner}, and run this with: {}",
                self.as_owner(format!("git -C {} hydrate doctor", shell_path(dir)))
            );
            self.bad(what, remedy);
        }
        let mut closed = written(dir);
        let lock = hydrate::lock_path(self.repository);
        closed.extend(fs::metadata(&lock).ok().map(|there| (lock, there)));
        closed.retain(|(_, there)| !self.may_write(there, &top));
        let Some((first, there)) = closed.first() else {
            if is_shared {
                self.good("the group of this shared repository can write it");
            } else if owner == self.around.user {
                self.good(belongs);
            }
            return Ok(());
        };
        let more = match closed.len() {
            1 => String::new(),
            2 => " and 1 more place".to_owned(),
            count => format!(" and {} more places", count - 1),
        };
        let path = shell_path(if closed.len() == 1 { first } else { dir });
        let what_fails =
            closed.iter().map(|(path, _)| self.fails_without(path)).max().unwrap_or(Fails::Memory).effect();
        let belongs = if closed.len() == 1 { "belongs" } else { "belong" };
        let first = first.display();
        if is_shared {
            let sudo = if there.uid() == self.around.user { "" } else { "sudo " };
            let group = match there.gid() == top.gid() {
                true => String::new(),
                false => format!("{sudo}chgrp -R {} {path} && ", top.gid()),
            };
            let what = format!("the repository is shared, but its group cannot write {first}{more}");
            self.bad(what, format!("{group}{sudo}chmod -R g+rwX,g+s {path}"));
        } else if there.uid() == owner {
            let what = format!("user {owner}, who owns the repository, cannot write {first}{more}: {what_fails}");
            self.bad(what, self.as_owner(format!("chmod -R u+rwX {path}")));
        } else {
            let what = format!("{first}{more} {belongs} to user {}, not {owner}: {what_fails}", there.uid());
            self.bad(what, format!("sudo chown -R {owner}:{} {path}", top.gid()));
        }
        Ok(())
    }

    /// Whether those as whom pushes arrive can write there; `top` is the directory of the repository.
    pub(super) fn may_write(&self, there: &Metadata, top: &Metadata) -> bool {
        match self.repository.shared() == Shared::Umask {
            true => may_write(there, top),
            false => may_group_write(there, top.gid()),
        }
    }

    /// What comes of a path that nothing can be written to.
    fn fails_without(&self, path: &Path) -> Fails {
        let dir = self.repository.common_dir();
        if path.starts_with(dir.join("hydrate")) {
            Fails::Memory
        } else if path.starts_with(dir.join(LOCKS_DIR)) || path == hydrate::lock_path(self.repository) {
            Fails::Hydration
        } else {
            Fails::Pushes
        }
    }

    /// A command as the user who is to run it: what another one writes, pushes can no longer change.
    pub(super) fn as_owner(&self, command: String) -> String {
        let owner = self.owner();
        match owner == self.around.user || self.repository.shared() != Shared::Umask {
            true => command,
            false => format!("sudo -u '#{owner}' {command}"),
        }
    }

    /// The user whom the repository belongs to.
    pub(super) fn owner(&self) -> u32 {
        fs::metadata(self.repository.common_dir()).map_or(self.around.user, |top| top.uid())
    }

    /// How a command of git for this repository begins.
    pub(super) fn git_command(&self) -> String {
        self.as_owner(format!("git -C {}", shell_path(self.repository.common_dir())))
    }
}

/// What fails where a place cannot be written; the worst is last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fails {
    Memory,
    Hydration,
    Pushes,
}

impl Fails {
    fn effect(self) -> &'static str {
        match self {
            Fails::Memory => "pushes are hydrated, and nothing is remembered for the next one, which takes longer",
            Fails::Hydration => "pushes are not hydrated",
            Fails::Pushes => "pushes fail",
        }
    }
}

/// The directories in which git and hydration make files, and the files that they write in place.
fn written(top: &Path) -> Vec<(PathBuf, Metadata)> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf| found.extend(fs::metadata(&path).ok().map(|there| (path, there)));
    add(top.to_owned());
    for (dir, depth) in [("objects", 1), ("refs", DEPTH_MAX), ("reftable", 0), ("hydrate", DEPTH_MAX), (LOCKS_DIR, 0)] {
        let below = tree(&top.join(dir), depth).into_iter();
        below.filter(|(_, is_dir)| *is_dir).for_each(|(path, _)| add(path));
    }
    // A log is appended to.
    tree(&top.join("logs"), DEPTH_MAX).into_iter().for_each(|(path, _)| add(path));
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

/// A directory and what is in it, `depth` directories deep; each with whether it is a directory.
fn tree(dir: &Path, depth: usize) -> Vec<(PathBuf, bool)> {
    let mut found = vec![(dir.to_owned(), true)];
    let Ok(entries) = fs::read_dir(dir) else {
        found.retain(|_| dir.is_dir());
        return found;
    };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => found.extend(tree(&entry.path(), depth - 1)),
            Ok(kind) => found.push((entry.path(), kind.is_dir())),
            Err(_) => {}
        }
    }
    found
}

/// Whether the owner of `top`, in the group of `top`, can write there.
fn may_write(there: &Metadata, top: &Metadata) -> bool {
    let mode = there.permissions().mode();
    let bit = if there.uid() == top.uid() {
        0o200
    } else if there.gid() == top.gid() {
        0o020
    } else {
        0o002
    };
    mode & bit != 0
}

fn may_group_write(there: &Metadata, group: u32) -> bool {
    let mode = there.permissions().mode();
    mode & 0o002 != 0 || mode & 0o020 != 0 && there.gid() == group
}
