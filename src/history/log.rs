//! Hydrated history as people ask for it: what each commit changed, and which dry commit is behind it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use serde::Serialize;

use super::moved::{Moved, Moves};
use super::verify::Line;
use crate::argo::BranchName;
use crate::manifest::{ChangedObjects, ObjectCounts, Tally};
use crate::metadata::NOTES_REF;
use crate::metadata::{DryCommit, Rollback, Time, Trailers, read_note, reason_of};
use crate::owners::changed_objects::{directory_of, renamed_applications, text_of};
use crate::owners::error::HydrateError;
use crate::owners::failures::{FAILURES_REF, Failure, Failures};
use crate::owners::files::METADATA;
use crate::owners::heads::BACKLOG_MAX;
use crate::owners::place::Place;
use crate::owners::policy::Policy;
use crate::owners::standing::{nearest, nearest_commit, provenance, provenance_in};
use crate::repo::publish::{HydratedTree, Listings};
use crate::repo::{Commit, Error, Notes, ObjectBuffer, ObjectId, Refs, Repository, object_id};
use crate::settings::History as Kept;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// One commit of an environment branch, or a dry commit that has none because it did not hydrate. Ids are full and in
/// hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// The branch, or what else the line was called.
    pub branch: String,
    /// The commit; none for a dry commit that did not hydrate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was committed, as RFC 3339.
    pub date: String,
    /// When it was committed, in seconds since 1970.
    #[serde(skip)]
    pub seconds: i64,
    /// When it came to the branch, as far as this repository knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// The first line of its own message.
    pub subject: String,
    /// The dry commit behind it; none when it was not made by hydration, or starts the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry: Option<Dry>,
    /// Itself with its author, where somebody else than hydration made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by_others: Option<Dry>,
    /// What it goes back to, where its files were copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollback: Option<RolledBack>,
    /// What was held before and is not any more: the Applications, none for the whole branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Vec<String>>,
    /// The destination paths whose manifests it changed, by path.
    pub changed: Vec<PathChange>,
    /// What of their objects it changed.
    pub objects: ChangedObjects,
    /// The dry commits between the one behind the commit below and its own that were not hydrated, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedDry>,
    /// Why the dry commit did not hydrate; empty when it did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Diagnostic>,
}

/// A rollback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RolledBack {
    /// The hydrated commit whose files it has.
    pub to: String,
    /// The dry commit that the branch showed before.
    pub held_by: String,
    /// Why.
    pub reason: String,
    /// The Applications that went back alone; the whole branch when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<String>,
}

impl RolledBack {
    fn of(commit: &Commit) -> Option<Self> {
        let trailers = Trailers::read(&commit.message)?;
        let Rollback { to, held_by } = trailers.rollback?;
        let (to, held_by, reason) = (to.to_string(), held_by.to_string(), reason_of(&commit.message).to_owned());
        Some(Self { to, held_by, reason, applications: trailers.copied().to_vec() })
    }
}

/// `web rolled back to 1a2b3c4: outage`
impl fmt::Display for RolledBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.applications.is_empty() {
            write!(f, "{} ", self.applications.join(", "))?;
        }
        write!(f, "rolled back to {}: {}", self.to.get(..7).unwrap_or(&self.to), self.reason)
    }
}

impl Entry {
    /// Whether it changed an object, as far as that is known.
    pub(crate) fn is_change(&self) -> bool {
        self.changed.iter().any(|path| path.objects.is_none_or(|counts| !counts.is_zero()))
    }
}

/// A dry commit, or one of others on a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dry {
    /// Its id.
    pub sha: String,
    /// The first paragraph of its message in one line; empty when it is not in this repository.
    pub subject: String,
    /// `Name <email>`; empty when it is not in this repository.
    pub author: String,
    /// When it was committed, as RFC 3339; empty when it is not in this repository.
    pub date: String,
    /// The tag that led to it, or the id by which Applications name it; none where a branch did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

