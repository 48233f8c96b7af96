//! What was rendered of a dry commit, made into hydrated commits: objects in memory, and no ref moves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::branch::{Branch, BranchUpdate};
use super::losses;
use super::lost_keys;
use super::new_secrets;
use super::nothing;
use super::output::PathOutput;
use super::overwritten;
use super::refused::Judging;
use super::takeover;
use super::unnamed_releases::UnnamedReleases;
use super::untouched::Untouched;
use crate::argo::BranchName;
use crate::hydrate::failed_render::{FailedBranch, FailedRender};
use crate::hydrate::plan::moved_applications::held;
use crate::hydrate::plan::skipped::left_behind;
use crate::hydrate::plan::{Done, Failing, Hydration, Rendered, Step};
use crate::metadata::DryCommit;
use crate::owners::error::HydrateError;
use crate::owners::heads::DryHead;
use crate::owners::snapshot::Snapshot;
use crate::render;
use crate::repo::ObjectId;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// What became of each branch.
#[derive(Debug)]
pub(crate) struct Commits {
    /// The dry branch, and its tip.
    pub head: DryHead,
    /// The dry commit.
    pub dry: DryCommit,
    /// By branch.
    pub branches: BTreeMap<BranchName, Becomes>,
    /// What is odd about what was made.
    pub warnings: Vec<Diagnostic>,
}

/// What is found out of all branches together.
struct Remarks<'r> {
    unnamed: UnnamedReleases,
    judging: Option<Judging<'r>>,
}

