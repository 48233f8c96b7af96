//! The refs that a run moves.

use super::{FAILURES_REF, Failures, Moves, RECORDS_REF, Run, Stopped};
use crate::application::BranchName;
use crate::git::{Expected, NewCommit, ObjectId, RefEdit, Transaction, update_refs};
use crate::metadata::{NOTES_REF, Time};
use crate::settings::SETTINGS_REF;

/// What the reflogs say.
const REFLOG: &str = "hydrate";

impl Run<'_> {
    /// Refs will move: git starts while the rest is found out.
    pub(in crate::hydrate) fn expect_moves(&mut self) -> Result<(), Stopped> {
        if let Moves::Wanted = self.moves {
            self.moves = Moves::Expected(Transaction::begin(self.setup.repository, REFLOG)?);
        }
        Ok(())
    }

    /// Objects first, then all refs at once: settings, failures, notes, records, sync branches, environment branches.
    ///
    /// After every prefix of that order the next run makes the same commits again and moves the rest. Branches come last
    /// because they tell what is hydrated: one that moved without its note or its record would never get them.
    pub(super) fn move_refs(&mut self) -> Result<(), Stopped> {
        let edits = self.ref_edits()?;
        // Packing takes memory of its own, and nobody asks for what was read any more.
        (self.discovery, self.trees) = Default::default();
        let kept = self.buffer.flush()?;
        match std::mem::replace(&mut self.moves, Moves::None) {
            Moves::Expected(transaction) if !edits.is_empty() => transaction.commit(&edits)?,
            _ => update_refs(self.setup.repository, &edits, REFLOG)?,
        }
        drop(kept);
        Ok(())
    }

    /// The refs that move, in their order.
    pub(super) fn ref_edits(&mut self) -> Result<Vec<RefEdit>, Stopped> {
        let mut edits: Vec<RefEdit> = Vec::new();
        if self.setup.refs.records {
            if let (Some(new), true) = (self.learnt.settings, self.setup.refs.is_in_place()) {
                let expected = Expected::from(self.refs.get(SETTINGS_REF));
                edits.push(RefEdit { name: SETTINGS_REF.to_owned(), new: Some(new), expected });
            }
            let date = self.newest_dry.unwrap_or_default();
            let has_failures = self.failures != Failures::default() || self.refs.get(FAILURES_REF).is_some();
            if has_failures && self.records.holds(FAILURES_REF) {
                let failures = self.failures.write(&self.buffer)?;
                edits.extend(self.record(FAILURES_REF, failures, "Failures recorded by git-hydrate\n", date)?);
            }
            match self.notes.write(&self.buffer) {
                Ok(notes) if self.records.holds(NOTES_REF) => {
                    edits.extend(self.record(NOTES_REF, notes, "Notes added by git-hydrate\n", date)?);
                }
                Ok(_) => {}
                Err(error) => self.records.give_up(NOTES_REF, &error),
            }
            self.update_records();
            if self.records.holds(RECORDS_REF)
                && let Some(records) = self.owned.write(&self.buffer)?
            {
                edits.extend(self.record(RECORDS_REF, records, "Branches recorded by git-hydrate\n", date)?);
            }
        }
        for edit in self.branches.values().flat_map(|branch| branch.ref_edits(&self.setup.refs, &self.refs)) {
            // Several staging branches may have started one sync branch.
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        Ok(edits)
    }

    /// Brings the records up to what the run did, and drops those of branches that neither exist nor are asked for.
    fn update_records(&mut self) {
        for branch in self.branches.values() {
            for (name, record) in branch.records(&self.rules.settings) {
                self.owned.set(name, record);
            }
        }
        let gone = |branch: &&BranchName| {
            let is_asked_for = self.branches.values().any(|asked| asked.name == **branch || asked.sync == **branch);
            !is_asked_for && self.setup.refs.tip(&self.refs, branch).is_none()
        };
        let gone: Vec<BranchName> = self.owned.iter().map(|(branch, _)| branch).filter(gone).cloned().collect();
        gone.iter().for_each(|branch| self.owned.remove(branch));
    }

    /// A new commit on a ref that keeps records, when its tree changed.
    fn record(&self, name: &str, tree: ObjectId, message: &str, date: Time) -> Result<Option<RefEdit>, Stopped> {
        let old = self.refs.get(name);
        let parent = old.map(|id| self.buffer.commit(id)).transpose()?;
        let unchanged = parent.as_ref().map_or(tree == self.buffer.empty_tree_id(), |parent| parent.tree == tree);
        if unchanged {
            return Ok(None);
        }
        let signature = self.rules.writer.signature(date, parent.as_ref().map(|parent| &parent.committer));
        let commit = NewCommit {
            tree,
            parents: old.into_iter().collect(),
            author: signature.clone(),
            committer: signature,
            message: message.to_owned(),
        };
        let new = self.buffer.write_commit(&commit)?;
        Ok(Some(RefEdit { name: name.to_owned(), new: Some(new), expected: Expected::from(old) }))
    }
}
