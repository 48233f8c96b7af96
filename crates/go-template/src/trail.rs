//! The way to a node at work: the calls of templates that are open.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::error::{Refused, RefusedCall};
use super::source::{Site, Source, Spot};

/// How many places of a way are shown: the outermost one and the innermost.
const PLACES_MAX: usize = 64;

/// The calls of templates that are open, outermost first.
#[derive(Default)]
pub(super) struct Trail(Vec<Step>);

struct Step {
    source: Arc<Source>,
    at: u32,
    /// The site of this step, by way of those before.
    site: Site,
}

impl Trail {
    /// How many calls are open.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Opens one.
    pub(super) fn push(&mut self, source: &Arc<Source>, at: u32) {
        let site = self.site(source, at);
        self.0.push(Step { source: Arc::clone(source), at, site });
    }

    /// Closes all but the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The site of a place at the end of this way.
    pub(super) fn site(&self, source: &Source, at: u32) -> Site {
        let mut hasher = DefaultHasher::new();
        (self.0.last().map(|step| step.site), &source.name, at).hash(&mut hasher);
        Site(hasher.finish())
    }
}

/// A node at work, and the way to it.
#[derive(Clone, Copy)]
pub(super) struct Caller<'t> {
    pub trail: &'t Trail,
    pub source: &'t Source,
    pub at: &'t dyn Spot,
}

impl Caller<'_> {
    /// Its site.
    pub(super) fn site(&self) -> Site {
        self.trail.site(self.source, self.at.at())
    }

    /// As a call that is refused.
    pub(super) fn refused(&self, refused: Refused) -> RefusedCall {
        let steps = &self.trail.0;
        let inner = steps.len().saturating_sub(PLACES_MAX).max(1);
        let outer = steps.iter().take(1).chain(steps.iter().skip(inner)).map(|step| step.source.place(step.at));
        let places = outer.chain([self.source.place(self.at.at())]).collect();
        RefusedCall { refused, site: self.site(), places, node: self.at.to_string() }
    }
}
