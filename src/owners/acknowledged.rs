//! Commits that an admin knows to be other than hydration makes them, as a tree under a ref: a file for each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::repo::{
    Error, Expected, Mode, NewCommit, ObjectBuffer, ObjectId, RefEdit, Refs, Repository, Signature, TransactionError,
    TreeEdit, update_refs,
};

/// The ref whose tree contains them, each as a file with the name of its commit. No push gets at it, and its history says when
/// each came.
const ACKNOWLEDGED_REF: &str = "refs/hydrate/acknowledged";

/// Why a commit is not counted any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Acknowledgement {
    /// Who said so, as git names its user.
    pub by: String,
    /// What was said.
    pub reason: String,
}

/// The acknowledged commits, by their full ids.
pub(crate) type Acknowledged = BTreeMap<String, Acknowledgement>;

/// Reads them. A file that cannot be read acknowledges nothing.
pub(crate) fn acknowledged(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Result<Acknowledged, Error> {
    let Some(tip) = refs.get(ACKNOWLEDGED_REF) else { return Ok(Acknowledged::new()) };
    let mut found = Acknowledged::new();
    for entry in buffer.tree(buffer.commit(tip)?.tree)? {
        if let Ok(one) = serde_json::from_slice(&buffer.blob(entry.id)?) {
            found.insert(String::from_utf8_lossy(&entry.name).into_owned(), one);
        }
    }
    Ok(found)
}

/// Adds a commit, in place of what was said of it before. Errors: somebody else did at the same moment.
pub(crate) fn acknowledge(
    repository: &Repository,
    commit: ObjectId,
    who: &Signature,
    reason: &str,
) -> Result<(), TransactionError> {
    let buffer = ObjectBuffer::new(repository);
    let old = repository.refs()?.get(ACKNOWLEDGED_REF);
    let tree = old.map(|old| buffer.commit(old)).transpose()?.map_or(buffer.empty_tree_id(), |commit| commit.tree);
    let by = format!("{} <{}>", who.name, who.email);
    let text = serde_json::to_vec_pretty(&Acknowledgement { by, reason: reason.to_owned() }).expect("texts are JSON");
    let blob = buffer.write_blob(&[&text[..], b"\n"].concat())?;
    let edits = BTreeMap::from([(commit.to_string(), TreeEdit::Put(Mode::File, blob))]);
    let message = format!("{reason}\n");
    let parents = old.into_iter().collect();
    let tree = buffer.edit_tree(tree, &edits)?;
    let new =
        buffer.write_commit(&NewCommit { tree, parents, author: who.clone(), committer: who.clone(), message })?;
    let _kept = buffer.flush()?;
    let edit = RefEdit { name: ACKNOWLEDGED_REF.to_owned(), new: Some(new), expected: Expected::from(old) };
    update_refs(repository, &[edit], "acknowledge")
}
