use std::collections::BTreeMap;

use gix::objs::tree::{EntryKind, EntryMode};
use gix::objs::{Tree, TreeRefIter, Write};

use super::{Doing as _, Error, ObjectBuffer, ObjectId, Repository};

/// What a tree entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// A regular file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link.
    Link,
    /// A directory.
    Directory,
    /// A commit of another repository.
    Submodule,
}

impl From<EntryMode> for Mode {
    fn from(mode: EntryMode) -> Self {
        match mode.kind() {
            EntryKind::Tree => Mode::Directory,
            EntryKind::Blob => Mode::File,
            EntryKind::BlobExecutable => Mode::Executable,
            EntryKind::Link => Mode::Link,
            EntryKind::Commit => Mode::Submodule,
        }
    }
}

impl From<Mode> for EntryKind {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::File => EntryKind::Blob,
            Mode::Executable => EntryKind::BlobExecutable,
            Mode::Link => EntryKind::Link,
            Mode::Directory => EntryKind::Tree,
            Mode::Submodule => EntryKind::Commit,
        }
    }
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// The name, any bytes but `/` and NUL.
    pub name: Vec<u8>,
    /// What it is.
    pub mode: Mode,
    /// The object.
    pub id: ObjectId,
}

impl TreeEntry {
    pub(super) fn list(id: ObjectId, content: &[u8]) -> Result<Vec<Self>, Error> {
        TreeRefIter::from_bytes(content, id.kind())
            .map(|entry| {
                let entry = entry.doing(|| format!("reading tree {id}"))?;
                Ok(Self { name: entry.filename.to_vec(), mode: entry.mode.into(), id: entry.oid.to_owned() })
            })
            .collect()
    }

    /// The entry of this name, found without taking the others apart.
    fn find(id: ObjectId, content: &[u8], name: &str) -> Result<Option<(Mode, ObjectId)>, Error> {
        for entry in TreeRefIter::from_bytes(content, id.kind()) {
            let entry = entry.doing(|| format!("reading tree {id}"))?;
            if entry.filename == name.as_bytes() {
                return Ok(Some((entry.mode.into(), entry.oid.to_owned())));
            }
        }
        Ok(None)
    }
}

/// What shall stand at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEdit {
    /// This object.
    Put(Mode, ObjectId),
    /// Nothing; directories that get empty by it vanish too.
    Remove,
}

impl ObjectBuffer<'_> {
    /// The tree `base` with the edits made: only the directories on their paths are read and written.
    ///
    /// A file in the way of a directory is replaced by it.
    pub fn edit_tree(&self, base: ObjectId, edits: &BTreeMap<String, TreeEdit>) -> Result<ObjectId, Error> {
        let (_, content) = self.object(base)?;
        let root = gix::objs::TreeRef::from_bytes(&content, base.kind()).doing(|| format!("editing tree {base}"))?;
        let mut editor = gix::objs::tree::Editor::new(Tree::from(root), self, base.kind());
        for (path, edit) in edits {
            let components = path.split('/').map(str::as_bytes).map(gix::bstr::BStr::new);
            match edit {
                TreeEdit::Put(mode, id) => editor.upsert(components, (*mode).into(), *id),
                TreeEdit::Remove => editor.remove(components),
            }
            .doing(|| format!("editing tree {base}"))?;
        }
        editor.write(|tree| self.write(tree)).doing(|| format!("editing tree {base}"))
    }
}

/// A file that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    /// The path; bytes that are no UTF-8 are replaced, for it is only shown and compared with our own paths.
    pub path: String,
    /// What it was, none when it is new.
    pub old: Option<(Mode, ObjectId)>,
    /// What it is, none when it is gone.
    pub new: Option<(Mode, ObjectId)>,
}

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
