//! The inputs that a server fetched once: a ref that only hydration writes, and dry trees with what it has.
//!
//! A render reads files of one tree. So what is recorded joins a dry tree ([`Record::join`]), and everything after that finds
//! it as it finds what `git hydrate vendor` put there: the reads of renders, what the cache keeps of them, and the comparison of
//! two dry trees. Without a record, dry trees are what was pushed, but for what only a record may show.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use dry_files::path::RepoPath;

use super::place::Place;
use super::setup::Fetching;
use crate::argo::BranchName;
use crate::repo::{
    Error, Expected, Mode, NewCommit, ObjectBuffer, ObjectId, Quarantine, RefEdit, Refs, Repository, Signature,
    TransactionError, TreeEdit, update_refs,
};
use inputs::{InputFile, InputsDir, Kind, LOCK, Lock, RECORDED, RECORDED_FILES, Recorded, Wanted};

/// The ref whose tree has the recorded inputs. No push gets at it.
pub(crate) const INPUTS_REF: &str = "refs/hydrate/inputs";

/// What is recorded, as it was when an operation began.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The tree of the ref; none where nothing is recorded, or it is not to be believed.
    tree: Option<ObjectId>,
    /// The tree of one that is not shown.
    hidden: Option<ObjectId>,
    /// What trees became that it joined.
    joined: RefCell<HashMap<ObjectId, ObjectId>>,
}

impl Record {
    /// Reads the ref. It counts where records are believed, and where inputs are in their usual place.
    pub(crate) fn read(place: &Place, refs: &Refs, dir: &InputsDir, repository: &Repository) -> Result<Self, Error> {
        let tip = refs.get(INPUTS_REF).filter(|_| place.believes_records() && *dir == InputsDir::default());
        let tree = tip.map(|tip| repository.commit(tip)).transpose()?.map(|commit| commit.tree);
        Ok(Self { tree, hidden: None, joined: RefCell::default() })
    }

    /// Shows what is recorded, or hides it, as it was when nothing was. Answers whether that makes a difference.
    pub(crate) fn show(&mut self, is_shown: bool) -> bool {
        if is_shown == self.tree.is_some() || (self.tree.is_none() && self.hidden.is_none()) {
            return false;
        }
        std::mem::swap(&mut self.tree, &mut self.hidden);
        self.joined.borrow_mut().clear();
        true
    }

    /// Whether anything is recorded.
    pub(crate) fn is_nothing(&self) -> bool {
        self.tree.is_none()
    }

    /// What the record is known by.
    pub(crate) fn id(&self) -> Option<String> {
        self.tree.map(|tree| tree.to_string())
    }

    /// A dry tree with what is recorded: only this process knows it.
    pub(crate) fn join(&self, tree: ObjectId, repository: &Repository) -> Result<ObjectId, Error> {
        if let Some(known) = self.joined.borrow().get(&tree) {
            return Ok(*known);
        }
        let joined = joined(tree, self.tree, repository)?;
        self.joined.borrow_mut().insert(tree, joined);
        Ok(joined)
    }
}

/// The tree of a dry commit with what is recorded, where a repository is asked and nothing is hydrated.
pub(crate) fn dry_tree(
    repository: &Repository,
    place: &Place,
    dir: &InputsDir,
    dry: ObjectId,
) -> Result<ObjectId, Error> {
    Record::read(place, &repository.refs()?, dir, repository)?.join(repository.commit(dry)?.tree, repository)
}

fn joined(tree: ObjectId, record: Option<ObjectId>, repository: &Repository) -> Result<ObjectId, Error> {
    let buffer = ObjectBuffer::new(repository);
    let mut edits = BTreeMap::new();
    match record {
        None if buffer.entry(tree, RECORDED)?.is_none() => return Ok(tree),
        None => drop(edits.insert(RECORDED.to_owned(), TreeEdit::Remove)),
        Some(record) => {
            let dir = InputsDir::default();
            let dir = dir.path().as_str();
            edits.insert(RECORDED.to_owned(), TreeEdit::Put(Mode::Directory, record));
            let own = directory(buffer.entry(tree, dir)?).unwrap_or(buffer.empty_tree_id());
            if let Some(files) = directory(buffer.entry(record, RECORDED_FILES)?) {
                let files = without_locked(files, tree, &buffer)?;
                let both = united(own, files, &buffer)?;
                if both != buffer.empty_tree_id() {
                    edits.insert(dir.to_owned(), TreeEdit::Put(Mode::Directory, both));
                }
            }
        }
    }
    let joined = buffer.edit_tree(tree, &edits)?;
    buffer.lend()?;
    Ok(joined)
}

