//! What the commits of a change do on the way.
//!
//! A preview shows what the last commit gives. Where `history` is `every`, each is hydrated by itself: what an earlier one brings
//! stays where a later one pauses its Application, fails, or may not take so much away. So all of them are tried, and a branch that
//! ends otherwise is a problem of the change. So are commits that cannot be tried: that nothing changes is not said of what was
//! not looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::rehearsal::{each_on, each_on_branches, on_base, rehearse, thawed};
use super::{Against, BehindPath, Preview, PreviewedBranch};
use crate::argo::BranchName;
use crate::hydrate::state::Run;
use crate::manifest::{self, Key, Manifest, Source};
use crate::owners::changed_objects::{directory_of, text_of};
use crate::owners::error::HydrateError;
use crate::owners::files::MANIFEST;
use crate::owners::heads::BACKLOG_MAX;
use crate::owners::policy::Policy;
use crate::owners::settings_named::{by_settings, named_by_branches};
use crate::owners::setup::{Setup, Wake};
use crate::repo::{ObjectBuffer, ObjectId, Repository, object_id};
use crate::settings::History;
use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, clipped};
use dry_files::path::RepoPath;

/// How many commits are tried.
const COMMITS_MAX: usize = 1000;

/// How many objects a problem names.
const NAMES_MAX: usize = 5;

/// The objects of a branch at two ends, by path.
type Manifests = BTreeMap<RepoPath, Vec<u8>>;

/// Adds to a preview where a branch ends otherwise when each commit is hydrated, or that this cannot be told.
pub(super) fn complete(preview: &mut Preview, setup: &Setup<'_>, against: &Against) -> Result<(), HydrateError> {
    let (Wake::Commit { tip, .. }, Against::Branches | Against::MergeBase(_)) = (&setup.wake, against) else {
        return Ok(());
    };
    let of_branches;
    let setup = match settings_of_each(setup)? {
        Some(OfEach::Now) => setup,
        Some(OfEach::Branches(repository)) => {
            of_branches = repository;
            let place = setup.place.clone().writing_nowhere();
            &Setup { repository: &of_branches, place, wake: setup.wake.clone(), ..*setup }
        }
        None => return Ok(()),
    };
    let counts = match counts(preview, *tip, setup)? {
        Ok(counts) => counts,
        Err(problem) => {
            preview.problems.push(problem);
            return Ok(());
        }
    };
    match (against, counts.pushed) {
        _ if counts.most < 2 => Ok(()),
        (Against::MergeBase(base), _) => on_base(setup, base.commit, |after, buffer, _| {
            compare(preview, &counts, &each_on(after, buffer)?, &BTreeMap::new())
        }),
        // As if the server had hydrated what the remote has: that is not what these commits do.
        (_, Some(pushed)) => on_base(setup, pushed, |after, buffer, _| {
            let last = rehearse(after, buffer)?;
            let tips =
                last.branches.iter().filter_map(|(name, branch)| Some((name.clone(), branch.tip.as_ref()?.tree)));
            let tips = tips.collect();
            compare(preview, &counts, &each_on(after, last.found.buffer)?, &tips)
        }),
        (_, None) => {
            let setup = thawed(setup);
            compare(preview, &counts, &each_on_branches(&setup)?, &BTreeMap::new())
        }
    }
}

/// By which settings each commit is hydrated.
enum OfEach {
    /// By those of now.
    Now,
    /// By those that branches were hydrated with: the repository with these.
    Branches(Box<Repository>),
}

/// The settings by which each commit is hydrated; none where the last alone is. A clone may have the settings of anyone: that the
/// last alone is hydrated is true there if those say so that branches were hydrated with.
fn settings_of_each(setup: &Setup<'_>) -> Result<Option<OfEach>, HydrateError> {
    let (refs, buffer) = (setup.repository.refs()?, ObjectBuffer::new(setup.repository));
    let is_each = |policy: Policy| policy.settings.history == History::Every;
    if is_each(Policy::read(&refs, &buffer)?) {
        return Ok(Some(OfEach::Now));
    }
    if !setup.place.is_of_clone() || !setup.place.believes_records() {
        return Ok(None);
    }
    for (settings, _) in named_by_branches(&setup.place, &refs, &buffer) {
        if Policy::at(settings, &buffer).map_or(true, is_each) {
            let repository = by_settings(settings, setup.repository)?;
            return Ok(Some(OfEach::Branches(Box::new(repository))));
        }
    }
    Ok(None)
}

/// How many commits are hydrated one after the other.
struct Counts {
    by_branch: BTreeMap<BranchName, usize>,
    /// On the branch where these are most.
    most: usize,
    /// The commit that the remote has already, where a branch as it was fetched does not show it: they are counted from there.
    pushed: Option<ObjectId>,
}

/// Within: why each cannot be hydrated here.
fn counts(preview: &Preview, tip: ObjectId, setup: &Setup<'_>) -> Result<Result<Counts, Diagnostic>, HydrateError> {
    let mut counts = Counts { by_branch: BTreeMap::new(), most: 0, pushed: None };
    let pushed = if preview.merge_base.is_none() { pushed(tip, setup)? } else { None };
    // Most branches show the same dry commit.
    let mut known: BTreeMap<ObjectId, Option<usize>> = BTreeMap::new();
    for environment in preview.environments.iter().filter(|environment| environment.frozen.is_none()) {
        let Some(before) = environment.dry_sha_before.as_deref().and_then(object_id) else { continue };
        let before = match pushed {
            Some((_, count)) if count < 2 => continue,
            Some((pushed, _)) if pushed != before => {
                counts.pushed = Some(pushed);
                pushed
            }
            _ => before,
        };
        let commits = match known.get(&before) {
            Some(commits) => *commits,
            None => *known.entry(before).or_insert(commits_between(before, tip, setup)?),
        };
        let Some(commits) = commits else { return Ok(Err(cut_off(before))) };
        counts.by_branch.insert(environment.branch.clone(), commits);
        counts.most = counts.most.max(commits);
    }
    Ok(if counts.most > COMMITS_MAX { Err(too_many(counts.most)) } else { Ok(counts) })
}

