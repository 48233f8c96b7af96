//! Notes of commits: read from a notes ref, and changed.

use gix::note::plumbing::State;

use super::{Doing as _, Error, ObjectBuffer, ObjectId};

/// The notes of one notes ref, with changes that are not written yet.
///
/// Reads and writes every layout that git makes: flat, or split at two digits once or more.
pub struct Notes {
    state: State,
}

impl Notes {
    /// The notes in `tree`; none for a ref that is not there yet.
    pub fn open(tree: Option<ObjectId>, objects: &ObjectBuffer<'_>) -> Result<Self, Error> {
        let tree = tree.unwrap_or_else(|| objects.empty_tree_id());
        let state = State::new(tree, objects).doing(|| "reading notes".to_owned())?;
        Ok(Self { state })
    }

    /// The text of the note on `commit`, staged changes included.
    pub fn get(&mut self, commit: ObjectId, objects: &ObjectBuffer<'_>) -> Result<Option<Vec<u8>>, Error> {
        let blob = self.state.get(&commit, objects).doing(|| format!("reading the note of {commit}"))?;
        blob.map(|blob| objects.blob(blob)).transpose()
    }

    /// Puts `text` on `commit` in place of any other note.
    pub fn set(&mut self, commit: ObjectId, text: &[u8], objects: &ObjectBuffer<'_>) -> Result<(), Error> {
        let blob = objects.write_blob(text)?;
        self.state.edit(commit, Some(blob), objects).map(drop).doing(|| format!("writing the note of {commit}"))
    }

    /// Writes the changed tree and answers its id.
    pub fn write(&mut self, objects: &ObjectBuffer<'_>) -> Result<ObjectId, Error> {
        self.state.write(objects).doing(|| "writing notes".to_owned())
    }
}

impl std::fmt::Debug for Notes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notes").field("tree", &self.state.root_tree_id()).finish_non_exhaustive()
    }
}
