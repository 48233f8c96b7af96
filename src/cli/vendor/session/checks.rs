//! Whether what is kept is whole, and what the server says of it now.

use std::collections::BTreeSet;

use anyhow::bail;
use dry_files::diag::Span;
use dry_files::path::RepoPath;

use super::fetch::{changed, kept_of, what};
use super::{Deed, Session};
use crate::inspect;
use crate::inspect::{Inputs, Outputs, Rendering, Tree};
use crate::render::needs::Need;
use crate::repo::ObjectId;
use crate::show::Progress;
use crate::tell::fetch::fetcher::Fetchers;
use inputs::wire::What;
use inputs::{self, Entry, KeptInputs, Key};

impl<'r> Session<'r> {
    /// An error unless the files of an input are as the lock file says: an edit is never lost.
    pub(super) fn check(&self, key: &Key) -> anyhow::Result<()> {
        let Some(entry) = self.lock.get(key) else { return Ok(()) };
        for place in self.lock.places(entry) {
            if let Err(error @ inputs::Unusable::Changed { .. }) = self.judged(entry, &place)?
                && self.with_view(|view| matches!(view.kind(&place), Ok(Some(_))))?
            {
                bail!("{error}\nhint: {}", error.hint());
            }
        }
        Ok(())
    }

    pub(super) fn judged(&self, entry: &Entry, place: &RepoPath) -> anyhow::Result<Result<(), inputs::Unusable>> {
        self.with_view(|view| inputs::check(view, entry, place))
    }

    /// The Applications that render differently although none of the inputs that they name has changed.
    pub(in crate::cli::vendor) fn disturbed(&self, inputs: &Inputs) -> anyhow::Result<Vec<String>> {
        let deeds = self.deeds();
        let changed: BTreeSet<&Key> =
            deeds.iter().filter(|(deed, _)| *deed != Deed::Removed).map(|(_, entry)| &entry.key).collect();
        // What is new changes nothing of what rendered without it, but what renders only now may make Applications.
        let (mut meant, mut makers) = (BTreeSet::new(), BTreeSet::new());
        for (need, uses) in &inputs.found.needs {
            let keys = match need {
                Need::Chart(key, _) | Need::Directory(key, _) | Need::File(key) => vec![key],
                Need::Either(file, base, _) => vec![file, base],
            };
            let names = || uses.iter().map(|used| used.application.as_str());
            if keys.iter().any(|key| changed.contains(key)) {
                makers.extend(names());
            }
            if keys.iter().any(|key| changed.contains(key) && self.old.get(key).is_some()) {
                meant.extend(names());
            }
        }
        let progress = Progress::new();
        let before = self.outputs(self.without, &|place| !meant.contains(place.0.as_str()), &progress)?;
        // What did not render can only get better.
        let rendered = |place: &(String, Span)| before.get(place).is_some_and(|before| before.digest.is_some());
        let after = self.outputs(self.tree, &rendered, &progress)?;
        let is_made = |rendering: &Rendering| rendering.makers.iter().any(|maker| makers.contains(maker.as_str()));
        let all: BTreeSet<&(String, Span)> = before.keys().chain(after.keys()).collect();
        let mut disturbed = Vec::new();
        for place in all {
            let (old, new) = (before.get(place), after.get(place));
            let differs = match (old, new) {
                (Some(Rendering { digest: None, .. }), _) => false,
                (Some(old), new) => new.is_none_or(|new| new.digest != old.digest),
                (None, _) => true,
            };
            let (name, span) = place;
            let is_meant = meant.contains(name.as_str()) || old.or(new).is_some_and(is_made);
            if differs && !is_meant {
                disturbed.push(format!("{name} ({span})"));
            }
        }
        Ok(disturbed)
    }

    fn outputs(
        &self,
        tree: ObjectId,
        is_asked: &dyn Fn(&(String, Span)) -> bool,
        progress: &Progress,
    ) -> anyhow::Result<Outputs> {
        let render = |tree: &Tree<'_>| inspect::outputs(tree, self.renderers, is_asked, progress);
        Ok(progress.during(|| self.with_tree(tree, render))?)
    }

    /// Fetches again what is kept, and answers what has changed at its source.
    pub(in crate::cli::vendor) fn verify(
        &self,
        fetchers: &mut Fetchers<'_>,
        done: &dyn Fn(usize),
    ) -> anyhow::Result<Vec<(Key, String)>> {
        let entries: Vec<&Entry> = self.lock.entries().collect();
        let wanted: Vec<What> = entries
            .iter()
            .map(|entry| what(&entry.key, Some(entry), &entry.directories.iter().cloned().collect()))
            .collect();
        let mut found = Vec::new();
        for (entry, result) in entries.iter().zip(fetchers.fetch(&wanted, done)?) {
            let reason = match result {
                Ok(fetched) => {
                    let content = inputs::digest(&kept_of(&entry.key, fetched.files, Some(entry)).0);
                    (content != entry.content).then(|| changed(entry, &content))
                }
                Err(failed) => Some(failed.reason),
            };
            found.extend(reason.map(|reason| (entry.key.clone(), reason)));
        }
        Ok(found)
    }

    /// What is wrong with what is kept, without any connection.
    pub(in crate::cli::vendor) fn faults(&self, inputs: &Inputs) -> anyhow::Result<Vec<(String, String)>> {
        let misplaced = self.with_view(|view| KeptInputs::read(view).and_then(|kept| kept.misplaced(&self.dir)))?;
        if let Err(error) = misplaced {
            return Ok(vec![(error.to_string(), error.hint())]);
        }
        let mut faults = Vec::new();
        for entry in self.lock.entries() {
            for place in self.lock.places(entry) {
                if let Err(error) = self.judged(entry, &place)? {
                    faults.push((error.to_string(), error.hint()));
                }
            }
        }
        let charts = self.lock.entries().flat_map(|entry| &entry.at).filter_map(RepoPath::parent);
        let charts: BTreeSet<RepoPath> = charts.filter(|dir| dir.file_name() == Some("charts")).collect();
        for charts in charts {
            let alone = self.with_view(|view| KeptInputs::read(view).and_then(|kept| kept.are_alone(&charts)))?;
            faults.extend(alone.err().map(|error| (error.to_string(), error.hint())));
        }
        for (need, uses) in &inputs.found.needs {
            let (key, is_kept) = match need {
                Need::Chart(key, at) => (key, self.lock.get(key).is_some_and(|entry| entry.at.contains(at))),
                Need::Directory(key, directory) => {
                    let has = |entry: &Entry| entry.directories.iter().any(|kept| directory.starts_with(kept));
                    (key, self.lock.get(key).is_some_and(has))
                }
                Need::File(key) => (key, self.lock.get(key).is_some()),
                Need::Either(key, ..) => (key, false),
            };
            if !is_kept {
                let first = uses.first().map(|used| used.span.to_string()).unwrap_or_default();
                let fault = format!("{first}: {key} is not in this repository");
                faults.push((fault, "run `git hydrate vendor`".to_owned()));
            }
        }
        Ok(faults)
    }
}
