//! The refs that a run moves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dry_files::diag::one_line;

use super::make::branch::Branch;
use super::stopped::Stopped;
use crate::argo::BranchName;
use crate::metadata::{NOTES_REF, Time};
use crate::owners::branch_records::{BranchRecord, BranchRecords, RECORDS_REF};
use crate::owners::deployed;
use crate::owners::failures::{FAILURES_REF, Failures};
use crate::owners::ledger::Ledger;
use crate::owners::snapshot::Snapshot;
use crate::repo::{self, Expected, NewCommit, ObjectId, RefEdit, Repository, Transaction, update_refs};
use crate::settings::SETTINGS_REF;

/// What the reflogs say of a run that no pusher is known to have caused.
const REFLOG: &str = "hydrate";

/// What is before the name of whoever pushed, where he is known.
const BY_PUSH_OF: &str = ": push of ";

/// How much of a name the reflogs have, in characters.
const NAME_CHARS_MAX: usize = 100;

/// What the reflogs say of a run that this push caused.
pub(super) fn reflog(pusher: Option<&str>) -> String {
    let by =
        pusher.map(|name| format!("{BY_PUSH_OF}{}", one_line(name).chars().take(NAME_CHARS_MAX).collect::<String>()));
    format!("{REFLOG}{}", by.unwrap_or_default())
}

/// Who caused a run by a push, as the reflogs say.
pub(crate) fn pusher_of(reflog: &str) -> Option<&str> {
    reflog.strip_prefix(REFLOG)?.strip_prefix(BY_PUSH_OF)
}

/// Whether a run moves refs at its end.
pub(crate) enum Start<'a> {
    /// It moves none, or those that somebody else asked for.
    Never,
    /// The refs of the branches to hydrate move, if the run finds any.
    Wanted,
    /// They will move, and git waits for their names.
    Begun(Transaction<'a>),
}

impl<'a> Start<'a> {
    /// Starts git, if refs shall move and it was not started yet.
    pub(crate) fn begin(&mut self, repository: &'a Repository, pusher: Option<&str>) -> Result<(), repo::Error> {
        if let Self::Wanted = self {
            *self = Self::Begun(Transaction::begin(repository, &reflog(pusher))?);
        }
        Ok(())
    }
}

/// The refs that move, in their order: settings, failures, notes, records, sync branches, environment branches,
/// the branch of copies.
///
/// After every prefix of that order the next run makes the same commits again and moves the rest. Branches come last
/// because they show what is hydrated: one that moved without its note or its record would never get them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Moves(pub Vec<RefEdit>);

impl Moves {
    /// What branches, notes and records shall be; `ledger.learnt` are the settings with what was found out. Notes that cannot be
    /// written are a fault of the ledger.
    pub(crate) fn of(
        found: &Snapshot<'_>,
        ledger: &mut Ledger,
        branches: &BTreeMap<BranchName, Branch>,
    ) -> Result<Self, repo::Error> {
        let mut moves = Self::default();
        if found.setup.place.keeps_records() {
            moves.add_kept(found, ledger, branches)?;
        }
        // Copies lead to what is on the others.
        let copies = found.policy.settings.applications_to.as_ref();
        let (last, first): (Vec<&Branch>, Vec<_>) = branches.values().partition(|branch| Some(&branch.name) == copies);
        for edit in first.into_iter().chain(last).flat_map(|branch| branch.ref_edits(&found.setup.place, &found.refs)) {
            // Several staging branches may have started one sync branch.
            if !moves.0.contains(&edit) {
                moves.0.push(edit);
            }
        }
        Ok(moves)
    }

