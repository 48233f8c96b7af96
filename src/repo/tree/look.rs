//! What is at a path of a tree, and whether git would write it.

use std::collections::{HashMap, HashSet};

use super::{Mode, TreeEntry, tree_fault};
use crate::repo::{Error, ObjectBuffer, ObjectId, Repository};

impl ObjectBuffer<'_> {
    /// The first directory below `root` that git would not write like that, with the reason. Each tree is read once,
    /// wherever it is.
    pub fn first_tree_fault(&self, root: ObjectId) -> Result<Option<(String, String)>, Error> {
        self.new_tree_fault(root, None)
    }

    /// The first directory below `root` that git would not write like that, with the reason, directories that `old` has
    /// at the same path left out.
    pub fn new_tree_fault(&self, root: ObjectId, old: Option<ObjectId>) -> Result<Option<(String, String)>, Error> {
        let mut seen = HashSet::new();
        let mut open = vec![(String::new(), root, old)];
        while let Some((path, id, old)) = open.pop() {
            if Some(id) == old || !seen.insert(id) {
                continue;
            }
            let entries = self.tree(id)?;
            if let Some(fault) = tree_fault(&entries) {
                return Ok(Some((path, fault)));
            }
            let olds = old.map_or(Ok(Vec::new()), |old| self.tree(old))?;
            let is_directory = |entry: &&TreeEntry| entry.mode == Mode::Directory;
            let olds: HashMap<Vec<u8>, ObjectId> =
                olds.into_iter().filter(|entry| is_directory(&entry)).map(|entry| (entry.name, entry.id)).collect();
            for entry in entries.iter().filter(is_directory) {
                let name = String::from_utf8_lossy(&entry.name);
                let below = if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") };
                open.push((below, entry.id, olds.get(&entry.name).copied()));
            }
        }
        Ok(None)
    }

    /// The entry at a path below a tree; none when there is nothing.
    pub fn entry(&self, tree: ObjectId, path: &str) -> Result<Option<(Mode, ObjectId)>, Error> {
        let mut here = (Mode::Directory, tree);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if here.0 != Mode::Directory {
                return Ok(None);
            }
            let Some(entry) = TreeEntry::find(here.1, &self.object(here.1)?.1, name)? else { return Ok(None) };
            here = entry;
        }
        Ok(Some(here))
    }
}

impl Repository {
    /// The entry at a path below a tree; none when there is nothing.
    pub fn entry(&self, tree: ObjectId, path: &str) -> Result<Option<(Mode, ObjectId)>, Error> {
        ObjectBuffer::new(self).entry(tree, path)
    }
}
