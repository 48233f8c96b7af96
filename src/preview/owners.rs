//! Whose the paths of a branch are before and after, and which Application is which.
//!
//! Each environment may have an Argo CD of its own, so two Applications may have one name: each is compared with itself, by its
//! branch and path, or by its document where it moved.

mod counterparts;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::End;
use crate::argo::{AppName, Application, BranchName, By, Keeps, Removal};
use crate::diff::{Pruning, Remade};
use crate::hydrate::dry_tree::{DryTree, DryTrees};
use crate::hydrate::plan::since::Since;
use crate::repo::ObjectId;
use counterparts::Counterparts;
use dry_files::path::RepoPath;
use go_yaml::Value;

/// The Applications that a preview by changes looked at; those whose files changed also as they were.
pub(super) struct LookedAt<'t> {
    before: Vec<&'t Application>,
    after: Vec<&'t Application>,
}

impl<'t> LookedAt<'t> {
    pub(super) fn new(rendered: &'t [Arc<Application>], since: &'t BTreeMap<BranchName, Since>) -> Self {
        let mut looked_at = Self { before: Vec::new(), after: rendered.iter().map(|one| &**one).collect() };
        for since in since.values() {
            let (before, after) = since.documents();
            looked_at.before.extend(before.iter().map(|one| &**one));
            looked_at.after.extend(after.map(|one| &**one));
        }
        looked_at
    }
}

/// The Applications behind the paths of a branch, before and after.
#[derive(Default)]
pub(super) struct Owners<'t> {
    before: BTreeMap<&'t RepoPath, &'t Application>,
    after: BTreeMap<&'t RepoPath, &'t Application>,
    /// Which Application is which, on whichever branch.
    same: Counterparts<'t>,
    /// The dry commit after, and with what is not hydrated.
    tree: Option<&'t DryTree>,
}

/// Namespace and name of an Application.
pub(super) type Identity<'t> = (Option<&'t AppName>, &'t AppName);

pub(super) fn identity(application: &Application) -> Identity<'_> {
    (application.namespace.as_ref(), &application.name)
}

