//! The files of a git tree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Files, Kind, Memo};

use super::{Mode, ObjectId, Repository, TreeEntry};

/// The files of one git tree. A directory is parsed once, however often it is listed.
///
/// A name that is not UTF-8 is read with U+FFFD for what is not, as Go's tools print it; of two names that are then the
/// same, as of two that are the same in a broken tree, the first one counts.
pub(crate) struct TreeFiles<'a> {
    repository: &'a Repository,
    root: ObjectId,
    listings: Mutex<HashMap<ContentId, Arc<[Entry]>>>,
    memo: Memo,
}

impl<'a> TreeFiles<'a> {
    /// The files of the tree `root`.
    pub(crate) fn new(repository: &'a Repository, root: ObjectId) -> Self {
        Self { repository, root, listings: Mutex::default(), memo: Memo::default() }
    }
}

impl From<TreeEntry> for Entry {
    fn from(entry: TreeEntry) -> Self {
        let name = String::from_utf8_lossy(&entry.name).into_owned();
        let kind = match entry.mode {
            Mode::File | Mode::Executable => Kind::File,
            Mode::Directory => Kind::Directory,
            Mode::Link => Kind::Link,
            Mode::Submodule => Kind::Submodule,
        };
        Self { name, kind, id: ContentId::new(entry.id.as_bytes()) }
    }
}

impl Files for TreeFiles<'_> {
    fn list(&self, _dir: &RepoPath, id: ContentId) -> Result<Arc<[Entry]>, String> {
        let listings = || self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = listings().get(&id) {
            return Ok(entries.clone());
        }
        let tree = self.repository.tree(object_id(id)?).map_err(|error| error.chain())?;
        let mut entries: Vec<Entry> = tree.into_iter().map(Entry::from).collect();
        // git sorts a directory as if its name ended in a slash; a view is sorted by plain names.
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries.dedup_by(|later, first| later.name == first.name);
        let entries: Arc<[Entry]> = entries.into();
        listings().insert(id, entries.clone());
        Ok(entries)
    }

    fn read(&self, _path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, String> {
        self.repository.blob(object_id(id)?).map(Into::into).map_err(|error| error.chain())
    }

    fn size(&self, _path: &RepoPath, id: ContentId) -> Result<u64, String> {
        self.repository.size(object_id(id)?).map_err(|error| error.chain())
    }

    fn root(&self) -> ContentId {
        ContentId::new(self.root.as_bytes())
    }

    fn memo(&self) -> Option<&Memo> {
        Some(&self.memo)
    }
}

fn object_id(id: ContentId) -> Result<ObjectId, String> {
    ObjectId::try_from(id.as_bytes()).map_err(|error| error.to_string())
}