/// How many commits a branch that shows `from` is hydrated from one after the other; none where history is cut off before that is
/// known.
fn commits_between(from: ObjectId, tip: ObjectId, setup: &Setup<'_>) -> Result<Option<usize>, HydrateError> {
    let repository = setup.repository;
    let count = |from| Ok::<_, HydrateError>(repository.first_parents(from, tip, BACKLOG_MAX)?.map(|line| line.len()));
    match count(from)? {
        Some(count) => Ok(Some(count)),
        // After a rewind, the tip alone is hydrated.
        None if !repository.is_shallow() => Ok(Some(1)),
        // What the remote has already is not new.
        None => match &setup.wake {
            Wake::Commit { branch, .. } => {
                let there = setup.place.tip(&repository.refs()?, branch);
                Ok(there.map(count).transpose()?.flatten().filter(|count| *count < 2))
            }
            Wake::Pushed(_) | Wake::Everything => Ok(None),
        },
    }
}

/// The commit of the dry branch that the remote has, and how many commits come after it; none where it is not one of those before `tip`.
fn pushed(tip: ObjectId, setup: &Setup<'_>) -> Result<Option<(ObjectId, usize)>, HydrateError> {
    let Wake::Commit { branch, .. } = &setup.wake else { return Ok(None) };
    let Some(there) = setup.place.tip(&setup.repository.refs()?, branch) else { return Ok(None) };
    Ok(setup.repository.first_parents(there, tip, BACKLOG_MAX)?.map(|line| (there, line.len())))
}

fn cut_off(before: ObjectId) -> Diagnostic {
    let text = format!(
        "the history of this clone is cut off after {}, so what each of these commits does by itself is not known",
        before.to_hex_with_len(7)
    );
    Diagnostic::error(text).hint("git fetch --unshallow")
}

fn too_many(count: usize) -> Diagnostic {
    let text = format!(
        "these are {count} commits, of which only what the last one gives is shown: at most {COMMITS_MAX} are tried one by one"
    );
    let hint = format!("push them as one merge commit, or at most {COMMITS_MAX} at a time");
    Diagnostic::error(text).hint(hint)
}

/// Compares what the last commit alone gives with what all of them do; `lasts` has the trees that it gives where these are not those of
/// the preview.
fn compare(
    preview: &mut Preview,
    counts: &Counts,
    run: &Run<'_>,
    lasts: &BTreeMap<BranchName, ObjectId>,
) -> Result<(), HydrateError> {
    let buffer = &run.found.buffer;
    for (name, branch) in &run.branches {
        let Some(tip) = &branch.tip else { continue };
        let known = preview.environments.iter().find(|environment| environment.branch == *name);
        // What a freeze held back is hydrated as one commit.
        let count = counts.by_branch.get(name).copied().unwrap_or(counts.most);
        if count < 2 || known.is_some_and(|environment| environment.frozen.is_some()) {
            continue;
        }
        let base = match branch.base() {
            Some(commit) => buffer.commit(commit)?.tree,
            None => buffer.empty_tree_id(),
        };
        let (last, each) = match (lasts.get(name), counts.pushed) {
            (Some(last), _) => ends(None, *last, tip.tree, buffer)?,
            (None, Some(_)) => ends(None, base, tip.tree, buffer)?,
            (None, None) => ends(known, base, tip.tree, buffer)?,
        };
        let Some(said) = otherwise(&last, &each) else { continue };
        // The error of the last commit is reported already: a push as one commit would not help.
        if known.is_some_and(fails) {
            preview.warnings.push(before_the_last(name, count, &said));
        } else {
            preview.problems.push(left_otherwise(name, count, &said));
        }
    }
    Ok(())
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

/// Whether the last commit fails for a branch, or for an Application of it.
fn fails(environment: &PreviewedBranch) -> bool {
    let is_kept = |path: &BehindPath| !path.paused;
    !environment.mistakes.is_empty() || !environment.failures.is_empty() || environment.behind.iter().any(is_kept)
}

/// In what a branch ends otherwise; none where both ends have the same objects.
fn otherwise(last: &Manifests, each: &Manifests) -> Option<String> {
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
    (!said.is_empty()).then(|| said.join("; it "))
}

fn left_otherwise(branch: &BranchName, count: usize, said: &str) -> Diagnostic {
    let text = format!(
        "hydrated one by one, these {count} commits leave `{branch}` otherwise than the last one alone: it {said}"
    );
    let hint = "push them as one commit, or as a merge commit; to see what one of them does: git hydrate diff COMMIT";
    Diagnostic::error(clipped(text)).hint(hint)
}

fn before_the_last(branch: &BranchName, count: usize, said: &str) -> Diagnostic {
    let text = format!(
        "the last of these {count} commits fails on `{branch}`, but those before it are hydrated there: it {said}"
    );
    Diagnostic::warning(clipped(text)).hint("to see what one of them does: git hydrate diff COMMIT")
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
