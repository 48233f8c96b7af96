//! Files into trees, trees into commits: what a hydrated branch becomes.
//!
//! Works on an [`ObjectBuffer`] alone: nothing is on disk, and no ref moves, before the whole run has succeeded.
//!
//! Never: a file of somebody else's is touched; a directory without a change is read or written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use dry_files::path::RepoPath;

use crate::repo::{Error, Mode, ObjectBuffer, ObjectId, TreeEdit, TreeEntry, tree_fault};

/// The files that we write into one directory, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A directory, read once.
struct Listing {
    /// Sorted by name.
    entries: Vec<TreeEntry>,
    /// Why git would not write it so.
    fault: Option<String>,
}

impl Listing {
    fn new(mut entries: Vec<TreeEntry>) -> Self {
        let fault = tree_fault(&entries);
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Self { entries, fault }
    }

    /// Of two entries of one name in a faulty directory, the last.
    fn entry(&self, name: &str) -> Option<(Mode, ObjectId)> {
        let end = self.entries.partition_point(|entry| *entry.name <= *name.as_bytes());
        let entry = self.entries.get(end.checked_sub(1)?)?;
        (entry.name == name.as_bytes()).then_some((entry.mode, entry.id))
    }
}

/// How many entries [`Listings`] keeps.
const ENTRIES_MAX: usize = 1 << 18;

/// The directories of hydrated branches that were read last, with how many entries they have together.
#[derive(Default)]
pub(crate) struct Listings(Mutex<(HashMap<ObjectId, Arc<Listing>>, usize)>);

impl Listings {
    fn get(&self, tree: ObjectId) -> Option<Arc<Listing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.get(&tree).cloned()
    }

    fn keep(&self, tree: ObjectId, listing: Arc<Listing>) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (listings, entries) = &mut *guard;
        *entries += listing.entries.len();
        if *entries > ENTRIES_MAX {
            listings.clear();
            *entries = listing.entries.len();
        }
        listings.insert(tree, listing);
    }
}

/// A tree of a hydrated branch.
pub(crate) struct HydratedTree<'a> {
    buffer: &'a ObjectBuffer<'a>,
    root: ObjectId,
    listings: &'a Listings,
}

impl<'a> HydratedTree<'a> {
    /// The tree `root`, whose directories are read once for all trees that share `listings`.
    pub(crate) fn new(buffer: &'a ObjectBuffer<'a>, listings: &'a Listings, root: ObjectId) -> Self {
        Self { buffer, root, listings }
    }

    /// What is at a path; none when there is nothing.
    pub(crate) fn entry(&self, path: &RepoPath) -> Result<Option<(Mode, ObjectId)>, Error> {
        let mut here = (Mode::Directory, self.root);
        for name in path.components() {
            if here.0 != Mode::Directory {
                return Ok(None);
            }
            match self.listing(here.1)?.entry(name) {
                Some(entry) => here = entry,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    /// The content of the regular file at a path; none when there is nothing, or something else.
    pub(crate) fn file(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, Error> {
        match self.entry(path)? {
            Some((Mode::File | Mode::Executable, blob)) => self.buffer.blob(blob).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether the file at a path is exactly this.
    pub(crate) fn has(&self, path: &RepoPath, mode: Mode, content: &[u8]) -> Result<bool, Error> {
        Ok(self.entry(path)? == Some((mode, self.buffer.hash_blob(content)?)))
    }

    /// Why git would not write the directory `dir`, or one above it, as it is: an edit of it would be lost among what is
    /// wrong there. None when they are well, or are not there.
    pub(crate) fn fault(&self, dir: &str) -> Result<Option<String>, Error> {
        let (mut here, mut path) = (self.root, String::new());
        let mut names = dir.split('/').filter(|name| !name.is_empty());
        loop {
            let listing = self.listing(here)?;
            if let Some(fault) = &listing.fault {
                let place = if path.is_empty() { "its root directory".to_owned() } else { format!("`{path}`") };
                return Ok(Some(format!("{place} {fault}")));
            }
            let Some(name) = names.next() else { return Ok(None) };
            let Some((Mode::Directory, id)) = listing.entry(name) else { return Ok(None) };
            path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            here = id;
        }
    }

    /// Whether nothing is at a path, nor at one that differs in case only, and no directory above it has one of `files`.
    pub(crate) fn is_free(&self, path: &RepoPath, files: &[&str]) -> Result<bool, Error> {
        let mut here = self.root;
        for (depth, name) in path.components().enumerate() {
            let listing = self.listing(here)?;
            let is_taken = depth > 0 && files.iter().any(|file| listing.entry(file).is_some());
            if is_taken || listing.entries.iter().any(|other| differs_in_case(&other.name, name)) {
                return Ok(false);
            }
            match listing.entry(name) {
                Some((Mode::Directory, below)) => here = below,
                Some(_) => return Ok(false),
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    fn listing(&self, tree: ObjectId) -> Result<Arc<Listing>, Error> {
        if let Some(listing) = self.listings.get(tree) {
            return Ok(listing);
        }
        let listing = Arc::new(Listing::new(self.buffer.tree(tree)?));
        self.listings.keep(tree, listing.clone());
        Ok(listing)
    }
}

fn differs_in_case(one: &[u8], other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one != other.as_bytes() && one.eq_ignore_ascii_case(other.as_bytes());
    }
    one != other.as_bytes() && String::from_utf8_lossy(one).to_lowercase() == other.to_lowercase()
}

/// The edits that give a tree what one hydrated commit writes.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    edits: BTreeMap<String, TreeEdit>,
}

impl Edits {
    /// Puts the files into a directory; others in it stay.
    pub(crate) fn write(&mut self, buffer: &ObjectBuffer<'_>, dir: &RepoPath, files: &Files) -> Result<(), Error> {
        for (name, content) in files {
            self.put(buffer, dir, name, buffer.write_blob(content)?);
        }
        Ok(())
    }

    /// Puts a file into a directory whose content the buffer or the repository has.
    pub(crate) fn put(&mut self, buffer: &ObjectBuffer<'_>, dir: &RepoPath, name: &str, blob: ObjectId) {
        buffer.keep_blob(blob);
        self.edits.insert(below(dir, name), TreeEdit::Put(Mode::File, blob));
    }

    /// Takes the files of these names out of a directory; what somebody else put there stays.
    pub(crate) fn remove<'n>(&mut self, dir: &RepoPath, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            self.edits.entry(below(dir, name)).or_insert(TreeEdit::Remove);
        }
    }

    /// Why git would not write a directory that they touch as it is; none when all are well.
    pub(crate) fn fault(&self, tree: &HydratedTree<'_>) -> Result<Option<String>, Error> {
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
    pub(crate) fn apply(&self, buffer: &ObjectBuffer<'_>, base: ObjectId) -> Result<ObjectId, Error> {
        buffer.edit_tree(base, &self.edits)
    }
}

fn below(dir: &RepoPath, name: &str) -> String {
    if dir.is_root() { name.to_owned() } else { format!("{dir}/{name}") }
}
