//! Environment branches that do not show what their dry branch says.

use std::time::UNIX_EPOCH;

use dry_files::diag::shell_word;

use super::{Doctor, Finding};
use crate::argo::{BranchName, ref_of};
use crate::history::{BranchState, BranchStatus, Restorable};
use crate::owners::platform::telling_again;
use crate::repo::object_id;
use crate::settings::is_past;

impl Doctor<'_> {
    /// Whether somebody should have ended by now what is held until then.
    fn is_over(&self, until: Option<&str>) -> bool {
        let now = self.around.now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        until.is_some_and(|until| is_past(until, now))
    }

    /// What is frozen and held, and why each other branch is not current.
    pub(super) fn not_current_environments(&mut self, branches: &[BranchStatus], dry_branches: &[BranchName]) {
        for status in branches {
            let (git, branch) = (self.git_command(), shell_word(&status.branch));
            if let Some(frozen) = &status.frozen {
                let what = format!("{} is {frozen}", status.branch);
                match self.is_over(frozen.why.until.as_deref()) {
                    true => self.advise(format!("{what}, which is over"), format!("{git} hydrate resume {branch}")),
                    false => self.good(what),
                }
            }
            for held in &status.held {
                let what = format!("of {}, {held}", status.branch);
                let name = shell_word(&held.application);
                let end = format!("{git} hydrate resume {branch} --application {name}");
                match self.is_over(held.until.as_deref()) {
                    true => self.advise(format!("{what}, which is over"), end),
                    false => self.good(what),
                }
            }
        }
        for status in branches.iter().filter(|status| status.is_current() && status.is_given_up()) {
            let (name, git) = (&status.branch, self.git_command());
            let delete = format!("if nothing deploys it: {git} update-ref -d {}", shell_word(&ref_of(name)));
            self.findings.push(Finding::advice(format!("no Application names {name} any more"), delete));
        }
        for status in branches.iter().filter(|status| !status.is_current()) {
            let is_dry = dry_branches.iter().any(|dry| dry.as_str() == status.branch);
            let found = self.why_not_current(status, is_dry, branches);
            self.findings.extend(found);
        }
    }

    /// Why a branch is not current; `is_dry` says whether it is a dry branch itself. None where that is said of its dry branch, for
    /// all branches of it.
    fn why_not_current(&self, status: &BranchStatus, is_dry: bool, branches: &[BranchStatus]) -> Option<Finding> {
        let git = self.git_command();
        let (name, dry_branch) = (&status.branch, &status.dry_branch);
        let (word, git_ref) = (shell_word(name), shell_word(&ref_of(name)));
        let (at, again) = (short(&status.tip), telling_again(self.repository, &git, name));
        Some(if status.state == BranchState::NotHydrated && is_dry {
            Finding::bad(
                format!("{name} is a dry branch, and Applications of {dry_branch} name it as their targetBranch"),
                format!(
                    "name another targetBranch\nor, if {name} has no dry files: {git} hydrate config unset dryBranches {word}"
                ),
            )
        } else if status.state == BranchState::NotHydrated {
            let what = format!("{name} is at {at}, which was not made by hydration, so it is not hydrated");
            Finding::advice(what, format!("{git} hydrate adopt {word}"))
        } else if let (false, Some(tip)) = (status.changed_by_others.is_empty(), &status.restorable) {
            let what = format!("{name} is at {at}, which hydration did not make: git hydrate verify tells of it");
            Finding::bad(what, format!("{git} update-ref {git_ref} {}{again}", tip.tip))
        } else if !status.changed_by_others.is_empty() {
            let by = status.changed_by.as_deref().map_or(at, short);
            let what = format!("{name} is at {at}, which is not a promotion of what hydration made: {by} changes it");
            Finding::bad(what, status.taking_back("origin").unwrap_or_else(|| format!("{git} hydrate verify {word}")))
        } else if status.is_left {
            let what = format!("{name} is hydrated from {dry_branch}, which is not a dry branch any more");
            let add = format!("{git} hydrate config add dryBranches {}", shell_word(dry_branch));
            Finding::advice(what, format!("{add}\nor, if nothing deploys {name}: {git} update-ref -d {git_ref}"))
        } else if status.dry_tip.is_none() {
            if self.successors.contains_key(dry_branch) {
                return None;
            }
            self.without_dry_branch(status, branches)
        } else if status.state == BranchState::Missing {
            self.missing(status)
        } else if status.state == BranchState::NotMade && status.failures.is_empty() {
            Finding::advice(format!("{name} is not made yet"), format!("{git} hydrate catch-up"))
        } else if let Some(recorded) = &status.recorded_tip {
            let what = format!(
                "{name} was moved back to {at}, or hydration was killed before it moved on: it is recorded at {}",
                short(recorded)
            );
            Finding::bad(what, format!("{git} update-ref {git_ref} {recorded}{again}"))
        } else if status.has_leftovers() {
            let delete = || format!("if nothing deploys it: {git} update-ref -d {git_ref}");
            let remedy = status.misspelt().map_or_else(delete, str::to_owned);
            Finding::advice(format!("no Application names {name} any more, and it stays as it is"), remedy)
        } else if !status.limits.is_empty() {
            Finding::advice(format!("{name} is held on this server"), format!("{git} hydrate status"))
        } else if status.failures.is_empty() {
            Finding::advice(behind(status), format!("{git} hydrate catch-up"))
        } else {
            let what = format!("{name} stays behind {dry_branch}, which does not hydrate to it");
            Finding::advice(what, format!("{git} hydrate status"))
        })
    }

    /// A branch whose dry branch does not exist any more. What it was hydrated from last is here as a rule.
    fn without_dry_branch(&self, status: &BranchStatus, branches: &[BranchStatus]) -> Finding {
        let (git, name, dry_branch) = (self.git_command(), &status.branch, &status.dry_branch);
        let what = format!("{name} is hydrated from {dry_branch}, which does not exist");
        let hydrated = branches.iter().filter(|other| other.dry_branch == *dry_branch);
        let dry_commits =
            hydrated.filter_map(|other| object_id(other.dry_sha.as_deref()?)).filter(|id| self.repository.has(*id));
        let newest = dry_commits.reduce(|one, other| if self.repository.is_ancestor(one, other) { other } else { one });
        let back = match newest {
            Some(id) => format!("{git} update-ref {} {id}", shell_word(&ref_of(dry_branch))),
            None => format!("push {dry_branch} again"),
        };
        Finding::advice(
            what,
            format!("{back}\nor, if nothing deploys {name}: {git} update-ref -d {}", shell_word(&ref_of(name))),
        )
    }

    /// A branch that hydration made, and that does not exist any more.
    fn missing(&self, status: &BranchStatus) -> Finding {
        let (git, name) = (self.git_command(), &status.branch);
        let ref_name = shell_word(&ref_of(name));
        if !status.is_named {
            let what = format!("{name}, which hydration made, is missing, and no Application names it");
            return Finding::advice(what, format!("to forget it: {git} hydrate catch-up"));
        }
        let again = telling_again(self.repository, &git, name);
        match &status.restorable {
            Some(Restorable { tip, is_start: true, .. }) => Finding::bad(
                format!("{name}, which is promoted to, is missing"),
                format!(
                    "push the commit that was deployed from a clone; if nothing was promoted yet: {git} update-ref {ref_name} \
                     {tip}{again}"
                ),
            ),
            Some(Restorable { tip, is_start: false, .. }) => Finding::bad(
                format!("{name}, which hydration made, is missing"),
                format!("{git} update-ref {ref_name} {tip}{again}"),
            ),
            None => {
                Finding::bad(format!("{name}, which hydration made, is missing"), format!("{git} hydrate catch-up"))
            }
        }
    }
}

/// How far a branch is behind its dry branch, where nothing fails.
fn behind(status: &BranchStatus) -> String {
    let (name, dry_branch) = (&status.branch, &status.dry_branch);
    match status.behind {
        Some(0) => format!("{name} has all of {dry_branch}, but was not made with the settings of now"),
        Some(1) => format!("{name} is 1 commit behind {dry_branch}"),
        Some(count) => format!("{name} is {count} commits behind {dry_branch}"),
        None if status.dry_sha.is_none() => format!("nothing is hydrated from {dry_branch} onto {name} yet"),
        None => format!("{name} is hydrated from where {dry_branch} was before it was rewound"),
    }
}

/// An id as a sentence has it.
fn short(id: &str) -> &str {
    id.get(..7).unwrap_or_default()
}
