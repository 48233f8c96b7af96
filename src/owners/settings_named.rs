//! Which settings count in a clone: those of `refs/hydrate/config`, or those that a job of the remote takes.
//!
//! Where a host runs no hooks, anyone who can push may have written `refs/hydrate/*` and notes. A job takes its settings from
//! what is protected then, and a clone names the same place to see what the job will do.

use std::collections::BTreeSet;

use super::branch_records::hydrated_below;
use super::error::HydrateError;
use super::place::Place;
use super::policy::Policy;
use crate::argo::BranchName;
use crate::repo::{self, Location, ObjectBuffer, ObjectId, Refs, Repository};
use crate::settings::SETTINGS_REF;
use dry_files::diag::Diagnostic;

/// The key in git's configuration that names the ref of the remote whose settings count.
pub(crate) const SETTINGS_REF_KEY: &str = "hydrate.settingsRef";

/// A clone of a remote whose settings are in the ref `name` of it: the short name of a branch, or the full name of a ref.
/// Nothing of the remote but its branches is believed then.
///
/// Errors: the ref was not fetched.
pub(crate) fn with_settings_of(
    repository: Repository,
    names: Place,
    name: &str,
) -> Result<(Repository, Place), HydrateError> {
    let branch = name.strip_prefix("refs/heads/").or(Some(name).filter(|name| !name.starts_with("refs/")));
    let full = branch.map_or_else(|| name.to_owned(), |branch| format!("{}{branch}", names.read));
    match repository.refs()?.get(&full) {
        Some(id) => Ok((repository.assuming(SETTINGS_REF, Some(id)), names.of_protected_branches())),
        None => Err(HydrateError::NoSettings { name: full }),
    }
}

/// The settings that branches say they were hydrated with, each once, with those branches; none without any.
pub(crate) fn named_by_branches(
    place: &Place,
    refs: &Refs,
    buffer: &ObjectBuffer<'_>,
) -> Vec<(Option<ObjectId>, BTreeSet<BranchName>)> {
    let mut found: Vec<(Option<ObjectId>, BTreeSet<BranchName>)> = Vec::new();
    for (branch, tip) in place.branches(refs) {
        let claimed = hydrated_below(tip, buffer).filter(|(_, trailers)| trailers.branch == branch);
        let Some((_, trailers)) = claimed else { continue };
        match found.iter_mut().find(|(settings, _)| *settings == trailers.settings_commit) {
            Some((_, branches)) => drop(branches.insert(branch)),
            None => found.push((trailers.settings_commit, [branch].into())),
        }
    }
    found
}

/// Whether two commits of settings hydrate alike, as far as both can be read.
pub(crate) fn are_alike(one: Option<ObjectId>, other: Option<ObjectId>, buffer: &ObjectBuffer<'_>) -> bool {
    let settings = |id| Policy::at(id, buffer).map(|policy| policy.settings);
    one == other || matches!((settings(one), settings(other)), (Ok(one), Ok(other)) if one.hydrates_as(&other))
}

/// The repository as it is by other settings, beside which it leaves nothing for further runs.
///
/// Errors: it cannot be read.
pub(crate) fn by_settings(settings: Option<ObjectId>, repository: &Repository) -> Result<Repository, repo::Error> {
    Ok(Repository::open(repository.git_dir(), Location::Hook)?.assuming(SETTINGS_REF, settings))
}

/// How many settings are tried beside those of now: more than a repository goes through before its branches are made anew.
pub(crate) const TRIED_MAX: usize = 8;

/// The repository by each of the settings that branches were hydrated with, where no branch was hydrated with those of now. Before
/// the first hydration no settings at all is what there was: tried where those of now find nothing (`is_nothing`).
///
/// Errors: the repository cannot be read.
pub(crate) fn by_settings_of_branches(
    repository: &Repository,
    place: &Place,
    is_nothing: bool,
) -> Result<Vec<Repository>, HydrateError> {
    if !place.is_of_clone() || !place.believes_records() {
        return Ok(Vec::new());
    }
    let (refs, buffer) = (repository.refs()?, ObjectBuffer::new(repository));
    let now = refs.get(SETTINGS_REF);
    let mut named: Vec<_> =
        named_by_branches(place, &refs, &buffer).into_iter().map(|(settings, _)| settings).collect();
    if named.is_empty() && is_nothing {
        named.push(None);
    }
    if named.iter().any(|settings| are_alike(*settings, now, &buffer)) {
        return Ok(Vec::new());
    }
    // Offline, those of the last hydration may not be here yet.
    named.retain(|settings| settings.is_none_or(|id| repository.has(id)));
    named.into_iter().take(TRIED_MAX).map(|settings| Ok(by_settings(settings, repository)?)).collect()
}

/// That more is shown than the settings of now find.
pub(crate) fn warning_of_more() -> Diagnostic {
    let what = format!(
        "what the settings find that branches were hydrated with is shown too: by those of {SETTINGS_REF}, which anyone may \
         write whose push no hook judges, less would be"
    );
    Diagnostic::warning(what).hint(WHOSE)
}

/// Says of settings that no branch was hydrated with that they may be anyone's, where branches are those of a remote; none of
/// others. `finds_alike` answers whether the same is hydrated by the settings of a branch, to the same bytes, as by those of now:
/// then their author changed nothing that a preview could show.
///
/// Errors: the repository cannot be read.
pub(crate) fn doubt(
    repository: &Repository,
    place: &Place,
    finds_alike: impl Fn(Option<ObjectId>) -> bool,
) -> Result<Option<Diagnostic>, HydrateError> {
    let refs = repository.refs()?;
    if place.is_of_server() || !place.believes_records() {
        return Ok(None);
    }
    let (now, buffer) = (refs.get(SETTINGS_REF), ObjectBuffer::new(repository));
    // What keeps them from being used is reported, and they change nothing.
    if Policy::at(now, &buffer).is_err() {
        return Ok(None);
    }
    let named = named_by_branches(place, &refs, &buffer);
    let is_known = named.is_empty() || named.iter().any(|(settings, _)| are_alike(*settings, now, &buffer));
    let is_here = |settings: &Option<ObjectId>| settings.is_none_or(|id| repository.has(id));
    let named = named.into_iter().map(|(settings, _)| settings).filter(is_here).take(TRIED_MAX);
    let is_known = is_known || named.into_iter().any(finds_alike);
    let what = format!(
        "the settings of {SETTINGS_REF} change what is hydrated, and no branch was hydrated with them yet: where no hook judges \
         pushes, anyone may have written them"
    );
    Ok((!is_known).then(|| Diagnostic::warning(what).hint(WHOSE)))
}

/// How to say whose settings count.
pub(crate) const WHOSE: &str = "to see who wrote them: git log refs/hydrate/config; if only admins can push there: git config \
                                hydrate.settingsRef refs/hydrate/config; else it names a protected branch that has settings.yaml";
