//! What a run did to a branch, and what is reported of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::{Branch, BranchUpdate};
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::plan::skipped::{Left, LeftBehind};
use crate::hydrate::report::{BehindPath, BranchReport, HydratedCommit, Named, Outcome, Skipped};
use crate::manifest::ChangedObjects;
use crate::metadata::DryCommit;
use crate::owners::revisions::Follows;
use crate::repo::{ObjectId, object_id};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

impl From<&Left> for BehindPath {
    fn from(left: &Left) -> Self {
        Self {
            path: left.path.clone(),
            dry_sha: left.dry_commit.map(|id| id.to_string()),
            application: left.application.as_ref().map(ToString::to_string),
            paused: left.is_paused,
            paused_at: left.paused_at.clone(),
            held: None,
            parent: left.parent.as_ref().map(ToString::to_string),
        }
    }
}

impl Branch {
    /// Notes by which Applications it failed, after [`Branch::fail`].
    pub(crate) fn fail_by(&mut self, failed: FailedBranch) {
        self.progress.failed = Some(failed);
    }

    /// Notes that it fails so until the documents of its Applications change.
    pub(crate) fn fail_until_changed(&mut self) {
        self.progress.lasts = true;
    }

    /// The Applications that it failed by, when it is renders that failed.
    pub(crate) fn failed(&self) -> Option<&FailedBranch> {
        self.progress.failed.as_ref()
    }

    /// Takes over what was made of a dry commit, with these settings.
    pub(crate) fn take(&mut self, made: BranchUpdate, dry: &DryCommit, settings: Option<ObjectId>) {
        let BranchUpdate {
            new_sync,
            commit,
            changed,
            namespaces,
            objects,
            removed,
            left,
            drawn,
            seen,
            identities,
            inputs,
        } = made;
        (self.drawn, self.seen, self.identities, self.inputs) = (drawn, seen, identities, inputs);
        self.progress.new_sync = new_sync;
        self.left = left;
        if let Some(commit) = commit {
            self.progress.namespaces.extend(namespaces);
            self.progress.rendered = objects.filter(|_| self.progress.commits.is_empty());
            self.progress.commits.push(HydratedCommit { changed, removed, ..HydratedCommit::of(commit.id, dry) });
            self.tip = Some(commit);
            self.made_below = None;
            self.metadata = OnceLock::new();
        }
        self.source = dry.source();
        self.reach(dry.definition(), settings);
    }

    /// The destination paths that its commits of this run wrote or removed.
    pub(crate) fn moved_paths(&self) -> BTreeSet<&RepoPath> {
        self.own_commits().iter().flat_map(|commit| commit.changed.iter().chain(&commit.removed)).collect()
    }

    /// The namespace of the objects of a path that name none, where that is known.
    pub(crate) fn namespace(&self, path: &RepoPath) -> Option<&str> {
        self.progress.namespaces.get(path).map(String::as_str)
    }

    /// The commits that the run made of its dry branch, after those of other dry branches that share it.
    fn own_commits(&self) -> &[HydratedCommit] {
        self.progress.commits.get(self.progress.earlier.commits..).unwrap_or_default()
    }

    /// Whether this run made no commit on it of its dry branch.
    pub(crate) fn has_no_commit(&self) -> bool {
        self.own_commits().is_empty()
    }

    /// The parent of the first commit that the run made of its dry branch.
    pub(crate) fn own_base(&self) -> Option<ObjectId> {
        let earlier = self.progress.earlier.commits.checked_sub(1);
        let last = earlier.and_then(|last| self.progress.commits.get(last));
        last.and_then(|last| object_id(&last.id)).or(self.base())
    }

    /// How many objects each path of its only commit of this run has, where all were rendered for it.
    pub(crate) fn rendered(&self) -> Option<&BTreeMap<RepoPath, usize>> {
        self.progress.rendered.as_ref()
    }

    /// Notes what of its objects differs from before the run.
    pub(crate) fn note_objects(&mut self, objects: Option<ChangedObjects>) {
        self.progress.objects = objects;
    }

    /// Notes that a dry commit did not hydrate.
    pub(crate) fn fail(&mut self, dry_commit: ObjectId, diagnostics: Vec<Diagnostic>, recorded: bool) {
        let dry_sha = dry_commit.to_string();
        let message = diagnostics.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default();
        self.progress.skipped.push(Skipped { dry_sha: dry_sha.clone(), message });
        self.progress.failure = Some(Outcome::Failed { dry_sha, diagnostics, recorded, unnamed: false });
        self.progress.failed = None;
        self.progress.lasts = false;
    }

