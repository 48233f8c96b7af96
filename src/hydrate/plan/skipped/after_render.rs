//! What of a branch stays as it is, and what holds back the whole branch.

use std::borrow::Cow;
use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

use crate::argo::Application;
use crate::discover::Removal;
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::plan::moved_applications::name_of;
use crate::hydrate::plan::skipped::{Children, Left, LeftBehind, LeftObjects, WhyUnrendered, going, kept_with};
use crate::hydrate::plan::{Done, Hydration};
use crate::manifest::{self, Key, Source};
use crate::owners::files::MANIFEST;
use crate::owners::snapshot::Snapshot;
use crate::render;
use crate::repo::Error;

/// What of a branch stays as it is, and what is removed all the same; or why the whole branch stays.
///
/// Errors: the repository.
pub(crate) fn left_behind(
    branch: &Branch,
    hydration: &Hydration<Done>,
    found: &Snapshot<'_>,
) -> Result<Result<(LeftBehind, Vec<Removal>), FailedBranch>, Error> {
    if let Some(stays) = &hydration.stays {
        // What fails now is none of those that stay: where it might be, a look at everything decides.
        let failed = FailedBranch::of(hydration.failed().cloned().collect());
        return Ok(failed.map_or_else(|| Ok(((**stays).clone(), hydration.removals.clone())), Err));
    }
    let leaving = hydration.leaving();
    let held = hydration.failed().filter(|failed| !leaving.leaves_failed || !failed.is_of_dry_commit());
    if let Some(failed) = FailedBranch::of(held.cloned().collect()) {
        return Ok(Err(failed));
    }
    let mut left = LeftBehind {
        paths: Vec::new(),
        mistakes: leaving.mistakes.clone(),
        renders: hydration.failed().cloned().collect(),
    };
    let is_new = branch.tip.is_none() && hydration.outputs().next().is_none();
    if is_new && !left.diagnostics().is_empty() {
        return Ok(Err(left.holding(Vec::new())));
    }
    let mut kept: Vec<SkippedPath<'_>> = Vec::new();
    for (application, why) in staying(hydration) {
        let is_paused = matches!(why, Some(WhyUnrendered::Paused | WhyUnrendered::Gone));
        let paths = paths_of(application, why, hydration).into_iter();
        let is_read = !matches!(why, Some(WhyUnrendered::Unread | WhyUnrendered::Gone));
        kept.extend(paths.map(|(path, is_its)| SkippedPath { application, path, is_its, is_paused, is_read }));
    }
    kept.sort_by(|a, b| (&a.path, !a.is_its, a.is_paused).cmp(&(&b.path, !b.is_its, b.is_paused)));
    kept.dedup_by(|a, b| a.path == b.path);
    let written: Vec<&RepoPath> = hydration.outputs().map(|(application, _)| &application.sync_path).collect();
    let is_lost = |path: &RepoPath| {
        leaving.uncertain.contains(path)
            || written.iter().any(|other| path.starts_with(other) || other.starts_with(path))
    };
    if let Some(lost) = kept.iter().find(|kept| is_former(&kept.path, hydration) && is_lost(&kept.path)) {
        let mistake = in_the_way(lost.application, &lost.path);
        return Ok(Err(left.holding(vec![mistake])));
    }
    let mut objects: Vec<(&Application, Vec<Key>)> = Vec::new();
    let mut parents: Vec<Children> = Vec::new();
    let tree = branch.tip.as_ref().map(|tip| found.tree_of(tip.tree));
    for SkippedPath { application, path, is_paused, is_read, .. } in kept {
        let metadata = branch.tip_metadata(&found.buffer)?;
        let manifest = match &tree {
            Some(tree) if is_former(&path, hydration) => tree.file(&below(&path))?,
            Some(_) | None => None,
        };
        let dry_commit = manifest.as_ref().and_then(|_| metadata.shown_at(&path));
        let mut keys = Vec::new();
        if let Some(Ok(manifests)) = manifest.map(|text| manifest::read(&text, Source::File(&path))) {
            keys = render::objects(application, &manifests);
            parents.push(Children::of(&application.name, is_paused, &manifests));
            objects.push((application, keys.clone()));
        }
        let name = application.name.clone();
        let cluster = application.object_cluster().map(Cow::into_owned);
        let objects = Some(LeftObjects { cluster, keys, is_read });
        let paused_at = application.places.paused.clone();
        let application = Some(name);
        left.paths.push(Left { path, dry_commit, application, is_paused, paused_at, parent: None, objects });
    }
    let rendered = hydration.outputs().map(|(application, output)| (application, &*output.objects));
    let all = rendered.chain(objects.iter().map(|(application, objects)| (*application, &objects[..])));
    let conflicts = render::conflicts(&all.collect::<Vec<_>>());
    if !conflicts.is_empty() {
        return Ok(Err(left.holding(conflicts)));
    }
    if let Some(tree) = &tree {
        let may_stay = |one: &&Application| !left.has(&one.sync_path) && !is_lost(&one.sync_path);
        let going: Vec<&Application> = going(hydration).filter(may_stay).collect();
        let shown = branch.tip_metadata(&found.buffer)?;
        left.paths.extend(kept_with(parents, going, tree, |path| shown.shown_at(path))?);
        left.paths.sort_by(|one, other| one.path.cmp(&other.path));
    }
    let stays = |removal: &&Removal| left.paths.iter().any(|left| left.path == removal.path);
    let removals = hydration.removals.iter().filter(|removal| !stays(removal)).cloned().collect();
    Ok(Ok((left, removals)))
}