impl<'t> Owners<'t> {
    /// Those of the dry commits; where the one before is not known, of all that were read.
    pub(super) fn new(
        name: &'t BranchName,
        (before, after): (Option<ObjectId>, ObjectId),
        trees: &'t DryTrees<'_>,
    ) -> Self {
        let of = |tree: &'t DryTree| tree.applications(name).map(|app| (&app.sync_path, &**app));
        let earlier: Vec<&'t DryTree> = match before.and_then(|before| trees.known(before)) {
            Some(tree) => vec![&**tree],
            None => {
                let earlier: BTreeMap<_, _> = trees.all().filter(|(id, _)| *id != after).collect();
                earlier.into_values().map(|tree| &**tree).collect()
            }
        };
        let tree = trees.known(after).map(|tree| &**tree);
        let hydrated = |tree: &'t DryTree| tree.hydrated().map(|application| &**application);
        Self {
            before: earlier.iter().flat_map(|tree| of(tree)).collect(),
            after: tree.into_iter().flat_map(of).collect(),
            same: Counterparts::new(
                earlier.iter().flat_map(|tree| hydrated(tree)),
                tree.into_iter().flat_map(hydrated),
            ),
            tree,
        }
    }

    /// Those of the Applications that were looked at, where none came or went.
    pub(super) fn of_same(name: &BranchName, looked_at: &LookedAt<'t>) -> Self {
        let all = || looked_at.after.iter().copied();
        let on_branch = all().filter(|application| application.environment_branch() == name);
        let of_path: BTreeMap<_, _> = on_branch.map(|application| (&application.sync_path, application)).collect();
        let same = Counterparts::new(looked_at.before.iter().copied(), all());
        Self { before: of_path.clone(), after: of_path, same, tree: None }
    }

    /// The Application of a path as an object of the cluster before and after, where that differs. One that has another name
    /// is compared with the one that wrote to the path.
    pub(super) fn deployed(&self, path: &RepoPath) -> Option<[Arc<Value>; 2]> {
        let after = self.after.get(path)?;
        if let Some(before) = self.same.before(after) {
            let objects = || [&before.deployed, &after.deployed].map(|deployed| Arc::new(deployed.object()));
            return (before.deployed != after.deployed).then(objects);
        }
        let [before, after] = [self.before.get(path)?.deployed.named_as(&after.deployed), after.deployed.object()];
        (before != after).then(|| [before, after].map(Arc::new))
    }

    /// The paths whose Application is deployed in another way than before.
    pub(super) fn redeployed(&self) -> impl Iterator<Item = &'t RepoPath> {
        self.after.keys().copied().filter(|path| self.deployed(path).is_some())
    }

    /// The set that deletes the Application of a path, since it makes it no more, while another document makes one of its name.
    pub(super) fn remade(&self, path: &RepoPath) -> Option<Remade> {
        let after = self.after.get(path)?;
        let before = self.same.made_before(after)?;
        let maker = before.maker.as_ref().filter(|maker| maker.keeps == Keeps::Nothing)?;
        let By::ApplicationSet { namespace, name } = &maker.by else { return None };
        let is_it = |by: &By| match by {
            By::ApplicationSet { namespace: of, name: other } => {
                name == other && (namespace == of || namespace.is_none() || of.is_none())
            }
            By::Application { .. } | By::Root { .. } => false,
        };
        let made = self.same.made_after(after).and_then(|made| made.maker.as_ref());
        let is_made = made.is_some_and(|maker| is_it(&maker.by));
        let policy = before.sync_policy;
        let cascades = policy.cascades || maker.adds_finalizer && !policy.has_finalizer;
        let goes = !is_made && cascades && policy.delete != Removal::Forbidden;
        if !goes {
            return None;
        }
        let makes = |one: &Arc<Application>| one.maker.as_ref().is_some_and(|maker| is_it(&maker.by));
        let stays = self.tree.is_some_and(|tree| tree.has_maker(&maker.by) || tree.all().any(makes));
        Some(Remade { set: name.clone(), set_goes: !stays })
    }

    /// The paths of Applications that sets delete while other documents make them.
    pub(super) fn all_remade(&self) -> impl Iterator<Item = &'t RepoPath> {
        self.after.keys().copied().filter(|path| self.remade(path).is_some())
    }

    /// The paths that an Application writes to which another one wrote to before.
    pub(super) fn taken_over(&self) -> impl Iterator<Item = &'t RepoPath> {
        self.after.keys().copied().filter(|path| self.before.contains_key(path) && self.former(path).is_some())
    }

    /// The Application that wrote to a path before and no longer does.
    pub(super) fn former(&self, path: &RepoPath) -> Option<&'t Application> {
        let before = self.before.get(path).copied()?;
        let stays = self.after.get(path).is_some_and(|after| identity(after) == identity(before));
        (!stays).then_some(before)
    }

    /// What becomes of an Application that no longer writes to a path.
    pub(super) fn end(&self, application: &Application) -> End {
        if let Some(after) = self.same.after(application) {
            return End::Moves(after.environment_branch().clone(), after.sync_path.clone());
        }
        let is_it = |other: &&Arc<Application>| {
            let is_at_place =
                || (&other.sync_branch, &other.sync_path) == (&application.sync_branch, &application.sync_path);
            identity(other) == identity(application) && (other.identity() == application.identity() || is_at_place())
        };
        if self.tree.is_some_and(|tree| tree.not_hydrated().any(|other| is_it(&other))) {
            return End::Stays;
        }
        let Some(maker) = &application.maker else { return End::Deleted };
        match &maker.by {
            By::ApplicationSet { .. } => maker.keeps.policy().map_or(End::DeletedBySet, End::KeptBySet),
            By::Root { .. } => End::Deleted,
            By::Application { namespace, name } => {
                let is_parent = |other: &&Arc<Application>| {
                    other.name.as_str() == name && other.namespace.as_ref().map(AppName::as_str) == namespace.as_deref()
                };
                let parents: Vec<_> = self.tree.into_iter().flat_map(DryTree::all).filter(is_parent).collect();
                let nearest = parents.iter().find(|parent| parent.file == maker.file).or(parents.first());
                match nearest {
                    Some(parent) if parent.sync_policy.prunes => End::PrunedBy(name.clone()),
                    Some(_) => End::PrunedByHand(name.clone()),
                    None => End::Deleted,
                }
            }
        }
    }

    pub(super) fn of(&self, path: &RepoPath) -> Option<&'t Application> {
        self.after.get(path).or_else(|| self.before.get(path)).copied()
    }

    /// What becomes of the objects of a path that are no longer there.
    pub(super) fn pruning(&self, path: &RepoPath) -> Pruning {
        let Some(application) = self.former(path).or_else(|| self.of(path)) else { return Pruning::Unknown };
        let policy = application.sync_policy;
        let stays = self.same.is_after(application);
        let maker = application.maker.as_ref();
        let gets_finalizer = maker.is_some_and(|maker| maker.adds_finalizer) && !policy.has_finalizer;
        match if stays { policy.prune } else { policy.delete } {
            Removal::Forbidden => Pruning::Off,
            Removal::Confirmed => Pruning::Confirmed,
            Removal::Allowed if stays && policy.prunes => Pruning::Automatic,
            Removal::Allowed if stays => Pruning::Manual,
            Removal::Allowed if maker.is_some_and(|maker| maker.keeps != Keeps::Nothing) => Pruning::Unknown,
            Removal::Allowed if policy.cascades || gets_finalizer => Pruning::Cascade,
            Removal::Allowed => Pruning::Orphaned,
        }
    }
}
