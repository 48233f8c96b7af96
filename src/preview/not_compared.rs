//! What two dry commits cannot be compared by: what one of them does not hydrate is neither new nor gone.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::Serialize;

use super::{Owners, PreviewedPath};
use crate::argo::{AppName, BranchName};
use crate::hydrate::dry_tree::DryTree;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::report::{BehindPath, Outcome};
use crate::hydrate::state::Run;
use crate::metadata::Trailers;
use crate::owners::files::{MANIFEST, METADATA};
use crate::owners::setup::Setup;
use crate::owners::standing::{line, provenance};
use crate::repo::{Error, ObjectBuffer, ObjectId};
use dry_files::diag::{Diagnostic, one_line};
use dry_files::path::RepoPath;

/// What of an environment branch is not compared, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotCompared {
    /// The Application, or its path; none for all of the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The destination path; none for all of the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// The dry commit that does not hydrate it.
    pub dry_sha: String,
    /// Whether that is the one that was compared with.
    pub before: bool,
    /// What is wrong with it there.
    pub cause: String,
    /// The last dry commit before the one that was compared with that hydrated it, by what its branch says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_dry_sha: Option<String>,
    /// Whether what is wrong is that an input is not at hand, which `git hydrate vendor` brings.
    #[serde(skip)]
    pub lacks_input: bool,
}

/// `web cannot be compared: it does not render here: …`, `cannot be compared: 1a2b3c4 does not hydrate it: …; name one that …`
impl std::fmt::Display for NotCompared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(application) = &self.application {
            write!(f, "{application} ")?;
        }
        let id = self.dry_sha.get(..7).unwrap_or(&self.dry_sha);
        let cause = &self.cause;
        match (self.before, &self.application) {
            (true, None) => write!(f, "cannot be compared: {id} does not hydrate it: {cause}")?,
            (true, Some(_)) => write!(f, "cannot be compared: {id} does not render it: {cause}")?,
            (false, _) => return write!(f, "cannot be compared: it does not render here: {cause}"),
        }
        match &self.earlier_dry_sha {
            Some(earlier) => {
                write!(f, "; name the last one that did: `--against {}`", earlier.get(..7).unwrap_or(earlier))
            }
            None if self.lacks_input => f.write_str(
                "; it can be compared with a commit of what `git hydrate vendor` brings, and with those after it",
            ),
            None => Ok(()),
        }
    }
}

/// What a dry commit that is compared with does not hydrate, by branch.
#[derive(Debug, Default)]
pub(super) struct Before {
    dry_sha: String,
    /// Its Applications.
    tree: Option<Rc<DryTree>>,
    branches: BTreeMap<BranchName, OfBranch>,
}

#[derive(Debug, Default)]
struct OfBranch {
    /// Why it does not hydrate at all.
    mistakes: Vec<Diagnostic>,
    behind: Vec<BehindPath>,
    failures: Vec<Diagnostic>,
    /// The last dry commit before that hydrated the branch.
    earlier: Option<ObjectId>,
    /// The last one before that rendered a path, of those that are behind.
    earlier_of: BTreeMap<RepoPath, ObjectId>,
}

impl Before {
    /// Of a run that began without branches. `setup` has them as they are.
    pub(super) fn of(run: &Run<'_>, dry: ObjectId, setup: &Setup<'_>) -> Result<Self, Error> {
        let refs = setup.repository.refs()?;
        let mut branches = BTreeMap::new();
        for (name, branch) in run.branches.iter().filter(|(_, branch)| branch.failure().is_some() || has_left(branch)) {
            let report = branch.clone().into_report();
            let mistakes = match report.outcome {
                Outcome::Failed { diagnostics, .. } => diagnostics,
                Outcome::Moved | Outcome::Unchanged | Outcome::Frozen(_) => Vec::new(),
            };
            let (behind, failures) = (report.behind, report.mistakes);
            let mut of_branch = OfBranch { mistakes, behind, failures, ..OfBranch::default() };
            if let Some(tip) = setup.place.tip(&refs, name) {
                let last = |path| last_hydrated((name, path), tip, dry, &run.found.buffer);
                of_branch.earlier = if of_branch.mistakes.is_empty() { None } else { last(None)? };
                for path in of_branch.behind.iter().map(|behind| &behind.path).take(EARLIER_MAX) {
                    of_branch.earlier_of.extend(last(Some(path))?.map(|earlier| (path.clone(), earlier)));
                }
            }
            branches.insert(name.clone(), of_branch);
        }
        Ok(Self { dry_sha: dry.to_string(), tree: run.trees.known(dry).cloned(), branches })
    }

