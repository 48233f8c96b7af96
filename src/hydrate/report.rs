//! What a run did, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::whose::{About, Whose};
use crate::argo::PAUSED;
use crate::diff::ObjectName;
use crate::manifest::ChangedObjects;
use crate::metadata::DryCommit;
use crate::repo::ObjectId;
use crate::settings::Freeze;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;

/// What a run did, as data: the edge shows it as text or JSON. Ids are full and in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The environment branches that were looked at, by name.
    pub branches: Vec<BranchReport>,
    /// What is wrong with the tip of a dry branch and concerns no environment branch that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Diagnostic>,
    /// What is odd at the tips of the dry branches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Diagnostic>,
    /// What hydration did beside hydrating, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether dry commits were left for the next run, because the time for this one was over.
    pub unfinished: bool,
    /// The refs that cannot be used and were left as they are, without what the run would have added.
    #[serde(skip)]
    pub(crate) left_alone: Vec<&'static str>,
    /// Which dry commit each part is about.
    #[serde(skip)]
    pub(crate) whose: Whose,
    /// The branches that it started, empty, for a promoter.
    #[serde(skip)]
    pub(crate) started: Vec<String>,
    /// Of the warnings, what an API server refuses objects for.
    #[serde(skip)]
    pub(crate) refusals: Vec<Refusal>,
}

/// What an API server refuses objects for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The warning.
    pub diagnostic: Diagnostic,
    /// What is said of each object: `Kubernetes 1.36 refuses it, so the sync fails: …`.
    pub what: String,
    /// The objects, each with its branch and destination path; none that were refused for it before.
    pub objects: Vec<(String, RepoPath, ObjectName)>,
}

impl Report {
    /// Whether the tips of the dry branches are hydrated wherever they should be.
    pub fn is_success(&self) -> bool {
        self.problems.is_empty() && self.branches.iter().all(BranchReport::is_success)
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty() && self.problems.is_empty() && self.warnings.is_empty() && self.notes.is_empty()
    }

    /// How many problems, warnings and notes there are so far.
    pub(crate) fn said(&self) -> [usize; 3] {
        [self.problems.len(), self.warnings.len(), self.notes.len()]
    }

    /// Notes what all is about that was said since, and of which nothing is noted yet.
    pub(crate) fn is_about(&mut self, since: [usize; 3], about: &About) {
        let said = self.said();
        for ((noted, since), now) in self.whose.about.iter_mut().zip(since).zip(said) {
            for place in since..now {
                noted.entry(place).or_insert_with(|| about.clone());
            }
        }
    }

    /// Adds a note that is about a dry commit.
    pub(crate) fn note(&mut self, about: &About, text: String) {
        let since = self.said();
        self.notes.push(text);
        self.is_about(since, about);
    }
}

/// One environment branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchReport {
    /// The branch.
    pub branch: String,
    /// The dry branch that it is hydrated from.
    pub dry_branch: String,
    /// The tip of the dry branch.
    pub dry_sha: String,
    /// What its Applications name, where that is a tag, a range or a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Named>,
    /// The commit before; none for a new branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The commit after; the same as before when no manifest changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// How many Applications write to it.
    pub applications: usize,
    /// The hydrated commits that were made, oldest first.
    pub commits: Vec<HydratedCommit>,
    /// What of its objects differs between the commit before and the one after; none where no commit was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ChangedObjects>,
    /// Dry commits that could not be hydrated although a later one could, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// The paths that stay at an earlier dry commit than the others, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<BehindPath>,
    /// What is wrong with the Applications of those that are not paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<Diagnostic>,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What a push is shown beside that, of which no more is shown than what came of its commits.
    #[serde(skip)]
    pub(crate) aside: Option<Aside>,
}

/// What others have to do with what came of the commits of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Aside {
    /// The process of another push hydrated them.
    ByAnotherPush,
    /// The last of them failed, and the branch was hydrated from a later one.
    PassedBy(String),
    /// They were not hydrated by themselves, and a later one was which contains them.
    ContainedIn(String),
    /// Their dry branch went to another commit, which does not contain them.
    Replaced(String),
    /// They are not hydrated yet.
    Waiting,
}

impl BranchReport {
    /// Drops the quoted lines, for a reader who may not be allowed to read the dry branch.
    pub(crate) fn unquoted(mut self) -> Self {
        let unquoted = |all: &mut Vec<Diagnostic>| {
            all.iter_mut().for_each(|one| one.span = one.span.take().map(Span::unquoted));
        };
        unquoted(&mut self.mistakes);
        if let Outcome::Failed { diagnostics, .. } = &mut self.outcome {
            unquoted(diagnostics);
        }
        self
    }

    /// Whether it is left as it is by all Applications, which an earlier run has reported.
    pub fn is_unnamed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { unnamed: true, .. })
    }

    /// Whether it shows the tip of its dry branch, but for what is paused or frozen; or no Application names it any more, and
    /// an earlier run has reported that.
    pub fn is_success(&self) -> bool {
        let is_failed = matches!(self.outcome, Outcome::Failed { unnamed: false, .. });
        !is_failed && self.mistakes.is_empty() && self.behind.iter().all(|behind| behind.paused)
    }
}