fn directory(entry: Option<(Mode, ObjectId)>) -> Option<ObjectId> {
    entry.filter(|(mode, _)| *mode == Mode::Directory).map(|(_, id)| id)
}

/// What is recorded of inputs that the lock file of a dry tree does not list: that wins.
fn without_locked(files: ObjectId, tree: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<ObjectId, Error> {
    let Some((Mode::File, lock)) = buffer.entry(tree, LOCK)? else { return Ok(files) };
    // One that cannot be read is a mistake of the Application that asks for an input.
    let Ok(lock) = Lock::parse(&buffer.blob(lock)?) else { return Ok(files) };
    let mut edits = BTreeMap::new();
    for entry in lock.entries() {
        let place = entry.key.place().to_string();
        if buffer.entry(files, &place)?.is_some() {
            edits.insert(place, TreeEdit::Remove);
        }
    }
    buffer.edit_tree(files, &edits)
}

/// All that two directories have. Where both have a file, it is that of the first.
fn united(first: ObjectId, second: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<ObjectId, Error> {
    if first == second || second == buffer.empty_tree_id() {
        return Ok(first);
    }
    if first == buffer.empty_tree_id() {
        return Ok(second);
    }
    let mut edits = BTreeMap::new();
    let here: HashMap<Vec<u8>, (Mode, ObjectId)> =
        buffer.tree(first)?.into_iter().map(|entry| (entry.name, (entry.mode, entry.id))).collect();
    for entry in buffer.tree(second)? {
        // Names of inputs are text.
        let Ok(name) = String::from_utf8(entry.name.clone()) else { continue };
        let edit = match (here.get(&entry.name), entry.mode) {
            (None, mode) => TreeEdit::Put(mode, entry.id),
            (Some((Mode::Directory, own)), Mode::Directory) => {
                TreeEdit::Put(Mode::Directory, united(*own, entry.id, buffer)?)
            }
            (Some(_), _) => continue,
        };
        edits.insert(name, edit);
    }
    buffer.edit_tree(first, &edits)
}

/// What is recorded, in the order of keys.
pub(crate) fn recorded(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Result<Vec<Recorded>, Error> {
    let Some(tip) = refs.get(INPUTS_REF) else { return Ok(Vec::new()) };
    let tree = buffer.commit(tip)?.tree;
    let mut all = Vec::new();
    for change in buffer.diff_trees(buffer.empty_tree_id(), tree)? {
        let Some((_, blob)) = change.new.filter(|_| Recorded::is_path(&change.path)) else { continue };
        let one = Recorded::parse(&buffer.blob(blob)?);
        let damaged = || Error::message(format!("{INPUTS_REF}: {} cannot be read", change.path));
        all.push(one.filter(|one| one.own_path().as_str() == change.path).ok_or_else(damaged)?);
    }
    all.sort_by(|one, other| (&one.key, &one.directory).cmp(&(&other.key, &other.directory)));
    Ok(all)
}

/// The tree of a record with further inputs, each with its files: what is there already stays, whatever it is.
pub(crate) fn with_more(
    tree: ObjectId,
    more: &[(Recorded, Vec<InputFile>)],
    buffer: &ObjectBuffer<'_>,
) -> Result<ObjectId, Error> {
    let mut edits = BTreeMap::new();
    for (one, files) in more {
        let own = one.own_path();
        if edits.contains_key(own.as_str()) || buffer.entry(tree, own.as_str())?.is_some() {
            continue;
        }
        edits.insert(own.to_string(), TreeEdit::Put(Mode::File, buffer.write_blob(one.text().as_bytes())?));
        let place = files_of(one);
        for file in files {
            let path = if one.key.kind == Kind::File { place.clone() } else { place.join(&file.path) };
            edits.insert(path.to_string(), TreeEdit::Put(Mode::File, buffer.write_blob(&file.data)?));
        }
    }
    buffer.edit_tree(tree, &edits)
}

/// What a clone knows of the server's own fetches: it fetched from these repositories and registries before.
pub(crate) struct KnownSources(BTreeSet<(Kind, String)>);

impl KnownSources {
    /// Those of what is recorded, as it was fetched with `refs/hydrate/*`.
    pub(crate) fn read(repository: &Repository) -> Result<Self, Error> {
        let all = recorded(&repository.refs()?, &ObjectBuffer::new(repository))?;
        Ok(Self(all.into_iter().map(|one| (one.key.kind, one.key.url)).collect()))
    }
}

impl Fetching for KnownSources {
    fn allows(&self, wanted: &Wanted, _dry_branch: &BranchName) -> bool {
        self.0.contains(&(wanted.key.kind, wanted.key.url.clone()))
    }

    fn missed(&self, _wanted: &Wanted) -> Option<String> {
        Some("the server fetches it after the push".to_owned())
    }
}

fn files_of(one: &Recorded) -> RepoPath {
    RepoPath::clean(RECORDED_FILES).unwrap_or_default().join(&one.place())
}

/// Records inputs. Answers whether anything is recorded that was not. Errors: another process did at the same moment, again and again.
pub(crate) fn record(
    repository: &Repository,
    more: &[(Recorded, Vec<InputFile>)],
    who: &Signature,
) -> Result<bool, TransactionError> {
    changed(repository, who, &message_of(more), |tree, buffer| with_more(tree, more, buffer))
}

fn message_of(more: &[(Recorded, Vec<InputFile>)]) -> String {
    match more {
        [(one, _)] => format!("Record {}\n", one.key),
        _ => format!("Record {} inputs\n", more.len()),
    }
}

/// Takes inputs out of the record, and says why: nothing may use them any more.
pub(crate) fn withdraw(
    repository: &Repository,
    which: &[Recorded],
    reason: &str,
    who: &Signature,
) -> Result<bool, TransactionError> {
    let message =
        format!("Withdraw {}\n\n{reason}\n", which.first().map(|one| one.key.to_string()).unwrap_or_default());
    changed(repository, who, &message, |tree, buffer| {
        let mut edits = BTreeMap::new();
        for one in which {
            let gone = Recorded { withdrawn: Some(reason.to_owned()), ..one.clone() };
            let blob = buffer.write_blob(gone.text().as_bytes())?;
            edits.insert(one.own_path().to_string(), TreeEdit::Put(Mode::File, blob));
            edits.insert(files_of(one).to_string(), TreeEdit::Remove);
        }
        buffer.edit_tree(tree, &edits)
    })
}

/// How often a lost race is run again.
const TRIES: usize = 5;

/// Moves the ref to a tree that is made of the one that it has.
fn changed(
    repository: &Repository,
    who: &Signature,
    message: &str,
    make: impl Fn(ObjectId, &ObjectBuffer<'_>) -> Result<ObjectId, Error>,
) -> Result<bool, TransactionError> {
    let mut raced = String::new();
    for _ in 0..TRIES {
        let buffer = ObjectBuffer::new(repository);
        let old = repository.refs()?.get(INPUTS_REF);
        let Some(new) = next(&buffer, old, who, message, &make)? else { return Ok(false) };
        let _kept = buffer.flush()?;
        match update_refs(repository, &[moved(old, new)], REFLOG) {
            Err(TransactionError::Raced(why)) => raced = why,
            moved => return moved.map(|()| true),
        }
    }
    Err(TransactionError::Raced(raced))
}

/// What the reflog says of it.
const REFLOG: &str = "inputs";

fn moved(old: Option<ObjectId>, new: ObjectId) -> RefEdit {
    RefEdit { name: INPUTS_REF.to_owned(), new: Some(new), expected: Expected::from(old) }
}

/// The next commit of a record, in a buffer; none where its tree stays as it is.
fn next(
    buffer: &ObjectBuffer<'_>,
    old: Option<ObjectId>,
    who: &Signature,
    message: &str,
    make: &impl Fn(ObjectId, &ObjectBuffer<'_>) -> Result<ObjectId, Error>,
) -> Result<Option<ObjectId>, Error> {
    let before = old.map(|old| buffer.commit(old)).transpose()?.map_or(buffer.empty_tree_id(), |commit| commit.tree);
    let tree = make(before, buffer)?;
    if tree == before {
        return Ok(None);
    }
    let parents = old.into_iter().collect();
    let (author, committer, message) = (who.clone(), who.clone(), message.to_owned());
    buffer.write_commit(&NewCommit { tree, parents, author, committer, message }).map(Some)
}

/// Records inputs beside the objects of a push that is not accepted yet, on top of the record that `after` has. Answers its commit, to
/// which nothing leads, and the pack that it is in; none where nothing is new.
pub(crate) fn record_quarantined(
    after: &Repository,
    quarantine: &Quarantine,
    more: &[(Recorded, Vec<InputFile>)],
    who: &Signature,
) -> Result<Option<(ObjectId, ObjectId)>, Error> {
    let buffer = ObjectBuffer::new(after);
    let old = after.refs()?.get(INPUTS_REF);
    let new = next(&buffer, old, who, &message_of(more), &|tree, buffer| with_more(tree, more, buffer))?;
    new.map(|new| buffer.flush_quarantined(quarantine).map(|pack| (new, pack))).transpose()
}

/// Makes a commit that was made for an accepted push the record, where that still is `old`.
pub(crate) fn accept(repository: &Repository, old: Option<ObjectId>, new: ObjectId) -> Result<(), TransactionError> {
    update_refs(repository, &[moved(old, new)], REFLOG)
}
