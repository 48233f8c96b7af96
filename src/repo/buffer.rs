//! New objects, in memory until they are written together.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gix::objs::{Data, Find};
use gix::{Result, error::ResultExt, error::message};

use super::growth::Growth;
use super::pack::{self, Object};
use super::read_blobs::ReadBlobs;
use super::spool::{Content, Spool};
use super::tree::with_plain_modes;
use super::{Commit, Doing as _, Error, NewCommit, ObjectId, ObjectKind, Quarantine, Repository, TreeEntry, store};

/// New objects on top of a repository: they can be read at once, and are on disk only after [`ObjectBuffer::flush`].
///
/// An object that the repository has already is written all the same: nothing may depend on an
/// object that no ref reaches, since a prune in another process could take it away.
///
/// Of blobs no more than 4 MiB stay in memory: what is more waits in a temporary file.
pub struct ObjectBuffer<'a> {
    repository: &'a Repository,
    new: Mutex<New>,
    /// Blobs of the repository: manifests are read again for each thing that is said of them.
    read: Mutex<ReadBlobs>,
}

/// How many bytes of blobs may be in memory.
const BLOB_BYTES_MAX: usize = if cfg!(test) { 100 << 10 } else { 4 << 20 };

#[derive(Default)]
struct New {
    order: Vec<ObjectId>,
    objects: HashMap<ObjectId, (ObjectKind, Content)>,
    /// Blobs that are only written once they are kept.
    held: HashMap<ObjectId, Content>,
    /// How many bytes of blobs were taken in since the spool took the last ones.
    blob_bytes: usize,
    /// What the blobs add that have a limit together.
    growth: Growth,
    /// Made when it is needed.
    spool: Option<Spool>,
    /// Whether contents were lost because the spool could not be written: nothing may be flushed then.
    is_broken: bool,
}

impl New {
    fn insert(&mut self, id: ObjectId, kind: ObjectKind, content: Content) {
        if self.objects.insert(id, (kind, content)).is_none() {
            self.order.push(id);
        }
    }

    /// Puts all blobs into the spool. They stay in memory where none can be made: a preview may read what it may not write.
    fn spool_blobs(&mut self, dir: &Path) -> std::result::Result<(), Error> {
        if self.is_broken {
            return Err(Self::broken());
        }
        self.blob_bytes = 0;
        if self.spool.is_none() {
            self.spool = Spool::new(dir).ok();
        }
        let Some(spool) = &mut self.spool else { return Ok(()) };
        self.is_broken = true;
        let mut blobs = Vec::new();
        let kept = self.objects.iter_mut().filter(|(_, (kind, _))| *kind == ObjectKind::Blob);
        for (id, content) in kept.map(|(id, (_, content))| (id, content)).chain(&mut self.held) {
            if let Content::Whole(content) = content {
                blobs.push((*id, ObjectKind::Blob, std::mem::take(content)));
            }
        }
        for (id, entry) in pack::spool(blobs, spool)? {
            self.growth.spool(id, entry.range.len as u64);
            if let Some((_, content)) = self.objects.get_mut(&id) {
                *content = Content::Spooled(entry.clone());
            }
            if let Some(content) = self.held.get_mut(&id) {
                *content = Content::Spooled(entry);
            }
        }
        self.is_broken = false;
        Ok(())
    }

    fn broken() -> Error {
        Error::message("a temporary file for new objects could not be written")
    }
}

