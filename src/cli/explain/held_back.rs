//! Why something that is explained may not be what its dry branch says now.

use dry_files::diag::{Diagnostic, one_line};
use dry_files::path::RepoPath;

use crate::cli::clone::Clone;
use crate::cli::status::row::{self, UP_TO_DATE};
use crate::history::{self, BranchState, BranchStatus, Explanation, Promotion};
use crate::hydrate::HeldAlone;
use crate::owners::setup::{Setup, Wake};
use crate::render::Renderers;
use crate::render::process::wall;

/// What keeps it as it is, a line each: that the branch is frozen, behind or not promoted, that the Application is paused, held or
/// behind, each with why. What is explained is in the branch, so that where this is not known here, that is said.
pub(super) fn held_back(clone: &Clone, renderers: &Renderers, explanation: &Explanation) -> Vec<String> {
    let setup = Setup::new(&clone.repository, clone.place.clone(), Wake::Everything, renderers, wall::now());
    let all = match history::status(&setup) {
        Ok(all) => all,
        Err(error) => return vec![one_line(&format!("whether it is up to date is not known: {error}"))],
    };
    let Some(status) = all.iter().find(|status| status.branch == explanation.branch) else { return Vec::new() };
    let name = explanation.origin.as_ref().map(|origin| origin.application.as_str());
    let is_at = |path: &RepoPath| RepoPath::new(&explanation.path).is_ok_and(|file| file.starts_with(path));
    let behind: Vec<_> = status.paths_behind.iter().filter(|behind| is_at(&behind.path)).collect();
    let mut lines = Vec::new();
    lines.extend(status.frozen.as_ref().map(ToString::to_string));
    lines.extend(beside_its_source(status));
    lines.extend(behind.iter().map(ToString::to_string));
    let of = |held: &&HeldAlone| held.application.rsplit('/').next() == name;
    let held = status.held.iter().filter(of).filter(|held| !held.is_among(&status.paths_behind));
    lines.extend(held.map(ToString::to_string));
    if behind.iter().any(|path| !path.paused) || (status.behind != Some(0) && status.frozen.is_none()) {
        lines.extend(failure(status, name));
    }
    lines.extend(all.iter().filter_map(|sync| not_promoted(sync, &explanation.branch)));
    lines
}

/// How a branch is beside its dry branch, or the staging branches that are promoted to it; none where it has all of that.
fn beside_its_source(status: &BranchStatus) -> Option<String> {
    let has_all = |promotion: &Promotion| promotion.ahead == Some(0);
    match status.state {
        BranchState::Promoted => {
            let is_current = status.promoted_from.iter().all(has_all);
            (!is_current).then(|| row::promoted(status))
        }
        BranchState::Hydrated | BranchState::Missing => {
            // That others are behind is nothing about this one.
            let state = row::state(status, false);
            (!state.starts_with(UP_TO_DATE)).then_some(state)
        }
        BranchState::NotMade | BranchState::NotHydrated => None,
    }
}

/// Why the newest dry commit that failed did: what is wrong with the Application, else the first of all.
fn failure(status: &BranchStatus, application: Option<&str>) -> Option<String> {
    let newest = status.failures.last()?;
    let is_its = |one: &&Diagnostic| one.application.as_deref() == application;
    let first = newest.diagnostics.iter().find(is_its).or(newest.diagnostics.first())?;
    let place = first.span.as_ref().map(|span| format!(" ({span})")).unwrap_or_default();
    Some(format!("{} failed: {}{place}", newest.dry_sha.get(..7).unwrap_or_default(), one_line(&first.message)))
}

/// That a staging branch is ahead of what it is promoted to.
fn not_promoted(sync: &BranchStatus, staging: &str) -> Option<String> {
    let promotion = sync.promoted_from.iter().find(|promotion| promotion.branch == staging)?;
    match promotion.ahead {
        Some(0) => None,
        Some(1) => Some(format!("not promoted to {} yet, which is 1 dry commit behind", sync.branch)),
        Some(count) => Some(format!("not promoted to {} yet, which is {count} dry commits behind", sync.branch)),
        None => Some(format!("not promoted to {} yet", sync.branch)),
    }
}
