//! What is reported to a pusher of branches that are not dry branches, although their Applications ask to be hydrated.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::more::and_more;
use dry_files::diag::{Diagnostic, shell_word};

use super::state::Run;
use super::stopped::Stopped;
use crate::argo::{Application, BranchName, near};
use crate::discover::{Changes, Discovery};
use crate::hydrate::dry_tree::DryTrees;
use crate::owners::heads::DryHead;
use crate::owners::promoted::{last_changed, not_promoted, undoing};
use crate::owners::setup::Wake;
use crate::owners::snapshot::Snapshot;
use crate::owners::unsearched::Search;
use crate::owners::went_back::{WentBack, went_back};
use crate::repo::TreeFiles;

/// Warns of pushed branches with Applications that name them as `targetRevision`, where only a dry branch is
/// hydrated; and of a push after which nothing can be hydrated, since no dry branch exists.
pub(crate) fn warn_of_other_branches(run: &mut Run<'_>, heads: &[DryHead]) -> Result<(), Stopped> {
    let Wake::Pushed(pushed) = &run.found.setup.wake else { return Ok(()) };
    let names: BTreeSet<BranchName> = pushed.iter().filter_map(|name| BranchName::new(name).ok()).collect();
    let copies = run.found.policy.settings.applications_to.as_ref();
    let is_other = |branch: &&BranchName| {
        let is_ours = run.found.environments.contains_key(*branch) || copies == Some(*branch);
        !run.found.dry_branches.contains(branch) && !is_ours
    };
    let others: Vec<BranchName> = names.iter().filter(is_other).cloned().collect();
    if others.is_empty() {
        return Ok(());
    }
    if let Some(head) = heads.first() {
        let known = run.memory.recall(head, &run.found);
        if !known.is_some_and(|state| run.memory.is_start(&state, head, heads, &run.found)) {
            // It is looked at in any case.
            run.tree(head.tip, head, heads)?;
        }
    }
    let Run { found, trees, report, .. } = run;
    let found = &*found;
    let mut warnings = Vec::new();
    for branch in &others {
        if let Some(warning) = left(branch, found).filter(|_| !heads.is_empty()) {
            warnings.push(warning);
            continue;
        }
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
            let word = shell_word(branch.as_str());
            let instead = match (heads, &found.dry_branches[..]) {
                ([], [gone]) => {
                    format!("; if it takes the place of `{gone}`: git hydrate config set dryBranches {word}")
                }
                _ => String::new(),
            };
            let hint = format!("on the server: git hydrate config add dryBranches {word}{instead}");
            warnings.push(Diagnostic::warning(text).hint(hint));
        }
    }
    report.warnings.extend(warnings);
    Ok(())
}

/// Warns of pushed commits on a branch that is promoted to which change what hydration made: that is deployed, and none of
/// what is staged.
pub(crate) fn warn_of_odd_promotions(run: &mut Run<'_>) -> Result<(), Stopped> {
    let Wake::Pushed(pushed) = &run.found.setup.wake else { return Ok(()) };
    for active in pushed.iter().filter_map(|name| BranchName::new(name).ok()) {
        let staging = run.branches.values().filter(|branch| branch.sync == active && branch.name != active);
        let staging: BTreeSet<BranchName> = staging.map(|branch| branch.name.clone()).collect();
        let Some(tip) = run.found.tip(&active) else { continue };
        let changed = not_promoted(&run.found, &staging, &active, tip)?;
        if let Some(first) = changed.first() {
            let more = and_more(changed.len() - 1);
            let by = last_changed(tip, first, &run.found.buffer)?;
            let text = format!(
                "`{active}` is not a promotion of {}: {first}{more} {} from what hydration made, by {}",
                listed(&staging.iter().collect::<Vec<_>>()),
                if changed.len() > 1 { "differ" } else { "differs" },
                by.id.to_hex_with_len(7)
            );
            let hint = format!(
                "change the dry branch instead; a promotion by merge keeps what differs here until hydration changes the same \
                 files, and this on `{active}` takes it back: {}",
                undoing(&by, &changed)
            );
            run.report.warnings.push(Diagnostic::warning(text).hint(hint));
        } else if let Some(back) = went_back(&run.found, &staging, &active, tip)? {
            run.report.warnings.push(taken_back(&active, &back));
        }
    }
    Ok(())
}

/// That somebody took a promotion back by hand, which a promoter does not read.
fn taken_back(active: &BranchName, back: &WentBack) -> Diagnostic {
    let WentBack { staging, directory, has_promoter, .. } = back;
    let [by, shows] = [back.by, back.shows].map(|id| id.to_hex_with_len(7).to_string());
    let of = directory.as_ref().map_or_else(String::new, |directory| format!("{directory} of "));
    let text =
        format!("{of}`{active}` went back by {by} to what `{staging}` had at {shows}: that is not a promotion of it");
    let at_once = match back.before.filter(|_| *has_promoter) {
        Some(before) => {
            let path = directory.as_ref().map_or_else(String::new, |path| format!(" --path {}", shell_word(path)));
            let (word, before) = (shell_word(active.as_str()), before.to_hex_with_len(7));
            format!(
                "; for GitOps Promoter to know of it: git hydrate rollback {word}{path} --to {before} --reason TEXT"
            )
        }
        None => String::new(),
    };
    let hint = format!(
        "a promotion by merge does not bring back what was taken back here, and a promoter may propose it without end: to go back, git \
         revert on the dry branch{at_once}; to go forward again: git revert {by} on `{active}`"
    );
    Diagnostic::warning(text).hint(hint)
}

