//! What is remembered of large files without Applications, while dry trees are read.

use std::sync::{Mutex, PoisonError};

use super::found::Found;
use crate::argo::File;
use crate::known::{Barren, BarrenFile};
use dry_files::path::RepoPath;
use dry_files::view::ContentId;

/// One that costs less is read anew.
const COST_MIN: u64 = 64 << 10;

/// What is known of such files, and what a reader finds out.
#[derive(Debug, Default)]
pub(crate) struct BarrenFiles {
    known: Mutex<Barren>,
    /// All that what is found depends on, beside path and content.
    context: String,
    has_new: Mutex<bool>,
}

impl BarrenFiles {
    /// What is known, as `context` has it read: rules, limits and engine.
    pub(crate) fn new(known: Barren, context: String) -> Self {
        Self { known: Mutex::new(known), context, has_new: Mutex::default() }
    }

    /// Hands on what is known, if that is more than it was.
    pub(crate) fn when_new(&self, take: impl FnOnce(&Barren)) {
        if std::mem::take(&mut *self.has_new.lock().unwrap_or_else(PoisonError::into_inner)) {
            take(&self.known.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// What is known of a file: what is wrong with it, if anything is, whether it may contain Secrets of clusters, and its cost.
    pub(super) fn get(&self, path: &RepoPath, id: ContentId) -> Option<Found> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return None;
        }
        let BarrenFile { diagnostics, holds_source_hydrator, may_hold_clusters, cost } =
            known.get(&self.id(path, id)).cloned()?;
        let is_fine = diagnostics.is_empty();
        let file = (!is_fine).then(|| File::barren(path, diagnostics, holds_source_hydrator));
        Some(Found { file, may_hold_clusters, cost, ..Found::default() })
    }

    /// Remembers a file that names no patches, if to read it costs much and nothing of it can be used.
    pub(super) fn note(&self, path: &RepoPath, id: ContentId, cost: u64, found: &Found) {
        let file = found.file.as_ref();
        if cost < COST_MIN || !file.is_none_or(File::is_barren) {
            return;
        }
        let file = BarrenFile {
            diagnostics: file.map(|file| file.diagnostics.clone()).unwrap_or_default(),
            holds_source_hydrator: file.is_some_and(|file| file.holds_source_hydrator),
            may_hold_clusters: found.may_hold_clusters,
            cost: found.cost,
        };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).add(self.id(path, id), file);
        *self.has_new.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn id(&self, path: &RepoPath, id: ContentId) -> String {
        format!("{id} {} {path}", self.context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::argo::{Patterns, RuleSet};
    use crate::discover::{Discovered, Discovery};
    use dry_files::view::{Entry, Files, MemoryFiles, Unreadable};

    /// Files of which it is counted how many are read.
    struct Counted(MemoryFiles, AtomicUsize);

    impl Files for Counted {
        fn list(&self, dir: &RepoPath, id: ContentId) -> Result<Arc<[Entry]>, String> {
            self.0.list(dir, id)
        }

        fn read(&self, path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, Unreadable> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.read(path, id)
        }

        fn size(&self, path: &RepoPath, id: ContentId) -> Result<u64, Unreadable> {
            self.0.size(path, id)
        }

        fn root(&self) -> ContentId {
            self.0.root()
        }
    }

    fn discovered(files: &Counted, barren: Option<&Arc<BarrenFiles>>) -> (Discovered, usize) {
        let before = files.1.load(Ordering::Relaxed);
        let mut discovery = Discovery::default();
        barren.into_iter().for_each(|barren| discovery.remember(barren.clone()));
        let found = discovery.discover(files, &Patterns::default(), &RuleSet::default(), 1000).expect("readable");
        (found, files.1.load(Ordering::Relaxed) - before)
    }

    #[test]
    fn a_file_without_applications_that_costs_much_is_read_once() {
        let padding = "# sourceHydrator\n".repeat(5000);
        let application =
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {sourceHydrator: {}}\n";
        let files = MemoryFiles::new()
            .file("a/broken.yaml", format!("{padding}a: [\n"))
            .file("b/nodes.yaml", format!("kind: Application\nsourceHydrator: [{}]\n", "{a: b},".repeat(100_000)))
            .file("c/none.yaml", format!("{padding}a: b\n"))
            .file("d/kustomization.yaml", format!("{padding}resources: [\n"))
            .file("e/patched/kustomization.yaml", format!("{padding}patches: [{{path: x.yaml}}]\n"))
            .file("f/application.yaml", format!("{padding}{application}"))
            .file("g/small.yaml", "a: [ # sourceHydrator\n")
            .file(
                "h/aliases.yaml",
                format!("# sourceHydrator\na: &a [{}]\nb: [{}]\n", "1,".repeat(99), "*a,".repeat(99)),
            );
        let files = Counted(files, AtomicUsize::new(0));
        let (expected, all) = discovered(&files, None);
        let barren = Arc::new(BarrenFiles::new(Barren::default(), "rules".to_owned()));
        let (first, read) = discovered(&files, Some(&barren));
        assert_eq!((read, first.broken.len()), (all, expected.broken.len()));
        let (again, read) = discovered(&files, Some(&barren));
        // What names patches, has an Application or is small is read again.
        assert_eq!(read, 3, "of {all}");
        assert_eq!(
            (&again.broken, &again.mistakes, &again.patches),
            (&expected.broken, &expected.mistakes, &expected.patches)
        );
        assert_eq!(again.documents, expected.documents);
        // By other rules all are.
        let mut known = Barren::default();
        barren.when_new(|barren| known = barren.clone());
        let other = Arc::new(BarrenFiles::new(known, "other rules".to_owned()));
        assert_eq!(discovered(&files, Some(&other)).1, all);
    }
}
