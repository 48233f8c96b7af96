//! One environment branch during a run: where it is, and the commits that are made on it.

mod copy;
mod dates;
mod judge;
mod make;
mod progress;
mod records;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::argo::{BranchName, DrawnPaths, HeldIdentities};
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::plan::skipped::LeftBehind;
use crate::hydrate::report::{BranchReport, HydratedCommit, Outcome, Skipped};
use crate::hydrate::whose::DryPoint;
use crate::known::UsedInputs;
use crate::manifest::ChangedObjects;
use crate::metadata::{Behind, Provenance, Source, Time, Trailers};
use crate::owners::active::Active;
use crate::owners::branch_records::BranchRecord;
use crate::owners::error::HydrateError;
use crate::owners::files::{MANIFEST, METADATA};
use crate::owners::heads::{BACKLOG_MAX, DryHead};
use crate::owners::revisions::Follows;
use crate::owners::seed_identities::recorded_on;
use crate::owners::snapshot::{Deleted, Snapshot};
use crate::owners::standing::{self, Standing};
use crate::repo::{self, Commit, Mode, Notes, ObjectBuffer, ObjectId, object_id};
use crate::settings::{Freeze, History, Settings};
use dry_files::diag::chain;
use dry_files::path::RepoPath;

pub(crate) use copy::Copied;
pub(crate) use judge::written_from;
pub(crate) use make::{BranchUpdate, initial};

/// An environment branch and what the run made of it so far.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub name: BranchName,
    pub sync: BranchName,
    /// The dry branch that it is hydrated from.
    pub dry_branch: BranchName,
    /// The tip of the dry branch.
    pub dry_tip: ObjectId,
    before: Before,
    /// The dry branch that it was hydrated from last, as long as `dry` is a commit of it and not of the one that takes its
    /// place.
    pub renamed_from: Option<BranchName>,
    /// The newest commit: the tip, or one that this run made.
    pub tip: Option<Commit>,
    /// The tree of our newest commit, when the tip is of others who put it on top since.
    made_below: Option<ObjectId>,
    /// What the newest commit says of itself, once it was asked for.
    metadata: OnceLock<TipMetadata>,
    /// The commit of its dry branch that it is hydrated from.
    pub dry: Option<ObjectId>,
    /// The dry commit that its sources are of, where a tag, a range or an id led to it.
    pub source: Option<Source>,
    /// What its Applications want it to show.
    pub follows: Follows,
    /// The settings that it was hydrated with.
    pub settings: Option<ObjectId>,
    /// How many Applications of the tip of the dry branch write to it.
    pub applications: usize,
    /// What of it stayed at an earlier dry commit.
    pub left: LeftBehind,
    /// Which of its Applications have random values; none when that is not known.
    pub drawn: Option<DrawnPaths>,
    /// Which Applications of its dry branch have random values, where that was looked at.
    pub seen: Option<DrawnPaths>,
    /// What those draw for, where that is not their name on this branch.
    pub identities: HeldIdentities,
    /// The recorded inputs that its Applications use.
    pub inputs: UsedInputs,
    /// Whether it must not be written in this run at all.
    pub closed: bool,
    progress: Progress,
}

/// What the repository says of a branch before the run.
#[derive(Debug, Clone, Default)]
struct Before {
    /// The tip.
    old: Option<ObjectId>,
    /// Where hydration left it, when somebody deleted it since.
    deleted: Option<Deleted>,
    standing: Option<Standing>,
    /// Whether the dry branch that it was hydrated from last is gone for good.
    dry_branch_is_gone: bool,
    /// Why its state cannot be determined.
    unreadable: Option<String>,
    /// The tip of the sync branch, when the branch is a staging branch of it.
    sync_tip: Option<ObjectId>,
    /// Who made the sync branch, when the branch is a staging branch of it.
    active: Active,
    /// Whether it was taken up at a commit that hydration made, to be hydrated again from there.
    resumed: bool,
}

