//! One dry commit, for the environment branches that lack it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::rendering::gather;
use super::untouched::Untouched;
use super::{Branch, DryHead, DryTree, Run, Stopped};
use crate::application::{Application, BranchName};
use crate::diag::Diagnostic;
use crate::git::ObjectId;
use crate::hydrate::branch::PathOutput;
use crate::hydrate::failed_render::{FailedBranch, FailedRender};
use crate::hydrate::failures::Failure;
use crate::hydrate::output::Output;
use crate::hydrate::takeover;
use crate::metadata::{DryCommit, ENGINE_REVISION, NOTES_REF, note};
use crate::plan;
use crate::view::TreeFiles;

impl Run<'_> {
    /// The branches of which it is not known yet that they cannot be hydrated from a dry commit; the others are told.
    pub(super) fn untried(&mut self, dry: ObjectId, wanting: Vec<BranchName>, head: &DryHead) -> Vec<BranchName> {
        let mut untried = Vec::new();
        for name in wanting {
            if let Some(diagnostics) = self.known_failure(&name, dry).map(|failure| failure.diagnostics.clone()) {
                self.fail(&name, head, dry, diagnostics, true);
            } else if let Some(failed) = self.known_limit(&name, dry) {
                if let Some(branch) = self.branches.get_mut(&name) {
                    branch.fail(dry, failed.diagnostics(), true);
                    branch.failed = Some(failed);
                }
            } else {
                untried.push(name);
            }
        }
        untried
    }

    /// One dry commit, for the environment branches that lack it and are [`Run::untried`].
    pub(super) fn hydrate_commit(
        &mut self,
        head: &DryHead,
        dry: ObjectId,
        tree: &Rc<DryTree>,
        wanting: &[BranchName],
        heads: &[DryHead],
    ) -> Result<(), Stopped> {
        let mut work: BTreeMap<BranchName, Vec<&Application>> = BTreeMap::new();
        let mut wrong: BTreeMap<BranchName, Vec<Diagnostic>> = BTreeMap::new();
        let mut removals: BTreeMap<BranchName, Vec<plan::Removal>> = BTreeMap::new();
        for name in wanting {
            let before = self.before(name, head, heads)?;
            let mut diagnostics = tree.mistakes(name, before.as_deref());
            let limits = tree.limits(name, before.as_deref());
            let unknown = match limits.is_empty() {
                true => self.unproven(name, tree, before.as_deref(), dry)?,
                false => Some(FailedBranch { limits, ..FailedBranch::default() }),
            };
            if let Some(unknown) = unknown.filter(|_| diagnostics.is_empty()) {
                self.fail_by_renders(name, head, dry, unknown);
                continue;
            }
            if diagnostics.is_empty() {
                let found = self.removals(name, tree, before.as_deref());
                let is_nothing = found.as_ref().is_ok_and(Vec::is_empty);
                let unread = if is_nothing { Vec::new() } else { tree.unread(name, before.as_deref()) };
                match found {
                    // What is wrong there may be the very Application that seems to have left.
                    _ if !unread.is_empty() => diagnostics.extend(unread),
                    Ok(found) => drop(removals.insert(name.clone(), found)),
                    Err(diagnostic) => diagnostics.push(diagnostic),
                }
            }
            if diagnostics.is_empty() {
                work.insert(name.clone(), tree.applications(name).collect());
            } else {
                wrong.insert(name.clone(), diagnostics);
            }
        }
        let files = TreeFiles::new(self.setup.repository, tree.tree);
        let all: Vec<&Application> = work.values().flatten().copied().collect();
        let mut results = self.render(&all, &files, dry)?.into_iter();
        for (name, applications) in work {
            let mut results: Vec<_> = results.by_ref().take(applications.len()).collect();
            if let Some(memory) = self.memory.as_mut().filter(|_| dry == head.tip) {
                let rendered = applications.iter().zip(&mut results);
                let record = |(application, result): (&&Application, &mut Result<Output, FailedRender>)| {
                    let record = match result {
                        Ok(output) => std::mem::take(&mut output.record),
                        Err(failed) => failed.record(application)?,
                    };
                    Some(((application.file.clone(), application.index), record))
                };
                memory.rendered.extend(rendered.filter_map(record));
            }
            match gather(results, &applications) {
                Ok(outputs) => {
                    let removals = removals.remove(&name).unwrap_or_default();
                    let before = self.before(&name, head, heads)?;
                    if let Some(diagnostic) =
                        self.publish(&name, tree, before.as_deref(), &applications, &outputs, &removals)?
                    {
                        wrong.insert(name, vec![diagnostic]);
                    }
                }
                Err(failed) => self.fail_by_renders(&name, head, dry, failed),
            }
        }
        self.buffer.release();
        for (name, diagnostics) in wrong {
            self.fail(&name, head, dry, diagnostics, false);
        }
        Ok(())
    }

    /// Writes what was rendered; answers why not, when that would remove too much.
    fn publish(
        &mut self,
        name: &BranchName,
        tree: &DryTree,
        before: Option<&DryTree>,
        applications: &[&Application],
        outputs: &[Output],
        removals: &[plan::Removal],
    ) -> Result<Option<Diagnostic>, Stopped> {
        let outputs = applications.iter().zip(outputs).map(|(application, output)| output.at(application));
        let outputs: Vec<PathOutput<'_>> = outputs.collect();
        let repo_url = self.repo_url(applications.first().copied()).to_owned();
        let mut branch = self.branches.remove(name).expect("every wanting branch was opened");
        branch.share_sync(self.branches.values());
        let settings_changed = self.settings_changed(branch.settings)?;
        // Taken out, so that `write` can borrow the rest of the run mutably.
        let memory = self.memory.take();
        let repository = self.setup.repository;
        let before = before.filter(|_| branch.holds_what_was_made() && !settings_changed);
        let untouched = Untouched::since(before, name, repository, memory.as_ref());
        let keeps = |path: &PathOutput<'_>| untouched.holds(path);
        let lost = if tree.allows_removal(name) { None } else { self.lost(&branch, &outputs, removals, &keeps)? };
        if lost.is_none() {
            self.write(&mut branch, &tree.commit, &repo_url, &outputs, removals, &keeps)?;
            if let (true, Some(tip)) = (branch.is_taken_over(), &branch.tip) {
                let paths = outputs.iter().map(|output| output.dir).collect();
                let left = takeover::left_alone(tip.tree, &paths, &self.buffer)?;
                self.report.warnings.extend(takeover::warning(name, &left));
            }
        }
        self.memory = memory;
        self.branches.insert(name.clone(), branch);
        Ok(lost)
    }

    /// Makes the hydrated commit of a dry commit and puts its note on what is then the tip. Paths that `keeps` names stay
    /// as they stand.
    pub fn write(
        &mut self,
        branch: &mut Branch,
        dry: &DryCommit,
        repo_url: &str,
        paths: &[PathOutput<'_>],
        removals: &[plan::Removal],
        keeps: &(dyn Fn(&PathOutput<'_>) -> bool + Sync),
    ) -> Result<(), Stopped> {
        branch.publish(&self.buffer, &self.rules, dry, repo_url, paths, removals, keeps)?;
        branch.reach(dry.id, self.rules.id);
        if let Some(tip) = &branch.tip {
            let noted = self.notes.set(tip.id, &note(dry.id), &self.buffer);
            noted.unwrap_or_else(|error| self.records.give_up(NOTES_REF, &error));
        }
        self.failures.clear(&branch.name);
        self.newest_dry = Some(dry.date);
        Ok(())
    }

    /// What is recorded of a dry commit that did not hydrate onto a branch, by this engine and under these settings.
    pub fn known_failure(&self, name: &BranchName, dry: ObjectId) -> Option<&Failure> {
        let settings = self.rules.id.map(|id| id.to_string());
        self.failures.find(name, &dry.to_string(), ENGINE_REVISION, settings.as_deref())
    }

    /// Notes that a dry commit does not hydrate onto a branch because of what its Applications render to.
    ///
    /// Limits are not recorded in the repository: on another machine, or on another day, it may go well.
    pub fn fail_by_renders(&mut self, name: &BranchName, head: &DryHead, dry: ObjectId, failed: FailedBranch) {
        if !failed.mistakes.is_empty() {
            self.record_failure(name, head, dry, failed.mistakes.clone());
        }
        self.is_cut_off |= failed.is_cut_off();
        if let Some(branch) = self.branches.get_mut(name) {
            branch.fail(dry, failed.diagnostics(), false);
            branch.failed = Some(failed);
        }
    }

    fn record_failure(&mut self, name: &BranchName, head: &DryHead, dry: ObjectId, diagnostics: Vec<Diagnostic>) {
        let failure = Failure {
            dry_sha: dry.to_string(),
            dry_branch: head.branch.to_string(),
            engine: ENGINE_REVISION,
            settings: self.rules.id.map(|id| id.to_string()),
            diagnostics,
        };
        self.failures.add(name, failure);
    }

    pub(in crate::hydrate) fn fail(
        &mut self,
        name: &BranchName,
        head: &DryHead,
        dry: ObjectId,
        diagnostics: Vec<Diagnostic>,
        recorded: bool,
    ) {
        if !recorded {
            self.record_failure(name, head, dry, diagnostics.clone());
        }
        if let Some(branch) = self.branches.get_mut(name) {
            branch.fail(dry, diagnostics, recorded);
        }
    }

    fn removals(
        &self,
        name: &BranchName,
        tree: &DryTree,
        before: Option<&DryTree>,
    ) -> Result<Vec<plan::Removal>, Diagnostic> {
        let Some(before) = before else { return Ok(Vec::new()) };
        let limit = self.rules.settings.removal_limit;
        let allowed = tree.allows_removal(name);
        let (before, now) = (before.destinations(name), tree.destinations(name));
        plan::removals(name, &before, &now, (limit.share, limit.at_least), allowed)
            .map_err(|(mistake, removals)| mistake.diagnostic(&removals.iter().map(|it| &it.path).collect::<Vec<_>>()))
    }
}
