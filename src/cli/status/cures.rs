//! What to do about a branch, in lines below it.

use std::collections::BTreeSet;

use dry_files::diag::{printable, shell_word};

use super::row::short;
use crate::argo::ref_of;
use crate::history::{BranchState, BranchStatus};
use crate::hydrate::HeldAlone;
use crate::settings::SETTINGS_REF;

/// What to do about a branch that no Application names any more: where the name that they have now is a slip, to correct that;
/// where they are on another branch, first how they come back.
pub(super) fn unnamed(status: &BranchStatus) -> String {
    if status.is_given_up() {
        let ref_name = shell_word(&ref_of(&status.branch));
        return format!("  to delete it, if nothing deploys it, on the server: git update-ref -d {ref_name}\n");
    }
    if !status.has_leftovers() {
        return String::new();
    }
    if let Some(hint) = status.misspelt() {
        return format!("  {}\n", printable(hint));
    }
    let (branch, dry_branch) = (printable(&status.branch), printable(&status.dry_branch));
    // What was hydrated from a dry branch leaves by a push of that one alone.
    let (by, to) = match status.dry_tip {
        Some(_) => (format!(" to {dry_branch}"), format!("push a commit to {dry_branch}")),
        None => (String::new(), format!("once {dry_branch} is there again, push a commit to it")),
    };
    let back = match &status.now_on[..] {
        [] => format!(
            "  to put it back: push a commit{by} in which Applications name {branch} again; where files of them are there, the \
             settings leave them out: git hydrate config\n"
        ),
        branches => format!(
            "  what left it is on {} now; to put it back: push a commit{by} in which its Applications name {branch} again\n",
            printable(&branches.join(", "))
        ),
    };
    format!(
        "{back}  to delete it, if nothing deploys it, on the server: git update-ref -d {}\n  to take all objects off it, if that \
         is intended: {to} whose message ends with the line `Hydrate-Allow-Removal: {branch}`\n",
        shell_word(&ref_of(&status.branch)),
    )
}

/// Who goes on with what the settings `hold` and `frozen` keep as it is, and how.
///
/// `unpushed` is the remote that does not have the settings of this clone.
pub(super) fn held(status: &BranchStatus, unpushed: Option<&str>) -> String {
    let is_kept = status.frozen.is_some() || !status.held.is_empty();
    if let Some(remote) = unpushed.filter(|_| is_kept) {
        let remote = shell_word(remote);
        let says = "the settings of this clone say so, which are not pushed";
        return match status.frozen.as_ref().and_then(|frozen| frozen.why.glob.as_ref()) {
            Some(glob) => format!("  {says}; to end it: {}; git push {remote} {SETTINGS_REF}\n", to_thaw(glob)),
            None => format!("  {says}: git push {remote} {SETTINGS_REF}\n"),
        };
    }
    if let Some(glob) = status.frozen.as_ref().and_then(|frozen| frozen.why.glob.as_ref()) {
        return format!("  an admin ends the freeze on the server: {}\n", to_thaw(glob));
    }
    let is_whole = status.frozen.as_ref().is_some_and(|frozen| frozen.why.at.is_some());
    let branch = shell_word(&status.branch);
    if is_whole {
        return format!("  an admin ends the hold on the server: git hydrate resume {branch}\n");
    }
    // Without a name, all of them would end at once.
    let of_one = |held: &HeldAlone| {
        let name = printable(&held.application);
        let word = shell_word(&held.application);
        format!("  an admin ends the hold of {name} on the server: git hydrate resume {branch} --application {word}\n")
    };
    status.held.iter().map(of_one).collect()
}

/// What ends a freeze, by its key.
pub(in crate::cli) fn to_thaw(glob: &str) -> String {
    format!("git hydrate config unset {}", shell_word(&format!("frozen.{glob}")))
}

/// Dry branches that do not exist, and what brings each back: said below the first branch that is hydrated from it.
pub(super) struct Gone<'a> {
    remote: Option<&'a str>,
    shown: BTreeSet<String>,
}

impl<'a> Gone<'a> {
    /// In a clone of `remote`, or on the server.
    pub(super) fn new(remote: Option<&'a str>) -> Self {
        Self { remote, shown: BTreeSet::new() }
    }

    pub(super) fn cure(&mut self, status: &BranchStatus) -> String {
        let is_gone = status.state == BranchState::Hydrated && status.dry_tip.is_none();
        if !is_gone || !self.shown.insert(status.dry_branch.clone()) {
            return String::new();
        }
        let (name, branch) = (shell_word(&ref_of(&status.dry_branch)), printable(&status.dry_branch));
        let back = match (&status.dry, self.remote) {
            (None, _) => format!("push {branch} again"),
            (Some(dry), Some(remote)) => format!(
                "push {branch} again; if {} was its newest commit: git push {} {}:{name}",
                short(&dry.sha),
                shell_word(remote),
                dry.sha
            ),
            (Some(dry), None) => format!(
                "push {branch} again; if {} was its newest commit, on the server: git update-ref {name} {}",
                short(&dry.sha),
                dry.sha
            ),
        };
        format!(
            "  {back}\n  if another branch takes its place, on the server: git hydrate config set dryBranches BRANCH; the \
             Applications name that one then (targetRevision)\n"
        )
    }
}
