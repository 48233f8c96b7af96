//! An environment branch as it is now: who made it, and from which dry commit.

use dry_files::path::RepoPath;

use super::branch_records::{BranchRecord, BranchRecords, hydrated_below};
use super::files::METADATA;
use crate::argo::BranchName;
use crate::metadata::{Note, Provenance, Rollback, Source, Trailers, read_note};
use crate::repo::publish::HydratedTree;
use crate::repo::{Commit, Error, Mode, Notes, ObjectBuffer, ObjectId, Repository};
use crate::settings::Settings;

/// How far back the commits of a branch are searched for one of ours. A promoter's merges are on top of ours one by
/// one, never in such numbers.
const ANCESTORS_MAX: usize = 1000;

/// An environment branch that exists, as its record, its note and its files show it.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    /// The commit it points at.
    pub tip: Commit,
    /// The commit of its dry branch that it was last hydrated from, if that is known.
    pub dry: Option<ObjectId>,
    /// The dry commit that its sources are of, where a tag, a range or an id led to it.
    pub source: Option<Source>,
    /// The commit of the settings that it was hydrated with then.
    pub settings: Option<ObjectId>,
    /// Whether its tip has a note: one that others put there has none.
    pub noted: bool,
    /// Whether its files are taken for what was made of `dry`, so that those that nothing touches since are not made again.
    pub is_as_made: bool,
    /// Who made it.
    pub origin: Origin,
}

/// Who made an environment branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Hydration, as it recorded.
    Ours(Box<BranchRecord>),
    /// No one yet: its tree is empty.
    Empty,
    /// Somebody else, and an admin handed it over to us.
    Adopted,
    /// Somebody else.
    Foreign,
}

