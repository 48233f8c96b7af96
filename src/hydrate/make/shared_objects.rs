//! Objects of a branch that several dry branches share: one that an Application of another dry branch has there is not taken.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::branch::Branch;
use super::manifest_of::manifest_of;
use super::output::Output;
use crate::argo::{Application, BranchName};
use crate::hydrate::plan::{Done, Hydration, Rendered, Step};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::manifest::{self, Key, Source};
use crate::owners::files::MANIFEST;
use crate::owners::heads::DryHead;
use crate::owners::snapshot::Snapshot;
use crate::render;
use crate::repo::object_id;
use crate::repo::publish::HydratedTree;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

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
            let Some(branch) = self.branches.get(name) else { continue };
            let coming = coming(branch, hydration, &self.found)?;
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

    /// What other dry branches than that of `head` have on a branch.
    fn owners(&mut self, name: &BranchName, head: &DryHead, heads: &[DryHead]) -> Result<Owners, Stopped> {
        let mut owners = Owners::new();
        let Some(branch) = self.branches.get(name) else { return Ok(owners) };
        let Some(tip) = branch.tip.as_ref().map(|tip| tip.tree) else { return Ok(owners) };
        for shown in branch.all_shown() {
            let (Ok(dry_branch), Some(dry)) = (BranchName::read(&shown.dry_branch), object_id(&shown.dry_sha)) else {
                continue;
            };
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
    let cluster = application.destination_cluster.clone();
    Ok(cluster.map(|cluster| keys.into_iter().map(|key| (cluster.clone(), key)).collect()).unwrap_or_default())
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

fn coming<'r>(branch: &Branch, hydration: &'r Hydration<Done>, found: &Snapshot<'_>) -> Result<Coming<'r>, Stopped> {
    let tree = branch.tip.as_ref().map(|tip| found.tree_of(tip.tree));
    let mut coming = Coming::new();
    for (application, output) in hydration.outputs() {
        let new = new_objects(application, output, tree.as_ref())?;
        if !new.is_empty() && application.destination_cluster.is_some() {
            coming.push((application, new));
        }
    }
    Ok(coming)
}

fn new_objects<'r>(
    application: &Application,
    output: &'r Output,
    tree: Option<&HydratedTree<'_>>,
) -> Result<Vec<&'r Key>, Stopped> {
    let Some(tree) = tree else { return Ok(output.objects.iter().collect()) };
    let path = &application.sync_path;
    if manifest_of(tree, path)? == Some(output.manifest) {
        return Ok(Vec::new());
    }
    let there: BTreeSet<Key> = keys_at(application, path, tree)?.into_iter().collect();
    Ok(output.objects.iter().filter(|key| !there.contains(key)).collect())
}

/// The mistake of the first Application that would take an object, and what it would take.
fn first_taken(coming: &Coming<'_>, owners: &Owners) -> Option<Diagnostic> {
    coming.iter().find_map(|(application, keys)| {
        let cluster = application.destination_cluster.as_ref()?;
        let owner = |key: &&Key| owners.get(&(cluster.clone(), (*key).clone()));
        let (dry_branch, other) = keys.iter().find_map(owner)?;
        let is_its = |key: &&&Key| owner(key).is_some_and(|(branch, one)| (branch, one) == (dry_branch, other));
        let taken: Vec<&Key> = keys.iter().filter(is_its).copied().collect();
        render::conflict_of(application, (other, dry_branch), &taken)
    })
}
