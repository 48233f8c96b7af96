//! What a push breaks on a branch that is held as a whole. Nothing of the branch is hydrated, so nothing else would say it before the
//! hold ends.
//!
//! Only what the push touches is rendered: the Applications whose document or source directory differs from what the last run saw. So
//! one that fails, or that takes its time, costs no later push anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::failed_render::FailedRender;
use super::make::rendered::{differs, failures};
use super::plan::by_changes::ByChanges;
use super::state::Run;
use super::stopped::Stopped;
use crate::argo::{Application, BranchName};
use crate::owners::heads::DryHead;
use crate::owners::setup::Wake;
use crate::repo::{ObjectId, object_id};
use crate::settings::Hold;
use dry_files::diag::Diagnostic;
use dry_files::view::View;

/// Applications of held branches.
pub(crate) struct Held {
    /// The dry trees between which they may differ.
    before: ObjectId,
    now: ObjectId,
    applications: Vec<Arc<Application>>,
}

impl Run<'_> {
    /// The tip of a dry branch that the last run saw, where something is held. As far as nothing is known of it, the newest commit that
    /// an environment branch shows or that failed, or the first parent. To be asked before this run leaves its own.
    pub(crate) fn tip_before(&self, head: &DryHead) -> Option<ObjectId> {
        let is_run = matches!(self.found.setup.wake, Wake::Pushed(_) | Wake::Everything) && self.preview.is_none();
        if !is_run || self.found.holds.is_empty() {
            return None;
        }
        let seen = self.memory.recall_in_place(head, &self.found).and_then(|state| object_id(&state.head.dry_commit));
        let repository = self.found.setup.repository;
        seen.or_else(|| self.newest_shown(head)).or_else(|| repository.first_parent(head.tip).ok().flatten())
    }

    /// The newest commit of a dry branch that an environment branch shows, or that failed, and that is not the tip.
    fn newest_shown(&self, head: &DryHead) -> Option<ObjectId> {
        let repository = self.found.setup.repository;
        let of_head = self.branches.values().filter(|branch| branch.dry_branch == head.branch);
        let mut shown: BTreeSet<ObjectId> = of_head.filter_map(|branch| branch.dry).collect();
        let failures = self.ledger.failures.branches().flat_map(|(_, failures)| failures);
        let failures = failures.filter(|failure| failure.dry_branch == head.branch.as_str());
        shown.extend(failures.filter_map(|failure| object_id(&failure.dry_sha)).filter(|dry| repository.has(*dry)));
        let before = shown.into_iter().filter(|dry| *dry != head.tip && repository.is_ancestor(*dry, head.tip));
        before.reduce(|newest, dry| if repository.is_ancestor(newest, dry) { dry } else { newest })
    }

    /// What a push may touch of the Applications of held branches, since the dry branch had `before`; nothing where it does not
    /// matter. Asked before this run leaves what it knows, in which `planner` finds them; without one all of them are.
    pub(crate) fn touched_of_held(
        &mut self,
        before: Option<ObjectId>,
        planner: Option<&ByChanges>,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Option<Held>, Stopped> {
        let held = self.held_as_a_whole(head);
        let Some(before) = before.filter(|before| *before != head.tip && !held.is_empty()) else { return Ok(None) };
        // It is gone after a rewind and a prune.
        let Ok(before) = self.found.dry_tree(before) else { return Ok(None) };
        let now = self.found.dry_tree(head.tip)?;
        let known = planner.map(|planner| planner.touched_of_frozen(&held, (before, now), self)).transpose()?.flatten();
        let applications = match known {
            Some(known) => known,
            None => {
                let tree = self.tree(head.tip, head, heads)?;
                // What a branch gets by a tag is not what the dry branch has.
                let is_of_held = |branch| held.contains(branch) && tree.revision(branch).is_none();
                let of_held = tree.hydrated().filter(|application| is_of_held(application.environment_branch()));
                of_held.cloned().collect()
            }
        };
        Ok(Some(Held { before, now, applications }))
    }

    /// Warns of what does not render on held branches and differs from what the dry branch had before.
    pub(crate) fn warn_of_held(&mut self, held: Held, head: &DryHead) -> Result<(), Stopped> {
        let Held { before, now, applications } = held;
        let (before, files) = (self.files(before), self.files(now));
        let view = View::new(&*files);
        let applications = applications.iter().map(|application| &**application);
        let touched: Vec<&Application> =
            applications.filter(|application| differs(application, &before, &view)).collect();
        let failed = failures(&touched, head.tip, &files, &self.found, &self.memory)?;
        self.report.warnings.extend(failed.iter().flat_map(|(application, failed)| warnings(application, failed)));
        Ok(())
    }

    fn held_as_a_whole(&self, head: &DryHead) -> BTreeSet<BranchName> {
        let of_head = self.branches.values().filter(|branch| branch.dry_branch == head.branch && branch.is_frozen());
        let held = of_head.filter(|branch| self.found.hold(&branch.name, &branch.sync).iter().any(Hold::is_whole));
        held.map(|branch| branch.name.clone()).collect()
    }
}

fn warnings(application: &Application, failed: &FailedRender) -> Vec<Diagnostic> {
    let branch = application.environment_branch();
    let warning = |one: &Diagnostic| {
        let message = format!("`{branch}` is held, and would not hydrate: {}", one.message);
        Diagnostic { message, ..one.as_warning() }
    };
    failed.diagnostics.iter().map(warning).collect()
}