    /// Without the mistakes of branches of which something is known all the same.
    pub(super) fn without(mut self, is_known: impl Fn(&BranchName) -> bool) -> Self {
        for (name, of_branch) in &mut self.branches {
            if is_known(name) {
                of_branch.mistakes.clear();
            }
        }
        self
    }

    /// The branches of which nothing is known there.
    pub(super) fn unknown(&self) -> BTreeSet<BranchName> {
        let unknown = self.branches.iter().filter(|(_, of_branch)| !of_branch.mistakes.is_empty());
        unknown.map(|(name, _)| name.clone()).collect()
    }

    /// What of a branch cannot be compared, `behind` being what is not hydrated after for what `failures` say. A path that is known
    /// there shows that dry commit.
    pub(super) fn not_compared(
        &self,
        (branch, dry, now): (&BranchName, ObjectId, Option<&DryTree>),
        (behind, failures): (&mut [BehindPath], &[Diagnostic]),
        paths: &[PreviewedPath],
        owners: &Owners<'_>,
    ) -> Vec<NotCompared> {
        let known = OfBranch::default();
        let before = self.branches.get(branch).unwrap_or(&known);
        if let Some(first) = before.mistakes.first() {
            return self.of_whole((branch, before, first), now, behind, paths, owners);
        }
        let was_there = |path: &RepoPath| paths.iter().any(|one| one.path == *path && one.old.is_some());
        let mut all = Vec::new();
        for path in behind.iter_mut().filter(|path| path.dry_sha.is_none() && was_there(&path.path)) {
            path.dry_sha = Some(self.dry_sha.clone());
            if !path.paused && path.held.is_none() {
                let what = (name_of(path), &path.path);
                let cause = cause(what, failures, now, (path.held.is_some(), path.paused));
                all.push(NotCompared::new(Some(what), (dry.to_string(), false), cause));
            }
        }
        let is_behind_too = |path: &BehindPath| behind.iter().any(|one| one.path == path.path);
        let lacking = before.behind.iter().filter(|path| path.dry_sha.is_none() && !is_behind_too(path));
        all.extend(lacking.map(|path| {
            let what = (name_of(path), &path.path);
            let cause = cause(what, &before.failures, self.tree.as_deref(), (path.held.is_some(), path.paused));
            let earlier = before.earlier_of.get(&path.path);
            NotCompared::new(Some(what), (self.dry_sha.clone(), true), cause).after(earlier)
        }));
        all
    }

    /// Of a branch that does not hydrate: all of it, or where that has Applications that are new for certain, the others.
    fn of_whole(
        &self,
        (branch, before, first): (&BranchName, &OfBranch, &Diagnostic),
        now: Option<&DryTree>,
        behind: &[BehindPath],
        paths: &[PreviewedPath],
        owners: &Owners<'_>,
    ) -> Vec<NotCompared> {
        let place = || (self.dry_sha.clone(), true);
        let trees = self.tree.as_deref().zip(now);
        let is_new = |path: &PreviewedPath| {
            let application = owners.of(&path.path).filter(|_| path.old.is_none());
            trees.zip(application).is_some_and(|((tree, now), application)| tree.lacks(application, now))
        };
        if !paths.iter().any(is_new) {
            return vec![NotCompared::new(None, place(), Cause::of(first)).after(before.earlier.as_ref())];
        }
        let had = |path: &RepoPath| {
            let tree = self.tree.as_deref()?;
            tree.applications(branch).find(|one| one.sync_path == *path).map(|one| one.name.to_string())
        };
        let rendered = paths.iter().filter(|path| !is_new(path)).map(|path| {
            let name = path.application.as_ref().map_or(path.path.as_str(), AppName::as_str);
            (name.to_owned(), &path.path)
        });
        let lacking = behind.iter().filter_map(|one| Some((had(&one.path)?, &one.path)));
        let all: BTreeMap<&RepoPath, String> = rendered.chain(lacking).map(|(name, path)| (path, name)).collect();
        let of_one = |(path, name): (&RepoPath, String)| {
            let of_it = before.mistakes.iter().find(|mistake| mistake.applications().any(|of| *of == name));
            let cause = Cause::of(of_it.unwrap_or(first));
            NotCompared::new(Some((&name, path)), place(), cause).after(before.earlier.as_ref())
        };
        all.into_iter().map(of_one).collect()
    }
}

