//! Where the files of an Application are now that are gone from where they were.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::argo::Application;
use crate::hydrate::plan::moved_files::MovedFiles;
use dry_files::path::RepoPath;
use dry_files::view::View;

/// The directories that moved.
pub(super) struct Places {
    /// Where a directory was, and where it is; the longest first.
    directories: Vec<(RepoPath, RepoPath)>,
    moved: Rc<MovedFiles>,
}

impl Places {
    /// The directories of the sources of an Application, where these have another path now, and those of `files` that are gone, where
    /// most of their files are elsewhere.
    pub(super) fn of<'f>(
        before: &Application,
        now: &Application,
        files: impl Iterator<Item = &'f RepoPath>,
        moved: Rc<MovedFiles>,
        tree: &View<'_>,
    ) -> Self {
        let own = |application: &Application| -> Vec<RepoPath> {
            let own = application.all_sources().filter(|source| source.input.is_none());
            own.map(|source| source.path.clone()).collect()
        };
        let sources = own(before).into_iter().zip(own(now));
        let mut directories: Vec<_> = sources.filter(|(before, now)| before != now && !before.is_root()).collect();
        let mut looked_at = BTreeSet::new();
        for file in files.filter(|file| moved.gone.contains_key(*file)) {
            let Some(dir) = file.parent().filter(|dir| !dir.is_root() && looked_at.insert(dir.clone())) else {
                continue;
            };
            if !directories.iter().any(|(before, _)| dir.starts_with(before))
                && matches!(tree.kind(&dir), Ok(None))
                && let Some(now) = moved.directory(&dir)
            {
                directories.push((dir, now));
            }
        }
        directories.sort_by_key(|(before, _)| std::cmp::Reverse(before.as_str().len()));
        Self { directories, moved }
    }

    /// Where a file is now: what is not gone is where it was.
    pub(super) fn now(&self, file: &RepoPath) -> RepoPath {
        let mut dirs = self.directories.iter().filter(|_| self.moved.gone.contains_key(file));
        dirs.find_map(|(before, now)| rebased(file, before, now)).unwrap_or_else(|| file.clone())
    }

    /// Where a file of now was.
    pub(super) fn before(&self, path: &RepoPath) -> RepoPath {
        let mut was = self.directories.iter().filter_map(|(before, now)| rebased(path, now, before));
        was.find(|was| self.moved.gone.contains_key(was)).unwrap_or_else(|| path.clone())
    }

    /// Whether a file is new, wherever it comes from.
    pub(super) fn is_new(&self, file: &RepoPath) -> bool {
        self.moved.came.contains_key(file)
    }

    /// The new files of a directory.
    pub(super) fn new_in(&self, dir: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        self.moved.came.keys().filter(|path| path.parent().unwrap_or_default() == *dir)
    }
}

/// What has the place below `to` that `path` has below `from`.
fn rebased(path: &RepoPath, from: &RepoPath, to: &RepoPath) -> Option<RepoPath> {
    path.strip_prefix(from).map(|below| to.join(&below))
}
