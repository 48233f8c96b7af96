//! Whether hydration may write a branch at all.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, chain, clipped, shell_word};

use super::Branch;
use crate::argo::{Application, BranchName, destination_is_dry};
use crate::owners::active::Active;
use crate::owners::heads::DryHead;
use crate::owners::policy::Policy;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::{self, Standing};
use crate::repo::ObjectBuffer;
use crate::settings::{Freeze, Held};

impl Branch {
    /// Decides whether hydration may write the branch at all.
    ///
    /// `applications` are those that write to it.
    pub(crate) fn judge<'t>(
        &mut self,
        head: &DryHead,
        mut applications: impl Iterator<Item = &'t Application>,
        found: &Snapshot<'_>,
    ) {
        if found.setup.leaves(&self.name, &self.sync) {
            self.freeze(&Freeze::of_other_runs());
            return;
        }
        if let Some(freeze) = found.frozen(&self.name, &self.sync) {
            self.freeze(&freeze);
            return;
        }
        let name = &self.name;
        let (settings, buffer, setup) = (&found.policy.settings, &found.buffer, found.setup);
        let checked_out = setup.place.keeps_records() && setup.repository.checked_out(name.as_str());
        let shared = settings.active_paths(name);
        let other = self.before.standing.as_ref().and_then(Standing::dry_branch).filter(|dry| *dry != &head.branch);
        // A dry branch that an admin took out of the settings, as one that was renamed, leaves its branches to the next.
        let other = other.filter(|_| !self.before.dry_branch_is_gone);
        let foreign =
            self.before.standing.as_ref().is_some_and(|standing| standing.origin == standing::Origin::Foreign);
        let mistake = if let Some(why) = &self.before.unreadable {
            let hint = "`git hydrate doctor` on the server explains how to fix it";
            place(Diagnostic::error(why).hint(hint), applications.next())
        } else if (settings.dry_branches.contains(name) || *name == head.branch)
            && let Some(application) = applications.next()
        {
            destination_is_dry(name, application.places.environment_branch())
        } else if foreign {
            let mistake = Diagnostic::error(format!("`{name}` was not made by hydration, so it is not overwritten"));
            place(mistake.hint(to_hand_over(name)), applications.next())
        } else if settings.on_failure.of(name) == Held::Application && (self.sync != *name || !shared.is_empty()) {
            let text = format!("the setting `onFailure` is `application` for `{name}`, which is promoted");
            let hint = "whoever promotes takes every Application to be at the dry commit; an admin names the branches that are \
                        not promoted: git hydrate config set onFailure '{application: [BRANCH, …]}'";
            place(Diagnostic::error(text).hint(hint), applications.next())
        } else if self.before.active == Active::Foreign {
            let text = format!("`{}`, which `{name}` is promoted to, was not made by hydration", self.sync);
            let mistake = Diagnostic::error(text).hint(to_hand_over(&self.sync));
            match applications.next() {
                Some(application) => mistake.at(application.places.sync_branch.clone()),
                None => mistake,
            }
        } else if let Some(owner) = self.owner_of_sync(head, found) {
            let mistake = written_from(&self.sync, owner, &head.branch, found);
            match applications.next() {
                Some(application) => mistake.at(application.places.sync_branch.clone()),
                None => mistake,
            }
        } else if let Some(fault) = self.fault_of_others(buffer) {
            place(self.malformed(&fault), applications.next())
        } else if let Some(other) = other.filter(|_| shared.is_empty() || !self.may_be_shared(head, found)) {
            place(written_from(name, other, &head.branch, found), applications.next())
        } else if checked_out {
            Diagnostic::error(format!("`{name}` is checked out in a worktree of this repository"))
                .hint("hydrate into a bare repository, or check out something else there")
        } else if self.sync != *name
            && let (Some(staging), Some(sync)) = (self.before.old, self.before.sync_tip)
            && !buffer.repository().are_related(staging, sync)
        {
            let mistake = Diagnostic::error(format!("`{name}` and `{}` have no common history", self.sync));
            let hint = format!("delete `{name}`: it is created again from the tip of `{}`", self.sync);
            place(mistake.hint(hint), applications.next())
        } else if !shared.is_empty()
            && let Some(outside) = applications.find(|app| !shared.iter().any(|dir| app.sync_path.starts_with(dir)))
        {
            let path = &outside.sync_path;
            let mistake = Diagnostic::error(format!("`{path}` is not in any of the `activePaths` of `{name}`"));
            mistake.at(outside.places.sync_path.clone()).hint("move it below one of them, or add one in the settings")
        } else if shared.is_empty()
            && let Some(active) = settings.active_paths.get(&self.sync)
            && let Some(application) = applications.next()
        {
            let mistake = Diagnostic::error(format!(
                "`{name}` is not a proposed branch of `{}`, which is promoted by directory",
                self.sync
            ));
            let dir = active.iter().find(|dir| application.sync_path.starts_with(dir));
            let hint = match dir {
                Some(dir) => format!("use `{}-next/{dir}` for `hydrateTo.targetBranch`", self.sync),
                None => format!(
                    "have an admin add its directory first: git hydrate config add {} {}",
                    shell_word(&format!("activePaths.{}", self.sync)),
                    shell_word(application.sync_path.as_str())
                ),
            };
            place(mistake.hint(hint), Some(application))
        } else {
            return;
        };
        self.close(mistake);
    }

    /// Whether another dry branch may come to the branch: of settings that may be anyone's, those decide that the branch was
    /// hydrated with.
    fn may_be_shared(&self, head: &DryHead, found: &Snapshot<'_>) -> bool {
        if !found.setup.place.doubts_settings() {
            return true;
        }
        let Ok(Policy { settings, .. }) = Policy::at(self.settings, &found.buffer) else { return false };
        settings.is_shared(&self.name) && settings.dry_branches.contains(&head.branch)
    }

    /// Keeps the branch from being made where git cannot have it beside one of `others`, which this run makes as well: the
    /// transaction would fail, and with it every branch. Those of one dry branch were compared already.
    pub(crate) fn give_way<'b>(
        &mut self,
        others: impl Iterator<Item = &'b Branch>,
        application: Option<&Application>,
        found: &Snapshot<'_>,
    ) {
        let others = others.filter(|other| other.dry_branch != self.dry_branch && other.name != self.name);
        let Some(mistake) = self.clash(others, found) else { return };
        self.close(place(mistake, application));
    }

    /// The mistake of a branch that this one makes, and that git cannot have beside one that another of `others` makes.
    fn clash<'b>(&self, others: impl Iterator<Item = &'b Branch>, found: &Snapshot<'_>) -> Option<Diagnostic> {
        let theirs = others.flat_map(|other| other.new_refs().map(move |theirs| (theirs, &other.dry_branch)));
        let theirs: Vec<_> = theirs.collect();
        for (ours, is_active) in self.new_refs() {
            for ((theirs, theirs_is_active), dry_branch) in &theirs {
                if ours == *theirs && !(is_active && *theirs_is_active) {
                    return Some(written_from(ours, dry_branch, &self.dry_branch, found));
                }
                if ours.conflicts_with(theirs) {
                    let text = format!(
                        "`{ours}` and `{theirs}` of `{dry_branch}` cannot both be branches: one would be a directory of the other"
                    );
                    return Some(Diagnostic::error(text).hint("choose another name"));
                }
            }
        }
        None
    }

    /// The branches that hydrating this one makes, and whether each is the active branch of a staging branch.
    fn new_refs(&self) -> impl Iterator<Item = (&BranchName, bool)> {
        let own = (self.before.old.is_none() && !self.closed).then_some((&self.name, false));
        let is_started = self.sync != self.name && self.before.sync_tip.is_none() && !self.closed;
        own.into_iter().chain(is_started.then_some((&self.sync, true)))
    }

    /// The dry branch that writes the sync branch of this staging branch, when it is another one.
    fn owner_of_sync<'f>(&self, head: &DryHead, found: &'f Snapshot<'_>) -> Option<&'f BranchName> {
        let is_shared = found.policy.settings.is_shared(&self.sync);
        let record = found.records.get(&self.sync).filter(|_| self.sync != self.name && !is_shared)?;
        let owner = Some(&record.dry_branch).filter(|owner| **owner != head.branch && !found.has_left(owner));
        owner.filter(|_| !record.initial && self.before.sync_tip.is_some())
    }

    /// What is wrong in any directory of a branch that an admin handed over: all of it goes on into our commits.
    fn fault_of_others(&self, buffer: &ObjectBuffer<'_>) -> Option<String> {
        let base = self.base().filter(|_| self.is_taken_over())?;
        let found = buffer.commit(base).and_then(|commit| buffer.first_tree_fault(commit.tree));
        let (dir, fault) = match found {
            Ok(fault) => fault?,
            Err(error) => return Some(chain(&error)),
        };
        Some(match dir.as_str() {
            "" => format!("its root directory {fault}"),
            dir => format!("`{dir}` {fault}"),
        })
    }

    pub(crate) fn close(&mut self, mistake: Diagnostic) {
        self.closed = true;
        self.fail(self.dry_tip, vec![mistake], false);
    }

    /// The commit to build on has a directory that git would not write.
    pub(super) fn malformed(&self, fault: &str) -> Diagnostic {
        let base = if self.tip.is_some() { &self.name } else { &self.sync };
        let hint = "`git fsck` names the tree: replace it with a commit on that branch, made on the server, or delete the \
                    branch there";
        Diagnostic::error(format!("`{base}` cannot be continued: {fault}")).hint(hint)
    }
}

