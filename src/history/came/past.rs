//! What runs left of dry commits: hydrated commits that name them, and recorded failures.

use std::cell::RefCell;

use crate::hydrate::report::{BehindPath, BranchReport, HydratedCommit};
use crate::manifest::ChangedObjects;
use crate::metadata::{Behind, Trailers};
use crate::owners::changed_objects::changed_objects;
use crate::owners::failures::{FAILURES_REF, Failure, Failures};
use crate::owners::files::{MANIFEST, METADATA};
use crate::owners::standing::{line, provenance};
use crate::repo::{Commit, Error, Location, ObjectBuffer, ObjectId, Repository, object_id};
use dry_files::path::RepoPath;

/// How many records of failures are looked through, the newest first: as many runs may have come between a push and its turn.
const RECORDS_MAX: usize = 20;

/// The repository as it is now.
pub(super) struct Past {
    repository: Repository,
    /// The records of failures that were read, and the commit of the next one.
    failures: RefCell<(Vec<Failures>, Option<ObjectId>)>,
}

/// What was made of the commits of a push on a branch.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// The hydrated commits, oldest first.
    pub commits: Vec<HydratedCommit>,
    /// The commit below them; none when they begin the branch.
    pub old: Option<String>,
    /// The first dry commit after them that a hydrated commit was made of.
    pub later: Option<String>,
    /// Whether a hydrated commit was made of a dry commit before them.
    pub has_older: bool,
    /// Whether too much came after them for them to be found.
    pub is_lost: bool,
}

impl Past {
    /// Opens it once more: others have written objects since it was opened.
    pub(super) fn open(repository: &Repository) -> Result<Self, Error> {
        let repository = Repository::open(repository.git_dir(), Location::Hook)?;
        let newest = repository.refs()?.get(FAILURES_REF);
        Ok(Self { repository, failures: RefCell::new((Vec::new(), newest)) })
    }

    /// The objects that differ between the parent of the first hydrated commit and the last one.
    pub(super) fn changed_objects(
        &self,
        first: &HydratedCommit,
        last: &HydratedCommit,
    ) -> Result<ChangedObjects, Error> {
        let buffer = ObjectBuffer::new(&self.repository);
        let (Some(first), Some(last)) = (object_id(&first.id), object_id(&last.id)) else {
            return Ok(ChangedObjects::default());
        };
        let parent = buffer.commit(first)?.parents.first().copied();
        let before = parent.map(|parent| buffer.commit(parent)).transpose()?;
        let before = before.map_or(buffer.empty_tree_id(), |before| before.tree);
        changed_objects(&buffer, before, buffer.commit(last)?.tree)
    }

    /// What was made on a branch of dry commits as `is_his` says, from where a run found it; `is_older` says of others whether they
    /// came before.
    ///
    /// Of a dry commit that a rewind leads back to, what counts was made on top of the commits that the rewind takes away.
    pub(super) fn made(
        &self,
        branch: &BranchReport,
        is_his: &dyn Fn(ObjectId) -> bool,
        is_older: &dyn Fn(ObjectId) -> bool,
        is_rewind: bool,
    ) -> Result<Made, Error> {
        let mut made = Made::default();
        let mut is_on_top = false;
        let Some(tip) = branch.old.as_deref().and_then(object_id) else { return Ok(made) };
        let buffer = ObjectBuffer::new(&self.repository);
        let tip = buffer.commit(tip)?;
        made.is_lost = true;
        for commit in line(&tip, &buffer) {
            let commit = commit?;
            let Some(trailers) = Trailers::read(&commit.message) else { continue };
            // The empty commit that a branch begins with shows nothing.
            if commit.parents.is_empty() {
                made.is_lost = false;
                break;
            }
            if trailers.branch.to_string() != branch.branch || trailers.dry_branch.as_str() != branch.dry_branch {
                continue;
            }
            let dry = trailers.dry_commit;
            if is_his(dry) {
                made.old = self.below(&commit, &buffer)?;
                made.commits.insert(0, hydrated(&commit, dry, &buffer)?);
            } else if is_older(dry) {
                (made.has_older, made.is_lost) = (true, false);
                break;
            } else if is_rewind && !made.commits.is_empty() {
                (is_on_top, made.is_lost) = (true, false);
                break;
            } else {
                made.later = Some(dry.to_string());
            }
        }
        if is_rewind && !is_on_top {
            made.commits.clear();
        }
        Ok(made)
    }

