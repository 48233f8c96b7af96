//! What hydration makes of a dry commit, made once more on the parent of the commit that is verified.

use super::fault::Fault;
use super::{Hydrated, Verifier};
use crate::argo::BranchName;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::report::Outcome;
use crate::hydrate::state::{Claimed, Moved};
use crate::hydrate::stopped::Stopped;
use crate::metadata::{ENGINE_REVISION, Trailers, read_note};
use crate::owners::heads::{BACKLOG_MAX, DryHead};
use crate::owners::seed_identities::{claimed, identities_at};
use crate::repo::{Commit, Error, NewCommit, ObjectId};
use crate::settings::History;

/// The first revision of the engine for which objects leave with proof alone.
const LOSSES_JUDGED_SINCE: u32 = 4;

/// How many commits of other dry branches are looked through for the note of one that shares the branch with them.
const NOTES_MAX: usize = 100;

/// What hydration makes of a dry commit.
pub(super) enum Remade {
    Commit(Box<Commit>),
    Fault(Fault),
}

impl<'a> Verifier<'a> {
    /// What hydration makes on top of `parent`, and a dry commit before that ought to have a hydrated commit there.
    pub(super) fn remake(&mut self, parent: &Commit, this: &Hydrated) -> Result<(Remade, Option<Fault>), Stopped> {
        let Hydrated { commit, trailers } = this;
        let shared = self.run.found.policy.settings.is_shared(&trailers.branch);
        let is_before = |_: &Commit, other: &Trailers| {
            other.branch == trailers.branch && (!shared || other.dry_branch == trailers.dry_branch)
        };
        let before = self.ancestry.nearest(parent, &self.engines, &self.run.found.buffer, is_before)?;
        let is_first = before.is_none();
        let (below, before) = before.unzip();
        let before = before.filter(|before| self.repository().has(before.definition()));
        let head = DryHead { branch: trailers.dry_branch.clone(), tip: trailers.definition() };
        let dry = before.as_ref().map(|before| before.definition());
        let shown = before.as_ref().and_then(Trailers::source);
        let settings = before.as_ref().map_or(trailers.settings_commit, |before| before.settings_commit);
        // Settings that are gone can only be taken for the same.
        let settings = settings.filter(|id| self.repository().has(*id));
        let dry_branch_before = before.as_ref().map(|before| before.dry_branch.clone());
        let renamed_from = dry_branch_before.filter(|before| !shared && *before != trailers.dry_branch);
        let name = &trailers.branch;
        // Cut from its active branch, it gets a commit whatever is there already.
        let first = || Branch::before_first(name, &head, parent.clone(), settings);
        let resumed = |tip: &Commit| {
            let branch = Branch::resume(name, &head, tip.clone(), dry, settings);
            branch.renamed_from(renamed_from.clone()).showing(shown.clone())
        };
        // Settings and identities are taken for what the commit says: others would make another commit.
        let made = Branch::resume(name, &head, commit.clone(), Some(trailers.definition()), settings);
        let behind =
            made.tip_metadata(&self.run.found.buffer)?.behind.iter().map(|behind| behind.path.clone()).collect();
        self.run.claimed = Some(Claimed { identities: claimed(trailers).of(&trailers.dry_branch), behind });
        let identities = identities_at(parent, name, &self.run.found.buffer)?;
        // Where it names nothing of the dry branch before, that one only had another name.
        let was_renamed = |before: &&BranchName| claimed(trailers).of(before).is_empty();
        let identities = match renamed_from.as_ref().filter(was_renamed) {
            Some(before) => identities.renamed(before, &trailers.dry_branch),
            None => identities,
        };
        let begin = || if is_first { first() } else { resumed(parent) }.drawing_for(identities.clone());
        let mut between = self.between(before.as_ref(), trailers)?;
        let (mut branch, mut skipped) = self.replay_all(begin(), parent, &between)?;
        if skipped.is_some() && trailers.inputs.is_some() {
            // The dry commits between may have come when nothing was recorded that they need.
            self.run.show_inputs(false);
            let without = self.replay_all(begin(), parent, &between)?;
            self.run.show_inputs(true);
            if without.1.is_none() {
                (branch, skipped) = without;
            }
        }
        let noted = match skipped.is_some() {
            true => self.noted(parent, below.as_ref().map(|commit| commit.id), shared)?,
            false => Vec::new(),
        };
        // What others put on top of ours is not part of what the branch showed.
        let is_of_others = Trailers::read(&parent.message).is_none();
        let shows = below.as_ref().filter(|_| is_of_others).unwrap_or(parent);
        for noted in noted.into_iter().filter(|noted| Some(*noted) != dry) {
            if skipped.is_none() {
                break;
            }
            // The branch showed another dry commit by then, from which a rewound dry branch may not lead here.
            let shown = if is_first { first() } else { resumed(shows) }.drawing_for(identities.clone());
            let (shown, changed) = self.replay_all(shown, shows, &[noted])?;
            if changed.is_none() && shown.failure().is_none() {
                let since = self.repository().first_parents(noted, trailers.definition(), BACKLOG_MAX)?;
                between = since.unwrap_or_default();
                between.pop();
                (branch, skipped) = self.replay_all(begin(), parent, &between)?;
            }
        }
        // On top of what is missing, since that is what the commit was made from.
        let before = branch.tip.as_ref().map(|tip| tip.id);
        let mut branch = self.replay_made(branch, trailers)?;
        if branch.failure().is_some() {
            // An earlier build of this revision may have held back less: what it made then is what hydration makes.
            let (again, _) = self.replay_all(begin(), parent, &between)?;
            let made = self.replay_unjudged(again, trailers)?;
            if made.tip.as_ref().is_some_and(|tip| tip.id == commit.id) {
                branch = made;
            }
        }
        if branch.tip.as_ref().is_none_or(|tip| tip.id != commit.id)
            && skipped.is_none()
            && let Some(made) = self.made_below(parent, trailers)?
        {
            // What others changed of our files is written again.
            let (again, _) = self.replay_all(begin(), parent, &between)?;
            branch = self.replay_made(again.above(made), trailers)?;
        }
        let tip = branch.tip.clone().filter(|tip| Some(tip.id) != before);
        let made = match (tip, branch.into_report().outcome) {
            (_, Outcome::Failed { diagnostics, .. }) => {
                let message = diagnostics.into_iter().next().map(|diagnostic| diagnostic.message);
                Remade::Fault(Fault::Unhydratable { message: message.unwrap_or_default() })
            }
            (Some(tip), _) => Remade::Commit(Box::new(self.of_revision(tip, trailers)?)),
            (None, _) => Remade::Fault(Fault::Needless),
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
    fn replay_made(&mut self, branch: Branch, trailers: &Trailers) -> Result<Branch, Stopped> {
        self.run.moved = Moved::Made;
        let judges_losses = trailers.engine >= LOSSES_JUDGED_SINCE;
        self.run.replay(branch.following(trailers.source()), trailers.definition(), judges_losses)
    }

    /// Hydrates a dry commit of which a hydrated commit was made, without asking for proof of what leaves.
    fn replay_unjudged(&mut self, branch: Branch, trailers: &Trailers) -> Result<Branch, Stopped> {
        self.run.moved = Moved::Made;
        self.run.replay(branch.following(trailers.source()), trailers.definition(), false)
    }

    /// Hydrates dry commits onto a branch at `parent`, and answers the first that makes a commit.
    pub(super) fn replay_all(
        &mut self,
        mut branch: Branch,
        parent: &Commit,
        line: &[ObjectId],
    ) -> Result<(Branch, Option<Fault>), Stopped> {
        let mut skipped = None;
        self.run.moved = Moved::NotMade;
        for dry in line {
            branch = self.run.replay(branch, *dry, true)?;
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
            let note = notes.get(commit, buffer)?.and_then(|text| read_note(&text));
            let dry = note.filter(|note| note.defined.is_none()).map(|note| note.dry_commit);
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
            && before.rollback.is_none()
            && before.defined.is_none()
            && trailers.defined.is_none()
            && before.held == trailers.held
            && [before.engine, trailers.engine] == [ENGINE_REVISION; 2]
            && self.run.found.policy.settings.history == History::Every;
        if !comparable {
            return Ok(Vec::new());
        }
        let line = self.repository().first_parents(before.dry_commit, trailers.dry_commit, BACKLOG_MAX)?;
        let mut line = line.unwrap_or_default();
        line.pop();
        Ok(line)
    }

    /// The commit as an engine of the revision that the trailers name would have made it, if the bytes are the same.
    pub(super) fn of_revision(&self, made: Commit, trailers: &Trailers) -> Result<Commit, Error> {
        if trailers.engine == ENGINE_REVISION {
            return Ok(made);
        }
        let ours = Trailers { engine: ENGINE_REVISION, ..trailers.clone() }.to_string();
        let message = made.message.replace(&ours, &trailers.to_string());
        let Commit { tree, parents, author, committer, .. } = made;
        let buffer = &self.run.found.buffer;
        buffer.commit(buffer.write_commit(&NewCommit { tree, parents, author, committer, message })?)
    }
}
