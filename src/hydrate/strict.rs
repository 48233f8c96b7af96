//! Whether a push hydrates, found before git takes it: the hydration is made in memory, for the refs that it would leave.

use std::collections::BTreeSet;

use super::branch::Branch;
use super::foreseen;
use super::rules::render_context;
use super::run::{BACKLOG_MAX, Prepared, Run};
use super::{HydrateError, Outcome, Setup, Stopped, Wake};
use crate::application::BranchName;
use crate::diag::Diagnostic;
use crate::git::{ObjectId, Quarantine};
use crate::view::{TreeFiles, View};

/// What a push is refused for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// What it breaks, or touches while it is broken.
    Touched,
    /// Whatever does not hydrate.
    All,
}

/// A push that is not accepted yet.
pub struct Push<'a> {
    /// The repository as it is. Its wake-up is that of `after`.
    pub before: &'a Setup<'a>,
    /// The repository as it would be, with [`Wake::Pushed`].
    pub after: &'a Setup<'a>,
    /// What it is refused for.
    pub strictness: Strictness,
    /// The time, in seconds since 1970, after which no commit of it may be dated.
    pub latest: i64,
    /// Where its objects are.
    pub quarantine: Option<&'a Quarantine>,
}

/// How many seconds a day has.
pub const DAY: i64 = 86_400;

/// Why a push is refused; nothing when it hydrates, and then what was made stands ready for [`super::fulfil`].
///
/// Errors: the world failed, or the time was over before the tip was reached; nobody knows then.
pub fn judge(push: &Push<'_>) -> Result<Vec<Diagnostic>, HydrateError> {
    let Wake::Pushed(pushed) = &push.after.wake else { return Ok(Vec::new()) };
    let prepare = |trust_cache| Run::new(push.after).and_then(|run| run.prepare(trust_cache));
    let made = match prepare(true) {
        Err(Stopped::Unknown) => prepare(false),
        made => made,
    };
    let made = made.map_err(Stopped::into_error)?;
    if made.report.unfinished {
        return Err(HydrateError::Machine("there are too many commits for the time".to_owned()));
    }
    let fed = made.branches.values().map(|branch| branch.dry_branch.as_str());
    let dry: BTreeSet<&str> = made.dry_branches.iter().map(BranchName::as_str).chain(fed).collect();
    let pushed: BTreeSet<&str> = pushed.iter().map(String::as_str).filter(|branch| dry.contains(branch)).collect();
    if pushed.is_empty() {
        return Ok(Vec::new());
    }
    let judge = Judge { push, made: &made, pushed, before: None };
    let refusals = judge.refusals()?;
    if refusals.is_empty()
        && let Some(quarantine) = push.quarantine
    {
        let Prepared { buffer, refs, edits, mut report, branches, memory, .. } = made;
        report.branches = branches.into_values().map(Branch::into_report).collect();
        foreseen::hand_over(quarantine, &buffer, &refs, &edits, report)?;
        // Should the push not go in for another reason, the next run finds that this does not hold.
        if let Some(memory) = memory {
            memory.write();
        }
    }
    Ok(refusals)
}

/// Whether it is a mistake here: a field that is nearly another one is a warning elsewhere.
fn is_wrong(diagnostic: &Diagnostic) -> bool {
    diagnostic.is_error() || diagnostic.is_near_miss()
}

struct Judge<'a> {
    push: &'a Push<'a>,
    made: &'a Prepared<'a>,
    /// The dry branches among the pushed ones.
    pushed: BTreeSet<&'a str>,
    /// What was wrong before the push, once it is known.
    before: Option<Vec<Diagnostic>>,
}

