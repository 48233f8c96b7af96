//! What a destination is to have.

use std::collections::BTreeMap;

use super::branch_of;
use crate::argo::DestinationName;
use crate::metadata::NOTES_REF;
use crate::owners::branch_records::{BranchRecords, RECORDS_REF};
use crate::repo::{self, Notes, ObjectBuffer, ObjectId, Repository};

/// The branches of a destination as they were hydrated, by their names there.
pub(super) struct Wanted {
    pub branches: BTreeMap<String, Want>,
    /// The tree of the notes of this repository.
    pub notes: Option<ObjectId>,
}

/// One branch.
pub(super) struct Want {
    /// Its tip here.
    pub tip: ObjectId,
    /// The text of the note on the tip.
    pub note: Option<Vec<u8>>,
    /// Whether hydration only started it, and a promoter writes it there.
    pub is_promoted: bool,
}

impl Wanted {
    pub(super) fn read(repository: &Repository, name: &DestinationName) -> Result<Self, repo::Error> {
        let (refs, buffer) = (repository.refs()?, ObjectBuffer::new(repository));
        let prefix = name.refs();
        let tips: Vec<(&str, ObjectId)> = refs.below(&prefix).collect();
        if tips.is_empty() {
            return Ok(Self { branches: BTreeMap::new(), notes: None });
        }
        // Records that cannot be read are a fault that hydration reports.
        let records = refs.get(RECORDS_REF).and_then(|tip| BranchRecords::read(tip, &buffer).ok()).unwrap_or_default();
        let notes_tree = refs.get(NOTES_REF).map(|tip| buffer.commit(tip)).transpose()?.map(|commit| commit.tree);
        let mut notes = Notes::open(notes_tree, &buffer)?;
        let mut branches = BTreeMap::new();
        for (branch, tip) in tips {
            let Some(full) = branch_of(name, branch) else { continue };
            let is_promoted = records.get(&full).is_some_and(|record| record.initial);
            let note = if is_promoted { None } else { notes.get(tip, &buffer)? };
            branches.insert(branch.to_owned(), Want { tip, note, is_promoted });
        }
        Ok(Self { branches, notes: notes_tree })
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.branches.keys().cloned().collect()
    }
}
