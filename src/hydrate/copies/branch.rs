//! The branch of copies: what is on it, and the commits that are made on it.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

use crate::argo::BranchName;
use crate::hydrate::make::branch::initial;
use crate::metadata::{Followed, Hydrated, Origin, Stated};
use crate::metadata::{copies_readme, copies_readme_with, copy_metadata, read_copy_metadata};
use crate::owners::error::HydrateError;
use crate::owners::files::{MANIFEST, METADATA, README};
use crate::owners::snapshot::Snapshot;
use crate::repo::publish::{Edits, HydratedTree};
use crate::repo::{Commit, Mode, NewCommit, ObjectBuffer, ObjectId};

/// The directories of copies, by kind.
pub(super) const APPLICATIONS: &str = "applications";
pub(super) const SETS: &str = "applicationsets";
const KINDS: [&str; 2] = [APPLICATIONS, SETS];

/// One copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copy {
    /// Its `manifest.yaml`.
    pub manifest: Vec<u8>,
    /// The destination paths that the copy leads to: one of an Application, all of the Applications of a set.
    pub leads_to: Vec<Hydrated>,
}

/// What one commit does to the copies, by their directories.
#[derive(Debug, Default)]
pub(super) struct Changes<'c> {
    /// What is written, be it there already or not.
    pub written: BTreeMap<&'c RepoPath, &'c Copy>,
    /// What goes.
    pub removed: BTreeSet<&'c RepoPath>,
}

/// The copies in a tree, by their directories, and what each leads to.
pub(crate) fn copies(
    tree: ObjectId,
    buffer: &ObjectBuffer<'_>,
) -> Result<BTreeMap<RepoPath, Vec<Hydrated>>, HydrateError> {
    let mut found = BTreeMap::new();
    for (dir, copy) in copy_directories(tree, buffer)? {
        let Some((Mode::File, metadata)) = buffer.entry(copy, METADATA)? else { continue };
        found.insert(dir, read_copy_metadata(&buffer.blob(metadata)?));
    }
    Ok(found)
}

/// The directories that copies may be in.
fn copy_directories(tree: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<BTreeMap<RepoPath, ObjectId>, HydrateError> {
    let mut found = BTreeMap::new();
    for (name, inner) in directories(tree, buffer)? {
        if KINDS.contains(&name.as_str()) {
            of_kind(&name, inner, &mut found, buffer)?;
            continue;
        }
        // Of an instance.
        for (kind, inner) in directories(inner, buffer)?.into_iter().filter(|(kind, _)| KINDS.contains(&kind.as_str()))
        {
            of_kind(&format!("{name}/{kind}"), inner, &mut found, buffer)?;
        }
    }
    Ok(found)
}

/// The directories of the copies of one kind, below the directory `above`.
fn of_kind(
    above: &str,
    tree: ObjectId,
    found: &mut BTreeMap<RepoPath, ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> Result<(), HydrateError> {
    for (namespace, inner) in directories(tree, buffer)? {
        for (name, copy) in directories(inner, buffer)? {
            let dir = RepoPath::new(&format!("{above}/{namespace}/{name}")).ok();
            found.extend(dir.map(|dir| (dir, copy)));
        }
    }
    Ok(())
}

fn directories(tree: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<Vec<(String, ObjectId)>, HydrateError> {
    let entries = buffer.tree(tree)?.into_iter().filter(|entry| entry.mode == Mode::Directory);
    Ok(entries.map(|entry| (String::from_utf8_lossy(&entry.name).into_owned(), entry.id)).collect())
}

/// A commit of copies.
#[derive(Debug)]
pub(super) struct CopiesCommit {
    pub commit: Commit,
    /// The directories of copies that changed, new ones included.
    pub changed: Vec<RepoPath>,
    /// How many copies there are.
    pub count: usize,
}

/// The copies that are there.
#[derive(Clone, Copy)]
pub(super) enum There<'t> {
    /// Each, and what it leads to.
    Listed(&'t BTreeMap<RepoPath, Vec<Hydrated>>),
    /// So many, of which none goes or leads elsewhere.
    Counted(usize),
}

impl There<'_> {
    /// How many they are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Listed(there) => there.len(),
            Self::Counted(count) => *count,
        }
    }
}

