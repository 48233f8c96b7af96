//! Applications that stay as they are while the others of their branch go on: those that failed, where the setting
//! `onFailure` says so, and those that are paused.
//!
//! Such an Application keeps the files of the branch's own tip. What is kept, and of which dry commit it is, follows from
//! the commit that is built on and from the dry commit, so that whoever makes the hydrated commit again makes the same one.
//! Whatever would not follow from them holds the branch as a whole, and so does what would be lost by going on: the path of
//! an Application that stays is written by another one, or another one renders an object that it has.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::branch::Branch;
use super::failed_render::{FailedBranch, FailedRender};
use super::plan::{Done, Hydration};
use crate::application::{AppName, Application};
use crate::diag::Diagnostic;
use crate::git::{Error, ObjectId};
use crate::hydrate::files::MANIFEST;
use crate::hydrate::snapshot::Snapshot;
use crate::manifest::{self, Key, Source};
use crate::metadata::Behind;
use crate::path::RepoPath;
use crate::plan::Removal;
use crate::render;

/// What a dry commit leaves as it is on a branch, as far as that is known before anything is rendered.
#[derive(Debug, Clone, Default)]
pub struct Leaving {
    /// Whether an Application that does not render is left too, in place of the whole branch.
    pub leaves_failed: bool,
    /// The Applications that are not rendered.
    pub unrendered: Vec<Unrendered>,
    /// What is wrong with those that are not paused.
    pub mistakes: Vec<Diagnostic>,
    /// The Applications that wrote to the branch before.
    pub former: Vec<Arc<Application>>,
    /// Paths of them of which the commit that is built on does not tell who wrote them.
    pub untold: BTreeSet<RepoPath>,
}

/// An Application that is not rendered.
#[derive(Debug, Clone)]
pub struct Unrendered {
    /// The Application; as it was before, when the dry commit does not tell.
    pub application: Arc<Application>,
    /// Why.
    pub why: WhyUnrendered,
}

/// Why an Application is not rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyUnrendered {
    /// It has the annotation.
    Paused,
    /// It is in the way of others.
    Collides,
    /// The dry commit does not tell what it is now.
    Unread,
}

impl Leaving {
    /// Nothing at all.
    pub const NOTHING: Self = Self {
        leaves_failed: false,
        unrendered: Vec::new(),
        mistakes: Vec::new(),
        former: Vec::new(),
        untold: BTreeSet::new(),
    };

    /// Whether an Application of the dry commit is not rendered.
    pub fn has(&self, application: &Application) -> bool {
        let is_it = |unrendered: &Unrendered| {
            unrendered.why != WhyUnrendered::Unread
                && (&unrendered.application.file, unrendered.application.index)
                    == (&application.file, application.index)
        };
        self.unrendered.iter().any(is_it)
    }
}

/// What stayed as it was.
#[derive(Debug, Clone, Default)]
pub struct LeftBehind {
    /// Where, in the order of paths.
    pub paths: Vec<Left>,
    /// What was wrong before anything was rendered, or in an earlier run.
    pub mistakes: Vec<Diagnostic>,
    /// The Applications that did not render.
    pub renders: Vec<FailedRender>,
}

/// A path that stayed as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The path.
    pub path: RepoPath,
    /// The dry commit that it shows; none when nothing was hydrated into it yet.
    pub dry_commit: Option<ObjectId>,
    /// The Application.
    pub application: Option<AppName>,
    /// Whether somebody wants it so.
    pub is_paused: bool,
}

impl LeftBehind {
    /// Everything that is wrong.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let renders = self.renders.iter().flat_map(|render| &render.diagnostics);
        self.mistakes.iter().chain(renders).cloned().collect()
    }

    /// The same as the branch lists it: each path once.
    pub fn listed(&self) -> Vec<Behind> {
        let listed = |left: &Left| Behind { path: left.path.clone(), dry_commit: left.dry_commit };
        let mut behind: Vec<Behind> = self.paths.iter().map(listed).collect();
        behind.dedup();
        behind
    }

    /// The paths of Applications that failed.
    pub fn failed(&self) -> Vec<RepoPath> {
        let failed = self.paths.iter().filter(|left| !left.is_paused);
        failed.map(|left| left.path.clone()).collect()
    }

    fn holding(self, mistakes: Vec<Diagnostic>) -> FailedBranch {
        let mistakes = mistakes.into_iter().chain(self.diagnostics()).collect();
        FailedBranch { mistakes, renders: self.renders, ..FailedBranch::default() }
    }
}