    /// Those that are no branches.
    fn add_kept(
        &mut self,
        found: &Snapshot<'_>,
        ledger: &mut Ledger,
        branches: &BTreeMap<BranchName, Branch>,
    ) -> Result<(), repo::Error> {
        if let (Some(new), true) = (ledger.learnt, found.setup.place.is_in_place()) {
            let expected = Expected::from(found.refs.get(SETTINGS_REF));
            self.0.push(RefEdit { name: SETTINGS_REF.to_owned(), new: Some(new), expected });
        }
        let date = ledger.newest_dry.unwrap_or_default();
        // What could not be read is as if it were empty, and is written anew.
        let is_empty = ledger.failures == Failures::default();
        let is_news = if is_empty { found.refs.get(FAILURES_REF).is_some() } else { ledger.has_other_failures() };
        if is_news && ledger.faults.allows(FAILURES_REF) {
            let failures = ledger.failures.write(&found.buffer)?;
            self.0.extend(kept(found, FAILURES_REF, failures, "Failures recorded by git-hydrate\n", date)?);
        }
        match ledger.notes.write(&found.buffer) {
            Ok(notes) if ledger.faults.allows(NOTES_REF) => {
                self.0.extend(kept(found, NOTES_REF, notes, "Notes added by git-hydrate\n", date)?);
            }
            Ok(_) => {}
            Err(error) => ledger.faults.give_up(NOTES_REF, &error),
        }
        if ledger.faults.allows(RECORDS_REF) {
            let records = records(found, branches);
            if found.setup.place.are_guarded() {
                self.0.extend(deployed::moves(&records, &found.refs, |branch| found.tip(branch)));
            }
            if let Some(records) = records.write(&found.buffer)? {
                self.0.extend(kept(found, RECORDS_REF, records, "Branches recorded by git-hydrate\n", date)?);
            }
        }
        Ok(())
    }

    /// Objects first, then all refs at once.
    pub(crate) fn carry_out(self, found: &Snapshot<'_>, start: Start<'_>) -> Result<(), Stopped> {
        let kept = found.buffer.flush()?;
        match start {
            Start::Begun(transaction) if !self.0.is_empty() => transaction.commit(&self.0)?,
            Start::Begun(_) | Start::Wanted | Start::Never => {
                update_refs(found.setup.repository, &self.0, &reflog(found.setup.pusher))?;
            }
        }
        drop(kept);
        Ok(())
    }
}

/// The records with what the run did, and without branches that neither exist nor are asked for.
fn records(found: &Snapshot<'_>, branches: &BTreeMap<BranchName, Branch>) -> BranchRecords {
    let mut records = found.records.clone();
    for branch in branches.values() {
        for (name, record) in branch.records(&found.policy.settings) {
            records.set(name, record);
        }
    }
    for branch in branches.values().filter(|branch| branch.is_hydrated()) {
        // An environment branch that Applications now promote to.
        let is_frozen = || found.frozen(&branch.sync, &branch.sync).is_some();
        let is_promoted = branch.sync != branch.name && !branches.contains_key(&branch.sync) && !is_frozen();
        let was_ours = |record: &&BranchRecord| !record.initial && record.dry_branch == branch.dry_branch;
        if let Some(record) = found.records.get(&branch.sync).filter(was_ours).filter(|_| is_promoted) {
            let record = BranchRecord { initial: true, made: Vec::new(), ..record.clone() };
            records.set(branch.sync.clone(), record);
        }
    }
    let asked_for: BTreeSet<&BranchName> = branches.values().flat_map(|asked| [&asked.name, &asked.sync]).collect();
    let is_gone = |branch: &&BranchName| !asked_for.contains(branch) && found.tip(branch).is_none();
    let gone: Vec<BranchName> = records.iter().map(|(branch, _)| branch).filter(is_gone).cloned().collect();
    gone.iter().for_each(|branch| records.remove(branch));
    records
}

/// A new commit on a ref that keeps something, when its tree changed.
fn kept(
    found: &Snapshot<'_>,
    name: &str,
    tree: ObjectId,
    message: &str,
    date: Time,
) -> Result<Option<RefEdit>, repo::Error> {
    let old = found.refs.get(name);
    let parent = old.map(|id| found.buffer.commit(id)).transpose()?;
    let unchanged = parent.as_ref().map_or(tree == found.buffer.empty_tree_id(), |parent| parent.tree == tree);
    if unchanged {
        return Ok(None);
    }
    let signature = found.policy.writer.signature(date, parent.as_ref().map(|parent| &parent.committer));
    let commit = NewCommit {
        tree,
        parents: old.into_iter().collect(),
        author: signature.clone(),
        committer: signature,
        message: message.to_owned(),
    };
    let new = found.buffer.write_commit(&commit)?;
    Ok(Some(RefEdit { name: name.to_owned(), new: Some(new), expected: Expected::from(old) }))
}

impl fmt::Display for Moves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = |id: Option<ObjectId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        for edit in &self.0 {
            let old = match edit.expected {
                Expected::Absent => None,
                Expected::Is(id) => Some(id),
            };
            writeln!(f, "{} {} -> {}", edit.name, id(old), id(edit.new))?;
        }
        Ok(())
    }
}