/// What a run did to a branch.
#[derive(Debug, Clone, Default)]
struct Progress {
    /// The empty commit that the sync branch starts with, when there was none.
    new_sync: Option<ObjectId>,
    commits: Vec<HydratedCommit>,
    /// How many objects each path of the only commit has, where all were rendered for it.
    rendered: Option<BTreeMap<RepoPath, usize>>,
    /// The namespaces of Applications, by the paths that its commits wrote.
    namespaces: BTreeMap<RepoPath, String>,
    /// What of its objects differs from before the run, once that was found out.
    objects: Option<ChangedObjects>,
    skipped: Vec<Skipped>,
    failure: Option<Outcome>,
    /// The Applications that it failed by, when it is renders that failed.
    failed: Option<FailedBranch>,
    /// Whether it fails so until the documents of its Applications change.
    lasts: bool,
    /// Whether a dry commit was hydrated onto it.
    reached: bool,
    /// Whether one of its commits is a rollback.
    is_rolled_back: bool,
    /// What other dry branches that share it made of it.
    earlier: Earlier,
}

/// What other dry branches made of a branch in a run, before the one that it is hydrated from now.
#[derive(Debug, Clone, Default)]
struct Earlier {
    /// What of it is reported, of each dry branch by itself.
    reports: Vec<BranchReport>,
    /// What branches showed of them before the run.
    known: Vec<DryPoint>,
    /// What the branch shows of them now.
    shown: BTreeSet<DryPoint>,
    /// How many commits.
    commits: usize,
    /// How many dry commits did not hydrate.
    skipped: usize,
    /// The records that they leave.
    records: Vec<(BranchName, BranchRecord)>,
    /// Whether one of them failed.
    is_failed: bool,
    /// How many Applications of the tips of their dry branches write to it.
    applications: usize,
}

/// What the newest commit of a branch says of itself at its root.
#[derive(Debug, Clone, Default)]
pub(crate) struct TipMetadata {
    /// The commit of the dry branch that it was made from.
    pub dry_commit: Option<ObjectId>,
    /// The date that it says of that.
    pub date: Option<Time>,
    /// The paths that stayed at an earlier one.
    pub behind: Vec<Behind>,
}

impl TipMetadata {
    /// Whether a path shows an earlier dry commit than the branch does.
    pub(crate) fn is_behind(&self, path: &RepoPath) -> bool {
        self.behind.iter().any(|behind| behind.path == *path)
    }

    /// The dry commit that a path shows.
    pub(crate) fn shown_at(&self, path: &RepoPath) -> Option<ObjectId> {
        match self.behind.iter().find(|behind| behind.path == *path) {
            Some(behind) => behind.dry_commit,
            None => self.dry_commit,
        }
    }
}

impl From<Provenance> for TipMetadata {
    fn from(found: Provenance) -> Self {
        Self { dry_commit: found.dry_commit, date: found.date, behind: found.behind }
    }
}

impl Branch {
    /// What a repository knows of an environment branch that is hydrated from `head`.
    ///
    /// Errors: the repository, or settings that the branch names and that are not here.
    pub(crate) fn open(
        name: &BranchName,
        sync: &BranchName,
        head: &DryHead,
        found: &Snapshot<'_>,
        notes: &mut Notes,
    ) -> Result<Self, HydrateError> {
        let mut branch = Self::read(name, sync, head, found, notes);
        let made_below =
            branch.before.standing.as_ref().map(|standing| standing.made_below(&found.buffer)).transpose()?;
        branch.made_below = made_below.flatten();
        if let Some(record) = branch.before.standing.as_ref().and_then(Standing::record) {
            let identities = recorded_on(name, record, &found.buffer)?;
            branch.identities = match &branch.renamed_from {
                Some(before) => identities.renamed(before, &head.branch),
                None => identities,
            };
        }
        // Where settings come from elsewhere, no ref has to keep those of before.
        let kept = branch.settings.filter(|_| found.setup.place.believes_records());
        match kept.filter(|id| found.buffer.commit(*id).is_err()) {
            Some(id) => Err(HydrateError::SettingsMissing { id, branch: name.clone() }),
            None => Ok(branch),
        }
    }

