//! What fed an environment branch when it was hydrated last.
//!
//! Those Applications are known from the dry commit that the branch shows, but for those that stayed behind: what it says of
//! them may be a mistake, or not be true yet. They are as they were at the dry commit that their path shows.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use dry_files::path::RepoPath;

use super::{DryTree, Makers};
use crate::argo::{Application, BranchName, By, Maker};
use crate::discover::{Destination, Unanswered};

/// What fed a branch when it was hydrated last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Former {
    /// The dry commit that the branch shows; none when that is not known.
    pub tree: Option<Rc<DryTree>>,
    /// The Applications whose files it has.
    pub applications: Vec<Arc<Application>>,
}

impl Former {
    /// Whether a file, or one below the root, contained one of the Applications.
    pub(crate) fn feeds(&self, file: &RepoPath) -> bool {
        self.applications.iter().any(|application| file.is_root() || application.file == *file)
    }

    /// Whether there are Applications of a maker that is not answered at `now`: see [`Former::made_by`].
    pub(crate) fn is_fed_by(&self, unanswered: &Unanswered, now: &DryTree) -> bool {
        self.made_by(unanswered, now).next().is_some()
    }

    /// The Applications that a maker which is not answered at `now` made, alone or by what it made; or, of a set, those that
    /// are in its file; or, of a parent, those of another parent that was in its file and is gone.
    pub(crate) fn made_by<'f>(
        &'f self,
        unanswered: &'f Unanswered,
        now: &'f DryTree,
    ) -> impl Iterator<Item = &'f Arc<Application>> {
        let Unanswered { by, file, .. } = unanswered;
        let is_set = matches!(by, By::ApplicationSet { .. });
        // What a set of a file makes has no parent: that one of it is not answered says nothing of the others.
        let is_gone = move |maker: &Maker| {
            let mut parents = maker.parents().peekable();
            maker.file == *file && parents.peek().is_some() && parents.all(|parent| !now.has_parent(parent))
        };
        let is_its = move |application: &&Arc<Application>| {
            let is_made = |maker: &Arc<Maker>| maker.is_below(by) || (!is_set && is_gone(maker));
            (is_set && application.file == *file) || self.makers(application).any(is_made)
        };
        self.applications.iter().filter(is_its)
    }

    /// What made an Application: several may have made it alike.
    pub(super) fn makers<'f>(&'f self, application: &'f Application) -> Makers<'f> {
        match &self.tree {
            Some(tree) => tree.makers(application),
            None => Box::new(application.maker.iter()),
        }
    }

    /// Whether what has the name of `application` now is another one than that of `branch`: it was on its own branch
    /// before, since each environment may have an Argo CD with an Application of that name.
    pub(crate) fn is_elsewhere(&self, application: &Application, branch: &BranchName) -> bool {
        let identity = |application: &Application| (application.namespace.clone(), application.name.clone());
        let own = application.environment_branch();
        let mut there = self.tree.iter().flat_map(|tree| tree.applications(own));
        own != branch && there.any(|before| identity(before) == identity(application))
    }

    /// What the Applications wrote.
    pub(crate) fn destinations(&self) -> BTreeSet<Destination> {
        self.applications.iter().map(|application| destination(application)).collect()
    }
}

/// What an Application writes.
pub(crate) fn destination(application: &Application) -> Destination {
    Destination {
        path: application.sync_path.clone(),
        application: (application.namespace.clone(), application.name.clone()),
        file: application.file.clone(),
        maker: application.maker.as_ref().map(|maker| (maker.by.clone(), maker.keeps)),
    }
}