/// What of a branch stays as it is, and what is removed all the same; or why the whole branch stays.
///
/// Errors: the repository.
pub fn left_behind(
    branch: &Branch,
    hydration: &Hydration<Done>,
    found: &Snapshot<'_>,
) -> Result<Result<(LeftBehind, Vec<Removal>), FailedBranch>, Error> {
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
    let mut kept: Vec<Kept<'_>> = Vec::new();
    for (application, why) in staying(hydration) {
        let is_paused = why == Some(WhyUnrendered::Paused);
        let paths = paths_of(application, why, hydration).into_iter();
        kept.extend(paths.map(|(path, is_its)| Kept { application, path, is_its, is_paused }));
    }
    kept.sort_by(|a, b| (&a.path, !a.is_its, a.is_paused).cmp(&(&b.path, !b.is_its, b.is_paused)));
    kept.dedup_by(|a, b| a.path == b.path);
    let written: Vec<&RepoPath> = hydration.outputs().map(|(application, _)| &application.sync_path).collect();
    let is_lost = |path: &RepoPath| {
        leaving.untold.contains(path) || written.iter().any(|other| path.starts_with(other) || other.starts_with(path))
    };
    if let Some(lost) = kept.iter().find(|kept| is_former(&kept.path, hydration) && is_lost(&kept.path)) {
        let mistake = in_the_way(lost.application, &lost.path);
        return Ok(Err(left.holding(vec![mistake])));
    }
    let mut objects: Vec<(&Application, Vec<Key>)> = Vec::new();
    let tree = branch.tip.as_ref().map(|tip| found.tree_of(tip.tree));
    for Kept { application, path, is_paused, .. } in kept {
        let told = branch.told(&found.buffer)?;
        let manifest = match &tree {
            Some(tree) if is_former(&path, hydration) => tree.file(&below(&path))?,
            Some(_) | None => None,
        };
        let dry_commit = manifest.as_ref().and_then(|_| told.shown_at(&path));
        if let Some(Ok(manifests)) = manifest.map(|text| manifest::read(&text, Source::File(&path))) {
            objects.push((application, render::objects(application, &manifests)));
        }
        left.paths.push(Left { path, dry_commit, application: Some(application.name.clone()), is_paused });
    }
    let rendered = hydration.outputs().map(|(application, output)| (application, &*output.objects));
    let all = rendered.chain(objects.iter().map(|(application, objects)| (*application, &objects[..])));
    let conflicts = render::conflicts(&all.collect::<Vec<_>>());
    if !conflicts.is_empty() {
        return Ok(Err(left.holding(conflicts)));
    }
    let stays = |removal: &&Removal| left.paths.iter().any(|left| left.path == removal.path);
    let removals = hydration.removals.iter().filter(|removal| !stays(removal)).cloned().collect();
    Ok(Ok((left, removals)))
}

/// A path that stays as it is.
struct Kept<'a> {
    application: &'a Application,
    path: RepoPath,
    /// Whether what is there is of this Application.
    is_its: bool,
    is_paused: bool,
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
    let identity = |application: &Application| (application.namespace.clone(), application.name.clone());
    let its = || hydration.leaving().former.iter().filter(|former| identity(former) == identity(application));
    let own = application.sync_path.clone();
    if why == Some(WhyUnrendered::Unread) || its().any(|former| former.sync_path == own) {
        return vec![(own, true)];
    }
    let namesakes = hydration.work.iter().map(|done| &done.application);
    let namesakes = namesakes.chain(hydration.leaving().unrendered.iter().map(|unrendered| &unrendered.application));
    let taken: BTreeSet<&RepoPath> =
        namesakes.filter(|other| identity(other) == identity(application)).map(|other| &other.sync_path).collect();
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