    fn read(name: &BranchName, sync: &BranchName, head: &DryHead, found: &Snapshot<'_>, notes: &mut Notes) -> Self {
        let (refs, names) = (&found.refs, &found.setup.place);
        let old = names.tip(refs, name);
        let deleted = if old.is_none() { found.deleted(name, sync, &head.branch) } else { None };
        let goes_on_from = old.or_else(|| deleted.and_then(|deleted| deleted.is_here.then_some(deleted.tip)));
        let read = |tip| found.standing(name, tip, &head.branch, notes);
        let broken = [name, sync].map(|branch| names.read_name(branch)).into_iter().find(|it| refs.is_broken(it));
        let cannot = |branch: &BranchName, error: &repo::Error| {
            format!("`{}` cannot be read: {}", names.read_name(branch), chain(error))
        };
        let (standing, mut unreadable) = match (broken, goes_on_from.map(read).transpose()) {
            (Some(broken), _) => (None, Some(format!("`{broken}` is broken"))),
            (None, Ok(standing)) => (standing, None),
            (None, Err(error)) => (None, Some(cannot(name, &error))),
        };
        let active = if sync == name { Ok(Active::Missing) } else { Active::of(sync, name, found) };
        let active = active.unwrap_or_else(|error| {
            unreadable.get_or_insert_with(|| cannot(sync, &error));
            Active::Foreign
        });
        let unreadable = unreadable.or_else(|| found.lock_left_on(&[name, sync]));
        let dry_branch_before = standing.as_ref().and_then(Standing::dry_branch);
        let leaves = |before: &&BranchName| found.has_left(before) || found.handed_over.contains(name);
        let renamed_from = dry_branch_before.filter(|before| **before != head.branch).filter(leaves).cloned();
        // Where nothing of ours is, nothing was drawn.
        let record = standing.as_ref().and_then(Standing::record);
        let drawn = record.map_or_else(|| Some(DrawnPaths::new()), |record| record.drawn.clone());
        Self {
            name: name.clone(),
            sync: sync.clone(),
            dry_branch: head.branch.clone(),
            dry_tip: head.tip,
            tip: standing.as_ref().map(|standing| standing.tip.clone()),
            made_below: None,
            metadata: OnceLock::new(),
            dry: standing.as_ref().and_then(|standing| standing.dry),
            source: standing.as_ref().and_then(|standing| standing.source.clone()),
            follows: Follows::default(),
            settings: standing.as_ref().and_then(|standing| standing.settings),
            before: Before {
                old,
                deleted,
                standing,
                dry_branch_is_gone: renamed_from.is_some(),
                unreadable,
                sync_tip: names.tip(refs, sync),
                active,
                resumed: false,
            },
            renamed_from,
            applications: 0,
            left: LeftBehind::default(),
            drawn,
            seen: None,
            identities: HeldIdentities::default(),
            inputs: UsedInputs::new(),
            closed: false,
            progress: Progress::default(),
        }
    }

    /// Goes on from where the dry branches that share it left it in this run.
    pub(crate) fn go_on_from(&mut self, earlier: Self, settings: &Settings) {
        let (records, applications) = (earlier.records(settings), earlier.all_applications());
        let record = records.iter().find(|(name, _)| *name == self.name).map(|(_, record)| record.clone());
        if let (Some(tip), Some(record)) = (&earlier.tip, record) {
            let before = self.before.standing.as_ref();
            let noted = before.is_none_or(|standing| standing.noted);
            let is_as_made = before.is_none_or(|standing| standing.is_as_made);
            let origin = standing::Origin::Ours(Box::new(record));
            let (tip, dry, source, settings) = (tip.clone(), self.dry, self.source.clone(), self.settings);
            self.before.standing = Some(Standing { tip, dry, source, settings, noted, is_as_made, origin });
        }
        self.drawn.clone_from(&earlier.drawn);
        self.identities.clone_from(&earlier.identities);
        self.tip = earlier.tip.clone().or(self.tip.take());
        self.progress.new_sync = earlier.progress.new_sync;
        let (commits, mut skipped) = (earlier.progress.commits.clone(), earlier.progress.skipped.clone());
        self.progress.earlier =
            Earlier { commits: commits.len(), skipped: skipped.len(), records, applications, ..earlier.into_earlier() };
        self.progress.commits = commits;
        skipped.append(&mut self.progress.skipped);
        self.progress.skipped = skipped;
    }

    /// Goes along with other dry branches that share it, which the run has looked at and left as it was.
    pub(crate) fn goes_along_with(&mut self, earlier: Option<&Self>) {
        let Some(earlier) = earlier else { return };
        let applications = earlier.all_applications();
        self.progress.earlier = Earlier { applications, ..earlier.clone().into_earlier() };
    }

