//! What a run leaves of a branch in refs: its own, that of its sync branch, and the records of both.

use std::collections::BTreeMap;

use super::Branch;
use crate::argo::BranchName;
use crate::metadata::ENGINE_REVISION;
use crate::owners::active::Active;
use crate::owners::branch_records::BranchRecord;
use crate::owners::place::Place;
use crate::owners::standing::Standing;
use crate::repo::{Expected, ObjectId, RefEdit, Refs, object_id};
use crate::settings::Settings;

impl Branch {
    /// The records to write for what the run did: of the sync branch that it started or found, and of the branch itself.
    /// None when the recorded ones still say so.
    pub(crate) fn records(&self, settings: &Settings) -> Vec<(BranchName, BranchRecord)> {
        let before = self.before.standing.as_ref().and_then(Standing::record);
        let made: Vec<ObjectId> = self.progress.commits.iter().filter_map(|commit| object_id(&commit.id)).collect();
        let own = self.progress.commits.get(self.progress.earlier.commits..).unwrap_or_default();
        let last = own.last().and_then(|commit| object_id(commit.definition()));
        let (Some(tip), false) = (&self.tip, self.closed && !self.progress.is_rolled_back) else {
            return self.progress.earlier.records.clone();
        };
        let is_shared = settings.is_shared(&self.name);
        let own = match (before, last, self.dry) {
            (before, Some(dry_commit), _) => {
                let record = self.new_record(tip.id, dry_commit, made);
                match before.filter(|_| is_shared) {
                    Some(before) => before.clone().followed_by(record),
                    None => record,
                }
            }
            // What is there is what would be made.
            (None, None, Some(dry_commit)) if self.progress.reached => self.new_record(tip.id, dry_commit, made),
            (Some(before), None, Some(dry_commit)) if self.progress.reached && self.before.dry_branch_is_gone => {
                BranchRecord {
                    dry_branch: self.dry_branch.clone(),
                    dry_commit,
                    settings: self.settings,
                    made,
                    ..before.clone()
                }
            }
            // It was the active branch of a staging branch for a time.
            (Some(before), None, Some(dry_commit)) if self.progress.reached && before.initial => BranchRecord {
                initial: false,
                tip: tip.id,
                dry_branch: self.dry_branch.clone(),
                dry_commit,
                settings: self.settings,
                made,
                ..before.clone()
            },
            // No note says how far each of the dry branches is that share it.
            (Some(before), None, Some(dry_commit))
                if self.progress.reached && is_shared && before.dry_commit_of(&self.dry_branch) != Some(dry_commit) =>
            {
                let record = BranchRecord { made, ..before.clone() };
                record.with(&self.dry_branch, Some(dry_commit), self.settings)
            }
            (Some(before), None, _) if is_shared && self.settings != before.settings_of(&self.dry_branch) => {
                BranchRecord { made, ..before.clone() }.with(&self.dry_branch, None, self.settings)
            }
            (Some(before), None, _) if !is_shared && self.settings != before.settings => {
                BranchRecord { settings: self.settings, made, ..before.clone() }
            }
            // It was found out of which Applications anybody can compute the random values.
            (Some(before), None, _) if before.drawn != self.drawn => BranchRecord { made, ..before.clone() },
            (Some(_) | None, None, _) => return self.progress.earlier.records.clone(),
        };
        let own = BranchRecord { drawn: self.drawn.clone(), ..own };
        let dry_commit = own.dry_commit;
        let started = self.progress.new_sync.filter(|_| self.sync != self.name).map(|id| (id, vec![id]));
        let is_new = matches!(self.before.active, Active::Unrecorded { .. });
        let sync = started.or_else(|| self.before.sync_tip.filter(|_| is_new).map(|id| (id, Vec::new())));
        let mut records = Vec::new();
        if let Some((id, made)) = sync {
            let record = BranchRecord { initial: true, older: None, ..self.new_record(id, dry_commit, made) };
            records.push((self.sync.clone(), record));
        }
        records.push((self.name.clone(), own));
        records
    }

    /// The record of a commit that was made, or of one that is what would be made.
    fn new_record(&self, tip: ObjectId, dry_commit: ObjectId, made: Vec<ObjectId>) -> BranchRecord {
        BranchRecord {
            tip,
            dry_branch: self.dry_branch.clone(),
            dry_commit,
            others: BTreeMap::new(),
            settings: self.settings,
            other_settings: BTreeMap::new(),
            engine: ENGINE_REVISION,
            initial: false,
            made,
            drawn: None,
            older: self.before.standing.as_ref().and_then(Standing::record).and_then(|before| before.older),
        }
    }

    /// The revision of the engine that made the branch, when it is another one than ours and ours makes commits now.
    pub(crate) fn engine_before(&self) -> Option<u32> {
        let record = self.before.standing.as_ref().and_then(Standing::record)?;
        (!self.progress.commits.is_empty() && record.engine != ENGINE_REVISION).then_some(record.engine)
    }

    /// The revision of the engine that the record of the branch names.
    pub(crate) fn recorded_engine(&self) -> Option<u32> {
        self.before.standing.as_ref().and_then(Standing::record).map(|record| record.engine)
    }

    /// The refs that move, the sync branch first.
    pub(crate) fn ref_edits(&self, place: &Place, refs: &Refs) -> Vec<RefEdit> {
        let sync = self.progress.new_sync.filter(|_| self.sync != self.name).map(|new| (&self.sync, new));
        let own = self.tip.as_ref().map(|tip| (&self.name, tip.id));
        let mut edits = Vec::new();
        for (branch, new) in sync.into_iter().chain(own) {
            let name = place.write_name(branch);
            let expected = Expected::from(refs.get(&name));
            if expected != Expected::Is(new) {
                edits.push(RefEdit { name, new: Some(new), expected });
            }
        }
        edits
    }
}
