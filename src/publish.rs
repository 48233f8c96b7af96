//! Files into trees, trees into commits: what a hydrated branch becomes.
//!
//! Works on an [`ObjectBuffer`] alone: nothing is on disk, and no ref moves, before the whole run has succeeded.
//!
//! Never: a file of somebody else's is touched; a directory is read or written that holds no change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use crate::git::{Error, Mode, ObjectBuffer, ObjectId, TreeEdit, tree_fault};
use crate::path::RepoPath;

/// The files that we write into one directory, by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A directory, read once.
struct Listing {
    entries: HashMap<Vec<u8>, (Mode, ObjectId)>,
    /// Why it is none that git would write.
    fault: Option<String>,
}

/// A tree of a hydrated branch, each directory of it read once.
pub struct HydratedTree<'a> {
    buffer: &'a ObjectBuffer<'a>,
    root: ObjectId,
    listings: Mutex<HashMap<ObjectId, Arc<Listing>>>,
}

impl<'a> HydratedTree<'a> {
    /// The tree `root`.
    pub fn new(buffer: &'a ObjectBuffer<'a>, root: ObjectId) -> Self {
        Self { buffer, root, listings: Mutex::default() }
    }

    /// The id of the tree.
    pub fn id(&self) -> ObjectId {
        self.root
    }

    /// What is at a path; none when there is nothing.
    pub fn entry(&self, path: &RepoPath) -> Result<Option<(Mode, ObjectId)>, Error> {
        let mut here = (Mode::Directory, self.root);
        for name in path.components() {
            if here.0 != Mode::Directory {
                return Ok(None);
            }
            match self.listing(here.1)?.entries.get(name.as_bytes()) {
                Some(entry) => here = *entry,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    /// The content of the regular file at a path; none when there is nothing, or something else.
    pub fn file(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, Error> {
        match self.entry(path)? {
            Some((Mode::File | Mode::Executable, blob)) => self.buffer.blob(blob).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether the file at a path is exactly this.
    pub fn holds(&self, path: &RepoPath, mode: Mode, content: &[u8]) -> Result<bool, Error> {
        Ok(self.entry(path)? == Some((mode, self.buffer.hash_blob(content)?)))
    }

    /// Why the directory `dir`, or one above it, is none that git would write: an edit of it would be lost among what is
    /// wrong there. None when they are well, or are not there.
    pub fn fault(&self, dir: &str) -> Result<Option<String>, Error> {
        let (mut here, mut path) = (self.root, String::new());
        let mut names = dir.split('/').filter(|name| !name.is_empty());
        loop {
            let listing = self.listing(here)?;
            if let Some(fault) = &listing.fault {
                let place = if path.is_empty() { "its root directory".to_owned() } else { format!("`{path}`") };
                return Ok(Some(format!("{place} {fault}")));
            }
            let Some(name) = names.next() else { return Ok(None) };
            let Some((Mode::Directory, id)) = listing.entries.get(name.as_bytes()) else { return Ok(None) };
            path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            here = *id;
        }
    }

    /// Whether nothing is at a path, nor at one that differs in case only, and no directory above it has one of `files`.
    pub fn is_free(&self, path: &RepoPath, files: &[&str]) -> Result<bool, Error> {
        let mut here = self.root;
        for (depth, name) in path.components().enumerate() {
            let listing = self.listing(here)?;
            let is_taken = depth > 0 && files.iter().any(|file| listing.entries.contains_key(file.as_bytes()));
            if is_taken || listing.entries.keys().any(|other| differs_in_case(other, name)) {
                return Ok(false);
            }
            match listing.entries.get(name.as_bytes()) {
                Some((Mode::Directory, below)) => here = *below,
                Some(_) => return Ok(false),
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    fn listing(&self, tree: ObjectId) -> Result<Arc<Listing>, Error> {
        let listings = || self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listing) = listings().get(&tree) {
            return Ok(listing.clone());
        }
        let entries = self.buffer.tree(tree)?;
        let fault = tree_fault(&entries);
        let entries = entries.into_iter().map(|entry| (entry.name, (entry.mode, entry.id))).collect();
        let listing = Arc::new(Listing { entries, fault });
        listings().insert(tree, listing.clone());
        Ok(listing)
    }
}

fn differs_in_case(one: &[u8], other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one != other.as_bytes() && one.eq_ignore_ascii_case(other.as_bytes());
    }
    one != other.as_bytes() && String::from_utf8_lossy(one).to_lowercase() == other.to_lowercase()
}

/// The edits that make a tree hold what one hydrated commit writes.
#[derive(Debug, Default)]
pub struct Edits {
    edits: BTreeMap<String, TreeEdit>,
}

impl Edits {
    /// Puts the files into a directory; others in it stay.
    pub fn write(&mut self, buffer: &ObjectBuffer<'_>, dir: &RepoPath, files: &Files) -> Result<(), Error> {
        for (name, content) in files {
            self.put(buffer, dir, name, buffer.write_blob(content)?);
        }
        Ok(())
    }

    /// Puts a file into a directory whose content the buffer holds or has.
    pub fn put(&mut self, buffer: &ObjectBuffer<'_>, dir: &RepoPath, name: &str, blob: ObjectId) {
        buffer.keep_blob(blob);
        self.edits.insert(below(dir, name), TreeEdit::Put(Mode::File, blob));
    }

    /// Takes the files of these names out of a directory; what somebody else put there stays.
    pub fn remove<'n>(&mut self, dir: &RepoPath, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            self.edits.entry(below(dir, name)).or_insert(TreeEdit::Remove);
        }
    }

    /// Why a directory that they touch is none that git would write; none when all are well.
    pub fn fault(&self, tree: &HydratedTree<'_>) -> Result<Option<String>, Error> {
        let dirs: BTreeSet<&str> =
            self.edits.keys().map(|path| path.rsplit_once('/').map_or("", |(dir, _)| dir)).collect();
        for dir in dirs {
            if let Some(fault) = tree.fault(dir)? {
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }

    /// The tree with the edits made.
    pub fn apply(&self, buffer: &ObjectBuffer<'_>, base: ObjectId) -> Result<ObjectId, Error> {
        buffer.edit_tree(base, &self.edits)
    }
}

fn below(dir: &RepoPath, name: &str) -> String {
    if dir.is_root() { name.to_owned() } else { format!("{dir}/{name}") }
}
