//! What the platform knows of branches.
//!
//! The file `hydrate/told` of the git directory has a line `<id> <ref>` for each branch that the platform was notified of. Where it
//! is lost, the platform is notified of all branches as if they were new, which it takes for what it knows already.

use std::collections::BTreeMap;
use std::io;

pub(super) use crate::repo::kept::{BYTES_MAX, directory, read, remove, write};
use crate::repo::{ObjectId, Repository, object_id};

/// The file that says what the platform knows.
pub(super) const FILE: &str = "told";

/// What the platform knows of branches, by full name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Known(BTreeMap<String, ObjectId>);

impl Known {
    /// As it was written last. A line that cannot be read is skipped.
    pub(super) fn read(repository: &Repository) -> io::Result<Self> {
        let text = read(repository, FILE)?;
        let text = String::from_utf8_lossy(&text);
        let of_line = |line: &str| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), object_id(id)?))
        };
        Ok(Self(text.lines().filter_map(of_line).collect()))
    }

    /// Writes it, in one step.
    pub(super) fn write(&self, repository: &Repository) -> io::Result<()> {
        let text: String = self.0.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
        write(repository, FILE, text.as_bytes())
    }

    /// What it knows a branch as.
    pub(super) fn get(&self, name: &str) -> Option<ObjectId> {
        self.0.get(name).copied()
    }

    /// Notes what it knows a branch as.
    pub(super) fn set(&mut self, name: &str, id: ObjectId) {
        self.0.insert(name.to_owned(), id);
    }

    /// Forgets the branches that are not to be kept.
    pub(super) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| keep(name));
    }
}
