//! Applications that name a tag, a commit or another branch now: they leave their branch only for one that hydrates them.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, clipped, shell_word};

use crate::argo::{AppName, Application, BranchName, PAUSED};
use crate::discover::Searched;
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::plan::unrecognized::{GoneDocuments, Side};
use crate::hydrate::state::{Moved, Run};
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;

type Name<'a> = (Option<&'a AppName>, &'a AppName);

fn name(application: &Application) -> Name<'_> {
    (application.namespace.as_ref(), &application.name)
}

/// What keeps Applications that a dry commit does not have on a branch from leaving it.
#[derive(Debug, Default)]
pub(crate) struct Astray {
    /// The mistakes.
    pub mistakes: Vec<Diagnostic>,
    /// Whether they follow from what other dry branches have, too.
    pub rests_on_others: bool,
}

/// The mistakes of Applications that a dry commit does not have on `branch` any more, and that are hydrated nowhere else
/// instead.
pub(crate) fn astray(
    branch: &BranchName,
    tree: &DryTree,
    former: &Former,
    run: &mut Run<'_>,
    heads: &[DryHead],
) -> Result<Astray, Stopped> {
    if run.moved == Moved::Made {
        return Ok(Astray::default());
    }
    let written: BTreeSet<_> = tree.applications(branch).map(|application| &application.sync_path).collect();
    let gone = former.applications.iter().filter(|application| !written.contains(&application.sync_path));
    let gone: BTreeSet<Name<'_>> = gone.map(|application| name(application)).collect();
    let is_gone =
        |application: &Application| gone.contains(&name(application)) && !former.is_elsewhere(application, branch);
    let mut astray = Astray::default();
    for (application, pinned) in tree.pinned().filter(|(application, _)| is_gone(application)) {
        astray.mistakes.push(stays_pinned(application, pinned, tree.branch()));
    }
    for application in tree.not_hydrated().filter(|application| is_gone(application)) {
        let mistake = moved_nowhere(application, branch, tree.branch(), run, heads)?;
        astray.mistakes.extend(mistake.map(|mistake| application.tells(mistake)));
        astray.rests_on_others = true;
    }
    astray.mistakes.extend(restaged(branch, tree, former));
    if !tree.allows_removal(branch) {
        astray.mistakes.extend(unrecognized(branch, tree, former, run));
    }
    Ok(astray)
}

/// The mistakes of the Applications of a branch that shows a tag, a range or a commit, where a branch has the name of that now and is
/// not a dry branch: they would be hydrated nowhere, although no document changed.
pub(crate) fn off_their_tag(
    branch: &BranchName,
    tree: &DryTree,
    run: &mut Run<'_>,
    heads: &[DryHead],
) -> Result<Vec<Diagnostic>, Stopped> {
    let mut mistakes = Vec::new();
    if run.moved == Moved::Made || run.branches.get(branch).is_none_or(|branch| branch.source.is_none()) {
        return Ok(mistakes);
    }
    for application in tree.not_hydrated().filter(|application| application.environment_branch() == branch) {
        let mistake = moved_nowhere(application, branch, tree.branch(), run, heads)?;
        mistakes.extend(mistake.map(|mistake| application.tells(mistake)));
    }
    Ok(mistakes)
}

/// The mistakes of Applications that no document is any more, although their files have documents of their names.
fn unrecognized(branch: &BranchName, tree: &DryTree, former: &Former, run: &mut Run<'_>) -> Vec<Diagnostic> {
    let Some(before) = &former.tree else { return Vec::new() };
    let there = tree.all().filter(|application| !former.is_elsewhere(application, branch));
    let there: BTreeSet<Name<'_>> = there.map(|application| name(application)).collect();
    let mut documents = GoneDocuments::default();
    for application in former.applications.iter().filter(|application| !there.contains(&name(application))) {
        documents.add_of(application);
    }
    let trees = (before.tree, tree.tree);
    run.looked_at.retain(|(_, now), _| *now == tree.tree);
    let mut looked = run.looked_at.remove(&trees).unwrap_or_default();
    let (old, new) = (run.files(before.tree), run.files(tree.tree));
    let policy = &run.found.policy;
    let (patterns, inputs) = (&policy.applications, policy.plain.inputs());
    let before = Side { files: &*old, searched: Searched { patches: before.patches(), patterns, inputs } };
    let now = Side { files: &*new, searched: Searched { patches: tree.patches(), patterns, inputs } };
    let mut found = documents.unrecognized(before, now, &mut looked);
    run.looked_at.insert(trees, looked);
    for mistake in &mut found {
        let hint = mistake.hint.take().unwrap_or_default();
        let all =
            format!("{hint}, or push a commit whose message ends with the line `Hydrate-Allow-Removal: {branch}`");
        mistake.hint = Some(clipped(all));
    }
    found
}

