//! Makers that looked at something which changed: what they make now, beside what they made.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{Reads, Seen, View};

use super::touched::Touched;
use crate::argo::parent::{Parent, Reach};
use crate::argo::set::{ApplicationSet, Limits, Only, SETS_MAX};
use crate::argo::{self, AppName, Application, By, Identity, makers_of};
use crate::discover::{Again, Expanded, FoundSet, Lists, Makers, expand_again, render_again};
use crate::hydrate::memory::record_of_maker;
use crate::hydrate::stopped::Stopped;
use crate::known::{About, Record, State};
use crate::owners::making::Making;
use crate::owners::snapshot::Snapshot;
use crate::repo::TreeFiles;

/// A dry tree whose makers are expanded again, each by itself.
pub(crate) struct Remaking<'r> {
    pub state: &'r mut State,
    pub touched: &'r mut Touched,
    /// The dry tree that the state describes.
    pub old: &'r TreeFiles<'r>,
    /// The dry tree.
    pub files: &'r TreeFiles<'r>,
    /// What differs between the two.
    pub only: &'r Only,
    pub clusters: &'r Lists,
    pub makers: Makers,
    pub making: Making<'r>,
    pub found: &'r Snapshot<'r>,
}

/// The content of the files that a parent read.
#[derive(Default)]
struct Written {
    applications: Vec<Application>,
    sets: Vec<Arc<ApplicationSet>>,
}

/// Applications, by their namespaces and names.
struct Same<'a>(HashMap<(Option<&'a AppName>, &'a AppName), Vec<&'a Application>>);

impl<'a> Same<'a> {
    fn of(applications: impl IntoIterator<Item = &'a Application>) -> Self {
        let mut by_name: HashMap<_, Vec<&Application>> = HashMap::new();
        for application in applications {
            by_name.entry((application.namespace.as_ref(), &application.name)).or_default().push(application);
        }
        Self(by_name)
    }

    /// Whether one of them says the same as another Application, wherever both are.
    fn has(&self, one: &Application) -> bool {
        let named = self.0.get(&(one.namespace.as_ref(), &one.name));
        named.into_iter().flatten().any(|other| other.is_same(one))
    }
}

