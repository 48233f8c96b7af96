//! Applications that move from one environment branch to another.
//!
//! The old branch lets go only of what renders for the new one, and of what renders no object of another Application there: that
//! follows from the dry commit and the settings alone. Whether the new branch takes it in the end does not: it may be frozen, of
//! others, or held back by another of its Applications. Branches do not wait for each other then, and the pusher is warned of an
//! Application that is on neither.

mod departures;
mod unhydrated;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::{Diagnostic, shell_word};

use super::{Done, Failing, Hydration, Stage};
use crate::argo::{AppName, Application, BranchName, Identity, PAUSED};
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::failed_render::FailedBranch;
use crate::known::Basis;
use crate::owners::snapshot::Snapshot;
use crate::render;

pub(crate) use departures::{Departures, on_no_branch};
pub(crate) use unhydrated::{Astray, astray, off_their_tag, other_branch};

/// The name and namespace of an Application.
pub(crate) type Name = (Option<AppName>, AppName);

pub(crate) fn name_of(application: &Application) -> Name {
    (application.namespace.clone(), application.name.clone())
}

/// The Applications of a dry commit that wrote `branch` before and write other branches now.
pub(crate) fn moved_from(branch: &BranchName, tree: &DryTree, former: &Former) -> Vec<Arc<Application>> {
    let here: BTreeSet<Name> = tree.applications(branch).map(|application| name_of(application)).collect();
    let gone: BTreeSet<Name> = former.applications.iter().map(|application| name_of(application)).collect();
    let gone: BTreeSet<Name> = gone.difference(&here).cloned().collect();
    if gone.is_empty() {
        return Vec::new();
    }
    // Where a promoter writes it, it does not leave.
    let leaves = |one: &&Arc<Application>| one.sync_branch != *branch && !former.is_elsewhere(one, branch);
    tree.hydrated().filter(leaves).filter(|application| gone.contains(&name_of(application))).cloned().collect()
}

/// Why moved Applications cannot leave `branch`, before any is rendered: one that is paused or held there stays as it is.
pub(crate) fn paused(
    branch: &BranchName,
    moved: &[Arc<Application>],
    is_held: &dyn Fn(&Application) -> bool,
) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    let held = moved.iter().filter(|application| is_held(application));
    mistakes.extend(held.map(|application| moves_held(application, branch)));
    for application in moved.iter().filter(|application| application.paused) {
        let text = leaves(application, branch, "and is paused");
        let hint = format!("remove the annotation `{PAUSED}`, or move it later");
        mistakes.push(at_branch(application, Diagnostic::error(text).hint(hint)));
    }
    mistakes
}

/// Why `branch` does not take what it gets: an Application that moves to it is held where it was, and would be deployed from here as it
/// is not to be. What may have been held then counts as held where a hydrated commit is made again.
pub(crate) fn held_elsewhere(
    branch: &BranchName,
    tree: &DryTree,
    former: &Former,
    (found, is_made_again): (&Snapshot<'_>, bool),
) -> Option<Diagnostic> {
    if found.holds.is_empty() && !is_made_again {
        return None;
    }
    let is_there = |one: &Application| former.applications.iter().any(|there| name_of(there) == name_of(one));
    let before = former.tree.iter().flat_map(|tree| tree.hydrated()).filter(|_| is_made_again);
    let before: BTreeMap<Name, &BranchName> =
        before.map(|application| (name_of(application), application.environment_branch())).collect();
    tree.applications(branch).filter(|application| !is_there(application)).find_map(|application| {
        let is_on = |other: &BranchName| tree.applications(other).any(|there| name_of(there) == name_of(application));
        let held = || found.held_elsewhere((branch, application), is_on);
        let from = before.get(&name_of(application)).copied().filter(|from| *from != branch).or_else(held)?;
        Some(moves_held(application, from))
    })
}

fn moves_held(application: &Application, from: &BranchName) -> Diagnostic {
    let text = leaves(application, from, "and is held");
    let hint = format!("move it later, or end the hold: git hydrate resume {}", shell_word(from.as_str()));
    at_branch(application, Diagnostic::error(text).hint(hint))
}

/// Why a branch keeps what it has: one of the Applications that moved does not render, or renders an object that another one
/// of its new branch renders too. None where neither is so.
pub(crate) fn held(branch: &BranchName, hydration: &Hydration<Done>, rendered: &Stage<Done>) -> Option<Failing> {
    if hydration.moved.is_empty() {
        return None;
    }
    let moved: BTreeSet<Identity> = hydration.moved.iter().map(|application| application.identity()).collect();
    let failed = |done: &&Done| moved.contains(&done.application.identity()) && done.result.is_err();
    let (mut mistakes, mut others) = (Vec::new(), Vec::new());
    for done in rendered.work().filter(failed) {
        match &done.result {
            Err(failed) if failed.is_of_dry_commit() => mistakes.push(fails(&done.application, branch)),
            Err(failed) => others.push(failed.clone()),
            Ok(_) => {}
        }
    }
    let clashing = hydration.moved.iter().filter(|application| clashes(application, rendered));
    mistakes.extend(clashing.map(|application| is_refused(application, branch)));
    match FailedBranch::of(others) {
        Some(others) => Some(Failing::Renders(FailedBranch { mistakes, basis: Basis::All, ..others })),
        None if mistakes.is_empty() => None,
        None => Some(Failing::Renders(FailedBranch { mistakes, ..FailedBranch::default() })),
    }
}

fn fails(application: &Application, branch: &BranchName) -> Diagnostic {
    let hint = "correct it, or move it back: a branch lets go of an Application that renders for its new one";
    at_branch(application, Diagnostic::error(leaves(application, branch, "where it fails to render")).hint(hint))
}

/// Whether its new branch takes neither it nor anything else, as another Application there renders one of its objects too.
fn clashes(application: &Application, rendered: &Stage<Done>) -> bool {
    let to = application.environment_branch();
    let there = rendered.work().filter(|done| done.application.environment_branch() == to);
    let outputs = there.filter_map(|done| Some((&*done.application, &*done.result.as_ref().ok()?.objects)));
    let (own, others): (Vec<_>, Vec<_>) = outputs.partition(|(one, _)| one.identity() == application.identity());
    own.first().is_some_and(|own| others.iter().any(|other| !render::conflicts(&[*own, *other]).is_empty()))
}

fn is_refused(application: &Application, branch: &BranchName) -> Diagnostic {
    let hint = "render the object from one of them only, or move it back: a branch lets go of an Application that its new one takes";
    let why = "where another Application renders one of its objects too";
    at_branch(application, Diagnostic::error(leaves(application, branch, why)).hint(hint))
}

fn leaves(application: &Application, branch: &BranchName, why: &str) -> String {
    let (name, to) = (&application.name, application.environment_branch());
    format!("`{name}` moves from `{branch}` to `{to}`, {why}")
}

fn at_branch(application: &Application, diagnostic: Diagnostic) -> Diagnostic {
    application.tells(diagnostic.at(application.places.environment_branch().clone()))
}
