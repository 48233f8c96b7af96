//! Objects of a branch that several dry branches share: one that an Application of another dry branch has there is not taken.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::manifest_of::manifest_of;
use super::output::Output;
use crate::argo::{Application, BranchName};
use crate::hydrate::plan::{Done, Hydration, Rendered, Step};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::manifest::{self, Key, Source};
use crate::owners::files::MANIFEST;
use crate::owners::heads::DryHead;
use crate::render;
use crate::repo::ObjectId;
use crate::repo::publish::HydratedTree;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::View;

/// The objects of a branch, each by its cluster, and who has it there: the dry branch and the Application.
type Owners = HashMap<(String, Key), (BranchName, Arc<Application>)>;

impl Run<'_> {
    /// Holds the branches on which an object would come to a second Application, of another dry branch. Answers whether there
    /// are any.
    ///
    /// The one that has it keeps it. What both have already, from before this was judged, holds nothing.
    pub(crate) fn hold_taken_objects(&mut self, rendered: &mut Rendered, heads: &[DryHead]) -> Result<bool, Stopped> {
        let mut taken = BTreeMap::new();
        for (name, hydration) in rendered.hydrations() {
            if self.found.policy.settings.active_paths(name).is_empty() {
                continue;
            }
            let coming = self.coming(name, hydration, rendered, heads)?;
            if coming.is_empty() {
                continue;
            }
            let owners = self.owners(name, &rendered.head, heads)?;
            taken.extend(first_taken(&coming, &owners).map(|mistake| (name.clone(), mistake)));
        }
        for (name, step) in &mut rendered.branches {
            if let Step::Hydrate(hydration) = step {
                hydration.taken = taken.remove(name);
            }
        }
        Ok(rendered.hydrations().any(|(_, hydration)| hydration.taken.is_some()))
    }

    /// The objects that come to Applications of a branch.
    fn coming<'r>(
        &mut self,
        name: &BranchName,
        hydration: &'r Hydration<Done>,
        rendered: &Rendered,
        heads: &[DryHead],
    ) -> Result<Coming<'r>, Stopped> {
        let mut coming = Coming::new();
        for (application, output) in hydration.outputs() {
            let Some(cluster) = application.object_cluster() else { continue };
            let had = self.had(name, application, output, (rendered, heads))?;
            let is_new = |key: &&Key| !had.contains(&(cluster.to_string(), (*key).clone()));
            let new: Vec<&Key> = output.objects.iter().filter(is_new).collect();
            if !new.is_empty() {
                coming.push((application, new));
            }
        }
        Ok(coming)
    }

    /// The objects that an Application has on a branch. They are where it deployed to then: its document may say something else
    /// now.
    fn had(
        &mut self,
        name: &BranchName,
        application: &Application,
        output: &Output,
        (rendered, heads): (&Rendered, &[DryHead]),
    ) -> Result<BTreeSet<(String, Key)>, Stopped> {
        let Some(branch) = self.branches.get(name) else { return Ok(BTreeSet::new()) };
        let (Some(tip), dry) = (branch.tip.as_ref().map(|tip| tip.tree), branch.dry) else {
            return Ok(BTreeSet::new());
        };
        let before = match dry.filter(|dry| self.found.setup.repository.has(*dry)) {
            Some(dry) if !self.is_documented_at(application, dry, rendered)? => {
                let fed = self.former(name, Some(dry), &rendered.head, heads)?.applications;
                fed.into_iter().find(|before| before.sync_path == application.sync_path)
            }
            // Nothing on the branch is of this dry branch, or nothing is known to have changed.
            _ if manifest_of(&self.found.tree_of(tip), &application.sync_path)? == Some(output.manifest) => {
                let cluster = application.object_cluster().unwrap_or_default();
                return Ok(output.objects.iter().map(|key| (cluster.to_string(), key.clone())).collect());
            }
            _ => Some(Arc::new(application.clone())),
        };
        let on_branch = self.found.tree_of(tip);
        Ok(before.map(|before| owned(&before, &on_branch)).transpose()?.unwrap_or_default())
    }

    /// Whether an Application is as it was at an earlier dry commit, as far as its file shows. What a set or a parent makes, others
    /// decide.
    fn is_documented_at(&mut self, application: &Application, dry: ObjectId, now: &Rendered) -> Result<bool, Stopped> {
        if application.maker.is_some() {
            return Ok(false);
        }
        let then = self.files(self.found.buffer.commit(dry)?.tree);
        let now = self.files(now.tree);
        let there = View::new(&*then).content_id(&application.file).ok();
        Ok(there.is_some() && there == View::new(&*now).content_id(&application.file).ok())
    }

    /// What other dry branches than that of `head` have on a branch.
    fn owners(&mut self, name: &BranchName, head: &DryHead, heads: &[DryHead]) -> Result<Owners, Stopped> {
        let mut owners = Owners::new();
        let Some(branch) = self.branches.get(name) else { return Ok(owners) };
        let Some(tip) = branch.tip.as_ref().map(|tip| tip.tree) else { return Ok(owners) };
        for (dry_branch, dry) in branch.shown_of_others() {
            let is_other = dry_branch != head.branch && !self.found.has_left(&dry_branch);
            if !is_other || !self.found.setup.repository.has(dry) {
                continue;
            }
            let other = DryHead { branch: dry_branch.clone(), tip: dry };
            let tree = self.tree(dry, &other, heads)?;
            let on_branch = self.found.tree_of(tip);
            for application in tree.applications(name) {
                for owned in owned(application, &on_branch)? {
                    owners.entry(owned).or_insert_with(|| (dry_branch.clone(), application.clone()));
                }
            }
        }
        Ok(owners)
    }
}

/// The objects that an Application has on a branch. Those of a cluster that is not known are shared with no other.
fn owned(application: &Application, tree: &HydratedTree<'_>) -> Result<BTreeSet<(String, Key)>, Stopped> {
    let keys = keys_at(application, &application.sync_path, tree)?;
    let cluster = application.object_cluster();
    Ok(cluster.map(|cluster| keys.into_iter().map(|key| (cluster.to_string(), key)).collect()).unwrap_or_default())
}

/// The objects at a path, as an Application has them. What cannot be read is written anew, so no Application has it.
fn keys_at(application: &Application, path: &RepoPath, tree: &HydratedTree<'_>) -> Result<Vec<Key>, Stopped> {
    let file = path.child(MANIFEST).expect("the names of our files are single components");
    let Some(text) = tree.file(&file)? else { return Ok(Vec::new()) };
    let manifests = manifest::read(&text, Source::File(path)).unwrap_or_default();
    Ok(render::objects(application, &manifests))
}

/// The objects that Applications would have and do not have on the branch yet.
type Coming<'r> = Vec<(&'r Application, Vec<&'r Key>)>;

/// The mistake of the first Application that would take an object, and what it would take.
fn first_taken(coming: &Coming<'_>, owners: &Owners) -> Option<Diagnostic> {
    coming.iter().find_map(|(application, keys)| {
        let cluster = application.object_cluster()?;
        let owner = |key: &&Key| owners.get(&(cluster.to_string(), (*key).clone()));
        let (dry_branch, other) = keys.iter().find_map(owner)?;
        let is_its = |key: &&&Key| owner(key).is_some_and(|(branch, one)| (branch, one) == (dry_branch, other));
        let taken: Vec<&Key> = keys.iter().filter(is_its).copied().collect();
        render::conflict_of(application, (other, dry_branch), &taken)
    })
}
