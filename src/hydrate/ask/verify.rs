//! Whether hydrated history is what hydration makes: each commit is made again and its id compared.
//!
//! A hydrated commit is a function of its parent, its dry commit and branch, the settings, and the engine. So whoever has
//! the dry commits can tell whether anybody changed what is in an environment branch, without trusting the server
//! that keeps it.
//!
//! Commits on top of one that differs are judged by what it should have been, so that only what was changed is named.

mod ancestry;
mod fault;
mod promoted;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use crate::application::BranchName;
use crate::git::{Commit, Error, NewCommit, Notes, ObjectBuffer, ObjectId, Repository};
use crate::hydrate::branch_records::Engines;
use crate::hydrate::error::HydrateError;
use crate::hydrate::heads::{BACKLOG_MAX, DryHead, hydrated_branches};
use crate::hydrate::ours::our_changes;
use crate::hydrate::report::Outcome;
use crate::hydrate::run::{Branch, Moved, Run, Stopped, initial};
use crate::hydrate::setup::{RefNames, Setup};
use crate::hydrate::snapshot::Snapshot;
use crate::hydrate::standing;
use crate::hydrate::survey::{Named, named};
use crate::metadata::{DryCommit, ENGINE_REVISION, Origin, Trailers, note, read_note};
use crate::settings::{History, RendererName};

use ancestry::Ancestry;
use fault::Seen;
use promoted::{Promotions, Several};

pub(crate) use fault::{Fault, Finding, Line, Verified};

/// The whole history of every hydrated branch, by name.
pub(crate) fn lines(repository: &Repository, names: &RefNames) -> Result<Vec<Line>, HydrateError> {
    let refs = repository.refs()?;
    let branches = names.branches(&refs).map(|(branch, tip)| (branch.to_string(), tip)).collect();
    let hydrated = hydrated_branches(&branches, &ObjectBuffer::new(repository));
    Ok(hydrated.into_iter().map(|(name, tip)| Line { name, tip, after: None }).collect())
}

/// The history of every branch that hydration recorded or that Applications name, by name: what commits of others say of
/// themselves calls for no audit.
pub(crate) fn audited(setup: &Setup<'_>) -> Result<Vec<Line>, HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let named = environments(&found)?;
    let names: BTreeSet<&BranchName> = named.keys().chain(found.records.iter().map(|(branch, _)| branch)).collect();
    let line = |branch: &BranchName| Some(Line { name: branch.to_string(), tip: found.tip(branch)?, after: None });
    Ok(names.into_iter().filter_map(line).collect())
}

/// The branches that are not where hydration left them, at the recorded commit or above it where a promoter moved them;
/// and those that Applications name and that somebody else made.
pub(crate) fn strayed(setup: &Setup<'_>) -> Result<Vec<Verified>, HydrateError> {
    let repository = setup.repository;
    let (found, mut ledger) = Snapshot::read(setup, ObjectBuffer::new(repository))?;
    let mut strayed = Vec::new();
    let mut add = |branch: &BranchName, tip: Option<ObjectId>, (at, dry, fault)| {
        let mut verified = Verified { branch: branch.to_string(), ..Verified::default() };
        verified.tip = tip.map(|tip| tip.to_string()).unwrap_or_default();
        verified.find(at, dry, [fault]);
        strayed.push(verified);
    };
    let (is_recorded, named) = (found.has_records(), environments(&found)?);
    for (branch, record) in found.records.iter().filter(|_| is_recorded) {
        let tip = found.tip(branch);
        // One that was deleted and that no Application names is not missed.
        if tip.is_none() && !named.contains_key(branch) {
            continue;
        }
        if !tip.is_some_and(|tip| tip == record.tip || repository.is_ancestor(record.tip, tip)) {
            let fault = Fault::Strayed { recorded: record.tip.to_string() };
            add(branch, tip, (tip.unwrap_or(record.tip), Some(record.dry_commit), fault));
        }
    }
    for (branch, named) in &named {
        let Some(tip) = found.tip(branch).filter(|_| found.records.get(branch).is_none()) else { continue };
        let is_foreign = match named.is_environment {
            true => {
                let standing = found.standing(branch, tip, &named.dry_branch, &mut ledger.notes)?;
                standing.origin == standing::Origin::Foreign
            }
            false => named.is_foreign_active(branch, &found)?,
        };
        if is_foreign {
            add(branch, Some(tip), (tip, None, Fault::NotHydrated));
        }
    }
    Ok(strayed)
}

/// The branches that Applications name, without those that nothing is hydrated to: dry branches.
fn environments(found: &Snapshot<'_>) -> Result<BTreeMap<BranchName, Named>, HydrateError> {
    let dry = found.every_dry_branch();
    let mut named = named(found)?;
    named.retain(|branch, _| !dry.contains(branch));
    Ok(named)
}

