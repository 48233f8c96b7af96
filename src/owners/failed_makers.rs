//! Sets and parents that failed: tried once, not by every push.
//!
//! A failure is a function of what was looked at until then, as that of an Application is: where all of that is the same, it is
//! the same. [`Again::retry`](crate::hydrate::Again) tries all the same.

use std::cell::{Cell, RefCell};

use dry_files::view::View;
use sha2::{Digest, Sha256};

use super::unsearched::cache;
use crate::argo::Application;
use crate::argo::set::{Limits, Question};
use crate::discover::FoundSet;
use crate::known::{FailedMaker, FailedMakers as Known};
use crate::owners::policy::Policy;
use crate::render::Renderers;
use crate::repo::Repository;

/// What the cache knows of such makers, and what was found out since.
#[derive(Debug, Default)]
pub(crate) struct FailedMakers {
    /// None until somebody asks.
    known: RefCell<Option<Known>>,
    has_new: Cell<bool>,
    /// Whether what earlier runs found out does not count.
    is_retried: Cell<bool>,
}

/// What is known of the makers of one dry tree.
#[derive(Debug)]
pub(crate) struct Remembered<'a> {
    makers: &'a FailedMakers,
    repository: &'a Repository,
    /// An id of all that failures depend on beside makers and dry trees.
    context: String,
}

impl FailedMakers {
    /// Tries again what failed in an earlier run.
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
        Remembered { makers: self, repository, context: policy.context(renderers) }
    }

    /// Leaves for the next run what this one found out.
    pub(crate) fn write(&self, repository: &Repository) {
        if let (true, Some(known), Some(cache)) = (self.has_new.get(), &*self.known.borrow(), cache(repository)) {
            // Without an entry it is found out again.
            drop(cache.save_failed_makers(known));
        }
    }
}

impl Remembered<'_> {
    /// How a maker failed in an earlier run, and would fail in the tree of `view`.
    pub(crate) fn find(&self, id: &str, view: &View<'_>) -> Option<FailedMaker> {
        self.within(|known| known.of(id).find(|maker| view.confirms(&maker.reads).unwrap_or(false)).cloned())
    }

    /// Whether this run found out what was not known.
    pub(crate) fn has_new(&self) -> bool {
        self.makers.has_new.get()
    }

    /// Notes that a maker failed.
    pub(crate) fn add(&self, maker: FailedMaker) {
        self.within(|known| known.add(maker));
        self.makers.has_new.set(true);
    }

    /// Notes that a maker did not fail.
    pub(crate) fn clear(&self, id: &str) {
        if self.within(|known| known.of(id).next().is_some()) {
            self.within(|known| known.forget(id));
            self.makers.has_new.set(true);
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
            let cache = cache(self.repository).filter(|_| !self.makers.is_retried.get());
            cache.map(|cache| cache.load_failed_makers()).unwrap_or_default()
        };
        work(self.makers.known.borrow_mut().get_or_insert_with(load))
    }
}
