//! What hydration keeps in refs that are no branches: notes of hydrated commits, and dry commits that failed.
//!
//! Somebody else, or a power failure, may make garbage of such a ref. Hydration goes on without it then, says so, and
//! leaves the ref as it is.

use std::collections::BTreeMap;

use dry_files::diag::{Diagnostic, chain};
use dry_files::path::RepoPath;

use super::failures::{Failure, Failures};
use super::heads::DryHead;
use crate::argo::BranchName;
use crate::metadata::{DryCommit, ENGINE_REVISION, NOTES_REF, Note, Time};
use crate::repo::{Error, Notes, ObjectBuffer, ObjectId, Refs};
use crate::settings::Holds;

/// Notes and failures, with what was added since they were read.
pub(crate) struct Ledger {
    pub notes: Notes,
    pub failures: Failures,
    /// The failures that were recorded before.
    recorded: Failures,
    pub faults: Faults,
    /// The settings with what the run found out, where that is new.
    pub learnt: Option<ObjectId>,
    /// The dry commits of this run that reached a limit on a branch.
    limited: Vec<(BranchName, Failure)>,
    /// The date of the dry commit that was hydrated last.
    pub newest_dry: Option<Time>,
    /// Whether failures that were recorded before are believed.
    pub believes_failures: bool,
    /// The programs that are set up here, as [`crate::render::Renderers::programs`] has them.
    programs: String,
    /// What is held.
    holds: Holds,
}

impl Ledger {
    /// As they were read.
    pub(crate) fn new(notes: Notes, failures: Failures, faults: Faults, programs: String, holds: Holds) -> Self {
        let limited = Vec::new();
        let recorded = failures.clone();
        let (learnt, newest_dry, believes_failures) = (None, None, true);
        Self { notes, failures, recorded, faults, learnt, limited, newest_dry, believes_failures, programs, holds }
    }

    /// Whether other failures are to be recorded than there are.
    pub(crate) fn has_other_failures(&self) -> bool {
        self.failures != self.recorded
    }

    /// What is recorded of a dry commit that did not hydrate onto a branch, by this engine, under these settings, with the same
    /// Applications held and the programs that are set up now.
    pub(crate) fn known_failure(
        &self,
        name: &BranchName,
        dry: ObjectId,
        settings: Option<ObjectId>,
    ) -> Option<&Failure> {
        let settings = settings.map(|id| id.to_string());
        let found = self.failures.find(name, &dry.to_string(), ENGINE_REVISION, settings.as_deref());
        let is_same = |failure: &&Failure| {
            failure.programs.as_ref().is_none_or(|programs| *programs == self.programs)
                && failure.held == self.holds.alone(name)
        };
        found.filter(is_same).filter(|failure| self.believes_failures && failure.behind.is_empty())
    }

    /// What was wrong with the Applications that stayed behind when a branch was hydrated from this dry commit.
    pub(crate) fn left_behind(&self, name: &BranchName, dry: ObjectId) -> Vec<Diagnostic> {
        let dry_sha = dry.to_string();
        let is_it = |failure: &&Failure| failure.dry_sha == dry_sha && !failure.behind.is_empty();
        self.failures.of(name).iter().find(is_it).map(|failure| failure.diagnostics.clone()).unwrap_or_default()
    }

    /// Records that a dry commit does not hydrate onto a branch, or onto the paths `behind` of it.
    pub(crate) fn record_failure(
        &mut self,
        name: &BranchName,
        head: &DryHead,
        dry: ObjectId,
        settings: Option<ObjectId>,
        diagnostics: Vec<Diagnostic>,
        behind: Vec<RepoPath>,
    ) {
        let held = self.holds.alone(name);
        self.failures.add(name, Failure { held, ..failure(head, dry, settings, diagnostics, behind) });
    }

    /// Notes that a recorded failure of a dry commit depends on the programs that are set up here.
    pub(crate) fn note_programs(&mut self, name: &BranchName, dry: ObjectId) {
        self.failures.note_programs(name, &dry.to_string(), &self.programs);
    }

