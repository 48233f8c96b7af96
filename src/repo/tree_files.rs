//! The files of a git tree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Files, Kind, Memo, Unreadable};

use super::{Mode, ObjectId, ObjectKind, Repository, TreeEntry};

/// The files of one git tree. A directory is parsed once, however often it is listed.
///
/// A name that is not UTF-8 is read with U+FFFD for what is not, as Go's tools print it; of two names that are then the
/// same, as of two that are the same in a broken tree, the first one counts.
pub(crate) struct TreeFiles<'a> {
    repository: &'a Repository,
    root: ObjectId,
    listings: Mutex<HashMap<ContentId, Arc<[Entry]>>>,
    contents: Mutex<Contents>,
    memo: Memo,
}

/// The files that were read last: a render asks for most of its files more than once, and so does the next one of the same chart or
/// base.
#[derive(Default)]
struct Contents {
    now: HashMap<ContentId, Arc<[u8]>>,
    /// How many bytes these have.
    bytes: usize,
    /// Those before, which are dropped when as many bytes were read once more.
    before: HashMap<ContentId, Arc<[u8]>>,
}

/// How many bytes of files are kept twice, and how large one of them may be.
const CONTENTS_BYTES: usize = 256 << 10;
const CONTENT_BYTES_MAX: usize = 64 << 10;

impl Contents {
    fn get(&mut self, id: ContentId) -> Option<Arc<[u8]>> {
        if let Some(content) = self.now.get(&id) {
            return Some(content.clone());
        }
        let content = self.before.remove(&id)?;
        self.keep(id, content.clone());
        Some(content)
    }

    fn keep(&mut self, id: ContentId, content: Arc<[u8]>) {
        if content.len() > CONTENT_BYTES_MAX {
            return;
        }
        if self.bytes >= CONTENTS_BYTES {
            self.before = std::mem::take(&mut self.now);
            self.bytes = 0;
        }
        self.bytes += content.len();
        self.now.insert(id, content);
    }
}

impl<'a> TreeFiles<'a> {
    /// The files of the tree `root`.
    pub(crate) fn new(repository: &'a Repository, root: ObjectId) -> Self {
        Self { repository, root, listings: Mutex::default(), contents: Mutex::default(), memo: Memo::default() }
    }
}

impl TreeFiles<'_> {
    fn kept(&self, id: ContentId) -> Option<Arc<[u8]>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner).get(id)
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

    fn read(&self, _path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, Unreadable> {
        if let Some(content) = self.kept(id) {
            return Ok(content);
        }
        let content: Arc<[u8]> = match self.repository.object(object_id(id)?).map_err(|error| error.chain())? {
            (ObjectKind::Blob, content) => content.into(),
            (kind, _) => return Err(Unreadable::NoFile(kind.to_string())),
        };
        self.contents.lock().unwrap_or_else(PoisonError::into_inner).keep(id, content.clone());
        Ok(content)
    }

    fn size(&self, _path: &RepoPath, id: ContentId) -> Result<u64, Unreadable> {
        match self.kept(id) {
            Some(content) => Ok(content.len() as u64),
            None => Ok(self.repository.size(object_id(id)?).map_err(|error| error.chain())?),
        }
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