/// Makes the hydrated commits of `lines` again and compares. Nothing is written; [`Setup::wake`] counts for nothing.
///
/// `renderer` renders in place of the one that the settings name.
pub(crate) fn verify(
    setup: &Setup<'_>,
    lines: Vec<Line>,
    renderer: Option<RendererName>,
) -> Result<Vec<Verified>, HydrateError> {
    let result = Run::new(setup).map_err(Stopped::from).and_then(|mut run| {
        run.found.trusts_programs = renderer.is_some();
        let notes = run.found.recorded_notes()?;
        let engines = run.found.engines()?;
        let settings_now = run.found.rules.id;
        let all = self::lines(setup.repository, &setup.refs)?;
        let promotions = Promotions::new(all, engines.made().collect(), several(&run.found)?);
        let unpromoted = unpromoted(&run.found)?;
        let ancestry = Ancestry::default();
        let (seen, repaired) = (HashMap::new(), HashMap::new());
        let mut verifier =
            Verifier { run, renderer, notes, engines, settings_now, seen, repaired, promotions, unpromoted, ancestry };
        let mut lines = VecDeque::from(lines);
        let mut verified: Vec<Verified> = Vec::new();
        while let Some(line) = lines.pop_front() {
            let (found, merged) = verifier.line(&line)?;
            match verified.iter_mut().find(|verified| verified.branch == found.branch) {
                // What was merged into the branch.
                Some(branch) => {
                    branch.equal += found.equal;
                    branch.inheriting += found.inheriting;
                    branch.others += found.others;
                    branch.findings.extend(found.findings);
                }
                None => verified.push(found),
            }
            lines.extend(merged);
        }
        Ok(verified)
    });
    // Nothing is moved, so no one can be in the way.
    result.map_err(Stopped::into_error)
}

/// The branches that hydration alone writes, as Applications and records name them.
fn unpromoted(found: &Snapshot<'_>) -> Result<BTreeSet<String>, HydrateError> {
    let named = named(found)?;
    let recorded = found.records.iter().filter(|(_, record)| !record.initial).map(|(branch, _)| branch);
    let alone = |branch: &&BranchName| {
        let is_promoted = named.get(*branch).is_some_and(|named| !named.is_environment || !named.staging.is_empty());
        !is_promoted && found.rules.settings.active_paths(branch).is_empty()
    };
    Ok(named.keys().chain(recorded).filter(alone).map(ToString::to_string).collect())
}

/// The staging branches of those that several are promoted to, not by directory.
fn several(found: &Snapshot<'_>) -> Result<Several, HydrateError> {
    let is_whole = |branch: &BranchName| found.rules.settings.active_paths(branch).is_empty();
    let several = named(found)?.into_iter().filter(|(branch, named)| named.staging.len() > 1 && is_whole(branch));
    Ok(several.map(|(branch, named)| (branch.to_string(), named.staging)).collect())
}

struct Verifier<'a> {
    run: Run<'a>,
    renderer: Option<RendererName>,
    notes: Option<Notes>,
    engines: Engines,
    /// The settings as they are now.
    settings_now: Option<ObjectId>,
    /// Commits that were looked at, with the name of the first line that they are on.
    seen: HashMap<ObjectId, (Rc<str>, Seen)>,
    /// What commits that differ should have been.
    repaired: HashMap<ObjectId, Commit>,
    promotions: Promotions,
    /// The branches that nobody promotes to: what others commit there is hydration's by no means.
    unpromoted: BTreeSet<String>,
    ancestry: Ancestry,
}

/// A hydrated commit and what it says of itself.
struct Hydrated {
    commit: Commit,
    trailers: Trailers,
}

impl Hydrated {
    /// Whether the same settings and engine made both.
    fn is_made_as(&self, other: &Self) -> bool {
        let by = |one: &Self| (one.trailers.settings_commit, one.trailers.engine);
        by(self) == by(other)
    }
}

/// How many commits of other dry branches are looked through for the note of one that shares the branch with them.
const NOTES_MAX: usize = 100;

/// What hydration makes of a dry commit.
enum Made {
    Commit(Box<Commit>),
    Fault(Fault),
}

