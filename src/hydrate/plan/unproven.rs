//! Makers of which it has to be found out whether they made Applications of a branch, and make them no more.
//!
//! One that cannot be answered at the dry commit of the branch either, for a limit of this machine or a setting, may have been
//! answered when that commit was hydrated: it did make some, where the branch has more than is known of.
//!
//! Where the dry commit of the branch is gone, any maker or file that cannot be read may have fed it.
//!
//! An Application whose sources have no word of `sourceHydrator` is not rendered for what it makes. Where it made something
//! before, it makes that no more only if it renders at all: a chart that fails leaves in the cluster what it made.

use std::collections::BTreeSet;

use dry_files::path::RepoPath;

use crate::argo::{Application, BranchName};
use crate::discover::{Renders as _, Unanswered};
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::make::takeover;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::error::HydrateError;
use crate::owners::files::METADATA;
use crate::owners::making::Making;
use crate::repo::TreeFiles;

/// Why it is not known that what a branch has of such parents is made no more; none when it is.
pub(crate) fn unproven(
    branch: &BranchName,
    tree: &DryTree,
    former: &Former,
    run: &Run<'_>,
) -> Result<Option<FailedBranch>, Stopped> {
    let Some(before) = &former.tree else { return forgotten(branch, tree, run) };
    let mut failed = FailedBranch::default();
    let doubtful: Vec<&Unanswered> = tree.unanswered_as_in(before).collect();
    let known = former.applications.iter().map(|application| &application.sync_path);
    if !doubtful.is_empty() && has_more_than(known.collect(), branch, run)? {
        doubtful.into_iter().for_each(|unanswered| take(&mut failed, unanswered.clone()));
    }
    for unanswered in unrendered(&tree.silent_parents(former), tree, run)? {
        take(&mut failed, unanswered);
    }
    let is_proven = failed.limits.is_empty() && failed.mistakes.is_empty();
    Ok((!is_proven).then_some(failed))
}

/// [`unproven`] for a branch whose dry commit is not here any more, so that what fed the branch is unknown.
fn forgotten(branch: &BranchName, tree: &DryTree, run: &Run<'_>) -> Result<Option<FailedBranch>, Stopped> {
    let dry = run.branches.get(branch).and_then(|branch| branch.dry);
    let is_gone = dry.is_some_and(|dry| !run.found.setup.repository.has(dry));
    let written = tree.applications(branch).map(|application| &application.sync_path).collect();
    if !is_gone || !tree.is_open() || !has_more_than(written, branch, run)? {
        return Ok(None);
    }
    let mut failed = FailedBranch { mistakes: tree.broken().cloned().collect(), ..FailedBranch::default() };
    tree.unanswered().for_each(|unanswered| take(&mut failed, unanswered.clone()));
    Ok(Some(failed))
}

/// Whether a branch has paths that hydration wrote beside `known` ones.
fn has_more_than(known: BTreeSet<&RepoPath>, branch: &BranchName, run: &Run<'_>) -> Result<bool, Stopped> {
    let Some(tip) = run.branches.get(branch).and_then(|branch| branch.tip.as_ref()) else { return Ok(false) };
    let left = takeover::left_alone(tip.tree, &known, &run.found.buffer)?;
    let is_of_path = |path: &String| path.rsplit_once('/').is_some_and(|(_, name)| name == METADATA);
    Ok(left.iter().any(is_of_path))
}

/// Those of the parents that do not render.
fn unrendered(parents: &[&Application], tree: &DryTree, run: &Run<'_>) -> Result<Vec<Unanswered>, Stopped> {
    if parents.is_empty() {
        return Ok(Vec::new());
    }
    let id = tree.commit.id.to_string();
    let setup = run.found.setup;
    let policy = &run.found.policy;
    let failed = Some(run.trees.failed.by(policy, setup.renderers, setup.repository));
    let making = Making { failed, ..policy.making(setup.renderers, &id) };
    let files = TreeFiles::new(setup.repository, tree.tree);
    let rendered = parents.iter().zip(making.render(parents, &files));
    let unanswered = rendered.filter_map(|(parent, rendered)| Unanswered::of(parent, rendered).transpose());
    Ok(unanswered.collect::<Result<_, _>>().map_err(HydrateError::tree(&tree.commit.id))?)
}

fn take(failed: &mut FailedBranch, unanswered: Unanswered) {
    let Unanswered { diagnostic, is_limit, .. } = unanswered;
    if is_limit { failed.limits.push(diagnostic) } else { failed.mistakes.push(diagnostic) }
}
