//! Where a plan by what changed begins: the dry commit of the state, if the branches are where it says.

use std::collections::BTreeMap;

use crate::argo::BranchName;
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::memory::is_as_left;
use crate::hydrate::plan::Failing;
use crate::hydrate::plan::skipped::LeftBehind;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::known::{Branch as KnownBranch, Frozen, State, Stuck};
use crate::owners::heads::{BACKLOG_MAX, DryHead};
use crate::owners::snapshot::Snapshot;
use crate::repo::{ObjectId, object_id};
use crate::settings::History;

/// The dry commit that a state is of, those that follow, the branches, and the dry commits that those lack which stayed
/// behind.
pub(super) type Start = (ObjectId, Vec<ObjectId>, Branches, BTreeMap<BranchName, Vec<ObjectId>>);

type Branches = BTreeMap<BranchName, Branch>;

/// Where to go on; none when the branches are elsewhere by now, or a dry commit is known to fail.
pub(super) fn start(state: &State, run: &mut Run<'_>, head: &DryHead) -> Result<Option<Start>, Stopped> {
    let Some(known) = object_id(&state.head.dry_commit) else { return Ok(None) };
    let Some(commits) = line(known, &run.found, head)? else { return Ok(None) };
    let Some(mut branches) = open_known(state, known, run, head)? else { return Ok(None) };
    let Some(stuck) = open_stuck(state, run, head)? else { return Ok(None) };
    let mut lacking = BTreeMap::new();
    for (name, branch) in stuck {
        lacking.insert(name.clone(), branch.backlog(head, &run.found)?);
        branches.insert(name, branch);
    }
    let Some(frozen) = open_frozen(state, run, head)? else { return Ok(None) };
    branches.extend(frozen);
    // What comes when a hold ends is one commit.
    if commits.len() > 1 {
        for branch in branches.values() {
            if branch.ends_hold(&run.found)? {
                return Ok(None);
            }
        }
    }
    let all_are_there = run.found.hydrated_from(&head.branch).all(|name| branches.contains_key(name));
    let known_failure = |name, dry| run.ledger.known_failure(name, dry, run.found.policy.id);
    let fails = branches.keys().any(|name| commits.iter().any(|dry| known_failure(name, *dry).is_some()));
    Ok((all_are_there && !fails).then_some((known, commits, branches, lacking)))
}

/// Tells what is known of the dry commits that a branch lacks and that earlier runs tried.
pub(super) fn recall_failures(
    (state, stuck): (&State, Option<&Stuck>),
    name: &BranchName,
    lacking: &[ObjectId],
    commits: &[ObjectId],
    run: &mut Run<'_>,
    head: &DryHead,
) {
    for dry in lacking.iter().filter(|dry| !commits.contains(dry)) {
        if let Some(failure) = run.ledger.known_failure(name, *dry, run.found.policy.id) {
            let failing = Failing::Recorded(failure.diagnostics.clone());
            run.fail(name, head, *dry, failing);
        } else if let Some(stuck) = stuck.filter(|_| object_id(&state.head.dry_commit) == Some(*dry)) {
            run.fail(name, head, *dry, Failing::Limited(FailedBranch::carried(stuck)));
        }
    }
}

/// The dry commits after `known` up to the tip; none when the dry branch was rewound.
fn line(known: ObjectId, found: &Snapshot<'_>, head: &DryHead) -> Result<Option<Vec<ObjectId>>, Stopped> {
    let repository = found.setup.repository;
    if !repository.has(known) {
        return Ok(None);
    }
    let Some(line) = repository.first_parents(known, head.tip, BACKLOG_MAX)? else { return Ok(None) };
    Ok(Some(match found.policy.settings.history {
        History::Every => line,
        History::Tip => line.last().copied().into_iter().collect(),
    }))
}

/// An environment branch as it is now, without a look at its Applications; none when its name cannot be one.
fn reopen(
    (name, sync): (&str, &str),
    applications: usize,
    run: &mut Run<'_>,
    head: &DryHead,
) -> Result<Option<Branch>, Stopped> {
    let (Ok(name), Ok(sync)) = (BranchName::read(name), BranchName::read(sync)) else { return Ok(None) };
    let mut branch = run.open(&name, &sync, head)?;
    branch.applications = applications;
    branch.goes_along_with(run.branches.get(&name));
    branch.judge(head, std::iter::empty(), &run.found);
    Ok(Some(branch))
}

/// The environment branches that were hydrated from `known`, if they are where the state says.
fn open_known(state: &State, known: ObjectId, run: &mut Run<'_>, head: &DryHead) -> Result<Option<Branches>, Stopped> {
    let mut branches = Branches::new();
    for KnownBranch { name, sync, tip, applications, left, inputs, .. } in state.head.branches.iter().flatten() {
        let Some(mut branch) = reopen((name, sync), *applications, run, head)? else { return Ok(None) };
        branch.inputs.clone_from(inputs);
        if let Some(left) = left {
            branch.left = LeftBehind::before(left, run.ledger.left_behind(&branch.name, known));
        }
        let is_there = branch.tip.as_ref().is_some_and(|found| Some(found.id) == object_id(tip));
        let refs = &run.found.setup.place;
        let lacks_note = refs.keeps_records() && refs.is_of_server() && branch.was_moved();
        // A state is of the settings of now. On a server, the record says so too.
        let is_recorded = !refs.is_of_server() || branch.settings == run.found.policy.id;
        let is_at = is_there && branch.dry == Some(known) && is_recorded;
        // Whether one that was deleted is there again depends on whether Applications ask for it.
        if !is_at || branch.closed || lacks_note || branch.deleted().is_some() {
            return Ok(None);
        }
        branches.insert(branch.name.clone(), branch);
    }
    Ok(Some(branches))
}

/// Those that stayed behind, if they are where the state says.
fn open_stuck(state: &State, run: &mut Run<'_>, head: &DryHead) -> Result<Option<Branches>, Stopped> {
    let mut branches = Branches::new();
    for stuck in &state.head.stuck {
        let Some(branch) = reopen((&stuck.name, &stuck.sync), stuck.applications, run, head)? else { return Ok(None) };
        if branch.closed || branch.deleted().is_some() || !is_as_left(stuck, &branch) {
            return Ok(None);
        }
        branches.insert(branch.name.clone(), branch);
    }
    Ok(Some(branches))
}

/// Those that are frozen.
fn open_frozen(state: &State, run: &mut Run<'_>, head: &DryHead) -> Result<Option<Branches>, Stopped> {
    let mut branches = Branches::new();
    for Frozen { name, sync, applications, .. } in &state.head.frozen {
        let Some(branch) = reopen((name, sync), *applications, run, head)? else { return Ok(None) };
        let is_left = run.found.setup.leaves(&branch.name, &branch.sync);
        let hold = run.found.hold(&branch.name, &branch.sync).iter().find(|hold| hold.is_whole() && !is_left);
        let is_elsewhere = hold.map_or(Ok(false), |hold| branch.is_elsewhere(hold, &run.found))?;
        if !branch.is_frozen() || is_elsewhere {
            return Ok(None);
        }
        branches.insert(branch.name.clone(), branch);
    }
    Ok(Some(branches))
}