/// The mistakes of Applications that leave a staging branch for another one of the same active branch: the next promotion of the
/// one that they leave would take them off the active branch, whether the other one was promoted before or not. A branch that all
/// of them leave would be emptied, which is a mistake of its own.
fn restaged(branch: &BranchName, tree: &DryTree, former: &Former) -> Vec<Diagnostic> {
    if tree.applications(branch).next().is_none() {
        return Vec::new();
    }
    let staged = former.applications.iter().filter(|application| application.hydrate_to.as_ref() == Some(branch));
    let active: BTreeSet<_> = staged.map(|application| (&application.sync_branch, &application.sync_path)).collect();
    let has_moved = |application: &&Arc<Application>| {
        application.hydrate_to.as_ref().is_some_and(|staging| staging != branch)
            && active.contains(&(&application.sync_branch, &application.sync_path))
    };
    tree.hydrated().filter(has_moved).map(|application| restages(application, branch)).collect()
}

fn restages(application: &Application, branch: &BranchName) -> Diagnostic {
    let (name, sync, staging) = (&application.name, &application.sync_branch, application.environment_branch());
    let text = format!(
        "`{name}` would leave `{branch}` for `{staging}`, and the next promotion of `{branch}` would take it off `{sync}`"
    );
    let hint = format!("use `hydrateTo: {branch}`; to stage it elsewhere, remove the Application in a commit before");
    let place = application.places.environment_branch().clone();
    application.tells(Diagnostic::error(clipped(text)).at(place).hint(clipped(hint)))
}

fn stays_pinned(application: &Application, pinned: &Diagnostic, dry_branch: &BranchName) -> Diagnostic {
    let keep = match application.hydrate_to {
        Some(_) => format!("to keep what is deployed: `targetRevision: {dry_branch}`, and hold the promotion"),
        None => format!(
            "to keep it as it is while others go on: `targetRevision: {dry_branch}` and the annotation `{PAUSED}: \"true\"`"
        ),
    };
    let hint = format!("{keep}; to take it off its branch, remove the Application");
    let mistake = Diagnostic { lasting: None, ..pinned.as_error() };
    application.tells(mistake.hint(clipped(hint)))
}

/// Why an Application that names another branch has not moved there; none when it has.
fn moved_nowhere(
    application: &Application,
    branch: &BranchName,
    dry_branch: &BranchName,
    run: &mut Run<'_>,
    heads: &[DryHead],
) -> Result<Option<Diagnostic>, Stopped> {
    let other = other_branch(application, dry_branch, run);
    let dry = run.found.every_dry_branch().into_iter().find(|dry| dry.as_str() == other);
    let (app, is_dry) = (&application.name, dry.is_some());
    if let Some(dry) = dry
        && let Some(tip) = run.found.tip(&dry).filter(|_| run.moved == Moved::Judged)
    {
        let head = DryHead { branch: dry, tip };
        let there = run.tree(tip, &head, heads)?;
        if there.hydrated().any(|there| name(there) == name(application)) {
            return Ok(None);
        }
    }
    let (text, hint) = match is_dry {
        true => (
            format!("`{other}` has no Application `{app}` to hydrate, and `{branch}` still has it"),
            format!(
                "push it to `{other}` first, or to both at once: git push origin {} {}; or remove it here to take it off `{branch}`",
                shell_word(&format!("HEAD:{dry_branch}")),
                shell_word(&format!("HEAD:{other}"))
            ),
        ),
        false => (
            format!("`{other}` is no dry branch, so `{app}` would leave `{branch}` and be hydrated nowhere"),
            format!(
                "use `targetRevision: {dry_branch}`; or, on the server: git hydrate config add dryBranches {}; to take it \
                 off `{branch}`, remove the Application",
                shell_word(&other)
            ),
        ),
    };
    let mistake = Diagnostic::error(clipped(text)).at(application.places.target_revision.clone());
    Ok(Some(mistake.hint(clipped(hint))))
}

/// The branch that an Application of another one names.
pub(crate) fn other_branch(application: &Application, dry_branch: &BranchName, run: &Run<'_>) -> String {
    let default = run.found.default_branch().map_or("", BranchName::as_str);
    let sources = application.all_sources().filter(|source| source.input.is_none());
    for source in sources {
        let name = match source.target_revision.as_str() {
            "" | "HEAD" => default,
            revision => revision.strip_prefix("refs/heads/").unwrap_or(revision),
        };
        if name != dry_branch.as_str() {
            return name.to_owned();
        }
    }
    default.to_owned()
}