/// What is wrong with an Application, or a branch.
struct Cause {
    text: String,
    lacks_input: bool,
}

impl Cause {
    fn of(diagnostic: &Diagnostic) -> Self {
        let is_brought = diagnostic.hint.as_ref().is_some_and(|hint| hint.starts_with(inputs::BRING));
        Self { text: one_line(&diagnostic.message), lacks_input: is_brought }
    }
}

impl NotCompared {
    fn new(of: Option<(&str, &RepoPath)>, (dry_sha, before): (String, bool), cause: Cause) -> Self {
        let Cause { text: cause, lacks_input } = cause;
        let (application, path) = of.map(|(name, path)| (name.to_owned(), path.clone())).unzip();
        Self { application, path, dry_sha, before, cause, earlier_dry_sha: None, lacks_input }
    }

    fn after(self, earlier: Option<&ObjectId>) -> Self {
        Self { earlier_dry_sha: earlier.map(ToString::to_string), ..self }
    }
}

/// Of how many paths of a branch an earlier dry commit is looked for.
const EARLIER_MAX: usize = 16;

/// How many commits of a branch are looked at for one.
const COMMITS_MAX: usize = 64;

/// The last dry commit before `dry` that hydrated a branch, or a path of it, by what the branch at `tip` says.
fn last_hydrated(
    (branch, path): (&BranchName, Option<&RepoPath>),
    tip: ObjectId,
    dry: ObjectId,
    buffer: &ObjectBuffer<'_>,
) -> Result<Option<ObjectId>, Error> {
    let repository = buffer.repository();
    for commit in line(&buffer.commit(tip)?, buffer).take(COMMITS_MAX) {
        let commit = commit?;
        let Some(trailers) = Trailers::read(&commit.message).filter(|trailers| trailers.branch == *branch) else {
            continue;
        };
        let mut shown = trailers.whole_rollback().is_none().then(|| trailers.definition());
        if let Some(path) = path {
            if buffer.entry(commit.tree, &format!("{path}/{MANIFEST}"))?.is_none() {
                return Ok(None);
            }
            let behind = provenance(buffer, commit.tree, METADATA)?.map(|found| found.behind).unwrap_or_default();
            if let Some(behind) = behind.iter().find(|behind| behind.path == *path) {
                shown = behind.dry_commit;
            }
        }
        let is_before = |one: &ObjectId| *one != dry && repository.has(*one) && repository.is_ancestor(*one, dry);
        if let Some(earlier) = shown.filter(is_before) {
            return Ok(Some(earlier));
        }
    }
    Ok(None)
}

fn has_left(branch: &Branch) -> bool {
    !branch.left.paths.is_empty()
}

fn name_of(path: &BehindPath) -> &str {
    path.application.as_deref().unwrap_or(path.path.as_str())
}

/// Why an Application is not hydrated. What is wrong with Applications beside one another is said of none by its name: `tree` knows
/// whose it is.
fn cause(
    (name, path): (&str, &RepoPath),
    failures: &[Diagnostic],
    tree: Option<&DryTree>,
    (is_held, is_paused): (bool, bool),
) -> Cause {
    let plain = |text: &str| Cause { text: text.to_owned(), lacks_input: false };
    if let Some(failure) = failures.iter().find(|failure| failure.applications().any(|of| of == name)) {
        return Cause::of(failure);
    }
    let application = tree.and_then(|tree| tree.all().find(|one| one.sync_path == *path && one.name.as_str() == name));
    let is_about = |failure: &&Diagnostic| {
        let is_unnamed = failure.applications().next().is_none();
        is_unnamed && tree.zip(application).is_some_and(|(tree, one)| tree.is_about(failure, one))
    };
    match failures.iter().find(is_about) {
        Some(failure) if failure.label.is_empty() => Cause::of(failure),
        Some(failure) => {
            let Cause { text, lacks_input } = Cause::of(failure);
            Cause { text: format!("{text} ({})", one_line(&failure.label)), lacks_input }
        }
        None if is_held => plain("the setting `hold` keeps it"),
        None if is_paused => plain("it is paused there"),
        None => plain("an input of it fails"),
    }
}
