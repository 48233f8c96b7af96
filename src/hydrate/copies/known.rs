//! What the last run left on the branch of copies, and what this one leaves.

use std::collections::BTreeMap;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

use super::wanted::Wanted;
use crate::argo::BranchName;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::state::Run;
use crate::known::{CopiedFrom, CopyBranch};
use crate::metadata::{Followed, Hydrated};
use crate::owners::heads::DryHead;
use crate::repo::ObjectId;

/// What the last run left on the branch, if it is all there; none when all copies are to be made again.
pub(super) fn known(run: &Run<'_>, branch: &Branch, heads: &[DryHead]) -> Option<CopyBranch> {
    let known = run.memory.recall_copies(&run.found)?;
    let tip = branch.tip.as_ref().map(|tip| tip.id.to_string());
    let is_there = known.branch == branch.name.as_str() && Some(&known.tip) == tip.as_ref();
    (is_there && known.dry_branches == names(heads)).then_some(known)
}

fn names(heads: &[DryHead]) -> Vec<String> {
    heads.iter().map(|head| head.branch.to_string()).collect()
}

/// Leaves for the next run that these copies are all there are, where that is so.
pub(super) fn keep(
    run: &mut Run<'_>,
    name: &BranchName,
    (followed, heads): (&[Followed], &[DryHead]),
    (earlier, are_rendered, warnings): (Vec<String>, bool, Vec<Diagnostic>),
) {
    let is_made = |branch: &&Branch| branch.failure().is_none();
    let branch = run.branches.get(name).filter(is_made);
    let tip = branch.and_then(|branch| Some((branch.tip.as_ref()?.id, branch.applications)));
    let Some((tip, count)) = tip else {
        run.memory.keep_copies(None, &run.found);
        return;
    };
    let copies = CopyBranch {
        context: run.found.policy.context(run.found.setup.renderers),
        branch: name.to_string(),
        tip: tip.to_string(),
        dry_branches: names(heads),
        followed: followed.iter().map(copied_from).collect(),
        earlier,
        count,
        are_rendered,
        warnings,
    };
    run.memory.keep_copies(Some(copies), &run.found);
}

/// Whether all copies on the branch, once `gone` is removed, are wanted ones, and each is of one Application. Otherwise
/// the next run looks again.
pub(super) fn is_settled(there: &BTreeMap<RepoPath, Vec<Hydrated>>, gone: &[&RepoPath], wanted: &Wanted) -> bool {
    let is_wanted = |dir: &RepoPath| wanted.copies.contains_key(dir) || wanted.unsettled.contains(dir);
    !wanted.is_contested && there.keys().all(|dir| is_wanted(dir) || gone.contains(&dir))
}

/// A commit that copies follow, as it is kept.
pub(super) fn copied_from(followed: &Followed) -> CopiedFrom {
    let text = |(branch, dry): &(BranchName, ObjectId)| (branch.to_string(), dry.to_string());
    CopiedFrom {
        branch: followed.branch.to_string(),
        commit: followed.commit.to_string(),
        dry: followed.dry.as_ref().map(text),
    }
}
