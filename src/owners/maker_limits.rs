//! Sets and parents that reached a limit of this machine: tried once, not by every push.
//!
//! A limit is a function of what was looked at until then, as that of an Application is: where all of that is the same, it is
//! reached again. [`Again::retry`](crate::hydrate::Again) tries all the same.

use std::cell::{Cell, RefCell};

use dry_files::view::View;
use sha2::{Digest, Sha256};

use super::unsearched::cache;
use crate::argo::Application;
use crate::argo::set::{Limits, Question};
use crate::discover::FoundSet;
use crate::known::{MakerLimit, MakerLimits as Known};
use crate::owners::policy::Policy;
use crate::render::Renderers;
use crate::repo::Repository;

/// What the cache knows of such makers, and what was found out since.
#[derive(Debug, Default)]
pub(crate) struct MakerLimits {
    /// None until somebody asks.
    known: RefCell<Option<Known>>,
    has_new: Cell<bool>,
    /// Whether what earlier runs found out does not count.
    is_retried: Cell<bool>,
}

/// What is remembered of the makers of one dry tree.
#[derive(Debug)]
pub(crate) struct Remembered<'a> {
    limits: &'a MakerLimits,
    repository: &'a Repository,
    /// An id of all that limits depend on beside makers and dry trees.
    context: String,
}

impl MakerLimits {
    /// Tries again what reached a limit in an earlier run.
    pub(crate) fn retry(&self) {
        self.is_retried.set(true);
    }

    /// What is known by this policy, and with these renderers.
    pub(crate) fn by<'a>(
        &'a self,
        policy: &Policy,
        renderers: &Renderers,
        repository: &'a Repository,
    ) -> Remembered<'a> {
        Remembered { limits: self, repository, context: policy.context(renderers) }
    }

    /// Leaves for the next run what this one found out.
    pub(crate) fn write(&self, repository: &Repository) {
        if let (true, Some(known), Some(cache)) = (self.has_new.get(), &*self.known.borrow(), cache(repository)) {
            // Without an entry it is found out again.
            drop(cache.save_maker_limits(known));
        }
    }
}

impl Remembered<'_> {
    /// The limit that a maker reached in an earlier run, and would reach in the tree of `view`.
    pub(crate) fn find(&self, id: &str, view: &View<'_>) -> Option<MakerLimit> {
        self.within(|known| known.of(id).find(|limit| view.confirms(&limit.reads).unwrap_or(false)).cloned())
    }

    /// Whether this run found out what was not known.
    pub(crate) fn has_new(&self) -> bool {
        self.limits.has_new.get()
    }

    /// Notes that a maker reached a limit.
    pub(crate) fn add(&self, limit: MakerLimit) {
        self.within(|known| known.add(limit));
        self.limits.has_new.set(true);
    }

    /// Notes that a maker reached none.
    pub(crate) fn clear(&self, id: &str) {
        if self.within(|known| known.of(id).next().is_some()) {
            self.within(|known| known.forget(id));
            self.limits.has_new.set(true);
        }
    }

    /// The id of an Application that others may be made by.
    pub(crate) fn of_parent(&self, parent: &Application) -> String {
        let (file, index, cluster) = (&parent.file, parent.index, &parent.cluster);
        let ids = (parent.fingerprint(), parent.placement());
        self.id(&format!("parent {file:?} {index} {ids:?} {cluster:?}"))
    }

    /// The id of a set.
    pub(crate) fn of_set(&self, found: &FoundSet, question: &Question) -> String {
        // The limits of the machine do not depend on what other sets have left.
        let question = Question { limits: Limits::default(), ..question.clone() };
        self.id(&format!("set {:?} {} {question:?}", found.file, found.ordinal))
    }

    fn id(&self, maker: &str) -> String {
        let digest = Sha256::digest(format!("{} {maker}", self.context));
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn within<T>(&self, work: impl FnOnce(&mut Known) -> T) -> T {
        let load = || {
            let cache = cache(self.repository).filter(|_| !self.limits.is_retried.get());
            cache.map(|cache| cache.load_maker_limits()).unwrap_or_default()
        };
        work(self.limits.known.borrow_mut().get_or_insert_with(load))
    }
}
