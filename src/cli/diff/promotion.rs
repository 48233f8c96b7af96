//! `git hydrate diff --from BRANCH --to BRANCH`: what a promotion brings, before it is made.

use anyhow::bail;

use super::super::clone::Clone;
use super::super::{WrongUse, machine};
use crate::argo::BranchName;
use crate::history::{self, Back};
use crate::metadata::Trailers;
use crate::owners::setup::Wake;
use crate::owners::standing::hydrated_commit;
use crate::preview::{self, Against, MergeBase, Preview};
use crate::render::Renderers;
use crate::repo::{ObjectBuffer, ObjectId};
use crate::show::Progress;

/// What `to` would be of the dry commit that `from` shows. What the two differ in by their own files is not shown.
///
/// A branch that is promoted to would have what its staging branch has of that dry commit; any other one is hydrated in memory.
pub(super) fn preview(clone: &Clone, (from, to): (&str, &str)) -> anyhow::Result<Preview> {
    let (from, to) = (clone.environment(from)?, clone.environment(to)?);
    if from == to {
        bail!(WrongUse(format!("--from and --to are both `{from}`")));
    }
    let staging = staging(clone, &to)?;
    let staged = match &staging[..] {
        [] => return hydrated(clone, shown(clone, &from)?.dry_commit, (&to, &shown(clone, &to)?)),
        all if all.contains(&from) => tip(clone, &from)?,
        [staging] => staged(clone, staging, shown(clone, &from)?.dry_commit)?,
        several => {
            let names: Vec<String> = several.iter().map(|name| format!("--from {name}")).collect();
            bail!(WrongUse(format!("`{to}` is promoted by directory: {}", names.join(", or "))))
        }
    };
    let (here, buffer) = (tip(clone, &to)?, ObjectBuffer::new(&clone.repository));
    let (old, new) = (buffer.commit(here)?.tree, buffer.commit(staged)?.tree);
    Ok(preview::preview_between(&to, (here, old), new, &buffer)?)
}

/// The staging branches that a branch is promoted from; none of one that hydration writes.
fn staging(clone: &Clone, branch: &BranchName) -> anyhow::Result<Vec<BranchName>> {
    let renderers = Renderers::from_config(&clone.repository, &machine()?)?;
    let progress = Progress::new();
    let statuses = clone.explain(history::status(&clone.setup(Wake::Everything, &renderers, &progress)))?;
    let promotions = statuses.into_iter().filter(|status| status.branch == branch.as_str());
    Ok(promotions.flat_map(|one| one.promoted_from).filter_map(|from| BranchName::read(&from.branch).ok()).collect())
}

fn tip(clone: &Clone, branch: &BranchName) -> anyhow::Result<ObjectId> {
    match clone.place.tip(&clone.repository.refs()?, branch) {
        Some(tip) => Ok(tip),
        None => bail!(WrongUse(format!("branch `{branch}` not found"))),
    }
}

/// What made the commit that a branch shows.
fn shown(clone: &Clone, branch: &BranchName) -> anyhow::Result<Trailers> {
    match hydrated_commit(&clone.repository, tip(clone, branch)?)? {
        Some(trailers) => Ok(trailers),
        None => bail!(WrongUse(format!("`{branch}` shows no dry commit"))),
    }
}

/// What a staging branch shows of a dry commit.
fn staged(clone: &Clone, branch: &BranchName, dry: ObjectId) -> anyhow::Result<ObjectId> {
    match history::back(&clone.repository, &clone.place, (branch, tip(clone, branch)?), Back::Commit(dry))? {
        Some(found) => Ok(found),
        None => bail!(WrongUse(format!("`{branch}` shows nothing of the dry commit {}", dry.to_hex_with_len(7)))),
    }
}

/// What a branch that hydration writes would be, if the dry commit were merged into the dry branch that it is hydrated from.
fn hydrated(clone: &Clone, dry: ObjectId, (to, there): (&BranchName, &Trailers)) -> anyhow::Result<Preview> {
    let renderers = Renderers::from_config(&clone.repository, &machine()?)?;
    let progress = Progress::new();
    let wake = Wake::Commit { branch: there.dry_branch.clone(), tip: dry };
    let base = MergeBase::of(&clone.repository, dry, (&there.dry_branch, there.dry_commit));
    let against = base.map_or(Against::Branches, Against::MergeBase);
    let setup = clone.setup(wake, &renderers, &progress);
    let mut preview = clone.explain(progress.during(|| preview::preview(&setup, &against)))?;
    preview.environments.retain(|environment| environment.branch == *to);
    Ok(preview)
}