/// What a commit changed in one destination path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PathChange {
    /// The path.
    pub path: String,
    /// The Applications that are rendered into it, as far as the branch shows it.
    pub applications: Vec<String>,
    /// How many objects changed; none when the manifests cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectCounts>,
    /// `manifest.yaml` before and after; none where there is none.
    #[serde(skip)]
    pub blobs: [Option<ObjectId>; 2],
}

/// A dry commit without a hydrated commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkippedDry {
    /// The dry commit.
    #[serde(flatten)]
    pub dry: Dry,
    /// The first thing that was wrong with it, as far as it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Whether a commit, or one below it, was made by hydration: ours or Argo CD's own.
pub(crate) fn is_hydrated(repository: &Repository, tip: ObjectId) -> Result<bool, HydrateError> {
    let buffer = ObjectBuffer::new(repository);
    let commit = buffer.commit(tip)?;
    Ok(nearest(&commit, &buffer, |_| true)?.is_some() || recorded(&buffer, commit.tree)?.is_some())
}

/// The names of the Applications that the files of a hydrated commit name.
pub(crate) fn applications_at(repository: &Repository, tip: ObjectId) -> Result<BTreeSet<String>, HydrateError> {
    let buffer = ObjectBuffer::new(repository);
    let listings = Listings::default();
    let commit = buffer.commit(tip)?;
    let tree = HydratedTree::new(&buffer, &listings, commit.tree);
    let mut names = BTreeSet::new();
    for file in buffer.diff_trees(buffer.empty_tree_id(), commit.tree)? {
        let Some(path) = directory_of(&file.path) else { continue };
        names.extend(provenance_in(&tree, &path)?.map(|found| found.applications).unwrap_or_default());
    }
    Ok(names)
}

/// The dry commit that the files at the root of a hydrated branch name.
fn recorded(buffer: &ObjectBuffer<'_>, tree: ObjectId) -> Result<Option<ObjectId>, Error> {
    Ok(provenance(buffer, tree, METADATA)?.and_then(|found| found.dry_commit))
}

/// The dry commit behind a commit: the one that its trailers name, or that its files name, unless those of its parent name
/// it already, as for a promoter's merge or a commit of Argo CD's own hydrator. None for the commit that starts a branch.
pub(crate) fn dry_of(
    buffer: &ObjectBuffer<'_>,
    commit: &Commit,
    parent: Option<&Commit>,
) -> Result<Option<ObjectId>, Error> {
    if let Some(trailers) = Trailers::read(&commit.message) {
        return Ok(Some(trailers.dry_commit).filter(|_| !commit.parents.is_empty()));
    }
    let before = parent.map_or(Ok(None), |parent| recorded(buffer, parent.tree))?;
    Ok(recorded(buffer, commit.tree)?.filter(|dry| before != Some(*dry)))
}

/// Whether others than hydration and promoters made a commit: it names no dry commit, and changes no `hydrator.metadata`.
pub(super) fn is_of_others(buffer: &ObjectBuffer<'_>, commit: &Commit, parent: Option<&Commit>) -> Result<bool, Error> {
    if Trailers::read(&commit.message).is_some() {
        return Ok(false);
    }
    let base = parent.map_or(buffer.empty_tree_id(), |parent| parent.tree);
    let changes = buffer.diff_trees(base, commit.tree)?;
    let is_metadata = |path: &str| path.rsplit('/').next() == Some(METADATA);
    Ok(!changes.is_empty() && !changes.iter().any(|change| is_metadata(&change.path)))
}

/// Which commits are wanted; all of them unless something is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selection {
    /// Those that change what is rendered from one of these Applications.
    pub applications: Vec<String>,
    /// Those that change manifests at or below one of these paths of the branch.
    pub paths: Vec<RepoPath>,
    /// Those whose author, of a hydrated one its dry commit's, has this text in name or address, in whichever case.
    pub author: Option<String>,
    /// Those that came to the branch then or later, in seconds since 1970; where that is unknown, that were committed then.
    pub since: Option<i64>,
    /// Those that came then or before.
    pub until: Option<i64>,
}

