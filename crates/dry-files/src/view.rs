//! The files of one dry commit: the only door through which an engine sees the outside.
//!
//! A [`View`] reads from [`Files`] (a git tree, or memory in tests), follows symbolic links inside the tree as the
//! file system would, and notes every read: what was there, what was absent, and which directories were listed. With
//! the Application document and the engine revision, those [`Reads`] are exactly what can change a result.
//!
//! Never: a path or link out of the tree, a file above the size limit.
#![expect(clippy::indexing_slicing, reason = "indexes are those of what was found")]

mod content_id;
mod disk;
mod error;
mod memo;
mod memory;
mod overlay;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::path::RepoPath;

pub use content_id::ContentId;
pub use disk::DiskFiles;
pub use error::ViewError;
pub use memo::Memo;
pub use memory::MemoryFiles;
pub use overlay::Overlay;

/// What a directory entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; its content is the target.
    Link,
    /// A git submodule: its files are not in this repository.
    Submodule,
}

impl Kind {
    /// Whether a checkout has a directory there.
    pub fn is_checkout_directory(&self) -> bool {
        matches!(self, Kind::Directory | Kind::Submodule)
    }
}

/// One entry of a directory, links not followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The name, one component.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The id of its content.
    pub id: ContentId,
}

/// What is at a path: an [`Entry`] without its name.
#[derive(Debug, Clone, Copy)]
struct There {
    kind: Kind,
    id: ContentId,
}

impl There {
    fn of(entry: &Entry) -> Self {
        Self { kind: entry.kind, id: entry.id }
    }
}

/// Where a [`View`] reads from. Knows no links: every parent of a path that it is asked for is a directory.
pub trait Files: Send + Sync {
    /// The entries of a directory in the order of their names' bytes.
    ///
    /// No name occurs twice.
    fn list(&self, dir: &RepoPath, id: ContentId) -> Result<Arc<[Entry]>, String>;

    /// The content of a file, or the target of a link.
    fn read(&self, path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, Unreadable>;

    /// The size of a file without reading it.
    fn size(&self, path: &RepoPath, id: ContentId) -> Result<u64, Unreadable>;

    /// The id of the root directory.
    fn root(&self) -> ContentId;

    /// Hears of each read that a [`View`] notes for the first time, before its content is asked for. Does nothing unless
    /// who renders may die before it says what it read.
    fn noted(&self, _path: &RepoPath, _seen: Seen) {}

    /// What was computed of contents before, while these files are in use; none where each asks for itself.
    fn memo(&self) -> Option<&Memo> {
        None
    }
}

/// Why the content of a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Where the files are, something failed.
    #[error("{0}")]
    Backend(String),
    /// The tree says that there is a file or a link, and has something else: a mistake of who wrote the tree.
    #[error("git has a {0} there, and the directory says that it is a file")]
    NoFile(String),
}

impl From<String> for Unreadable {
    fn from(reason: String) -> Self {
        Self::Backend(reason)
    }
}

/// The content of a file.
#[derive(Debug, Clone)]
pub struct Blob {
    /// The id of the content: equal ids, equal bytes.
    pub id: ContentId,
    /// The bytes.
    pub data: Arc<[u8]>,
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// Nothing at this path.
    Absent,
    /// Something of this kind; its content was not looked at.
    Present(Kind),
    /// A file with this content, or a directory with all below it.
    Content(ContentId),
    /// A symbolic link with this target: a file of the same bytes is something else.
    Link(ContentId),
    /// A directory whose entries were listed. The id is that of [`listing_id`]: names and kinds, not contents.
    Listed(ContentId),
    /// A directory of whose entries only the directories and submodules were listed, in the same way.
    Directories(ContentId),
}

impl Seen {
    /// Which of the ways it was seen in: with the path, the key of [`Reads`].
    pub fn way(self) -> u8 {
        match self {
            Seen::Absent => 0,
            Seen::Present(_) => 1,
            Seen::Content(_) => 2,
            Seen::Listed(_) => 3,
            Seen::Link(_) => 4,
            Seen::Directories(_) => 5,
        }
    }
}