/// A path that stays as it is.
struct SkippedPath<'a> {
    application: &'a Application,
    path: RepoPath,
    /// Whether what is there is of this Application.
    is_its: bool,
    is_paused: bool,
    /// Whether the dry commit has the Application.
    is_read: bool,
}

/// The Applications that stay as they are; with why those are not rendered that are not.
fn staying(hydration: &Hydration<Done>) -> impl Iterator<Item = (&Application, Option<WhyUnrendered>)> {
    let unrendered = hydration.leaving().unrendered.iter();
    let unrendered = unrendered.map(|unrendered| (&*unrendered.application, Some(unrendered.why)));
    let failed = hydration.work.iter().filter(|done| done.result.is_err());
    unrendered.chain(failed.map(|done| (&*done.application, None)))
}

/// The paths that stay with an Application: its own, and where it was before when it moves; and whether what is there is
/// of it.
fn paths_of(
    application: &Application,
    why: Option<WhyUnrendered>,
    hydration: &Hydration<Done>,
) -> Vec<(RepoPath, bool)> {
    let its = || hydration.leaving().former.iter().filter(|former| name_of(former) == name_of(application));
    let own = application.sync_path.clone();
    let is_former = matches!(why, Some(WhyUnrendered::Unread | WhyUnrendered::Gone));
    if is_former || its().any(|former| former.sync_path == own) {
        return vec![(own, true)];
    }
    let namesakes = hydration.work.iter().map(|done| &done.application);
    let namesakes = namesakes.chain(hydration.leaving().unrendered.iter().map(|unrendered| &unrendered.application));
    let taken: BTreeSet<&RepoPath> =
        namesakes.filter(|other| name_of(other) == name_of(application)).map(|other| &other.sync_path).collect();
    let before = its().map(|former| &former.sync_path).filter(|path| !taken.contains(path));
    before.map(|path| (path.clone(), true)).chain([(own, false)]).collect()
}

fn is_former(path: &RepoPath, hydration: &Hydration<Done>) -> bool {
    hydration.leaving().former.iter().any(|former| former.sync_path == *path)
}

fn in_the_way(application: &Application, path: &RepoPath) -> Diagnostic {
    let text = format!("`{}` cannot stay as it is at `{path}` while the others of its branch go on", application.name);
    let hint = "another Application takes its place: correct this one first, or both in one push";
    application.tells(Diagnostic::error(text).at(application.places.name.clone()).hint(hint))
}

fn below(path: &RepoPath) -> RepoPath {
    path.child(MANIFEST).expect("the names of our files are single components")
}