    /// What is reported and known of it, before another dry branch goes on.
    fn into_earlier(self) -> Earlier {
        let is_failed = self.progress.failure.is_some() || self.progress.earlier.is_failed;
        let (known, shown) = (self.known_before(), self.all_shown());
        Earlier { reports: self.into_reports(), known, shown, is_failed, ..Earlier::default() }
    }

    /// How many Applications write to it, of all dry branches that the run has looked at.
    fn all_applications(&self) -> usize {
        self.applications + self.progress.earlier.applications
    }

    /// Whether the run did nothing to it that has to be reported.
    pub(crate) fn is_as_found(&self) -> bool {
        let is_well = self.progress.failure.is_none() && !self.progress.earlier.is_failed;
        is_well
            && self.progress.commits.is_empty()
            && self.progress.skipped.is_empty()
            && self.progress.new_sync.is_none()
    }

    /// Whether its state cannot be determined.
    pub(crate) fn unreadable(&self) -> bool {
        self.before.unreadable.is_some()
    }

    /// The parent of the first new one: the tip before the run, else where hydration left a branch that was deleted, else the
    /// tip of the sync branch.
    pub(crate) fn base(&self) -> Option<ObjectId> {
        let deleted = self.before.deleted.filter(|deleted| deleted.is_here).map(|deleted| deleted.tip);
        self.before.old.or(deleted).or(self.before.sync_tip)
    }

    /// Where hydration left it, when somebody deleted it since.
    pub(crate) fn deleted(&self) -> Option<Deleted> {
        self.before.deleted
    }

    /// The dry commit that the branch was hydrated from before the run, if that is known.
    pub(crate) fn dry_before(&self) -> Option<ObjectId> {
        self.before.standing.as_ref().and_then(|standing| standing.dry)
    }

    /// The tip of its dry branch.
    pub(crate) fn dry_point(&self) -> DryPoint {
        DryPoint::new(&self.dry_branch, self.dry_tip)
    }

    /// The dry commits that it showed before the run, of each dry branch; what another hydrator wrote does not count.
    pub(crate) fn known_before(&self) -> Vec<DryPoint> {
        let standing = self.before.standing.as_ref().filter(|standing| standing.origin != standing::Origin::Foreign);
        let own = standing.and_then(|standing| standing.dry);
        let own = own.map(|dry| DryPoint::new(&self.dry_branch, dry));
        self.progress.earlier.known.iter().cloned().chain(own).collect()
    }

    /// The dry commits that it shows now, of each dry branch.
    pub(crate) fn all_shown(&self) -> BTreeSet<DryPoint> {
        let own = self.dry.map(|dry| DryPoint::new(&self.dry_branch, dry));
        self.progress.earlier.shown.iter().cloned().chain(own).collect()
    }

    /// The dry commits that it shows of other dry branches, whether or not the run has come to those yet.
    pub(crate) fn shown_of_others(&self) -> BTreeMap<BranchName, ObjectId> {
        let mut shown = BTreeMap::new();
        if let Some(record) = self.before.standing.as_ref().and_then(Standing::record) {
            shown.clone_from(&record.others);
            shown.insert(record.dry_branch.clone(), record.dry_commit);
        }
        let read = |point: &DryPoint| BranchName::read(&point.dry_branch).ok().zip(object_id(&point.dry_sha));
        shown.extend(self.progress.earlier.shown.iter().filter_map(read));
        shown.remove(&self.dry_branch);
        shown
    }

    /// What our newest commit says of itself; nothing of a branch that hydration did not make anything of yet.
    ///
    /// Errors: the commit or the file cannot be read.
    pub(crate) fn tip_metadata(&self, buffer: &ObjectBuffer<'_>) -> Result<&TipMetadata, repo::Error> {
        if let Some(metadata) = self.metadata.get() {
            return Ok(metadata);
        }
        let Some(tip) = self.tip.as_ref().filter(|_| self.dry.is_some()) else {
            return Ok(self.metadata.get_or_init(TipMetadata::default));
        };
        let found = standing::provenance(buffer, self.made_below.unwrap_or(tip.tree), METADATA)?;
        let mut metadata = found.map(TipMetadata::from).unwrap_or_default();
        if let Some(shown) = metadata.dry_commit {
            (metadata.dry_commit, _) = standing::defined_by(tip, shown, buffer)?;
        }
        Ok(self.metadata.get_or_init(|| metadata))
    }