impl Remaking<'_> {
    /// Expands what the records `differing` are of, and the Applications of `written` and of what is touched that make others.
    ///
    /// Errors: more is to be looked at than these makers.
    pub(crate) fn expand(&mut self, differing: Vec<Record>, written: Vec<Application>) -> Result<(), Stopped> {
        if self.found.policy.makes != Some(true) {
            return if differing.is_empty() { Ok(()) } else { Err(Stopped::NotPlain) };
        }
        let mut left: BTreeMap<Identity, Record> =
            differing.into_iter().map(|maker| (maker.identity(), maker)).collect();
        let is_set = |maker: &Record| usize::MAX - maker.index < SETS_MAX;
        for maker in left.values().filter(|maker| is_set(maker)) {
            self.of_set(maker)?;
        }
        left.retain(|_, maker| !is_set(maker));
        self.of_roots(&mut left)?;
        self.of_parents(&mut left, written)?;
        match left.is_empty() && !self.touched.lacks_maker(self.state)? {
            true => Ok(()),
            false => Err(Stopped::NotPlain),
        }
    }

    fn of_set(&mut self, maker: &Record) -> Result<(), Stopped> {
        let content = View::new(self.files).read(&maker.file).map_err(|_| Stopped::NotPlain)?;
        let file = argo::read_by(&maker.file, &content.data, &self.found.policy.plain);
        let ordinal = usize::MAX - maker.index;
        let set = file.sets.get(ordinal).ok_or(Stopped::NotPlain)?.clone();
        let by = set.by();
        if file.sets.iter().filter(|other| other.by() == by).count() > 1 {
            return Err(Stopped::NotPlain);
        }
        let is_alone = file.documents.is_empty() && file.sets.len() == 1;
        let found = FoundSet { file: (maker.file.clone(), content.id), ordinal, set };
        if self.by_part(&found, maker)? {
            return Ok(());
        }
        let again = expand_again(&found, self.files, None, &self.makers, &self.making).ok_or(Stopped::NotPlain)?;
        let before = maker.reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_))).map(|((path, _), _)| path);
        if self.holds_applications(before.chain(again.contents()), &maker.file, self.files) {
            return Err(Stopped::NotPlain);
        }
        self.compare(&again, &[by], is_alone, |_| false)?;
        self.keep(maker, &again.expanded)
    }

    /// Whether a file that a set reads may contain Applications: whether these count depends on what the set makes of it.
    fn holds_applications<'p>(
        &self,
        mut read: impl Iterator<Item = &'p RepoPath>,
        file: &RepoPath,
        files: &TreeFiles<'_>,
    ) -> bool {
        let (view, rules) = (View::new(files), &self.found.policy.plain);
        let is_marked = |path: &RepoPath| view.read(path).is_ok_and(|blob| argo::is_marked(&blob.data, rules));
        read.any(|path| path != file && argo::may_hold_applications(path) && is_marked(path))
    }

    /// Expands a set for the changed files alone, before and after; for all others it makes what it made. False where
    /// that does not tell all.
    fn by_part(&mut self, found: &FoundSet, maker: &Record) -> Result<bool, Stopped> {
        let has_links = |reads: &Reads| reads.values().any(|seen| matches!(seen, Seen::Link(_)));
        let fits = self.state.head.applications < Limits::default().applications;
        let About::Maker(used) = maker.about else { return Ok(false) };
        if !found.set.is_sum() || !fits || has_links(&maker.reads) || maker.names_the_commit {
            return Ok(false);
        }
        let part = |files: &TreeFiles<'_>| expand_again(found, files, Some(self.only), &self.makers, &self.making);
        let (Some(before), Some(now)) = (part(self.old), part(self.files)) else {
            // One that a part of the tree is too much for is not asked for all of it here.
            return if self.making.has_new_failures() { Err(Stopped::NotPlain) } else { Ok(false) };
        };
        if self.holds_applications(before.contents().into_iter(), &maker.file, self.old)
            || self.holds_applications(now.contents().into_iter(), &maker.file, self.files)
        {
            return Err(Stopped::NotPlain);
        }
        if has_links(&before.expanded.reads) || has_links(&now.expanded.reads) {
            return Ok(false);
        }
        let mut known: BTreeMap<usize, &Arc<Application>> =
            before.applications.iter().map(|application| (application.index, application)).collect();
        for application in &now.applications {
            let was = known.remove(&application.index);
            if was == Some(application) {
                continue;
            }
            let record = self.state.one(&application.file, application.index)?;
            // One that it makes of something else has this name.
            if was.is_some() != record.is_some() {
                return Err(Stopped::NotPlain);
            }
            self.touched.compare(self.clusters.known(application), record, self.state)?;
        }
        for application in known.into_values() {
            let record = self.state.one(&application.file, application.index)?;
            self.touched.leave(record.ok_or(Stopped::NotPlain)?, self.state)?;
        }
        let (file, ordinal, reads) = (maker.file.clone(), found.ordinal, Arc::new(maker.reads.clone()));
        let whole = Expanded { file, ordinal, reads, repeats: true, used };
        self.keep(maker, &whole.with_part(&before.expanded, &now.expanded))?;
        Ok(true)
    }

    /// The Applications of the setting `roots`.
    fn of_roots(&mut self, left: &mut BTreeMap<Identity, Record>) -> Result<(), Stopped> {
        if left.is_empty() {
            return Ok(());
        }
        let roots = self.makers.root_applications();
        for application in &roots {
            let parent = Parent::root(application);
            let identity = (parent.file.clone(), Record::index_of_maker(parent.ordinal()));
            if let Some(maker) = left.remove(&identity) {
                if roots.iter().filter(|other| other.name == application.name).count() > 1 {
                    return Err(Stopped::NotPlain);
                }
                self.of_parent(parent, application, &maker)?;
            }
        }
        Ok(())
    }

    /// Asks the Applications that may render others, one after the other, and the Applications that they make.
    fn of_parents(&mut self, left: &mut BTreeMap<Identity, Record>, written: Vec<Application>) -> Result<(), Stopped> {
        let rules = &self.found.policy.plain;
        let mut reach = Reach::new(!rules.is_empty(), rules.inputs());
        let mut seen = BTreeSet::new();
        let touched = self.touched.work.values().map(|(application, _)| application.clone());
        let mut queue: Vec<Arc<Application>> = touched.collect();
        queue.extend(written.into_iter().map(Arc::new));
        self.touched.take_fresh();
        while let Some(application) = queue.pop() {
            let is_root = self.makers.roots.iter().any(|root| root.name == application.name);
            if is_root || !seen.insert(application.identity()) {
                continue;
            }
            let parent = Parent::of(&application);
            let index = Record::index_of_maker(parent.ordinal());
            let maker = self.state.one(&application.file, index)?;
            match (maker, reach.may_make(&application, self.files)) {
                (None, false) => continue,
                (Some(maker), true) => {
                    left.remove(&(application.file.clone(), index));
                    self.check_name(&application)?;
                    self.of_parent(parent, &application, &maker)?;
                }
                // It makes others from now on, or none any more.
                (None, true) | (Some(_), false) => return Err(Stopped::NotPlain),
            }
            for fresh in self.touched.take_fresh() {
                // What it was looked at for is not what it is.
                if seen.contains(&fresh) {
                    return Err(Stopped::NotPlain);
                }
                queue.extend(self.touched.work.get(&fresh).map(|(application, _)| application.clone()));
            }
        }
        Ok(())
    }

    /// Of several Applications of one name, only the first is asked what it makes.
    fn check_name(&self, application: &Application) -> Result<(), Stopped> {
        let identity = application.identity();
        let is_other = |other: &Record| other.namespace == application.namespace && other.identity() != identity;
        let others = self.state.named(&application.name)?;
        let coming = self.touched.coming().filter(|other| {
            (&other.namespace, &other.name) == (&application.namespace, &application.name)
                && other.identity() != identity
        });
        match others.iter().any(is_other) || coming.count() > 0 {
            true => Err(Stopped::NotPlain),
            false => Ok(()),
        }
    }

    fn of_parent(&mut self, parent: Parent, application: &Application, maker: &Record) -> Result<(), Stopped> {
        let by: Vec<By> = [&parent.by].into_iter().chain(&parent.above).cloned().collect();
        let again = render_again(parent, application, self.files, &self.makers, &self.making);
        let again = again.ok_or(Stopped::NotPlain)?;
        let written = self.written(&again)?;
        let is_of_file = |set: &Arc<ApplicationSet>| written.sets.iter().any(|other| other.is_same(set));
        if !again.sets.iter().all(is_of_file) {
            return Err(Stopped::NotPlain);
        }
        let rendered = Same::of(again.applications.iter().map(|application| &**application));
        let is_rendered_set = |one: &Arc<ApplicationSet>| again.sets.iter().any(|other| other.is_same(one));
        // Otherwise what is there is only what something else is made of.
        let all_rendered =
            || written.applications.iter().all(|one| rendered.has(one)) && written.sets.iter().all(is_rendered_set);
        if again.is_built && !all_rendered() {
            return Err(Stopped::NotPlain);
        }
        let in_files = Same::of(&written.applications);
        self.compare(&again, &by, false, |one| in_files.has(one))?;
        self.keep(maker, &again.expanded)
    }

    /// What counts of the content of the files that were read.
    fn written(&self, again: &Again) -> Result<Written, Stopped> {
        let view = View::new(self.files);
        let mut written = Written::default();
        for path in again.contents().into_iter().filter(|path| argo::may_hold_applications(path)) {
            let records = self.state.of_file(path)?;
            let is_there = |record: &&Record| !self.touched.gone.contains_key(&record.identity());
            let known = records.iter().filter(|record| record.about == About::Written).filter(is_there);
            let known = known.map(|record| (record.index, (record.fingerprint, record.placement)));
            let here = (path.clone(), 0)..=(path.clone(), usize::MAX);
            let touched = self.touched.work.range(here).map(|(_, (application, _))| application);
            let touched = touched.filter(|application| application.maker.is_none());
            let touched = touched.map(|one| (one.index, (one.fingerprint(), one.placement())));
            let known: BTreeMap<_, _> = known.chain(touched).collect();
            let sets = records.iter().filter(|record| usize::MAX - record.index < SETS_MAX).count();
            if known.is_empty() && sets == 0 && !again.is_built {
                continue;
            }
            let file =
                argo::read_by(path, &view.read(path).map_err(|_| Stopped::NotPlain)?.data, &self.found.policy.plain);
            let found = file.applications().map(|one| (one.index, (one.fingerprint(), one.placement()))).collect();
            if known != found || sets != file.sets.len() {
                return Err(Stopped::NotPlain);
            }
            written.applications.extend(file.applications().cloned());
            written.sets.extend(file.sets.iter().cloned());
        }
        Ok(written)
    }

    /// Compares what a maker makes with the records of what it made. `is_alone` says that nothing else of its file makes any;
    /// what `is_written` is in a file.
    fn compare(
        &mut self,
        again: &Again,
        by: &[By],
        is_alone: bool,
        is_written: impl Fn(&Application) -> bool,
    ) -> Result<(), Stopped> {
        let is_its = |record: &Record| {
            let text = record.about.made();
            text.is_some_and(|text| is_alone || makers_of(text).is_some_and(|makers| makers == by))
        };
        let records = self.state.of_file(&again.expanded.file)?.into_iter().filter(is_its);
        let mut records: BTreeMap<usize, Record> = records.map(|record| (record.index, record)).collect();
        let mut seen = BTreeSet::new();
        for application in again.applications.iter().filter(|application| !is_written(application)) {
            if !seen.insert(application.index) {
                return Err(Stopped::NotPlain);
            }
            let record = records.remove(&application.index);
            self.touched.compare(self.clusters.known(application), record, self.state)?;
        }
        records.into_values().try_for_each(|record| self.touched.leave(record, self.state))
    }

    fn keep(&mut self, maker: &Record, expanded: &Expanded) -> Result<(), Stopped> {
        self.touched.asks_makers = true;
        let About::Maker(before) = maker.about else { return Err(Stopped::Unknown) };
        // What was said of makers that are not answered may be over; what this one makes no more, another one may make.
        if self.state.head.is_open || self.state.head.has_shared {
            return Err(Stopped::NotPlain);
        }
        let used = expanded.take_the_place_of(before, self.state.head.used);
        self.state.head.used = used.ok_or(Stopped::NotPlain)?;
        Ok(self.state.put(record_of_maker(expanded).encode())?)
    }
}
