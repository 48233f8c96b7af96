//! The setting `hold`: brings a branch, or single Applications of it, back to what a hydrated commit has.
//!
//! Nothing is rendered: files are copied. A rollback is one commit on top, and only the paths of Applications that the branch
//! shows now get other files, so nothing that runs is deleted. What it makes follows from the branch, the commit that it goes
//! back to, and what an admin said, so that it can be made again.

mod copied;
mod doubled;
mod former;
mod restored;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, shell_word};
use dry_files::path::RepoPath;

use super::dry_tree::Former;
use super::make::branch::{Branch, Copied};
use super::plan::moved_applications::name_of;
use super::plan::skipped::WhyUnrendered;
use super::plan::{Done, Hydration, Rendered};
use super::state::Run;
use super::stopped::Stopped;
use crate::argo::{AppName, Application, BranchName};
use crate::metadata::{DryCommit, Rollback, Trailers};
use crate::owners::heads::DryHead;
use crate::owners::setup::Wake;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::{line, nearest_commit, rolled_back_to};
use crate::repo::{Commit, Error, ObjectId};
use crate::settings::Hold;

pub(crate) use copied::Planned;
pub(crate) use restored::{Restored, Restoring, Unrestored, is_active, restore};

/// How many paths that stay as they are a report names.
const NAMED_MAX: usize = 10;

/// What a rollback makes of a branch.
#[derive(Debug)]
pub(crate) struct RolledBack {
    /// The branch with its commit; none where it is there already.
    pub copied: Option<Copied>,
    /// The paths of its Applications that the commit to go back to does not have: they stay as they are.
    pub lacking: Vec<RepoPath>,
    /// Those Applications that were named, and whose files it does not have.
    pub missing: Vec<AppName>,
    /// The Applications that it has and that are gone since: they stay so.
    pub gone: Vec<AppName>,
    /// That another Application has one of the objects now that come back.
    pub doubled: Option<Diagnostic>,
}

