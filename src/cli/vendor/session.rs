//! A dry tree on its way to keeping all that it needs.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};

use super::fetcher::{Failed, Fetched, Fetchers};
use crate::application::BranchName;
use crate::diag::Span;
use crate::git::{Mode, ObjectBuffer, ObjectId, Repository, TreeChange, TreeEdit};
use crate::helm;
use crate::hydrate::{self, Inputs, Outputs, RefNames, Rendering, Tree};
use crate::inputs::wire::What;
use crate::inputs::{self, Entry, InputFile, InputsDir, Kept, Key, Kind, LOCK, Lock, Need, TOP};
use crate::kustomize;
use crate::path::RepoPath;
use crate::render::Renderers;
use crate::report::Progress;
use crate::view::{TreeFiles, View, ViewError};
use crate::yaml;

/// How often a fetched base may name more.
const ROUNDS_MAX: usize = 30;

/// The first line of the attributes that we write.
const ATTRIBUTES: &str = "# Written by `git hydrate vendor`: files as they came, folded in reviews.\n";

/// The working tree as it was, and as it will be.
pub(super) struct Session<'r> {
    repository: &'r Repository,
    refs: &'r RefNames,
    branch: Option<BranchName>,
    renderers: &'r Renderers,
    commit: String,
    before: ObjectId,
    /// What everything that needs no input is rendered from, to see that it renders as before.
    without: ObjectId,
    tree: ObjectId,
    /// The files of that tree.
    files: TreeFiles<'r>,
    lock: Lock,
    /// What the lock file said before an update.
    old: Lock,
    /// Where the inputs of that are.
    known_places: BTreeSet<RepoPath>,
    /// Where inputs belong that no tool looks for at a place of its own.
    dir: InputsDir,
    pub buffer: ObjectBuffer<'r>,
    pub warnings: BTreeSet<String>,
    /// Whether the others are brought where some inputs cannot be.
    pub keeps_going: bool,
    /// The inputs that cannot be brought, and why.
    pub failed: BTreeMap<Key, String>,
}

/// Fetches inputs, the results in their order.
type Fetch<'f> = &'f mut dyn FnMut(&[What]) -> anyhow::Result<Vec<Result<Fetched, Failed>>>;

/// What came of one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    /// It is new.
    Added,
    /// It is another one than before, or the same at another place.
    Changed,
    /// Nothing needs it any more.
    Removed,
}

impl<'r> Session<'r> {
    /// The files of a commit, such as that of the working tree as it is; where it `resolves`, with one lock file in place of
    /// both sides of a merge conflict.
    pub(super) fn new(
        (repository, refs): (&'r Repository, &'r RefNames),
        branch: Option<BranchName>,
        renderers: &'r Renderers,
        commit: ObjectId,
        resolves: bool,
    ) -> anyhow::Result<Self> {
        let tree = repository.commit(commit)?.tree;
        let mut session = Self {
            repository,
            refs,
            branch,
            renderers,
            commit: commit.to_string(),
            before: tree,
            without: tree,
            tree,
            files: TreeFiles::new(repository, tree),
            lock: Lock::default(),
            old: Lock::default(),
            known_places: BTreeSet::new(),
            dir: hydrate::settings_of_makers(repository)?.rules.inputs().clone(),
            buffer: ObjectBuffer::new(repository),
            warnings: BTreeSet::new(),
            keeps_going: false,
            failed: BTreeMap::new(),
        };
        let lock = session.with_view(|view| Kept::read(view).map(|kept| kept.lock().cloned()))?;
        let is_merged = matches!(&lock, Err(inputs::Unusable::Lock(error)) if resolves && error.is_conflict());
        let lock = if is_merged { session.with_view(|view| merged(view).map(Some))? } else { lock };
        session.lock = lock.map_err(|error| anyhow::anyhow!("{error}\nhint: {}", error.hint()))?.unwrap_or_default();
        session.old = session.lock.clone();
        session.known_places = session.old.entries().flat_map(|entry| session.old.places(entry)).collect();
        if is_merged {
            session.write_lock()?;
        }
        Ok(session)
    }

