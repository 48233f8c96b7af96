//! Which branches hydration made, as it recorded them itself.
//!
//! Anybody who can push can write trailers, metadata and authors into commits, so none of them proves who made a branch.
//! What does is a record below `refs/hydrate/`, where no push gets in, written in the transaction that moves the branch.
//!
//! A record says nothing of single paths, since what fed a branch follows from it: the branch and its note move to a dry
//! commit only when every file, set and parent that may feed it was read there without an error. So the dry commit of the
//! note, or of the record, is that of the last good expansion, and its Applications and their makers are found in its tree
//! again, by the settings of the record (`Run::former`). What was left behind is listed with its own dry commit at the root
//! of the recorded tip, which is ours (`Branch::tip_metadata`). Where the dry commit is gone, a maker or file that cannot be read
//! holds back each branch with a path that nothing writes (`run/unproven.rs`).
//!
//! Repositories that were hydrated before there were records have none. There the notes of hydrated commits, which no
//! push gets at either, take their place once: the next run writes records. A clone or a remote helper, from which
//! nothing is deployed, also believes what commits say of themselves where its server keeps no records.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::argo::{BranchName, Drawn, DrawnPaths, SeedIdentity};
use crate::metadata::Trailers;
use crate::repo::{Commit, Error, Mode, Notes, ObjectBuffer, ObjectId, Refs, Repository, TreeEdit, object_id};
use dry_files::diag::shell_word;
use dry_files::path::RepoPath;

/// The ref whose tree contains the records, a file for each branch.
pub(crate) const RECORDS_REF: &str = "refs/hydrate/branches";

/// What hydration knows of a branch that it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BranchRecord {
    /// The newest commit that hydration made on the branch, or found there when it was recorded first.
    pub tip: ObjectId,
    /// The dry branch that the tip was hydrated from.
    pub dry_branch: BranchName,
    /// The commit of the dry branch that the tip was hydrated from.
    pub dry_commit: ObjectId,
    /// The other dry branches that share the branch, each with its dry commit that was hydrated last.
    pub others: BTreeMap<BranchName, ObjectId>,
    /// The settings that the branch was brought up to date with last, whether or not that took a commit; on a branch that
    /// several dry branches share, what `dry_branch` writes.
    pub settings: Option<ObjectId>,
    /// The settings of those of `others` that were brought up to date last with other settings than `dry_branch`.
    pub other_settings: BTreeMap<BranchName, ObjectId>,
    /// The revision of the engine that made the tip.
    pub engine: u32,
    /// Whether hydration writes nothing but the empty commit that a missing sync branch starts with: a promoter writes it.
    pub initial: bool,
    /// The commits that the run made which wrote this record, oldest first; empty when it made none.
    pub made: Vec<ObjectId>,
    /// The tip that a version without records left; none for a branch that was recorded from its start.
    pub older: Option<ObjectId>,
    /// Which Applications of the branch have random values, and for whom they are drawn; none where that is not recorded yet.
    pub drawn: Option<DrawnPaths>,
}

impl BranchRecord {
    /// Whether a branch whose tip is `tip` is the recorded one: moved on by a promoter, or behind because a run was
    /// killed or an admin took it back.
    pub(crate) fn is_of(&self, tip: ObjectId, repository: &Repository) -> bool {
        tip == self.tip || repository.is_ancestor(self.tip, tip) || repository.is_ancestor(tip, self.tip)
    }

    /// The dry commit of `dry_branch` that was hydrated onto the branch last.
    pub(crate) fn dry_commit_of(&self, dry_branch: &BranchName) -> Option<ObjectId> {
        match *dry_branch == self.dry_branch {
            true => Some(self.dry_commit),
            false => self.others.get(dry_branch).copied(),
        }
    }

    /// The settings with which what `dry_branch` writes was brought up to date last.
    pub(crate) fn settings_of(&self, dry_branch: &BranchName) -> Option<ObjectId> {
        let other = self.other_settings.get(dry_branch).filter(|_| *dry_branch != self.dry_branch);
        other.copied().or(self.settings)
    }