impl Judge<'_> {
    fn refusals(mut self) -> Result<Vec<Diagnostic>, HydrateError> {
        let mut refusals = self.late()?;
        let made = self.made;
        let mut wrong: Vec<(Option<&Branch>, &Diagnostic)> = Vec::new();
        for branch in made.branches.values().filter(|branch| self.pushed.contains(branch.dry_branch.as_str())) {
            if let Some(Outcome::Failed { diagnostics, .. }) = branch.failure() {
                wrong.extend(diagnostics.iter().map(|diagnostic| (Some(branch), diagnostic)));
            }
        }
        let loose = made.report.problems.iter().chain(&made.report.warnings);
        wrong.extend(loose.map(|diagnostic| (None, diagnostic)));
        for (branch, diagnostic) in wrong.into_iter().filter(|(_, diagnostic)| is_wrong(diagnostic)) {
            if self.push.strictness == Strictness::All || self.is_new(branch, diagnostic)? {
                refusals.push(diagnostic.as_error());
            }
        }
        Ok(refusals)
    }

    /// Commits that are dated so far ahead that a clock must be wrong: hydrated commits take their dates over.
    fn late(&self) -> Result<Vec<Diagnostic>, HydrateError> {
        let repository = self.push.after.repository;
        let (old, new) = (self.push.before.repository.refs()?, repository.refs()?);
        let mut late = Vec::new();
        for branch in &self.pushed {
            let Some(tip) = new.branch(branch) else { continue };
            let line = match old.branch(branch) {
                Some(old) => repository.first_parents(old, tip, BACKLOG_MAX)?.unwrap_or_else(|| vec![tip]),
                None => vec![tip],
            };
            for id in line {
                let ahead = repository.commit(id)?.committer.seconds.saturating_sub(self.push.latest);
                if ahead > 0 {
                    let text = format!("{} on `{branch}` is dated more than a day ahead", id.to_hex_with_len(7));
                    let hint = "set your clock, then: git commit --amend --no-edit, or git rebase --ignore-date";
                    late.push(Diagnostic::error(text).hint(hint));
                }
            }
        }
        Ok(late)
    }

    /// Whether the push made something wrong, or touches what was wrong before in the same way.
    fn is_new(&mut self, branch: Option<&Branch>, diagnostic: &Diagnostic) -> Result<bool, HydrateError> {
        if self.before.is_none() {
            self.before = Some(self.wrong_before()?);
        }
        let known = self.before.as_ref().is_some_and(|before| before.contains(diagnostic));
        Ok(!known || self.is_touched(branch, diagnostic)?)
    }

    /// Everything that is wrong without the push. What is recorded is not rendered for it.
    fn wrong_before(&self) -> Result<Vec<Diagnostic>, HydrateError> {
        let made = Run::new(self.push.before).and_then(Run::rehearse).map_err(Stopped::into_error)?;
        let mut wrong = made.report.problems;
        wrong.extend(made.report.warnings);
        for branch in made.branches.values() {
            if let Some(Outcome::Failed { diagnostics, .. }) = branch.failure() {
                wrong.extend(diagnostics.iter().cloned());
            }
        }
        Ok(wrong)
    }

    /// Whether the push changes the file that is wrong, or anything that the Application reads.
    fn is_touched(&self, branch: Option<&Branch>, diagnostic: &Diagnostic) -> Result<bool, HydrateError> {
        let old = self.push.before.repository.refs()?;
        let branches: Vec<&str> = match branch {
            Some(branch) => vec![branch.dry_branch.as_str()],
            None => self.pushed.iter().copied().collect(),
        };
        for dry_branch in branches {
            let new = self.push.after.repository.refs()?.branch(dry_branch);
            let (Some(old), Some(new)) = (old.branch(dry_branch), new) else { return Ok(true) };
            if self.differs(old, new, branch, diagnostic)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn differs(
        &self,
        old: ObjectId,
        new: ObjectId,
        branch: Option<&Branch>,
        diagnostic: &Diagnostic,
    ) -> Result<bool, HydrateError> {
        let repository = self.push.after.repository;
        let old_files = TreeFiles::new(repository, repository.commit(old)?.tree);
        let new_files = TreeFiles::new(repository, repository.commit(new)?.tree);
        let (old_view, new_view) = (View::new(&old_files), View::new(&new_files));
        let same = |path| old_view.content_id(path) == new_view.content_id(path);
        if diagnostic.span.as_ref().is_some_and(|span| !same(&span.path)) {
            return Ok(true);
        }
        let applications = branch.and_then(|branch| Some((branch, self.made.trees.get(&new)?)));
        let Some((branch, tree)) = applications else { return Ok(false) };
        let failed = |name: &str| diagnostic.application.as_deref().is_none_or(|failed| failed == name);
        for application in tree.applications(&branch.name).filter(|application| failed(application.name.as_str())) {
            let id = new.to_string();
            let context = render_context(&self.made.settings, &new_files, &id);
            let reads = self.push.after.renderers.reads(application, &context);
            let confirmed = old_view.confirms(&reads);
            let confirmed = confirmed.map_err(|error| HydrateError::Machine(error.to_string()))?;
            if !confirmed || !same(&application.file) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