    /// Moves what is in another directory than the settings name.
    pub(super) fn relocate(&mut self) -> anyhow::Result<()> {
        let keys: Vec<Key> = self.lock.entries().map(|entry| entry.key.clone()).collect();
        if self.lock.dir() != &self.dir && self.lock.uses_dir() {
            keys.iter().try_for_each(|key| self.check(key))?;
        }
        let mut edits = BTreeMap::new();
        for (from, to) in self.lock.move_to(self.dir.clone()) {
            if from != to {
                self.move_files(&from, &to, &mut edits)?;
            }
        }
        if edits.is_empty() {
            return Ok(());
        }
        let (new, gone): (BTreeMap<_, _>, _) =
            edits.into_iter().partition(|(_, edit)| matches!(edit, TreeEdit::Put(..)));
        self.edit(&gone)?;
        // What reads all files reads what is in the old place too, since the settings name the new one: that is to end.
        self.without = self.tree;
        self.edit(&new)?;
        self.write_lock()
    }

    fn move_files(&self, from: &RepoPath, to: &RepoPath, edits: &mut BTreeMap<String, TreeEdit>) -> anyhow::Result<()> {
        let (kind, files) = self.with_view(|view| (view.kind(from).ok().flatten(), inputs::files(view, from)))?;
        // What is not here comes to its new place.
        let Ok(files) = files else { return Ok(()) };
        self.clear(from, edits)?;
        for file in files {
            let path = if kind == Some(crate::view::Kind::File) { to.clone() } else { to.join(&file.path) };
            let blob = self.buffer.write_blob(&file.data)?;
            edits.insert(path.to_string(), TreeEdit::Put(Mode::File, blob));
        }
        Ok(())
    }

    pub(super) fn lock(&self) -> &Lock {
        &self.lock
    }

