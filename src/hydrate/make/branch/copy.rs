//! The commit that a rollback makes on a branch.

use std::sync::OnceLock;

use super::Branch;
use super::make::write;
use crate::argo::HeldIdentity;
use crate::hydrate::plan::skipped::Left;
use crate::hydrate::report::HydratedCommit;
use crate::hydrate::rollback::Planned;
use crate::metadata::{DryCommit, Origin, Rollback, Wanted};
use crate::owners::error::HydrateError;
use crate::owners::files::PATH_FILES;
use crate::owners::snapshot::Snapshot;
use crate::repo::Commit;
use crate::repo::publish::Edits;
use crate::settings::Hold;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// A commit whose files were copied.
#[derive(Debug)]
pub(crate) struct Copied {
    /// The commit.
    pub commit: Commit,
    /// The paths whose manifests are others.
    pub changed: Vec<RepoPath>,
    /// The dry commit that the branch shows by it.
    pub dry: DryCommit,
    /// Whether it is the whole branch.
    is_whole: bool,
    /// The paths that show another dry commit then, each with its Application where that went back.
    left: Vec<Left>,
}

impl Branch {
    /// Makes the commit of a rollback; none when all that goes back is there already. `dry` is what the branch shows then.
    ///
    /// Errors: the repository; within, why it cannot be made on what is there.
    pub(crate) fn copy(
        &self,
        found: &Snapshot<'_>,
        (rollback, hold): (Rollback, &Hold),
        planned: Planned,
        (dry, repo_url): (DryCommit, &str),
    ) -> Result<Result<Option<Copied>, Diagnostic>, HydrateError> {
        let (buffer, policy) = (&found.buffer, &found.policy);
        let Some(tip) = &self.tip else { return Ok(Ok(None)) };
        let Planned { paths, behind, vacated, .. } = planned;
        let left = behind.iter().map(|behind| {
            let copied = paths.get(&behind.path).map(|path| path.application.name.clone());
            let known = self.left.paths.iter().find(|left| left.path == behind.path);
            Left {
                path: behind.path.clone(),
                dry_commit: behind.dry_commit,
                is_paused: copied.is_some() || known.is_some_and(|left| left.is_paused),
                paused_at: known.and_then(|left| left.paused_at.clone()),
                parent: None,
                application: copied.or_else(|| known.and_then(|left| left.application.clone())),
                objects: None,
            }
        });
        let left: Vec<Left> = left.collect();
        if !hold.is_whole() && paths.values().all(|path| path.files.is_empty()) {
            return Ok(Ok(None));
        }
        let mut edits = Edits::default();
        let mut changed = Vec::new();
        for (dir, path) in paths {
            for (name, blob) in path.files {
                match blob {
                    Some(blob) => edits.put(buffer, &dir, name, blob),
                    None => edits.remove(&dir, [name]),
                }
            }
            changed.extend(path.is_changed.then_some(dir));
        }
        vacated.iter().for_each(|dir| edits.remove(dir, PATH_FILES));
        let plain = Origin { repo_url, branch: &self.dry_branch, commit: &dry };
        let dated = self.dated(&dry, &RepoPath::root(), (policy, buffer))?;
        let origin = Origin { commit: &dated, ..plain };
        edits.write(buffer, &RepoPath::root(), &policy.writer.files_for_root(&origin, &behind))?;
        if let Some(fault) = edits.fault(&found.tree_of(tip.tree))? {
            return Ok(Err(self.malformed(&fault)));
        }
        let tree = edits.apply(buffer, tip.tree)?;
        let identities: Vec<HeldIdentity> = self.identities.iter().collect();
        let mut held = if hold.is_whole() { Vec::new() } else { self.held(found) };
        held.extend(hold.applications.iter().cloned());
        held.sort_unstable();
        held.dedup();
        let Hold { reason, applications, with, .. } = hold;
        let wanted = Wanted { rollback, reason, applications, with, held };
        let message = policy.writer.rollback_message(&origin, &self.name, policy.id, identities, wanted);
        let commit = write(buffer, policy, &dry, tree, Some(tip), message)?;
        Ok(Ok(Some(Copied { commit, changed, dry, is_whole: hold.is_whole(), left })))
    }

    /// Takes over the commit of a rollback.
    pub(crate) fn take_copied(&mut self, copied: Copied) {
        let Copied { commit, changed, dry, is_whole, left } = copied;
        self.progress.rendered = None;
        self.progress.commits.push(HydratedCommit { changed, ..HydratedCommit::of(commit.id, &dry) });
        self.progress.is_rolled_back = true;
        self.tip = Some(commit);
        self.made_below = None;
        self.metadata = OnceLock::new();
        match is_whole {
            true => (self.dry, self.source) = (Some(dry.definition()), dry.source()),
            false => self.left.paths = left,
        }
    }
}