/// A path of an environment branch that stays at an earlier dry commit than the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BehindPath {
    /// The path.
    pub path: RepoPath,
    /// The dry commit that it shows; none when nothing was hydrated into it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_sha: Option<String>,
    /// The Application, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// Whether somebody wants it so; else the Application failed.
    pub paused: bool,
    /// Where the Application says so, without its line; none where that does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Span>,
    /// Why the setting `hold` keeps it as it is; none where that does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// The Application that stays as it is and has this one among its objects, where the dry commit has this one no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// `web-prod is behind: web shows dry commit 1a2b3c4`, `web is held: it shows dry commit 1a2b3c4: outage` of an Application of the
/// name of its path, `web-prod is paused: web shows dry commit 1a2b3c4 (git-hydrate/paused at applications/prod/web.yaml:6:5)`,
/// `db stays as it is: root, which has it, is behind`
impl fmt::Display for BehindPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = &self.parent {
            let name = self.application.as_deref().unwrap_or(self.path.as_str());
            let what = if self.paused { "paused" } else { "behind" };
            return write!(f, "{name} stays as it is: {parent}, which has it, is {what}");
        }
        let what = match (&self.held, self.paused) {
            (Some(_), _) => "held",
            (None, true) => "paused",
            (None, false) => "behind",
        };
        let path = self.path.as_str();
        let (name, shown) = match self.application.as_deref().filter(|name| *name != path) {
            Some(name) => (name, path),
            None => (path, "it"),
        };
        match self.dry_sha.as_deref().and_then(|dry_sha| dry_sha.get(..7)) {
            Some(dry_sha) => write!(f, "{name} is {what}: {shown} shows dry commit {dry_sha}")?,
            None => write!(f, "{name} is {what}: nothing is hydrated yet")?,
        }
        match (&self.held, &self.paused_at) {
            (Some(reason), _) => write!(f, ": {reason}"),
            (None, Some(place)) => write!(f, " ({PAUSED} at {place})"),
            (None, None) => Ok(()),
        }
    }
}

/// How it ended for a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "outcome")]
pub enum Outcome {
    /// It has new commits.
    Moved,
    /// Nothing in it changed; its note names the dry commit.
    Unchanged,
    /// An admin wants it to stay as it is.
    Frozen(Frozen),
    /// The tip of the dry branch did not hydrate: the branch stays behind it.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// The dry commit that was tried last. The branch has the tip of its dry branch under `drySha`.
        #[serde(rename = "failedDrySha")]
        dry_sha: String,
        /// What is wrong.
        diagnostics: Vec<Diagnostic>,
        /// Whether an earlier run found that already and nothing was rendered now.
        recorded: bool,
        /// Whether it is that no Application names the branch any more, and an earlier run has reported that.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unnamed: bool,
    },
}

/// Why a branch gets no commit for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frozen {
    /// Why, as the settings say.
    pub reason: String,
    /// When it ends, as the settings say; none when somebody has to end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The hydrated commit whose files it has, where the setting `hold` wants it so: somebody has to end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The key of the setting `frozen` that says so.
    #[serde(skip)]
    pub(crate) glob: Option<String>,
}

/// `frozen until 2024-12-24: release`, `held at 1a2b3c4: outage`
impl fmt::Display for Frozen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at.as_deref().and_then(|at| at.get(..7)) {
            let until = self.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
            return write!(f, "held at {at}{until}: {}", self.reason);
        }
        match &self.until {
            Some(until) => write!(f, "frozen until {until}: {}", self.reason),
            None => write!(f, "frozen: {}", self.reason),
        }
    }
}

impl From<&Freeze> for Frozen {
    fn from(freeze: &Freeze) -> Self {
        let at = freeze.at.map(|at| at.to_string());
        Self { reason: freeze.reason.clone(), until: freeze.until.clone(), at, glob: freeze.glob.clone() }
    }
}

/// What a tag, a range or an id leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Named {
    /// The tag, or the id.
    pub resolved: String,
    /// The dry commit.
    pub dry_sha: String,
    /// Whether the branch led, or was led, elsewhere before the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_news: bool,
}

/// `v1.4.0 (1a2b3c4)`
impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.dry_sha.get(..7).unwrap_or(&self.dry_sha);
        if self.resolved == self.dry_sha { f.write_str(id) } else { write!(f, "{} ({id})", self.resolved) }
    }
}

/// One hydrated commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HydratedCommit {
    /// Its id.
    pub id: String,
    /// The dry commit.
    pub dry_sha: String,
    /// The tag that led to it, or the id by which Applications name it; none where a branch did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// The commit of the dry branch that has the Applications, where a branch did not lead to the dry commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defined_at: Option<String>,
    /// Destination paths whose manifests changed, new ones included.
    pub changed: Vec<RepoPath>,
    /// Destination paths that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RepoPath>,
}

impl HydratedCommit {
    /// One that changes nothing yet, of a dry commit.
    pub(crate) fn of(id: ObjectId, dry: &DryCommit) -> Self {
        let defined = dry.defined.as_ref();
        Self {
            id: id.to_string(),
            dry_sha: dry.id.to_string(),
            resolved: defined.map(|defined| defined.resolved.clone()),
            defined_at: defined.map(|defined| defined.at.to_string()),
            changed: Vec::new(),
            removed: Vec::new(),
        }
    }

    /// The commit of the dry branch that has the Applications.
    pub(crate) fn definition(&self) -> &str {
        self.defined_at.as_ref().unwrap_or(&self.dry_sha)
    }
}

/// A dry commit that has no hydrated commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// The dry commit.
    pub dry_sha: String,
    /// The first thing that is wrong with it.
    pub message: String,
}
