//! Whether notes name the dry commits that their commits are made of.

use std::collections::BTreeSet;

use super::fault::{Fault, Verified};
use super::{Hydrated, Verifier};
use crate::hydrate::make::branch::Branch;
use crate::hydrate::report::Outcome;
use crate::hydrate::stopped::Stopped;
use crate::metadata::{ENGINE_REVISION, Note, Trailers, read_note};
use crate::owners::heads::{BACKLOG_MAX, DryHead};
use crate::repo::{Error, ObjectId};

/// How many settings are tried for a note.
const SETTINGS_MAX: usize = 32;

impl<'a> Verifier<'a> {
    /// Whether each note names its commit's dry commit, or a later one that changes nothing.
    pub(super) fn notes(&mut self, hydrated: &[Hydrated], verified: &mut Verified) -> Result<(), Stopped> {
        for (index, this) in hydrated.iter().enumerate() {
            let Hydrated { commit, trailers } = this;
            if commit.parents.is_empty() {
                continue;
            }
            let Some(notes) = &mut self.notes else { return Ok(()) };
            let fault = match notes.get(commit.id, &self.run.found.buffer)? {
                None => Some(Fault::NoNote),
                Some(text) => match read_note(&text) {
                    Some(note) if text == note.text() => match (&note.defined, &trailers.defined) {
                        (None, None) => self.misnamed_for_all(hydrated, index, note.dry_commit)?,
                        _ => self.misnamed_by_tags(this, &note)?,
                    },
                    _ => Some(Fault::Note),
                },
            };
            verified.find(commit.id, Some(trailers.dry_commit), fault);
        }
        Ok(())
    }

    /// What is wrong with the note of a commit, where a tag, a range or an id led to the dry commit of either. It may name another one
    /// than the commit, since what was hydrated after that changed nothing.
    fn misnamed_by_tags(&mut self, this: &Hydrated, note: &Note) -> Result<Option<Fault>, Stopped> {
        let Hydrated { commit, trailers } = this;
        if (note.dry_commit, note.definition()) == (trailers.dry_commit, trailers.definition()) {
            let is_same = note.source() == trailers.source();
            return Ok(if is_same { None } else { Some(Fault::Note) });
        }
        let wrong = Some(Fault::NoteOfAnother { dry_sha: note.dry_commit.to_string() });
        if [note.dry_commit, note.definition()].iter().any(|id| !self.repository().has(*id)) {
            return Ok(wrong);
        }
        let comparable = trailers.engine == ENGINE_REVISION && self.gone(trailers).is_none();
        if !comparable || self.repaired.contains_key(&commit.id) {
            return Ok(None);
        }
        let head = DryHead { branch: trailers.dry_branch.clone(), tip: note.definition() };
        for settings in self.settings_between(trailers.settings_commit, self.settings_now)? {
            if self.use_settings(settings).is_err() {
                continue;
            }
            self.use_holds(trailers);
            let at = Some(trailers.definition());
            let branch = Branch::resume(&trailers.branch, &head, commit.clone(), at, settings);
            let branch = branch.showing(trailers.source()).following(note.source());
            let (branch, changed) = self.replay_all(branch, commit, &[note.definition()])?;
            let failed = matches!(branch.into_report().outcome, Outcome::Failed { .. });
            if changed.is_none() && !failed {
                return Ok(None);
            }
        }
        Ok(wrong)
    }

    /// What is wrong with the note of one commit, which names `dry`. On a branch that dry branches share, the note may
    /// be of a dry commit of another one, which changed nothing.
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
        if !self.run.found.policy.settings.is_shared(&this.trailers.branch) {
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
                let next = next.filter(|next| next.trailers.defined.is_none());
                if let Some(next) = next.filter(|next| self.repository().has(next.trailers.dry_commit)) {
                    let rest = self.repository().first_parents(dry, next.trailers.dry_commit, limit)?;
                    let is_next = rest.is_some_and(|rest| rest.is_empty());
                    if !is_next {
                        return Ok(None);
                    }
                    // Else it was there already when others put the commit between them on top, or before other settings or
                    // another engine made something else of the same dry commit.
                    if next.commit.parents.contains(&commit.id)
                        && next.is_made_as(this)
                        && next.trailers.rollback.is_none()
                    {
                        return Ok(wrong);
                    }
                } else {
                    // A dry commit that is gone says nothing of those before it.
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
            let others = next.filter(|next| next.trailers.held != trailers.held).map(|next| &next.trailers);
            let tip = [dry];
            let lines = [&line[..], &tip].into_iter().map(|line| (line, trailers));
            for (line, holding) in lines.chain(others.map(|next| (&line[..], next))) {
                self.use_holds(holding);
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
