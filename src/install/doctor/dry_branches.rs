//! Whether the dry branches are those that Applications and environment branches name.

use std::collections::BTreeMap;

use dry_files::diag::shell_word;

use super::Doctor;
use crate::argo::BranchName;
use crate::history::BranchStatus;
use crate::hydrate::Survey;
use crate::repo::{Error, object_id};

impl Doctor<'_> {
    /// Applications that name a branch that is not a dry branch.
    pub(super) fn other_branches(&mut self, survey: &Survey) {
        for (branch, (dry_branch, count)) in &survey.other_branches {
            let (git, word) = (self.git_command(), shell_word(branch.as_str()));
            let who = if *count == 1 { "1 Application" } else { "Applications" };
            let names = if *count == 1 { "names" } else { "name" };
            let what =
                format!("{who} on {dry_branch} {names} {branch}, which is not a dry branch, and so not hydrated");
            self.advise(what, format!("{git} hydrate config add dryBranches {word}"));
        }
    }

    /// Dry branches that are gone while another branch goes on from what was hydrated of them: it took their place.
    pub(super) fn renamed(&mut self, branches: &[BranchStatus], dry_branches: &[BranchName]) -> Result<(), Error> {
        let mut gone: BTreeMap<&str, Vec<&BranchStatus>> = BTreeMap::new();
        for status in branches.iter().filter(|status| status.dry_tip.is_none()) {
            gone.entry(&status.dry_branch).or_default().push(status);
        }
        for (dry_branch, of_branch) in gone {
            let successors = self.successors(&of_branch, branches)?;
            let Some(first) = successors.first() else { continue };
            let names: Vec<&str> = of_branch.iter().map(|status| status.branch.as_str()).collect();
            let verb = if names.len() == 1 { "is" } else { "are" };
            let what = format!("{dry_branch}, which {} {verb} hydrated from, does not exist", names.join(", "));
            let others =
                dry_branches.iter().map(BranchName::as_str).filter(|other| *other != dry_branch && other != first);
            let others: String = others.map(|other| format!(" {}", shell_word(other))).collect();
            let set = format!("{} hydrate config set dryBranches", self.git_command());
            let is_set = |name: &str| dry_branches.iter().any(|branch| branch.as_str() == name);
            let remedy = match &successors[..] {
                [only] if is_set(only) && !is_set(dry_branch) => format!(
                    "{only} is a dry branch: push a commit to it in which its Applications say `targetRevision: {only}`; if they \
                     do: {} hydrate catch-up",
                    self.git_command()
                ),
                [only] => format!("if {only} takes its place: {set} {}{others}", shell_word(only)),
                all => format!("if one of {} takes its place: {set} BRANCH{others}", all.join(", ")),
            };
            self.advise(what, remedy);
            self.successors.insert(dry_branch.to_owned(), successors);
        }
        Ok(())
    }

    /// The branches that have the dry commits of these environment branches; the one of `HEAD` alone, if it is one of them.
    fn successors(&self, of_branch: &[&BranchStatus], branches: &[BranchStatus]) -> Result<Vec<String>, Error> {
        let refs = self.repository.refs()?;
        let dry: Vec<_> = of_branch.iter().filter_map(|status| object_id(status.dry_sha.as_deref()?)).collect();
        let is_environment = |name: &str| branches.iter().any(|status| status.branch == name);
        let all = refs.below("refs/heads/").filter(|(name, _)| !is_environment(name));
        let goes_on = |tip| !dry.is_empty() && dry.iter().all(|dry| self.repository.is_ancestor(*dry, tip));
        let mut names: Vec<String> = all.filter(|(_, tip)| goes_on(*tip)).map(|(name, _)| name.to_owned()).collect();
        if let Some(head) = refs.head_branch().filter(|head| names.iter().any(|name| name == head)) {
            names = vec![head.to_owned()];
        }
        Ok(names)
    }
}