impl Standing {
    /// Reads the state of `branch`, whose tip is `tip`. On a branch that several dry branches share, `dry_branch` is the
    /// one that counts.
    pub(crate) fn read(
        branch: &BranchName,
        tip: ObjectId,
        dry_branch: &BranchName,
        settings: &Settings,
        records: &BranchRecords,
        notes: &mut Notes,
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Self, Error> {
        let commit = buffer.commit(tip)?;
        let record = records.get(branch).filter(|record| record.is_of(tip, buffer.repository()));
        let origin = match record {
            Some(record) => Origin::Ours(Box::new(record.clone())),
            None if commit.tree == buffer.empty_tree_id() => Origin::Empty,
            None if settings.adopt.contains(branch) => Origin::Adopted,
            None => Origin::Foreign,
        };
        // What cannot be read, or does not name a commit, is as good as none.
        let is_commit = |id: &ObjectId| buffer.commit(*id).is_ok() || !buffer.repository().has(*id);
        let readable = |text: Vec<u8>| read_note(&text).filter(|note| is_commit(&note.definition()));
        let note = notes.get(tip, buffer).ok().flatten().and_then(readable);
        let recorded = record.and_then(|record| record.dry_commit_of(dry_branch)).filter(is_commit);
        // What others put on top of ours says nothing of how far it is.
        let ours = record.filter(|record| {
            !record.initial && (record.tip == tip || buffer.repository().is_ancestor(record.tip, tip))
        });
        let noted_below = |notes: &mut Notes| {
            let below = ours.filter(|record| record.tip != tip)?;
            notes.get(below.tip, buffer).ok().flatten().and_then(readable)
        };
        let of_note = |note: &Note| (Some(note.definition()), note.source());
        // What no note says of our newest commit, that commit says itself.
        let made = || record.and_then(|record| Trailers::read(&buffer.commit(record.tip).ok()?.message));
        let of_record = || (recorded, recorded.and_then(|_| made()?.source()));
        let (dry, source) = if settings.is_shared(branch) {
            // The note and the files at the root may be of another dry branch's latest commit.
            (recorded, None)
        } else if let Some(note) = &note {
            of_note(note)
        } else if ours.is_some() {
            noted_below(notes).as_ref().map_or_else(of_record, of_note)
        } else {
            // The promoter wrote it, or an admin took it back: its files show how far it is, and that is checked by
            // hydrating it.
            let shown = provenance(buffer, commit.tree, METADATA)?.and_then(|found| found.dry_commit);
            match shown.filter(is_commit) {
                Some(shown) => defined_by(&commit, shown, buffer)?,
                None => of_record(),
            }
        };
        let settings = record.and_then(|record| record.settings_of(dry_branch));
        let noted = note.is_some();
        Ok(Self { tip: commit, dry, source, settings, noted, is_as_made: noted, origin })
    }

    /// The record of the branch, when it is ours.
    pub(crate) fn record(&self) -> Option<&BranchRecord> {
        match &self.origin {
            Origin::Ours(record) => Some(record),
            Origin::Empty | Origin::Adopted | Origin::Foreign => None,
        }
    }

    /// The tree of our newest commit, when others put theirs on top of it since the branch was hydrated last.
    pub(crate) fn made_below(&self, buffer: &ObjectBuffer<'_>) -> Result<Option<ObjectId>, Error> {
        let is_below = |record: &&BranchRecord| {
            record.tip != self.tip.id && buffer.repository().is_ancestor(record.tip, self.tip.id)
        };
        let record = self.record().filter(|record| !self.noted && !record.initial).filter(is_below);
        Ok(record.map(|record| buffer.commit(record.tip)).transpose()?.map(|made| made.tree))
    }

    /// The dry branch that writes to this branch, when it is ours.
    pub(crate) fn dry_branch(&self) -> Option<&BranchName> {
        self.record().map(|record| &record.dry_branch)
    }
}

/// The commit of the dry branch that files which show the dry commit `shown` are made of, and what led to `shown` where no branch
/// did, as the newest commit of hydration from `tip` on says that shows it.
pub(crate) fn defined_by(
    tip: &Commit,
    shown: ObjectId,
    buffer: &ObjectBuffer<'_>,
) -> Result<(Option<ObjectId>, Option<Source>), Error> {
    let made = nearest(tip, buffer, |trailers| trailers.dry_commit == shown)?.filter(|made| made.defined.is_some());
    Ok(made.map_or((Some(shown), None), |made| (Some(made.definition()), made.source())))
}

/// What a `hydrator.metadata` says; none when it is not there or cannot be read.
pub(crate) fn provenance(buffer: &ObjectBuffer<'_>, tree: ObjectId, path: &str) -> Result<Option<Provenance>, Error> {
    let Ok(file) = RepoPath::new(path) else { return Ok(None) };
    match buffer.entry(tree, path)? {
        Some((Mode::File | Mode::Executable, blob)) => Ok(Provenance::read(&file, &buffer.blob(blob)?).ok()),
        _ => Ok(None),
    }
}

/// What the `hydrator.metadata` of a directory says; none when it is not there or cannot be read.
pub(crate) fn provenance_in(tree: &HydratedTree<'_>, directory: &RepoPath) -> Result<Option<Provenance>, Error> {
    let file = directory.child(METADATA).expect("the names of our files are single components");
    Ok(tree.file(&file)?.and_then(|content| Provenance::read(&file, &content).ok()))
}

/// What a commit says of how hydration made it, or the nearest one below a promoter's merges; none for a commit of a dry
/// branch.
///
/// Errors: the repository.
pub(crate) fn hydrated_commit(repository: &Repository, id: ObjectId) -> Result<Option<Trailers>, Error> {
    let buffer = ObjectBuffer::new(repository);
    let commit = buffer.commit(id)?;
    let is_hydrated =
        Trailers::read(&commit.message).is_some() || provenance(&buffer, commit.tree, METADATA)?.is_some();
    if is_hydrated { shown_by(&commit, METADATA, &buffer) } else { Ok(None) }
}

/// How many commits of others are looked at for what they merged.
const MERGES_MAX: usize = 16;

/// What the commit of ours says of itself whose file `metadata` `tip` has: the nearest one on the first-parent line, or one that was merged
/// above that, as a promoter does.
pub(crate) fn shown_by(tip: &Commit, metadata: &str, buffer: &ObjectBuffer<'_>) -> Result<Option<Trailers>, Error> {
    let file = buffer.entry(tip.tree, metadata)?;
    for commit in line(tip, buffer).take(if file.is_some() { MERGES_MAX } else { 0 }) {
        let commit = commit?;
        if let Some(trailers) = Trailers::read(&commit.message) {
            return Ok(Some(trailers));
        }
        let merged = commit.parents.iter().skip(1).take(MERGES_MAX);
        for (made, trailers) in merged.filter_map(|parent| hydrated_below(*parent, buffer)) {
            if buffer.entry(made.tree, metadata)? == file {
                return Ok(Some(trailers));
            }
        }
    }
    nearest(tip, buffer, |_| true)
}

/// The trailers of the nearest commit of ours on the first-parent line from `tip`.
pub(crate) fn nearest(
    tip: &Commit,
    buffer: &ObjectBuffer<'_>,
    wanted: impl Fn(&Trailers) -> bool,
) -> Result<Option<Trailers>, Error> {
    Ok(nearest_commit(tip, buffer, wanted)?.map(|(_, trailers)| trailers))
}

/// Where the files of a branch were copied from, and the dry commit that they show, when its newest commit of hydration is a
/// rollback of the whole branch.
pub(crate) fn rolled_back_to(
    branch: &BranchName,
    tip: &Commit,
    buffer: &ObjectBuffer<'_>,
) -> Result<Option<(Rollback, ObjectId)>, Error> {
    let newest = nearest(tip, buffer, |trailers| trailers.branch == *branch)?;
    Ok(newest.and_then(|trailers| Some((trailers.whole_rollback()?, trailers.definition()))))
}

/// The nearest commit of ours on the first-parent line from `tip`, with its trailers.
pub(crate) fn nearest_commit(
    tip: &Commit,
    buffer: &ObjectBuffer<'_>,
    wanted: impl Fn(&Trailers) -> bool,
) -> Result<Option<(Commit, Trailers)>, Error> {
    for commit in line(tip, buffer) {
        let commit = commit?;
        if let Some(trailers) = Trailers::read(&commit.message).filter(|trailers| wanted(trailers)) {
            return Ok(Some((commit, trailers)));
        }
    }
    Ok(None)
}

/// The first-parent line from `tip` on, itself included, as far back as it is here and matters.
pub(crate) fn line<'a>(tip: &Commit, buffer: &'a ObjectBuffer<'_>) -> impl Iterator<Item = Result<Commit, Error>> + 'a {
    let parent = |commit: &Commit| {
        let parent = commit.parents.first().filter(|parent| buffer.has(**parent));
        parent.map(|parent| buffer.commit(*parent))
    };
    let next = move |here: &Result<Commit, Error>| here.as_ref().ok().and_then(parent);
    std::iter::successors(Some(Ok(tip.clone())), next).take(ANCESTORS_MAX)
}

/// The directory whose `hydrator.metadata` is that of all that `path` belongs to: the root, or the directory
/// that a promotion strategy promotes on its own.
pub(crate) fn metadata_dir(settings: &Settings, branch: &BranchName, path: &RepoPath) -> RepoPath {
    let active = settings.active_paths(branch).iter().find(|active| path.starts_with(active));
    active.cloned().unwrap_or_default()
}
