//! Files that are where inputs are and are none: nothing that looks for Applications or manifests sees them.

use std::collections::BTreeSet;

use dry_files::path::RepoPath;
use dry_files::view::{self, View};

use super::{InputsDir, KeptInputs, Kind, TOP};

/// How many entries of directories are looked at.
const ENTRIES_MAX: usize = 200_000;

/// The files below the directory of inputs of a tree that its lock file does not list.
pub struct Strays<'v> {
    view: &'v View<'v>,
    dir: &'v InputsDir,
    /// Where inputs are.
    places: BTreeSet<RepoPath>,
}

impl<'v> Strays<'v> {
    /// Reads the lock file. One that cannot be read lists nothing.
    pub fn new(view: &'v View<'v>, dir: &'v InputsDir) -> Self {
        let kept = KeptInputs::read(view).ok();
        let lock = kept.as_ref().and_then(KeptInputs::lock);
        let places = lock.into_iter().flat_map(|lock| lock.entries().flat_map(|entry| lock.places(entry)));
        Self { view, dir, places: places.collect() }
    }

    /// Whether there is something at a path where inputs are, and it is not an input. What is below `.hydrate` never counted.
    pub fn has(&self, path: &RepoPath) -> bool {
        let is_below_top = path.components().next() == Some(TOP);
        let mut above = std::iter::successors(Some(path.clone()), RepoPath::parent);
        !is_below_top
            && self.dir.has(path)
            && !above.any(|dir| self.places.contains(&dir))
            && matches!(self.view.kind(path), Ok(Some(_)))
    }

    /// The first such file that `counts`; also one that is where a directory on the way to the inputs should be.
    pub fn first(&self, counts: &dyn Fn(&RepoPath) -> bool) -> Option<RepoPath> {
        if self.dir.path().components().next() == Some(TOP) {
            return None;
        }
        let mut above: Vec<RepoPath> = std::iter::successors(Some(self.dir.path().clone()), RepoPath::parent)
            .filter(|dir| !dir.is_root())
            .collect();
        above.reverse();
        let is_file = |path: &RepoPath| matches!(self.view.kind(path), Ok(Some(view::Kind::File)));
        if let Some(file) = above.into_iter().find(is_file) {
            return Some(file).filter(counts);
        }
        let dirs = Kind::ALL.into_iter().filter_map(|kind| self.dir.path().child(kind.word()).ok());
        let mut seen = 0;
        dirs.filter(|dir| matches!(self.view.kind(dir), Ok(Some(_))))
            .find_map(|dir| self.below(&dir, counts, &mut seen))
    }

    /// The first such file at or below a directory.
    fn below(&self, path: &RepoPath, counts: &dyn Fn(&RepoPath) -> bool, seen: &mut usize) -> Option<RepoPath> {
        *seen += 1;
        if self.places.contains(path) || *seen > ENTRIES_MAX {
            return None;
        }
        if !matches!(self.view.kind(path), Ok(Some(view::Kind::Directory))) {
            // Those of `git hydrate vendor` are beside the inputs.
            let is_of_git = path.file_name() == Some(".gitattributes");
            return Some(path.clone()).filter(|path| !is_of_git && counts(path));
        }
        let entries = self.view.list(path).ok()?;
        entries.iter().find_map(|entry| self.below(&path.child(&entry.name).ok()?, counts, seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Key, LOCK, Lock};
    use dry_files::view::MemoryFiles;

    #[test]
    fn what_no_lock_file_lists_is_stray() {
        let path = |text: &str| RepoPath::new(text).expect("plain");
        let key = Key::repository("https://h/o/r", "v1").expect("a key");
        let (version, content) = ("0a".to_owned(), format!("sha256:{}", "0".repeat(64)));
        let dir = InputsDir::new("in").expect("a directory");
        let mut lock = Lock::default();
        lock.move_to(dir.clone());
        let directories = vec![path("b")];
        lock.insert(Entry { key, version, origin: String::new(), content, at: Vec::new(), directories });
        let kept = MemoryFiles::new()
            .file(LOCK, lock.text())
            .file("in/git/.gitattributes", "")
            .file("in/git/h/o/r@v1/b/x.yaml", "x")
            .file("in/own.yaml", "x");
        let found = |files: &MemoryFiles, dir: &InputsDir| {
            let view = View::new(files);
            let first = Strays::new(&view, dir).first(&|_| true);
            first.map(|path| path.to_string()).unwrap_or_default()
        };
        assert_eq!(found(&kept, &dir), "");
        assert_eq!(found(&kept.clone().file("in/git/a.yaml", "x"), &dir), "in/git/a.yaml");
        assert_eq!(found(&kept.clone().file("in/helm", "x"), &dir), "in/helm");
        let inside = InputsDir::new("in/own.yaml/x").expect("a directory");
        assert_eq!(found(&kept, &inside), "in/own.yaml");
        assert_eq!(found(&kept.clone().file(".hydrate/inputs/git/x", "x"), &InputsDir::default()), "");
        let (files, view_of) = (kept.file("in/git/a.yaml", "x"), ["in/git/a.yaml", "in/git/h/o/r@v1/b/x.yaml", "in/x"]);
        let view = View::new(&files);
        let strays = Strays::new(&view, &dir);
        assert_eq!(view_of.map(|text| strays.has(&path(text))), [true, false, false]);
    }
}
