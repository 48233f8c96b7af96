//! Trees with some of their paths edited.

use std::collections::BTreeMap;

use gix::objs::{Tree, Write};

use super::{TreeEdit, with_plain_modes};
use crate::repo::{Doing as _, Error, ObjectBuffer, ObjectId};

impl ObjectBuffer<'_> {
    /// The tree `base` with the edits made: only the directories on their paths are read and written.
    ///
    /// A file in the way of a directory is replaced by it.
    pub fn edit_tree(&self, base: ObjectId, edits: &BTreeMap<String, TreeEdit>) -> Result<ObjectId, Error> {
        let (_, content) = self.object(base)?;
        let content = with_plain_modes(base, &content)?.unwrap_or(content);
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
