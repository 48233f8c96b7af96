//! The files that differ between two trees.
#![expect(clippy::indexing_slicing, reason = "there are two sides")]

use std::collections::BTreeMap;

use super::{Mode, TreeChange};
use crate::repo::{Error, ObjectBuffer, ObjectId};

impl ObjectBuffer<'_> {
    /// The files (links and submodules too) that differ between two trees, in the order of their paths.
    ///
    /// Directories with the same id are never opened.
    pub fn diff_trees(&self, old: ObjectId, new: ObjectId) -> Result<Vec<TreeChange>, Error> {
        let mut changes = Vec::new();
        self.diff_below("", Some(old), Some(new), &mut changes)?;
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    fn diff_below(
        &self,
        prefix: &str,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        changes: &mut Vec<TreeChange>,
    ) -> Result<(), Error> {
        if old == new {
            return Ok(());
        }
        let list = |id: Option<ObjectId>| id.map_or(Ok(Vec::new()), |id| self.tree(id));
        let mut entries: BTreeMap<Vec<u8>, [Option<(Mode, ObjectId)>; 2]> = BTreeMap::new();
        for (side, id) in [old, new].into_iter().enumerate() {
            for entry in list(id)? {
                entries.entry(entry.name).or_default()[side] = Some((entry.mode, entry.id));
            }
        }
        for (name, [old, new]) in entries.into_iter().filter(|(_, [old, new])| old != new) {
            let path = format!("{prefix}{}", String::from_utf8_lossy(&name));
            let directory =
                |entry: Option<(Mode, ObjectId)>| entry.filter(|(mode, _)| *mode == Mode::Directory).map(|(_, id)| id);
            let file = |entry: Option<(Mode, ObjectId)>| entry.filter(|(mode, _)| *mode != Mode::Directory);
            self.diff_below(&format!("{path}/"), directory(old), directory(new), changes)?;
            if file(old) != file(new) {
                changes.push(TreeChange { path, old: file(old), new: file(new) });
            }
        }
        Ok(())
    }
}
