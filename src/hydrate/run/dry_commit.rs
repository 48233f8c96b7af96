//! One dry commit, for the environment branches that lack it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::rendering::{Gathered, gather};
use super::untouched::Untouched;
use super::{Branch, DryHead, DryTree, HydrateError, Run, Stopped};
use crate::application::{Application, BranchName};
use crate::diag::Diagnostic;
use crate::git::ObjectId;
use crate::hydrate::branch::PathOutput;
use crate::hydrate::failures::Failure;
use crate::hydrate::output::Output;
use crate::hydrate::takeover;
use crate::metadata::{DryCommit, ENGINE_REVISION, NOTES_REF, note};
use crate::plan;
use crate::render;
use crate::view::TreeFiles;

impl Run<'_> {
    /// One dry commit, for the environment branches that lack it.
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
            if let Some(diagnostics) = self.known_failure(name, dry).map(|failure| failure.diagnostics.clone()) {
                self.fail(name, head, dry, diagnostics, true);
                continue;
            }
            let before = self.before(name, head, heads)?;
            let mut diagnostics = tree.mistakes(name, before.as_deref());
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
        let mut results = self.render(&all, &files, dry).into_iter();
        for (name, applications) in work {
            let mut results: Vec<_> = results.by_ref().take(applications.len()).collect();
            if let Some(memory) = self.memory.as_mut().filter(|_| dry == head.tip) {
                let rendered = applications.iter().zip(&mut results);
                let record = |(application, result): (&&Application, &mut Result<Output, render::Failure>)| {
                    let record = std::mem::take(&mut result.as_mut().ok()?.record);
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
                Err(Gathered::Wrong(diagnostics)) => drop(wrong.insert(name, diagnostics)),
                Err(Gathered::TooMuch(diagnostic)) => {
                    // Not recorded: on another machine, or on another day, it may go well.
                    if let Some(branch) = self.branches.get_mut(&name) {
                        branch.fail(dry, vec![diagnostic], false);
                    }
                }
                Err(Gathered::Machine(why)) => return Err(HydrateError::Machine(why).into()),
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
        let settings_changed = self.settings_changed(branch.settings)?;
        // The rest of the run stays free to be changed while it is asked.
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

    fn fail(&mut self, name: &BranchName, head: &DryHead, dry: ObjectId, diagnostics: Vec<Diagnostic>, recorded: bool) {
        if !recorded {
            let failure = Failure {
                dry_sha: dry.to_string(),
                dry_branch: head.branch.to_string(),
                engine: ENGINE_REVISION,
                settings: self.rules.id.map(|id| id.to_string()),
                diagnostics: diagnostics.clone(),
            };
            self.failures.add(name, failure);
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