/// Everything that was read through a [`View`], by real path. A path can have been seen in more than one way.
pub type Reads = BTreeMap<(RepoPath, u8), Seen>;

/// How many links may be in a row: what Linux allows.
const LINKS_MAX: u32 = 40;

/// Tells a render whether to give up: its time is over, or no one wants the result any more.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    /// What `is_over` answers.
    pub fn when(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_over)))
    }

    /// Whether to give up. Cheap, and to be asked often.
    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|is_over| is_over())
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_set()).finish()
    }
}

/// The files of one dry commit, with every read noted.
pub struct View<'a> {
    files: &'a dyn Files,
    file_bytes_max: u64,
    stop: Stop,
    too_large: OnceLock<ViewError>,
    reads: SharedReads,
}

/// What a [`View`] reads, also for who watches it from another thread.
#[derive(Debug, Clone, Default)]
pub struct SharedReads(Arc<Mutex<Layers>>);

/// Those of the work that is being done now, and of each work around it.
#[derive(Debug, Default)]
struct Layers {
    now: Reads,
    around: Vec<Reads>,
}

impl SharedReads {
    fn layers(&self) -> MutexGuard<'_, Layers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that was read so far.
    pub fn all(&self) -> Reads {
        let layers = self.layers();
        let around = layers.around.iter().flatten().map(|(key, seen)| (key.clone(), *seen));
        around.chain(layers.now.clone()).collect()
    }
}

impl<'a> View<'a> {
    /// How large a file may be without a setting: 16 MiB, more than any Kubernetes object can be.
    pub const FILE_BYTES_MAX: u64 = 16 << 20;

    /// A view that has read nothing yet.
    pub fn new(files: &'a dyn Files) -> Self {
        Self::with_limit(files, Self::FILE_BYTES_MAX)
    }

    /// A view that has read nothing yet, and reads files of at most `file_bytes_max` bytes.
    pub fn with_limit(files: &'a dyn Files, file_bytes_max: u64) -> Self {
        Self { files, file_bytes_max, stop: Stop::default(), too_large: OnceLock::new(), reads: SharedReads::default() }
    }

    /// Ends all reading once `stop` is set, for a render that may have to give up.
    pub fn until(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The first file that was too large to be read, if there was one.
    pub fn too_large(&self) -> Option<&ViewError> {
        self.too_large.get()
    }

    /// Where it reads from.
    pub fn files(&self) -> &'a dyn Files {
        self.files
    }

    /// What tells the render to give up.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// An error when the render has to give up.
    pub fn go_on(&self, path: &RepoPath) -> Result<(), ViewError> {
        match self.stop.is_set() {
            true => Err(ViewError::Backend { path: path.clone(), reason: "the time limit was reached".to_owned() }),
            false => Ok(()),
        }
    }

    /// The content of a file; links are followed. A Git LFS pointer is an error, never content.
    pub fn read(&self, path: &RepoPath) -> Result<Blob, ViewError> {
        self.read_within(path, u64::MAX)
    }

    /// As [`View::read`], for a reader that refuses a file of more than `bytes_max` bytes itself. Where a file is larger than
    /// both limits, it is the reader's that is broken: a higher limit of this view would not help.
    pub fn read_within(&self, path: &RepoPath, bytes_max: u64) -> Result<Blob, ViewError> {
        let (real, entry) = self.find(path)?;
        let Some(entry) = entry else { return Err(ViewError::IsDirectory(path.clone())) };
        match entry.kind {
            Kind::File => {}
            Kind::Submodule | Kind::Directory | Kind::Link => {
                self.note(&real, Seen::Present(entry.kind));
                return Err(match entry.kind {
                    Kind::Submodule => ViewError::Submodule(path.clone()),
                    Kind::File | Kind::Directory | Kind::Link => ViewError::IsDirectory(path.clone()),
                });
            }
        }
        self.note(&real, Seen::Content(entry.id));
        let unreadable = |reason| ViewError::of(path, reason);
        let size = self.files.size(&real, entry.id).map_err(unreadable)?;
        if size > self.file_bytes_max {
            let error = |limit| ViewError::TooLarge { path: path.clone(), size, limit };
            return Err(match size > bytes_max {
                true => error(bytes_max),
                false => self.too_large.get_or_init(|| error(self.file_bytes_max)).clone(),
            });
        }
        let data = self.files.read(&real, entry.id).map_err(unreadable)?;
        if data.len() < 1024 && data.starts_with(b"version https://git-lfs.github.com/spec/") {
            return Err(ViewError::LfsPointer(path.clone()));
        }
        Ok(Blob { id: entry.id, data })
    }