impl Selection {
    fn is_everything(&self) -> bool {
        self.applications.is_empty() && self.paths.is_empty()
    }

    /// Whether time and author are as asked for.
    fn admits(&self, entry: &Entry) -> bool {
        let made_by = entry.dry.as_ref().or(entry.made_by_others.as_ref());
        let author = made_by.map_or_else(String::new, |commit| commit.author.to_lowercase());
        let seconds = entry.moved.as_ref().map_or(entry.seconds, |moved| moved.seconds);
        self.since.is_none_or(|since| seconds >= since)
            && self.until.is_none_or(|until| seconds <= until)
            && self.author.as_ref().is_none_or(|wanted| author.contains(&wanted.to_lowercase()))
    }

    fn wants(&self, path: &RepoPath, applications: &[String]) -> bool {
        self.is_everything()
            || applications.iter().any(|name| self.applications.contains(name))
            || self.paths.iter().any(|wanted| path.starts_with(wanted) || wanted.starts_with(path))
    }
}

/// The commits of some lines, newest first; those of one line stay in their order.
pub(crate) struct History<'a> {
    repository: &'a Repository,
    buffer: ObjectBuffer<'a>,
    notes: Option<Notes>,
    /// What was recorded of dry commits that did not hydrate, by branch and dry commit.
    records: BTreeMap<(String, String), Failure>,
    /// Whether others may have written the records of failures.
    is_quoted: bool,
    /// Whether a dry commit between two that were hydrated was looked at.
    every_is_tried: bool,
    selection: Selection,
    count: Count,
    /// The directories that were read for it.
    listings: Listings,
    cursors: Vec<Cursor>,
}

/// What is counted of the objects that a commit changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Count {
    /// Each of them.
    #[default]
    All,
    /// As many paths as it takes to know that there is one.
    Any,
    /// None: no path is named either.
    Nothing,
}

/// How far one line is listed.
struct Cursor {
    name: String,
    after: Option<ObjectId>,
    here: Option<Commit>,
    /// The dry commits after the tip that did not hydrate, newest first.
    failed: VecDeque<(i64, Entry)>,
    /// When its commits came, where the line is a whole branch of a server.
    moves: Moves,
}

impl Cursor {
    /// When what comes next was committed.
    fn seconds(&self) -> Option<i64> {
        let failed = self.failed.front().map(|(seconds, _)| *seconds);
        failed.or(self.here.as_ref().map(|commit| commit.committer.seconds))
    }
}

/// How many versions of the record of failures are looked at.
const RECORDS_MAX: usize = 1000;

impl<'a> History<'a> {
    /// The history of `lines`, of which those that are whole branches below [`Place::read`] start with the dry commits
    /// that did not hydrate.
    pub(crate) fn open(
        repository: &'a Repository,
        place: &Place,
        lines: Vec<Line>,
        selection: Selection,
    ) -> Result<Self, HydrateError> {
        let buffer = ObjectBuffer::new(repository);
        let refs = repository.refs()?;
        let policy = Policy::read(&refs, &buffer)?;
        let notes = refs.get(NOTES_REF).map(|tip| buffer.commit(tip)).transpose()?;
        let notes = notes.map(|commit| Notes::open(Some(commit.tree), &buffer)).transpose()?;
        let mut history = Self {
            repository,
            is_quoted: !place.believes_records(),
            records: records(&refs, &buffer)?,
            notes,
            every_is_tried: policy.settings.history == Kept::Every,
            selection,
            count: Count::default(),
            listings: Listings::default(),
            cursors: Vec::new(),
            buffer,
        };
        let failures = Failures::read(&history.buffer, refs.get(FAILURES_REF))?;
        for Line { name, tip, after } in lines {
            let branch_tip = BranchName::read(&name).ok().and_then(|branch| place.tip(&refs, &branch));
            let whole = after.is_none() && branch_tip == Some(tip);
            let here = Some(repository.commit(tip)?).filter(|_| Some(tip) != after);
            let mut failed = VecDeque::new();
            if let Some(commit) = here.as_ref().filter(|_| whole && history.selection.is_everything())
                && let Some(trailers) = nearest(commit, &history.buffer, |_| true)?
            {
                let of_branch = failures.of(&trailers.branch).iter().rev();
                failed.extend(of_branch.map(|failure| history.failed(&name, failure)));
            }
            let is_of_server = branch_tip.is_some() && !place.is_of_clone();
            let moves = match BranchName::read(&name).ok().filter(|_| is_of_server) {
                Some(branch) => Moves::read(repository, &place.read_name(&branch))?,
                None => Moves::default(),
            };
            history.cursors.push(Cursor { name, after, here, failed, moves });
        }
        Ok(history)
    }