impl<'a> ObjectBuffer<'a> {
    /// A buffer without any object of its own.
    pub fn new(repository: &'a Repository) -> Self {
        Self { repository, new: Mutex::default(), read: Mutex::default() }
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

    /// The content of an object, new, held or in the repository.
    pub fn object(&self, id: ObjectId) -> std::result::Result<(ObjectKind, Vec<u8>), Error> {
        let new = self.new_objects();
        let held = || new.held.get(&id).map(|content| (ObjectKind::Blob, content));
        if let Some((kind, content)) = new.objects.get(&id).map(|(kind, content)| (*kind, content)).or_else(held) {
            return Ok((kind, content.read()?.into_owned()));
        }
        drop(new);
        // git needs no object for the empty tree, and its repositories seldom have one.
        if id == self.empty_tree_id() {
            return Ok((ObjectKind::Tree, Vec::new()));
        }
        if let Some(content) = self.read_blobs().get(id) {
            return Ok((ObjectKind::Blob, content));
        }
        let (kind, content) = self.repository.object(id)?;
        if kind == ObjectKind::Blob {
            self.read_blobs().keep(id, &content);
        }
        Ok((kind, content))
    }

    /// The size of an object in bytes, new or not.
    pub fn size(&self, id: ObjectId) -> std::result::Result<u64, Error> {
        match self.new_objects().objects.get(&id) {
            Some((_, content)) => Ok(content.size() as u64),
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
        let is_new = self.new_objects().objects.contains_key(&id);
        match is_new {
            true => Commit::parse(id, &self.object(id)?.1),
            false => self.repository.commit(id),
        }
    }

    /// Whether there is such an object, new or in the repository.
    pub(crate) fn has(&self, id: ObjectId) -> bool {
        self.new_objects().objects.contains_key(&id) || self.repository.has(id)
    }

    /// Keeps a blob and answers its id.
    pub fn write_blob(&self, content: &[u8]) -> std::result::Result<ObjectId, Error> {
        let id = self.keep(ObjectKind::Blob, content.to_vec()).doing(|| "hashing a blob".to_owned())?;
        self.count_blob(content.len())?;
        Ok(id)
    }

    /// Holds a blob until [`ObjectBuffer::release`] and answers its id: it is written only if it is kept.
    pub fn hold_blob(&self, mut content: Vec<u8>) -> std::result::Result<ObjectId, Error> {
        content.shrink_to_fit();
        let (id, len) = (self.hash_blob(&content)?, content.len());
        self.new_objects().held.insert(id, Content::Whole(content));
        self.count_blob(len)?;
        Ok(id)
    }

    /// As [`ObjectBuffer::hold_blob`], where all blobs that it takes and the repository lacks add at most `limit` bytes to it,
    /// since [`ObjectBuffer::grow_anew`]; 0 is no limit. None when this one would be too much: it is not held.
    pub fn hold_blob_within(&self, mut content: Vec<u8>, limit: u64) -> std::result::Result<Option<ObjectId>, Error> {
        content.shrink_to_fit();
        let (id, len) = (self.hash_blob(&content)?, content.len());
        let is_there = limit == 0 || self.repository.knows(id);
        let mut new = self.new_objects();
        if !is_there && !new.objects.contains_key(&id) && !new.held.contains_key(&id) {
            if !new.growth.has_room(len as u64, limit) && new.growth.can_shrink() {
                new.spool_blobs(&self.repository.objects_dir())?;
            }
            if !new.growth.has_room(len as u64, limit) {
                return Ok(None);
            }
            new.growth.add(id, len as u64);
        }
        new.held.insert(id, Content::Whole(content));
        drop(new);
        self.count_blob(len)?;
        Ok(Some(id))
    }

    /// Begins to count what blobs add: those of before take no room from now on.
    pub fn grow_anew(&self) {
        self.new_objects().growth = Growth::default();
    }

    /// Counts a blob that is in memory now, and makes room when there are too many.
    fn count_blob(&self, bytes: usize) -> std::result::Result<(), Error> {
        let mut new = self.new_objects();
        new.blob_bytes += bytes;
        if new.blob_bytes > BLOB_BYTES_MAX { new.spool_blobs(&self.repository.objects_dir()) } else { Ok(()) }
    }

    /// Keeps a blob that is held.
    pub fn keep_blob(&self, id: ObjectId) {
        let mut new = self.new_objects();
        if let Some(content) = new.held.remove(&id) {
            new.insert(id, ObjectKind::Blob, content);
        }
    }

    /// Forgets the blobs that are in memory and were not kept.
    pub fn release(&self) {
        drop(std::mem::take(&mut self.new_objects().held));
    }

    /// Keeps a commit and answers its id.
    pub fn write_commit(&self, commit: &NewCommit) -> std::result::Result<ObjectId, Error> {
        if commit.tree == self.empty_tree_id() {
            // Everybody knows it without reading it, but a repository without it is not whole to git fsck.
            self.new_objects().insert(commit.tree, ObjectKind::Tree, Content::Whole(Vec::new()));
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
    pub fn flush(&self) -> std::result::Result<store::KeptPack, Error> {
        store::write(self.repository, self.take()?)
    }

    /// Writes all new objects to disk for a while, and forgets them: no ref is to point at them.
    pub fn flush_loose(&self) -> std::result::Result<(), Error> {
        store::write_loose(self.repository, &self.take()?)
    }

    /// Forgets all new objects, and lets the repository know them as long as this process lives. Nothing is written.
    pub(crate) fn lend(&self) -> std::result::Result<(), Error> {
        let new = self.take()?.into_iter();
        let read = |(id, kind, content): Object| Ok((id, kind, content.read()?.into_owned()));
        self.repository.remember(new.map(read).collect::<std::result::Result<Vec<_>, Error>>()?);
        Ok(())
    }

    /// Writes all new objects beside those of a push that is not accepted yet, as one pack, and forgets them. They
    /// share the fate of the push; the answer is the id of the pack, for [`Repository::keep_pack`].
    pub fn flush_quarantined(&self, quarantine: &Quarantine) -> std::result::Result<ObjectId, Error> {
        store::write_quarantined(self.repository, quarantine, self.take()?)
    }

    fn take(&self) -> std::result::Result<Vec<Object>, Error> {
        let New { order, mut objects, is_broken, .. } = std::mem::take(&mut *self.new_objects());
        if is_broken {
            return Err(New::broken());
        }
        let all = order.into_iter().filter_map(|id| objects.remove(&id).map(|(kind, content)| (id, kind, content)));
        Ok(all.collect())
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
        self.new_objects().insert(id, kind, Content::Whole(content));
    }

    fn read_blobs(&self) -> MutexGuard<'_, ReadBlobs> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
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
        let new = self.new_objects();
        let known =
            new.objects.get(id).map(|(kind, content)| content.read().map(|content| (*kind, content.into_owned())));
        let known = known.transpose().or_raise(|| message("reading a new object"))?;
        drop(new);
        let empty = || (id == self.empty_tree_id()).then(|| (ObjectKind::Tree, Vec::new()));
        if let Some((kind, content)) = known.or_else(empty) {
            *buffer = content;
            return Ok(Some(Data::new(buffer, kind, hash)));
        }
        let found = self.repository.find(id.to_owned()).or_raise(|| message("reading an object"))?;
        let Some((kind, content)) = found else { return Ok(None) };
        // The editor of trees knows only the modes that git writes.
        let plain = match kind {
            ObjectKind::Tree => with_plain_modes(id.to_owned(), &content).or_raise(|| message("reading an object"))?,
            _ => None,
        };
        *buffer = plain.unwrap_or(content);
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
