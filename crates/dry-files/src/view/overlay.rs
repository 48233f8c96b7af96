//! A tree some of whose files have another content.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{ContentId, Entry, Files, Kind, Memo, Seen, Unreadable};
use crate::path::RepoPath;

/// Other files, some of which have another content, with new ones in directories that there are. None goes.
pub struct Overlay<'a> {
    below: &'a dyn Files,
    contents: BTreeMap<RepoPath, Arc<[u8]>>,
    /// The ids that the directories have below in which, at any depth, a content is another one.
    directories: BTreeMap<RepoPath, ContentId>,
    /// A digest of all contents: no directory of another overlay has the ids of this one.
    digest: [u8; 32],
}

impl<'a> Overlay<'a> {
    /// These files with other contents.
    pub fn new(below: &'a dyn Files, contents: BTreeMap<RepoPath, Arc<[u8]>>) -> Self {
        let mut hash = Sha256::new();
        for (path, content) in &contents {
            hash.update(Sha256::digest(path.as_str()));
            hash.update(Sha256::digest(content));
        }
        let mut directories = BTreeMap::from([(RepoPath::root(), below.root())]);
        for path in contents.keys() {
            let mut dir = RepoPath::root();
            let names: Vec<&str> = path.components().collect();
            for name in names.iter().take(names.len().saturating_sub(1)) {
                let Some(id) = directories.get(&dir).copied() else { break };
                let entries = below.list(&dir, id).unwrap_or_else(|_| Arc::from([]));
                let Some(entry) = entries.iter().find(|entry| entry.name == *name) else { break };
                let Ok(child) = dir.child(name) else { break };
                directories.insert(child.clone(), entry.id);
                dir = child;
            }
        }
        Self { below, contents, directories, digest: hash.finalize().into() }
    }

    fn id(&self, path: &RepoPath, below: ContentId) -> ContentId {
        match self.contents.get(path) {
            Some(content) => ContentId::new(&Sha256::digest(content)),
            None if self.directories.contains_key(path) => {
                ContentId::new(&Sha256::new().chain_update(below.as_bytes()).chain_update(self.digest).finalize())
            }
            None => below,
        }
    }
}

impl Overlay<'_> {
    /// An entry of a directory as it is with what is laid over it.
    fn entry(&self, dir: &RepoPath, below: &Entry) -> Entry {
        match dir.child(&below.name) {
            Ok(path) => Entry { id: self.id(&path, below.id), ..below.clone() },
            Err(_) => below.clone(),
        }
    }
}

impl Files for Overlay<'_> {
    fn list(&self, dir: &RepoPath, id: ContentId) -> Result<Arc<[Entry]>, String> {
        let Some(below) = self.directories.get(dir) else { return self.below.list(dir, id) };
        let there = self.below.list(dir, *below)?;
        let mut entries: Vec<Entry> = there.iter().map(|entry| self.entry(dir, entry)).collect();
        for (path, content) in self.contents.iter().filter(|(path, _)| path.parent().as_ref() == Some(dir)) {
            let name = path.file_name().unwrap_or_default();
            if let Err(at) = entries.binary_search_by(|entry| entry.name.as_str().cmp(name)) {
                let id = ContentId::new(&Sha256::digest(content));
                entries.insert(at, Entry { name: name.to_owned(), kind: Kind::File, id });
            }
        }
        Ok(entries.into())
    }

    fn read(&self, path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, Unreadable> {
        self.contents.get(path).map_or_else(|| self.below.read(path, id), |content| Ok(content.clone()))
    }

    fn size(&self, path: &RepoPath, id: ContentId) -> Result<u64, Unreadable> {
        self.contents.get(path).map_or_else(|| self.below.size(path, id), |content| Ok(content.len() as u64))
    }

    fn root(&self) -> ContentId {
        self.id(&RepoPath::root(), self.below.root())
    }

    fn noted(&self, path: &RepoPath, seen: Seen) {
        self.below.noted(path, seen);
    }

    fn memo(&self) -> Option<&Memo> {
        self.below.memo()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{MemoryFiles, View};

    #[test]
    fn another_content_gives_its_file_and_the_directories_around_it_other_ids() {
        let below = MemoryFiles::new().file("a/b/one.yaml", "1").file("a/two.yaml", "2").file("c/three.yaml", "3");
        let path = |text: &str| RepoPath::new(text).expect("plain");
        let over = Overlay::new(&below, BTreeMap::from([(path("a/b/one.yaml"), Arc::from(&b"11"[..]))]));
        let [before, after] = [View::new(&below), View::new(&over)];
        let read = |view: &View<'_>, file: &str| view.read(&path(file)).expect("there").data.to_vec();
        assert_eq!(read(&after, "a/b/one.yaml"), b"11");
        assert_eq!(read(&after, "a/two.yaml"), b"2");
        let ids = |view: &View<'_>, dir: &str| {
            let dir = if dir.is_empty() { RepoPath::root() } else { path(dir) };
            view.list(&dir).expect("listed").iter().map(|entry| (entry.name.clone(), entry.id)).collect::<Vec<_>>()
        };
        let [old, new] = [ids(&before, ""), ids(&after, "")];
        assert!(old[0] != new[0] && old[1] == new[1]);
        let [old, new] = [ids(&before, "a"), ids(&after, "a")];
        assert!(old[0] != new[0] && old[1] == new[1]);
        assert_ne!(below.root(), over.root());
    }

    #[test]
    fn a_new_file_is_among_those_of_its_directory() {
        let below = MemoryFiles::new().file("a/one.yaml", "1").file("a/three.yaml", "3");
        let path = |text: &str| RepoPath::new(text).expect("plain");
        let over = Overlay::new(&below, BTreeMap::from([(path("a/three-b.yaml"), Arc::from(&b"2"[..]))]));
        let view = View::new(&over);
        let names: Vec<String> =
            view.list(&path("a")).expect("listed").iter().map(|entry| entry.name.clone()).collect();
        assert_eq!(names, ["one.yaml", "three-b.yaml", "three.yaml"]);
        assert_eq!(view.read(&path("a/three-b.yaml")).expect("there").data.to_vec(), b"2");
        assert!(matches!(view.kind(&path("a/three-b.yaml")), Ok(Some(Kind::File))));
    }
}
