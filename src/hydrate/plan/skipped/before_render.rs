//! What a dry commit leaves as it is on a branch, as far as that is known before anything is rendered.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::Diagnostic;

use crate::argo::{Application, BranchName, PAUSED};
use crate::hydrate::dry_tree::{DryTree, Mistaken};
use crate::hydrate::dry_tree::{Former, destination};
use crate::hydrate::plan::moved_applications::name_of;
use crate::hydrate::plan::skipped::{Leaving, Unrendered, WhyUnrendered};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;

/// What of a branch is not rendered, because it is paused or something is wrong with it; or why the branch as a whole
/// stays.
pub(crate) fn leaving(
    name: &BranchName,
    tree: &DryTree,
    (former, mistaken): (Former, Mistaken),
    leaves_failed: bool,
    run: &mut Run<'_>,
    (head, heads): (&DryHead, &[DryHead]),
) -> Result<Result<Leaving, Vec<Diagnostic>>, Stopped> {
    let mut unrendered = Vec::new();
    for application in tree.applications(name) {
        let why = match application.paused || run.found.is_held(name, application) {
            true => WhyUnrendered::Paused,
            false if mistaken.colliding.contains(&application.sync_path) => WhyUnrendered::Collides,
            false => continue,
        };
        unrendered.push(Unrendered { application: application.clone(), why });
    }
    let is_promoted = run.found.policy.settings.is_shared(name);
    let paused = unrendered.iter().filter(|unrendered| unrendered.why == WhyUnrendered::Paused);
    let promoted = paused.filter(|paused| is_promoted || paused.application.hydrate_to.is_some());
    let promoted: Vec<Diagnostic> = promoted.map(|paused| paused_and_promoted(&paused.application)).collect();
    if !promoted.is_empty() {
        return Ok(Err(promoted));
    }
    let unread = mistaken.unread.into_iter();
    unrendered.extend(unread.map(|application| Unrendered { application, why: WhyUnrendered::Unread }));
    let gone: Vec<Arc<Application>> = held_and_gone(name, tree, &former, run).collect();
    let was_there = |gone: &&Arc<Application>| {
        let mut before = former.tree.iter().flat_map(|tree| tree.applications(name));
        before.any(|before| name_of(before) == name_of(gone))
    };
    let leave = gone.iter().filter(was_there).map(|gone| held_and_deleted(name, gone, head));
    run.report.warnings.extend(leave.collect::<Vec<_>>());
    unrendered.extend(gone.into_iter().map(|application| Unrendered { application, why: WhyUnrendered::Gone }));
    let doubtful = doubtful(name, tree, &former, &unrendered);
    let uncertain = if doubtful.is_empty() { doubtful } else { uncertain(name, doubtful, run, (head, heads))? };
    let uncertain = uncertain.into_iter().map(|application| application.sync_path.clone()).collect();
    Ok(Ok(Leaving {
        leaves_failed,
        unrendered,
        mistakes: mistaken.diagnostics,
        former: former.applications,
        uncertain,
    }))
}

/// The Applications of before that are held and that the dry commit does not have.
fn held_and_gone<'f>(
    name: &'f BranchName,
    tree: &'f DryTree,
    former: &'f Former,
    run: &'f Run<'_>,
) -> impl Iterator<Item = Arc<Application>> + 'f {
    let is_here = |one: &Application| tree.applications(name).any(|application| name_of(application) == name_of(one));
    let held = former.applications.iter().filter(|application| run.found.is_held(name, application));
    held.filter(move |application| !is_here(application)).cloned()
}

/// That a hold keeps the files of an Application, and not the Application.
fn held_and_deleted(name: &BranchName, gone: &Application, head: &DryHead) -> Diagnostic {
    let text = format!("`{}` is held on `{name}`, and `{}` has it no more", gone.name, head.branch);
    let hint = "the hold keeps its files. Where Argo CD reads its document from the dry branch, it deletes the Application, and its objects \
                with it: bring it back there, or remove its finalizer first";
    Diagnostic::warning(text).at(gone.places.name.clone()).hint(hint)
}

/// The Applications of before that stay where the dry commit does not have them.
fn doubtful(name: &BranchName, tree: &DryTree, former: &Former, unrendered: &[Unrendered]) -> Vec<Arc<Application>> {
    let here: BTreeSet<_> = tree.applications(name).map(|application| name_of(application)).collect();
    let paths: BTreeSet<_> =
        tree.applications(name).map(|application| (name_of(application), &application.sync_path)).collect();
    let has_moved = |former: &Application| {
        here.contains(&name_of(former)) && !paths.contains(&(name_of(former), &former.sync_path))
    };
    let is_unread = |former: &Arc<Application>| {
        let stays = |why| matches!(why, WhyUnrendered::Unread | WhyUnrendered::Gone);
        unrendered.iter().any(|one| stays(one.why) && one.application.sync_path == former.sync_path)
    };
    former.applications.iter().filter(|former| has_moved(former) || is_unread(former)).cloned().collect()
}

/// Those of which the newest commit of the branch says something else than its note: dry commits in between moved them to
/// other files, which changed no byte.
fn uncertain(
    name: &BranchName,
    doubtful: Vec<Arc<Application>>,
    run: &mut Run<'_>,
    (head, heads): (&DryHead, &[DryHead]),
) -> Result<Vec<Arc<Application>>, Stopped> {
    let Some(branch) = run.branches.get(name) else { return Ok(doubtful) };
    let (dry, shown) = (branch.dry, branch.tip_metadata(&run.found.buffer)?.dry_commit);
    if dry == shown {
        return Ok(Vec::new());
    }
    let former = run.former(name, shown, head, heads)?.destinations();
    Ok(doubtful.into_iter().filter(|application| !former.contains(&destination(application))).collect())
}

fn paused_and_promoted(application: &Application) -> Diagnostic {
    let branch = application.environment_branch();
    let text = format!("`{}` is paused, and `{branch}` is promoted as if it showed every dry commit", application.name);
    let hint = format!("remove the annotation `{PAUSED}`, and hold the promotion instead");
    application.tells(Diagnostic::error(text).at(application.places.name.clone()).hint(hint))
}
