//! Hydrations whose results are kept in memory: onto the branches as they are, onto what another commit gives, or onto nothing.

use std::collections::BTreeMap;

use super::not_compared::Before;
use crate::argo::BranchName;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::memory::Attempt;
use crate::hydrate::plan::base::learn_base;
use crate::hydrate::state::{Previewed, Run};
use crate::hydrate::stopped::Stopped;
use crate::owners::error::HydrateError;
use crate::owners::settings_named::by_settings;
use crate::owners::setup::{Setup, Wake};
use crate::repo::{ObjectBuffer, ObjectId};
use crate::settings::SETTINGS_REF;
use dry_files::diag::Diagnostic;

/// Where the branches are after a run without branches. Where its dry commit does not render, what is on the branch is the best that
/// there is.
pub(super) fn tips(made: &Run<'_>, setup: &Setup<'_>) -> Result<BTreeMap<BranchName, Option<ObjectId>>, HydrateError> {
    let fetched = setup.repository.refs()?;
    let tip =
        |branch: &Branch| branch.tip.as_ref().map(|tip| tip.id).or_else(|| setup.place.tip(&fetched, &branch.name));
    Ok(made.branches.iter().map(|(name, branch)| (name.clone(), tip(branch))).collect())
}

/// Does `work` as if the dry commit `base` had been hydrated, and nothing after it. `work` also gets the warnings of
/// that hydration, and what it does not hydrate.
pub(super) fn on_base<T>(
    setup: &Setup<'_>,
    base: ObjectId,
    work: impl FnOnce(&Setup<'_>, ObjectBuffer<'_>, (&[Diagnostic], &Before)) -> Result<T, HydrateError>,
) -> Result<T, HydrateError> {
    let before = without_branches(setup, base);
    let made = rehearse(&before, ObjectBuffer::new(setup.repository))?;
    let mut repository = by_settings(made.found.refs.get(SETTINGS_REF), setup.repository)?;
    let tips = tips(&made, setup)?;
    let not_hydrated = Before::of(&made, base, setup)?;
    let not_hydrated = not_hydrated.without(|branch| tips.get(branch).is_some_and(Option::is_some));
    for (name, tip) in tips {
        repository = repository.assuming(&before.place.read_name(&name), tip);
    }
    let after = Setup { repository: &repository, wake: setup.wake.clone(), place: before.place.clone(), ..before };
    work(&after, made.found.buffer, (&made.report.warnings, &not_hydrated))
}

/// The setup of a dry commit as if nothing had been hydrated yet and no branch were frozen.
pub(super) fn without_branches<'a>(setup: &Setup<'a>, dry: ObjectId) -> Setup<'a> {
    let place = setup.place.clone().without_branches();
    let wake = match &setup.wake {
        Wake::Commit { branch, .. } => Wake::Commit { branch: branch.clone(), tip: dry },
        wake @ (Wake::Pushed(_) | Wake::Everything) => wake.clone(),
    };
    Setup { place, wake, now: None, ..*setup }
}

/// The setup as if no branch were frozen: what a freeze holds back is deployed when it ends.
pub(super) fn thawed<'a>(setup: &Setup<'a>) -> Setup<'a> {
    Setup { place: setup.place.clone(), wake: setup.wake.clone(), now: None, thawed_at: setup.now, ..*setup }
}

/// Rehearses onto the branches as they are. In a clone by what differs from the dry commit that they show, where that
/// is enough: what is looked at is then no more than on a server.
pub(super) fn rehearse_on_branches<'a>(setup: &'a Setup<'a>) -> Result<Run<'a>, HydrateError> {
    if !setup.place.is_of_server() {
        if let Some(run) = rehearse_from_base(setup)? {
            return Ok(run);
        }
        if learn_base(setup)
            && let Some(run) = rehearse_from_base(setup)?
        {
            return Ok(run);
        }
    }
    rehearse(setup, ObjectBuffer::new(setup.repository))
}

/// Rehearses each commit in turn onto the branches as they are.
pub(super) fn each_on_branches<'a>(setup: &'a Setup<'a>) -> Result<Run<'a>, HydrateError> {
    if !setup.place.is_of_server()
        && let Some(run) = from_base(setup, Run::hydrate)?
    {
        return Ok(run);
    }
    each_on(setup, ObjectBuffer::new(setup.repository))
}

pub(super) fn each_on<'a>(setup: &'a Setup<'a>, buffer: ObjectBuffer<'a>) -> Result<Run<'a>, HydrateError> {
    let mut run = Run::over(setup, buffer)?.recalling(&Attempt::default());
    run.preview = (!setup.place.is_of_server()).then_some(Previewed::Everything);
    run.hydrate().map_err(Stopped::into_error)?;
    Ok(run)
}

/// None when it is not enough, or the dry commit that the branches show was not looked at yet.
fn rehearse_from_base<'a>(setup: &'a Setup<'a>) -> Result<Option<Run<'a>>, HydrateError> {
    from_base(setup, Run::hydrate_tips)
}

fn from_base<'a>(
    setup: &'a Setup<'a>,
    hydrate: fn(&mut Run<'a>) -> Result<(), Stopped>,
) -> Result<Option<Run<'a>>, HydrateError> {
    let attempt = Attempt { trusts_cache: true, ..Attempt::default() };
    let mut run = Run::new(setup)?.recalling(&attempt);
    run.preview = Some(Previewed::SinceBase { looked_at: Vec::new() });
    match hydrate(&mut run) {
        Ok(()) => Ok(Some(run)),
        Err(Stopped::Unknown | Stopped::NotPlain | Stopped::Wider(_)) => Ok(None),
        Err(stopped) => Err(stopped.into_error()),
    }
}

pub(super) fn rehearse<'a>(setup: &'a Setup<'a>, buffer: ObjectBuffer<'a>) -> Result<Run<'a>, HydrateError> {
    rehearse_beside(setup, buffer, BTreeMap::new())
}

/// Rehearses, and compares branches that have no tip with these trees.
pub(super) fn rehearse_beside<'a>(
    setup: &'a Setup<'a>,
    buffer: ObjectBuffer<'a>,
    compared: BTreeMap<BranchName, ObjectId>,
) -> Result<Run<'a>, HydrateError> {
    let mut run = Run::over(setup, buffer)?.recalling(&Attempt::default());
    run.found.compared = compared;
    run.preview = (!setup.place.is_of_server()).then_some(Previewed::Everything);
    // Nothing is moved, so no one can be in the way.
    run.hydrate_tips().map_err(Stopped::into_error)?;
    if run.preview.is_some() {
        std::mem::take(&mut run.memory).write_results();
    }
    Ok(run)
}
