//! Which branches are dry: a setting, found once where it is not set.
//!
//! What decides is what the repository had when it was hydrated first. So it is written down then: neither a new `HEAD`
//! nor a branch that somebody pushes later turns another branch into a dry one.

use std::collections::{BTreeMap, BTreeSet};

use super::branch_records::{BranchRecords, RECORDS_REF};
use super::error::HydrateError;
use super::place::Place;
use super::policy::{Policy, check_settings, settings_files};
use super::setup::Wake;
use crate::argo::BranchName;
use crate::metadata::Time;
use crate::repo::{Mode, NewCommit, ObjectBuffer, ObjectId, Refs, Repository, TreeEdit};
use crate::settings::{SETTINGS_FILE, SETTINGS_REF, Settings, SettingsFiles, edit};

/// The dry branches of a repository in which the setting names none.
#[derive(Debug)]
pub(crate) struct DryBranches;

impl DryBranches {
    /// The dry branches, the default one first, and whether the setting names them. None at all when nothing says which.
    ///
    /// Without the setting: those from which branches were hydrated, as far as they exist; else the one that `HEAD`
    /// names, if it exists; else the only branch that was pushed. Before there were records, the setting named branches
    /// besides these, so they are added to it then.
    pub(crate) fn find(
        wake: &Wake,
        place: &Place,
        refs: &Refs,
        settings: &Settings,
        records: &BranchRecords,
    ) -> (Vec<BranchName>, bool) {
        let set = &settings.dry_branches;
        let is_upgrade = refs.get(RECORDS_REF).is_none() && place.is_in_place() && !records.is_empty();
        if !set.is_empty() && !is_upgrade {
            return (set.clone(), true);
        }
        let exists = |branch: &&BranchName| place.tip(refs, branch).is_some();
        let head = place.head(refs).filter(|head| exists(&head));
        let hydrated = records.iter().flat_map(|(_, record)| record.others.keys().chain([&record.dry_branch]));
        let hydrated: BTreeSet<&BranchName> = hydrated.filter(exists).collect();
        if !hydrated.is_empty() {
            let besides = head.iter().filter(|_| !set.is_empty()).chain(set);
            let all: BTreeSet<&BranchName> = hydrated.into_iter().chain(besides).collect();
            let mut all: Vec<BranchName> = all.into_iter().cloned().collect();
            all.sort_by_key(|branch| head.as_ref() != Some(branch));
            let is_set = all.iter().all(|branch| set.contains(branch));
            return if is_set { (set.clone(), true) } else { (all, false) };
        }
        if !set.is_empty() {
            return (set.clone(), true);
        }
        (head.or_else(|| only_branch(wake)).into_iter().collect(), false)
    }
}

/// The one branch that a wake-up is about.
fn only_branch(wake: &Wake) -> Option<BranchName> {
    match wake {
        Wake::Commit { branch, .. } => Some(branch.clone()),
        Wake::Pushed(pushed) => match &pushed[..] {
            [only] => BranchName::new(only).ok(),
            _ => None,
        },
        Wake::Everything => None,
    }
}

/// The value of a setting that was found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Branches or URLs.
    Names(Vec<String>),
    /// `true`.
    Yes,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Found::Names(names) => f.write_str(&names.join(", ")),
            Found::Yes => f.write_str("true"),
        }
    }
}

/// The settings of a repository with keys that were found out written into them, as a commit in the buffer.
///
/// It is the same commit wherever the same settings get the same keys, so that a clone foresees its id.
/// Errors: the settings cannot be read.
pub(crate) fn settings_with(
    found: &[(&str, Found)],
    refs: &Refs,
    buffer: &ObjectBuffer<'_>,
) -> Result<ObjectId, HydrateError> {
    let (_, mut files) = settings_files(refs, buffer)?;
    let name = SETTINGS_FILE;
    let mut text = String::from_utf8_lossy(files.get(name).map(Vec::as_slice).unwrap_or_default()).into_owned();
    for (key, value) in found {
        let value = match value {
            Found::Names(names) => names.clone().into(),
            Found::Yes => true.into(),
        };
        text = edit::set(&text, key, Some(value))?;
    }
    let subject: Vec<String> = found.iter().map(|(key, value)| format!("{key} to {value}")).collect();
    let blob = buffer.write_blob(text.as_bytes())?;
    files.insert(name.to_owned(), text.into_bytes());
    let policy = Policy::of(&files)?;
    let old = refs.get(SETTINGS_REF);
    let parent = old.map(|old| buffer.commit(old)).transpose()?;
    let base = parent.as_ref().map_or(buffer.empty_tree_id(), |parent| parent.tree);
    let edits = BTreeMap::from([(name.to_owned(), TreeEdit::Put(Mode::File, blob))]);
    let signature = policy.writer.signature(Time::default(), parent.as_ref().map(|parent| &parent.committer));
    let commit = NewCommit {
        tree: buffer.edit_tree(base, &edits)?,
        parents: old.into_iter().collect(),
        author: signature.clone(),
        committer: signature,
        message: format!(
            "Set {}\n\nFound by the first hydration. This commit is the same in every repository where\n\
             hydration finds the same, so it has no date of its own.\n",
            subject.join(" and ")
        ),
    };
    Ok(buffer.write_commit(&commit)?)
}

/// A commit of settings, all of which `files` are, on top of `parent`. It is the same commit wherever the same is kept.
///
/// Errors: hydration cannot work with them, or the repository cannot be written.
pub(crate) fn keep_settings(
    repository: &Repository,
    files: &SettingsFiles,
    parent: Option<ObjectId>,
) -> Result<ObjectId, HydrateError> {
    check_settings(files)?;
    let buffer = ObjectBuffer::new(repository);
    let parent = parent.map(|parent| buffer.commit(parent)).transpose()?;
    let mut edits = BTreeMap::new();
    for (name, content) in files {
        edits.insert(name.clone(), TreeEdit::Put(Mode::File, buffer.write_blob(content)?));
    }
    let policy = Policy::of(files)?;
    let signature = policy.writer.signature(Time::default(), parent.as_ref().map(|parent| &parent.committer));
    let commit = NewCommit {
        tree: buffer.edit_tree(buffer.empty_tree_id(), &edits)?,
        parents: parent.iter().map(|parent| parent.id).collect(),
        author: signature.clone(),
        committer: signature,
        message: "Set all settings\n\nGiven to `git hydrate push`. This commit is the same wherever the same is given, so it \
                  has no\ndate of its own.\n"
            .to_owned(),
    };
    let id = buffer.write_commit(&commit)?;
    drop(buffer.flush()?);
    Ok(id)
}
