//! The setting `onFailure`, and the Applications that others of their branch keep from moving.

use std::collections::BTreeSet;

use super::{AdoptedApplication, Cause, Draft};
use crate::argo::BranchName;
use crate::owners::error::HydrateError;
use crate::settings::{Held, OnFailure};

/// Proposes that an Application which fails stays behind alone, where it would keep others of its branch from being hydrated.
/// Then those that are kept back even so are marked as such.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(draft: &mut Draft, applications: &mut [AdoptedApplication]) -> Result<(), HydrateError> {
    let on_failure = draft.settings()?.on_failure;
    let alone = OnFailure::All(Held::Application);
    let gained = kept_back(applications, &on_failure).difference(&kept_back(applications, &alone)).count();
    if gained > 0 && !draft.is_set("onFailure")? {
        let why = match gained {
            1 => "else 1 Application waits for another one of its branch that fails".to_owned(),
            count => format!("else {count} Applications wait for others of their branches that fail"),
        };
        draft.set("onFailure", "application".into(), why)?;
    }
    for index in kept_back(applications, &draft.settings()?.on_failure) {
        applications[index].hydrates = false;
        applications[index].cause = Some(Cause::KeptBack);
    }
    Ok(())
}

/// The numbers of the Applications that would hydrate, and are of a branch that does not move.
fn kept_back(applications: &[AdoptedApplication], on_failure: &OnFailure) -> BTreeSet<usize> {
    let holds = |branch: &str| BranchName::read(branch).is_ok_and(|branch| on_failure.of(&branch) == Held::Branch);
    let unmoved: BTreeSet<&str> = applications
        .iter()
        .filter(|one| one.cause.is_some_and(Cause::is_failure))
        .filter_map(|one| one.branch.as_deref().filter(|branch| one.holds_branch || holds(branch)))
        .collect();
    let of_them = |one: &AdoptedApplication| one.branch.as_deref().is_some_and(|branch| unmoved.contains(branch));
    let all = applications.iter().enumerate();
    all.filter(|(_, one)| one.hydrates && of_them(one)).map(|(index, _)| index).collect()
}