    /// Notes that a dry commit did not hydrate onto a branch by what may be otherwise another time. That is kept for its pusher
    /// once a later one does.
    pub(crate) fn note_limit(
        &mut self,
        name: &BranchName,
        head: &DryHead,
        dry: ObjectId,
        settings: Option<ObjectId>,
        diagnostics: Vec<Diagnostic>,
    ) {
        self.limited.push((name.clone(), failure(head, dry, settings, diagnostics, Vec::new())));
    }

    /// Notes that a branch whose tip is `tip` now shows a dry commit; of the dry branch `shared`, where several share it.
    pub(crate) fn reached(
        &mut self,
        name: &BranchName,
        tip: Option<ObjectId>,
        dry: &DryCommit,
        shared: Option<&BranchName>,
        buffer: &ObjectBuffer<'_>,
    ) {
        if let Some(tip) = tip {
            let noted = self.notes.set(tip, &Note::of(dry).text(), buffer);
            noted.unwrap_or_else(|error| self.faults.give_up(NOTES_REF, &error));
        }
        self.failures.reached(name, shared, &dry.definition().to_string());
        let is_passed = |(branch, failure): &mut (BranchName, Failure)| {
            branch == name && shared.is_none_or(|of| failure.dry_branch == of.as_str())
        };
        for (_, failure) in self.limited.extract_if(.., is_passed) {
            self.failures.pass(name, failure);
        }
        self.newest_dry = Some(dry.date);
    }
}

fn failure(
    head: &DryHead,
    dry: ObjectId,
    settings: Option<ObjectId>,
    diagnostics: Vec<Diagnostic>,
    behind: Vec<RepoPath>,
) -> Failure {
    Failure {
        dry_sha: dry.to_string(),
        dry_branch: head.branch.to_string(),
        engine: ENGINE_REVISION,
        settings: settings.map(|id| id.to_string()),
        diagnostics,
        behind,
        held: Vec::new(),
        programs: None,
    }
}

const DOCTOR: &str = "`git hydrate doctor` on the server explains how to fix it";

/// Which of the refs cannot be used, and why. They are left as they are.
#[derive(Debug, Default)]
pub(crate) struct Faults(BTreeMap<&'static str, String>);

impl Faults {
    /// What a ref contains; none when it cannot be read.
    pub(crate) fn read<T>(
        &mut self,
        name: &'static str,
        refs: &Refs,
        read: impl FnOnce(Option<ObjectId>) -> Result<T, Error>,
    ) -> Option<T> {
        if refs.is_broken(name) {
            self.0.insert(name, "git cannot read it".to_owned());
            return None;
        }
        read(refs.get(name)).map_err(|error| self.give_up(name, &error)).ok()
    }

    /// Leaves a ref alone from here on.
    pub(crate) fn give_up(&mut self, name: &'static str, why: &Error) {
        self.0.insert(name, chain(why));
    }

    /// Whether a ref can be used.
    pub(crate) fn allows(&self, name: &str) -> bool {
        !self.0.contains_key(name)
    }

    /// The refs that cannot be used.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// That the refs cannot be used; with what an admin does where only hydration writes them.
    pub(crate) fn unusable(&self, are_guarded: bool) -> impl Iterator<Item = Diagnostic> {
        let said = |(name, why): (&&str, &String)| Diagnostic::warning(format!("`{name}` cannot be used: {why}"));
        self.0.iter().map(said).map(move |warning| if are_guarded { warning.hint(DOCTOR) } else { warning })
    }

    /// What to report of it; with what an admin does where only hydration writes these refs.
    pub(crate) fn warnings(&self, are_guarded: bool) -> impl Iterator<Item = Diagnostic> {
        self.0.iter().map(move |(name, why)| {
            let what = format!("`{name}` stays as it is, without what this push would add: {why}");
            let warning = Diagnostic::warning(what);
            if are_guarded { warning.hint(DOCTOR) } else { warning }
        })
    }
}