/// A warning of a branch that others were hydrated from, and that is not a dry branch any more.
fn left(branch: &BranchName, found: &Snapshot<'_>) -> Option<Diagnostic> {
    let names: Vec<&BranchName> = found.hydrated_from(branch).collect();
    let (verb, listed) = (if names.len() == 1 { "stays as it is" } else { "stay as they are" }, listed(&names));
    let text = format!("`{branch}` is not a dry branch any more, so nothing is hydrated from it: {listed} {verb}");
    let hint = format!("on the server: git hydrate config add dryBranches {}", shell_word(branch.as_str()));
    (!names.is_empty()).then(|| Diagnostic::warning(text).hint(hint))
}

/// How many branches are named.
const NAMES_MAX: usize = 5;

fn listed(names: &[&BranchName]) -> String {
    let mut listed: Vec<String> = names.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMES_MAX {
        listed.push("…".to_owned());
    }
    listed.join(", ")
}

/// Warns of branches that the setting `dryBranches` names and that do not exist, where others do, and of those that it names no
/// more. A push to a branch has warnings of its own.
pub(crate) fn warn_of_missing_dry_branches(run: &mut Run<'_>) {
    let Run { found, report, .. } = run;
    let is_of_branches = matches!(&found.setup.wake, Wake::Pushed(pushed) if !pushed.is_empty());
    if is_of_branches || matches!(found.setup.wake, Wake::Commit { .. }) {
        return;
    }
    let names: Vec<&str> = found.refs.below(&found.setup.place.read).map(|(name, _)| name).collect();
    if names.is_empty() {
        return;
    }
    for missing in found.policy.settings.dry_branches.iter().filter(|branch| found.tip(branch).is_none()) {
        let hydrated: Vec<&BranchName> = found.hydrated_from(missing).collect();
        let mut text = format!("the setting `dryBranches` names `{missing}`, which does not exist");
        if !hydrated.is_empty() {
            let verb = if hydrated.len() == 1 { "stays as it is" } else { "stay as they are" };
            text.push_str(&format!(": {}, hydrated from it, {verb}", listed(&hydrated)));
        }
        let hint = match near(missing.as_str(), &names).filter(|_| hydrated.is_empty()) {
            Some(near) => format!(
                "did you mean `{near}`? on the server: git hydrate config add dryBranches {} && git hydrate config unset \
                 dryBranches {}",
                shell_word(near),
                shell_word(missing.as_str())
            ),
            None if hydrated.is_empty() => format!(
                "push it, or take it away on the server: git hydrate config unset dryBranches {}",
                shell_word(missing.as_str())
            ),
            None => format!(
                "push it again; if another branch has all that it had, let the Applications name that one (`targetRevision`), then \
                 take it away on the server: git hydrate config unset dryBranches {}",
                shell_word(missing.as_str())
            ),
        };
        report.warnings.push(Diagnostic::warning(text).hint(hint));
    }
    let dry: BTreeSet<&BranchName> = found.dry_branches.iter().chain(&found.policy.settings.dry_branches).collect();
    let last: BTreeSet<&BranchName> = found.environments.values().filter(|branch| !dry.contains(branch)).collect();
    let there = last.into_iter().filter(|branch| found.tip(branch).is_some());
    report.warnings.extend(there.filter_map(|branch| left(branch, found)).collect::<Vec<_>>());
}

/// How many Applications of a branch name that branch and are not hydrated from the dry branch; all of them where there is
/// none.
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
    let asks = |application: &Application| application.revision_name() == branch.as_str();
    let Some(head) = heads.first().filter(|_| !found.environments.is_empty()) else {
        let limit = found.policy.settings.limits.applications;
        let discovered = Discovery::default().discover(&new, &found.policy.applications, &found.policy.plain, limit);
        let is_counted = |application: &&Arc<Application>| heads.is_empty() || asks(application);
        return Ok(discovered.map_or(0, |discovered| discovered.applications.iter().filter(is_counted).count()));
    };
    let old = repository.commit(head.tip)?.tree;
    let search = Search::of(old, &found.policy, (head, heads), found);
    if trees.unsearched.why(&search, repository).is_some() {
        return Ok(0);
    }
    let old = TreeFiles::new(repository, old);
    // What is too large to be compared is not worth a warning.
    let Ok(Some(changes)) = Changes::between(&old, &new, &found.policy.plain) else { return Ok(0) };
    let files = changes.files.iter().filter_map(|(_, file)| file.as_ref());
    let changed = files.flat_map(|file| file.applications()).filter(|application| asks(application)).count();
    // Those that the dry branch has too: it was looked at when the branch that they name was new.
    let is_changed = |path: &str| {
        let mut new = changes.files.iter().filter_map(|(_, new)| new.as_ref());
        new.any(|new| new.path.as_str() == path)
    };
    let is_same = |application: &&Arc<Application>| asks(application) && !is_changed(application.file.as_str());
    let known = trees.known(head.tip).map_or(0, |tree| tree.not_hydrated().filter(is_same).count());
    Ok(changed + known)
}