    /// Counts no more than this: see [`Entry::is_change`].
    pub(crate) fn counting(self, count: Count) -> Self {
        Self { count, ..self }
    }

    /// An entry for a dry commit that did not hydrate, and when that was committed.
    fn failed(&self, branch: &str, failure: &Failure) -> (i64, Entry) {
        let id = crate::repo::object_id(&failure.dry_sha);
        let commit = id.and_then(|id| self.repository.commit(id).ok());
        let time = commit.as_ref().map_or_else(Time::default, |commit| Time::of(&commit.committer));
        let dry = commit.map_or_else(|| Dry::unknown(&failure.dry_sha), |commit| Dry::of(&commit));
        let entry = Entry {
            branch: branch.to_owned(),
            id: None,
            date: time.rfc3339(),
            seconds: time.seconds(),
            moved: None,
            subject: dry.subject.clone(),
            dry: Some(dry),
            made_by_others: None,
            rollback: None,
            resumed: None,
            changed: Vec::new(),
            objects: ChangedObjects::default(),
            skipped: Vec::new(),
            failures: self.shown(failure).diagnostics,
        };
        (time.seconds(), entry)
    }

    fn shown(&self, failure: &Failure) -> Failure {
        let failure = failure.clone();
        if self.is_quoted { failure.quoted() } else { failure }
    }

    /// What comes next, whether or not it is wanted.
    fn advance(&mut self) -> Result<Option<Entry>, Error> {
        let latest = (0..self.cursors.len()).rev().max_by_key(|index| self.cursors[*index].seconds());
        let Some(cursor) = latest.and_then(|index| self.cursors.get_mut(index)) else { return Ok(None) };
        if let Some((_, entry)) = cursor.failed.pop_front() {
            return Ok(Some(entry));
        }
        let Some(commit) = cursor.here.take() else { return Ok(None) };
        let parent = commit.parents.first().filter(|parent| self.repository.has(**parent));
        let parent = parent.map(|parent| self.repository.commit(*parent)).transpose()?;
        cursor.here = parent.clone().filter(|parent| Some(parent.id) != cursor.after);
        let (name, moved) = (cursor.name.clone(), cursor.moves.of(commit.id));
        let entry = self.entry(name, &commit, parent.as_ref())?;
        Ok(Some(Entry { moved, ..entry }))
    }

    fn entry(&mut self, branch: String, commit: &Commit, parent: Option<&Commit>) -> Result<Entry, Error> {
        let own = DryCommit::new(commit);
        let trailers = Trailers::read(&commit.message).filter(|_| !commit.parents.is_empty());
        let dry = dry_of(&self.buffer, commit, parent)?;
        let skipped = match (&trailers, parent) {
            (Some(trailers), Some(parent)) if self.selection.is_everything() => self.skipped(trailers, parent)?,
            _ => Vec::new(),
        };
        let (changed, objects) = self.changed(commit, parent)?;
        Ok(Entry {
            branch,
            id: Some(commit.id.to_string()),
            date: own.date.rfc3339(),
            seconds: own.date.seconds(),
            moved: None,
            subject: own.subject,
            dry: dry.map(|dry| {
                let defined = Trailers::read(&commit.message).and_then(|trailers| trailers.defined);
                self.dry(dry).resolved(defined.map(|defined| defined.resolved))
            }),
            made_by_others: is_of_others(&self.buffer, commit, parent)?.then(|| Dry::of(commit)),
            rollback: RolledBack::of(commit),
            resumed: self.resumed(&trailers, parent)?,
            changed,
            objects,
            skipped,
            failures: Vec::new(),
        })
    }

