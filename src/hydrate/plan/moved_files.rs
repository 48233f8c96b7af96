//! Files that one of two dry trees has and the other does not: what may have moved.

use std::collections::{BTreeMap, HashMap};

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Files, Kind};

/// How long the paths of all entries may be together that are looked at, with [`ENTRY_BYTES`] for each.
const PATH_BYTES_MAX: usize = 64 << 20;

/// What an entry counts for beside its path.
const ENTRY_BYTES: usize = 64;

/// How deep directories are followed.
const DEPTH_MAX: usize = 128;

/// The files that came and those that are gone.
#[derive(Debug, Default)]
pub(crate) struct MovedFiles {
    /// The files that only the new tree has, with their content.
    pub came: BTreeMap<RepoPath, ContentId>,
    /// The files that only the old tree has, with their content.
    pub gone: BTreeMap<RepoPath, ContentId>,
}

impl MovedFiles {
    /// Compares two trees. Directories with one id are not opened; where too much differs, what is left is not looked at.
    pub(crate) fn between(old: &dyn Files, new: &dyn Files) -> Self {
        let mut comparison = Comparison { files: [old, new], found: Self::default(), path_bytes: 0 };
        comparison.directory(&RepoPath::root(), [Some(old.root()), Some(new.root())], 0);
        comparison.found
    }

    /// The new files with the content of one that is gone.
    pub(crate) fn same_as(&self, file: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        let id = self.gone.get(file);
        self.came.iter().filter(move |(_, came)| Some(*came) == id).map(|(path, _)| path)
    }

    /// Where most of the files below a directory that are gone went with their content and their names; none where they went
    /// nowhere.
    pub(crate) fn directory(&self, dir: &RepoPath) -> Option<RepoPath> {
        let mut came: HashMap<ContentId, Vec<&RepoPath>> = HashMap::new();
        for (path, id) in &self.came {
            came.entry(*id).or_default().push(path);
        }
        let mut votes: BTreeMap<RepoPath, usize> = BTreeMap::new();
        for (path, id) in self.gone.iter().filter(|(path, _)| path.starts_with(dir)) {
            let Some(below) = path.strip_prefix(dir) else { continue };
            for now in came.get(id).into_iter().flatten() {
                let prefix = now.as_str().strip_suffix(below.as_str()).and_then(|rest| rest.strip_suffix('/'));
                if let Some(Ok(to)) = prefix.map(RepoPath::new) {
                    *votes.entry(to).or_default() += 1;
                }
            }
        }
        votes.into_iter().max_by_key(|(_, count)| *count).map(|(dir, _)| dir)
    }
}

struct Comparison<'c> {
    /// The old tree, then the new one.
    files: [&'c dyn Files; 2],
    found: MovedFiles,
    path_bytes: usize,
}

impl Comparison<'_> {
    fn directory(&mut self, dir: &RepoPath, ids: [Option<ContentId>; 2], depth: usize) {
        if depth > DEPTH_MAX || self.path_bytes > PATH_BYTES_MAX {
            return;
        }
        let [old, new] = self.files;
        let [before, now] = ids;
        // What cannot be read has moved nowhere.
        let list =
            |files: &dyn Files, id: Option<ContentId>| id.and_then(|id| files.list(dir, id).ok()).unwrap_or_default();
        let mut entries: BTreeMap<String, [Option<Entry>; 2]> = BTreeMap::new();
        for entry in list(old, before).iter() {
            entries.insert(entry.name.clone(), [Some(entry.clone()), None]);
        }
        for entry in list(new, now).iter() {
            let [_, slot] = entries.entry(entry.name.clone()).or_default();
            *slot = Some(entry.clone());
        }
        entries.retain(|_, [before, now]| before != now);
        self.path_bytes += entries.keys().map(|name| dir.as_str().len() + name.len() + ENTRY_BYTES).sum::<usize>();
        for (name, pair) in entries {
            let Ok(path) = dir.child(&name) else { continue };
            match pair.each_ref().map(|entry| id_of(entry.as_ref(), Kind::File)) {
                [Some(id), None] => drop(self.found.gone.insert(path.clone(), id)),
                [None, Some(id)] => drop(self.found.came.insert(path.clone(), id)),
                [Some(_), Some(_)] | [None, None] => {}
            }
            let below = pair.each_ref().map(|entry| id_of(entry.as_ref(), Kind::Directory));
            if below.iter().any(Option::is_some) {
                self.directory(&path, below, depth + 1);
            }
        }
    }
}

fn id_of(entry: Option<&Entry>, kind: Kind) -> Option<ContentId> {
    entry.filter(|entry| entry.kind == kind).map(|entry| entry.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    #[test]
    fn what_came_and_what_is_gone() {
        let old =
            MemoryFiles::new().file("a/x/1", "1").file("a/x/2", "2").file("a/3", "3").file("b/same", "").file("c", "");
        let new = MemoryFiles::new()
            .file("d/x/1", "1")
            .file("d/x/2", "other")
            .file("d/3", "3")
            .file("b/same", "")
            .file("c/3", "3");
        let moved = MovedFiles::between(&old, &new);
        let names = |files: &BTreeMap<RepoPath, ContentId>| files.keys().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(&moved.came), ["c/3", "d/3", "d/x/1", "d/x/2"]);
        assert_eq!(names(&moved.gone), ["a/3", "a/x/1", "a/x/2", "c"]);
        let same: Vec<_> = moved.same_as(&path("a/3")).map(RepoPath::as_str).collect();
        assert_eq!(same, ["c/3", "d/3"]);
        assert_eq!(moved.directory(&path("a")), Some(path("d")));
        assert_eq!(moved.directory(&path("a/x")), Some(path("d/x")));
        assert_eq!(moved.directory(&path("b")), None);
    }
}