    /// What is at a path when links are followed: a file, a directory or a submodule; none when there is nothing.
    ///
    /// A link that leads nowhere is nothing; one that leads out of the tree is an error.
    pub fn kind(&self, path: &RepoPath) -> Result<Option<Kind>, ViewError> {
        match self.find(path) {
            Ok((real, entry)) => {
                let kind = entry.map_or(Kind::Directory, |entry| entry.kind);
                self.note(&real, Seen::Present(kind));
                Ok(Some(kind))
            }
            Err(ViewError::NotDirectory(_)) => Ok(None),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The entries of a directory in the order of their names' bytes, links among them not followed.
    pub fn list(&self, dir: &RepoPath) -> Result<Arc<[Entry]>, ViewError> {
        let (real, entries) = self.listing(dir)?;
        self.note(&real, Seen::Listed(listing_id(&entries)));
        Ok(entries)
    }

    /// The directories and submodules among the entries of a directory. Other entries may change unnoticed.
    pub fn directories(&self, dir: &RepoPath) -> Result<Vec<Entry>, ViewError> {
        let (real, entries) = self.listing(dir)?;
        let directories = directories(&entries);
        self.note(&real, Seen::Directories(listing_id(&directories)));
        Ok(directories)
    }

    /// A directory, links followed, and its entries.
    fn listing(&self, dir: &RepoPath) -> Result<(RepoPath, Arc<[Entry]>), ViewError> {
        let (real, entry) = self.find(dir)?;
        let id = match &entry {
            None => self.files.root(),
            Some(entry) if entry.kind == Kind::Directory => entry.id,
            Some(entry) => {
                self.note(&real, Seen::Present(entry.kind));
                return Err(match entry.kind {
                    Kind::Submodule => ViewError::Submodule(dir.clone()),
                    Kind::File | Kind::Directory | Kind::Link => ViewError::NotDirectory(dir.clone()),
                });
            }
        };
        let entries = self.entries(&real, id)?;
        Ok((real, entries))
    }

    /// The path without links that leads to the same place.
    pub fn real_path(&self, path: &RepoPath) -> Result<RepoPath, ViewError> {
        let (real, entry) = self.find(path)?;
        self.note(&real, Seen::Present(entry.map_or(Kind::Directory, |entry| entry.kind)));
        Ok(real)
    }

    /// The id of what is at a path (links followed): equal ids, equal content, for a directory with all below it.
    ///
    /// Noted as a read of everything below it.
    pub fn content_id(&self, path: &RepoPath) -> Result<ContentId, ViewError> {
        let (real, entry) = self.find(path)?;
        let id = entry.map_or_else(|| self.files.root(), |entry| entry.id);
        self.note(&real, Seen::Content(id));
        Ok(id)
    }

    /// What is at a path when links are followed: the path without links, what is there, and the id of its content.
    ///
    /// Noted as a read of everything below it.
    pub fn resolve(&self, path: &RepoPath) -> Result<(RepoPath, Kind, ContentId), ViewError> {
        let (real, entry) = self.find(path)?;
        let (kind, id) = entry.map_or_else(|| (Kind::Directory, self.files.root()), |entry| (entry.kind, entry.id));
        self.note(&real, Seen::Content(id));
        Ok((real, kind, id))
    }

    /// What was read so far.
    pub fn reads(&self) -> Reads {
        self.reads.layers().now.clone()
    }

    /// What this view reads, now and from now on: it grows with each read.
    pub fn shared_reads(&self) -> SharedReads {
        self.reads.clone()
    }

    /// Whether something was looked for at a path without links.
    pub fn has_read(&self, path: &RepoPath) -> bool {
        self.reads.layers().now.range((path.clone(), 0)..=(path.clone(), u8::MAX)).next().is_some()
    }

    /// Does some work and says what that read.
    pub fn with_reads<T>(&self, work: impl FnOnce() -> T) -> (T, Reads) {
        let begin = |layers: &mut Layers| layers.around.push(std::mem::take(&mut layers.now));
        begin(&mut self.reads.layers());
        let result = work();
        let end = |layers: &mut Layers| {
            let before = layers.around.pop().unwrap_or_default();
            std::mem::replace(&mut layers.now, before)
        };
        let during = end(&mut self.reads.layers());
        self.note_all(&during);
        (result, during)
    }

    /// Notes reads that were not needed again, because they are confirmed.
    pub fn note_all(&self, reads: &Reads) {
        for ((path, way), seen) in reads {
            self.note_as(path, *way, *seen);
        }
    }

    /// Whether everything that was read in another tree is just so in this one: a result that rests on `reads` alone is
    /// then the same. Notes nothing.
    pub fn confirms(&self, reads: &Reads) -> Result<bool, ViewError> {
        Ok(self.first_difference(reads)?.is_none())
    }

    /// The first path of `reads` at which something else would be read in this tree. Notes nothing.
    pub fn first_difference<'r>(&self, reads: &'r Reads) -> Result<Option<&'r RepoPath>, ViewError> {
        for ((path, way), seen) in reads {
            if self.look(path, *way)? != Some(*seen) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// What is at a path without links, seen in one of the [ways](Seen::way); none where it cannot be seen so. Notes nothing.
    pub fn look(&self, path: &RepoPath, way: u8) -> Result<Option<Seen>, ViewError> {
        let (kind, id) = match self.entry_at(path) {
            Ok(here) => here.map_or((Kind::Directory, self.files.root()), |entry| (entry.kind, entry.id)),
            Err(ViewError::Missing(_)) => return Ok(Some(Seen::Absent).filter(|absent| absent.way() == way)),
            Err(error) => return Err(error),
        };
        Ok(match way {
            1 => Some(Seen::Present(kind)),
            2 if kind != Kind::Link => Some(Seen::Content(id)),
            3 if kind == Kind::Directory => Some(Seen::Listed(listing_id(&self.entries(path, id)?))),
            4 if kind == Kind::Link => Some(Seen::Link(id)),
            5 if kind == Kind::Directory => Some(Seen::Directories(listing_id(&directories(&self.entries(path, id)?)))),
            _ => None,
        })
    }

    /// Walks to `path` and follows links on the way and at its end. What is there is none for the root.
    fn find(&self, path: &RepoPath) -> Result<(RepoPath, Option<There>), ViewError> {
        self.go_on(path)?;
        let mut real = RepoPath::root();
        let mut here: Option<There> = None;
        for name in path.components() {
            match self.step(&mut real, here, name, path)? {
                Some(there) if there.kind != Kind::Link => here = Some(there),
                Some(_) => return self.find_through_links(path),
                None => return Err(ViewError::Missing(path.clone())),
            }
        }
        Ok((real, here))
    }

    /// Goes on from `here`, which is at `real`, to an entry of it, on the way to `path`; none where there is no such entry.
    fn step(
        &self,
        real: &mut RepoPath,
        here: Option<There>,
        name: &str,
        path: &RepoPath,
    ) -> Result<Option<There>, ViewError> {
        let dir_id = match here {
            None => self.files.root(),
            Some(There { kind: Kind::Directory, id }) => id,
            Some(There { kind, .. }) => {
                self.note(real, Seen::Present(kind));
                return Err(match kind {
                    Kind::Submodule => ViewError::Submodule(real.clone()),
                    Kind::File | Kind::Directory | Kind::Link => ViewError::NotDirectory(path.clone()),
                });
            }
        };
        let entries = self.entries(real, dir_id)?;
        let found = entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok();
        real.push(name);
        if found.is_none() {
            self.note(real, Seen::Absent);
        }
        Ok(found.map(|index| There::of(&entries[index])))
    }

    /// As [`View::find`], where a link may be on the way.
    fn find_through_links(&self, path: &RepoPath) -> Result<(RepoPath, Option<There>), ViewError> {
        let mut links = 0;
        // The last link, and how much was still to be walked behind it.
        let mut link: Option<(RepoPath, String, usize)> = None;
        let mut real = RepoPath::root();
        let mut here: Option<There> = None;
        let mut todo: Vec<String> = path.components().rev().map(str::to_owned).collect();
        while let Some(name) = todo.pop() {
            if name == ".." {
                real = real.parent().ok_or_else(|| ViewError::Missing(path.clone()))?;
                here = self.entry_at(&real)?;
                continue;
            }
            // A link may name what no tree can have.
            let above = real.clone();
            above.child(&name).map_err(|_| ViewError::Missing(path.clone()))?;
            let Some(there) = self.step(&mut real, here, &name, path)? else {
                return Err(match link {
                    Some((path, target, behind)) if todo.len() >= behind => {
                        ViewError::LinkNowhere { path, target, missing: real }
                    }
                    _ => ViewError::Missing(path.clone()),
                });
            };
            if there.kind != Kind::Link {
                here = Some(there);
                continue;
            }
            links += 1;
            if links > LINKS_MAX {
                return Err(ViewError::LinkLoop(path.clone()));
            }
            let child = std::mem::replace(&mut real, above);
            self.note(&child, Seen::Link(there.id));
            let target = self.link_target(&child, there.id)?;
            let outside = || ViewError::LinkOutside { path: child.clone(), target: target.clone() };
            real.resolve(&target).map_err(|_| outside())?;
            let components = target.split('/').rev().filter(|name| !name.is_empty() && *name != ".");
            let behind = todo.len();
            todo.extend(components.map(str::to_owned));
            link = Some((child, target.clone(), behind));
            here = self.entry_at(&real)?;
        }
        Ok((real, here))
    }

    /// What is at a path without links; none for the root.
    fn entry_at(&self, real: &RepoPath) -> Result<Option<There>, ViewError> {
        let mut dir = RepoPath::root();
        let mut here: Option<There> = None;
        for name in real.components() {
            let id = match here {
                None => self.files.root(),
                Some(There { kind: Kind::Directory, id }) => id,
                Some(_) => return Err(ViewError::Missing(real.clone())),
            };
            let entries = self.entries(&dir, id)?;
            let missing = |_| ViewError::Missing(real.clone());
            let index = entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).map_err(missing)?;
            dir.push(name);
            here = Some(There::of(&entries[index]));
        }
        Ok(here)
    }

    fn entries(&self, dir: &RepoPath, id: ContentId) -> Result<Arc<[Entry]>, ViewError> {
        self.files.list(dir, id).map_err(|reason| ViewError::Backend { path: dir.clone(), reason })
    }

    fn link_target(&self, path: &RepoPath, id: ContentId) -> Result<String, ViewError> {
        let data = self.files.read(path, id).map_err(|reason| ViewError::of(path, reason))?;
        let outside = |target: String| ViewError::LinkOutside { path: path.clone(), target };
        let target = std::str::from_utf8(&data).map_err(|_| outside(String::from_utf8_lossy(&data).into_owned()))?;
        Ok(target.to_owned())
    }

    fn note(&self, real: &RepoPath, seen: Seen) {
        self.note_as(real, seen.way(), seen);
    }

    fn note_as(&self, real: &RepoPath, way: u8, seen: Seen) {
        let before = self.reads.layers().now.insert((real.clone(), way), seen);
        if before != Some(seen) {
            self.files.noted(real, seen);
        }
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("root", &self.files.root()).finish_non_exhaustive()
    }
}

fn directories(entries: &[Entry]) -> Vec<Entry> {
    entries.iter().filter(|entry| entry.kind.is_checkout_directory()).cloned().collect()
}

/// The id of a listing: the names and kinds of a directory's entries, whatever they contain.
pub fn listing_id(entries: &[Entry]) -> ContentId {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    for entry in entries {
        hash.update(entry.name.as_bytes());
        hash.update([0, entry.kind as u8]);
    }
    ContentId::new(&hash.finalize())
}

#[cfg(test)]
mod tests;
