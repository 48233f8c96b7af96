//! A dry tree on its way to keeping all that it needs.

mod checks;
mod fetch;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};
use dry_files::path::RepoPath;
use dry_files::view::View;

use crate::argo::BranchName;
use crate::inspect;
use crate::inspect::{Inputs, Tree};
use crate::owners::place::Place;
use crate::render::Renderers;
use crate::render::needs::Need;
use crate::repo::TreeFiles;
use crate::repo::{Mode, ObjectBuffer, ObjectId, Repository, TreeChange, TreeEdit};
use crate::tell::fetch::fetcher::{Failed, Fetched};
use inputs::wire::What;
use inputs::{self, Entry, InputsDir, KeptInputs, Key, LOCK, Lock, TOP};

/// The first line of the attributes that we write.
const ATTRIBUTES: &str = "# Written by `git hydrate vendor`: files as they came, folded in reviews.\n";

/// The working tree as it was, and as it will be.
pub(super) struct Session<'r> {
    repository: &'r Repository,
    refs: &'r Place,
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
        (repository, refs): (&'r Repository, &'r Place),
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
            dir: inspect::settings_of_makers(repository)?.rules.inputs().clone(),
            buffer: ObjectBuffer::new(repository),
            warnings: BTreeSet::new(),
            keeps_going: false,
            failed: BTreeMap::new(),
        };
        let lock = session.with_view(|view| KeptInputs::read(view).map(|kept| kept.lock().cloned()))?;
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
            let path = if kind == Some(dry_files::view::Kind::File) { to.clone() } else { to.join(&file.path) };
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
        Ok(self.with_tree(self.tree, |tree| inspect::inputs(tree, self.renderers))?)
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
                // What no lock file lists would be taken for a file of the user.
                self.clear(&place, &mut edits)?;
            }
        }
        self.edit(&edits)?;
        self.write_lock()
    }

    /// Removes what nothing needs.
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
        let mut unused = BTreeMap::new();
        for entry in self.lock.entries() {
            let mut places = self.lock.places(entry);
            places.retain(|place| !used.contains(place));
            if !places.is_empty() {
                unused.insert(entry.key.clone(), places);
            }
        }
        unused
    }

    /// Puts the lock file, and the attributes of what it lists, into the tree.
    fn write_lock(&mut self) -> anyhow::Result<()> {
        let mut edits = BTreeMap::new();
        let is_empty = self.lock.is_empty();
        edits.insert(LOCK.to_owned(), self.edit_to((!is_empty).then(|| self.lock.text()))?);
        let own = format!(
            "{ATTRIBUTES}inputs.lock text eol=lf linguist-generated\ninputs/** -text -filter -ident linguist-generated\n"
        );
        edits.insert(format!("{TOP}/.gitattributes"), self.edit_to((!is_empty).then_some(own))?);
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
                let text = (!names.is_empty()).then(|| format!("{ATTRIBUTES}{lines}"));
                edits.insert(path.to_string(), self.edit_to(text)?);
            }
        }
        self.edit(&edits)
    }

    /// The edit after which a file has this text, or is gone.
    fn edit_to(&self, text: Option<String>) -> anyhow::Result<TreeEdit> {
        Ok(match text {
            Some(text) => TreeEdit::Put(Mode::File, self.buffer.write_blob(text.as_bytes())?),
            None => TreeEdit::Remove,
        })
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

/// Both sides of a lock file with merge conflicts.
fn merged(view: &View<'_>) -> Result<Lock, inputs::Unusable> {
    let blob = view.read(&RepoPath::clean(LOCK).unwrap_or_default())?;
    let fits =
        |entry: &Entry, places: &[RepoPath]| places.iter().all(|place| inputs::check(view, entry, place).is_ok());
    Lock::merged(&blob.data, fits).map_err(inputs::Unusable::Lock)
}

/// Whether an input is the one that a user names: by its chart, its URL, or both.
fn is_meant(key: &Key, wanted: &str) -> bool {
    key.name == wanted
        || key.url == wanted
        || key.to_string() == wanted
        || format!("{}/{}", key.url, key.name) == wanted
}
