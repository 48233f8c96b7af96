//! What two dry commits cannot be compared by: what one of them does not hydrate is neither new nor gone.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::argo::BranchName;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::report::{BehindPath, Outcome};
use crate::hydrate::state::Run;
use crate::repo::ObjectId;
use dry_files::diag::{Diagnostic, one_line};
use dry_files::path::RepoPath;

/// What of an environment branch is not compared, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotCompared {
    /// The Application, or its path; none for all of the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The destination path; none for all of the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// The dry commit that does not hydrate it.
    pub dry_sha: String,
    /// Whether that is the one that was compared with.
    pub before: bool,
    /// What is wrong with it there.
    pub cause: String,
}

/// `web cannot be compared: it does not render here: …`, `cannot be compared: 1a2b3c4 does not hydrate it: …; name an earlier commit …`
impl std::fmt::Display for NotCompared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(application) = &self.application {
            write!(f, "{application} ")?;
        }
        let id = self.dry_sha.get(..7).unwrap_or(&self.dry_sha);
        let cause = &self.cause;
        match (self.before, &self.application) {
            (true, None) => write!(f, "cannot be compared: {id} does not hydrate it: {cause}")?,
            (true, Some(_)) => write!(f, "cannot be compared: {id} does not render it: {cause}")?,
            (false, _) => return write!(f, "cannot be compared: it does not render here: {cause}"),
        }
        f.write_str("; name an earlier commit that does: `--against COMMIT`")
    }
}

/// What a dry commit that is compared with does not hydrate, by branch.
#[derive(Debug, Default)]
pub(super) struct Before {
    dry_sha: String,
    branches: BTreeMap<BranchName, OfBranch>,
}

#[derive(Debug, Default)]
struct OfBranch {
    /// Why it does not hydrate at all.
    mistakes: Vec<Diagnostic>,
    behind: Vec<BehindPath>,
    failures: Vec<Diagnostic>,
}

impl Before {
    /// Of a run that began without branches.
    pub(super) fn of(run: &Run<'_>, dry: ObjectId) -> Self {
        let branches = run.branches.iter().filter(|(_, branch)| branch.failure().is_some() || has_left(branch));
        let of_branch = |(name, branch): (&BranchName, &Branch)| {
            let report = branch.clone().into_report();
            let mistakes = match report.outcome {
                Outcome::Failed { diagnostics, .. } => diagnostics,
                Outcome::Moved | Outcome::Unchanged | Outcome::Frozen(_) => Vec::new(),
            };
            (name.clone(), OfBranch { mistakes, behind: report.behind, failures: report.mistakes })
        };
        Self { dry_sha: dry.to_string(), branches: branches.map(of_branch).collect() }
    }

    /// Without the mistakes of branches of which something is known all the same.
    pub(super) fn without(mut self, is_known: impl Fn(&BranchName) -> bool) -> Self {
        for (name, of_branch) in &mut self.branches {
            if is_known(name) {
                of_branch.mistakes.clear();
            }
        }
        self
    }

    /// The branches of which nothing is known there.
    pub(super) fn unknown(&self) -> BTreeSet<BranchName> {
        let unknown = self.branches.iter().filter(|(_, of_branch)| !of_branch.mistakes.is_empty());
        unknown.map(|(name, _)| name.clone()).collect()
    }

    /// What of a branch cannot be compared, `behind` being what is not hydrated after for what `failures` say. A path that is known
    /// there shows that dry commit.
    pub(super) fn not_compared(
        &self,
        (branch, dry): (&BranchName, ObjectId),
        (behind, failures): (&mut [BehindPath], &[Diagnostic]),
        was_there: impl Fn(&RepoPath) -> bool,
    ) -> Vec<NotCompared> {
        let known = OfBranch::default();
        let before = self.branches.get(branch).unwrap_or(&known);
        if let Some(first) = before.mistakes.first() {
            let cause = one_line(&first.message);
            return vec![NotCompared {
                application: None,
                path: None,
                dry_sha: self.dry_sha.clone(),
                before: true,
                cause,
            }];
        }
        let mut all = Vec::new();
        for path in behind.iter_mut().filter(|path| path.dry_sha.is_none() && was_there(&path.path)) {
            path.dry_sha = Some(self.dry_sha.clone());
            if !path.paused && path.held.is_none() {
                all.push(of_path(path, (dry.to_string(), false), failures));
            }
        }
        let is_behind_too = |path: &BehindPath| behind.iter().any(|one| one.path == path.path);
        let lacking = before.behind.iter().filter(|path| path.dry_sha.is_none() && !is_behind_too(path));
        all.extend(lacking.map(|path| of_path(path, (self.dry_sha.clone(), true), &before.failures)));
        all
    }
}

fn has_left(branch: &Branch) -> bool {
    !branch.left.paths.is_empty()
}

fn of_path(path: &BehindPath, (dry_sha, before): (String, bool), failures: &[Diagnostic]) -> NotCompared {
    let name = path.application.as_deref().unwrap_or(path.path.as_str());
    let mut of_it = failures.iter().filter(|failure| failure.applications().any(|of| of == name));
    let cause = match of_it.next() {
        Some(failure) => one_line(&failure.message),
        None if path.held.is_some() => "the setting `hold` keeps it".to_owned(),
        None if path.paused => "it is paused there".to_owned(),
        None => "an input of it fails".to_owned(),
    };
    NotCompared { application: Some(name.to_owned()), path: Some(path.path.clone()), dry_sha, before, cause }
}
