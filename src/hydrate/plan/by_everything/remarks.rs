//! What a look at everything finds wrong or odd at the tip of a dry branch, beside what becomes of each environment branch.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, shell_word};

use crate::argo::{Application, BranchName, unnamed_active_paths};
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;
use crate::owners::setup::Wake;
use crate::owners::snapshot::Snapshot;
use crate::repo::ObjectId;

/// That what a promoter wrote is hydrated without one from now on.
pub(super) fn promoted_no_more(name: &BranchName, first: &Application, found: &Snapshot<'_>) -> Option<Diagnostic> {
    let is_promoted = found.records.get(name).is_some_and(|record| record.initial) && found.tip(name).is_some();
    let text = format!("`{name}` is not promoted any more: what a dry commit changes is deployed at once");
    let hint = format!("to go on promoting it, keep `hydrateTo` in the Applications of `{name}`");
    let warning = || first.tells(Diagnostic::warning(text).at(first.places.sync_branch.clone()).hint(hint));
    is_promoted.then(warning)
}

/// Notes that a push to a dry branch asks for nothing to be hydrated, where nothing else would be said.
pub(super) fn note_silence(run: &mut Run<'_>, tree: &DryTree, head: &DryHead) {
    let Wake::Pushed(pushed) = &run.found.setup.wake else { return };
    let is_pushed = pushed.iter().any(|branch| branch == head.branch.as_str());
    let asks = !tree.is_empty() || tree.has_makers() || run.found.hydrated_from(&head.branch).next().is_some();
    if is_pushed && !asks {
        let rules = match run.found.policy.settings.rules.is_empty() {
            true => "; without it, rules can lead it: `git hydrate adopt` in a clone proposes them",
            false => ", and none that a rule is for",
        };
        let text =
            format!("nothing to hydrate: `{}` has no Application with `spec.sourceHydrator`{rules}", head.branch);
        run.report.notes.push(text);
    }
}

/// What is wrong or odd at the tip and belongs to no environment branch that is known. Answers what is wrong, and what is odd.
pub(super) fn report_problems(
    run: &mut Run<'_>,
    tree: &DryTree,
    backlog: &BTreeMap<BranchName, Vec<ObjectId>>,
    formers: &[Former],
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let fed = |feeds: &dyn Fn(&Former) -> bool| formers.iter().any(feeds);
    let (problems, warnings) = tree.problems(|name| backlog.contains_key(name), fed);
    run.report.problems.extend(problems.iter().cloned());
    run.report.warnings.extend(warnings.iter().cloned());
    // Once this run has made it, a branch is not new any more.
    (problems, warnings.into_iter().filter(|warning| warning.near.is_none()).collect())
}

/// What is wrong with the Applications of branches that are frozen, as warnings: it fails no branch until the freeze ends.
pub(super) fn mistakes_of_frozen<'n>(
    run: &mut Run<'_>,
    tree: &DryTree,
    names: impl Iterator<Item = &'n BranchName>,
    (head, heads): (&DryHead, &[DryHead]),
) -> Result<Vec<Diagnostic>, Stopped> {
    let mut warnings = Vec::new();
    for name in names {
        let Some(branch) = run.branches.get(name).filter(|branch| branch.is_frozen()) else { continue };
        let dry = branch.dry;
        let former = run.former(name, dry, head, heads)?;
        warnings.extend(tree.mistakes(name, &former).iter().map(Diagnostic::as_warning));
    }
    Ok(warnings)
}

/// Warnings of settings that name what is not there, or leave out what they have to name.
pub(super) fn unused_settings(run: &mut Run<'_>, heads: &[DryHead]) -> Result<Vec<Diagnostic>, Stopped> {
    let mut warnings = unused_active_paths(run, heads)?;
    warnings.extend(unused_globs(run, heads)?);
    warnings.extend(promoted_by_directory(run, heads)?);
    Ok(warnings)
}

/// Warnings of keys of the setting `activePaths` that no Application writes to.
fn unused_active_paths(run: &mut Run<'_>, heads: &[DryHead]) -> Result<Vec<Diagnostic>, Stopped> {
    let mut unused: BTreeSet<BranchName> = run.found.policy.settings.active_paths.keys().cloned().collect();
    for head in heads {
        if unused.is_empty() {
            break;
        }
        for application in run.tree(head.tip, head, heads)?.hydrated() {
            unused.remove(&application.sync_branch);
        }
    }
    Ok(unused.iter().map(unused_active_path).collect())
}

