use super::branch::METADATA;
use super::history::provenance;
use crate::application::BranchName;
use crate::git::{Commit, Error, Notes, ObjectBuffer, ObjectId};
use crate::metadata::{Trailers, read_note};
use crate::path::RepoPath;
use crate::settings::Settings;

/// How far back the commits of a branch are searched for one of ours. A promoter's merges stand on top of ours one by
/// one, never in such numbers.
const ANCESTORS_MAX: usize = 1000;

/// Who makes the commits of Argo CD's own hydrator unless its settings name another.
const ARGOCD_AUTHOR: &str = "Argo CD";

/// An environment branch that exists, as its tip, its note and its history show it.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The commit it points at.
    pub tip: Commit,
    /// The dry commit that it was last hydrated from, if that can be told.
    pub dry: Option<ObjectId>,
    /// The commit of the settings that it was hydrated with then.
    pub settings: Option<ObjectId>,
    /// Whether its tip has a note: one that others put there has none.
    pub noted: bool,
    /// Who made it.
    pub origin: Origin,
}

/// Who made an environment branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Hydration: the trailers of the nearest hydrated commit.
    Ours(Trailers),
    /// Argo CD's own hydrator, from which we take over.
    ArgoCd,
    /// Nobody yet: its tree is empty.
    Empty,
    /// Somebody else, and the settings allow us to take it over.
    Adopted,
    /// Somebody else.
    Foreign,
}

impl Standing {
    /// Reads how `branch` stands, whose tip is `tip`. On a branch that several dry branches share, `dry_branch` is the
    /// one that counts.
    pub fn read(
        branch: &BranchName,
        tip: ObjectId,
        dry_branch: &BranchName,
        settings: &Settings,
        notes: &mut Notes,
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Self, Error> {
        let commit = buffer.commit(tip)?;
        let shared = !settings.active_paths(branch).is_empty();
        let latest = nearest(&commit, buffer, |trailers| trailers.branch == *branch)?;
        let ours = match &latest {
            Some(trailers) if shared && trailers.dry_branch != *dry_branch => {
                nearest(&commit, buffer, |trailers| trailers.branch == *branch && trailers.dry_branch == *dry_branch)?
            }
            _ => latest.clone(),
        };
        // What cannot be read, or names what is no commit, is as good as none: trailers tell the same.
        let is_commit = |id: &ObjectId| buffer.commit(*id).is_ok() || !buffer.repository().has(*id);
        let note = notes.get(tip, buffer).ok().flatten().and_then(|note| read_note(&note)).filter(is_commit);
        // The root of a branch may have a directory for each of many Applications: it is read only if it decides.
        let decides = latest.is_none() || (note.is_none() && !shared);
        let recorded = if decides { provenance(buffer, commit.tree, METADATA)? } else { None };
        let recorded = recorded.and_then(|found| found.dry_commit).filter(is_commit);
        let origin = match latest {
            Some(trailers) => Origin::Ours(trailers),
            None if commit.tree == buffer.empty_tree_id() => Origin::Empty,
            None if settings.adopt.contains(branch) => Origin::Adopted,
            None if recorded.is_some() && commit.author.name == ARGOCD_AUTHOR => Origin::ArgoCd,
            None => Origin::Foreign,
        };
        let by_trailer = ours.as_ref().map(|trailers| trailers.dry_commit).filter(is_commit);
        // On a shared branch the note and the files at the root may be of another dry branch's latest commit.
        let dry = if shared { by_trailer } else { note.or(recorded).or(by_trailer) };
        let settings = ours.and_then(|trailers| trailers.settings_commit);
        Ok(Self { tip: commit, dry, settings, noted: note.is_some(), origin })
    }

    /// The dry branch that writes to this branch, when it is ours.
    pub fn dry_branch(&self) -> Option<&BranchName> {
        match &self.origin {
            Origin::Ours(trailers) => Some(&trailers.dry_branch),
            Origin::ArgoCd | Origin::Empty | Origin::Adopted | Origin::Foreign => None,
        }
    }
}

/// The trailers of the nearest commit of ours on the first-parent line from `tip`.
pub(super) fn nearest(
    tip: &Commit,
    buffer: &ObjectBuffer<'_>,
    wanted: impl Fn(&Trailers) -> bool,
) -> Result<Option<Trailers>, Error> {
    Ok(nearest_commit(tip, buffer, wanted)?.map(|(_, trailers)| trailers))
}

/// The same with the commit.
pub(super) fn nearest_commit(
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

/// What the first-parent line of a branch tells of its making.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    /// The dry branch that it is hydrated from.
    pub dry_branch: Option<BranchName>,
    /// Whether hydration made commits of it, be it for another branch.
    pub has_hydrated: bool,
}

/// How many commits of others on top of ours, one after the other, leave a branch ours.
const STRANGERS_MAX: usize = 16;

/// Looks at the line of `branch` from `tip` on, down to its newest commit of ours; commits from `stop` on are not looked
/// at.
pub(super) fn lineage(
    branch: &BranchName,
    tip: ObjectId,
    stop: Option<ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> Result<Lineage, Error> {
    let mut found = Lineage::default();
    let mut strangers = 0;
    for commit in line(&buffer.commit(tip)?, buffer) {
        let commit = commit?;
        if Some(commit.id) == stop {
            break;
        }
        match Trailers::read(&commit.message) {
            Some(trailers) if trailers.branch == *branch => {
                found.dry_branch = Some(trailers.dry_branch);
                break;
            }
            Some(_) => (found.has_hydrated, strangers) = (true, 0),
            None => strangers += 1,
        }
        if strangers > STRANGERS_MAX {
            break;
        }
    }
    Ok(found)
}

/// The first-parent line from `tip` on, itself included, as far back as it is here and matters.
pub(super) fn line<'a>(tip: &Commit, buffer: &'a ObjectBuffer<'_>) -> impl Iterator<Item = Result<Commit, Error>> + 'a {
    let parent = |commit: &Commit| {
        let parent = commit.parents.first().filter(|parent| buffer.repository().has(**parent));
        parent.map(|parent| buffer.commit(*parent))
    };
    let next = move |here: &Result<Commit, Error>| here.as_ref().ok().and_then(parent);
    std::iter::successors(Some(Ok(tip.clone())), next).take(ANCESTORS_MAX)
}

/// The directory whose `hydrator.metadata` stands for the whole of what `path` belongs to: the root, or the directory
/// that a promotion strategy promotes on its own.
pub fn metadata_dir(settings: &Settings, branch: &BranchName, path: &RepoPath) -> RepoPath {
    let active = settings.active_paths(branch).iter().find(|active| path.starts_with(active));
    active.cloned().unwrap_or_default()
}
