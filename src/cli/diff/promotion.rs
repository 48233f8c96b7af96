//! `git hydrate diff --from BRANCH --to BRANCH`: what a promotion brings, before it is made.

use anyhow::bail;

use super::super::clone::Clone;
use super::super::{WrongUse, machine};
use crate::argo::{BranchName, Revision};
use crate::history::{self, Back, BranchStatus, Followed, RevisionKind};
use crate::metadata::Trailers;
use crate::owners::settings_named::by_settings;
use crate::owners::setup::{Setup, Wake};
use crate::owners::standing::hydrated_commit;
use crate::preview::{self, Against, MergeBase, Preview};
use crate::render::Renderers;
use crate::repo::{ObjectBuffer, ObjectId, object_id};
use crate::settings::SETTINGS_REF;
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
            if let Some(follows) = followed_in(&statuses, &to) {
                return tagged(clone, (&from, &there), (&to, status_of(&statuses, &to), follows));
            }
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

fn status_of<'s>(statuses: &'s [BranchStatus], branch: &BranchName) -> Option<&'s BranchStatus> {
    statuses.iter().find(|status| status.branch == branch.as_str())
}

fn followed_in<'s>(statuses: &'s [BranchStatus], branch: &BranchName) -> Option<&'s Followed> {
    status_of(statuses, branch)?.follows.as_ref()
}

/// What the Applications of a branch follow that is a tag, a range or a commit.
pub(in super::super) fn followed(clone: &Clone, branch: &BranchName) -> anyhow::Result<Option<Followed>> {
    Ok(followed_in(&statuses(clone)?, branch).cloned())
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
        let said = status_of(statuses, branch)
            .and_then(|status| Some((&status.dry_branch, object_id(status.dry_sha.as_deref()?)?)));
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

/// What a branch would be if its tag led to the dry commit that `from` shows.
fn tagged(
    clone: &Clone,
    (from, there): (&BranchName, &Shown),
    (to, status, follows): (&BranchName, Option<&BranchStatus>, &Followed),
) -> anyhow::Result<Preview> {
    let dry = there.dry_commit.to_hex_with_len(7);
    // What was shown of another revision is not of this one.
    let shown = follows.shown.as_ref().filter(|shown| Revision::read(&follows.revision).admits(shown));
    let led = follows.ahead.as_ref().map(|ahead| &ahead.resolved).or(shown);
    let tag = match (follows.kind, led) {
        (RevisionKind::Commit, _) => bail!(WrongUse(format!(
            "`{to}` shows the commit that its Applications name\nhint: to promote what `{from}` shows, write {} as \
             `targetRevision`; git hydrate diff --worktree shows what that changes",
            there.dry_commit
        ))),
        (RevisionKind::Tag, _) => follows.revision.strip_prefix("refs/tags/").unwrap_or(&follows.revision),
        (RevisionKind::Range, Some(tag)) => tag,
        (RevisionKind::Range, None) => bail!(WrongUse(format!(
            "no tag is in the range `{}` yet\nhint: git tag a version of it at {dry}; git hydrate diff shows what a push of \
             that tag changes",
            follows.revision
        ))),
    };
    if status.and_then(|status| status.dry_sha.as_ref()) == Some(&there.dry_commit.to_string()) {
        bail!(WrongUse(format!("`{to}` shows the dry commit that `{from}` shows: {dry}")));
    }
    let refs = clone.repository.refs()?;
    let Some(status) = status else { bail!(WrongUse(format!("branch `{to}` not found"))) };
    let branch = BranchName::new(&status.dry_branch)?;
    let Some(tip) = clone.place.tip(&refs, &branch) else {
        bail!(WrongUse(format!("the dry branch `{branch}` does not exist")))
    };
    let repository = by_settings(refs.get(SETTINGS_REF), &clone.repository)?;
    let repository = repository.assuming(&format!("refs/tags/{tag}"), Some(there.dry_commit));
    let renderers = Renderers::from_config(&repository, &machine()?)?;
    let progress = Progress::new();
    let setup = clone.setup(Wake::Commit { branch, tip }, &renderers, &progress);
    let setup = Setup { repository: &repository, ..setup };
    let mut preview = clone.explain(progress.during(|| preview::preview(&setup, &Against::Branches)))?;
    preview.environments.retain(|environment| environment.branch == *to);
    Ok(preview)
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