    /// Notes that an earlier run has reported why it failed, if that is that no Application names it.
    pub(crate) fn note_unnamed(&mut self) {
        if let Some(Outcome::Failed { diagnostics, unnamed, .. }) = &mut self.progress.failure {
            *unnamed = diagnostics.iter().all(Diagnostic::is_unnamed);
        }
    }

    /// Notes that a dry commit is hydrated, whether or not it took a commit.
    pub(crate) fn reach(&mut self, dry_commit: ObjectId, settings: Option<ObjectId>) {
        self.progress.failure = None;
        self.progress.reached = true;
        self.progress.failed = None;
        self.renamed_from = None;
        self.dry = Some(dry_commit);
        self.settings = settings;
    }

    /// Whether the branch is just what hydration makes of this dry commit.
    pub(crate) fn has_reached(&self, dry: ObjectId) -> bool {
        !self.closed && self.progress.failure.is_none() && self.dry == Some(dry) && self.tip.is_some()
    }

    /// Whether it shows a dry commit, and nothing kept it from that.
    pub(crate) fn is_hydrated(&self) -> bool {
        !self.closed && self.progress.failure.is_none() && self.tip.is_some()
    }

    /// How it failed, if it did.
    pub(crate) fn failure(&self) -> Option<&Outcome> {
        self.progress.failure.as_ref()
    }

    /// Why it could not be hydrated from this dry commit, when it is renders that failed.
    pub(crate) fn failed_at(&self, dry: ObjectId) -> Option<&FailedBranch> {
        let is_there = |dry_sha: &str| object_id(dry_sha) == Some(dry);
        match &self.progress.failure {
            Some(Outcome::Failed { dry_sha, .. }) if is_there(dry_sha) && !self.closed => self.progress.failed.as_ref(),
            _ => None,
        }
    }

    /// What is wrong with this dry commit, when that lasts until the documents of its Applications change.
    pub(crate) fn lasting_at(&self, dry: ObjectId) -> Option<&[Diagnostic]> {
        match &self.progress.failure {
            Some(Outcome::Failed { dry_sha, diagnostics, .. }) if self.progress.lasts && !self.closed => {
                (object_id(dry_sha) == Some(dry)).then_some(diagnostics)
            }
            _ => None,
        }
    }

    /// What of it stays at an earlier dry commit than `dry`, which it shows.
    pub(crate) fn left_at(&self, dry: ObjectId) -> Option<&LeftBehind> {
        (self.has_reached(dry) && !self.left.paths.is_empty()).then_some(&self.left)
    }

    /// What the run did to the branch, of each dry branch that shares it by itself.
    pub(crate) fn into_reports(mut self) -> Vec<BranchReport> {
        let (applications, new) = (self.all_applications(), self.tip.as_ref().map(|tip| tip.id.to_string()));
        let mut reports = std::mem::take(&mut self.progress.earlier.reports);
        for report in &mut reports {
            report.applications = applications;
            // Those that made nothing of it show how all of them leave it.
            if report.commits.is_empty() {
                report.new.clone_from(&new);
            }
        }
        reports.push(self.into_report());
        reports
    }

    /// What its Applications name, where that is a tag, a range or a commit; what led to what it shows, where they name nothing.
    fn named(&self) -> Option<Named> {
        let source = match &self.follows {
            Follows::Branch => return None,
            Follows::Source(source) => source,
            Follows::Nothing(_) => self.source.as_ref()?,
        };
        let is_news = self.source_before() != Some(source);
        Some(Named { resolved: source.resolved.clone(), dry_sha: source.commit.to_string(), is_news })
    }

    /// What its dry branch did to it.
    pub(crate) fn into_report(mut self) -> BranchReport {
        let is_left = self.progress.failure.is_none();
        let behind = self.left.paths.iter().filter(|_| is_left).map(BehindPath::from);
        let applications = self.all_applications();
        let commits = self.progress.commits.split_off(self.progress.earlier.commits);
        let skipped = self.progress.skipped.split_off(self.progress.earlier.skipped);
        let moved = if commits.is_empty() { Outcome::Unchanged } else { Outcome::Moved };
        let made_before = self.progress.commits.pop().map(|commit| commit.id);
        BranchReport {
            branch: self.name.to_string(),
            revision: self.named(),
            dry_branch: self.dry_branch.to_string(),
            dry_sha: self.dry_tip.to_string(),
            old: made_before.or(self.before.old.map(|id| id.to_string())),
            new: self.tip.as_ref().map(|tip| tip.id.to_string()),
            applications,
            commits,
            objects: self.progress.objects,
            skipped,
            behind: behind.collect(),
            mistakes: if is_left { self.left.diagnostics() } else { Vec::new() },
            outcome: self.progress.failure.unwrap_or(moved),
            aside: None,
        }
    }
}
