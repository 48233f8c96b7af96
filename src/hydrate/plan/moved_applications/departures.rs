//! The Applications that leave a branch in a run, and a warning where no other branch has them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::Diagnostic;

use super::{Name, at_branch, leaves, moved_from, name_of};
use crate::argo::{AppName, Application, BranchName};
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::make::branch::Branch;
use crate::hydrate::report::Outcome;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;
use crate::repo::ObjectId;

/// The Applications that leave branches in a run, each with the branch that it leaves.
#[derive(Debug, Default)]
pub(crate) struct Departures(Vec<(BranchName, Arc<Application>)>);

impl Departures {
    /// Those between what the branches of `names` show and the tip of their dry branch.
    pub(crate) fn find<'n>(
        names: impl Iterator<Item = &'n BranchName>,
        tree: &DryTree,
        run: &mut Run<'_>,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Self, Stopped> {
        let mut departures = Vec::new();
        for name in names {
            let Some(dry) = shown(name, run).filter(|dry| *dry != head.tip) else { continue };
            let former = run.former(name, Some(dry), head, heads)?;
            let moved = moved_from(name, tree, &former).into_iter();
            departures.extend(moved.map(|application| (name.clone(), application)));
        }
        Ok(Self(departures))
    }

    /// Warnings of those that are gone from the branch that they leave, and that another one does not have yet.
    pub(crate) fn warnings(
        &self,
        run: &mut Run<'_>,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Vec<Diagnostic>, Stopped> {
        let mut warnings = Vec::new();
        for (from, application) in &self.0 {
            let to = application.environment_branch();
            let lets_go = run.branches.get(from).is_some_and(|branch| branch.failure().is_none());
            let Some(obstacle) = obstacle(to, run).filter(|_| lets_go) else { continue };
            // Where a later commit of the push failed, an earlier one may have brought it there.
            let has_failed = matches!(run.branches.get(to).and_then(Branch::failure), Some(Outcome::Failed { .. }));
            let there = shown(to, run).filter(|_| has_failed);
            let there = there.map(|there| run.former(to, Some(there), head, heads)).transpose()?;
            let mut there = there.iter().flat_map(|former| &former.applications);
            if there.any(|there| name_of(there) == name_of(application)) {
                continue;
            }
            let text = leaves(application, from, &obstacle);
            let hint =
                format!("no branch has its manifests until `{to}` is hydrated: to keep them, move it back to `{from}`");
            warnings.push(at_branch(application, Diagnostic::warning(text).hint(hint)));
        }
        Ok(warnings)
    }
}

fn shown(name: &BranchName, run: &Run<'_>) -> Option<ObjectId> {
    run.branches.get(name).filter(|branch| !branch.unreadable())?.dry
}

/// Why a branch is not hydrated from the tip of its dry branch; none when nothing is known to keep it from that.
fn obstacle(name: &BranchName, run: &Run<'_>) -> Option<String> {
    let Some(branch) = run.branches.get(name) else { return Some("which is not hydrated from this branch".to_owned()) };
    if run.found.setup.leaves(name, &branch.sync) {
        return Some("which is left to another run".to_owned());
    }
    let thawed_at = run.found.setup.thawed_at;
    if thawed_at.is_some_and(|now| run.found.frozen_at(name, &branch.sync, now).is_some()) {
        return Some("which is frozen".to_owned());
    }
    match branch.failure()? {
        Outcome::Frozen(_) => Some("which is frozen".to_owned()),
        Outcome::Failed { diagnostics, .. } if branch.closed => {
            let why = diagnostics.first().map(|first| first.message.clone()).unwrap_or_default();
            Some(format!("which is not written: {why}"))
        }
        Outcome::Failed { .. } => Some("which failed".to_owned()),
        Outcome::Moved | Outcome::Unchanged => None,
    }
}

/// Warnings of Applications that no branch shows, although they were on one: what they left is hydrated, and what they moved
/// to is not. `failed` are branches whose last failure is recorded.
pub(crate) fn on_no_branch(
    failed: &BTreeSet<BranchName>,
    run: &mut Run<'_>,
    heads: &[DryHead],
) -> Result<Vec<Diagnostic>, Stopped> {
    let mut warnings = Vec::new();
    for head in heads {
        let tree = run.tree(head.tip, head, heads)?;
        let names: Vec<BranchName> = run.branches.keys().cloned().collect();
        let mut formers: BTreeMap<BranchName, Former> = BTreeMap::new();
        for name in names {
            let dry = shown(&name, run);
            formers.insert(name.clone(), run.former(&name, dry, head, heads)?);
        }
        let all = formers.values().flat_map(|former| &former.applications);
        let on_some: BTreeSet<Name> = all.map(|application| name_of(application)).collect();
        for (name, former) in &formers {
            let why = match obstacle(name, run) {
                Some(why) => why,
                None if failed.contains(name) => "which failed".to_owned(),
                None => continue,
            };
            let strays = tree.applications(name).filter(|application| !on_some.contains(&name_of(application)));
            let mut left: BTreeMap<&BranchName, Vec<&AppName>> = BTreeMap::new();
            for application in strays {
                let was = |before: &&Arc<Application>| name_of(before) == name_of(application);
                let before = former.tree.iter().flat_map(|tree| tree.hydrated()).find(was);
                if let Some(before) = before.filter(|before| before.environment_branch() != name) {
                    left.entry(before.environment_branch()).or_default().push(&application.name);
                }
            }
            for (from, applications) in left {
                let names: Vec<String> = applications.iter().map(|name| format!("`{name}`")).collect();
                let verb = if names.len() == 1 { "is" } else { "are" };
                let text = format!("{} {verb} on no branch: moved from `{from}` to `{name}`, {why}", names.join(", "));
                warnings.push(Diagnostic::warning(text));
            }
        }
    }
    Ok(warnings)
}
