//! Trees: their entries as git reads them, what edits one, and how two differ.

mod compare;
mod edit;
mod look;

use gix::objs::tree::{EntryKind, EntryMode};

use super::{Doing as _, Error, ObjectId};

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

impl Mode {
    /// What git takes a mode for, whatever else its bits say.
    ///
    /// Reference: git 2.55 object.h `canon_mode`.
    fn of_bits(bits: u16) -> Self {
        match bits & 0o170_000 {
            0o100_000 if bits & 0o100 != 0 => Mode::Executable,
            0o100_000 => Mode::File,
            0o120_000 => Mode::Link,
            0o040_000 => Mode::Directory,
            _ => Mode::Submodule,
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
    /// What git sorts the entries of a directory by.
    fn key(&self) -> impl Iterator<Item = u8> {
        self.name.iter().copied().chain((self.mode == Mode::Directory).then_some(b'/'))
    }

    pub(super) fn list(id: ObjectId, content: &[u8]) -> Result<Vec<Self>, Error> {
        let entry = |raw: RawEntry<'_>| Ok(Self { name: raw.name.to_vec(), mode: raw.mode, id: raw.id(id)? });
        RawEntries::new(id, content).map(|raw| raw.and_then(entry)).collect()
    }

    /// The entry of this name, found without taking the others apart.
    fn find(id: ObjectId, content: &[u8], name: &str) -> Result<Option<(Mode, ObjectId)>, Error> {
        for raw in RawEntries::new(id, content) {
            let raw = raw?;
            if raw.name == name.as_bytes() {
                return Ok(Some((raw.mode, raw.id(id)?)));
            }
        }
        Ok(None)
    }
}

/// One entry as it is in the bytes of a tree.
struct RawEntry<'t> {
    name: &'t [u8],
    mode: Mode,
    /// The digits of the mode.
    digits: &'t [u8],
    id: &'t [u8],
}

impl RawEntry<'_> {
    fn id(&self, tree: ObjectId) -> Result<ObjectId, Error> {
        ObjectId::try_from(self.id).doing(|| format!("reading tree {tree}"))
    }
}

/// The entries of a tree, read as git reads them: it stores trees with modes that it never writes itself, and what
/// another reader makes of those is not what `git log`, `git diff` and a checkout show.
///
/// Reference: git 2.55 tree-walk.c `decode_tree_entry`, object.h `parse_mode`.
struct RawEntries<'t> {
    tree: ObjectId,
    rest: &'t [u8],
}

impl<'t> RawEntries<'t> {
    fn new(tree: ObjectId, content: &'t [u8]) -> Self {
        Self { tree, rest: content }
    }

    fn entry(&mut self) -> Option<RawEntry<'t>> {
        let rest = self.rest;
        let space = rest.iter().position(|byte| *byte == b' ').filter(|space| *space > 0)?;
        let digits = rest.get(..space)?;
        let mut bits = 0_u16;
        for digit in digits {
            // Digits that find no room fall out at the front, as they do in git.
            bits = (bits << 3) | u16::from(digit.checked_sub(b'0').filter(|digit| *digit < 8)?);
        }
        let rest = rest.get(space + 1..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (name, rest) = (rest.get(..end)?, rest.get(end + 1..)?);
        let (id, rest) = rest.split_at_checked(self.tree.as_bytes().len())?;
        self.rest = rest;
        Some(RawEntry { name, mode: Mode::of_bits(bits), digits, id })
    }
}

impl<'t> Iterator for RawEntries<'t> {
    type Item = Result<RawEntry<'t>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let entry = self.entry();
        if entry.is_none() {
            self.rest = &[];
        }
        Some(entry.ok_or_else(|| Error::message(format!("reading tree {}: it is damaged", self.tree))))
    }
}

/// The bytes of a tree with the modes that git takes its entries to have; none when they are there already.
pub(super) fn with_plain_modes(tree: ObjectId, content: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let is_plain = |raw: &Result<RawEntry<'_>, Error>| {
        let parsed = raw.as_ref().ok().and_then(|raw| Some((raw.mode, EntryMode::from_bytes(raw.digits)?)));
        parsed.is_some_and(|(mode, read)| EntryKind::from(mode) == read.kind())
    };
    if RawEntries::new(tree, content).all(|raw| is_plain(&raw)) {
        return Ok(None);
    }
    let mut plain = Vec::with_capacity(content.len());
    for raw in RawEntries::new(tree, content) {
        let raw = raw?;
        let mode = EntryMode::from(EntryKind::from(raw.mode));
        plain.extend_from_slice(mode.as_bytes(&mut Default::default()));
        plain.push(b' ');
        plain.extend_from_slice(raw.name);
        plain.push(0);
        plain.extend_from_slice(raw.id);
    }
    Ok(Some(plain))
}

/// Why git would not write a directory like that; `None` when it would.
///
/// Reference: git 2.55 fsck.c `fsck_tree`, without its warnings of modes and of empty ids.
pub(crate) fn tree_fault(entries: &[TreeEntry]) -> Option<String> {
    let shown = |entry: &TreeEntry| String::from_utf8_lossy(&entry.name).into_owned();
    for (index, entry) in entries.iter().enumerate() {
        let (before, _) = entries.split_at(index);
        let is_reserved = |name: &str| entry.name.eq_ignore_ascii_case(name.as_bytes());
        if ["", ".", "..", ".git", "git~1"].into_iter().any(is_reserved) || entry.name.contains(&b'/') {
            return Some(format!("has an entry named `{}`, which git does not allow", shown(entry)));
        }
        // In git's order, what may be between two entries of one name begins with that name.
        let mut same = before.iter().rev().take_while(|other| other.name.starts_with(&entry.name));
        if same.any(|other| other.name == entry.name) {
            return Some(format!("has two entries named `{}`", shown(entry)));
        }
        if before.last().is_some_and(|last| last.key().gt(entry.key())) {
            return Some(format!("has its entries in the wrong order: `{}`", shown(entry)));
        }
    }
    None
}

/// What is to be at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEdit {
    /// This object.
    Put(Mode, ObjectId),
    /// Nothing; directories that get empty by it vanish too.
    Remove,
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
