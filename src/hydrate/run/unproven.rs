//! Makers of which it has to be found out whether they made Applications of a branch, and make them no more.
//!
//! One that cannot be answered at the dry commit of the branch either, for a limit of this machine or a setting, may have been
//! answered when that commit was hydrated: it did make some, where the branch has more than is known of.
//!
//! An Application whose sources have no word of `sourceHydrator` is not rendered for what it makes. Where it made something
//! before, it makes that no more only if it renders at all: a chart that fails leaves in the cluster what it made.

use super::{DryTree, Run};
use crate::application::{Application, BranchName};
use crate::git::ObjectId;
use crate::hydrate::branch::METADATA;
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::making::Making;
use crate::hydrate::takeover;
use crate::hydrate::{HydrateError, Stopped};
use crate::plan::{Renders as _, Unanswered};
use crate::view::TreeFiles;

impl Run<'_> {
    /// Why it is not known that what `before` has of such parents on a branch is made no more; none when it is.
    pub(super) fn unproven(
        &self,
        branch: &BranchName,
        tree: &DryTree,
        before: Option<&DryTree>,
        dry: ObjectId,
    ) -> Result<Option<FailedBranch>, Stopped> {
        let Some(before) = before else { return Ok(None) };
        let mut failed = FailedBranch::default();
        let doubtful: Vec<&Unanswered> = tree.unanswered_as_in(before).collect();
        if !doubtful.is_empty() && self.has_more_than(branch, before)? {
            doubtful.into_iter().for_each(|unanswered| take(&mut failed, unanswered.clone()));
        }
        for unanswered in self.unrendered(&tree.silent_parents(branch, before), tree, dry)? {
            take(&mut failed, unanswered);
        }
        let is_proven = failed.limits.is_empty() && failed.mistakes.is_empty();
        Ok((!is_proven).then_some(failed))
    }

    /// Whether a branch has paths that hydration wrote and that no Application of `before` writes.
    fn has_more_than(&self, branch: &BranchName, before: &DryTree) -> Result<bool, Stopped> {
        let Some(tip) = self.branches.get(branch).and_then(|branch| branch.tip.as_ref()) else { return Ok(false) };
        let paths = before.applications(branch).map(|application| &application.sync_path).collect();
        let left = takeover::left_alone(tip.tree, &paths, &self.buffer)?;
        let is_of_path = |path: &String| path.rsplit_once('/').is_some_and(|(_, name)| name == METADATA);
        Ok(left.iter().any(is_of_path))
    }

    /// Those of the parents that do not render.
    fn unrendered(&self, parents: &[&Application], tree: &DryTree, dry: ObjectId) -> Result<Vec<Unanswered>, Stopped> {
        if parents.is_empty() {
            return Ok(Vec::new());
        }
        let id = dry.to_string();
        let making = Making { settings: &self.rules.settings, renderers: self.setup.renderers, dry_commit: &id };
        let files = TreeFiles::new(self.setup.repository, tree.tree);
        let rendered = parents.iter().zip(making.render(parents, &files));
        let unanswered = rendered.filter_map(|(parent, rendered)| Unanswered::of(parent, rendered).transpose());
        Ok(unanswered.collect::<Result<_, _>>().map_err(HydrateError::Machine)?)
    }
}

fn take(failed: &mut FailedBranch, unanswered: Unanswered) {
    let Unanswered { diagnostic, is_limit, .. } = unanswered;
    if is_limit { failed.limits.push(diagnostic) } else { failed.mistakes.push(diagnostic) }
}
