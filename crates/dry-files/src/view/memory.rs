//! Files in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{ContentId, Entry, Files, Kind, Unreadable};
use crate::path::RepoPath;

/// Files in memory: the twin of a git tree, for tests and for trees that never were committed.
#[derive(Debug, Default, Clone)]
pub struct MemoryFiles {
    files: BTreeMap<RepoPath, (Kind, Arc<[u8]>)>,
}

impl MemoryFiles {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree with one more file. Panics on a path that is no [`RepoPath`]: it is for paths known to be good.
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.insert(RepoPath::new(path).expect("a plain path"), Kind::File, content.as_ref());
        self
    }

    /// The tree with one more symbolic link. Panics like [`MemoryFiles::file`].
    pub fn link(mut self, path: &str, target: &str) -> Self {
        self.insert(RepoPath::new(path).expect("a plain path"), Kind::Link, target.as_bytes());
        self
    }

    /// Adds or replaces one entry.
    pub fn insert(&mut self, path: RepoPath, kind: Kind, content: &[u8]) {
        self.files.insert(path, (kind, content.into()));
    }

    /// Removes one file; whether it was there.
    pub fn remove(&mut self, path: &RepoPath) -> bool {
        self.files.remove(path).is_some()
    }

    /// What is below a directory, which is together.
    fn below(&self, dir: &RepoPath) -> impl Iterator<Item = (&RepoPath, &(Kind, Arc<[u8]>))> {
        // No name begins with less.
        let first = dir.child("\u{1}").unwrap_or_default();
        self.files.range(first..).take_while(move |(file, _)| file.starts_with(dir))
    }

    fn content_id(&self, path: &RepoPath) -> ContentId {
        let mut hash = Sha256::new();
        match self.files.get(path) {
            Some((_, content)) => hash.update(content),
            None => {
                for (below, (kind, content)) in self.below(path) {
                    hash.update(below.as_str());
                    hash.update([0, *kind as u8]);
                    hash.update(Sha256::digest(content));
                }
            }
        }
        ContentId::new(&hash.finalize())
    }
}

impl Files for MemoryFiles {
    fn list(&self, dir: &RepoPath, _id: ContentId) -> Result<Arc<[Entry]>, String> {
        let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
        for (path, (kind, _)) in self.below(dir) {
            let Some(below) = path.strip_prefix(dir) else { continue };
            let mut components = below.components();
            let Some(name) = components.next() else { continue };
            let kind = if components.next().is_some() { Kind::Directory } else { *kind };
            let child = dir.child(name).map_err(|error| error.to_string())?;
            if !entries.contains_key(name) {
                let name = name.to_owned();
                entries.insert(name.clone(), Entry { name, kind, id: self.content_id(&child) });
            }
        }
        Ok(entries.into_values().collect())
    }

    fn read(&self, path: &RepoPath, _id: ContentId) -> Result<Arc<[u8]>, Unreadable> {
        self.files.get(path).map(|(_, content)| content.clone()).ok_or_else(|| "not in memory".to_owned().into())
    }

    fn size(&self, path: &RepoPath, id: ContentId) -> Result<u64, Unreadable> {
        self.read(path, id).map(|content| content.len() as u64)
    }

    fn root(&self) -> ContentId {
        self.content_id(&RepoPath::root())
    }
}
