//! Dry trees that are too large to be searched for Applications: found out once, not by every push.

use dry_files::diag::Diagnostic;

use super::policy::Policy;
use crate::cache::{Cache, Unsearched};
use crate::git::{ObjectId, Repository};
use crate::metadata::ENGINE_REVISION;

/// The cache of a repository, unless git config `hydrate.cache` is false.
pub(super) fn cache(repository: &Repository) -> Option<Cache> {
    let wanted = repository.config_bool("hydrate.cache").unwrap_or(true);
    wanted.then(|| Cache::new(repository.common_dir().join("hydrate").join("cache"), repository.shared()))
}

/// What the cache knows of such trees, and what was found out since.
#[derive(Debug, Default)]
pub(super) struct UnsearchedTrees {
    /// None until somebody asks.
    known: Option<Unsearched>,
    has_new: bool,
}

impl UnsearchedTrees {
    /// Why a dry tree is not searched by this policy; none when that is not known.
    pub(super) fn why(&mut self, tree: ObjectId, policy: &Policy, repository: &Repository) -> Option<&Diagnostic> {
        self.known(repository).why(&id(tree, policy))
    }

    /// Notes why a dry tree is not searched by this policy.
    pub(super) fn add(&mut self, tree: ObjectId, policy: &Policy, repository: &Repository, why: &Diagnostic) {
        self.known(repository).add(id(tree, policy), why.clone());
        self.has_new = true;
    }

    /// Leaves for the next run what this one found out.
    pub(super) fn write(&self, repository: &Repository) {
        if let (true, Some(known), Some(cache)) = (self.has_new, &self.known, cache(repository)) {
            // Without an entry it is found out again.
            drop(cache.save_unsearched(known));
        }
    }

    fn known(&mut self, repository: &Repository) -> &mut Unsearched {
        self.known.get_or_insert_with(|| cache(repository).map(|cache| cache.load_unsearched()).unwrap_or_default())
    }
}

/// A tree, and all that it depends on whether it is searched: the settings have the limits.
fn id(tree: ObjectId, policy: &Policy) -> String {
    let settings = policy.id.map(|id| id.to_string()).unwrap_or_default();
    format!("{tree} {settings} {ENGINE_REVISION} {}", env!("CARGO_PKG_VERSION"))
}
