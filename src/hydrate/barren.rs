//! Large files of dry trees without Applications: parsed once, not by every push.

use std::sync::Arc;

use crate::discover::BarrenFiles;
use crate::metadata::ENGINE_REVISION;
use crate::owners::policy::Policy;
use crate::owners::unsearched::cache;
use crate::repo::Repository;

/// What the cache knows of such files, and what was found out since.
#[derive(Debug, Default)]
pub(crate) struct BarrenCache {
    /// None until it is asked for. By the settings that files are read with.
    known: Option<(String, Arc<BarrenFiles>)>,
}

impl BarrenCache {
    /// What is known by this policy.
    pub(crate) fn by(&mut self, policy: &Policy, repository: &Repository) -> Arc<BarrenFiles> {
        let settings = policy.id.map(|id| id.to_string()).unwrap_or_default();
        let context = format!("{settings} {ENGINE_REVISION} {}", env!("CARGO_PKG_VERSION"));
        if let Some((of, known)) = &self.known
            && *of == context
        {
            return known.clone();
        }
        self.write(repository);
        let known = cache(repository).map(|cache| cache.load_barren()).unwrap_or_default();
        let known = Arc::new(BarrenFiles::new(known, context.clone()));
        self.known = Some((context, known.clone()));
        known
    }

    /// Leaves for the next run what this one found out.
    pub(crate) fn write(&self, repository: &Repository) {
        if let (Some((_, known)), Some(cache)) = (&self.known, cache(repository)) {
            // What is not written is found out again.
            known.when_new(|known| drop(cache.save_barren(known)));
        }
    }
}