    fn with_view<T>(&self, work: impl FnOnce(&View<'_>) -> T) -> anyhow::Result<T> {
        Ok(work(&View::new(&self.files)))
    }

    fn with_tree<T>(&self, tree: ObjectId, work: impl FnOnce(&Tree<'_>) -> T) -> T {
        let files = TreeFiles::new(self.repository, tree);
        let (repository, dry_branch) = (Some((self.repository, self.refs)), self.branch.clone());
        work(&Tree { files: &files, repository, dry_branch, dry_commit: self.commit.clone() })
    }

    /// What the tree needs now.
    pub(super) fn inputs(&self) -> anyhow::Result<Inputs> {
        Ok(self.with_tree(self.tree, |tree| hydrate::inputs(tree, self.renderers))?)
    }

    /// Forgets what the lock file pins of some inputs, so that they are fetched anew.
    pub(super) fn unpin(&mut self, wanted: Option<&str>) -> anyhow::Result<()> {
        let is_meant = |entry: &&Entry| wanted.is_none_or(|wanted| is_meant(&entry.key, wanted));
        let keys: Vec<Key> = self.lock.entries().filter(is_meant).map(|entry| entry.key.clone()).collect();
        if let (Some(wanted), true) = (wanted, keys.is_empty()) {
            bail!(super::super::WrongUse(format!(
                "{LOCK} has no `{wanted}`: name a chart or a URL that is listed there"
            )));
        }
        let mut edits = BTreeMap::new();
        for key in keys {
            self.check(&key)?;
            let places = self.lock.remove(&key).map(|entry| self.lock.places(&entry)).unwrap_or_default();
            for place in places {
                // What no lock file lists would be taken for somebody's own.
                self.clear(&place, &mut edits)?;
            }
        }
        self.edit(&edits)?;
        self.write_lock()
    }

    /// An error unless the files of an input are as the lock file says: an edit is never lost.
    fn check(&self, key: &Key) -> anyhow::Result<()> {
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

    fn judged(&self, entry: &Entry, place: &RepoPath) -> anyhow::Result<Result<(), inputs::Unusable>> {
        self.with_view(|view| inputs::check(view, entry, place))
    }

    /// Fetches until nothing is missing.
    pub(super) fn complete(&mut self, fetch: Fetch<'_>) -> anyhow::Result<Inputs> {
        for _ in 0..ROUNDS_MAX {
            let inputs = self.inputs()?;
            if !inputs.found.mistakes.is_empty() && !self.keeps_going {
                return Ok(inputs);
            }
            let mut missing = self.missing(&inputs)?;
            missing.retain(|key, wanted| {
                let base = wanted.fallback.as_ref().map(|(base, _)| base);
                !self.failed.contains_key(key) && !base.is_some_and(|base| self.failed.contains_key(base))
            });
            if missing.is_empty() {
                return Ok(inputs);
            }
            self.round(&missing, fetch)?;
            self.write_lock()?;
        }
        bail!("fetched files keep naming further inputs: gave up after {ROUNDS_MAX} rounds")
    }

    /// What is needed and not kept as it should be.
    fn missing(&self, inputs: &Inputs) -> anyhow::Result<BTreeMap<Key, Missing>> {
        let mut missing: BTreeMap<Key, Missing> = BTreeMap::new();
        for need in inputs.found.needs.keys() {
            let (key, at, directory, fallback) = match need {
                Need::Chart(key, at) => (key, Some(at.clone()), None, None),
                Need::Directory(key, directory) => (key, None, Some(directory.clone()), None),
                Need::File(key) => (key, None, None, None),
                Need::Either(file, base, directory) => (file, None, None, Some((base.clone(), directory.clone()))),
            };
            if self.is_kept(key, at.as_ref(), directory.as_ref())? {
                continue;
            }
            let wanted = missing.entry(key.clone()).or_default();
            wanted.at.extend(at);
            wanted.directories.extend(directory);
            wanted.fallback = wanted.fallback.take().or(fallback);
        }
        Ok(missing)
    }

    fn is_kept(&self, key: &Key, at: Option<&RepoPath>, directory: Option<&RepoPath>) -> anyhow::Result<bool> {
        let Some(entry) = self.lock.get(key) else { return Ok(false) };
        let is_listed = at.is_none_or(|at| entry.at.contains(at))
            && directory.is_none_or(|directory| entry.directories.iter().any(|kept| directory.starts_with(kept)));
        if !is_listed {
            return Ok(false);
        }
        let place = at.cloned().unwrap_or_else(|| self.dir.place(key));
        match self.judged(entry, &place)? {
            Ok(()) => Ok(true),
            Err(error @ inputs::Unusable::Changed { .. }) => {
                if self.with_view(|view| matches!(view.kind(&place), Ok(Some(_))))? {
                    bail!("{error}\nhint: {}", error.hint());
                }
                Ok(false)
            }
            Err(error) => bail!("{error}"),
        }
    }

    fn round(&mut self, missing: &BTreeMap<Key, Missing>, fetch: Fetch<'_>) -> anyhow::Result<()> {
        let mut failures: Vec<(Key, String)> = Vec::new();
        let mut todo: Vec<(Key, Missing)> = Vec::new();
        for (key, wanted) in missing {
            match self.copied(key, wanted)? {
                Some(fetched) => self.take(key, wanted, fetched)?,
                None => todo.push((key.clone(), self.with_kept(key, wanted))),
            }
        }
        let results = self.fetched(&todo, fetch)?;
        let mut fallbacks: Vec<(Key, Missing)> = Vec::new();
        for ((key, wanted), result) in todo.iter().zip(results) {
            let is_none = match &result {
                Ok(fetched) => !fetched.files.first().is_some_and(|file| kustomize::holds_resources(&file.data)),
                Err(failed) => failed.refused,
            };
            match (result, &wanted.fallback) {
                (_, Some((base, directory))) if is_none => {
                    let entry = Missing { directories: [directory.clone()].into(), ..Missing::default() };
                    match fallbacks.iter_mut().find(|(key, _)| key == base) {
                        Some((_, wanted)) => wanted.directories.extend(entry.directories),
                        None => fallbacks.push((base.clone(), self.with_kept(base, &entry))),
                    }
                }
                (Ok(fetched), _) => self.take(key, wanted, fetched)?,
                (Err(failed), _) => failures.push((key.clone(), failed.reason)),
            }
        }
        let results = self.fetched(&fallbacks, fetch)?;
        for ((key, wanted), result) in fallbacks.iter().zip(results) {
            match result {
                Ok(fetched) => self.take(key, wanted, fetched)?,
                Err(failed) => failures.push((key.clone(), failed.reason)),
            }
        }
        if failures.is_empty() || self.keeps_going {
            self.failed.extend(failures);
            return Ok(());
        }
        let others = missing.len() > failures.len();
        let hint = if others { "\nhint: to bring the others: git hydrate vendor --keep-going" } else { "" };
        let failures: Vec<String> = failures.iter().map(|(key, reason)| format!("{key}: {reason}")).collect();
        bail!("nothing was changed\n  {}{hint}", failures.join("\n  "))
    }

    fn fetched(&self, todo: &[(Key, Missing)], fetch: Fetch<'_>) -> anyhow::Result<Vec<Result<Fetched, Failed>>> {
        let wanted: Vec<What> =
            todo.iter().map(|(key, wanted)| what(key, self.lock.get(key), &wanted.directories)).collect();
        if wanted.is_empty() { Ok(Vec::new()) } else { fetch(&wanted) }
    }

    /// With the directories that are kept already: all of a repository is of one commit.
    fn with_kept(&self, key: &Key, wanted: &Missing) -> Missing {
        let mut wanted = wanted.clone();
        wanted.directories.extend(self.lock.get(key).into_iter().flat_map(|entry| entry.directories.iter().cloned()));
        wanted
    }

    /// An input that is kept at one place and needed at another.
    fn copied(&self, key: &Key, wanted: &Missing) -> anyhow::Result<Option<Fetched>> {
        let Some(entry) = self.lock.get(key).filter(|_| wanted.directories.is_empty()) else { return Ok(None) };
        for place in self.lock.places(entry) {
            if self.judged(entry, &place)?.is_ok() {
                let files = self.with_view(|view| inputs::files(view, &place))??;
                let (version, origin) = (entry.version.clone(), entry.origin.clone());
                return Ok(Some(Fetched { version, origin, warnings: Vec::new(), files }));
            }
        }
        Ok(None)
    }

    /// Puts an input into the tree.
    fn take(&mut self, key: &Key, wanted: &Missing, fetched: Fetched) -> anyhow::Result<()> {
        let Fetched { version, origin, warnings, files } = fetched;
        self.warnings.extend(warnings);
        if let Some(moves) = key.moves() {
            self.warnings.insert(format!("{key}: {moves}: the lock file pins {}", pinned(key, &version)));
        }
        let known = self.lock.get(key).cloned();
        let (files, left_out) = kept_of(key, files, known.as_ref());
        for path in left_out {
            self.warnings.insert(format!(
                "{key}: {} is left out: git would read it in this repository",
                yaml::quote(path.as_str())
            ));
        }
        let content = inputs::digest(&files);
        if let Some(known) =
            known.as_ref().filter(|known| known.content != content && known.directories == dirs(wanted))
        {
            bail!(changed(known, &content));
        }
        let mut at: BTreeSet<RepoPath> = known.iter().flat_map(|known| known.at.iter().cloned()).collect();
        at.extend(wanted.at.iter().cloned());
        let places: Vec<RepoPath> =
            if wanted.at.is_empty() { vec![self.dir.place(key)] } else { wanted.at.iter().cloned().collect() };
        let mut edits = BTreeMap::new();
        for place in &places {
            self.make_room(key, place, &mut edits)?;
            self.put(key, place, &files, &mut edits)?;
            self.hidden(place, &files)?;
        }
        let directories = dirs(wanted);
        let at = at.into_iter().collect();
        self.lock.insert(Entry { key: key.clone(), version, origin, content, at, directories });
        self.edit(&edits)
    }

    /// Takes away what another input left at a place.
    fn make_room(&mut self, key: &Key, place: &RepoPath, edits: &mut BTreeMap<String, TreeEdit>) -> anyhow::Result<()> {
        let other = self.lock.at(place).filter(|other| other.key != *key).cloned();
        if let Some(mut other) = other {
            self.check(&other.key)?;
            other.at.retain(|at| at != place);
            match other.at.is_empty() {
                true => drop(self.lock.remove(&other.key)),
                false => self.lock.insert(other),
            }
        }
        self.clear(place, edits)
    }

    /// Takes away all files at a place.
    fn clear(&self, place: &RepoPath, edits: &mut BTreeMap<String, TreeEdit>) -> anyhow::Result<()> {
        let files = self.with_view(|view| match inputs::files(view, place) {
            Ok(files) => Ok((files, view.kind(place)?)),
            Err(ViewError::Missing(_) | ViewError::NotDirectory(_)) => Ok((Vec::new(), None)),
            Err(error) => Err(error),
        })??;
        let (files, kind) = files;
        for file in files {
            let path = if kind == Some(crate::view::Kind::File) { place.clone() } else { place.join(&file.path) };
            edits.insert(path.to_string(), TreeEdit::Remove);
        }
        Ok(())
    }

    fn put(
        &self,
        key: &Key,
        place: &RepoPath,
        files: &[InputFile],
        edits: &mut BTreeMap<String, TreeEdit>,
    ) -> anyhow::Result<()> {
        for file in files {
            let blob = self.buffer.write_blob(&file.data)?;
            let path = if key.kind == Kind::File { place.clone() } else { place.join(&file.path) };
            edits.insert(path.to_string(), TreeEdit::Put(Mode::File, blob));
        }
        Ok(())
    }

    /// A chart's own `.helmignore` counts for the directories below it, not for packaged charts.
    fn hidden(&self, place: &RepoPath, files: &[InputFile]) -> anyhow::Result<()> {
        let chart =
            place.parent().filter(|charts| charts.file_name() == Some("charts")).and_then(|charts| charts.parent());
        let Some(chart) = chart else { return Ok(()) };
        let paths: Vec<RepoPath> = files.iter().map(|file| place.join(&file.path)).collect();
        let hidden = self.with_view(|view| helm::hidden(view, &chart, &paths))?;
        if let Ok(Some(path)) = hidden {
            bail!(
                "the .helmignore of `{chart}` hides {path}, which Helm renders of a packaged dependency\nhint: change the rule \
                 so that it leaves out charts/, or package this dependency: helm dependency update {chart}"
            );
        }
        Ok(())
    }

    /// Takes away what nothing needs, and tells what it was.
    pub(super) fn prune(&mut self, inputs: &Inputs) -> anyhow::Result<()> {
        if inputs.is_partial {
            bail!("some Applications cannot be read, so what they need is unknown: see `git hydrate check --worktree`");
        }
        let unused = self.unused(inputs);
        let mut edits = BTreeMap::new();
        for (key, places) in unused {
            self.check(&key)?;
            for place in &places {
                self.clear(place, &mut edits)?;
            }
            if let Some(mut entry) = self.lock.remove(&key) {
                entry.at.retain(|at| !places.contains(at));
                if !entry.at.is_empty() {
                    self.lock.insert(entry);
                }
            }
        }
        self.edit(&edits)?;
        self.write_lock()
    }

    /// What the lock file lists and nothing needs, with the places where it is.
    pub(super) fn unused(&self, inputs: &Inputs) -> BTreeMap<Key, Vec<RepoPath>> {
        let mut used: BTreeSet<RepoPath> = BTreeSet::new();
        for need in inputs.found.needs.keys() {
            match need {
                Need::Chart(_, at) => drop(used.insert(at.clone())),
                Need::Directory(key, _) | Need::File(key) => drop(used.insert(self.dir.place(key))),
                Need::Either(file, base, _) => used.extend([self.dir.place(file), self.dir.place(base)]),
            }
        }
        let unused = |entry: &Entry| {
            let places: Vec<RepoPath> =
                self.lock.places(entry).into_iter().filter(|place| !used.contains(place)).collect();
            (!places.is_empty()).then(|| (entry.key.clone(), places))
        };
        self.lock.entries().filter_map(unused).collect()
    }

    /// Puts the lock file, and the attributes of what it lists, into the tree.
    fn write_lock(&mut self) -> anyhow::Result<()> {
        let mut edits = BTreeMap::new();
        let mut put = |path: String, text: Option<String>| -> anyhow::Result<()> {
            let edit = match text {
                Some(text) => TreeEdit::Put(Mode::File, self.buffer.write_blob(text.as_bytes())?),
                None => TreeEdit::Remove,
            };
            edits.insert(path, edit);
            Ok(())
        };
        let is_empty = self.lock.is_empty();
        put(LOCK.to_owned(), (!is_empty).then(|| self.lock.text()))?;
        let own = format!(
            "{ATTRIBUTES}inputs.lock text eol=lf linguist-generated\ninputs/** -text -filter -ident linguist-generated\n"
        );
        put(format!("{TOP}/.gitattributes"), (!is_empty).then_some(own))?;
        let mut parents: BTreeMap<RepoPath, BTreeSet<String>> = BTreeMap::new();
        for (lock, is_new) in [(&self.old, false), (&self.lock, true)] {
            let places = lock.entries().flat_map(|entry| lock.places(entry));
            for place in places.filter_map(|place| marked(lock.dir(), place)) {
                let names = parents.entry(place.parent().unwrap_or_default()).or_default();
                if let Some(name) = place.file_name().filter(|_| is_new) {
                    names.insert(name.to_owned());
                }
            }
        }
        for (parent, names) in parents {
            let path = parent.resolve(".gitattributes")?;
            let found = self.with_view(|view| view.read(&path).ok().map(|blob| blob.data))?;
            // Somebody else's stay as they are.
            if found.is_none_or(|found| found.starts_with(ATTRIBUTES.as_bytes())) {
                let lines: String =
                    names.iter().map(|name| format!("/{name}/** -text -filter -ident linguist-generated\n")).collect();
                put(path.to_string(), (!names.is_empty()).then(|| format!("{ATTRIBUTES}{lines}")))?;
            }
        }
        self.edit(&edits)
    }

    fn edit(&mut self, edits: &BTreeMap<String, TreeEdit>) -> anyhow::Result<()> {
        self.tree = self.buffer.edit_tree(self.tree, edits)?;
        self.buffer.flush_loose()?;
        self.files = TreeFiles::new(self.repository, self.tree);
        Ok(())
    }

    /// What the working tree will have that it has not.
    pub(super) fn changes(&self) -> anyhow::Result<Vec<TreeChange>> {
        Ok(self.buffer.diff_trees(self.before, self.tree)?)
    }

    /// Whether a file of the working tree as it was is one that we wrote: of an input that the lock file listed, which is as it
    /// came, or one about them.
    pub(super) fn wrote(&self, path: &RepoPath) -> bool {
        let is_place = |path: &RepoPath| self.known_places.contains(path);
        let is_attributes = || path.file_name() == Some(".gitattributes") && self.has_our_attributes(path);
        path.as_str() == LOCK
            || std::iter::successors(Some(path.clone()), RepoPath::parent).any(|path| is_place(&path))
            || is_attributes()
    }

    fn has_our_attributes(&self, path: &RepoPath) -> bool {
        let files = TreeFiles::new(self.repository, self.before);
        View::new(&files).read(path).is_ok_and(|blob| blob.data.starts_with(ATTRIBUTES.as_bytes()))
    }

    /// What came of each input.
    pub(super) fn deeds(&self) -> Vec<(Deed, Entry)> {
        let mut deeds = Vec::new();
        for entry in self.lock.entries() {
            match self.old.get(&entry.key) {
                None => deeds.push((Deed::Added, entry.clone())),
                Some(old) if old != entry || self.old.places(old) != self.lock.places(entry) => {
                    deeds.push((Deed::Changed, entry.clone()))
                }
                Some(_) => {}
            }
        }
        let gone = self.old.entries().filter(|old| self.lock.get(&old.key).is_none());
        deeds.extend(gone.map(|entry| (Deed::Removed, entry.clone())));
        deeds
    }

    /// The Applications that render otherwise although none of the inputs that they name has changed.
    pub(super) fn disturbed(&self, inputs: &Inputs) -> anyhow::Result<Vec<String>> {
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
        let outputs = |tree: ObjectId, is_asked: &dyn Fn(&(String, Span)) -> bool| -> anyhow::Result<Outputs> {
            let outputs = self.with_tree(tree, |tree| hydrate::outputs(tree, self.renderers, is_asked, &progress));
            progress.clear();
            Ok(outputs?)
        };
        let before = outputs(self.without, &|place| !meant.contains(place.0.as_str()))?;
        // What did not render can only get better.
        let rendered = |place: &(String, Span)| before.get(place).is_some_and(|before| before.digest.is_some());
        let after = outputs(self.tree, &rendered)?;
        let all: BTreeSet<&(String, Span)> = before.keys().chain(after.keys()).collect();
        let differs = |place: &&(String, Span)| {
            let (old, new) = (before.get(*place), after.get(*place));
            let is_made = |rendering: &Rendering| rendering.makers.iter().any(|maker| makers.contains(maker.as_str()));
            let is_meant = meant.contains(place.0.as_str()) || old.or(new).is_some_and(is_made);
            match (old, new) {
                (Some(Rendering { digest: None, .. }), _) => false,
                (Some(old), new) => new.is_none_or(|new| new.digest != old.digest) && !is_meant,
                (None, _) => !is_meant,
            }
        };
        Ok(all.into_iter().filter(differs).map(|(name, span)| format!("{name} ({span})")).collect())
    }

    /// Fetches again what is kept, and tells what is another thing now.
    pub(super) fn verify(
        &self,
        fetchers: &mut Fetchers<'_>,
        done: &dyn Fn(usize),
    ) -> anyhow::Result<Vec<(Key, String)>> {
        let entries: Vec<&Entry> = self.lock.entries().collect();
        let wanted: Vec<What> = entries
            .iter()
            .map(|entry| what(&entry.key, Some(entry), &entry.directories.iter().cloned().collect()))
            .collect();
        let results = fetchers.fetch(&wanted, done)?;
        let told = |(entry, result): (&&Entry, Result<Fetched, Failed>)| {
            let reason = match result {
                Ok(fetched) => {
                    let content = inputs::digest(&kept_of(&entry.key, fetched.files, Some(entry)).0);
                    (content != entry.content).then(|| changed(entry, &content))
                }
                Err(failed) => Some(failed.reason),
            };
            reason.map(|reason| (entry.key.clone(), reason))
        };
        Ok(entries.iter().zip(results).filter_map(told).collect())
    }

    /// What is wrong with what is kept, without any connection.
    pub(super) fn faults(&self, inputs: &Inputs) -> anyhow::Result<Vec<(String, String)>> {
        let misplaced = self.with_view(|view| Kept::read(view).and_then(|kept| kept.misplaced(&self.dir)))?;
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
            let alone = self.with_view(|view| Kept::read(view).and_then(|kept| kept.are_alone(&charts)))?;
            faults.extend(alone.err().map(|error| (error.to_string(), error.hint())));
        }
        let missing = inputs.found.needs.iter().filter_map(|(need, uses)| {
            let (key, is_kept) = match need {
                Need::Chart(key, at) => (key, self.lock.get(key).is_some_and(|entry| entry.at.contains(at))),
                Need::Directory(key, directory) => {
                    let has = |entry: &Entry| entry.directories.iter().any(|kept| directory.starts_with(kept));
                    (key, self.lock.get(key).is_some_and(has))
                }
                Need::File(key) => (key, self.lock.get(key).is_some()),
                Need::Either(key, ..) => (key, false),
            };
            let first = uses.first().map(|used| used.span.to_string()).unwrap_or_default();
            (!is_kept)
                .then(|| (format!("{first}: {key} is not in this repository"), "run `git hydrate vendor`".to_owned()))
        });
        faults.extend(missing);
        Ok(faults)
    }

    /// The top of the working tree.
    pub(super) fn top(&self) -> anyhow::Result<std::path::PathBuf> {
        self.repository.worktree().context("a bare repository has no working tree")
    }
}

/// The directory of which attributes mark an input as generated; none below [`TOP`], which has its own.
fn marked(dir: &InputsDir, place: RepoPath) -> Option<RepoPath> {
    if place.components().next() == Some(TOP) {
        return None;
    }
    let kind = place.strip_prefix(dir.path()).filter(|_| dir.has(&place));
    let kind = kind.and_then(|below| dir.path().child(below.components().next()?).ok());
    Some(kind.unwrap_or(place))
}

/// What of an input is missing.
#[derive(Debug, Clone, Default)]
struct Missing {
    at: BTreeSet<RepoPath>,
    directories: BTreeSet<RepoPath>,
    /// What to take when there is no such file.
    fallback: Option<(Key, RepoPath)>,
}

/// The files of an input that are kept, and the paths of those that are left out.
fn kept_of(key: &Key, files: Vec<InputFile>, known: Option<&Entry>) -> (Vec<InputFile>, Vec<RepoPath>) {
    match key.kind {
        // It has another name here.
        Kind::File => (files, Vec::new()),
        _ => inputs::without_those_of_git(files, known.map(|known| known.content.as_str())),
    }
}

/// The directories that are fetched; one in another is no directory of its own.
fn dirs(wanted: &Missing) -> Vec<RepoPath> {
    let is_outer = |dir: &&RepoPath| !wanted.directories.iter().any(|other| other != *dir && dir.starts_with(other));
    wanted.directories.iter().filter(is_outer).cloned().collect()
}

/// Both sides of a lock file with merge conflicts.
fn merged(view: &View<'_>) -> Result<Lock, inputs::Unusable> {
    let blob = view.read(&RepoPath::clean(LOCK).unwrap_or_default())?;
    let fits =
        |entry: &Entry, places: &[RepoPath]| places.iter().all(|place| inputs::check(view, entry, place).is_ok());
    Lock::merged(&blob.data, fits).map_err(inputs::Unusable::Lock)
}

fn what(key: &Key, pinned: Option<&Entry>, directories: &BTreeSet<RepoPath>) -> What {
    let url = key.url.clone();
    let want = pinned.map(|entry| entry.version.clone()).filter(|version| !version.is_empty());
    let want = want.unwrap_or_else(|| key.want.clone());
    match key.kind {
        Kind::Helm => What::Helm { url, name: key.name.clone(), want },
        Kind::Oci => What::Oci { url, name: key.name.clone(), want },
        Kind::File => What::File { url },
        Kind::Git => {
            let wanted = Missing { directories: directories.clone(), ..Missing::default() };
            What::Git { url, want, directories: dirs(&wanted).iter().map(ToString::to_string).collect() }
        }
    }
}

/// Whether an input is the one that a user names: by its chart, its URL, or both.
fn is_meant(key: &Key, wanted: &str) -> bool {
    key.name == wanted
        || key.url == wanted
        || key.to_string() == wanted
        || format!("{}/{}", key.url, key.name) == wanted
}

fn pinned(key: &Key, version: &str) -> String {
    if version.is_empty() { key.to_string() } else { version.to_owned() }
}

fn changed(known: &Entry, content: &str) -> String {
    format!(
        "{}: {LOCK} says {}, received {content}: it was replaced by its publisher, or on the way\nhint: compare both \
        before you accept the new one: git hydrate vendor --update {}",
        known.key,
        known.content,
        crate::diag::shell_word(if known.key.name.is_empty() { &known.key.url } else { &known.key.name })
    )
}