    /// The other dry branch, as `is_other` says, from which hydration made manifests in a directory or below; none where it
    /// made none, or from none of those.
    ///
    /// Errors: the branch cannot be read.
    pub(crate) fn made_from(
        &self,
        dir: &RepoPath,
        is_other: &dyn Fn(&BranchName) -> bool,
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Option<BranchName>, repo::Error> {
        let Some(tip) = &self.tip else { return Ok(None) };
        let tree = self.made_below.unwrap_or(tip.tree);
        let Some((Mode::Directory, below)) = buffer.entry(tree, dir.as_str())? else { return Ok(None) };
        // What occurs many times is looked into once.
        let (mut seen, mut left) = (BTreeSet::from([below]), vec![below]);
        while let Some(tree) = left.pop() {
            let entries = buffer.tree(tree)?;
            if entries.iter().any(|entry| entry.name == MANIFEST.as_bytes())
                && let Some(other) = self.made_of(tree, tip, is_other, buffer)?
            {
                return Ok(Some(other));
            }
            let dirs = entries.iter().filter(|entry| entry.mode == Mode::Directory).map(|entry| entry.id);
            left.extend(dirs.filter(|dir| seen.insert(*dir)));
        }
        Ok(None)
    }

    /// The other dry branch that made the destination path with the files of `tree`, as its metadata says.
    fn made_of(
        &self,
        tree: ObjectId,
        tip: &Commit,
        is_other: &dyn Fn(&BranchName) -> bool,
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Option<BranchName>, repo::Error> {
        match standing::provenance(buffer, tree, METADATA)? {
            Some(Provenance { dry_branch: Some(dry_branch), .. }) => Ok(Some(dry_branch).filter(is_other)),
            // What names no dry branch names the dry commit, and the hydrated commit of that names both.
            Some(Provenance { dry_commit: Some(dry), .. }) => {
                let is_its = |of: &Trailers| of.branch == self.name && of.dry_commit == dry && is_other(&of.dry_branch);
                Ok(standing::nearest(tip, buffer, is_its)?.map(|trailers| trailers.dry_branch))
            }
            _ => Ok(None),
        }
    }

    /// The tree of our newest commit and the tip, where others put the tip on top since.
    pub(crate) fn changed_by_others(&self) -> Option<(ObjectId, &Commit)> {
        self.made_below.zip(self.tip.as_ref())
    }

    /// Whether others put a commit on top of ours: it is not known yet which dry commit it shows.
    pub(crate) fn was_moved(&self) -> bool {
        let ours = |standing: &Standing| matches!(standing.origin, standing::Origin::Ours(_));
        self.before.standing.as_ref().is_some_and(|standing| ours(standing) && !standing.noted)
    }

    /// The dry commits that the branch lacks, oldest first: a suffix of the first-parent line up to the tip.
    pub(crate) fn backlog(&self, head: &DryHead, found: &Snapshot<'_>) -> Result<Vec<ObjectId>, repo::Error> {
        if self.closed {
            return Ok(Vec::new());
        }
        let repository = found.setup.repository;
        let line = match self.dry.filter(|dry| repository.has(*dry)) {
            Some(dry) => repository.first_parents(dry, head.tip, BACKLOG_MAX)?,
            None => None,
        };
        if self.ends_hold(found)? {
            return Ok(vec![head.tip]);
        }
        let settings_changed = self.settings != found.policy.id;
        // What only a note says to be there is looked at.
        let moved = self.was_moved() && (found.setup.place.keeps_records() || !found.setup.place.are_guarded());
        // Between tags, and to or from one, there is nothing to hydrate but the last.
        match &self.follows {
            Follows::Branch if self.source.is_none() => {}
            Follows::Source(source) if self.source.as_ref() == Some(source) && self.dry == Some(head.tip) => {
                return Ok(if settings_changed || moved { vec![head.tip] } else { Vec::new() });
            }
            Follows::Branch | Follows::Source(_) | Follows::Nothing(_) => return Ok(vec![head.tip]),
        }
        Ok(match line {
            // A new branch, or a dry branch that was rewound.
            None => vec![head.tip],
            Some(line) if line.is_empty() && (settings_changed || moved) => vec![head.tip],
            Some(line) => match found.policy.settings.history {
                History::Every if line.len() <= 1 || found.wants_every => line,
                // What it held back comes at once, when a freeze ends.
                History::Every if !found.was_frozen(&self.name, self.settings) => line,
                History::Every | History::Tip => line.last().copied().into_iter().collect(),
            },
        })
    }

    /// Whether it gets no commit for a time.
    pub(crate) fn is_frozen(&self) -> bool {
        matches!(self.progress.failure, Some(Outcome::Frozen(_)))
    }

    /// The newest commit, and the dry commit that it shows; none where hydration did not make it.
    pub(crate) fn shown(&self) -> Option<(ObjectId, ObjectId)> {
        let is_ours =
            self.progress.reached || self.before.standing.as_ref().is_some_and(|standing| standing.record().is_some());
        let tip = self.tip.as_ref().filter(|_| is_ours && !self.unreadable())?;
        Some((tip.id, self.dry?))
    }

    /// Keeps it from getting commits.
    fn freeze(&mut self, freeze: &Freeze) {
        self.closed = true;
        self.progress.failure = Some(Outcome::Frozen(freeze.into()));
    }

    /// Whether an admin handed over the branch, and it has no record yet.
    pub(crate) fn is_taken_over(&self) -> bool {
        match &self.before.standing {
            Some(standing) => standing.origin == standing::Origin::Adopted,
            None => self.before.active == Active::Unrecorded { is_adopted: true },
        }
    }

    /// Sets the name that the dry branch had before.
    pub(crate) fn renamed_from(self, before: Option<BranchName>) -> Self {
        Self { renamed_from: before, ..self }
    }

    /// The branch as it was when `tip` was its newest commit, to be hydrated again from there.
    pub(crate) fn resume(
        name: &BranchName,
        head: &DryHead,
        tip: Commit,
        dry: Option<ObjectId>,
        settings: Option<ObjectId>,
    ) -> Self {
        Self {
            name: name.clone(),
            sync: name.clone(),
            dry_branch: head.branch.clone(),
            dry_tip: head.tip,
            before: Before { old: Some(tip.id), resumed: Trailers::read(&tip.message).is_some(), ..Before::default() },
            renamed_from: None,
            tip: Some(tip),
            made_below: None,
            metadata: OnceLock::new(),
            dry,
            source: None,
            follows: Follows::default(),
            settings,
            applications: 0,
            left: LeftBehind::default(),
            drawn: None,
            seen: None,
            identities: HeldIdentities::default(),
            inputs: UsedInputs::new(),
            closed: false,
            progress: Progress::default(),
        }
    }

    /// Sets the identities that Applications draw for.
    pub(crate) fn drawing_for(self, identities: HeldIdentities) -> Self {
        Self { identities, ..self }
    }

    /// The branch before it had a commit of its own, to be cut from `parent`.
    pub(crate) fn before_first(name: &BranchName, head: &DryHead, parent: Commit, settings: Option<ObjectId>) -> Self {
        let before = Before { sync_tip: Some(parent.id), ..Before::default() };
        Self { before, tip: None, ..Self::resume(name, head, parent, None, settings) }
    }

    /// Says that the commit is of others, above a commit of ours with the tree `made`.
    pub(crate) fn above(self, made: ObjectId) -> Self {
        Self { made_below: Some(made), ..self }
    }

    /// Whether its sync branch is still to be started.
    pub(crate) fn lacks_sync(&self) -> bool {
        self.before.sync_tip.or(self.progress.new_sync).is_none()
    }

    /// The empty commit that this branch started `sync` with in this run, if it did.
    pub(crate) fn started(&self, sync: &BranchName) -> Option<ObjectId> {
        self.progress.new_sync.filter(|_| self.sync == *sync)
    }

    /// Whether the branch has just what hydration made of [`Branch::dry`]: others put nothing there since.
    pub(crate) fn holds_what_was_made(&self) -> bool {
        let before = match &self.before.standing {
            Some(standing) => standing.record().is_some() && standing.is_as_made,
            None => self.before.resumed,
        };
        before || self.progress.reached
    }
}
