//! Which Applications a branch showed at a commit of its history.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::path::RepoPath;

use crate::argo::{Application, BranchName};
use crate::hydrate::dry_tree::Former;
use crate::hydrate::make::manifest_of::manifest_of;
use crate::hydrate::state::Run;
use crate::metadata::{Behind, Rollback, Trailers};
use crate::owners::error::HydrateError;
use crate::owners::files::METADATA;
use crate::owners::heads::DryHead;
use crate::owners::standing::{line, nearest_commit, provenance};
use crate::repo::{Commit, Error, ObjectId};
use crate::settings::is_name_of;

/// What a branch showed below rollbacks of it.
struct Shown {
    dry: ObjectId,
    dry_branch: BranchName,
    settings: Option<ObjectId>,
    behind: Vec<Behind>,
}

impl Run<'_> {
    /// What fed a branch whose newest commit is a rollback of all of it: the Applications that it was held against.
    pub(crate) fn fed_before_rollback(
        &mut self,
        (name, settings): (&BranchName, Option<ObjectId>),
        rollback: Rollback,
        tip: &Commit,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Former, HydrateError> {
        let behind = self.shown_at(name, tip)?.map(|shown| shown.behind).unwrap_or_default();
        let mut former = self.fed_until((name, settings, &behind), Some(rollback.held_by), tip, (head, heads))?;
        let newest = nearest_commit(tip, &self.found.buffer, |trailers| trailers.branch == *name)?;
        let with = newest.map(|(_, trailers)| trailers.brought_back().to_vec()).unwrap_or_default();
        if !with.is_empty() && self.found.setup.repository.has(rollback.to) {
            let to = self.found.buffer.commit(rollback.to)?;
            let then = self.fed_at(name, &to, (head, heads))?.unwrap_or_default();
            let came_back = then.into_iter().filter(|one| with.iter().any(|name| is_name_of(name, one)));
            former.applications.extend(came_back);
        }
        Ok(former)
    }

    /// What fed a branch that was hydrated from `dry`, with what went back since by `tip`: its files are where its document led when
    /// it went back, and so not where the dry commit has it that they show.
    pub(crate) fn fed_until(
        &mut self,
        (name, settings, behind): (&BranchName, Option<ObjectId>, &[Behind]),
        dry: Option<ObjectId>,
        tip: &Commit,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Former, HydrateError> {
        let mut former = self.fed_by((name, settings, behind), dry, (head, heads))?;
        let known: BTreeSet<RepoPath> = former.applications.iter().map(|one| one.sync_path.clone()).collect();
        for Behind { path, .. } in behind.iter().filter(|one| one.dry_commit.is_some() && !known.contains(&one.path)) {
            let Some(dry) = self.led_to(name, path, tip)? else { continue };
            let then = self.fed_by((name, settings, &[]), Some(dry), (head, heads))?;
            former.applications.extend(then.applications.into_iter().find(|one| one.sync_path == *path));
        }
        Ok(former)
    }

    /// The dry commit whose documents led to a path when its manifest, as `tip` has it, was written.
    fn led_to(&self, name: &BranchName, path: &RepoPath, tip: &Commit) -> Result<Option<ObjectId>, Error> {
        let buffer = &self.found.buffer;
        let manifest = |commit: &Commit| manifest_of(&self.found.tree_of(commit.tree), path);
        let now = manifest(tip)?;
        let mut writer = None;
        for commit in line(tip, buffer) {
            let commit = commit?;
            if manifest(&commit)? != now {
                break;
            }
            writer = Trailers::read(&commit.message).filter(|trailers| trailers.branch == *name);
        }
        Ok(writer.map(|writer| writer.rollback.map_or(writer.definition(), |rollback| rollback.held_by)))
    }

    /// The Applications that a branch showed when `commit` was its newest; none where the dry commit is not here.
    pub(super) fn fed_at(
        &mut self,
        name: &BranchName,
        commit: &Commit,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Option<Vec<Arc<Application>>>, HydrateError> {
        let Some(Shown { dry, dry_branch, settings, behind }) = self.shown_at(name, commit)? else { return Ok(None) };
        let settings = settings.filter(|id| self.found.setup.repository.has(*id));
        // Another dry branch may have led the branch then.
        let head = DryHead { branch: dry_branch, tip: head.tip };
        let former = self.fed_until((name, settings, &behind), Some(dry), commit, (&head, heads))?;
        Ok(former.tree.is_some().then_some(former.applications))
    }

    /// What the newest commit of hydration from `from` on showed; of a rollback of the whole branch, what was there before it.
    fn shown_at(&self, name: &BranchName, from: &Commit) -> Result<Option<Shown>, Error> {
        let buffer = &self.found.buffer;
        let is_its = |trailers: &Trailers| trailers.branch == *name;
        let Some((commit, newest)) = nearest_commit(from, buffer, is_its)? else { return Ok(None) };
        let held_by = newest.whole_rollback().map(|rollback| rollback.held_by);
        let is_hydrated = |trailers: &Trailers| is_its(trailers) && trailers.whole_rollback().is_none();
        let Some((below, trailers)) = nearest_commit(&commit, buffer, is_hydrated)? else { return Ok(None) };
        let behind = provenance(buffer, below.tree, METADATA)?.map(|found| found.behind).unwrap_or_default();
        let dry = held_by.unwrap_or(trailers.definition());
        let Trailers { dry_branch, settings_commit: settings, .. } = trailers;
        Ok(Some(Shown { dry, dry_branch, settings, behind }))
    }
}