impl Run<'_> {
    /// Brings the branches of a dry branch of which something is held to where they are held. Answers why some cannot, which is
    /// reported.
    pub(crate) fn roll_back(&mut self, head: &DryHead, heads: &[DryHead]) -> Result<Vec<Diagnostic>, Stopped> {
        let mut problems = Vec::new();
        if self.found.holds.is_empty() {
            return Ok(problems);
        }
        let setup = self.found.setup;
        let here = self.branches.values().filter(|branch| branch.dry_branch == head.branch && !branch.unreadable());
        let here = here.filter(|branch| !setup.leaves(&branch.name, &branch.sync));
        let held = here.flat_map(|branch| {
            let holds = self.found.hold(&branch.name, &branch.sync).iter();
            holds.map(|hold| (branch.name.clone(), hold.clone()))
        });
        let mut due = Vec::new();
        for (name, hold) in held.collect::<Vec<_>>() {
            // A push is judged as if the whole branch were not held.
            let counts = self.found.setup.now.is_some() || !hold.is_whole();
            if counts && is_due(&name, &hold, self)? {
                due.push((name, hold));
            }
        }
        problems.extend(self.bring_back(due, (head, heads))?);
        Ok(problems)
    }

    /// Brings the files of Applications that are held alone to where a dry commit moved them, by a commit on top of that dry
    /// commit's own.
    pub(crate) fn follow_moves(
        &mut self,
        branches: &BTreeSet<BranchName>,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<(), Stopped> {
        let mut due = Vec::new();
        for branch in branches.iter().filter_map(|name| self.branches.get(name)) {
            let holds = self.found.hold(&branch.name, &branch.sync).iter().filter(|hold| !hold.is_whole());
            due.extend(holds.map(|hold| (branch.name.clone(), hold.clone())));
        }
        self.bring_back(due, (head, heads)).map(drop)
    }

    /// Brings branches to where they are held. Answers why some cannot, which is reported.
    fn bring_back(
        &mut self,
        due: Vec<(BranchName, Hold)>,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Vec<Diagnostic>, Stopped> {
        let mut problems = Vec::new();
        for (name, hold) in due {
            match self.rolled_back(&name, &hold, (head, heads))? {
                Ok(RolledBack { doubled: Some(mistake), .. }) | Err(mistake) => {
                    self.report.problems.push(mistake.clone());
                    problems.push(mistake);
                }
                Ok(back) if back.missing.is_empty() => self.take_copied(&name, back, &hold),
                Ok(back) => {
                    let (id, missing) =
                        (hold.at.to_hex_with_len(7), back.missing.iter().map(|name| format!("`{name}`")));
                    let missing = listed(missing, NAMED_MAX);
                    let mistake = of_branch(&name, &format!("{id} does not have the Application {missing}"));
                    self.report.problems.push(mistake.clone());
                    problems.push(mistake);
                }
            }
        }
        Ok(problems)
    }

    fn take_copied(&mut self, name: &BranchName, back: RolledBack, hold: &Hold) {
        let RolledBack { copied, lacking, gone, .. } = back;
        if !gone.is_empty() {
            self.report.warnings.push(stay_gone(name, &gone, hold));
        }
        let (Some(branch), Some(copied)) = (self.branches.get_mut(name), copied) else { return };
        let dry = copied.dry.clone();
        branch.take_copied(copied);
        let tip = branch.tip.as_ref().map(|tip| tip.id);
        self.ledger.reached(name, tip, &dry, None, &self.found.buffer);
        if !lacking.is_empty() {
            let at = hold.at.to_hex_with_len(7);
            let text =
                format!("`{name}` keeps as they are, since {at} does not have them: {}", listed(&lacking, NAMED_MAX));
            self.report.warnings.push(Diagnostic::warning(text));
        }
    }

    /// What a branch becomes that goes back to where it is held; or why it cannot.
    pub(crate) fn rolled_back(
        &mut self,
        name: &BranchName,
        hold: &Hold,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Result<RolledBack, Diagnostic>, Stopped> {
        let Some((branch, tip)) = self.branches.get(name).and_then(|branch| Some((branch, branch.tip.clone()?))) else {
            return Ok(Err(of_branch(name, "there is nothing on it yet")));
        };
        let Some(dry) = branch.dry else {
            return Ok(Err(of_branch(name, "it is not known which dry commit it shows")));
        };
        let source = branch.source.clone();
        let (at, made) = match target(name, hold.at, &tip, &self.found)? {
            Ok(target) => target,
            Err(mistake) => return Ok(Err(mistake)),
        };
        let before = rolled_back_to(name, &tip, &self.found.buffer)?.filter(|(_, shown)| *shown == dry);
        let held_by = before.map_or(dry, |(rollback, _)| rollback.held_by);
        let (now, vacated) = where_they_are(name, hold, self.former(name, Some(dry), head, heads)?);
        let Some(then) = self.fed_at(name, &at, (head, heads))? else {
            let id = made.dry_commit.to_hex_with_len(7);
            return Ok(Err(of_branch(name, &format!("the dry commit {id} that it was made from is not here"))));
        };
        let planned = match copied::plan(name, hold, (&now, &then), (&tip, &at), &self.found)? {
            Ok(planned) => planned.vacating(vacated),
            Err(mistake) => return Ok(Err(mistake)),
        };
        let (shown, at_definition) = match hold.is_whole() {
            true => (made.source(), made.definition()),
            false => (source, dry),
        };
        let id = shown.as_ref().map_or(at_definition, |source| source.commit);
        let Ok(commit) = self.found.buffer.commit(id) else {
            return Ok(Err(of_branch(name, &format!("the dry commit {} is not here", id.to_hex_with_len(7)))));
        };
        let commit = DryCommit::new(&commit);
        let shown = match &shown {
            Some(source) => commit.of_source(source, at_definition),
            None => commit,
        };
        let rollback = Rollback { to: at.id, held_by };
        let branch = self.branches.get(name).expect("it was there");
        let (lacking, missing, gone) = (planned.lacking.clone(), planned.missing.clone(), planned.gone.clone());
        if let Some(mistake) = copied::too_many_losses(branch, hold, &planned, &self.found)? {
            return Ok(Err(mistake));
        }
        let repo_url = self.found.repo_url(now.iter().find(|one| one.has_own_source()).map(|one| &**one)).to_owned();
        let doubled = doubled::doubled(name, &planned, &now, &tip, &self.found)?;
        let copied = branch.copy(&self.found, (rollback, hold), planned, (shown, &repo_url))?;
        Ok(copied.map(|copied| RolledBack { copied, lacking, missing, gone, doubled }))
    }

    /// Warnings of what the setting `hold` names in vain, or cannot hold; and of holds that somebody should have ended.
    pub(crate) fn warn_of_holds(&mut self) {
        if self.found.holds.is_empty() || !matches!(self.found.setup.wake, Wake::Pushed(_) | Wake::Everything) {
            return;
        }
        let mut promoted: BTreeMap<BranchName, BranchName> = BTreeMap::new();
        let mut known: Vec<BranchName> = self.found.records.iter().map(|(branch, _)| branch.clone()).collect();
        known.extend(self.branches.keys().cloned());
        for branch in self.branches.values().filter(|branch| branch.sync != branch.name) {
            promoted.insert(branch.name.clone(), branch.sync.clone());
            promoted.insert(branch.sync.clone(), branch.sync.clone());
        }
        let mut warnings = Vec::new();
        for (name, holds) in self.found.holds.iter() {
            let now = self.found.setup.now;
            let over = holds.iter().filter(|hold| now.is_some_and(|now| hold.is_over(now)));
            let resume = format!("git hydrate resume {}", shell_word(name.as_str()));
            let is_shared = self.found.policy.settings.is_shared(name);
            if promoted.contains_key(name) || is_shared {
                let text = format!("the setting `hold` names `{name}`, which is promoted: nothing of it is held");
                let hint = format!("a promoter would take it at its word: hold the promotion there; {resume}");
                warnings.push(Diagnostic::warning(text).hint(hint));
            } else if self.found.policy.settings.applications_to.as_ref() == Some(name) {
                let text = format!("the setting `hold` names `{name}`, which has copies: nothing of it is held");
                warnings.push(Diagnostic::warning(text).hint(format!("hold the branch that they lead to; {resume}")));
            } else if !known.contains(name) {
                let text = format!("the setting `hold` names `{name}`, which is not an environment branch");
                warnings.push(Diagnostic::warning(text).hint(resume));
            } else {
                warnings.extend(over.map(|hold| over_for_long(name, hold)));
            }
        }
        self.report.warnings.extend(warnings);
    }
}

/// The branches on which a dry commit moves an Application that is held alone: its files are where it was.
pub(crate) fn moving_held(rendered: &Rendered, found: &Snapshot<'_>) -> BTreeSet<BranchName> {
    let is_elsewhere = |name: &BranchName, hydration: &Hydration<Done>, application: &Application| {
        let mut its =
            hydration.leaving().former.iter().filter(|former| name_of(former) == name_of(application)).peekable();
        its.peek().is_some()
            && its.all(|former| former.sync_path != application.sync_path)
            && found.is_held(name, application)
    };
    let moves = |(name, hydration): &(&BranchName, &Hydration<Done>)| {
        let paused = hydration.leaving().unrendered.iter().filter(|one| one.why == WhyUnrendered::Paused);
        paused.into_iter().any(|one| is_elsewhere(name, hydration, &one.application))
    };
    rendered.hydrations().filter(moves).map(|(name, _)| name.clone()).collect()
}

/// The Applications of a branch, each where it is now; and the paths that those left which are held alone, and moved since.
fn where_they_are(name: &BranchName, hold: &Hold, former: Former) -> (Vec<Arc<Application>>, Vec<RepoPath>) {
    let Former { tree, mut applications } = former;
    let mut vacated = Vec::new();
    let here = tree.iter().flat_map(|tree| tree.applications(name)).filter(|one| !hold.is_whole() && hold.has(one));
    for moved in here {
        if applications.iter().any(|there| there.sync_path == moved.sync_path) {
            continue;
        }
        if let Some(before) = applications.iter_mut().find(|before| name_of(before) == name_of(moved)) {
            vacated.push(before.sync_path.clone());
            *before = moved.clone();
        }
    }
    (applications, vacated)
}

/// That a rollback of a branch brings no Application back that is gone.
fn stay_gone(name: &BranchName, gone: &[AppName], hold: &Hold) -> Diagnostic {
    let all = listed(gone, NAMED_MAX);
    let are = if gone.len() == 1 { "is" } else { "are" };
    let named: String = gone.iter().map(|one| format!(" --with {}", shell_word(one.as_str()))).collect();
    let text = format!("{all} {are} gone from `{name}`, and a rollback of the whole branch brings no Application back");
    let (branch, at) = (shell_word(name.as_str()), hold.at.to_hex_with_len(7));
    let hint = format!("to bring back what is gone as well: git hydrate rollback {branch} --to {at}{named} --reason …");
    Diagnostic::warning(text).hint(hint)
}

/// That somebody should have ended a hold.
fn over_for_long(name: &BranchName, hold: &Hold) -> Diagnostic {
    let until = hold.until.as_deref().unwrap_or_default();
    let (what, only) = match &hold.applications[..] {
        [] => (name.to_string(), String::new()),
        alone => {
            let only = alone.iter().map(|name| format!(" --application {}", shell_word(name)));
            (format!("{} of {name}", alone.join(", ")), only.collect())
        }
    };
    let text = format!("`{what}` is held, and was to be until {until}: {}", hold.reason);
    Diagnostic::warning(text).hint(format!("to end it: git hydrate resume {}{only}", shell_word(name.as_str())))
}

/// Whether a branch may be elsewhere than where it is held.
fn is_due(name: &BranchName, hold: &Hold, run: &Run<'_>) -> Result<bool, Error> {
    let Some(branch) = run.branches.get(name) else { return Ok(false) };
    branch.is_elsewhere(hold, &run.found)
}

impl Branch {
    /// Whether the newest commit of hydration is neither the one where the branch is held nor one that goes back to that.
    pub(crate) fn is_elsewhere(&self, hold: &Hold, found: &Snapshot<'_>) -> Result<bool, Error> {
        let Some(tip) = &self.tip else { return Ok(false) };
        // What single Applications have is looked at.
        if !hold.is_whole() {
            return Ok(true);
        }
        let newest = nearest_commit(tip, &found.buffer, |trailers| trailers.branch == self.name)?;
        let is_there = |(commit, trailers): &(Commit, Trailers)| {
            let has_all = hold.with.iter().all(|name| trailers.brought_back().contains(name));
            let is_back = trailers.whole_rollback().is_some_and(|rollback| rollback.to == hold.at);
            commit.id == hold.at || (is_back && has_all)
        };
        Ok(!newest.as_ref().is_some_and(is_there))
    }

    /// Whether something of the branch was held when its newest commit was made that is not any more.
    pub(crate) fn ends_hold(&self, found: &Snapshot<'_>) -> Result<bool, Error> {
        let Some(tip) = &self.tip else { return Ok(false) };
        let Some((_, newest)) = nearest_commit(tip, &found.buffer, |trailers| trailers.branch == self.name)? else {
            return Ok(false);
        };
        let holds = found.hold(&self.name, &self.sync);
        let is_held = |name: &String| holds.iter().any(|hold| hold.is_whole() || hold.applications.contains(name));
        Ok(newest.whole_rollback().is_some() || !newest.held.iter().all(is_held))
    }
}

/// The commit to go back to, and what it says of itself.
fn target(
    name: &BranchName,
    at: ObjectId,
    tip: &Commit,
    found: &Snapshot<'_>,
) -> Result<Result<(Commit, Trailers), Diagnostic>, Error> {
    let id = at.to_hex_with_len(7);
    let repository = found.setup.repository;
    // Commits of this run are not there yet.
    let known =
        line(tip, &found.buffer).find(|commit| commit.as_ref().map_or(true, |commit| repository.has(commit.id)));
    let known = known.transpose()?;
    if !repository.has(at) || !known.is_some_and(|known| repository.is_ancestor(at, known.id)) {
        return Ok(Err(of_branch(name, &format!("{id} is not in its history"))));
    }
    let commit = found.buffer.commit(at)?;
    let trailers = Trailers::read(&commit.message).filter(|trailers| trailers.branch == *name);
    Ok(match trailers.filter(|_| !commit.parents.is_empty() || commit.tree != found.buffer.empty_tree_id()) {
        Some(trailers) => Ok((commit, trailers)),
        None => Err(of_branch(name, &format!("{id} was not hydrated onto it"))),
    })
}

/// Why a branch cannot go back.
fn of_branch(name: &BranchName, why: &str) -> Diagnostic {
    let hint = format!("git hydrate log {} shows the commits to go back to", shell_word(name.as_str()));
    Diagnostic::error(format!("`{name}` cannot be rolled back: {why}")).hint(hint)
}
