//! What the commits of a change do on the way.
//!
//! A preview shows what the last commit gives. Where `history` is `every`, each is hydrated by itself: what an earlier one brings
//! stays where a later one pauses its Application, fails, or may not take so much away. So all of them are tried, and a branch that
//! ends otherwise is a problem of the change.

use std::collections::{BTreeMap, BTreeSet};

use super::{Against, MergeBase, Preview, PreviewedBranch, previewed_each, thawed};
use crate::application::BranchName;
use crate::git::{ObjectBuffer, ObjectId, object_id};
use crate::hydrate::changed_objects::{directory_of, text_of};
use crate::hydrate::error::HydrateError;
use crate::hydrate::files::MANIFEST;
use crate::hydrate::setup::{Setup, Wake};
use crate::manifest::{self, Key, Manifest, Source};
use crate::settings::History;
use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, clipped};
use dry_files::path::RepoPath;

/// How many commits are tried; more are not looked at one by one.
const COMMITS_MAX: usize = 200;

/// How many objects a problem names.
const NAMES_MAX: usize = 5;

/// The objects of a branch at two ends, by path.
type Manifests = BTreeMap<RepoPath, Vec<u8>>;

/// Adds to a preview where a branch ends otherwise when each commit is hydrated.
pub(super) fn complete(preview: &mut Preview, setup: &Setup<'_>, against: &Against) -> Result<(), HydrateError> {
    let Wake::Commit { tip, .. } = &setup.wake else { return Ok(()) };
    match against {
        Against::Branches => {}
        Against::MergeBase(base) => return note_range(preview, setup, base, *tip),
        Against::Commit(_) | Against::Nothing => return Ok(()),
    }
    let mut is_long = false;
    let mut count = 0;
    for environment in &preview.environments {
        let Some(before) = environment.dry_sha_before.as_deref().and_then(object_id) else { continue };
        match setup.repository.first_parents(before, *tip, COMMITS_MAX)? {
            Some(line) => count = count.max(line.len()),
            // After a rewind the tip alone is hydrated.
            None => is_long |= setup.repository.is_ancestor(before, *tip),
        }
    }
    if is_long {
        preview.warnings.push(Diagnostic::warning(format!(
            "these are more than {COMMITS_MAX} commits, and only what the last one gives is shown"
        )));
    }
    if count < 2 {
        return Ok(());
    }
    let setup = thawed(setup);
    let run = previewed_each(&setup)?;
    if run.found.policy.settings.history != History::Every {
        return Ok(());
    }
    let buffer = &run.found.buffer;
    for (name, branch) in &run.branches {
        let Some(tip) = &branch.tip else { continue };
        let known = preview.environments.iter().find(|environment| environment.branch == *name);
        // What a freeze held back is hydrated as one commit.
        if known.is_some_and(|environment| environment.frozen.is_some()) {
            continue;
        }
        let base = match known.map_or(branch.base(), |environment| environment.against) {
            Some(commit) => buffer.commit(commit)?.tree,
            None => buffer.empty_tree_id(),
        };
        let (last, each) = ends(known, base, tip.tree, buffer)?;
        if let Some(problem) = otherwise(name, count, &last, &each) {
            preview.problems.push(problem);
        }
    }
    Ok(())
}

/// Says of commits that their dry branch has left behind that they are compared as one, where a later one may hide what another
/// one does.
fn note_range(preview: &mut Preview, setup: &Setup<'_>, base: &MergeBase, tip: ObjectId) -> Result<(), HydrateError> {
    let line = setup.repository.first_parents(base.commit, tip, COMMITS_MAX)?;
    let stays = |environment: &PreviewedBranch| !environment.mistakes.is_empty() || !environment.behind.is_empty();
    let hides = match &line {
        Some(line) if line.len() < 2 => false,
        Some(line) => preview.environments.iter().any(stays) || touch_again(base.commit, line, setup)?,
        None => true,
    };
    if hides {
        let text = "these commits are compared as one; pushed one by one, each is hydrated".to_owned();
        let hint = format!("to see what becomes of them one by one: git rebase {}", base.branch);
        preview.warnings.push(Diagnostic::warning(text).hint(hint));
    }
    Ok(())
}

/// Whether two of the commits after `base` touch one file.
fn touch_again(base: ObjectId, line: &[ObjectId], setup: &Setup<'_>) -> Result<bool, HydrateError> {
    let buffer = ObjectBuffer::new(setup.repository);
    let mut touched = BTreeSet::new();
    let mut before = buffer.commit(base)?.tree;
    for commit in line {
        let tree = buffer.commit(*commit)?.tree;
        for change in buffer.diff_trees(before, tree)? {
            if !touched.insert(change.path) {
                return Ok(true);
            }
        }
        before = tree;
    }
    Ok(false)
}

/// The manifests of a branch that differ from `base`, as the last commit alone gives them, and as all do.
fn ends(
    known: Option<&PreviewedBranch>,
    base: ObjectId,
    end: ObjectId,
    buffer: &ObjectBuffer<'_>,
) -> Result<(Manifests, Manifests), HydrateError> {
    let (mut last, mut each) = (Manifests::new(), Manifests::new());
    for change in buffer.diff_trees(base, end)? {
        let Some(path) = directory_of(&change.path) else { continue };
        last.insert(path.clone(), text_of(change.old, buffer)?.unwrap_or_default());
        each.insert(path, text_of(change.new, buffer)?.unwrap_or_default());
    }
    for path in known.into_iter().flat_map(|environment| &environment.paths) {
        each.entry(path.path.clone()).or_insert_with(|| path.old.clone().unwrap_or_default());
        last.insert(path.path.clone(), path.new.clone().unwrap_or_default());
    }
    Ok((last, each))
}

/// That a branch ends otherwise; none where both ends have the same objects.
fn otherwise(branch: &BranchName, count: usize, last: &Manifests, each: &Manifests) -> Option<Diagnostic> {
    let (last, each) = (objects(last), objects(each));
    let names = |keys: Vec<&Key>| -> Vec<String> { keys.into_iter().map(ToString::to_string).collect() };
    let has = names(each.keys().filter(|key| !last.contains_key(key)).collect());
    let lacks = names(last.keys().filter(|key| !each.contains_key(key)).collect());
    let differ = names(
        each.iter()
            .filter(|(key, text)| last.get(key).is_some_and(|other| other != *text))
            .map(|(key, _)| key)
            .collect(),
    );
    let mut said = Vec::new();
    for (what, names) in [("has", has), ("lacks", lacks), ("has another", differ)] {
        if !names.is_empty() {
            said.push(format!("{what} {}", listed(&names, NAMES_MAX)));
        }
    }
    if said.is_empty() {
        return None;
    }
    let text = format!(
        "hydrated one by one, these {count} commits leave `{branch}` otherwise than the last one alone: it {}",
        said.join("; it ")
    );
    let hint = "push them as one commit, or as a merge commit; to see what one of them does: git hydrate diff COMMIT";
    Some(Diagnostic::error(clipped(text)).hint(hint))
}

/// The objects of all paths, each as it is written.
fn objects(manifests: &Manifests) -> BTreeMap<Key, BTreeSet<Vec<u8>>> {
    let mut found: BTreeMap<Key, BTreeSet<Vec<u8>>> = BTreeMap::new();
    for text in manifests.values() {
        let all = manifest::read(text, Source::Output(MANIFEST)).unwrap_or_default();
        for manifest in all {
            if let Some(key) = manifest.identity() {
                found.entry(key).or_default().insert(manifest::encode(std::slice::from_ref::<Manifest>(&manifest)));
            }
        }
    }
    found
}
