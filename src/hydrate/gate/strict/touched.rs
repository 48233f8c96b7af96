//! Whether a push touches what is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::view::View;

use super::Judge;
use crate::argo::{Application, BranchName};
use crate::hydrate::failed_render::FailedRender;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::report::Outcome;
use crate::hydrate::state::Run;
use crate::inspect;
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::repo::{ObjectId, TreeFiles};

/// The Applications that fed branches when they were hydrated last.
pub(super) type Formers = BTreeMap<BranchName, Vec<Arc<Application>>>;

/// Those of the branches of pushed dry branches that fail: one that the settings or the dry commit take out of sight is not
/// among those of the dry commit.
pub(super) fn formers(made: &mut Run<'_>, pushed: &BTreeSet<String>) -> Result<Formers, HydrateError> {
    let heads = made.found.heads();
    let failed = made.branches.values().filter(|branch| matches!(branch.failure(), Some(Outcome::Failed { .. })));
    let failed: Vec<_> = failed.map(|branch| (branch.name.clone(), branch.dry_branch.clone(), branch.dry)).collect();
    let mut formers = Formers::new();
    for (name, dry_branch, dry) in failed {
        let head = heads.iter().find(|head| head.branch == dry_branch && pushed.contains(dry_branch.as_str()));
        if let Some(head) = head {
            // It tells which Application a mistake is about.
            made.tree(head.tip, head, &heads)?;
            let former = made.former(&name, dry, head, &heads)?;
            formers.insert(name, former.applications);
        }
    }
    Ok(formers)
}

impl Judge<'_> {
    /// Whether the push changes the document of an Application, or anything that its render looked at until it failed.
    pub(super) fn touches(&self, branch: &Branch, render: &FailedRender) -> Result<bool, HydrateError> {
        let old = self.push.before.repository.refs()?.branch(branch.dry_branch.as_str());
        let Some(old) = old else { return Ok(true) };
        let repository = self.push.after.repository;
        let files = TreeFiles::new(repository, self.made.found.dry_tree(old)?);
        Ok(!View::new(&files).confirms(&render.reads)?)
    }

    /// Whether the push changes anything that the Application of a render names: also what that render has not come to. Also when no
    /// time is left to find out.
    pub(super) fn touches_names(&self, branch: &Branch, render: &FailedRender) -> Result<bool, HydrateError> {
        let dry_branch = branch.dry_branch.as_str();
        let (old, new) = (self.push.before.repository.refs()?, self.push.after.repository.refs()?);
        let (Some(old), Some(new)) = (old.branch(dry_branch), new.branch(dry_branch)) else { return Ok(true) };
        let repository = self.push.after.repository;
        let old_files = TreeFiles::new(repository, self.made.found.dry_tree(old)?);
        let new_files = TreeFiles::new(repository, self.made.found.dry_tree(new)?);
        let (old_view, new_view) = (View::new(&old_files), View::new(&new_files));
        let named: BTreeSet<&str> =
            render.diagnostics.iter().filter_map(|diagnostic| diagnostic.application.as_deref()).collect();
        let Some(tree) = self.made.trees.known(new) else { return Ok(true) };
        let profile = self.made.found.policy.settings.profile.into();
        for application in tree.applications(&branch.name).filter(|one| named.contains(one.name.as_str())) {
            if (self.push.after.out_of_time)() {
                return Ok(true);
            }
            let reads = inspect::named_by(application, &new_view, profile, &new.to_string());
            if !old_view.confirms(&reads)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the push changes the file that is wrong, or anything that the Application reads.
    pub(super) fn is_touched(&self, branch: Option<&Branch>, diagnostic: &Diagnostic) -> Result<bool, HydrateError> {
        let old = self.push.before.repository.refs()?;
        let branches: Vec<&str> = match branch {
            Some(branch) => vec![branch.dry_branch.as_str()],
            None => self.pushed.iter().map(String::as_str).collect(),
        };
        for dry_branch in branches {
            let new = self.push.after.repository.refs()?.branch(dry_branch);
            let (Some(old), Some(new)) = (old.branch(dry_branch), new) else { return Ok(true) };
            if self.differs(old, new, branch, diagnostic)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn differs(
        &self,
        old: ObjectId,
        new: ObjectId,
        branch: Option<&Branch>,
        diagnostic: &Diagnostic,
    ) -> Result<bool, HydrateError> {
        let repository = self.push.after.repository;
        let old_files = TreeFiles::new(repository, self.made.found.dry_tree(old)?);
        let new_files = TreeFiles::new(repository, self.made.found.dry_tree(new)?);
        let (old_view, new_view) = (View::new(&old_files), View::new(&new_files));
        let same = |path| old_view.content_id(path) == new_view.content_id(path);
        if diagnostic.span.as_ref().is_some_and(|span| !same(&span.path)) {
            return Ok(true);
        }
        let Some(branch) = branch else { return Ok(false) };
        let tree = self.made.trees.known(new);
        let now = tree.iter().flat_map(|tree| tree.applications(&branch.name));
        let before = self.formers.get(&branch.name).into_iter().flatten();
        let is_about = |application: &&Arc<Application>| match (diagnostic.application.as_deref(), &tree) {
            (Some(failed), _) => failed == application.name.as_str(),
            (None, Some(tree)) => tree.is_about(diagnostic, application),
            (None, None) => true,
        };
        for application in now.chain(before).filter(is_about) {
            let id = new.to_string();
            let context = render_context(&self.made.found.policy.settings, &new_files, &id);
            let reads = self.push.after.renderers.reads(application, &context);
            if !old_view.confirms(&reads)? || !same(&application.file) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