fn to_hand_over(branch: &BranchName) -> String {
    format!("to hand it over, an admin runs on the server: git hydrate adopt {}", shell_word(branch.as_str()))
}

/// An Application of the dry branch `here` names a branch that is hydrated from another one.
pub(crate) fn written_from(
    name: &BranchName,
    owner: &BranchName,
    here: &BranchName,
    found: &Snapshot<'_>,
) -> Diagnostic {
    let hint = match found.tip(owner) {
        Some(_) => clipped(format!(
            "to hand it over, push the Applications with `targetRevision: {here}` to `{owner}` too, or to both at once: git push \
             origin {} {}; else give each dry branch environment branches of its own, or let them share one by the setting \
             `activePaths`",
            shell_word(&format!("HEAD:{owner}")),
            shell_word(&format!("HEAD:{here}"))
        )),
        None => {
            let left = found.dry_branches.iter().filter(|branch| *branch != owner).chain([here]);
            let left: BTreeSet<String> = left.map(|branch| shell_word(branch.as_str()).to_string()).collect();
            let left = left.into_iter().collect::<Vec<_>>().join(" ");
            format!(
                "`{owner}` does not exist; if `{here}` takes its place, an admin runs on the server: git hydrate config \
                 set dryBranches {left}"
            )
        }
    };
    Diagnostic::error(format!("`{name}` is hydrated from `{owner}`, not from `{here}`")).hint(hint)
}

fn place(mistake: Diagnostic, application: Option<&Application>) -> Diagnostic {
    match application {
        Some(application) => mistake.at(application.places.environment_branch().clone()),
        None => mistake,
    }
}
