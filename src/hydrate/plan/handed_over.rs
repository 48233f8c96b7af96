//! Environment branches that one dry branch hands over to another: its tip leads them there, and the other's tip takes them.
//!
//! Neither can take a branch from the other: as long as one Application of the branch is hydrated from the former dry branch, or the
//! other one has none for it, all stays as it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, clipped};

use super::moved_applications::other_branch;
use crate::argo::{Application, BranchName};
use crate::hydrate::state::{Moved, Run};
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;
use crate::repo::ObjectId;

/// Whether the dry branch of `head` leaves an environment branch to another one, which is said.
pub(crate) fn leaves(name: &BranchName, run: &mut Run<'_>, head: &DryHead, heads: &[DryHead]) -> Result<bool, Stopped> {
    if run.found.environments.get(name) != Some(&head.branch) {
        return Ok(false);
    }
    let Some((other, leaving)) = successor(name, head, run, heads)? else { return Ok(false) };
    let text = format!("`{name}` is hydrated from `{other}` from now on, and not from `{}`", head.branch);
    let warning = Diagnostic::warning(clipped(text)).at(leaving.places.target_revision.clone());
    let hint = format!("what changes it is pushed to `{other}`");
    run.report.warnings.push(leaving.tells(warning.hint(clipped(hint))));
    Ok(true)
}

/// Notes that an environment branch goes on from the dry branch of `head`, if the one that it was hydrated from hands it over.
pub(crate) fn take(name: &BranchName, run: &mut Run<'_>, head: &DryHead, heads: &[DryHead]) -> Result<(), Stopped> {
    let Some(from) = run.found.environments.get(name).filter(|from| **from != head.branch).cloned() else {
        return Ok(());
    };
    let Some(tip) = tip(&from, run, heads) else { return Ok(()) };
    let from = DryHead { branch: from, tip };
    if successor(name, &from, run, heads)?.is_some_and(|(other, _)| other == head.branch) {
        run.found.handed_over.insert(name.clone());
    }
    Ok(())
}

/// The dry branch that the tip of another one leads an environment branch to, if its own tip has Applications for the branch; and an
/// Application of the tip that says so.
fn successor(
    name: &BranchName,
    from: &DryHead,
    run: &mut Run<'_>,
    heads: &[DryHead],
) -> Result<Option<(BranchName, Arc<Application>)>, Stopped> {
    if run.moved != Moved::Judged || run.found.policy.settings.is_shared(name) {
        return Ok(None);
    }
    let tree = run.tree(from.tip, from, heads)?;
    if tree.is_open() || tree.applications(name).next().is_some() {
        return Ok(None);
    }
    let leads = |application: &&Arc<Application>| application.environment_branch() == name;
    let leaving: Vec<Arc<Application>> = tree.not_hydrated().filter(leads).cloned().collect();
    let others: BTreeSet<String> =
        leaving.iter().map(|application| other_branch(application, &from.branch, run)).collect();
    let dry_branches = run.found.every_dry_branch();
    let other = dry_branches.into_iter().find(|dry| others.len() == 1 && others.contains(dry.as_str()));
    let Some((other, first)) = other.zip(leaving.into_iter().next()) else { return Ok(None) };
    let Some(tip) = tip(&other, run, heads) else { return Ok(None) };
    let there = run.tree(tip, &DryHead { branch: other.clone(), tip }, heads)?;
    Ok(there.applications(name).next().is_some().then_some((other, first)))
}

/// The commit of a dry branch that this run looks at: a preview of one that is not published, too.
fn tip(dry_branch: &BranchName, run: &Run<'_>, heads: &[DryHead]) -> Option<ObjectId> {
    let head = heads.iter().find(|head| head.branch == *dry_branch);
    head.map(|head| head.tip).or_else(|| run.found.tip(dry_branch))
}
