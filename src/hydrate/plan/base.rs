//! What previews in a clone start from: the dry commit that the environment branches show.
//!
//! On a server each push leaves for the next one what its renders looked at; a clone has fetched only what came of them. So
//! that dry commit is rendered once. When that gives just what is on the branches, every further preview
//! [looks](super::by_changes) at what differs from there, until the branches move. When it does not, which is noted too, every
//! preview looks at everything until then.

use super::by_everything::ByEverything;
use crate::argo::BranchName;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::memory::{Attempt, base_facts};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::revisions::Follows;
use crate::owners::setup::{Setup, Wake};
use crate::repo::object_id;

/// Finds out what the environment branches of a dry branch were rendered from, and leaves it in the cache. Answers whether
/// that is new, and previews can start from there.
pub(crate) fn learn_base(setup: &Setup<'_>) -> bool {
    // The preview itself finds and reports what is wrong.
    learnt(setup).unwrap_or(false)
}

fn learnt(setup: &Setup<'_>) -> Result<bool, Stopped> {
    let Wake::Commit { branch, .. } = &setup.wake else { return Ok(false) };
    let refs = setup.repository.refs()?;
    let Some(base) = setup.place.tip(&refs, branch) else { return Ok(false) };
    let wake = Wake::Commit { branch: branch.clone(), tip: base };
    let setup = Setup { place: setup.place.clone(), wake, ..*setup };
    let mut run = Run::of(&setup, refs)?.recalling(&Attempt { trusts_cache: true, ..Attempt::default() });
    if !run.memory.is_kept() {
        return Ok(false);
    }
    let heads = run.prepare()?;
    let [head] = &heads[..] else { return Ok(false) };
    let known = run.memory.recall_base(head, &run.found);
    let is_here = |state: &_| run.memory.is_start(state, head, &heads, &run.found);
    if known.as_ref().is_some_and(|state| is_here(state) && object_id(&state.head.dry_commit) == Some(base)) {
        return Ok(false);
    }
    let facts = base_facts(head, &run.found);
    if run.memory.has_no_base(head, &run.found, &facts) {
        return Ok(false);
    }
    let warned = run.report.warnings.len();
    let earlier = run.memory.recall_results(head, &run.found).or(known);
    let mut planner = ByEverything::open(earlier, &mut run, head, &heads)?;
    // What tags lead to is looked at each time.
    if run.branches.values().any(|branch| branch.follows != Follows::Branch) {
        return Ok(false);
    }
    let shows = |name: &&BranchName| run.branches.get(*name).is_some_and(|branch| branch.has_reached(base));
    let names: Vec<BranchName> = planner.branches().filter(shows).cloned().collect();
    let others = || run.branches.iter().filter(|(name, _)| !names.contains(name));
    if names.is_empty() || !others().all(|(_, branch)| branch.is_frozen()) {
        run.memory.note_no_base(head, &run.found, &facts);
        return Ok(false);
    }
    let plan = planner.plan_again(names, &mut run, head, &heads)?;
    let rendered = run.render(plan)?;
    run.commit(&rendered, None)?;
    planner.take(rendered);
    let warnings = planner.warnings().to_vec();
    planner.finish(&mut run, head, &heads)?;
    let is_as_found = |branch: &Branch| branch.is_frozen() || branch.is_as_found();
    let is_plain = run.report.problems.is_empty() && run.report.warnings.get(warned..) == Some(&warnings);
    let is_base = is_plain && run.branches.values().all(is_as_found);
    // On another day a limit of this machine may not be reached.
    let is_limited = |branch: &Branch| branch.failed().is_some_and(|failed| !failed.limits.is_empty());
    if !is_base && !run.memory.is_cut_off && !run.branches.values().any(is_limited) {
        run.memory.note_no_base(head, &run.found, &facts);
    }
    match is_base {
        true => run.memory.write_base(),
        false => run.memory.write_results(),
    }
    Ok(is_base)
}
