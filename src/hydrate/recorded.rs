//! Records of branches that hydration made, where none was written when it did.

use super::stopped::Stopped;
use crate::argo::BranchName;
use crate::metadata::Time;
use crate::owners::branch_records::{BranchRecord, BranchRecords, RECORDS_REF, hydrated_below};
use crate::owners::error::HydrateError;
use crate::owners::policy::Policy;
use crate::repo::{Expected, NewCommit, ObjectBuffer, ObjectId, RefEdit, Repository, update_refs};

/// Records branches, each with its tip, which were recognized as hydration's. The caller holds the repository's lock.
pub(crate) fn record_branches(
    repository: &Repository,
    branches: &[(&BranchName, ObjectId)],
) -> Result<(), HydrateError> {
    let buffer = ObjectBuffer::new(repository);
    let refs = repository.refs()?;
    let old = refs.get(RECORDS_REF);
    let mut records = old.map_or_else(|| Ok(BranchRecords::default()), |tip| BranchRecords::read(tip, &buffer))?;
    for (name, tip) in branches {
        if let Some((commit, trailers)) = hydrated_below(*tip, &buffer) {
            records.set((*name).clone(), BranchRecord::of(&commit, trailers));
        }
    }
    let Some(tree) = records.write(&buffer)? else { return Ok(()) };
    let parent = old.map(|id| buffer.commit(id)).transpose()?;
    let policy = Policy::read(&refs, &buffer)?;
    let signature = policy.writer.signature(Time::default(), parent.as_ref().map(|parent| &parent.committer));
    let names = branches.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let commit = NewCommit {
        tree,
        parents: old.into_iter().collect(),
        author: signature.clone(),
        committer: signature,
        message: format!("Record {names}, whose commits are equal when made again\n"),
    };
    let new = buffer.write_commit(&commit)?;
    let _kept = buffer.flush()?;
    let edit = RefEdit { name: RECORDS_REF.to_owned(), new: Some(new), expected: Expected::from(old) };
    update_refs(repository, &[edit], "hydrate").map_err(|error| Stopped::from(error).into_error())
}