impl Remarks<'_> {
    /// Judges what a branch gets without another push, once nothing keeps it behind any more.
    fn judge_pending(
        &mut self,
        branch: &Branch,
        hydration: &Hydration<Done>,
        failed: &FailedBranch,
    ) -> Result<(), HydrateError> {
        match &mut self.judging {
            Some(judging) if failed.mistakes.is_empty() && !failed.limits.is_empty() => {
                judging.add_pending(branch, hydration)
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// What became of one branch.
#[derive(Debug)]
pub(crate) enum Becomes {
    /// It shows the dry commit.
    Hydrated(Box<BranchUpdate>),
    /// It stays where it is.
    Failed(Failing),
}

impl Commits {
    /// Makes the commits. `branches` has those of `rendered`, as they are before it; `judging` judges the objects that change.
    ///
    /// Errors: the repository, or a template of the settings.
    pub(crate) fn of(
        rendered: &Rendered,
        found: &Snapshot<'_>,
        branches: &BTreeMap<BranchName, Branch>,
        judging: Option<Judging<'_>>,
    ) -> Result<Self, HydrateError> {
        let (head, dry) = (rendered.head.clone(), rendered.dry.clone());
        let mut commits = Self { head, dry, branches: BTreeMap::new(), warnings: Vec::new() };
        let mut remarks = Remarks { unnamed: UnnamedReleases::default(), judging };
        for (name, step) in &rendered.branches {
            let becomes = match (step, branches.get(name)) {
                (Step::Fail(failing), _) => Becomes::Failed(failing.clone()),
                (Step::Hydrate(Hydration { taken: Some(mistake), .. }), _) => {
                    Becomes::Failed(Failing::Taken(mistake.clone()))
                }
                (Step::Hydrate(hydration @ Hydration { stuck: Some(failed), .. }), branch) => {
                    if let Some(branch) = branch {
                        remarks.judge_pending(branch, hydration, failed)?;
                    }
                    Becomes::Failed(Failing::Renders((**failed).clone()))
                }
                (Step::Hydrate(hydration), Some(branch)) => {
                    if let Some(failing) = held(name, hydration, rendered) {
                        commits.branches.insert(name.clone(), Becomes::Failed(failing));
                        continue;
                    }
                    keep_what_fitted(hydration, found);
                    let sync = if branch.lacks_sync() { commits.started(&branch.sync, branches) } else { None };
                    commits.hydrate(branch, sync, hydration, &mut remarks, found)?
                }
                (Step::Hydrate(_), None) => continue,
            };
            commits.branches.insert(name.clone(), becomes);
        }
        commits.warnings.extend(remarks.unnamed.warnings());
        found.buffer.release();
        Ok(commits)
    }

    /// The empty commit that another branch started a sync branch with in this run.
    fn started(&self, sync: &BranchName, branches: &BTreeMap<BranchName, Branch>) -> Option<ObjectId> {
        let earlier = branches.values().find_map(|other| other.started(sync));
        earlier.or_else(|| self.started_now(sync, branches))
    }

    fn started_now(&self, sync: &BranchName, branches: &BTreeMap<BranchName, Branch>) -> Option<ObjectId> {
        for (name, becomes) in &self.branches {
            if let Becomes::Hydrated(made) = becomes
                && let Some(started) = made.new_sync
                && branches.get(name).is_some_and(|branch| branch.sync == *sync)
            {
                return Some(started);
            }
        }
        None
    }

    fn hydrate(
        &mut self,
        branch: &Branch,
        sync: Option<ObjectId>,
        hydration: &Hydration<Done>,
        remarks: &mut Remarks<'_>,
        found: &Snapshot<'_>,
    ) -> Result<Becomes, HydrateError> {
        let (left, removals) = match left_behind(branch, hydration, found)? {
            Ok(left) => left,
            Err(failed) => {
                remarks.judge_pending(branch, hydration, &failed)?;
                return Ok(Becomes::Failed(Failing::Renders(failed)));
            }
        };
        let paths: Vec<PathOutput<'_>> =
            hydration.outputs().map(|(application, output)| output.at(application)).collect();
        let tagged = branch.source.as_ref().map(|_| hydration.before_tree);
        let untouched = Untouched::since(hydration.before.as_deref(), tagged, &branch.name, found.setup.repository);
        // What stayed behind shows an earlier dry commit than its branch does.
        let shown = branch.tip_metadata(&found.buffer)?;
        let keeps = |path: &PathOutput<'_>| !shown.is_behind(path.dir) && untouched.is(path);
        if hydration.limits_losses
            && let Some(lost) = losses::too_many(branch, &paths, &removals, &keeps, self.dry.id, found)?
        {
            let failed = FailedBranch { mistakes: vec![lost], ..FailedBranch::default() };
            return Ok(Becomes::Failed(Failing::Renders(failed)));
        }
        let behind = left.listed();
        let lists = hydration.leaving.is_some() || hydration.stays.is_some();
        let behind = lists.then_some(&behind[..]);
        let (inputs, url) = (hydration.used_inputs(), &hydration.repo_url);
        let made = branch.make(found, &self.dry, url, &paths, &removals, &keeps, behind, &inputs, sync);
        let made = match made {
            // What a pusher wrote may be too much for a template: that is a mistake of this branch.
            Err(HydrateError::Template(mistake)) => return Ok(Becomes::Failed(Failing::Mistakes(vec![mistake]))),
            made => made?,
        };
        let made = match made {
            Ok(made) => {
                let drawn = branch.drawn_after(hydration, &left, &removals, &found.policy.settings);
                let seen = branch.seen_after(hydration, &removals);
                BranchUpdate { left, drawn, seen, inputs, ..made }
            }
            Err(mistake) => return Ok(Becomes::Failed(Failing::unfit(mistake))),
        };
        if let (true, Some(tip)) = (branch.is_taken_over(), made.tip(branch)) {
            let dirs = paths.iter().map(|path| path.dir).collect();
            let left = takeover::left_alone(tip.tree, &dirs, &found.buffer)?;
            self.warnings.extend(takeover::warning(&branch.name, &left));
        }
        if made.commit.is_some() {
            self.warnings.extend(branch.date_goes_back(&self.dry, found)?);
            self.warnings.extend(branch.date_is_ahead(&self.dry, found)?);
        }
        if let Some(commit) = &made.commit {
            self.warnings.extend(overwritten::warning(branch, commit.tree, &found.buffer)?);
        }
        self.warnings.extend(nothing::warnings(hydration.outputs(), branch, self.dry.id, found)?);
        remarks.unnamed.add(hydration.outputs(), branch, found)?;
        if let Some(judging) = &mut remarks.judging {
            judging.add(branch, hydration, &removals)?;
        }
        self.warnings.extend(new_secrets::warnings(hydration.outputs(), branch, &removals, found)?);
        self.warnings.extend(lost_keys::warnings(hydration.outputs(), branch, self.dry.id, found)?);
        let changed: BTreeSet<&RepoPath> = made.changed.iter().collect();
        let changed = hydration.outputs().filter(|(application, _)| changed.contains(&application.sync_path));
        for (application, output) in changed {
            self.warnings.extend(render::repeated(application, &output.objects));
            self.warnings.extend(output.warning(application));
        }
        Ok(Becomes::Hydrated(Box::new(made)))
    }
}

/// Keeps what rendered on a branch of which something else found no room: it is in the repository then, and takes none of the room
/// of the next run.
fn keep_what_fitted(hydration: &Hydration<Done>, found: &Snapshot<'_>) {
    if hydration.failed().any(FailedRender::found_no_room) {
        hydration.outputs().for_each(|(_, output)| found.buffer.keep_blob(output.manifest));
    }
}

/// The objects that two Applications of a branch render.
pub(crate) fn conflicts(hydration: &Hydration<Done>) -> Vec<Diagnostic> {
    let objects = hydration.outputs().map(|(application, output)| (application, &*output.objects));
    render::conflicts(&objects.collect::<Vec<_>>())
}

impl fmt::Display for Commits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.head.branch, self.dry.id)?;
        for (name, becomes) in &self.branches {
            match becomes {
                Becomes::Hydrated(made) => match &made.commit {
                    Some(commit) => writeln!(f, "  {name}: {}", commit.id)?,
                    None => writeln!(f, "  {name}: unchanged")?,
                },
                Becomes::Failed(failing) => {
                    let why = failing.diagnostics().into_iter().next().map(|first| first.message);
                    writeln!(f, "  {name}: failed: {}", why.unwrap_or_default())?;
                }
            }
        }
        Ok(())
    }
}
