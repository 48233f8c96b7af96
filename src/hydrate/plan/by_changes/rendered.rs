//! Whether what was rendered again goes together with all that was not, of which only the state knows.

use std::collections::BTreeSet;

use dry_files::path::RepoPath;

use crate::argo::BranchName;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::make::commits::conflicts;
use crate::hydrate::make::losses::losses;
use crate::hydrate::make::manifest_of::manifest_of;
use crate::hydrate::make::output::PathOutput;
use crate::hydrate::plan::lost_objects::have_same_objects;
use crate::hydrate::plan::{Done, Hydration, Rendered};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::known::{Basis, State};
use crate::settings::Held;

/// What was rendered of one dry commit, and what is known beside it.
pub(super) struct Judging<'j, 'a> {
    pub state: &'j State,
    pub rendered: &'j Rendered,
    pub run: &'j Run<'a>,
}

impl Judging<'_, '_> {
    /// Whether all of it is plain: it leaves nothing behind, and is in the way of nothing.
    pub(super) fn is_plain(&self) -> Result<bool, Stopped> {
        let again: BTreeSet<(&RepoPath, usize)> = self
            .rendered
            .hydrations()
            .flat_map(|(_, hydration)| &hydration.work)
            .map(|done| (&done.application.file, done.application.index))
            .collect();
        for (name, hydration) in self.rendered.hydrations() {
            let has_failed = hydration.failed().next().is_some();
            // Which Application is left behind, and with what, is not known here.
            if has_failed && (hydration.stuck.is_some() || may_leave(name, self.run)) {
                return Ok(false);
            }
            if !self.keeps_basis(name, hydration)? {
                return Ok(false);
            }
            let Some(branch) = self.run.branches.get(name) else { return Ok(false) };
            let is_whole = hydration.stuck.is_none() && !has_failed;
            if is_whole && (!self.objects_are_free(name, hydration, &again)? || self.loses_much(branch, hydration)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether what failed before on a branch fails in the same way beside what was rendered now.
    fn keeps_basis(&self, name: &BranchName, hydration: &Hydration<Done>) -> Result<bool, Stopped> {
        let known = self.state.head.branches.iter().flatten().find(|known| known.name == name.as_str());
        let left = known.and_then(|known| known.left.as_ref()).map(|left| left.basis);
        let basis = match (&hydration.stuck, left) {
            (Some(stuck), _) => stuck.basis,
            (None, Some(Basis::Objects)) => Basis::Objects,
            (None, _) => return Ok(true),
        };
        let tip = self.run.branches.get(name).and_then(|branch| branch.tip.as_ref());
        let tree = tip.filter(|_| basis == Basis::Objects).map(|tip| self.run.found.tree_of(tip.tree));
        for (application, output) in hydration.outputs() {
            let Some(record) = self.state.one(&application.file, application.index)? else {
                match basis {
                    // One that came adds nothing to it.
                    Basis::Nothing => continue,
                    Basis::Objects | Basis::All => return Ok(false),
                }
            };
            if record.objects != output.objects {
                return Ok(false);
            }
            // What is lost goes by the text of manifests, and only the branch has that of before.
            let Some(tree) = &tree else { continue };
            let there = manifest_of(tree, &application.sync_path)?;
            let there = there.filter(|there| record.manifest.as_bytes() == there.as_bytes());
            let Some(before) = there else { return Ok(false) };
            if !have_same_objects(before, output.manifest, &self.run.found.buffer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no object is rendered by two Applications of a branch; `again` are all Applications that were rendered again.
    fn objects_are_free(
        &self,
        branch: &BranchName,
        hydration: &Hydration<Done>,
        again: &BTreeSet<(&RepoPath, usize)>,
    ) -> Result<bool, Stopped> {
        for (application, output) in hydration.outputs() {
            // Objects of a cluster that is not known are shared with no other.
            let Some(cluster) = application.object_cluster() else { continue };
            let owners = self.state.owners(branch, Some(&cluster), &output.objects)?;
            let stays = hydration.stays.iter().flat_map(|stays| &stays.paths).filter_map(|left| left.objects.as_ref());
            let mut keys = stays.filter(|left| left.cluster.as_deref() == Some(&*cluster)).flat_map(|left| &left.keys);
            let is_others = owners.iter().any(|owner| !again.contains(&(&owner.file, owner.index)));
            if is_others || keys.any(|key| output.objects.contains(key)) {
                return Ok(false);
            }
        }
        Ok(conflicts(hydration).is_empty())
    }

    /// Whether a branch loses so many objects that all of them are to be counted.
    fn loses_much(&self, branch: &Branch, hydration: &Hydration<Done>) -> Result<bool, Stopped> {
        let paths: Vec<PathOutput<'_>> =
            hydration.outputs().map(|(application, output)| output.at(application)).collect();
        Ok(losses(branch, &paths, &hydration.removals, &|_| false, &self.run.found)?.is_some())
    }
}

/// Whether an Application that fails is left behind on a branch.
pub(super) fn may_leave(name: &BranchName, run: &Run<'_>) -> bool {
    run.found.policy.settings.on_failure.of(name) == Held::Application
}
