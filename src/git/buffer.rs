use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gix::objs::{Data, Find};
use gix::{Result, error::ResultExt, error::message};

use super::pack::Object;
use super::{Commit, Doing as _, Error, NewCommit, ObjectId, ObjectKind, Quarantine, Repository, TreeEntry, store};

/// New objects on top of a repository: they can be read at once, and are on disk only after [`ObjectBuffer::flush`].
///
/// An object that the repository has already is kept all the same when somebody writes it: nothing may lean on an
/// object that no ref reaches, since a prune in another process could take it away.
pub struct ObjectBuffer<'a> {
    repository: &'a Repository,
    new: Mutex<New>,
}

#[derive(Default)]
struct New {
    order: Vec<ObjectId>,
    objects: HashMap<ObjectId, (ObjectKind, Vec<u8>)>,
    /// Blobs that are only written once somebody keeps them.
    held: HashMap<ObjectId, Vec<u8>>,
}

impl<'a> ObjectBuffer<'a> {
    /// A buffer without any object of its own.
    pub fn new(repository: &'a Repository) -> Self {
        Self { repository, new: Mutex::default() }
    }

    /// The repository below.
    pub fn repository(&self) -> &'a Repository {
        self.repository
    }

    /// The id of the empty tree.
    pub fn empty_tree_id(&self) -> ObjectId {
        self.repository.empty_tree_id()
    }

    /// How many new objects there are.
    pub fn len(&self) -> usize {
        self.new_objects().order.len()
    }

    /// Whether there is no new object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The content of an object, new or not.
    pub fn object(&self, id: ObjectId) -> std::result::Result<(ObjectKind, Vec<u8>), Error> {
        if let Some((kind, content)) = self.new_objects().objects.get(&id) {
            return Ok((*kind, content.clone()));
        }
        // git needs no object for the empty tree, and its repositories seldom have one.
        if id == self.empty_tree_id() {
            return Ok((ObjectKind::Tree, Vec::new()));
        }
        self.repository.object(id)
    }

    /// The size of an object in bytes, new or not.
    pub fn size(&self, id: ObjectId) -> std::result::Result<u64, Error> {
        match self.new_objects().objects.get(&id) {
            Some((_, content)) => Ok(content.len() as u64),
            None if id == self.empty_tree_id() => Ok(0),
            None => self.repository.size(id),
        }
    }

    /// The content of a blob, new or not.
    pub fn blob(&self, id: ObjectId) -> std::result::Result<Vec<u8>, Error> {
        self.object(id).map(|(_, content)| content)
    }

    /// The entries of a directory, new or not, in git's order.
    pub fn tree(&self, id: ObjectId) -> std::result::Result<Vec<TreeEntry>, Error> {
        TreeEntry::list(id, &self.object(id)?.1)
    }

    /// A commit, new or not.
    pub fn commit(&self, id: ObjectId) -> std::result::Result<Commit, Error> {
        match self.object(id)? {
            (ObjectKind::Commit, content) => Commit::parse(id, &content),
            (kind, _) => Err(Error::message(format!("reading commit {id}: it is a {kind}"))),
        }
    }

    /// Keeps a blob and answers its id.
    pub fn write_blob(&self, content: &[u8]) -> std::result::Result<ObjectId, Error> {
        self.keep(ObjectKind::Blob, content.to_vec()).doing(|| "hashing a blob".to_owned())
    }

    /// Holds a blob until [`ObjectBuffer::release`] and answers its id: it is written only if somebody keeps it.
    pub fn hold_blob(&self, mut content: Vec<u8>) -> std::result::Result<ObjectId, Error> {
        content.shrink_to_fit();
        let id = self.hash_blob(&content)?;
        self.new_objects().held.insert(id, content);
        Ok(id)
    }

    /// Keeps a blob that is held.
    pub fn keep_blob(&self, id: ObjectId) {
        let held = self.new_objects().held.remove(&id);
        if let Some(content) = held {
            self.insert(id, ObjectKind::Blob, content);
        }
    }

    /// Forgets the blobs that are held and that nobody kept.
    pub fn release(&self) {
        drop(std::mem::take(&mut self.new_objects().held));
    }

    /// Keeps a commit and answers its id.
    pub fn write_commit(&self, commit: &NewCommit) -> std::result::Result<ObjectId, Error> {
        if commit.tree == self.empty_tree_id() {
            // Everybody knows it without reading it, but a repository without it is not whole to git fsck.
            self.insert(commit.tree, ObjectKind::Tree, Vec::new());
        }
        self.keep(ObjectKind::Commit, commit.encode()).doing(|| "hashing a commit".to_owned())
    }

    /// The id that a blob with this content has.
    pub fn hash_blob(&self, content: &[u8]) -> std::result::Result<ObjectId, Error> {
        gix::objs::compute_hash(self.repository.null_id().kind(), ObjectKind::Blob, content)
            .doing(|| "hashing a blob".to_owned())
    }

    /// Writes all new objects to disk, durable as the repository's settings ask, and forgets them.
    ///
    /// The guard protects them from a prune until it is dropped: keep it until a ref points at them.
    pub fn flush(&self) -> std::result::Result<store::Kept, Error> {
        store::write(self.repository, self.take())
    }

    /// Writes all new objects to disk for a while, and forgets them: no ref is to point at them.
    pub fn flush_loose(&self) -> std::result::Result<(), Error> {
        store::write_loose(self.repository, &self.take())
    }

    /// Writes all new objects beside those of a push that is not accepted yet, as one pack, and forgets them. They
    /// share the fate of the push; the answer is the id of the pack, for [`Repository::keep_pack`].
    pub fn flush_quarantined(&self, quarantine: &Quarantine) -> std::result::Result<ObjectId, Error> {
        store::write_quarantined(self.repository, quarantine, self.take())
    }

    fn take(&self) -> Vec<Object> {
        let New { order, mut objects, .. } = std::mem::take(&mut *self.new_objects());
        order.into_iter().filter_map(|id| objects.remove(&id).map(|(kind, content)| (id, kind, content))).collect()
    }

    /// Forgets all new objects.
    pub fn clear(&self) {
        drop(std::mem::take(&mut *self.new_objects()));
    }

    fn keep(&self, kind: ObjectKind, content: Vec<u8>) -> Result<ObjectId> {
        let id = gix::objs::compute_hash(self.repository.null_id().kind(), kind, &content)?;
        self.insert(id, kind, content);
        Ok(id)
    }

    fn insert(&self, id: ObjectId, kind: ObjectKind, mut content: Vec<u8>) {
        content.shrink_to_fit();
        let mut new = self.new_objects();
        if new.objects.insert(id, (kind, content)).is_none() {
            new.order.push(id);
        }
    }

    fn new_objects(&self) -> MutexGuard<'_, New> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for ObjectBuffer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectBuffer").field("new", &self.len()).finish_non_exhaustive()
    }
}