impl<'a> Verifier<'a> {
    fn repository(&self) -> &'a Repository {
        self.run.found.buffer.repository()
    }

    /// Verifies one line, and answers the lines that were merged into it.
    fn line(&mut self, line: &Line) -> Result<(Verified, Vec<Line>), Stopped> {
        let mut verified = Verified {
            branch: line.name.clone(),
            tip: line.tip.to_string(),
            equal: 0,
            inheriting: 0,
            others: 0,
            findings: Vec::new(),
        };
        self.run.forget();
        let name: Rc<str> = Rc::from(line.name.as_str());
        let mut merged = Vec::new();
        let mut hydrated: Vec<Hydrated> = Vec::new();
        for id in self.commits(line)? {
            let commit = self.repository().commit(id)?;
            let trailers = Trailers::read(&commit.message);
            if let Some((other, seen)) = self.seen.get(&id) {
                // A branch that was cut from another one has its commits too.
                if *other != name && line.after.is_none() {
                    verified.count(seen);
                }
                hydrated.extend(trailers.map(|trailers| Hydrated { commit, trailers }));
                continue;
            }
            let seen = match trailers {
                None => {
                    let is_above = !hydrated.is_empty() || line.after.is_some();
                    self.of_others(&commit, line, is_above, &mut merged)?
                }
                Some(trailers) => {
                    let this = Hydrated { commit, trailers };
                    let seen = self.hydrated(&this)?;
                    hydrated.push(this);
                    seen
                }
            };
            verified.count(&seen);
            self.seen.insert(id, (name.clone(), seen));
        }
        self.notes(&hydrated, &mut verified)?;
        Ok((verified, merged))
    }

    /// What a commit of others is, and what it merged.
    fn of_others(
        &mut self,
        commit: &Commit,
        line: &Line,
        is_above: bool,
        merged: &mut Vec<Line>,
    ) -> Result<Seen, Stopped> {
        // What stood there before hydration came is not its business.
        if !is_above && !self.is_on_ours(commit) {
            return Ok(Seen::Other);
        }
        let paths = self.foreign(commit, line, merged)?;
        Ok(match paths.is_empty() {
            true => Seen::Other,
            false => Seen::wrong(commit.id, None, [Fault::Foreign { paths }]),
        })
    }

    /// What a hydrated commit is.
    fn hydrated(&mut self, this: &Hydrated) -> Result<Seen, Stopped> {
        let id = this.commit.id;
        let inherited = this.commit.parents.first().is_some_and(|parent| self.repaired.contains_key(parent));
        let seen = match self.commit(this)? {
            faults if !faults.is_empty() => Seen::wrong(id, Some(this.trailers.dry_commit), faults),
            _ if inherited && self.repaired.contains_key(&id) => Seen::Inheriting,
            _ => Seen::Equal,
        };
        // The commit above it may have to be made on what it should have been.
        if !self.repaired.contains_key(&id) {
            self.run.forget();
        }
        Ok(seen)
    }

    /// The commits of a line, oldest first. What was merged into it ends where another line went on from.
    fn commits(&self, line: &Line) -> Result<Vec<ObjectId>, Error> {
        let (mut commits, mut here) = (Vec::new(), Some(line.tip));
        let is_judged = |id: &ObjectId| line.after.is_some() && self.seen.contains_key(id);
        while let Some(id) = here.filter(|id| Some(*id) != line.after && !is_judged(id)) {
            commits.push(id);
            let buffer = &self.run.found.buffer;
            here = self.ancestry.parent(&buffer.commit(id)?, &self.engines, buffer)?;
        }
        commits.reverse();
        Ok(commits)
    }

    /// Whether a commit is on top of one that hydration recorded.
    fn is_on_ours(&self, commit: &Commit) -> bool {
        let buffer = &self.run.found.buffer;
        commit.parents.iter().any(|parent| self.ancestry.leads_to_ours(*parent, &self.engines, buffer))
    }

    /// The files of hydration that a commit of somebody else changes. A merge may bring in hydrated commits, which are
    /// verified as a line of their own.
    fn foreign(&self, commit: &Commit, line: &Line, merged: &mut Vec<Line>) -> Result<Vec<String>, Stopped> {
        let buffer = &self.run.found.buffer;
        let ours = self.ancestry.our_parents(commit, &self.engines, buffer)?;
        let Some((main, others)) = ours.split_first() else { return Ok(Vec::new()) };
        if self.unpromoted.contains(&line.name) {
            let before = buffer.commit(*main)?.tree;
            return Ok(our_changes(before, commit.tree, &[before, commit.tree], buffer)?);
        }
        merged.extend(others.iter().map(|other| Line { name: line.name.clone(), tip: *other, after: Some(*main) }));
        let parents = ours.iter().map(|parent| buffer.commit(*parent)).collect::<Result<Vec<_>, _>>()?;
        let owners: Vec<ObjectId> = parents.iter().chain([commit]).map(|commit| commit.tree).collect();
        let mut paths = Vec::new();
        for parent in &parents {
            let changes = our_changes(parent.tree, commit.tree, &owners, buffer)?;
            if changes.is_empty() && self.is_as_made(parent, &owners)? {
                return Ok(Vec::new());
            }
            if paths.is_empty() {
                paths = changes;
            }
        }
        // A promoter that squashes leaves no parent that tells what it promotes.
        if let Some(promoted) = self.promotions.find(&self.run.found.rules.settings, line, commit, &paths, buffer)? {
            merged.push(Line { name: line.name.clone(), ..promoted });
            paths.clear();
        }
        Ok(paths)
    }

    /// Whether a commit has all files of hydration as the nearest hydrated commit below it has them.
    fn is_as_made(&self, commit: &Commit, owners: &[ObjectId]) -> Result<bool, Error> {
        let buffer = &self.run.found.buffer;
        let Some((made, _)) = self.ancestry.nearest(commit, &self.engines, buffer, |_, _| true)? else {
            return Ok(false);
        };
        Ok(our_changes(made.tree, commit.tree, owners, buffer)?.is_empty())
    }

    /// What is wrong with one hydrated commit; nothing when it is equal, or has only what it inherits.
    fn commit(&mut self, this: &Hydrated) -> Result<Vec<Fault>, Stopped> {
        let Hydrated { commit, trailers } = this;
        if let Some(gone) = self.gone(trailers) {
            return Ok(vec![gone]);
        }
        self.use_settings(trailers.settings_commit)?;
        let Some(parent) = commit.parents.first() else {
            let dry = DryCommit::new(&self.repository().commit(trailers.dry_commit)?);
            let origin = Origin { repo_url: "", branch: &trailers.dry_branch, commit: &dry };
            let made = initial(&self.run.found.buffer, &self.run.found.rules, &trailers.branch, &origin)?;
            let made = self.of_revision(made, trailers)?;
            return Ok(self.faults(this, &made, None)?);
        };
        if !self.repository().has(*parent) {
            return Ok(vec![Fault::Gone { what: "its parent", id: parent.to_string() }]);
        }
        let parent = self.repository().commit(*parent)?;
        if self.is_of_copies(trailers)? {
            return self.copies(this, &parent);
        }
        let (made, skipped) = self.remake(&parent, this)?;
        if let Made::Commit(made) = &made
            && made.id == commit.id
        {
            return Ok(skipped.into_iter().collect());
        }
        // Judged by what its parent should have been, it may be right.
        let (made, skipped) = match self.repaired.get(&parent.id).cloned() {
            Some(base) => {
                let base = Commit { tree: base.tree, committer: base.committer, ..parent.clone() };
                self.remake(&base, this)?
            }
            None => (made, skipped),
        };
        let mut faults: Vec<Fault> = skipped.into_iter().collect();
        match made {
            Made::Commit(made) if made.id == commit.id => {}
            Made::Commit(made) => {
                let found = self.faults(this, &made, Some(&parent))?;
                // A commit that is missing below is no parent either.
                let is_told = |fault: &Fault| *fault == Fault::Parents && !faults.is_empty();
                faults.extend(found.into_iter().filter(|fault| !is_told(fault)).collect::<Vec<_>>());
            }
            Made::Fault(_) if self.is_of_other_revision(this) => {
                return Ok(vec![Fault::OtherRevision { revision: trailers.engine }]);
            }
            Made::Fault(fault) => faults.push(fault),
        }
        Ok(faults)
    }

    /// Whether a commit is one of copies, by the settings that it was made with.
    fn is_of_copies(&mut self, trailers: &Trailers) -> Result<bool, HydrateError> {
        if self.gone(trailers).is_some() {
            return Ok(false);
        }
        self.use_settings(trailers.settings_commit)?;
        Ok(self.run.found.rules.settings.applications_to.as_ref() == Some(&trailers.branch))
    }

    /// What is wrong with one commit of copies.
    fn copies(&mut self, this: &Hydrated, parent: &Commit) -> Result<Vec<Fault>, Stopped> {
        let Hydrated { commit, trailers } = this;
        let base = match self.repaired.get(&parent.id) {
            Some(repaired) => Commit { tree: repaired.tree, committer: repaired.committer.clone(), ..parent.clone() },
            None => parent.clone(),
        };
        match self.run.copy_again(commit, &base, trailers)? {
            Ok(Some(made)) => {
                let made = self.of_revision(made, trailers)?;
                Ok(self.faults(this, &made, Some(parent))?)
            }
            Ok(None) => Ok(vec![Fault::Needless]),
            Err(id) => Ok(vec![Fault::Gone { what: "a commit that its copies follow", id: id.to_string() }]),
        }
    }

    fn gone(&self, trailers: &Trailers) -> Option<Fault> {
        let gone = |what, id: ObjectId| (!self.repository().has(id)).then(|| Fault::Gone { what, id: id.to_string() });
        let settings = trailers.settings_commit.and_then(|id| gone("the commit of its settings", id));
        gone("its dry commit", trailers.dry_commit).or(settings)
    }

    fn use_settings(&mut self, id: Option<ObjectId>) -> Result<(), HydrateError> {
        if self.run.found.rules.id != id {
            self.run.use_settings(id)?;
        }
        if let Some(renderer) = self.renderer {
            self.run.found.rules.settings.renderer = renderer;
        }
        Ok(())
    }

    /// What hydration makes on top of `parent`, and a dry commit before that ought to have a hydrated commit there.
    fn remake(&mut self, parent: &Commit, this: &Hydrated) -> Result<(Made, Option<Fault>), Stopped> {
        let Hydrated { commit, trailers } = this;
        let shared = !self.run.found.rules.settings.active_paths(&trailers.branch).is_empty();
        let is_before = |_: &Commit, other: &Trailers| {
            other.branch == trailers.branch && (!shared || other.dry_branch == trailers.dry_branch)
        };
        let before = self.ancestry.nearest(parent, &self.engines, &self.run.found.buffer, is_before)?;
        let is_first = before.is_none();
        let below = before.as_ref().map(|(commit, _)| commit.id);
        let before = before.map(|(_, trailers)| trailers);
        let before = before.filter(|before| self.repository().has(before.dry_commit));
        let head = DryHead { branch: trailers.dry_branch.clone(), tip: trailers.dry_commit };
        let dry = before.as_ref().map(|before| before.dry_commit);
        let settings = before.as_ref().map_or(trailers.settings_commit, |before| before.settings_commit);
        // Settings that are gone can only be taken for the same.
        let settings = settings.filter(|id| self.repository().has(*id));
        let dry_branch_before = before.as_ref().map(|before| before.dry_branch.clone());
        let renamed_from = dry_branch_before.filter(|before| !shared && *before != trailers.dry_branch);
        let begin = || match is_first {
            // Cut from its active branch, it gets a commit whatever is there already.
            true => Branch::before_first(&trailers.branch, &head, parent.clone(), settings),
            false => {
                let mut branch = Branch::resume(&trailers.branch, &head, parent.clone(), dry, settings);
                branch.renamed_from.clone_from(&renamed_from);
                branch
            }
        };
        let mut between = self.between(before.as_ref(), trailers)?;
        let (mut branch, mut skipped) = self.replay_all(begin(), parent, &between)?;
        let noted = if skipped.is_some() { self.noted(parent, below, shared)? } else { Vec::new() };
        for noted in noted.into_iter().filter(|noted| Some(*noted) != dry) {
            if skipped.is_none() {
                break;
            }
            // The branch showed another dry commit by then, from which a rewound dry branch may not lead here.
            let (shown, changed) = self.replay_all(begin(), parent, &[noted])?;
            if changed.is_none() && shown.failure().is_none() {
                let since = self.repository().first_parents(noted, trailers.dry_commit, BACKLOG_MAX)?;
                between = since.unwrap_or_default();
                between.pop();
                (branch, skipped) = self.replay_all(begin(), parent, &between)?;
            }
        }
        // On top of what is missing, since that is what the commit was made from.
        let before = branch.tip.as_ref().map(|tip| tip.id);
        let mut branch = self.replay_made(branch, trailers.dry_commit)?;
        if branch.tip.as_ref().is_none_or(|tip| tip.id != commit.id)
            && skipped.is_none()
            && let Some(made) = self.made_below(parent, trailers)?
        {
            // What others changed of our files is written again.
            let (again, _) = self.replay_all(begin(), parent, &between)?;
            branch = self.replay_made(again.above(made), trailers.dry_commit)?;
        }
        let tip = branch.tip.clone().filter(|tip| Some(tip.id) != before);
        let made = match (tip, branch.into_report().outcome) {
            (_, Outcome::Failed { diagnostics, .. }) => {
                let message = diagnostics.into_iter().next().map(|diagnostic| diagnostic.message);
                Made::Fault(Fault::Unhydratable { message: message.unwrap_or_default() })
            }
            (Some(tip), _) => Made::Commit(Box::new(self.of_revision(tip, trailers)?)),
            (None, _) => Made::Fault(Fault::Needless),
        };
        Ok((made, skipped))
    }

    /// The tree of our newest commit below `tip`, when that is of others.
    fn made_below(&self, tip: &Commit, trailers: &Trailers) -> Result<Option<ObjectId>, Error> {
        let repository = self.repository();
        let is_ours = |commit: &Commit, other: &Trailers| {
            let is_known = self.engines.is_recorded(commit.id) || self.engines.is_older(commit.id, repository);
            is_known && other.branch == trailers.branch && !commit.parents.is_empty()
        };
        let made = self.ancestry.nearest(tip, &self.engines, &self.run.found.buffer, is_ours)?;
        Ok(made.map(|(made, _)| made).filter(|made| made.id != tip.id).map(|made| made.tree))
    }

    /// Hydrates a dry commit of which a hydrated commit was made.
    fn replay_made(&mut self, branch: Branch, dry: ObjectId) -> Result<Branch, Stopped> {
        self.run.moved = Moved::Made;
        self.run.replay(branch, dry)
    }

    /// Hydrates dry commits onto a branch at `parent`, and answers the first that makes a commit.
    fn replay_all(
        &mut self,
        mut branch: Branch,
        parent: &Commit,
        line: &[ObjectId],
    ) -> Result<(Branch, Option<Fault>), Stopped> {
        let mut skipped = None;
        self.run.moved = Moved::NotMade;
        for dry in line {
            branch = self.run.replay(branch, *dry)?;
            if skipped.is_none() && branch.tip.as_ref().is_some_and(|tip| tip.id != parent.id) {
                skipped = Some(Fault::Skipped { dry_sha: dry.to_string() });
            }
        }
        Ok((branch, skipped))
    }

    /// The dry commits that are here and that notes name from `parent` down to `below`, which is the newest commit of the same
    /// dry branch. Others that share the branch may have put theirs on top, and a note is put on the commit on top.
    fn noted(&mut self, parent: &Commit, below: Option<ObjectId>, shared: bool) -> Result<Vec<ObjectId>, Error> {
        let buffer = &self.run.found.buffer;
        let Some(notes) = &mut self.notes else { return Ok(Vec::new()) };
        let mut commits = vec![parent.id];
        let mut next = parent.parents.first().copied();
        while shared && let Some(commit) = next.filter(|commit| Some(*commit) != below && commits.len() < NOTES_MAX) {
            commits.push(commit);
            next = buffer.commit(commit)?.parents.first().copied();
        }
        commits.extend(below);
        let mut found = Vec::new();
        for commit in commits {
            let dry = notes.get(commit, buffer)?.and_then(|text| read_note(&text));
            if dry.is_some() && !shared {
                return Ok(dry.into_iter().filter(|dry| buffer.repository().has(*dry)).collect());
            }
            found.extend(dry.filter(|dry| buffer.repository().has(*dry) && !found.contains(dry)));
        }
        Ok(found)
    }

    /// The dry commits between two hydrated commits, where none of them should have changed anything: when both were
    /// made with the same settings and engine, and every dry commit is hydrated.
    fn between(&self, before: Option<&Trailers>, trailers: &Trailers) -> Result<Vec<ObjectId>, Error> {
        let Some(before) = before else { return Ok(Vec::new()) };
        let comparable = before.settings_commit == trailers.settings_commit
            && [before.engine, trailers.engine] == [ENGINE_REVISION; 2]
            && self.run.found.rules.settings.history == History::Every;
        if !comparable {
            return Ok(Vec::new());
        }
        let line = self.repository().first_parents(before.dry_commit, trailers.dry_commit, BACKLOG_MAX)?;
        let mut line = line.unwrap_or_default();
        line.pop();
        Ok(line)
    }

    /// The commit as an engine of the revision that the trailers name would have made it, if the bytes are the same.
    fn of_revision(&self, made: Commit, trailers: &Trailers) -> Result<Commit, Error> {
        if trailers.engine == ENGINE_REVISION {
            return Ok(made);
        }
        let ours = Trailers { engine: ENGINE_REVISION, ..trailers.clone() }.to_string();
        let message = made.message.replace(&ours, &trailers.to_string());
        let Commit { tree, parents, author, committer, .. } = made;
        let buffer = &self.run.found.buffer;
        buffer.commit(buffer.write_commit(&NewCommit { tree, parents, author, committer, message })?)
    }

    /// Whether another revision of the engine made a commit: its record says so, or, where it is older than the records,
    /// its note shows that hydration made it. What it says of itself proves nothing.
    fn is_of_other_revision(&mut self, this: &Hydrated) -> bool {
        let Hydrated { commit, trailers } = this;
        if trailers.engine == ENGINE_REVISION {
            return false;
        }
        match self.engines.of(commit.id) {
            Some(engine) => engine == trailers.engine,
            None => self.engines.is_older(commit.id, self.repository()) && self.is_noted(commit.id),
        }
    }

    fn is_noted(&mut self, commit: ObjectId) -> bool {
        let buffer = &self.run.found.buffer;
        self.notes.as_mut().is_some_and(|notes| notes.get(commit, buffer).is_ok_and(|note| note.is_some()))
    }

    /// How a commit differs from what hydration makes, without what it inherits from its parent.
    fn faults(&mut self, this: &Hydrated, made: &Commit, parent: Option<&Commit>) -> Result<Vec<Fault>, Error> {
        let Hydrated { commit, trailers } = this;
        if commit.id == made.id {
            return Ok(Vec::new());
        }
        // What another revision made is not at fault, so the commits above it rest on it as it is.
        if self.is_of_other_revision(this) {
            return Ok(vec![Fault::OtherRevision { revision: trailers.engine }]);
        }
        let inherited = parent.and_then(|parent| Some((parent.tree, self.repaired.get(&parent.id)?.tree)));
        self.repaired.insert(commit.id, made.clone());
        let buffer = &self.run.found.buffer;
        let mut faults = Vec::new();
        for change in buffer.diff_trees(made.tree, commit.tree)? {
            if let Some((tree, repaired)) = inherited {
                let below = buffer.entry(tree, &change.path)?;
                if below == change.new && below != buffer.entry(repaired, &change.path)? {
                    continue;
                }
            }
            let path = change.path;
            match (change.old, change.new) {
                (None, _) => faults.push(Fault::Extra { path }),
                (_, None) => faults.push(Fault::Missing { path }),
                (Some((_, old)), Some((_, new))) if old != new => faults.push(Fault::Content { path }),
                _ => faults.push(Fault::Mode { path }),
            }
        }
        let who =
            |commit: &Commit| [&commit.author, &commit.committer].map(|who| (who.name.clone(), who.email.clone()));
        let when = |commit: &Commit| [&commit.author, &commit.committer].map(|who| (who.seconds, who.offset));
        let same_tree = commit.tree == made.tree;
        for (differs, fault) in [
            (commit.parents != made.parents, Fault::Parents),
            (commit.message != made.message, Fault::Message),
            (who(commit) != who(made), Fault::Identity),
            (when(commit) != when(made), Fault::Date),
        ] {
            if differs {
                faults.push(fault);
            }
        }
        if faults.is_empty() && same_tree {
            faults.push(Fault::Headers);
        }
        Ok(faults)
    }

    /// Whether each note names its commit's dry commit, or a later one that changes nothing.
    fn notes(&mut self, hydrated: &[Hydrated], verified: &mut Verified) -> Result<(), Stopped> {
        for (index, this) in hydrated.iter().enumerate() {
            let Hydrated { commit, trailers } = this;
            if commit.parents.is_empty() {
                continue;
            }
            let Some(notes) = &mut self.notes else { return Ok(()) };
            let fault = match notes.get(commit.id, &self.run.found.buffer)? {
                None => Some(Fault::NoNote),
                Some(text) => match read_note(&text) {
                    Some(dry) if text == note(dry) => self.misnamed_for_all(hydrated, index, dry)?,
                    _ => Some(Fault::Note),
                },
            };
            verified.find(commit.id, Some(trailers.dry_commit), fault);
        }
        Ok(())
    }

    /// The same of one commit. On a branch that dry branches share, the note may be of a dry commit of another one, which
    /// changed nothing.
    fn misnamed_for_all(
        &mut self,
        hydrated: &[Hydrated],
        index: usize,
        dry: ObjectId,
    ) -> Result<Option<Fault>, Stopped> {
        let (before, after) = hydrated.split_at(index);
        let Some((this, after)) = after.split_first() else { return Ok(None) };
        let same_branch = |other: &&Hydrated| other.trailers.branch == this.trailers.branch;
        let next = |trailers: &Trailers| {
            after.iter().filter(same_branch).find(|other| other.trailers.dry_branch == trailers.dry_branch)
        };
        // Once others put commits on top, a note stays as it is, also when the dry branch is rewound.
        let is_covered = |trailers: &Trailers| {
            after.iter().filter(same_branch).any(|other| other.trailers.dry_branch != trailers.dry_branch)
        };
        let fault = self.misnamed(this, dry, next(&this.trailers), is_covered(&this.trailers))?;
        if fault.is_none() || self.gone(&this.trailers).is_some() {
            return Ok(fault);
        }
        self.use_settings(this.trailers.settings_commit)?;
        if self.run.found.rules.settings.active_paths(&this.trailers.branch).is_empty() {
            return Ok(fault);
        }
        let mut tried = BTreeSet::from([&this.trailers.dry_branch]);
        for other in before.iter().rev().filter(same_branch) {
            if !tried.insert(&other.trailers.dry_branch) {
                continue;
            }
            // What fails as a commit of one dry branch says nothing of another.
            self.run.forget_failures();
            let shown = Hydrated { commit: this.commit.clone(), trailers: other.trailers.clone() };
            if self.misnamed(&shown, dry, next(&other.trailers), is_covered(&other.trailers))?.is_none() {
                return Ok(None);
            }
        }
        Ok(fault)
    }

    fn misnamed(
        &mut self,
        this: &Hydrated,
        dry: ObjectId,
        next: Option<&Hydrated>,
        is_covered: bool,
    ) -> Result<Option<Fault>, Stopped> {
        let Hydrated { commit, trailers } = this;
        if dry == trailers.dry_commit {
            return Ok(None);
        }
        let wrong = Some(Fault::NoteOfAnother { dry_sha: dry.to_string() });
        if !self.repository().has(dry) || !self.repository().has(trailers.dry_commit) {
            return Ok(wrong);
        }
        let limit = BACKLOG_MAX;
        if self.is_of_copies(trailers)? {
            // What they lead to may be promoted while the dry branch stays, so two of them may have one note.
            let tip = self.run.found.tip(&trailers.dry_branch).filter(|_| next.is_none());
            let is_there = tip.is_none_or(|tip| self.repository().is_ancestor(dry, tip));
            return Ok(if is_there { None } else { wrong });
        }
        let line = match self.repository().first_parents(trailers.dry_commit, dry, limit)? {
            // The dry branch was rewound, and the commit that came in place of this one changed nothing.
            None => vec![dry],
            Some(line) => {
                // Between two hydrated commits the dry commits were looked at already.
                if let Some(next) = next.filter(|next| self.repository().has(next.trailers.dry_commit)) {
                    let rest = self.repository().first_parents(dry, next.trailers.dry_commit, limit)?;
                    let is_next = rest.is_some_and(|rest| rest.is_empty());
                    if !is_next {
                        return Ok(None);
                    }
                    // Else it was there already when others put the commit between them on top, or before other settings or
                    // another engine made something else of the same dry commit.
                    if next.commit.parents.contains(&commit.id) && next.is_made_as(this) {
                        return Ok(wrong);
                    }
                } else {
                    // A dry commit that is gone tells nothing of those before it.
                    let tip = self.run.found.tip(&trailers.dry_branch).filter(|_| next.is_none());
                    if !is_covered && !tip.is_none_or(|tip| self.repository().is_ancestor(dry, tip)) {
                        return Ok(wrong);
                    }
                }
                line
            }
        };
        let comparable = trailers.engine == ENGINE_REVISION && self.gone(trailers).is_none();
        if !comparable || self.repaired.contains_key(&commit.id) {
            return Ok(None);
        }
        let head = DryHead { branch: trailers.dry_branch.clone(), tip: dry };
        // The note may have moved under newer settings than those of the commit.
        let until = next.map_or(self.settings_now, |next| next.trailers.settings_commit);
        for settings in self.settings_between(trailers.settings_commit, until)? {
            if self.use_settings(settings).is_err() {
                continue;
            }
            let dry_commit = Some(trailers.dry_commit);
            // After a rewind of the dry branch its new tip alone was hydrated.
            for line in [&line[..], &[dry]] {
                let branch = Branch::resume(&trailers.branch, &head, commit.clone(), dry_commit, settings);
                let (branch, changed) = self.replay_all(branch, commit, line)?;
                let failed = matches!(branch.into_report().outcome, Outcome::Failed { .. });
                if changed.is_none() && !failed {
                    return Ok(None);
                }
            }
        }
        Ok(wrong)
    }
}

/// How many settings are tried for a note.
const SETTINGS_MAX: usize = 32;

impl Verifier<'_> {
    /// Settings that a note may have been written with: the first and the last ones, then those between, oldest first.
    fn settings_between(
        &self,
        first: Option<ObjectId>,
        last: Option<ObjectId>,
    ) -> Result<Vec<Option<ObjectId>>, Error> {
        let repository = self.repository();
        let mut found = vec![first];
        let is_here = |id: &ObjectId| repository.has(*id);
        if let Some(last) = last.filter(|last| first != Some(*last) && is_here(last)) {
            found.push(Some(last));
            let line = first.filter(is_here).map(|first| repository.first_parents(first, last, SETTINGS_MAX));
            let line = line.transpose()?.flatten().unwrap_or_default();
            found.extend(line.into_iter().filter(|id| *id != last).map(Some));
        }
        Ok(found)
    }
}

impl Verified {
    fn find(&mut self, commit: ObjectId, dry: Option<ObjectId>, faults: impl IntoIterator<Item = Fault>) {
        let finding = |fault| Finding { commit: commit.to_string(), dry_sha: dry.map(|dry| dry.to_string()), fault };
        self.findings.extend(faults.into_iter().map(finding));
    }
}
