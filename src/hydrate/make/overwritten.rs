//! What others changed in our files on an environment branch, and hydration writes again.

use dry_files::diag::Diagnostic;
use dry_files::diag::more::listed;

use super::branch::Branch;
use crate::repo::{Error, ObjectBuffer, ObjectId};

/// How many files are named.
const SHOWN_MAX: usize = 3;

/// A warning of the changes that others made on top of our newest commit and that a new one with the tree `now` undoes; none
/// where there are none.
pub(crate) fn warning(branch: &Branch, now: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<Option<Diagnostic>, Error> {
    let Some((made, tip)) = branch.changed_by_others() else { return Ok(None) };
    let mut files = Vec::new();
    for change in buffer.diff_trees(made, tip.tree)? {
        if buffer.entry(tip.tree, &change.path)? != buffer.entry(now, &change.path)? {
            files.push(change.path);
        }
    }
    if files.is_empty() {
        return Ok(None);
    }
    let named = listed(&files, SHOWN_MAX);
    let (name, id) = (&branch.name, tip.id.to_hex_with_len(7));
    let text = format!("`{name}` was at {id}, which hydration did not make: its changes to {named} are overwritten");
    let hint = format!("change `{}` instead; to see what was overwritten: git show {id}", branch.dry_branch);
    Ok(Some(Diagnostic::warning(text).hint(hint)))
}
