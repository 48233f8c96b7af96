//! Applications that the dry commit has no more, while one that stays as it is has them among its objects.
//!
//! In the cluster such an Application is there until its parent renders without it. It keeps its files until then: without them it
//! could not sync, and nothing would delete it.

use std::borrow::Cow;

use crate::argo::{AppName, Application, GROUP};
use crate::hydrate::plan::Hydration;
use crate::hydrate::plan::skipped::{Left, LeftObjects};
use crate::manifest::{self, Manifest, Source};
use crate::owners::files::MANIFEST;
use crate::repo::publish::HydratedTree;
use crate::repo::{Error, ObjectId};
use dry_files::path::RepoPath;

/// The Applications among the objects of one that stays as it is.
#[derive(Debug)]
pub(crate) struct Children {
    parent: AppName,
    /// Whether somebody wants the parent to stay.
    is_paused: bool,
    /// Namespace and name of each; an empty namespace where it names none.
    names: Vec<(String, String)>,
}

impl Children {
    /// Those of the manifests that an Application keeps.
    pub(crate) fn of(parent: &AppName, is_paused: bool, manifests: &[Manifest]) -> Self {
        let is_application = |one: &&Manifest| one.kind() == "Application" && one.group() == GROUP;
        let named = |one: &Manifest| (one.namespace().to_owned(), one.name().to_owned());
        let names = manifests.iter().filter(is_application).map(named).collect();
        Self { parent: parent.clone(), is_paused, names }
    }

    /// Those of the manifests that a path of a branch has, which an Application keeps; none where there are none that can be read.
    pub(crate) fn at(
        path: &RepoPath,
        (parent, is_paused): (&AppName, bool),
        tree: &HydratedTree<'_>,
    ) -> Result<Option<Self>, Error> {
        let file = path.child(MANIFEST).expect("the names of our files are single components");
        let Some(text) = tree.file(&file)? else { return Ok(None) };
        let manifests = manifest::read(&text, Source::File(path)).unwrap_or_default();
        Ok(Some(Self::of(parent, is_paused, &manifests)))
    }

    /// Whether an Application is one of them, as far as both say their namespace.
    pub(crate) fn have(&self, application: &Application) -> bool {
        let namespace = application.namespace.as_ref().map_or("", AppName::as_str);
        let is_of = |of: &str| of.is_empty() || namespace.is_empty() || of == namespace;
        self.names.iter().any(|(of, name)| name == application.name.as_str() && is_of(of))
    }

    /// The Application that has them.
    pub(crate) fn parent(&self) -> &AppName {
        &self.parent
    }
}

/// The Applications that leave a branch, and go to no other, by the dry commit.
pub(crate) fn going<W>(hydration: &Hydration<W>) -> impl Iterator<Item = &Application> {
    let Hydration { removals, moved, .. } = hydration;
    let has_moved = |path: &RepoPath| moved.iter().any(|one| one.sync_path == *path);
    let gone = removals.iter().map(|removal| &removal.path).filter(move |path| !has_moved(path));
    gone.filter_map(|path| hydration.leaving().former.iter().find(|former| former.sync_path == *path)).map(|one| &**one)
}

/// Of the Applications that are `going`, those that stay with what stays, and with these in turn. `tree` is the branch as it is, and
/// `shown` the dry commit that a path of it shows.
///
/// Their objects are not among those that others may not have: what renders them now goes on, as if these had left.
pub(crate) fn kept_with(
    mut parents: Vec<Children>,
    mut going: Vec<&Application>,
    tree: &HydratedTree<'_>,
    shown: impl Fn(&RepoPath) -> Option<ObjectId>,
) -> Result<Vec<Left>, Error> {
    let mut kept = Vec::new();
    while let Some(parent) = parents.pop() {
        let (its, others): (Vec<_>, Vec<_>) = going.into_iter().partition(|one| parent.have(one));
        going = others;
        for application in its {
            let path = application.sync_path.clone();
            let children = Children::at(&path, (&application.name, parent.is_paused), tree)?;
            let Some(children) = children else { continue };
            parents.push(children);
            let cluster = application.object_cluster().map(Cow::into_owned);
            kept.push(Left {
                dry_commit: shown(&path),
                application: Some(application.name.clone()),
                is_paused: parent.is_paused,
                paused_at: None,
                parent: Some(parent.parent.clone()),
                objects: Some(LeftObjects { cluster, keys: Vec::new(), is_read: false }),
                path,
            });
        }
    }
    Ok(kept)
}
