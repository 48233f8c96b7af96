//! How branches that stay where they are differ from a dry tree: what Applications that come later, and those of a name that they
//! show still, would change.

use std::collections::BTreeSet;

use super::moved_applications::moved_from;
use crate::argo::{AppName, Application, BranchName};
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::memory::{Unshown, stuck};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::known::LACKING_MAX;
use crate::owners::heads::DryHead;
use crate::settings::Held;
use dry_files::path::RepoPath;

/// What the branches of `names` that do not move to the tip of `head`, whose dry tree is `tree`, show in place of it.
pub(crate) fn unshown<'n>(
    names: impl Iterator<Item = &'n BranchName>,
    tree: &DryTree,
    run: &mut Run<'_>,
    (head, heads): (&DryHead, &[DryHead]),
) -> Result<Unshown, Stopped> {
    let mut unshown = Unshown::default();
    for name in names {
        let Some(branch) = run.branches.get(name) else { continue };
        let is_of_documents = branch.lasting_at(head.tip).is_some();
        if !branch.is_frozen() && stuck(branch, head.tip, None).is_none() {
            continue;
        }
        let dry = branch.dry;
        let former = run.former(name, dry, head, heads)?;
        add_gone(&mut unshown, name, tree, &former);
        // What stays alone by itself depends on all that the branch has; and why others of it leave, on what comes.
        let holds_whole = run.found.policy.settings.on_failure.of(name) != Held::Application;
        if !is_of_documents || (holds_whole && !tree.mistakes(name, &former).is_empty()) {
            let paths: BTreeSet<&RepoPath> = former.applications.iter().map(|former| &former.sync_path).collect();
            let here = tree.applications(name).map(|application| &application.sync_path);
            let lacking: BTreeSet<RepoPath> = here.filter(|path| !paths.contains(path)).cloned().collect();
            if lacking.len() <= LACKING_MAX {
                unshown.lacking.insert(name.clone(), lacking);
            }
        }
    }
    Ok(unshown)
}

fn add_gone(unshown: &mut Unshown, name: &BranchName, tree: &DryTree, former: &Former) {
    let here: BTreeSet<&AppName> = tree.applications(name).map(|application| &application.name).collect();
    for gone in former.applications.iter().filter(|former| !here.contains(&former.name)) {
        unshown.gone.insert(gone.name.clone());
        unshown.gone.extend(makers_of(gone, former));
    }
    unshown.moved.extend(moved_from(name, tree, former).iter().map(|application| application.name.clone()));
}

/// The names of the Applications that made one.
fn makers_of(application: &Application, former: &Former) -> Vec<AppName> {
    let makers = former.tree.iter().flat_map(|tree| tree.makers(application));
    makers.flat_map(|maker| maker.parents()).filter_map(|by| AppName::new(by.name()).ok()).collect()
}
