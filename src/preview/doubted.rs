//! What settings that anyone may have written keep from a preview.
//!
//! A clone has the settings of `refs/hydrate/config` as it fetched them, and cannot know whether a hook of the remote guards
//! them. Where a branch was hydrated with settings that hydrate in another way, as its own commit says, what these would show
//! is looked at too: no settings that were pushed turn a change of the branch into none.

use std::collections::BTreeSet;

use super::{Against, Preview, PreviewedBranch, previewed};
use crate::argo::BranchName;
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::settings_named::{self, TRIED_MAX, WHOSE, are_alike, named_by_branches};
use crate::owners::setup::Setup;
use crate::repo::{ObjectBuffer, ObjectId, Refs, Repository};
use crate::settings::SETTINGS_REF;
use dry_files::diag::Diagnostic;

/// Shows each branch whose changes the settings keep from the preview as by those that it was hydrated with.
pub(super) fn complete(preview: &mut Preview, setup: &Setup<'_>, against: &Against) -> Result<(), HydrateError> {
    if !setup.place.is_of_clone() || !setup.place.believes_records() {
        return Ok(());
    }
    let refs = setup.repository.refs()?;
    let mut hidden = BTreeSet::new();
    for (settings, branches) in in_doubt(preview, &setup.place, &refs, setup.repository) {
        let other = by_settings(settings, setup, against)?;
        let is_judged = |branch: &BranchName| branches.contains(branch) || setup.place.tip(&refs, branch).is_none();
        for environment in other.environments.into_iter().filter(|environment| is_judged(&environment.branch)) {
            let at = preview.environments.iter().position(|known| known.branch == environment.branch);
            let known = at.and_then(|at| preview.environments.get_mut(at));
            match known {
                Some(known) if shows(known, &environment) => continue,
                Some(known) => *known = PreviewedBranch { frozen: known.frozen.take(), ..environment.clone() },
                None if environment.paths.is_empty() => continue,
                None => preview.environments.push(environment.clone()),
            }
            hidden.insert(environment.branch);
        }
    }
    preview.environments.sort_by(|one, other| one.branch.cmp(&other.branch));
    for branch in hidden {
        let what = format!(
            "`{branch}` is shown as by the settings that branches were hydrated with: by those of {SETTINGS_REF}, which \
             anyone may write whose push no hook judges, less would change"
        );
        preview.warnings.push(Diagnostic::warning(what).hint(WHOSE));
    }
    Ok(())
}

/// The settings to try, each with the branches that were hydrated with it.
fn in_doubt(
    preview: &Preview,
    place: &Place,
    refs: &Refs,
    repository: &Repository,
) -> Vec<(Option<ObjectId>, BTreeSet<BranchName>)> {
    let (now, buffer) = (refs.get(SETTINGS_REF), ObjectBuffer::new(repository));
    let mut named = named_by_branches(place, refs, &buffer);
    let is_nothing = preview.environments.iter().all(|environment| environment.paths.is_empty());
    if named.is_empty() && is_nothing && preview.problems.is_empty() {
        // Before the first hydration, no settings at all is what there was.
        named.push((None, BTreeSet::new()));
    }
    named.retain(|(settings, _)| !are_alike(*settings, now, &buffer));
    named.truncate(TRIED_MAX);
    named
}

/// The preview by other settings. What it leaves for further ones is kept apart.
fn by_settings(settings: Option<ObjectId>, setup: &Setup<'_>, against: &Against) -> Result<Preview, HydrateError> {
    let repository = settings_named::by_settings(settings, setup.repository)?;
    let place = setup.place.clone().writing_nowhere();
    previewed(&Setup { repository: &repository, place, wake: setup.wake.clone(), ..*setup }, against)
}

/// Whether a preview of a branch shows all that another one does.
fn shows(known: &PreviewedBranch, other: &PreviewedBranch) -> bool {
    let is_there = |path: &super::PreviewedPath| {
        known.paths.iter().any(|known| known.path == path.path && known.old == path.old && known.new == path.new)
    };
    !known.mistakes.is_empty() || other.paths.iter().all(is_there)
}
