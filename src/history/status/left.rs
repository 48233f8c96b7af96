//! Where the Applications are now that left a branch which none names any more.

use std::collections::BTreeSet;

use super::BranchStatus;
use crate::argo::{AppName, Application, BranchName};
use crate::hydrate::dry_tree::DryTrees;
use crate::owners::error::HydrateError;
use crate::owners::snapshot::Snapshot;
use crate::repo::object_id;

/// Names to each branch that is left as it is those that its Applications name now, as far as they can be read.
pub(super) fn note_now_on(found: &Snapshot<'_>, all: &mut [BranchStatus]) {
    let left: Vec<&mut BranchStatus> = all.iter_mut().filter(|status| status.has_leftovers()).collect();
    if left.is_empty() {
        return;
    }
    let mut trees = DryTrees::default();
    for status in left {
        // A tree that cannot be read keeps nothing else of the branch from being said.
        status.now_on = now_on(status, &mut trees, found).ok().flatten().unwrap_or_default();
    }
}

fn now_on<'a>(
    status: &BranchStatus,
    trees: &mut DryTrees<'a>,
    found: &Snapshot<'a>,
) -> Result<Option<Vec<String>>, HydrateError> {
    let heads = found.heads();
    let Some(head) = heads.iter().find(|head| head.branch.as_str() == status.dry_branch) else { return Ok(None) };
    let dry = status.dry_sha.as_deref().and_then(object_id).filter(|dry| found.setup.repository.has(*dry));
    let (Some(dry), Ok(branch)) = (dry, BranchName::read(&status.branch)) else { return Ok(None) };
    let before = trees.read(dry, head, &heads, found)?;
    let gone: BTreeSet<Name> = before.applications(&branch).map(|application| name(application)).collect();
    let now = trees.read(head.tip, head, &heads, found)?;
    let moved = now.hydrated().filter(|application| gone.contains(&name(application)));
    let on: BTreeSet<String> = moved.map(|application| application.environment_branch().to_string()).collect();
    Ok(Some(on.into_iter().collect()))
}

type Name = (Option<AppName>, AppName);

fn name(application: &Application) -> Name {
    (application.namespace.clone(), application.name.clone())
}
