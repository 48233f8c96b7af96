//! Branches whose sources are not in the tree that has their Applications: those of a tag, a range or a commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, clipped};

use crate::argo::{Application, BranchName};
use crate::hydrate::dry_tree::DryTree;
use crate::hydrate::make::manifest_of::manifest_of;
use crate::hydrate::state::{Moved, Run};
use crate::hydrate::stopped::Stopped;
use crate::metadata::Source;
use crate::owners::revisions::Follows;

/// Branches by what they follow, those of the dry branch first.
pub(super) fn by_source(names: impl IntoIterator<Item = BranchName>, run: &Run<'_>) -> Vec<Vec<BranchName>> {
    let mut groups: BTreeMap<Option<Source>, Vec<BranchName>> = BTreeMap::new();
    for name in names {
        let source = run.branches.get(&name).and_then(|branch| branch.follows.source()).cloned();
        groups.entry(source).or_default().push(name);
    }
    groups.into_values().collect()
}

/// What is wrong with what a branch follows, where its Applications are those of `tree`.
pub(super) fn checked(follows: Follows, branch: &BranchName, tree: &DryTree) -> Option<Diagnostic> {
    match follows {
        Follows::Nothing(mistake) => Some(mistake),
        // A commit that is made again says what it was resolved to, and anyone may have written that.
        Follows::Source(source) if !tree.revision(branch).is_some_and(|named| source.is_of(named)) => {
            let text = format!("{} is not what the Applications of `{branch}` name", source.name());
            Some(Diagnostic::error(clipped(text)))
        }
        Follows::Source(_) | Follows::Branch => None,
    }
}

/// Applications that moved to a branch whose sources are in another tree, and are not there yet: what they render to is not known here,
/// so they leave once they are.
pub(super) fn waiting(
    from: &BranchName,
    moved: &[Arc<Application>],
    tree: &DryTree,
    run: &Run<'_>,
) -> Result<Vec<Diagnostic>, Stopped> {
    // What a hydrated commit was made without had left.
    if run.moved == Moved::Made {
        return Ok(Vec::new());
    }
    let mut waiting = Vec::new();
    for one in moved.iter().filter(|one| tree.revision(from) != tree.revision(one.environment_branch())) {
        let to = one.environment_branch();
        let tip = run.branches.get(to).and_then(|branch| branch.tip.as_ref());
        let manifest = tip.map(|tip| manifest_of(&run.found.tree_of(tip.tree), &one.sync_path)).transpose()?;
        if manifest.flatten().is_none() {
            let text = format!("`{}` moves from `{from}` to `{to}`, which does not show it yet", one.name);
            let hint = format!(
                "`{from}` lets go of it with the next push, or with `git hydrate catch-up`, once `{to}` has it"
            );
            waiting.push(one.tells(Diagnostic::error(text).at(one.places.environment_branch().clone()).hint(hint)));
        }
    }
    Ok(waiting)
}