impl Find for ObjectBuffer<'_> {
    fn try_find<'b>(&self, id: &gix::oid, buffer: &'b mut Vec<u8>) -> Result<Option<Data<'b>>> {
        let hash = id.kind();
        let known = self.new_objects().objects.get(id).map(|(kind, content)| (*kind, content.clone()));
        let empty = || (id == self.empty_tree_id()).then(|| (ObjectKind::Tree, Vec::new()));
        if let Some((kind, content)) = known.or_else(empty) {
            *buffer = content;
            return Ok(Some(Data::new(buffer, kind, hash)));
        }
        let found = self.repository.with(|library| {
            let mut content = Vec::new();
            let kind = library.objects.try_find(id, &mut content)?.map(|data| data.kind);
            Ok::<_, gix::Error>(kind.map(|kind| (kind, content)))
        })?;
        let Some((kind, content)) = found else { return Ok(None) };
        *buffer = content;
        Ok(Some(Data::new(buffer, kind, hash)))
    }
}

impl gix::objs::Write for ObjectBuffer<'_> {
    fn write_buf_with_known_id(&self, kind: ObjectKind, from: &[u8], id: ObjectId) -> Result<ObjectId> {
        self.insert(id, kind, from.to_vec());
        Ok(id)
    }

    fn write_stream(&self, kind: ObjectKind, _size: u64, from: &mut dyn std::io::Read) -> Result<ObjectId> {
        let mut content = Vec::new();
        from.read_to_end(&mut content).or_raise(|| message("buffering an object"))?;
        self.keep(kind, content)
    }

    fn write_stream_with_known_id(
        &self,
        kind: ObjectKind,
        size: u64,
        from: &mut dyn std::io::Read,
        _id: ObjectId,
    ) -> Result<ObjectId> {
        self.write_stream(kind, size, from)
    }
}
