//! Applications of one name on one branch: they would have the same random values, which follow from the name.

use std::collections::{BTreeMap, BTreeSet};

use super::{Done, Hydration, Rendered, Step};
use crate::argo::{Application, BranchName, DrawnPaths, SeedIdentity};
use crate::hydrate::make::seeds::fail;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::View;

/// The paths of a branch whose Applications draw for the same.
type Shared = BTreeMap<SeedIdentity, Vec<RepoPath>>;

impl Run<'_> {
    /// Makes mistakes of the renders that draw for what another Application of their branch draws for. What did so before goes on.
    pub(crate) fn refuse_namesakes(&mut self, rendered: &mut Rendered) -> Result<(), Stopped> {
        // What a hydrated commit was made of was allowed then.
        if self.claimed.is_some() {
            return Ok(());
        }
        let mut refused: BTreeMap<BranchName, BTreeSet<RepoPath>> = BTreeMap::new();
        for (name, hydration) in rendered.hydrations().filter(|(_, hydration)| hydration.work.iter().any(drew_now)) {
            let recorded = self.branches.get(name).and_then(|branch| branch.drawn.as_ref());
            let shared = shared(hydration, recorded.filter(|_| hydration.untouched > 0));
            if !shared.is_empty() {
                let before = self.drawn_on(name, &rendered.head)?;
                refused.insert(name.clone(), shared.iter().flat_map(|shared| new(shared, &before)).collect());
            }
        }
        if refused.is_empty() {
            return Ok(());
        }
        let files = self.files(rendered.tree);
        let view = View::new(&*files);
        for (name, step) in &mut rendered.branches {
            let (Step::Hydrate(hydration), Some(refused)) = (step, refused.get(name)) else { continue };
            for done in hydration.work.iter_mut().filter(|done| drew_now(done)) {
                if refused.contains(&done.application.sync_path) {
                    fail(done, is_namesake(&done.application), &view)?;
                }
            }
        }
        Ok(())
    }
}

/// What several Applications of a branch draw for. Of those that were not looked at, `recorded` says it.
fn shared(hydration: &Hydration<Done>, recorded: Option<&DrawnPaths>) -> Shared {
    let mut all = Shared::new();
    let mut paths: BTreeSet<&RepoPath> = hydration.removals.iter().map(|removal| &removal.path).collect();
    for done in &hydration.work {
        let drawn = done.result.as_ref().ok().and_then(|output| output.drawn.as_ref());
        if let Some(drawn) = drawn {
            all.entry(drawn.identity.clone()).or_default().push(done.application.sync_path.clone());
        }
        paths.insert(&done.application.sync_path);
    }
    let others = recorded.into_iter().flatten().filter(|(path, _)| !paths.contains(path));
    for (path, drawn) in others {
        all.entry(drawn.identity.clone()).or_default().push(path.clone());
    }
    all.retain(|_, paths| paths.len() > 1);
    all
}

/// Those that did not draw for it before; but for one, where none did.
fn new((identity, paths): (&SeedIdentity, &Vec<RepoPath>), before: &DrawnPaths) -> Vec<RepoPath> {
    let drew = |path: &RepoPath| before.get(path).is_some_and(|drawn| drawn.identity == *identity);
    let new: Vec<RepoPath> = paths.iter().filter(|path| !drew(path)).cloned().collect();
    let first = usize::from(new.len() == paths.len());
    new.into_iter().skip(first).collect()
}

fn drew_now(done: &Done) -> bool {
    done.result.as_ref().is_ok_and(|output| output.is_fresh && output.drawn.is_some())
}

fn is_namesake(application: &Application) -> Diagnostic {
    let (name, branch) = (&application.name, application.environment_branch());
    let text = format!("`{name}` would have the random values of another Application of that name on `{branch}`");
    Diagnostic::error(text)
        .at(application.places.dry_path.clone())
        .hint("give it a name or a branch of its own: random values follow from both")
}