/// Makes the commit of what changes beside the copies that are `there`; none when nothing does. Within, why it cannot be made on
/// what is there.
pub(super) fn commit(
    found: &Snapshot<'_>,
    name: &BranchName,
    tip: Option<&Commit>,
    origin: &Origin<'_>,
    followed: &[Followed],
    changes: &Changes<'_>,
    there: There<'_>,
) -> Result<Result<Option<CopiesCommit>, Diagnostic>, HydrateError> {
    let (buffer, policy) = (&found.buffer, &found.policy);
    let base = tip.map_or(buffer.empty_tree_id(), |tip| tip.tree);
    let tree = found.tree_of(base);
    let (mut edits, mut changed, mut coming) = (Edits::default(), Vec::new(), BTreeMap::new());
    for (dir, copy) in &changes.written {
        let metadata = copy_metadata(&copy.leads_to);
        let files = [(MANIFEST, copy.manifest.clone()), (METADATA, metadata)];
        let mut is_there = true;
        for (file, content) in &files {
            let path = dir.child(file).map_err(|error| crate::repo::Error::message(error.to_string()))?;
            is_there &= tree.has(&path, Mode::File, content)?;
        }
        if !is_there {
            let files = files.into_iter().map(|(file, content)| (file.to_owned(), content)).collect();
            edits.write(buffer, dir, &files)?;
            changed.push((*dir).clone());
            if tree.entry(dir)?.is_none() {
                coming.insert((*dir).clone(), copy.leads_to.clone());
            }
        }
    }
    for dir in &changes.removed {
        edits.remove(dir, [MANIFEST, METADATA]);
    }
    if changed.is_empty() && changes.removed.is_empty() {
        return Ok(Ok(None));
    }
    let (count, readme) = match there {
        There::Listed(there) => {
            let stays = there.iter().filter(|(dir, _)| !changes.removed.contains(dir));
            let mut left: BTreeMap<RepoPath, Vec<Hydrated>> =
                stays.map(|(dir, leads_to)| (dir.clone(), leads_to.clone())).collect();
            left.extend(changes.written.iter().map(|(dir, copy)| ((*dir).clone(), copy.leads_to.clone())));
            (left.len(), Some(copies_readme(&left)))
        }
        There::Counted(count) if coming.is_empty() => (count, None),
        There::Counted(count) => (count + coming.len(), Some(readme_with(coming, &tree, base, buffer)?)),
    };
    edits.write(buffer, &RepoPath::root(), &policy.writer.files_for_copies(origin, followed, readme))?;
    if let Some(fault) = edits.fault(&tree)? {
        let hint = "`git fsck` names the tree: replace it with a commit on that branch, made on the server, or delete \
                    the branch there";
        return Ok(Err(Diagnostic::error(format!("`{name}` cannot be continued: {fault}")).hint(hint)));
    }
    let tree = edits.apply(buffer, base)?;
    let message = policy.writer.commit_message(origin, name, policy.id, Stated::default());
    let message = message.map_err(HydrateError::Template)?;
    let parent = match tip {
        Some(tip) => tip.clone(),
        None => initial(buffer, policy, name, origin)?,
    };
    let signature = policy.writer.signature(origin.commit.date, Some(&parent.committer));
    let (author, committer) = (signature.clone(), signature);
    let new = NewCommit { tree, parents: vec![parent.id], author, committer, message };
    let commit = buffer.commit(buffer.write_commit(&new)?)?;
    Ok(Ok(Some(CopiesCommit { commit, changed, count })))
}

/// The list of the copies of a tree and those that come: by the list that is there, where that is one.
fn readme_with(
    coming: BTreeMap<RepoPath, Vec<Hydrated>>,
    tree: &HydratedTree<'_>,
    root: ObjectId,
    buffer: &ObjectBuffer<'_>,
) -> Result<Vec<u8>, HydrateError> {
    let listed = tree.file(&RepoPath::new(README).unwrap_or_default())?;
    let there = copy_directories(root, buffer)?.into_keys().collect();
    if let Some(text) = listed.and_then(|listed| copies_readme_with(&listed, &there, &coming)) {
        return Ok(text);
    }
    let mut all = copies(root, buffer)?;
    all.extend(coming);
    Ok(copies_readme(&all))
}
