//! `git hydrate diff --from BRANCH --to BRANCH`: what a promotion brings, before it is made.

use anyhow::bail;

use super::super::clone::Clone;
use super::super::{WrongUse, machine};
use crate::argo::BranchName;
use crate::history::{self, Back, BranchStatus};
use crate::metadata::Trailers;
use crate::owners::setup::Wake;
use crate::owners::standing::hydrated_commit;
use crate::preview::{self, Against, MergeBase, Preview};
use crate::render::Renderers;
use crate::repo::{ObjectBuffer, ObjectId, object_id};
use crate::show::Progress;

/// What `to` would be of the dry commit that `from` shows. What the two differ in by their own files is not shown.
///
/// A branch that is promoted to would have what its staging branch has of that dry commit; any other one is hydrated in memory.
pub(super) fn preview(clone: &Clone, (from, to): (&str, &str)) -> anyhow::Result<Preview> {
    let (from, to) = (clone.environment(from)?, clone.environment(to)?);
    if from == to {
        bail!(WrongUse(format!("--from and --to are both `{from}`")));
    }
    let statuses = statuses(clone)?;
    let staging = staging(&statuses, &to);
    let staged = match &staging[..] {
        [] => {
            let there = Shown::of(clone, &statuses, &from)?;
            let here = Shown::of(clone, &statuses, &to)?;
            refuse_as_far(clone, (&from, &there), (&to, &here))?;
            return hydrated(clone, there.dry_commit, (&to, &here));
        }
        all if all.contains(&from) => tip(clone, &from)?,
        [staging] => staged(clone, staging, Shown::of(clone, &statuses, &from)?.dry_commit)?,
        several => {
            let names: Vec<String> = several.iter().map(|name| format!("--from {name}")).collect();
            bail!(WrongUse(format!("`{to}` is promoted by directory: {}", names.join(", or "))))
        }
    };
    let (here, buffer) = (tip(clone, &to)?, ObjectBuffer::new(&clone.repository));
    let (old, new) = (buffer.commit(here)?.tree, buffer.commit(staged)?.tree);
    Ok(preview::preview_between(&to, (here, old), new, &buffer)?)
}

fn statuses(clone: &Clone) -> anyhow::Result<Vec<BranchStatus>> {
    let renderers = Renderers::from_config(&clone.repository, &machine()?)?;
    let progress = Progress::new();
    clone.explain(history::status(&clone.setup(Wake::Everything, &renderers, &progress)))
}

/// The staging branches that a branch of the clone's remote is promoted from; none of one that hydration writes.
pub(in super::super) fn staging_of(clone: &Clone, branch: &BranchName) -> anyhow::Result<Vec<BranchName>> {
    Ok(staging(&statuses(clone)?, branch))
}

fn staging(statuses: &[BranchStatus], branch: &BranchName) -> Vec<BranchName> {
    let promotions = statuses.iter().filter(|status| status.branch == branch.as_str());
    promotions.flat_map(|one| &one.promoted_from).filter_map(|from| BranchName::read(&from.branch).ok()).collect()
}

/// What an environment branch shows.
struct Shown {
    dry_branch: BranchName,
    dry_commit: ObjectId,
}

impl Shown {
    /// As `status` says it: a dry commit that changed nothing of a branch has no commit there. Of a branch that hydration does not
    /// write, by what made its newest commit.
    fn of(clone: &Clone, statuses: &[BranchStatus], branch: &BranchName) -> anyhow::Result<Self> {
        let status = statuses.iter().find(|status| status.branch == branch.as_str());
        let said = status.and_then(|status| Some((&status.dry_branch, object_id(status.dry_sha.as_deref()?)?)));
        if let Some((dry_branch, dry_commit)) = said
            && let Ok(dry_branch) = BranchName::new(dry_branch)
        {
            return Ok(Self { dry_branch, dry_commit });
        }
        match hydrated_commit(&clone.repository, tip(clone, branch)?)? {
            Some(Trailers { dry_branch, dry_commit, .. }) => Ok(Self { dry_branch, dry_commit }),
            None => bail!(WrongUse(format!("`{branch}` shows no dry commit"))),
        }
    }
}

/// Refuses two branches of one dry branch of which the second is as far: nothing but an edit of its files changes it.
fn refuse_as_far(
    clone: &Clone,
    (from, there): (&BranchName, &Shown),
    (to, here): (&BranchName, &Shown),
) -> anyhow::Result<()> {
    let is_as_far = clone.repository.is_ancestor(there.dry_commit, here.dry_commit);
    if there.dry_branch != here.dry_branch || !is_as_far {
        return Ok(());
    }
    bail!(WrongUse(format!(
        "`{to}` has all that `{from}` shows of `{}` ({}), by files of its own: to promote is to edit those, and `git hydrate diff \
         --worktree` shows what the edit changes",
        here.dry_branch,
        there.dry_commit.to_hex_with_len(7)
    )))
}

fn tip(clone: &Clone, branch: &BranchName) -> anyhow::Result<ObjectId> {
    match clone.place.tip(&clone.repository.refs()?, branch) {
        Some(tip) => Ok(tip),
        None => bail!(WrongUse(format!("branch `{branch}` not found"))),
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
fn hydrated(clone: &Clone, dry: ObjectId, (to, there): (&BranchName, &Shown)) -> anyhow::Result<Preview> {
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
