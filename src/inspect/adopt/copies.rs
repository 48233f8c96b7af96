//! The setting `applicationsTo`, and the ApplicationSets that have no copy by it.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;

use super::super::check::{Judged, Tree};
use super::units::Attempt;
use super::{AdoptedApplication, Draft, hydrated};
use crate::argo::set::ApplicationSet;
use crate::argo::{BranchName, By};
use crate::owners::copier::{Copies, EXPAND_IT, LET_IT_INSERT};
use crate::owners::error::HydrateError;
use crate::owners::policy::Policy;

/// The branch that is proposed.
const BRANCH: &str = "applications";

/// Proposes copies where rules are proposed: Argo CD reaches what plain Applications are hydrated to by them.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(
    draft: &mut Draft,
    applications: &[AdoptedApplication],
    tree: &Tree<'_>,
) -> Result<(), HydrateError> {
    if !draft.is_proposed("rules") || draft.is_set("applicationsTo")? {
        return Ok(());
    }
    let Ok(branch) = BranchName::new(BRANCH) else { return Ok(()) };
    let is_there = match tree.repository {
        Some((repository, names)) => names.tip(&repository.refs()?, &branch).is_some(),
        None => false,
    };
    let mut written = applications.iter().filter_map(|one| BranchName::read(one.branch.as_deref()?).ok());
    if is_there || written.any(|other| other == branch || other.conflicts_with(&branch)) {
        return Ok(());
    }
    draft.set("applicationsTo", BRANCH.into(), "copies of the Applications, for Argo CD to follow".to_owned())
}

/// The sets that make hydrated Applications and have no copy that leads to these.
///
/// Errors: settings that cannot be used.
pub(super) fn notes(draft: &Draft, judged: &Judged, attempts: &[Attempt<'_>]) -> Result<Vec<Diagnostic>, HydrateError> {
    let policy = Policy::of(&draft.files)?;
    if policy.settings.applications_to.is_none() {
        return Ok(Vec::new());
    }
    let copies = Copies::new(&policy, Some(&judged.dry_branch), None);
    let nowhere = draft.rules_count() + 1;
    let of_set = |by: &By| matches!(by, By::ApplicationSet { .. });
    let led = hydrated(judged).into_iter().filter(|(_, application)| application.rule != Some(nowhere));
    let makers: BTreeSet<By> = led
        .filter_map(|(_, application)| Some(application.maker.as_ref()?.by.clone()))
        .filter(|by| of_set(by) && !policy.plain.expands(by.name()))
        .collect();
    let written = judged.discovered.sets.iter().map(|found| (*found.set).clone());
    let made = judged.discovered.applications.iter().filter_map(|application| application.rendered_set());
    let mut seen = BTreeSet::new();
    let mut notes = Vec::new();
    for set in written.chain(made) {
        let by = set.by();
        if !makers.contains(&by) || !seen.insert(by.clone()) {
            continue;
        }
        let Err(why) = set.copy(&copies.copier()) else { continue };
        let hint = if is_rendered(&set, attempts) { LET_IT_INSERT } else { EXPAND_IT };
        let text = format!("{by} has no copy that leads to what is hydrated: {why}");
        notes.push(Diagnostic::warning(text).hint(hint).at(set.span()));
    }
    Ok(notes)
}

/// Whether a hydrated Application renders a set, so that its manifests have the set.
fn is_rendered(set: &ApplicationSet, attempts: &[Attempt<'_>]) -> bool {
    let rendered = attempts.iter().filter_map(|attempt| attempt.result.as_ref().ok());
    let mut objects = rendered.flat_map(|rendered| &rendered.manifests);
    objects.any(|object| {
        let is_set = object.kind() == "ApplicationSet" && Some(object.name()) == set.name();
        is_set && object.namespace() == set.namespace().unwrap_or_default()
    })
}