    /// What the newest commit of hydration below was held by, and this one is not.
    fn resumed(&self, trailers: &Option<Trailers>, parent: Option<&Commit>) -> Result<Option<Vec<String>>, Error> {
        let (Some(trailers), Some(parent)) = (trailers, parent) else { return Ok(None) };
        if trailers.whole_rollback().is_some() {
            return Ok(None);
        }
        let is_its = |other: &Trailers| other.branch == trailers.branch;
        let Some((_, before)) = nearest_commit(parent, &self.buffer, is_its)? else { return Ok(None) };
        let ended: Vec<String> = before.held.iter().filter(|held| !trailers.held.contains(held)).cloned().collect();
        Ok(Some(ended).filter(|ended| before.whole_rollback().is_some() || !ended.is_empty()))
    }

    fn dry(&self, id: ObjectId) -> Dry {
        match self.repository.commit(id) {
            Ok(commit) => Dry::of(&commit),
            Err(_) => Dry::unknown(&id.to_string()),
        }
    }

    /// The destination paths whose manifests differ between a commit and its parent, as far as they are wanted.
    fn changed(&self, commit: &Commit, parent: Option<&Commit>) -> Result<(Vec<PathChange>, ChangedObjects), Error> {
        if self.count == Count::Nothing {
            return Ok((Vec::new(), ChangedObjects::default()));
        }
        let base = parent.map_or(self.buffer.empty_tree_id(), |parent| parent.tree);
        let trees = [base, commit.tree].map(|tree| HydratedTree::new(&self.buffer, &self.listings, tree));
        let (mut changed, mut tally) = (Vec::new(), Tally::default());
        for change in self.buffer.diff_trees(base, commit.tree)? {
            let Some(path) = directory_of(&change.path) else { continue };
            let tree = &trees[usize::from(change.new.is_some())];
            let applications = provenance_in(tree, &path)?.map(|found| found.applications).unwrap_or_default();
            if !self.selection.wants(&path, &applications) {
                continue;
            }
            let is_readable = match (text_of(change.old, &self.buffer)?, text_of(change.new, &self.buffer)?) {
                (Some(old), Some(new)) => tally.add(&path, &old, &new),
                _ => false,
            };
            let objects = is_readable.then(ObjectCounts::default);
            let blobs = [change.old, change.new].map(|file| file.map(|(_, blob)| blob));
            changed.push(PathChange { path: path.to_string(), applications, objects, blobs });
            if self.count == Count::Any && (!is_readable || tally.has_changed()) {
                break;
            }
        }
        let mut counted = tally.finish();
        if self.count == Count::All {
            counted.applications = renamed_applications(&self.buffer, base, commit.tree)?;
            counted.applications.retain(|one| self.selection.wants(&one.path, &[&one.from[..], &one.to].concat()));
        }
        for change in &mut changed {
            let counts = RepoPath::new(&change.path).ok().and_then(|path| counted.paths.get(&path)).copied();
            change.objects = change.objects.map(|_| counts.unwrap_or_default());
        }
        Ok((changed, ChangedObjects { paths: BTreeMap::new(), ..counted }))
    }

