//! What a pusher is told of branches that are not dry branches, although their Applications ask to be hydrated.

use std::collections::BTreeSet;

use super::state::Run;
use super::stopped::Stopped;
use crate::application::{Application, BranchName};
use crate::diag::{Diagnostic, shell_word};
use crate::hydrate::dry_tree::DryTrees;
use crate::hydrate::heads::DryHead;
use crate::hydrate::setup::Wake;
use crate::hydrate::snapshot::Snapshot;
use crate::plan::{Changes, Discovery};
use crate::view::TreeFiles;

/// Warns of pushed branches with Applications that name them as `targetRevision`, where only a dry branch is
/// hydrated; and of a push after which nothing can be hydrated, since no dry branch exists.
pub fn warn_of_other_branches(run: &mut Run<'_>, heads: &[DryHead]) -> Result<(), Stopped> {
    let Run { found, trees, report, .. } = run;
    let found = &*found;
    let Wake::Pushed(pushed) = &found.setup.wake else { return Ok(()) };
    let names: BTreeSet<BranchName> = pushed.iter().filter_map(|name| BranchName::new(name).ok()).collect();
    let is_other =
        |branch: &&BranchName| !found.dry_branches.contains(branch) && !found.environments.contains_key(*branch);
    let copies = found.rules.settings.applications_to.as_ref();
    let others = names.iter().filter(is_other).filter(|branch| copies != Some(*branch));
    let others: Vec<BranchName> = others.cloned().collect();
    let mut warnings = Vec::new();
    for branch in &others {
        let count = asking(branch, heads, found, trees)?;
        if count > 0 {
            let who = if count == 1 { "1 Application".to_owned() } else { format!("{count} Applications") };
            let text = match (heads, &found.dry_branches[..]) {
                ([], []) => format!("nothing is hydrated: the dry branch cannot be determined; `{branch}` has {who}"),
                ([], [dry_branch, ..]) => {
                    format!("nothing is hydrated: the dry branch `{dry_branch}` does not exist; `{branch}` has {who}")
                }
                _ => format!("`{branch}` is not a dry branch, so its Applications are not hydrated: {who}"),
            };
            let verb = if heads.is_empty() { "set" } else { "add" };
            let hint = format!("on the server: git hydrate config {verb} dryBranches {}", shell_word(branch.as_str()));
            warnings.push(Diagnostic::warning(text).hint(hint));
        }
    }
    report.warnings.extend(warnings);
    Ok(())
}

/// How many Applications of a branch name that branch and are not on the dry branch; all of them where there is none.
fn asking(
    branch: &BranchName,
    heads: &[DryHead],
    found: &Snapshot<'_>,
    trees: &mut DryTrees<'_>,
) -> Result<usize, Stopped> {
    let repository = found.setup.repository;
    let Some(tip) = found.tip(branch) else { return Ok(0) };
    let Ok(commit) = found.buffer.commit(tip) else { return Ok(0) };
    let new = TreeFiles::new(repository, commit.tree);
    let Some(head) = heads.first() else {
        let limit = found.rules.settings.limits.applications;
        let discovered = Discovery::default().discover(&new, &found.rules.applications, &found.rules.plain, limit);
        return Ok(discovered.map_or(0, |discovered| discovered.applications.len()));
    };
    let old = repository.commit(head.tip)?.tree;
    if trees.unsearched.why(old, &found.rules, repository).is_some() {
        return Ok(0);
    }
    let old = TreeFiles::new(repository, old);
    // What is too large to be compared is not worth a warning.
    let Ok(Some(changes)) = Changes::between(&old, &new, &found.rules.plain) else { return Ok(0) };
    let files = changes.files.iter().filter_map(|(_, file)| file.as_ref());
    let applications = files.flat_map(|file| file.applications());
    let asks = |application: &&Application| application.revision_name() == branch.as_str();
    Ok(applications.filter(asks).count())
}
