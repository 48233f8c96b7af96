//! What a push breaks on a branch that is held as a whole. Nothing of the branch is hydrated, so nothing else would say it before the
//! hold ends.
//!
//! Only what the push touches is rendered: the Applications whose document or source directory differs from what the last run saw. So
//! one that fails, or that takes its time, costs no later push anything.

use std::collections::BTreeSet;

use super::failed_render::FailedRender;
use super::make::rendered::{differs, failures};
use super::state::Run;
use super::stopped::Stopped;
use crate::argo::{Application, BranchName};
use crate::owners::heads::DryHead;
use crate::owners::setup::Wake;
use crate::repo::{ObjectId, TreeFiles, object_id};
use crate::settings::Hold;
use dry_files::diag::Diagnostic;
use dry_files::view::View;

impl Run<'_> {
    /// The tip of a dry branch that the last run saw, where something is held; as far as nothing is known of it, the first parent.
    /// To be asked before this run leaves its own.
    pub(crate) fn tip_before(&self, head: &DryHead) -> Option<ObjectId> {
        let is_run = matches!(self.found.setup.wake, Wake::Pushed(_) | Wake::Everything) && self.preview.is_none();
        if !is_run || self.found.holds.is_empty() {
            return None;
        }
        let seen = self.memory.recall(head, &self.found).and_then(|state| object_id(&state.head.dry_commit));
        seen.or_else(|| self.found.setup.repository.first_parent(head.tip).ok().flatten())
    }

    /// Warns of what does not render on held branches and differs from what the dry branch had `before`.
    pub(crate) fn warn_of_held(
        &mut self,
        before: Option<ObjectId>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<(), Stopped> {
        let held = self.held_as_a_whole(head);
        let Some(before) = before.filter(|before| *before != head.tip && !held.is_empty()) else { return Ok(()) };
        // It is gone after a rewind and a prune.
        let Ok(before) = self.found.buffer.commit(before) else { return Ok(()) };
        let before = TreeFiles::new(self.found.setup.repository, before.tree);
        let tree = self.tree(head.tip, head, heads)?;
        let files = self.files(tree.tree);
        let view = View::new(&*files);
        let of_held = tree.hydrated().map(|application| &**application);
        let of_held = of_held.filter(|application| held.contains(application.environment_branch()));
        let touched: Vec<&Application> = of_held.filter(|application| differs(application, &before, &view)).collect();
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