    /// The dry commits between the one behind `below` and the one of `trailers` that were not hydrated: those that are
    /// recorded as failed, and those after the last one that the note of the hydrated commit below names.
    fn skipped(&mut self, trailers: &Trailers, below: &Commit) -> Result<Vec<SkippedDry>, Error> {
        let same = |other: &Trailers| other.branch == trailers.branch && other.dry_branch == trailers.dry_branch;
        let Some((below, mut before)) = nearest_commit(below, &self.buffer, same)? else { return Ok(Vec::new()) };
        // Between tags nothing is passed over.
        if before.defined.is_some() || trailers.defined.is_some() {
            return Ok(Vec::new());
        }
        // What a rollback took back had been hydrated.
        before.dry_commit = before.whole_rollback().map_or(before.dry_commit, |rollback| rollback.held_by);
        if ![before.dry_commit, trailers.dry_commit].iter().all(|dry| self.repository.has(*dry)) {
            return Ok(Vec::new());
        }
        let line = self.repository.first_parents(before.dry_commit, trailers.dry_commit, BACKLOG_MAX)?;
        let Some([between @ .., _]) = line.as_deref() else { return Ok(Vec::new()) };
        let note = match &mut self.notes {
            Some(notes) => {
                notes.get(below.id, &self.buffer)?.and_then(|note| read_note(&note)).map(|note| note.definition())
            }
            None => None,
        };
        let seen = match note {
            Some(dry) if dry == before.dry_commit => 0,
            Some(dry) => between.iter().position(|id| *id == dry).map_or(between.len(), |index| index + 1),
            None => between.len(),
        };
        let mut skipped = Vec::new();
        for (index, dry) in between.iter().enumerate() {
            let record = self.records.get(&(trailers.branch.to_string(), dry.to_string()));
            let failure = record.map(|failure| self.shown(failure));
            let message = failure.and_then(|failure| failure.diagnostics.into_iter().next()).map(|first| first.message);
            if record.is_some() || (self.every_is_tried && index >= seen) {
                skipped.push(SkippedDry { dry: self.dry(*dry), message });
            }
        }
        Ok(skipped)
    }
}

impl Iterator for History<'_> {
    type Item = Result<Entry, HydrateError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.advance() {
                Ok(Some(entry)) => {
                    let is_selected = self.selection.is_everything()
                        || !entry.changed.is_empty()
                        || !entry.objects.applications.is_empty();
                    if is_selected && self.selection.admits(&entry) {
                        return Some(Ok(entry));
                    }
                }
                Ok(None) => return None,
                Err(error) => {
                    self.cursors.clear();
                    return Some(Err(error.into()));
                }
            }
        }
    }
}

/// All failures that were ever recorded, a later record of a dry commit in place of an earlier one.
fn records(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Result<BTreeMap<(String, String), Failure>, Error> {
    let mut records = BTreeMap::new();
    let mut here = refs.get(FAILURES_REF);
    for _ in 0..RECORDS_MAX {
        let Some(id) = here else { break };
        for (branch, failures) in Failures::read(buffer, Some(id))?.branches() {
            for failure in failures {
                let key = (branch.to_owned(), failure.dry_sha.clone());
                records.entry(key).or_insert_with(|| failure.clone());
            }
        }
        here = buffer.repository().first_parent(id)?;
    }
    Ok(records)
}

impl Dry {
    /// What is shown of a dry commit.
    pub(crate) fn of(commit: &Commit) -> Self {
        let DryCommit { id, author, date, subject, .. } = DryCommit::new(commit);
        Self { sha: id.to_string(), subject, author, date: date.rfc3339(), resolved: None }
    }

    /// One that is not in this repository.
    pub(crate) fn unknown(sha: &str) -> Self {
        let (subject, author, date) = Default::default();
        Self { sha: sha.to_owned(), subject, author, date, resolved: None }
    }

    /// It, where `resolved` led to it.
    pub(crate) fn resolved(self, resolved: Option<String>) -> Self {
        Self { resolved, ..self }
    }

    /// ` v1.4.0`, behind its id, where a tag led to it.
    pub(crate) fn tag(&self) -> String {
        let is_name = |resolved: &&String| object_id(resolved).is_none();
        self.resolved.as_ref().filter(is_name).map(|tag| format!(" {tag}")).unwrap_or_default()
    }
}