/// Warnings of branches that are promoted by directory, and that the setting `activePaths` does not name.
fn promoted_by_directory(run: &mut Run<'_>, heads: &[DryHead]) -> Result<Vec<Diagnostic>, Stopped> {
    let mut warnings = Vec::new();
    for head in heads {
        let tree = run.tree(head.tip, head, heads)?;
        let applications = tree.hydrated().map(|application| &**application);
        let settings = &run.found.policy.settings;
        warnings.extend(unnamed_active_paths(applications, |active| settings.is_shared(active)));
    }
    Ok(warnings)
}

/// Warns of globs of the settings `frozen`, `onFailure`, `validate` and `kubernetes` that match no branch, and of globs of `frozen` that match a
/// branch which promoters write, but not the branch that is promoted to it: such a branch is not frozen.
fn unused_globs(run: &mut Run<'_>, heads: &[DryHead]) -> Result<Vec<Diagnostic>, Stopped> {
    let settings = &run.found.policy.settings;
    let none = || std::iter::empty();
    let has_globs = !settings.validate.unused(none()).is_empty() || !settings.kubernetes.unused(none()).is_empty();
    if settings.frozen.is_empty() && settings.on_failure.unused(none()).is_empty() && !has_globs {
        return Ok(Vec::new());
    }
    let recorded = run.found.records.iter().map(|(branch, _)| branch);
    let mut branches: BTreeSet<BranchName> = recorded.cloned().collect();
    let mut promoted: BTreeMap<BranchName, BranchName> = BTreeMap::new();
    for head in heads {
        let tree = run.tree(head.tip, head, heads)?;
        for application in tree.hydrated() {
            let (sync, environment) = (&application.sync_branch, application.environment_branch());
            branches.extend([sync.clone(), environment.clone()]);
            if sync != environment {
                promoted.insert(sync.clone(), environment.clone());
            }
        }
    }
    let frozen = &run.found.policy.settings.frozen;
    let unused = frozen.unused(branches.iter()).map(unused_freeze);
    let failing = run.found.policy.settings.on_failure.unused(branches.iter()).into_iter().map(unused_on_failure);
    let settings = &run.found.policy.settings;
    let validated = settings.validate.unused(branches.iter()).into_iter().map(|glob| ("validate", glob));
    let versions = settings.kubernetes.unused(branches.iter()).into_iter().map(|glob| ("kubernetes", glob));
    let others = validated.chain(versions).map(|(key, glob)| unused_glob(key, glob));
    let useless = promoted.iter().filter(|(sync, staging)| frozen.names(sync) && !frozen.names(staging));
    Ok(unused
        .chain(failing)
        .chain(others)
        .chain(useless.map(|(sync, staging)| freeze_of_promoted(sync, staging)))
        .collect())
}

fn freeze_of_promoted(sync: &BranchName, staging: &BranchName) -> Diagnostic {
    let text = format!("the setting `frozen` names `{sync}`, which is promoted from `{staging}` and goes on with it");
    let key = shell_word(&format!("frozen.{staging}"));
    Diagnostic::warning(text)
        .hint(format!("to keep it from new commits, on the server: git hydrate config set {key} '{{reason: …}}'"))
}

fn unused_freeze(glob: &str) -> Diagnostic {
    unused_glob("frozen", glob)
}

fn unused_glob(setting: &str, glob: &str) -> Diagnostic {
    let text = format!("the setting `{setting}` names `{glob}`, which matches no environment branch");
    let key = shell_word(&format!("{setting}.{glob}"));
    Diagnostic::warning(text).hint(format!("on the server: git hydrate config unset {key}"))
}

fn unused_on_failure(glob: &str) -> Diagnostic {
    let text = format!("the setting `onFailure` names `{glob}`, which matches no environment branch");
    let hint = format!("on the server: git hydrate config unset onFailure.application {}", shell_word(glob));
    Diagnostic::warning(text).hint(hint)
}

fn unused_active_path(branch: &BranchName) -> Diagnostic {
    let text =
        format!("the setting `activePaths` names `{branch}`, which no Application has as `syncSource.targetBranch`");
    let key = shell_word(&format!("activePaths.{branch}"));
    Diagnostic::warning(text).hint(format!("on the server: git hydrate config unset {key}"))
}

/// The mistakes that are not at a place of `known` ones: what is wrong there is said once.
pub(super) fn at_other_places(mistakes: Vec<Diagnostic>, known: &[Diagnostic]) -> Vec<Diagnostic> {
    let is_new = |one: &Diagnostic| one.span.is_none() || known.iter().all(|known| known.span != one.span);
    mistakes.into_iter().filter(is_new).collect()
}