    /// The record after `dry_branch`, one of those that share the branch, was brought up to date.
    pub(crate) fn with(
        mut self,
        dry_branch: &BranchName,
        dry_commit: Option<ObjectId>,
        settings: Option<ObjectId>,
    ) -> Self {
        let dry_commit = dry_commit.or(self.dry_commit_of(dry_branch));
        if *dry_branch == self.dry_branch {
            self.keep_settings_of_others(settings);
            (self.dry_commit, self.settings) = (dry_commit.unwrap_or(self.dry_commit), settings);
            return self;
        }
        self.others.extend(dry_commit.map(|id| (dry_branch.clone(), id)));
        match settings.filter(|id| self.settings != Some(*id)) {
            Some(id) => drop(self.other_settings.insert(dry_branch.clone(), id)),
            None => drop(self.other_settings.remove(dry_branch)),
        }
        self
    }

    /// Notes of each other dry branch with what settings it was brought up to date, before `settings` become those of
    /// `dry_branch`.
    fn keep_settings_of_others(&mut self, settings: Option<ObjectId>) {
        for other in self.others.keys() {
            match self.settings_of(other).filter(|id| settings != Some(*id)) {
                Some(id) => drop(self.other_settings.insert(other.clone(), id)),
                None => drop(self.other_settings.remove(other)),
            }
        }
    }

    /// The record of a newer commit of `dry_branch`, on a branch that it shares with those that this one names.
    pub(crate) fn followed_by(self, mut newer: Self) -> Self {
        newer.others = self.others.clone();
        newer.others.insert(self.dry_branch.clone(), self.dry_commit);
        newer.others.remove(&newer.dry_branch);
        let settings = newer.others.keys().filter_map(|other| Some((other.clone(), self.settings_of(other)?)));
        newer.other_settings = settings.filter(|(_, id)| newer.settings != Some(*id)).collect();
        newer
    }

    /// The record of a branch that ends with a commit of hydration, as the commit says.
    pub(crate) fn of(commit: &Commit, trailers: Trailers) -> Self {
        Self {
            tip: commit.id,
            dry_commit: trailers.definition(),
            dry_branch: trailers.dry_branch,
            others: BTreeMap::new(),
            settings: trailers.settings_commit,
            other_settings: BTreeMap::new(),
            engine: trailers.engine,
            initial: commit.parents.is_empty(),
            made: Vec::new(),
            older: Some(commit.id),
            drawn: None,
        }
    }
}

/// [`BranchRecord`] as its file has it. Ids are full and in hexadecimal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    branch: String,
    tip: String,
    dry_branch: String,
    dry_sha: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    other_settings: BTreeMap<String, String>,
    engine: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    initial: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    older: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drawn: Option<BTreeMap<String, Drawn>>,
}

impl Stored {
    fn new(branch: &BranchName, record: &BranchRecord) -> Self {
        // Without any, nothing is said where an engine wrote the record that would have said it.
        let drawn = record.drawn.as_ref().filter(|drawn| !drawn.is_empty() || record.engine < NOTES_DRAWN);
        Self {
            branch: branch.to_string(),
            tip: record.tip.to_string(),
            dry_branch: record.dry_branch.to_string(),
            dry_sha: record.dry_commit.to_string(),
            others: texts(&record.others),
            settings: record.settings.map(|id| id.to_string()),
            other_settings: texts(&record.other_settings),
            engine: record.engine,
            initial: record.initial,
            made: record.made.iter().map(ObjectId::to_string).collect(),
            older: record.older.map(|id| id.to_string()),
            drawn: drawn.map(|drawn| drawn.iter().map(|(path, drawn)| (path.to_string(), drawn.clone())).collect()),
        }
    }

    fn read(&self) -> Option<(BranchName, BranchRecord)> {
        let name = |text: &str| BranchName::read(text).ok();
        let optional = |id: &Option<String>| id.as_deref().map(|id| object_id(id).ok_or(())).transpose().ok();
        let ids = |ids: &BTreeMap<String, String>| {
            ids.iter().map(|(branch, id)| Some((name(branch)?, object_id(id)?))).collect::<Option<_>>()
        };
        let drawn = match &self.drawn {
            Some(drawn) => Some(drawn.iter().map(read_drawn).collect::<Option<_>>()?),
            None => (self.engine >= NOTES_DRAWN).then(DrawnPaths::new),
        };
        let record = BranchRecord {
            tip: object_id(&self.tip)?,
            dry_branch: name(&self.dry_branch)?,
            dry_commit: object_id(&self.dry_sha)?,
            others: ids(&self.others)?,
            settings: optional(&self.settings)?,
            other_settings: ids(&self.other_settings)?,
            engine: self.engine,
            initial: self.initial,
            made: self.made.iter().map(|id| object_id(id)).collect::<Option<_>>()?,
            older: optional(&self.older)?,
            drawn,
        };
        Some((name(&self.branch)?, record))
    }
}