    /// The commit below one; none when that is the empty one that a branch begins with.
    fn below(&self, commit: &Commit, buffer: &ObjectBuffer<'_>) -> Result<Option<String>, Error> {
        let Some(parent) = commit.parents.first().filter(|parent| self.repository.has(**parent)) else {
            return Ok(None);
        };
        let begins = buffer.commit(*parent)?.parents.is_empty();
        Ok((!begins).then(|| parent.to_string()))
    }

    /// What is recorded of the dry commit of a report that it did not hydrate, or not all of it.
    pub(super) fn failure(&self, his: &BranchReport) -> Result<Option<Failure>, Error> {
        let mut known = self.failures.borrow_mut();
        let (read, next) = &mut *known;
        let mut place = 0;
        loop {
            if let Some(failures) = read.get(place) {
                if let Some(found) = failures.of_dry(&his.branch, &his.dry_branch, &his.dry_sha) {
                    return Ok(Some(found.clone()));
                }
                place += 1;
                continue;
            }
            let Some(commit) = next.filter(|_| place < RECORDS_MAX) else { return Ok(None) };
            let buffer = ObjectBuffer::new(&self.repository);
            // A record that cannot be read says nothing.
            let Ok(failures) = Failures::read(&buffer, Some(commit)) else {
                *next = None;
                return Ok(None);
            };
            read.push(failures);
            *next = self.repository.first_parent(commit)?;
        }
    }

    /// Paths that stayed as they were when the newest commit of a report was made, each with the dry commit that it shows.
    pub(super) fn behind(&self, his: &BranchReport, paths: &[RepoPath]) -> Result<Vec<BehindPath>, Error> {
        let Some(commit) = his.commits.last().and_then(|commit| object_id(&commit.id)) else { return Ok(Vec::new()) };
        let buffer = ObjectBuffer::new(&self.repository);
        let listed = provenance(&buffer, buffer.commit(commit)?.tree, METADATA)?.map(|found| found.behind);
        let listed = listed.unwrap_or_default().into_iter().filter(|behind| paths.contains(&behind.path));
        Ok(listed.map(left).collect())
    }
}

/// A path that stayed as it was by a failure.
fn left(behind: Behind) -> BehindPath {
    let dry_sha = behind.dry_commit.map(|id| id.to_string());
    BehindPath {
        path: behind.path,
        dry_sha,
        application: None,
        paused: false,
        paused_at: None,
        held: None,
        parent: None,
    }
}

/// A hydrated commit, as the run reported it that made it.
fn hydrated(commit: &Commit, dry: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<HydratedCommit, Error> {
    let below = match commit.parents.first() {
        Some(parent) => buffer.commit(*parent)?.tree,
        None => buffer.empty_tree_id(),
    };
    let (mut changed, mut removed) = (Vec::new(), Vec::new());
    for change in buffer.diff_trees(below, commit.tree)? {
        let Some(path) = change.path.strip_suffix(MANIFEST).and_then(|path| path.strip_suffix('/')) else { continue };
        let Ok(path) = RepoPath::new(path) else { continue };
        if change.new.is_some() { &mut changed } else { &mut removed }.push(path);
    }
    let defined = Trailers::read(&commit.message).and_then(|trailers| trailers.defined);
    Ok(HydratedCommit {
        id: commit.id.to_string(),
        dry_sha: dry.to_string(),
        resolved: defined.as_ref().map(|defined| defined.resolved.clone()),
        defined_at: defined.map(|defined| defined.at.to_string()),
        changed,
        removed,
    })
}
