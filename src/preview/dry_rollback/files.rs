//! Which files a render looked at, of those that differ between two dry commits.

use std::collections::{BTreeMap, BTreeSet};

use crate::owners::error::HydrateError;
use crate::repo::{Error, ObjectBuffer, ObjectId, TreeChange, TreeEdit};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, Reads, Seen, View, ViewError};

/// How often it is tried whether a result comes out without some of its files; what is not decided then counts as needed.
const TRIES_MAX: usize = 24;

/// The files that differ between two dry commits, by path.
pub(super) struct Changed(BTreeMap<String, TreeChange>);

impl Changed {
    /// What differs between the dry commit `then` and the later one `now`.
    pub(super) fn between(then: ObjectId, now: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<Self, Error> {
        let [then, now] = [buffer.commit(then)?.tree, buffer.commit(now)?.tree];
        let changes = buffer.diff_trees(then, now)?;
        // No render looks at a name that is not text.
        let readable = changes.into_iter().filter(|change| !change.path.contains('\u{FFFD}'));
        Ok(Self(readable.map(|change| (change.path.clone(), change)).collect()))
    }

    /// Those that have to be as they were for all of `reads` to be found again that were made in `then`.
    ///
    /// Errors: a tree that cannot be read.
    pub(super) fn behind(&self, reads: &Reads, then: &View<'_>, now: &View<'_>) -> Result<BTreeSet<String>, ViewError> {
        let mut behind = BTreeSet::new();
        for ((path, way), seen) in reads {
            if now.look(path, *way)? == Some(*seen) {
                continue;
            }
            match seen {
                Seen::Listed(_) | Seen::Directories(_) => {
                    behind.extend(
                        self.entries(path).filter(|(entry, _)| differs(entry, then, now)).map(|(_, file)| file),
                    );
                }
                Seen::Absent | Seen::Present(_) | Seen::Content(_) | Seen::Link(_) => behind.extend(self.at(path)),
            }
        }
        Ok(behind)
    }

    /// Those at a path, below it, and where a directory of it should be.
    fn at(&self, path: &RepoPath) -> impl Iterator<Item = String> {
        let is_below = |file: &str, dir: &str| {
            dir.is_empty() || file.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.keys().filter(move |file| is_below(file, path.as_str()) || is_below(path.as_str(), file)).cloned()
    }

    /// Those below a directory, each with the entry of the directory that it is in.
    fn entries(&self, dir: &RepoPath) -> impl Iterator<Item = (RepoPath, String)> {
        let entry = |file: &String| {
            let below = RepoPath::new(file).ok()?.strip_prefix(dir)?;
            let first = below.components().next()?;
            Some((dir.child(first).ok()?, file.clone()))
        };
        self.0.keys().filter_map(entry)
    }

    /// The file at a path, if it is one of them.
    pub(super) fn file(&self, path: &RepoPath) -> Option<String> {
        self.0.get_key_value(path.as_str()).map(|(file, _)| file.clone())
    }

    /// What gives files their former content.
    pub(super) fn edits(&self, files: &BTreeSet<String>) -> BTreeMap<String, TreeEdit> {
        let former = |change: &TreeChange| change.old.map_or(TreeEdit::Remove, |(mode, id)| TreeEdit::Put(mode, id));
        files.iter().filter_map(|file| Some((file.clone(), former(self.0.get(file)?)))).collect()
    }
}

/// Whether an entry of a directory came, went, or became something of another kind.
fn differs(entry: &RepoPath, then: &View<'_>, now: &View<'_>) -> bool {
    let kind = |view: &View<'_>| view.look(entry, Seen::Present(Kind::File).way()).ok().flatten();
    kind(then) != kind(now)
}

/// Of `files` those that a result needs beside `given` ones, where `holds` says whether it comes out when these alone are as they were.
pub(super) fn needed(
    files: BTreeSet<String>,
    given: &BTreeSet<String>,
    mut holds: impl FnMut(&BTreeSet<String>) -> Result<bool, HydrateError>,
) -> Result<BTreeSet<String>, HydrateError> {
    let mut kept: BTreeSet<String> = files.difference(given).cloned().collect();
    if kept.len() < 2 && given.is_empty() {
        return Ok(kept);
    }
    let mut halves: Vec<Vec<String>> = vec![kept.iter().cloned().collect()];
    let mut tries = 0;
    while let Some(mut group) = halves.pop().filter(|_| tries < TRIES_MAX) {
        if group.is_empty() {
            break;
        }
        tries += 1;
        let rest: BTreeSet<String> = kept.iter().filter(|file| !group.contains(file)).cloned().collect();
        if holds(&given.union(&rest).cloned().collect())? {
            kept = rest;
        } else if group.len() > 1 {
            halves.push(group.split_off(group.len() / 2));
            halves.push(group);
        }
    }
    Ok(kept)
}
