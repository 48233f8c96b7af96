//! Branches whose sources are not in the tree that has their Applications: those of a tag, a range or a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::{Diagnostic, clipped};

use super::moved_applications::moved_from;
use crate::argo::{Application, BranchName};
use crate::hydrate::dry_tree::DryTree;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::make::manifest_of::manifest_of;
use crate::hydrate::state::{Moved, Run};
use crate::hydrate::stopped::Stopped;
use crate::metadata::Source;
use crate::owners::heads::DryHead;
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

/// What is wrong with the Applications that moved to a branch whose sources are in another tree, and are not there yet: what they
/// render to is not known here, so they leave once they are. Where branches wait for each other in a circle, the first one lets go.
pub(super) fn waiting(
    from: &BranchName,
    moved: &[Arc<Application>],
    tree: &DryTree,
    run: &mut Run<'_>,
    heads: (&DryHead, &[DryHead]),
) -> Result<Vec<Diagnostic>, Stopped> {
    // What a hydrated commit was made without had left.
    if run.moved == Moved::Made {
        return Ok(Vec::new());
    }
    let mut awaited = awaited(from, moved, tree, run)?;
    if !awaited.is_empty() {
        let circle = circle(from, tree, run, heads)?;
        let is_first = circle.iter().min_by_key(|name| order(name, run)) == Some(from);
        awaited.retain(|one| !(is_first && circle.contains(one.environment_branch())));
    }
    let waits = |one: Arc<Application>| {
        let to = one.environment_branch();
        let text = format!("`{}` moves from `{from}` to `{to}`, which does not show it yet", one.name);
        let hint =
            format!("`{from}` lets go of it with the next push, or with `git hydrate catch-up`, once `{to}` has it");
        one.tells(Diagnostic::error(text).at(one.places.environment_branch().clone()).hint(hint))
    };
    Ok(awaited.into_iter().map(waits).collect())
}

/// The Applications that moved to a branch of another tree that does not show them.
fn awaited(
    from: &BranchName,
    moved: &[Arc<Application>],
    tree: &DryTree,
    run: &Run<'_>,
) -> Result<Vec<Arc<Application>>, Stopped> {
    let mut awaited = Vec::new();
    for one in moved.iter().filter(|one| tree.revision(from) != tree.revision(one.environment_branch())) {
        let tip = run.branches.get(one.environment_branch()).and_then(|branch| branch.tip.as_ref());
        let manifest = tip.map(|tip| manifest_of(&run.found.tree_of(tip.tree), &one.sync_path)).transpose()?;
        if manifest.flatten().is_none() {
            awaited.push(one.clone());
        }
    }
    Ok(awaited)
}

/// The order in which branches are hydrated.
fn order<'o>(name: &'o BranchName, run: &'o Run<'_>) -> (Option<&'o Source>, &'o BranchName) {
    (run.branches.get(name).and_then(|branch| branch.follows.source()), name)
}

/// The branches that wait for `from` and that it waits for, with itself; none where it waits in no circle, or where one of them stays
/// for another reason.
fn circle(
    from: &BranchName,
    tree: &DryTree,
    run: &mut Run<'_>,
    (head, heads): (&DryHead, &[DryHead]),
) -> Result<BTreeSet<BranchName>, Stopped> {
    let mut waits: BTreeMap<BranchName, BTreeSet<BranchName>> = BTreeMap::new();
    for name in run.branches.keys().cloned().collect::<Vec<_>>() {
        let goes_on = |branch: &&Branch| !branch.unreadable() && branch.failure().is_none();
        let Some(dry) = run.branches.get(&name).filter(goes_on).and_then(|branch| branch.dry) else { continue };
        let former = run.former(&name, Some(dry), head, heads)?;
        let moved = moved_from(&name, tree, &former);
        let awaited = awaited(&name, &moved, tree, run)?;
        waits.insert(name, awaited.iter().map(|one| one.environment_branch().clone()).collect());
    }
    let leads_to = |name: &BranchName| -> BTreeSet<BranchName> {
        let (mut found, mut left) = (BTreeSet::new(), vec![name]);
        while let Some(name) = left.pop() {
            let next = waits.get(name).into_iter().flatten();
            left.extend(next.filter(|name| found.insert((*name).clone())));
        }
        found
    };
    Ok(leads_to(from).into_iter().filter(|name| leads_to(name).contains(from)).collect())
}