/// The first engine revision whose records say which Applications have random values.
const NOTES_DRAWN: u32 = 4;

fn read_drawn((path, drawn): (&String, &Drawn)) -> Option<(RepoPath, Drawn)> {
    SeedIdentity::read(drawn.identity.as_str())?;
    Some((RepoPath::new(path).ok()?, drawn.clone()))
}

fn texts(ids: &BTreeMap<BranchName, ObjectId>) -> BTreeMap<String, String> {
    ids.iter().map(|(branch, id)| (branch.to_string(), id.to_string())).collect()
}

/// The records of a repository, with changes that are not written yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BranchRecords {
    branches: BTreeMap<BranchName, BranchRecord>,
    /// The tree that they were read from; none when there was none.
    tree: Option<ObjectId>,
    /// The branches whose files differ from that tree.
    changed: Vec<BranchName>,
}

impl BranchRecords {
    /// Reads the records in the tree of a commit of [`RECORDS_REF`].
    pub(crate) fn read(tip: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<Self, Error> {
        let tree = buffer.commit(tip)?.tree;
        let mut branches = BTreeMap::new();
        for entry in buffer.tree(tree)? {
            let (name, record) = read_file(entry.id, buffer)?;
            if file_of(&name).as_bytes() != entry.name {
                return Err(Error::message(format!("{RECORDS_REF}: the record of `{name}` has the name of another")));
            }
            branches.insert(name, record);
        }
        Ok(Self { branches, tree: Some(tree), changed: Vec::new() })
    }

    /// Finds what earlier versions made: branches whose newest commit of hydration has a note.
    pub(crate) fn from_notes(
        place: &Place,
        refs: &Refs,
        notes: &mut Notes,
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Self, Error> {
        let mut found = Self::default();
        for (branch, tip) in place.branches(refs) {
            let Some((commit, trailers)) = hydrated_below(tip, buffer) else { continue };
            // Only hydration puts a note on its commits, and a commit has the message that it had then.
            if trailers.branch == branch && notes.get(commit.id, buffer).is_ok_and(|note| note.is_some()) {
                if let Some((active, record)) = started_for(&branch, commit.clone(), place, refs, buffer)? {
                    found.set(active, record);
                }
                found.set(branch, BranchRecord::of(&commit, trailers));
            }
        }
        Ok(found)
    }

    /// The files, of which `branches` counts and no other record; whatever they say otherwise is to be written.
    pub(crate) fn corrected(mut self, branches: BTreeMap<BranchName, BranchRecord>) -> Self {
        let differs = |(branch, record): &(&BranchName, &BranchRecord)| self.branches.get(*branch) != Some(record);
        let changed = branches.iter().filter(differs).map(|(branch, _)| branch.clone()).collect();
        self.changed = changed;
        Self { branches, ..self }
    }

    /// Whether there is no record at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// The record of a branch.
    pub(crate) fn get(&self, branch: &BranchName) -> Option<&BranchRecord> {
        self.branches.get(branch)
    }

    /// All records, by branch.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&BranchName, &BranchRecord)> {
        self.branches.iter()
    }

    /// The newest settings that a branch was hydrated with and that are in the repository, and that branch.
    pub(crate) fn newest_settings(&self, repository: &Repository) -> Option<(ObjectId, &BranchName)> {
        let mut newest: Option<(ObjectId, &BranchName)> = None;
        let all = self.iter().flat_map(|(branch, record)| {
            record.settings.iter().chain(record.other_settings.values()).map(move |id| (branch, *id))
        });
        for (branch, id) in all.filter(|(_, id)| repository.has(*id)) {
            if newest.is_none_or(|(known, _)| repository.is_ancestor(known, id)) {
                newest = Some((id, branch));
            }
        }
        newest
    }

    /// The commands that hold what was rolled back once more, where the settings that hold it are lost: no commit names those.
    pub(crate) fn holds_again(&self, buffer: &ObjectBuffer<'_>) -> Vec<String> {
        let rolled_back = self.iter().filter_map(|(branch, record)| {
            let trailers = Trailers::read(&buffer.commit(record.tip).ok()?.message)?;
            trailers.rollback?;
            let alone =
                trailers.held.iter().map(|name| format!(" --application {}", shell_word(name))).collect::<String>();
            Some(format!("hydrate hold {}{alone} --reason TEXT", shell_word(branch.as_str())))
        });
        rolled_back.collect()
    }

    /// Records a branch.
    pub(crate) fn set(&mut self, branch: BranchName, record: BranchRecord) {
        if self.branches.get(&branch) != Some(&record) || self.tree.is_none() {
            self.changed.push(branch.clone());
            self.branches.insert(branch, record);
        }
    }

    /// Drops the record of a branch.
    pub(crate) fn remove(&mut self, branch: &BranchName) {
        if self.branches.remove(branch).is_some() {
            self.changed.push(branch.clone());
        }
    }

    /// The tree of the records as they are now; none when nothing changed.
    pub(crate) fn write(&self, buffer: &ObjectBuffer<'_>) -> Result<Option<ObjectId>, Error> {
        if self.changed.is_empty() {
            return Ok(None);
        }
        let mut edits = BTreeMap::new();
        for branch in &self.changed {
            let edit = match self.branches.get(branch) {
                Some(record) => {
                    let stored = serde_json::to_vec_pretty(&Stored::new(branch, record));
                    let mut text = stored.expect("a record of texts and numbers is JSON");
                    text.push(b'\n');
                    TreeEdit::Put(Mode::File, buffer.write_blob(&text)?)
                }
                None => TreeEdit::Remove,
            };
            edits.insert(file_of(branch), edit);
        }
        buffer.edit_tree(self.tree.unwrap_or_else(|| buffer.empty_tree_id()), &edits).map(Some)
    }
}

/// The name of the file of a branch: one level, so that no branch is in the way of another.
fn file_of(branch: &BranchName) -> String {
    format!("{}.json", branch.as_str().replace('%', "%25").replace('/', "%2F"))
}

fn read_file(blob: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<(BranchName, BranchRecord), Error> {
    let doing = || format!("reading the record {blob} of {RECORDS_REF}");
    let stored: Stored = serde_json::from_slice(&buffer.blob(blob)?).map_err(|error| Error::new(doing(), error))?;
    stored.read().ok_or_else(|| Error::message(doing()))
}

/// The active branch that the hydrated history of `staging`, whose newest commit is `commit`, starts with: its empty first
/// commit names it, and hydration put its own on top of that. None where the branch is promoted to nowhere.
fn started_for(
    staging: &BranchName,
    mut commit: Commit,
    place: &Place,
    refs: &Refs,
    buffer: &ObjectBuffer<'_>,
) -> Result<Option<(BranchName, BranchRecord)>, Error> {
    while let Some(parent) = commit.parents.first().filter(|parent| buffer.repository().has(**parent)) {
        commit = buffer.commit(*parent)?;
    }
    let is_first = commit.parents.is_empty() && commit.tree == buffer.empty_tree_id();
    let Some(trailers) = Trailers::read(&commit.message).filter(|_| is_first) else { return Ok(None) };
    let active = trailers.branch.clone();
    let is_on = |tip| buffer.repository().is_ancestor(commit.id, tip);
    let is_there = active != *staging && place.tip(refs, &active).is_some_and(is_on);
    Ok(is_there.then(|| (active, BranchRecord::of(&commit, trailers))))
}

/// How many records of a repository are looked through for branches that have none any more.
const DROPPED_MAX: usize = 10_000;

/// The refs that a clone has of branches of hydration which are gone from its remote: `git fetch` keeps them, and the
/// remote dropped their records.
pub(crate) fn gone(place: &Place, refs: &Refs, buffer: &ObjectBuffer<'_>) -> Vec<String> {
    let is_clone = place.believes_records() && place.believes_commits();
    let Some(tip) = refs.get(RECORDS_REF).filter(|_| is_clone) else { return Vec::new() };
    let Ok(records) = BranchRecords::read(tip, buffer) else { return Vec::new() };
    let mut unrecorded = BTreeMap::new();
    for (branch, tip) in place.branches(refs).filter(|(branch, _)| records.get(branch).is_none()) {
        if hydrated_below(tip, buffer).is_some_and(|(_, trailers)| trailers.branch == branch) {
            unrecorded.insert(file_of(&branch), (place.read_name(&branch), tip));
        }
    }
    let mut gone = Vec::new();
    let mut here = buffer.commit(tip).ok();
    for _ in 0..DROPPED_MAX {
        let Some(commit) = here.filter(|_| !unrecorded.is_empty()) else { break };
        for entry in buffer.tree(commit.tree).unwrap_or_default() {
            let file = String::from_utf8_lossy(&entry.name);
            let Some((name, tip)) = unrecorded.remove(&*file) else { continue };
            let record = read_file(entry.id, buffer).ok();
            gone.extend(record.filter(|(_, record)| record.is_of(tip, buffer.repository())).map(|_| name));
        }
        here = commit.parents.first().and_then(|parent| buffer.commit(*parent).ok());
    }
    gone
}

/// How many commits of others may be on top of ours for it to be found where there is no record.
const STRANGERS_MAX: usize = 16;

/// The commit of hydration that a branch ends with, below those that others put on top of it, and what it says of itself.
/// That proves nothing.
pub(crate) fn hydrated_below(tip: ObjectId, buffer: &ObjectBuffer<'_>) -> Option<(Commit, Trailers)> {
    let mut here = tip;
    for _ in 0..=STRANGERS_MAX {
        let commit = buffer.commit(here).ok()?;
        if let Some(trailers) = Trailers::read(&commit.message) {
            return Some((commit, trailers));
        }
        here = *commit.parents.first()?;
    }
    None
}

/// Which revision of the engine made which commit, as the whole history of the records has it.
#[derive(Debug, Default)]
pub(crate) struct Engines {
    made: BTreeMap<ObjectId, u32>,
    /// The tips that a version without records left; none where there are no records yet.
    older: Option<BTreeSet<ObjectId>>,
    /// Every tip that was recorded.
    tips: BTreeSet<ObjectId>,
}

impl Engines {
    /// Reads the history of [`RECORDS_REF`], as far back as it is here.
    pub(crate) fn read(tip: Option<ObjectId>, buffer: &ObjectBuffer<'_>) -> Result<Self, Error> {
        let Some(tip) = tip else { return Ok(Self::default()) };
        let (mut made, mut older, mut seen) = (BTreeMap::new(), BTreeSet::new(), HashSet::new());
        let mut tips = BTreeSet::new();
        let mut next = Some(tip);
        while let Some(id) = next {
            let commit = buffer.commit(id)?;
            for entry in buffer.tree(commit.tree)? {
                if seen.insert(entry.id) {
                    let (_, record) = read_file(entry.id, buffer)?;
                    let tip = (!record.initial).then_some(&record.tip);
                    made.extend(record.made.iter().chain(tip).map(|made| (*made, record.engine)));
                    older.extend(record.older);
                    tips.insert(record.tip);
                }
            }
            next = commit.parents.first().copied().filter(|parent| buffer.repository().has(*parent));
        }
        Ok(Self { made, older: Some(older), tips })
    }

    /// The revision that made a commit, if a record names the commit.
    pub(crate) fn of(&self, commit: ObjectId) -> Option<u32> {
        self.made.get(&commit).copied()
    }

    /// Whether a record names a commit: made by hydration, or found as its tip.
    pub(crate) fn is_recorded(&self, commit: ObjectId) -> bool {
        let is_older = self.older.as_ref().is_some_and(|tips| tips.contains(&commit));
        self.made.contains_key(&commit) || self.tips.contains(&commit) || is_older
    }

    /// The commits that hydration made, as recorded.
    pub(crate) fn made(&self) -> impl Iterator<Item = ObjectId> {
        self.made.keys().copied()
    }

    /// Whether a commit was there before there were records.
    pub(crate) fn is_older(&self, commit: ObjectId, repository: &Repository) -> bool {
        self.older.as_ref().is_none_or(|tips| tips.iter().any(|tip| repository.is_ancestor(commit, *tip)))
    }
}
